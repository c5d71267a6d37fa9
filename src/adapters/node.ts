/**
 * The adapter for `node:http`, and for every framework that uses its request and response.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ServerHttp2Stream } from 'node:http2';
import { finished } from 'node:stream/promises';

import type { Admin, AdminRequest, AdminResponse, Principal } from '../index.ts';
import { givenBody } from './given-body.ts';
import { assertArguments, createSink, mountAt, notFound, senderOf, type Hooks } from './mount.ts';

/**
 * Options of `createNodeHandler` for `node:http`.
 *
 * @public
 */
export interface NodeOptions {
  /**
   * Path of the interface, such as `/admin`; must begin with a slash. Default: the root, where the path `/` itself
   * belongs to the host if the listener gets a third argument. Give `/` if `/` belongs to the interface. If a framework
   * removes the path under which the listener is mounted, give that path or `/`.
   */
  readonly basePath?: `/${string}`;
  /** Gives the caller that the host has authenticated; `undefined` for 401. Left out if the interface authenticates. */
  readonly principalOf?: (request: IncomingMessage) => Principal | undefined | Promise<Principal | undefined>;
  /**
   * Gives where a request comes from. Default: the remote address of the connection. Behind a proxy, take the address
   * from the header in which the proxy writes it.
   */
  readonly peerOf?: (request: IncomingMessage) => string | undefined;
  /**
   * Gets errors inside the adapter, and in `principalOf` or `peerOf`. Default: errors are ignored. Errors in
   * `principalOf` and `peerOf` also go to `onError` of the interface. If the function fails, the console gets the error
   * once.
   */
  readonly onError?: (error: unknown) => void;
}

const optionNames = [
  'basePath',
  'principalOf',
  'peerOf',
  'onError',
] as const satisfies readonly (keyof NodeOptions)[];

/**
 * Creates a request listener of `node:http` for an administration interface.
 *
 * An error inside the listener is answered with 500 and goes to `onError`. If a body parser has read a body before, the
 * listener takes the body from `rawBody` or `body` of the request.
 *
 * @param admin - the running interface, or a console
 * @param options - path of the interface and hooks of the host
 * @returns a request listener. For a path outside the interface, the listener calls its third argument, or answers 404
 *   `route-not-found` if there is none
 * @throws TypeError for something that is no interface, for an unknown option, and for an option of a wrong type
 * @throws RangeError when `basePath` does not begin with a slash
 *
 * @example
 * ```ts
 * import { createServer } from 'node:http';
 * import { createAdmin, createSnapshot } from 'gateway-admin-core';
 * import { createNodeHandler } from 'gateway-admin-core/node';
 *
 * const gateway = { apply: async () => {}, inspect: async () => 'in-place' as const };
 * const admin = createAdmin({ snapshot: createSnapshot({}), gateway });
 * const server = createServer(createNodeHandler(admin));
 * server.listening; // => false
 * ```
 *
 * @public
 */
export function createNodeHandler(
  admin: Pick<Admin, 'handle'>,
  options: NodeOptions = {},
): (request: IncomingMessage, response: ServerResponse, next?: () => void) => void {
  assertArguments(admin, options, { name: 'createNodeHandler', optionNames });
  const { onError, principalOf, peerOf = ({ socket }: IncomingMessage) => socket.remoteAddress } = options;
  const hooks: Hooks<IncomingMessage> = {
    peerOf,
    ...(principalOf === undefined ? {} : { principalOf }),
  };
  const tell = createSink(onError);
  const targetOf = mountAt(options);
  const inTurn = createTurns();
  return (request, response, next) => {
    inTurn(request, response, () => {
      answer(request, response, next).catch((error: unknown) => {
        tell(error);
        if (!response.headersSent) response.writeHead(500);
        response.end();
      });
    });
  };

  async function answer(
    request: IncomingMessage,
    response: ServerResponse,
    next?: () => unknown,
  ): Promise<void> {
    const { url = '', originalUrl } = request as IncomingMessage & { readonly originalUrl?: string };
    // A framework may have removed the base path, as `app.use('/admin', …)` of Express does.
    const target = targetOf(originForm(url), next) ?? targetOf(originForm(originalUrl ?? url), next);
    const handled =
      target === undefined
        ? undefined
        : await admin.handle(new NodeRequest(request, target, response, senderOf(request, hooks, tell)));
    if (handled?.matched === true) await send(request, response, handled.response);
    // Without the await, a rejection of an async function would end the process.
    else if (next !== undefined) await next();
    else await send(request, response, notFound);
  }
}

