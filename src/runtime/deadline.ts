/**
 * Deadlines: waiting for somebody else, but not for ever.
 */
import type { Clock } from '../ports/port.ts';

/**
 * Waits for a call until a deadline. The signal of the call aborts there; the call itself may go on.
 *
 * @param clock - measures the time
 * @param deadlineMs - how long to wait, in milliseconds
 * @param call - is given the signal
 * @returns what the call gives, or `late`; rejects as the call does
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
    // With a reason of its own, because the usual one records a stack each time.
    answered.abort('answered');
  }
}
