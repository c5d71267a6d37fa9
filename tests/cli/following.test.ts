import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  closeServerConnections,
  closeSession,
  patchService,
  stopService,
  type Admin,
  type Operation,
  type PublishedEvent,
} from 'gateway-admin-core';
import { createNodeHandler } from 'gateway-admin-core/node';

import { buildPackage } from '../support/built-package.ts';
import { root } from '../support/project.ts';
import { runAdmin } from '../support/running-admin.ts';
import { until } from '../system/running-gateway.ts';
import { command, servers } from './command-line.ts';

const serve = servers(afterEach);
let admin: Admin;
let url = '';

beforeEach(async () => {
  ({ admin } = runAdmin({ name: 'eu-1' }));
  url = await serve(admin);
});

beforeAll(() => {
  buildPackage();
});

const leaving: (() => void)[] = [];
afterEach(() => {
  for (const leave of leaving.splice(0)) leave();
});

/** A command that ends only when its user ends it: what it has printed by now. */
function follow(...args: readonly string[]): () => string {
  const child = spawn(process.execPath, [`${root}dist/node/cli/main.js`, ...args, '--url', url]);
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (part: string) => (text += part));
  leaving.push(() => child.kill());
  return () => text;
}

/** Stops a service, and gives the id of the event. */
async function stop(name: string): Promise<string> {
  const reader = admin.events();
  await admin.execute((snapshot, context) => stopService(snapshot, name, context), { actor: 'ada' });
  const { value } = (await reader.next()) as IteratorYieldResult<PublishedEvent>;
  await reader.return?.();
  return value.id;
}

async function patch(name: string, operations: readonly Operation[]): Promise<string> {
  const reader = admin.events();
  await admin.execute((snapshot, context) => patchService(snapshot, name, operations, context));
  const { value } = (await reader.next()) as IteratorYieldResult<PublishedEvent>;
  await reader.return?.();
  return value.id;
}

describe('gateway-admin events', () => {
  it('prints an event in a line: when, its id, what, and who did it', async () => {
    const first = await stop('Report Service');
    const printed = follow('events', '--after', first);
    const second = await stop('My Service');
    const third = await patch('My Service', [{ op: 'replace', path: '/max_connection', value: 7 }]);
    await until('both events are printed', () => printed().split('\n').length > 2);
    const [stopped = '', patched = ''] = printed().split('\n');
    // The clock of the interface, in its own time zone.
    expect(stopped.slice(0, 21)).toBe('2016-09-10 03:00:00  ');
    expect(stopped.slice(21)).toBe(`${second}  service.stopped     /services/My-Service  by ada`);
    expect(patched.slice(21)).toBe(
      `${third}  service.updated     /services/My-Service  ~ /max_connection = 7`,
    );
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
      leavesWhen: (text) => text.includes('My-Service'),
    });
    const told = out.split('\n').map((line) => line.split('  ').slice(2).join('  '));
    expect(told).toEqual([
      'sessions.closed     /sessions/9  1 session',
      'connections.closed  /servers/db-serv-1  1 connection',
      'server.reported     /servers/db-serv-3  [master, running]',
      'monitor.reported    /monitors/Main-Monitor  [failed]  no such module',
      'monitor.reported    /monitors/Main-Monitor  [started]',
      'service.stopped     /services/My-Service  by ada',
      '',
    ]);
  });

  it('gives programs an event in a line, and only the types they want', async () => {
    const first = await stop('Report Service');
    const printed = follow('events', '--after', first, '--types', 'service.updated', '--json');
    await stop('My Service');
    const id = await patch('My Service', [{ op: 'replace', path: '/max_connection', value: 7 }]);
    await until('the event is printed', () => printed().includes('\n'));
    expect(JSON.parse(printed())).toMatchObject({
      id,
      event: { type: 'service.updated', service: 'my-service' },
    });
  });

  it('says where events are missing', async () => {
    const printed = follow('events', '--after', 'aaaa.1.0');
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
    const first = await stop('Report Service');
    const program = `'${process.execPath}' '${root}dist/node/cli/main.js' events --after ${first} --url ${url}`;
    const child = spawn('sh', ['-c', `${program} | head -n 1`]);
    const ended = once(child, 'close');
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (part: string) => (text += part));
    await stop('My Service');
    await until('the event is printed', () => text !== '');
    // The next event meets the closed pipe.
    await patch('My Service', [{ op: 'replace', path: '/max_connection', value: 7 }]);
    await patch('My Service', [{ op: 'replace', path: '/max_connection', value: 8 }]);
    expect(await ended).toEqual([0, null]);
  });
});

