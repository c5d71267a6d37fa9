/**
 * Responses: representations and problems as JSON text, with their headers.
 */
import type { Problem } from '../../problem.ts';
import type { Listing } from '../../http/route.ts';
import { secureHeaders, type AdminResponse } from '../../http/message.ts';
import { nextTurn } from '../../ports/system-clock.ts';
import { beginPiece } from '../host/waiting.ts';

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
 * Makes a response with server-sent events. Proxies such as nginx must not collect them, and software that compresses
 * must leave them alone (RFC 9111 §5.2.2.6).
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

/** Gives the texts of a list. @internal */
export interface ListTexts {
  /** Gives the JSON text of at most `length` elements, from `offset` on. */
  readonly part: (offset: number, length: number) => string;
  /** Gives the text of a list that is not streamed. */
  readonly keep: (write: () => string) => string;
}

/**
 * Makes a response with a list. A long list is streamed, so the whole text is never in memory, and the event loop is
 * not blocked.
 *
 * @internal
 */
export function list(
  { isSlow }: Pick<Listing, 'isSlow'>,
  { offset, length }: { readonly offset: number; readonly length: number },
  headers: Headers,
  { part, keep }: ListTexts,
): AdminResponse {
  if (length <= (isSlow === true ? 1 : pieceLength)) {
    const text = keep(() => part(offset, length));
    return jsonText(200, text, headers);
  }
  return {
    status: 200,
    headers: headersFor(headers, 'application/json'),
    body: pieces(offset, offset + length, isSlow === true ? slowPiece(part) : quickPiece(part)),
  };
}

/** The JSON text of the elements that one turn of the event loop renders, and where the next piece starts. */
type Piece = readonly [text: string, next: number];

async function* pieces(
  offset: number,
  end: number,
  pieceOf: (start: number, end: number) => Piece,
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for (let start = offset; start < end;) {
    const [text, next] = pieceOf(start, end);
    const bytes = encoder.encode(text);
    // The brackets of the piece: a comma begins each further piece, and only the last one ends the list.
    if (start > offset) bytes[0] = comma;
    start = next;
    yield start < end ? bytes.subarray(0, -1) : bytes;
    await nextTurn();
  }
}

function quickPiece(part: ListTexts['part']) {
  return (start: number, end: number): Piece => {
    const next = Math.min(start + pieceLength, end);
    return [part(start, next - start), next];
  };
}

function slowPiece(part: ListTexts['part']) {
  return (start: number, end: number): Piece => {
    const isOver = beginPiece();
    const texts: string[] = [];
    do texts.push(part(start + texts.length, 1).slice(1, -1));
    while (start + texts.length < end && !isOver());
    return [`[${texts.join(',')}]`, start + texts.length];
  };
}

/** Nothing about a gateway belongs into a cache, and no browser may take an answer for another type than it has. */
function headersFor(headers: Headers, contentType?: string): Headers {
  // One copy: to spread frozen headers takes several times as long.
  const all: Record<string, string> = Object.assign({}, secureHeaders, headers);
  if (contentType !== undefined) all['content-type'] = contentType;
  return all;
}
