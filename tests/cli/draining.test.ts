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

});

describe('gateway-admin drain and resume of several', () => {
  const names = ['db-serv-1', 'db-server-2'];
  const draining = async (): Promise<readonly boolean[]> =>
    Promise.all(
      names
        .map(async (name) => (await fetch(`${url}/servers/${name}`)).text())
        .map(async (text) => (await text).includes('"drain"')),
    );

});
