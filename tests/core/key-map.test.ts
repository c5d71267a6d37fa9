import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';

import { KeyMap } from '../../src/core/key-map.ts';

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
      { numRuns: 50 },
    );
  });

  it('is the same map without a key that it does not have', () => {
    const map = KeyMap.of([['a', 1]]);
    expect(map.without('b')).toBe(map);
  });
});
