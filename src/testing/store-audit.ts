/**
 * The requirements for every store, as a list of audits. The author of a store runs the audits in any test framework.
 */
import type { ConfigurationStore, StoredHistory } from '../index.ts';
import type { Json } from '../json/index.ts';
import { describe, expectConflict, expectRejection, expectSame } from './expectation.ts';

/**
 * The place where the store under audit keeps its content, such as a directory, a table or an object.
 *
 * @beta
 */
export interface StorePlace {
  /**
   * Opens the store at this place. Called again after the earlier store was disposed of; the content must still be
   * there.
   */
  open(): Promise<ConfigurationStore>;
  /**
   * Makes the next call of `append` or `compact` of the open store reject, after the store has kept nothing, a part or
   * everything of that call. A store that cannot keep a part keeps everything instead. Leave out if the place cannot
   * make the store fail; the audits then repeat only calls that have resolved.
   */
  failNext?(kept: 'nothing' | 'part' | 'everything'): void;
}

/**
 * One requirement for a store.
 *
 * @beta
 */
export interface StoreAudit {
  /** The id of the audit. An id never changes. */
  readonly id: string;
  /** The requirement, in a sentence. */
  readonly name: string;
  /** Resolves if the store meets the requirement. Rejects with an Error that says how the store behaves instead. */
  run(): Promise<void>;
}

/**
 * Creates the audits of a store.
 *
 * Run all audits, in any order or in parallel. The audits do not test whether the content survives a power failure.
 *
 * @param createPlace - creates a new, empty place; called once for each audit
 * @returns the audits
 *
 * @example
 * ```ts
 * import { createMemoryStore } from 'gateway-admin-core';
 * import { storeAudits } from 'gateway-admin-core/testing';
 *
 * const audits = storeAudits(() => {
 *   const store = createMemoryStore();
 *   return Promise.resolve({ open: () => Promise.resolve(store) });
 * });
 * audits[0]?.name; // => 'a new store is empty'
 * for (const audit of audits) await audit.run();
 * ```
 *
 * @beta
 */
export function storeAudits(createPlace: () => Promise<StorePlace>): readonly StoreAudit[] {
  if (typeof createPlace !== 'function') throw new TypeError('createPlace must be a function');
  return table.map(([id, name, check]) => ({
    id,
    name,
    run: async () => check(await createPlace()),
  }));
}

const table: readonly (readonly [id: string, name: string, check: (place: StorePlace) => Promise<void>])[] = [
  ['load-new', 'a new store is empty', checkNew],
  ['load-unwritten', 'a store that was opened and not written to is still empty', checkUnwritten],
  ['append-order', 'records are loaded in the order of their appends', checkOrder],
  ['append-many', 'one call of append takes a thousand records', checkMany],
  ['append-large', 'a record may have four million characters', checkLarge],
  ['append-json', 'every JSON value is loaded as it was appended', checkJson],
  ['append-position', 'each call gives a new position, and load gives the last position', checkPosition],
  [
    'append-conflict',
    'records for another position are refused, and none of the records is kept',
    checkAppendConflict,
  ],
  [
    'append-repeat',
    'the same append again keeps its records once, also after a rejection, whichever part was kept',
    checkAppendRepeat,
  ],
  [
    'append-repeat-end',
    'the same append again is refused when other records came after it',
    checkAppendRepeatEnd,
  ],
  ['compact-replace', 'a state replaces all records', checkCompact],
  ['compact-again', 'a state replaces the earlier state', checkCompactAgain],
  ['compact-append', 'records after a compaction are added to its state', checkAppendAfterCompact],
  ['compact-null', 'null is a state', checkNullState],
  ['compact-position', 'a compaction makes all earlier positions invalid', checkCompactPosition],
  [
    'compact-conflict',
    'a state for another position is refused, and the content stays',
    checkCompactConflict,
  ],
  [
    'compact-repeat',
    'the same compaction again keeps its state, also after a rejection, whether the state was kept or not',
    checkCompactRepeat,
  ],
  ['share-given', 'a later change of a given value does not change the content', checkGiven],
  ['share-loaded', 'a change of a loaded value does not change the content', checkLoaded],
  ['dispose-twice', 'a store can be disposed of twice, and before it was loaded', checkDisposeTwice],
  ['dispose-waits', 'disposal waits for the call in flight', checkDisposeWaits],
  ['dispose-ends', 'a store that was disposed of refuses calls', checkDisposeEnds],
];

async function checkNew(place: StorePlace): Promise<void> {
  const { position, ...rest } = await historyIn(place);
  expectSame('the content of a new store', rest, { records: [] });
  if (typeof position !== 'string')
    throw new Error(`the position must be a string, not ${describe(position)}`);
}

async function checkUnwritten(place: StorePlace): Promise<void> {
  await historyIn(place);
  await expectHistory(place, { records: [] });
}

