/**
 * The laws of sessions: a session id that is used again has one open life, and what is closed by criteria has met the
 * criteria when it was planned, and meets them when it is closed.
 */
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import {
  applyReports,
  closeSessions,
  createSnapshot,
  evolve,
  nameKey,
  type Context,
  type HostReport,
  type Session,
  type Snapshot,
} from 'gateway-admin-core';

import { contentOf, expectNext } from '../support/expect-decision.ts';
import { wholeOf } from '../support/closing.ts';

const oneServer = createSnapshot({
  servers: [{ name: 'db', address: '10.0.0.1', port: 5432, protocol: 'pgbackend' }],
  services: ['Sales', 'Stock'].map((name) => ({ name, router: 'readconnroute' })),
});
const keys = ['sales', 'stock'] as const;

/** What is reported of one life of the session 7; a life is named by its connect time. */
interface Told {
  readonly what: 'opened' | 'opened with connections' | 'updated' | 'closed' | 'joined' | 'left';
  readonly life: number;
}

const told: fc.Arbitrary<Told> = fc.record({
  what: fc.constantFrom('opened', 'opened with connections', 'updated', 'closed', 'joined', 'left'),
  life: fc.integer({ min: 1, max: 4 }),
});

const connection = { server: 'db', role: 'Master', state: 'In use' };

/** The service of a life: an earlier and a later life can be on different ones. */
function serviceOf(life: number): (typeof keys)[number] {
  return life % 2 === 0 ? 'sales' : 'stock';
}

function lifeReport({ what, life }: Told): HostReport {
  const session = { id: 7, connected: life };
  const of = { session: 7, connected: life, id: 1 };
  const text = { user: '', address: '', state: `life ${String(life)}` };
  const opened = { type: 'session.opened', ...session, ...text, service: serviceOf(life) } as const;
  switch (what) {
    case 'opened':
      return opened;
    case 'opened with connections':
      return { ...opened, connections: [0, 1].map((id) => ({ ...connection, id })) };
    case 'updated':
      return { type: 'session.updated', ...session, user: `user of ${String(life)}` };
    case 'closed':
      return { type: 'session.closed', ...session };
    case 'joined':
      return { type: 'connection.opened', ...of, id: 2, ...connection };
    case 'left':
      return { type: 'connection.closed', ...of };
  }
}

/** Session 7 as a list of facts: the open life, its connections, and how many lives each service has seen. */
interface Model {
  readonly life: number | undefined;
  readonly user: string;
  readonly connections: readonly number[];
  readonly totals: Readonly<Record<(typeof keys)[number], number>>;
}

/** The model after a report; `undefined` when the report is a fault. */
function step(model: Model, { what, life }: Told): Model | undefined {
  const { life: open, connections, totals } = model;
  if (what === 'opened' || what === 'opened with connections') {
    if (open !== undefined && life <= open) return model;
    const service = serviceOf(life);
    const joined = what === 'opened' ? [] : [0, 1];
    return { life, user: '', connections: joined, totals: { ...totals, [service]: totals[service] + 1 } };
  }
  if (open === undefined || life < open) return model;
  if (life > open) return undefined;
  if (what === 'closed') return { ...model, life: undefined, connections: [] };
  if (what === 'updated') return { ...model, user: `user of ${String(life)}` };
  if (what === 'left') return { ...model, connections: connections.filter((id) => id !== 1) };
  return connections.includes(2) ? undefined : { ...model, connections: [...connections, 2] };
}

const none: Model = { life: undefined, user: '', connections: [], totals: { sales: 0, stock: 0 } };

