import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { GatewayDocument } from 'gateway-admin-core';

import { parseDocument } from '../../examples/gateway/document.ts';
import { buildExamples } from '../support/built-package.ts';
import { openEchoServer, type EchoServer } from './echo-server.ts';
import { runCommand, type Result } from './program.ts';
import {
  endGateways,
  readUnder,
  runOn,
  runToEnd,
  startGateway,
  startOn,
  unsupportedPlatform,
  until,
} from './running-gateway.ts';
import { isOpen, startSession } from './socket-client.ts';

const echoServers: EchoServer[] = [];

async function openEcho(name: string, port = 0): Promise<EchoServer> {
  const echo = await openEchoServer(name, port);
  echoServers.push(echo);
  return echo;
}

function serverEntry(name: string, port: number): NonNullable<GatewayDocument['servers']>[number] {
  return { name, address: '127.0.0.1', port, protocol: 'postgresql' };
}

function serviceDocument(name: string, port = 0): NonNullable<GatewayDocument['services']>[number] {
  const listeners = [{ name: 'Clients', address: '127.0.0.1', port, protocol: 'postgresql' }];
  return { name, router: 'readconnroute', servers: ['/servers/one'], listeners };
}

/** Why the gateway does not read a document. */
function refusalOf(document: unknown): string {
  try {
    parseDocument(JSON.stringify(document));
    return '';
  } catch (error) {
    return (error as Error).message;
  }
}

/** The pointers of all faults, in order. */
function pointersIn(refusal: string): readonly (string | undefined)[] {
  return [...refusal.matchAll(/^ {2}(\/\S*): /gm)].map(([, pointer]) => pointer).sort();
}

beforeAll(buildExamples);

afterEach(async () => {
  await endGateways();
  await Promise.all(echoServers.splice(0).map((echo) => echo.close()));
});

afterAll(endGateways);

