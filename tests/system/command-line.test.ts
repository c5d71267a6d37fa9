import { setTimeout } from 'node:timers/promises';

import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';

import { command } from '../cli/command-line.ts';
import { buildExamples } from '../support/built-package.ts';
import { connectDatabase, type DatabaseClient } from './database-client.ts';
import { startProgram, type Result } from './program.ts';
import { endGateways, startOnDatabases, until, type RunningGateway } from './running-gateway.ts';

let gateway: RunningGateway;
const clients: DatabaseClient[] = [];
const leaving: (() => void)[] = [];

beforeAll(async () => {
  buildExamples();
  gateway = await startOnDatabases();
});

afterEach(async () => {
  for (const leave of leaving.splice(0)) leave();
  await Promise.all(clients.splice(0).map((client) => client.close()));
});

afterAll(endGateways);

/** Runs the program as a shell does. */
function ask(...args: readonly string[]): Promise<Result> {
  return startProgram(gateway.admin, args).ended;
}

/** Follows what a command prints until the test ends. */
function follow(...args: readonly string[]): () => string {
  const { printed, kill } = startProgram(gateway.admin, args);
  leaving.push(kill);
  return printed;
}

async function connect(service: string): Promise<DatabaseClient> {
  const client = await connectDatabase(gateway.portOf(service));
  clients.push(client);
  return client;
}

describe('gateway-admin, against the example with real PostgreSQL sessions', () => {
  it('lists sessions, closes those of a service as planned, and a watch shows it', async () => {
    const doomed = await Promise.all([connect('Read-Write'), connect('Read-Write'), connect('Read-Write')]);
    const other = await connect('Reports');
    const listed = await ask('list', 'sessions', '--fields', 'user,service');
    expect(listed.out.split('\n').slice(0, -1).sort()).toEqual([
      'USER      SERVICE',
      'postgres  Read-Write',
      'postgres  Read-Write',
      'postgres  Read-Write',
      'postgres  Reports',
    ]);
    const watched = follow('watch', 'services', '--fields', 'name,current_connections');
    await until('the watch shows the sessions', () => /Read Write +3\n/.test(watched()));
    const plan = await ask('close', 'sessions', 'read-write', '--dry-run');
    expect(plan.out).toContain('closes 3 sessions and 3 backend connections');
    const closed = await ask('close', 'sessions', 'read-write', '--yes');
    expect(closed).toEqual({
      code: 0,
      out: 'Done: close the sessions of read-write on example. 3 sessions and 3 backend connections closed.\n',
      err: '',
    });
    await Promise.all(doomed.map((client) => client.closed));
    expect(await other.valueOf('select 1')).toBe(1);
    await until('the watch shows that they are gone', () => /Read Write +0\n/.test(watched()));
  });

  it('closes what the question showed, and the sessions that log in meanwhile stay', async () => {
    const doomed = await Promise.all(Array.from({ length: 5 }, () => connect('Reports')));
    let later: readonly DatabaseClient[] = [];
    const meanwhile = async (): Promise<void> => {
      later = await Promise.all(Array.from({ length: 20 }, () => connect('Reports')));
    };
    const args = ['close', 'sessions', 'reports', '--url', gateway.admin];
    const { out, err } = await command(args, { input: 'y', isTerminal: true, meanwhile });
    expect(err).toContain('on example? 5 sessions and 5 backend connections close. [y/N]');
    expect(out).toBe(
      'Done: close the sessions of reports on example. 5 sessions and 5 backend connections closed.\n',
    );
    await Promise.all(doomed.map((client) => client.closed));
    expect(await Promise.all(later.map((client) => client.valueOf('select 1')))).toEqual(later.map(() => 1));
  });

  it('says in a plan which idle sessions the gateway will close', async () => {
    await Promise.all(Array.from({ length: 6 }, () => connect('Reports')));
    await setTimeout(2100);
    const { out } = await ask('patch', 'service', 'reports', '--set', 'connection_timeout=2', '--dry-run');
    expect(out).toMatch(/note: Sessions that are idle for 2 s are closed\. Now 6 are\.\n/);
    expect(out).not.toContain('closes 0 sessions');
    // Those that are not idle for so long yet end a moment later: a person is asked about them too.
    const slow = ['patch', 'service', 'reports', '--set', 'connection_timeout=3600', '--url', gateway.admin];
    const { err } = await command(slow, { input: 'n', isTerminal: true });
    expect(err).toContain(
      'Patch service reports on example? Sessions that are idle for 3600 s are closed. Now 0 are. [y/N]',
    );
    const closing = await ask('close', 'connections', 'db-2', '--dry-run');
    expect(closing.out).toContain('the sessions end with theirs');
    expect(closing.out).not.toContain('continue');
  });

  it('undoes a patch by the id that the history shows', async () => {
    const limit = async (): Promise<unknown> =>
      ((await gateway.get('/services/reports')) as { readonly max_connection?: number }).max_connection;
    const before = await limit();
    expect(await ask('patch', 'service', 'reports', '--set', 'max_connection=4711')).toMatchObject({
      code: 0,
    });
    const { out } = await ask('history', '--resource', '/services/Reports', '--range', '0-0', '--json');
    const [{ id, events }] = JSON.parse(out) as [{ readonly id: string; readonly events: object }];
    expect(events).toMatchObject([{ operations: [{ path: '/max_connection', value: 4711 }] }]);
    expect(await ask('undo', id)).toMatchObject({
      code: 0,
      out: expect.stringContaining('Done: undo'),
    });
    expect(await limit()).toBe(before);
  });

  it('applies a document, and finds nothing to do the second time', async () => {
    const document = JSON.parse((await ask('export')).out) as {
      services: Record<string, unknown>[];
      servers: Record<string, unknown>[];
    };
    Object.assign(document.services[1] ?? {}, { state: 'stopped', max_connection: 9 });
    Object.assign(document.servers[1] ?? {}, { status: ['maintenance'] });
    const { applied, again } = await applyTwice(JSON.stringify(document));
    expect(applied).toMatch(
      /\/services\/Reports +stop\n[^]*\/services\/Reports +. \/max_connection = 9[^]*Done: apply - \(3 changes\) on [^]*\.\n$/,
    );
    expect(again).toMatch(/^Nothing to do: \S+ is as - says\.\n$/);
    expect(await gateway.get('/services/reports')).toMatchObject({ state: 'stopped', max_connection: 9 });
    await expect(connect('Reports')).rejects.toThrow();
  });

  it.each([
    [['list', 'services'], 0],
    [['stop', 'service', 'nothing'], 1],
    [['patch', 'service', 'read-write', '--set', 'router_options/x=y'], 1],
    [['close', 'sessions', 'read-write', '--nonsense'], 2],
    [['list', 'services', '--url', 'http://127.0.0.1:1'], 3],
  ])('%j ends with %d', async (args, code) => {
    expect(await ask(...args)).toMatchObject({ code });
  });
});

async function applyTwice(document: string): Promise<{ readonly applied: string; readonly again: string }> {
  const apply = async (): Promise<string> =>
    (await startProgram(gateway.admin, ['apply', '-', '--yes'], document).ended).out;
  return { applied: await apply(), again: await apply() };
}
