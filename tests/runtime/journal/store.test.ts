/**
 * What a store gets, what it gives back, and what becomes of one that fails. tests/scenarios/store/ has what clients see.
 */
import { describe, expect, it } from '@jest/globals';
import {
  createMemoryStore,
  createSnapshot,
  createUser,
  flushLogs,
  patchService,
  sequence,
  StoreConflictError,
  StoreLostError,
  toDocument,
  type Admin,
  type ConfigurationStore,
  type Execution,
  type PublishedEvent,
  type Snapshot,
  type Transition,
} from 'gateway-admin-core';

import { ask } from '../../support/ask.ts';
import { configuration } from '../../support/configuration.ts';
import { sampleDocument, sampleSnapshot } from '../../support/document.ts';
import { otherLife } from '../../support/event-reader.ts';
import { FailingStore } from '../../support/failing-store.ts';
import { thawedPlaces } from '../../support/frozen.ts';
import { openedSessions } from '../../support/opened-session.ts';
import { appliedTo, openRunning, sampleClock } from '../../support/running-admin.ts';
import { closeMine, limit, start, stop, stopMain } from '../../support/transition.ts';

const addUser: Transition = (snapshot, context) =>
  createUser(snapshot, { name: 'newcomer', password: { sealed: 'opaque' } }, context);

