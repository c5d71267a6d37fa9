import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';

import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { GatewayDocument } from 'gateway-admin-core';
import type { ResultOf } from 'gateway-admin-core/client';

import { buildExamples } from '../support/built-package.ts';
import { openEchoServer, type EchoServer } from './echo-server.ts';
import { endGateways, startOn, until, type RunningGateway } from './running-gateway.ts';
import { connectSocket, startSession, startup, type SocketClient } from './socket-client.ts';

const intervalMs = 50;

type ServiceDocument = NonNullable<GatewayDocument['services']>[number];

let one: EchoServer;
let two: EchoServer;

/** A gateway with one service on two servers, each watched by a monitor of its own. */
async function start(
  service: Partial<ServiceDocument> = {},
  parameters: Readonly<Record<string, Readonly<Record<string, number | string>>>> = {},
  monitor_interval = intervalMs,
): Promise<RunningGateway> {
  const document: GatewayDocument = {
    servers: Object.entries({ one, two }).map(([name, { port }]) => {
      return { name, address: '127.0.0.1', port, protocol: 'postgresql', parameters: parameters[name] ?? {} };
    }),
    services: [
      {
        name: 'S',
        router: 'readconnroute',
        servers: ['/servers/one', '/servers/two'],
        listeners: [{ name: 'L', address: '127.0.0.1', port: 0, protocol: 'postgresql' }],
        ...service,
      },
    ],
    filters: [{ name: 'Log', module: 'statementlog' }],
    monitors: ['one', 'two'].map((name) => {
      return { name, module: 'tcpmon', servers: [`/servers/${name}`], monitor_interval };
    }),
  };
  const gateway = await startOn(document);
  // On a machine that does other things as well, the gateway does not wait for the first probes.
  await until('the servers are up', async () => {
    const found = await Promise.all(['one', 'two'].map((name) => statusOf(gateway, name)));
    return found.every((words) => words.includes('running'));
  });
  return gateway;
}

const clients: SocketClient[] = [];

/** Connects a client that starts a session, unless it is to begin in another way. */
async function connectClient(gateway: RunningGateway, begin = startSession): Promise<SocketClient> {
  const client = await begin(gateway.portOf('S'));
  clients.push(client);
  return client;
}

/** Connects so many clients, one after the other, and gives the names of the servers that they have reached. */
async function reach(gateway: RunningGateway, count: number): Promise<readonly string[]> {
  const names: string[] = [];
  while (names.length < count) {
    const client = await connectClient(gateway);
    names.push((await client.ask('hello')).replace(' hello', ''));
  }
  return names.sort();
}

/** A packet in which a client of PostgreSQL asks for encryption. */
const encryptionRequest = Uint8Array.of(0, 0, 0, 8, 4, 0xd2, 0x16, 0x2f);

/** Connects a client that is turned away, and gives the SQLSTATE and the sentence of the error. */
async function turnAway(gateway: RunningGateway): Promise<readonly string[]> {
  const client = await connectClient(gateway, connectSocket);
  expect(await client.ask(encryptionRequest)).toBe('N');
  const error = await client.ask(startup);
  await client.closed;
  const [, sqlState = '', sentence = ''] =
    /^E.{4}SFATAL\0VFATAL\0C(\w{5})\0M([^\0]+)\0\0$/s.exec(error) ?? [];
  expect(gateway.errors()).toContain(sentence);
  return [sqlState, sentence];
}

async function statusOf(gateway: RunningGateway, name: string): Promise<readonly string[]> {
  return ((await gateway.get(`/servers/${name}`)) as { readonly status: readonly string[] }).status;
}

async function untilDown(gateway: RunningGateway, name: string): Promise<void> {
  await until(`${name} is down`, async () => (await statusOf(gateway, name)).length === 0);
}

/** A client sees its connection close a moment before the gateway does. */
async function untilNoSession(gateway: RunningGateway): Promise<void> {
  const count = async (): Promise<number> => ((await gateway.get('/sessions')) as readonly unknown[]).length;
  await until('no session is open', async () => (await count()) === 0);
}

beforeAll(buildExamples);

beforeEach(async () => {
  [one, two] = await Promise.all([openEchoServer('one'), openEchoServer('two')]);
});

afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  await endGateways();
  await Promise.all([one.close(), two.close()]);
});

/** The error of a service whose servers cannot be used. */
function noServer(why: string): readonly string[] {
  return ['57P03', `The service S has no usable server: ${why}.`];
}

