/**
 * Waiting for a state: asks again whenever an event comes, until the caller accepts the answer.
 */
import type { Client, RequestOptions } from './client.ts';
import type { Answer } from './message.ts';
import { assertTime, longestTimerMs, onAbort, wait } from './send.ts';

/**
 * The options of `waitFor`.
 *
 * @public
 */
export interface WaitOptions extends RequestOptions {
  /** The longest wait, in milliseconds; `Infinity` for no limit. Default: 60,000. */
  readonly timeoutMs?: number;
}

/**
 * The shortest time between two questions, and the time after which `waitFor` asks again without an event. In
 * milliseconds.
 */
const [shortestPauseMs, longestPauseMs] = [100, 10_000];

/**
 * Waits until `isDone` accepts an answer. Asks at once, and again when an event comes, or after ten seconds without
 * one. While it waits, it counts as one of `maxEventReaders`.
 *
 * @remarks
 * Rejects
 *
 * - with a `TimeoutError` that has the last answer, when the time is over;
 * - with the reason of the signal, and with an error that `ask` throws at once, or `isDone`;
 * - if the interface cannot be reached at the beginning, or refuses the stream of events.
 *
 * If the interface cannot be reached later, or a promise of `ask` rejects, the wait continues.
 *
 * @param client - the client
 * @param ask - asks the interface, such as `() => client.services.get('Sales')`
 * @param isDone - whether the wait is over; a refusal is an answer too
 * @param options - the longest wait, and a signal that ends the wait
 * @returns the answer that `isDone` has accepted
 * @throws RangeError if `timeoutMs` is not a number from 0 on
 *
 * @example
 * ```ts
 * import { createAdmin, createSnapshot } from 'gateway-admin-core';
 * import { createClient, sendTo, waitFor } from 'gateway-admin-core/client';
 *
 * const snapshot = createSnapshot({ services: [{ name: 'Sales', router: 'readconnroute' }] });
 * const admin = createAdmin({ snapshot, gateway: { apply: async () => {}, inspect: async () => 'in-place' } });
 * const client = createClient(sendTo(admin));
 * const isGone = waitFor(
 *   client,
 *   () => client.sessions.get(7),
 *   (answer) => !answer.ok && answer.problem.code === 'session-not-found',
 * );
 * (await isGone).ok; // => false
 * ```
 *
 * @public
 */
export async function waitFor<T>(
  client: Pick<Client, 'events'>,
  ask: (options: { readonly signal: AbortSignal }) => Promise<Answer<T>>,
  isDone: (answer: Answer<T>) => boolean,
  { timeoutMs = 60_000, signal }: WaitOptions = {},
): Promise<Answer<T>> {
  assertTime('timeoutMs', timeoutMs);
  const leaving = new AbortController();
  const asking = { signal: leaving.signal };
  let wake = (): void => undefined;
  const nextEvent = (): Promise<void> => new Promise((resolve) => (wake = resolve));
  let last: Answer<T> | Failed | undefined;
  const end = (): void => {
    leaving.abort(
      new DOMException(`Not done after ${String(timeoutMs)} ms. ${shownAnswer(last)}`, 'TimeoutError'),
    );
  };
  const limit = timeoutMs > longestTimerMs ? undefined : setTimeout(end, timeoutMs);
  const poll = setInterval(() => wake(), longestPauseMs);
  const ignore = onAbort(signal, () => leaving.abort(signal?.reason));
  const over = new Promise<never>((_resolve, reject) => {
    onAbort(leaving.signal, () => reject(leaving.signal.reason as Error));
    follow(client, leaving.signal, () => wake()).catch(reject);
  });
  try {
    let event = nextEvent();
    for (;;) {
      // The stream opens before the first question: then no event is missed.
      await Promise.race([event, over]);
      event = nextEvent();
      const answer = await Promise.race([ask(asking).catch(failed), over]);
      if (!('error' in answer) && isDone(answer)) return answer;
      last = answer;
      await wait(shortestPauseMs, leaving.signal);
    }
  } finally {
    leaving.abort();
    clearTimeout(limit);
    clearInterval(poll);
    ignore();
  }
}

/** Calls a function when the stream of events opens or breaks, and at each event. */
async function follow(
  { events }: Pick<Client, 'events'>,
  signal: AbortSignal,
  call: (what: unknown) => void,
): Promise<void> {
  for await (const item of events({ signal, onState: call })) call(item);
}

/** A question without an answer. */
interface Failed {
  readonly error: unknown;
}

function failed(error: unknown): Failed {
  return { error };
}

/** The first characters of the last answer. */
function shownAnswer(answer: Answer<unknown> | Failed | undefined): string {
  if (answer === undefined) return 'There was no answer.';
  if ('error' in answer) return `The last question got no answer: ${String(answer.error)}`;
  const text = answer.ok ? (JSON.stringify(answer.value) as string | undefined) : answer.problem.detail;
  return `The last answer was ${text?.slice(0, 200) ?? 'without a body'}`;
}
