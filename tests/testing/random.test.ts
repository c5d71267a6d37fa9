import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { createRandom, type Random } from 'gateway-admin-core/testing';

const seeds = fc.oneof(fc.integer(), fc.maxSafeInteger());

function numbersOf({ next }: Random, count = 20): readonly number[] {
  return Array.from({ length: count }, next);
}

describe('random numbers from a seed', () => {
  it('are the same for the same seed, and for no other', () => {
    fc.assert(
      fc.property(seeds, seeds, (one, other) => {
        const same = numbersOf(createRandom(one)).every((number, at) => {
          return number === numbersOf(createRandom(other))[at];
        });
        expect(same).toBe(one === other);
      }),
    );
  });

  it('differ between seeds that differ in any of their 53 bits', () => {
    const bits = Array.from({ length: 53 }, (_none, bit) => 2 ** bit).filter(Number.isSafeInteger);
    const first = [0, ...bits, ...bits.map((seed) => -seed)].map((seed) => createRandom(seed).next());
    expect(new Set(first).size).toBe(first.length);
  });

  it('are the numbers of sfc32, with the seed as the second word, after twelve rounds', () => {
    expect(numbersOf(createRandom(1), 3).map((number) => number * 2 ** 32)).toEqual(referenceNumbers(1, 3));
  });

  it('are below the limit, and reach every number below it', () => {
    fc.assert(
      fc.property(seeds, fc.integer({ min: 1, max: 6 }), (seed, count) => {
        const { below } = createRandom(seed);
        const seen = new Set(Array.from({ length: 200 }, () => below(count)));
        expect([...seen].sort()).toEqual(Array.from({ length: count }, (_none, number) => number));
      }),
    );
  });

  it('are true as often as the probability says', () => {
    const { chance } = createRandom(3);
    const shares = [0, 0.1, 0.5, 1].map((probability) => {
      return Array.from({ length: 10_000 }, () => chance(probability)).filter(Boolean).length / 10_000;
    });
    expect(shares[0]).toBe(0);
    expect(Math.abs((shares[1] ?? 0) - 0.1)).toBeLessThan(0.02);
    expect(Math.abs((shares[2] ?? 0) - 0.5)).toBeLessThan(0.02);
    expect(shares[3]).toBe(1);
  });

  it('pick every item of a list', () => {
    const { pick } = createRandom(1);
    expect(new Set(Array.from({ length: 100 }, () => pick(['a', 'b', undefined])))).toEqual(
      new Set(['a', 'b', undefined]),
    );
  });

  it('need a safe integer as seed, a whole number as limit, and a list with items', () => {
    expect(() => createRandom(0.5)).toThrow(RangeError);
    expect(() => createRandom(NaN)).toThrow('The seed must be a safe integer, not NaN');
    for (const count of [0, -1, 1.5, 2 ** 33, NaN]) {
      expect(() => createRandom(0).below(count)).toThrow(RangeError);
    }
    expect(() => createRandom(0).pick([])).toThrow(RangeError);
  });
});

/** The generator written down another way, with big integers. */
function referenceNumbers(seed: number, count: number): readonly number[] {
  const word = (value: bigint): bigint => value & 0xffffffffn;
  let [a, b, c, counter] = [0n, BigInt(seed), 0n, 1n];
  const numbers = Array.from({ length: 12 + count }, () => {
    const result = word(a + b + counter);
    counter = word(counter + 1n);
    a = b ^ (b >> 9n);
    b = word(c + word(c << 3n));
    c = word((word(c << 21n) | (c >> 11n)) + result);
    return Number(result);
  });
  return numbers.slice(12);
}
