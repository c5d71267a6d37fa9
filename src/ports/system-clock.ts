/**
 * The system clock: the time of the machine, and its timers.
 */
import type { Clock, SleepOptions } from './port.ts';

/**
 * The clock of the machine. With `keepAlive: false`, a sleep does not keep the process alive, if the runtime supports
 * that.
 *
 * @example
 * ```ts
 * import { systemClock } from 'gateway-admin-core';
 *
 * const begin = systemClock.now();
 * await systemClock.sleep(60_000, AbortSignal.abort());
 * systemClock.now() - begin < 60_000; // => true
 * ```
 *
 * @public
 */
export const systemClock: Clock = Object.freeze({
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: systemSleep,
});

/** A timer with a longer delay would fire after one millisecond. */
const longestTimerMs = 2 ** 31 - 1;

/** The sleep of {@link systemClock}. @internal */
export function systemSleep(
  milliseconds: number,
  signal?: AbortSignal,
  { keepAlive = true }: SleepOptions = {},
): Promise<void> {
  if (milliseconds <= 0) return nextTurn();
  return new Promise((resolve) => {
    if (signal?.aborted === true) {
      resolve();
      return;
    }
    const wake = (): void => {
      stop();
      signal?.removeEventListener('abort', wake);
      resolve();
    };
    const stop = startAlarm(milliseconds, wake, keepAlive ? setTimeout : startIdleTimer);
    signal?.addEventListener('abort', wake);
  });
}

/**
 * Resolves in another turn of the event loop. A resolved promise would go on before the loop does other work, and a
 * timer of 0 milliseconds rings after one.
 *
 * @internal
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    const { setImmediate: begin = setTimeout } = globalThis as {
      readonly setImmediate?: (next: () => void) => unknown;
    };
    begin(resolve);
  });
}

/**
 * Calls a function once, when a time has passed.
 *
 * @param milliseconds - the time, of any length
 * @param end - the function
 * @param start - starts the timers
 * @returns cancels the call
 * @internal
 */
export function startAlarm(
  milliseconds: number,
  end: () => void,
  start: (callback: () => void, milliseconds: number) => Timer = setTimeout,
): () => void {
  const due = performance.now() + milliseconds;
  const rest = (): Timer => {
    const leftMs = Math.max(0, Math.ceil(due - performance.now()));
    return start(goOn, Math.min(leftMs, longestTimerMs));
  };
  // A timer counts from the beginning of its turn of the event loop, so it may fire some milliseconds early.
  const goOn = (): void => {
    if (performance.now() >= due) end();
    else timer = rest();
  };
  let timer = rest();
  return () => {
    clearTimeout(timer);
  };
}

type Timer = ReturnType<typeof setTimeout>;

/** Starts a timer that does not keep the process alive. */
function startIdleTimer(callback: () => void, milliseconds: number): Timer {
  const timer = setTimeout(callback, milliseconds);
  // A timer is a number in browsers, which have no process to keep alive, and an object in Node and similar runtimes.
  (timer as { unref?: () => void }).unref?.();
  return timer;
}
