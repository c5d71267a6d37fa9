/**
 * Sessions: a client connection with everything that belongs to it.
 *
 * The chapter "Session" of the Gateway Administration REST Interface, and of "Service" what concerns its sessions.
 */
import * as z from 'zod/mini';

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
import { inBatches } from './shared/teardown.ts';
import { linkTo } from '../core/link.ts';
import type { ReportTable } from '../core/report.ts';
import { ok } from '../problem.ts';
import type { RouteOf } from '../http/route.ts';
import * as shape from '../core/shape.ts';
import type { Rendering } from './shared/rendering.ts';
import { commandRoute, itemRoute, listing, listRoute } from './shared/route.ts';
import type { Session } from '../snapshot/session-table.ts';
import {
  linkOf,
  linkOfKey,
  lookUp,
  lookUpSession,
  lookUpSessionAt,
  parseSessionId,
  sessionsOf,
  withSessions,
  type Snapshot,
} from '../snapshot/snapshot.ts';

/**
 * A session as clients see it.
 *
 * @public
 */
export interface SessionRepresentation {
  /** Session id. */
  readonly id: number;
  /** Descriptive text. */
  readonly state: string;
  /** Client user name. */
  readonly user: string;
  /** Client address. */
  readonly address: string;
  /** Link of the service that the session is on. */
  readonly service: string;
  /** Connect time, such as `Fri Sep  9 14:12:37 2016`. */
  readonly connected: string;
  /** Idle time; a plain number. */
  readonly idle: number;
}

/**
 * Names one session beyond doubt: an id that is used again has another connect time.
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
 * What a session is opened with.
 *
 * @public
 */
export interface SessionFacts extends SessionIdentity {
  /** Descriptive text, such as `Session ready for routing`. */
  readonly state: string;
  /** Client user name. */
  readonly user: string;
  /** Client address. */
  readonly address: string;
  /** The service that the session is on: its name in a report, its key in an event. */
  readonly service: string;
}

/**
 * What the host reports of sessions.
 *
 * @public
 */
export type SessionReport =
  | ({ readonly type: 'session.opened' } & SessionFacts)
  | {
      readonly type: 'session.updated';
      /** Session id. */
      readonly id: number;
      /** Descriptive text; left out when it stays. */
      readonly state?: string;
      /** Client user name; left out when it stays. */
      readonly user?: string;
    }
  | ({ readonly type: 'session.closed' } & SessionIdentity);

/**
 * What can happen to sessions. `sessions.closed` comes from a command, at most 1,000 sessions at a time; the others
 * are reported by the host.
 *
 * @public
 */
export type SessionEvent =
  | (EventOf<'session.opened'> & SessionFacts)
  | (EventOf<'session.updated'> & Pick<SessionFacts, 'id' | 'state' | 'user'>)
  | (EventOf<'session.closed'> & SessionIdentity)
  | (EventOf<'sessions.closed'> & { readonly sessions: readonly SessionIdentity[] });

/**
 * What the host is asked to do with sessions: close client connections and all that belongs to them. A session that
 * is gone, or whose id is used again with another connect time, counts as closed.
 *
 * @public
 */
export type SessionEffect = EffectOf<'sessions.close'> & {
  /** At most 1,000 sessions. */
  readonly sessions: readonly SessionIdentity[];
};

/**
 * The answer of a transition of sessions.
 *
 * @public
 */
export type SessionDecision = DecisionOf<Snapshot, SessionEvent, SessionEffect>;

const id = z.int().check(z.minimum(0));
const representationShape = z.strictObject({
  id,
  state: z.string(),
  user: z.string(),
  address: z.string(),
  service: z.string(),
  connected: z.string(),
  idle: z.number(),
}) satisfies z.core.$ZodType<SessionRepresentation>;
const line = shape.text(4096);

function toRepresentation(
  snapshot: Snapshot,
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
    idle: telemetry?.idle?.(session.id) ?? session.idle,
  };
}

/** @internal */
export const sessionEvents: EventTable<Snapshot, SessionEvent> = {
  'session.opened': {
    origin: 'report',
    evolve: (snapshot, { id, state, user, address, service, connected }, change) =>
      withSessions(
        snapshot,
        sessionsOf(snapshot).open(
          { id, state, user, address, service, connected, idle: 0, connections: [] },
          change,
        ),
      ),
  },
  'session.updated': {
    origin: 'report',
    evolve: (snapshot, { id, state, user }, change) =>
      withSessions(snapshot, sessionsOf(snapshot).update(id, { state, user }, change)),
  },
  'session.closed': {
    origin: 'report',
    evolve: (snapshot, { id, connected }, change) =>
      withSessions(snapshot, sessionsOf(snapshot).close({ id, connected }, change)),
  },
  'sessions.closed': {
    origin: 'command',
    effect: 'sessions.close',
    revert: 'irreversible',
    evolve: (snapshot, { sessions }, change) =>
      withSessions(
        snapshot,
        sessions.reduce((table, each) => table.close(each, change), sessionsOf(snapshot)),
      ),
  },
};

/** @internal */
export const sessionEffects: EffectTable<SessionEffect> = { 'sessions.close': 'irreversible' };

