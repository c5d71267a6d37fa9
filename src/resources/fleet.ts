/**
 * The fleet: the nodes that share one configuration. The Gateway Administration REST Interface has no such chapter: the
 * endpoint is an addition.
 */
import * as z from 'zod/mini';

import { defineFields, representFields } from '../core/field.ts';
import * as shape from '../core/shape.ts';
import type { TimeFormat } from '../core/time.ts';
import { endpoint } from '../http/endpoint.ts';
import type { NotDone, PathParameters } from '../http/route.ts';
import { fail, ok, type Result } from '../problem.ts';
import type { State } from '../snapshot/state.ts';
import type { Kind } from './shared/kind.ts';
import type { Surroundings } from './shared/rendering.ts';
import { actionRoute, listingOf, listRoute } from './shared/route.ts';

/**
 * A node of a fleet, as another node knows it.
 *
 * @beta
 */
export interface FleetNode {
  /** The name of the node. */
  readonly node: string;
  /** The version of the library that the node runs. */
  readonly version: string;
  /** Whether the node that was asked has heard the node within the lease. */
  readonly alive: boolean;
  /** The time since the node that was asked has heard the node, in seconds; 0 for itself. */
  readonly seen: number;
  /** How far the node has read the log. */
  readonly position: string;
  /** How far its gateway has come; another position than `position` while it follows. */
  readonly applied: string;
  /** Where its gateway is not what the fleet has. */
  readonly behind: readonly FleetLag[];
  /** What drains, and what is left at the node. Drained everywhere is what every node that lives shows as drained. */
  readonly drains: readonly {
    /** Link of the service or server. */
    readonly resource: string;
    /** Whether nothing is left at the node. */
    readonly state: 'draining' | 'drained';
    /** Number of sessions that are left at the node. */
    readonly sessions: number;
    /** Number of backend connections that are left at the node. */
    readonly connections: number;
  }[];
  /**
   * Whether the node has read another configuration out of the same log than this one. That is a fault of the library
   * or of the store: report it, and restart the node that is wrong.
   */
  readonly differs: boolean;
}

/**
 * A resource at which the gateway of a node is not what the fleet has.
 *
 * @beta
 */
export interface FleetLag {
  /** Link of the resource. */
  readonly resource: string;
  /** Since when, in milliseconds since 1970-01-01T00:00:00Z, by the clock of that node. */
  readonly since: number;
  /** The code of the problem, such as `effect-refused`; left out while the gateway is asked for the first time. */
  readonly code?: string;
  /** Why, for people. */
  readonly detail?: string;
}

/**
 * A node of a fleet in a response.
 *
 * @beta
 */
export interface FleetNodeRepresentation extends Omit<FleetNode, 'behind'> {
  /** Where its gateway is not what the fleet has. */
  readonly behind: readonly FleetLagRepresentation[];
}

/**
 * A resource at which the gateway of a node is not what the fleet has, in a response.
 *
 * @beta
 */
export interface FleetLagRepresentation extends Omit<FleetLag, 'since'> {
  /** Since when, such as `2016-08-29T12:52:31+03:00`, by the clock of that node. */
  readonly since: string;
}

/**
 * What a node knows of a node: it is the node itself, has been heard within the lease, or is neither.
 *
 * @internal
 */
export type NodeStanding = 'own' | 'alive' | 'silent';

/** The clock of another node. @internal */
export interface NodeClock {
  /** The name of the node. */
  readonly node: string;
  /** By how many milliseconds its time is ahead of the time of this node, give or take half a second. */
  readonly aheadMs: number;
}

/** Something of a shared store that fails while its log can be read. @internal */
export interface StoreFailure {
  /** Why, and what follows from it, for people. */
  readonly detail: string;
  /** Since when, in milliseconds since 1970-01-01T00:00:00Z. */
  readonly since: number;
}

/** The fleet around an interface, as its own endpoints show and change it. @internal */
export interface RunningFleet {
  /** Every node, this one first. */
  nodes(this: void): readonly FleetNode[];
  /** The clocks of the other nodes that live. */
  clocks(this: void): readonly NodeClock[];
  /** Why the store gives no hints; `undefined` if it gives them, or does not answer at all. */
  hintFailure(this: void): StoreFailure | undefined;
  /** Why this node cannot announce itself; `undefined` if it can, or the store does not answer at all. */
  announcementFailure(this: void): StoreFailure | undefined;
  /** Asks the gateway of this node again at once for everything at which this node is behind. */
  retry(this: void): void;
  /** Finds a node by its exact name; `undefined` for a name that the fleet does not know. */
  standingOf(this: void, node: string): NodeStanding | undefined;
  /** Takes a node out of the fleet, and ends its commands. Refused if the store does not answer. */
  forget(this: void, node: string): Promise<NotDone | undefined>;
}

