/**
 * Random numbers that a test can repeat: the same seed gives the same numbers on every machine.
 */

/**
 * A sequence of pseudo-random numbers, determined by a seed.
 *
 * @beta
 */
export interface Random {
  /** The next number: a multiple of 2^-32, at least 0 and less than 1. */
  next(this: void): number;
  /**
   * The next whole number: at least 0 and less than `count`.
   *
   * @throws RangeError if `count` is not a whole number from 1 to 2^32
   */
  below(this: void, count: number): number;
  /**
   * Picks an item of a list.
   *
   * @throws RangeError if the list is empty
   */
  pick<T>(this: void, list: readonly T[]): T;
  /** Gives `true` with this probability: never for 0, always for 1. */
  chance(this: void, probability: number): boolean;
}

/**
 * Creates a generator of pseudo-random numbers for tests. The numbers can be guessed: do not use them for secrets.
 *
 * @param seed - any safe integer; neighbouring seeds give unrelated numbers
 * @returns the generator, with its own state
 * @throws RangeError if the seed is not a safe integer
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
 * @beta
 */
export function createRandom(seed: number): Random {
  if (!Number.isSafeInteger(seed))
    throw new RangeError(`The seed must be a safe integer, not ${String(seed)}`);
  const next = sfc32(0, seed | 0, Math.floor(seed / 2 ** 32) | 0);
  const below = (count: number): number => {
    if (!Number.isInteger(count) || count < 1 || count > 2 ** 32)
      throw new RangeError(`count must be a whole number from 1 to 2^32, not ${String(count)}`);
    return Math.floor(next() * count);
  };
  return Object.freeze({
    next,
    below,
    // The index is within the list. The cast keeps lists whose items may be undefined.
    pick: <T>(list: readonly T[]): T => list[below(list.length)] as T,
    chance: (probability: number): boolean => next() < probability,
  });
}

/**
 * The generator "small fast counting" of Chris Doty-Humphrey, with 32-bit words. The generator is in the public domain.
 */
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
  // The words of the seed are mixed only after these rounds.
  for (let round = 0; round < 12; round += 1) next();
  return next;
}
