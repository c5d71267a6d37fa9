/**
 * Collections, and the immutable maps that hold them and the sessions. Their laws compare them with a Map over thousands
 * of changes; through a snapshot, a fault of a map would look like a fault of anything.
 */
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';

import { Batch } from '../../src/core/batch.ts';
import { IndexedCollection, type Entity } from '../../src/core/collection.ts';
import { nameKey } from '../../src/core/name.ts';
import { OrderedMap, type RangeEntry } from '../../src/core/ordered-map.ts';
import { DeferredMap } from '../../src/core/deferred-map.ts';
import { KeyMap } from '../../src/core/key-map.ts';

const entity = (name: string, revision = 0): Entity => Object.freeze({ name, key: nameKey(name), revision });

const names = fc.constantFrom('a', 'B', 'c d', 'C-D', '__proto__', 'constructor', 'length');
const changes = fc.array(fc.oneof(fc.record({ put: names }), fc.record({ drop: names })));

describe('a collection', () => {
  it('behaves as a list in which each key is once', () => {
    fc.assert(
      fc.property(changes, (list) => {
        let collection = IndexedCollection.of<Entity>([]);
        let model: Entity[] = [];
        for (const [revision, change] of list.entries()) {
          if ('put' in change) {
            const added = entity(change.put, revision + 1);
            const at = model.findIndex(({ key }) => key === added.key);
            model = at < 0 ? [...model, added] : model.toSpliced(at, 1, added);
            collection = collection.with(added);
          } else {
            const key = nameKey(change.drop);
            model = model.filter((each) => each.key !== key);
            collection = collection.without(key, revision + 1);
          }
        }
        expect([...collection]).toEqual(model);
        expect(collection.size).toBe(model.length);
        expect(collection.positionOf('gone')).toBeUndefined();
        for (const [position, each] of model.entries()) {
          expect(collection.positionOf(each.key)).toBe(position);
          expect(collection.find(each.key)).toBe(each);
          expect(collection.findByKey(each.key)).toBe(each);
          expect(collection.find(each.name.toUpperCase())).toBe(each);
          expect(collection.range(position, 1)).toEqual([each]);
        }
      }),
    );
  });

  it('never changes: what was taken from it stays as it was', () => {
    const one = IndexedCollection.of([entity('a'), entity('b')]);
    const two = one.with(entity('a', 5));
    const three = two.without('b', 6);
    expect([one.size, two.size, three.size]).toEqual([2, 2, 1]);
    expect(one.find('a')?.revision).toBe(0);
    expect(one.revision).toBe(0);
    expect([...one][1]).toBe([...two][1]);
    expect(Object.isFrozen(one) && Object.isFrozen(three)).toBe(true);
  });

  it('takes over the order of a collection with the same keys, and of no other one', () => {
    const one = IndexedCollection.of([entity('a', 1), entity('b', 2)]).with(entity('c', 3));
    const ordered = one.inOrderOf(IndexedCollection.of([entity('c'), entity('a'), entity('b')]), 9);
    expect(Array.from(ordered, ({ key, revision }) => [key, revision])).toEqual([
      ['c', 3],
      ['a', 1],
      ['b', 2],
    ]);
    expect([ordered.find('A')?.key, ordered.revision]).toEqual(['a', 9]);
    for (const other of [
      ['a', 'b', 'c'],
      ['b', 'a'],
      ['c', 'b', 'd'],
      ['d', 'c', 'b', 'a'],
    ])
      expect(one.inOrderOf(IndexedCollection.of(other.map((name) => entity(name))), 9)).toBe(one);
  });

  it('is its size, revision and entries in JSON', () => {
    const entries = [entity('a'), entity('b', 2)];
    expect(JSON.parse(JSON.stringify(IndexedCollection.of(entries)))).toEqual({
      size: 2,
      revision: 2,
      entries,
    });
  });

  it('refuses two entries with one key', () => {
    expect(() => IndexedCollection.of([entity('My Name'), entity('my-name')])).toThrow(RangeError);
  });

  it('gives itself when there is nothing to remove, and nothing by what is no name of it', () => {
    const one = IndexedCollection.of([entity('a')]);
    expect(one.without('b', 1)).toBe(one);
    const found = [one.find('b'), one.find('toString'), one.findByKey('toString'), one.findByKey('A')];
    expect([...found, one.range(1, 5)]).toEqual([undefined, undefined, undefined, undefined, []]);
  });

  it('does not change while a batch makes others', () => {
    const one = IndexedCollection.of([entity('a'), entity('b')]);
    const batch = new Batch();
    const two = one.with(entity('a', 3), batch).with(entity('b', 4), batch).with(entity('c', 2), batch);
    expect([...two].map(({ revision }) => revision)).toEqual([3, 4, 2]);
    expect(two.revision).toBe(4);
    expect(Object.isFrozen(two)).toBe(true);
    expect([...one].map(({ revision }) => revision)).toEqual([0, 0]);
  });

  it('has the revision of its latest change, removals included', () => {
    const one = IndexedCollection.of([entity('a')]).with(entity('b', 3));
    expect(one.revision).toBe(3);
    const two = one.without('b', 4);
    expect(two.revision).toBe(4);
    expect(two.with(entity('a', 1)).revision).toBe(4);
  });

  it('cuts beyond its ends', () => {
    const one = IndexedCollection.of([entity('a'), entity('b'), entity('c')]);
    expect(one.range(1, Infinity).map(({ name }) => name)).toEqual(['b', 'c']);
    expect(one.range(2, 9).map(({ name }) => name)).toEqual(['c']);
    expect(one.range(0, 0)).toEqual([]);
  });
});

