/** The HTTP server of the administration interface. */
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { problem } from 'gateway-admin-core';

import type { Closers } from './closing.ts';

/** Where the administration interface is; port 0 stands for any free port. */
export interface Place {
  readonly host: string;
  readonly port: number;
}

/** A server with an open port. */
export interface AdminServer {
  /** The URL. */
  readonly origin: string;
  readonly port: number;
  /** From now on, requests go to this function. Before, they are answered with the problem `not-ready`. */
  serve(this: void, handle: RequestListener): void;
}

const notReady = JSON.stringify(
  problem('not-ready', 'The gateway is starting. Send the request again in a second.'),
);
const notReadyHeaders = {
  'content-type': 'application/problem+json',
  'cache-control': 'no-store',
  'retry-after': '1',
};

/** Opens the port. */
export async function openAdminServer(place: Place, closers: Closers): Promise<AdminServer> {
  let handle: RequestListener = (_request, response) =>
    response.writeHead(503, notReadyHeaders).end(notReady);
  // A page of the console reads every few seconds, and would need a new connection each time.
  const server = createServer({ keepAliveTimeout: 65_000 }, (request, response) => handle(request, response));
  await listen(server, place);
  closers.push(() => server.close().closeAllConnections());
  const { host } = place;
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://${host.includes(':') ? `[${host}]` : host}:${String(port)}`,
    port,
    serve: (next) => {
      handle = next;
    },
  };
}

async function listen(server: Server, { host, port }: Place): Promise<void> {
  try {
    await once(server.listen(port, host), 'listening');
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const advice =
      code === 'EADDRINUSE'
        ? 'Stop the program that has the port, or take any free port: npm start -- --admin-port 0'
        : 'Choose another place with --admin-port and --admin-host.';
    const what = `The administration interface cannot open port ${String(port)} of ${host}: ${message}.`;
    throw new Error(`${what}\n${advice}`, { cause });
  }
}
