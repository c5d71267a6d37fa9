/**
 * Sessions: client connections with their backend connections.
 *
 * Implements the chapter "Session" of the Gateway Administration REST Interface, and the endpoints about sessions of
 * the chapter "Service".
 */
import * as z from 'zod/mini';

import {
  accepted,
  eventHead,
  refused,
  unchanged,
  type Context,
  type DecisionOf,
  type EffectHead,
  type EventHead,
  type EventTable,
} from '../core/decision.ts';
import { defineFields } from '../core/field.ts';
import { linkTo } from '../core/link.ts';
import type { Contradiction, ReportTable } from '../core/report.ts';
import * as shape from '../core/shape.ts';
import { endpoint } from '../http/endpoint.ts';
import type { Listing } from '../http/route.ts';
import { ok } from '../problem.ts';
import type { SessionDocument } from '../snapshot/session/document.ts';
import { searchSessions, sessionCriteria } from '../snapshot/session/search.ts';
import type { Session, SessionTable } from '../snapshot/session/table.ts';
import {
  linkOf,
  linkOfKey,
  sessionsOf,
  shownVersion,
  withCompleteSessions,
  withSessions,
  type State,
} from '../snapshot/state.ts';
import { assertInputs, servers, services, type Snapshot } from './snapshot.ts';
import type { ConnectionEvent, NewConnection } from './connection.ts';
import type { Service } from './service.ts';
import type { Kind } from './shared/kind.ts';
import {
  findSession,
  finder,
  linkOfCollection,
  lookUp,
  lookUpSession,
  reported,
  reportedSession,
} from './shared/look-up.ts';
import type { Rendering } from './shared/rendering.ts';
import { commandRoute, itemRoute, listing, listingOf, listRoute, searchOf } from './shared/route.ts';
import { inBatches, teardownBatch } from './shared/teardown.ts';

/**
 * A session in a response.
 *
 * @see Gateway Administration REST Interface, "Session".
 *
 * @public
 */
export interface SessionRepresentation {
  /** Session id. */
  readonly id: number;
  /** Descriptive text of the session state. */
  readonly state: string;
  /** Client user name. */
  readonly user: string;
  /** Client address. */
  readonly address: string;
  /** Link of the service of the session. */
  readonly service: string;
  /** Connect time, such as `Fri Sep  9 14:12:37 2016`. */
  readonly connected: string;
  /** Idle time; a plain number. */
  readonly idle: number;
}

/**
 * Identifies one session. The connect time distinguishes a session from a later one with the same id.
 *
 * @public
 */
export interface SessionIdentity {
  /** Session id. */
  readonly id: number;
  /** Connect time, in milliseconds since 1970-01-01T00:00:00Z. */
  readonly connected: number;
}

/**
 * The data of a new session.
 *
 * @public
 */
export interface NewSession extends SessionIdentity {
  /** Descriptive text of the session state, such as `Session ready for routing`. */
  readonly state: string;
  /** Client user name. */
  readonly user: string;
  /** Client address. */
  readonly address: string;
  /** The service of the session: its name in a report, its key in an event. */
  readonly service: string;
}

/**
 * The reports of the host about sessions.
 *
 * @internal
 */
export type SessionReport =
  | ({
      readonly type: 'session.opened';
      /** The backend connections that the session has already, in the order of opening; at most 1,000. */
      readonly connections?: readonly Omit<NewConnection, 'session'>[];
    } & NewSession)
  | {
      readonly type: 'session.updated';
      /** Session id. */
      readonly id: number;
      /** Connect time; if given, a session with another connect time is not changed. */
      readonly connected?: number;
      /** Descriptive text of the session state; left out if unchanged. */
      readonly state?: string;
      /** Client user name; left out if unchanged. */
      readonly user?: string;
      /** Idle time, a plain number; left out if unchanged, or if the host has telemetry for it. */
      readonly idle?: number;
    }
  | ({ readonly type: 'session.closed' } & SessionIdentity)
  /** Everything that is open has been reported. Until then, nothing counts as drained. */
  | { readonly type: 'sessions.complete' };

/**
 * The events of sessions. `sessions.closed` comes from a command and names at most 1,000 sessions; the other events
 * follow from reports of the host.
 *
 * @internal
 */
export type SessionEvent =
  | (EventHead<'session.opened'> & NewSession)
  | (EventHead<'session.updated'> & SessionIdentity & Pick<Session, 'state' | 'user' | 'idle'>)
  | (EventHead<'session.closed'> & SessionIdentity)
  | (EventHead<'sessions.closed'> & { readonly sessions: readonly SessionIdentity[] })
  | EventHead<'sessions.completed'>;

