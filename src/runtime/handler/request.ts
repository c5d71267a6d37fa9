/**
 * Requests: checks a request that a program gives to `handle`. An adapter of this library always passes the check.
 */
import type { AdminRequest } from '../../http/message.ts';
import { problem, quoted, type Problem } from '../../problem.ts';
import { isObject, isSignal, type Members } from '../host/check.ts';

/** The error for a request that is not built as `AdminRequest` says. The message is for the client, too. @internal */
export class RequestError extends TypeError {}

/** A request whose form was checked. @internal */
export interface CheckedRequest {
  /**
   * The request, with the names of its headers in lower case; without headers if there is a problem with one. Each
   * member was read once, so that no getter of a program can fail on the way of the request, or change the request.
   */
  readonly request: AdminRequest;
  /** The problem with a header. */
  readonly problem?: Problem;
}

/**
 * Checks the form of a request.
 *
 * @throws RequestError if a member has a wrong type; the error of a member that cannot be read
 * @internal
 */
export function checkRequest(given: AdminRequest): CheckedRequest {
  if (!isObject(given))
    throw new RequestError('The request must be an object with method, target and headers');
  const { method, target, headers, body, principal, peer } = given;
  assertForm({ method, target, body, peer });
  const request: Draft = 'signal' in given ? requestWithSignal(given) : ({} as Draft);
  request.method = method;
  request.target = target;
  const own = headersOf(headers);
  request.headers = typeof own === 'string' ? {} : own;
  if (body !== undefined) request.body = body;
  if (principal !== undefined) request.principal = principal;
  if (peer !== undefined) request.peer = peer;
  if (typeof own === 'string') return { request, problem: problem('header-invalid', own) };
  const { authorization } = own;
  return authorization !== undefined && hasSeveralCredentials(authorization)
    ? { request, problem: severalCredentials }
    : { request };
}

/**
 * Whether the client of a request has disconnected. Never throws: the signal is read when it is needed, and a program
 * can give a value that is no request.
 *
 * @internal
 */
export function hasLeft(request: Pick<AdminRequest, 'signal'> | null | undefined): boolean {
  try {
    return request?.signal?.aborted === true;
  } catch {
    return false;
  }
}

function assertForm({
  method,
  target,
  body,
  peer,
}: Pick<Members, 'method' | 'target' | 'body' | 'peer'>): void {
  if (typeof method !== 'string') throw new RequestError('The method of the request must be a string');
  if (typeof target !== 'string') throw new RequestError('The target of the request must be a string');
  if (peer !== undefined && typeof peer !== 'string')
    throw new RequestError('The peer of the request must be a string');
  if (body !== undefined && !isBody(body))
    throw new RequestError('The body of the request must be text, bytes or a function that reads bytes');
}

/** A request that is being read. */
type Draft = { -readonly [M in keyof AdminRequest]: AdminRequest[M] };

/** Begins a request with a signal. An adapter of this library makes its signal when it is read, which takes long. */
function requestWithSignal(given: AdminRequest): Draft {
  if (!Object.hasOwn(given, 'signal')) return new LateSignal(given) as unknown as Draft;
  const signal = signalOf(given);
  return (signal === undefined ? {} : { signal }) as Draft;
}

function signalOf({ signal }: AdminRequest): AbortSignal | undefined {
  if (signal !== undefined && !isSignal(signal))
    throw new RequestError('The signal of the request must be an AbortSignal');
  return signal;
}

/** A signal that is read when it is needed. */
class LateSignal {
  readonly #given: AdminRequest;
  #signal: AbortSignal | undefined;

  constructor(given: AdminRequest) {
    this.#given = given;
  }

  get signal(): AbortSignal | undefined {
    return (this.#signal ??= signalOf(this.#given));
  }
}

/**
 * Reads headers. Gives them with names in lower case, several values of one header joined with a comma; or a sentence
 * that says what is wrong.
 */
function headersOf(given: unknown): AdminRequest['headers'] | string {
  if (!isObject(given) || Array.isArray(given))
    return 'The headers of the request must be an object. Give an empty object if there are no headers.';
  // Such an object seems to have no headers, so that a condition like If-Match would be ignored.
  if (typeof given['get'] === 'function' && typeof given['entries'] === 'function')
    return 'The headers of the request must be a plain object. Use Object.fromEntries(headers).';
  // Without a prototype, every name is a name like any other.
  const headers = Object.create(null) as Record<string, string | undefined>;
  for (const name of Object.keys(given)) {
    const value = given[name];
    if (value === undefined) continue;
    if (typeof value !== 'string')
      return `The header ${quoted(name)} must be a string. Join several values with a comma.`;
    const lower = name.toLowerCase();
    const before = headers[lower];
    headers[lower] = before === undefined ? value : `${before}, ${value}`;
  }
  return headers;
}

/**
 * Whether a transport has joined several headers `Authorization`: after a comma, there is a scheme with credentials.
 */
function hasSeveralCredentials(authorization: string): boolean {
  if (!authorization.includes(',')) return false;
  const unquoted = authorization.replace(/"(?:[^"\\]|\\.?)*(?:"|$)/g, '');
  return /,\s*[^\s=,]+\s+[^\s=,]/.test(unquoted);
}

const severalCredentials = problem(
  'header-invalid',
  'The request has several headers Authorization. Send one, because a proxy and the interface could each take another.',
);

function isBody(body: unknown): body is AdminRequest['body'] | null {
  return body === null || ['string', 'function'].includes(typeof body) || isBytes(body);
}

/** Whether a value is bytes, also bytes of another realm. */
function isBytes(value: unknown): value is Uint8Array {
  return ArrayBuffer.isView(value) && 'BYTES_PER_ELEMENT' in value && value.BYTES_PER_ELEMENT === 1;
}

type Body = NonNullable<AdminRequest['body']>;
type BodyReader = Extract<Body, (...given: never) => unknown>;

/** The bytes of a body that is there. @internal */
export function bytesOf(body: Exclude<Body, BodyReader> | null | undefined): Uint8Array {
  return typeof body === 'string' ? new TextEncoder().encode(body) : (body ?? new Uint8Array());
}

/**
 * Reads the bytes of a body.
 *
 * @throws RequestError if the function that reads the body gives something else; the error of that function
 * @internal
 */
export async function readBytes(read: BodyReader, limit: number): Promise<Uint8Array> {
  const bytes: unknown = await read(limit);
  if (isBytes(bytes)) return bytes;
  throw new RequestError('The function that reads the body must give bytes');
}
