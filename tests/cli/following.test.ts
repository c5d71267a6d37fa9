import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  closeServerConnections,
  closeSession,
  patchService,
  stopService,
  type Admin,
  type PublishedEvent,
  type Transition,
} from 'gateway-admin-core';
import { createNodeHandler } from 'gateway-admin-core/node';

import { buildPackage } from '../support/built-package.ts';
import { root } from '../support/project.ts';
import { runAdmin } from '../support/running-admin.ts';
import { until } from '../system/running-gateway.ts';
import { answering, answeringServers, type Respond } from './answering-server.ts';
import { command, servers } from './command-line.ts';

const serve = servers(afterEach);
let admin: Admin;
let url = '';

beforeEach(async () => {
  ({ admin } = runAdmin({ name: 'eu-1' }));
  url = await serve(admin);
});

let reader: AbortController;
beforeEach(() => {
  reader = new AbortController();
});
afterEach(() => reader.abort());

/** A command that ends only when its user ends it: what it has printed by now. */
function follow(words: string, at = url): () => string {
  let text = '';
  const record = (part: string): void => void (text += part);
  void command([...words.split(' '), '--url', at], { record, leaves: reader.signal });
  return () => text;
}

/** Executes a command of ada, and gives the id of the event. */
async function done(transition: Transition): Promise<string> {
  const events = admin.events();
  await admin.execute(transition, { actor: 'ada' });
  const { value } = (await events.next()) as IteratorYieldResult<PublishedEvent>;
  await events.return?.();
  return value.id;
}

const stop = (name: string): Promise<string> =>
  done((snapshot, context) => stopService(snapshot, name, context));

const limit = (value: number): Promise<string> =>
  done((snapshot, context) =>
    patchService(snapshot, 'My Service', [{ op: 'replace', path: '/max_connection', value }], context),
  );

describe('gateway-admin events', () => {
  it('prints an event in a line: when, its id, what, and who did it', async () => {
    const first = await stop('Report Service');
    const printed = follow(`events --after ${first}`);
    const second = await stop('My Service');
    const third = await limit(7);
    await until('both events are printed', () => printed().split('\n').length > 2);
    const [stopped = '', patched = ''] = printed().split('\n');
    // The clock of the interface, in its own time zone.
    expect(stopped.slice(0, 21)).toBe('2016-09-10 03:00:00  ');
    expect(stopped.slice(21)).toBe(`${second}  ada stopped My Service`);
    expect(patched.slice(21)).toBe(`${third}  ada changed My Service  ~ /max_connection = 7 (was 100)`);
  });

  it('says with each event what it is about', async () => {
    const first = await stop('Report Service');
    await admin.execute((snapshot, context) => closeSession(snapshot, 9, context));
    await admin.execute((snapshot, context) => closeServerConnections(snapshot, 'db-serv-1', context));
    admin.report([
      { type: 'server.reported', server: 'db-serv-3', status: ['master', 'running'] },
      { type: 'monitor.reported', monitor: 'main-monitor', state: 'failed', reason: 'no such module' },
      { type: 'monitor.reported', monitor: 'main-monitor', state: 'started' },
    ]);
    await stop('My Service');
    const { out } = await command(['events', '--after', first, '--url', url], {
      leavesWhen: (text) => text.includes('My Service'),
    });
    const told = out.split('\n').map((line) => line.split('  ').slice(2).join('  '));
    expect(told).toEqual([
      'Session 9 was closed',
      '1 connection to db-serv-1 was closed',
      'db-serv-3 is master, running',
      'Main Monitor failed: no such module',
      'Main Monitor runs again',
      'ada stopped My Service',
      '',
    ]);
  });

  it('gives programs an event in a line, and only the types they want', async () => {
    const first = await stop('Report Service');
    const printed = follow(`events --after ${first} --types service.updated --json`);
    await stop('My Service');
    const id = await limit(7);
    await until('the event is printed', () => printed().includes('\n'));
    expect(JSON.parse(printed())).toMatchObject({
      id,
      event: { type: 'service.updated', service: 'my-service' },
    });
  });

  it('says where events are missing', async () => {
    const printed = follow('events --after aaaa.1.0');
    await until('the gap is printed', () => printed().includes('\n'));
    expect(printed()).toBe('Events are missing here: look at the state.\n');
  });

  it.each([
    [['--after', 'nonsense'], 2, 'An event id has the form 5f0c8e21a9b3.7.0'],
    [['--types', 'no such type'], 1, '(query-invalid)'],
  ])('says why it gets no events with %j', async (options, code, told) => {
    const result = await command(['events', ...options, '--url', url]);
    expect(result).toMatchObject({ code, err: expect.stringContaining(told) });
  });

  it('ends when its reader has enough', async () => {
    buildPackage();
    const first = await stop('Report Service');
    const program = `'${process.execPath}' '${root}dist/node/cli/main.js' events --after ${first} --url ${url}`;
    const child = spawn('sh', ['-c', `${program} | head -n 1`]);
    const ended = once(child, 'close');
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (part: string) => (text += part));
    await stop('My Service');
    await until('the event is printed', () => text !== '');
    // The next event meets the closed pipe.
    await limit(7);
    await limit(8);
    expect(await ended).toEqual([0, null]);
  });
});