describe('the router of the example gateway', () => {
  it('gives each session to the server with the fewest connections', async () => {
    const gateway = await start();
    expect(await reach(gateway, 4)).toEqual(['one', 'one', 'two', 'two']);
  });

  it('gives a server with three times the weight three times the sessions', async () => {
    const gateway = await start({ weightby: 'power' }, { one: { power: 1 }, two: { power: '3' } });
    expect(await reach(gateway, 4)).toEqual(['one', 'two', 'two', 'two']);
  });

  it('gives a server without weight no session, and one without the parameter its share', async () => {
    const gateway = await start({ weightby: 'power' }, { one: { power: 0 } });
    expect(await reach(gateway, 3)).toEqual(['two', 'two', 'two']);
    const patch = [{ op: 'remove', path: '/servers/1' }];
    expect(await gateway.ask('PATCH', '/services/S', patch)).toMatchObject({ status: 200 });
    expect(await turnAway(gateway)).toEqual(noServer('one has the weight 0'));
  });

  it('spares a server in maintenance, whose sessions go on', async () => {
    const gateway = await start();
    const before = await connectClient(gateway);
    expect(await before.ask('hello')).toBe('one hello');
    const patch = [{ op: 'add', path: '/state/0', value: 'maintenance' }];
    expect(await gateway.ask('PATCH', '/servers/one', patch)).toMatchObject({ status: 200 });
    expect(await reach(gateway, 3)).toEqual(['two', 'two', 'two']);
    expect(await before.ask('again')).toBe('one again');
    expect(await statusOf(gateway, 'one')).toEqual(['maintenance', 'running']);
    for (const path of ['/servers/1', '/servers/0']) {
      const why = path === '/servers/1' ? 'one is in maintenance' : 'the service has no servers';
      const remove = [{ op: 'remove', path }];
      expect(await gateway.ask('PATCH', '/services/S', remove)).toMatchObject({ status: 200 });
      expect(await turnAway(gateway)).toEqual(noServer(why));
    }
  });

  it('goes by what the monitors find, and turns clients away when no server is left', async () => {
    const gateway = await start();
    await one.close();
    await untilDown(gateway, 'one');
    expect(await reach(gateway, 2)).toEqual(['two', 'two']);
    await two.close();
    await untilDown(gateway, 'two');
    expect(await turnAway(gateway)).toEqual(noServer('one is not running, two is not running'));
    one = await openEchoServer('one', one.port);
    await until('one is up', async () => (await statusOf(gateway, 'one')).includes('running'));
    expect(await reach(gateway, 1)).toEqual(['one']);
  });

  it('sends new sessions to the new address of a server', async () => {
    const gateway = await start({ servers: ['/servers/one'] });
    const before = await connectClient(gateway);
    expect(await before.ask('hello')).toBe('one hello');
    const patch = [{ op: 'replace', path: '/port', value: two.port }];
    expect(await gateway.ask('PATCH', '/servers/one', patch)).toMatchObject({ status: 200 });
    expect(await reach(gateway, 1)).toEqual(['two']);
    expect(await before.ask('again')).toBe('one again');
  });

  it('uses the servers that a patch gives a service', async () => {
    const gateway = await start();
    const patch = [{ op: 'remove', path: '/servers/0' }];
    expect(await gateway.ask('PATCH', '/services/S', patch)).toMatchObject({ status: 200 });
    expect(await reach(gateway, 3)).toEqual(['two', 'two', 'two']);
  });
});