type Model = ReadonlyMap<number, number>;

/** Many entries at once, so that the trees become several levels deep. */
interface Change {
  readonly kind: 'set' | 'delete';
  readonly start: number;
  readonly step: number;
  readonly count: number;
  /** The entries in this order: upwards, downwards, or every seventh first. */
  readonly order: 'up' | 'down' | 'mixed';
  readonly value: number;
  readonly batch: boolean;
}

const { MAX_SAFE_INTEGER: most, MIN_SAFE_INTEGER: least } = Number;
const extremes = [0, 1, most, most - 1, least, -1, 2 ** 31];
const counts = fc.oneof({ arbitrary: fc.nat(60), weight: 3 }, { arbitrary: fc.nat(1500), weight: 1 });
const mapChanges: fc.Arbitrary<Change> = fc.record({
  kind: fc.constantFrom('set', 'set', 'delete'),
  start: fc.oneof({ arbitrary: fc.nat(2000), weight: 5 }, fc.constantFrom(...extremes)),
  step: fc.constantFrom(1, 1, 2, 3, 7),
  count: counts,
  order: fc.constantFrom('up', 'down', 'mixed'),
  value: fc.nat(4),
  batch: fc.boolean(),
});
const histories = fc.array(mapChanges, { maxLength: 8 });
const offsets = fc.oneof(fc.nat(100), fc.nat(6000));
const lengths = fc.oneof(fc.nat(100), fc.nat(6000), fc.constant(Infinity));

function keysOf({ start, step, count, order }: Change): readonly number[] {
  const keys = Array.from({ length: count }, (_, index) => start + index * step).filter(Number.isSafeInteger);
  if (order === 'down') return keys.toReversed();
  return order === 'up' ? keys : keys.toSorted((a, b) => (a % 7) - (b % 7));
}

/**
 * Fails when a map that was filled in the order of its keys has too many nodes or too wide ones. A node has 9 to 24
 * items; only the last node of a level may have fewer. A root that is no leaf has at least two.
 */
function expectCompact({ size, nodeCounts }: OrderedMap<number>): void {
  const itemCounts = [...nodeCounts.slice(1), size];
  const wrong = nodeCounts.filter((nodes, level) => {
    const items = itemCounts[level] ?? 0;
    return nodes < items / 24 || nodes > items / 9 + 1;
  });
  expect({ size, nodeCounts, wrong }).toEqual({ size, nodeCounts, wrong: [] });
  expect(nodeCounts[0]).toBe(1);
  expect(nodeCounts[1] ?? 2).toBeGreaterThanOrEqual(2);
}

