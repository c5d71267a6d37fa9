/**
 * The findings of an operator's day, against one example gateway with real PostgreSQL sessions and a store. The tests
 * follow one another: each leaves the gateway as it has found it.
 */
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { connect, createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { isDeepStrictEqual } from 'node:util';

import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createClient, sendWithFetch, valueOf } from 'gateway-admin-core/client';

import { command } from '../cli/command-line.ts';
import { buildExamples } from '../support/built-package.ts';
import { otherLife } from '../support/event-reader.ts';
import { readExposition } from '../support/exposition.ts';
import { temporaryDirectories } from '../support/temporary-directory.ts';
import { connectDatabase, type DatabaseClient } from './database-client.ts';
import { openEchoServer } from './echo-server.ts';
import { runCommand, startProgram, startTool, type Result } from './program.ts';
import {
  endGateways,
  startGateway,
  startOnDatabases,
  until,
  type RunningGateway,
} from './running-gateway.ts';
import { isOpen, startSession } from './socket-client.ts';

/** How many sessions come and go between a change and its undo. */
const traffic = Number(process.env['TRAFFIC_SESSIONS'] ?? 3000);

const directory = temporaryDirectories();
const identity = ['--name', 'eu-1', '--environment', 'production'];
/** What stands in production for a name that is typed. */
const confirmed = (name: string) => ['--yes', '--confirm-name', name];
const isConfirmed = confirmed('eu-1');
const clients: DatabaseClient[] = [];
let store = '';
let gateway: RunningGateway;

beforeAll(async () => {
  buildExamples();
  store = await directory();
  gateway = await startOnDatabases(['--store', store, ...identity]);
});

afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  await until('no session is open', async () => (await sessionsOf('/sessions')).length === 0);
});

afterAll(endGateways);

function ask(...args: readonly string[]): Promise<Result> {
  return runCommand(gateway.admin, ...args);
}

async function logIn(service: string, count: number, user?: string): Promise<readonly DatabaseClient[]> {
  const all = await Promise.all(
    Array.from({ length: count }, () => connectDatabase(gateway.portOf(service), user)),
  );
  clients.push(...all);
  return all;
}

async function sessionsOf(path: string): Promise<readonly unknown[]> {
  return (await gateway.get(path)) as readonly unknown[];
}

async function shown(service: string): Promise<Readonly<Record<string, unknown>>> {
  return (await gateway.get(`/services/${service}`)) as Readonly<Record<string, unknown>>;
}

/** The ids of the entries in the history, the newest one first. */
async function history(...args: readonly string[]): Promise<readonly string[]> {
  const { out } = await ask('history', '--json', ...args);
  return (JSON.parse(out) as readonly { readonly id: string }[]).map(({ id }) => id);
}

