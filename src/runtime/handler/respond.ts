/**
 * Responses: representations and problems as JSON text, with their headers.
 */
import type { Problem } from '../../problem.ts';
import type { Listing } from '../../http/route.ts';
import { secureHeaders, type AdminResponse } from '../../http/message.ts';

/** The headers of a response. @internal */
export type Headers = Readonly<Record<string, string>>;

/** A response, with the problem that it tells. @internal */
export interface Reply extends AdminResponse {
  readonly problem?: Problem;
}

/** Longer lists are sent in pieces of this length. Each piece takes one turn of the event loop. */
const pieceLength = 1000;

/** Makes a response with a JSON body. @internal */
export function json(status: number, value: unknown, headers: Headers): AdminResponse {
  return {
    status,
    headers: { ...headersFor(headers), 'content-type': 'application/json' },
    body: JSON.stringify(value),
  };
}

/** Makes a response without a body. @internal */
export function empty(status: 204 | 304, headers: Headers = {}): AdminResponse {
  return { status, headers: headersFor(headers) };
}

/** Makes a response with server-sent events. Proxies such as nginx must not collect them. @internal */
export function stream(body?: AsyncIterable<Uint8Array>): AdminResponse {
  const headers = { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' };
  return { status: 200, headers: headersFor(headers), ...(body === undefined ? {} : { body }) };
}

/** Makes a response with a problem (RFC 9457). @internal */
export function refusal(problem: Problem, headers: Headers = {}): Reply {
  const body = JSON.stringify(problem);
  return {
    status: problem.status,
    headers: { ...headersFor(headers), 'content-type': 'application/problem+json' },
    body,
    problem,
  };
}

/**
 * Makes a response with a list. A long list is streamed, so the whole text is never in memory, and the event loop is not
 * blocked.
 *
 * @internal
 */
export function list(
  listing: Listing,
  { offset, length }: { readonly offset: number; readonly length: number },
  select: (element: unknown) => unknown,
  headers: Headers,
): AdminResponse {
  if (length <= pieceLength) return json(200, listing.slice(offset, length).map(select), headers);
  return {
    status: 200,
    headers: { ...headersFor(headers), 'content-type': 'application/json' },
    body: pieces(listing, offset, offset + length, select),
  };
}

async function* pieces(
  listing: Listing,
  offset: number,
  end: number,
  select: (element: unknown) => unknown,
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for (let start = offset; start < end; start += pieceLength) {
    const part = listing.slice(start, Math.min(pieceLength, end - start)).map(select);
    const text = JSON.stringify(part).slice(1, -1);
    yield encoder.encode(`${start === offset ? '[' : ','}${text}${start + pieceLength >= end ? ']' : ''}`);
    // A timer, unlike a resolved promise, lets the event loop do other work first.
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
}

/** Nothing about a gateway belongs into a cache, and no browser may take an answer for another type than it has. */
function headersFor(headers: Headers): Headers {
  return { ...secureHeaders, ...headers };
}
