/**
 * Production: which name stands for a change there, and what is told of a change with and without a question.
 */
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createAdmin, stopService, type AdminOptions } from 'gateway-admin-core';

import { buildPackage } from '../support/built-package.ts';
import { sampleSnapshot } from '../support/document.ts';
import { root } from '../support/project.ts';
import { runAdmin, type Running } from '../support/running-admin.ts';
import { temporaryDirectories } from '../support/temporary-directory.ts';
import { itOnTerminal, onTerminal } from '../support/terminal.ts';
import { command, servers, type Circumstances, type Result } from './command-line.ts';

const serve = servers(afterEach);
const newDirectory = temporaryDirectories();
let running: Running;
let url = '';

async function start(options: Pick<Partial<AdminOptions>, 'environment'> = {}): Promise<void> {
  running = runAdmin({ name: 'eu-1', environment: 'production', ...options });
  url = await serve(running.admin);
}

function ask(args: readonly string[], circumstances?: Circumstances): Promise<Result> {
  return command([...args, '--url', url], circumstances);
}

const input = '{ "services": [{ "name": "Bare Service", "router": "cli", "max_connection": 9 }] }';
const place = ['--set', 'address=::1', '--set', 'port=1', '--set', 'protocol=p'];

/** Commands with the name that is typed before each. */
const typed: readonly (readonly [args: readonly string[], name: string])[] = [
  [['stop', 'service', 'my-service'], 'my-service'],
  [['stop', 'monitor', 'main-monitor'], 'main-monitor'],
  [['drain', 'service', 'my-service'], 'my-service'],
  [['drain', 'server', 'db-serv-1', '--deadline', '1h', '--then', 'close'], 'db-serv-1'],
  [['drain', 'server', 'db-serv-1', 'db-serv-3'], 'db-serv-1, db-serv-3'],
  [['close', 'sessions', 'my-service'], 'my-service'],
  [['close', 'session', '9'], '9'],
  [['close', 'session', '9', '12'], '9, 12'],
  [['close', 'connections', 'db-serv-1'], 'db-serv-1'],
  [['close', 'sessions', '--client', 'alice', '--idle-over', '0'], 'alice'],
  [['close', 'sessions', '--address', '::1'], '::1'],
  [['close', 'sessions', '--server', 'db-serv-1', '--client', 'alice'], 'db-serv-1'],
  [['close', 'sessions', '--idle-over', '0'], 'eu-1'],
  [['close', 'sessions', '--all'], 'eu-1'],
  [['delete', 'server', 'spare-db'], 'spare-db'],
  [['delete', 'listener', 'my-service', 'my-listener'], 'my-listener'],
  [['user', 'delete', 'ada'], 'ada'],
  [['start', 'service', 'bare-service'], 'eu-1'],
  [['patch', 'service', 'my-service', '--set', 'servers/0=/servers/db-serv-3'], 'eu-1'],
  [['patch', 'filter', 'spare', '--set', 'parameters/a=b'], 'eu-1'],
  [['set', 'server', 'db-serv-1', 'maintenance'], 'eu-1'],
  [['clear', 'server', 'db-server-2', 'maintenance'], 'eu-1'],
  [['create', 'server', 'db-9', ...place], 'eu-1'],
  [['create', 'server', 'db-9', ...place, '--in', 'services/my-service'], 'eu-1'],
  [['user', 'password', 'ada'], 'eu-1'],
  [['undo', '--last'], 'eu-1'],
  [['restore', 'sample-1'], 'eu-1'],
  [['apply', '-'], 'eu-1'],
  [['flush'], 'eu-1'],
  [['release'], 'eu-1'],
];

/** Makes what some commands need: changes to take back, and the read-only mode. */
async function prepare([word = '']: readonly string[]): Promise<void> {
  const { admin } = running;
  if (word === 'undo' || word === 'restore') {
    await admin.execute((state, context) => stopService(state, 'My Service', context));
    await admin.execute((state, context) => stopService(state, 'Report Service', context));
  }
  if (word === 'release') admin.readOnly = true;
}

describe('gateway-admin in production', () => {
  // Promise: question-production
  it.each(typed)('wants a name for %j: %s', async (args, name) => {
    await start();
    await prepare(args);
    const before = running.admin.snapshot;
    const unasked = await ask(args, { input });
    const word = / |^$/.test(name) ? `'${name}'` : name;
    expect([unasked.code, unasked.err]).toEqual([
      2,
      expect.stringContaining(`without a terminal, say --yes --confirm-name ${word}.\n`),
    ]);
    const alone = await ask([...args, '--yes'], { input });
    expect([alone.code, alone.err]).toEqual([
      2,
      expect.stringContaining(
        `This is eu-1 (production): say --confirm-name ${word} beside --yes. Nothing was done.\n`,
      ),
    ]);
    const other = await ask([...args, '--yes', '--confirm-name', 'eu-2'], { input });
    expect([other.code, other.err]).toEqual([
      2,
      expect.stringContaining(
        `This is eu-1 (production): --confirm-name must be ${name}, and not eu-2. Nothing was done.\n`,
      ),
    ]);
    expect(running.admin.snapshot).toBe(before);
    const right = await ask([...args, '--yes', '--confirm-name', name], { input });
    expect([right.code, right.out]).toEqual([0, expect.stringMatching(/Done: .* on eu-1 \(production\)\./)]);
  });

  it.each([
    [['hold']],
    [['resume', 'service', 'spare-service']],
    [['resume', 'server', 'spare-db', 'db-server-2']],
  ])('wants no name for %j', async (args) => {
    await start();
    for (const name of ['spare-db', 'db-server-2'])
      await ask(['drain', 'server', name, '--yes', '--confirm-name', name]);
    expect(await ask([...args, '--confirm-name', 'eu-2'])).toMatchObject({ code: 2, out: '' });
    expect(await ask(args)).toMatchObject({ code: 0, out: expect.stringMatching(/^Done: /) });
  });

});

describe('gateway-admin elsewhere', () => {
});

describe('the notes of a plan', () => {
  const failOver = ['patch', 'service', 'my-service', '--set', 'servers/0=/servers/db-serv-3'];
  const notes = [
    '2 sessions of My-Service may stay on db-serv-1, which new sessions no longer use.\n',
    'No server of My Service takes new sessions then.\n',
    'The gateway may close sessions because of this. It does not say which.\n',
  ];

});

describe('a context that is in use in all terminals', () => {
  it('is named by each question, and by the command that chooses it', async () => {
    const directory = await newDirectory();
    const env = { XDG_CONFIG_HOME: directory };
    await start();
    await command(['context', 'add', 'prod', '--url', url], { env });
    const used = await command(['context', 'use', 'prod'], { env });
    expect(used.err).toBe('Done: every command uses context prod, in all terminals.\n');
    const stop = ['stop', 'service', 'my-service'];
    const asked = await command(stop, { env, input: 'n', isTerminal: true });
    expect(asked.err).toContain('Stop service my-service on eu-1 (production), context prod? ');
    const chosen = await command([...stop, '--context', 'prod'], { env });
    expect(chosen.err).toContain('on eu-1 (production), context prod? ');
    expect((await ask(stop)).err).toContain('on eu-1 (production)? ');
  });
});

describe('gateway-admin on a terminal', () => {
  beforeAll(() => {
    buildPackage();
  });

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
