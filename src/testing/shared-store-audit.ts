/**
 * The requirements for a store that several nodes have open at once: those for every store, and those for sharing.
 */
import type { LogStep, SharedStore } from '../fleet/index.ts';
import type { Json } from '../json/index.ts';
import { describe, expectConflict, expectEnd, expectRejection, expectSame } from './expectation.ts';
import { storeAudits, type StoreAudit, type StorePlace } from './store-audit.ts';

/**
 * The place where the nodes of one fleet keep their content, such as the tables of a database.
 *
 * @beta
 */
export interface SharedStorePlace extends StorePlace {
  /** Opens a store at this place, as one more node does. Several stores may be open at once. */
  open(): Promise<SharedStore>;
  /**
   * Takes a backup of the place, and gives a function that restores the backup. The stores of the audit stay open.
   * Leave out if the place has no backups; the audit of restored backups then passes.
   */
  backup?(): Promise<() => Promise<void>>;
}

/**
 * Creates the audits of a shared store: all audits of `storeAudits`, and the audits of several nodes.
 *
 * Run all audits, in any order or in parallel. The audits do not test whether the content survives a power failure, nor
 * whether hints arrive.
 *
 * @param createPlace - creates a new, empty place; called for each audit, and twice for one of the audits
 * @returns the audits
 *
 * @example
 * ```ts
 * import { createSharedMemory } from 'gateway-admin-core/fleet';
 * import { sharedStoreAudits } from 'gateway-admin-core/testing';
 *
 * const audits = sharedStoreAudits(async () => {
 *   const memory = createSharedMemory();
 *   const backup = async () => {
 *     const restore = memory.backup();
 *     return async () => restore();
 *   };
 *   return { open: async () => memory.open(), backup };
 * });
 * audits.at(-1)?.name; // => 'a store that was disposed of refuses calls, and the other nodes go on'
 * for (const audit of audits) await audit.run();
 * ```
 *
 * @beta
 */
export function sharedStoreAudits(createPlace: () => Promise<SharedStorePlace>): readonly StoreAudit[] {
  const ofSharing = table.map(([id, name, check]) => ({
    id,
    name,
    run: async () => check(await createPlace(), createPlace),
  }));
  return [...storeAudits(createPlace), ...ofSharing];
}

type Check = (place: SharedStorePlace, createPlace: () => Promise<SharedStorePlace>) => Promise<void>;

const table: readonly (readonly [id: string, name: string, check: Check])[] = [
  ['shared-append', 'of two nodes that append at one position, one is refused, and can go on', checkAppend],
  ['shared-compact', 'a node is refused at a position at which another node has compacted', checkCompact],
  ['shared-load', 'a store can be loaded again, and gives the content of all nodes', checkLoad],
  ['shared-read', 'read gives every node the records behind each earlier position, call by call', checkRead],
  ['shared-read-json', 'every JSON value is read as it was appended', checkReadJson],
  ['shared-read-many', 'read gives thousands of records', checkReadMany],
  ['shared-read-compact', 'read goes on across a compaction from the position before it', checkReadAcross],
  ['shared-read-behind', 'from before a compaction, read gives all records, or gone', checkReadBehind],
  ['shared-read-foreign', 'a position of other content is gone, and is no place for an append', checkForeign],
  ['shared-backup', 'what was given since a backup is gone when the backup is restored', checkBackup],
  ['shared-repeat', 'the same append again, while the first one is in flight, is kept once', checkRepeat],
  [
    'shared-repeat-behind',
    'the same append again, behind records of another node, is refused and kept once',
    checkRepeatBehind,
  ],
  [
    'shared-race',
    'a thousand racing appends of three nodes are kept once, and all nodes read them in one order',
    checkRace,
  ],
  ['shared-changed', 'changed does not reject when another node appends', checkChanged],
  ['shared-changed-signal', 'changed ends with its signal', checkChangedSignal],
  ['shared-announce', 'an announcement replaces the one before, and null removes it', checkAnnounce],
  ['shared-announce-apart', 'announcements do not change the content', checkAnnounceApart],
  ['shared-dispose', 'a store that was disposed of refuses calls, and the other nodes go on', checkDispose],
];

async function checkAppend(place: SharedStorePlace): Promise<void> {
  await withStores(place, async (position, ...stores) => {
    const calls = stores.map((store, node) =>
      store.append([{ node }, 'end'], { expectedPosition: position }),
    );
    const ends = await Promise.allSettled(calls);
    const winner = ends.findIndex(({ status }) => status === 'fulfilled');
    const loser = stores.findIndex((_store, node) => node !== winner);
    if (winner === -1) throw new Error('one of two appends at one position must resolve, but both rejected');
    await expectConflict('append', calls[loser] ?? Promise.resolve());
    const kept: Json[] = [{ node: winner }, 'end'];
    const { position: end } = await expectRead(stores, position, kept);
    await stores[loser]?.append([{ node: loser }], { expectedPosition: end });
    await expectRead(stores, position, [...kept, { node: loser }]);
  });
}

