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
import type { Entity } from '../core/collection.ts';
import { defineFields } from '../core/field.ts';
import { linkTo } from '../core/link.ts';
import type { Contradiction, ReportTable } from '../core/report.ts';
import * as shape from '../core/shape.ts';
import { endpoint } from '../http/endpoint.ts';
import { plainCommand, type CommandRoute, type Listing, type SearchValues } from '../http/route.ts';
import { copyJson } from '../json/copy.ts';
import { fail, ok, quoted, type Result } from '../problem.ts';
import type { SessionDocument } from '../snapshot/session/document.ts';
import {
  searchSessions,
  sessionCriteria,
  sessionTest,
  type SessionSearch,
} from '../snapshot/session/search.ts';
import type { Session, SessionTable } from '../snapshot/session/table.ts';
import {
  linkOf,
  linkOfKey,
  sessionsOf,
  withCompleteSessions,
  withSessions,
  type State,
} from '../snapshot/state.ts';
import { assertInputs, servers, services, type Snapshot } from './snapshot.ts';
import type { ConnectionEvent, NewConnection } from './connection.ts';
import type { Service } from './service.ts';
import { batchSize, decideClosing, defineClosing, headOfSelection } from './shared/closing.ts';
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
import type { Rendering, Surroundings } from './shared/rendering.ts';
import { atResource, commandRoute, itemRoute, listing, listRoute, searchOf } from './shared/route.ts';

export type { SessionSearch };

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
  /** Entity tag for `If-Match`, which no later session with the id has. Only if the client asks for the field. */
  readonly etag?: string;
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
  | (EventHead<'sessions.closed'> & {
      readonly sessions: readonly SessionIdentity[];
      /** What the sessions had in common; left out if the resource says that. */
      readonly criteria?: SessionCriteria;
    })
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

/** Which sessions are closed: those that meet at least one criterion, or all. @internal */
type SessionCriteria = SessionSearch | { readonly all: true };

/** The decision about sessions. @internal */
export type SessionDecision = DecisionOf<Snapshot, SessionEvent, SessionEffect>;

const line = shape.text(4096);
const idleTime = shape.number;

/** Fields of the chapter "Session". The service is stored as its key and shown as its link. */
const fields = defineFields<{
  representation: SessionRepresentation;
  document: Omit<SessionDocument, 'connections'>;
  state: Omit<Session, 'connections' | 'opened' | 'renamed'>;
}>()({
  id: { shape: shape.id },
  state: { shape: line },
  user: { shape: line },
  address: { shape: line },
  service: { shape: line },
  connected: { shape: shape.instant, time: 'asctime' },
  idle: { shape: idleTime, default: 0 },
  etag: { shape: line, derived: true, optional: true, onRequest: true },
});

/** The entity tag of a session: its identity. */
function tagOf({ id, connected }: SessionIdentity): string {
  return `"${String(id)}.${String(connected)}"`;
}

function represent(
  snapshot: State,
  session: Session,
  { times, telemetry, fields: asked }: Rendering,
): SessionRepresentation {
  const shown = {
    id: session.id,
    state: session.state,
    user: session.user,
    address: session.address,
    service: linkOfKey(snapshot, 'services', session.service),
    connected: times.asctime(session.connected),
    idle: telemetry?.idle(session.id) ?? session.idle,
  };
  return asked === undefined ? shown : { ...shown, etag: tagOf(session) };
}

type ClosingEvent = Extract<SessionEvent, { readonly type: 'sessions.closed' }>;

/** How sessions are closed. @internal */
export const sessionClosing = defineClosing<Session, ClosingEvent>({
  find(snapshot, selection, idleOf) {
    const { where, at, openedUpTo = Infinity } = selection;
    const moment = { ...selection, now: at, idleOf };
    const { candidates } = searchSessions(sessionsOf(snapshot), where, moment);
    const meets = sessionTest(where, moment);
    return {
      ...candidates,
      isWanted: (session) => session.opened <= openedUpTo && meets(session),
      isExact: openedUpTo === Infinity && Object.keys(where).join() === 'service',
    };
  },
  again({ id, opened }, { sessions }) {
    const now = sessions.find(id);
    return now?.opened === opened ? now : undefined;
  },
  eventOf(closed, selection) {
    const { resource, where } = selection;
    const criteria = Object.keys(where).length === 0 ? { all: true as const } : where;
    const common = resource === allSessions ? { criteria } : {};
    const sessions = closed.map(identityOf);
    return { type: 'sessions.closed', ...headOfSelection(selection), ...common, sessions };
  },
});

function identityOf({ id, connected }: Session): SessionIdentity {
  return { id, connected };
}

