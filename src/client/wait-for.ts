/**
 * Waiting for a state: asks again whenever an event comes, until the answer is as wanted.
 */
import type { Client, RequestOptions } from './client.ts';
import type { Answer } from './message.ts';
import { onAbort } from './send.ts';

/**
 * The options of `waitFor`.
 *
 * @public
 */
export interface WaitOptions extends RequestOptions {
  /** The longest wait, in milliseconds. Default: 60,000. */
  readonly timeoutMs?: number;
}

/** The time between two questions, in milliseconds: at least the first if events come, and the second without one. */
const [shortestPauseMs, longestPauseMs] = [100, 10_000];

/**
 * Waits until an answer is as wanted. Asks at once, and again when an event comes, or after ten seconds without one.
 * While it waits, it has one of the places for readers of events.
 *
 * @param client - the client
 * @param ask - asks the interface, such as `() => client.services.get('Sales')`
 * @param isDone - whether the answer is as wanted; a refusal is an answer too
 * @param options - the longest wait, and a signal that ends the wait
 * @returns the answer that is as wanted. Rejects with a `TimeoutError` that has the last answer, with the reason of the
 *   signal, with the error of `isDone`, and if the interface cannot be reached at the beginning, or refuses the stream
 *   of events. If the interface cannot be reached later, the wait continues
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
  const leaving = new AbortController();
  const asking = { signal: leaving.signal };
  let wake = (): void => undefined;
  const nextEvent = (): Promise<void> => new Promise((resolve) => (wake = resolve));
  let last = 'There was no answer.';
  const limit = setTimeout(() => {
    leaving.abort(new DOMException(`Not as wanted after ${String(timeoutMs)} ms. ${last}`, 'TimeoutError'));
  }, timeoutMs);
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
      const answer = await Promise.race([ask(asking).catch(errorOf), over]);
      if (!(answer instanceof Error) && isDone(answer)) return answer;
      last = `The last answer was ${textOf(answer)}`;
      await new Promise((resolve) => setTimeout(resolve, shortestPauseMs));
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

function errorOf(error: unknown): Error {
  return error as Error;
}

/** The first characters of an answer, for an error. */
function textOf(answer: Answer<unknown> | Error): string {
  if (answer instanceof Error) return `an error: ${answer.message}`;
  return (answer.ok ? JSON.stringify(answer.value) : answer.problem.detail).slice(0, 200);
}