describe('whatever is reported of the lives of one session id, in whatever order', () => {
  // Promise: session-lives
  it('the open life, its connections and every counter are those of a plain model', () => {
    fc.assert(
      fc.property(fc.array(told, { maxLength: 30 }), (list) => {
        let [snapshot, model] = [oneServer, none];
        for (const each of list) {
          const { next, events, faults } = applyReports(snapshot, lifeReport(each), { now: 0 });
          const expected = step(model, each);
          expect(faults).toHaveLength(expected === undefined ? 1 : 0);
          expect(next.revision - snapshot.revision).toBe(events.length === 0 ? 0 : 1);
          expect(contentOf(evolve(snapshot, events))).toEqual(contentOf(next));
          if (next !== snapshot) expectNext(snapshot, next, events);
          [snapshot, model] = [next, expected ?? model];

          const { sessions } = snapshot;
          const session = sessions.find(7);
          expect(session?.connected).toBe(model.life);
          if (session !== undefined) expect(session.user).toBe(model.user);
          expect((session?.connections ?? []).map(({ id }) => id)).toEqual(model.connections);
          expect(sessions.countOfServer('db')).toBe(model.connections.length);
          expect(sessions.total).toBe(model.totals.sales + model.totals.stock);
          for (const key of keys) {
            const isHere = model.life !== undefined && serviceOf(model.life) === key;
            expect(sessions.countOfService(key)).toBe(isHere ? 1 : 0);
            expect(sessions.totalOfService(key)).toBe(model.totals[key]);
          }
        }
      }),
    );
  });

  it('each life ends once and opens once in the events, and ends before the next one opens', () => {
    fc.assert(
      fc.property(fc.array(told), (list) => {
        const { events } = applyReports(oneServer, list.map(lifeReport), { now: 0 });
        let open: number | undefined;
        for (const event of events) {
          if (event.type === 'session.opened') {
            expect(open).toBeUndefined();
            open = event.connected;
          } else if (event.type === 'session.closed') {
            expect(event.connected).toBe(open);
            open = undefined;
          } else expect('connected' in event && event.connected).toBe(open);
        }
      }),
    );
  });
});

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
const report = (snapshot: Snapshot, list: readonly HostReport[]): Snapshot =>
  applyReports(snapshot, list, { now: 0 }).next;

/** What is closed by criteria, if the host reports between the decision and its batches. */
function closedBy(
  decided: Snapshot,
  search: SessionSearch,
  context: Context,
  present = decided,
): ReadonlySet<string> {
  const { idleOf } = context;
  const decision = closeSessions(decided, search, context);
  const { events } = wholeOf(decision, decided, { present, ...(idleOf && { idleOf }) });
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
        const closed = closedBy(decided, search, { now }, present);
        const [then, after] = [matching(decided, search, now), matching(present, search, now)];
        expect(closed).toEqual(new Set([...then].filter((each) => after.has(each))));
      }),
      { numRuns: 200 },
    );
  });

  it('with a mark closes what has met them at the plan too, but for the idle time, which is that of now', () => {
    fc.assert(
      fc.property(fc.record(worlds), times, ({ before, meanwhile, later, search }, [plannedAt, now]) => {
        const planned = report(start, before);
        const decided = report(planned, meanwhile);
        const present = report(decided, later);
        const bound = { now, plannedAt, openedUpTo: planned.revision };
        const closed = closedBy(decided, search, bound, present);
        const { idle_over: _idle, ...others } = search;
        const wereThere = matching(planned, others, plannedAt);
        const areThere = matching(present, search, now);
        expect([...closed].filter((each) => !wereThere.has(each) || !areThere.has(each))).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });

  it('with a mark closes all that was planned, if nothing has changed', () => {
    fc.assert(
      fc.property(reports, searches, fc.nat(20_000), (before, search, now) => {
        const planned = report(start, before);
        const bound = { now: now + 5000, plannedAt: now, openedUpTo: planned.revision };
        const closed = closedBy(planned, search, bound);
        expect(closed).toEqual(matching(planned, search, now));
      }),
      { numRuns: 100 },
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
    expect(closedBy(open, { idle_over: 600 }, { now: 0, idleOf })).toEqual(new Set(['1 since 0']));
  });
});
