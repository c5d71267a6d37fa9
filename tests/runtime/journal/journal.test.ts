import { describe, expect, it } from '@jest/globals';
import { createMemoryStore, createSnapshot, type ConfigurationStore } from 'gateway-admin-core';

import { History, restore } from '../../../src/runtime/journal/history.ts';
import { OwnJournal, type Journal } from '../../../src/runtime/journal/journal.ts';
import { evolving, OwnLog } from '../../../src/runtime/journal/log.ts';
import { RecordQueue } from '../../../src/runtime/journal/record-queue.ts';
import type { JournalRecord } from '../../../src/runtime/journal/record.ts';
import { watchersOf } from '../../../src/runtime/options.ts';
import { FailingStore } from '../../support/failing-store.ts';

async function journalOf(store: ConfigurationStore = createMemoryStore()): Promise<Journal> {
  return new OwnJournal({
    log: new OwnLog(store, new History(createSnapshot({})), (await store.load()).position),
    ...watchersOf({ onError: () => undefined }),
    deadlineMs: 1000,
  });
}

/** Keeps a record of a change that the gateway has made. */
function keep<T>(journal: Journal, record: JournalRecord, then: () => T): Promise<T> {
  return journal.keep({ record, resources: [], use: 'result', then });
}

const mark = (revision: number): JournalRecord => ({ type: 'mark', revision });

describe('the journal', () => {
  // Promise: record-while-busy
  it('stores a record that arrives at any moment after the record before', async () => {
    for (let turns = 0; turns < 30; turns += 1) {
      const journal = await journalOf();
      let second: Promise<string> | undefined;
      await keep(journal, mark(1), () => {
        void (async () => {
          for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
          second = keep(journal, mark(2), () => 'kept');
        })();
      });
      await new Promise((resolve) => setImmediate(resolve));
      expect(await second).toBe('kept');
    }
  });

  // Promise: record-order
  it('calls then in the order of the records, also after a then that throws', async () => {
    const journal = await journalOf();
    const told: number[] = [];
    const keeping = [1, 2, 3].map((revision) =>
      keep(journal, mark(revision), () => {
        told.push(revision);
        if (revision === 2) throw new Error('not mine');
      }),
    );
    expect((await Promise.allSettled(keeping)).map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
    ]);
    expect([told, journal.outage]).toEqual([[1, 2, 3], undefined]);
  });

  // Promise: report-mark
  it('stores a mark only when the revision is far beyond the last record', async () => {
    const store = createMemoryStore();
    const journal = await journalOf(store);
    for (let revision = 1; revision <= 1_600_000_000; revision += 50_000_000) {
      journal.mark(revision);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect((await store.load()).records).toEqual([
      mark(500_000_001),
      mark(1_000_000_001),
      mark(1_500_000_001),
    ]);
  });

  it('gives up a mark when the store fails, and the process goes on', async () => {
    const store = new FailingStore();
    const journal = await journalOf(store);
    store.fail();
    const unhandled: unknown[] = [];
    const note = (error: unknown): void => void unhandled.push(error);
    process.on('unhandledRejection', note);
    journal.mark(600_000_000);
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', note);
    expect([journal.outage, unhandled]).toEqual([
      { error: new Error('The disk is full'), since: expect.any(Number) },
      [],
    ]);
  });

  // Promise: write-size
  it('appends at most a limited size per call, and at least one record', async () => {
    const store = createMemoryStore();
    const sizes: number[] = [];
    const append: typeof store.append = (records, options) => {
      sizes.push(records.length);
      return store.append(records, options);
    };
    const journal = await journalOf({ ...store, append });
    const resources = ['x'.repeat(10 * 1024 * 1024)];
    const big: JournalRecord = {
      type: 'intent',
      command: 'a',
      resources,
      part: 0,
      of: 1,
      events: [],
      effects: [],
    };
    await Promise.all([mark(1), big, big, mark(2)].map((record) => keep(journal, record, () => undefined)));
    expect(sizes).toEqual([2, 2]);
  });

  it('keeps the number of settled parts of an open command when it compacts the store', async () => {
    const store = createMemoryStore();
    const journal = await journalOf(store);
    const sessionsOf = (part: number): { id: number; connected: number }[] => [{ id: part, connected: 0 }];
    const resource = '/services/Sales';
    const eventsOf = (part: number) => [
      { type: 'sessions.closed', at: 0, resource, sessions: sessionsOf(part) } as const,
    ];
    const intent = (part: number): JournalRecord => ({
      type: 'intent',
      command: 'a',
      resources: [],
      part,
      of: 3,
      events: eventsOf(part),
      effects: [{ type: 'sessions.close', resource, sessions: sessionsOf(part) }],
    });
    const settled = (part: number): JournalRecord => ({
      type: 'settlement',
      command: 'a',
      revision: 0,
      events: eventsOf(part),
      last: false,
    });
    const marks = Array.from({ length: 10_000 }, (_none, revision) => mark(revision));
    const stored = (record: JournalRecord): Promise<void> => keep(journal, record, () => undefined);
    await Promise.all([intent(0), settled(0), intent(1), ...marks].map(stored));
    await stored(settled(1));
    const history = await store.load();
    expect(history.records).toHaveLength(1);
    expect(restore(history, createSnapshot({})).unsettled.open).toEqual([{ intent: intent(1), settled: 2 }]);
  });
});

describe('the queue of records', () => {
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
    expect(await second).toBe('kept');
    expect(stored).toEqual([2]);
  });
});
