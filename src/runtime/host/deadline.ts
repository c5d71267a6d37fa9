/**
 * Deadlines: limits the time that the library waits for the host or the store.
 */
import type { Clock } from '../../ports/port.ts';
import { startAlarm, systemSleep } from '../../ports/system-clock.ts';

/** The deadline of one call. @internal */
export class Deadline {
  #isOver = false;
  #controller: AbortController | undefined;

  /**
   * Aborts when the deadline has passed. Made when it is first read, because most calls read no signal, and a signal takes
   * as long as a whole decision.
   */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#isOver) this.#controller.abort(passed());
    return this.#controller.signal;
  }

  /** The deadline has passed. */
  end(): void {
    this.#isOver = true;
    this.#controller?.abort(passed());
  }
}

function passed(): Error {
  return new Error('The deadline has passed');
}

/**
 * Waits for a call until a deadline. At the deadline the signal aborts; the call itself may still run.
 *
 * @param clock - measures the deadline
 * @param deadlineMs - the time to wait, in milliseconds
 * @param call - gets the deadline
 * @returns the result of the call, or `late`; rejects if the call rejects before the deadline
 * @internal
 */
export async function beforeDeadline<T>(
  clock: Clock,
  deadlineMs: number,
  call: (deadline: Deadline) => Promise<T>,
): Promise<T | 'late'> {
  const deadline = new Deadline();
  let cancel = (): void => undefined;
  // Started before the call, so that an answer at the very end is late.
  const late = new Promise<'late'>((resolve) => {
    cancel = startTimer(clock, deadlineMs, () => {
      deadline.end();
      resolve('late');
    });
  });
  try {
    return await Promise.race([call(deadline), late]);
  } finally {
    cancel();
  }
}

/** Calls a function once, when a time has passed. The result cancels the call. */
function startTimer(clock: Clock, milliseconds: number, end: () => void): () => void {
  // A signal to wake the sleep takes longer than all the rest of a short call.
  if (clock.sleep === systemSleep) return startAlarm(milliseconds, end);
  const answered = new AbortController();
  void clock.sleep(milliseconds, answered.signal).then(() => {
    if (!answered.signal.aborted) end();
  });
  // A string as the reason, because the default reason is an error, which records a stack each time.
  return () => {
    answered.abort('answered');
  };
}
