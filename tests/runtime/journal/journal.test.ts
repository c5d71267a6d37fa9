/**
 * The journal: the order and the size of what goes to the store.
 */
import { describe, expect, it } from '@jest/globals';
import {
  adoptDocument,
  closeServiceSessions,
  createMemoryStore,
  createSnapshot,
  createUser,
  flushLogs,
  stopMonitor,
  stopService,
  type AdminEvent,
  type Transition,
} from 'gateway-admin-core';
import { hold } from 'gateway-admin-core/testing';

// Half a billion reports, ten thousand deletions at once, and a log that refuses one of two records are not to be had
// through the interface.
import { FailingStore } from '../../support/failing-store.ts';
import { evolving, History, OwnJournal, OwnLog, RecordQueue, watchersOf } from '../../support/internal.ts';
import { openedSessions } from '../../support/opened-session.ts';
import { openRunning, sampleGateway } from '../../support/running-admin.ts';
import { port } from '../../support/transition.ts';

const stop: Transition = (snapshot, context) => stopService(snapshot, 'My Service', context);
const addUser =
  (name: string): Transition =>
  (snapshot, context) =>
    createUser(snapshot, { name, passwordHash: 'opaque' }, context);
const soon = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('the journal', () => {
  // Promise: record-while-busy
  it('stores a record that arrives at any moment after the record before', async () => {
    const { admin } = await openRunning(createMemoryStore());
    for (let turns = 0; turns < 30; turns += 1) {
      const first = admin.execute(addUser(`first${String(turns)}`));
      for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
      const second = admin.execute(addUser(`second${String(turns)}`));
      for (const { outcome } of await Promise.all([first, second])) expect(outcome).toBe('accepted');
    }
    await admin.close();
  });

  // Promise: record-order
  it('publishes in the order of the records, also after an event that throws', async () => {
    const { admin, gateway } = await openRunning(createMemoryStore());
    const reader = admin.events();
    const planted: Transition = (snapshot, context) => {
      const decision = stop(snapshot, context);
      if (decision.outcome !== 'accepted') throw new Error('The service is stopped');
      const note = (): number => {
        if (gateway.applied.length > 0) throw new Error('planted');
        return 1;
      };
      const [event] = decision.events;
      const events = [Object.defineProperty({ ...event }, 'note', { enumerable: true, get: note })];
      return { ...decision, events: events as unknown as readonly AdminEvent[] };
    };
    const settled = await Promise.allSettled(
      [addUser('one'), planted, flushLogs].map((each) => admin.execute(each)),
    );
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    const types = [(await reader.next()).value, (await reader.next()).value].map(
      (item) => item.event.type as string,
    );
    expect(types).toEqual(['user.created', 'logs.flushed']);
    expect((await admin.execute(addUser('two'))).outcome).toBe('accepted');
    await admin.close();
  });

  // Promise: write-size
  it('appends at most a limited size per call, and at least one record', async () => {
    const store = createMemoryStore();
    const sizes: number[] = [];
    const append: typeof store.append = (records, options) => {
      sizes.push(records.length);
      return store.append(records, options);
    };
    const { admin } = await openRunning({ ...store, append });
    const actor = 'x'.repeat(10 * 1024 * 1024);
    const watch: Transition = (snapshot, context) => stopMonitor(snapshot, 'Main Monitor', context);
    const commands = [
      admin.execute(stop),
      admin.execute(watch, { actor }),
      admin.execute(port(7), { actor }),
      admin.execute(flushLogs),
    ];
    await Promise.all(commands);
    // The intents, and then the settlements.
    expect(sizes).toEqual([2, 2, 2, 2]);
    await admin.close();
  });

  it('keeps the number of settled parts of an open command when it compacts the store', async () => {
    const store = new FailingStore();
    const gateway = sampleGateway().will('done', hold().apply);
    const { admin, clock } = await openRunning(store, { gateway });
    admin.report(openedSessions(2500));
    const close: Transition = (snapshot, context) => closeServiceSessions(snapshot, 'My Service', context);
    admin.execute(close).catch(() => undefined);
    await clock.settle();
    const compactions = (): number => store.calls.filter((call) => call === 'compact').length;
    for (let round = 0; compactions() < 2; round += 1) await admin.execute(port(round + 1));
    const { state, records } = await store.load();
    expect(records.length).toBeLessThan(3);
    const [open] = (state as { readonly open: readonly { settled: number; intent: { part: number } }[] })
      .open;
    expect([open?.settled, open?.intent.part]).toEqual([1, 1]);
  });
});