describe('an operator of a gateway in production', () => {
  it('reads in every question and in every result on which gateway the command works', async () => {
    await logIn('Reports', 1);
    const unasked = await ask('close', 'sessions', 'reports');
    expect([unasked.code, unasked.err]).toEqual([
      2,
      expect.stringContaining('Close the sessions of reports on eu-1 (production)? 1 session and'),
    ]);
    const other = await ask('close', 'sessions', 'reports', '--yes', '--confirm-name', 'eu-2');
    expect([other.code, other.err]).toEqual([
      2,
      expect.stringContaining(
        'This is eu-1 (production): --confirm-name must be reports, and not eu-2. Nothing was done.',
      ),
    ]);
    const args = ['close', 'sessions', 'reports', '--url', gateway.admin];
    const mistyped = await command(args, { input: 'y', isTerminal: true });
    expect([mistyped.code, mistyped.err]).toEqual([1, expect.stringContaining('Type reports to go on:')]);
    expect(await sessionsOf('/sessions')).toHaveLength(1);
    const typed = await command(args, { input: 'reports', isTerminal: true });
    expect(typed.out).toBe(
      'Done: close the sessions of reports on eu-1 (production). 1 session and 1 backend connection closed.\n',
    );
    for (const [verb, name] of [
      ['stop', 'reports'],
      ['start', 'eu-1'],
    ] as const)
      expect((await ask(verb, 'service', 'reports', ...confirmed(name))).out).toBe(
        `Done: ${verb} service reports on eu-1 (production).\n`,
      );
  });

  it('drains a service with its sessions open, waits until they have ended, and brings it back', async () => {
    const [first] = await logIn('Reports', 2);
    const args = ['drain', 'service', 'reports', '--reason', 'kernel', '--wait', ...confirmed('reports')];
    const waiting = startProgram(gateway.admin, args);
    await until('the command says what is left', () => waiting.printed().includes('are left.'));
    expect(await shown('reports')).toMatchObject({
      state: 'stopped',
      drain: { state: 'draining', reason: 'kernel', from: 'started', sessions: 2, connections: 2 },
    });
    // Nobody is cut, and nobody new comes in.
    expect(await first?.valueOf('select 1')).toBe(1);
    await expect(connectDatabase(gateway.portOf('Reports'))).rejects.toThrow();
    await Promise.all(clients.splice(0).map((client) => client.close()));
    const { code, out } = await waiting.ended;
    expect(code).toBe(0);
    const [done, left, ...others] = out.split('\n');
    expect([done, left]).toEqual([
      'Done: drain service reports on eu-1 (production). 2 sessions continue.',
      '2 sessions and 2 connections are left.',
    ]);
    expect(others.slice(-2)).toEqual(['Drained: nothing is left.', '']);
    expect((await ask('resume', 'service', 'reports')).out).toContain('Done: resume service reports on eu-1');
    expect(await logIn('Reports', 1)).toHaveLength(1);
  });

  it('reads its sessions and its drains as Prometheus does', async () => {
    const figure = async (name: string, labels: object): Promise<number | undefined> => {
      const text = await (await fetch(`${gateway.admin}/metrics`)).text();
      const metric = readExposition(text).find((each) => each.name === name);
      return metric?.samples.find((sample) => isDeepStrictEqual(sample.labels, labels))?.value;
    };
    const name = 'Reports';
    await logIn(name, 2);
    expect(await figure('gateway_service_sessions', { name })).toBe(2);
    expect(await figure('gateway_service_connections', { name })).toBe(2);
    const draining = () => figure('gateway_service_draining', { name });
    const overdue = () => figure('gateway_alerts', { code: 'drain-overdue', level: 'error' });
    expect([await draining(), await overdue()]).toEqual([0, 0]);
    expect(await ask('drain', 'service', name, ...confirmed(name))).toMatchObject({ code: 0 });
    expect([await draining(), await overdue()]).toEqual([1, 0]);
    expect(await figure('gateway_service_sessions', { name })).toBe(2);
    expect(await ask('resume', 'service', name)).toMatchObject({ code: 0 });
    expect(await draining()).toBe(0);
  });

  it('drains the only server of a service to a deadline, at which what is left is closed', async () => {
    const servers = ((await shown('Read-Write')) as { readonly servers: readonly string[] }).servers;
    const name = servers[0]?.split('/').at(-1) ?? '';
    const [client] = await logIn('Read-Write', 1);
    const drained = await ask(
      'drain',
      'server',
      name,
      '--deadline',
      '1s',
      '--then',
      'close',
      ...confirmed(name),
    );
    expect([drained.code, drained.out]).toEqual([
      0,
      `Done: drain server ${name}, then close after 1 s on eu-1 (production).\n`,
    ]);
    await expect(connectDatabase(gateway.portOf('Read-Write'))).rejects.toThrow(/drains/);
    await until('the server is drained', async () =>
      JSON.stringify(await gateway.get(`/servers/${name}`)).includes('"drained"'),
    );
    await expect(client?.valueOf('select 1')).rejects.toThrow();
    expect(await ask('resume', 'server', name)).toMatchObject({ code: 0 });
    expect(await logIn('Read-Write', 1)).toHaveLength(1);
  });

  it('finds the last change and takes it back without an id', async () => {
    expect(
      await ask('patch', 'service', 'reports', '--set', 'max_connection=50', ...isConfirmed),
    ).toMatchObject({ code: 0 });
    const { out } = await ask('history', '--range', '0-0');
    expect(out).toMatch(/^[\d :-]{19} {2}\S+\n {2}Changed Reports\n {4}\+ \/max_connection = 50\n$/);
    const undone = await ask('undo', '--last', ...isConfirmed);
    expect([undone.code, undone.err]).toEqual([0, expect.stringContaining('  + /max_connection = 50\n')]);
    expect(undone.out).toMatch(/^Done: undo \S+ \(1 change\) on eu-1 \(production\)\.\n$/);
    expect(await shown('reports')).not.toHaveProperty('max_connection');
  });

  it('does not start by an undo what somebody has stopped on purpose since', async () => {
    await ask('stop', 'service', 'reports', ...confirmed('reports'));
    const [stopped = ''] = await history('--type', 'service.stopped');
    await ask('start', 'service', 'reports', ...isConfirmed);
    await ask('stop', 'service', 'reports', ...confirmed('reports'));
    const { code, err } = await ask('undo', stopped, ...isConfirmed);
    expect([code, err]).toEqual([1, expect.stringContaining('/services/Reports was stopped since.')]);
    expect(await shown('reports')).toMatchObject({ state: 'stopped' });
    expect(await isOpen(gateway.portOf('Reports'))).toBe(false);
    expect(await ask('undo', '--last', ...isConfirmed)).toMatchObject({ code: 0 });
    expect(await isOpen(gateway.portOf('Reports'))).toBe(true);
  });

  it('binds a command to the entity tag that a command has shown', async () => {
    const { out } = await ask('show', 'service', 'reports');
    const tag = /^entity tag +(\S+)$/m.exec(out)?.[1] ?? '';
    const limit = (value: number): Promise<Result> =>
      ask(
        'patch',
        'service',
        'reports',
        '--set',
        `max_connection=${String(value)}`,
        '--if-match',
        tag,
        ...isConfirmed,
      );
    expect(await limit(7)).toMatchObject({ code: 0 });
    const late = await limit(8);
    expect([late.code, late.err]).toEqual([1, expect.stringContaining('(precondition-failed)')]);
    expect(await shown('reports')).toMatchObject({ max_connection: 7 });
    expect(await ask('undo', '--last', ...isConfirmed)).toMatchObject({ code: 0 });
  });

  it('plans while changes are held off, and reads why nothing else is possible', async () => {
    const [{ id: earlier = '' } = {}] = JSON.parse((await ask('history', '--json')).out) as { id?: string }[];
    expect((await ask('hold')).out).toBe('Done: make the interface read-only on eu-1 (production).\n');
    const path = join(await directory(), 'document.json');
    const document = JSON.parse((await ask('export')).out) as { services: object[] };
    Object.assign(document.services[1] ?? {}, { max_connection: 9 });
    await writeFile(path, JSON.stringify(document));
    const plan = await ask('plan', path);
    expect([plan.code, plan.out]).toEqual([0, expect.stringContaining('+ /max_connection = 9')]);
    const stop = await ask('stop', 'service', 'reports', '--dry-run');
    expect([stop.code, stop.out]).toEqual([0, expect.stringContaining('gateway: stop Reports')]);
    for (const args of [
      ['stop', 'service', 'reports', ...confirmed('reports')],
      ['undo', earlier, ...isConfirmed],
      ['apply', path, ...isConfirmed],
    ]) {
      const { code, err } = await ask(...args);
      expect([code, err]).toEqual([5, expect.stringContaining('Try: gateway-admin release')]);
    }
    expect((await ask('show', 'interface')).out).toMatch(/^read_only +true$/m);
    expect(await ask('release', ...isConfirmed)).toMatchObject({ code: 0 });
    expect(await shown('reports')).toMatchObject({ state: 'started' });
  });

  it('applies a document as a whole or not at all, and takes it back as a whole', async () => {
    await ask('stop', 'service', 'reports', ...confirmed('reports'));
    const path = join(await directory(), 'document.json');
    const document = JSON.parse((await ask('export')).out) as { services: object[] };
    Object.assign(document.services[0] ?? {}, { max_connection: 9 });
    Object.assign(document.services[1] ?? {}, { state: 'started' });
    await writeFile(path, JSON.stringify(document));
    const apply = (): Promise<Result> => ask('apply', path, ...isConfirmed);
    const before = await history();
    const occupant = await openEchoServer('occupant', gateway.portOf('Reports'));
    const refused = await apply();
    await occupant.close();
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('Nothing was changed.')]);
    expect(refused.err).toContain('address already in use');
    expect(await shown('read-write')).not.toHaveProperty('max_connection');
    expect(await history()).toEqual(before);

    expect((await apply()).out).toMatch(/Done: apply \S+ \(2 changes\) on eu-1 \(production\)\.\n$/);
    expect(await shown('read-write')).toMatchObject({ max_connection: 9 });
    expect(await isOpen(gateway.portOf('Reports'))).toBe(true);
    const [newest = '', next] = await history();
    expect([before.includes(newest), next]).toEqual([false, before[0]]);
    expect(await ask('undo', '--last', ...isConfirmed)).toMatchObject({ code: 0 });
    expect(await shown('read-write')).not.toHaveProperty('max_connection');
    expect(await shown('reports')).toMatchObject({ state: 'stopped' });
    await ask('start', 'service', 'reports', ...isConfirmed);
  });

  it('reads what goes on after Ctrl-C', async () => {
    const doomed = await logIn('Reports', 40);
    const wire = await holdingWire(gateway.admin);
    const closing = startProgram(wire.url, ['close', 'sessions', 'reports', ...confirmed('reports')]);
    await wire.carried;
    closing.interrupt();
    const { code, err } = await closing.ended;
    expect(code).toBe(130);
    wire.close();
    expect(err).toMatch(
      /Interrupted\. The gateway goes on with what it has begun: close the sessions of reports on eu-1 \(production\)\. \d+ left\. Try: gateway-admin commands\n$/,
    );
    await Promise.all(doomed.map((client) => client.closed));
    await until('the command has ended', async () => (await ask('commands')).out === 'No commands.\n');
  });
});

