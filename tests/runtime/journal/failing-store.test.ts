import { describe, expect, it } from '@jest/globals';
import {
  EffectRefusedError,
  StoreConflictError,
  StoreLostError,
  closeServiceSessions,
  createMemoryStore,
  createUser,
  sequence,
  stopMonitor,
  stopService,
  type Admin,
  type ConfigurationStore,
  type Execution,
  type PublishedEvent,
  type Transition,
} from 'gateway-admin-core';
import { hold } from 'gateway-admin-core/testing';

import { otherLife } from '../../support/event-reader.ts';
import { FailingStore, storeFailures } from '../../support/failing-store.ts';
import { openedSessions } from '../../support/opened-session.ts';
import {
  appliedTo,
  openRunning,
  sampleClock,
  sampleGateway,
  type Running,
} from '../../support/running-admin.ts';
import { limit } from '../../support/transition.ts';

const stop: Transition = (snapshot, context) => stopService(snapshot, 'My Service', context);
const stopWatch: Transition = (snapshot, context) => stopMonitor(snapshot, 'Main Monitor', context);
const addUser: Transition = (snapshot, context) =>
  createUser(snapshot, { name: 'newcomer', passwordHash: 'opaque' }, context);

const failures = Object.keys(storeFailures) as (keyof typeof storeFailures)[];
const unavailable = {
  outcome: 'refused',
  problem: {
    code: 'store-unavailable',
    status: 503,
    detail:
      'The configuration store does not answer. Nothing was changed. Reading still works. ' +
      'The store is being tried again. Send the command again in a few seconds.',
  },
};
/** The same while the store is not tried again. */
const lost = {
  ...unavailable,
  problem: {
    ...unavailable.problem,
    detail:
      'The configuration store does not answer. Nothing was changed. Reading still works. The store is not tried ' +
      'again: repair the store as the error in the log of the gateway says, and restart the gateway.',
  },
};
const pending = {
  outcome: 'unknown',
  problem: {
    code: 'outcome-unknown',
    status: 504,
    detail: expect.stringMatching(
      / Until then, reading shows the state before this change\. Read the resource again before you repeat the command\.$/,
    ),
  },
};
/** The same while the store is not tried again. */
const unconfirmed = {
  ...pending,
  problem: {
    ...pending.problem,
    detail: expect.stringMatching(
      / The store is not tried again\. Restart the gateway, and read the resource again then\.$/,
    ),
  },
};

function stateOf({ snapshot }: Admin): string | undefined {
  return snapshot.services.find('my-service')?.state;
}

/** Closes the interface, however long the store takes. */
async function close({ admin, clock }: Pick<Running, 'admin' | 'clock'>): Promise<void> {
  const closing = admin.close();
  await clock.advance(120_000);
  await closing;
}

/** The events that an interface published, after it was closed. */
async function eventsOf(events: ReturnType<Admin['events']>): Promise<readonly PublishedEvent[]> {
  const published: PublishedEvent[] = [];
  for await (const item of events) if (item.gap !== true) published.push(item);
  return published;
}

/** A stop that the gateway makes when a test says so. */
async function stopping(
  store: ConfigurationStore,
): Promise<Running & { answer: Promise<Execution>; done: () => void }> {
  const held = hold();
  const running = await openRunning(store, { gateway: sampleGateway().will(held.apply) });
  const answer = running.admin.execute(stop);
  await held.begun;
  return { ...running, answer, done: () => held.done() };
}

