import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { GatewayDocument } from 'gateway-admin-core';

import { buildExamples } from '../support/built-package.ts';
import { temporaryDirectories } from '../support/temporary-directory.ts';
import { connectDatabase } from './database-client.ts';
import { openEchoServer, type EchoServer } from './echo-server.ts';
import { endGateways, runOn, startGateway, startOn, type RunningGateway } from './running-gateway.ts';
import { isOpen, startSession } from './socket-client.ts';

const directory = temporaryDirectories();
const json = { 'content-type': 'application/json' };
const login = { authorization: `Basic ${btoa('ada:correct horse')}` };

let echo: EchoServer;
let store: string;

/** Two services on one server, which a monitor finds to be running. */
function documentOf(service: object = {}): GatewayDocument {
  const place = { address: '127.0.0.1', protocol: 'postgresql' };
  return {
    servers: [{ name: 'one', ...place, port: echo.port }],
    services: ['First', 'Second'].map((name) => ({
      ...{ name, router: 'readconnroute', servers: ['/servers/one'] },
      listeners: [{ name: 'Clients', ...place, port: 0 }],
      ...service,
    })),
    monitors: [{ name: 'Watch', module: 'tcpmon', servers: ['/servers/one'], monitor_interval: 100 }],
  };
}

function start(): Promise<RunningGateway> {
  return startOn(documentOf(), ['--store', store]);
}

async function textsIn(path: string): Promise<readonly string[]> {
  const names = await readdir(path);
  return Promise.all(names.map((name) => readFile(join(path, name), 'latin1')));
}

beforeAll(buildExamples);

beforeEach(async () => {
  [echo, store] = await Promise.all([openEchoServer('one'), directory()]);
});

afterEach(async () => {
  await endGateways();
  await echo.close();
});

afterAll(endGateways);

describe('the example gateway with a store', () => {
  // Promise: restart-gateway
  it('is after a restart what it was made before, except for its sessions', async () => {
    const before = await start();
    const client = await startSession(before.portOf('First'));
    expect(await client.ask('hello')).toBe('one hello');
    expect(await before.get('/sessions')).toHaveLength(1);
    const patch = [
      { op: 'add', path: '/max_connection', value: 7 },
      { op: 'add', path: '/connection_timeout', value: 60 },
    ];
    expect(await before.ask('PATCH', '/services/first', patch)).toMatchObject({ status: 200 });
    expect(await before.ask('PUT', '/service/second/stop')).toEqual({ status: 204 });
    const ports = ['First', 'Second'].map(before.portOf);
    expect(await before.stop()).toBe(0);
    await client.closed;

    const after = await start();
    expect(await after.get('/services?fields=name,state,max_connection,connection_timeout')).toEqual([
      { name: 'First', state: 'started', max_connection: 7, connection_timeout: 60 },
      { name: 'Second', state: 'stopped' },
    ]);
    expect(await after.get('/sessions')).toEqual([]);
    expect(after.output).not.toContain('listener Second');
    expect(await Promise.all(ports.map(isOpen))).toEqual([true, false]);
    expect(await (await startSession(ports[0] ?? 0)).ask('hello')).toBe('one hello');
    expect(await after.ask('PUT', '/service/second/start')).toEqual({ status: 204 });
    expect(await (await startSession(ports[1] ?? 0)).ask('hello')).toBe('one hello');
  });

  it('asks for a log-in once it is restarted with users', async () => {
    const before = await start();
    const user = { name: 'ada', password: 'correct horse' };
    expect(await before.ask('PUT', '/users', user, json)).toEqual({ status: 204 });
    await before.stop();

    const after = await start();
    expect(await after.ask('GET', '/users')).toMatchObject({ status: 401 });
    expect(await after.ask('GET', '/users', undefined, login)).toEqual({
      status: 200,
      body: [{ name: 'ada' }],
    });
    expect(await after.ask('DELETE', '/users/ada', undefined, login)).toMatchObject({
      status: 409,
      body: { code: 'last-user' },
    });
    await after.stop();
    expect((await textsIn(store)).join('')).not.toContain('correct horse');
  });

  // Promise: store-precedence
  it('goes by what it kept, and not by what the document says meanwhile', async () => {
    await (await start()).stop();
    const gateway = await startOn(documentOf({ connection_timeout: 60 }), ['--store', store]);
    expect(await gateway.get('/services/first')).not.toHaveProperty('connection_timeout');
    const told = gateway.errors().split('\n');
    expect(told.filter((line) => line.includes('differs from the store'))).toHaveLength(1);
    expect(told).toContainEqual(
      '  /services/First (/services/0/connection_timeout): the document has 60, and no value is in use',
    );
  });

  it('tells the difference once also if it asks for a log-in, and nothing if only the free ports differ', async () => {
    const before = await start();
    expect(before.errors()).toBe('');
    expect(await before.ask('PUT', '/service/second/stop')).toEqual({ status: 204 });
    const user = { name: 'ada', password: 'correct horse' };
    expect(await before.ask('PUT', '/users', user, json)).toEqual({ status: 204 });
    await before.stop();
    const withUser = await start();
    expect(withUser.errors().match(/differs from the store/g)).toHaveLength(1);
    expect(withUser.errors()).toContain('/services/1/state');
    // A user who came into being over the interface is no difference.
    expect(withUser.errors()).not.toContain('/users');
    await withUser.stop();
    store = await directory();
    await (await start()).stop();
    expect((await start()).errors()).toBe('');
  });

  it('leaves no lock when it ends, and lets nobody else in before', async () => {
    const gateway = await start();
    const second = await runOn(documentOf(), '--store', store);
    expect(second).toMatchObject({ code: 1, stdout: '' });
    expect(second.stderr).toMatch(/^Another process.* has the directory .* open\..*\n$/);
    expect(second.stderr).toContain(store);
    expect(await gateway.ask('PUT', '/service/second/stop')).toEqual({ status: 204 });
    expect((await readdir(store)).filter((name) => name.startsWith('lock'))).toHaveLength(1);
    await gateway.stop();
    expect((await readdir(store)).filter((name) => name.startsWith('lock'))).toEqual([]);
  });

  it('refuses a store that is damaged in one line, and changes nothing in it', async () => {
    expect(await (await start()).stop()).toBe(0);
    const path = join(store, 'snapshot');
    const bytes = await readFile(path);
    bytes.writeUInt8(bytes.readUInt8(100) ^ 1, 100);
    await writeFile(path, bytes);
    const before = await textsIn(store);
    const ended = await runOn(documentOf(), '--store', store);
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr).toMatch(/^\S[^\n]*\n$/);
    expect(ended.stderr).toContain(path);
    expect(await textsIn(store)).toEqual(before);
  });

  it('refuses a directory that is none', async () => {
    const file = join(store, 'file');
    await writeFile(file, '');
    expect(await runOn(documentOf(), '--store', file)).toMatchObject({
      ...{ code: 1, stdout: '' },
      stderr: `${file} is not a directory. Give the path of a directory that is used for nothing else.\n`,
    });
  });

  it('keeps the database that a client reaches up to date, which is another after each start', async () => {
    await (await startGateway(['--store', store])).stop();
    const gateway = await startGateway(['--store', store]);
    expect(gateway.errors()).toBe('');
    const client = await connectDatabase(gateway.portOf('Reports'));
    expect(await client.valueOf('select 6 * 7')).toBe(42);
    await client.close();
    expect(await gateway.stop()).toBe(0);
  }, 80_000);
});
