/**
 * A session: one client, its one connection to a server, and the reports to the administration interface.
 *
 * The transaction and the settings of a client belong to one connection, so the client cannot move to another
 * connection. If the connection ends, the gateway tells the client why, and disconnects it. Exception: if the
 * administrator closes the connection while the client waits for no answer, the session continues until the next
 * message of the client.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

import type { Admin, Server, Service } from 'gateway-admin-core';

import type { SessionBeginning } from './beginning.ts';
import { placeOf } from './place.ts';
import { fatalError, hasKey, keyIn, withUser, type SqlState } from './protocol.ts';
import { startRelay } from './relay.ts';
import { createVersionWriter } from './server-version.ts';
import { createStatementLog } from './statement-log.ts';
import { turnAway } from './turn-away.ts';

/** The time for a server to accept a connection, and to receive the last bytes of a client. */
const patienceMs = 5000;
/** The time for a client to receive the reason of its end. */
const graceMs = 100;

export type OpenSession = ReturnType<typeof openSession>;

/** Opens a session for a client that has begun. */
export function openSession(
  admin: Admin,
  id: number,
  client: Socket,
  { packet, user }: SessionBeginning,
  service: Service,
  server: Server,
) {
  const backend = connectTo(server, withUser(packet, service.settings.user));
  client.pause(); // until the server has accepted
  const fromClient = createStatementLog(admin, service.key, id);
  const fromServer = createVersionWriter(service.settings.version_string);
  const relay = startRelay(client, backend, { fromClient, fromServer });
  const [connected, address] = [Date.now(), client.remoteAddress ?? ''];
  let [hasServer, outlives, refusal] = [false, false, 'it gives no answer'];
  let end: readonly [SqlState, string] = ['08006', `The server ${server.name} has closed the connection.`];
  const keyOf = watchKey(backend);

  const connections = [{ id: 1, server: server.name, role: 'Backend', state: 'In use' }];
  const session = { user, address, connected, state: 'Session ready for routing', connections };
  admin.report({ type: 'session.opened', id, service: service.name, ...session });
  backend.once('connect', () => {
    hasServer = true;
    client.resume();
  });
  backend.once('close', () => {
    // The end of a session ends its connections.
    if (!client.closed) admin.report({ type: 'connection.closed', session: id, connected, id: 1 });
    // Not if the client has sent a message since then: the message has no answer.
    if (outlives && relay.isAtRest()) client.once('data', endClient).resume();
    else if (hasServer || client.destroyed) endClient();
    else turnAway(client, '57P03', `The server ${server.name} does not accept clients: ${refusal}.`);
  });
  client.once('close', () => {
    admin.report({ type: 'session.closed', id, connected });
    backend.setTimeout(patienceMs).destroySoon();
  });
  backend.on('error', ({ message }) => (refusal = message));

  /** Tells the client why, if an error may follow what it has had, and closes its connection. */
  function endClient(): void {
    if (client.writable && relay.isBetweenMessages()) client.write(fatalError(...end));
    client.destroySoon();
  }

  return {
    connected,
    service: service.key,
    statistics: relay.statistics,
    idleSeconds: relay.idleSeconds,
    isConnectedTo: (name: string) => name === server.key && !backend.destroyed,
    /** Sends the client the reason, and closes the client and the connection. */
    async close(reason: string): Promise<void> {
      [outlives, end] = [false, ['57P01', reason]];
      endClient();
      await Promise.all([closed(client, graceMs), closed(backend)]);
    },
    /** Closes the connection, if it is on the server. */
    async disconnect(from: string): Promise<void> {
      if (from !== server.key) return;
      outlives = true;
      end = ['57P01', `The administrator has closed the connection to ${server.name}.`];
      await closed(backend);
    },
    /** Whether the server has given the client the key of a request to cancel a query. */
    hasKeyOf: (request: Buffer) => hasKey(request, keyOf()),
    cancel: (request: Buffer, from: Socket) => passOn(request, from, server),
  };
}

/** Connects to a server, and sends it the first packet of the client. */
function connectTo({ settings }: Server, packet: Buffer): Socket {
  const backend = connect({ ...placeOf(settings), noDelay: true });
  backend.setTimeout(patienceMs, () => backend.destroy()).once('connect', () => backend.setTimeout(0));
  backend.write(packet);
  return backend;
}

/** Watches for the key that a server gives to its client first. */
function watchKey(backend: Socket): () => ReturnType<typeof keyIn> {
  let [first, key] = [Buffer.alloc(0), undefined as ReturnType<typeof keyIn>];
  backend.on('data', function look(chunk: Buffer) {
    first = Buffer.concat([first, chunk]);
    key = keyIn(first);
    if (key !== undefined) backend.off('data', look);
  });
  return () => key;
}

/** Sends a request to cancel a query to a server, and disconnects the client that has sent it. */
function passOn(request: Buffer, from: Socket, { settings }: Server): void {
  const sent = connect(placeOf(settings)).setTimeout(patienceMs, () => sent.destroy());
  sent.on('error', () => undefined).once('close', () => from.destroySoon());
  sent.resume().end(request);
}

/** Closes a socket, at the latest after some time; bytes that were not sent until then are lost. */
async function closed(socket: Socket, afterMs = 0): Promise<void> {
  if (socket.closed) return;
  const closing = once(socket, 'close');
  if (afterMs === 0) socket.destroy();
  else setTimeout(() => socket.destroy(), afterMs).unref();
  await closing;
}
