/**
 * Deadlines: limits the time that the library waits for the host or the store.
 */
import type { Clock } from '../ports/port.ts';

/**
 * Waits for a call until a deadline. At the deadline the signal aborts; the call itself may still run.
 *
 * @param clock - measures the deadline
 * @param deadlineMs - the time to wait, in milliseconds
 * @param call - gets the signal
 * @returns the result of the call, or `late`; rejects if the call rejects before the deadline
 * @internal
 */
export async function beforeDeadline<T>(
  clock: Clock,
  deadlineMs: number,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T | 'late'> {
  const deadline = new AbortController();
  const answered = new AbortController();
  const late = clock.sleep(deadlineMs, answered.signal).then(() => {
    if (!answered.signal.aborted) deadline.abort(new Error('The deadline has passed'));
    return 'late' as const;
  });
  try {
    return await Promise.race([call(deadline.signal), late]);
  } finally {
    // A string as the reason, because the default reason is an error, which records a stack each time.
    answered.abort('answered');
  }
}
