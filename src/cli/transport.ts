/**
 * The transport of the command line: requests over `node:http` and `node:https`. `fetch` takes no certificates of one's
 * own, and reaches no port that browsers refuse.
 */
import { request as requestHttp, type ClientRequest, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { SecureContextOptions } from 'node:tls';
import { urlToHttpOptions } from 'node:url';

import type { Send } from '../client/index.ts';
import type { AdminRequest } from '../index.ts';

/** Where the interface is, and how to reach it. */
export interface Remote {
  readonly url: URL;
  /** Certificates, for https. */
  readonly tls: Pick<SecureContextOptions, 'ca' | 'cert' | 'key'>;
  /** How long nothing may come, in milliseconds. A command may take longer. */
  readonly timeoutMs: number;
  /** Headers of every request. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A request that got no answer, or only a part of one. */
export class TransportError extends Error {
  override readonly name = 'TransportError';
  override readonly cause: NodeJS.ErrnoException;
  /** Whether the server can have got the request. */
  readonly wasSent: boolean;

  constructor(cause: NodeJS.ErrnoException, wasSent: boolean) {
    super(cause.message);
    this.cause = cause;
    this.wasSent = wasSent;
  }
}

/** The code of the error of a server that says nothing. */
export const silent = 'SILENT';

/** How long a gateway may take for a command, in milliseconds. */
const commandMs = 300_000;

/** Whether a request changes nothing. */
export function isReading({ method, target }: AdminRequest): boolean {
  return method === 'GET' || target.includes('dry_run=');
}

/** Carries requests to a remote. Follows no redirect: log-in and passwords are for this address alone. */
export function transportTo({ url, tls, timeoutMs, headers }: Remote): Send {
  const begin = url.protocol === 'https:' ? requestHttps : requestHttp;
  const root = url.pathname.replace(/\/$/, '');
  return (asked) =>
    new Promise((resolve, reject) => {
      const given = Object.entries({ ...headers, ...asked.headers }).filter(
        ([, value]) => value !== undefined,
      );
      const request = begin({
        ...urlToHttpOptions(url),
        ...tls,
        method: asked.method,
        path: root + asked.target,
        headers: Object.fromEntries(given) as Record<string, string>,
        timeout: isReading(asked) ? timeoutMs : Math.max(timeoutMs, commandMs),
        ...(asked.signal === undefined ? {} : { signal: asked.signal }),
      });
      const wasSent = watchConnection(request, url);
      const fail = (error: NodeJS.ErrnoException): void => reject(new TransportError(error, wasSent()));
      request.once('response', (response) => {
        request.off('error', fail);
        // What goes wrong from here on reaches the reader of the body.
        request.on('error', () => undefined);
        resolve(received(request, response));
      });
      // A server that changes the protocol sends no answer.
      request.once('upgrade', (response, socket) => {
        socket.destroy();
        resolve(received(request, response));
      });
      request.on('error', fail);
      request.on('timeout', () => void request.destroy(silence()));
      // The client sends texts.
      request.end(asked.body as string | undefined);
    });
}

function silence(): Error {
  return Object.assign(new Error('nothing came'), { code: silent });
}

/** Gives a function that says whether the request can have left this machine. */
function watchConnection(request: ClientRequest, { protocol }: URL): () => boolean {
  let isConnected = false;
  request.once('socket', (socket) => {
    // The socket of an earlier request is connected.
    isConnected = !socket.connecting;
    if (isConnected) return;
    socket.once(protocol === 'https:' ? 'secureConnect' : 'connect', () => {
      isConnected = true;
    });
  });
  return () => isConnected;
}

function received(request: ClientRequest, response: IncomingMessage): Awaited<ReturnType<Send>> {
  const { statusCode = 0, headers } = response;
  // The client itself watches the heartbeats of a stream.
  if (headers['content-type']?.startsWith('text/event-stream') === true) request.setTimeout(0);
  request.on('timeout', () => void response.destroy(silence()));
  return {
    status: statusCode,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
    body: bodyOf(response),
  };
}

async function* bodyOf(response: IncomingMessage): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* response as AsyncIterable<Uint8Array>;
  } catch (error) {
    throw new TransportError(error as NodeJS.ErrnoException, true);
  }
}
