import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  createAdmin,
  createBasicAuthentication,
  createSecretSealer,
  createSnapshot,
  stopService,
} from 'gateway-admin-core';
import { hold } from 'gateway-admin-core/testing';

import { buildPackage } from '../support/built-package.ts';
import { sampleSnapshot } from '../support/document.ts';
import { root } from '../support/project.ts';
import { appliedTo, runAdmin, type Running } from '../support/running-admin.ts';
import { temporaryDirectories } from '../support/temporary-directory.ts';
import { itOnTerminal, onTerminal } from '../support/terminal.ts';
import { until } from '../system/running-gateway.ts';
import { answering, answeringServers, type Respond } from './answering-server.ts';
import { command, servers, wordsOf, type Circumstances, type Result } from './command-line.ts';
import { setReadOnly } from '../support/read-only.ts';

const serve = servers(afterEach);
const open = answeringServers(afterEach);
const newDirectory = temporaryDirectories();
let running: Running;
let url = '';

async function start(options: Parameters<typeof runAdmin>[0] = {}): Promise<void> {
  running = runAdmin({ name: 'eu-1', ...options });
  url = await serve(running.admin);
}

beforeAll(() => {
  buildPackage();
});
beforeEach(() => start());

const production = { environment: 'production' };

/** Runs a line, or words that may have spaces. */
function ask(line: string | readonly string[], circumstances?: Circumstances): Promise<Result> {
  const words = typeof line === 'string' ? wordsOf(line) : line;
  return command([...words, '--url', url], circumstances);
}

// Promise: create-secret
it('sends what is in the file of --set-from, without its line end', async () => {
  const sealer = createSecretSealer();
  await start({ sealer });
  const file = join(await newDirectory(), 'secret');
  writeFileSync(file, 'plum pie\n', { mode: 0o600 });
  for (const [line, name] of [
    ['create service New --set router=cli', 'new'],
    ['patch service bare-service', 'bare-service'],
  ] as const) {
    expect(await ask(`${line} --set-from password=${file}`)).toMatchObject({ code: 0 });
    const sealed = running.admin.snapshot.services.find(name)?.settings.password?.sealed ?? '';
    expect(await sealer.open(sealed)).toBe('plum pie');
  }
});

it('prints every fault of a document, however many', async () => {
  const entry = { address: '::1', port: 0, protocol: 'pg' };
  const servers = Array.from({ length: 30 }, (_, at) => ({ name: `db-${String(at)}`, ...entry }));
  const { err } = await command(['check', '-'], { input: JSON.stringify({ servers }) });
  expect(err.match(/\n {2}\/servers\/\d+\/port must be at least 1/g)).toHaveLength(30);
});

it('counts what a deadline has closed once the gateway has answered, and not when nothing is left', async () => {
  const { admin, clock, gateway } = running;
  let answer = (): void => undefined;
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  admin.report([...gateway.sessionReports(), { type: 'sessions.complete' }]);
  gateway.will('done', 'done', async (_effect, _context, perform) => {
    perform();
    await answered;
  });
  let printed = '';
  const waiting = ask('drain service my-service --deadline 60s --then close --wait --yes', {
    record: (part) => {
      printed += part;
    },
  });
  await until('the command says what is left', () => printed.includes('are left.'));
  void clock.advance(60_000);
  await until('the deadline closes', () =>
    appliedTo(gateway).includes('sessions.close /services/My-Service'),
  );
  const doomed = [...admin.snapshot.sessions].filter(({ service }) => service === 'my-service');
  admin.report(doomed.map(({ id, connected }) => ({ type: 'session.closed' as const, id, connected })));
  await until('the command says so', () => printed.includes('The deadline closes what was left.'));
  answer();
  const { code, out } = await waiting;
  expect([code, out.split('\n').at(-2)]).toEqual([
    0,
    'Drained: nothing is left. 2 sessions were closed after the deadline.',
  ]);
});

