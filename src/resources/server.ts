/**
 * Servers: the backend database servers.
 *
 * The chapter "Server" of the Gateway Administration REST Interface. The connections to a server are in
 * `connection.ts`.
 */
import { castDraft } from 'immer';
import * as z from 'zod/mini';

import { initialVersion } from '../core/version.ts';
import type { Entity } from '../core/collection.ts';
import type { Context, DecisionOf, EffectOf, EffectTable, EventOf, EventTable } from '../core/decision.ts';
import type { DocumentPart } from '../core/field.ts';
import { nameKey } from '../core/name.ts';
import type { ReportTable } from '../core/report.ts';
import type { Operation } from '../json/patch.ts';
import { sameJson } from '../json/value.ts';
import { definePatchView } from '../core/patch-view.ts';
import type { RouteOf } from '../http/route.ts';
import * as shape from '../core/shape.ts';
import { invertUpdate, mergeUpdate, type ReversibleUpdate, type Update } from '../core/update.ts';
import type { Rendering } from './shared/rendering.ts';
import { patchRoute, readRoutes } from './shared/route.ts';
import { linkOf, replaceSettings, revise, type Snapshot } from '../snapshot/snapshot.ts';
import { patchAsGiven, revertUpdate, type Patchable } from './shared/transition.ts';

/**
 * The words a status is made of. An empty status means that the server is down.
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
 * One word of the status of a server.
 *
 * @public
 */
export type ServerStatusWord = (typeof serverStatusWords)[number];

/**
 * What can be modified in a server.
 *
 * @public
 */
export interface ServerSettings {
  /** Host name, IP address without port, or path of a socket. */
  readonly address: string;
  /** Port, 1 to 65535. */
  readonly port: number;
  /** Custom parameters, weights among them: numbers or texts by name. */
  readonly parameters: Readonly<Record<string, number | string>>;
  /** The status in the words that hold, in the order given; empty when the server is down. */
  readonly state: readonly ServerStatusWord[];
}

/**
 * A server as the snapshot keeps it.
 *
 * @public
 */
export interface Server extends Entity {
  /** Name of the protocol module. */
  readonly protocol: string;
  /** What can be modified. */
  readonly settings: ServerSettings;
}

/**
 * A server as clients see it.
 *
 * @public
 */
export interface ServerRepresentation {
  /** Name of the server. */
  readonly name: string;
  /** Host name, IP address or path of a socket. */
  readonly address: string;
  /** Port, 1 to 65535. */
  readonly port: number;
  /** Name of the protocol module. */
  readonly protocol: string;
  /** The words that hold; empty when the server is down. */
  readonly status: readonly ServerStatusWord[];
  /** Custom parameters by name. */
  readonly parameters: Readonly<Record<string, number | string>>;
}

/**
 * What every event and effect about a server has.
 *
 * @public
 */
export interface OfServer {
  /** Key of the server; see {@link nameKey}. */
  readonly server: string;
}

/**
 * What can happen to a server: a monitor reports its status, or its settings are changed.
 *
 * @public
 */
export type ServerEvent = OfServer &
  (
    | (EventOf<'server.reported'> & { readonly status: readonly ServerStatusWord[] })
    | (EventOf<'server.updated'> & ReversibleUpdate<ServerSettings>)
  );

/**
 * What the host reports of a server: the status that its monitor found. It replaces the words that hold, except
 * `maintenance`, which belongs to the administrator.
 *
 * @public
 */
export interface ServerReport {
  /** Says what kind of report it is. */
  readonly type: 'server.reported';
  /** Name of the server. */
  readonly server: string;
  /** The words that hold; empty when the server is down. */
  readonly status: readonly ServerStatusWord[];
}

/**
 * What the host is asked to do with a server: change its settings.
 *
 * @public
 */
export type ServerEffect = OfServer & EffectOf<'server.update'> & Update<ServerSettings>;

/**
 * The answer of a transition of servers.
 *
 * @public
 */
export type ServerDecision = DecisionOf<Snapshot, ServerEvent, ServerEffect>;

/** The words of a status as they may be sent: one may come again. */
const wordsShape = z.array(z.enum(serverStatusWords)).check(z.maxLength(16));

/** The words of a status, in the order given; a word that comes again is dropped. */
const statusShape = z.pipe(
  wordsShape,
  z.transform((words): readonly ServerStatusWord[] => [...new Set(words)]),
);

const parametersShape = z
  .record(
    shape.text(255).check(z.minLength(1)),
    z.union([z.number(), shape.text(4096)], { error: 'must be a number or a text' }),
  )
  .check(shape.membersAtMost(1000));

const settings = {
  address: shape.address,
  port: shape.port,
  parameters: parametersShape,
};

const representationShape = z.strictObject({
  name: z.string(),
  address: settings.address,
  port: settings.port,
  protocol: z.string(),
  status: statusShape,
  parameters: settings.parameters,
}) satisfies z.core.$ZodType<ServerRepresentation>;

const documentShape = z.strictObject({
  name: shape.name,
  protocol: shape.text(255),
  address: settings.address,
  port: settings.port,
  status: z.exactOptional(statusShape),
  parameters: z.exactOptional(parametersShape),
});

/** How servers stand in a gateway document. @internal */
export const serverDocument: DocumentPart<Server, z.infer<typeof documentShape>> = {
  shape: documentShape,
  links: {},
  load: ({ name, protocol, address, port, status = [], parameters = {} }) => ({
    name,
    key: nameKey(name),
    version: initialVersion,
    protocol,
    settings: { address, port, parameters, state: status },
  }),
  save: ({ name, protocol, settings: { address, port, parameters, state } }) => ({
    name,
    protocol,
    address,
    port,
    status: state,
    parameters,
  }),
};