describe('an interface with a store', () => {
  // Promise: restart
  it('restores the configuration and the users, frozen, and no sessions', async () => {
    const store = createMemoryStore();
    const before = await openRunning(store);
    const options: Transition = (snapshot, context) => {
      const path = '/router_options';
      return patchService(snapshot, 'My Service', [{ op: 'add', path, value: { master: 'db-1' } }], context);
    };
    for (const transition of [stop, limit(7), stopMain, flushLogs, addUser, options]) {
      expect((await before.admin.execute(transition)).outcome).toBe('accepted');
    }
    await before.admin.close();
    const after = await openRunning(store);
    expect(configuration(after.admin.snapshot)).toEqual(configuration(before.admin.snapshot));
    expect(thawedPlaces(after.admin.snapshot)).toEqual([]);
    expect([after.admin.snapshot.sessions.size, after.gateway.calls]).toEqual([0, []]);
    await after.admin.close();
  });

  it('prefers the stored configuration to the given one, except for values of the process', async () => {
    const store = createMemoryStore();
    const before = await openRunning(store);
    await before.admin.execute(flushLogs);
    await before.admin.close();
    const given = createSnapshot({
      gateway: { version: '3.0.0' },
      logs: { logdir: '/elsewhere', last_flushed: '2001-01-01T00:00:00Z' },
      services: [{ name: 'Other', router: 'readconnroute' }],
    });
    const { admin } = await openRunning(store, { snapshot: given });
    expect(admin.snapshot.services.find('other')).toBeUndefined();
    expect(admin.snapshot.services.find('my-service')).toBeDefined();
    expect(toDocument(admin.snapshot).gateway).toEqual({ version: '3.0.0' });
    expect(admin.snapshot.logs).toMatchObject({
      attributes: { logdir: '/elsewhere' },
      last_flushed: Date.parse('2001-01-01T00:00:00Z'),
    });
    await admin.close();
  });

  it('has not flushed the logs before its gateway has', async () => {
    const store = createMemoryStore();
    const snapshot = createSnapshot({ logs: { logdir: '/var/log' } });
    const before = await openRunning(store, { snapshot });
    await before.admin.execute(flushLogs);
    expect(before.admin.snapshot.logs.last_flushed).toBe(before.clock.now());
    await before.admin.close();
    const { admin } = await openRunning(store, { snapshot });
    const { last_flushed: flushed, attributes } = admin.snapshot.logs;
    expect([flushed, attributes]).toEqual([snapshot.logs.last_flushed, snapshot.logs.attributes]);
    await admin.close();
  });

  it('starts at the revision of the given snapshot if the store is empty', async () => {
    const given = Object.freeze({ ...sampleSnapshot(), revision: 41 });
    const { admin } = await openRunning(createMemoryStore(), { snapshot: given });
    expect(admin.snapshot.revision).toBe(41);
    await admin.execute(stop);
    expect(admin.snapshot.revision).toBe(42);
    await admin.close();
  });

  // Promise: unique-id
  it('uses no event id and no command id twice, and goes on behind the last stored revision', async () => {
    const store = createMemoryStore();
    const snapshot = createSnapshot(sampleDocument, { epoch: 'blue' });
    const [ids, commands, revisions]: [string[], string[], number[]] = [[], [], []];
    for (let life = 0; life < 3; life += 1) {
      const { admin } = await openRunning(store, { snapshot });
      const events = admin.events();
      await admin.execute(life % 2 === 0 ? stop : start);
      const { value } = (await events.next()) as { value: PublishedEvent };
      ids.push(value.id);
      commands.push(value.event.command ?? '');
      revisions.push(admin.snapshot.revision);
      // Reports use up revisions, which no store has.
      admin.report({ type: 'service.reported', service: 'Report Service', state: 'failed' });
      await admin.close();
    }
    expect([new Set(ids).size, commands, revisions]).toEqual([
      3,
      ['blue-1', 'blue-1-1', 'blue-2-1'],
      [1, 2, 3],
    ]);
  });

  it('appends the number of the life to an epoch from the host', async () => {
    const store = createMemoryStore();
    const snapshot = createSnapshot(sampleDocument, { epoch: 'blue' });
    for (const epoch of ['blue', 'blue-1', 'blue-2']) {
      const { admin } = await openRunning(store, { snapshot });
      expect(admin.snapshot.epoch).toBe(epoch);
      await admin.close();
    }
  });

  // Promise: shared-write
  it('appends the records of concurrent commands in one call', async () => {
    const store = new FailingStore();
    const { admin } = await openRunning(store);
    const calls = store.calls.length;
    const transitions = [stop, stopMain, flushLogs].map((transition) => admin.execute(transition));
    await Promise.all(transitions);
    // Three intents, then three settlements.
    expect(store.calls.slice(calls)).toEqual(['append 3', 'append 3']);
    await admin.close();
  });

  // Promise: storable-secret
  it('refuses secrets that could not be read after a restart', async () => {
    const { admin } = await openRunning(new FailingStore());
    const before = admin.snapshot;
    const body = [{ op: 'replace', path: '/password', value: 'hunter2' }];
    const { status, body: problem } = await ask(admin, 'PATCH /services/My-Service', { body });
    expect(status).toBe(422);
    expect(JSON.stringify(problem)).toContain('secret-not-storable');
    expect(admin.snapshot).toBe(before);
    await admin.close();
  });

  it('reports the repair of the store to onError', async () => {
    const store = createMemoryStore();
    const load = async () => ({ ...(await store.load()), repaired: 'The last 7 bytes were no record.' });
    const { admin, errors } = await openRunning({ ...store, load });
    expect(errors.map(String)).toEqual(['Error: The last 7 bytes were no record.']);
    await admin.close();
  });

  it('checks its options before it calls the store', async () => {
    const store = createMemoryStore();
    await expect(openRunning(store, { timeZone: 'Nowhere/Land' })).rejects.toThrow(RangeError);
    expect(await store.load()).toEqual({ records: [], position: '0.0' });
  });

  it('disposes of the store once, when it closes', async () => {
    let disposals = 0;
    const dispose = () => Promise.resolve(void (disposals += 1));
    const { admin } = await openRunning({ ...createMemoryStore(), [Symbol.asyncDispose]: dispose });
    await Promise.all([admin.close(), admin.close()]);
    await admin[Symbol.asyncDispose]();
    expect(disposals).toBe(1);
  });
});

const stopping = {
  ...{ resource: '/services/My-Service', service: 'my-service' },
  ...{ from: { state: 'started' }, to: { state: 'stopped' } },
};
const stopEvent = { type: 'service.stopped', at: 0, ...stopping };
const stopEffect = { type: 'service.stop', ...stopping };