describe('an operator who chooses the sessions to close', () => {
  const place = 'on eu-1 (production)';

  beforeAll(async () => {
    const [client] = await logIn('Read-Write', 1);
    await client?.valueOf('create role bi login');
    await client?.close();
  });

  /** Fails if one of the clients was cut. */
  async function expectOpen(some: readonly DatabaseClient[]): Promise<void> {
    expect(await Promise.all(some.map((client) => client.valueOf('select 1')))).toEqual(some.map(() => 1));
  }

  /** Answers the question of a command with a name. */
  function answering(
    input: string,
    args: readonly string[],
    meanwhile: () => Promise<unknown>,
  ): Promise<Result> {
    const circumstances = { input, isTerminal: true, meanwhile };
    return command([...args, '--url', gateway.admin], circumstances);
  }

  async function countOf(query: string): Promise<number> {
    return (await sessionsOf(`/sessions?fields=id&${query}`)).length;
  }

  it('closes the sessions of a user, and those that log in meanwhile stay', async () => {
    const [others, doomed] = [await logIn('Read-Write', 2), await logIn('Read-Write', 5, 'bi')];
    let later: readonly DatabaseClient[] = [];
    const { out, err } = await answering('bi', ['close', 'sessions', '--client', 'bi'], async () => {
      later = await logIn('Read-Write', 3, 'bi');
    });
    expect(err).toContain(
      `Close the sessions of client bi ${place}? 5 sessions and 5 backend connections close.`,
    );
    expect(out).toBe(
      `Done: close the sessions of client bi ${place}. 5 sessions and 5 backend connections closed.\n`,
    );
    await Promise.all(doomed.map((client) => client.closed));
    await expectOpen([...others, ...later]);
  });

  it('closes the idle sessions, and one that wakes meanwhile stays', async () => {
    const idle = await logIn('Reports', 4);
    await until('the sessions are idle', async () => (await countOf('idle_over=1')) === 4);
    const [woken, ...doomed] = idle;
    const busy = await logIn('Read-Write', 1);
    const { out, err } = await answering(
      'reports',
      ['close', 'sessions', '--idle-over', '1', '--service', 'reports'],
      () => expectOpen(idle.slice(0, 1)),
    );
    const what = `the sessions of service reports, idle over 1 ${place}`;
    expect(err).toContain(`Close ${what}? 4 sessions and 4 backend connections close.`);
    expect(out).toBe(`Done: close ${what}. 3 sessions and 3 backend connections closed.\n`);
    await Promise.all(doomed.map((client) => client.closed));
    await expectOpen([...(woken === undefined ? [] : [woken]), ...busy]);
  });

  it('closes the sessions that are older, and no others', async () => {
    const doomed = await logIn('Read-Write', 3);
    await until('the sessions are old', async () => (await countOf('older_than=5')) === 3);
    const young = await logIn('Read-Write', 2);
    const { code, out } = await ask('close', 'sessions', '--older-than', '5', ...isConfirmed);
    expect([code, out]).toEqual([
      0,
      `Done: close the sessions older than 5 s ${place}. 3 sessions and 3 backend connections closed.\n`,
    ]);
    await Promise.all(doomed.map((client) => client.closed));
    await expectOpen(young);
  });

  it('closes the sessions that the list has shown, by their ids, and reads whose they are', async () => {
    const [other, doomed] = [await logIn('Read-Write', 1), await logIn('Read-Write', 2, 'bi')];
    const listed = await ask('list', 'sessions', '--client', 'bi', '--fields', 'id,service', '--json');
    const ids = (JSON.parse(listed.out) as readonly { readonly id: number }[]).map(({ id }) => String(id));
    const { code, out } = await ask('close', 'session', ...ids, ...confirmed(ids.join(', ')));
    const whose = ids.map((id) => `${id} of bi from 127.0.0.1 (service Read-Write)`).join(', ');
    expect([code, out]).toEqual([
      0,
      `Done: close sessions ${whose} ${place}. 2 sessions and 2 backend connections closed.\n`,
    ]);
    await Promise.all(doomed.map((client) => client.closed));
    await expectOpen(other);
    const connections = await ask('list', 'connections', 'db-1');
    expect(connections.out).toMatch(
      /^SESSION +USER +ADDRESS .*\n\d+ +postgres +127\.0\.0\.1 +Read-Write .*\n$/,
    );
  });

  it('reads that a name is wrong', async () => {
    for (const args of [
      ['list', 'sessions', '--server', 'db2'],
      ['close', 'sessions', '--server', 'db2', ...confirmed('db2')],
    ])
      expect(await ask(...args)).toMatchObject({
        code: 1,
        err: expect.stringContaining('There is no server named "db2". (server-not-found)'),
      });
  });
});

