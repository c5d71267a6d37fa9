import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { Writable } from 'node:stream';

import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import {
  createAdmin,
  createSnapshot,
  patchFilter,
  type Admin,
  type Effect,
  type GatewayDocument,
  type Server as AdminServer,
  type Service,
} from 'gateway-admin-core';
import type { OpenedGatewayPort } from 'gateway-admin-core/gateway-port';
import { gatewayAudits, type AuditClient, type GatewayAudits } from 'gateway-admin-core/testing';

import { startingDocument } from '../../examples/gateway/document.ts';
import { Gateway } from '../../examples/gateway/gateway.ts';
import { effectTypes } from '../support/effect-type.ts';
import { connectSocket, startup } from './socket-client.ts';

/** The answer of a server: it is ready for a query. */
const ready = 'Z\0\0\0\x05I';

const servers: Server[] = [];

const context = { commandId: 'c-1', signal: new AbortController().signal };

/** Opens a server that is ready for a query after anything that it is sent. */
async function openServer(): Promise<number> {
  const server = createServer((socket) => {
    socket.on('data', () => socket.write(ready)).on('error', () => undefined);
  });
  servers.push(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

/** Four services on two servers, a filter, two monitors; some of them started, and some stopped. */
async function auditedDocument(): Promise<GatewayDocument> {
  const place = { address: '127.0.0.1', protocol: 'postgresql' };
  const ports = await Promise.all([openServer(), openServer()]);
  const service = (
    name: string,
    server: string,
    state: 'started' | 'stopped',
  ): NonNullable<GatewayDocument['services']>[number] => ({
    ...{ name, state, router: 'readconnroute', servers: [`/servers/${server}`] },
    listeners: ['Clients', 'Others'].map((each) => ({ name: each, ...place, port: 0 })),
  });
  const monitor = {
    module: 'tcpmon',
    servers: ['/servers/one', '/servers/two'],
    monitor_interval: 200,
  };
  return startingDocument({
    servers: ['one', 'two', 'spare'].map((name, index) => ({ name, ...place, port: ports[index % 2] ?? 0 })),
    services: [
      service('First', 'one', 'started'),
      service('Second', 'two', 'started'),
      service('Third', 'one', 'stopped'),
      service('Fourth', 'two', 'stopped'),
    ],
    filters: [{ name: 'Log', module: 'statementlog', parameters: { match: { value: 'drop' } } }],
    monitors: [
      { name: 'Watch', ...monitor },
      { name: 'Probe', ...monitor, state: 'stopped' },
    ],
  });
}

async function open(admin: Admin): Promise<OpenedGatewayPort> {
  const gateway = new Gateway();
  await gateway.open(admin);
  return gateway.port;
}

/** Closes the port of a server. */
function interrupt({ settings: { port } }: AdminServer): Promise<() => Promise<void>> {
  const server = servers.find((each) => (each.address() as AddressInfo | null)?.port === port);
  server?.close();
  return Promise.resolve(async () => {
    if (server !== undefined) await once(server.listen(port, '127.0.0.1'), 'listening');
  });
}

/** Connects a client that is at rest: it has an answer. */
async function connect({ listeners: [listener] }: Service): Promise<AuditClient> {
  const { ask, closed, close } = await connectSocket(listener?.port ?? 0);
  let isConnected = true;
  void closed.then(() => (isConnected = false));
  expect(await ask(startup)).toBe(ready);
  return { isConnected: () => isConnected, disconnect: close };
}

let audits: GatewayAudits;

beforeAll(async () => {
  // In its own process, Jest replaces the method by a function that never calls the callback. The example waits for it.
  const write = Writable.prototype.write.bind(process.stdout) as typeof process.stdout.write;
  jest.spyOn(process.stdout, 'write').mockImplementation(write);
  const supports = ['create', 'delete', 'drain'] as const;
  audits = gatewayAudits(await auditedDocument(), open, { connect, interrupt, supports });
});

afterAll(() => {
  jest.restoreAllMocks();
  for (const server of servers) server.close();
});

it('the example gateway passes the audits of gateways', async () => {
  const failures: string[] = [];
  for (const { id, run } of audits)
    await run().catch((error: unknown) => failures.push(`${id}: ${String(error)}`));
  expect(failures).toEqual([]);
  expect([...new Set(audits.map(({ id }) => id.split('/')[0]))].sort()).toEqual(
    [...effectTypes, 'reports', 'unknown'].sort(),
  );
  const why = 'it needs the option obstruct';
  expect(audits.leftOut).toEqual(['retry', 'whole'].map((law) => ({ id: `service.start/${law}`, why })));
});

it('the example gateway refuses a parameter that its filter does not have, also without its veto', async () => {
  const snapshot = createSnapshot({ filters: [{ name: 'Log', module: 'statementlog' }] });
  const gateway = new Gateway();
  const admin = createAdmin({ snapshot, gateway: gateway.port });
  await gateway.open(admin);
  const patched = (path: string) =>
    admin.execute((now, within) => patchFilter(now, 'Log', [{ op: 'add', path, value: 'a' }], within));
  expect(await patched('/parameters/match')).toMatchObject({ outcome: 'accepted' });
  const detail =
    '/filters/Log: /parameters/exclude: the filters of this gateway have one parameter, "match": {"value": TEXT}.';
  expect(await patched('/parameters/exclude')).toMatchObject({ outcome: 'refused', problem: { detail } });
  await gateway.close();
});

it('the example gateway refuses an effect that it does not know, and does not say that the effect is in place', async () => {
  const gateway = new Gateway();
  await gateway.open(createAdmin({ snapshot: createSnapshot({}), gateway: gateway.port }));
  const unknown = { type: 'service.pause', resource: '/services/S', service: 's' } as unknown as Effect;
  await expect(gateway.port.apply(unknown, context)).rejects.toThrow('This gateway cannot do service.pause.');
  expect(await gateway.port.inspect(unknown, context)).toBe('not-in-place');
  await gateway.close();
});
