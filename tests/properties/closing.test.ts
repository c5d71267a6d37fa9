/**
 * The law of closing by criteria: what is closed has met the criteria when it was planned, and meets them when it is
 * closed.
 */
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import {
  applyReports,
  closeSessions,
  createSnapshot,
  nameKey,
  type AdminEvent,
  type Effect,
  type HostReport,
  type Session,
  type Snapshot,
} from 'gateway-admin-core';

import { partsOf } from '../support/internal.ts';

type SessionSearch = Exclude<NonNullable<Parameters<typeof closeSessions>[1]>, { readonly all: true }>;

const start = createSnapshot({
  services: ['Sales', 'Stock Room'].map((name) => ({ name, router: 'r' })),
  servers: ['db 1', 'db-2'].map((name) => ({ name, address: 'a', port: 1, protocol: 'p' })),
});

const users = fc.constantFrom('ada', 'bob');
const servers = fc.constantFrom('db 1', 'db-2');
const id = fc.nat(5);
const state = 'ready';

/** What the host reports: sessions come, go, come again under an id, change their user, wake, reconnect. */
const reports: fc.Arbitrary<readonly HostReport[]> = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        ...{ type: fc.constant('session.opened' as const), id, user: users, state: fc.constant(state) },
        address: fc.constantFrom('::1', '::2'),
        service: fc.constantFrom('Sales', 'Stock Room'),
        connected: fc.integer({ min: 0, max: 9000 }),
        connections: fc
          .array(servers, { maxLength: 2 })
          .map((list) => list.map((server, at) => ({ id: at, server, role: 'Slave', state: 'In use' }))),
      }),
    },
    fc.record({ type: fc.constant('session.updated' as const), id, user: users }),
    fc.record({ type: fc.constant('session.updated' as const), id, idle: fc.nat(9) }),
    id.map((session) => ({ type: 'connection.closed' as const, session, id: 0 })),
    fc.record({ session: id, server: servers }).map(({ session, server }) => ({
      ...{ type: 'connection.opened' as const, session, id: 7, server, role: 'Slave', state: 'In use' },
    })),
    fc.record({ id, connected: fc.integer({ min: 0, max: 9000 }) }).map((each) => ({
      ...{ type: 'session.closed' as const, ...each },
    })),
  ),
  { maxLength: 20 },
);

const criteria = {
  service: fc.constantFrom('sales', 'STOCK-ROOM'),
  server: fc.constantFrom('DB 1', 'db-2'),
  user: users,
  address: fc.constantFrom('::1', '::2'),
  idle_over: fc.nat(8),
  older_than: fc.nat(9),
};

/** Mostly one criterion: few sessions meet several. */
const searches: fc.Arbitrary<SessionSearch> = fc
  .tuple(
    fc.record(criteria),
    fc.uniqueArray(fc.constantFrom(...(Object.keys(criteria) as (keyof typeof criteria)[])), {
      minLength: 1,
      maxLength: 2,
    }),
  )
  .map(([all, names]) => Object.fromEntries(names.map((name) => [name, all[name]])));

/** Whether a session meets the criteria, as the description of the endpoint says. */
function meets(session: Session, search: SessionSearch, now: number): boolean {
  const { service, server, user, address, idle_over: idle = -1, older_than: age = -Infinity } = search;
  return (
    (service === undefined || session.service === nameKey(service)) &&
    (server === undefined || session.connections.some((each) => each.server === nameKey(server))) &&
    (user === undefined || session.user === user) &&
    (address === undefined || session.address === address) &&
    session.idle > idle &&
    now - session.connected > age * 1000
  );
}

const nameOf = ({ id: own, connected }: { readonly id: number; readonly connected: number }): string =>
  `${String(own)} since ${String(connected)}`;

function matching(snapshot: Snapshot, search: SessionSearch, now: number): ReadonlySet<string> {
  return new Set([...snapshot.sessions].filter((each) => meets(each, search, now)).map(nameOf));
}

/** Whether every element of a set is in another one. */
const isWithin = (one: ReadonlySet<string>, other: ReadonlySet<string>): boolean =>
  [...one].every((each) => other.has(each));

const report = (snapshot: Snapshot, list: readonly HostReport[]): Snapshot =>
  applyReports(snapshot, list, { now: 0 }).next;

/** What is closed of a decision, if the host reports between the decision and its parts. */
function closedBy(decision: ReturnType<typeof closeSessions>, present: Snapshot): ReadonlySet<string> {
  if (decision.outcome !== 'accepted') return new Set();
  const events = [...partsOf<AdminEvent, Effect, Snapshot>(decision).make(() => present)].flatMap(
    (part) => part.events,
  );
  return new Set(events.flatMap((event) => ('sessions' in event ? event.sessions.map(nameOf) : [])));
}

const worlds = { before: reports, meanwhile: reports, later: reports, search: searches };
const times = fc
  .tuple(fc.nat(20_000), fc.nat(20_000))
  .map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const);

describe('closing by criteria', () => {
  // Promise: close-by-criteria
  it('closes what meets them at the decision and when it is closed, and nothing else', () => {
    fc.assert(
      fc.property(reports, reports, searches, fc.nat(20_000), (before, later, search, now) => {
        const decided = report(start, before);
        const present = report(decided, later);
        const closed = closedBy(closeSessions(decided, search, { now }), present);
        const [then, after] = [matching(decided, search, now), matching(present, search, now)];
        expect(closed).toEqual(new Set([...then].filter((each) => after.has(each))));
      }),
      { numRuns: 500 },
    );
  });

  it('with a mark closes what has met them at the plan too, but for the idle time, which is that of now', () => {
    fc.assert(
      fc.property(fc.record(worlds), times, ({ before, meanwhile, later, search }, [plannedAt, now]) => {
        const planned = report(start, before);
        const decided = report(planned, meanwhile);
        const present = report(decided, later);
        const bound = { now, plannedAt, openedUpTo: planned.revision };
        const closed = closedBy(closeSessions(decided, search, bound), present);
        const { idle_over: _idle, ...others } = search;
        expect(isWithin(closed, matching(planned, others, plannedAt))).toBe(true);
        expect(isWithin(closed, matching(present, search, now))).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it('with a mark closes all that was planned, if nothing has changed', () => {
    fc.assert(
      fc.property(reports, searches, fc.nat(20_000), (before, search, now) => {
        const planned = report(start, before);
        const bound = { now: now + 5000, plannedAt: now, openedUpTo: planned.revision };
        const closed = closedBy(closeSessions(planned, search, bound), planned);
        expect(closed).toEqual(matching(planned, search, now));
      }),
      { numRuns: 200 },
    );
  });

  it('asks the host for the idle time, if the host has one', () => {
    const open = report(
      start,
      [1, 2].map((own) => ({
        ...{ type: 'session.opened' as const, id: own, user: 'ada', state, address: '::1', service: 'Sales' },
        connected: 0,
      })),
    );
    const idleOf = (session: number): number | undefined => (session === 1 ? 601 : undefined);
    const decision = closeSessions(open, { idle_over: 600 }, { now: 0, idleOf });
    expect(closedBy(decision, open)).toEqual(new Set(['1 since 0']));
  });
});