describe('an operator to whom things come and go, while clients work', () => {
  const place = ['--set', 'protocol=postgresql', '--set', 'address=127.0.0.1'];
  let staging: RunningGateway;

  beforeAll(async () => {
    staging = await startGateway(['--name', 'staging']);
  });

  async function done(...args: readonly string[]): Promise<string> {
    const { code, out, err } = await ask(...args);
    // The notes of a plan are there too.
    expect([code, err, args]).toEqual([0, expect.not.stringContaining('gateway-admin'), args]);
    return out;
  }

  /** The ports of the databases that clients work on. Fails if a client was cut. */
  function portsOf(some: readonly DatabaseClient[]): Promise<readonly unknown[]> {
    return Promise.all(some.map((client) => client.valueOf('select inet_server_port()')));
  }

  async function freePort(): Promise<number> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    await once(server.close(), 'close');
    return port;
  }

  async function clientAt(port: number): Promise<DatabaseClient> {
    const client = await connectDatabase(port);
    clients.push(client);
    return client;
  }

  it('adds a third database server, and takes it away again', async () => {
    const before = await logIn('Reports', 4);
    const [{ port }] = (await staging.get('/servers')) as [{ readonly port: number }];
    const weighted = ['--set', `port=${String(port)}`, '--set', 'parameters/weight=9'];
    const lists = ['--in', 'services/reports,monitors/main-monitor'];
    await done('create', 'server', 'db-3', ...place, ...weighted, ...lists, ...isConfirmed);
    expect(await done('list', 'servers')).toMatch(/^db-3 /m);
    await until('the monitor has found the server', async () =>
      JSON.stringify(await gateway.get('/servers/db-3?fields=status')).includes('running'),
    );
    const after = await logIn('Reports', 8);
    const ports = await portsOf(after);
    const there = after.filter((_, at) => ports[at] === port);
    expect(there.length).toBeGreaterThan(0);

    const inUse = await ask('delete', 'server', 'db-3', '--detach', ...confirmed('db-3'));
    expect([inUse.code, inUse.err]).toEqual([1, expect.stringContaining('close them first')]);
    const closing = ['--deadline', '1s', '--then', 'close', '--wait'];
    expect(await done('drain', 'server', 'db-3', ...closing, ...confirmed('db-3'))).toContain('Drained:');
    expect(await portsOf(await logIn('Reports', 2))).not.toContain(port);
    // A client sees the end of its connection at its next statement.
    for (const client of there) await expect(client.valueOf('select 1')).rejects.toThrow();
    await done('delete', 'server', 'db-3', '--detach', ...confirmed('db-3'));
    expect(await done('list', 'servers')).not.toContain('db-3');
    const others = [...before, ...after.filter((client) => !there.includes(client))];
    expect(await portsOf(others)).toHaveLength(12 - there.length);
  });

  it('opens a listener on another port, and takes it away from its clients', async () => {
    const [port, before] = [await freePort(), await logIn('Reports', 2)];
    await done(
      'create',
      'listener',
      'reports',
      'second',
      ...place,
      '--set',
      `port=${String(port)}`,
      ...isConfirmed,
    );
    const client = await clientAt(port);
    expect(await done('list', 'listeners', 'reports')).toContain(String(port));
    await done('delete', 'listener', 'reports', 'second', ...confirmed('second'));
    expect(await isOpen(port)).toBe(false);
    expect(await portsOf([client, ...before])).toHaveLength(3);
  });

  it('creates a service with a listener, and deletes the service', async () => {
    const [port, before] = [await freePort(), await logIn('Reports', 1)];
    const listener = { name: 'Clients', protocol: 'postgresql', address: '127.0.0.1', port };
    await done(
      ...[
        'create',
        'service',
        'Archive',
        '--set',
        'router=readconnroute',
        '--set',
        'servers/-=/servers/db-2',
      ],
      ...['--set', `listeners/-=${JSON.stringify(listener)}`, ...isConfirmed],
    );
    const client = await clientAt(port);
    await done('stop', 'service', 'archive', ...confirmed('archive'));
    expect(await isOpen(port)).toBe(false);
    const inUse = await ask('delete', 'service', 'archive', ...confirmed('archive'));
    expect([inUse.code, inUse.err]).toEqual([1, expect.stringContaining('has open sessions (1)')]);
    expect(await portsOf([client])).toHaveLength(1);
    await client.close();
    await until(
      'the session is gone',
      async () => (await sessionsOf('/services/archive/sessions')).length === 0,
    );
    await done('delete', 'service', 'archive', ...confirmed('archive'));
    expect(await portsOf(before)).toHaveLength(1);
    await logIn('Reports', 1);
    const afterwards = (): string => gateway.printed().split(' service.deleted ').at(-1) ?? '';
    await until('the console has counted the sessions', () =>
      Promise.resolve(/ sessions .* open$/m.test(afterwards())),
    );
    expect(afterwards()).not.toMatch(/ -\d+ (?:opened|closed)/);
  });

  it('brings the services of staging to production, and not its databases', async () => {
    const before = await logIn('Reports', 3);
    const databases = await gateway.get('/servers?fields=name,address,port');
    const listeners = await gateway.get('/services/reports/listeners');
    await runCommand(staging.admin, 'patch', 'service', 'reports', '--set', 'max_connection=33');
    const exported = await runCommand(staging.admin, 'export');
    const input = exported.out;
    const only = ['-', '--only', 'services,filters', '--url', gateway.admin];
    const plan = await command(['plan', ...only], { input });
    expect([plan.code, plan.out]).toEqual([
      0,
      expect.stringMatching(/^RESOURCE +CHANGE\n\/services\/Reports +\+ \/max_connection = 33\n/),
    ]);
    expect(plan.out).not.toContain('/servers/');
    const applied = await command(['apply', ...only, ...isConfirmed], { input });
    expect([applied.code, applied.out]).toEqual([
      0,
      expect.stringContaining('Done: apply - (1 change) on eu-1'),
    ]);
    expect(await shown('reports')).toMatchObject({ max_connection: 33 });
    expect(await gateway.get('/servers?fields=name,address,port')).toEqual(databases);
    expect(await gateway.get('/services/reports/listeners')).toEqual(listeners);
    expect(await portsOf(before)).toHaveLength(3);
    await done('patch', 'service', 'reports', '--unset', 'max_connection', ...isConfirmed);
  });
});

