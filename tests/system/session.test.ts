import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterEach, expect, it } from '@jest/globals';
import { createAdmin, createSnapshot } from 'gateway-admin-core';

import { startingDocument } from '../../examples/gateway/document.ts';
import { Gateway } from '../../examples/gateway/gateway.ts';
import { connectSocket, startup } from './socket-client.ts';

let server: Server;
let gateway: Gateway;

/** Opens a gateway in front of a server that is ready for a query after anything that the server is sent. */
async function open() {
  server = createServer((socket) => {
    socket.on('data', () => socket.write('Z\0\0\0\x05I')).on('error', () => undefined);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const place = { protocol: 'postgresql', address: '127.0.0.1' };
  const document = await startingDocument({
    servers: [{ name: 'one', ...place, port: (server.address() as AddressInfo).port }],
    services: [
      {
        ...{ name: 'Sales', router: 'readconnroute', servers: ['/servers/one'] },
        listeners: [{ name: 'Clients', ...place, port: 0 }],
      },
    ],
  });
  gateway = new Gateway();
  const admin = createAdmin({ snapshot: createSnapshot(document), gateway });
  admin.report({ type: 'server.reported', server: 'one', status: ['running'] });
  await gateway.open(admin);
  return { admin, port: document.services?.[0]?.listeners?.[0]?.port ?? 0 };
}

afterEach(async () => {
  await gateway.close();
  server.close();
});

it('says why the connection to the server was closed, also to a client that asks in that moment', async () => {
  const { admin, port } = await open();
  const client = await connectSocket(port);
  await client.ask(startup);
  const [session] = admin.snapshot.sessions;
  const connections = [{ session: session?.id ?? 0, connected: session?.connected ?? 0, id: 1 }];
  // After a timer, the query arrives before the closed connection says that it is closed.
  await sleep(1);
  const answer = client.ask('Q\0\0\0\x0Dselect 1\0');
  const closing = gateway.apply({
    ...{ type: 'connections.close', resource: '/servers/one', server: 'one', connections },
  });
  expect(await answer).toContain('57P01');
  await closing;
});