/** Applies a change to the map and to the model of it. */
function apply(map: OrderedMap<number>, model: Model, change: Change): [OrderedMap<number>, Model] {
  const owner = change.batch ? {} : undefined;
  const after = new Map(model);
  let next = map;
  for (const key of keysOf(change)) {
    if (change.kind === 'set') after.set(key, change.value);
    else after.delete(key);
    next = change.kind === 'set' ? next.set(key, change.value, owner) : next.delete(key, owner);
  }
  return [next, after];
}

function sorted(model: Model): readonly (readonly [number, number])[] {
  return [...model].sort(([a], [b]) => a - b);
}

/** The range by the definition: unit of weight by unit of weight. */
function naiveRange(
  model: Model,
  weigh: (value: number) => number,
  offset: number,
  length: number,
): RangeEntry<number>[] {
  let before = 0;
  return sorted(model).flatMap(([key, value]) => {
    const start = Math.max(offset - before, 0);
    const end = Math.min(offset + length - before, weigh(value));
    before += weigh(value);
    return end > start ? [{ key, value, start, end }] : [];
  });
}

/** The entry that covers a place in the order of weights. */
function entryAt<V extends NonNullable<unknown>>(
  map: OrderedMap<V>,
  place: number,
): readonly [number, V] | undefined {
  const [entry] = map.range(place, 1);
  return entry && [entry.key, entry.value];
}

function total(model: Model, weigh: (value: number) => number): number {
  return [...model.values()].reduce((sum, value) => sum + weigh(value), 0);
}

const weighers = [
  ['that weighs each entry 1', undefined, () => 1],
  ['that weighs its entries, some of them nothing', (value: number) => value, (value: number) => value],
] as const;

describe.each(weighers)('an ordered map %s', (_what, weigher, weigh) => {
  /** Every map of a history with the model of it. */
  function play(history: readonly Change[]): readonly (readonly [OrderedMap<number>, Model])[] {
    const steps: [OrderedMap<number>, Model][] = [[OrderedMap.empty(weigher), new Map()]];
    for (const change of history) {
      const [map, model] = steps.at(-1) as [OrderedMap<number>, Model];
      steps.push(apply(map, model, change));
    }
    return steps;
  }

  it('has the entries of a Map, sorted, and still has them when newer maps have changed', () => {
    fc.assert(
      fc.property(histories, offsets, lengths, fc.nat(2000), (history, offset, length, key) => {
        for (const [map, model] of play(history)) {
          const entries = sorted(model);
          // As text, because it is compared in a fraction of the time.
          expect([...map].join(' ')).toBe(entries.join(' '));
          expect([map.size, map.weight]).toEqual([model.size, total(model, weigh)]);
          const keys = entries.slice(offset, offset + length).map(([each]) => each);
          expect(map.keysAt(offset, length).join(' ')).toBe(keys.join(' '));
          const value = model.get(key);
          expect(value === undefined ? map.delete(key) : map.set(key, value)).toBe(map);
          expect(map.update(key, (before) => before, {})).toBe(map);
        }
      }),
    );
  });

  it('finds what a Map finds, and gives any range as the definition has it', () => {
    fc.assert(
      fc.property(histories, fc.array(fc.nat(4000)), offsets, lengths, (history, others, offset, length) => {
        const [map, model] = play(history).at(-1) as [OrderedMap<number>, Model];
        const keys = [...model.keys(), ...others, ...extremes, 0.5, NaN, Infinity, -Infinity];
        expect(keys.map((key) => map.get(key))).toEqual(keys.map((key) => model.get(key)));
        const expected = naiveRange(model, weigh, offset, length);
        expect(map.range(offset, length)).toEqual(expected);
        expect(map.keys(offset, length)).toEqual(expected.map(({ key }) => key));
        expect(map.values(offset, length)).toEqual(expected.map(({ value }) => value));
      }),
    );
  });

  it('equals a map with the same entries, whatever was there before', () => {
    fc.assert(
      fc.property(histories, (history) => {
        const [map, model] = play(history).at(-1) as [OrderedMap<number>, Model];
        expect(map).toEqual(OrderedMap.from(model));
        expect(map.set(-7, 9)).not.toEqual(map);
        expect(map.set(-7, 9)).not.toEqual(map.set(-7, 8));
      }),
      { numRuns: 30 },
    );
  });
});