describe('a store that fails for a while', () => {
  // Promise: intent-failed
  it.each(failures)('at the intent: nothing is changed, now or after a restart: it %s', async (how) => {
    const memory = createMemoryStore();
    const store = new FailingStore(memory);
    const { admin, gateway, errors, clock } = await openRunning(store);
    const before = admin.snapshot;
    store.fail(how);
    const execution = admin.execute(stop);
    await clock.settle();
    await clock.advance(30_000);
    expect(await execution).toMatchObject({ ...unavailable, events: [], retryAfterMs: 100 });
    expect([admin.snapshot === before, gateway.calls, errors.length]).toEqual([true, [], 1]);
    store.work();
    await clock.advance(30_100);
    await close({ admin, clock });
    const next = sampleGateway();
    const { admin: after } = await openRunning(memory, { gateway: next });
    expect([next.calls, stateOf(after)]).toEqual([[], 'started']);
    await after.close();
  });

  // Promise: settlement-late
  it.each(failures)(
    'at the settlement: the client is answered when the result is kept: it %s',
    async (how) => {
      const store = new FailingStore();
      const { admin, clock, errors, answer, done } = await stopping(store);
      // One call that is never answered takes all the time that a client waits.
      const times = how.startsWith('never') ? 0 : 5;
      store.failAfter(0, how, times);
      done();
      await clock.settle();
      if (times > 0) expect([stateOf(admin), errors.length]).toEqual(['started', 1]);
      await clock.advance(100 + 200 + 400 + 800 + 1600);
      expect((await answer).outcome).toBe('accepted');
      expect(stateOf(admin)).toBe('stopped');
      expect((await admin.execute(addUser)).outcome).toBe('accepted');
      await admin.close();
    },
  );

  // Promise: settlement-failed
  it.each(failures)(
    'at the settlement for long: 504, and an event when the result is kept: it %s',
    async (how) => {
      const memory = createMemoryStore();
      const store = new FailingStore(memory);
      const { admin, clock, answer, done } = await stopping(store);
      const events = admin.events();
      store.fail(how);
      done();
      await clock.settle();
      await clock.advance(30_000);
      const execution = (await answer) as Extract<Execution, { readonly outcome: 'unknown' }>;
      expect(execution).toMatchObject(pending);
      expect(execution.problem.detail).toMatch(
        /^The gateway made the change\. But the configuration store does not/,
      );
      expect(execution.problem.detail).toContain(execution.commandId);
      expect(stateOf(admin)).toBe('started');
      expect(await admin.execute(stop)).toMatchObject(unavailable);
      store.work();
      await clock.advance(60_000);
      expect(stateOf(admin)).toBe('stopped');
      expect((await admin.execute(addUser)).outcome).toBe('accepted');
      await admin.close();
      const [first, ...others] = await eventsOf(events);
      expect(first?.event).toMatchObject({ type: 'service.stopped', command: execution.commandId });
      expect(others.map(({ event }) => event.type)).toEqual(['user.created']);
      const next = sampleGateway();
      const { admin: after } = await openRunning(memory, { gateway: next });
      expect([next.calls, stateOf(after)]).toEqual([[], 'stopped']);
      await after.close();
    },
  );

  it.each(failures)('at a change without effects: 504, and an event when it is kept: it %s', async (how) => {
    const store = new FailingStore();
    const { admin, clock } = await openRunning(store);
    const before = admin.snapshot;
    store.fail(how);
    const execution = admin.execute(addUser);
    await clock.settle();
    await clock.advance(30_000);
    expect(await execution).toMatchObject(pending);
    expect(admin.snapshot).toBe(before);
    store.work();
    await clock.advance(60_000);
    expect(admin.snapshot.users.find('newcomer')).toBeDefined();
    await admin.close();
  });

  it('at a change without effects that waits behind the failed call: nothing is changed', async () => {
    const store = new FailingStore();
    const { admin, clock } = await openRunning(store);
    store.fail('never answers, and nothing is kept');
    const first = admin.execute(stop);
    await clock.settle();
    const second = admin.execute(addUser);
    await clock.settle();
    await clock.advance(30_000);
    expect([await first, await second]).toMatchObject([unavailable, unavailable]);
    store.work();
    await clock.advance(60_000);
    expect(admin.snapshot.users.find('newcomer')).toBeUndefined();
    expect((await admin.execute(addUser)).outcome).toBe('accepted');
    await admin.close();
  });

  // Promise: store-failed
  it('is tried again with growing pauses; commands are refused, reading and reports go on', async () => {
    const store = new FailingStore();
    const { admin, gateway, clock, errors } = await openRunning(store);
    const opened = store.calls.length;
    store.fail();
    expect(await admin.execute(stop)).toMatchObject({ ...unavailable, retryAfterMs: 100 });
    const times: number[] = [];
    for (let calls = store.calls.length; times.length < 9;) {
      await clock.next();
      if (store.calls.length > calls) times.push(clock.monotonic());
      calls = store.calls.length;
    }
    expect(times.map((time, index) => time - (times[index - 1] ?? 0))).toEqual([
      100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000,
    ]);
    // The same call each time.
    expect(new Set(store.calls.slice(opened))).toEqual(new Set(['append 1']));
    for (const transition of [stop, addUser, limit(3)])
      expect(await admin.execute(transition)).toMatchObject({ ...unavailable, retryAfterMs: 5000 });
    admin.report({ type: 'server.reported', server: 'db-serv-1', status: ['maintenance', 'running'] });
    const read = await admin.handle({ method: 'GET', target: '/servers/db-serv-1', headers: {} });
    expect(read.matched && read.response.body).toContain('"status":["running"]');
    expect([gateway.calls, errors.map(String)]).toEqual([[], ['Error: The disk is full']]);
    store.work();
    await clock.advance(5000);
    for (const transition of [stop, addUser, limit(3)])
      expect((await admin.execute(transition)).outcome).toBe('accepted');
    expect(errors).toHaveLength(1);
    await admin.close();
  });

  it('fails anew after it has worked, and is told anew', async () => {
    const store = new FailingStore();
    const { admin, clock, errors } = await openRunning(store);
    for (let round = 1; round <= 3; round += 1) {
      store.fail();
      expect(await admin.execute(limit(round))).toMatchObject({ ...unavailable, retryAfterMs: 100 });
      store.work();
      await clock.advance(100);
      expect((await admin.execute(limit(round))).outcome).toBe('accepted');
      expect(errors).toHaveLength(round);
    }
    await admin.close();
  });

  it('puts together what has grown as soon as it answers', async () => {
    const store = new FailingStore();
    const { admin, clock } = await openRunning(store);
    for (let round = 0; round < 4999; round += 1) await admin.execute(limit(round));
    store.failAfter(2, 'rejects, and all is kept', 1);
    expect((await admin.execute(limit(4999))).outcome).toBe('accepted');
    expect(await admin.execute(stop)).toMatchObject(unavailable);
    await clock.advance(100);
    expect((await admin.execute(stop)).outcome).toBe('accepted');
    await admin.close();
    expect((await store.load()).records).toHaveLength(2);
  });

  // Promise: store-timeout
  it('by never answering is called again after its deadline, and may answer the first call then', async () => {
    const memory = createMemoryStore();
    let answerLate: (() => void) | undefined;
    let calls = 0;
    const append: ConfigurationStore['append'] = async (...given) => {
      const call = (calls += 1);
      if (call === 1) await new Promise<void>((resolve) => (answerLate = resolve));
      if (call === 2) return new Promise(() => undefined);
      return memory.append(...given);
    };
    const { admin, clock, errors } = await openRunning({ ...memory, append });
    const execution = admin.execute(stop);
    await clock.settle();
    await clock.advance(30_000);
    expect(await execution).toMatchObject(unavailable);
    expect(errors.map(String)).toEqual(['Error: The configuration store did not answer within 30000 ms.']);
    await clock.advance(100 + 30_000);
    expect(calls).toBe(2);
    answerLate?.();
    await clock.settle();
    expect((await admin.execute(stop)).outcome).toBe('accepted');
    // The intent twice, its withdrawal, and the two records of the second command.
    expect(calls).toBe(5);
    await admin.close();
  });

  it('while a refusal is written down changes nothing about the refusal', async () => {
    const memory = createMemoryStore();
    const store = new FailingStore(memory);
    const held = hold();
    const { admin, clock } = await openRunning(store, { gateway: sampleGateway().will(held.apply) });
    const execution = admin.execute(stop);
    await held.begun;
    store.fail();
    held.fail(new EffectRefusedError('Not now.'));
    expect(await execution).toMatchObject({ problem: { code: 'effect-refused' } });
    store.work();
    await clock.advance(100);
    await admin.close();
    const next = sampleGateway();
    const { admin: after } = await openRunning(memory, { gateway: next });
    expect(next.calls).toEqual([]);
    await after.close();
  });

  it('while what the host would not take back is kept: it says what the host refused, and what stays', async () => {
    const store = new FailingStore();
    const held = hold();
    const gateway = sampleGateway().will('done', held.apply, new EffectRefusedError('Not back.'));
    const { admin, clock } = await openRunning(store, { gateway });
    const execution = admin.execute(sequence(stop, stopWatch));
    await held.begun;
    store.fail();
    held.fail(new EffectRefusedError('Not now.'));
    await clock.settle();
    await clock.advance(30_000);
    const { problem } = (await execution) as Extract<Execution, { readonly outcome: 'unknown' }>;
    expect(problem.code).toBe('outcome-unknown');
    expect(problem.detail).toContain('The gateway refused: Not now.');
    expect(problem.detail).toContain('service.stopped of /services/My-Service');
    store.work();
    await clock.advance(5000);
    expect(stateOf(admin)).toBe('stopped');
    await admin.close();
  });

  it('in the middle of a teardown: it says how much is done, and begins no batch after the 504', async () => {
    const store = new FailingStore();
    const { admin, clock, gateway } = await openRunning(store);
    admin.report(openedSessions(2500));
    store.failAfter(1, 'rejects, and nothing is kept');
    const execution = admin.execute((snapshot, context) =>
      closeServiceSessions(snapshot, 'My Service', context),
    );
    await clock.settle();
    await clock.advance(30_000);
    const { problem } = (await execution) as Extract<Execution, { readonly outcome: 'unknown' }>;
    expect(problem.code).toBe('outcome-unknown');
    expect(problem.detail).toContain('Only 1 of 3 parts are done.');
    expect([admin.snapshot.sessions.size, appliedTo(gateway).length]).toEqual([2500, 1]);
    const events = admin.events();
    store.work();
    await clock.advance(60_000);
    expect([admin.snapshot.sessions.size, appliedTo(gateway).length]).toEqual([1500, 1]);
    await admin.close();
    expect((await eventsOf(events)).map(({ event }) => event)).toMatchObject([
      { type: 'sessions.closed', sessions: { length: 1000 } },
      { type: 'command.failed', reason: expect.stringContaining('1 of 3 parts were done') },
    ]);
  });

  it('before the next batch of a teardown: it says how much is done, and the next life has nothing to end', async () => {
    const memory = createMemoryStore();
    const store = new FailingStore(memory);
    const { admin, clock, gateway } = await openRunning(store);
    admin.report(openedSessions(2500));
    // The first batch is stored. The store then fails with another command, before it is asked for the second batch.
    const append = store.append;
    store.append = async (...given) => {
      const stored = await append(...given);
      if (JSON.stringify(given).includes('"settlement"')) other ??= admin.execute(addUser);
      return stored;
    };
    let other: Promise<Execution> | undefined;
    store.failAfter(2, 'rejects, and nothing is kept');
    const execution = admin.execute((snapshot, context) =>
      closeServiceSessions(snapshot, 'My Service', context),
    );
    await clock.settle();
    await clock.advance(2);
    expect(await execution).toMatchObject({
      outcome: 'refused',
      problem: {
        code: 'store-unavailable',
        detail: expect.stringContaining('Only 1 of 3 parts are done.') as unknown,
      },
    });
    expect(appliedTo(gateway)).toHaveLength(1);
    store.work();
    await clock.advance(60_000);
    await other;
    await admin.close();
    const next = await openRunning(memory);
    expect([next.admin.commands(), next.gateway.calls]).toEqual([[], []]);
    const events = next.admin.events({ after: otherLife });
    await next.admin.close();
    expect(await eventsOf(events)).toEqual([]);
  });

  it.each(failures)(
    'does not keep the interface from closing, and the next life knows: it %s',
    async (how) => {
      const memory = createMemoryStore();
      const store = new FailingStore(memory);
      const { admin, clock, answer, done } = await stopping(store);
      store.fail(how);
      done();
      await clock.settle();
      await close({ admin, clock });
      expect(await answer).toMatchObject({
        outcome: 'unknown',
        problem: { code: 'outcome-unknown', status: 504 },
      });
      // What the host did is shown to the end.
      expect(stateOf(admin)).toBe('stopped');
      const { admin: after } = await openRunning(memory, { gateway: sampleGateway().willSee('in-place') });
      expect(stateOf(after)).toBe('stopped');
      await after.close();
    },
  );

  // Promise: retry-after
  it('answers 503 with Retry-After over the wire', async () => {
    const store = new FailingStore();
    const { admin, clock } = await openRunning(store);
    const send = async () => {
      const handled = await admin.handle({ method: 'PUT', target: '/service/My-Service/stop', headers: {} });
      return handled.matched && [handled.response.status, handled.response.headers['retry-after']];
    };
    store.fail();
    expect(await send()).toEqual([503, '1']);
    await clock.advance(10_000);
    expect(await send()).toEqual([503, '5']);
    store.work();
    await clock.advance(5000);
    expect(await send()).toEqual([204, undefined]);
    await admin.close();
  });
});

