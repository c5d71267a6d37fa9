/**
 * `drain --wait` at the example gateway with real PostgreSQL sessions and a store: the command ends well only when
 * nothing is left, takes no deadline away, and outlives a kill of the gateway.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';

import { buildExamples } from '../support/built-package.ts';
import { temporaryDirectories } from '../support/temporary-directory.ts';
import { connectDatabase, type DatabaseClient } from './database-client.ts';
import { runCommand, startProgram, type Result, type Running } from './program.ts';
import { endGateways, startOnDatabases, until, type RunningGateway } from './running-gateway.ts';

const directory = temporaryDirectories();
const clients: DatabaseClient[] = [];
const identity = ['--name', 'eu-1'];
let store = '';
let gateway: RunningGateway;

beforeAll(async () => {
  buildExamples();
  store = await directory();
  gateway = await startOnDatabases(['--store', store, ...identity]);
});

afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  await ask('resume', 'service', 'reports');
});

afterAll(endGateways);

function ask(...args: readonly string[]): Promise<Result> {
  return runCommand(gateway.admin, ...args);
}

async function logIn(count: number): Promise<void> {
  const port = gateway.portOf('Reports');
  clients.push(...(await Promise.all(Array.from({ length: count }, () => connectDatabase(port)))));
}

/** A command that runs beside the test. */
function begin(...args: readonly string[]): Running {
  return startProgram(gateway.admin, args);
}

async function drainOfReports(): Promise<unknown> {
  return ((await gateway.get('/services/reports')) as { readonly drain?: unknown }).drain;
}

describe('drain --wait', () => {
  it('fails if the deadline ends the drain with sessions open, for people and for programs', async () => {
    await logIn(2);
    const args = ['drain', 'service', 'reports', '--deadline', '2s', '--then', 'resume', '--wait'];
    const message = 'The drain of reports has ended before all was drained: 2 sessions are open.';
    const { code, out, err } = await ask(...args);
    expect([code, out.includes('2 sessions and 2 connections are left.')]).toEqual([7, true]);
    expect(err).toBe(`gateway-admin: ${message}\n`);
    const programs = await ask(...args, '--json');
    expect([programs.code, JSON.parse(programs.err)]).toEqual([7, { detail: message }]);
    expect(programs.out).not.toContain('null');
  });

  it('fails if somebody else ends the drain', async () => {
    await logIn(1);
    const waiting = begin('drain', 'service', 'reports', '--wait');
    await until('the command says what is left', () => waiting.printed().includes('are left.'));
    await ask('resume', 'service', 'reports');
    expect(await waiting.ended).toMatchObject({
      code: 7,
      err: 'gateway-admin: The drain of reports has ended before all was drained: 1 session is open.\n',
    });
  });

  it('only waits for what drains already, and takes no deadline away', async () => {
    await logIn(1);
    const options = ['--deadline', '1h', '--then', 'close', '--reason', 'kernel, ticket 7', '--yes'];
    expect(await ask('drain', 'service', 'reports', ...options)).toMatchObject({ code: 0 });
    const before = await drainOfReports();
    expect(before).toMatchObject({ then: 'close', reason: 'kernel, ticket 7' });
    const waiting = begin('drain', 'service', 'reports', '--wait');
    await until('the command says what is left', () => waiting.printed().includes('are left.'));
    expect(await drainOfReports()).toEqual(before);
    await Promise.all(clients.splice(0).map((client) => client.close()));
    const { code, out } = await waiting.ended;
    expect([code, out.split('\n')]).toEqual([
      0,
      [
        'Nothing to do: drain service reports on eu-1.',
        '1 session and 1 connection are left.',
        'Drained: nothing is left.',
        '',
      ],
    ]);
  });

  it('ends with Ctrl-C, which says how to end the drain; the drain goes on', async () => {
    await logIn(2);
    const options = ['--deadline', '4s', '--then', 'close', '--wait', '--yes'];
    const waiting = begin('drain', 'service', 'reports', ...options);
    await until('the command says what is left', () => waiting.printed().includes('are left.'));
    waiting.interrupt();
    const { code, err } = await waiting.ended;
    const sentence = 'The drain goes on. End it with: gateway-admin resume service reports';
    const note = 'What is left of Reports is closed after 4 s. Now it has 2 sessions.';
    expect([code, err]).toEqual([130, `${note}\ngateway-admin: ${sentence}\n`]);
    expect(await drainOfReports()).toMatchObject({ state: 'draining', sessions: 2, then: 'close' });
    // It does what it was to do.
    await Promise.all(clients.map((client) => client.closed));
    await until('nothing is left', async () => JSON.stringify(await drainOfReports()).includes('"drained"'));
  });

  it('waits for the sessions of several servers, which drain by one change', async () => {
    const [client, other] = [
      await connectDatabase(gateway.portOf('Reports')),
      await connectDatabase(gateway.portOf('Reports')),
    ];
    clients.push(client, other);
    const newest = async (): Promise<readonly { readonly resources: readonly string[] }[]> =>
      JSON.parse((await ask('history', '--json')).out) as never;
    const before = await newest();
    const waiting = begin('drain', 'server', 'db-1', 'db-2', '--wait');
    await until('the command says what is left', () =>
      /db-1: .* left\.\n.*db-2: .* left\./.test(waiting.printed()),
    );
    await expect(connectDatabase(gateway.portOf('Reports'))).rejects.toThrow(/drains/);
    await Promise.all(clients.splice(0).map((each) => each.close()));
    const { code, out } = await waiting.ended;
    expect([code, out]).toEqual([0, expect.stringMatching(/^db-2: Drained: nothing is left\.$/m)]);
    const [entry, ...others] = await newest();
    expect([entry?.resources, others]).toEqual([['/servers/db-1', '/servers/db-2'], before]);
    expect(await ask('undo', '--last', '--yes')).toMatchObject({ code: 0 });
    const servers = JSON.stringify(await gateway.get('/servers'));
    expect(servers).not.toContain('"drain"');
  });

  it('says how much the deadline has closed', async () => {
    await logIn(2);
    const options = ['--deadline', '2s', '--then', 'close', '--wait', '--yes'];
    const { code, out } = await ask('drain', 'service', 'reports', ...options);
    expect([code, out.split('\n').at(-2)]).toEqual([
      0,
      'Drained: nothing is left. 2 sessions were closed after the deadline.',
    ]);
  });

  it('waits for a gateway that is killed and starts again', async () => {
    await logIn(1);
    const waiting = begin('drain', 'service', 'reports', '--wait');
    await until('the command says what is left', () => waiting.printed().includes('are left.'));
    const port = new URL(gateway.admin).port;
    await gateway.kill();
    await until('the command says that nobody answers', () => waiting.printed().includes('Nobody answers'));
    gateway = await startOnDatabases(['--store', store, '--admin-port', port, ...identity]);
    const { code, out } = await waiting.ended;
    expect([code, out]).toEqual([0, expect.stringMatching(/\nDrained: nothing is left\.\n$/)]);
  });

  it('that gives up says that the drain goes on', async () => {
    // A gateway that starts with a drain does not print the port of the service.
    await gateway.stop();
    gateway = await startOnDatabases(['--store', store, ...identity]);
    await logIn(1);
    const waiting = begin('drain', 'service', 'reports', '--wait', '--timeout', '1');
    await until('the command says what is left', () => waiting.printed().includes('are left.'));
    await gateway.kill();
    const { code, err } = await waiting.ended;
    expect([code, err]).toEqual([
      4,
      expect.stringContaining('The drain goes on. End it with: gateway-admin resume service reports\n'),
    ]);
  });
});
