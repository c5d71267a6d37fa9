/**
 * The adapter for `fetch`-style servers: turns a web Request into a request of the interface, and the answer into a web
 * Response.
 */
import type { Admin, AdminRequest, AdminResponse, Principal } from '../index.ts';
import { bodyTaken } from './given-body.ts';
import { assertArguments, createSink, mountAt, notFound, senderOf } from './mount.ts';

/**
 * Options of `createFetchHandler` for `fetch`.
 *
 * @public
 */
export interface FetchOptions {
  /**
   * Path of the interface, such as `/admin`; must begin with a slash. Default: the root, where the path `/` itself
   * belongs to the host if there is `next`. Give `/` if `/` belongs to the interface.
   */
  readonly basePath?: `/${string}`;
  /** Gives the caller that the host has authenticated; `undefined` for 401. Left out if the interface authenticates. */
  readonly principalOf?: (request: Request) => Principal | undefined | Promise<Principal | undefined>;
  /** Gives where a request comes from, such as the IP address of the client. Left out if the server does not tell. */
  readonly peerOf?: (request: Request) => string | undefined;
  /** Answers requests outside the interface. Default: a 404 `route-not-found`. */
  readonly next?: (request: Request) => Response | Promise<Response>;
  /**
   * Gets errors inside the adapter and in `principalOf`, `peerOf` or `next`. Default: errors are ignored. Errors in
   * `principalOf` and `peerOf` also go to `onError` of the interface. If the function fails, the console gets the error
   * once.
   */
  readonly onError?: (error: unknown) => void;
}

const optionNames = [
  'basePath',
  'principalOf',
  'peerOf',
  'next',
  'onError',
] as const satisfies readonly (keyof FetchOptions)[];

/**
 * Creates a `fetch` handler for an administration interface: for Hono, Bun, Deno, service workers and edge runtimes.
 *
 * An error inside the handler is answered with 500 and goes to `onError`.
 *
 * @param admin - the running interface
 * @param options - path of the interface and hooks of the host
 * @returns a function from a request to its response; the function never rejects
 * @throws TypeError for something that is no interface, for an unknown option, and for an option of a wrong type
 * @throws RangeError when `basePath` does not begin with a slash
 *
 * @example
 * ```ts
 * import { createAdmin, createSnapshot } from 'gateway-admin-core';
 * import { createFetchHandler } from 'gateway-admin-core/fetch';
 *
 * const gateway = { apply: async () => {}, inspect: async () => 'in-place' as const };
 * const admin = createAdmin({ snapshot: createSnapshot({}), gateway });
 * const fetch = createFetchHandler(admin, { basePath: '/admin' });
 * (await fetch(new Request('http://localhost/admin/services'))).status; // => 200
 * ```
 *
 * @public
 */
export function createFetchHandler(
  admin: Pick<Admin, 'handle'>,
  options: FetchOptions = {},
): (request: Request) => Promise<Response> {
  assertArguments(admin, options, { name: 'createFetchHandler', optionNames });
  const { next = () => toResponse(notFound), onError } = options;
  const tell = createSink(onError);
  const targetOf = mountAt(options);
  return async (request) => {
    try {
      // `pathname` keeps the escapes as they were written.
      const { host, pathname, search } = new URL(request.url);
      const target = targetOf(pathname + search, options.next);
      const handled =
        target === undefined
          ? undefined
          : await admin.handle(new FetchRequest(request, host, target, senderOf(request, options, tell)));
      return handled?.matched === true ? toResponse(handled.response) : await next(request);
    } catch (error) {
      tell(error);
      return new Response(null, { status: 500 });
    }
  };
}

/** A request of the interface. A class, because some servers take long to make a signal, and few answers need one. */
class FetchRequest implements AdminRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: Record<string, string>;
  declare readonly peer?: string;
  declare readonly principal?: () => Promise<Principal | null>;
  readonly #request: Request;

  constructor(request: Request, host: string, target: string, sender: ReturnType<typeof senderOf>) {
    this.method = request.method;
    this.target = target;
    // Over HTTP/2, and in some servers, only the URL has the host.
    this.headers = { host, ...Object.fromEntries(request.headers) };
    this.#request = request;
    Object.assign(this, sender);
  }

  readonly body = (limit: number): Promise<Uint8Array> => readBody(this.#request, limit);

  /** Aborts when the client disconnects. */
  get signal(): AbortSignal {
    return this.#request.signal;
  }
}

/** Reads the body, and stops once the body is longer than the limit. */
async function readBody({ body, bodyUsed }: Request, limit: number): Promise<Uint8Array> {
  if (bodyUsed) throw bodyTaken('give the handler a new Request(request, { body })');
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > limit) break;
  }
  const bytes = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.length;
  }
  return bytes;
}

function toResponse({ status, headers, body }: AdminResponse): Response {
  return new Response(typeof body === 'object' ? streamOf(body) : (body ?? null), { status, headers });
}

function streamOf(pieces: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const iterator: AsyncIterator<Uint8Array, unknown> = pieces[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      const result = await iterator.next();
      if (result.done === true) controller.close();
      else controller.enqueue(result.value);
    },
    async cancel() {
      await iterator.return?.();
    },
  });
}