/** @internal */
export const sessionReports: ReportTable<Snapshot, SessionReport, SessionEvent> = {
  'session.opened': {
    shape: z.strictObject({
      type: z.literal('session.opened'),
      id,
      state: line,
      user: line,
      address: line,
      service: line,
      connected: shape.milliseconds,
    }),
    event(snapshot, { type, service, ...facts }, at) {
      const found = snapshot.services.find(service);
      if (found === undefined) return { contradiction: 'names a service that does not exist' };
      if (snapshot.sessions.find(facts.id) !== undefined)
        return { contradiction: 'has the id of a session that is open' };
      return { type, at, resource: linkTo('sessions', facts.id), ...facts, service: found.key };
    },
  },
  'session.updated': {
    shape: z.strictObject({
      type: z.literal('session.updated'),
      id,
      state: z.exactOptional(line),
      user: z.exactOptional(line),
    }),
    event(snapshot, { type, id, state, user }, at) {
      const session = snapshot.sessions.find(id);
      if (session === undefined) return undefined;
      const resource = linkTo('sessions', id);
      return { type, at, resource, id, state: state ?? session.state, user: user ?? session.user };
    },
  },
  'session.closed': {
    shape: z.strictObject({ type: z.literal('session.closed'), id, connected: shape.milliseconds }),
    event: (_snapshot, { type, id, connected }, at) => ({
      type,
      at,
      resource: linkTo('sessions', id),
      id,
      connected,
    }),
  },
};

/**
 * Closes a session: its client connection and all its backend connections.
 *
 * @param snapshot - the state to start from
 * @param id - id of the session; refused with `session-not-found` when there is none
 * @param context - the time and who asked
 * @returns the decision, with one `sessions.closed` and one `sessions.close`
 *
 * @example
 * ```ts
 * import { closeSession, createSnapshot } from 'gateway-admin-core';
 *
 * closeSession(createSnapshot({}), 7, { now: 0 }).outcome; // => 'refused'
 * ```
 *
 * @public
 */
export function closeSession(snapshot: Snapshot, id: number, context: Context): SessionDecision {
  const found = lookUpSession(snapshot, id);
  if (!found.ok) return refused(snapshot, found.problem);
  return close(snapshot, linkTo('sessions', id), [found.value], context);
}

/**
 * Closes every session that is on a service now. Sessions that are opened later are left alone.
 *
 * @param snapshot - the state to start from
 * @param service - name of the service, compared as names are; refused with `service-not-found` when there is none
 * @param context - the time and who asked
 * @returns the decision, with `sessions.closed` and `sessions.close` for each 1,000 sessions; unchanged when there
 *   is nothing to close
 *
 * @example
 * ```ts
 * import { closeServiceSessions, createSnapshot } from 'gateway-admin-core';
 *
 * const snapshot = createSnapshot({ services: [{ name: 'Sales', router: 'readconnroute' }] });
 * closeServiceSessions(snapshot, 'Sales', { now: 0 }).outcome; // => 'unchanged'
 * ```
 *
 * @public
 */
export function closeServiceSessions(snapshot: Snapshot, service: string, context: Context): SessionDecision {
  const found = lookUp(snapshot, 'services', service);
  if (!found.ok) return refused(snapshot, found.problem);
  const sessions = sessionsOf(snapshot).identitiesOfService(found.value.key, 0, Infinity);
  return close(snapshot, linkOf('services', found.value), sessions, context);
}

function close(
  snapshot: Snapshot,
  resource: string,
  sessions: readonly SessionIdentity[],
  context: Context,
): SessionDecision {
  if (sessions.length === 0) return unchanged(snapshot, [resource]);
  const batches = inBatches(sessions.map(({ id, connected }) => ({ id, connected })));
  const head = eventHead(resource, context);
  return accepted(sessionEvents, snapshot, [resource], {
    events: batches.map((batch) => ({ type: 'sessions.closed', ...head, sessions: batch })),
    effects: batches.map((batch) => ({ type: 'sessions.close', resource, sessions: batch })),
  });
}

/** @internal */
export const sessionRoutes: readonly RouteOf<Snapshot, SessionEvent, SessionEffect, Rendering>[] = [
  listRoute(
    {
      id: 'services.sessions',
      path: '/services/:name/sessions',
      query: ['range'],
      summary: 'Lists the links of the sessions on a service.',
      shape: z.string(),
    },
    (snapshot, name) => {
      const found = lookUp(snapshot, 'services', name);
      if (!found.ok) return found;
      const sessions = sessionsOf(snapshot);
      const links = (offset: number, length: number): readonly string[] =>
        sessions.idsOfService(found.value.key, offset, length).map((id) => linkTo('sessions', id));
      return ok(listing(sessions.countOfService(found.value.key), links));
    },
  ),
  commandRoute(
    {
      id: 'services.closeSessions',
      method: 'DELETE',
      path: '/services/:name/sessions',
      aliases: [],
      about: '/services/:name',
      summary: 'Closes all sessions on a service with their backend connections.',
    },
    closeServiceSessions,
  ),
  itemRoute(
    { id: 'sessions.get', path: '/sessions/:id', summary: 'Gives one session.', shape: representationShape },
    (snapshot, id, rendering) => {
      const found = lookUpSessionAt(snapshot, id);
      return found.ok ? ok(toRepresentation(snapshot, found.value, rendering)) : found;
    },
  ),
  listRoute(
    {
      id: 'sessions.list',
      path: '/sessions',
      query: ['fields', 'range'],
      summary: 'Lists the sessions.',
      shape: representationShape,
    },
    (snapshot, _subject, rendering) =>
      ok(
        listing(snapshot.sessions.size, (offset, length) =>
          snapshot.sessions
            .range(offset, length)
            .map((session) => toRepresentation(snapshot, session, rendering)),
        ),
      ),
  ),
  {
    kind: 'command',
    id: 'sessions.close',
    method: 'DELETE',
    path: '/sessions/:id',
    aliases: [],
    query: ['dry_run'],
    about: '/sessions/:id',
    summary: 'Closes a session: its client connection and all its backend connections.',
    command(text) {
      const id = parseSessionId(text);
      return id.ok ? ok((snapshot, context) => closeSession(snapshot, id.value, context)) : id;
    },
  },
];
