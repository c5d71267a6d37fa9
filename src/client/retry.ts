/**
 * Sending again what the interface could not begin.
 */
import { textOf } from './message.ts';
import { wait, type Send } from './send.ts';

/**
 * Sends a request again that is answered 503 with `Retry-After`, after the time that the answer asks for. Such an
 * answer means that the interface could not begin.
 *
 * @param send - carries the requests
 * @param forMs - for how long a request is sent again, in milliseconds. After that time, the caller gets the 503
 * @returns a function that carries the same requests, for `createClient`
 *
 * @public
 */
export function withRetry(send: Send, forMs: number): Send {
  return async (request) => {
    const end = Date.now() + forMs;
    for (;;) {
      const response = await send(request);
      const afterMs = Number(response.headers['retry-after']) * 1000;
      // Without a header, no time is early enough.
      if (response.status !== 503 || !(Date.now() + afterMs <= end)) return response;
      // A connection is free when its answer is read.
      await textOf(response.body);
      await wait(afterMs, request.signal);
      request.signal?.throwIfAborted();
    }
  };
}