async function checkCompact(place: SharedStorePlace): Promise<void> {
  await withStores(place, async (position, one, other) => {
    const end = await one.compact({ sum: 0 }, { expectedPosition: position });
    await expectConflict('append', other.append([1], { expectedPosition: position }));
    await expectConflict('compact', other.compact({ sum: 1 }, { expectedPosition: position }));
    await other.append([2], { expectedPosition: end });
    await expectLoaded([one, other], { state: { sum: 0 }, records: [2] });
  });
}

async function checkLoad(place: SharedStorePlace): Promise<void> {
  await withStores(place, async (position, one, other) => {
    const second = await one.append([1, 2], { expectedPosition: position });
    await expectLoaded([one, other], { records: [1, 2] });
    const third = await other.compact({ sum: 3 }, { expectedPosition: second });
    const end = await one.append([4], { expectedPosition: third });
    await expectLoaded([one, other], { state: { sum: 3 }, records: [4] });
    for (const store of [one, other])
      expectSame('the position after load', (await store.load()).position, end);
  });
}

async function checkRead(place: SharedStorePlace): Promise<void> {
  await withStores(place, async (start, one, other) => {
    const positions = [start];
    const records: Json[][] = [];
    for (const [at, store] of [one, other, other, one].entries()) {
      records.push([{ at }, ...Array<string>(at).fill('more')]);
      const expectedPosition = positions.at(-1) ?? start;
      positions.push(await store.append(records.at(-1) ?? [], { expectedPosition }));
    }
    for (const [at, position] of positions.entries()) {
      const { steps } = await expectRead([one, other], position, records.slice(at).flat());
      const calls = steps.map((step) => ({ records: step.records, position: step.position }));
      const expected = records
        .slice(at)
        .map((each, index) => ({ records: each, position: positions[at + index + 1] }));
      expectSame('the steps, with the positions that their calls gave', calls, expected);
    }
  });
}

async function checkReadJson(place: SharedStorePlace): Promise<void> {
  const values: readonly Json[] = [
    null,
    '\u0000 \ud83d',
    1e-7,
    [[], {}],
    'ä € 💾',
    { '': null, a: { b: 1 } },
  ];
  await withStores(place, async (position, one, other) => {
    await one.append(values, { expectedPosition: position });
    await expectRead([one, other], position, values);
  });
}

async function checkReadMany(place: SharedStorePlace): Promise<void> {
  await withStores(place, async (start, one, other) => {
    const records = Array.from({ length: 3000 }, (_none, index) => ({ index }));
    let position = start;
    for (let at = 0; at < records.length; at += 1000)
      position = await one.append(records.slice(at, at + 1000), { expectedPosition: position });
    await expectRead([one, other], start, records);
  });
}

async function checkReadAcross(place: SharedStorePlace): Promise<void> {
  await withStores(place, async (start, one, other) => {
    const before = await one.append([1], { expectedPosition: start });
    const compacted = await one.compact({ sum: 1 }, { expectedPosition: before });
    for (const position of [before, compacted]) {
      const read = await expectRead([one, other], position, []);
      expectSame('the position behind a compaction', read.position, compacted);
    }
    await other.append([2], { expectedPosition: compacted });
    for (const position of [before, compacted]) await expectRead([one, other], position, [2]);
  });
}

async function checkReadBehind(place: SharedStorePlace): Promise<void> {
  await withStores(place, async (start, one, other) => {
    const second = await one.append([1], { expectedPosition: start });
    const third = await one.append([2], { expectedPosition: second });
    const compacted = await one.compact({ sum: 3 }, { expectedPosition: third });
    const fourth = await one.append([3], { expectedPosition: compacted });
    const again = await one.compact({ sum: 6 }, { expectedPosition: fourth });
    await one.append([4], { expectedPosition: again });
    for (const [position, records] of [
      [start, [1, 2, 3, 4]],
      [second, [2, 3, 4]],
      [third, [3, 4]],
    ] as const) {
      const read = await other.read(position);
      if (read !== 'gone') expectSame('the records from before a compaction', recordsOf(read), records);
    }
  });
}

