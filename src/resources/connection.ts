/**
 * Connections: the backend connections of a session.
 *
 * Implements the chapter "Connection" of the Gateway Administration REST Interface, and the endpoints about connections
 * of the chapters "Server" and "Session".
 */
import * as z from 'zod/mini';

import {
  refused,
  type Context,
  type DecisionOf,
  type EffectHead,
  type EventHead,
  type EventTable,
  type Selection,
} from '../core/decision.ts';
import { defineFields } from '../core/field.ts';
import { linkTo } from '../core/link.ts';
import { nameKey } from '../core/name.ts';
import type { ReportTable } from '../core/report.ts';
import * as shape from '../core/shape.ts';
import { endpoint } from '../http/endpoint.ts';
import type { ConnectionDocument } from '../snapshot/session/document.ts';
import type {
  Connection,
  ConnectionStatistics,
  Session,
  SessionConnection,
  SessionTable,
} from '../snapshot/session/table.ts';
import { linkOf, linkOfKey, sessionsOf, withSessions, type State } from '../snapshot/state.ts';
import { assertInputs, servers, type Snapshot } from './snapshot.ts';
import type { Server } from './server.ts';
import { decideClosing, defineClosing, headOfSelection } from './shared/closing.ts';
import type { Kind } from './shared/kind.ts';
import {
  findSession,
  finder,
  linkOfCollection,
  lookUp,
  reported,
  reportedSession,
} from './shared/look-up.ts';
import type { Rendering } from './shared/rendering.ts';
import { atResource, commandRoute, listing, listingOf, listRoute } from './shared/route.ts';

/**
 * A backend connection in a response.
 *
 * @see Gateway Administration REST Interface, "Connection".
 *
 * @public
 */
export interface ConnectionRepresentation {
  /** Descriptive text of the connection state. */
  readonly state: string;
  /** Descriptive text of the connection role. */
  readonly role: string;
  /** Link of the server of the connection. */
  readonly server: string;
  /** Link of the service whose session opened the connection. */
  readonly service: string;
  /** Counters of the connection; left out if the gateway does not say them. */
  readonly statistics?: ConnectionStatistics;
  /** Link of the session of the connection. Only if the client asks for the field. */
  readonly session?: string;
  /** Client user name of the session. Only if the client asks for the field. */
  readonly user?: string;
  /** Client address of the session. Only if the client asks for the field. */
  readonly address?: string;
}

/**
 * Identifies one connection. The connect time of the session distinguishes a session from a later one with the same id.
 *
 * @public
 */
export interface ConnectionIdentity {
  /** Id of the session. */
  readonly session: number;
  /** Connect time of the session, in milliseconds since 1970-01-01T00:00:00Z. */
  readonly connected: number;
  /** Id of the connection, unique in its session. */
  readonly id: number;
}

/**
 * The data of a new connection.
 *
 * @public
 */
export interface NewConnection {
  /** Id of the session. */
  readonly session: number;
  /** Id of the connection, unique in its session. */
  readonly id: number;
  /** The server of the connection: its name in a report, its key in an event. */
  readonly server: string;
  /** Descriptive text of the connection role. */
  readonly role: string;
  /** Descriptive text of the connection state. */
  readonly state: string;
}

/**
 * The reports of the host about connections.
 *
 * @internal
 */
export type ConnectionReport =
  | ({
      readonly type: 'connection.opened';
      /** Connect time of the session; if given, a session with another connect time is not changed. */
      readonly connected?: number;
    } & NewConnection)
  | {
      readonly type: 'connection.updated';
      /** Id of the session. */
      readonly session: number;
      /** Connect time of the session; if given, a session with another connect time is not changed. */
      readonly connected?: number;
      /** Id of the connection, unique in its session. */
      readonly id: number;
      /** Descriptive text of the connection role; left out if unchanged. */
      readonly role?: string;
      /** Descriptive text of the connection state; left out if unchanged. */
      readonly state?: string;
      /** All counters of the connection; left out if unchanged, or if the host has telemetry for them. */
      readonly statistics?: ConnectionStatistics;
    }
  | {
      readonly type: 'connection.closed';
      /** Id of the session. */
      readonly session: number;
      /** Connect time of the session; if given, a session with another connect time is not changed. */
      readonly connected?: number;
      /** Id of the connection, unique in its session. */
      readonly id: number;
    };

