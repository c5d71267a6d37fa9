import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createSnapshot, type Problem } from 'gateway-admin-core';
import { hold } from 'gateway-admin-core/testing';

import { buildPackage } from '../support/built-package.ts';
import { crowdedSnapshot } from '../support/document.ts';
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

  it.each(Object.entries(columns))('has a field for each column of %s', async (kind, fields) => {
    const { code, err } = await ask('list', kind, '--fields', fields.join(), '--json');
    expect([code, err]).toEqual([0, '']);
    const { out } = await ask('list', kind);
    // The list of commands is empty here, and nodes have a table of their own.
    if (['commands', 'nodes'].includes(kind)) return;
    const header = fields.map((field) => field.toUpperCase().replaceAll('_', ' '));
    expect(out.split('\n')[0]?.split(/ {2,}/)).toEqual(header);
  });

  it('knows these kinds, and what belongs to a service, a server or a session', async () => {
    const { out } = await command(['complete', '--', 'list', '']);
    const kinds = [...Object.keys(columns), 'listeners', 'connections'];
    expect(out.trim().split(/\s+/).toSorted()).toEqual(kinds.toSorted());
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

  it.each([
    [['list'], 'list needs a kind: services, '],
    [['list', 'planets'], 'list does not take "planets": services, '],
    [['list', 'services', 'x'], 'list services takes no name. Try: gateway-admin show services'],
    [['list', 'listeners'], 'list listeners needs the name of a service.'],
    [['list', 'connections'], 'list connections needs the name of a server, or --session ID.'],
    [
      ['list', 'connections', 'db', '--session', '9'],
      'list connections takes the name of a server or --session',
    ],
    [['list', 'servers', '--session', '9'], 'Only connections can be listed of a session.'],
    [['list', 'connections', '--session', ''], 'The session has no id.'],
    [['list', 'services', '--range', '9'], 'A range has the form 0-99'],
    [['list', 'services', '--service', 'x'], 'Only sessions can be searched: --service.'],
    [['list', 'listeners', 'x', 'y'], 'list takes a kind and a name; the rest are options.'],
    [['list', 'services', '--nothing'], 'list takes no option --nothing. Try: gateway-admin help list'],
    [['list', 'services', '-x'], 'list takes no option -x. Try: gateway-admin help list'],
    [['list', 'services', '--fileds=name'], 'list takes no option --fileds. Did you mean --fields? Try: '],
    [
      ['--ulr', 'http://127.0.0.1:9', 'list', 'services'],
      'There is no option --ulr. Did you mean --url? Try: ',
    ],
    [['list', 'servces'], /list does not take "servces": services, .*\. Did you mean services\? Try: /],
    [['list', 'alerts'], /list does not take "alerts": .*\. The alerts are in: gateway-admin status\. Try: /],
    [
      ['alerts'],
      'There is no command "alerts". The alerts are in: gateway-admin status. Try: gateway-admin help',
    ],
    [['lst', 'services'], 'There is no command "lst". Did you mean list? Try: gateway-admin help'],
    [['show', 'service'], 'show service needs a name.'],
    [['abandon'], 'abandon needs an id. Try: gateway-admin help abandon'],
    [
      ['list', 'services', '--jsn'],
      'list takes no option --jsn. Did you mean --json? Try: gateway-admin help list',
    ],
    [
      ['list', 'services', '--js'],
      'list takes no option --js. Did you mean --json? Try: gateway-admin help list',
    ],
    [['stop', 'Sales'], 'stop does not take "Sales": service, monitor.'],
    [['show', 'service', ''], 'show got an empty argument.'],
    [['show', 'gateway', 'x'], 'show gateway takes no name.'],
    [['show', 'service', '..'], 'show got "..", and no URL can name such a resource.'],
    [['list', 'services', '--range'], 'list needs a value after --range: --range 0-99.'],
    [['list', 'services', '--range', '--fields'], 'list needs a value after --range: --range 0-99.'],
    [['list', 'services', '--json=true'], 'list takes no value after --json.'],
    [['commands', 'x'], 'commands takes no arguments, only options.'],
    [['list', 'services', '--url', 'http://127.0.0.1:9/?a=b'], 'The address must end with a path'],
  ])('refuses %j before anything is sent', async (args, told) => {
    const { code, out, err } = await command(args, { env: { GATEWAY_ADMIN_URL: 'http://127.0.0.1:9' } });
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(/^gateway-admin: /);
    expect(err.slice('gateway-admin: '.length)).toEqual(
      told instanceof RegExp ? expect.stringMatching(told) : expect.stringContaining(told),
    );
    const forPrograms = await command([...args, '--json'], {
      env: { GATEWAY_ADMIN_URL: 'http://127.0.0.1:9' },
    });
    expect(forPrograms).toMatchObject({ code: 2, out: '' });
    expect(JSON.parse(forPrograms.err)).toEqual({
      detail: told instanceof RegExp ? expect.stringMatching(told) : expect.stringContaining(told),
    });
  });
});

describe('the times that gateway-admin prints', () => {
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

  describe('on a terminal', () => {
    beforeAll(() => {
      buildPackage();
    });

    itOnTerminal.each([
      [{}, '\u001b[2mNAME\u001b[22m'],
      [{ NO_COLOR: '1' }, 'NAME'],
    ])('has colours, if the environment has %j', async (env, first) => {
      const program = `"${process.execPath}" "${root}dist/node/cli/main.js" list users --url ${url}`;
      // Many a variable turns colours on or off: CI, for one, and what the test runner sets.
      const { PATH } = process.env;
      const { stdout } = onTerminal(program, { PATH, TERM: 'xterm-256color', ...env });
      const text = (await stdout.setEncoding('utf8').toArray()).join('');
      expect(text.split('\r\n')[0]).toBe(first);
    });
  });
});