describe('the example gateway at SIGHUP', () => {
  const documentWith = (port: number, ...more: readonly string[]): GatewayDocument => ({
    servers: ['one', ...more].map((name) => serverEntry(name, port)),
    services: [{ ...serviceDocument('Sales'), servers: ['one', ...more].map((name) => `/servers/${name}`) }],
    monitors: [
      {
        ...{ name: 'M', module: 'tcpmon', monitor_interval: 100 },
        servers: ['one', ...more].map((name) => `/servers/${name}`),
      },
    ],
  });

  it.each([
    ['shows what differs, and changes nothing', [], 'Nothing was done.', ['one']],
    ['with --adopt, makes the changes that it has shown', ['--adopt'], 'Done.', ['one', 'two']],
  ])('reads its document again: %s', async (_what, args, end, names) => {
    const echo = await openEcho('one');
    const folder = mkdtempSync(join(tmpdir(), 'gateway-'));
    try {
      const path = join(folder, 'document.json');
      const write = (document: unknown): void => writeFileSync(path, JSON.stringify(document));
      write(documentWith(echo.port));
      const gateway = await startGateway(['--document', path, ...args]);
      const hangUp = (): boolean => gateway.process.kill('SIGHUP');
      const client = await startSession(gateway.portOf('Sales'));
      hangUp();
      await until('nothing differs', () => gateway.printed().includes('nothing to do'));
      expect(gateway.printed()).not.toContain('left as it is');
      write({ servers: [] });
      hangUp();
      await until('what stays is told', () =>
        gateway.printed().includes('/servers/one: not in the document'),
      );
      expect(gateway.printed()).toContain(
        'nothing to do\n  note: /servers/one: not in the document, left as it is\n',
      );
      // The document says nothing about monitors.
      expect(gateway.printed()).not.toContain('/monitors/M: not in the document');
      write({ servers: 7 });
      hangUp();
      await until('the fault is told', () => gateway.errors().includes('/servers'));
      write(documentWith(echo.port, 'two'));
      hangUp();
      await until('the changes are shown', () => gateway.printed().includes(end));
      expect(gateway.printed()).toContain(
        `: 3 changes\n  server.created /servers/two: 127.0.0.1:${String(echo.port)}\n` +
          '  service.updated /services/Sales: servers = ["/servers/one","/servers/two"] (was ["/servers/one"])\n',
      );
      if (args.length === 0)
        expect(gateway.printed()).toContain(`To make these changes: gateway-admin apply ${path}\n`);
      expect(await gateway.get('/servers?fields=name')).toEqual(names.map((name) => ({ name })));
      expect(await client.ask('hello')).toBe('one hello');
      write({ servers: [serverEntry('one', echo.port + 1)] });
      hangUp();
      const moved = `server.updated /servers/one: port = ${String(echo.port + 1)} (was ${String(echo.port)})\n`;
      await until('the other port is shown', () => gateway.printed().includes(moved));
      expect(gateway.printed()).toContain('note: one sends its clients to another database.\n');
      expect(await gateway.stop()).toBe(0);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('needs a document for --adopt', async () => {
    const { code, stderr } = await runToEnd(['--adopt']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('--adopt is about a document.')]);
  });
});

describe('the example gateway on a document', () => {
  it('runs it with ports of its own choice where the document has 0, and without its sessions', async () => {
    const one = await openEcho('one');
    const gateway = await startOn({
      format: 2,
      gateway: { version: '9.9.9' },
      servers: [serverEntry('one', one.port)],
      services: [
        serviceDocument('First Service'),
        serviceDocument('Second'),
        { ...serviceDocument('Third'), state: 'stopped' },
      ],
      monitors: [{ name: 'M', module: 'tcpmon', servers: ['/servers/one'], monitor_interval: 100 }],
      sessions: [
        {
          ...{ id: 7, state: 'Old', user: 'ada', address: '::1', connected: '2026-01-01T00:00:00Z' },
          service: '/services/second',
          connections: [{ state: 'Old', role: 'Old', server: '/servers/one' }],
        },
      ],
    });
    const ports = ['First-Service', 'Second'].map(gateway.portOf);
    expect(new Set(ports).size).toBe(2);
    expect(gateway.output).not.toContain('listener Third');
    expect(gateway.output).toContain('\nstopped Third\n');
    expect(gateway.output).toContain(`  curl -X PUT ${gateway.admin}/service/third/start\n`);
    expect(await gateway.get('/sessions')).toEqual([]);
    expect(await gateway.get('/gateway')).toMatchObject({ version: '9.9.9' });
    expect(await gateway.get('/services/first-service/listeners')).toEqual([
      { name: 'Clients', address: '127.0.0.1', port: ports[0], protocol: 'postgresql' },
    ]);
    const clients = await Promise.all(ports.map(startSession));
    expect(await Promise.all(clients.map((client) => client.ask('hello')))).toEqual([
      'one hello',
      'one hello',
    ]);
    expect(await gateway.get('/services?fields=name,state,current_connections')).toEqual([
      { name: 'First Service', state: 'started', current_connections: 1 },
      { name: 'Second', state: 'started', current_connections: 1 },
      { name: 'Third', state: 'stopped', current_connections: 0 },
    ]);
    const [third] = (await gateway.get('/services/third/listeners')) as readonly { readonly port: number }[];
    expect(await isOpen(third?.port ?? 0)).toBe(false);
    expect(await gateway.ask('PUT', '/service/third/start')).toEqual({ status: 204 });
    expect(await isOpen(third?.port ?? 0)).toBe(true);
    expect(await gateway.stop()).toBe(0);
  });

  it('runs an empty one', async () => {
    const gateway = await startOn({});
    expect(await gateway.get('/services')).toEqual([]);
    expect(await gateway.stop()).toBe(0);
  });

  it('refuses an invalid one with every fault and its pointer, and opens nothing', async () => {
    const one = await openEcho('one');
    const ended = await runOn({
      format: 3,
      surprise: true,
      servers: [
        serverEntry('one', one.port),
        { ...serverEntry('ONE', 5432), address: 'host:1' },
        serverEntry('two', 0),
      ],
      services: [
        { ...serviceDocument('A', -1), servers: ['/servers/one', '/servers/three'] },
        { ...serviceDocument('B'), router: 'teleport', filters: ['/filters/none'] },
        {
          ...serviceDocument('C'),
          ...{ root_user: true, strip_db_esc: false, password: { sealed: 'v1.x' } },
          router_options: { router: 'master' },
          listeners: [{ ...serviceDocument('C').listeners?.[0], ssl: 'required', ssl_key: '/key' }],
        },
      ],
      monitors: [{ name: 'M', module: 'othermon', servers: ['/servers/one'], monitor_interval: 0 }],
      filters: [{ name: 'F', module: 'tee' }],
    });
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(pointersIn(ended.stderr)).toEqual([
      '/filters/0/module',
      '/format',
      '/monitors/0/module',
      '/monitors/0/monitor_interval',
      '/servers/1/address',
      '/servers/1/name',
      '/servers/2/port',
      '/services/0/listeners/0/port',
      '/services/0/servers/1',
      '/services/1/filters/0',
      '/services/1/router',
      '/services/2/listeners/0/ssl',
      '/services/2/listeners/0/ssl_key',
      '/services/2/password',
      '/services/2/root_user',
      '/services/2/router_options/router',
      '/services/2/strip_db_esc',
      '/surprise',
    ]);
    expect(one.connections).toBe(0);
  });

  it('refuses another protocol than that of PostgreSQL', () => {
    const { listeners: [listener] = [] } = serviceDocument('A');
    const refusal = refusalOf({
      servers: [{ ...serverEntry('one', 5432), protocol: 'mysql' }],
      services: [{ ...serviceDocument('A'), listeners: [{ ...listener, protocol: 'tcp' }] }],
    });
    for (const pointer of ['/servers/0/protocol', '/services/0/listeners/0/protocol'])
      expect(refusal).toContain(`  ${pointer}: this gateway has one protocol, "postgresql"`);
  });

  it('answers under the names of --allow-host while nobody has to log in', async () => {
    const names = ['--allow-host', 'gateway', '--allow-host', 'Gateway.example'];
    const { admin } = await startOn({ services: [] }, names);
    expect(await readUnder('gateway:8989', `${admin}/services`)).toEqual([200, '[]']);
    expect(await readUnder('gateway.example', `${admin}/services`)).toEqual([200, '[]']);
    const [status, text] = await readUnder('other.example', `${admin}/services`);
    expect([status, text]).toEqual([
      403,
      expect.stringContaining('add it to the option access.allowedHosts'),
    ]);
  });

  it('runs it with servers and listeners on sockets, without ports', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'sockets-'));
    const [back, front] = ['back', 'front'].map((name) => join(directory, name));
    const echo = createServer((socket) => socket.pipe(socket)).listen(back);
    try {
      const gateway = await startOn({
        servers: [{ name: 'one', address: back ?? '', protocol: 'postgresql' }],
        services: [
          {
            ...serviceDocument('S'),
            listeners: [{ name: 'L', address: front ?? '', protocol: 'postgresql' }],
          },
        ],
        monitors: [{ name: 'M', module: 'tcpmon', servers: ['/servers/one'], monitor_interval: 50 }],
      });
      expect(gateway.output).toContain(`listener S ${String(front)}\n`);
      await until('the server is up', async () => {
        const { status } = (await gateway.get('/servers/one')) as { readonly status: readonly string[] };
        return status.includes('running');
      });
      const { ask, close } = await startSession(front ?? '');
      expect(await ask('hello')).toBe('hello');
      close();
      const patch = [{ op: 'add', path: '/parameters/user', value: 'ada' }];
      expect(await gateway.ask('PATCH', '/monitor/M', patch)).toMatchObject({
        status: 422,
        body: { code: 'host-setting-unsupported' },
      });
    } finally {
      echo.close();
      await endGateways();
      rmSync(directory, { recursive: true });
    }
  });

  it('refuses parameters that it cannot use', () => {
    const refusal = refusalOf({
      servers: [{ ...serverEntry('one', 5432), parameters: { pin: { sealed: 'v1.x' } } }],
      services: [
        {
          ...serviceDocument('A'),
          router_options: { pin: { sealed: 'v1.x' } },
          listeners: [
            { name: 'L', address: '/run/l.sock', protocol: 'postgresql', parameters: { backlog: 5 } },
            {
              name: 'M',
              address: '/run/m.sock',
              protocol: 'postgresql',
              parameters: { pin: { sealed: 'v1.x' } },
            },
          ],
        },
      ],
      monitors: [{ name: 'M', module: 'tcpmon', parameters: { user: 'ada', pin: { sealed: 'v1.x' } } }],
      filters: [
        { name: 'F', module: 'statementlog', parameters: { match: { value: 'a' }, exclude: { value: 'b' } } },
        { name: 'G', module: 'statementlog', parameters: { pin: { value: { sealed: 'v1.x' } } } },
      ],
    });
    expect(pointersIn(refusal)).toEqual([
      '/filters/0/parameters/exclude',
      '/filters/1/parameters/pin',
      '/filters/1/parameters/pin/value/sealed',
      '/monitors/0/parameters/pin',
      '/monitors/0/parameters/user',
      '/servers/0/parameters/pin/sealed',
      '/services/0/listeners/0/parameters/backlog',
      '/services/0/listeners/1/parameters/pin',
      '/services/0/router_options/pin',
    ]);
  });

  it.each([
    ['a list', []],
    ['null', null],
    ['services that are no list', { services: { listeners: [] } }],
    ['a service that is none', { services: [null, 5] }],
  ])('refuses %s with a fault and not with a crash', (_what, document) => {
    expect(refusalOf(document)).toMatch(/^The gateway document has \d faults?:\n {2}\S+: must be an? /);
  });

  it('goes on without a service whose listener cannot open, and starts it once it can', async () => {
    const one = await openEcho('one');
    const occupant = await openEcho('occupant');
    const gateway = await startOn({
      servers: [{ ...serverEntry('one', one.port), status: ['running'] }],
      services: [serviceDocument('Blocked', occupant.port), serviceDocument('Free')],
    });
    expect(gateway.output.match(/^listener .*/gm)).toEqual([expect.stringMatching(/^listener Free /)]);
    expect(gateway.output).toMatch(
      /^failed Blocked: The listener "Clients" cannot open: .* address already in use/m,
    );
    expect(await gateway.get('/services?fields=name,state')).toEqual([
      { name: 'Blocked', state: 'failed' },
      { name: 'Free', state: 'started' },
    ]);
    expect(await (await startSession(gateway.portOf('Free'))).ask('hello')).toBe('one hello');
    expect(await gateway.ask('PUT', '/service/blocked/start')).toMatchObject({
      status: 409,
      body: { code: 'effect-refused', detail: expect.stringContaining('address already in use') },
    });
    expect(await gateway.get('/services/blocked?fields=state')).toEqual({ state: 'failed' });
    await occupant.close();
    expect(await gateway.ask('PUT', '/service/blocked/start')).toEqual({ status: 204 });
    expect(await (await startSession(occupant.port)).ask('hello')).toBe('one hello');
  });

  it('says by command why a service has failed, and who has changed its state', async () => {
    const occupant = await openEcho('occupant');
    const gateway = await startOn({
      servers: [serverEntry('one', occupant.port)],
      services: [serviceDocument('Blocked', occupant.port)],
    });
    const ask = (...args: readonly string[]): Promise<Result> => runCommand(gateway.admin, ...args);
    const reason = 'The listener "Clients" cannot open: \\S.* address already in use \\S+';
    const [status, shown, why] = [
      await ask('status'),
      await ask('show', 'service', 'blocked'),
      await ask('why', '/services/blocked/state'),
    ];
    expect([status.code, shown.code, why.code]).toEqual([7, 0, 1]);
    const row = `^error +\\S+ \\S+ +/services/Blocked +Blocked has failed: ${reason}$`;
    expect(status.out).toMatch(new RegExp(row, 'm'));
    expect(shown.out).toMatch(
      new RegExp(`^state +failed\nstate_reason +${reason}\nstate_since +\\S+ \\S+$`, 'm'),
    );
    // Nobody has changed it.
    expect(why.err).toMatch(/, or has reported it\. Try: gateway-admin status\n$/);
    await ask('stop', 'service', 'blocked');
    const { out } = await ask('why', '/services/blocked/state');
    expect(out).toMatch(/^\S+ \S+ +\S+\n {2}Stopped Blocked\n$/);
  });
});

