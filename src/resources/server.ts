/**
 * Servers: the backend database servers.
 *
 * Implements the chapter "Server" of the Gateway Administration REST Interface. `connection.ts` has the endpoints about
 * connections to a server.
 */
import * as z from 'zod/mini';

import type { Entity, Named } from '../core/collection.ts';
import type { Context, DecisionOf, EffectTable, EventBase, EventHead, EventTable } from '../core/decision.ts';
import { asShown, defineFields, representFields } from '../core/field.ts';
import type { ReportTable } from '../core/report.ts';
import { linkTo } from '../core/link.ts';
import type { Sealed } from '../core/secret.ts';
import * as shape from '../core/shape.ts';
import { withWordsMoved } from '../core/word-list.ts';
import type { Operation } from '../json/patch.ts';
import { deepFreeze, sameJson } from '../json/value.ts';
import { linkOf, replace } from '../snapshot/state.ts';
import { changeEffects } from './shared/change-effect.ts';
import type { Drain } from './shared/drain-setting.ts';
import {
  drainEvents,
  drainingOf,
  drainRoutes,
  representDrain,
  serverDrainField,
  type DrainEvent,
  type DrainRepresentation,
} from './shared/drain.ts';
import type { About, Changing, Draining, Kind } from './shared/kind.ts';
import { reported } from './shared/look-up.ts';
import { readableReason, reasonField, sinceField } from './shared/lifecycle.ts';
import type { Rendering } from './shared/rendering.ts';
import { atResource, commandRoute, endpointOf, readRoutes, type KindRoute } from './shared/route.ts';
import {
  adoptionOf,
  decidePatch,
  decideSettings,
  patchRoute,
  settingsOf,
  type UpdateEffect,
  type UpdateEvent,
} from './shared/settings.ts';
import { assertInputs, servers, type Snapshot } from './snapshot.ts';

/**
 * The words of a server status. An empty status means that the server is down.
 *
 * @see Gateway Administration REST Interface, "Server status values".
 *
 * @public
 */
export const serverStatusWords = Object.freeze([
  'master',
  'slave',
  'synced',
  'running',
  'maintenance',
] as const);

/**
 * One word of a server status.
 *
 * @public
 */
export type ServerStatusWord = (typeof serverStatusWords)[number];

/**
 * The settings of a server, which a patch can modify.
 *
 * @see Gateway Administration REST Interface, "Server".
 *
 * @public
 */
export interface ServerSettings {
  /** Host name, IP address without port, or path of a socket. */
  readonly address: string;
  /** Port, 1 to 65535; may be left out if the address is the path of a socket. */
  readonly port?: number;
  /** Custom parameters by name, including weights: numbers, texts or booleans; secret ones are {@link Sealed}. */
  readonly parameters: Readonly<Record<string, number | string | boolean | Sealed>>;
  /** The status: words in the given order; empty if the server is down. */
  readonly state: readonly ServerStatusWord[];
  /** The drain of the server; left out unless the server drains. */
  readonly drain?: Omit<Drain, 'from'>;
}

/**
 * What the host has seen of a server. Belongs to one life of the gateway.
 *
 * @public
 */
export interface SeenServer {
  /** The words of the status but `maintenance`, in the given order; empty if the server is down. */
  readonly status: readonly ServerStatusWord[];
  /** Why the status is as it is, in the words of the gateway; left out if it has given none. */
  readonly status_reason?: string;
  /**
   * When a word other than `maintenance` came or went last, in milliseconds since 1970-01-01T00:00:00Z; left out if
   * none has in this life of the gateway.
   */
  readonly status_since?: number;
}

/**
 * A server in a snapshot.
 *
 * @public
 */
export interface Server extends Entity {
  /** Name of the protocol module. */
  readonly protocol: string;
  /** What the host has seen. */
  readonly seen: SeenServer;
  /** The settings, which a patch can modify. Of the status they have `maintenance` alone, which callers want. */
  readonly settings: Omit<ServerSettings, 'state'> & { readonly state: readonly 'maintenance'[] };
}

/**
 * A server in a response.
 *
 * @see Gateway Administration REST Interface, "Server".
 *
 * @public
 */
