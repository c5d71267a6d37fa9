/**
 * Connections: what a session has open to backend servers.
 *
 * The chapter "Connection" of the Gateway Administration REST Interface, and of "Server" and "Session" what concerns
 * their connections.
 */
import * as z from 'zod/mini';

import { inBatches } from './shared/teardown.ts';
import {
  accepted,
  eventHead,
  refused,
  unchanged,
  type Context,
  type DecisionOf,
  type EffectOf,
  type EffectTable,
  type EventOf,
  type EventTable,
} from '../core/decision.ts';
import { linkTo } from '../core/link.ts';
import type { ReportTable } from '../core/report.ts';
import { ok } from '../problem.ts';
import type { RouteOf } from '../http/route.ts';
import * as shape from '../core/shape.ts';
import type { Rendering } from './shared/rendering.ts';
import { commandRoute, listing, listRoute } from './shared/route.ts';
import {
  noStatistics,
  type Connection,
  type ConnectionStatistics,
  type Session,
} from '../snapshot/session-table.ts';
import {
  linkOf,
  linkOfKey,
  lookUp,
  lookUpSessionAt,
  sessionsOf,
  withSessions,
  type Snapshot,
} from '../snapshot/snapshot.ts';

/**
 * A backend connection as clients see it.
 *
 * @public
 */
export interface ConnectionRepresentation {
  /** Descriptive text. */
  readonly state: string;
  /** Descriptive text of what the connection is for. */
  readonly role: string;
  /** Link of the server it goes to. */
  readonly server: string;
  /** Link of the service whose session opened it. */
  readonly service: string;
  /** Its counters. */
  readonly statistics: ConnectionStatistics;
}

/**
 * Names one connection beyond doubt.
 *
 * @public
 */
export interface ConnectionIdentity {
  /** Id of its session. */
  readonly session: number;
  /** Connect time of its session, in milliseconds since 1970-01-01T00:00:00Z. */
  readonly connected: number;
  /** Its id, unique in its session. */
  readonly id: number;
}

/**
 * What a connection is opened with.
 *
 * @public
 */
export interface ConnectionFacts {
  /** Id of its session. */
  readonly session: number;
  /** Its id, unique in its session. */
  readonly id: number;
  /** The server it goes to: its name in a report, its key in an event. */
  readonly server: string;
  /** Descriptive text of what the connection is for. */
  readonly role: string;
  /** Descriptive text. */
  readonly state: string;
}

/**
 * What the host reports of connections.
 *
 * @public
 */
export type ConnectionReport =
  | ({ readonly type: 'connection.opened' } & ConnectionFacts)
  | {
      readonly type: 'connection.updated';
      /** Id of its session. */
      readonly session: number;
      /** Its id, unique in its session. */
      readonly id: number;
      /** Descriptive text of what it is for; left out when it stays. */
      readonly role?: string;
      /** Descriptive text; left out when it stays. */
      readonly state?: string;
    }
  | {
      readonly type: 'connection.closed';
      /** Id of its session. */
      readonly session: number;
      /** Its id, unique in its session. */
      readonly id: number;
    };

/**
 * What can happen to connections. `connections.closed` comes from a command, at most 1,000 connections at a time;
 * the others are reported by the host.
 *
 * @public
 */
export type ConnectionEvent =
  | (EventOf<'connection.opened'> & ConnectionFacts)
  | (EventOf<'connection.updated'> & Pick<ConnectionFacts, 'session' | 'id' | 'role' | 'state'>)
  | (EventOf<'connection.closed'> & Pick<ConnectionFacts, 'session' | 'id'>)
  | (EventOf<'connections.closed'> & { readonly connections: readonly ConnectionIdentity[] });

/**
 * What the host is asked to do with connections: close them and let their sessions go on. A connection that is gone
 * counts as closed.
 *
 * @public
 */
export type ConnectionEffect = EffectOf<'connections.close'> & {
  /** At most 1,000 connections. */
  readonly connections: readonly ConnectionIdentity[];
};

/**
 * The answer of a transition of connections.
 *
 * @public
 */
export type ConnectionDecision = DecisionOf<Snapshot, ConnectionEvent, ConnectionEffect>;

const id = z.int().check(z.minimum(0));
const line = shape.text(4096);
const representationShape = z.strictObject({
  state: z.string(),
  role: z.string(),
  server: z.string(),
  service: z.string(),
  statistics: z.strictObject({
    reads: z.number(),
    writes: z.number(),
    buffered_writes: z.number(),
    high_water_events: z.number(),
    low_water_events: z.number(),
  }),
}) satisfies z.core.$ZodType<ConnectionRepresentation>;

function toRepresentation(
  snapshot: Snapshot,
  { session, connection }: { readonly session: Session; readonly connection: Connection },
  { telemetry }: Rendering,
): ConnectionRepresentation {
  return {
    state: connection.state,
    role: connection.role,
    server: linkOfKey(snapshot, 'servers', connection.server),
    service: linkOfKey(snapshot, 'services', session.service),
    statistics: telemetry?.statistics?.(session.id, connection.id) ?? connection.statistics,
  };
}

/** @internal */
export const connectionEvents: EventTable<Snapshot, ConnectionEvent> = {
  'connection.opened': {
    origin: 'report',
    evolve: (snapshot, { session, id, server, role, state }, change) =>
      withSessions(
        snapshot,
        sessionsOf(snapshot).openConnection(
          session,
          { id, server, role, state, statistics: noStatistics },
          change,
        ),
      ),
  },
  'connection.updated': {
    origin: 'report',
    evolve: (snapshot, { session, id, role, state }, change) =>
      withSessions(snapshot, sessionsOf(snapshot).updateConnection(session, id, { role, state }, change)),
  },
  'connection.closed': {
    origin: 'report',
    evolve: (snapshot, { session, id }, change) =>
      withSessions(snapshot, sessionsOf(snapshot).closeConnection({ session, id }, change)),
  },
  'connections.closed': {
    origin: 'command',
    effect: 'connections.close',
    revert: 'irreversible',
    evolve: (snapshot, { connections }, change) =>
      withSessions(
        snapshot,
        connections.reduce((table, each) => table.closeConnection(each, change), sessionsOf(snapshot)),
      ),
  },
};

