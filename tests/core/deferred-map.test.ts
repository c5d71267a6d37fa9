import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';

import { DeferredMap } from '../../src/core/deferred-map.ts';
import { OrderedMap } from '../../src/core/ordered-map.ts';

/** A map of counts: a change is the difference, and a count of 0 removes the key. */
function counting(onMerge = (): void => undefined): DeferredMap<number, number> {
  return new DeferredMap(OrderedMap.empty<number>(), (before = 0, by: number) => {
    onMerge();
    return before + by || undefined;
  });
}

/** A copy of one of the maps so far, with some changes. */
interface Step {
  /** Which map is copied, counted from the last one. */
  readonly of: number;
  readonly changes: readonly (readonly [key: number, by: number])[];
  /** Whether the copied map is read before. */
  readonly isRead: boolean;
}

const step: fc.Arbitrary<Step> = fc.record({
  of: fc.oneof({ arbitrary: fc.constant(0), weight: 4 }, fc.nat(5)),
  changes: fc.array(fc.tuple(fc.nat(20), fc.constantFrom(1, 1, -1)), { maxLength: 40 }),
  isRead: fc.boolean(),
});

describe('a deferred map', () => {
  it('has the content that its changes give one by one, and so has every copy of before', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
        const made = [{ map: counting(), model: new Map<number, number>() }];
        for (const { of, changes, isRead } of steps) {
          const from = made[Math.max(made.length - 1 - of, 0)] ?? {
            map: counting(),
            model: new Map<number, number>(),
          };
          if (isRead) from.map.content.get(0);
          const map = from.map.copy();
          const model = new Map(from.model);
          for (const [key, by] of changes) {
            map.change(key, by);
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

  it('waits with 31 changes until somebody reads, and with 32 no longer', () => {
    let merged = 0;
    const map = counting(() => (merged += 1));
    const changes = (count: number): void => {
      for (let key = 0; key < count; key += 1) map.change(key, 1);
    };
    changes(31);
    expect(merged).toBe(0);
    expect([map.content.size, merged]).toEqual([31, 31]);
    changes(31);
    expect(merged).toBe(31);
    changes(1);
    expect(merged).toBe(63);
  });

  it('gives the same content until the next change', () => {
    const map = counting();
    map.change(7, 1);
    const { content } = map;
    expect(map.content).toBe(content);
    expect(map.copy().content).toBe(content);
    map.change(7, 1);
    expect([content.get(7), map.content.get(7)]).toEqual([1, 2]);
  });
});
