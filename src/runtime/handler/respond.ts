/**
 * Responses: representations and problems as JSON text with the headers that belong to them.
 */
import type { Problem } from '../../problem.ts';
import type { Listing } from '../../http/route.ts';
import type { AdminResponse } from '../../http/message.ts';

/** Headers under construction. @internal */
export type Headers = Readonly<Record<string, string>>;

/** Lists longer than this are written piece by piece, each a turn of the event loop apart. */
const pieceLength = 1000;

/** A response with a JSON body. Figures that change by themselves must not be kept by anyone on the way. @internal */
export function json(status: number, value: unknown, headers: Headers): AdminResponse {
  return {
    status,
    headers: { ...headersFor(headers), 'content-type': 'application/json' },
    body: JSON.stringify(value),
  };
}

/** A response without a body. @internal */
export function empty(status: 204 | 304, headers: Headers = {}): AdminResponse {
  return { status, headers: status === 304 ? headersFor(headers) : headers };
}

/** A response that says why not (RFC 9457). @internal */
export function refusal(problem: Problem, headers: Headers = {}): AdminResponse {
  const body = JSON.stringify(problem);
  return {
    status: problem.status,
    headers: { ...headersFor(headers), 'content-type': 'application/problem+json' },
    body,
  };
}

/** A response with a list. A long one does not hold up the event loop, nor does it stand in memory whole. @internal */
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
    // A timer, unlike a promise, lets other work of the event loop go first.
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
}

function headersFor(headers: Headers): Headers {
  return { 'cache-control': headers['etag'] === undefined ? 'no-store' : 'no-cache', ...headers };
}