const events: EventTable<Snapshot, SessionEvent> = {
  'session.opened': {
    evolve: (snapshot, { id, state, user, address, service, connected }, fold) =>
      withSessions(snapshot, fold, (table, within) =>
        table.open({ id, state, user, address, service, connected, idle: 0, connections: [] }, within),
      ),
  },
  'session.updated': {
    evolve: (snapshot, { id, connected, state, user, idle }, fold) =>
      withSessions(snapshot, fold, (table, within) =>
        table.update({ id, connected }, { state, user, idle }, within),
      ),
  },
  'session.closed': {
    evolve: (snapshot, { id, connected }, fold) =>
      withSessions(snapshot, fold, (table, within) => table.close([{ id, connected }], within)),
  },
  'sessions.closed': {
    scope: 'node',
    effect: 'sessions.close',
    revert: 'irreversible',
    closing: sessionClosing.eventsOf,
    evolve: (snapshot, { sessions }, fold) =>
      withSessions(snapshot, fold, (table, within) => table.close(sessions, within)),
  },
  'sessions.completed': {
    evolve: (snapshot, _event, fold) => withCompleteSessions(snapshot, fold),
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
      connections: z.exactOptional(z.array(newConnection).check(z.maxLength(batchSize))),
    }),
    began: ({ service, connected }) => ({ link: linkTo('services', service), at: connected }),
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
 * Refused with `session-not-found` if there is no such session. Unchanged with the mark of a plan that has shown an
 * earlier session with this id.
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
  const resource = linkTo('sessions', session.id);
  const { openedUpTo = Infinity } = context;
  // The session that the plan has shown has ended, and its id is used again.
  if (session.opened > openedUpTo) return unchanged(snapshot, [resource]);
  const sessions = [identityOf(session)];
  return accepted(events, snapshot, [resource], {
    events: [{ type: 'sessions.closed', ...eventHead(resource, context), sessions }],
  });
}

/**
 * Closes all present sessions of a service. Sessions that open later are not closed.
 *
 * Unchanged if no session is open. Refused with `service-not-found` if there is no such service.
 *
 * @param snapshot - the snapshot to decide on
 * @param service - name of the service, compared by {@link nameKey}
 * @param context - the time and the caller
 * @returns the decision, with a `closing`. Each 1,000 sessions then have one `sessions.closed` and one `sessions.close`
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
  const resource = linkOf('services', service);
  const asked = { what: 'sessions', resource, where: { service: service.name } } as const;
  return decideClosing(events, sessionClosing, snapshot, asked, context);
}

/**
 * Closes the present sessions that meet all given criteria. Sessions that open later are not closed. A session must
 * meet the criteria again when it is closed, so a client that is active again stays.
 *
 * Unchanged if no session meets the criteria. If more than 1,000 sessions can meet them, the decision reads no session,
 * and is accepted: each part looks at 1,000 sessions, and says which of them are closed. Refused with `query-invalid`
 * without a criterion, and with `service-not-found` or `server-not-found` if a name names nothing.
 *
 * @param snapshot - the snapshot to decide on
 * @param criteria - at least one criterion, or `{ all: true }` for all sessions. Names are compared by {@link nameKey}
 * @param context - the time, the caller, and the idle times
 * @returns the decision, with a `closing`. Each 1,000 sessions then have at most one `sessions.closed` and one
 *   `sessions.close`
 *
 * @example
 * ```ts
 * import { closeSessions, createSnapshot } from 'gateway-admin-core';
 *
 * const snapshot = createSnapshot({});
 * closeSessions(snapshot, { user: 'bi', idle_over: 600 }, { now: 0 }).outcome; // => 'unchanged'
 * closeSessions(snapshot, {}, { now: 0 }).outcome; // => 'refused'
 * ```
 *
 * @see docs/find-sessions.md; docs/spec-choices.md 39.
 *
 * @public
 */
export function closeSessions(
  snapshot: Snapshot,
  criteria: SessionSearch | { readonly all: true },
  context: Context,
): SessionDecision {
  assertInputs(snapshot, context);
  const json = copyJson(criteria, { depth: 1 });
  if (!json.ok) return refused(snapshot, json.problem);
  const checked = checkCriteria(json.value);
  if (!checked.ok) return refused(snapshot, checked.problem);
  return decideSessions(snapshot, checked.value, context);
}

function decideSessions(snapshot: Snapshot, criteria: SessionCriteria, context: Context): SessionDecision {
  const search: SessionSearch = 'all' in criteria ? {} : criteria;
  for (const [named, name] of [[services, search.service] as const, [servers, search.server] as const]) {
    const found = name === undefined ? undefined : lookUp<Entity>(snapshot, named, name);
    if (found?.ok === false) return refused(snapshot, found.problem, [linkOfCollection(named)]);
  }
  const asked = { what: 'sessions', resource: allSessions, where: { ...search } } as const;
  return decideClosing(events, sessionClosing, snapshot, asked, context);
}

/**
 * The link of the list of all sessions. Not a link of a service or server: one that hangs must not keep sessions open.
 */
const allSessions = linkOfCollection({ collection: 'sessions' });

const criteriaShape = z.strictObject({
  service: z.exactOptional(line),
  server: z.exactOptional(line),
  user: z.exactOptional(line),
  address: z.exactOptional(line),
  idle_over: z.exactOptional(idleTime.check(z.minimum(0))),
  older_than: z.exactOptional(shape.number.check(z.minimum(0))),
  all: z.exactOptional(z.literal(true)),
});

