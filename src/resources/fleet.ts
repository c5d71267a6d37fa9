/**
 * The fleet: the nodes that share one configuration. The Gateway Administration REST Interface has no such chapter: the
 * endpoint is an addition.
 */
import * as z from 'zod/mini';

import { defineFields, representFields } from '../core/field.ts';
import * as shape from '../core/shape.ts';
import type { TimeFormat } from '../core/time.ts';
import { endpoint } from '../http/endpoint.ts';
import { ok } from '../problem.ts';
import type { Kind } from './shared/kind.ts';
import { listingOf, listRoute } from './shared/route.ts';

/**
 * A node of a fleet, as another node knows it.
 *
 * @public
 */
export interface FleetNode {
  /** The name of the node. */
  readonly node: string;
  /** The version of the library that the node runs. */
  readonly version: string;
  /** Whether the node has been heard within the lease. */
  readonly alive: boolean;
  /** How far the node has read the log. */
  readonly position: string;
  /** How far its gateway has come; another position than `position` while it follows. */
  readonly applied: string;
  /** Where its gateway is not what the fleet has. */
  readonly behind: readonly FleetLag[];
  /**
   * Whether the node has read another configuration out of the same log than this one. That is a fault of the library or of
   * the store: report it, and restart the node that is wrong.
   */
  readonly differs: boolean;
}

/**
 * A resource at which the gateway of a node is not what the fleet has.
 *
 * @public
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
 * @public
 */
export interface FleetNodeRepresentation extends Omit<FleetNode, 'behind'> {
  /** Where its gateway is not what the fleet has. */
  readonly behind: readonly FleetLagRepresentation[];
}

/**
 * A resource at which the gateway of a node is not what the fleet has, in a response.
 *
 * @public
 */
export interface FleetLagRepresentation extends Omit<FleetLag, 'since'> {
  /** Since when, such as `2016-08-29T12:52:31+03:00`, by the clock of that node. */
  readonly since: string;
}

const fields = defineFields<{
  representation: FleetNodeRepresentation;
  document: FleetNodeRepresentation;
  state: FleetNodeRepresentation;
}>()({
  node: { shape: shape.text(64) },
  version: { shape: shape.text(255) },
  alive: { shape: z.boolean() },
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
  differs: { shape: z.boolean() },
});

function represent({ behind, ...node }: FleetNode, times: TimeFormat): object {
  const lags = behind.map((lag) => ({ ...lag, since: times.iso8601(lag.since) }));
  return representFields(fields, { rest: { ...node, behind: lags }, times });
}

/** The kind "fleet". @internal */
export const fleetKind: Kind<never, never, never> = {
  fields: { 'fleet node': fields },
  events: {},
  effects: {},
  reports: {},
  routes: [
    listRoute({
      ...endpoint('fleet.list'),
      role: 'reader',
      query: ['fields', 'range'],
      summary: 'Lists the nodes of the fleet, this one first. A gateway outside a fleet has an empty list.',
      shape: fields.representation,
      find: () => ok(undefined),
      list: (_snapshot, _none, { nodes = () => [], times }) =>
        listingOf(nodes(), (node) => represent(node, times)),
    }),
  ],
};
