/**
 * Sending again what the interface cannot do now.
 */
import { textOf } from './message.ts';
import { assertTime, longestTimerMs, wait, type Send } from './send.ts';

/** The shortest pause, in milliseconds, whatever an answer says. */
const shortestPauseMs = 1000;

/**
 * Sends a request again that is answered 503 with `Retry-After`, after the time that the answer asks for. The commands
 * of this interface can be sent again after such an answer. A request whose body is a function is sent once, because
 * the function is called once.
 *
 * @param send - carries the requests
 * @param forMs - for how long a request is sent again, in milliseconds. After that time, the caller gets the 503
 * @returns a function that carries the same requests, for `createClient`
 * @throws TypeError if `send` is no function, RangeError if `forMs` is not a number from 0 on
 *
 * @public
 */
export function withRetry(send: Send, forMs: number): Send {
  if (typeof send !== 'function') throw new TypeError('send must be a function, such as sendTo(admin)');
  assertTime('forMs', forMs);
  return async (request) => {
    const end = Date.now() + forMs;
    for (;;) {
      const response = await send(request);
      const { 'retry-after': after } = response.headers;
      const pauseMs = Math.max(Number(after) * 1000, shortestPauseMs);
      // A date, or no header, is no number of seconds: then no time is early enough.
      const isEarly = Boolean(after) && Date.now() + pauseMs <= end;
      if (response.status !== 503 || !isEarly || typeof request.body === 'function') return response;
      // A connection is free when its answer is read.
      await textOf(response.body);
      await wait(Math.min(pauseMs, longestTimerMs), request.signal);
      request.signal?.throwIfAborted();
    }
  };
}