export interface ServerRepresentation extends Omit<ServerSettings, 'state' | 'parameters' | 'drain'> {
  /** Name of the server. */
  readonly name: string;
  /** Custom parameters by name, including weights: numbers, texts or booleans. */
  readonly parameters: Readonly<Record<string, number | string | boolean>>;
  /** Name of the protocol module. */
  readonly protocol: string;
  /** The status: words in the given order; empty if the server is down. */
  readonly status: readonly ServerStatusWord[];
  /** Why the status is as it is, in the words of the gateway; left out if it has given none. */
  readonly status_reason?: string;
  /**
   * When a word other than `maintenance` came or went last: ISO 8601 with a numeric offset; left out if none has in
   * this life of the gateway.
   */
  readonly status_since?: string;
  /** The drain of the server, with what is left; left out unless the server drains. */
  readonly drain?: Omit<DrainRepresentation, 'from'>;
}

/**
 * A server in a gateway document. A server without `status` is down.
 *
 * @public
 */
export interface ServerDocument extends Omit<ServerRepresentation, 'status' | 'parameters' | 'drain'> {
  /** The status; empty if left out. */
  readonly status?: readonly ServerStatusWord[];
  /** Custom parameters by name; none if left out. */
  readonly parameters?: ServerSettings['parameters'];
  /** The drain of the server. */
  readonly drain?: Omit<Drain, 'from'>;
}

/** What the monitor has found. @internal */
interface FoundStatus {
  /** The status: words in the given order; empty if the server is down. */
  readonly status: readonly ServerStatusWord[];
  /** Why the status is as it is, for operators, such as the error of the last probe. */
  readonly reason?: string;
}

/** The settings of a server as a gateway document and the changes have them: with the status by its name. @internal */
type ServerMembers = Omit<ServerSettings, 'state'> & {
  /** The status: words in the given order; empty if the server is down. */
  readonly status: readonly ServerStatusWord[];
};

/** The events of a server: the host reported a status, or the settings were changed. @internal */
export type ServerEvent =
  | (About<'server'> & EventHead<'server.reported'> & FoundStatus)
  | UpdateEvent<'server', ServerMembers>
  | DrainEvent<'server'>;

/** The effect on a server: the host must change its settings. @internal */
export type ServerEffect = UpdateEffect<'server', ServerMembers>;

/** The decision about a server. @internal */
export type ServerDecision = DecisionOf<Snapshot, ServerEvent, ServerEffect>;

/**
 * The report of the host about a server: the status that its monitor found. The report replaces the status, except for
 * `maintenance`, which belongs to the administrator.
 *
 * @internal
 */
export interface ServerReport extends FoundStatus {
  /** Type of the report. */
  readonly type: 'server.reported';
  /** Name of the server. */
  readonly server: string;
}

/** A server as a patch sees it: the status is in the settings. */
type ShownServer = Omit<Server, 'settings'> & { readonly settings: ServerSettings };

/** Shape of a status in a request, document or report, where words may be repeated. */
const words = z.array(z.enum(serverStatusWords)).check(z.maxLength(16));

const fields = defineFields<{
  settings: ServerSettings;
  representation: ServerRepresentation;
  document: ServerDocument;
  state: Omit<Server, 'key' | 'revision' | 'settings' | 'seen'>;
  seen: Omit<SeenServer, 'status'>;
}>()({
  name: { shape: shape.name },
  address: { shape: shape.address, setting: true },
  port: { shape: shape.port, setting: true, optional: true, required: shape.portUnlessSocket },
  protocol: { shape: shape.text(255) },
  // A patch uses the name `state` (chapter "Server").
  status: {
    shape: words,
    setting: 'state',
    default: [],
    normalize: asStored,
    // `maintenance` belongs to the administrator: no report sets or clears this word.
    wanted: z.array(z.enum(['maintenance'])).check(z.maxLength(16)),
  },
  status_reason: reasonField,
  status_since: sinceField,
  parameters: {
    shape: shape.sealableParameters,
    open: shape.parameters,
    secretEntries: true,
    setting: true,
    default: {},
  },
  drain: serverDrainField,
});

