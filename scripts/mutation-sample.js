/**
 * A checker for Stryker that lets a random sample of the mutants through. Stryker can test only the mutants of a range
 * of lines, and a range that contains a block contains all mutants of the block. A checker sees every mutant by itself.
 *
 * Stryker hands all mutants to `group` at once, and one process does so as long as the concurrency is 2 at most.
 */

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

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
    const ranked = ranksOf(mutants, this.#seed).sort(([left], [right]) => (left < right ? -1 : 1));
    this.#sample = new Set(ranked.slice(0, this.#size).map(([, id]) => id));
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

/**
 * Gives each mutant a rank that rests on the seed and on what the mutant changes. So a seed takes the same mutants on every
 * machine, and before and after a change elsewhere. What stands twice in a file is told apart by its order.
 */
function ranksOf(mutants, seed) {
  const texts = new Map();
  const times = new Map();
  const inOrder = mutants.toSorted((left, right) => comparePlaces(left.location.start, right.location.start));
  return inOrder.map(({ id, fileName, location, mutatorName, replacement }) => {
    if (!texts.has(fileName)) texts.set(fileName, readFileSync(fileName, 'utf8').split('\n'));
    const before = textAt(texts.get(fileName), location);
    const key = JSON.stringify([relative('', fileName), mutatorName, before, replacement]);
    const time = times.get(key) ?? 0;
    times.set(key, time + 1);
    return [createHash('sha256').update(`${seed} ${time} ${key}`).digest('hex'), id];
  });
}

function comparePlaces(left, right) {
  return left.line - right.line || left.column - right.column;
}

/** The text of a place. Lines and columns count from 0. */
function textAt(lines, { start, end }) {
  const taken = lines.slice(start.line, end.line + 1);
  taken[taken.length - 1] = taken[taken.length - 1].slice(0, end.column);
  taken[0] = taken[0].slice(start.column);
  return taken.join('\n');
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
