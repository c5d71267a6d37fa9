/**
 * Servers: the backend database servers.
 *
 * The chapter "Server" of the Gateway Administration REST Interface. The connections to a server are in
 * `connection.ts`.
 */
import { castDraft } from 'immer';
import * as z from 'zod/mini';

import type { Entity } from '../core/collection.ts';
import type { Context, EventOf, EventTable } from '../core/decision.ts';
import { defineFields, representFields } from '../core/field.ts';
import type { ReportTable } from '../core/report.ts';
import * as shape from '../core/shape.ts';
import { mergeUpdate, type Update } from '../core/update.ts';
import type { Operation } from '../json/patch.ts';
import { sameJson } from '../json/value.ts';
import { linkOf, revise, type Snapshot } from '../snapshot/snapshot.ts';
import type { Decision } from './index.ts';
import type { About, Kind } from './shared/kind.ts';
import type { Rendering } from './shared/rendering.ts';
import { readRoutes } from './shared/route.ts';
import {
  decidePatch,
  patchRoute,
  settingsOf,
  type UpdateEffect,
  type UpdateEvent,
} from './shared/settings.ts';

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
export interface ServerRepresentation extends Omit<ServerSettings, 'state'> {
  /** Name of the server. */
  readonly name: string;
  /** Name of the protocol module. */
  readonly protocol: string;
  /** The words that hold; empty when the server is down. */
  readonly status: readonly ServerStatusWord[];
}

/**
 * A server in a gateway document. One without `status` is down.
 *
 * @public
 */
export interface ServerDocument extends Omit<ServerRepresentation, 'status' | 'parameters'> {
  /** The words that hold; empty when left out. */
  readonly status?: readonly ServerStatusWord[];
  /** Custom parameters by name; none when left out. */
  readonly parameters?: ServerSettings['parameters'];
}

/** What can happen to a server: a monitor reports its status, or its settings are changed. @internal */
export type ServerEvent =
  | (About<'server'> & EventOf<'server.reported'> & { readonly status: readonly ServerStatusWord[] })
  | UpdateEvent<'server', ServerSettings>;

/** What the host is asked to do with a server: change its settings. @internal */
export type ServerEffect = UpdateEffect<'server', ServerSettings>;

/**
 * What the host reports of a server: the status that its monitor found. It replaces the words that hold, except
 * `maintenance`, which belongs to the administrator.
 *
 * @internal
 */
export interface ServerReport {
  /** Says what kind of report it is. */
  readonly type: 'server.reported';
  /** Name of the server. */
  readonly server: string;
  /** The words that hold; empty when the server is down. */
  readonly status: readonly ServerStatusWord[];
}

/** The words of a status as they may be sent: one may come again. */
const words = z.array(z.enum(serverStatusWords)).check(z.maxLength(16));

const parameters = z
  .record(
    shape.text(255).check(z.minLength(1)),
    z.union([z.number(), shape.text(4096)], { error: 'must be a number or a text' }),
  )
  .check(shape.membersAtMost(1000));

const fields = defineFields<{
  settings: ServerSettings;
  representation: ServerRepresentation;
  document: ServerDocument;
}>()({
  name: { shape: shape.name },
  address: { shape: shape.address, setting: true },
  port: { shape: shape.port, setting: true },
  protocol: { shape: shape.text(255) },
  // A patch calls it `state` (chapter "Server").
  status: { shape: words, setting: 'state', default: [], normalize: withoutRepeats },
  parameters: { shape: parameters, setting: true, default: {} },
});

/** The words of a status, in the order given; a word that comes again is dropped. */
function withoutRepeats(given: readonly ServerStatusWord[]): readonly ServerStatusWord[] {
  return [...new Set(given)];
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

const settings = settingsOf('servers', fields, {
  represent: (snapshot, server, rendering) => ({
    ...represent(snapshot, server, rendering),
    state: server.settings.state,
  }),
  merge: (present, update: Update<ServerSettings>) => ({
    ...mergeUpdate(present, update),
    state: Object.freeze(mergeWords(present.state, update.before.state, update.after.state)),
  }),
});

function represent(_snapshot: Snapshot, server: Server, { times }: Rendering): object {
  return representFields(fields, { rest: server, settings: server.settings, times });
}

const events: EventTable<Snapshot, ServerEvent> = {
  ...settings.events,
  'server.reported': {
    origin: 'report',
    evolve: (snapshot, { server, status }, change) =>
      revise(snapshot, 'servers', server, change, (draft, { settings: { state } }) => {
        const next = reportedStatus(state, status);
        if (!sameJson(state, next)) draft.settings.state = castDraft(next);
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
): Decision {
  return decidePatch(settings, snapshot, name, operations, context);
}

/** @internal */
export const serverKind: Kind<ServerEvent, ServerEffect, ServerReport> = {
  fields: { server: fields },
  events,
  effects: settings.effects,
  reports,
  routes: [
    ...readRoutes({
      collection: 'servers',
      shape: fields.representation,
      fieldAliases: { state: 'status' },
      represent,
    }),
    patchRoute(settings, { path: '/servers/:name', aliases: [] }),
  ],
};