describe('a session of the example gateway', () => {
  it('ends with its connection when its client waits for an answer', async () => {
    const gateway = await start();
    const client = await connectClient(gateway);
    await client.ask('hello');
    expect(await gateway.ask('DELETE', '/servers/one/connections')).toEqual({ status: 204 });
    await client.closed;
    await untilNoSession(gateway);
  });

  it('begins with the packet that starts it: a client that checks the port, or speaks another protocol, has none', async () => {
    const gateway = await start();
    const check = await connectClient(gateway, connectSocket);
    const stranger = await connectClient(gateway, connectSocket);
    const waiting = await connectClient(gateway, connectSocket);
    check.close();
    await expect(stranger.ask('GET / HTTP/1.1\r\n\r\n')).rejects.toThrow('closed before an answer');
    // Every packet may come in pieces.
    for (const byte of encryptionRequest.slice(0, -1)) await waiting.send(Uint8Array.of(byte));
    expect(await waiting.ask(encryptionRequest.slice(-1))).toBe('N');
    for (const byte of startup.slice(0, -1)) await waiting.send(byte);
    expect(await gateway.get('/services/S')).toMatchObject({ current_connections: 0, total_connections: 0 });
    expect(await waiting.ask(startup.slice(-1))).toContain('one ');
    expect(await gateway.get('/sessions?fields=user')).toEqual([{ user: 'somebody' }]);
    expect(gateway.errors()).toBe('');
  });

  it('ends when its server does', async () => {
    const gateway = await start({ servers: ['/servers/one'] });
    const client = await connectClient(gateway);
    await client.ask('hello');
    await one.close();
    await client.closed;
    await untilNoSession(gateway);
  });

  it('ends when its client leaves', async () => {
    const gateway = await start();
    const client = await connectClient(gateway);
    await client.ask('hello');
    expect(await gateway.get('/services/S')).toMatchObject({ current_connections: 1, total_connections: 1 });
    client.close();
    await untilNoSession(gateway);
    expect(await gateway.get('/services/S')).toMatchObject({ current_connections: 0, total_connections: 1 });
    expect(await gateway.get('/servers/one/connections')).toEqual([]);
  });

  it('ends with an error when its server cannot be reached', async () => {
    const gateway = await start({ servers: ['/servers/one'] });
    // What the monitor found stays when it is stopped.
    expect(await gateway.ask('PUT', '/monitor/one/stop')).toEqual({ status: 204 });
    await one.close();
    expect(await turnAway(gateway)).toEqual([
      '57P03',
      `The server one does not accept clients: connect ECONNREFUSED 127.0.0.1:${String(one.port)}.`,
    ]);
    await untilNoSession(gateway);
    expect(await gateway.get('/services/S')).toMatchObject({ total_connections: 1 });
  });

  it('ends when its client has been silent for too long', async () => {
    const gateway = await start({ connection_timeout: 1 });
    const client = await connectClient(gateway);
    const since = performance.now();
    await client.closed;
    expect(performance.now() - since).toBeGreaterThan(900);
  });

  it('ends by a new time limit too, if it is open and its client is silent for that long', async () => {
    const gateway = await start();
    const [silent, busy] = [await connectClient(gateway), await connectClient(gateway)];
    let isClosed = false;
    const closing = silent.closed.then(() => (isClosed = true));
    const patch = [{ op: 'add', path: '/connection_timeout', value: 1 }];
    expect(await gateway.ask('PATCH', '/services/S', patch)).toMatchObject({ status: 200 });
    await until('the silent client is closed', async () => {
      expect(await busy.ask('hello')).toBe('two hello');
      return isClosed;
    });
    await closing;
    expect(await busy.ask('hello')).toBe('two hello');
    expect(await gateway.get('/services/S')).toMatchObject({ current_connections: 1 });
  });

  it('is refused when the service has as many as it may have', async () => {
    const gateway = await start({ max_connection: 2 });
    expect(await reach(gateway, 2)).toEqual(['one', 'two']);
    const sentence = 'The service S has as many clients as it may have: 2.';
    expect(await turnAway(gateway)).toEqual(['53300', sentence]);
    expect(await gateway.get('/services/S')).toMatchObject({ current_connections: 2, total_connections: 2 });
    const patch = [{ op: 'replace', path: '/max_connection', value: 3 }];
    expect(await gateway.ask('PATCH', '/services/S', patch)).toMatchObject({ status: 200 });
    expect(await reach(gateway, 1)).toEqual(['one']);
  });

  it('carries more than its buffers hold, whole and in order', async () => {
    await one.close();
    one = await openEchoServer('', one.port);
    const gateway = await start({ servers: ['/servers/one'] });
    const sent = Buffer.concat([Buffer.from(startup), randomBytes(40_000_000)]);
    const socket = connect(gateway.portOf('S'), '127.0.0.1');
    socket.write(sent);
    const path = '/sessions/1/connections?fields=statistics';
    const statistics = async (): Promise<ResultOf<'servers.connections'>['statistics'] | undefined> =>
      ((await gateway.get(path)) as readonly Pick<ResultOf<'servers.connections'>, 'statistics'>[])[0]
        ?.statistics;
    // Nobody reads before everything on the way is full.
    await until('the buffers are full', async () => ((await statistics())?.high_water_events ?? 0) > 0);
    const received: Buffer[] = [];
    socket.on('data', (chunk) => received.push(chunk));
    const length = (): number => received.reduce((sum, chunk) => sum + chunk.length, 0);
    await until('everything has come back', () => length() === sent.length);
    expect(Buffer.concat(received).equals(sent)).toBe(true);
    // It never took in more while a buffer was full.
    const after = await statistics();
    expect(after?.low_water_events).toBe(after?.high_water_events);
    socket.destroy();
  });
});