/**
 * The events of connections. `connections.closed` comes from a command and names at most 1,000 connections; the other
 * events follow from reports of the host.
 *
 * @internal
 */
export type ConnectionEvent =
  | (EventHead<'connection.opened'> & ConnectionIdentity & NewConnection)
  | (EventHead<'connection.updated'> & ConnectionIdentity & Pick<Connection, 'role' | 'state' | 'statistics'>)
  | (EventHead<'connection.closed'> & ConnectionIdentity)
  | (EventHead<'connections.closed'> & {
      /** Key of the name of the server. A connection that is on another server by now stays open. */
      readonly server: string;
      readonly connections: readonly ConnectionIdentity[];
    });

/**
 * The effect on connections: the host must close those that are on the server, and their sessions continue. A
 * connection that no longer exists, or is on another server by now, counts as closed.
 *
 * @internal
 */
export type ConnectionEffect = EffectHead<'connections.close'> & {
  /** Key of the name of the server. */
  readonly server: string;
  /** At most 1,000 connections. */
  readonly connections: readonly ConnectionIdentity[];
};

/** The decision about connections. @internal */
export type ConnectionDecision = DecisionOf<Snapshot, ConnectionEvent, ConnectionEffect>;

const line = shape.text(4096);
const counters = z.strictObject({
  reads: shape.number,
  writes: shape.number,
  buffered_writes: shape.number,
  high_water_events: shape.number,
  low_water_events: shape.number,
});

/** Fields of the chapter "Connection". Server and service are stored as keys and shown as links. */
const fields = defineFields<{
  representation: ConnectionRepresentation;
  document: Omit<ConnectionDocument, 'id'>;
  state: Omit<Connection, 'id' | 'opened'>;
}>()({
  state: { shape: line },
  role: { shape: line },
  server: { shape: line },
  service: { shape: line, derived: true },
  statistics: { shape: counters, optional: true },
  session: { shape: line, derived: true, optional: true, onRequest: true },
  user: { shape: line, derived: true, optional: true, onRequest: true },
  address: { shape: line, derived: true, optional: true, onRequest: true },
});

function represent(
  snapshot: State,
  { session, connection }: SessionConnection,
  { telemetry, fields: asked }: Rendering,
): ConnectionRepresentation {
  const statistics = telemetry?.statistics(session.id, connection.id) ?? connection.statistics;
  const shown = {
    state: connection.state,
    role: connection.role,
    server: linkOfKey(snapshot, 'servers', connection.server),
    service: linkOfKey(snapshot, 'services', session.service),
    ...(statistics !== undefined && { statistics }),
  };
  if (asked === undefined) return shown;
  const { id, user, address } = session;
  return { ...shown, session: linkTo('sessions', id), user, address };
}

type ClosingEvent = Extract<ConnectionEvent, { readonly type: 'connections.closed' }>;

/** How connections are closed. @internal */
export const connectionClosing = defineClosing<SessionConnection, ClosingEvent>({
  find(snapshot, { where, openedUpTo = Infinity }) {
    const key = keyIn(where);
    const table = sessionsOf(snapshot);
    return {
      size: table.countOfServer(key),
      range: (offset, length) => table.connectionsOfServer(key, offset, length),
      isWanted: ({ connection }) => connection.opened <= openedUpTo,
      isExact: openedUpTo === Infinity,
    };
  },
  again(item, { sessions }) {
    const { session, connection } = item;
    const opened = openedOn(connection.server, identityOf(session, connection), sessions);
    return opened === connection.opened ? item : undefined;
  },
  eventOf(closed, selection) {
    const list = closed.map(({ session, connection }) => identityOf(session, connection));
    const listed = { server: keyIn(selection.where), connections: list };
    return { type: 'connections.closed', ...headOfSelection(selection), ...listed };
  },
});