describe('a store that is lost', () => {
  const foreign = Object.assign(new Error('The table is gone.'), { code: 'store-lost' });
  const errors = [
    ['StoreLostError', new StoreLostError('The table is gone.')],
    ['StoreConflictError', new StoreConflictError('1', '2')],
    ['StoreLostError of another copy of the library', foreign],
  ] as const;

  // Promise: store-lost
  it.each(errors)(
    'is not called again, and commands are refused until a restart: %s',
    async (_name, error) => {
      const store = new FailingStore();
      const running = await openRunning(store);
      store.failWith(error);
      const execution = await running.admin.execute(stop);
      expect(execution).toMatchObject(lost);
      expect(execution).not.toHaveProperty('retryAfterMs');
      expect('problem' in execution && execution.problem.detail).toContain('restart the gateway');
      const calls = store.calls.length;
      store.work();
      await running.clock.advance(60_000);
      expect(await running.admin.execute(addUser)).toMatchObject(lost);
      const { admin } = running;
      const handled = await admin.handle({ method: 'PUT', target: '/service/My-Service/stop', headers: {} });
      expect(handled.matched && handled.response.headers).not.toHaveProperty('retry-after');
      expect([store.calls.length, running.gateway.calls, running.errors]).toEqual([calls, [], [error]]);
      await admin.close();
    },
  );

  it('at the settlement: it is not acknowledged, and what is shown is what the host has', async () => {
    const store = new FailingStore();
    const { admin, answer, done } = await stopping(store);
    const events = admin.events();
    store.failWith(new StoreLostError('The table is gone.'));
    done();
    const execution = await answer;
    expect(execution).toMatchObject(unconfirmed);
    expect('problem' in execution && execution.problem.detail).toContain('Restart the gateway');
    expect(stateOf(admin)).toBe('stopped');
    await admin.close();
    expect((await eventsOf(events)).map(({ event }) => event.type)).toEqual(['service.stopped']);
  });

  it('after it has failed for a while: it is told, and commands of unknown outcome end', async () => {
    const store = new FailingStore();
    const { admin, clock, errors: told, answer, done } = await stopping(store);
    store.fail();
    done();
    await clock.settle();
    await clock.advance(30_000);
    expect(await answer).toMatchObject(pending);
    expect(stateOf(admin)).toBe('started');
    store.failWith(new StoreLostError('The table is gone.'));
    await clock.advance(5000);
    expect(told.map(String)).toEqual(['Error: The disk is full', 'StoreLostError: The table is gone.']);
    expect(stateOf(admin)).toBe('stopped');
    await admin.close();
  });

  it('at a change without effects: it does not hold, and it is said that it may', async () => {
    const store = new FailingStore();
    const { admin } = await openRunning(store);
    const before = admin.snapshot;
    store.failWith(new StoreLostError('The table is gone.'));
    const execution = await admin.execute(addUser);
    expect(execution).toMatchObject(unconfirmed);
    expect('problem' in execution && execution.problem.detail).toContain('may be in effect after a restart');
    expect(admin.snapshot).toBe(before);
    await admin.close();
  });
});

