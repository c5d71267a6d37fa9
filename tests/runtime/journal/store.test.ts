import { describe, expect, it } from '@jest/globals';
import {
  createMemoryStore,
  createSecretSealer,
  createSnapshot,
  createUser,
  flushLogs,
  patchService,
  sequence,
  startService,
  stopMonitor,
  stopService,
  toDocument,
  type Snapshot,
  type Transition,
} from 'gateway-admin-core';

import { configuration } from '../../support/configuration.ts';
import { FailingStore } from '../../support/failing-store.ts';
import { thawedPlaces } from '../../support/frozen.ts';
import { sampleDocument, sampleSnapshot } from '../../support/document.ts';
import { appliedTo, openRunning } from '../../support/running-admin.ts';
import { limit } from '../../support/transition.ts';

const stop: Transition = (snapshot, context) => stopService(snapshot, 'My Service', context);
const start: Transition = (snapshot, context) => startService(snapshot, 'My Service', context);
const stopWatch: Transition = (snapshot, context) => stopMonitor(snapshot, 'Main Monitor', context);
const flush: Transition = (snapshot, context) => flushLogs(snapshot, context);
const addUser: Transition = (snapshot, context) =>
  createUser(snapshot, { name: 'newcomer', passwordHash: 'opaque' }, context);

