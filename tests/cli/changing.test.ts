import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  createAdmin,
  createBasicAuthentication,
  createSnapshot,
  EffectRefusedError,
  patchService,
  type Admin,
  type AdminOptions,
  type AdminRequest,
} from 'gateway-admin-core';
import { hold } from 'gateway-admin-core/testing';

import { buildPackage } from '../support/built-package.ts';
import { openedSessions } from '../support/opened-session.ts';
import { root } from '../support/project.ts';
import { appliedTo, runAdmin, type Running } from '../support/running-admin.ts';
import { temporaryDirectories } from '../support/temporary-directory.ts';
import { until } from '../system/running-gateway.ts';
import { command, servers, type Circumstances, type Result } from './command-line.ts';

const serve = servers(afterEach);
const newDirectory = temporaryDirectories();
let running: Running;
let url = '';

async function start(options: Pick<Partial<AdminOptions>, 'snapshot' | 'access'> = {}): Promise<void> {
  running = runAdmin({ name: 'eu-1', ...options });
  url = await serve(running.admin);
}

beforeEach(() => start());

/** What a terminal sends for Ctrl-C and Ctrl-D. */
const [interrupt, endOfInput] = ['\x03', '\x04'];

function ask(args: readonly string[], circumstances?: Circumstances): Promise<Result> {
  return command([...args, '--url', url], circumstances);
}

describe('a change by gateway-admin', () => {
  // Promise: command-line-plan
  it.each([
    [['stop', 'service', 'my-service'], 'service.stop /services/My-Service'],
    [['start', 'services', 'bare-service'], 'service.start /services/Bare-Service'],
    [['stop', 'monitor', 'main-monitor'], 'monitor.stop /monitors/Main-Monitor'],
    [['close', 'session', '9', '--yes'], 'sessions.close /sessions/9'],
    [['close', 'sessions', 'bare-service', '--yes'], 'sessions.close /services/Bare-Service'],
    [['close', 'connections', 'db-serv-1', '--yes'], 'connections.close /servers/db-serv-1'],
    [['set', 'server', 'db-serv-1', 'maintenance'], 'server.update /servers/db-serv-1'],
    [['clear', 'server', 'db-server-2', 'maintenance'], 'server.update /servers/DB-Server-2'],
    [['patch', 'service', 'my-service', '--set', 'max_connection=7'], 'service.update /services/My-Service'],
    [
      ['create', 'server', 'db-9', '--set', 'address=::1', '--set', 'port=1', '--set', 'protocol=p'],
      'server.create /servers/db-9',
    ],
    [['create', 'filters', 'Two Words', '--set', 'module=tee'], 'filter.create /filters/Two-Words'],
    [['delete', 'server', 'spare-db', '--yes'], 'server.delete /servers/Spare-DB'],
    [['delete', 'services', 'spare-service', '--yes'], 'service.delete /services/Spare-Service'],
    [['flush'], 'logs.flush /gateway/logs'],
  ])('%j asks the gateway once, and a dry run not at all', async (args, effect) => {
    const before = running.admin.snapshot;
    const plan = await ask([...args, '--dry-run']);
    expect([plan.code, plan.err]).toEqual([0, '']);
    expect(plan.out).toMatch(/^Plan: [^]*\n {2}gateway: [^]*\nNothing was done on eu-1\.\n$/);
    expect(plan.out).toContain(`gateway: ${effect}`);
    expect([running.admin.snapshot, appliedTo(running.gateway)]).toEqual([before, []]);
    const { code, out } = await ask(args);
    expect([code, out]).toEqual([0, expect.stringMatching(/^Done: /)]);
    expect(appliedTo(running.gateway)).toEqual([expect.stringContaining(effect)]);
  });

  it.each([
    ['sessions', 'my-service', '/services/my-service?fields=current_connections', '2 left'],
    ['connections', 'db-serv-1', '/servers/db-serv-1/connections?range=0-0', '2 left'],
  ])('says on a terminal how many %s are still to close', async (what, name, counting, told) => {
    let counts = 0;
    const until = async (isSo: () => boolean): Promise<void> => {
      while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 10));
    };
    url = await serve({
      ...running.admin,
      handle: async (request) => {
        if (request.target !== counting) return running.admin.handle(request);
        counts += 1;
        // The progress is no reason for the command to fail.
        if (counts === 1) throw new Error('not now');
        return running.admin.handle(request);
      },
    });
    running.gateway.will(async (_effect, _context, perform) => {
      // The answer to the second one is shown when the third one comes.
      await until(() => counts === 3);
      perform();
    });
    const { code, err } = await ask(['close', what, name, '--yes'], { isTerminal: true });
    expect([code, err.replaceAll('\r\x1b[K', '|')]).toEqual([0, expect.stringContaining(`|${told}|`)]);
  });

  // Promise: command-line-yes
  it.each([
    [['close', 'session', '9']],
    [['close', 'sessions', 'my-service']],
    [['close', 'connections', 'db-serv-1']],
    [['user', 'delete', 'ada']],
    [['delete', 'filter', 'hint', '--detach']],
  ])('%j does nothing without a yes', async (args) => {
    const before = running.admin.snapshot;
    const { code, err } = await ask(args);
    expect([code, err]).toEqual([2, expect.stringContaining('without a terminal, say --yes.\n')]);
    for (const input of ['n', '', 'yesterday']) {
      const asked = await ask(args, { input, isTerminal: true });
      expect([asked.code, asked.err]).toEqual([
        1,
        expect.stringMatching(/\? .*\[y\/N\] [^]*gateway-admin: Nothing was done\.\n$/),
      ]);
    }
    expect(running.admin.snapshot).toBe(before);
    for (const input of [interrupt, endOfInput]) {
      const left = await ask(args, { input, isTerminal: true });
      expect([left.code, left.err]).toEqual([130, expect.stringContaining('Nothing was done.\n')]);
    }
    expect(running.admin.snapshot).toBe(before);
    expect((await ask(args, { input: 'y', isTerminal: true })).code).toBe(0);
    expect(running.admin.snapshot).not.toBe(before);
  });
});