/** The form of a status: `maintenance` comes first, then the other words in the given order, each of them once. */
function asStored(given: readonly ServerStatusWord[]): readonly ServerStatusWord[] {
  const words = withoutRepeats(given);
  return [...words.filter(isWanted), ...wordsOfMonitor(words)];
}

function withoutRepeats(given: readonly ServerStatusWord[]): readonly ServerStatusWord[] {
  return [...new Set(given)];
}

function isWanted(word: ServerStatusWord): word is 'maintenance' {
  return word === 'maintenance';
}

function wordsOfMonitor(status: readonly ServerStatusWord[]): readonly ServerStatusWord[] {
  return status.filter((word) => !isWanted(word));
}

const first = { path: '/state/0', value: 'maintenance' } as const;
const setting: readonly Operation[] = [{ op: 'add', ...first }];
const clearing: readonly Operation[] = [
  { op: 'test', ...first },
  { op: 'remove', path: first.path },
];

/**
 * The words of the monitor after an update, if a report may have changed them since the decision. Added words are
 * present, removed words are absent, and all other words are as reported.
 */
function wordsAfter(
  seen: readonly ServerStatusWord[],
  before: readonly ServerStatusWord[],
  after: readonly ServerStatusWord[],
): readonly ServerStatusWord[] {
  if (sameJson(before, after)) return seen;
  if (sameJson(seen, before)) return after;
  const words = withWordsMoved(seen, before, after);
  // Only a running server has a role. The report may have given a role to a server that the update sets down, and the
  // update a role to a server that was reported as down.
  const isDown = [...before, ...after].includes('running') && !words.includes('running');
  return isDown ? [] : words;
}

/** Whether a server takes new sessions. @internal */
export function takesSessions({ settings: { state, drain }, seen: { status } }: Server): boolean {
  return status.includes('running') && state.length === 0 && drain === undefined;
}

/** Whether a server is down. @internal */
export function isDown({ settings: { state }, seen: { status } }: Server): boolean {
  return state.length + status.length === 0;
}

/** What is seen of a server with words and a reason. The reason and the time belong to the words. */
function seenAfter(
  before: SeenServer,
  status: readonly ServerStatusWord[],
  { at, reason }: { readonly at: number; readonly reason?: string },
): SeenServer {
  const { status_reason: present, ...seen } = before;
  const isSame = sameJson(seen.status.toSorted(), status.toSorted());
  const why = reason ?? (isSame ? present : undefined);
  const after = {
    ...seen,
    status,
    ...(isSame ? {} : { status_since: at }),
    ...(why === undefined ? {} : { status_reason: why }),
  };
  return why === present && sameJson(seen.status, status) ? before : deepFreeze(after);
}

const changing: Changing<Snapshot, Server> & Named<Server, 'server'> = {
  ...servers,
  fields,
  entered(server, { from, to, at }) {
    const [before, after] = [wordsOfMonitor(statusIn(from)), wordsOfMonitor(statusIn(to))];
    return { ...server, seen: seenAfter(server.seen, wordsAfter(server.seen.status, before, after), { at }) };
  },
};

function statusIn({ status = [] }: Partial<Pick<ServerDocument, 'status'>>): readonly ServerStatusWord[] {
  return status;
}

const settings = settingsOf<Snapshot, ShownServer, 'server', ServerMembers>(
  // A patch sees the words of the monitor too.
  changing as Changing<Snapshot> as Changing<Snapshot, ShownServer> & Named<ShownServer, 'server'>,
  {
    answerShape: z.strictObject({ ...fields.representation.shape, state: words }),
    represent(snapshot: Snapshot, server: ShownServer, rendering) {
      const shown = represent(snapshot, server, rendering);
      return { ...shown, state: shown.status };
    },
  },
);

function represent(snapshot: Snapshot, server: ShownServer, { times }: Rendering): ServerRepresentation {
  const drain = representDrain(snapshot, servers.collection, server, times);
  const rest = asShown(fields, server);
  const shown = representFields(fields, { rest, settings: rest.settings, derived: { drain }, times });
  return shown as ServerRepresentation;
}

const draining: Draining<Snapshot, Server> = drainingOf({
  events: settings.events as EventTable<Snapshot, EventBase>,
  effects: changeEffects(changing),
  collection: servers.collection,
  update: (...args) => decideSettings(settings, ...args),
});