describe('the program of the package', () => {
  function run(...args: readonly string[]): Promise<Result> {
    return startProgram(gateway.admin, args).ended;
  }

  it('shows in a watch how sessions come and go', async () => {
    const watch = startProgram(gateway.admin, ['watch', 'services', '--fields', 'name,current_connections']);
    try {
      const doomed = await logIn('Read-Write', 3);
      await until('the watch shows the sessions', () => /Read Write +3\n/.test(watch.printed()));
      const closed = await run('close', 'sessions', 'read-write', ...confirmed('read-write'));
      expect(closed).toMatchObject({ code: 0, err: '' });
      await Promise.all(doomed.map((client) => client.closed));
      await until('the watch shows that they are gone', () => /Read Write +0\n/.test(watch.printed()));
    } finally {
      watch.kill();
    }
  });

  it('says in a plan which idle sessions the gateway will close', async () => {
    await logIn('Reports', 6);
    await until(
      'the sessions are idle',
      async () => (await sessionsOf('/sessions?idle_over=2')).length === 6,
    );
    const { out } = await run('patch', 'service', 'reports', '--set', 'connection_timeout=2', '--dry-run');
    expect(out).toMatch(/note: Sessions that are idle for 2 s are closed\. Now 6 are\.\n/);
    expect(out).not.toContain('closes 0 sessions');
    // Those that are not idle for so long yet end a moment later: a person is asked about them too.
    const slow = ['patch', 'service', 'reports', '--set', 'connection_timeout=3600', '--url', gateway.admin];
    const { err } = await command(slow, { input: '', isTerminal: true });
    expect(err).toContain('Sessions that are idle for 3600 s are closed. Now 0 are.');
    const closing = await run('close', 'connections', 'db-2', '--dry-run');
    expect(closing.out).toContain('the sessions end with theirs');
    expect(closing.out).not.toContain('continue');
  });

  it.each([
    [['list', 'services'], 0],
    [['stop', 'service', 'nothing', '--yes'], 1],
    [['patch', 'service', 'read-write', '--set', 'router_options/x=y', ...isConfirmed], 1],
    [['close', 'sessions', 'read-write', '--nonsense'], 2],
    [['list', 'services', '--url', 'http://127.0.0.1:1'], 3],
  ])('ends with the exit code of what has become of %j', async (args, code) => {
    expect(await run(...args)).toMatchObject({ code });
  });
});