/**
 * Creates a function that begins a pipelined request when the request before it is answered, and never if the
 * connection closes before or with that answer (RFC 9112 §9.6). Otherwise a client that reads nothing could make the
 * process render thousands of lists, and a command could be done without an answer.
 */
function createTurns(): (request: IncomingMessage, response: ServerResponse, begin: () => void) => void {
  const last = new WeakMap<object, ServerResponse>();
  return ({ socket, httpVersionMajor }, response, begin) => {
    // The streams of an HTTP/2 connection do not wait for each other.
    const before = httpVersionMajor === 1 ? last.get(socket) : undefined;
    last.set(socket, response);
    if (before === undefined) {
      begin();
      return;
    }
    const goOn = (): void => {
      if (!socket.destroyed && before.getHeader('connection') !== 'close') begin();
    };
    if (before.writableFinished) goOn();
    else before.once('close', goOn);
  };
}

/** Removes the origin of a target in absolute form, which is allowed too (RFC 9112 §3.2.2). */
function originForm(url: string): string {
  if (url.startsWith('/')) return url;
  return url.replace(/^https?:\/\/[^/?]*/i, '');
}

/**
 * A request of the interface. A class, because a getter in a literal takes several times as long. The signal is made
 * when it is read, because to make one takes longer than to find a resource, and most requests need none.
 */
class NodeRequest implements AdminRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: Record<string, string | undefined>;
  declare readonly peer?: string;
  declare readonly principal?: () => Promise<Principal | null>;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  #gone: AbortController | undefined;

  constructor(
    request: IncomingMessage,
    target: string,
    response: ServerResponse,
    sender: ReturnType<typeof senderOf>,
  ) {
    this.method = request.method ?? 'GET';
    this.target = target;
    this.headers = headersOf(request);
    this.#request = request;
    this.#response = response;
    Object.assign(this, sender);
  }

  readonly body = (limit: number): Promise<Uint8Array> => readBody(this.#request, limit);

  /** Aborts when the client disconnects before the response was sent. */
  get signal(): AbortSignal {
    if (this.#gone === undefined) {
      const [gone, response] = [new AbortController(), this.#response];
      this.#gone = gone;
      const leave = (): void => {
        if (!response.writableEnded) gone.abort();
      };
      if (isClosed(response)) leave();
      else response.once('close', leave);
    }
    return this.#gone.signal;
  }
}

/** Whether a response is closed. A response of `node:http2` has no `closed`; its stream has. */
function isClosed(response: ServerResponse): boolean {
  return streamOf(response)?.closed ?? response.closed;
}

/** The stream of a response of `node:http2`. */
function streamOf(response: ServerResponse & { readonly stream?: ServerHttp2Stream }) {
  return response.stream;
}

/**
 * The headers of a request. Node keeps only the first of several headers such as `Authorization`; the interface gets
 * them all, as from `fetch`. HTTP/2 has the host in a pseudo-header.
 */
function headersOf({ rawHeaders }: IncomingMessage): Record<string, string | undefined> {
  // One pass: a request has up to 2,000 headers. Without a prototype, every name is a name like any other.
  const headers = Object.create(null) as Record<string, string | undefined>;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]?.toLowerCase() ?? '';
    const value = rawHeaders[at + 1] ?? '';
    const before = headers[name];
    headers[name] = before === undefined ? value : `${before}${name === 'cookie' ? '; ' : ', '}${value}`;
  }
  const host = headers[':authority'];
  if (host !== undefined) headers['host'] = host;
  return headers;
}