describe('an interface with a store', () => {
  // Promise: restart
  it('restores the configuration and the users, and no sessions', async () => {
    const store = createMemoryStore();
    const before = await openRunning(store);
    for (const transition of [stop, limit(7), stopWatch, flush, addUser]) {
      expect((await before.admin.execute(transition)).outcome).toBe('accepted');
    }
    await before.admin.close();
    const after = await openRunning(store);
    expect(configuration(after.admin.snapshot)).toEqual(configuration(before.admin.snapshot));
    expect(after.admin.snapshot.sessions.size).toBe(0);
    expect(after.gateway.calls).toEqual([]);
    await after.admin.close();
  });

  it('restores a snapshot in which nobody can change anything', async () => {
    const store = createMemoryStore();
    const before = await openRunning(store);
    const options: Transition = (snapshot, context) =>
      patchService(
        snapshot,
        'My Service',
        [{ op: 'add', path: '/router_options', value: { master: 'db-1' } }],
        context,
      );
    expect((await before.admin.execute(options)).outcome).toBe('accepted');
    await before.admin.close();
    const { admin } = await openRunning(store);
    expect(configuration(admin.snapshot)).toEqual(configuration(before.admin.snapshot));
    expect(thawedPlaces(admin.snapshot)).toEqual([]);
    await admin.close();
  });

  it('prefers the stored configuration to the given one, except for values of the process', async () => {
    const store = createMemoryStore();
    const before = await openRunning(store);
    await before.admin.execute(flush);
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
    await before.admin.execute(flush);
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

  // Promise: unique-revision
  it('uses no revision and no entity tag twice', async () => {
    const store = createMemoryStore();
    const lives: Snapshot[] = [];
    for (let life = 0; life < 3; life += 1) {
      const { admin } = await openRunning(store, { snapshot: sampleSnapshot() });
      await admin.execute(life % 2 === 0 ? stop : start);
      admin.report({ type: 'service.reported', service: 'Report Service', state: 'failed' });
      lives.push(admin.snapshot);
      await admin.close();
    }
    expect(lives.map(({ revision }) => Math.floor(revision / 1_000_000_000))).toEqual([0, 1, 2]);
    expect(new Set(lives.map(({ epoch }) => epoch)).size).toBe(3);
  });

  it.each([
    ['a state', { revision: 1_600_000_000, records: [] }, 3_000_000_000],
    ['a mark', { revision: 7, records: [{ type: 'mark', revision: 1_600_000_000 }] }, 3_000_000_000],
    [
      'a settlement',
      {
        revision: 7,
        records: [{ type: 'settlement', command: 'a', revision: 1_600_000_000, events: [], last: true }],
      },
      3_000_000_000,
    ],
    // Up to half a billion revisions may follow a mark before the next one.
    [
      'a mark whose followers stay below two billion',
      { revision: 7, records: [{ type: 'mark', revision: 1_499_999_999 }] },
      2_000_000_000,
    ],
    [
      'a mark whose followers may reach two billion',
      { revision: 7, records: [{ type: 'mark', revision: 1_500_000_000 }] },
      3_000_000_000,
    ],
  ])(
    'begins above every revision that an earlier life may have used: the highest comes from %s',
    async (_what, { revision, records }, first) => {
      const store = createMemoryStore({ state: { format: 1, revision, document: {}, open: [] }, records });
      // Opening compacts the store: the second life finds a state and no records.
      for (const life of [0, 1]) {
        const { admin } = await openRunning(store);
        expect(admin.snapshot.revision).toBe(first + life * 1_000_000_000);
        await admin.close();
      }
    },
  );

  it('appends the number of the life to an epoch from the host', async () => {
    const store = createMemoryStore();
    const epochs: string[] = [];
    for (let life = 0; life < 3; life += 1) {
      const { admin } = await openRunning(store, {
        snapshot: createSnapshot(sampleDocument, { epoch: 'blue' }),
      });
      epochs.push(admin.snapshot.epoch);
      await admin.close();
    }
    expect(epochs).toEqual(['blue', 'blue-1', 'blue-2']);
  });

  // Promise: shared-write
  it('appends the records of concurrent commands in one call', async () => {
    const store = new FailingStore();
    const { admin } = await openRunning(store);
    const calls = store.calls.length;
    const transitions = [stop, stopWatch, flush].map((transition) => admin.execute(transition));
    await Promise.all(transitions);
    // Three intents, then three settlements.
    expect(store.calls.slice(calls)).toEqual(['append 3', 'append 3']);
    await admin.close();
  });

  // Promise: journal-size
  it('compacts the journal after 10,000 records', async () => {
    const store = new FailingStore();
    const { admin } = await openRunning(store);
    for (let round = 0; round < 5001; round += 1) await admin.execute(limit(round));
    expect(store.calls.filter((call) => call === 'compact')).toHaveLength(2);
    await admin.close();
    const { state, records } = await store.load();
    expect([state === undefined, records.length]).toEqual([false, 2]);
  });

  // Promise: storable-secret
  it('refuses secrets that could not be read after a restart', async () => {
    const store = new FailingStore();
    const body = JSON.stringify([{ op: 'replace', path: '/password', value: 'hunter2' }]);
    const headers = { 'content-type': 'application/json' };
    const request = { method: 'PATCH', target: '/services/My-Service', headers, body };
    const first = await openRunning(store);
    const before = first.admin.snapshot;
    const refused = await first.admin.handle(request);
    expect(refused.matched && refused.response.status).toBe(422);
    expect(refused.matched && refused.response.body).toContain('secret-not-storable');
    expect(first.admin.snapshot).toBe(before);
    await first.admin.close();

    const sealer = createSecretSealer({ key: new Uint8Array(32).fill(7) });
    const second = await openRunning(store, { sealer });
    const kept = await second.admin.handle(request);
    expect(kept.matched && kept.response.status).toBe(200);
    const sealed = second.admin.snapshot.services.find('my-service')?.settings.passwordSealed ?? '';
    expect(await createSecretSealer({ key: new Uint8Array(32).fill(7) }).open(sealed)).toBe('hunter2');
    expect(JSON.stringify(await store.load())).not.toContain('hunter2');
    await second.admin.close();
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
    const store = {
      ...createMemoryStore(),
      [Symbol.asyncDispose]: () => Promise.resolve(void (disposals += 1)),
    };
    const { admin } = await openRunning(store);
    await Promise.all([admin.close(), admin.close()]);
    await admin[Symbol.asyncDispose]();
    expect(disposals).toBe(1);
  });
});

const stopEvent = { type: 'service.stopped', at: 0, resource: '/services/My-Service', service: 'my-service' };
const stopEffect = { type: 'service.stop', resource: '/services/My-Service', service: 'my-service' };

/** A decision that a host has put together. */
function foreign(events: readonly object[], effects: readonly object[] = []): Transition {
  return ((snapshot: Snapshot) => ({
    outcome: 'accepted',
    next: snapshot,
    resources: ['/services/My-Service'],
    events,
    effects,
  })) as unknown as Transition;
}

describe('a decision that a host has built', () => {
  // Promise: invalid-decision
  it.each([
    [
      'an event that lacks what it folds',
      [{ ...stopEvent, type: 'sessions.closed' }],
      [{ ...stopEffect, type: 'sessions.close' }],
    ],
    [
      'an event that lacks it, beside a sound one',
      [stopEvent, { type: 'connections.closed' }],
      [stopEffect, { type: 'connections.close' }],
    ],
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
    const strange = sequence(stopWatch, foreign([stopEvent], [{ ...stopEffect, type: 'x.y' }]));
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
