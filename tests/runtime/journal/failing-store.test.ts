import { describe, expect, it } from '@jest/globals';
import {
  StoreConflictError,
  StoreLostError,
  closeServiceSessions,
  createMemoryStore,
  createUser,
  stopService,
  type Admin,
  type ConfigurationStore,
  type Execution,
  type PublishedEvent,
  type Transition,
} from 'gateway-admin-core';

import { otherLife } from '../../support/event-reader.ts';
import { FailingStore } from '../../support/failing-store.ts';
import { openedSessions } from '../../support/opened-session.ts';
import { appliedTo, openRunning, sampleClock } from '../../support/running-admin.ts';
import { limit } from '../../support/transition.ts';

const stop: Transition = (snapshot, context) => stopService(snapshot, 'My Service', context);
const addUser: Transition = (snapshot, context) =>
  createUser(snapshot, { name: 'newcomer', passwordHash: 'opaque' }, context);

const unavailable = { outcome: 'refused', problem: { code: 'store-unavailable', status: 503 } };

/** The events that an interface published, after it was closed. */
async function eventsOf(events: ReturnType<Admin['events']>): Promise<readonly PublishedEvent[]> {
  const published: PublishedEvent[] = [];
  for await (const item of events) if (item.gap !== true) published.push(item);
  return published;
}

describe('a store that fails for a while', () => {
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
      expect(execution).toMatchObject(unavailable);
      expect(execution).not.toHaveProperty('retryAfterMs');
      expect('problem' in execution && execution.problem.detail).toContain('restart the gateway');
      const calls = store.calls.length;
      store.work();
      await running.clock.advance(60_000);
      expect(await running.admin.execute(addUser)).toMatchObject(unavailable);
      const { admin } = running;
      const handled = await admin.handle({ method: 'PUT', target: '/service/My-Service/stop', headers: {} });
      expect(handled.matched && handled.response.headers).not.toHaveProperty('retry-after');
      expect([store.calls.length, running.gateway.calls, running.errors]).toEqual([calls, [], [error]]);
      await admin.close();
    },
  );
});

describe('a store that fails when the interface opens', () => {
  it('keeps the interface from opening', async () => {
    const store = new FailingStore();
    store.fail();
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