describe('a bot with the client', () => {
  it('closes the seven sessions that it has announced, and no other, while others log in', async () => {
    const { services } = createClient(sendWithFetch(gateway.admin));
    const doomed = await logIn('Read-Write', 7);
    const plan = valueOf(await services.closeSessions.plan('Read-Write'));
    expect(plan.closes).toEqual({ sessions: 7, connections: 7 });
    const before = await logIn('Read-Write', 10);
    const [answer, meanwhile] = await Promise.all([
      services.closeSessions('Read-Write', { mark: plan.mark, prefer: 'representation' }),
      logIn('Read-Write', 10),
    ]);
    expect(valueOf(answer).closed).toEqual({ sessions: 7, connections: 7 });
    await Promise.all(doomed.map((client) => client.closed));
    const others = [...before, ...meanwhile];
    expect(await Promise.all(others.map((client) => client.valueOf('select 1')))).toEqual(
      others.map(() => 1),
    );
    // The same again closes nothing: its answer may have been lost.
    const again = await services.closeSessions('Read-Write', { mark: plan.mark, prefer: 'representation' });
    expect(valueOf(again).closed).toEqual({ sessions: 0, connections: 0 });
    expect(await sessionsOf('/services/read-write/sessions')).toHaveLength(others.length);
  });
});