describe('gateway-admin watch', () => {
  it('lists once, and then prints the time and the rows that have changed', async () => {
    const printed = follow('watch services --fields name,state');
    await until('the first table is printed', () => printed().includes('Spare Service'));
    const first = printed();
    expect(first).toMatch(/^NAME +STATE\nMy Service +started\n/);
    await stop('My Service');
    await until('the change is shown', () => /My Service +stopped\n/.test(printed()));
    expect(printed().slice(first.length)).toMatch(
      /^\n\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\nNAME +STATE\nMy Service +stopped\n$/,
    );
  });

  it('names what is no longer there, and prints nothing while only the idle time passes', async () => {
    const printed = follow('watch sessions --fields id,idle');
    await until('the first table is printed', () => printed().includes('12'));
    const first = printed();
    admin.report([{ type: 'session.updated', id: 9, idle: 43 }]);
    await admin.execute((snapshot, context) => closeSession(snapshot, 12, context));
    await until('the end of the session is told', () => printed().includes('No longer listed'));
    expect(printed().slice(first.length)).toMatch(/^\n[\d: -]{19}\nNo longer listed: 12\.\n$/);
  });

  it('watches what meets a condition: also what begins or ends to meet it', async () => {
    const printed = follow('watch services --where state=started -o name');
    await until('the first names are printed', () => printed().includes('My-Service'));
    await stop('My Service');
    await until('the change is shown', () => printed().includes('No longer listed: My Service.'));
  });
});

describe('gateway-admin watch on a terminal', () => {
  it('erases nothing: what was printed can be scrolled back to', async () => {
    let isChanging = false;
    const { out } = await command(['watch', 'services', '--fields', 'name,state', '--url', url], {
      isTerminal: true,
      leavesWhen: (text) => {
        if (!isChanging) void stop('My Service');
        isChanging = true;
        return /My Service +\S*stopped/.test(text);
      },
    });
    // Nothing but colours.
    // eslint-disable-next-line no-control-regex -- They are control characters.
    expect(out.match(/\x1b\[[^m]*[A-Za-ln-z]/g)).toBeNull();
    expect(out.match(/Report Service/g)).toHaveLength(1);
    expect(out.match(/My Service/g)).toHaveLength(2);
  });
});

describe('gateway-admin, while the interface is away,', () => {
  const open = answeringServers(afterEach);
  const problem = { type: 'about:blank', status: 403, detail: 'No.' };
  /** What answers meanwhile, and what is told of that. */
  const others: readonly (readonly [answer: Respond, told: RegExp])[] = [
    [({ socket }) => socket.destroy(), /ECONNRESET|socket hang up/],
    [answering('no such page', 404, 'text/plain'), /status 404/],
    [answering('<h1>Log in\u001b[2J</h1>', 200, 'text/html'), /status 200/],
    [answering(problem, 403, 'application/problem+json'), /No\./],
  ];

  /** Takes the interface away until the commands say so. Gives what brings it back. */
  async function takeAway(
    [answer, told]: (typeof others)[number],
    first: string,
  ): Promise<() => Promise<void>> {
    const handle = createNodeHandler(admin);
    const sockets = new Set<Socket>();
    let isAway = false;
    const proxy = await open((request, response) => {
      sockets.add(request.socket);
      (isAway ? answer : handle)(request, response);
    });
    const followed = follow(`events --after ${first}`, proxy);
    const watched = follow('watch services --fields name,state', proxy);
    await until('the event is printed', () => followed().includes('max_connection'));
    await until('the first table is printed', () => watched().includes('Report Service'));
    isAway = true;
    for (const socket of sockets) socket.destroy();
    for (const printed of [followed, watched])
      await until(`${String(told)} is told`, () => told.test(printed()));
    return async () => {
      isAway = false;
      for (const printed of [followed, watched])
        await until('the stream is back', () => printed().includes('The events come again.'));
      await until('the event is printed', () => followed().includes('ada stopped My Service'));
      await until('the change is shown', () => /My Service +stopped/.test(watched()));
      for (const printed of [followed, watched]) {
        expect(printed()).toContain('The stream of events has broken, and is tried again. ');
        expect(printed()).not.toContain('\u001b');
      }
    };
  }

  it('ends neither events nor watch, whatever answers, and both say so', async () => {
    const first = await stop('Report Service');
    await limit(7);
    // The pauses between attempts are real ones, so all wait at the same time.
    const returns = await Promise.all(others.map((other) => takeAway(other, first)));
    await stop('My Service');
    await Promise.all(returns.map((bringBack) => bringBack()));
  });
});

describe('gateway-admin watch, while something changes all the time,', () => {
  it('lists at most once a second', async () => {
    const begin = performance.now();
    const leaves = AbortSignal.timeout(1500);
    const watching = command(['watch', 'servers', '--json', '--url', url], { leaves });
    let isRunning = false;
    const changing = setInterval(() => {
      isRunning = !isRunning;
      admin.report([{ type: 'server.reported', server: 'db-serv-3', status: isRunning ? ['running'] : [] }]);
    }, 20);
    const { out } = await watching.finally(() => clearInterval(changing));
    const lists = out.split('\n').length - 1;
    expect(lists).toBeGreaterThan(1);
    expect(lists).toBeLessThanOrEqual(1 + Math.floor((performance.now() - begin) / 1000));
  });
});
