/**
 * A clock on which time passes only when it is told to.
 */
import type { Clock } from '../index.ts';

/**
 * A clock that stands still until a test moves it.
 *
 * A test awaits each move before it makes the next one. Between two wake-ups the code under test runs until it is at
 * rest: until it has left the clock alone for a number of turns. `VirtualClockOptions` says what a turn is.
 *
 * @public
 */
export interface VirtualClock extends Clock {
  /** How many milliseconds the clock has gone on in all. */
  monotonic(this: void): number;
  /** The number of sleeps that have not ended. */
  readonly sleeping: number;
  /** Lets the code under test run until it is at rest. Time does not go on. */
  settle(this: void): Promise<void>;
  /**
   * Goes on by so many milliseconds. Sleeps that are due on the way end in the order in which they are due.
   *
   * @throws RangeError when the time is not finite or less than 0
   */
  advance(this: void, milliseconds: number): Promise<void>;
  /** Goes on to the moment at which the next sleep is due, and ends that sleep. `false` when there is none. */
  next(this: void): Promise<boolean>;
  /**
   * Goes on from one sleep to the next until none is left.
   *
   * @param limitMs - how many milliseconds the clock may go on at most; one hour when left out
   * @returns whether none is left; `false` when a sleep is due after the limit
   */
  runUntilIdle(this: void, limitMs?: number): Promise<boolean>;
  /**
   * Goes on from one sleep to the next until a promise settles.
   *
   * @param promise - the promise to wait for
   * @param limitMs - how many milliseconds the clock may go on at most; one hour when left out
   * @returns the value of the promise, or its rejection
   * @throws Error when the promise is still pending and no sleep is due within the limit
   */
  waitFor<T>(this: void, promise: Promise<T>, limitMs?: number): Promise<T>;
  /** Sets the time of day, in milliseconds since 1970-01-01T00:00:00Z. No sleep becomes shorter or longer. */
  jumpTo(this: void, time: number): void;
}

/**
 * How a virtual clock tells that the code under test is at rest.
 *
 * @public
 */
export interface VirtualClockOptions {
  /**
   * What one turn is. `promises`, the default, is one turn of the promise jobs: it is fast, and the same seed gives the
   * same run. The clock then waits for nothing but promises: use ports that answer without files, sockets, WebCrypto and
   * timers of the system.
   *
   * `event-loop` is one turn of the event loop: what files, sockets and WebCrypto answer within these turns is waited
   * for, and a sleep of no time ends with the next turn. Await what may take longer before you move the clock.
   */
  readonly turn?: 'promises' | 'event-loop';
  /** For how many turns the code under test has to leave the clock alone to be at rest; 64 when left out. */
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
const ended = Promise.resolve();

/** Taken when the module loads: test frameworks replace timers later. Browsers have no `setImmediate`. */
const { setImmediate: startImmediate = (wake: () => void): unknown => setTimeout(wake) } = globalThis as {
  readonly setImmediate?: (wake: () => void) => unknown;
};

/** What one turn is, by the option. */
const turnOf = {
  promises: (): Promise<void> => ended,
  'event-loop': (): Promise<void> => new Promise((resolve) => startImmediate(resolve)),
} as const;

/**
 * Creates a clock that stands still until it is moved.
 *
 * A sleep of no time ends by itself. A sleep whose signal aborts ends at once. Sleeps that are due at the same moment
 * end in the order in which they began.
 *
 * @param start - the time of day to begin with, in milliseconds since 1970-01-01T00:00:00Z; the year 2000 when left out
 * @param options - when the code under test is at rest; see `VirtualClockOptions`
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
  options: VirtualClockOptions = {},
): VirtualClock {
  const line = new Timeline(start, options);
  const goOn = async (end: number, goesOn: () => boolean = () => true): Promise<void> => {
    await line.settle();
    while (goesOn() && (await line.wakeFirst(end)));
  };
  return {
    now: () => line.now(),
    monotonic: () => line.monotonic(),
    sleep: (milliseconds, signal) => line.sleep(milliseconds, signal),
    get sleeping() {
      return line.sleepers.length;
    },
    settle: () => line.settle(),
    async advance(milliseconds) {
      assertDuration(milliseconds);
      const end = line.elapsed + milliseconds;
      await goOn(end);
      line.elapsed = end;
    },
    async next() {
      await line.settle();
      return line.wakeFirst(Number.MAX_VALUE);
    },
    async runUntilIdle(limitMs = oneHourMs) {
      await goOn(line.elapsed + limitMs);
      return line.sleepers.length === 0;
    },
    async waitFor(promise, limitMs = oneHourMs) {
      const wait = { isOver: false };
      const end = (): void => void (wait.isOver = true);
      promise.then(end, end);
      await goOn(line.elapsed + limitMs, () => !wait.isOver);
      if (!wait.isOver) throw new Error('The promise is pending, and no sleeper is due in time');
      return promise;
    },
    jumpTo: (time) => line.jumpTo(time),
  };
}

/** The time that has gone by, and those who sleep. */
class Timeline {
  elapsed = 0;
  readonly sleepers: Sleeper[] = [];
  #offset: number;
  #uses = 0;
  readonly #turn: () => Promise<void>;
  readonly #turns: number;

  constructor(start: number, { turn = 'promises', turns = usualTurns }: VirtualClockOptions) {
    this.#offset = start;
    this.#turn = turnOf[turn];
    this.#turns = turns;
  }

  now(): number {
    this.#uses += 1;
    return Math.floor(this.#offset + this.elapsed);
  }

  monotonic(): number {
    this.#uses += 1;
    return this.elapsed;
  }

  sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    this.#uses += 1;
    if (signal?.aborted === true) return ended;
    return milliseconds > 0 ? fallAsleep(this.sleepers, this.elapsed + milliseconds, signal) : this.#turn();
  }

  jumpTo(time: number): void {
    this.#offset = time - this.elapsed;
  }

  async wakeFirst(end: number): Promise<boolean> {
    const [first] = this.sleepers;
    if (first === undefined || first.due > end) return false;
    this.elapsed = Math.max(this.elapsed, first.due);
    first.wake();
    await this.settle();
    return true;
  }

  /** Waits until so many turns have gone by without a use of the clock. */
  async settle(): Promise<void> {
    let seen = this.#uses;
    let quiet = 0;
    for (let turn = 0; quiet < this.#turns; turn += 1) {
      if (turn >= mostTurns) throw new Error('The clock is used again and again without time going on');
      await this.#turn();
      quiet = this.#uses === seen ? quiet + 1 : 0;
      seen = this.#uses;
    }
  }
}

function assertDuration(milliseconds: number): void {
  if (!Number.isFinite(milliseconds) || milliseconds < 0)
    throw new RangeError(`Time cannot go on by ${String(milliseconds)} ms`);
}

/** Adds a sleeper at its place: the sleepers are in the order in which they are due. */
function fallAsleep(sleepers: Sleeper[], due: number, signal?: AbortSignal): Promise<void> {
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