/** Checks the criteria of a closing. An unknown criterion is refused: without it, more sessions would be closed. */
function checkCriteria(given: unknown): Result<SessionCriteria> {
  const parsed = shape.parseShape(criteriaShape, given);
  if (!parsed.ok) {
    const [{ pointer, detail } = { pointer: '', detail: 'is wrong' }] = parsed.faults;
    return fail('query-invalid', `The criterion ${quoted(pointer.slice(1))} ${detail}. ${sayWhich}`);
  }
  const { all, ...search } = parsed.value;
  const count = Object.keys(search).length;
  if (all === true)
    return count === 0 ? ok({ all }) : fail('query-invalid', `all=true stands alone. ${sayWhich}`);
  return count > 0 ? ok(search) : fail('query-invalid', `No criterion is given. ${sayWhich}`);
}

const sayWhich =
  `Give at least one of ${sessionCriteria.join(', ')}: a session must meet all that are given. To close all sessions, give ` +
  'all=true and nothing else.';

/** The criteria in a query. */
function searchIn({ idle_over: idle, older_than: age, ...texts }: Partial<SearchValues>): SessionSearch {
  return {
    ...texts,
    ...(idle === undefined ? {} : { idle_over: Number(idle) }),
    ...(age === undefined ? {} : { older_than: Number(age) }),
  };
}

type Sessions = Pick<SessionTable, 'size' | 'range'>;

/** Makes the listing of sessions in the order of their ids; its pages begin after an id, if one is given. */
function listingOfSessions(
  snapshot: State,
  sessions: Sessions,
  { rendering, after }: { readonly rendering: Rendering; readonly after?: string | undefined },
): Listing {
  const idAt = (position: number): number => sessions.range(position, 1)[0]?.id ?? Infinity;
  return {
    ...listing(sessions.size, (offset, length) =>
      sessions.range(offset, length).map((session) => represent(snapshot, session, rendering)),
    ),
    after: { start: after === undefined ? 0 : countUpTo(Number(after), sessions.size, idAt), idAt },
  };
}

/** The number of ids up to one, of ids in order. */
function countUpTo(id: number, size: number, idAt: (position: number) => number): number {
  let [low, high] = [0, size];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (idAt(middle) <= id) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Closes the sessions that the query chooses. */
const closingRoute: CommandRoute<State, DecisionOf<State>, Surroundings> = {
  ...plainCommand,
  ...endpoint('sessions.closeMany'),
  isAddition: true,
  role: 'operator',
  search: [...sessionCriteria, 'all'],
  summary: 'Closes the sessions that meet all given criteria, with their backend connections.',
  find: ({ sessions }) => ok(sessions),
  link: () => allSessions,
  command(_parameters, _body, _secrets, _rendering, values) {
    const { all, ...others } = values;
    const criteria = checkCriteria({ ...searchIn(others), ...(all === 'true' ? { all: true } : {}) });
    if (!criteria.ok) return criteria;
    return ok({
      decide: (snapshot, _sessions, context) => decideSessions(snapshot as Snapshot, criteria.value, context),
      asked: criteria.value,
    });
  },
};

/** A session at its own path. */
const oneSession = {
  find: findSession,
  link: ({ id }: Session) => linkTo('sessions', id),
  conditionTag: tagOf,
};

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
      ...atResource(services),
      decide: decideServiceSessions,
    }),
    itemRoute({
      ...endpoint('sessions.get'),
      role: 'reader',
      summary: 'Gives one session.',
      shape: fields.representation,
      ...oneSession,
      read: represent,
    }),
    listRoute({
      ...endpoint('sessions.list'),
      role: 'reader',
      query: ['fields', 'range'],
      summary: 'Lists the sessions.',
      shape: fields.representation,
      find: ({ sessions }) => ok(sessions),
      list: (snapshot, sessions, rendering) => listingOfSessions(snapshot, sessions, { rendering }),
      search: [...sessionCriteria, 'after'],
      select(snapshot, _sessions, rendering, { after, ...values }) {
        const place = { rendering, after };
        const moment = { now: rendering.now(), idleOf: rendering.telemetry?.idle };
        const { candidates, isWanted } = searchSessions(sessionsOf(snapshot), searchIn(values), moment);
        if (isWanted === undefined) return listingOfSessions(snapshot, candidates, place);
        return searchOf({
          candidates: candidates.size,
          wanted: (offset, length) => candidates.range(offset, length).filter(isWanted),
          listing(found) {
            const range: Sessions['range'] = (offset, length) => found.slice(offset, offset + length);
            return listingOfSessions(snapshot, { size: found.length, range }, place);
          },
        });
      },
    }),
    closingRoute,
    commandRoute({
      ...endpoint('sessions.close'),
      role: 'operator',
      summary: 'Closes a session: its client connection and all its backend connections.',
      ...oneSession,
      decide: decideSession,
    }),
  ],
};