describe('the arguments of the example gateway', () => {
  it.each([
    [['--fast'], "Unknown option '--fast'"],
    [['file.json'], "Unexpected argument 'file.json'"],
    [['--document'], '--document'],
    [['--admin-port', '65536'], '--admin-port must be a number from 0 to 65535, and not "65536".'],
    [['--admin-port', 'http'], '--admin-port must be a number from 0 to 65535, and not "http".'],
  ])('are refused with the exit code 2: %j', async (args, message) => {
    const ended = await runToEnd(args);
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    const [first, ...others] = ended.stderr.split('\n');
    expect(first).toContain(message);
    expect(others).toEqual(['To see all options: npm start -- --help', '']);
  });

  it('are explained on request', async () => {
    const ended = await runToEnd(['--help']);
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(ended.stdout).toContain('--document FILE');
  });

  it('name a file that is there and is JSON', async () => {
    expect(await runToEnd(['--document', '/no/such/file'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('/no/such/file'),
    });
    expect(await runToEnd(['--document', import.meta.filename])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('(document): is not JSON'),
    });
  });

  it('name an administration port that is free', async () => {
    const occupant = await openEcho('occupant');
    const ended = await runOn({}, '--admin-port', String(occupant.port));
    const sentence = /address already in use .*\nStop the program .* npm start -- --admin-port 0\n$/;
    const taken = { code: 1, stderr: expect.stringMatching(sentence) };
    expect(ended).toMatchObject(taken);
    // Without a document, the port is checked before any database is started.
    expect(await runToEnd(['--admin-port', String(occupant.port)], unsupportedPlatform)).toMatchObject(taken);
  });
});
