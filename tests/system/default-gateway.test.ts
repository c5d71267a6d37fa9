import { execFileSync, execSync } from 'node:child_process';
import { chmod, readdir } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';

import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Threads } from 'gateway-admin-core';

import { buildExamples } from '../support/built-package.ts';
import { root } from '../support/project.ts';
import { temporaryDirectories } from '../support/temporary-directory.ts';
import { connectDatabase, type DatabaseClient } from './database-client.ts';
import {
  endGateways,
  interrupt,
  runToEnd,
  startGateway,
  unsupportedPlatform,
  until,
  type RunningGateway,
} from './running-gateway.ts';
import { isOpen } from './socket-client.ts';

interface Shown {
  readonly [field: string]: unknown;
}

interface ShownServer {
  readonly name: string;
  readonly port: number;
  readonly status: readonly string[];
}

const directory = temporaryDirectories();
let gateway: RunningGateway;
const clients: DatabaseClient[] = [];

async function connect(service: string): Promise<DatabaseClient> {
  const client = await connectDatabase(gateway.portOf(service));
  clients.push(client);
  return client;
}

/** Ids of the sessions on a service. */
async function sessionsOn(service: string): Promise<readonly number[]> {
  const links = (await gateway.get(`/services/${service}/sessions`)) as readonly string[];
  return links.map((link) => Number(link.slice('/sessions/'.length)));
}

async function server(name: string): Promise<ShownServer> {
  return (await gateway.get(`/servers/${name}`)) as ShownServer;
}

beforeAll(async () => {
  buildExamples();
  gateway = await startGateway();
});

afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  await until('no session is open', async () => ((await gateway.get('/sessions')) as Shown[]).length === 0);
});

afterAll(endGateways);

