/**
 * A session: one client, its one connection to a server, and the reports to the administration interface.
 *
 * The transaction and the settings of a client belong to one connection, so the client cannot move to another
 * connection. If the connection ends, the gateway disconnects the client. Exception: if the administrator closes the
 * connection while the client waits for no answer, the session continues until the next message of the client.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

import type { Admin, Server, Service } from 'gateway-admin-core';

import { placeOf } from './place.ts';
import { isEncryptionRequest, userIn } from './protocol.ts';
import { startRelay } from './relay.ts';
import { turnAway } from './turn-away.ts';

/** The time for a server to accept a connection, and to receive the last bytes of a client. */
const patienceMs = 5000;

export type OpenSession = ReturnType<typeof openSession>;

export function openSession(admin: Admin, id: number, client: Socket, service: Service, server: Server) {
  const backend = connect({ ...placeOf(server.settings), noDelay: true });
  client.pause(); // until the server has accepted
  const { statistics, idleSeconds, isAtRest } = startRelay(client, backend);
  const [connected, address] = [Date.now(), client.remoteAddress ?? ''];
  const session = { state: 'Session ready for routing', user: '', address, connected };
  const connection = { session: id, connected, id: 1 };
  let [hasServer, outlives] = [false, false];
  let refusal = 'it gives no answer';

  admin.report([
    { type: 'session.opened', id, service: service.name, ...session },
    { type: 'connection.opened', ...connection, server: server.name, role: 'Backend', state: 'In use' },
  ]);
  client.on('data', function look(packet: Buffer) {
    if (isEncryptionRequest(packet)) return; // The server refuses encryption, and the client continues without.
    client.off('data', look);
    const user = userIn(packet);
    if (user !== undefined) admin.report({ type: 'session.updated', id, connected, user });
  });
  backend.setTimeout(patienceMs, () => backend.destroy());
  backend.once('connect', () => {
    hasServer = true;
    backend.setTimeout(0);
    client.resume();
  });
  backend.once('close', () => {
    // The end of a session ends its connections.
    if (!client.closed) admin.report({ type: 'connection.closed', ...connection });
    if (outlives) client.resume();
    else if (hasServer || client.destroyed) client.destroySoon();
    else
      turnAway(
        client.removeAllListeners('data'),
        '57P03',
        `The server ${server.name} does not accept clients: ${refusal}.`,
      );
  });
  client.once('close', () => {
    admin.report({ type: 'session.closed', id, connected });
    backend.setTimeout(patienceMs).destroySoon();
  });
  // Node closes a socket after an error, and the `close` handler does the rest.
  client.on('error', () => undefined);
  backend.on('error', ({ message }) => (refusal = message));

  return {
    connected,
    service: service.key,
    statistics,
    idleSeconds,
    isConnectedTo: (key: string) => key === server.key && !backend.destroyed,
    /** Closes the client and the connection. */
    close: () => Promise.all([closed(client), closed(backend)]),
    /** Closes the connection, if it is on the server. */
    async disconnect(key: string): Promise<void> {
      if (key !== server.key) return;
      outlives = isAtRest();
      await closed(backend);
    },
  };
}

/** Closes a socket at once; bytes that were not sent are lost. */
async function closed(socket: Socket): Promise<void> {
  if (socket.closed) return;
  const closing = once(socket, 'close');
  socket.destroy();
  await closing;
}