/**
 * The effect on sessions: the host must close client connections with all their backend connections. A session counts
 * as closed if it no longer exists, or if its id now belongs to a session with another connect time.
 *
 * @internal
 */
export type SessionEffect = EffectHead<'sessions.close'> & {
  /** At most 1,000 sessions. */
  readonly sessions: readonly SessionIdentity[];
};

/** The decision about sessions. @internal */
export type SessionDecision = DecisionOf<Snapshot, SessionEvent, SessionEffect>;

const line = shape.text(4096);
const idleTime = shape.number;

/** Fields of the chapter "Session". The service is stored as its key and shown as its link. */
const fields = defineFields<{
  representation: SessionRepresentation;
  document: Omit<SessionDocument, 'connections'>;
  state: Omit<Session, 'connections' | 'opened'>;
}>()({
  id: { shape: shape.id },
  state: { shape: line },
  user: { shape: line },
  address: { shape: line },
  service: { shape: line },
  connected: { shape: shape.instant, time: 'asctime' },
  idle: { shape: idleTime, default: 0 },
});

function represent(
  snapshot: State,
  session: Session,
  { times, telemetry }: Rendering,
): SessionRepresentation {
  return {
    id: session.id,
    state: session.state,
    user: session.user,
    address: session.address,
    service: linkOfKey(snapshot, 'services', session.service),
    connected: times.asctime(session.connected),
    idle: telemetry?.idle(session.id) ?? session.idle,
  };
}

const events: EventTable<Snapshot, SessionEvent> = {
  'session.opened': {
    origin: 'report',
    evolve: (snapshot, { id, state, user, address, service, connected }, change) =>
      withSessions(
        snapshot,
        sessionsOf(snapshot).open(
          { id, state, user, address, service, connected, idle: 0, connections: [] },
          change,
        ),
        change,
      ),
  },
  'session.updated': {
    origin: 'report',
    evolve: (snapshot, { id, connected, state, user, idle }, change) =>
      withSessions(
        snapshot,
        sessionsOf(snapshot).update({ id, connected }, { state, user, idle }, change),
        change,
      ),
  },
  'session.closed': {
    origin: 'report',
    evolve: (snapshot, { id, connected }, change) =>
      withSessions(snapshot, sessionsOf(snapshot).close([{ id, connected }], change), change),
  },
  'sessions.closed': {
    origin: 'command',
    scope: 'node',
    effect: 'sessions.close',
    revert: 'irreversible',
    evolve: (snapshot, { sessions }, change) =>
      withSessions(snapshot, sessionsOf(snapshot).close(sessions, change), change),
  },
  'sessions.completed': {
    origin: 'report',
    evolve: (snapshot, _event, change) => withCompleteSessions(snapshot, change),
  },
};

/** A connection in the report of a new session. */
const newConnection = z.strictObject({ id: shape.id, server: line, role: line, state: line });

type OpeningEvent = Extract<SessionEvent, { readonly type: 'session.opened' }>;
type ConnectingEvent = Extract<ConnectionEvent, { readonly type: 'connection.opened' }>;

/** The events of the connections of a new session. */
function connectingEvents(
  snapshot: Snapshot,
  { at, resource, id: session, connected }: OpeningEvent,
  connections: readonly z.infer<typeof newConnection>[],
): readonly ConnectingEvent[] | Contradiction {
  const events: ConnectingEvent[] = [];
  const ids = new Set<number>();
  for (const [position, { id, server, role, state }] of connections.entries()) {
    const path = ['connections', position];
    const found = reported(snapshot, servers, server);
    if ('contradiction' in found) return { ...found, path: [...path, 'server'] };
    if (ids.has(id))
      return { contradiction: 'is also the id of an earlier connection', path: [...path, 'id'] };
    ids.add(id);
    const type = 'connection.opened';
    events.push({ type, at, resource, session, connected, id, role, state, server: found.key });
  }
  return events;
}

