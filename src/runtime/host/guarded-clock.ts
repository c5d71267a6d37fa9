/**
 * The guarded clock: the clock of the host, with answers that the library can use. A wrong answer goes to `onError` once
 * for each function, because the library reads the clock several times for each command.
 */
import type { Clock } from '../../ports/port.ts';
import { systemClock, systemSleep } from '../../ports/system-clock.ts';
import { answerText, callFailed, HostError, isThenable, wrongAnswer } from './host-error.ts';

/** The times that a gateway document can contain: years have four digits. */
const earliest = Date.parse('0000-01-01T00:00:00Z');
const latest = Date.parse('9999-12-31T23:59:59.999Z');

/**
 * Guards a clock.
 *
 * - If `now` fails or gives no number, the last time counts, or the system clock before there is one. A time that a
 *   document cannot contain is moved into the years 0 to 9999, because it would make the journal unreadable.
 * - If `sleep` fails or gives no promise, the system clock sleeps.
 * - If `monotonic` is left out, `now` counts. If it fails or gives no number, its last answer counts.
 *
 * @internal
 */
export function guardClock(clock: Clock, onError: (error: unknown) => void): Required<Clock> {
  const tellOnce = onceEach(onError);
  let last: number | undefined;
  const now = (): number => {
    const time = timeOf(clock, tellOnce);
    if (time === undefined) return last ?? systemClock.now();
    last = Math.min(Math.max(Math.trunc(time), earliest), latest);
    return last;
  };
  const guardedSleep: Clock['sleep'] = (...how) => {
    const failed = (cause: unknown): Promise<void> => {
      tellOnce(callFailed('clock.sleep', cause, sleepsInstead));
      return systemClock.sleep(...how);
    };
    try {
      const sleeping: unknown = clock.sleep(...how);
      if (isThenable(sleeping)) return Promise.resolve(sleeping).then(() => undefined, failed);
      tellOnce(wrongAnswer('clock.sleep', sleeping, 'a promise', sleepsInstead));
      return systemClock.sleep(...how);
    } catch (error) {
      return failed(error);
    }
  };
  let lastMonotonic = 0;
  const monotonic = (): number => {
    if (clock.monotonic === undefined) return now();
    try {
      const time: unknown = clock.monotonic();
      if (Number.isFinite(time)) return (lastMonotonic = time as number);
      tellOnce(wrongAnswer('clock.monotonic', time, 'milliseconds', instead));
    } catch (cause) {
      tellOnce(callFailed('clock.monotonic', cause, instead));
    }
    return lastMonotonic;
  };
  // The sleep of the system clock never fails, and deadlines without a signal are cheaper with it.
  const sleep = clock === systemClock ? systemSleep : guardedSleep;
  return { now, sleep, monotonic };
}

const instead = 'The last known time is used in its place.';

const sleepsInstead = 'The system clock sleeps in its place.';

function timeOf(clock: Clock, tellOnce: (error: HostError) => void): number | undefined {
  try {
    const time: unknown = clock.now();
    if (typeof time === 'number' && time >= earliest && time <= latest) return time;
    const message = `clock.now answered ${answerText(time)} instead of milliseconds since 1970 in the years 0 to 9999.`;
    tellOnce(new HostError(message, { call: 'clock.now' }));
    return Number.isFinite(time) ? (time as number) : undefined;
  } catch (cause) {
    tellOnce(callFailed('clock.now', cause, instead));
    return undefined;
  }
}

/**
 * Tells the first error of each function of the host, for functions that are called too often to tell every error.
 *
 * @internal
 */
export function onceEach(onError: (error: unknown) => void): (error: HostError) => void {
  const told = new Set<string>();
  return (error) => {
    if (told.has(error.call)) return;
    told.add(error.call);
    onError(error);
  };
}