describe('a change by gateway-admin', () => {
  // Promise: command-line-plan
  it.each([
    ['stop service my-service', 'service.stop /services/My-Service'],
    ['start services bare-service', 'service.start /services/Bare-Service'],
    ['stop monitor main-monitor', 'monitor.stop /monitors/Main-Monitor'],
    ['close session 9 --yes', 'sessions.close /sessions/9'],
    ['close sessions bare-service --yes', 'sessions.close /services/Bare-Service'],
    ['close connections db-serv-1 --yes', 'connections.close /servers/db-serv-1'],
    ['set server db-serv-1 maintenance', 'server.update /servers/db-serv-1'],
    ['clear server db-server-2 maintenance', 'server.update /servers/DB-Server-2'],
    ['patch service my-service --set max_connection=7', 'service.update /services/My-Service'],
    ['create server db-9 --set address=::1 --set port=1 --set protocol=p', 'server.create /servers/db-9'],
    ["create filters 'Two Words' --set module=tee", 'filter.create /filters/Two-Words'],
    ['delete server spare-db --yes', 'server.delete /servers/Spare-DB'],
    ['delete services spare-service --yes', 'service.delete /services/Spare-Service'],
    ['flush', 'logs.flush /gateway/logs'],
  ])('%s asks the gateway once, and a dry run not at all', async (line, effect) => {
    const before = running.admin.snapshot;
    const plan = await ask(`${line} --dry-run`);
    expect([plan.code, plan.err]).toEqual([0, '']);
    expect(plan.out).toMatch(/^Plan: [^]*\n {2}gateway: [^]*\nNothing was done on eu-1\.\n$/);
    // What the gateway is asked for is a sentence about the resource.
    const [, name = ''] = /\/([^/]+)$/.exec(effect) ?? [];
    expect(plan.out).toMatch(new RegExp(`gateway: [a-z][^.]* ${name.replaceAll('-', '[- ]')}`));
    expect(plan.out).not.toContain(effect);
    expect([running.admin.snapshot, appliedTo(running.gateway)]).toEqual([before, []]);
    const { code, out } = await ask(line);
    expect([code, out]).toEqual([0, expect.stringMatching(/^Done: /)]);
    expect(appliedTo(running.gateway)).toEqual([expect.stringContaining(effect)]);
  });

  it.each([
    ['sessions', 'my-service', '/services/my-service?fields=current_connections', '2 left'],
    ['connections', 'db-serv-1', '/servers/db-serv-1/connections?range=0-0', '2 left'],
  ])('says on a terminal how many %s are still to close', async (what, name, counting, told) => {
    let counts = 0;
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
      await until('the command is counted for the third time', () => counts === 3);
      perform();
    });
    const { code, err } = await ask(`close ${what} ${name} --yes`, { isTerminal: true });
    expect([code, err.replaceAll('\r\x1b[K', '|')]).toEqual([0, expect.stringContaining(`|${told}|`)]);
  });

  // Promise: command-line-yes
  it.each([
    'close session 9',
    'close sessions my-service',
    'close connections db-serv-1',
    'user delete ada',
    'delete filter hint --detach',
  ])('%s does nothing without a yes', async (line) => {
    const before = running.admin.snapshot;
    const { code, err } = await ask(line);
    expect([code, err]).toEqual([2, expect.stringContaining('without a terminal, say --yes.\n')]);
    for (const [input, exitCode, told] of [
      ...['n', '', 'yesterday'].map(
        (word) => [word, 1, /\? .*\[y\/N\] [^]*admin: Nothing was done\.\n$/] as const,
      ),
      // What a terminal sends for Ctrl-C and Ctrl-D.
      ...['\x03', '\x04'].map((key) => [key, 130, /Nothing was done\.\n/] as const),
    ]) {
      const asked = await ask(line, { input, isTerminal: true });
      expect([asked.code, asked.err]).toEqual([exitCode, expect.stringMatching(told)]);
    }
    expect(running.admin.snapshot).toBe(before);
    expect((await ask(line, { input: 'y', isTerminal: true })).code).toBe(0);
    expect(running.admin.snapshot).not.toBe(before);
  });

  it.each([
    ['90', 90],
    ['45s', 45],
    ['10m', 600],
    ['2h', 7200],
    ['1d', 86_400],
    ['1h30m', 5400],
    ['1d2h3m4s', 93_784],
    // docs/limits.md has the longest one that the interface takes.
    ['31536000s', 31_536_000],
  ])('takes --deadline %s as %d seconds', async (time, seconds) => {
    const { code, out } = await ask(`drain service my-service --deadline ${time} --then resume --dry-run`);
    expect([code, out]).toEqual([0, expect.stringContaining(`"timeout":${String(seconds)},`)]);
  });
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
});

