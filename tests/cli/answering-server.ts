/**
 * Servers that answer as a test likes, in place of an interface.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Answers a request. */
export type Respond = (request: IncomingMessage, response: ServerResponse) => void;

/** Gives the same answer to every request. */
export function answering(body: unknown, status = 200, type = 'application/json'): Respond {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return (_request, response) =>
    void response.writeHead(status, { 'content-type': type, etag: '"1"' }).end(text);
}

/** Opens servers, which are closed after each test, and gives their addresses. */
export function answeringServers(after: (close: () => void) => void): (respond: Respond) => Promise<string> {
  const closing: (() => void)[] = [];
  after(() => {
    for (const close of closing.splice(0)) close();
  });
  return async (respond) => {
    const server = createServer(respond).listen(0, '127.0.0.1');
    closing.push(() => server.close().closeAllConnections());
    await once(server, 'listening');
    return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  };
}