describe('an ordered map', () => {
  it('can be emptied in any order and filled again', () => {
    const all = Array.from({ length: 1200 }, (_, key) => key);
    fc.assert(
      fc.property(fc.shuffledSubarray(all), fc.boolean(), (keys, batch) => {
        const owner = batch ? {} : undefined;
        const full = OrderedMap.from(keys.map((key) => [key, key]));
        let map = full;
        const left = keys.map((key) => {
          map = map.delete(key, owner);
          return [map.size, entryAt(map, 0) === undefined];
        });
        expect(left).toEqual(keys.map((_key, at) => [keys.length - at - 1, at === keys.length - 1]));
        expect([...map, ...map.keys(0, Infinity)]).toEqual([]);
        for (const key of keys) map = map.set(key, key, owner);
        expect(map).toEqual(full);
      }),
      { numRuns: 10 },
    );
  });

  describe.each(['up', 'down', 'mixed'] as const)('whose entries are deleted in the order %j', (order) => {
    it.each([2, 7, 50])(
      'has no more nodes than it needs, with one entry in %i left and with none',
      (step) => {
        for (const batch of [true, false]) {
          const owner = batch ? {} : undefined;
          const keys = keysOf({ kind: 'delete', start: 0, step: 1, count: 3000, order, value: 0, batch });
          let map = OrderedMap.from(keys.toSorted((a, b) => a - b).map((key) => [key, key]));
          // Filled at its end, a map has full nodes.
          expect(map.nodeCounts).toEqual([1, 6, 125]);
          for (const key of keys) {
            if (key % step !== 0) map = map.delete(key, owner);
            if (key % 100 === 0) expectCompact(map);
          }
          expectCompact(map);
          for (const key of keys) map = map.delete(key, owner);
          expect(map.nodeCounts).toEqual([1]);
        }
      },
    );
  });

  it('reads no other entry to delete one, as long as each node has nine', () => {
    let weighed = 0;
    let map = OrderedMap.empty<number>(() => {
      weighed += 1;
      return 1;
    });
    const keys = Array.from({ length: 3000 }, (_none, key) => key);
    const owner = {};
    for (const key of keys) map = map.set(key, key, owner);
    // Filled at its end, a map has 24 entries in each node. Nine of them stay.
    const gone = keys.filter((key) => key % 24 >= 9);
    weighed = 0;
    for (const key of gone) map = map.delete(key);
    expect([map.size, weighed]).toEqual([keys.length - gone.length, gone.length]);
  });

  it('has no node that is too wide when every second node was joined with a full one', () => {
    const keys = Array.from({ length: 3000 }, (_none, key) => key);
    let map = OrderedMap.from(keys.map((key) => [key, key]));
    for (const key of keys) if (key % 48 >= 32) map = map.delete(key);
    expectCompact(map);
  });

  it.each([false, true])('stays compact when keys descend below a higher one (in one batch: %s)', (batch) => {
    const owner = batch ? {} : undefined;
    let map = OrderedMap.from(Array.from({ length: 24 }, (_none, key) => [key, key]));
    for (let key = 5000; key >= 24; key -= 1) map = map.set(key, key, owner);
    expectCompact(map);
    expect(map.size).toBe(5001);
  });

  it('grows and shrinks at its end', () => {
    const sizes = fc.oneof(fc.nat(70), fc.integer({ min: 990, max: 1130 }));
    fc.assert(
      fc.property(fc.array(sizes, { minLength: 1, maxLength: 6 }), fc.boolean(), (targets, batch) => {
        const owner = batch ? {} : undefined;
        let map = OrderedMap.empty<number>();
        for (const target of targets) {
          while (map.size < target) map = map.set(map.size, map.size, owner);
          while (map.size > target) map = map.delete(map.size - 1, owner);
          const keys = Array.from({ length: target }, (_, key) => key);
          expect(map.keys(0, Infinity)).toEqual(keys);
          expect(keys.filter((key) => map.get(key) !== key)).toEqual([]);
        }
      }),
      { numRuns: 50 },
    );
  });

  it('shrinks where a branch has a single node, which was filled at its end', () => {
    // One more than a full tree of two levels: the last branch has one node, with one entry.
    for (const levels of [2, 3]) {
      const size = 24 ** levels + 1;
      let map = OrderedMap.empty<number>();
      for (let key = 0; key < size; key += 1) map = map.set(key, key);
      for (let key = size - 1; key >= size - 60; key -= 1) {
        map = map.delete(key);
        expect([map.size, map.get(key), map.get(key - 1)]).toEqual([key, undefined, key - 1]);
      }
    }
  });

  it('keeps the maps of before a batch, and those of one without a token', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(300), fc.nat(9)), { maxLength: 400 }), (writes) => {
        const before = OrderedMap.from(Array.from({ length: 100 }, (_, key) => [key * 3, -1]));
        const owner = {};
        let inBatch = before;
        let single = before;
        const published: [OrderedMap<number>, [number, number][]][] = [];
        for (const [key, value] of writes) {
          inBatch = value === 0 ? inBatch.delete(key, owner) : inBatch.set(key, value, owner);
          single = value === 0 ? single.delete(key) : single.set(key, value);
          published.push([single, [...single]]);
        }
        expect(inBatch).toEqual(single);
        expect([...before]).toEqual(Array.from({ length: 100 }, (_, key) => [key * 3, -1]));
        for (const [map, entries] of published) expect([...map]).toEqual(entries);
      }),
      { numRuns: 30 },
    );
  });

  it('gives the values that an earlier map does not have', () => {
    fc.assert(
      fc.property(histories, histories, fc.boolean(), (first, later, isSame) => {
        let [before, model] = [OrderedMap.empty<number>(), new Map() as Model];
        for (const change of first) [before, model] = apply(before, model, change);
        // Of one origin, or by chance with some equal entries.
        let [after, next] = isSame ? [before, model] : [OrderedMap.empty<number>(), new Map() as Model];
        for (const change of later) [after, next] = apply(after, next, change);
        const changed = sorted(next).filter(([key, value]) => model.get(key) !== value);
        expect(after.valuesSince(before)).toEqual(changed.map(([, value]) => value));
        expect(after.valuesSince(after)).toEqual([]);
      }),
      { numRuns: 100 },
    );
  });

  it('finds what has changed without a look at the other entries', () => {
    const entries = Array.from({ length: 100_000 }, (_, key): [number, string] => [key, 'as before']);
    const map = OrderedMap.from(entries);
    const next = map.set(70_000, 'other').set(200_000, 'new').delete(3);
    const keys: number[] = [];
    const get = (key: number): string | undefined => {
      keys.push(key);
      return OrderedMap.prototype.get.call(map, key) as string | undefined;
    };
    expect(next.valuesSince(Object.assign(map, { get }))).toEqual(['other', 'new']);
    // At most the keys of the leaves with a key more or less.
    expect(keys.length).toBeLessThan(2 * 24);
  });

  it('gives arrays that are the caller’s own', () => {
    const map = OrderedMap.from([1, 2].map((key) => [key, key]));
    map.keys(0, 2).reverse();
    map.values(0, 2).pop();
    expect([...map]).toEqual([1, 2].map((key) => [key, key]));
  });

  it('follows a value that becomes heavier or lighter, and takes an entry away when its value is undefined', () => {
    const map = OrderedMap.empty((word: string) => word.length)
      .set(1, 'one')
      .set(2, 'two');
    expect([map.set(1, 'eleven').weight, map.weight]).toEqual([9, 6]);
    const lighter = map.update(1, (word = '') => word.slice(1));
    expect([entryAt(lighter, 2), lighter.weight]).toEqual([[2, 'two'], 5]);
    expect(map.update(1, () => undefined).size).toBe(1);
    expect(map.update(3, () => undefined)).toBe(map);
  });

  it.each([0.5, NaN, Infinity, 2 ** 53])('refuses the key %p', (key) => {
    expect(() => OrderedMap.from([[key, 'a']])).toThrow(RangeError);
  });
});