describe('the example gateway without a document', () => {
  it('says once where each thing is, and what to try', () => {
    const facts = gateway.output.split('\n').filter((line) => /^(?:admin|console|listener) /.test(line));
    expect(facts.sort()).toEqual([
      expect.stringMatching(/^admin http:\/\/127\.0\.0\.1:\d+$/),
      expect.stringMatching(/^console http:\/\/127\.0\.0\.1:\d+\/console$/),
      expect.stringMatching(/^listener Read-Write 127\.0\.0\.1:\d+$/),
      expect.stringMatching(/^listener Reports 127\.0\.0\.1:\d+$/),
    ]);
    expect(gateway.output).toContain(`  curl ${gateway.admin}/sessions\n`);
    expect(gateway.output).toContain(
      `psql -h 127.0.0.1 -p ${String(gateway.portOf('Read-Write'))} -U postgres`,
    );
  });

  it('says what it waits for and for how long, and names the command line at the end of the hints', () => {
    const { output, admin } = gateway;
    expect(output).toMatch(/^Starting two PostgreSQL servers \.\.\. \d+\.\d s\n/);
    expect(output).toMatch(/ {2}npx gateway-admin list services --url (\S+)\n\nReady after \d+\.\d s\. /);
    expect(output).toContain(`--url ${admin}\n`);
    expect(output).not.toContain('\u001b');
    const [hint = ''] = /npx gateway-admin .*/.exec(output) ?? [];
    expect(execSync(hint, { cwd: root, encoding: 'utf8' })).toMatch(/^Read Write +started/m);
  });

  it('prints a line for each event', async () => {
    await gateway.ask('PUT', '/service/Reports/stop');
    await gateway.ask('PUT', '/service/Reports/start');
    const line = (type: string) =>
      new RegExp(`^\\d\\d:\\d\\d:\\d\\d service\\.${type} /services/Reports$`, 'm');
    await until('the events are printed', () => line('started').test(gateway.printed()));
    expect(gateway.printed()).toMatch(line('stopped'));
  });

  it('prints a line a second for all sessions together', async () => {
    const begun = performance.now();
    const few = await Promise.all(Array.from({ length: 20 }, () => connect('Reports')));
    await Promise.all(few.map((client) => client.close()));
    const tallies = (): readonly (readonly number[])[] =>
      [...gateway.printed().matchAll(/^[\d:]{8} sessions (\d+) opened, (\d+) closed, 0 open$/gm)].map(
        ([, ...counts]) => counts.map(Number),
      );
    await until('the sessions are printed', () => tallies().length > 0);
    expect(gateway.printed()).not.toMatch(/ (?:session|connection)\.(?:opened|updated|closed) /);
    // One more at the begin, and one at the end.
    expect(tallies().length).toBeLessThanOrEqual(2 + (performance.now() - begun) / 1000);
  });

  it('sends a request to cancel a query to the server that runs the query', async () => {
    const open = await Promise.all(Array.from({ length: 6 }, () => connect('Reports')));
    const counts = await Promise.all(
      ['db-1', 'db-2'].map(async (name) => (await gateway.get(`/servers/${name}/connections`)) as Shown[]),
    );
    expect(counts.map(({ length }) => length > 0)).toEqual([true, true]);
    const sleeping = open.map((client) => client.valueOf('select pg_sleep(600)'));
    const canceled = expect(Promise.allSettled(sleeping)).resolves.toEqual(
      open.map(() => ({ status: 'rejected', reason: expect.objectContaining({ code: '57014' }) })),
    );
    await cancelUntil(canceled, open);
    expect(await Promise.all(open.map((client) => client.valueOf('select 5')))).toEqual(open.map(() => 5));
    expect(await sessionsOn('Reports')).toHaveLength(6);
  });

  it('carries the queries of several clients at once', async () => {
    const open = await Promise.all(['Read-Write', 'Read-Write', 'Read-Write', 'Reports'].map(connect));
    const answers = open.map((client, index) => client.valueOf(`select ${String(index)} + 100`));
    expect(await Promise.all(answers)).toEqual([100, 101, 102, 103]);
  });

  it('serves many clients of one database at once, and closes one of them while the others go on', async () => {
    const doomed = await connect('Read-Write');
    const [id] = await sessionsOn('Read-Write');
    const [owner, waiter, ...others] = (await Promise.all(
      Array.from({ length: 8 }, () => connect('Read-Write')),
    )) as [DatabaseClient, DatabaseClient, ...DatabaseClient[]];
    await owner.valueOf('select pg_advisory_lock(1)');
    const waiting = waiter.valueOf('select pg_advisory_lock(1)');
    const sleeping = expect(doomed.valueOf('select pg_sleep(600)')).rejects.toThrow('closed the session');
    const sums = (): Promise<unknown> =>
      Promise.all(others.map((client, index) => client.valueOf('select $1::int + 1', [index])));
    expect(await sums()).toEqual([1, 2, 3, 4, 5, 6]);
    expect(await gateway.ask('DELETE', `/sessions/${String(id)}`)).toEqual({ status: 204 });
    await sleeping;
    await doomed.closed;
    expect(await sums()).toEqual([1, 2, 3, 4, 5, 6]);
    expect(await owner.valueOf('select pg_advisory_unlock(1)')).toBe(true);
    expect(await waiting).toBe('');
    expect(await sessionsOn('Read-Write')).toHaveLength(8);
    const queries = "select count(*)::int from pg_stat_activity where query like 'select pg_sleep%'";
    await until('the database ends the query', async () => (await owner.valueOf(queries)) === 0);
  });

  it('shows the sessions of its clients, with user and address', async () => {
    await Promise.all([connect('Read-Write'), connect('Reports')]);
    const sessions = (await gateway.get('/sessions')) as readonly Shown[];
    expect(sessions.map(({ service }) => service).sort()).toEqual([
      '/services/Read-Write',
      '/services/Reports',
    ]);
    for (const session of sessions) {
      expect(session).toMatchObject({
        user: 'postgres',
        address: '127.0.0.1',
        state: 'Session ready for routing',
        idle: expect.any(Number),
      });
    }
    expect(await gateway.get('/services/Read-Write')).toMatchObject({ current_connections: 1 });
  });

  it('counts its sessions and connections for Prometheus', async () => {
    await Promise.all([connect('Read-Write'), connect('Reports'), connect('Reports')]);
    const lines = (await (await fetch(`${gateway.admin}/metrics`)).text()).split('\n');
    expect(lines).toEqual(
      expect.arrayContaining([
        'gateway_service_sessions{name="Read Write"} 1',
        'gateway_service_sessions{name="Reports"} 2',
        'gateway_service_connections{name="Reports"} 2',
        'gateway_server_status{name="db-1",status="running"} 1',
      ]),
    );
  });

  it('shows the connections to a server and counts what goes through them', async () => {
    const client = await connect('Read-Write');
    await client.valueOf('select 1');
    const [connection] = (await gateway.get('/servers/db-1/connections')) as readonly Shown[];
    expect(connection).toMatchObject({ server: '/servers/db-1', service: '/services/Read-Write' });
    const { reads, writes } = connection?.['statistics'] as Readonly<Record<string, number>>;
    expect([reads, writes].map((count) => (count ?? 0) >= 2)).toEqual([true, true]);
  });

  it('shows its one thread, with the load and the sockets of the moment', async () => {
    const threads = async (): Promise<Threads> => (await gateway.get('/gateway/threads')) as Threads;
    const before = await threads();
    const clients = await Promise.all(Array.from({ length: 10 }, () => connect('Reports')));
    await Promise.all(clients.map((client) => client.valueOf("select repeat('x', 1000000)")));
    const after = await threads();
    const [[idle], [busy]] = [before.threads, after.threads];
    expect(busy).toMatchObject({ id: 0, state: 'processing', event: ['in'] });
    // A client and its connection to the server.
    expect(busy?.file_descriptors).toBeGreaterThanOrEqual((idle?.file_descriptors ?? 0) + 20);
    expect(busy?.run_time).toBeGreaterThan(idle?.run_time ?? 0);
    const { historic, ...others } = after.load_average;
    expect(historic).toBeGreaterThan(0);
    for (const load of [historic, ...Object.values(others)]) {
      expect(load).toBeGreaterThanOrEqual(0);
      expect(load).toBeLessThanOrEqual(1);
    }
    // The gateway runs for less than five minutes, so these are the loads since its start.
    expect(others['15min']).toBe(others['5min']);
  });

  it('prints the statements that match a filter of the service, by the settings of the moment', async () => {
    const printed = (): readonly (string | undefined)[] =>
      [...gateway.printed().matchAll(/^statement \/filters\/Statement-Log session \d+: (.*)$/gm)].map(
        ([, statement]) => statement,
      );
    const patch = async (target: string, path: string, value: unknown) =>
      expect(await gateway.ask('PATCH', target, [{ op: 'add', path, value }])).toMatchObject({ status: 200 });
    const [writer, reader] = await Promise.all([connect('Read-Write'), connect('Reports')]);
    await writer.valueOf("select 'DROP\n\u001b[31mstatement /filters/x'");
    await writer.valueOf('select $1::int + 1', [1]);
    await reader.valueOf("select 'drop'");
    await patch('/filters/statement-log', '/parameters/match/value', 'wanted');
    await patch('/services/reports', '/filters', ['/filters/Statement-Log']);
    // A long statement, which comes in pieces, does not hide the next one.
    await reader.valueOf(`select length('${'x'.repeat(300_000)}wanted')`);
    await reader.valueOf("select $1::text || 'wanted'", ['drop']);
    await writer.valueOf('select 1 as wanted');
    const expected = [
      "select 'DROP [31mstatement /filters/x'",
      "select $1::text || 'wanted'",
      'select 1 as wanted',
    ];
    await until('the statements are printed', () => printed().length >= expected.length);
    expect(printed()).toEqual(expected);
    expect(await gateway.get('/filters/statement-log')).toMatchObject({
      services: ['/services/Read-Write', '/services/Reports'],
    });
  });

  it('announces the version of a service, and the version of the server without one', async () => {
    const patch = (operation: object) =>
      gateway.ask('PATCH', '/services/reports', [{ path: '/version_string', ...operation }]);
    const version = '9.6-gateway-\u00e4';
    expect(await patch({ op: 'add', value: version })).toMatchObject({ status: 200 });
    const [changed, other] = [await connect('Reports'), await connect('Read-Write')];
    expect(changed.serverVersion).toBe(version);
    // The rest of the beginning arrives whole, such as the key of a request to cancel.
    const sleeping = expect(changed.valueOf('select pg_sleep(600)')).rejects.toMatchObject({ code: '57014' });
    await cancelUntil(sleeping, [changed]);
    expect(await changed.valueOf('show server_version')).toBe(other.serverVersion);
    expect(await patch({ op: 'remove' })).toMatchObject({ status: 200 });
    expect((await connect('Reports')).serverVersion).toBe(other.serverVersion);
  });

  it('connects the clients of a service as the user of the service, if the server knows the user', async () => {
    const patch = (operation: object) =>
      gateway.ask('PATCH', '/services/read-write', [{ path: '/user', ...operation }]);
    const users = "select concat(session_user, ' on ', current_database())";
    const before = await connect('Read-Write');
    await before.valueOf('create role service_user login');
    expect(await patch({ op: 'add', value: 'service_user' })).toMatchObject({ status: 200 });
    expect(await (await connect('Read-Write')).valueOf(users)).toBe('service_user on postgres');
    expect(await before.valueOf(users)).toBe('postgres on postgres');
    // A session shows the user that its client has named.
    expect(await gateway.get('/sessions?fields=user')).toEqual([{ user: 'postgres' }, { user: 'postgres' }]);
    expect(await patch({ op: 'replace', value: 'nobody' })).toMatchObject({ status: 200 });
    await expect(connect('Read-Write')).rejects.toMatchObject({ code: '28000' });
    expect(await patch({ op: 'remove' })).toMatchObject({ status: 200 });
    expect(await (await connect('Read-Write')).valueOf(users)).toBe('postgres on postgres');
  });

  it('gives a client that is one too many the error of PostgreSQL', async () => {
    const change = (op: string) =>
      gateway.ask('PATCH', '/services/read-write', [{ op, path: '/max_connection', value: 1 }]);
    expect(await change('add')).toMatchObject({ status: 200 });
    const first = await connect('Read-Write');
    await expect(connect('Read-Write')).rejects.toMatchObject({
      ...{ severity: 'FATAL', code: '53300' },
      message: 'The service Read Write has as many clients as it may have: 1.',
    });
    expect(await first.valueOf('select 5')).toBe(5);
    expect(await change('remove')).toMatchObject({ status: 200 });
  });

  it('ends one session and leaves the others alone', async () => {
    const doomed = await connect('Read-Write');
    const [id] = await sessionsOn('Read-Write');
    const other = await connect('Read-Write');
    const waiting = expect(doomed.valueOf('select pg_sleep(600)')).rejects.toMatchObject({
      ...{ severity: 'FATAL', code: '57P01', message: 'The administrator has closed the session.' },
    });
    expect(await gateway.ask('DELETE', `/sessions/${String(id)}`)).toEqual({ status: 204 });
    await waiting;
    await doomed.closed;
    expect(await gateway.ask('GET', `/sessions/${String(id)}`)).toMatchObject({ status: 404 });
    expect(await other.valueOf('select 7')).toBe(7);
    expect(await sessionsOn('Read-Write')).toHaveLength(1);
  });

  it('ends every session on a service and none on another', async () => {
    const doomed = await Promise.all([connect('Read-Write'), connect('Read-Write'), connect('Read-Write')]);
    const other = await connect('Reports');
    expect(await gateway.ask('DELETE', '/services/read-write/sessions')).toEqual({ status: 204 });
    await Promise.all(doomed.map((client) => client.closed));
    expect(await sessionsOn('Read-Write')).toEqual([]);
    expect(await other.valueOf('select 8')).toBe(8);
  });

  it('closes the connections to a server; sessions at rest live on until their client speaks', async () => {
    const client = await connect('Read-Write');
    const [id] = await sessionsOn('Read-Write');
    expect(await gateway.ask('DELETE', '/servers/db-1/connections')).toEqual({ status: 204 });
    expect(await gateway.get('/servers/db-1/connections')).toEqual([]);
    expect(await gateway.get(`/sessions/${String(id)}/connections`)).toEqual([]);
    expect(await sessionsOn('Read-Write')).toEqual([id]);
    await expect(client.valueOf('select 1')).rejects.toMatchObject({
      ...{ severity: 'FATAL', code: '57P01' },
      message: 'The administrator has closed the connection to db-1.',
    });
    await client.closed;
  });

  it('refuses new clients of a service that is stopped, while its sessions go on, until it is started', async () => {
    const before = await connect('Read-Write');
    expect(await gateway.ask('PUT', '/service/Read-Write/stop')).toEqual({ status: 204 });
    await expect(connect('Read-Write')).rejects.toThrow('ECONNREFUSED');
    expect(await before.valueOf('select 9')).toBe(9);
    expect(await (await connect('Reports')).valueOf('select 10')).toBe(10);
    expect(await gateway.ask('PUT', '/service/Read-Write/start')).toEqual({ status: 204 });
    expect(await (await connect('Read-Write')).valueOf('select 11')).toBe(11);
    expect(await before.valueOf('select 12')).toBe(12);
  });

  it('flushes its logs', async () => {
    expect(await gateway.ask('POST', '/gateway/logs/flush')).toEqual({ status: 204 });
    expect(await gateway.get('/gateway/logs')).toHaveProperty('last_flushed');
  });

  it('finds after an interval that a database is gone, and closes the clients that were on it', async () => {
    const lookEvery = async (intervalMs: number): Promise<void> => {
      const patch = [{ op: 'replace', path: '/monitor_interval', value: intervalMs }];
      expect(await gateway.ask('PATCH', '/monitor/main-monitor', patch)).toMatchObject({ status: 200 });
    };
    // Longer than this test waits for anything.
    await lookEvery(600_000);
    // Two clients of two databases, the second of which weighs more.
    const [other, doomed] = await Promise.all([connect('Read-Write'), connect('Reports')]);
    expect((await server('db-2')).status).toEqual(['running']);
    // The first line of the file is the process id of the server.
    const [pid] = String(await doomed.valueOf("select pg_read_file('postmaster.pid')")).split('\n');
    process.kill(Number(pid), 'SIGKILL');
    await doomed.closed;
    expect((await server('db-2')).status).toEqual(['running']);
    await lookEvery(100);
    await until('the database is down', async () => (await server('db-2')).status.length === 0);
    expect(gateway.printed()).toMatch(/ server\.reported \/servers\/db-2: down: connect ECONNREFUSED .*\n/);
    expect((await server('db-1')).status).toEqual(['running']);
    expect(await other.valueOf('select 13')).toBe(13);
    expect(await (await connect('Reports')).valueOf('select 14')).toBe(14);
  });
});