/** The representation of a server. */
function toServerRepresentation({ name, protocol, settings }: Server): ServerRepresentation {
  const { address, port, state, parameters } = settings;
  return { name, address, port, protocol, status: state, parameters };
}

/**
 * The status that follows from a report. `maintenance` belongs to the administrator: a report neither sets nor
 * clears it, and it stands first.
 */
function reportedStatus(
  status: readonly ServerStatusWord[],
  report: readonly ServerStatusWord[],
): readonly ServerStatusWord[] {
  const words = report.filter((word) => word !== 'maintenance');
  return status.includes('maintenance') ? ['maintenance', ...words] : words;
}

/**
 * The status after an update, when a report may have changed it since the update was decided: what the update added
 * is there, what it removed is gone, and the rest is as it was reported.
 */
function mergeWords(
  present: readonly ServerStatusWord[],
  before: readonly ServerStatusWord[],
  after: readonly ServerStatusWord[],
): readonly ServerStatusWord[] {
  if (sameJson(present, before)) return after;
  const added = after.filter((word) => !before.includes(word) && !present.includes(word));
  const kept = present.filter((word) => after.includes(word) || !before.includes(word));
  return reportedStatus(added.includes('maintenance') ? ['maintenance'] : kept, [...kept, ...added]);
}

/** @internal */
export const serverEvents: EventTable<Snapshot, ServerEvent> = {
  'server.reported': {
    origin: 'report',
    evolve: (snapshot, { server, status }, change) =>
      revise(snapshot, 'servers', server, change, (draft, { settings }) => {
        const next = reportedStatus(settings.state, status);
        if (!sameJson(settings.state, next)) draft.settings.state = castDraft(next);
      }),
  },
  'server.updated': {
    origin: 'command',
    effect: 'server.update',
    revert: (...given) => revertUpdate(patchable, ...given),
    evolve: (snapshot, event, change) =>
      replaceSettings(snapshot, 'servers', event.server, change, (settings) => ({
        ...mergeUpdate(settings, event),
        state: Object.freeze(mergeWords(settings.state, event.before.state, event.after.state)),
      })),
  },
};

/** @internal */
export const serverReports: ReportTable<Snapshot, ServerReport, ServerEvent> = {
  'server.reported': {
    shape: z.strictObject({
      type: z.literal('server.reported'),
      server: shape.text(255),
      status: statusShape,
    }),
    event(snapshot, { type, server, status }, at) {
      const found = snapshot.servers.find(server);
      if (found === undefined) return { contradiction: 'names a server that does not exist' };
      const next = reportedStatus(found.settings.state, status);
      if (sameJson(found.settings.state, next)) return undefined;
      return { type, at, resource: linkOf('servers', found), server: found.key, status };
    },
  },
};

/** @internal */
export const serverEffects: EffectTable<ServerEffect> = { 'server.update': invertUpdate };

const patchable: Patchable<'servers', ServerSettings, ServerEvent, ServerEffect> = {
  collection: 'servers',
  events: serverEvents,
  event: 'server.updated',
  effect: 'server.update',
  view: definePatchView<ServerSettings>({
    fields: { address: {}, port: {}, parameters: {}, state: {} },
    readOnly: ['name', 'protocol'],
    aliases: { status: 'state' },
    shape: z.strictObject({ ...settings, state: wordsShape }),
    normalize: (settings) => ({ ...settings, state: [...new Set(settings.state)] }),
  }),
  settings: (server) => server.settings,
  shown: (_snapshot, server) => ({ ...toServerRepresentation(server), state: server.settings.state }),
};

/**
 * Modifies a server with a JSON Patch (RFC 6902): all operations or none. Its status is patched as `/state` or as
 * `/status`.
 *
 * @param snapshot - the state to start from
 * @param name - name of the server, compared as names are; refused with `server-not-found` when there is none
 * @param operations - the operations, over the fields of {@link ServerSettings}
 * @param context - the time and who asked
 * @returns the decision, with one `server.updated` and one `server.update`; refused with every fault, its pointer and
 *   its operation; unchanged when the result equals what is there
 *
 * @example
 * ```ts
 * import { createSnapshot, patchServer } from 'gateway-admin-core';
 *
 * const snapshot = createSnapshot({ servers: [{ name: 'db-1', address: '10.0.0.1', port: 5432, protocol: 'pg' }] });
 * const operations = [{ op: 'add', path: '/state/-', value: 'maintenance' }] as const;
 * patchServer(snapshot, 'db-1', operations, { now: 0 }).next.servers.find('db-1')?.settings.state; // => ['maintenance']
 * ```
 *
 * @public
 */
export function patchServer(
  snapshot: Snapshot,
  name: string,
  operations: readonly Operation[],
  context: Context,
): ServerDecision {
  return patchAsGiven(patchable, snapshot, name, operations, context);
}

/** @internal */
export const serverRoutes: readonly RouteOf<Snapshot, ServerEvent, ServerEffect, Rendering>[] = [
  ...readRoutes({
    collection: 'servers',
    shape: representationShape,
    fieldAliases: { state: 'status' },
    represent: (_snapshot, server) => toServerRepresentation(server),
    version: (_snapshot, server) => server.version,
  }),
  patchRoute(patchable, { path: '/servers/:name', aliases: [] }),
];
