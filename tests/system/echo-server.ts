/**
 * A server that says what it is told, with its name in front, if it has one: so one sees which server was reached.
 */
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';

export interface EchoServer {
  readonly port: number;
  /** How many connections were ever made, those of monitors among them. */
  readonly connections: number;
  /** Ends it with all its connections. */
  close(this: void): Promise<void>;
}

/** Opens one on 127.0.0.1. */
export async function openEchoServer(name: string, port = 0): Promise<EchoServer> {
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
    if (name === '') socket.pipe(socket);
    else socket.on('data', (chunk) => socket.write(`${name} ${chunk.toString()}`));
  });
  await once(server.listen(port, '127.0.0.1'), 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return connections;
    },
    async close() {
      if (!server.listening) return;
      const closing = once(server.close(), 'close');
      for (const socket of sockets) socket.destroy();
      await closing;
    },
  };
}