/** The key of the server whose connections are closed. */
function keyIn({ server = '' }: Selection['where']): string {
  return nameKey(String(server));
}

const events: EventTable<Snapshot, ConnectionEvent> = {
  'connection.opened': {
    evolve: (snapshot, { session, connected, id, server, role, state }, fold) =>
      withSessions(snapshot, fold, (table, within) =>
        table.openConnection({ id: session, connected }, { id, server, role, state }, within),
      ),
  },
  'connection.updated': {
    evolve: (snapshot, { session, connected, id, role, state, statistics }, fold) =>
      withSessions(snapshot, fold, (table, within) =>
        table.updateConnection(
          { session, connected, id },
          { role, state, ...(statistics !== undefined && { statistics }) },
          within,
        ),
      ),
  },
  'connection.closed': {
    evolve: (snapshot, { session, connected, id }, fold) =>
      withSessions(snapshot, fold, (table, within) =>
        table.closeConnection({ session, connected, id }, within),
      ),
  },
  'connections.closed': {
    scope: 'node',
    effect: 'connections.close',
    revert: 'irreversible',
    closing: connectionClosing.eventsOf,
    evolve: (snapshot, { server, connections }, fold) =>
      withSessions(snapshot, fold, (table, within) =>
        connections.reduce(
          (left, each) => (isOn(server, each, left) ? left.closeConnection(each, within) : left),
          table,
        ),
      ),
  },
};

const reports: ReportTable<Snapshot, ConnectionReport, ConnectionEvent> = {
  'connection.opened': {
    shape: z.strictObject({
      type: z.literal('connection.opened'),
      session: shape.id,
      connected: z.exactOptional(shape.milliseconds),
      id: shape.id,
      server: line,
      role: line,
      state: line,
    }),
    event(snapshot, { type, server, ...opened }, at) {
      const found = reported(snapshot, servers, server);
      if ('contradiction' in found) return found;
      const session = reportedSession(snapshot, opened.session, opened.connected);
      if (session === undefined || 'contradiction' in session) return session;
      if (session.connections.some(({ id }) => id === opened.id)) {
        return { contradiction: 'has the id of a connection that this session has open already' };
      }
      const { id, connected } = session;
      return { type, at, resource: linkTo('sessions', id), ...opened, connected, server: found.key };
    },
  },
  'connection.updated': {
    shape: z.strictObject({
      type: z.literal('connection.updated'),
      session: shape.id,
      connected: z.exactOptional(shape.milliseconds),
      id: shape.id,
      role: z.exactOptional(line),
      state: z.exactOptional(line),
      statistics: z.exactOptional(counters),
    }),
    event(snapshot, { type, session: sessionId, id, connected, ...update }, at) {
      const session = reportedSession(snapshot, sessionId, connected);
      if (session === undefined || 'contradiction' in session) return session;
      const connection = session.connections.find((each) => each.id === id);
      if (connection === undefined) return undefined;
      const { role, state, statistics } = { ...connection, ...update };
      return {
        type,
        at,
        resource: linkTo('sessions', sessionId),
        ...identityOf(session, connection),
        role,
        state,
        ...(statistics !== undefined && { statistics }),
      };
    },
  },
  'connection.closed': {
    shape: z.strictObject({
      type: z.literal('connection.closed'),
      session: shape.id,
      connected: z.exactOptional(shape.milliseconds),
      id: shape.id,
    }),
    event(snapshot, { type, session: sessionId, id, connected }, at) {
      const session = reportedSession(snapshot, sessionId, connected);
      if (session === undefined || 'contradiction' in session) return session;
      const resource = linkTo('sessions', sessionId);
      return { type, at, resource, session: sessionId, connected: session.connected, id };
    },
  },
};

