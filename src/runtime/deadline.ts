/**
 * Deadlines: limits the time that the library waits for the host or the store.
 */
import type { Clock } from '../ports/port.ts';

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
  const answered = new AbortController();
  // Asleep before the call, so that an answer at the very end is late.
  const late = clock.sleep(deadlineMs, answered.signal).then(() => {
    if (!answered.signal.aborted) deadline.end();
    return 'late' as const;
  });
  try {
    return await Promise.race([call(deadline), late]);
  } finally {
    // A string as the reason, because the default reason is an error, which records a stack each time.
    answered.abort('answered');
  }
}
