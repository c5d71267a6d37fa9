import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';

import { DeferredMap } from '../../src/core/deferred-map.ts';
import { OrderedMap } from '../../src/core/ordered-map.ts';

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