describe('a monitor of the example gateway', () => {
  it('probes nothing and reports nothing while it is stopped', async () => {
    const gateway = await start();
    const probes = async (more: number): Promise<void> => {
      const enough = two.connections + more;
      await until('the other monitor has made its probes', () => two.connections >= enough);
    };
    expect(await gateway.ask('PUT', '/monitor/one/stop')).toEqual({ status: 204 });
    // A probe may have been on its way.
    await probes(1);
    const before = one.connections;
    await probes(4);
    expect(one.connections).toBe(before);
    await Promise.all([one.close(), two.close()]);
    await untilDown(gateway, 'two');
    expect(await statusOf(gateway, 'one')).toEqual(['running']);
    expect(await gateway.ask('PUT', '/monitor/one/start')).toEqual({ status: 204 });
    await untilDown(gateway, 'one');
  });

  it('goes by a new interval at once', async () => {
    const gateway = await start({}, {}, 3_600_000);
    const patch = [{ op: 'replace', path: '/monitor_interval', value: intervalMs }];
    expect(await gateway.ask('PATCH', '/monitor/one', patch)).toMatchObject({ status: 200 });
    await one.close();
    await untilDown(gateway, 'one');
  });
});

describe('a setting that the example gateway does not have', () => {
  it('is refused in a request and in a dry run, and stays as it was', async () => {
    const gateway = await start();
    const targets = ['/services/S', '/monitors/one', '/filters/Log'];
    const before = await Promise.all(targets.map(gateway.get));
    for (const [target, name, value, detail = `This gateway does not use ${name} of a `] of [
      ['/services/S', 'password', 'correct horse'],
      ['/services/S', 'root_user', true],
      ['/services/S', 'strip_db_esc', true],
      ['/services/S', 'router_options', { router: 'master' }],
      ['/services/S', 'weightby', 'power', 'No server of the service has a parameter "power".'],
      ['/monitors/one', 'read_timeout', 7],
      ['/monitors/one', 'write_timeout', 7],
      [
        '/filters/Log',
        'parameters/exclude',
        'select',
        '/parameters/exclude: the filters of this gateway have one parameter, "match"',
      ],
    ] as const) {
      const body = { code: 'host-setting-unsupported', detail: expect.stringContaining(detail) };
      const patch = [{ op: 'add', path: `/${name}`, value }];
      for (const query of ['', '?dry_run=true'])
        expect(await gateway.ask('PATCH', target + query, patch)).toMatchObject({ status: 422, body });
    }
    expect(await Promise.all(targets.map(gateway.get))).toEqual(before);
  });

  it('is refused in the definition of a new resource, as in a document', async () => {
    const gateway = await start();
    const place = { address: '127.0.0.1', port: 5999, protocol: 'postgresql' };
    const lists = ['/services', '/services/S/listeners', '/servers', '/monitors', '/filters'];
    const before = await Promise.all(lists.map(gateway.get));
    for (const [target, definition, detail] of [
      ['/services', { router: 'teleport' }, '/router: this gateway has one router, "readconnroute".'],
      [
        '/services',
        { router: 'readconnroute', listeners: [{ ...place, name: 'L', ssl: 'required' }] },
        'This gateway does not use ssl of a listener. It uses name, protocol, address, port.',
      ],
      [
        '/services/S/listeners',
        { ...place, protocol: 'mysql' },
        '/listeners/1/protocol: this gateway has one protocol, "postgresql".',
      ],
      [
        '/servers',
        { ...place, protocol: 'mysql' },
        '/protocol: this gateway has one protocol, "postgresql".',
      ],
      [
        '/monitors',
        { module: 'tcpmon', parameters: { user: 'ada' } },
        'This gateway does not use parameters of a monitor. It uses servers, monitor_interval, connect_timeout.',
      ],
      ['/filters', { module: 'tee' }, '/module: this gateway has one filter module, "statementlog".'],
    ] as const) {
      const body = { code: 'host-setting-unsupported', detail: `${target}/New: ${detail}` };
      const json = { 'content-type': 'application/json' };
      for (const query of ['', '?dry_run=true'])
        expect(await gateway.ask('POST', target + query, { name: 'New', ...definition }, json)).toMatchObject(
          { status: 422, body },
        );
    }
    expect(await Promise.all(lists.map(gateway.get))).toEqual(before);
  });
});
