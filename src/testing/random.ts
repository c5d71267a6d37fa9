/**
 * Chance that can be repeated: the same seed, the same numbers, on every machine.
 */

/**
 * Numbers that look random and follow from a seed.
 *
 * @public
 */
export interface Random {
  /** The next number: at least 0 and less than 1, in steps of 2^-32. */
  next(this: void): number;
  /**
   * A whole number: at least 0 and less than `count`.
   *
   * @throws RangeError when `count` is not a whole number from 1 to 2^32
   */
  below(this: void, count: number): number;
  /**
   * One of the items of a list.
   *
   * @throws RangeError when the list is empty
   */
  pick<T>(this: void, list: readonly T[]): T;
  /** Whether something happens that has this probability: 0 never does, 1 always. */
  chance(this: void, probability: number): boolean;
}

/**
 * Creates a source of numbers that follow from a seed. Good enough for tests, and for nothing that must not be guessed.
 *
 * @param seed - any safe integer; neighbours give numbers that have nothing to do with each other
 * @returns the source; each has a state of its own
 * @throws RangeError when the seed is not a safe integer
 *
 * @example
 * ```ts
 * import { createRandom } from 'gateway-admin-core/testing';
 *
 * const [one, same] = [createRandom(7), createRandom(7)];
 * one.below(1000) === same.below(1000); // => true
 * one.pick(['heads', 'tails']) === same.pick(['heads', 'tails']); // => true
 * one.chance(0); // => false
 * ```
 *
 * @public
 */
export function createRandom(seed: number): Random {
  if (!Number.isSafeInteger(seed)) throw new RangeError(`A seed is a safe integer, not ${String(seed)}`);
  const next = sfc32(0, seed | 0, Math.floor(seed / 2 ** 32) | 0);
  const below = (count: number): number => {
    if (!Number.isInteger(count) || count < 1 || count > 2 ** 32)
      throw new RangeError(`A count is a whole number from 1 to 2^32, not ${String(count)}`);
    return Math.floor(next() * count);
  };
  return Object.freeze({
    next,
    below,
    // The place is within the list, whose items may be undefined.
    pick: <T>(list: readonly T[]): T => list[below(list.length)] as T,
    chance: (probability: number): boolean => next() < probability,
  });
}

/** Chris Doty-Humphrey's "small fast counting" generator with 32-bit words, which is in the public domain. */
function sfc32(a: number, b: number, c: number): () => number {
  let [x, y, z, counter] = [a, b, c, 1];
  const next = (): number => {
    const sum = (x + y + counter) | 0;
    counter = (counter + 1) | 0;
    x = y ^ (y >>> 9);
    y = (z + (z << 3)) | 0;
    z = (((z << 21) | (z >>> 11)) + sum) | 0;
    return (sum >>> 0) / 2 ** 32;
  };
  // Until then the words are not mixed.
  for (let round = 0; round < 12; round += 1) next();
  return next;
}
