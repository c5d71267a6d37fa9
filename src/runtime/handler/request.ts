/**
 * Requests: checks a request that a program gives to `handle`. An adapter of this library always passes the check.
 */
import type { AdminRequest } from '../../http/message.ts';
import { problem, quoted, type Problem } from '../../problem.ts';
import { isObject, isSignal } from '../host/check.ts';

/** The error for a request that is not built as `AdminRequest` says. The message is for the client, too. @internal */
export class RequestError extends TypeError {}

/** A request whose form was checked. @internal */
export interface CheckedRequest {
  /** The request, with the names of its headers in lower case; without headers if there is a problem with one. */
  readonly request: AdminRequest;
  /** The problem with a header. */
  readonly problem?: Problem;
}

/**
 * Checks the form of a request.
 *
 * @throws RequestError if a member has a wrong type
 * @internal
 */
export function checkRequest(request: AdminRequest): CheckedRequest {
  assertForm(request);
  const { headers } = request;
  const fault = headerFault(headers);
  if (fault !== undefined)
    return { request: withHeaders(request, {}), problem: problem('header-invalid', fault) };
  const isLower = Object.keys(headers).every((name) => name === name.toLowerCase());
  const own = isLower ? request : withHeaders(request, inLowerCase(headers));
  return hasSeveralCredentials(own) ? { request: own, problem: severalCredentials } : { request: own };
}

/** Copies a request with other headers. Its members can be those of a class. */
function withHeaders(request: AdminRequest, headers: AdminRequest['headers']): AdminRequest {
  const { method, target, body, principal, peer, signal } = request;
  return {
    method,
    target,
    headers,
    ...(body === undefined ? {} : { body }),
    ...(principal === undefined ? {} : { principal }),
    ...(peer === undefined ? {} : { peer }),
    ...(signal === undefined ? {} : { signal }),
  };
}

/** The headers with names in lower case. Several values of one header are joined with a comma. */
function inLowerCase(headers: AdminRequest['headers']): AdminRequest['headers'] {
  const values = new Map<string, string>();
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined) continue;
    const before = values.get(name.toLowerCase());
    values.set(name.toLowerCase(), before === undefined ? value : `${before}, ${value}`);
  }
  return Object.fromEntries(values);
}

/**
 * Whether a transport has joined several headers `Authorization`: after a comma, there is a scheme with credentials.
 */
function hasSeveralCredentials({ headers: { authorization } }: AdminRequest): boolean {
  if (authorization?.includes(',') !== true) return false;
  const unquoted = authorization.replace(/"(?:[^"\\]|\\.?)*(?:"|$)/g, '');
  return /,\s*[^\s=,]+\s+[^\s=,]/.test(unquoted);
}

const severalCredentials = problem(
  'header-invalid',
  'The request has several headers Authorization. Send one, because a proxy and the interface could each take another.',
);

function assertForm(request: unknown): void {
  if (!isObject(request))
    throw new RequestError('The request must be an object with method, target and headers');
  const { method, target, body, peer } = request;
  // An adapter of this library makes its signal when it is read.
  const signal = Object.hasOwn(request, 'signal') ? request['signal'] : undefined;
  if (typeof method !== 'string') throw new RequestError('The method of the request must be a string');
  if (typeof target !== 'string') throw new RequestError('The target of the request must be a string');
  if (peer !== undefined && typeof peer !== 'string')
    throw new RequestError('The peer of the request must be a string');
  if (signal !== undefined && !isSignal(signal))
    throw new RequestError('The signal of the request must be an AbortSignal');
  if (!isBody(body))
    throw new RequestError('The body of the request must be text, bytes or a function that reads bytes');
}

function headerFault(headers: unknown): string | undefined {
  if (!isObject(headers) || Array.isArray(headers))
    return 'The headers of the request must be an object. Give an empty object if there are no headers.';
  // Such an object seems to have no headers, so that a condition like If-Match would be ignored.
  if (typeof headers['get'] === 'function' && typeof headers['entries'] === 'function')
    return 'The headers of the request must be a plain object. Use Object.fromEntries(headers).';
  for (const name of Object.keys(headers)) {
    const value = headers[name];
    if (value !== undefined && typeof value !== 'string')
      return `The header ${quoted(name)} must be a string. Join several values with a comma.`;
  }
  return undefined;
}

function isBody(body: unknown): body is AdminRequest['body'] | null {
  return body === undefined || body === null || ['string', 'function'].includes(typeof body) || isBytes(body);
}

/** Whether a value is bytes, also bytes of another realm. */
function isBytes(value: unknown): value is Uint8Array {
  return ArrayBuffer.isView(value) && 'BYTES_PER_ELEMENT' in value && value.BYTES_PER_ELEMENT === 1;
}

/**
 * Reads the bytes of a request.
 *
 * @throws RequestError if the function that reads the body gives something else; the error of that function
 * @internal
 */
export async function bytesOf({ body }: AdminRequest, limit: number): Promise<Uint8Array> {
  if (typeof body === 'string') return new TextEncoder().encode(body);
  const bytes: unknown = typeof body === 'function' ? await body(limit) : (body ?? new Uint8Array());
  if (isBytes(bytes)) return bytes;
  throw new RequestError('The function that reads the body must give bytes');
}
