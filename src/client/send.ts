/**
 * Ways to carry requests to the interface.
 */
import type { Admin, AdminRequest, AdminResponse } from '../index.ts';

/**
 * A response as it was received. `url` is where it came from, for errors.
 *
 * @internal
 */
export type ReceivedResponse = AdminResponse & { readonly url?: string };

/**
 * Carries a request to the interface and brings back the response, over whatever connects the two. Both must end when
 * the `signal` of the request aborts.
 *
 * @public
 */
export type Send = (request: AdminRequest) => Promise<ReceivedResponse>;

/**
 * The options of `sendWithFetch`.
 *
 * @public
 */
export interface FetchOptions {
  /** Headers of every request, such as `authorization`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The function to use instead of the global `fetch`. */
  readonly fetch?: typeof fetch;
}

/**
 * Sends requests with `fetch`. A redirect is an error: the log-in and the body are for this address alone.
 *
 * @param base - where the interface is, such as `http://127.0.0.1:8080/admin`
 * @param options - headers and the function to use
 * @throws RangeError, from each call, for a path that a URL cannot have: a name `.` or `..`
 *
 * @public
 */
export function sendWithFetch(base: string, { headers, fetch: own = fetch }: FetchOptions = {}): Send {
  const root = base.replace(/\/$/, '');
  return async (request) => {
    const { target, signal } = request;
    const url = new URL(root + target);
    // A URL resolves dots, also escaped ones: the request would go to another resource.
    if (!url.href.endsWith(target)) throw new RangeError(`No URL has the path ${target}`);
    const all = new Headers(headers);
    for (const [name, value] of Object.entries(request.headers))
      if (value !== undefined) all.set(name, value);
    const place = url.origin + url.pathname;
    // The interface redirects no request: the log-in and the body would go to another address.
    const init = { ...request, headers: all, redirect: 'error' } as RequestInit;
    const response = await own(url, init).catch((error: unknown) => {
      // Node gives the reason as the cause.
      const { cause = error } = error as { readonly cause?: unknown };
      const { code, message } = cause as { readonly code?: string; readonly message: string };
      throw signal?.aborted ? error : noAnswer(place, code ?? message, error);
    });
    return {
      url: place,
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: response.body ? chunksOf(response.body, signal) : '',
    };
  };
}

/** The error for a request that got no answer of the interface. @internal */
export function noAnswer(url = 'send', why: string, cause: unknown): Error {
  return new Error(`No answer of the interface from ${url}: ${why}`, { cause });
}

/**
 * Sends requests to an interface in the same process.
 *
 * @param admin - the running interface
 * @throws TypeError for something that is no interface
 *
 * @public
 */
export function sendTo(admin: Pick<Admin, 'handle'>): Send {
  if (typeof (admin as Partial<Admin> | null | undefined)?.handle !== 'function')
    throw new TypeError('sendTo needs the interface that createAdmin or openAdmin has given');
  return async (request) => {
    const handled = await admin.handle(request);
    // The path comes from the table of endpoints.
    if (!handled.matched) throw new Error(`The interface has no ${request.target}: it is of another version`);
    return handled.response;
  };
}

/**
 * Remembers the entity tag of each resource that is read whole or changed, and sends the tag with the next command on
 * the resource. If another client has changed it meanwhile, the command is refused with `precondition-failed`:
 * read the resource again. A resource is known by its name as you write it; the users count as one resource. The tags
 * of sessions are not remembered, because sessions come and go without end. A command with a tag of its own keeps that
 * tag.
 *
 * @param send - carries the requests
 * @returns a function that carries the same requests, for `createClient`
 *
 * @public
 */
export function withEtags(send: Send): Send {
  if (typeof send !== 'function') throw new TypeError('send must be a function, such as sendTo(admin)');
  const tags = new Map<string, string>();
  return async (request) => {
    const { target, headers } = request;
    const resource = resourceOf(target);
    const isReading = request.method === 'GET';
    const tag = headers['if-match'] ?? (isReading ? undefined : tags.get(resource));
    const response = await send({ ...request, headers: { ...headers, 'if-match': tag } });
    const { etag, location } = response.headers;
    // Relative to the target (RFC 9110 section 10.2.2).
    const place = location === undefined ? resource : new URL(location, new URL(target, 'http://x')).pathname;
    const showsNow = isReading ? target === resource : !target.includes('dry_run=');
    if (etag === undefined || response.status >= 300 || !showsNow) return response;
    // After a deletion the tag is that of the list, and so is the tag with which the next creation is compared.
    if (request.method === 'DELETE' && target.replace(/\?.*/, '') === resource) tags.delete(resource);
    else if (!/\/$|^\/sessions\//.test(place)) tags.set(place, etag);
    return response;
  };
}

/** No timer takes a longer time, in milliseconds. @internal */
export const longestTimerMs = 2 ** 31 - 1;

/** @throws RangeError if a time is not a number of milliseconds from 0 on @internal */
export function assertTime(name: string, time: unknown): void {
  if (typeof time !== 'number' || !(time >= 0))
    throw new RangeError(`${name} must be a number of milliseconds from 0 on, and is ${String(time)}`);
}

/** Waits for a time, or until the signal aborts. @internal */
export function wait(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      ignore();
      resolve();
    }, milliseconds);
    const ignore = onAbort(signal, () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/**
 * The chunks of a stream. Not every browser can loop over a stream itself. The signal is listened to here as well,
 * because `fetch` of Node 20 and 22 forgets it when memory is collected while the stream is read.
 */
async function* chunksOf(
  stream: ReadableStream<Uint8Array>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = stream.getReader();
  // Ends the read that waits. A stream that fetch has ended with the signal rejects.
  const leave = (): void => void reader.cancel().catch(() => undefined);
  const ignore = onAbort(signal, leave);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      signal?.throwIfAborted();
      if (done) return;
      yield value;
    }
  } finally {
    ignore();
    leave();
  }
}

/** Calls a function when the signal aborts, or now if it has. Gives a function that ends the listening. @internal */
export function onAbort(signal: AbortSignal | undefined, act: () => void): () => void {
  if (signal?.aborted) act();
  signal?.addEventListener('abort', act);
  return () => signal?.removeEventListener('abort', act);
}

/** The resource whose tag a command on the target compares: `/services/Sales` for `/service/Sales/stop`. */
function resourceOf(target: string): string {
  const [, collection = '', name = ''] = target.split(/[/?]/);
  if (collection === 'users') return '/users';
  return `/${collection === 'gateway' ? collection : collection.replace(/s?$/, 's')}/${name}`;
}