const fields = defineFields<{
  representation: FleetNodeRepresentation;
  document: FleetNodeRepresentation;
  state: FleetNodeRepresentation;
}>()({
  node: { shape: shape.text(64) },
  version: { shape: shape.text(255) },
  alive: { shape: z.boolean() },
  seen: { shape: shape.count },
  position: { shape: shape.text(255) },
  applied: { shape: shape.text(255) },
  behind: {
    shape: z.array(
      z.strictObject({
        resource: shape.text(4096),
        since: z.string(),
        code: z.exactOptional(shape.text(255)),
        detail: z.exactOptional(z.string()),
      }),
    ),
  },
  drains: {
    shape: z.array(
      z.strictObject({
        resource: shape.text(4096),
        state: z.enum(['draining', 'drained']),
        sessions: shape.count,
        connections: shape.count,
      }),
    ),
  },
  differs: { shape: z.boolean() },
});

function represent({ behind, ...node }: FleetNode, times: TimeFormat): object {
  const lags = behind.map((lag) => ({ ...lag, since: times.iso8601(lag.since) }));
  return representFields(fields, { rest: { ...node, behind: lags }, times });
}

/** A node that a path names. */
interface FoundNode {
  readonly fleet: RunningFleet;
  readonly node: string;
  readonly standing: NodeStanding;
}

/** Finds the fleet. Refused with `node-not-found` if the interface runs alone. */
function findFleet({ fleet }: Surroundings): Result<RunningFleet> {
  return fleet === undefined ? fail('node-not-found', 'This gateway is no node of a fleet.') : ok(fleet);
}

/** Finds a node. Refused with `node-not-found` if there is none with this name, or the interface runs alone. */
function findNode(surroundings: Surroundings, { node = '' }: PathParameters): Result<FoundNode> {
  const found = findFleet(surroundings);
  if (!found.ok) return found;
  const fleet = found.value;
  const standing = fleet.standingOf(node);
  if (standing !== undefined) return ok({ fleet, node, standing });
  return fail(
    'node-not-found',
    `There is no node named "${node}". GET /fleet lists the nodes. Case matters.`,
  );
}

/** Says whether a node can be taken out. Refused with `node-alive` for a node that may run. */
function judgeForgetting({ node, standing }: FoundNode): Result<'accepted'> {
  if (standing === 'silent') return ok('accepted');
  const why =
    standing === 'own'
      ? `The node "${node}" answers this request, so it is alive. End its process, and ask another node.`
      : `The node "${node}" may be alive: it has not been silent for the whole lease, as far as this node could hear. End ` +
        'its process, and send the request again after the lease.';
  return fail('node-alive', why);
}

/** The kind "fleet". @internal */
export const fleetKind: Kind<State, never, never, never> = {
  fields: { 'fleet node': fields },
  events: {},
  effects: {},
  reports: {},
  routes: [
    listRoute({
      ...endpoint('fleet.list'),
      isAddition: true,
      role: 'reader',
      query: ['fields', 'range'],
      summary: 'Lists the nodes of the fleet, this one first. A gateway outside a fleet has an empty list.',
      shape: fields.representation,
      find: () => ok(undefined),
      list: (_snapshot, _none, { fleet, times }) =>
        listingOf(fleet?.nodes() ?? [], (node) => represent(node, times)),
    }),
    actionRoute<RunningFleet>({
      ...endpoint('fleet.retry'),
      isAddition: true,
      role: 'operator',
      summary: 'Asks the gateway of this node again at once for everything at which this node is behind.',
      findIn: findFleet,
      // Nothing is to do if this node, the first one, is behind nowhere.
      judge: (_surroundings, { nodes }) => ok(nodes()[0]?.behind.length === 0 ? 'unchanged' : 'accepted'),
      act(_surroundings, { retry }) {
        retry();
        return Promise.resolve(undefined);
      },
    }),
    actionRoute<FoundNode>({
      ...endpoint('fleet.forget'),
      isAddition: true,
      role: 'administrator',
      summary: 'Takes a node that will not come back out of the fleet, and ends its commands.',
      findIn: findNode,
      judge: (_surroundings, found) => judgeForgetting(found),
      act: (_surroundings, { fleet, node }) => fleet.forget(node),
    }),
  ],
};
