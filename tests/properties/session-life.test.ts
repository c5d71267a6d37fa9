import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { applyReports, createSnapshot, evolve, type HostReport } from 'gateway-admin-core';

import { contentOf, expectNext } from '../support/expect-decision.ts';

const start = createSnapshot({
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

function reportOf({ what, life }: Told): HostReport {
  const session = { id: 7, connected: life };
  const of = { session: 7, connected: life, id: 1 };
  const opened = {
    ...session,
    user: '',
    address: '',
    state: `life ${String(life)}`,
    service: serviceOf(life),
  };
  switch (what) {
    case 'opened':
      return { type: 'session.opened', ...opened };
    case 'opened with connections':
      return { type: 'session.opened', ...opened, connections: [0, 1].map((id) => ({ ...connection, id })) };
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
        let [snapshot, model] = [start, none];
        for (const each of list) {
          const { next, events, faults } = applyReports(snapshot, reportOf(each), { now: 0 });
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

  it('the last life wins when no end is reported', () => {
    const openings = told.filter(({ what }) => what !== 'closed');
    fc.assert(
      fc.property(fc.array(openings, { minLength: 1 }), (list) => {
        const { next } = applyReports(start, list.map(reportOf), { now: 0 });
        const lives = list.filter(({ what }) => what.startsWith('opened')).map(({ life }) => life);
        expect(next.sessions.find(7)?.connected).toBe(lives.length === 0 ? undefined : Math.max(...lives));
      }),
    );
  });

  it('each life ends once and opens once in the events, and ends before the next one opens', () => {
    fc.assert(
      fc.property(fc.array(told), (list) => {
        const { events } = applyReports(start, list.map(reportOf), { now: 0 });
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
