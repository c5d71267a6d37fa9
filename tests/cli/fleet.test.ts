import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterEach, describe, expect, it } from '@jest/globals';

import {
  createWorld,
  openSampleFleet,
  runSampleFleet,
  runWithEndedNode,
  type Node,
  type World,
} from '../fleet/node.ts';
import { read } from '../support/project.ts';
import { runAdmin, type Running } from '../support/running-admin.ts';
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

describe('gateway-admin list nodes', () => {
  it('has a line for each node, and below why a node is behind, as docs/fleet.md shows', async () => {
    const { clock } = await start(runSampleFleet());
    await clock.advance(500);
    const { code, out, err } = await ask(['list', 'nodes']);
    expect([code, err]).toEqual([0, '']);
    expect(read('docs/fleet.md')).toContain(`$ gateway-admin list nodes\n${out}`);
    for (const line of out.split('\n').slice(0, 3)) expect(line).not.toMatch(/[\da-f]{12}/);
  });

  it('compares nodes with the one that was asked, if that one is in the list', async () => {
    await start(runWithEndedNode());
    const told = { version: '1', alive: true, seen: 0, behind: [], differs: false, position: '2.a' };
    const lag = { resource: '/services/Sales', since: '2016-09-10T03:00:00+03:00' };
    const refused = { ...lag, code: 'effect-refused', detail: 'No room.' };
    const nodes = [
      { ...told, node: 'a' },
      { ...told, node: 'b', position: '1.b', alive: false, seen: 119 },
      { ...told, node: 'c', behind: [lag], seen: 121 },
      { ...told, node: 'd', behind: [lag, refused, refused], seen: 7300 },
      { ...told, node: 'e', differs: true },
    ];
    const body = (target: string) => (target.includes('range=1-1') ? nodes.slice(1, 2) : nodes);
    const server = createServer(({ url: target = '' }, response) => {
      response.setHeader('content-type', 'application/json').end(JSON.stringify(body(target)));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
    expect((await ask(['list', 'nodes'])).out).toBe(
      [
        'NODE  STATE   VERSION  CONFIGURATION                 SEEN',
        'a     alive   1        in step                       now',
        'b     silent  1        has not read the last change  119 s ago',
        'c     alive   1        follows 1 resource            2 min ago',
        'd     alive   1        behind at 2 resources         2 h ago',
        'e     alive   1        differs                       now',
        '',
        'd: /services/Sales since 2016-09-10 03:00:00: No room.',
        'd: /services/Sales since 2016-09-10 03:00:00: No room.',
        '',
      ].join('\n'),
    );
    const part = await ask(['list', 'nodes', '--range', '1-1']);
    expect(part.out.split('\n')[1]).toBe('b     silent  1        in step        119 s ago');
    server.close().closeAllConnections();
  });

  it('shows the fields as they are if the user chooses them', async () => {
    await start(runSampleFleet());
    expect((await ask(['list', 'nodes', '--fields', 'node,alive'])).out).toBe(
      'NODE    ALIVE\nberlin  true\nparis   true\n',
    );
  });
});

describe('gateway-admin retry', () => {
  it('lets the gateway follow at once', async () => {
    const { gateway, clock } = await start(openSampleFleet().then(({ paris }) => paris));
    const told = 'let the gateway follow the fleet';
    const plan = await ask(['retry', '--dry-run']);
    expect(plan.out).toMatch(new RegExp(`^Plan: ${told}\n[^]*Nothing was done on paris\\.\n$`));
    gateway.otherwise({ apply: 'done' });
    expect(await ask(['retry'])).toEqual({ code: 0, out: `Done: ${told} on paris.\n`, err: '' });
    await clock.advance(10);
    expect((await ask(['list', 'nodes', '--range', '0-0'])).out).toContain('in step');
    expect((await ask(['retry'])).out).toBe(`Nothing to do: ${told} on paris.\n`);
  });

  it('is refused outside a fleet', async () => {
    await start(Promise.resolve(runAdmin()));
    const { code, err } = await ask(['retry']);
    expect([code, err]).toEqual([1, expect.stringContaining('no node of a fleet. (node-not-found)')]);
  });
});

describe('gateway-admin forget', () => {
  it('takes a node out after a yes, and once', async () => {
    await start(runWithEndedNode());
    const plan = await ask(['forget', 'paris', '--dry-run']);
    expect(plan.out).toMatch(/^Plan: forget the node paris\n[^]*Nothing was done on berlin\.\n$/);
    const question =
      'gateway-admin: Forget the node paris on berlin? Nobody can be asked: without a terminal, say --yes.\n';
    expect(await ask(['forget', 'paris'])).toEqual({ code: 2, out: '', err: question });
    expect((await ask(['forget', 'paris'], { input: 'n', isTerminal: true })).code).toBe(1);
    const done = { code: 0, out: 'Done: forget the node paris on berlin.\n', err: '' };
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

describe('gateway-admin drain --wait', () => {
  /** Opens two nodes whose gateways can drain; the command asks the first one. */
  async function openPair(): Promise<Record<'berlin' | 'paris', Node> & { readonly world: World }> {
    const world = createWorld();
    const supports = ['create', 'delete', 'drain'] as const;
    const berlin = await world.open('berlin', 3000, { supports });
    const paris = await world.open('paris', 3000, { supports });
    await start(Promise.resolve({ ...berlin, clock: world.clock }));
    return { world, berlin, paris };
  }

  /** What the list of the nodes says of the drain. */
  async function drainsShown(): Promise<readonly string[]> {
    const { out } = await ask(['list', 'nodes']);
    return out.split('\n').filter((line) => line.includes(' drains, '));
  }

  /** Drains with `--wait` while time passes at the nodes. Gives the exit code and the lines. */
  async function drainWaiting(
    world: World,
    meanwhile: () => unknown,
  ): Promise<readonly [number, readonly string[]]> {
    await world.clock.advance(2000);
    const over = new AbortController();
    const drained = ask(['drain', 'service', 'my-service', '--wait']).finally(() => {
      over.abort();
    });
    for (let turn = 0; !over.signal.aborted; turn += 1) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      await world.clock.advance(100);
      if (turn === 25) await meanwhile();
    }
    const { code, out } = await drained;
    return [code, out.split('\n').filter((line) => !line.startsWith('Not followed yet: '))];
  }

  it('prints what is left at each node, and ends when nothing is at any', async () => {
    const { world, berlin, paris } = await openPair();
    for (const { admin } of [berlin, paris]) admin.report({ type: 'sessions.complete' });
    paris.admin.report(paris.gateway.openSession('My Service'));
    const [code, lines] = await drainWaiting(world, async () => {
      expect(await drainsShown()).toEqual([
        'paris: /services/My-Service drains, 1 session and 0 connections left',
      ]);
      paris.admin.report(paris.gateway.closeSession(0));
    });
    expect(code).toBe(0);
    expect(await drainsShown()).toEqual([]);
    expect(lines).toEqual([
      'Done: drain service my-service on berlin.',
      '1 session and 0 connections are left at paris.',
      'Drained: nothing is left at berlin, paris.',
      '',
    ]);
    for (const { admin } of [paris, berlin]) await admin.close();
  });

  it('says which node has not reported its sessions yet', async () => {
    const { world, berlin, paris } = await openPair();
    berlin.admin.report({ type: 'sessions.complete' });
    const ended = await drainWaiting(world, () => {
      paris.admin.report({ type: 'sessions.complete' });
    });
    expect(ended).toEqual([
      0,
      [
        'Done: drain service my-service on berlin.',
        'paris has not reported its sessions yet.',
        'Drained: nothing is left at berlin, paris.',
        '',
      ],
    ]);
    for (const { admin } of [paris, berlin]) await admin.close();
  });
});