const events: EventTable<Snapshot, ServerEvent> = {
  ...settings.events,
  ...drainEvents(servers),
  'server.reported': {
    evolve: (snapshot, event, fold) =>
      replace(snapshot, servers, event.server, fold, (before) => {
        const seen = seenAfter(before.seen, wordsOfMonitor(event.status), event);
        return seen === before.seen ? before : { ...before, seen };
      }),
  },
};

const reports: ReportTable<Snapshot, ServerReport, ServerEvent> = {
  'server.reported': {
    shape: z.strictObject({
      type: z.literal('server.reported'),
      server: shape.text(255),
      status: z.pipe(
        words,
        z.transform((given: ServerStatusWord[]): readonly ServerStatusWord[] => withoutRepeats(given)),
      ),
      reason: z.exactOptional(z.string()),
    }),
    whole: {
      aspect: 'settings',
      resource: ({ server }) => linkTo('servers', server),
    },
    event(snapshot, { type, server, status, reason }, at) {
      const found = reported(snapshot, servers, server);
      if ('contradiction' in found) return found;
      const why = reason === undefined ? {} : { reason: readableReason(reason) };
      return { type, at, resource: linkOf('servers', found), server: found.key, status, ...why };
    },
  },
};

/**
 * Modifies a server with a JSON Patch (RFC 6902): all operations, or none. Both `/state` and `/status` name its status.
 *
 * Unchanged if the result equals the present settings. Refused with `server-not-found` if there is no such server, and
 * with every fault of the patch otherwise; each fault has its pointer and its operation.
 *
 * @param snapshot - the snapshot to decide on
 * @param name - name of the server, compared by {@link nameKey}
 * @param operations - the operations, on the fields of {@link ServerSettings}. The value of a secret parameter is
 *   `{ sealed }` with the text of a {@link SecretSealer}
 * @param context - the time and the caller
 * @returns the decision, with one `server.updated` and one `server.update`
 *
 * @example
 * ```ts
 * import { createSnapshot, patchServer } from 'gateway-admin-core';
 *
 * const snapshot = createSnapshot({ servers: [{ name: 'db-1', address: '10.0.0.1', port: 5432, protocol: 'pg' }] });
 * const operations = [{ op: 'add', path: '/state/-', value: 'maintenance' }] as const;
 * const { next } = patchServer(snapshot, 'db-1', operations, { now: 0 });
 * next.servers.find('db-1')?.settings.state; // => ['maintenance']
 * ```
 *
 * @see Gateway Administration REST Interface, "Server"; docs/patching.md.
 *
 * @public
 */
export function patchServer(
  snapshot: Snapshot,
  name: string,
  operations: readonly Operation[],
  context: Context,
): ServerDecision {
  assertInputs(snapshot, context);
  return decidePatch(settings, snapshot, name, operations, context);
}

/** Creates the route that sets or clears `maintenance`: an operator must not change anything else of a server. */
function maintenanceRoute(name: 'setMaintenance' | 'clearMaintenance'): KindRoute {
  const isSetting = name === 'setMaintenance';
  return commandRoute<Server>({
    ...endpointOf(servers, name),
    isAddition: true,
    role: 'operator',
    summary: isSetting ? 'Puts a server into maintenance.' : 'Takes a server out of maintenance.',
    ...atResource(servers),
    decide(snapshot: Snapshot, { key, settings: { state } }, context) {
      const isDone = state.includes('maintenance') === isSetting;
      return decidePatch(settings, snapshot, key, isDone ? [] : isSetting ? setting : clearing, context);
    },
  });
}

/** The kind "server". @internal */
export const serverKind: Kind<Snapshot, ServerEvent, ServerEffect, ServerReport> = {
  fields: { server: fields },
  events,
  effects: changeEffects(changing) as EffectTable<ServerEffect>,
  reports,
  resources: { ...changing, adoption: adoptionOf(settings), draining },
  routes: [
    ...readRoutes(servers, {
      shape: fields.representation,
      fieldAliases: { state: 'status' },
      represent,
    }),
    patchRoute(settings),
    ...drainRoutes(servers, draining),
    maintenanceRoute('setMaintenance'),
    maintenanceRoute('clearMaintenance'),
  ],
};