describe('the journal of an interface', () => {
  const journalOf = async (store = createMemoryStore()) =>
    new OwnJournal({
      log: new OwnLog(store, new History(createSnapshot({})), (await store.load()).position),
      ...watchersOf({ onError: () => undefined }),
      deadlineMs: 1000,
    });

  it('remembers the last 10,000 deleted resources', () => {
    const names = Array.from({ length: 10_001 }, (_, at) => `db-${String(at)}`);
    const servers = names.map((name) => ({ name, address: '::', port: 5432, protocol: 'pg' }));
    const given = createSnapshot({ servers });
    const history = new History(given);
    const how = { prune: true, allowEmpty: true };
    const decision = adoptDocument(given, createSnapshot({ servers: [] }), { now: 0 }, how);
    if (decision.outcome !== 'accepted') throw new Error('Nothing was deleted');
    const { events } = decision;
    history.take({ type: 'settlement', command: '1', revision: 1, events, last: true });
    const deleted = names.slice(1).map((name) => `/servers/${name}`);
    expect(history.toState()).toMatchObject({ deleted });
  });

  // Promise: report-mark
  it('stores a mark only when the revision is far beyond the last record', async () => {
    const store = createMemoryStore();
    const journal = await journalOf(store);
    for (let revision = 1; revision <= 1_600_000_000; revision += 50_000_000) {
      journal.mark(revision);
      await soon();
    }
    const marks = [500_000_001, 1_000_000_001, 1_500_000_001];
    expect((await store.load()).records).toEqual(marks.map((revision) => ({ type: 'mark', revision })));
  });

  it('calls then in the order of the records, also after a then that throws', async () => {
    const journal = await journalOf();
    const told: number[] = [];
    const keeping = [1, 2, 3].map((revision) =>
      journal.keep({
        record: { type: 'mark', revision },
        resources: [],
        use: 'result',
        then: () => {
          told.push(revision);
          if (revision === 2) throw new Error('not mine');
        },
      }),
    );
    const statuses = (await Promise.allSettled(keeping)).map(({ status }) => status);
    expect(statuses).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect([told, journal.outage]).toEqual([[1, 2, 3], undefined]);
  });

  it('gives up a mark when the store fails, and the process goes on', async () => {
    const store = new FailingStore();
    const journal = await journalOf(store);
    store.fail();
    journal.mark(600_000_000);
    // Jest fails a test with a rejection that nothing handles.
    await soon();
    expect(journal.outage).toEqual({ error: new Error('The disk is full'), since: expect.any(Number) });
  });

  it('keeps a record that comes when the log refuses another one', async () => {
    const stored: number[] = [];
    const nothing = (): undefined => undefined;
    let second: Promise<string> | undefined;
    const queue = new RecordQueue<number>({
      log: {
        append: (queued) => {
          for (const { record, kept, refused } of queued)
            if (record === 1) refused(new Error('Too late'));
            else {
              stored.push(record);
              kept(evolving);
            }
          return Promise.resolve();
        },
        compact: () => Promise.resolve(true),
        dispose: () => Promise.resolve(),
      },
      ...watchersOf({ onError: nothing }),
      deadlineMs: 1000,
    });
    const onDropped = (): void => {
      second = queue.put(2, 2, { use: 'result', then: () => 'kept' });
    };
    const first = queue.put(1, 1, { use: 'result', then: nothing, onDropped });
    await expect(first).rejects.toThrow('Too late');
    expect([await second, stored]).toEqual(['kept', [2]]);
  });
});