async function checkForeign(
  place: SharedStorePlace,
  createPlace: () => Promise<SharedStorePlace>,
): Promise<void> {
  const positions: string[] = [];
  await withStores(await createPlace(), async (position, one) => {
    positions.push(position, await one.append(['elsewhere'], { expectedPosition: position }));
  });
  await withStores(place, async (position, one, other) => {
    await one.append(['here'], { expectedPosition: position });
    // A reader of the history may give any text.
    for (const foreign of [...positions, '', 'no position']) {
      await expectGone([one, other], foreign);
      await expectConflict('append', other.append(['late'], { expectedPosition: foreign }));
    }
    await expectLoaded([one, other], { records: ['here'] });
  });
}

async function checkBackup(place: SharedStorePlace): Promise<void> {
  const backup = place.backup?.bind(place);
  if (backup === undefined) return;
  await withStores(place, async (start, one, other) => {
    const kept = await one.append(['kept'], { expectedPosition: start });
    const restore = await backup();
    const lost = await one.append(['lost'], { expectedPosition: kept });
    const compacted = await one.compact({ lost: true }, { expectedPosition: lost });
    await restore();
    const expectRestored = async (): Promise<void> => {
      for (const position of [lost, compacted]) {
        await expectGone([one, other], position);
        await expectConflict('append', one.append(['late'], { expectedPosition: position }));
      }
    };
    await expectRestored();
    const second = await other.append(['other'], { expectedPosition: kept });
    const third = await other.append(['more'], { expectedPosition: second });
    await expectRestored();
    const positions = new Set([lost, compacted, second, third]);
    if (positions.size < 4)
      throw new Error(`a position was given twice: ${[lost, compacted, second, third].join(', ')}`);
    await expectRead([one, other], kept, ['other', 'more']);
    await expectLoaded([one, other], { records: ['kept', 'other', 'more'] });
  });
}

async function checkRepeat(place: SharedStorePlace): Promise<void> {
  await withStores(place, async (position, one, other) => {
    const send = (): Promise<string> => one.append(['once', 'each'], { expectedPosition: position });
    const [first, second] = await Promise.all([send(), send()]);
    expectSame('the position that a repeated append gives', second, first);
    await expectRead([one, other], position, ['once', 'each']);
  });
}

async function checkRepeatBehind(place: SharedStorePlace): Promise<void> {
  await withStores(place, async (position, one, other) => {
    const second = await one.append(['once'], { expectedPosition: position });
    await other.append(['behind'], { expectedPosition: second });
    await expectConflict('append', one.append(['once'], { expectedPosition: position }));
    await expectRead([one, other], position, ['once', 'behind']);
  });
}

/** The number of appends in the race of three nodes. */
const raced = 1000;

async function checkRace(place: SharedStorePlace): Promise<void> {
  const stores = await Promise.all([place.open(), place.open(), place.open()]);
  try {
    const { position } = await stores[0].load();
    const share = (node: number): readonly Json[] =>
      Array.from({ length: Math.ceil((raced - node) / stores.length) }, (_none, number) => [node, number]);
    const logs = await Promise.all(stores.map((store, node) => appendEach(store, share(node), position)));
    const { records } = await stores[0].load();
    const given = stores.flatMap((_store, node) => share(node));
    expectSame('the number of kept records', records.length, given.length);
    expectSame('the kept records', records.map(describe).toSorted(), given.map(describe).toSorted());
    await expectRead(stores, position, records);
    // A node that was ready early has not read the last records of the others.
    for (const log of logs) expectSame('the order for a node', log, records.slice(0, log.length));
  } finally {
    for (const store of stores) await store[Symbol.asyncDispose]();
  }
}

/** Appends records one at a time among other nodes that do the same. Gives all records, as the node has read them. */
async function appendEach(
  store: SharedStore,
  records: readonly Json[],
  start: string,
): Promise<readonly Json[]> {
  const log: Json[] = [];
  let position = start;
  const follow = async (): Promise<void> => {
    const steps = await store.read(position);
    if (steps === 'gone') throw new Error(`read must go on from ${position}, but answered gone`);
    log.push(...recordsOf(steps));
    position = steps.at(-1)?.position ?? position;
  };
  for (const record of records) {
    for (let isKept = false; !isKept;) {
      try {
        position = await store.append([record], { expectedPosition: position });
        log.push(record);
        isKept = true;
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'store-conflict')) throw error;
        await follow();
      }
    }
  }
  return log;
}

async function checkChanged(place: SharedStorePlace): Promise<void> {
  await withStores(place, async (position, one, other) => {
    const stop = new AbortController();
    const fault = one.changed(position, stop.signal).then(
      () => undefined,
      (error: unknown) => `changed must not reject, but rejected with ${String(error)}`,
    );
    await other.append(['news'], { expectedPosition: position });
    await expectRead([one, other], position, ['news']);
    stop.abort();
    await expectEnd('changed', fault);
    expectSame('the fault of changed', await fault, undefined);
  });
}

