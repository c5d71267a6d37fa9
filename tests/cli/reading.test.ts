import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createSnapshot } from 'gateway-admin-core';
import fc from 'fast-check';

import { kinds, plurals } from '../../src/cli/kind.ts';
import { cellOf, columns, jsonText } from '../../src/cli/output.ts';
import { buildPackage } from '../support/built-package.ts';
import { root } from '../support/project.ts';
import { runAdmin } from '../support/running-admin.ts';
import { itOnTerminal, onTerminal } from '../support/terminal.ts';
import { command, servers, type Result } from './command-line.ts';

const serve = servers(afterEach);
let url = '';

beforeEach(async () => {
  url = await serve(runAdmin().admin);
});

function ask(...args: readonly string[]): Promise<Result> {
  return command([...args, '--url', url]);
}

async function get(target: string): Promise<unknown> {
  return (await fetch(url + target)).json();
}

describe('gateway-admin list', () => {
  it('prints a table without borders', async () => {
    expect((await ask('list', 'servers')).out).toBe(
      [
        'NAME         STATUS                       ADDRESS           PORT  PROTOCOL',
        'db-serv-1    master, running              192.168.121.58    5432  pgbackend',
        'DB Server 2  maintenance, slave, running  db2.example.test  5433  pgbackend',
        'db-serv-3    -                            /run/db/.s.5434   -     pgbackend',
        '',
      ].join('\n'),
    );
  });

  it.each(plurals)('gives programs what the interface says about %s', async (kind) => {
    const paths: Readonly<Record<string, string>> = {
      modules: '/gateway/modules',
      tasks: '/gateway/tasks',
      nodes: '/fleet',
    };
    const path = paths[kind] ?? `/${kind}`;
    const { code, out } = await ask('list', kind, '--json');
    expect([code, JSON.parse(out)]).toEqual([0, await get(path)]);
  });

  it.each(Object.entries(kinds))('has a field for each column of %s', async (kind, { columns: header }) => {
    const { code, err } = await ask('list', kind, '--fields', header.join(), '--json');
    expect([code, err]).toEqual([0, '']);
  });

  it('lists the listeners of a service and the connections to a server', async () => {
    expect((await ask('list', 'listeners', 'my-service')).out).toMatch(
      /^NAME +PROTOCOL +ADDRESS +PORT +SSL\n/,
    );
    const { out } = await ask('list', 'connections', 'db-serv-1', '--json');
    expect(JSON.parse(out)).toEqual(await get('/servers/db-serv-1/connections'));
  });

  it('shows the first 100 sessions to a person, and says how many there are', async () => {
    const { admin } = runAdmin({ snapshot: createSnapshot({ services: [{ name: 'S', router: 'r' }] }) });
    const session = {
      state: 'ready',
      user: 'app',
      address: '192.0.2.7',
      service: 'S',
      connected: 0,
    } as const;
    admin.report(
      Array.from({ length: 1234 }, (_, id) => ({ type: 'session.opened', id: id + 1, ...session })),
    );
    url = await serve(admin);
    const { out, err } = await ask('list', 'sessions');
    expect([out.split('\n').length - 2, err]).toEqual([100, '100 of 1,234\n']);
    const page = await ask('list', 'sessions', '--range', '1230-1299', '--fields', 'id');
    expect(page).toEqual({ code: 0, out: 'ID\n1231\n1232\n1233\n1234\n', err: '4 of 1,234\n' });
    expect(JSON.parse((await ask('list', 'sessions', '--json')).out)).toHaveLength(1234);
  });

  it('finds sessions', async () => {
    const { out } = await ask('list', 'sessions', '--service', 'bare-service', '--client', 'bob', '--json');
    expect(JSON.parse(out)).toEqual(await get('/sessions?service=bare-service&user=bob'));
    expect(JSON.parse(out)).toHaveLength(1);
  });

  it.each([
    [['list'], 'list needs a kind: services, '],
    [['list', 'planets'], 'list does not take "planets": services, '],
    [['list', 'services', 'x'], 'list services takes no name. Try: gateway-admin show services'],
    [['list', 'listeners'], 'list listeners needs the name of a service.'],
    [['list', 'services', '--range', '9'], 'A range has the form 0-99'],
    [['list', 'services', '--service', 'x'], 'Only sessions can be searched: --service.'],
    [['list', 'listeners', 'x', 'y'], 'list takes a kind and a name; the rest are options.'],
    [['list', 'services', '--nothing'], 'list got an option that it does not take'],
    [['show', 'service'], 'show service needs a name.'],
    [['abandon'], 'abandon needs an id. Try: gateway-admin help abandon'],
    [['list', 'services', '--jsn'], 'list got an option that it does not take. Try: gateway-admin help list'],
    [
      ['list', 'services', '--js'],
      'list got an option that it does not take. Try: gateway-admin list --json',
    ],
    [['stop', 'Sales'], 'stop does not take "Sales": service, monitor.'],
    [['show', 'service', ''], 'show got an empty argument.'],
    [['show', 'gateway', 'x'], 'show gateway takes no name.'],
    [['show', 'service', '..'], 'show got "..", and no URL can name such a resource.'],
    [['list', 'services', '--range'], 'list got an option without its value'],
    [['list', 'services', '--url', 'http://127.0.0.1:9/?a=b'], 'The address must end with a path'],
    [['list', 'services', '--url', 'http://127.0.0.1:9/#a'], 'The address must end with a path'],
  ])('refuses %j before anything is sent', async (args, told) => {
    const { code, out, err } = await command(args, { env: { GATEWAY_ADMIN_URL: 'http://127.0.0.1:9' } });
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain(`gateway-admin: ${told}`);
    const forPrograms = await command([...args, '--json'], {
      env: { GATEWAY_ADMIN_URL: 'http://127.0.0.1:9' },
    });
    expect(forPrograms).toMatchObject({ code: 2, out: '' });
    expect(JSON.parse(forPrograms.err)).toEqual({ detail: expect.stringContaining(told) as unknown });
  });
});