/** A decision that a host has put together. */
function foreign(events: readonly object[], effects: readonly object[] = []): Transition {
  const own = { outcome: 'accepted', resources: ['/services/My-Service'], events, effects };
  return (next: Snapshot) => ({ ...own, next }) as never;
}

describe('a decision that a host has built', () => {
  const [closed, close] = [
    { ...stopEvent, type: 'sessions.closed' },
    { ...stopEffect, type: 'sessions.close' },
  ];
  const [cut, cutting] = [{ type: 'connections.closed' }, { type: 'connections.close' }];
  // Promise: invalid-decision
  it.each([
    ['an event that lacks what it folds', [closed], [close]],
    ['an event that lacks it, beside a sound one', [stopEvent, cut], [stopEffect, cutting]],
    ['an event of unknown type', [{ type: 'x.y', at: 0, resource: '/' }], []],
  ])('never reaches the journal or the host with %s', async (_what, events, effects) => {
    const store = createMemoryStore();
    const { admin, gateway } = await openRunning(store);
    for (const strange of [foreign(events, effects), sequence(foreign(events, effects))]) {
      await expect(admin.execute(strange)).rejects.toThrow(TypeError);
    }
    expect([(await store.load()).records, gateway.calls]).toEqual([[], []]);
    expect((await admin.execute(stop)).outcome).toBe('accepted');
    await admin.close();
  });

  it('never reaches the journal with an unknown effect inside a sequence', async () => {
    const store = createMemoryStore();
    const { admin } = await openRunning(store);
    const strange = sequence(stopMain, foreign([stopEvent], [{ ...stopEffect, type: 'x.y' }]));
    await expect(admin.execute(strange)).rejects.toThrow('known types');
    expect((await store.load()).records).toEqual([]);
    await admin.close();
  });

  it('is performed if it is valid', async () => {
    const store = createMemoryStore();
    const before = await openRunning(store);
    expect((await before.admin.execute(foreign([stopEvent], [stopEffect]))).outcome).toBe('accepted');
    expect(appliedTo(before.gateway)).toEqual(['service.stop /services/My-Service']);
    await before.admin.close();
    const { admin } = await openRunning(store);
    expect(admin.snapshot.services.find('my-service')?.state).toBe('stopped');
    await admin.close();
  });
});

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
    const execution = admin.execute(closeMine);
    await clock.settle();
    await clock.advance(2);
    const detail = expect.stringContaining('Only 1 of 3 parts are done.') as unknown;
    const problem = { code: 'store-unavailable', detail };
    expect(await execution).toMatchObject({ outcome: 'refused', problem });
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
  const copied = Object.assign(new Error('The table is gone.'), { code: 'store-lost' });
  const errors = [
    ['StoreLostError', new StoreLostError('The table is gone.')],
    ['StoreConflictError', new StoreConflictError('1', '2')],
    ['StoreLostError of another copy of the library', copied],
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
      const { headers } = await ask(admin, 'PUT /service/My-Service/stop');
      expect(headers).not.toHaveProperty('retry-after');
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

it('a store that fails after the interface has given it up fails nothing else', async () => {
  const store = new FailingStore();
  const { admin, clock } = await openRunning(store);
  let fail: (error: Error) => void = () => undefined;
  store.append = () => new Promise((_resolve, reject) => (fail = reject));
  const execution = admin.execute(stop);
  await clock.settle();
  const closing = admin.close();
  await clock.advance(60_000);
  await Promise.all([execution, closing]);
  const unhandled: unknown[] = [];
  const note = (error: unknown): void => void unhandled.push(error);
  process.on('unhandledRejection', note);
  fail(new Error('too late'));
  await new Promise((resolve) => setTimeout(resolve, 20));
  process.off('unhandledRejection', note);
  expect(unhandled).toEqual([]);
});