async function checkChangedSignal(place: SharedStorePlace): Promise<void> {
  await withStores(place, async (position, one) => {
    const stop = new AbortController();
    const [waiting, another] = [one.changed(position, stop.signal), one.changed(position, stop.signal)];
    stop.abort();
    await expectEnd('changed', Promise.all([waiting, another]));
    await expectEnd('changed with an aborted signal', one.changed(position, stop.signal));
  });
}

async function checkAnnounce(place: SharedStorePlace): Promise<void> {
  await withStores(place, async (_position, one, other) => {
    const given = { beat: 1, behind: ['ä\u0000'] };
    expectSame('the first announcements', all(await one.announce('one', given)), {
      one: { beat: 1, behind: ['ä\u0000'] },
    });
    given.behind.push('later');
    const seen = await other.announce('other', 'up');
    expectSame('the announcements of two nodes', all(seen), {
      one: { beat: 1, behind: ['ä\u0000'] },
      other: 'up',
    });
    expectSame('a replaced announcement', all(await one.announce('one', [2])), { one: [2], other: 'up' });
    expectSame('an announcement of null', all(await other.announce('other', null)), { one: [2] });
    expectSame('the same again', all(await other.announce('other', null)), { one: [2] });
    expectSame('a new announcement', all(await other.announce('other', {})), { one: [2], other: {} });
  });
}

function all(announced: ReadonlyMap<string, Json>): Json {
  return Object.fromEntries(announced);
}

async function checkAnnounceApart(place: SharedStorePlace): Promise<void> {
  await withStores(place, async (position, one, other) => {
    const [end] = await Promise.all([
      one.append(['record'], { expectedPosition: position }),
      one.announce('one', 'while an append is in flight'),
      other.announce('other', 'too'),
    ]);
    const read = await expectRead([one, other], position, ['record']);
    expectSame('the position after announcements', read.position, end);
    await expectLoaded([one, other], { records: ['record'] });
  });
}

async function checkDispose(place: SharedStorePlace): Promise<void> {
  await withStores(place, async (position, one, other) => {
    await one.announce('one', 'open');
    await one[Symbol.asyncDispose]();
    await expectRejection('append', one.append(['late'], { expectedPosition: position }));
    await expectRejection('compact', one.compact('late', { expectedPosition: position }));
    await expectRejection('read', one.read(position));
    await expectRejection('changed', one.changed(position, AbortSignal.timeout(10_000)));
    await expectRejection('announce', one.announce('one', 'late'));
    expectSame('the announcements after a disposal', all(await other.announce('other', 1)), {
      one: 'open',
      other: 1,
    });
    await other.append(['next'], { expectedPosition: position });
    await expectRead([other], position, ['next']);
  });
}

/** Opens and loads two stores, runs a task on them, and disposes of both even if the task fails. */
async function withStores(
  place: SharedStorePlace,
  task: (position: string, one: SharedStore, other: SharedStore) => Promise<void>,
): Promise<void> {
  const one = await place.open();
  const other = await place.open();
  try {
    const [{ position }] = [await one.load(), await other.load()];
    await task(position, one, other);
  } finally {
    await one[Symbol.asyncDispose]();
    await other[Symbol.asyncDispose]();
  }
}

/** Expects that every store reads the same from a position. Gives what the last one read. */
async function expectRead(
  stores: readonly SharedStore[],
  position: string,
  records: readonly Json[],
): Promise<{ readonly steps: readonly LogStep[]; readonly position: string }> {
  let last: readonly LogStep[] = [];
  const ends: string[] = [];
  for (const store of stores) {
    const steps = await store.read(position);
    if (steps === 'gone') throw new Error(`read must go on from ${position}, but answered gone`);
    expectSame(`the records behind ${position}`, recordsOf(steps), records);
    ends.push(steps.at(-1)?.position ?? position);
    last = steps;
  }
  for (const end of ends) expectSame('the position that all nodes read', end, ends[0]);
  return { steps: last, position: ends[0] ?? position };
}

function recordsOf(steps: readonly LogStep[]): readonly Json[] {
  return steps.flatMap(({ records }) => records);
}

async function expectGone(stores: readonly SharedStore[], position: string): Promise<void> {
  for (const store of stores) {
    const read = await store.read(position);
    if (read !== 'gone')
      throw new Error(
        `read must answer gone for ${position}, which is no position of the content, not ${describe(read)}`,
      );
  }
}

async function expectLoaded(
  stores: readonly SharedStore[],
  expected: { readonly state?: Json; readonly records: readonly Json[] },
): Promise<void> {
  for (const store of stores) {
    const { position: _position, ...found } = await store.load();
    expectSame('the loaded content', found, expected);
  }
}
