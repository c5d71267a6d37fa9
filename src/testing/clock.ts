/**
 * A clock on which time passes only when it is told to.
 */
import type { Clock } from '../index.ts';

/**
 * A clock that stands still until it is moved.
 *
 * Whoever moves it must wait for the move to end. Between two wake-ups everything runs that is ready to: the promise
 * jobs, until the clock has not been used for a number of turns. What waits for something else than promises and this
 * clock is not waited for: timers of the system, files, sockets, WebCrypto. Give the code under test ports that answer
 * without these.
 *
 * @public
 */
export interface VirtualClock extends Clock {
  /** How many milliseconds it has gone on in all. */
  monotonic(this: void): number;
  /** How many sleep. */
  readonly sleeping: number;
  /**
   * Goes on by so many milliseconds, and wakes on the way whoever is due, in the order in which they are.
   *
   * @throws RangeError when the time is not finite or less than 0
   */
  advance(this: void, milliseconds: number): Promise<void>;
  /** Goes on to the moment at which the next sleeper is due, and wakes it. `false` when there is none. */
  next(this: void): Promise<boolean>;
  /**
   * Goes on from sleeper to sleeper until none is left.
   *
   * @param limitMs - how many milliseconds it may go on at most; one hour when left out
   * @returns whether none is left; `false` when someone still sleeps at the limit
   */
  runUntilIdle(this: void, limitMs?: number): Promise<boolean>;
  /**
   * Goes on from sleeper to sleeper until a promise settles.
   *
   * @param promise - what to wait for
   * @param limitMs - how many milliseconds it may go on at most; one hour when left out
   * @returns what the promise gives; it rejects as the promise does
   * @throws Error when the promise is still pending and nobody sleeps who is due within the limit
   */
  waitFor<T>(this: void, promise: Promise<T>, limitMs?: number): Promise<T>;
  /** Sets the time of day, in milliseconds since 1970-01-01T00:00:00Z. Who sleeps does not notice. */
  jumpTo(this: void, time: number): void;
}

/**
 * What differs from the defaults.
 *
 * @public
 */
export interface VirtualClockOptions {
  /** For how many turns of the promise jobs the clock must be left alone until all is taken to be at rest. Default 64. */
  readonly turns?: number;
}

interface Sleeper {
  readonly due: number;
  readonly wake: () => void;
}

const usualStart = Date.UTC(2000, 0, 1);
const oneHourMs = 3_600_000;
const usualTurns = 64;
const mostTurns = 1_000_000;

/** Shared: a promise of its own for each turn takes several times as long. */
const oneTurn = Promise.resolve();

/**
 * Creates a clock that stands still until it is moved.
 *
 * A sleep of no time ends by itself. So does one whose signal aborts, at once. Sleepers that are due at the same moment
 * are woken in the order in which they went to sleep.
 *
 * @param start - the time of day to begin with, in milliseconds since 1970-01-01T00:00:00Z; the year 2000 when left out
 * @param options - what differs from the defaults
 * @returns the clock; its `monotonic` begins at 0
 *
 * @example
 * ```ts
 * import { createVirtualClock } from 'gateway-admin-core/testing';
 *
 * const clock = createVirtualClock(0);
 * const woken: number[] = [];
 * for (const duration of [300, 100, 200]) clock.sleep(duration).then(() => woken.push(clock.now()));
 * await clock.advance(250);
 * woken; // => [100, 200]
 * await clock.waitFor(clock.sleep(40).then(() => 'rested')); // => 'rested'
 * await clock.runUntilIdle(); // => true
 * clock.now(); // => 300
 * ```
 *
 * @public
 */
export function createVirtualClock(
  start: number = usualStart,
  { turns = usualTurns }: VirtualClockOptions = {},
): VirtualClock {
  const sleepers: Sleeper[] = [];
  let offset = start;
  let elapsed = 0;
  let uses = 0;

  const rest = (): Promise<void> => untilUnused(turns, () => uses);
  const wakeFirst = async (end: number): Promise<boolean> => {
    const [first] = sleepers;
    if (first === undefined || first.due > end) return false;
    elapsed = Math.max(elapsed, first.due);
    first.wake();
    await rest();
    return true;
  };
  const goOn = async (end: number, goesOn: () => boolean = () => true): Promise<void> => {
    await rest();
    while (goesOn() && (await wakeFirst(end)));
  };
  return {
    now: () => use(() => Math.floor(offset + elapsed)),
    monotonic: () => use(() => elapsed),
    sleep: (milliseconds, signal) => use(() => fallAsleep(sleepers, elapsed + milliseconds, elapsed, signal)),
    get sleeping() {
      return sleepers.length;
    },
    async advance(milliseconds) {
      assertDuration(milliseconds);
      const end = elapsed + milliseconds;
      await goOn(end);
      elapsed = end;
    },
    async next() {
      await rest();
      return wakeFirst(Number.MAX_VALUE);
    },
    async runUntilIdle(limitMs = oneHourMs) {
      await goOn(elapsed + limitMs);
      return sleepers.length === 0;
    },
    async waitFor(promise, limitMs = oneHourMs) {
      const wait = { isOver: false };
      const end = (): void => void (wait.isOver = true);
      promise.then(end, end);
      await goOn(elapsed + limitMs, () => !wait.isOver);
      if (!wait.isOver) throw new Error('The promise is pending, and no sleeper is due in time');
      return promise;
    },
    jumpTo(time) {
      offset = time - elapsed;
    },
  };

  function use<T>(answer: () => T): T {
    uses += 1;
    return answer();
  }
}

function assertDuration(milliseconds: number): void {
  if (!Number.isFinite(milliseconds) || milliseconds < 0)
    throw new RangeError(`Time cannot go on by ${String(milliseconds)} ms`);
}

/** Waits until so many turns of the promise jobs have gone by without a use of the clock. */
async function untilUnused(turns: number, uses: () => number): Promise<void> {
  let seen = uses();
  let quiet = 0;
  for (let turn = 0; quiet < turns; turn += 1) {
    if (turn >= mostTurns) throw new Error('The clock is used again and again without time going on');
    await oneTurn;
    quiet = uses() === seen ? quiet + 1 : 0;
    seen = uses();
  }
}

/** Adds a sleeper at its place: the sleepers are in the order in which they are due. */
function fallAsleep(sleepers: Sleeper[], due: number, now: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted === true || !(due > now)) return Promise.resolve();
  return new Promise((resolve) => {
    const wake = (): void => {
      sleepers.splice(sleepers.indexOf(sleeper), 1);
      signal?.removeEventListener('abort', wake);
      resolve();
    };
    const sleeper = { due, wake };
    sleepers.splice(sleepers.findLastIndex((each) => each.due <= due) + 1, 0, sleeper);
    signal?.addEventListener('abort', wake);
  });
}
