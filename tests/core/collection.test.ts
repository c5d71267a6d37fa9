/**
 * Collections, on toys: a law needs more entries and changes than a gateway has in a test.
 */
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';

import { Batch } from '../../src/core/batch.ts';
import { IndexedCollection, type Entity } from '../../src/core/collection.ts';
import { latest, initialVersion } from '../../src/core/version.ts';
import { nameKey } from '../../src/core/name.ts';

const entity = (name: string, revision = 0): Entity =>
  Object.freeze({ name, key: nameKey(name), version: { command: revision, live: revision } });

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
            collection = collection.without(key, { command: revision + 1, live: revision + 1 });
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
    const three = two.without('b', { command: 6, live: 6 });
    expect([one.size, two.size, three.size]).toEqual([2, 2, 1]);
    expect(one.find('a')?.version.command).toBe(0);
    expect(one.version).toEqual(initialVersion);
    expect([...one][1]).toBe([...two][1]);
    expect(Object.isFrozen(one) && Object.isFrozen(three)).toBe(true);
  });

  it('takes over the order of a collection with the same keys, and of no other one', () => {
    const one = IndexedCollection.of([entity('a', 1), entity('b', 2)]).with(entity('c', 3));
    const ordered = one.inOrderOf(IndexedCollection.of([entity('c'), entity('a'), entity('b')]));
    expect(Array.from(ordered, ({ key, version }) => [key, version.command])).toEqual([
      ['c', 3],
      ['a', 1],
      ['b', 2],
    ]);
    expect([ordered.find('A')?.key, ordered.version]).toEqual(['a', one.version]);
    for (const other of [
      ['a', 'b', 'c'],
      ['b', 'a'],
      ['c', 'b', 'd'],
      ['d', 'c', 'b', 'a'],
    ])
      expect(one.inOrderOf(IndexedCollection.of(other.map((name) => entity(name))))).toBe(one);
  });

  it('is its size, version and entries in JSON', () => {
    const entries = [entity('a'), entity('b', 2)];
    expect(JSON.parse(JSON.stringify(IndexedCollection.of(entries)))).toEqual({
      size: 2,
      version: { command: 2, live: 2 },
      entries,
    });
  });

  it('refuses two entries with one key', () => {
    expect(() => IndexedCollection.of([entity('My Name'), entity('my-name')])).toThrow(RangeError);
  });

  it('gives itself when there is nothing to remove', () => {
    const one = IndexedCollection.of([entity('a')]);
    expect(one.without('b', { command: 1, live: 1 })).toBe(one);
  });

  it('is the same object with the same versions, and otherwise shares all entries but the revised ones', () => {
    const one = IndexedCollection.of([entity('a'), entity('b'), entity('c')]);
    const version = { command: 5, live: 9 };
    const revise = (revised: readonly string[], whole = one.version): IndexedCollection<Entity> =>
      one.revised(
        (each) => (revised.includes(each.key) ? version : each.version),
        () => whole,
      );
    fc.assert(
      fc.property(fc.subarray(['a', 'b', 'c']), fc.constantFrom(one.version, version), (revised, whole) => {
        const two = revise(revised, whole);
        expect(two === one).toBe(revised.length === 0 && whole === one.version);
        expect(two.version).toEqual(revised.length > 0 ? version : whole);
        for (const each of one) {
          const expected = revised.includes(each.key) ? { ...each, version } : each;
          expect(two.find(each.name)).toEqual(expected);
          expect(two.find(each.name) === each).toBe(expected === each);
        }
      }),
    );
    expect(Object.isFrozen(revise(['b']).find('b'))).toBe(true);
    expect([...one].map((each) => each.version)).toEqual([initialVersion, initialVersion, initialVersion]);
  });

  it('does not change while a batch makes others', () => {
    const one = IndexedCollection.of([entity('a'), entity('b')]);
    const batch = new Batch();
    const two = one.with(entity('a', 3), batch).with(entity('b', 4), batch).with(entity('c', 2), batch);
    expect([...two].map(({ version }) => version.live)).toEqual([3, 4, 2]);
    expect(two.version.live).toBe(4);
    expect(Object.isFrozen(two)).toBe(true);
    expect([...one].map(({ version }) => version.live)).toEqual([0, 0]);
  });

  it('has the version of its latest change, removals included', () => {
    const one = IndexedCollection.of([entity('a')]).with(entity('b', 3));
    expect(one.version).toEqual({ command: 3, live: 3 });
    const two = one.without('b', { command: 4, live: 4 });
    expect(two.version).toEqual({ command: 4, live: 4 });
    expect(IndexedCollection.of([...two], new Set(), two.version).with(entity('a', 1)).version).toEqual({
      command: 4,
      live: 4,
    });
  });

  it('finds nothing by what is no name of it', () => {
    const one = IndexedCollection.of([entity('a')]);
    expect([one.find('b'), one.find('toString'), one.findByKey('toString')]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect([one.findByKey('A'), one.range(1, 5)]).toEqual([undefined, []]);
  });

  it('cuts beyond its ends', () => {
    const one = IndexedCollection.of([entity('a'), entity('b'), entity('c')]);
    expect(one.range(1, Infinity).map(({ name }) => name)).toEqual(['b', 'c']);
    expect(one.range(2, 9).map(({ name }) => name)).toEqual(['c']);
    expect(one.range(0, 0)).toEqual([]);
  });
});

describe('latest', () => {
  it('takes the later of each part', () => {
    expect(latest({ command: 1, live: 5 }, { command: 2, live: 4 })).toEqual({ command: 2, live: 5 });
  });
});
