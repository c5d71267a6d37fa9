import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createSecretSealer, EffectRefusedError, toDocument } from 'gateway-admin-core';

import { sampleGateway, runAdmin, type Running } from '../support/running-admin.ts';
import { temporaryDirectories } from '../support/temporary-directory.ts';
import { command, servers, type Circumstances, type Result } from './command-line.ts';

const serve = servers(afterEach);
const newDirectory = temporaryDirectories();
const sealer = createSecretSealer();
let running: Running;
let url = '';

async function start(options: Parameters<typeof runAdmin>[0] = {}): Promise<void> {
  running = runAdmin({ name: 'eu-1', sealer, ...options });
  url = await serve(running.admin);
}

beforeEach(() => start());

function ask(args: readonly string[], circumstances?: Circumstances): Promise<Result> {
  return command([...args, '--url', url], circumstances);
}

async function fileWith(content: string): Promise<string> {
  const file = join(await newDirectory(), 'definition.json');
  writeFileSync(file, content, { mode: 0o600 });
  return file;
}

const server = ['--set', 'address=10.0.0.9', '--set', 'port=5432', '--set', 'protocol=pg'];

describe('gateway-admin create', () => {
  it('adds a server with values of the types that the server has', async () => {
    const more = [
      '--set',
      'parameters/weight=7',
      '--set',
      'parameters/zone="7"',
      '--set',
      'status/-=maintenance',
    ];
    const { out } = await ask(['create', 'server', 'db-9', ...server, ...more]);
    expect(out).toBe('Done: create server db-9 on eu-1.\n');
    expect(toDocument(running.admin.snapshot).servers?.at(-1)).toEqual({
      name: 'db-9',
      address: '10.0.0.9',
      port: 5432,
      protocol: 'pg',
      status: ['maintenance'],
      parameters: { weight: 7, zone: '7' },
    });
  });

  it('creates a server and adds it to every list that --in names, in one change with one undo', async () => {
    const lists = ['--in', 'services/my-service,monitors/idle-monitor', '--in', '/services/Bare-Service'];
    const args = ['create', 'server', 'db 9', ...server, ...lists];
    const plan = await ask([...args, '--dry-run']);
    expect(plan.out.split('\n').slice(1, 5)).toEqual([
      '  /services/My-Service  + /servers/- = "/servers/db-9"',
      '  /monitors/Idle-Monitor  + /servers/- = "/servers/db-9"',
      '  /services/Bare-Service  + /servers/- = "/servers/db-9"',
      '  gateway: server.create /servers/db-9',
    ]);
    expect(running.gateway.calls).toEqual([]);
    expect(await ask(args)).toMatchObject({ code: 0, out: 'Done: create server db 9 on eu-1.\n' });
    const { services, monitors, servers: all } = running.admin.snapshot;
    for (const one of [
      services.find('my-service'),
      services.find('bare-service'),
      monitors.find('idle-monitor'),
    ])
      expect(one?.settings.servers.at(-1)).toBe('/servers/db-9');
    expect(all.find('db-9')).toBeDefined();
    expect((await ask(args)).out).toBe('Nothing to do: create server db 9 on eu-1.\n');
    expect((await ask(['undo', '--last', '--yes'])).code).toBe(0);
    expect(running.admin.snapshot.servers.find('db-9')).toBeUndefined();
    expect(running.admin.snapshot.services.find('my-service')?.settings.servers).not.toContain(
      '/servers/db-9',
    );
  });

  it('creates nothing if a list of --in does not exist, or if the definition has faults', async () => {
    const absent = await ask(['create', 'server', 'db-9', ...server, '--in', 'services/none']);
    expect([absent.code, absent.err]).toEqual([1, expect.stringContaining('no service named "none"')]);
    const faulty = ['create', 'server', 'db-9', '--set', 'port=0', '--in', 'services/my-service'];
    const { code, err } = await ask(faulty);
    expect([code, err]).toEqual([1, expect.stringContaining('\n  /address: ')]);
    expect(err).toContain('\n  /port: ');
    expect(running.gateway.calls).toEqual([]);
  });

  it.each([
    [['service', 'S'], 'services/my-service', 'create service takes no --in.'],
    [['filter', 'F'], 'monitors/m', 'create filter takes --in services/NAME, and not --in monitors/m.'],
    [
      ['server', 'db-9'],
      'my-service',
      'create server takes --in services/NAME and --in monitors/NAME, and not --in my-service.',
    ],
  ])('refuses a list that cannot have the resource: %j in %s', async (words, list, told) => {
    const { code, err } = await ask(['create', ...words, '--set', 'router=cli', '--in', list]);
    expect([code, err]).toEqual([2, expect.stringContaining(told)]);
    expect(running.gateway.calls).toEqual([]);
  });

  it('takes the parameter of a filter as a patch takes it, and as a document has it', async () => {
    const filter = ['--set', 'module=hintfilter'];
    const forms = ['parameters/match=x', 'parameters/match/value=x', 'parameters/match={"value":"x"}'];
    for (const [at, form] of forms.entries())
      expect((await ask(['create', 'filter', `F${String(at)}`, ...filter, '--set', form])).err).toBe('');
    const made = toDocument(running.admin.snapshot).filters?.slice(-3) ?? [];
    expect(made.map(({ parameters }) => parameters)).toEqual(
      forms.map(() => ({ match: { value: 'x', configurable: true } })),
    );
  });

  it('adds a service with a listener in one command, and starts it', async () => {
    const listener = '{"name":"Reports","protocol":"pgclient","address":"127.0.0.1","port":4010}';
    const { code, out } = await ask([
      ...['create', 'service', 'Reports', '--set', 'router=readconnroute', '--set', 'max_connection=10'],
      ...['--set', 'servers/-=/servers/db-serv-3', '--set', 'servers/-=/servers/spare-db'],
      ...['--set', `listeners/-=${listener}`, '--set', 'version_string=8.0'],
    ]);
    expect([code, out]).toEqual([0, 'Done: create service Reports on eu-1.\n']);
    expect(toDocument(running.admin.snapshot).services?.at(-1)).toMatchObject({
      name: 'Reports',
      state: 'started',
      max_connection: 10,
      version_string: '8.0',
      servers: ['/servers/db-serv-3', '/servers/Spare-DB'],
      listeners: [{ name: 'Reports', address: '127.0.0.1', port: 4010 }],
    });
    const stopped = ['create', 'monitor', 'Watch', '--set', 'module=pgmon', '--set', 'state=stopped'];
    expect((await ask(stopped)).code).toBe(0);
    expect(running.admin.snapshot.monitors.find('watch')?.state).toBe('stopped');
  });

  it('begins with the definition in a file, and gives it the name of the argument', async () => {
    const shown = await ask(['show', 'filter', 'query-log', '--json']);
    const copy = ['create', 'filter', 'Copy', '--file', '-', '--set', 'parameters/filebase/value=/tmp/copy'];
    expect(await ask(copy, { input: shown.out })).toMatchObject({ code: 0, err: '' });
    expect(toDocument(running.admin.snapshot).filters?.at(-1)).toEqual({
      name: 'Copy',
      module: 'qlafilter',
      parameters: { filebase: { value: '/tmp/copy', configurable: true } },
    });
  });

  // Promise: create-secret
  it('takes a secret from a file alone, and prints it nowhere', async () => {
    const file = await fileWith('plum pie\n');
    const args = ['create', 'service', 'New', '--set', 'router=cli', '--set-from', `password=${file}`];
    const told = [await ask([...args, '--dry-run']), await ask(args)];
    expect(told.map(({ code }) => code)).toEqual([0, 0]);
    expect(JSON.stringify(told)).not.toContain('plum pie');
    const sealed = running.admin.snapshot.services.find('new')?.settings.passwordSealed ?? '';
    expect(await sealer.open(sealed)).toBe('plum pie');
    const { code, err } = await ask(['create', 'service', 'Newer', '--set', 'password=plum pie']);
    expect([code, err]).toEqual([2, expect.stringContaining('use --set-from PATH=FILE')]);
    expect(err).not.toContain('plum');
  });

  it('adds a listener to a service', async () => {
    const listener = ['--set', 'protocol=pg', '--set', 'address=::1', '--set', 'port=4010'];
    const { code, out } = await ask(['create', 'listener', 'My-Service', 'Second', ...listener]);
    expect([code, out]).toEqual([0, 'Done: create listener My-Service Second on eu-1.\n']);
    expect(running.admin.snapshot.services.find('my service')?.listeners.at(-1)).toMatchObject({
      name: 'Second',
      port: 4010,
    });
  });

  it.each([
    ['create', 'listener', 'My-Service'],
    ['delete', 'listener', 'My-Service', '--yes'],
    ['create', 'server', 'db-9', 'second'],
    ['delete', 'server', 'db-9', 'second', '--yes'],
  ])('wants two names of a listener, and one of anything else: %s %s %s', async (...args) => {
    const { code, err } = await ask(args);
    expect([code, err]).toEqual([2, expect.stringContaining('A listener needs the name of its service')]);
    expect(running.gateway.calls).toEqual([]);
  });

  it('says that nothing is to do if an equal resource is there, and where another one is', async () => {
    const args = ['create', 'service', 'Spare Service', '--set', 'router=cli', '--set', 'state=stopped'];
    expect((await ask(args)).out).toBe('Nothing to do: create service Spare Service on eu-1.\n');
    const { code, err } = await ask([...args, '--set', 'user=app']);
    expect([code, err]).toEqual([
      1,
      expect.stringContaining('There is a service named "Spare Service" already'),
    ]);
    expect(err).toMatch(/ Look at the present one: gateway-admin show service 'Spare Service'\n$/);
    await ask(['create', 'server', 'db-9', ...server]);
    const other = await ask(['create', 'server', 'DB-9', ...server]);
    expect([other.code, other.err]).toEqual([
      1,
      'gateway-admin: The existing server is called "db-9", which is the same name. Choose another name. ' +
        '(resource-exists) Look at the present one: gateway-admin show server DB-9\n',
    ]);
    expect((await ask(['show', 'server', 'DB-9'])).out).toContain('db-9');
  });

  it('prints the new resource for programs', async () => {
    const { out } = await ask(['create', 'server', 'db-9', ...server, '--json']);
    expect(JSON.parse(out)).toMatchObject({ name: 'db-9', port: 5432, status: [] });
  });

  it('names every fault of a definition', async () => {
    const { code, err } = await ask(['create', 'server', 'db-9', '--set', 'port=70000', '--set', 'x=1']);
    expect(code).toBe(1);
    expect(err).toContain(
      'gateway-admin: Refused: create server db-9. The content is not valid. Nothing was changed. (validation-failed)',
    );
    for (const place of ['/address', '/port', '/protocol', '/x']) expect(err).toContain(`\n  ${place}: `);
    const listed = await ask(['create', 'server', 'db-9', '--set', 'x=1', '--in', 'services/my-service']);
    expect(listed.err).toContain(
      'Refused: create server db-9. /servers: The content is not valid. Nothing was changed. (validation-failed)',
    );
  });

  it.each<[string, readonly string[], string, string?]>([
    ['another name', ['--set', 'name=db-8'], 'create takes the name as an argument, and not as a setting.'],
    ['a setting without a value', ['--set', 'port'], 'create needs a path and a value: --set PATH=VALUE.'],
    [
      'a place beyond the end of a list',
      ['--set', 'servers/1=/servers/a'],
      'create has no place "1" in a list.',
    ],
    ['a file that is no JSON', ['--file', '-'], 'The file is no definition: ', '{'],
    ['a file with a list', ['--file', '-'], 'The file is no definition: It must be a JSON object.', '[]'],
  ])('refuses %s, and sends nothing', async (_what, options, told, input = '') => {
    const { code, err } = await ask(['create', 'server', 'db-9', ...options], { input });
    expect([code, err]).toEqual([2, expect.stringContaining(told)]);
    expect(running.gateway.calls).toEqual([]);
  });

  it('advises to correct the definition, and to look at what is done in part', async () => {
    const reserved = await ask(['create', 'server', 'db-9', ...server, '--set', 'parameters/__proto__=1']);
    expect(reserved.err).toContain('(reserved-key) Correct what is named. Try: gateway-admin help create,');
    const refusal = new EffectRefusedError('No.');
    await start({ gateway: sampleGateway().will('done', refusal, refusal) });
    const partly = await ask(['create', 'service', 'New', '--set', 'router=cli']);
    expect(partly.err).toContain(
      '(partly-done) Look at what is done: gateway-admin show service New. Then send the rest.',
    );
  });

  it('says what a gateway cannot do', async () => {
    await start({ gateway: Object.assign(sampleGateway(), { supports: [] }) });
    const { code, err } = await ask(['create', 'server', 'db-9', ...server]);
    expect([code, err]).toEqual([
      1,
      expect.stringContaining('(not-supported) Do what the answer names instead.'),
    ]);
  });
});

