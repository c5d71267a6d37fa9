/**
 * A bounded queue: a few jobs at a time, a few more that wait, the rest sent away at once.
 *
 * It bounds the costly work behind a port, such as the hashing of passwords.
 */

/** How much a queue takes. @internal */
export interface QueueLimits {
  /** How many jobs run at the same time, at least 1. */
  readonly maxInFlight: number;
  /** How many jobs wait for their turn, 0 or more. */
  readonly maxQueued: number;
}

/**
 * Runs a job in its turn: first come, first served. A job for which there is no place never runs.
 *
 * @param job - the work
 * @param whenFull - the answer for a job without a place, which is given at once
 * @returns what the job gives; it rejects as the job does
 * @internal
 */
export type BoundedQueue = <T, F>(job: () => Promise<T>, whenFull: F) => Promise<T | F>;

/**
 * Creates a queue.
 *
 * @param limits - how many jobs run and how many wait
 * @throws RangeError when a limit is not a whole number in its range
 * @internal
 */
export function createBoundedQueue({ maxInFlight, maxQueued }: QueueLimits): BoundedQueue {
  assertCount('maxInFlight', maxInFlight, 1);
  assertCount('maxQueued', maxQueued, 0);
  const turns: (() => void)[] = [];
  let running = 0;
  const leave = (): void => {
    const next = turns.shift();
    // The job that waits longest takes the place over, which is never free in between.
    if (next === undefined) running -= 1;
    else next();
  };
  return async (job, whenFull) => {
    if (running < maxInFlight) running += 1;
    else if (turns.length < maxQueued) await new Promise<void>((resolve) => turns.push(resolve));
    else return whenFull;
    try {
      return await job();
    } finally {
      leave();
    }
  };
}

function assertCount(option: string, value: number, least: number): void {
  if (Number.isSafeInteger(value) && value >= least) return;
  throw new RangeError(
    `The option "${option}" is a whole number from ${String(least)} up, not ${String(value)}`,
  );
}