const reports: ReportTable<Snapshot, SessionReport, SessionEvent | ConnectingEvent> = {
  'session.opened': {
    shape: z.strictObject({
      type: z.literal('session.opened'),
      id: shape.id,
      state: line,
      user: line,
      address: line,
      service: line,
      connected: shape.milliseconds,
      connections: z.exactOptional(z.array(newConnection).check(z.maxLength(teardownBatch))),
    }),
    event(snapshot, { type, id, state, user, address, service: name, connected, connections = [] }, at) {
      const found = reported(snapshot, services, name);
      if ('contradiction' in found) return found;
      const resource = linkTo('sessions', id);
      const service = found.key;
      // Members one by one: a spread takes several times as long, and this is the commonest report of all.
      const opening: OpeningEvent = { type, at, resource, id, state, user, address, connected, service };
      const connecting = connectingEvents(snapshot, opening, connections);
      if ('contradiction' in connecting) return connecting;
      const before = snapshot.sessions.find(id);
      if (before === undefined) return [opening, ...connecting];
      if (connected <= before.connected) return undefined;
      // The id is in use again, so the earlier session has ended, although nobody has reported the end.
      const closing = { type: 'session.closed', at, resource, id, connected: before.connected } as const;
      return [closing, opening, ...connecting];
    },
  },
  'session.updated': {
    shape: z.strictObject({
      type: z.literal('session.updated'),
      id: shape.id,
      connected: z.exactOptional(shape.milliseconds),
      state: z.exactOptional(line),
      user: z.exactOptional(line),
      idle: z.exactOptional(idleTime),
    }),
    event(snapshot, { type, id, connected, ...update }, at) {
      const session = reportedSession(snapshot, id, connected);
      if (session === undefined || 'contradiction' in session) return session;
      const { state, user, idle } = { ...session, ...update };
      const resource = linkTo('sessions', id);
      return { type, at, resource, id, connected: session.connected, state, user, idle };
    },
  },
  'session.closed': {
    shape: z.strictObject({ type: z.literal('session.closed'), id: shape.id, connected: shape.milliseconds }),
    event(snapshot, { type, id, connected }, at) {
      const session = reportedSession(snapshot, id, connected);
      if (session === undefined || 'contradiction' in session) return session;
      return { type, at, resource: linkTo('sessions', id), id, connected };
    },
  },
  'sessions.complete': {
    shape: z.strictObject({ type: z.literal('sessions.complete') }),
    event: ({ sessionsIncomplete }, _report, at) =>
      sessionsIncomplete === true ? { type: 'sessions.completed', at, resource: '/sessions' } : undefined,
  },
};

/**
 * Closes a session: its client connection and all its backend connections.
 *
 * Refused with `session-not-found` if there is no such session.
 *
 * @param snapshot - the snapshot to decide on
 * @param id - id of the session
 * @param context - the time and the caller
 * @returns the decision, with one `sessions.closed` and one `sessions.close`
 *
 * @example
 * ```ts
 * import { closeSession, createSnapshot } from 'gateway-admin-core';
 *
 * closeSession(createSnapshot({}), 7, { now: 0 }).outcome; // => 'refused'
 * ```
 *
 * @see Gateway Administration REST Interface, "Endpoints", "Session".
 *
 * @public
 */
export function closeSession(snapshot: Snapshot, id: number, context: Context): SessionDecision {
  assertInputs(snapshot, context);
  const found = lookUpSession(snapshot, id);
  if (!found.ok) return refused(snapshot, found.problem);
  return decideSession(snapshot, found.value, context);
}

function decideSession(snapshot: Snapshot, session: Session, context: Context): SessionDecision {
  return close(snapshot, { resource: linkTo('sessions', session.id) }, context, 1, () => [session]);
}

/**
 * Closes all present sessions of a service. Sessions that open later are not closed.
 *
 * Unchanged if no session is open. Refused with `service-not-found` if there is no such service.
 *
 * @param snapshot - the snapshot to decide on
 * @param service - name of the service, compared by {@link nameKey}
 * @param context - the time and the caller
 * @returns the decision, with one `sessions.closed` and one `sessions.close` for each 1,000 sessions
 *
 * @example
 * ```ts
 * import { closeServiceSessions, createSnapshot } from 'gateway-admin-core';
 *
 * const snapshot = createSnapshot({ services: [{ name: 'Sales', router: 'readconnroute' }] });
 * closeServiceSessions(snapshot, 'Sales', { now: 0 }).outcome; // => 'unchanged'
 * ```
 *
 * @see Gateway Administration REST Interface, "Endpoints", "Service".
 *
 * @public
 */
export function closeServiceSessions(snapshot: Snapshot, service: string, context: Context): SessionDecision {
  assertInputs(snapshot, context);
  const found = lookUp(snapshot, services, service);
  if (!found.ok) return refused(snapshot, found.problem, [linkOfCollection(services)]);
  return decideServiceSessions(snapshot, found.value, context);
}