/** A map of counts: a change is the difference, and a count of 0 removes the key. */
function counting(onMerge = (): void => undefined, changes = 0): DeferredMap<number, number> {
  const merge = (before = 0, by: number): number | undefined => {
    onMerge();
    return before + by || undefined;
  };
  return new DeferredMap(OrderedMap.empty<number>(), merge, changes);
}

/** A copy of one of the maps so far, with some changes. */
interface Step {
  /** Which map is copied, counted from the last one. */
  readonly of: number;
  readonly changes: readonly (readonly [key: number, by: number])[];
  /** Whether the copied map is read before. */
  readonly isRead: boolean;
  /** Whether the changes are a batch, which may change its own nodes in place. */
  readonly isBatch: boolean;
}

const step: fc.Arbitrary<Step> = fc.record({
  of: fc.oneof({ arbitrary: fc.constant(0), weight: 4 }, fc.nat(5)),
  changes: fc.array(fc.tuple(fc.nat(20), fc.constantFrom(1, 1, -1)), { maxLength: 80 }),
  isRead: fc.boolean(),
  isBatch: fc.boolean(),
});

describe('a deferred map', () => {
  it('has the content that its changes give one by one, and so has every copy of before', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
        const made = [{ map: counting(), model: new Map<number, number>() }];
        for (const { of, changes, isRead, isBatch } of steps) {
          const from = made[Math.max(made.length - 1 - of, 0)] ?? {
            map: counting(),
            model: new Map<number, number>(),
          };
          if (isRead) from.map.content.get(0);
          const map = from.map.copy();
          const model = new Map(from.model);
          const owner = isBatch ? {} : undefined;
          for (const [key, by] of changes) {
            map.change(key, by, owner);
            model.set(key, (model.get(key) ?? 0) + by);
          }
          made.push({ map, model });
        }
        for (const { map, model } of made) {
          const expected = [...model].filter(([, count]) => count !== 0).toSorted(([a], [b]) => a - b);
          expect([...map.content]).toEqual(expected);
        }
      }),
    );
  });

  it('lets its changes wait until somebody reads, and none any longer at every 32nd change', () => {
    let merged = 0;
    const map = counting(() => (merged += 1));
    const change = (times: number): void => {
      for (let key = 0; key < times; key += 1) map.change(key, 1, undefined);
    };
    change(31);
    expect(merged).toBe(0);
    expect([map.content.size, merged]).toEqual([31, 31]);
    change(1);
    expect(merged).toBe(32);
    change(31);
    expect(merged).toBe(32);
    change(1);
    expect(merged).toBe(64);
  });

  it('begins to count where it is told, also in a copy', () => {
    let merged = 0;
    const map = counting(() => (merged += 1), 30).copy();
    map.change(1, 1, undefined);
    expect(merged).toBe(0);
    const copy = map.copy();
    copy.change(2, 1, undefined);
    expect(merged).toBe(2);
  });

  it('gives the same content until the next change', () => {
    const map = counting();
    map.change(7, 1, undefined);
    const { content } = map;
    expect(map.content).toBe(content);
    expect(map.copy().content).toBe(content);
    map.change(7, 1, undefined);
    expect([content.get(7), map.content.get(7)]).toEqual([1, 2]);
  });
});

describe('a map of keys', () => {
  it('behaves as a map, and never changes', () => {
    const key = fc.constantFrom(...Array.from({ length: 300 }, (_, at) => `key ${String(at)}`));
    const change = fc.oneof(
      fc.record({ key, value: fc.nat() }),
      fc.record({ key, value: fc.constant(undefined) }),
    );
    fc.assert(
      fc.property(fc.array(change, { maxLength: 600, size: 'max' }), (changes) => {
        const model = new Map([['first', 0]]);
        const beginning = KeyMap.of(model);
        let map = beginning;
        for (const { key: each, value } of changes) {
          model.delete(each);
          if (value !== undefined) model.set(each, value);
          map = value === undefined ? map.without(each) : map.with(each, value);
        }
        expect(new Map(map)).toEqual(model);
        expect([...map].length).toBe(model.size);
        for (const { key: each } of changes)
          expect([map.get(each), map.has(each)]).toEqual([model.get(each), model.has(each)]);
        expect([...beginning]).toEqual([['first', 0]]);
      }),
      { numRuns: 25 },
    );
  });

  it('is the same map without a key that it does not have', () => {
    const map = KeyMap.of([['a', 1]]);
    expect(map.without('b')).toBe(map);
  });
});