describe('gateway-admin watch', () => {
  it('lists again after a change', async () => {
    const printed = follow('watch', 'services', '--fields', 'name,state');
    const tables = (): readonly string[] => printed().split(/\n\n/);
    await until('the first table is printed', () => printed().includes('Report Service'));
    expect(tables()[0]).toMatch(/^NAME +STATE\nMy Service +started\n/);
    await stop('My Service');
    await until('the change is shown', () => /My Service +stopped/.test(printed()));
    expect(tables()[0]).not.toContain('My Service      stopped');
  });
});

describe('gateway-admin watch on a terminal', () => {
  it('empties the screen before it lists again, and keeps what has scrolled off the screen', async () => {
    const empty = '\x1b[H\x1b[J';
    let isChanging = false;
    const { out } = await command(['watch', 'services', '--fields', 'name,state', '--url', url], {
      isTerminal: true,
      leavesWhen: (text) => {
        if (!isChanging) void stop('My Service');
        isChanging = true;
        return /My Service +stopped/.test(text);
      },
    });
    const tables = out.split(empty);
    // "\x1b[3J" erases what has scrolled off, and some terminals scroll the whole screen off at "\x1b[2J".
    expect(out).not.toMatch(/\[[23]J/);
    expect(tables.length).toBeGreaterThan(1);
    expect(tables.at(-1)).toMatch(/My Service +stopped/);
    for (const table of tables) expect(table.match(/Report Service/g)).toHaveLength(1);
  });
});

describe('gateway-admin watch, while the interface is away,', () => {
  it('says so, and lists again when the interface is back', async () => {
    const server = createServer(createNodeHandler(admin)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    url = `http://127.0.0.1:${String(port)}`;
    const printed = follow('watch', 'services', '--fields', 'name,state');
    await until('the first table is printed', () => printed().includes('Report Service'));
    server.close().closeAllConnections();
    await once(server, 'close');
    await until('the interface is missed', () => printed().includes('ECONNREFUSED'));
    await stop('My Service');
    server.listen(port, '127.0.0.1');
    await until('the change is shown', () => /My Service +stopped/.test(printed()));
    server.close().closeAllConnections();
  });
});

describe('a proxy that answers for a while in place of the interface', () => {
  const answers: Readonly<Record<string, (response: ServerResponse) => void>> = {
    'a page of the proxy': (response) => {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('no such page');
    },
    'a page that says yes': (response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Log in\u001b[2J</h1>');
    },
    'a problem of another program': (response) => {
      const problem = JSON.stringify({ type: 'about:blank', status: 403, detail: 'No.' });
      response.writeHead(403, { 'content-type': 'application/problem+json' }).end(problem);
    },
  };
  let answer: ((response: ServerResponse) => void) | undefined;
  const server = createServer((request, response) => {
    if (answer === undefined) createNodeHandler(admin)(request, response);
    else answer(response);
  });

  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  beforeEach(() => {
    url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  });
  afterEach(() => {
    answer = undefined;
    server.closeAllConnections();
  });
  afterAll(() => void server.close());

  it.each(Object.entries(answers))(
    'ends neither events nor watch, and both say so: %s',
    async (_what, other) => {
      const followed = follow('events', '--after', await stop('Report Service'));
      const watched = follow('watch', 'services', '--fields', 'name,state');
      await patch('My Service', [{ op: 'replace', path: '/max_connection', value: 7 }]);
      await until('the event is printed', () => followed().includes('max_connection'));
      await until('the first table is printed', () => watched().includes('Report Service'));
      answer = other;
      server.closeAllConnections();
      const broken = 'The stream of events has broken, and is tried again. ';
      for (const printed of [followed, watched])
        await until('the answer is told', () => /(?:status (?:404|200)|No)\./.test(printed()));
      answer = undefined;
      await stop('My Service');
      for (const printed of [followed, watched])
        await until('the stream is back', () => printed().includes('The events come again.'));
      await until('the event is printed', () => followed().includes('service.stopped'));
      await until('the change is shown', () => /My Service +stopped/.test(watched()));
      for (const printed of [followed, watched]) {
        expect(printed()).toContain(broken);
        expect(printed()).not.toContain('\u001b');
      }
    },
  );
});

describe('gateway-admin watch, while something changes all the time,', () => {
  it('lists at most once a second', async () => {
    const begin = performance.now();
    const leavesAfterMs = 1500;
    const watching = command(['watch', 'servers', '--json', '--url', url], { leavesAfterMs });
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
