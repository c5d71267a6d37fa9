import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterEach, describe, expect, it } from '@jest/globals';
import { createMemoryStore } from 'gateway-admin-core';

import { createWorld, type Node, type World } from '../fleet/node.ts';
import { read } from '../support/project.ts';
import { openRunning, runAdmin, type Running } from '../support/running-admin.ts';
import { openSampleFleet, runSampleFleet, runWithEndedNode } from '../support/sample-fleet.ts';
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
    const told = 'let the gateway follow the fleet at node paris';
    const plan = await ask(['retry', '--dry-run']);
    expect(plan.out).toMatch(new RegExp(`^Plan: ${told}\n[^]*Nothing was done on paris\\.\n$`));
    gateway.otherwise({ apply: 'done' });
    expect(await ask(['retry'])).toEqual({ code: 0, out: `Done: ${told}.\n`, err: '' });
    await clock.advance(10);
    expect((await ask(['list', 'nodes', '--range', '0-0'])).out).toContain('in step');
    expect((await ask(['retry'])).out).toBe(
      'Nothing to do: let the gateway follow the fleet at node paris.\n',
    );
  });

  it('is refused outside a fleet', async () => {
    await start(Promise.resolve(runAdmin()));
    const { code, err } = await ask(['retry']);
    expect([code, err]).toEqual([1, expect.stringContaining('no node of a fleet. (node-not-found)')]);
  });
});

