/**
 * Parts of the example gateway in this process: its administration interface, its figures, and the bytes of its clients and
 * servers.
 */
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterEach, describe, expect, it } from '@jest/globals';
import {
  createAdmin,
  createBasicAuthentication,
  createSnapshot,
  metricsOf,
  problemTable,
} from 'gateway-admin-core';

import { openAdminServer } from '../../examples/gateway/admin-server.ts';
import { closeAll, type Closers } from '../../examples/gateway/closing.ts';
import { startingDocument } from '../../examples/gateway/document.ts';
import { Gateway } from '../../examples/gateway/gateway.ts';
import { createListener } from '../../examples/gateway/metrics.ts';
import { userIn, withUser } from '../../examples/gateway/protocol.ts';
import { createVersionWriter } from '../../examples/gateway/server-version.ts';
import { createStatementReader } from '../../examples/gateway/statement-log.ts';
import { readExposition } from '../support/exposition.ts';
import { credentials, quickHasher, snapshotOf } from '../support/log-in.ts';
import { runAdmin } from '../support/running-admin.ts';
import { connectSocket, startup } from './socket-client.ts';

const closers: Closers = [];
afterEach(() => closeAll(closers));

describe('the administration interface of the example gateway', () => {
  it('answers with a problem while the gateway starts, and with its handler from then on', async () => {
    const { origin, serve } = await openAdminServer({ host: '127.0.0.1', port: 0 }, closers);
    const early = await fetch(`${origin}/services`);
    expect([early.status, early.headers.get('retry-after')]).toEqual([503, '1']);
    expect(early.headers.get('content-type')).toBe('application/problem+json');
    expect(await early.json()).toMatchObject({
      code: 'not-ready',
      title: problemTable['not-ready'].title,
      detail: expect.stringContaining('Send the request again in a second.'),
    });
    expect((await fetch(`${origin}/services`, { method: 'HEAD' })).status).toBe(503);
    serve((_request, response) => response.end('here'));
    expect(await (await fetch(origin)).text()).toBe('here');
  });
});

const headers = { authorization: credentials('ada', 'engine') };
/** Serves an interface with a log-in. */
async function serve() {
  const { admin } = runAdmin({
    snapshot: await snapshotOf({ ada: 'engine' }),
    hasher: quickHasher,
    access: { authenticate: createBasicAuthentication() },
  });
  const server = createHttpServer(createListener(admin)).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  closers.push(
    () => admin.close(),
    () => server.close().closeAllConnections(),
  );
  const origin = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  const ask = (path: string, init: RequestInit = { headers }) => fetch(origin + path, init);
  return { admin, ask };
}

describe('the figures of the example gateway', () => {
  it('are served to Prometheus at /metrics, with the type of the format', async () => {
    const { admin, ask } = await serve();
    const response = await ask('/metrics');
    expect([response.status, response.headers.get('content-type')]).toEqual([
      200,
      'text/plain; version=0.0.4; charset=utf-8',
    ]);
    const text = await response.text();
    expect(text).toBe(metricsOf(admin));
    expect(readExposition(text).length).toBeGreaterThan(5);
  });

  it('are found by the path alone, and by HEAD without a body', async () => {
    const { admin, ask } = await serve();
    expect(await (await ask('/metrics?x=1')).text()).toBe(metricsOf(admin));
    const [got, asked] = [await ask('/metrics'), await ask('/metrics', { method: 'HEAD', headers })];
    expect([asked.status, await asked.text()]).toEqual([200, '']);
    expect(asked.headers.get('content-type')).toBe(got.headers.get('content-type'));
  });

  it('need the log-in of the interface', async () => {
    const { ask } = await serve();
    const response = await ask('/metrics', {});
    expect([response.status, response.headers.get('content-type')]).toEqual([
      401,
      'application/problem+json',
    ]);
    expect(await response.text()).not.toContain('gateway_');
  });

  it('leave every other request to the interface', async () => {
    const { ask } = await serve();
    expect((await ask('/services')).status).toBe(200);
    expect((await ask('/metrics/more')).status).toBe(404);
    expect((await ask('/metrics', { method: 'POST' })).status).toBe(404);
  });
});

/** A message of PostgreSQL: a type, the length, and the rest. */
function message(type: string, rest: string): Buffer {
  const bytes = Buffer.from(`${type}\0\0\0\0${rest}`);
  bytes.writeInt32BE(bytes.length - 1, 1);
  return bytes;
}