async function checkOrder(place: StorePlace): Promise<void> {
  await write(place, async (store, position) => {
    const second = await store.append([1, 2], { expectedPosition: position });
    const third = await store.append([3], { expectedPosition: second });
    await store.append([4, 5, 6], { expectedPosition: third });
  });
  await append(place, [7]);
  await expectHistory(place, { records: [1, 2, 3, 4, 5, 6, 7] });
}

async function checkMany(place: StorePlace): Promise<void> {
  const records = Array.from({ length: 1000 }, (_none, index) => ({ index, text: 'ä'.repeat(index % 50) }));
  await append(place, records);
  await expectHistory(place, { records });
}

async function checkLarge(place: StorePlace): Promise<void> {
  const records = [{ text: 'ä€💾 '.repeat(800_000) }, 'behind it'];
  await append(place, records);
  await expectHistory(place, { records });
}

const values: readonly Json[] = [
  null,
  true,
  false,
  0,
  -1.5,
  1e-7,
  1.7976931348623157e308,
  Number.MAX_SAFE_INTEGER,
  '',
  'ä\u0301 € 💾 שלום \u2028 \ufeff \ufffd',
  '"quoted" \\ / \b\f\n\r\t \u0000 \u001f \u007f',
  // Lone surrogates, which JSON can write as escapes.
  '\ud83d and \udcbe',
  [],
  {},
  [[[[]]], [null], {}],
  { '': '', ' a b ': [1], 'ä/~€': { constructor: 1, toString: null } },
  // Parsed, because `__proto__` in a literal sets the prototype and adds no member.
  JSON.parse('{ "__proto__": { "a": 1 }, "length": 2 }') as Json,
];

async function checkJson(place: StorePlace): Promise<void> {
  await append(place, values);
  await expectHistory(place, { records: values });
  await compact(place, values);
  await expectHistory(place, { state: values, records: [] });
}

async function checkPosition(place: StorePlace): Promise<void> {
  const positions: string[] = [];
  await write(place, async (store, position) => {
    positions.push(position);
    positions.push(await store.append(['a'], { expectedPosition: position }));
    positions.push(await store.append(['b', 'c'], { expectedPosition: positions[1] ?? '' }));
  });
  if (new Set(positions).size < 3) throw new Error(`a position was given twice: ${positions.join(', ')}`);
  const { position } = await historyIn(place);
  expectSame('the position after the store was reopened', position, positions[2]);
}

async function checkAppendConflict(place: StorePlace): Promise<void> {
  await write(place, async (store, position) => {
    await store.append(['kept'], { expectedPosition: position });
    await expectConflict('append', store.append(['lost', 'too'], { expectedPosition: position }));
  });
  await expectHistory(place, { records: ['kept'] });
}

async function checkAppendRepeat(place: StorePlace): Promise<void> {
  const kept: Json[] = [];
  for (const part of parts) {
    const records = ['first', 'second', 'third'].map((text) => ({ text, part }));
    await write(place, async (store, position) => {
      const next = await twice(place, part, () =>
        store.append(structuredClone(records), { expectedPosition: position }),
      );
      await store.append([part], { expectedPosition: next });
    });
    kept.push(...records, part);
    await expectHistory(place, { records: kept });
  }
}

async function checkAppendRepeatEnd(place: StorePlace): Promise<void> {
  await write(place, async (store, position) => {
    const second = await store.append([1], { expectedPosition: position });
    await store.append([2], { expectedPosition: second });
    await expectConflict('append', store.append([1], { expectedPosition: position }));
  });
  await expectHistory(place, { records: [1, 2] });
}

async function checkCompactRepeat(place: StorePlace): Promise<void> {
  for (const part of parts) {
    await append(place, ['old']);
    const state = { part };
    await write(place, async (store, position) => {
      const next = await twice(place, part, () =>
        store.compact(structuredClone(state), { expectedPosition: position }),
      );
      await store.append([part], { expectedPosition: next });
    });
    await expectHistory(place, { state, records: [part] });
  }
}

const parts = ['nothing', 'part', 'everything'] as const;

/** Makes a call that fails, if the place can make it fail, and then the same call again. Gives the last position. */
async function twice(
  place: StorePlace,
  kept: (typeof parts)[number],
  call: () => Promise<string>,
): Promise<string> {
  place.failNext?.(kept);
  const first = await call().catch((error: unknown) => {
    if (place.failNext === undefined) throw error;
    return undefined;
  });
  if (place.failNext !== undefined && first !== undefined)
    throw new Error('failNext must make the next call reject, but the call resolved');
  const position = await call();
  if (first !== undefined) expectSame('the position that a repeated call gives', position, first);
  return position;
}

async function checkCompact(place: StorePlace): Promise<void> {
  await append(place, [1, 2, 3]);
  await compact(place, { sum: 6 });
  await expectHistory(place, { state: { sum: 6 }, records: [] });
}

