import { stripVTControlCharacters, styleText } from 'node:util';

import { afterAll, afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { createVirtualClock, hold } from 'gateway-admin-core/testing';

import { buildPackage } from '../support/built-package.ts';
import { crowdedSnapshot } from '../support/document.ts';
import { root } from '../support/project.ts';
import { runAdmin } from '../support/running-admin.ts';
import { itOnTerminal, onTerminal } from '../support/terminal.ts';
import { answering, answeringServers } from './answering-server.ts';
import { command, servers, type Result } from './command-line.ts';

const serve = servers(afterEach);
let url = '';
/** What a server that is no interface answers. */
let answered: unknown;
const address = answeringServers(afterAll)((request, response) => answering(answered)(request, response));

beforeEach(async () => {
  url = await serve(runAdmin().admin);
});

function ask(...args: readonly string[]): Promise<Result> {
  return command([...args, '--url', url]);
}

async function get(target: string): Promise<unknown> {
  return (await fetch(url + target)).json();
}

/** The columns of each list. */
const columns = {
  services: ['name', 'state', 'router', 'current_connections', 'total_connections', 'servers'],
  servers: ['name', 'status', 'address', 'port', 'protocol'],
  monitors: ['name', 'state', 'module', 'monitor_interval', 'servers'],
  filters: ['name', 'module', 'services'],
  sessions: ['id', 'user', 'address', 'service', 'state', 'connected', 'idle'],
  users: ['name'],
  commands: ['id', 'type', 'resource', 'actor', 'since', 'outcome', 'progress'],
  modules: ['name', 'type', 'version', 'api_version', 'maturity'],
  nodes: ['node', 'alive', 'version', 'position', 'behind', 'differs', 'seen'],
  tasks: ['name', 'type', 'frequency', 'next_due'],
};

describe('gateway-admin list', () => {
  it.each(Object.keys(columns))('gives programs what the interface says about %s', async (kind) => {
    const paths: Readonly<Record<string, string>> = {
      modules: '/gateway/modules',
      tasks: '/gateway/tasks',
      nodes: '/fleet',
    };
    const path = paths[kind] ?? `/${kind}`;
    const { code, out } = await ask('list', kind, '--json');
    expect([code, JSON.parse(out)]).toEqual([0, await get(path)]);
  });

  it.each([
    ['list connections db-serv-1', '/servers/db-serv-1/connections'],
    ['list connections --session 9', '/sessions/9/connections'],
    ['list sessions --service bare-service --client bob', '/sessions?service=bare-service&user=bob'],
    ['list sessions --idle-over 41 --older-than 1h', '/sessions?user=alice'],
  ])('gives programs what the interface says: %s', async (line, path) => {
    const { code, out } = await ask(...line.split(' '), '--json');
    expect([code, JSON.parse(out)]).toEqual([0, await get(path)]);
  });

  it.each(Object.entries(columns))('has a field for each column of %s', async (kind, fields) => {
    const { code, err } = await ask('list', kind, '--fields', fields.join(), '--json');
    expect([code, err]).toEqual([0, '']);
    const { out } = await ask('list', kind);
    // The list of commands is empty here, and nodes have a table of their own.
    if (['commands', 'nodes'].includes(kind)) return;
    const header = fields.map((field) => field.toUpperCase().replaceAll('_', ' '));
    expect(out.split('\n')[0]?.split(/ {2,}/)).toEqual(header);
  });

  it('sorts the whole list by a field: numbers by size, names as people count, times by time', async () => {
    const names = async (...args: readonly string[]) => {
      const { out } = await ask('list', ...args, '--json');
      return (JSON.parse(out) as readonly { readonly name?: string; readonly id?: number }[]).map(
        ({ name, id }) => name ?? id,
      );
    };
    const ports = new Map(
      ((await get('/servers')) as { name: string; port: number }[]).map(({ name, port }) => [name, port]),
    );
    const byPort = (await names('servers', '--sort', 'port')).map((name) => ports.get(String(name)) ?? 0);
    expect(byPort).toEqual(byPort.toSorted((one, other) => one - other));
    expect(await names('servers', '--sort=-port')).toHaveLength(byPort.length);
    expect(await names('servers', '--sort', 'name')).toEqual([
      'DB Server 2',
      'db-serv-1',
      'db-serv-3',
      'Spare DB',
    ]);
    const times = new Map(
      ((await get('/sessions')) as { id: number; connected: string }[]).map((each) => [
        each.id,
        Date.parse(each.connected),
      ]),
    );
    const newest = (await names('sessions', '--sort=-connected')).map((id) => times.get(Number(id)) ?? 0);
    expect(newest).toEqual([...times.values()].toSorted((one, other) => other - one));
    const unknown = await ask('list', 'servers', '--sort', 'colour');
    expect([unknown.code, unknown.err]).toEqual([
      2,
      expect.stringContaining('The list has no field colour. It has name,'),
    ]);
    // A table has the first ones of all, and not the sorted first ones of the list.
    const many = await serve(runAdmin({ snapshot: crowdedSnapshot(150) }).admin);
    const top = await command(['list', 'sessions', '--sort=-id', '--fields', 'id', '--url', many]);
    expect(top.out.split('\n').length).toBe(102);
    const all = (await (await fetch(`${many}/sessions?fields=id`)).json()) as { readonly id: number }[];
    expect(top.out.split('\n')[1]).toBe(String(Math.max(...all.map(({ id }) => id))));
    expect(top.err).toContain('100 of 150');
  });

  it('shows a state in its colour on a terminal that has colours', async () => {
    const { out } = await command(['list', 'services', '--url', url], { isTerminal: true });
    const painted = (style: Parameters<typeof styleText>[0], word: string) =>
      styleText(style, word, { validateStream: false });
    expect(out).toContain(`${painted('green', 'started')} `);
    expect(out).toContain(`${painted('yellow', 'stopped')} `);
    expect(out.replaceAll(/^.*(?:started|stopped|failed).*\n/gm, '').split('\n')).toHaveLength(2);
    const { out: plain } = await ask('list', 'services');
    expect(stripVTControlCharacters(out)).toBe(plain);
  });

  it('knows these kinds, and what belongs to a service, a server or a session', async () => {
    const { out } = await command(['complete', '--', 'list', '']);
    const kinds = [...Object.keys(columns), 'listeners', 'connections'];
    expect(out.trim().split(/\s+/).toSorted()).toEqual(kinds.toSorted());
  });

  it('shows the first 100 sessions to a person, and says how many there are', async () => {
    url = await serve(runAdmin({ snapshot: crowdedSnapshot(1234) }).admin);
    const { out, err } = await ask('list', 'sessions');
    expect([out.split('\n').length - 2, err]).toEqual([100, '100 of 1,234\n']);
    const page = await ask('list', 'sessions', '--range', '1230-1299', '--fields', 'id');
    expect(page).toEqual({ code: 0, out: 'ID\n1230\n1231\n1232\n1233\n', err: '4 of 1,234\n' });
    expect(JSON.parse((await ask('list', 'sessions', '--json')).out)).toHaveLength(1234);
  });
});

describe('gateway-admin with options before the command', () => {
  it('takes them as after the command', async () => {
    const expected = await ask('list', 'servers', '--fields', 'name', '--json');
    for (const args of [
      ['--url', url, '--json', 'list', 'servers', '--fields', 'name'],
      [`--url=${url}`, '--fields', 'name', 'list', '--json', 'servers'],
    ])
      expect(await command(args)).toEqual(expected);
    const { out } = await command(['--url', url, '--help', 'list']);
    expect(out).toBe((await command(['help', 'list'])).out);
    expect((await command(['--url', url, '--version'])).out).toBe((await command(['--version'])).out);
  });
});

describe('gateway-admin show', () => {
  it.each([
    ['service', 'my-service', '/services/my-service'],
    ['servers', 'db-serv-1', '/servers/db-serv-1'],
    ['session', '9', '/sessions/9'],
    ['gateway', undefined, '/gateway'],
    ['interface', undefined, '/'],
    ['threads', undefined, '/gateway/threads'],
    ['logs', undefined, '/gateway/logs'],
  ])('gives programs what the interface says about %s %s', async (kind, name, path) => {
    const { out } = await ask('show', kind, ...(name === undefined ? [] : [name]), '--json');
    expect(JSON.parse(out)).toEqual(await get(path));
  });
});

describe('the output of gateway-admin', () => {
  it('says how far a long command has come', async () => {
    const [first, second] = [hold(), hold()];
    const { admin, gateway } = runAdmin({ snapshot: crowdedSnapshot(2500) });
    gateway.will(first.apply, second.apply);
    url = await serve(admin);
    const closed = admin.handle({ method: 'DELETE', target: '/services/Sales/sessions', headers: {} });
    await first.begun;
    expect((await ask('commands')).out).toMatch(/ pending +0 of 3 parts\n$/);
    first.done();
    await second.begun;
    expect((await ask('commands')).out).toMatch(/ pending +1 of 3 parts\n$/);
    second.done();
    await closed;
  });

  itOnTerminal.each([
    [{}, '\u001b[2mNAME\u001b[22m'],
    [{ NO_COLOR: '1' }, 'NAME'],
  ])('has colours on a terminal, if the environment has %j', async (env, first) => {
    buildPackage();
    const program = `"${process.execPath}" "${root}dist/node/cli/main.js" list users --url ${url}`;
    // Many a variable turns colours on or off: CI, for one, and what the test runner sets.
    const { PATH } = process.env;
    const { stdout } = onTerminal(program, { PATH, TERM: 'xterm-256color', ...env });
    const text = (await stdout.setEncoding('utf8').toArray()).join('');
    expect(text.split('\r\n')[0]).toBe(first);
  });
});

describe('gateway-admin history', () => {
  // The changes of this test are made at 2016-09-10 03:00:00 in the time zone of the gateway.
  it.each([
    ['2016-09-10', 1],
    ['2016-09-11', 0],
    ['2016-09-10 03:00', 1],
    ['2016-09-10T03:00:00', 1],
    ['2016-09-10 03:00:01', 0],
    ['2016-09-10T00:00:01Z', 0],
    ['999999999d1h30m', 1],
    ['1h30m', 0],
    ['yesterday', 0],
    ['today', 0],
  ])('takes %s as the time of --since, in the time zone of the gateway', async (time, count) => {
    await ask('flush');
    const { code, out, err } = await ask('history', '--since', time, '--json');
    expect([code, err]).toEqual([0, '']);
    expect(JSON.parse(out)).toHaveLength(count);
    const before = await ask('history', '--before', time, '--json');
    expect(JSON.parse(before.out)).toHaveLength(1 - count);
  });

  it('takes what it has printed as a time, and the midnight of yesterday', async () => {
    url = await serve(runAdmin({ clock: createVirtualClock(Date.now(), { turn: 'event-loop' }) }).admin);
    const { out } = await ask('flush').then(() => ask('history'));
    const [, time = ''] = /^([\d-]{10} [\d:]{8}) /.exec(out) ?? [];
    for (const since of [time, time.slice(0, 10), 'today', 'yesterday'])
      expect((await ask('history', '--since', since, '--json')).out).toContain('logs.flushed');
    expect((await ask('history', '--before', 'today', '--json')).out).toBe('[]\n');
  });

  it.each(['soon', '2016-02-30', '2016-13-01', '2016-09-10 25:00', '10.9.2016', '1h30'])(
    'says which times it takes in place of %s',
    async (time) => {
      for (const option of ['since', 'before']) {
        const { code, err } = await ask('history', `--${option}`, time);
        expect([code, err]).toEqual([
          2,
          `gateway-admin: --${option} takes a time such as 2016-08-29T12:52:31+03:00, 2016-08-29, yesterday or 1h30m, ` +
            `and not ${time}.\n`,
        ]);
      }
    },
  );
});

/** What the program prints of services, whatever an interface has in them. */
async function listed(services: readonly object[], ...args: readonly string[]): Promise<string> {
  answered = services;
  const { code, out } = await command(['list', 'services', '--url', await address, ...args]);
  expect(code).toBe(0);
  return out;
}

/** What the program prints of a list with two columns. */
const tableOf = (rows: readonly (readonly [name: unknown, state: unknown])[]): Promise<string> =>
  listed(
    rows.map(([name, state]) => ({ name, state })),
    '--fields',
    'name,state',
  );

describe('a table of the command line', () => {
  it('prints any number of rows', async () => {
    const count = 300_000;
    const lines = (await tableOf(Array.from({ length: count }, (_, at) => [`s${String(at)}`, 'idle']))).split(
      '\n',
    );
    expect([lines.length, lines[1], lines[count]]).toEqual([count + 2, 's0       idle', 's299999  idle']);
  });

  it.each([61, 255, 30_000])('makes no other row wider for a name of %d characters', async (length) => {
    const long = 'x'.repeat(length);
    expect(
      await tableOf([
        [long, 'idle'],
        ['short', 'idle'],
      ]),
    ).toBe(['NAME   STATE', `${long}  idle`, 'short  idle', ''].join('\n'));
  });

  it('aligns names of up to 60 characters', async () => {
    const table = await tableOf([
      ['x'.repeat(60), 'idle'],
      ['short', 'idle'],
    ]);
    expect(table.split('\n')[2]).toBe(`short${' '.repeat(57)}idle`);
  });

  it('lines columns up as a terminal shows them: wide characters have two columns', async () => {
    const widths = { a: 1, é: 1, 'e\u0301': 1, я: 1, 日: 2, 한: 2, Ｗ: 2, ｱ: 1, あ: 2, '🙂': 2 } as const;
    const parts = fc.array(fc.constantFrom(...(Object.keys(widths) as (keyof typeof widths)[])), {
      minLength: 1,
    });
    const widthOf = (text: readonly (keyof typeof widths)[]): number =>
      text.reduce((sum, part) => sum + widths[part], 0);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(parts, parts), { minLength: 1 }), async (given) => {
        const widest = Math.max('NAME'.length, ...given.map(([first]) => widthOf(first)));
        const lines = await tableOf(given.map(([first, second]) => [first.join(''), second.join('')]));
        expect(lines.split('\n').slice(1, -1)).toEqual(
          given.map(
            ([first, second]) =>
              `${first.join('')}${' '.repeat(widest - widthOf(first) + 2)}${second.join('')}`,
          ),
        );
      }),
    );
  });
});

describe('the output of the command line', () => {
  const controls = /[\p{Cc}\p{Cf}\u2028\u2029]/u;

  // Promise: command-line-terminal
  it('shows no control character of anybody else, and keeps JSON the same value', async () => {
    // First: a property that is cut can leave a run behind.
    expect(await tableOf([['a\x1b[2Jb\u202ec', 'idle']])).toContain('\na\\u001b[2Jb\\u202ec  idle\n');
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), async (value) => {
        expect((await tableOf([[value, value]])).replaceAll('\n', '')).not.toMatch(controls);
        const json = await listed([{ value }], '--json');
        expect(json.replaceAll('\n', '')).not.toMatch(controls);
        expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify([{ value }])));
      }),
    );
  });
});
