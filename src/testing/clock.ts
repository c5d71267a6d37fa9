/**
 * A clock for tests: the time passes only when a test moves the clock.
 */
import { assertMembers } from '../core/member.ts';
import type { Clock } from '../index.ts';

/**
 * A clock that stands still until a test moves the clock.
 *
 * Await each move before the next move. Between two wake-ups, the clock waits until the code under test is idle: until
 * the code has not used the clock for a number of turns. `VirtualClockOptions` defines a turn.
 *
 * @beta
 */
export interface VirtualClock extends Clock {
  /** The number of milliseconds that have passed since the clock was created. */
  monotonic(this: void): number;
  /** The number of sleeps in progress. */
  readonly sleeping: number;
  /** Waits until the code under test is idle. No time passes. */
  settle(this: void): Promise<void>;
  /**
   * Moves the clock forward. The sleeps that end in that time end in the order of their due times.
   *
   * @throws RangeError if the number of milliseconds is not finite or less than 0
   */
  advance(this: void, milliseconds: number): Promise<void>;
  /** Moves the clock to the end of the next sleep, and ends that sleep. Resolves to `false` if nothing sleeps. */
  next(this: void): Promise<boolean>;
  /**
   * Moves the clock from one sleep to the next until no sleep is left.
   *
   * @param limitMs - the most milliseconds that the clock moves; one hour if left out
   * @returns `true` if no sleep is left, `false` if a sleep is due after the limit
   */
  runUntilIdle(this: void, limitMs?: number): Promise<boolean>;
  /**
   * Moves the clock from one sleep to the next until a promise settles.
   *
   * @param promise - the promise to wait for
   * @param limitMs - the most milliseconds that the clock moves; one hour if left out
   * @returns the value of the promise; rejects if the promise rejects
   * @throws Error if the promise is still pending and no sleep is due within the limit
   */
  waitFor<T>(this: void, promise: Promise<T>, limitMs?: number): Promise<T>;
  /** Sets the time of day, in milliseconds since 1970-01-01T00:00:00Z. No sleep becomes shorter or longer. */
  jumpTo(this: void, time: number): void;
}

/**
 * How a virtual clock finds out that the code under test is idle.
 *
 * @beta
 */
export interface VirtualClockOptions {
  /**
   * The length of one turn. `promises`, the default, is one turn of the promise jobs. Such a turn is fast, and the same
   * seed gives the same run. The clock then waits for promises alone: use ports without files, sockets, WebCrypto and
   * system timers.
   *
   * `event-loop` is one turn of the event loop. The clock then also waits for files, sockets and WebCrypto that answer
   * within these turns. A sleep of 0 ms ends with the next turn. Await slower calls before you move the clock.
   */
  readonly turn?: 'promises' | 'event-loop';
  /** The number of turns without a use of the clock after which the code under test is idle; 64 if left out. */
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

/** Shared by all turns: a new promise for each turn takes several times as long. */
const ended = Promise.resolve();

/** Read when the module loads, because test frameworks replace timers later. Browsers have no `setImmediate`. */
const { setImmediate: startImmediate = (wake: () => void): unknown => setTimeout(wake) } = globalThis as {
  readonly setImmediate?: (wake: () => void) => unknown;
};

/** Waits for one turn, for each value of the option `turn`. */
const turnOf = {
  promises: (): Promise<void> => ended,
  'event-loop': (): Promise<void> => new Promise((resolve) => startImmediate(resolve)),
} as const;

/**
 * Creates a clock that stands still until a test moves the clock.
 *
 * A sleep of 0 ms ends without a move. A sleep whose signal aborts ends at once. Sleeps with the same due time end in
 * the order of their beginning.
 *
 * @param start - the initial time, in milliseconds since 1970-01-01T00:00:00Z; the year 2000 if left out
 * @param options - when the code under test is idle; see `VirtualClockOptions`
 * @returns the clock; `monotonic` begins at 0
 * @throws TypeError for an unknown option
 * @throws RangeError if `start`, `turn` or `turns` is out of range
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
 * @beta
 */
export function createVirtualClock(
  start: number = usualStart,
  options: VirtualClockOptions = {},
): VirtualClock {
  if (!Number.isFinite(start)) throw new RangeError('start must be a number of milliseconds since 1970');
  assertMembers(options, ['turn', 'turns'], 'option of createVirtualClock');
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
      if (!wait.isOver) throw new Error('The promise is still pending, and no sleep is due within the limit');
      return promise;
    },
    jumpTo: (time) => line.jumpTo(time),
  };
}

/** The time that has passed, and the sleeps in progress. */
class Timeline {
  elapsed = 0;
  readonly sleepers: Sleeper[] = [];
  #offset: number;
  #uses = 0;
  readonly #turn: () => Promise<void>;
  readonly #turns: number;

  constructor(start: number, { turn = 'promises', turns = usualTurns }: VirtualClockOptions) {
    if (!Object.hasOwn(turnOf, turn))
      throw new RangeError(`turn must be one of ${Object.keys(turnOf).join(', ')}`);
    if (!Number.isSafeInteger(turns) || turns < 1)
      throw new RangeError('turns must be a whole number from 1 on');
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

  /** Waits until `#turns` turns in a row have passed without a use of the clock. */
  async settle(): Promise<void> {
    let seen = this.#uses;
    let quiet = 0;
    for (let turn = 0; quiet < this.#turns; turn += 1) {
      if (turn >= mostTurns)
        throw new Error('The code under test uses the clock without end, although no time passes');
      await this.#turn();
      quiet = this.#uses === seen ? quiet + 1 : 0;
      seen = this.#uses;
    }
  }
}

function assertDuration(milliseconds: number): void {
  if (!Number.isFinite(milliseconds) || milliseconds < 0)
    throw new RangeError(`The clock moves by 0 ms or more, not by ${String(milliseconds)} ms`);
}

/** Adds a sleep. The list stays in the order of the due times. */
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
