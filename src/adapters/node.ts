/**
 * The adapter for `node:http` and everything that takes its request and response.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import type { Admin, AdminRequest, AdminResponse, Principal } from '../index.ts';
import { mountAt, notFound } from './mount.ts';

/**
 * How an administration interface is put behind `node:http`.
 *
 * @public
 */
export interface NodeOptions {
  /** Path under which the interface stands, such as `/admin`; the root by default. It begins with a slash. */
  readonly basePath?: string;
  /** Whoever the host has authenticated; `undefined` is 401. Left out when the interface itself authenticates. */
  readonly principalOf?: (request: IncomingMessage) => Principal | undefined | Promise<Principal | undefined>;
  /** Told of what goes wrong in here. Does nothing by default. */
  readonly onError?: (error: unknown) => void;
}

/**
 * Puts an administration interface behind `node:http`.
 *
 * @param admin - the running interface
 * @param options - where it stands, and what the host does itself; a RangeError is thrown when `basePath` does not begin
 *   with a slash
 * @returns a request listener. A third argument is called for what is not of this interface; without it the answer is
 *   a 404 `route-not-found`
 *
 * @example
 * ```ts
 * import { createServer } from 'node:http';
 * import { createAdmin, createSnapshot } from 'gateway-admin-core';
 * import { createHandler } from 'gateway-admin-core/node';
 *
 * const gateway = { apply: async () => {}, inspect: async () => 'in-place' as const };
 * const admin = createAdmin({ snapshot: createSnapshot({}), gateway });
 * const server = createServer(createHandler(admin));
 * server.listening; // => false
 * ```
 *
 * @public
 */
export function createHandler(
  admin: Admin,
  options: NodeOptions = {},
): (request: IncomingMessage, response: ServerResponse, next?: () => void) => void {
  const { onError } = options;
  const targetOf = mountAt(options.basePath);
  return (request, response, next) => {
    answer(request, response, next).catch((error: unknown) => {
      // A client that left in the middle of a list is no fault of anybody.
      if (!response.destroyed) onError?.(error);
      if (!response.headersSent) response.writeHead(500);
      response.end();
    });
  };

  async function answer(
    request: IncomingMessage,
    response: ServerResponse,
    next?: () => void,
  ): Promise<void> {
    const target = targetOf(originForm(request.url ?? ''));
    const handled =
      target === undefined
        ? undefined
        : await admin.handle(await toRequest(request, target, response, options));
    if (handled?.matched === true) await send(request, response, handled.response);
    else if (next !== undefined) next();
    else await send(request, response, notFound);
  }
}

/** A target in absolute form is as good (RFC 9112 §3.2.2). */
function originForm(url: string): string {
  return url.replace(/^https?:\/\/[^/?]*/i, '');
}

async function toRequest(
  request: IncomingMessage,
  target: string,
  response: ServerResponse,
  { principalOf }: NodeOptions,
): Promise<AdminRequest> {
  const gone = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) gone.abort();
  });
  return {
    method: request.method ?? 'GET',
    target,
    headers: joined(request.headers),
    body: (limit) => readBody(request, limit),
    signal: gone.signal,
    ...(principalOf === undefined ? {} : { principal: (await principalOf(request)) ?? null }),
  };
}

function joined(headers: IncomingMessage['headers']): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
  );
}

/** Reads the body, and stops once it is longer than the limit. */
async function readBody(request: IncomingMessage, limit: number): Promise<Uint8Array> {
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
  // What is left of a body that nobody reads is not waited for: the connection cannot be used again.
  const closing = request.complete ? {} : { connection: 'close' };
  const length = typeof body === 'string' ? { 'content-length': Buffer.byteLength(body) } : {};
  response.writeHead(status, { ...headers, ...closing, ...length });
  if (typeof body === 'object') await pipeline(Readable.from(body), response);
  else response.end(body);
}