describe('the tools of the examples', () => {
  it('find what differs between a document and the gateway, and say it with the exit code', async () => {
    const file = join(await directory(), 'gateway.json');
    await writeFile(file, (await ask('export')).out);
    expect(await startTool(gateway.admin, 'drift', file).ended).toEqual({ code: 0, out: '', err: '' });
    await ask('patch', 'service', 'reports', '--set', 'max_connection=70', ...isConfirmed);
    const found = await startTool(gateway.admin, 'drift', file).ended;
    expect([found.code, found.out]).toEqual([
      6,
      'service.updated /services/Reports\n  /max_connection 70 > undefined\n',
    ]);
    await ask('undo', '--last', ...isConfirmed);
    const lost = await startTool('http://127.0.0.1:1', 'drift', file).ended;
    expect([lost.code, lost.err]).toEqual([4, expect.stringContaining('No answer of the interface')]);
  });

  it('restart one server after the other, and stop before a service has none left', async () => {
    const file = join(await directory(), 'restart.sh');
    await writeFile(file, `#!/bin/sh\necho restarted "$1" >> ${file}.log\n`, { mode: 0o700 });
    const held = await logIn('Reports', 2);
    const tool = startTool(gateway.admin, 'rolling-restart', file, 'db-2', 'db-1');
    const drain = async () => ((await gateway.get('/servers/db-2')) as { readonly drain?: unknown }).drain;
    await until('the server drains', async () => (await drain()) !== undefined);
    // A script that did not wait would be done by now.
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(existsSync(`${file}.log`)).toBe(false);
    await Promise.all(held.map((client) => client.close()));
    const { code, out, err } = await tool.ended;
    expect([code, out]).toEqual([1, 'db-2 is restarted.\n']);
    expect(err).toContain('No server of Read Write takes new sessions then.');
    expect(readFileSync(`${file}.log`, 'utf8')).toBe('restarted db-2\n');
    expect(await drain()).toBeUndefined();
  });

  it('tell a web hook who has changed what, and go on after a restart of their own and of the gateway', async () => {
    const told: string[] = [];
    const hook = createHttpServer((request, response) => {
      void text(request).then((body) => {
        told.push((JSON.parse(body) as { readonly text: string }).text);
        response.end();
      });
    }).listen(0, '127.0.0.1');
    await once(hook, 'listening');
    const file = join(await directory(), 'notifier.id');
    const args = [`http://127.0.0.1:${String((hook.address() as AddressInfo).port)}`, file];
    const isTold = (what: string) =>
      until(`the hook is told ${what}`, () => told.some((each) => each.includes(what)));
    const limit = (value: number) =>
      ask('patch', 'service', 'reports', '--set', `max_connection=${String(value)}`, ...isConfirmed);
    // The tool has last heard of another life of the gateway: it says so as soon as it follows the stream.
    await writeFile(file, otherLife);
    let notifier = startTool(gateway.admin, 'notifier', ...args);
    await isTold('The gateway was started again.');
    await limit(71);
    await isTold('service.updated /services/Reports by the gateway\n /max_connection  > 71');
    notifier.kill();
    await notifier.ended;
    await limit(72);
    notifier = startTool(gateway.admin, 'notifier', ...args);
    await isTold('/max_connection 71 > 72');
    const { port } = new URL(gateway.admin);
    await gateway.stop();
    told.length = 0;
    gateway = await startOnDatabases(['--store', store, '--admin-port', port, ...identity]);
    await isTold('The gateway was started again.');
    await ask('patch', 'service', 'reports', '--unset', 'max_connection', ...isConfirmed);
    await isTold('/max_connection 72 > ');
    notifier.kill();
    await notifier.ended;
    hook.close();
  });
});