async function checkCompactAgain(place: StorePlace): Promise<void> {
  await compact(place, { sum: 0 });
  await write(place, async (store, position) => {
    const second = await store.append([4], { expectedPosition: position });
    const third = await store.compact({ sum: 4 }, { expectedPosition: second });
    await store.compact({ sum: 4, again: true }, { expectedPosition: third });
  });
  await expectHistory(place, { state: { sum: 4, again: true }, records: [] });
}

async function checkAppendAfterCompact(place: StorePlace): Promise<void> {
  await write(place, async (store, position) => {
    const second = await store.append([1, 2, 3], { expectedPosition: position });
    const third = await store.compact({ sum: 6 }, { expectedPosition: second });
    await store.append([4, 5], { expectedPosition: third });
  });
  await append(place, [6]);
  await expectHistory(place, { state: { sum: 6 }, records: [4, 5, 6] });
}

async function checkNullState(place: StorePlace): Promise<void> {
  await compact(place, null);
  await expectHistory(place, { state: null, records: [] });
}

async function checkCompactPosition(place: StorePlace): Promise<void> {
  await write(place, async (store, position) => {
    const second = await store.append([1], { expectedPosition: position });
    const third = await store.compact([1], { expectedPosition: second });
    if ([position, second].includes(third)) throw new Error(`compact gave the position ${third} again`);
    await expectConflict('append', store.append([2], { expectedPosition: second }));
  });
  await expectHistory(place, { state: [1], records: [] });
}

async function checkCompactConflict(place: StorePlace): Promise<void> {
  await compact(place, { sum: 0 });
  await write(place, async (store, position) => {
    await store.append([1], { expectedPosition: position });
    await expectConflict('compact', store.compact({ sum: 9 }, { expectedPosition: position }));
  });
  await expectHistory(place, { state: { sum: 0 }, records: [1] });
}

async function checkGiven(place: StorePlace): Promise<void> {
  const record = { list: [1] };
  const state = { list: [1] };
  await write(place, async (store, position) => {
    const next = await store.compact(state, { expectedPosition: position });
    state.list.push(2);
    await store.append([record], { expectedPosition: next });
    record.list.push(2);
  });
  await expectHistory(place, { state: { list: [1] }, records: [{ list: [1] }] });
}

async function checkLoaded(place: StorePlace): Promise<void> {
  await compact(place, { list: [1] });
  await append(place, [{ list: [1] }]);
  const { state, records } = await historyIn(place);
  for (const loaded of [state, records[0]]) {
    const { list } = loaded as { list: number[] };
    if (!Object.isFrozen(list)) list.push(2);
  }
  await expectHistory(place, { state: { list: [1] }, records: [{ list: [1] }] });
}

async function checkDisposeTwice(place: StorePlace): Promise<void> {
  const unused = await place.open();
  await unused[Symbol.asyncDispose]();
  const store = await place.open();
  await store.load();
  await Promise.all([store[Symbol.asyncDispose](), store[Symbol.asyncDispose]()]);
  await store[Symbol.asyncDispose]();
  await append(place, [1]);
  await expectHistory(place, { records: [1] });
}

async function checkDisposeWaits(place: StorePlace): Promise<void> {
  const store = await place.open();
  const { position } = await store.load();
  const ends: string[] = [];
  const call = store.append([1], { expectedPosition: position }).finally(() => ends.push('append'));
  await store[Symbol.asyncDispose]().finally(() => ends.push('disposal'));
  await call;
  expectSame('the order in which calls end', ends, ['append', 'disposal']);
  await expectHistory(place, { records: [1] });
}

async function checkDisposeEnds(place: StorePlace): Promise<void> {
  const store = await place.open();
  const { position } = await store.load();
  await store[Symbol.asyncDispose]();
  await expectRejection('append', store.append([1], { expectedPosition: position }));
  await expectRejection('compact', store.compact({}, { expectedPosition: position }));
  await expectHistory(place, { records: [] });
}

/** Opens the store, runs a task on the store, and disposes of the store even if the task fails. */
async function write(
  place: StorePlace,
  task: (store: ConfigurationStore, position: string) => Promise<unknown>,
): Promise<void> {
  const store = await place.open();
  try {
    const { position } = await store.load();
    await task(store, position);
  } finally {
    await store[Symbol.asyncDispose]();
  }
}

function append(place: StorePlace, records: readonly Json[]): Promise<void> {
  return write(place, (store, position) => store.append(records, { expectedPosition: position }));
}

function compact(place: StorePlace, state: Json): Promise<void> {
  return write(place, (store, position) => store.compact(state, { expectedPosition: position }));
}

async function historyIn(place: StorePlace): Promise<StoredHistory> {
  const store = await place.open();
  return store.load().finally(() => store[Symbol.asyncDispose]());
}

async function expectHistory(place: StorePlace, expected: Omit<StoredHistory, 'position'>): Promise<void> {
  const { position: _position, ...found } = await historyIn(place);
  expectSame('the loaded content', found, expected);
}
