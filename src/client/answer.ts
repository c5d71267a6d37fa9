/**
 * Answers: what the interface says to a request.
 */
import type { AdminResponse, Problem } from '../index.ts';
import type { ReceivedResponse } from './send.ts';

/**
 * The answer to a request.
 *
 * @public
 */
export type Answer<T> =
  | {
      readonly ok: true;
      /** The body; `undefined` if the endpoint gives none. */
      readonly value: T;
      /** The entity tag of the resource, for `ifMatch`; `undefined` if the answer has none. */
      readonly etag: string | undefined;
    }
  | {
      readonly ok: false;
      /** Why the request was refused, or that its outcome is unknown (`outcome-unknown`). */
      readonly problem: Problem;
      /** After how many milliseconds the same request may succeed; `undefined` if the interface does not say. */
      readonly retryAfterMs: number | undefined;
    };

/** Reads the answer in a response. @internal */
export async function answerOf(response: ReceivedResponse, isList: boolean): Promise<Answer<unknown>> {
  const { status, headers, body } = response;
  const text = await textOf(body);
  if (status >= 300) return refusalOf(response, text);
  const value = status === 204 ? undefined : valueOf(response, text);
  return {
    ok: true,
    value: isList ? { elements: value, total: Number(headers['x-total-count']) } : value,
    etag: headers['etag'],
  };
}

/** The problem in a refusal. @internal */
export function refusalOf(
  response: ReceivedResponse,
  text: string,
): Extract<Answer<never>, { readonly ok: false }> {
  const { headers } = response;
  if (headers['content-type']?.startsWith('application/problem+json') !== true)
    throw strangeAnswer(response, text);
  const after = headers['retry-after'];
  return {
    ok: false,
    problem: valueOf(response, text) as Problem,
    retryAfterMs: after === undefined ? undefined : Number(after) * 1000,
  };
}

/** The value of a text in a response. @internal */
export function valueOf(response: ReceivedResponse, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw strangeAnswer(response, text);
  }
}

/** The error for a response of something other than the interface, such as a proxy on the way. @internal */
export function strangeAnswer({ status, headers, url }: ReceivedResponse, text: string): Error {
  const place = url === undefined ? '' : ` at ${url}`;
  return new Error(
    `Not an answer of the interface${place}: status ${String(status)}, ${text.slice(0, 100)}`,
    {
      cause: { status, headers },
    },
  );
}

/** The text of a body. @internal */
export async function textOf(body: AdminResponse['body'] = ''): Promise<string> {
  if (typeof body === 'string') return body;
  let text = '';
  for await (const part of textsOf(body)) text += part;
  return text;
}

/** The text of a body, as it arrives. @internal */
export async function* textsOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  for await (const chunk of body) yield decoder.decode(chunk, { stream: true });
}
