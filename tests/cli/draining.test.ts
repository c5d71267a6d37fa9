import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { runAdmin, type Running } from '../support/running-admin.ts';
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
  ])('takes --deadline %s as %d seconds', async (time, seconds) => {
    const { out } = await ask([...drain, '--deadline', time, '--then', 'resume', '--dry-run']);
    expect(out).toContain(`"timeout":${String(seconds)},`);
  });

  it.each([
    [['--deadline', '10m'], 'drain takes --deadline and --then together, or neither.'],
    [['--then', 'close'], 'drain takes --deadline and --then together, or neither.'],
    [['--deadline', '10m', '--then', 'stop'], '--then takes close or resume, and not stop.'],
    [['--deadline', '5w', '--then', 'close'], '--deadline takes a number with s, m, h or d, and not 5w.'],
    [['--deadline', '1.5h', '--then', 'close'], '--deadline takes a number with s, m, h or d, and not 1.5h.'],
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
    const detail = 'The deadline of My-Service goes away: what is left is not closed.';
    const asked = await ask(drain, { input: 'n', isTerminal: true });
    expect([asked.code, asked.err]).toEqual([1, expect.stringContaining(`${detail} [y/N]`)]);
    expect(await ask(drain)).toMatchObject({ code: 0, err: `${detail}\n` });
  });

  it('shows since when, as it shows every time', async () => {
    await ask(drain);
    const { out } = await ask(['show', 'service', 'my-service']);
    expect(out).toMatch(/^drain\.since +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/m);
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
