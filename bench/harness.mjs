/**
 * Measures pieces of work side by side: in one process, by turns in alternating order, by the CPU time of the process
 * (garbage collection and compiler threads included). Ratios are what counts; machines are noisy.
 */

/** The last result, so that no work can be left out as useless. */
let kept;

/**
 * Measures cases by turns.
 *
 * @param {Record<string, () => unknown>} cases - what to measure, by name; each call is one piece of work, and a promise
 *   is waited for
 * @param {{ rounds?: number, roundMs?: number, warmMs?: number, count?: number, warmRounds?: number }} [options] -
 *   `count`: the calls of a round, for work that is too slow or too large to be calibrated. `warmRounds`: further rounds
 *   before, which warm the code
 * @returns {Promise<Record<string, number[]>>} microseconds of CPU time for one call, by name and round
 */
export async function measure(cases, { rounds = 7, roundMs = 40, warmMs = 800, count, warmRounds = 1 } = {}) {
  const names = Object.keys(cases);
  const counts = {};
  for (const name of names) {
    counts[name] = count ?? (await calibrate(cases[name], roundMs, warmMs));
    if (count !== undefined) await timeOf(cases[name], count * warmRounds);
  }
  const times = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const name of round % 2 === 0 ? names : names.toReversed())
      times[name].push(await timeOf(cases[name], counts[name]));
  }
  return times;
}

/** How many calls fill a round, found on warm code. */
async function calibrate(work, roundMs, warmMs) {
  const start = process.cpuUsage();
  // By CPU time: on a busy machine, wall time says little about how often the code has run.
  while (elapsedUs(start) < warmMs * 1000) kept = await work();
  let count = 1;
  for (;;) {
    const perCall = await timeOf(work, count);
    if (perCall * count >= roundMs * 1000) return count;
    count = Math.max(count * 2, Math.min(count * 16, Math.ceil((roundMs * 1100) / Math.max(perCall, 0.001))));
  }
}

/** Microseconds of CPU time for one call. */
async function timeOf(work, count) {
  const start = process.cpuUsage();
  kept = work();
  if (kept instanceof Promise) {
    await kept;
    for (let call = 1; call < count; call += 1) kept = await work();
  } else for (let call = 1; call < count; call += 1) kept = work();
  return elapsedUs(start) / count;
}

function elapsedUs(start) {
  const { user, system } = process.cpuUsage(start);
  return user + system;
}

/**
 * Measures what one of many costs, for several numbers by turns. The work changes its world, so each sample has new ones,
 * and only the work is measured. Of smaller worlds, a sample has more, so that all samples have the same number of things.
 * A first round warms the code.
 *
 * @param {number[]} sizes - how many there are in a world
 * @param {{ open: (size: number) => unknown, work: (world: any, size: number) => unknown, close: (world: any) => unknown }}
 *   steps - opens a world, does the work, closes the world
 * @param {{ rounds?: number }} [options]
 * @returns {Promise<Record<number, number[]>>} microseconds of CPU time for one, by size and round
 */
export async function measureGrowth(sizes, { open, work, close }, { rounds = 5 } = {}) {
  const costs = Object.fromEntries(sizes.map((size) => [size, []]));
  const largest = Math.max(...sizes);
  for (let round = 0; round <= rounds; round += 1) {
    for (const size of round % 2 === 0 ? sizes : sizes.toReversed()) {
      const worlds = [];
      for (let count = 0; count < largest; count += size) worlds.push(await open(size));
      collectGarbage();
      const start = process.cpuUsage();
      for (const world of worlds) kept = await work(world, size);
      if (round > 0) costs[size].push(elapsedUs(start) / (worlds.length * size));
      for (const world of worlds) await close(world);
    }
  }
  return costs;
}

/** The milliseconds of CPU time that a piece of work takes. */
export async function cpuMs(work) {
  return (await timeOf(work, 1)) / 1000;
}

/**
 * Starts to measure a piece of work on the main thread. Gives a function that gives its milliseconds: the wall time or the CPU
 * time of the process, whichever is less. The one has what else the machine does, the other one the other threads.
 */
export function startTurn() {
  const [wall, cpu] = [performance.now(), process.cpuUsage()];
  return () => Math.min(performance.now() - wall, elapsedUs(cpu) / 1000);
}

/** The ratio of two cases, round by round: how many times as long the first one takes. */
export function ratios(times, name, to) {
  return times[name].map((time, round) => time / times[to][round]);
}

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}

/** Frees what is no longer used, so that the next measurement does not pay for it. */
export function collectGarbage() {
  for (let time = 0; time < 3; time += 1) globalThis.gc?.();
}

/** The bytes of the heap that `make` fills with something that stays. */
export function heapOf(make) {
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  const made = make();
  collectGarbage();
  const bytes = process.memoryUsage().heapUsed - before;
  kept = made;
  return bytes;
}

/** Freezes plain data to any depth. */
export function deepFreeze(value) {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const member of Object.values(value)) deepFreeze(member);
  return Object.freeze(value);
}

/**
 * A row of the targets while it is measured. A figure has its samples and its target; the median decides.
 */
export class Row {
  figures = [];
  notes = [];

  /** The samples must be at least the target. */
  atLeast(name, target, samples, unit = '×') {
    this.#add(name, 'at least', target, samples, unit);
  }

  /** The samples must be at most the target. */
  atMost(name, target, samples, unit = '×') {
    this.#add(name, 'at most', target, samples, unit);
  }

  /** A figure without a target. */
  report(name, samples, unit = '×') {
    this.#add(name, 'reported', null, samples, unit);
  }

  /** A remark, such as why a part of the row is left out. */
  note(text) {
    this.notes.push(text);
  }

  #add(name, rule, target, given, unit) {
    const samples = [given].flat();
    const [least, middle, most] = [Math.min(...samples), median(samples), Math.max(...samples)];
    this.figures.push({ name, rule, target, unit, least, median: middle, most });
  }
}
