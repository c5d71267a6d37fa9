/**
 * Host deadlines: functions of the host that take their time, such as a log-in at another server, must answer in time.
 */
import type { Clock } from '../../ports/port.ts';
import { beforeDeadline } from './deadline.ts';
import { HostError } from './host-error.ts';

/** The functions with this deadline, each with the sentence that a client gets. */
const sentences = {
  'hasher.hash': 'The password was not hashed in time.',
  'hasher.verify': 'The password was not checked in time.',
  'sealer.seal': 'The secret was not sealed in time.',
  'sealer.open': 'The secret was not opened in time.',
  authenticate: 'The log-in was not checked in time.',
  principal: 'The log-in was not checked in time.',
} as const;

type TimedCall = keyof typeof sentences;

/** The error for a function of the host that has not answered in time. @internal */
export class LateAnswer extends HostError {
  /** What has happened, for the client. */
  readonly detail: string;

  /** @param instead - a sentence about the consequence */
  constructor(call: TimedCall, deadlineMs: number, instead = 'The request was answered with 503.') {
    super(`${call} did not answer within ${String(deadlineMs)} ms. ${instead}`, { call });
    this.detail = `${sentences[call]} Nothing was changed. Try again later.`;
  }
}

/** How long a function of the host may take. @internal */
export interface HostDeadline {
  readonly clock: Clock;
  readonly deadlineMs: number;
  /** Whether the function waits for work of the library, which has a deadline of its own. */
  readonly isWaiting?: () => boolean;
  /** A sentence about the consequence. */
  readonly instead?: string;
}

/**
 * Calls a function of the host.
 *
 * @throws LateAnswer if the function does not answer in time; the error of the function
 * @internal
 */
export async function answerInTime<T>(
  call: TimedCall,
  { clock, deadlineMs, isWaiting, instead }: HostDeadline,
  run: () => Promise<T>,
): Promise<T> {
  const answer = (async () => ({ value: await run() }))();
  for (;;) {
    const first = await beforeDeadline(clock, deadlineMs, () => answer);
    if (first !== 'late') return first.value;
    if (isWaiting?.() !== true) throw new LateAnswer(call, deadlineMs, instead);
  }
}