describe('gateway-admin show', () => {
  it('prints the members of a resource, and of its members, in two columns', async () => {
    expect((await ask('show', 'server', 'db-server-2')).out).toBe(
      [
        'name        DB Server 2',
        'address     db2.example.test',
        'port        5433',
        'protocol    pgbackend',
        'status      maintenance, slave, running',
        'parameters  -',
        '',
      ].join('\n'),
    );
    expect((await ask('show', 'logs')).out).toContain('\nlog_levels.error            true\n');
  });

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

  it('says why there is nothing, in words and for programs', async () => {
    const told = 'There is no service named "x". GET /services lists the existing ones. (service-not-found)';
    expect(await ask('show', 'service', 'x')).toEqual({ code: 1, out: '', err: `gateway-admin: ${told}\n` });
    const { code, err } = await ask('show', 'service', 'x', '--json');
    expect([code, JSON.parse(err)]).toMatchObject([1, { code: 'service-not-found', status: 404 }]);
  });
});

describe('the output of gateway-admin', () => {
  const controls = /[\p{Cc}\p{Cf}\u2028\u2029]/u;

  // Promise: command-line-terminal
  it('shows no control character of anybody else', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(cellOf(value)).not.toMatch(controls);
        expect(jsonText(value, 2).replaceAll('\n', '')).not.toMatch(controls);
      }),
    );
    expect(cellOf('a\x1b[2Jb\u202ec')).toBe('a\\u001b[2Jb\\u202ec');
  });

  it('keeps JSON the same value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.parse(jsonText(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it('lines columns up', () => {
    const text = fc.string({ unit: 'grapheme' }).filter((each) => !controls.test(each) && each.trim() !== '');
    const rows = fc.array(fc.tuple(text, text), { minLength: 1 });
    const lengthOf = (each: string): number => [...new Intl.Segmenter().segment(each)].length;
    fc.assert(
      fc.property(rows, (given) => {
        const width = Math.max(...given.map(([first]) => lengthOf(first)));
        for (const [at, line] of columns(given).entries()) {
          const [first = '', second = ''] = given[at] ?? [];
          expect(line).toBe(`${first}${' '.repeat(width - lengthOf(first) + 2)}${second}`.trimEnd());
        }
      }),
    );
  });

  describe('on a terminal', () => {
    beforeAll(() => {
      buildPackage();
    });

    itOnTerminal.each([
      [{}, '\u001b[2mNAME\u001b[22m'],
      [{ NO_COLOR: '1' }, 'NAME'],
    ])('has colours, if the environment has %j', async (env, first) => {
      const program = `"${process.execPath}" "${root}dist/cli/main.js" list users --url ${url}`;
      // Many a variable turns colours on or off: CI, for one, and what the test runner sets.
      const { PATH } = process.env;
      const { stdout } = onTerminal(program, { PATH, TERM: 'xterm-256color', ...env });
      const text = (await stdout.setEncoding('utf8').toArray()).join('');
      expect(text.split('\r\n')[0]).toBe(first);
    });
  });
});
