/**
 * A session: one client, its one connection to a server, and what the administration interface is told of them.
 *
 * A client cannot change over to another connection: its transaction and its settings are in the old one. So it is
 * disconnected when its connection ends. But when the administrator closes the connection of a client that waits for
 * no answer, the session lives on until the client speaks next.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

import type { Admin, Server, Service } from 'gateway-admin-core';

import { findUser, startRelay } from './relay.ts';

/** How long a server may take to accept a connection, and to take in what its client left behind. */
const patienceMs = 5000;

export type OpenSession = ReturnType<typeof openSession>;

export function openSession(admin: Admin, id: number, client: Socket, service: Service, server: Server) {
  const backend = connect({ host: server.settings.address, port: server.settings.port, noDelay: true });
  const { statistics, idleSeconds, isAtRest } = startRelay(client, backend);
  const [connected, address] = [Date.now(), client.remoteAddress ?? ''];
  const session = { state: 'Session ready for routing', user: '', address, connected };
  const connection = { session: id, connected, id: 1 };
  let outlives = false;

  admin.report([
    { type: 'session.opened', id, service: service.name, ...session },
    { type: 'connection.opened', ...connection, server: server.name, role: 'Backend', state: 'In use' },
  ]);
  findUser(client, (user) => admin.report({ type: 'session.updated', id, connected, user }));
  backend.setTimeout(patienceMs, () => backend.destroy());
  backend.once('connect', () => backend.setTimeout(0));
  client.setTimeout((service.settings.connection_timeout ?? 0) * 1000, () => client.destroy());
  backend.once('close', () => {
    admin.report({ type: 'connection.closed', ...connection });
    if (outlives) client.resume();
    else client.destroySoon();
  });
  client.once('close', () => {
    admin.report({ type: 'session.closed', id, connected });
    backend.setTimeout(patienceMs).destroySoon();
  });
  // A socket that fails is closed next, and that is all there is to do.
  for (const socket of [client, backend]) socket.on('error', () => undefined);

  return {
    connected,
    statistics,
    idleSeconds,
    isConnected: () => !backend.destroyed,
    /** Closes the client and the connection. */
    close: () => Promise.all([closed(client), closed(backend)]),
    /** Closes the connection. */
    disconnect(): Promise<void> {
      outlives = isAtRest();
      return closed(backend);
    },
  };
}

/** Closes a socket at once, with whatever is still in it. */
async function closed(socket: Socket): Promise<void> {
  if (socket.closed) return;
  const closing = once(socket, 'close');
  socket.destroy();
  await closing;
}