describe('the end of the example gateway', () => {
  /** An environment in which the data of the databases are in a folder of their own. */
  async function environmentOf(folder: string): Promise<Readonly<Record<string, string>>> {
    await chmod(folder, 0o755); // As root, another account has to get in.
    return { TMPDIR: folder };
  }

  async function expectNothingLeft(folder: string, ports: readonly number[] = []): Promise<void> {
    await until('the databases are gone', async () => !(await Promise.all(ports.map(isOpen))).includes(true));
    await until('their data are removed', async () => (await readdir(folder)).length === 0);
  }

  /** The running programs whose command names a folder. */
  function programsWith(folder: string): readonly string[] {
    const all = execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' }).split('\n');
    return all.filter((line) => line.includes(folder));
  }

  async function databasePorts(of: RunningGateway): Promise<readonly number[]> {
    return ((await of.get('/servers')) as readonly ShownServer[]).map(({ port }) => port);
  }

  it('comes with SIGTERM: clients are closed, databases and their data gone, and the exit code is 0', async () => {
    const folder = await directory();
    const ending = await startGateway([], await environmentOf(folder));
    const client = await connectDatabase(ending.portOf('Read-Write'));
    const ports = await databasePorts(ending);
    expect(await Promise.all(ports.map(isOpen))).toEqual([true, true]);
    expect(await readdir(folder)).toHaveLength(1);
    expect(await ending.stop()).toBe(0);
    await client.closed;
    expect(await readdir(folder)).toEqual([]);
    await expectNothingLeft(folder, ports);
  });

  it('takes the databases and their data with it even when it is killed', async () => {
    const folder = await directory();
    const killed = await startGateway([], await environmentOf(folder));
    const ports = await databasePorts(killed);
    expect(await Promise.all(ports.map(isOpen))).toEqual([true, true]);
    killed.process.kill('SIGKILL');
    await expectNothingLeft(folder, ports);
    expect(killed.process.signalCode).toBe('SIGKILL');
  });

  it('comes with Ctrl-C at any moment of its start, and leaves nothing', async () => {
    const folder = await directory();
    const environment = await environmentOf(folder);
    const ends = await Promise.all([50, 400, 900, 1600].map((afterMs) => interrupt(afterMs, environment)));
    expect(ends.map(({ stderr }) => stderr)).toEqual(ends.map(() => ''));
    // Null: the signal came before the program had begun.
    expect(ends.filter(({ code }) => code !== 0 && code !== null)).toEqual([]);
    // The gateway ends after its databases, so nothing is left at its end.
    expect(await readdir(folder)).toEqual([]);
    expect(programsWith(folder)).toEqual([]);
  });
});

describe('the example gateway on a platform without a binary of PostgreSQL', () => {
  it('says so in a sentence, and names the option that needs none', async () => {
    expect(await runToEnd(['--admin-port', '0'], unsupportedPlatform)).toEqual({
      code: 1,
      stdout: 'Starting two PostgreSQL servers ... not done\n',
      stderr: `npm has installed no PostgreSQL for ${process.platform.replace('win32', 'windows')}-abacus.
To run a document with servers of your own: npm start -- --document FILE
`,
    });
  });
});

/** Cancels the queries of clients until they have ended: a request that arrives before its query does nothing. */
async function cancelUntil(ended: Promise<unknown>, clients: readonly DatabaseClient[]): Promise<void> {
  for (;;) {
    for (const client of clients) await client.cancel();
    const isOver = await Promise.race([ended.then(() => true), setTimeout(100, false)]);
    if (isOver) return;
  }
}