/**
 * Reads the body, and stops once the body is longer than the limit. A body that was read before is taken from the
 * request.
 */
async function readBody(request: IncomingMessage, limit: number): Promise<Uint8Array> {
  if (request.readableDidRead) return givenBody(request, limit);
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > limit) break;
  }
  return Buffer.concat(chunks, length);
}

async function send(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: AdminResponse,
): Promise<void> {
  const all: Record<string, string | number> = Object.assign({}, headers);
  const isEarly = !hasEnded(request, response);
  if (isEarly) forgoRest(request, response);
  if (typeof body === 'string') all['content-length'] = Buffer.byteLength(body);
  response.writeHead(status, all);
  if (typeof body === 'object') await sendPieces(response, body);
  else if (isEarly && request.httpVersionMajor === 1) await endAfterRest(request, response, body);
  else response.end(body);
}

/**
 * Makes the response the last use of the connection, or of the stream of HTTP/2: nobody reads the rest of the body.
 *
 * @see RFC 9112 §9.6; RFC 9113 §8.1.
 */
function forgoRest({ httpVersionMajor }: IncomingMessage, response: ServerResponse): void {
  if (httpVersionMajor === 1) response.setHeader('connection', 'close');
  const stream = streamOf(response);
  if (stream !== undefined) resetOnceSent(stream);
}

/** The pause between two looks at a stream whose response is on its way. */
const lookMs = 5;

/**
 * Resets a stream of HTTP/2 when the whole response was sent, with the mark of its end: a reset before that mark makes
 * a client discard the response. No event of the stream says so.
 */
function resetOnceSent(stream: ServerHttp2Stream): void {
  const look = setInterval(() => {
    if (!stream.destroyed && stream.state.localClose !== 1) return;
    clearInterval(look);
    if (stream.destroyed) return;
    // Without an error, so that the client does not discard the response.
    stream.close();
    // Otherwise the bytes that have arrived would stay until the connection ends.
    stream.destroy();
  }, lookMs);
  look.unref();
}

/** Whether the client has sent its whole request. HTTP/2 says so of a request without a body only at its stream. */
function hasEnded({ complete }: IncomingMessage, response: ServerResponse): boolean {
  return complete || streamOf(response)?.endAfterHeaders === true;
}

/** How long the rest of a body is discarded before the connection closes. */
const lingerMs = 1000;

/**
 * Sends the response at once, and closes the connection when the client has stopped sending. A connection that closes
 * before is reset, and a proxy that still sends a body then loses the response.
 */
async function endAfterRest(
  request: IncomingMessage,
  response: ServerResponse,
  body: string | undefined,
): Promise<void> {
  if (body === undefined) response.flushHeaders();
  else response.write(body);
  const signal = AbortSignal.timeout(lingerMs);
  await finished(request.resume(), { signal, cleanup: true }).catch(() => undefined);
  response.end();
}

/**
 * Sends pieces as fast as the client takes them. If they fail, the response breaks, so that the client does not take a
 * part for the whole. That a client leaves, or that the host ends the response, is no error. A stream of Node around
 * the pieces would take half as much memory again for each reader of events.
 */
async function sendPieces(response: ServerResponse, pieces: AsyncIterable<Uint8Array>): Promise<void> {
  let fault: Error | undefined;
  let wake = (): void => undefined;
  const goOn = (): void => {
    wake();
  };
  // Once for all pieces: a middleware that compresses takes the listeners of `drain` to a stream of its own.
  response.on('drain', goOn);
  response.on('close', goOn);
  response.on('error', (error) => {
    fault = error;
    goOn();
  });
  try {
    for await (const piece of pieces) {
      if (isClosed(response) || response.writableEnded) return;
      if (!response.write(piece)) await new Promise<void>((resolve) => (wake = resolve));
      if (fault !== undefined) throw fault;
    }
  } catch (error) {
    // Without an error, HTTP/2 would end the stream as if it were whole.
    response.destroy(error instanceof Error ? error : new Error('The answer has failed', { cause: error }));
    throw error;
  }
  response.end();
}
