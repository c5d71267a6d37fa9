/**
 * Requests and answers: what a call of a method sends, and what the interface says to it.
 */
import type { Endpoint } from '../http/endpoint.ts';
import type { AdminRequest, AdminResponse, Problem } from '../index.ts';
import { noAnswer, type ReceivedResponse } from './send.ts';

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

/**
 * Gives the value of an answer, for a program that a refusal ends.
 *
 * @param answer - the answer
 * @returns its value
 * @throws Error with the detail of the problem, and the problem as its `cause`, if the request was refused
 *
 * @public
 */
export function valueOf<T>(answer: Answer<T>): T {
  if (answer.ok) return answer.value;
  throw new Error(answer.problem.detail, { cause: answer.problem });
}

/** The options of all methods, and of the stream. */
interface AnyOptions {
  readonly signal?: AbortSignal;
  readonly ifMatch?: string;
  readonly prefer?: 'representation';
  readonly last?: string;
  readonly range?: readonly [number, number];
}

/**
 * The request of an endpoint. `given` are the subject, the body and the options; the endpoint says which of them there
 * are.
 *
 * @internal
 */
export function requestOf(endpoint: Endpoint, given: unknown[], own?: object): AdminRequest {
  const { method, path, body: type } = endpoint;
  const place = path.replace(/:\w+/g, () => segmentOf(given.shift()));
  const body = type && JSON.stringify(given.shift());
  const { signal, ifMatch, prefer, last, range, ...others } = (given[0] ?? {}) as AnyOptions;
  // JSON leaves out what is undefined.
  const asked = JSON.parse(JSON.stringify({ ...others, ...own, range: range?.join('-') })) as Record<
    string,
    string
  >;
  return {
    method,
    target: `${place}?${new URLSearchParams(asked)}`.replace(/\?$/, ''),
    headers: {
      'content-type': type,
      'if-match': ifMatch,
      'last-event-id': last,
      prefer: prefer && `return=${prefer}`,
    },
    body,
    signal,
  } as AdminRequest;
}

/** A name or an id as a path segment. An empty one would lead to the list. */
function segmentOf(subject: unknown): string {
  if (subject === '') throw new RangeError('The name is empty');
  return encodeURIComponent(subject as string | number);
}

/** Reads the answer in a response. @internal */
export async function answerOf(response: ReceivedResponse, kind: Endpoint['kind']): Promise<Answer<unknown>> {
  const { status, headers, body } = response;
  if (status >= 300) return readRefusal(response);
  const value = status === 204 ? undefined : jsonOf(response, await textOf(body));
  return {
    ok: true,
    value: kind === 'list' ? { elements: value, total: Number(headers['x-total-count']) } : value,
    etag: headers['etag'],
  };
}

/** Reads the problem in a refusal. @internal */
export async function readRefusal(
  response: ReceivedResponse,
): Promise<Extract<Answer<never>, { readonly ok: false }>> {
  const text = await textOf(response.body);
  if (!hasType(response, 'application/problem+json')) throw strangeAnswer(response, text);
  const after = response.headers['retry-after'];
  return {
    ok: false,
    problem: jsonOf(response, text) as Problem,
    retryAfterMs: after ? Number(after) * 1000 : undefined,
  };
}

/** Whether a response has a media type. @internal */
export function hasType({ headers }: ReceivedResponse, type: string): boolean | undefined {
  return headers['content-type']?.startsWith(type);
}

/** The JSON of a text in a response. @internal */
export function jsonOf(response: ReceivedResponse, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw strangeAnswer(response, text);
  }
}

/** The error for a response of something other than the interface, such as a proxy on the way. @internal */
export function strangeAnswer(response: ReceivedResponse, text: string): Error {
  return noAnswer(response.url, `status ${String(response.status)}, ${text.slice(0, 100)}`, response);
}

/** The text of a body. @internal */
export async function textOf(body: AdminResponse['body']): Promise<string> {
  let text = '';
  for await (const part of textsOf(body)) text += part;
  return text;
}

/** The text of a body, as it arrives. @internal */
export async function* textsOf(body: AdminResponse['body'] = ''): AsyncGenerator<string, void, undefined> {
  if (typeof body === 'string') return yield body;
  const decoder = new TextDecoder();
  for await (const chunk of body) yield decoder.decode(chunk, { stream: true });
}