/** @internal */
export const connectionEffects: EffectTable<ConnectionEffect> = { 'connections.close': 'irreversible' };

/** @internal */
export const connectionReports: ReportTable<Snapshot, ConnectionReport, ConnectionEvent> = {
  'connection.opened': {
    shape: z.strictObject({
      type: z.literal('connection.opened'),
      session: id,
      id,
      server: line,
      role: line,
      state: line,
    }),
    event(snapshot, { type, server, ...facts }, at) {
      const found = snapshot.servers.find(server);
      if (found === undefined) return { contradiction: 'names a server that does not exist' };
      const session = snapshot.sessions.find(facts.session);
      if (session === undefined) return undefined;
      if (session.connections.some(({ id }) => id === facts.id)) {
        return { contradiction: 'has the id of a connection that is open in this session' };
      }
      return { type, at, resource: linkTo('sessions', facts.session), ...facts, server: found.key };
    },
  },
  'connection.updated': {
    shape: z.strictObject({
      type: z.literal('connection.updated'),
      session: id,
      id,
      role: z.exactOptional(line),
      state: z.exactOptional(line),
    }),
    event(snapshot, { type, session, id, role, state }, at) {
      const connection = snapshot.sessions.find(session)?.connections.find((each) => each.id === id);
      if (connection === undefined) return undefined;
      const resource = linkTo('sessions', session);
      return {
        type,
        at,
        resource,
        session,
        id,
        role: role ?? connection.role,
        state: state ?? connection.state,
      };
    },
  },
  'connection.closed': {
    shape: z.strictObject({ type: z.literal('connection.closed'), session: id, id }),
    event: (_snapshot, { type, session, id }, at) => ({
      type,
      at,
      resource: linkTo('sessions', session),
      session,
      id,
    }),
  },
};

/**
 * Closes every backend connection to a server that is open now. The sessions go on.
 *
 * @param snapshot - the state to start from
 * @param server - name of the server, compared as names are; refused with `server-not-found` when there is none
 * @param context - the time and who asked
 * @returns the decision, with `connections.closed` and `connections.close` for each 1,000 connections; unchanged when
 *   there is nothing to close
 *
 * @example
 * ```ts
 * import { closeServerConnections, createSnapshot } from 'gateway-admin-core';
 *
 * const snapshot = createSnapshot({ servers: [{ name: 'db-1', address: '10.0.0.1', port: 5432, protocol: 'pg' }] });
 * closeServerConnections(snapshot, 'db-1', { now: 0 }).outcome; // => 'unchanged'
 * ```
 *
 * @public
 */
export function closeServerConnections(
  snapshot: Snapshot,
  server: string,
  context: Context,
): ConnectionDecision {
  const found = lookUp(snapshot, 'servers', server);
  if (!found.ok) return refused(snapshot, found.problem);
  const resource = linkOf('servers', found.value);
  const open = sessionsOf(snapshot).connectionsOfServer(found.value.key, 0, Infinity);
  if (open.length === 0) return unchanged(snapshot, [resource]);
  const batches = inBatches(open.map(({ session, connection }) => identityOf(session, connection)));
  const head = eventHead(resource, context);
  return accepted(connectionEvents, snapshot, [resource], {
    events: batches.map((batch) => ({ type: 'connections.closed', ...head, connections: batch })),
    effects: batches.map((batch) => ({ type: 'connections.close', resource, connections: batch })),
  });
}

function identityOf({ id: session, connected }: Session, { id }: Connection): ConnectionIdentity {
  return { session, connected, id };
}

/** @internal */
export const connectionRoutes: readonly RouteOf<Snapshot, ConnectionEvent, ConnectionEffect, Rendering>[] = [
  listRoute(
    {
      id: 'servers.connections',
      path: '/servers/:name/connections',
      query: ['fields', 'range'],
      summary: 'Lists the backend connections to a server.',
      shape: representationShape,
    },
    (snapshot, name, rendering) => {
      const found = lookUp(snapshot, 'servers', name);
      if (!found.ok) return found;
      const { key } = found.value;
      const cut = (offset: number, length: number): readonly ConnectionRepresentation[] =>
        sessionsOf(snapshot)
          .connectionsOfServer(key, offset, length)
          .map((each) => toRepresentation(snapshot, each, rendering));
      return ok(listing(snapshot.sessions.countOfServer(key), cut));
    },
  ),
  commandRoute(
    {
      id: 'servers.closeConnections',
      method: 'DELETE',
      path: '/servers/:name/connections',
      aliases: [],
      about: '/servers/:name',
      summary: 'Closes all backend connections to a server.',
    },
    closeServerConnections,
  ),
  listRoute(
    {
      id: 'sessions.connections',
      path: '/sessions/:id/connections',
      query: ['fields', 'range'],
      summary: 'Lists the backend connections of a session.',
      shape: representationShape,
    },
    (snapshot, id, rendering) => {
      const found = lookUpSessionAt(snapshot, id);
      if (!found.ok) return found;
      const session = found.value;
      const cut = (offset: number, length: number): readonly ConnectionRepresentation[] =>
        session.connections
          .slice(offset, offset + length)
          .map((connection) => toRepresentation(snapshot, { session, connection }, rendering));
      return ok(listing(session.connections.length, cut));
    },
  ),
];
