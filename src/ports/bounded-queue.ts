/**
 * A bounded queue: runs a few jobs at a time, lets a few more wait, and turns further jobs away at once.
 *
 * The queue limits the costly work behind a port, such as hashing passwords.
 */

/** The limits of a queue. @internal */
export interface QueueLimits {
  /** The largest number of jobs that run at the same time; at least 1. */
  readonly maxInFlight: number;
  /** The largest number of jobs that wait for their turn; 0 or more. */
  readonly maxQueued: number;
}

/**
 * Runs a job when its turn comes, in order of arrival. A job that arrives when the queue is full never runs.
 *
 * @param job - the work
 * @param whenFull - the result for a job that arrives when the queue is full; returned at once
 * @returns the result of the job; rejects if the job rejects
 * @internal
 */
export type BoundedQueue = <T, F>(job: () => Promise<T>, whenFull: F) => Promise<T | F>;

/**
 * Creates a queue.
 *
 * @param limits - the largest numbers of running and of waiting jobs
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
    // The longest waiting job takes over the place directly, so a new job cannot get the place first.
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
    `The option "${option}" must be a whole number from ${String(least)} on, not ${String(value)}`,
  );
}