describe('a question of gateway-admin', () => {
  const closing = ['close', 'sessions', 'my-service'];

});

describe('gateway-admin patch', () => {
  it.each([
    ['7', 7],
    ['"7"', '7'],
    ['eu west', 'eu west'],
    ['a=b', 'a=b'],
    ['', ''],
  ])('takes the value %j for %j', async (text, value) => {
    expect(await ask(['patch', 'server', 'db-serv-1', '--set', `parameters/zone=${text}`])).toMatchObject({
      code: 0,
    });
    expect(running.admin.snapshot.servers.find('db-serv-1')?.settings.parameters['zone']).toBe(value);
  });

  it.each([
    ['filter', 'spare', 'parameters/max_rows=1000', { value: '1000', configurable: true }],
    ['filter', 'spare', 'parameters/max_rows/value=1e3', '1e3'],
    [
      'filter',
      'spare',
      'parameters/max_rows={"value":"5","configurable":true}',
      { value: '5', configurable: true },
    ],
    ['service', 'bare-service', 'version_string=8.0', '8.0'],
    ['service', 'bare-service', 'version_string=12345678901234567', '12345678901234567'],
    ['service', 'bare-service', 'weightby=10', '10'],
    ['service', 'bare-service', 'user=null', 'null'],
    ['service', 'bare-service', 'user="app"', 'app'],
    ['service', 'bare-service', 'router_options/a~1b=true', 'true'],
    ['service', 'bare-service', 'router_options/list=[1]', '[1]'],
    ['server', 'db-serv-1', 'address=10', '10'],
    ['server', 'db-serv-1', 'parameters/weight=10', 10],
    ['service', 'bare-service', 'max_connection=10', 10],
    ['service', 'bare-service', 'root_user=true', true],
    ['monitor', 'idle-monitor', 'servers=["/servers/db-serv-1"]', ['/servers/db-serv-1']],
  ])('gives %s %s the type that the setting takes: %s', async (kind, name, setting, value) => {
    expect((await ask(['patch', kind, name, '--set', setting, '--yes'])).code).toBe(0);
    const shown: unknown = JSON.parse((await ask(['show', kind, name, '--json'])).out);
    const tokens = (setting.split('=')[0] ?? '').split('/').map((token) => token.replace('~1', '/'));
    const found = tokens.reduce(
      (within, token) => (within as Readonly<Record<string, unknown>>)[token],
      shown,
    );
    expect(found).toEqual(value);
    // A test takes the value as a change does. Only a change takes a text for a whole parameter of a filter.
    const isShort = kind === 'filter' && !/value|{/.test(setting);
    expect((await ask(['patch', kind, name, '--test', setting])).code).toBe(isShort ? 1 : 0);
  });

  it.each([
    ['server', 'db-serv-1', 'parameters/weight=12345678901234567'],
    ['service', 'bare-service', 'max_connection=-12345678901234567'],
    ['monitor', 'idle-monitor', 'monitor_interval=1e999'],
  ])('refuses a number of %s %s that would become another one: %s', async (kind, name, setting) => {
    for (const option of ['--set', '--test']) {
      const { code, out, err } = await ask(['patch', kind, name, option, setting]);
      const told = `patch got a number for /${setting.split('=')[0] ?? ''} that no program reads back exactly`;
      expect([code, out, err]).toEqual([2, '', expect.stringContaining(told)]);
    }
  });

  it.each([
    ['server', 'db-serv-1', 'port=03306', 'port, and no number begins with 0: write 3306'],
    [
      'service',
      'bare-service',
      'max_connection=-007',
      'max_connection, and no number begins with 0: write -7',
    ],
    ['monitor', 'idle-monitor', 'monitor_interval=0010.5', 'write 10.5'],
  ])('says how to write the number of %s %s in %s', async (kind, name, setting, told) => {
    const { code, out, err } = await ask(['patch', kind, name, '--set', setting]);
    expect([code, out, err]).toEqual([2, '', expect.stringContaining(told)]);
  });

  it.each([
    ['show', ['show', 'server', 'db-serv-1']],
    ['a dry run', ['patch', 'server', 'db-serv-1', '--set', 'port=6000', '--dry-run']],
  ])('takes the entity tag that %s prints, and is refused after another change', async (_case, args) => {
    const { out } = await ask(args);
    const [, tag = ''] = /^ *entity tag +(\S+)$/m.exec(out) ?? [];
    const patch = ['patch', 'server', 'db-serv-1', '--set', 'port=6000', '--if-match'];
    for (const given of [tag, `"${tag}"`, '*'])
      expect(await ask([...patch, given, '--dry-run'])).toMatchObject({ code: 0, err: '' });
    await ask(['patch', 'server', 'db-serv-1', '--set', 'port=7000']);
    for (const given of [tag, `"${tag}"`, `W/"${tag}"`]) {
      const told = expect.stringContaining('(precondition-failed)') as unknown;
      expect(await ask([...patch, given])).toMatchObject({ code: 1, err: told });
    }
  });

  it.each([
    [[], 'patch needs an operation'],
    [['--set', 'password=planted-secret'], 'patch takes no password as an argument'],
    [['--set', '/password=planted-secret'], 'patch takes no password as an argument'],
    [['--test', 'password=planted-secret'], 'patch takes no password as an argument'],
    [['--set', 'parameters/password=planted-secret'], 'patch takes no password as an argument'],
    [['--set', 'parameters/password/value=planted-secret'], 'patch takes no password as an argument'],
    [['--set', 'port'], 'patch needs a path and a value: --set PATH=VALUE'],
    [['--set', 'port=1', '--file', '-'], 'patch takes --file, or single operations'],
    [['--file', '/no/such/file'], 'The file cannot be read: ENOENT'],
    [['--file', '-'], 'The file is no JSON Patch: '],
  ])('refuses %j', async (options, told) => {
    const { code, out, err } = await ask(['patch', 'server', 'db-serv-1', ...options], { input: '[{' });
    expect([code > 0, out, err]).toEqual([true, '', expect.stringContaining(`gateway-admin: ${told}`)]);
    expect(err).not.toContain('planted');
  });
});

describe('gateway-admin user', () => {
  // Promise: command-line-secret
  it('adds a user, changes the password and deletes the user, without a password as an argument', async () => {
    const directory = await newDirectory();
    const fileWith = (password: string): string => {
      const file = join(directory, password);
      writeFileSync(file, `${password}\n`, { mode: 0o600 });
      return file;
    };
    await start({ snapshot: createSnapshot({}), access: { authenticate: createBasicAuthentication() } });
    await running.admin.createFirstUser({ name: 'ada', password: 'engine' });
    const ada = ['--user', 'ada', '--password-file', fileWith('engine')];
    const bob = ['--user', 'bob', '--password-file'];
    const told = await ask(['user', 'add', 'bob', '--new-password-file', fileWith('first'), ...ada]);
    expect(told).toEqual({ code: 0, out: 'Done: add user bob on eu-1.\n', err: '' });
    expect((await ask(['list', 'users', ...bob, fileWith('first')])).out).toBe('NAME\nada\nbob\n');
    const changed = await ask(['user', 'password', 'bob', ...ada], { input: 'second\n' });
    expect(changed.out).toBe('Done: change the password of bob on eu-1.\n');
    expect(await ask(['list', 'users', ...bob, fileWith('first')])).toMatchObject({ code: 5, out: '' });
    const env = { GATEWAY_ADMIN_USER: 'bob', GATEWAY_ADMIN_PASSWORD_FILE: fileWith('second') };
    expect(await ask(['list', 'users'], { env })).toMatchObject({ code: 0 });
    expect((await ask(['user', 'delete', 'bob', '--yes', ...ada])).code).toBe(0);
    expect(await ask(['list', 'users'], { env })).toMatchObject({ code: 5 });
  });

  it('refuses a user with a colon, and takes an empty one for none', async () => {
    const { code, err } = await ask(['list', 'users', '--user', 'ada:engine'], { input: 'x' });
    expect([code, err]).toEqual([2, 'gateway-admin: The name of a user to log in has no colon.\n']);
    const env = { GATEWAY_ADMIN_USER: '' };
    expect(await ask(['list', 'users'], { env })).toMatchObject({ code: 0, err: '' });
  });

});

const opened: Server[] = [];
afterEach(() => {
  for (const server of opened.splice(0)) server.close().closeAllConnections();
});

/** Opens a server that is no interface, and gives its address. */
/** Limits the connections of a service. Gives the id of the command. */
async function limitTo(admin: Admin, service: string, value: number): Promise<string> {
  const operations = [{ op: 'add', path: '/max_connection', value }] as const;
  const execution = await admin.execute((state, context) =>
    patchService(state, service, operations, context),
  );
  if (execution.outcome !== 'accepted') throw new Error(execution.outcome);
  return String(execution.events[0]?.command);
}

/** Another operator is faster, once, and again after `comes`. */
async function meanwhile(
  admin: Admin,
  change: () => Promise<unknown>,
): Promise<{ readonly comes: () => void }> {
  let isDue = true;
  const handle = async (request: AdminRequest): ReturnType<Admin['handle']> => {
    if (isDue && request.target.includes('mark=')) {
      isDue = false;
      await change();
    }
    return admin.handle(request);
  };
  url = await serve({ ...admin, handle });
  return { comes: () => (isDue = true) };
}

async function open(server: Server): Promise<string> {
  opened.push(server.listen(0, '127.0.0.1'));
  await once(server, 'listening');
  return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
}

/** An address where nobody answers. */
async function closedUrl(): Promise<string> {
  const server = createServer();
  const address = await open(server);
  await new Promise((resolve) => server.close(resolve));
  return address;
}

describe('the exit code of gateway-admin', () => {
  it('is 5 for a user who is not known or may not do this', async () => {
    await start({ access: { authenticate: () => Promise.resolve(undefined) } });
    const unknown = await ask(['list', 'services']);
    expect([unknown.code, unknown.err]).toEqual([
      5,
      expect.stringContaining('(unauthenticated) Try: --user NAME'),
    ]);
    await start({ access: { authorize: (_principal, { role }) => role === 'reader' } });
    expect(await ask(['list', 'services'])).toMatchObject({ code: 0 });
    expect(await ask(['stop', 'service', 'my-service'])).toMatchObject({ code: 5, out: '' });
  });

  it('is 4 if the outcome is unknown', async () => {
    const never = (): Promise<never> => new Promise(() => undefined);
    const snapshot = createSnapshot({ services: [{ name: 'S', router: 'r' }] });
    const limits = { effectDeadlineMs: 20 };
    url = await serve(createAdmin({ snapshot, gateway: { apply: never, inspect: never }, limits }));
    const { code, out, err } = await ask(['stop', 'service', 's']);
    expect([code, out]).toEqual([4, '']);
    expect(err).toMatch(/^gateway-admin: .*\(outcome-unknown\) Try: gateway-admin commands\n$/);
    const listed = await ask(['commands', '--json']);
    const [{ id }] = JSON.parse(listed.out) as readonly [{ readonly id: string }];
    const abandoned = await ask(['abandon', id, '--yes']);
    expect(abandoned).toEqual({
      code: 0,
      out: expect.stringContaining(`Done: abandon the command ${id} on `),
      err: '',
    });
    expect((await ask(['commands', '--json'])).out).toBe('[]\n');
  });

  // Promise: command-line-outcome
  it.each([
    ['the connection breaks', 4, (response: ServerResponse) => response.destroy()],
    ['a proxy gives up', 4, (response: ServerResponse) => response.writeHead(502).end('<html>')],
    ['a proxy refuses', 3, (response: ServerResponse) => response.writeHead(403).end('<html>')],
  ])('says whether the outcome of a command is known if %s', async (_case, expected, end) => {
    const interfaceUrl = url;
    const server = createServer((request, response) => {
      if (request.method !== 'GET' && request.url?.includes('dry_run') !== true) return end(response);
      const { method = '' } = request;
      return void fetch(`${interfaceUrl}${request.url ?? ''}`, { method }).then(async (answer) => {
        response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
      });
    });
    const { code, err } = await command(['stop', 'service', 'my-service', '--url', await open(server)]);
    expect([code, err.includes('outcome of the command is unknown')]).toEqual([expected, expected === 4]);
  });

  it('is 1 for a command that is refused for now, and the sentence says when to try again', async () => {
    const server = createServer((_request, response) => {
      const headers = { 'content-type': 'application/problem+json', 'retry-after': '7' };
      const problem = { code: 'overloaded', status: 503, title: 'Overloaded', detail: 'Too many commands.' };
      response.writeHead(503, headers).end(JSON.stringify(problem));
    });
    const result = await command(['stop', 'service', 'x', '--url', await open(server)]);
    const err = 'gateway-admin: Too many commands. (overloaded) Try again in 7 s.\n';
    expect(result).toEqual({ code: 1, out: '', err });
  });

  it('is 3 if nobody answers, or something else', async () => {
    const nobody = await command(['list', 'services', '--url', await closedUrl()]);
    expect([nobody.code, nobody.err]).toEqual([
      3,
      expect.stringMatching(/^gateway-admin: Nobody answers at http:\/\/127/),
    ]);
    const server = createServer((_request, response) => response.writeHead(404).end('<html>'));
    const other = await command(['list', 'services', '--url', await open(server)]);
    expect([other.code, other.err]).toEqual([
      3,
      expect.stringContaining('Something other than the interface answers at'),
    ]);
  });

  it.each([
    ['nonsense', 'The address must be a URL'],
    ['ftp://127.0.0.1', 'The address must be a URL'],
    ['http://ada:planted@127.0.0.1', 'The address must not contain a user or a password'],
  ])('is 2 for the address %s', async (address, told) => {
    const { code, err } = await command(['list', 'services', '--url', address]);
    expect([code, err]).toEqual([2, expect.stringContaining(told)]);
    expect(err).not.toContain('planted');
  });

});

describe('gateway-admin with a password and no encryption', () => {
  it('warns, unless the interface is on this machine', async () => {
    const circumstances = { input: 'engine', isTerminal: true };
    const args = ['list', 'services', '--user', 'ada', '--url'];
    const far = await command([...args, 'http://gateway.invalid:8989'], circumstances);
    expect(far.err).toContain('the password goes to gateway.invalid:8989 without encryption');
    expect(far.code).toBe(3);
    for (const host of ['127.0.0.1', 'localhost', '[::1]'])
      expect((await command([...args, `http://${host}:1`], circumstances)).err).not.toContain('encryption');
  });
});

describe('gateway-admin, interrupted while the gateway works', () => {
  beforeAll(() => {
    buildPackage();
  });

  const document = JSON.stringify({
    services: [
      { name: 'Bare Service', router: 'cli', state: 'started' },
      { name: 'Report Service', router: 'readwritesplit', state: 'stopped', servers: ['/servers/db-serv-3'] },
    ],
  });

  it.each([
    [
      ['close', 'sessions', 'my-service', '--yes'],
      1,
      'Interrupted. The gateway goes on with what it has begun: close the sessions of my-service on eu-1. 2 left.',
    ],
    [
      ['apply', '-', '--yes'],
      3,
      'Interrupted. The gateway goes on with what it has begun: apply - (3 changes) on eu-1.',
    ],
  ])('says what goes on: %j', async (args, effects, told) => {
    const held = hold();
    running.gateway.will(held.apply);
    const child = spawn(process.execPath, [`${root}dist/node/cli/main.js`, ...args, '--url', url]);
    const ended = once(child, 'close');
    child.stdin.end(document);
    let err = '';
    child.stderr.setEncoding('utf8').on('data', (part: string) => (err += part));
    await held.begun;
    child.kill('SIGINT');
    expect(await ended).toEqual([130, null]);
    expect(err).toMatch(/ Try: gateway-admin commands\n$/);
    expect(err).toContain(told);
    held.done();
    await until('the gateway has gone on', async () => (await ask(['commands', '--json'])).out === '[]\n');
    expect(appliedTo(running.gateway)).toHaveLength(effects);
  });
});