describe('a change before a night of traffic and a restart', () => {
  it('is found in the history, and undone', async () => {
    const echo = await openEchoServer('');
    for (const args of [
      ['server', 'db-2', '--set', `port=${String(echo.port)}`],
      ['service', 'reports', '--unset', 'servers/0', '--set', 'max_connection=70'],
    ])
      expect(await ask('patch', ...args, ...isConfirmed)).toMatchObject({ code: 0 });
    const limits = ['--resource', '/services/Reports', '--field', 'max_connection'];
    const [changed = ''] = await history(...limits);
    for (let left = traffic; left > 0; left -= 50) {
      const some = Array.from({ length: Math.min(50, left) }, () => startSession(gateway.portOf('Reports')));
      for (const client of await Promise.all(some)) client.close();
    }
    await until('the sessions are gone', async () => (await sessionsOf('/sessions')).length === 0);
    expect((await shown('reports'))['total_connections']).toBeGreaterThanOrEqual(traffic);
    expect((await history(...limits))[0]).toBe(changed);
    expect(await gateway.stop()).toBe(0);
    await echo.close();
    gateway = await startOnDatabases(['--store', store, ...identity]);

    expect((await history(...limits))[0]).toBe(changed);
    expect((await ask('why', '/services/Reports/max_connection')).out).toContain(changed);
    expect(await shown('reports')).toMatchObject({ max_connection: 70 });
    const undone = await ask('undo', '--last', ...isConfirmed);
    expect([undone.code, undone.err]).toEqual([0, expect.stringContaining('+ /max_connection = 70')]);
    expect(await shown('reports')).not.toHaveProperty('max_connection');
  }, 600_000);
});

/** A wire to the interface that carries the next DELETE to its end, and keeps the answer back. */
async function holdingWire(url: string): Promise<{
  readonly url: string;
  readonly carried: Promise<void>;
  readonly close: () => void;
}> {
  const { hostname, port } = new URL(url);
  let hold = (): void => undefined;
  const carried = new Promise<void>((resolve) => (hold = resolve));
  const server = createServer((client) => {
    const interfaceSocket = connect(Number(port), hostname);
    client.pipe(interfaceSocket).pipe(client);
    client.on('error', () => interfaceSocket.destroy());
    interfaceSocket.on('error', () => client.destroy());
    client.on('data', (part: Buffer) => {
      if (!part.toString('latin1').startsWith('DELETE ') || part.includes('dry_run')) return;
      interfaceSocket.unpipe(client);
      hold();
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const own = (server.address() as AddressInfo).port;
  return { url: `http://127.0.0.1:${String(own)}`, carried, close: () => server.close() };
}
