/**
 * A checker for Stryker that lets a random sample of the mutants through. Stryker can test only the mutants of a range
 * of lines, and a range that contains a block contains all mutants of the block. A checker sees every mutant by itself.
 *
 * Stryker hands all mutants to `group` at once, and one process does so as long as the concurrency is 2 at most.
 */

export const sampler = {
  name: 'sample',
  module: import.meta.url,
  leftOut: 'not in the sample',
};

class SampleChecker {
  static inject = ['options'];
  #seed;
  #size;
  #sample;

  constructor(options) {
    ({ seed: this.#seed, size: this.#size } = options[sampler.name]);
  }

  async init() {
    // Nothing to make ready.
  }

  group(mutants) {
    if (this.#sample !== undefined) throw new Error('The sample is drawn from all mutants at once.');
    const inOrder = mutants.toSorted((left, right) => (keyOf(left) < keyOf(right) ? -1 : 1));
    this.#sample = new Set(draw(inOrder, this.#size, this.#seed).map(({ id }) => id));
    return [mutants.map(({ id }) => id)];
  }

  async check(mutants) {
    return Object.fromEntries(
      mutants.map(({ id }) => [
        id,
        this.#sample.has(id) ? { status: 'passed' } : { status: 'compileError', reason: sampler.leftOut },
      ]),
    );
  }
}

/** Stryker counts the mutants in the order of the files on the disk. */
function keyOf({ fileName, location: { start, end }, mutatorName, replacement }) {
  return JSON.stringify([fileName, start, end, mutatorName, replacement]);
}

/** Takes items at random, each as likely as the others. The same seed takes the same items. */
function draw(items, size, seed) {
  const rest = [...items];
  const random = randomFrom(seed);
  return Array.from({ length: Math.min(size, rest.length) }, () => {
    const at = Math.floor(random() * rest.length);
    return rest.splice(at, 1)[0];
  });
}

/** The generator mulberry32: numbers from 0 up to 1. */
function randomFrom(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** What Stryker looks for in a module of plugins. */
export const strykerPlugins = [{ kind: 'Checker', name: sampler.name, injectableClass: SampleChecker }];

export const strykerValidationSchema = {
  properties: {
    [sampler.name]: {
      type: 'object',
      properties: { seed: { type: 'integer' }, size: { type: 'integer' } },
      required: ['seed', 'size'],
    },
  },
};
