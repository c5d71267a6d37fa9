/**
 * The journal: the order and the size of what goes to the store, and content that this version cannot read. Parts are tested
 * in isolation where half a billion reports, ten thousand deletions at once, and a log that refuses one of two records are
 * needed.
 */
import { describe, expect, it } from '@jest/globals';
import {
  adoptDocument,
  createMemoryStore,
  createSnapshot,
  createUser,
  flushLogs,
  stopMonitor,
  type Json,
  type Transition,
} from 'gateway-admin-core';
import { hold } from 'gateway-admin-core/testing';

import { FailingStore } from '../../support/failing-store.ts';
import {
  evolving,
  JournalState,
  OwnJournal,
  OwnLog,
  RecordQueue,
  watchersOf,
} from '../../support/internal.ts';
import { openedSessions } from '../../support/opened-session.ts';
import { openRunning, sampleGateway } from '../../support/running-admin.ts';
import { closeMine, port, stop, stopMain, stopUnreadably } from '../../support/transition.ts';

const adding =
  (name: string): Transition =>
  (snapshot, context) =>
    createUser(snapshot, { name, password: { sealed: 'opaque' } }, context);

describe('the journal', () => {
  // Promise: record-while-busy
  it('stores a record that arrives at any moment after the record before', async () => {
    const { admin } = await openRunning(createMemoryStore());
    for (let turns = 0; turns < 30; turns += 1) {
      const first = admin.execute(adding(`first${String(turns)}`));
      for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
      const second = admin.execute(adding(`second${String(turns)}`));
      for (const { outcome } of await Promise.all([first, second])) expect(outcome).toBe('accepted');
    }
    await admin.close();
  });

  // Promise: record-order
  it('publishes in the order of the records, also after an event that throws', async () => {
    const { admin, gateway } = await openRunning(createMemoryStore());
    const reader = admin.events();
    const planted = stopUnreadably(() => gateway.applied.length > 0);
    const settled = await Promise.allSettled(
      [adding('one'), planted, flushLogs].map((each) => admin.execute(each)),
    );
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    const types = [(await reader.next()).value, (await reader.next()).value].map(
      (item) => item.event.type as string,
    );
    expect(types).toEqual(['user.created', 'logs.flushed']);
    expect((await admin.execute(adding('two'))).outcome).toBe('accepted');
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
    const commands = [
      admin.execute(stop),
      admin.execute(stopMain, { actor }),
      admin.execute(port(7), { actor }),
      admin.execute(flushLogs),
    ];
    await Promise.all(commands);
    // The intents, and then the settlements.
    expect(sizes).toEqual([2, 2, 2, 2]);
    await admin.close();
  });

  // Promise: journal-size
  it('is compacted after 10,000 records, and keeps the number of settled parts of an open command', async () => {
    const store = new FailingStore();
    const gateway = sampleGateway().will('done', hold().apply);
    const { admin, clock } = await openRunning(store, { gateway });
    admin.report(openedSessions(2500));
    admin.execute(closeMine).catch(() => undefined);
    await clock.settle();
    const compactions = (): number => store.calls.filter((call) => call === 'compact').length;
    let commands = 0;
    while (compactions() < 2) await admin.execute(port((commands += 1)));
    // An intent and a settlement each, after the intent and the first part of the closing.
    expect(commands).toBe(4999);
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
      log: new OwnLog(store, new JournalState(createSnapshot({})), (await store.load()).position),
      ...watchersOf({ onError: () => undefined }),
      deadlineMs: 1000,
    });

  it('remembers the last 10,000 deleted resources', () => {
    const names = Array.from({ length: 10_001 }, (_, at) => `db-${String(at)}`);
    const servers = names.map((name) => ({ name, address: '::', port: 5432, protocol: 'pg' }));
    const given = createSnapshot({ servers });
    const history = new JournalState(given);
    const how = { prune: true, allowEmpty: true };
    const decision = adoptDocument(given, createSnapshot({ servers: [] }), { now: 0 }, how);
    if (decision.outcome !== 'accepted') throw new Error('Nothing was deleted');
    const { events } = decision;
    history.take({ type: 'settlement', command: '1', revision: 1, events, last: true });
    const deleted = names.slice(1).map((name) => `/servers/${name}`);
    expect(history.toState()).toMatchObject({ deleted });
  });

  it('calls then in the order of the records, also after a then that throws', async () => {
    const journal = await journalOf();
    const told: number[] = [];
    const keeping = [1, 2, 3].map((revision) =>
      journal.keep({
        record: { type: 'settlement', command: 'a', revision, events: [], last: true },
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

type Members = Readonly<Record<string, Json>>;

/** What a life leaves behind that ended with one command done and another one in flight. */
async function leftBehind(): Promise<{ readonly state: Members; readonly records: readonly Members[] }> {
  const store = createMemoryStore();
  const gateway = sampleGateway().will('done', hold().apply);
  const { admin, clock } = await openRunning(store, { gateway });
  await admin.execute(stop);
  admin.execute((snapshot, context) => stopMonitor(snapshot, 'Main Monitor', context)).catch(() => undefined);
  await clock.settle();
  const { state: emptyState, records } = await store.load();
  return { state: emptyState as Members, records: records as readonly Members[] };
}

async function opening(history: { state?: Json; records?: readonly Json[] }): Promise<string> {
  const store = createMemoryStore(history);
  const before = JSON.stringify(await store.load());
  const said = await openRunning(store).then(
    () => 'it opens',
    (error: unknown) => String(error),
  );
  expect(JSON.stringify(await store.load())).toBe(before);
  return said;
}

const none = { earlierLives: 0, births: {}, open: [], abandoned: [], entries: [], deleted: [] };
const initial = { settings: { read_only: false } };
const emptyState = { format: 2, revision: 0, document: {}, interface: initial, ...none };
const strange: readonly Json[] = [null, 7, 'x', true, [], [7], [null], {}, -1, 0.5];

describe('a store with content that this version cannot read', () => {
  // Promise: unreadable-record
  it('is refused for a record in which a member is missing or has the wrong type', async () => {
    const { state: emptyState, records } = await leftBehind();
    expect(records.map(({ type }) => type)).toEqual(['intent', 'settlement', 'intent']);
    const samples = [...records, { type: 'abandonment', command: 'a' }];
    for (const sample of samples) {
      for (const member of Object.keys(sample)) {
        const { [member]: right, ...without } = sample;
        const wrong = strange.filter(
          (value) => typeof value !== typeof right || Array.isArray(value) !== Array.isArray(right),
        );
        for (const value of [undefined, ...wrong]) {
          const record = value === undefined ? without : { ...sample, [member]: value };
          expect(await opening({ state: emptyState, records: [record] })).toContain('cannot read');
        }
      }
    }
  });

  // Promise: unreadable-state
  it('is refused for a state in which a member is missing or has the wrong type', async () => {
    expect((await openRunning(createMemoryStore({ state: emptyState }))).admin.snapshot.revision).toBe(1);
    for (const member of Object.keys(emptyState) as (keyof typeof emptyState)[]) {
      const { [member]: _left, ...without } = emptyState;
      expect(await opening({ state: without })).toContain('cannot read');
      for (const value of [null, 'x', [7], -1]) {
        expect(await opening({ state: { ...emptyState, [member]: value } })).toContain('cannot read');
      }
    }
  });

  const settling = (...events: readonly Json[]): Json => ({ ...settled, events });
  const flushed = { type: 'logs.flushed' };
  const settled = { type: 'settlement', command: 'a', revision: 1, last: true };
  const intent = { type: 'intent', command: 'a', resources: [], part: 0, of: 1, events: [flushed] };
  const stateWith = (more: object): Json => ({ ...emptyState, ...more });

  it.each<[string, Json | undefined, readonly Json[], string]>([
    ['a state of another format', stateWith({ format: 3 }), [], 'a state of format 3'],
    ['records without a state', undefined, [{ type: 'abandonment', command: 'a' }], 'without a state'],
    ['a record of unknown type', emptyState, [{ type: 'x' }], '"x"'],
    ['a type that only looks like a known one', emptyState, [{ type: ['intent'] }], '["intent"]'],
    ['a record that is not an object', emptyState, [null], 'null'],
    ['an event of unknown type', emptyState, [settling({ type: 'x.y' })], 'unknown'],
    [
      'an event that does not fit the state before it',
      ...([emptyState, [settling({ type: 'sessions.closed' })], 'does not fit the state before it'] as const),
    ],
    ['an intent without an event', emptyState, [{ ...intent, events: [] }], 'unknown'],
    [
      'an open command with more settled parts than it has',
      ...([stateWith({ open: [{ settled: 2, intent }] }), [], 'wrong type'] as const),
    ],
    ['a document that is not valid', stateWith({ document: { servers: [{}] } }), [], '/servers/0/name'],
  ])('is refused with a message that names the fault: %s', async (_what, state, records, said) => {
    expect(await opening({ ...(state !== undefined && { state }), records })).toContain(said);
  });
});
