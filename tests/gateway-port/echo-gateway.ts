import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';

import { createGatewayPort, type OpenedGatewayPort, type Wanted } from 'gateway-admin-core/gateway-port';

type Service = Wanted<'service', 'max_connection' | 'connection_timeout' | 'drain'>;

/** A gateway that sends back what it gets. */
export function createEchoGateway(): OpenedGatewayPort {
  const services = new Map<string, { wanted: Service; readonly open: Map<string, Server> }>();
  const clients = new Map<number, { readonly socket: Socket; readonly connected: number; service: string }>();
  let lastId = 0;

  async function apply(wanted: Service | undefined, { key, signal }: { key: string; signal: AbortSignal }) {
    const open = services.get(key)?.open ?? new Map<string, Server>();
    if (wanted === undefined) services.delete(key);
    else services.set(key, { wanted, open });
    const listeners = wanted?.state === 'started' ? wanted.listeners : [];
    for (const [name, server] of open) {
      if (listeners.some((each) => each.key === name)) continue;
      server.close(); // open sessions continue
      open.delete(name);
    }
    for (const { key: name, port, address } of listeners) {
      if (open.has(name)) continue;
      const server = createServer((socket) => welcome(key, socket)).listen(port, address);
      open.set(name, server);
      await once(server, 'listening', { signal });
    }
  }

  function welcome(service: string, socket: Socket) {
    const { max_connection: most = 0, connection_timeout: seconds = 0 } = services.get(service)?.wanted ?? {};
    const open = [...clients.values()].filter((each) => each.service === service);
    if (most > 0 && open.length >= most) return void socket.destroy();
    const [id, connected, address] = [(lastId += 1), Date.now(), socket.remoteAddress ?? ''];
    clients.set(id, { socket, connected, service });
    gateway.report({ type: 'session.opened', id, connected, service, user: 'guest', address, state: 'open' });
    socket.setTimeout(seconds * 1000, () => socket.destroy()).on('error', () => socket.destroy());
    socket.once('close', () => {
      clients.delete(id);
      gateway.report({ type: 'session.closed', id, connected });
    });
    socket.pipe(socket);
  }

  const gateway = createGatewayPort({
    services: {
      fields: ['max_connection', 'connection_timeout', 'drain'],
      apply,
      read(key, applied) {
        const { open = new Map<string, Server>() } = services.get(key) ?? {};
        const listening = [...open].filter(([, server]) => server.listening).map(([name]) => name);
        return applied && { ...applied, listening };
      },
    },
    closeSessions(sessions) {
      for (const { id } of sessions) clients.get(id)?.socket.destroy();
    },
    flushLogs: () => undefined, // no message is ever pending
    close() {
      for (const { open } of services.values()) for (const server of open.values()) server.close();
      for (const { socket } of clients.values()) socket.destroy();
    },
  });
  return gateway;
}
