import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createMemoryStore } from 'gateway-admin-core';

import { openRunning, runAdmin, type Running } from '../support/running-admin.ts';
import { command, servers, type Circumstances, type Result } from './command-line.ts';

const serve = servers(afterEach);
let running: Running;
let url = '';

beforeEach(async () => {
  running = runAdmin({ name: 'eu-1' });
  url = await serve(running.admin);
});

function ask(args: readonly string[], circumstances?: Circumstances): Promise<Result> {
  return command([...args, '--url', url], circumstances);
}

const drain = ['drain', 'service', 'my-service'];

describe('gateway-admin drain', () => {
  it.each([
    ['90', 90],
    ['45s', 45],
    ['10m', 600],
    ['2h', 7200],
    ['1d', 86_400],
    ['1h30m', 5400],
    ['1d2h3m4s', 93_784],
  ])('takes --deadline %s as %d seconds', async (time, seconds) => {
    const { out } = await ask([...drain, '--deadline', time, '--then', 'resume', '--dry-run']);
    expect(out).toContain(`"timeout":${String(seconds)},`);
  });

  it.each([
    [['--deadline', '10m'], 'drain takes --deadline and --then together, or neither.'],
    [['--then', 'close'], 'drain takes --deadline and --then together, or neither.'],
    [['--deadline', '10m', '--then', 'stop'], '--then takes close or resume, and not stop.'],
    [
      ['--deadline', '5w', '--then', 'close'],
      '--deadline takes a time such as 90, 10m or 1h30m, and not 5w.',
    ],
    [
      ['--deadline', '1.5h', '--then', 'close'],
      '--deadline takes a time such as 90, 10m or 1h30m, and not 1.5h.',
    ],
    [
      ['--deadline', '30m1h', '--then', 'close'],
      '--deadline takes a time such as 90, 10m or 1h30m, and not 30m1h.',
    ],
    [
      ['--deadline', '1h30', '--then', 'close'],
      '--deadline takes a time such as 90, 10m or 1h30m, and not 1h30.',
    ],
    [['--deadline', '0s', '--then', 'close'], '--deadline takes 1s to 365d, and not 0s.'],
    [['--deadline', '366d', '--then', 'close'], '--deadline takes 1s to 365d, and not 366d.'],
  ])('refuses %j, and sends nothing', async (options, message) => {
    const { code, err } = await ask([...drain, ...options, '--yes']);
    expect([code, err]).toEqual([2, `gateway-admin: ${message} Try: gateway-admin help drain\n`]);
    expect(running.gateway.calls).toEqual([]);
  });

  it('asks first exactly if the deadline closes what is left', async () => {
    const closing = await ask([...drain, '--deadline', '1h', '--then', 'close']);
    expect([closing.code, closing.err]).toEqual([2, expect.stringContaining('say --yes')]);
    expect(running.gateway.calls).toEqual([]);
    expect(await ask([...drain, '--deadline', '1h', '--then', 'resume'])).toMatchObject({ code: 0, err: '' });
  });

  it('asks a person before a deadline goes away, and tells a script', async () => {
    await ask([...drain, '--deadline', '1h', '--then', 'close', '--yes']);
    const detail = 'The deadline of My-Service goes away.';
    const asked = await ask(drain, { input: 'n', isTerminal: true });
    expect([asked.code, asked.err]).toEqual([1, expect.stringContaining(`${detail} [y/N]`)]);
    expect(await ask(drain)).toMatchObject({ code: 0, err: `${detail}\n` });
  });

  it('shows since when, as it shows every time', async () => {
    await ask(drain);
    const { out } = await ask(['show', 'service', 'my-service']);
    expect(out).toMatch(/^drain\.since +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/m);
  });

  // docs/limits.md has the number.
  it('takes the longest deadline that the interface takes', async () => {
    const args = [...drain, '--deadline', '31536000s', '--then', 'resume'];
    expect(await ask(args)).toMatchObject({ code: 0 });
  });

  it('says while it waits that the gateway has not reported what is open', async () => {
    const { admin } = await openRunning(createMemoryStore(), { name: 'eu-1' });
    url = await serve(admin);
    const open = [...admin.snapshot.sessions];
    admin.report(open.map(({ id, connected }) => ({ type: 'session.closed', id, connected })));
    const drained = ask([...drain, '--wait']);
    setTimeout(() => {
      admin.report({ type: 'sessions.complete' });
    }, 3000);
    const { code, out } = await drained;
    expect([code, out.split('\n').slice(1)]).toEqual([
      0,
      ['The gateway has not reported its sessions yet.', 'Drained: nothing is left.', ''],
    ]);
  });

  it('with --wait and --json ends with the drain of which nothing is left', async () => {
    running.admin.report(
      [...running.admin.snapshot.sessions].map(({ id, connected }) => ({
        type: 'session.closed',
        ...{ id, connected },
      })),
    );
    const { code, out } = await ask([...drain, '--wait', '--json']);
    const last = JSON.parse(out.trimEnd().split('\n').at(-1) ?? '') as unknown;
    expect([code, last]).toEqual([0, expect.objectContaining({ state: 'drained', sessions: 0 })]);
  });
});

describe('gateway-admin drain and resume of several', () => {
  const names = ['db-serv-1', 'db-server-2'];
  const draining = async (): Promise<readonly boolean[]> =>
    Promise.all(
      names
        .map(async (name) => (await fetch(`${url}/servers/${name}`)).text())
        .map(async (text) => (await text).includes('"drain"')),
    );

  it('is one plan, one question and one undo', async () => {
    const args = ['drain', 'server', ...names, '--deadline', '1h', '--then', 'close'];
    const title = 'drain servers db-serv-1, db-server-2, then close after 3600 s';
    const { out } = await ask([...args, '--dry-run']);
    expect(out).toContain(`Plan: ${title}\n`);
    for (const name of ['db-serv-1', 'DB-Server-2']) expect(out).toContain(`note: What is left of ${name} `);
    const asked = await ask(args, { input: 'y', isTerminal: true });
    expect(asked.err.match(/\[y\/N\]/g)).toHaveLength(1);
    expect([asked.code, asked.out]).toEqual([0, `Done: ${title} on eu-1.\n`]);
    expect(await draining()).toEqual([true, true]);
    expect(await ask(['undo', '--last', '--yes'])).toMatchObject({ code: 0 });
    expect(await draining()).toEqual([false, false]);
  });

  it('changes nothing if one name is wrong', async () => {
    const { code, err } = await ask(['drain', 'server', 'db-serv-1', 'db-9']);
    expect([code, err]).toEqual([1, expect.stringContaining('There is no server named "db-9".')]);
    expect(await draining()).toEqual([false, false]);
  });

  it('waits for all, and resumes all', async () => {
    const { code, out } = await ask(['drain', 'server', 'spare-db', 'db-serv-3', '--wait']);
    expect([code, out.split('\n').slice(1)]).toEqual([
      0,
      ['spare-db: Drained: nothing is left.', 'db-serv-3: Drained: nothing is left.', ''],
    ]);
    expect((await ask(['resume', 'server', 'spare-db', 'db-serv-3'])).out).toBe(
      'Done: resume servers spare-db, db-serv-3 on eu-1.\n',
    );
  });
});