function decideServiceSessions(snapshot: Snapshot, service: Service, context: Context): SessionDecision {
  const table = sessionsOf(snapshot);
  const count = table.countOfService(service.key);
  const resource = linkOf('services', service);
  // Not the service itself: a start or stop of unknown outcome must not keep the sessions from being closed.
  const links = { resource, restsOn: `${resource}/sessions` };
  return close(snapshot, links, context, count, (offset, length) =>
    table.rangeOfService(service.key, offset, length),
  );
}

function close(
  snapshot: Snapshot,
  { resource, restsOn = resource }: { readonly resource: string; readonly restsOn?: string },
  context: Context,
  count: number,
  range: (offset: number, length: number) => readonly Session[],
): SessionDecision {
  const head = eventHead(resource, context);
  const toChange = (batch: readonly Session[]): { event: ClosingEvent; effect: SessionEffect } => {
    const sessions = batch.map(({ id, connected }) => ({ id, connected }));
    return {
      event: { type: 'sessions.closed', ...head, sessions },
      effect: { type: 'sessions.close', resource, sessions },
    };
  };
  const openedAt = ({ opened }: Session): number => opened;
  const batches = inBatches({ count, range, openedAt, isLeft: isOpen, toChange }, context);
  return batches === undefined
    ? unchanged(snapshot, [restsOn])
    : accepted(events, snapshot, [restsOn], batches);
}

type ClosingEvent = Extract<SessionEvent, { readonly type: 'sessions.closed' }>;

function isOpen({ id, opened }: Session, { sessions }: Snapshot): boolean {
  return sessions.find(id)?.opened === opened;
}

function listingOfSessions(
  snapshot: State,
  sessions: Pick<SessionTable, 'size' | 'range'>,
  rendering: Rendering,
): Listing {
  return listing(sessions.size, (offset, length) =>
    sessions.range(offset, length).map((session) => represent(snapshot, session, rendering)),
  );
}

/** The kind "session". @internal */
export const sessionKind: Kind<Snapshot, SessionEvent, SessionEffect, SessionReport> = {
  fields: { session: fields },
  events,
  effects: { 'sessions.close': 'irreversible' },
  reports,
  routes: [
    listRoute<Service>({
      ...endpoint('services.sessions'),
      role: 'reader',
      query: ['range'],
      summary: 'Lists the links of the sessions on a service.',
      shape: z.string(),
      find: finder(services),
      list: (snapshot, { key }) =>
        listing(snapshot.sessions.countOfService(key), (offset, length) =>
          sessionsOf(snapshot)
            .idsOfService(key, offset, length)
            .map((id) => linkTo('sessions', id)),
        ),
    }),
    commandRoute({
      ...endpoint('services.closeSessions'),
      role: 'operator',
      summary: 'Closes all sessions on a service with their backend connections.',
      find: finder(services),
      version: (snapshot, service) => shownVersion(snapshot, 'services', service),
      link: (service) => linkOf('services', service),
      decide: decideServiceSessions,
    }),
    itemRoute({
      ...endpoint('sessions.get'),
      role: 'reader',
      summary: 'Gives one session.',
      shape: fields.representation,
      find: findSession,
      link: ({ id }) => linkTo('sessions', id),
      read: represent,
    }),
    listRoute({
      ...endpoint('sessions.list'),
      role: 'reader',
      query: ['fields', 'range'],
      summary: 'Lists the sessions.',
      shape: fields.representation,
      find: ({ sessions }) => ok(sessions),
      list: (snapshot, sessions, rendering) => listingOfSessions(snapshot, sessions, rendering),
      search: sessionCriteria,
      select(snapshot, _sessions, rendering, values) {
        const { candidates, isWanted } = searchSessions(sessionsOf(snapshot), values);
        if (isWanted === undefined) return listingOfSessions(snapshot, candidates, rendering);
        return searchOf({
          candidates: candidates.size,
          wanted: (offset, length) => candidates.range(offset, length).filter(isWanted),
          listing: (found) => listingOf(found, (session) => represent(snapshot, session, rendering)),
        });
      },
    }),
    commandRoute({
      ...endpoint('sessions.close'),
      role: 'operator',
      summary: 'Closes a session: its client connection and all its backend connections.',
      find: findSession,
      link: ({ id }) => linkTo('sessions', id),
      decide: decideSession,
    }),
  ],
};
