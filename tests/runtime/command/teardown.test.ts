/**
 * A teardown of many sessions or connections is decided without a list of them, and carried out in batches.
 */
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import {
  closeServerConnections,
  closeServiceSessions,
  createAdmin,
  createSnapshot,
  sequence,
  startService,
  stopService,
  toDocument,
  type Admin,
  type Effect,
  type HostReport,
  type Transition,
} from 'gateway-admin-core';
import { createScriptedGateway, createVirtualClock, hold } from 'gateway-admin-core/testing';

import { wholeOf } from '../../support/closing.ts';
import { crowdedSnapshot } from '../../support/document.ts';
import { openedSession, openedSessions } from '../../support/opened-session.ts';
import { runAdmin } from '../../support/running-admin.ts';

const closeAll: Transition = (snapshot, context) => closeServiceSessions(snapshot, 'Sales', context);
const cutAll: Transition = (snapshot, context) => closeServerConnections(snapshot, 'db', context);
const stop: Transition = (snapshot, context) => stopService(snapshot, 'Sales', context);
const start: Transition = (snapshot, context) => startService(snapshot, 'Sales', context);
const snapshot = crowdedSnapshot(2500);

/** A method that gives a list. */
type List = (this: void, ...given: unknown[]) => readonly unknown[];

/** The lengths of the lists that are read of a session table from now on. */
function watchLists(): readonly number[] {
  const lengths: number[] = [];
  const table = Object.getPrototypeOf(snapshot.sessions) as Record<string, List>;
  for (const name of ['rangeOfService', 'connectionsOfServer', 'rangeOfServer', 'range']) {
    const read = table[name] ?? (() => []);
    jest.spyOn(table, name).mockImplementation(function (this: unknown, ...given: unknown[]) {
      const list = Reflect.apply(read, this, given) as readonly unknown[];
      lengths.push(list.length);
      return list;
    });
  }
  return lengths;
}

afterEach(() => {
  jest.restoreAllMocks();
});

describe.each([
  ['sessions', closeAll, { sessions: 2500, connections: 2500 }, { sessions: 0 }],
  ['connections', cutAll, { sessions: 0, connections: 2500 }, { sessions: 2500 }],
] as const)('a teardown of many %s', (name, teardown, closes, stays) => {
  it('is decided without a list, and its events are those of all batches', () => {
    const lengths = watchLists();
    const decision = teardown(snapshot, { now: 0 });
    if (decision.outcome !== 'accepted') throw new Error(decision.outcome);
    expect(sequence(stop, teardown)(snapshot, { now: 0 }).outcome).toBe('accepted');
    expect(lengths).toEqual([]);
    expect([decision.events, decision.effects]).toEqual([[], []]);
    expect(decision.closing).toMatchObject({ what: name, at: 0 });
    const { events, effects } = wholeOf(decision, snapshot);
    expect([events.length, effects.length]).toEqual([3, 3]);
    const ids = events.flatMap((event) => {
      if (event.type === 'sessions.closed') return event.sessions.map(({ id }) => id);
      return event.type === 'connections.closed' ? event.connections.map(({ session }) => session) : [];
    });
    expect(ids).toEqual(Array.from({ length: 2500 }, (_, id) => id));
  });

  it('reads one batch at a time when its turn comes, and nothing while it waits', async () => {
    const gateway = createScriptedGateway({ snapshot });
    const held = hold();
    gateway.will(held.apply);
    const { admin, clock } = runAdmin({ snapshot, gateway });
    const lengths = watchLists();
    const all = [sequence(stop, start), sequence(teardown), ...Array.from({ length: 20 }, () => teardown)];
    const executions = all.map((each) => admin.execute(each));
    await held.begun;
    expect(Math.max(0, ...lengths)).toBeLessThanOrEqual(1000);
    held.done();
    await clock.waitFor(Promise.all(executions));
    // The batches of one teardown; the others had nothing left to close.
    expect(lengths.filter((length) => length > 0)).toEqual([1000, 1000, 500]);
    expect(gateway.differences(admin.snapshot)).toEqual([]);
  });

  it('begins in a later turn of the event loop than the decision', async () => {
    const { admin, gateway } = runAdmin({ snapshot, clock: createVirtualClock(0, { turn: 'event-loop' }) });
    const execution = admin.execute(teardown);
    // Promise jobs alone, so the turn does not end.
    for (let job = 0; job < 1000; job += 1) await Promise.resolve();
    expect(gateway.calls).toEqual([]);
    expect((await execution).outcome).toBe('accepted');
    expect(gateway.calls).toHaveLength(3);
    await admin.close();
  });

  it('has a plan with the first 100 and a count, which reads one batch', () => {
    const { admin } = runAdmin({ snapshot });
    const lengths = watchLists();
    for (const each of [teardown, sequence(stop, teardown)]) {
      const plan = admin.plan(each);
      if (plan.outcome === 'refused') throw new Error(plan.problem.detail);
      expect(plan).toMatchObject({ outcome: 'accepted', closes, stays });
      for (const last of [plan.events.at(-1), plan.effects.at(-1)])
        expect(last).toMatchObject({ [name]: { length: 100 }, count: 2500 });
      expect(JSON.stringify(plan).length).toBeLessThan(20_000);
      expect(lengths[0]).toBe(1000);
    }
  });
});

