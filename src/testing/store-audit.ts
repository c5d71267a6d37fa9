/**
 * The requirements for every store, and for a store that several nodes have open at once, as a list of audits. The
 * author of a store runs the audits in any test framework.
 */
import type { LogStep, SharedStore } from '../fleet/index.ts';
import type { ConfigurationStore, StoredHistory } from '../index.ts';
import type { Json } from '../json/index.ts';
import { describe, expectConflict, expectEnd, expectRejection, expectSame } from './expectation.ts';

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
  return auditsOf(ofEveryStore, createPlace);
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
  return [...storeAudits(createPlace), ...auditsOf(ofSharing, createPlace)];
}

type Check<P> = (place: P, createPlace: () => Promise<P>) => Promise<void>;

type Requirement<P> = readonly [id: string, name: string, check: Check<P>];

function auditsOf<P>(
  requirements: readonly Requirement<P>[],
  createPlace: () => Promise<P>,
): readonly StoreAudit[] {
  return requirements.map(([id, name, check]) => ({
    id,
    name,
    run: async () => check(await createPlace(), createPlace),
  }));
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

const parts = ['nothing', 'part', 'everything'] as const;

/** The number of appends in the race of three nodes. */
const raced = 1000;

const ofEveryStore: readonly Requirement<StorePlace>[] = [
  requirement('load-new', 'a new store is empty', async (place) => {
    const { position, ...rest } = await historyIn(place);
    expectSame('the content of a new store', rest, { records: [] });
    if (typeof position !== 'string')
      throw new Error(`the position must be a string, not ${describe(position)}`);
  }),

  requirement(
    'load-unwritten',
    'a store that was opened and not written to is still empty',
    async (place) => {
      await historyIn(place);
      await expectHistory(place, { records: [] });
    },
  ),

  requirement('append-order', 'records are loaded in the order of their appends', async (place) => {
    await write(place, async (store, position) => {
      const second = await store.append([1, 2], { expectedPosition: position });
      const third = await store.append([3], { expectedPosition: second });
      await store.append([4, 5, 6], { expectedPosition: third });
    });
    await append(place, [7]);
    await expectHistory(place, { records: [1, 2, 3, 4, 5, 6, 7] });
  }),

  requirement('append-many', 'one call of append takes a thousand records', async (place) => {
    const records = Array.from({ length: 1000 }, (_none, index) => ({ index, text: 'ä'.repeat(index % 50) }));
    await append(place, records);
    await expectHistory(place, { records });
  }),

  requirement('append-large', 'a record may have four million characters', async (place) => {
    const records = [{ text: 'ä€💾 '.repeat(800_000) }, 'behind it'];
    await append(place, records);
    await expectHistory(place, { records });
  }),

  requirement('append-json', 'every JSON value is loaded as it was appended', async (place) => {
    await append(place, values);
    await expectHistory(place, { records: values });
    await compact(place, values);
    await expectHistory(place, { state: values, records: [] });
  }),

  requirement(
    'append-position',
    'each call gives a new position, and load gives the last position',
    async (place) => {
      const positions: string[] = [];
      await write(place, async (store, position) => {
        positions.push(position);
        positions.push(await store.append(['a'], { expectedPosition: position }));
        positions.push(await store.append(['b', 'c'], { expectedPosition: positions[1] ?? '' }));
      });
      if (new Set(positions).size < 3) throw new Error(`a position was given twice: ${positions.join(', ')}`);
      const { position } = await historyIn(place);
      expectSame('the position after the store was reopened', position, positions[2]);
    },
  ),

  requirement(
    'append-conflict',
    'records for another position are refused, and none of the records is kept',
    async (place) => {
      await write(place, async (store, position) => {
        await store.append(['kept'], { expectedPosition: position });
        await expectConflict('append', store.append(['lost', 'too'], { expectedPosition: position }));
      });
      await expectHistory(place, { records: ['kept'] });
    },
  ),

  requirement(
    'append-repeat',
    'the same append again keeps its records once, also after a rejection, whichever part was kept',
    async (place) => {
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
    },
  ),

  requirement(
    'append-repeat-end',
    'the same append again is refused when other records came after it',
    async (place) => {
      await write(place, async (store, position) => {
        const second = await store.append([1], { expectedPosition: position });
        await store.append([2], { expectedPosition: second });
        await expectConflict('append', store.append([1], { expectedPosition: position }));
      });
      await expectHistory(place, { records: [1, 2] });
    },
  ),

  requirement('compact-replace', 'a state replaces all records', async (place) => {
    await append(place, [1, 2, 3]);
    await compact(place, { sum: 6 });
    await expectHistory(place, { state: { sum: 6 }, records: [] });
  }),

  requirement('compact-again', 'a state replaces the earlier state', async (place) => {
    await compact(place, { sum: 0 });
    await write(place, async (store, position) => {
      const second = await store.append([4], { expectedPosition: position });
      const third = await store.compact({ sum: 4 }, { expectedPosition: second });
      await store.compact({ sum: 4, again: true }, { expectedPosition: third });
    });
    await expectHistory(place, { state: { sum: 4, again: true }, records: [] });
  }),

  requirement('compact-append', 'records after a compaction are added to its state', async (place) => {
    await write(place, async (store, position) => {
      const second = await store.append([1, 2, 3], { expectedPosition: position });
      const third = await store.compact({ sum: 6 }, { expectedPosition: second });
      await store.append([4, 5], { expectedPosition: third });
    });
    await append(place, [6]);
    await expectHistory(place, { state: { sum: 6 }, records: [4, 5, 6] });
  }),

  requirement('compact-null', 'null is a state', async (place) => {
    await compact(place, null);
    await expectHistory(place, { state: null, records: [] });
  }),

  requirement('compact-position', 'a compaction makes all earlier positions invalid', async (place) => {
    await write(place, async (store, position) => {
      const second = await store.append([1], { expectedPosition: position });
      const third = await store.compact([1], { expectedPosition: second });
      if ([position, second].includes(third)) throw new Error(`compact gave the position ${third} again`);
      await expectConflict('append', store.append([2], { expectedPosition: second }));
    });
    await expectHistory(place, { state: [1], records: [] });
  }),

  requirement(
    'compact-conflict',
    'a state for another position is refused, and the content stays',
    async (place) => {
      await compact(place, { sum: 0 });
      await write(place, async (store, position) => {
        await store.append([1], { expectedPosition: position });
        await expectConflict('compact', store.compact({ sum: 9 }, { expectedPosition: position }));
      });
      await expectHistory(place, { state: { sum: 0 }, records: [1] });
    },
  ),

  requirement(
    'compact-repeat',
    'the same compaction again keeps its state, also after a rejection, whether the state was kept or not',
    async (place) => {
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
    },
  ),

  requirement('share-given', 'a later change of a given value does not change the content', async (place) => {
    const record = { list: [1] };
    const state = { list: [1] };
    await write(place, async (store, position) => {
      const next = await store.compact(state, { expectedPosition: position });
      state.list.push(2);
      await store.append([record], { expectedPosition: next });
      record.list.push(2);
    });
    await expectHistory(place, { state: { list: [1] }, records: [{ list: [1] }] });
  }),

  requirement('share-loaded', 'a change of a loaded value does not change the content', async (place) => {
    await compact(place, { list: [1] });
    await append(place, [{ list: [1] }]);
    const { state, records } = await historyIn(place);
    for (const loaded of [state, records[0]]) {
      const { list } = loaded as { list: number[] };
      if (!Object.isFrozen(list)) list.push(2);
    }
    await expectHistory(place, { state: { list: [1] }, records: [{ list: [1] }] });
  }),

  requirement(
    'dispose-twice',
    'a store can be disposed of twice, and before it was loaded',
    async (place) => {
      const unused = await place.open();
      await unused[Symbol.asyncDispose]();
      const store = await place.open();
      await store.load();
      await Promise.all([store[Symbol.asyncDispose](), store[Symbol.asyncDispose]()]);
      await store[Symbol.asyncDispose]();
      await append(place, [1]);
      await expectHistory(place, { records: [1] });
    },
  ),

  requirement('dispose-waits', 'disposal waits for the call in flight', async (place) => {
    const store = await place.open();
    const { position } = await store.load();
    const ends: string[] = [];
    const call = store.append([1], { expectedPosition: position }).finally(() => ends.push('append'));
    await store[Symbol.asyncDispose]().finally(() => ends.push('disposal'));
    await call;
    expectSame('the order in which calls end', ends, ['append', 'disposal']);
    await expectHistory(place, { records: [1] });
  }),

  requirement('dispose-ends', 'a store that was disposed of refuses calls', async (place) => {
    const store = await place.open();
    const { position } = await store.load();
    await store[Symbol.asyncDispose]();
    await expectRejection('append', store.append([1], { expectedPosition: position }));
    await expectRejection('compact', store.compact({}, { expectedPosition: position }));
    await expectHistory(place, { records: [] });
  }),
];

const ofSharing: readonly Requirement<SharedStorePlace>[] = [
  shared(
    'shared-append',
    'of two nodes that append at one position, one is refused, and can go on',
    async (position, ...stores) => {
      const calls = stores.map((store, node) =>
        store.append([{ node }, 'end'], { expectedPosition: position }),
      );
      const ends = await Promise.allSettled(calls);
      const winner = ends.findIndex(({ status }) => status === 'fulfilled');
      const loser = stores.findIndex((_store, node) => node !== winner);
      if (winner === -1)
        throw new Error('one of two appends at one position must resolve, but both rejected');
      await expectConflict('append', calls[loser] ?? Promise.resolve());
      const kept: Json[] = [{ node: winner }, 'end'];
      const { position: end } = await expectRead(stores, position, kept);
      await stores[loser]?.append([{ node: loser }], { expectedPosition: end });
      await expectRead(stores, position, [...kept, { node: loser }]);
    },
  ),

  shared(
    'shared-compact',
    'a node is refused at a position at which another node has compacted',
    async (position, one, other) => {
      const end = await one.compact({ sum: 0 }, { expectedPosition: position });
      await expectConflict('append', other.append([1], { expectedPosition: position }));
      await expectConflict('compact', other.compact({ sum: 1 }, { expectedPosition: position }));
      await other.append([2], { expectedPosition: end });
      await expectLoaded([one, other], { state: { sum: 0 }, records: [2] });
    },
  ),

  shared(
    'shared-load',
    'a store can be loaded again, and gives the content of all nodes',
    async (position, one, other) => {
      const second = await one.append([1, 2], { expectedPosition: position });
      await expectLoaded([one, other], { records: [1, 2] });
      const third = await other.compact({ sum: 3 }, { expectedPosition: second });
      const end = await one.append([4], { expectedPosition: third });
      await expectLoaded([one, other], { state: { sum: 3 }, records: [4] });
      for (const store of [one, other])
        expectSame('the position after load', (await store.load()).position, end);
    },
  ),

  shared(
    'shared-read',
    'read gives every node the records behind each earlier position, call by call',
    async (start, one, other) => {
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
    },
  ),

  shared('shared-read-json', 'every JSON value is read as it was appended', async (position, one, other) => {
    await one.append(values, { expectedPosition: position });
    await expectRead([one, other], position, values);
  }),

  shared('shared-read-many', 'read gives thousands of records', async (start, one, other) => {
    const records = Array.from({ length: 3000 }, (_none, index) => ({ index }));
    let position = start;
    for (let at = 0; at < records.length; at += 1000)
      position = await one.append(records.slice(at, at + 1000), { expectedPosition: position });
    await expectRead([one, other], start, records);
  }),

  shared(
    'shared-read-compact',
    'read goes on across a compaction from the position before it',
    async (start, one, other) => {
      const before = await one.append([1], { expectedPosition: start });
      const compacted = await one.compact({ sum: 1 }, { expectedPosition: before });
      for (const position of [before, compacted]) {
        const read = await expectRead([one, other], position, []);
        expectSame('the position behind a compaction', read.position, compacted);
      }
      await other.append([2], { expectedPosition: compacted });
      for (const position of [before, compacted]) await expectRead([one, other], position, [2]);
    },
  ),

  shared(
    'shared-read-behind',
    'from before a compaction, read gives all records, or gone',
    async (start, one, other) => {
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
    },
  ),

  requirement(
    'shared-read-foreign',
    'a position of other content is gone, and is no place for an append',
    async (place, createPlace) => {
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
    },
  ),

  requirement(
    'shared-backup',
    'what was given since a backup is gone when the backup is restored',
    async (place) => {
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
    },
  ),

  shared(
    'shared-repeat',
    'the same append again, while the first one is in flight, is kept once',
    async (position, one, other) => {
      const send = (): Promise<string> => one.append(['once', 'each'], { expectedPosition: position });
      const [first, second] = await Promise.all([send(), send()]);
      expectSame('the position that a repeated append gives', second, first);
      await expectRead([one, other], position, ['once', 'each']);
    },
  ),

  shared(
    'shared-repeat-behind',
    'the same append again, behind records of another node, is refused and kept once',
    async (position, one, other) => {
      const second = await one.append(['once'], { expectedPosition: position });
      await other.append(['behind'], { expectedPosition: second });
      await expectConflict('append', one.append(['once'], { expectedPosition: position }));
      await expectRead([one, other], position, ['once', 'behind']);
    },
  ),

  requirement(
    'shared-race',
    'a thousand racing appends of three nodes are kept once, and all nodes read them in one order',
    async (place) => {
      const stores = await Promise.all([place.open(), place.open(), place.open()]);
      try {
        const { position } = await stores[0].load();
        const share = (node: number): readonly Json[] =>
          Array.from({ length: Math.ceil((raced - node) / stores.length) }, (_none, number) => [
            node,
            number,
          ]);
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
    },
  ),

  shared(
    'shared-changed',
    'changed does not reject when another node appends',
    async (position, one, other) => {
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
    },
  ),

  shared('shared-changed-signal', 'changed ends with its signal', async (position, one) => {
    const stop = new AbortController();
    const [waiting, another] = [one.changed(position, stop.signal), one.changed(position, stop.signal)];
    stop.abort();
    await expectEnd('changed', Promise.all([waiting, another]));
    await expectEnd('changed with an aborted signal', one.changed(position, stop.signal));
  }),

  shared(
    'shared-announce',
    'an announcement replaces the one before, and null removes it',
    async (_position, one, other) => {
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
    },
  ),

  shared('shared-announce-apart', 'announcements do not change the content', async (position, one, other) => {
    const [end] = await Promise.all([
      one.append(['record'], { expectedPosition: position }),
      one.announce('one', 'while an append is in flight'),
      other.announce('other', 'too'),
    ]);
    const read = await expectRead([one, other], position, ['record']);
    expectSame('the position after announcements', read.position, end);
    await expectLoaded([one, other], { records: ['record'] });
  }),

  shared(
    'shared-dispose',
    'a store that was disposed of refuses calls, and the other nodes go on',
    async (position, one, other) => {
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
    },
  ),
];

/** A requirement for a place. */
function requirement<P>(id: string, name: string, check: Check<P>): Requirement<P> {
  return [id, name, check];
}

/** A requirement for two stores that nodes have open and loaded. */
function shared(id: string, name: string, check: TwoNodes): Requirement<SharedStorePlace> {
  return [id, name, (place) => withStores(place, check)];
}

type TwoNodes = (position: string, one: SharedStore, other: SharedStore) => Promise<void>;

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

/** Opens a store, runs a task on the store, and disposes of the store even if the task fails. */
async function write<S extends ConfigurationStore>(
  place: { open(): Promise<S> },
  task: (store: S, position: string) => Promise<unknown>,
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

type Content = Omit<StoredHistory, 'position'>;

async function expectHistory(place: StorePlace, expected: Content): Promise<void> {
  expectContent(await historyIn(place), expected);
}

async function expectLoaded(stores: readonly SharedStore[], expected: Content): Promise<void> {
  for (const store of stores) expectContent(await store.load(), expected);
}

function expectContent({ position: _position, ...found }: StoredHistory, expected: Content): void {
  expectSame('the loaded content', found, expected);
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

function all(announced: ReadonlyMap<string, Json>): Json {
  return Object.fromEntries(announced);
}

/** Opens two stores, as two nodes do, runs a task on them, and disposes of both even if the task fails. */
function withStores(place: SharedStorePlace, task: TwoNodes): Promise<void> {
  return write(place, (one, position) => write(place, (other) => task(position, one, other)));
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