describe('gateway-admin delete', () => {
  it('asks with the names of the lists that lose the resource', async () => {
    const args = ['delete', 'server', 'db-serv-3', '--detach'];
    const { err } = await ask(args, { input: 'y', isTerminal: true });
    expect(err).toContain(
      'Delete server db-serv-3 on eu-1? It leaves the lists of /services/Report-Service.',
    );
    expect(running.admin.snapshot.servers.find('db-serv-3')).toBeUndefined();
    expect(running.admin.snapshot.services.find('report-service')?.settings.servers).toEqual([]);
  });

  it('takes a listener away from its service', async () => {
    const { code, out } = await ask(['delete', 'listener', 'my-service', 'local-listener', '--yes']);
    expect([code, out]).toEqual([0, 'Done: delete listener my-service local-listener on eu-1.\n']);
    const { listeners } = running.admin.snapshot.services.find('my service') ?? {};
    expect(listeners?.map(({ name }) => name)).not.toContain('Local Listener');
  });

  it.each([
    ['listener', 'my-service', 'local-listener'],
    ['service', 'spare-service'],
    ['monitor', 'idle-monitor'],
  ])('takes no --detach for a %s, which no list names', async (kind, ...names) => {
    const { code, err } = await ask(['delete', kind, ...names, '--detach', '--yes']);
    expect([code, err]).toEqual([2, expect.stringContaining(`No list names a ${kind}: leave out --detach.`)]);
    expect(running.gateway.calls).toEqual([]);
  });

  it('shows the whole plan with --dry-run', async () => {
    const { out } = await ask(['delete', 'filter', 'hint', '--detach', '--dry-run']);
    expect(out).toContain('  /services/My-Service  - /filters/1 (was "/filters/Hint")\n');
    expect(out).toContain('gateway: service.update /services/My-Service\n');
    expect(out).toContain('gateway: filter.delete /filters/Hint\n');
    expect(running.gateway.calls).toEqual([]);
  });

  // Promise: membership-in-use
  it('names each use of a resource in use, and deletes nothing', async () => {
    const { code, err } = await ask(['delete', 'server', 'db-serv-1', '--yes']);
    expect(code).toBe(1);
    for (const use of [
      'Refused: delete server db-serv-1. The resource is in use. Nothing was changed. (resource-in-use) ' +
        'End each use that is named. With --detach, delete takes the resource out of all lists.\n',
      '/servers/db-serv-1/connections: has open connections (2): close them first',
      '/services/My Service/servers/0: is listed by the service "My Service"',
      '/monitors/Main Monitor/servers/0: is listed by the monitor "Main Monitor"',
    ])
      expect(err).toContain(use);
    expect(running.gateway.calls).toEqual([]);
  });

  it('advises --detach only where a list names the resource', async () => {
    const { code, err } = await ask(['delete', 'service', 'bare-service', '--yes']);
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(/\(resource-in-use\) End each use that is named\.\n$/),
    ]);
  });

  it('deletes nothing else than what its plan has shown', async () => {
    const args = ['delete', 'filter', 'spare', '--detach', '--yes'];
    const meanwhile = await ask([...args, '--dry-run', '--json']);
    expect(JSON.parse(meanwhile.out)).toMatchObject({ effects: [{ type: 'filter.delete' }] });
    // The filter is listed between the plan and the command.
    let count = 0;
    const { admin } = running;
    url = await serve({
      ...admin,
      handle: async (request) => {
        count += request.method === 'DELETE' ? 1 : 0;
        if (request.method === 'DELETE' && count === 2)
          await admin.handle({
            method: 'PATCH',
            target: '/services/Bare-Service',
            headers: { 'content-type': 'application/json-patch+json' },
            body: JSON.stringify([{ op: 'add', path: '/filters/-', value: '/filters/Spare' }]),
          });
        return admin.handle(request);
      },
    });
    const { code, err } = await ask(args);
    expect([code, err]).toEqual([6, expect.stringContaining('The plan has changed:')]);
    expect(err).toContain('gateway: service.update /services/Bare-Service');
    expect(admin.snapshot.filters.find('spare')).toBeDefined();
  });
});