it('a plan of a teardown counts the sessions that stay at a service that it stops before', () => {
  const { admin } = runAdmin();
  admin.report(openedSessions(2500));
  const restartBare = sequence(
    (state, now) => startService(state, 'Bare Service', now),
    (state, now) => stopService(state, 'Bare Service', now),
  );
  const closeMine: Transition = (state, now) => closeServiceSessions(state, 'My Service', now);
  expect(admin.plan(sequence(restartBare, closeMine))).toMatchObject({
    closes: { sessions: 2502 },
    stays: { sessions: 1 },
  });
});

it('leaves a session open that a rule of the host reports after the decision', async () => {
  const late = { ...openedSession(7777), service: 'Sales' };
  const { admin, gateway } = runAdmin({ snapshot, veto: () => void admin.report(late) });
  const { sessions } = snapshot;
  expect(await admin.execute(closeAll)).toMatchObject({ closed: { sessions: sessions.size } });
  expect(Array.from(admin.snapshot.sessions, ({ id }) => id)).toEqual([7777]);
  expect(gateway.calls).toHaveLength(3);
});

describe('what changes by itself during a teardown', () => {
  const since = Date.parse('2016-09-09T14:12:37+03:00');
  const crowded = toDocument(crowdedSnapshot(2500));
  const other = { name: 'db2', address: '10.0.0.2', port: 5432, protocol: 'pgbackend' };
  const document = { ...crowded, servers: [...(crowded.servers ?? []), other] };

  /** Runs a teardown. The gateway reports something in each of its calls. Gives what the gateway was asked to close. */
  async function closing(
    teardown: Transition,
    reportsOf: (call: number) => readonly HostReport[],
  ): Promise<{ admin: Admin; asked: readonly (readonly number[])[] }> {
    const asked: (readonly number[])[] = [];
    const apply = (effect: Effect): Promise<void> => {
      if (effect.type === 'connections.close') asked.push(effect.connections.map(({ session }) => session));
      if (effect.type === 'sessions.close') asked.push(effect.sessions.map(({ id }) => id));
      admin.report(reportsOf(asked.length));
      return Promise.resolve();
    };
    const gateway = { apply, inspect: (): Promise<'in-place'> => Promise.resolve('in-place') };
    const admin = createAdmin({ snapshot: createSnapshot(document), gateway });
    expect((await admin.execute(teardown)).outcome).toBe('accepted');
    await admin.close();
    return { admin, asked };
  }

  const moves = (session: number): readonly HostReport[] => [
    { type: 'connection.closed', session, connected: since, id: 0 },
    {
      type: 'connection.opened',
      session,
      connected: since,
      id: 0,
      server: 'db2',
      role: 'Slave',
      state: 'In use',
    },
  ];

  it('does not close a connection that has moved to another server under the same id', async () => {
    const moved = [7, 1500, 2400];
    const { admin, asked } = await closing(cutAll, (call) => (call === 1 ? moved.flatMap(moves) : []));
    expect(asked.map(({ length }) => length)).toEqual([1000, 999, 499]);
    expect(asked.slice(1).flat()).not.toEqual(expect.arrayContaining([1500]));
    const { sessions } = admin.snapshot;
    expect([sessions.countOfServer('db'), sessions.countOfServer('db2')]).toEqual([0, 3]);
    expect(moved.map((id) => sessions.find(id)?.connections.map(({ server }) => server))).toEqual(
      moved.map(() => ['db2']),
    );
  });

  it.each([
    ['connections', cutAll, 2500],
    ['sessions', closeAll, 0],
  ] as const)(
    'asks for no %s that have ended, and for no part without any',
    async (_what, teardown, left) => {
      const ends = Array.from({ length: 1500 }, (_, at): HostReport => {
        const session = { id: 1000 + at, connected: since };
        return teardown === closeAll
          ? { type: 'session.closed', ...session }
          : { type: 'connection.closed', session: session.id, connected: since, id: 0 };
      });
      const { admin, asked } = await closing(teardown, (call) => (call === 1 ? ends : []));
      expect(asked.map(({ length }) => length)).toEqual([1000]);
      expect([admin.snapshot.sessions.size, admin.snapshot.sessions.countOfServer('db')]).toEqual([left, 0]);
      expect(admin.commands()).toEqual([]);
    },
  );
});
