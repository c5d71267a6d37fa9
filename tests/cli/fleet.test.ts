import { afterEach, describe, expect, it } from '@jest/globals';

import { runSampleFleet, runWithEndedNode } from '../fleet/node.ts';
import type { Running } from '../support/running-admin.ts';
import { command, servers, type Circumstances, type Result } from './command-line.ts';

const serve = servers(afterEach);
let url = '';

/** Serves a node of a fleet. */
async function start<T extends Running>(opening: Promise<T>): Promise<T> {
  const running = await opening;
  url = await serve(running.admin);
  return running;
}

function ask(args: readonly string[], circumstances?: Circumstances): Promise<Result> {
  return command([...args, '--url', url], circumstances);
}

describe('gateway-admin forget', () => {
  it('takes a node out after a yes, and once', async () => {
    await start(runWithEndedNode());
    const plan = await ask(['forget', 'paris', '--dry-run']);
    expect(plan.out).toMatch(/^Plan: forget the node paris\n[^]*Nothing was done\.\n$/);
    const question =
      'gateway-admin: Forget the node paris? Nobody can be asked: without a terminal, say --yes.\n';
    expect(await ask(['forget', 'paris'])).toEqual({ code: 2, out: '', err: question });
    expect((await ask(['forget', 'paris'], { input: 'n', isTerminal: true })).code).toBe(1);
    const done = { code: 0, out: 'Done: forget the node paris.\n', err: '' };
    expect(await ask(['forget', 'paris', '--yes'])).toEqual(done);
    const again = await ask(['forget', 'paris', '--yes']);
    expect([again.code, again.err]).toEqual([1, expect.stringContaining('(node-not-found)')]);
  });

  it('takes no node out that runs', async () => {
    await start(runSampleFleet());
    for (const node of ['berlin', 'paris']) {
      const { code, err } = await ask(['forget', node, '--yes']);
      expect([code, err]).toEqual([1, expect.stringContaining('(node-alive)')]);
    }
  });

  it('completes the names of nodes', async () => {
    await start(runSampleFleet());
    const { out } = await command(['complete', '--', 'forget', ''], { env: { GATEWAY_ADMIN_URL: url } });
    expect(out).toBe('berlin\nparis\n');
  });
});
