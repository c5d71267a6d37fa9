/**
 * Responses: representations and problems as JSON text, with their headers.
 */
import type { Problem } from '../../problem.ts';
import type { Listing } from '../../http/route.ts';
import { secureHeaders, type AdminResponse } from '../../http/message.ts';
import { nextTurn } from '../../ports/system-clock.ts';
import { beginPiece } from '../piece.ts';

/** The headers of a response. @internal */
export type Headers = Readonly<Record<string, string>>;

/** A response, with the problem that it tells. @internal */
export interface Reply extends AdminResponse {
  readonly problem?: Problem;
}

/** Longer lists are sent in pieces of this length. Each piece takes one turn of the event loop. */
const pieceLength = 1000;

const comma = 0x2c;

/** Makes a response with a JSON body. @internal */
export function json(status: number, value: unknown, headers: Headers): AdminResponse {
  return jsonText(status, JSON.stringify(value), headers);
}

/** Makes a response with a body that is JSON text already. @internal */
export function jsonText(status: number, body: string, headers: Headers): AdminResponse {
  return { status, headers: headersFor(headers, 'application/json'), body };
}

/** Makes a response without a body. @internal */
export function empty(status: 204 | 304, headers: Headers = {}): AdminResponse {
  return { status, headers: headersFor(headers) };
}

/**
 * Makes a response with server-sent events. Proxies such as nginx must not collect them, and software that compresses must
 * leave them alone (RFC 9111 §5.2.2.6).
 *
 * @internal
 */
export function stream(body?: AsyncIterable<Uint8Array>): AdminResponse {
  const headers = {
    'content-type': 'text/event-stream',
    'cache-control': 'no-store, no-transform',
    'x-accel-buffering': 'no',
  };
  return { status: 200, headers: headersFor(headers), ...(body === undefined ? {} : { body }) };
}

/** Makes a response with a problem (RFC 9457). @internal */
export function refusal(problem: Problem, headers: Headers = {}): Reply {
  const body = JSON.stringify(problem);
  return {
    status: problem.status,
    headers: headersFor(headers, 'application/problem+json'),
    body,
    problem,
  };
}

/** Gives an element of a list with the selected fields alone. */
type Select = (element: unknown) => unknown;

/**
 * Makes a response with a list. A long list is streamed, so the whole text is never in memory, and the event loop is not
 * blocked.
 *
 * @param textOf - gives the text of a list that is not streamed
 * @internal
 */
export function list(
  listing: Listing,
  { offset, length }: { readonly offset: number; readonly length: number },
  select: Select | undefined,
  headers: Headers,
  textOf: (represent: () => unknown) => string,
): AdminResponse {
  if (length <= (listing.isSlow === true ? 1 : pieceLength))
    return jsonText(
      200,
      textOf(() => part(listing, offset, length, select)),
      headers,
    );
  return {
    status: 200,
    headers: headersFor(headers, 'application/json'),
    body: pieces(listing, offset, offset + length, select),
  };
}

async function* pieces(
  listing: Listing,
  offset: number,
  end: number,
  select: Select | undefined,
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for (let start = offset; start < end;) {
    const piece = pieceOf(listing, start, end, select);
    const bytes = encoder.encode(JSON.stringify(piece));
    // The brackets of the piece: a comma begins each further piece, and only the last one ends the list.
    if (start > offset) bytes[0] = comma;
    start += piece.length;
    yield start < end ? bytes.subarray(0, -1) : bytes;
    await nextTurn();
  }
}

/** The elements of a list that one turn of the event loop renders. */
function pieceOf(
  listing: Listing,
  start: number,
  end: number,
  select: Select | undefined,
): readonly unknown[] {
  if (listing.isSlow !== true) return part(listing, start, Math.min(pieceLength, end - start), select);
  const isOver = beginPiece();
  const elements: unknown[] = [];
  do elements.push(...part(listing, start + elements.length, 1, select));
  while (start + elements.length < end && !isOver());
  return elements;
}

/** Some elements of a list. */
function part(
  listing: Listing,
  offset: number,
  length: number,
  select: Select | undefined,
): readonly unknown[] {
  const elements = listing.slice(offset, length);
  return select === undefined ? elements : elements.map(select);
}

/** Nothing about a gateway belongs into a cache, and no browser may take an answer for another type than it has. */
function headersFor(headers: Headers, contentType?: string): Headers {
  // One copy: to spread frozen headers takes several times as long.
  const all: Record<string, string> = Object.assign({}, secureHeaders, headers);
  if (contentType !== undefined) all['content-type'] = contentType;
  return all;
}
