import { describe, expect, it } from '@jest/globals';
import { createMemoryStore, createSnapshot, systemClock } from 'gateway-admin-core';

import { History, restore, type JournalRecord } from '../../src/runtime/history.ts';
import { openJournal, type Journal } from '../../src/runtime/journal.ts';

async function journalOf(store = createMemoryStore()): Promise<Journal> {
  return openJournal({
    store,
    position: (await store.load()).position,
    history: new History(createSnapshot({})),
    clock: systemClock,
    deadlineMs: 1000,
    onError: () => undefined,
  });
}

/** Keeps a record of a change that the gateway has made. */
function keep<T>(journal: Journal, record: JournalRecord, then: () => T): Promise<T> {
  return journal.keep({ record, use: 'result', then });
}

const mark = (revision: number): JournalRecord => ({ type: 'mark', revision });

describe('the journal', () => {
  // Promise: record-while-busy
  it('keeps what comes at whatever moment after the record before', async () => {
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
  it('tells in the order of the records, each before the next, whatever was thrown', async () => {
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
  it('marks how far revisions have come, no more often than it has to', async () => {
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

  // Promise: write-size
  it('gives the store a bounded amount at once, and one record at least', async () => {
    const store = createMemoryStore();
    const sizes: number[] = [];
    const append: typeof store.append = (records, options) => {
      sizes.push(records.length);
      return store.append(records, options);
    };
    const journal = await journalOf({ ...store, append });
    const resources = ['x'.repeat(10 * 1024 * 1024)];
    const big: JournalRecord = { type: 'intent', command: 'a', resources, events: [], effects: [] };
    await Promise.all([mark(1), big, big, mark(2)].map((record) => keep(journal, record, () => undefined)));
    expect(sizes).toEqual([2, 2]);
  });

  it('keeps the number of settled parts of an open command when it compacts the store', async () => {
    const store = createMemoryStore();
    const journal = await journalOf(store);
    const parts = [1, 2, 3].map((id) => ({ resource: '/services/Sales', sessions: [{ id, connected: 0 }] }));
    const events = parts.map((part) => ({ type: 'sessions.closed', at: 0, ...part }) as const);
    const effects = parts.map((part) => ({ type: 'sessions.close', ...part }) as const);
    const intent = { type: 'intent', command: 'a', resources: [], events, effects } as const;
    const settled = (part: number): JournalRecord => {
      return {
        type: 'settlement',
        command: 'a',
        revision: 0,
        events: events.slice(part, part + 1),
        last: false,
      };
    };
    const marks = Array.from({ length: 10_000 }, (_none, revision) => mark(revision));
    const stored = (record: JournalRecord): Promise<void> => keep(journal, record, () => undefined);
    await Promise.all([intent, settled(0), ...marks].map(stored));
    await stored(settled(1));
    const history = await store.load();
    expect(history.records).toHaveLength(1);
    expect(restore(history, createSnapshot({})).open).toEqual([{ intent, settled: 2 }]);
  });
});
