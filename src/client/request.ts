/**
 * Requests: what a call of a method sends.
 */
import type { Endpoint } from '../http/endpoint.ts';
import type { AdminRequest } from '../index.ts';

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