/**
 * Closes all present backend connections to a server. The sessions continue.
 *
 * Unchanged if no connection is open. Refused with `server-not-found` if there is no such server.
 *
 * @param snapshot - the snapshot to decide on
 * @param server - name of the server, compared by {@link nameKey}
 * @param context - the time and the caller
 * @returns the decision, with a `closing`. Each 1,000 connections then have one `connections.closed` and one
 *   `connections.close`
 *
 * @example
 * ```ts
 * import { closeServerConnections, createSnapshot } from 'gateway-admin-core';
 *
 * const snapshot = createSnapshot({ servers: [{ name: 'db-1', address: '10.0.0.1', port: 5432, protocol: 'pg' }] });
 * closeServerConnections(snapshot, 'db-1', { now: 0 }).outcome; // => 'unchanged'
 * ```
 *
 * @see Gateway Administration REST Interface, "Endpoints", "Server".
 *
 * @public
 */
export function closeServerConnections(
  snapshot: Snapshot,
  server: string,
  context: Context,
): ConnectionDecision {
  assertInputs(snapshot, context);
  const found = lookUp(snapshot, servers, server);
  if (!found.ok) return refused(snapshot, found.problem, [linkOfCollection(servers)]);
  return decideServerConnections(snapshot, found.value, context);
}

function decideServerConnections(snapshot: Snapshot, server: Server, context: Context): ConnectionDecision {
  const resource = linkOf('servers', server);
  const asked = { what: 'connections', resource, where: { server: server.name } } as const;
  return decideClosing(events, connectionClosing, snapshot, asked, context);
}

/** Whether a connection is on a server. A session may reconnect elsewhere under the same id. @internal */
export function isOn(
  server: string,
  { session, connected, id }: ConnectionIdentity,
  sessions: SessionTable,
): boolean {
  return openedOn(server, { session, connected, id }, sessions) !== undefined;
}

/** The revision at which a connection to a server has opened; `undefined` if it is not there. */
function openedOn(
  server: string,
  { session, connected, id }: ConnectionIdentity,
  sessions: SessionTable,
): number | undefined {
  const found = sessions.find(session);
  if (found?.connected !== connected) return undefined;
  return found.connections.find((each) => each.id === id && each.server === server)?.opened;
}

function identityOf({ id: session, connected }: Session, { id }: Connection): ConnectionIdentity {
  return { session, connected, id };
}

/** The kind "connection". @internal */
export const connectionKind: Kind<Snapshot, ConnectionEvent, ConnectionEffect, ConnectionReport> = {
  fields: { connection: fields },
  events,
  effects: { 'connections.close': 'irreversible' },
  reports,
  routes: [
    listRoute<Server>({
      ...endpoint('servers.connections'),
      role: 'reader',
      query: ['fields', 'range'],
      summary: 'Lists the backend connections to a server.',
      shape: fields.representation,
      find: finder(servers),
      list: (snapshot, { key }, rendering) =>
        listing(snapshot.sessions.countOfServer(key), (offset, length) =>
          sessionsOf(snapshot)
            .connectionsOfServer(key, offset, length)
            .map((each) => represent(snapshot, each, rendering)),
        ),
    }),
    commandRoute({
      ...endpoint('servers.closeConnections'),
      role: 'operator',
      summary: 'Closes all backend connections to a server.',
      ...atResource(servers),
      decide: decideServerConnections,
    }),
    listRoute({
      ...endpoint('sessions.connections'),
      role: 'reader',
      query: ['fields', 'range'],
      summary: 'Lists the backend connections of a session.',
      shape: fields.representation,
      find: findSession,
      list: (snapshot, session, rendering) =>
        listingOf(session.connections, (connection) =>
          represent(snapshot, { session, connection }, rendering),
        ),
    }),
  ],
};