describe('the exit code of gateway-admin', () => {
  it('is 5 for a user who is not known or may not do this', async () => {
    await start({ access: { authenticate: () => Promise.resolve(undefined) } });
    const unknown = await ask('list services');
    expect([unknown.code, unknown.err]).toEqual([
      5,
      expect.stringContaining('(unauthenticated) Try: --user NAME'),
    ]);
    await start({ access: { authorize: (_principal, { role }) => role === 'reader' } });
    expect(await ask('list services')).toMatchObject({ code: 0 });
    expect(await ask('stop service my-service')).toMatchObject({ code: 5, out: '' });
  });

  it('is 4 if the outcome is unknown', async () => {
    const never = (): Promise<never> => new Promise(() => undefined);
    const snapshot = createSnapshot({ services: [{ name: 'S', router: 'r' }] });
    const limits = { effectDeadlineMs: 20 };
    url = await serve(createAdmin({ snapshot, gateway: { apply: never, inspect: never }, limits }));
    const { code, out, err } = await ask('stop service s');
    expect([code, out]).toEqual([4, '']);
    expect(err).toMatch(/^gateway-admin: .*\(outcome-unknown\) Try: gateway-admin commands\n$/);
    const listed = await ask('commands --json');
    const [{ id }] = JSON.parse(listed.out) as readonly [{ readonly id: string }];
    const abandoned = await ask(`abandon ${id} --yes`);
    expect(abandoned).toEqual({
      code: 0,
      out: expect.stringContaining(`Done: abandon the command ${id} on `),
      err: '',
    });
    expect((await ask('commands --json')).out).toBe('[]\n');
  });

  // Promise: command-line-outcome
  it.each<readonly [string, number, Respond]>([
    ['the connection breaks', 4, (_request, response) => response.destroy()],
    ['a proxy gives up', 4, answering('<html>', 502, 'text/html')],
    ['a proxy refuses', 3, answering('<html>', 403, 'text/html')],
  ])('says whether the outcome of a command is known if %s', async (_case, expected, end) => {
    const interfaceUrl = url;
    url = await open((request, response) => {
      const { method = '', url: target = '' } = request;
      if (method !== 'GET' && !target.includes('dry_run')) return end(request, response);
      return void fetch(`${interfaceUrl}${target}`, { method }).then(async (answer) => {
        response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
      });
    });
    const { code, err } = await ask('stop service my-service');
    expect([code, err.includes('outcome of the command is unknown')]).toEqual([expected, expected === 4]);
  });

  it('is 1 for a command that is refused for now, and the sentence says when to try again', async () => {
    const problem = { code: 'overloaded', status: 503, title: 'Overloaded', detail: 'Too many commands.' };
    url = await open((_request, response) => {
      const headers = { 'content-type': 'application/problem+json', 'retry-after': '7' };
      response.writeHead(503, headers).end(JSON.stringify(problem));
    });
    const err = 'gateway-admin: Too many commands. (overloaded) Try again in 7 s.\n';
    expect(await ask('stop service x')).toEqual({ code: 1, out: '', err });
  });

  it('is 3 if something else answers', async () => {
    url = await open(answering('<html>', 404, 'text/html'));
    const told = 'Something other than the interface answers at';
    expect(await ask('list services')).toMatchObject({ code: 3, err: expect.stringContaining(told) });
  });

  it('is 0 for an empty user, which is none', async () => {
    expect(await ask('list users', { env: { GATEWAY_ADMIN_USER: '' } })).toMatchObject({ code: 0, err: '' });
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
  const document = JSON.stringify({
    services: [
      { name: 'Bare Service', router: 'cli', state: 'started' },
      { name: 'Report Service', router: 'readwritesplit', state: 'stopped', servers: ['/servers/db-serv-3'] },
    ],
  });

  it.each([
    ['close sessions my-service --yes', 1, 'close the sessions of my-service on eu-1. 2 left.'],
    ['apply - --yes', 3, 'apply - (3 changes) on eu-1.'],
  ])('says what goes on: %s', async (line, effects, told) => {
    const held = hold();
    running.gateway.will(held.apply);
    const child = spawn(process.execPath, [`${root}dist/node/cli/main.js`, ...wordsOf(line), '--url', url]);
    const ended = once(child, 'close');
    child.stdin.end(document);
    let err = '';
    child.stderr.setEncoding('utf8').on('data', (part: string) => (err += part));
    await held.begun;
    child.kill('SIGINT');
    expect(await ended).toEqual([130, null]);
    expect(err).toMatch(/ Try: gateway-admin commands\n$/);
    expect(err).toContain(`Interrupted. The gateway goes on with what it has begun: ${told}`);
    held.done();
    await until('the gateway has gone on', async () => (await ask('commands --json')).out === '[]\n');
    expect(appliedTo(running.gateway)).toHaveLength(effects);
  });
});

const input = '{ "services": [{ "name": "Bare Service", "router": "cli", "max_connection": 9 }] }';

/** Commands with the name that is typed before each. */
const typed: readonly (readonly [line: string, name: string])[] = [
  ['stop service my-service', 'my-service'],
  ['stop monitor main-monitor', 'main-monitor'],
  ['drain service my-service', 'my-service'],
  ['drain server db-serv-1 --deadline 1h --then close', 'db-serv-1'],
  ['drain server db-serv-1 db-serv-3', 'db-serv-1, db-serv-3'],
  ['close sessions my-service', 'my-service'],
  ['close session 9', '9'],
  ['close session 9 12', '9, 12'],
  ['close connections db-serv-1', 'db-serv-1'],
  ['close sessions --client alice --idle-over 0', 'alice'],
  ['close sessions --address ::1', '::1'],
  ['close sessions --server db-serv-1 --client alice', 'db-serv-1'],
  ['close sessions --idle-over 0', 'eu-1'],
  ['close sessions --all', 'eu-1'],
  ['delete server spare-db', 'spare-db'],
  ['delete listener my-service my-listener', 'my-listener'],
  ['user delete ada', 'ada'],
  ['start service bare-service', 'eu-1'],
  ['patch service my-service --set servers/0=/servers/db-serv-3', 'eu-1'],
  ['patch filter spare --set parameters/a=b', 'eu-1'],
  ['set server db-serv-1 maintenance', 'eu-1'],
  ['clear server db-server-2 maintenance', 'eu-1'],
  ['create server db-9 --set address=::1 --set port=1 --set protocol=p', 'eu-1'],
  ['create server db-9 --set address=::1 --set port=1 --set protocol=p --in services/my-service', 'eu-1'],
  ['user password ada', 'eu-1'],
  ['undo --last', 'eu-1'],
  ['restore sample-1', 'eu-1'],
  ['apply -', 'eu-1'],
  ['flush', 'eu-1'],
  ['release', 'eu-1'],
];

/** Makes what some commands need: changes to take back, and the read-only mode. */
async function prepare(line: string): Promise<void> {
  const { admin } = running;
  const [word = ''] = line.split(' ');
  if (word === 'undo' || word === 'restore') {
    await admin.execute((state, context) => stopService(state, 'My Service', context));
    await admin.execute((state, context) => stopService(state, 'Report Service', context));
  }
  if (word === 'release') await setReadOnly(admin, true);
}

describe('gateway-admin in production', () => {
  // Promise: question-production
  it.each(typed)('wants a name for %s: %s', async (line, name) => {
    await start(production);
    await prepare(line);
    const before = running.admin.snapshot;
    const unasked = await ask(line, { input });
    const word = / |^$/.test(name) ? `'${name}'` : name;
    expect([unasked.code, unasked.err]).toEqual([
      2,
      expect.stringContaining(`without a terminal, say --yes --confirm-name ${word}.\n`),
    ]);
    const alone = await ask(`${line} --yes`, { input });
    expect([alone.code, alone.err]).toEqual([
      2,
      expect.stringContaining(
        `This is eu-1 (production): say --confirm-name ${word} beside --yes. Nothing was done.\n`,
      ),
    ]);
    const other = await ask(`${line} --yes --confirm-name eu-2`, { input });
    expect([other.code, other.err]).toEqual([
      2,
      expect.stringContaining(
        `This is eu-1 (production): --confirm-name must be ${name}, and not eu-2. Nothing was done.\n`,
      ),
    ]);
    expect(running.admin.snapshot).toBe(before);
    const right = await ask(`${line} --yes --confirm-name ${word}`, { input });
    expect([right.code, right.out]).toEqual([0, expect.stringMatching(/Done: .* on eu-1 \(production\)\./)]);
  });

  it.each(['hold', 'resume service spare-service', 'resume server spare-db db-server-2'])(
    'wants no name for %s',
    async (line) => {
      await start(production);
      for (const name of ['spare-db', 'db-server-2'])
        await ask(`drain server ${name} --yes --confirm-name ${name}`);
      expect(await ask(`${line} --confirm-name eu-2`)).toMatchObject({ code: 2, out: '' });
      expect(await ask(line)).toMatchObject({ code: 0, out: expect.stringMatching(/^Done: /) });
    },
  );

  it('wants the address of a gateway without a name', async () => {
    running = runAdmin(production);
    url = await serve(running.admin);
    const { host } = new URL(url);
    const { code, err } = await ask('flush', { input: host, isTerminal: true });
    expect([code, err]).toEqual([0, expect.stringContaining(`Type ${host} to go on: `)]);
  });
});

describe('a context that is in use in all terminals', () => {
  it('is named by each question, and by the command that chooses it', async () => {
    const directory = await newDirectory();
    const env = { XDG_CONFIG_HOME: directory };
    await start(production);
    await command(['context', 'add', 'prod', '--url', url], { env });
    const used = await command(['context', 'use', 'prod'], { env });
    expect(used.err).toBe('Done: every command uses context prod, in all terminals.\n');
    const stop = ['stop', 'service', 'my-service'];
    const asked = await command(stop, { env, input: 'n', isTerminal: true });
    expect(asked.err).toContain('Stop service my-service on eu-1 (production), context prod? ');
    const chosen = await command([...stop, '--context', 'prod'], { env });
    expect(chosen.err).toContain('on eu-1 (production), context prod? ');
    expect((await command([...stop, '--url', url])).err).toContain('on eu-1 (production)? ');
  });
});

describe('gateway-admin on a terminal', () => {
  /** Runs the built program on a terminal, and types a line once something is asked. */
  async function type(
    line: string,
    ...args: readonly string[]
  ): Promise<readonly [code: number, shown: string]> {
    const words = [process.execPath, `${root}dist/node/cli/main.js`, ...args, '--url', url];
    const child = onTerminal(words.map((word) => `'${word}'`).join(' '));
    let shown = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      const wasAsked = shown.includes('to go on:');
      shown += text;
      if (!wasAsked && shown.includes('to go on:')) child.stdin.write(`${line}\n`);
    });
    const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
    return [code ?? -1, shown];
  }

  itOnTerminal(
    'stops a service in production after its name, holds changes off at once, and so releases',
    async () => {
      const gateway = { apply: () => Promise.resolve(), inspect: () => Promise.resolve('in-place' as const) };
      const identity = { name: 'eu-1', environment: 'production' };
      const admin = createAdmin({ snapshot: sampleSnapshot(), gateway, ...identity });
      url = await serve(admin);
      const [refused, shown] = await type('y', 'stop', 'service', 'my-service');
      expect([refused, shown]).toEqual([1, expect.stringContaining('Nothing was done.')]);
      expect(admin.snapshot.services.find('my-service')?.state).toBe('started');
      const [stopped] = await type('my-service', 'stop', 'service', 'my-service');
      expect([stopped, admin.snapshot.services.find('my-service')?.state]).toEqual([0, 'stopped']);
      const [held, told] = await type('', 'hold');
      expect([held, told.trim(), admin.readOnly]).toEqual([
        0,
        'Done: make the interface read-only on eu-1 (production).',
        true,
      ]);
      expect(await type('eu-1', 'release')).toEqual([0, expect.stringContaining('Type eu-1 to go on:')]);
      expect(admin.readOnly).toBe(false);
    },
  );
});