describe('the scope of a change in a fleet', () => {
  /** Serves one of two nodes, with a session at each. */
  async function startPair(options: object = {}): Promise<{ readonly world: World; readonly paris: Node }> {
    const world = createWorld();
    const supports = ['create', 'delete', 'drain'] as const;
    const berlin = await world.open('berlin', 3000, { supports, ...options });
    const paris = await world.open('paris', 3000, { supports });
    for (const { admin, gateway } of [berlin, paris]) admin.report(gateway.openSession('My Service'));
    await start(Promise.resolve({ ...berlin, clock: world.clock }));
    await world.clock.advance(1500);
    return { world, paris };
  }

  const closing = ['close', 'sessions', 'my-service'];
  const creation = ['--set', 'address=::1', '--set', 'port=1', '--set', 'protocol=p'];

  // Promise: question-scope
  it.each([
    [['stop', 'service', 'my-service'], ' 1 session continues at node berlin.'],
    [['stop', 'monitor', 'main-monitor'], ''],
    [['set', 'server', 'db-serv-1', 'maintenance'], ''],
    [['patch', 'filter', 'spare', '--set', 'parameters/a=b'], ''],
    [['create', 'server', 'db-9', ...creation], ''],
    [['delete', 'server', 'spare-db', '--yes'], ''],
    [['user', 'delete', 'ada', '--yes'], ''],
    [['drain', 'server', 'db-serv-1', 'db-serv-3', '--yes'], ''],
    [['hold'], ''],
  ])('%j is named on all nodes, and its counts at the node that has counted', async (args, more) => {
    await startPair();
    const where = 'on all 2 nodes through berlin';
    const plan = await ask([...args, '--dry-run']);
    expect(plan.out).toMatch(new RegExp(`^Plan: .* ${where}\n[^]*\nNothing was done on berlin\\.\n$`));
    const done = await ask(args);
    expect([done.code, done.out]).toEqual([
      0,
      expect.stringMatching(new RegExp(`^Done: .* ${where}\\.${more}\n$`)),
    ]);
  });

  // Promise: question-scope
  it.each([
    [closing, 'Close the sessions of my-service', '1 session'],
    [['close', 'session', '0'], 'Close session 0 of .*', '1 session'],
    [['close', 'sessions', '--all'], 'Close all sessions', '1 session'],
  ])('%j is named at the node that is asked, and what stays at the others', async (args, title, count) => {
    const { paris } = await startPair();
    const stays = 'What is open at the 1 other node stays.';
    const asked = await ask(args);
    expect(asked.err).toMatch(
      new RegExp(`^gateway-admin: ${title} at node berlin\\? ${count} closes\\. ${stays} `),
    );
    const done = await ask([...args, '--yes']);
    const words = title.replace(/^C/, 'c');
    expect(done.out).toMatch(new RegExp(`^Done: ${words} at node berlin\\. ${count} closed\\. ${stays}\n$`));
    expect(paris.admin.snapshot.sessions.size).toBe(1);
  });

  // Promise: question-scope
  it.each([
    [['start', 'service', 'my-service'], 'start service my-service on all 2 nodes through berlin'],
    [
      ['drain', 'service', 'spare-service', '--wait', '--dry-run'],
      'drain service spare-service on all 2 nodes through berlin',
    ],
    [['close', 'sessions', '--client', 'x'], 'close the sessions of client x at node berlin'],
    [['retry'], 'let the gateway follow the fleet at node berlin'],
  ])('%j names it if there is nothing to do', async (args, title) => {
    await startPair();
    if (args[0] === 'drain') await ask(['drain', 'service', 'spare-service']);
    expect((await ask(args)).out.split('\n')[0]).toBe(`Nothing to do: ${title}.`);
  });

  // Promise: question-scope
  it('is named with the number of changes where a title does not say what changes', async () => {
    await startPair();
    await ask(['delete', 'server', 'spare-db', '--yes']);
    const undone = await ask(['undo', '--last']);
    expect(undone.out).toMatch(/^Done: undo \S+ \(1 change\) on all 2 nodes through berlin\.\n$/);
    const [{ undoes: id }] = JSON.parse((await ask(['history', '--json'])).out) as [{ undoes: string }];
    const restore = `restore the configuration after ${id} (1 change) on all 2 nodes through berlin`;
    expect((await ask(['restore', id, '--dry-run'])).out).toContain(`Plan: ${restore}\n`);
    expect((await ask(['restore', id])).err).toContain(
      `${restore.replace(/^r/, 'R')}? It deletes 1 server. `,
    );
  });

  // Promise: question-scope
  it('is named by the question for a new password', async () => {
    await startPair();
    const { err } = await ask(['user', 'password', 'ada'], { input: '\u0003', isTerminal: true });
    expect(err).toMatch(/^New password of ada on all 2 nodes through berlin: \n/);
  });

  it('is one node for the logs', async () => {
    await startPair();
    expect(await ask(['flush'])).toEqual({ code: 0, out: 'Done: flush the logs at node berlin.\n', err: '' });
  });

  it('names the node beside the gateway in production', async () => {
    await startPair({ name: 'eu-1', environment: 'production' });
    const stop = await ask(['stop', 'service', 'my-service']);
    expect(stop.err).toContain('Stop service my-service on all 2 nodes through eu-1 (production)? ');
    const close = await ask(closing);
    expect(close.err).toContain('Close the sessions of my-service at node berlin of eu-1 (production)? ');
  });

  it('says which node is silent, and follows later', async () => {
    const { world, paris } = await startPair();
    paris.cut(true);
    await world.clock.advance(6000);
    const { out } = await ask(['stop', 'service', 'my-service']);
    expect(out).toBe(
      'Done: stop service my-service on all 2 nodes through berlin. 1 session continues at node berlin. ' +
        'Node paris is silent, and follows when it is back.\n',
    );
    expect((await ask(['forget', 'paris'])).err).toContain(
      'Forget the node paris in the fleet of berlin? Nobody',
    );
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
      'Done: drain service my-service on all 2 nodes through berlin.',
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
        'Done: drain service my-service on all 2 nodes through berlin.',
        'paris has not reported its sessions yet.',
        'Drained: nothing is left at berlin, paris.',
        '',
      ],
    ]);
    for (const { admin } of [paris, berlin]) await admin.close();
  });

  it('says while it waits that the gateway has not reported what is open', async () => {
    const { admin } = await start(openRunning(createMemoryStore(), { name: 'eu-1' }));
    const open = [...admin.snapshot.sessions];
    admin.report(open.map(({ id, connected }) => ({ type: 'session.closed', id, connected })));
    const record = (part: string): void => {
      if (part.includes('has not reported')) admin.report({ type: 'sessions.complete' });
    };
    const { code, out } = await ask(['drain', 'service', 'my-service', '--wait'], { record });
    expect([code, out.split('\n').slice(1)]).toEqual([
      0,
      ['The gateway has not reported its sessions yet.', 'Drained: nothing is left.', ''],
    ]);
  });
});