describe('a store that fails when the interface opens', () => {
  it('keeps the interface from opening', async () => {
    const store = new FailingStore();
    store.fail();
    await expect(openRunning(store)).rejects.toThrow('The disk is full');
  });

  it('keeps the interface from opening when it cannot compact', async () => {
    const store = new FailingStore();
    store.failAfter(1, 'rejects, and nothing is kept', 1);
    await expect(openRunning(store)).rejects.toThrow('The disk is full');
  });

  // Promise: load-timeout
  it('by never loading: openAdmin rejects after the deadline, and the host is told', async () => {
    const store = new FailingStore();
    store.fail('never answers, and nothing is kept');
    const clock = sampleClock();
    const told: unknown[] = [];
    const opening = openRunning(store, { clock, observe: { onError: (error) => told.push(error) } });
    const failed = expect(opening).rejects.toThrow(
      new Error(
        'The configuration store did not answer load() within 30000 ms. Check that the disk or the database works, and ' +
          'start again. For a very large store, raise the limit storeDeadlineMs.',
      ),
    );
    await clock.settle();
    await clock.advance(30_000);
    await failed;
    expect(told.map(String)).toEqual([expect.stringContaining('did not answer load() within 30000 ms')]);
  });

  // Promise: resumed-failure
  it.each(failures)(
    'keeps it from opening when a command of the last life is settled: it %s',
    async (how) => {
      const memory = createMemoryStore();
      const dying = await openRunning(memory, { gateway: sampleGateway().will(hold().apply) });
      dying.admin.execute(stop).catch(() => undefined);
      await dying.clock.settle();
      const store = new FailingStore(memory);
      store.failAfter(2, how);
      const clock = sampleClock();
      const opening = openRunning(store, { clock, gateway: sampleGateway().willSee('in-place') });
      const failed = expect(opening).rejects.toThrow(/The disk|did not answer/);
      await clock.settle();
      await clock.advance(120_000);
      await failed;
      const { admin } = await openRunning(memory, { gateway: sampleGateway().willSee('in-place') });
      expect(stateOf(admin)).toBe('stopped');
      await admin.close();
    },
  );

  it('to let go, too, does not keep the reason from whoever opens it', async () => {
    const store = new FailingStore();
    store.fail();
    store[Symbol.asyncDispose] = () => Promise.reject(new Error('not now'));
    await expect(openRunning(store)).rejects.toThrow('The disk is full');
    const clock = sampleClock();
    store[Symbol.asyncDispose] = () => new Promise(() => undefined);
    const opening = openRunning(store, { clock, limits: { storeDeadlineMs: 50 } });
    const failed = expect(opening).rejects.toThrow('The disk is full');
    await clock.settle();
    await clock.advance(50);
    await failed;
  });
});

it('a store that never lets go does not keep the interface from closing', async () => {
  const store = new FailingStore();
  const { admin, clock, errors } = await openRunning(store);
  store[Symbol.asyncDispose] = () => new Promise(() => undefined);
  const closing = admin.close();
  await clock.settle();
  await clock.advance(30_000);
  await closing;
  expect(errors.map(String)).toEqual(['Error: The configuration store did not answer within 30000 ms.']);
});