function piecesOf(bytes: Buffer, size: number): readonly Buffer[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
    bytes.subarray(at * size, (at + 1) * size),
  );
}

const sizes = [1, 2, 3, 5, 7, 64, 1000, 1_000_000];

describe('the statements in the bytes of a client', () => {
  it.each(sizes)('are found in pieces of %d bytes', (size) => {
    const bytes = Buffer.concat([
      message('p', 'password\0'),
      message('Q', 'select 1\0'),
      message('d', 'Q\0\0\0\x0cselect 2\0'.repeat(50)),
      message('P', 'name\0select 3\0\0\0'),
      message('S', ''),
      message('Q', 'sélect 4\0'),
    ]);
    const read = createStatementReader();
    const found = piecesOf(bytes, size).flatMap((piece) => read(piece));
    expect(found).toEqual(['select 1', 'select 3', 'sélect 4']);
  });

  it('are cut if they are long, and the next one is found', () => {
    const read = createStatementReader();
    const bytes = Buffer.concat([message('Q', `${'x'.repeat(200_000)}\0`), message('Q', 'select 5\0')]);
    const [long = '', ...others] = piecesOf(bytes, 10_000).flatMap((piece) => read(piece));
    expect(long).toMatch(/^x{60000,65536}$/);
    expect(others).toEqual(['select 5']);
  });

  it('are not looked for after bytes that are no message', () => {
    const read = createStatementReader();
    expect(read(Buffer.from('Q\0\0\0\x03'))).toEqual([]);
    expect(read(message('Q', 'select 6\0'))).toEqual([]);
  });
});

describe('the version in the bytes of a server', () => {
  const begin = [message('R', '\0\0\0\0'), message('S', 'server_encoding\0UTF8\0')];
  const after = [message('K', '12345678'), message('Z', 'I'), message('S', 'server_version\x0016\0')];
  const write = (bytes: Buffer, size: number): Buffer => {
    const writer = createVersionWriter('9.6');
    return Buffer.concat(piecesOf(bytes, size).map((piece) => writer(piece)));
  };

  it.each(sizes)('is replaced before the server is ready, in pieces of %d bytes', (size) => {
    const given = Buffer.concat([...begin, message('S', 'server_version\x0016.2 (Debian)\0'), ...after]);
    const expected = Buffer.concat([...begin, message('S', 'server_version\x009.6\0'), ...after]);
    expect(write(given, size)).toEqual(expected);
  });

  it.each(['E', 'x'])('is left alone after a message that begins with %s', (type) => {
    const first = type === 'E' ? message('E', 'SFATAL\0\0') : Buffer.from('x\0\0\0\x01');
    const given = Buffer.concat([...begin, first, message('S', 'server_version\x0016\0')]);
    for (const size of sizes) expect(write(given, size)).toEqual(given);
  });
});

describe('the packet that starts a session, for the user of a service', () => {
  const start = (rest: string): Buffer => {
    const packet = Buffer.from(`\0\0\0\0\0\x03\0\0${rest}\0`);
    packet.writeInt32BE(packet.length);
    return packet;
  };

  it.each([
    ['keeps the database that it names', 'user\0ada\0database\0sales\0', 'user\0zoë\0database\0sales\0'],
    ['keeps the database of its user', 'user\0adá\0', 'user\0zoë\0database\0adá\0'],
    ['keeps that database too if it is empty', 'database\0\0user\0ada\0', 'database\0ada\0user\0zoë\0'],
    ['keeps other parameters', 'a\0\0user\0ada\0database\0d\0', 'a\0\0user\0zoë\0database\0d\0'],
    ['gets no user if it has none', 'database\0sales\0', 'database\0sales\0'],
  ])('%s', (_what, given, expected) => {
    expect(withUser(start(given), 'zoë')).toEqual(start(expected));
    expect(userIn(withUser(start(given), 'zoë'))).toBe(userIn(start(expected)));
    expect(withUser(start(given))).toEqual(start(given));
  });
});

describe('a session of the example gateway', () => {
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
    const admin = createAdmin({ snapshot: createSnapshot(document), gateway: gateway.port });
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
    const closing = gateway.port.apply(
      { type: 'connections.close', resource: '/servers/one', server: 'one', connections },
      { commandId: 'c-1', signal: new AbortController().signal },
    );
    expect(await answer).toContain('57P01');
    await closing;
  });
});
