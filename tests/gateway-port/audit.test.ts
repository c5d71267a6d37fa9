/**
 * A gateway made with `createGatewayPort` meets every requirement of a port.
 */
import { once } from 'node:events';
import { connect, createServer } from 'node:net';

import { describe, it } from '@jest/globals';
import type { Admin, Service } from 'gateway-admin-core';
import type { OpenedGatewayPort } from 'gateway-admin-core/gateway-port';
import { gatewayAudits, type AuditClient } from 'gateway-admin-core/testing';

import { createEchoGateway } from './echo-gateway.ts';

// Below the ports that a system gives to clients.
const [one, two, three] = [0, 1, 2].map((nth) => 12_000 + (process.pid % 5000) * 4 + nth) as [
  number,
  number,
  number,
];
const listenerAt = (name: string, port: number) => ({ name, protocol: 'tcp', address: '127.0.0.1', port });
const document = {
  services: [
    { name: 'One', router: 'echo', listeners: [listenerAt('main', one), listenerAt('other', three)] },
    { name: 'Two', router: 'echo', state: 'stopped', listeners: [listenerAt('second', two)] },
    { name: 'Three', router: 'echo', state: 'stopped', max_connection: 3 },
  ],
} as const;

async function open(admin: Admin): Promise<OpenedGatewayPort> {
  const gateway = createEchoGateway();
  await gateway.open(admin);
  return gateway;
}

async function connectTo({ listeners: [listener] }: Service): Promise<AuditClient> {
  const socket = connect(listener?.port ?? 0, listener?.address).on('error', () => undefined);
  socket.write('hello');
  await once(socket, 'data');
  return { isConnected: () => !socket.destroyed, disconnect: () => socket.destroy() };
}

async function takePort({ listeners: [listener] }: Service): Promise<() => Promise<void>> {
  const taken = createServer().listen(listener?.port, listener?.address);
  await once(taken, 'listening');
  return async () => void (await once(taken.close(), 'close'));
}

describe('a gateway of createGatewayPort', () => {
  const audits = gatewayAudits(document, open, { connect: connectTo, obstruct: takePort });
  it.each(audits)('$name', ({ run }) => run());
});
