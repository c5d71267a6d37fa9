import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterEach, describe, expect, it } from '@jest/globals';
import { type Admin, type AdminRequest, createSnapshot, type May, routes } from 'gateway-admin-core';
import {
  type ActId,
  acts,
  changedParts,
  type Client,
  closeEach,
  createClient,
  nameToType,
  type Send,
  sendTo,
  sendWithFetch,
  subjectOfSearch,
  withEtags,
} from 'gateway-admin-core/client';
import { createNodeHandler } from 'gateway-admin-core/node';

import { runAdmin } from '../support/running-admin.ts';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const odd = 'Sales & Co/EU 100%';
const snapshot = createSnapshot({
  services: [
    { name: odd, router: 'readconnroute' },
    { name: 'Backup', router: 'readwritesplit' },
  ],
  servers: [{ name: 'one', address: '192.0.2.1', port: 5432, protocol: 'pg' }],
});

function run(): Admin {
  const { admin } = runAdmin({ snapshot });
  const connected = Date.parse('2016-09-09T11:12:37Z');
  const session = {
    state: 'ready',
    user: 'ada',
    address: '192.0.2.7',
    service: 'Backup',
    connected,
  } as const;
  admin.report([1, 2, 3].map((id) => ({ type: 'session.opened', id, ...session })));
  closing.push(() => admin.close());
  return admin;
}

async function serve(admin: Admin): Promise<string> {
  const server = createServer(createNodeHandler(admin, { basePath: '/admin' })).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  closing.push(() => new Promise((resolve) => server.close(resolve).closeAllConnections()));
  return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/admin`;
}

/** The ways to reach an interface. */
const ways = {
  'in process': (admin: Admin): Promise<Send> => Promise.resolve(sendTo(admin)),
  'over fetch': async (admin: Admin): Promise<Send> => sendWithFetch(`${await serve(admin)}/`),
} as const;

describe.each(['in process', 'over fetch'] as const)('createClient, %s', (way) => {
  const open = async (admin = run()): Promise<Client> => createClient(await ways[way](admin));

  it('reads a resource, whole or in part, with its entity tag', async () => {
    const client = await open();
    const whole = await client.services.get(odd);
    const part = await client.services.get(odd, { fields: ['name', 'state'] });
    expect(whole).toMatchObject({ ok: true, value: { name: odd, router: 'readconnroute' } });
    expect(whole).toHaveProperty('etag', expect.stringMatching(/^"/));
    expect(part).toHaveProperty('value', { name: odd, state: 'started' });
  });

  it('reads a list with its total, and a range of it', async () => {
    const client = await open();
    const range = await client.sessions.list({ range: [1, 1], fields: ['id'], service: 'backup' });
    expect(range).toHaveProperty('value', { elements: [{ id: 2 }], total: 3 });
    const next = await client.sessions.list({ after: 2, range: [0, 0], fields: ['id'], service: 'backup' });
    expect(next).toHaveProperty('value', { elements: [{ id: 3 }], total: 3 });
    expect(await client.services.sessions('Backup')).toHaveProperty('value', {
      elements: ['/sessions/1', '/sessions/2', '/sessions/3'],
      total: 3,
    });
  });

  it('reads what the caller may do with a resource', async () => {
    const client = createClient(await ways[way](run()));
    await client.services.stop('Backup');
    const answer = await client.services.get('Backup', { may: true });
    const { name, may } = (answer.ok && answer.value) as {
      readonly name: string;
      readonly may: readonly May[];
    };
    const of = (id: string): May | undefined => may.find((row) => row.id === id);
    expect([name, of('services.start')]).toEqual(['Backup', { id: 'services.start', allowed: true }]);
    const deletion = await client.services.delete('Backup');
    expect(of('services.delete')).toEqual({
      id: 'services.delete',
      allowed: false,
      code: 'resource-in-use',
      detail: !deletion.ok && deletion.problem.detail,
    });
  });

  it('sends a command, and plans it without sending it', async () => {
    const admin = run();
    const client = await open(admin);
    const plan = await client.services.closeSessions.plan('Backup');
    expect(plan).toMatchObject({ ok: true, value: { outcome: 'accepted', closes: { sessions: 3 } } });
    expect(admin.snapshot.sessions.size).toBe(3);
    expect(await client.services.closeSessions('Backup')).toMatchObject({ ok: true, value: undefined });
    expect(admin.snapshot.sessions.size).toBe(0);
  });

  it('closes a session by the tag of its row, and no later session with its id', async () => {
    const admin = run();
    const client = await open(admin);
    const rows = await client.sessions.list({ fields: ['id', 'etag'] });
    if (!rows.ok) throw new Error(rows.problem.detail);
    const [first, second] = rows.value.elements.map(({ etag }) =>
      etag === undefined ? {} : { ifMatch: etag },
    );
    const connected = Date.parse('2016-09-09T11:12:38Z');
    const later = { id: 1, state: 'ready', user: 'eve', address: '::1', service: 'Backup', connected };
    admin.report({ type: 'session.opened', ...later });
    expect(await client.sessions.close(1, first)).toMatchObject({ problem: { code: 'precondition-failed' } });
    expect(await client.sessions.close(2, second)).toMatchObject({ ok: true });
    expect(Array.from(admin.snapshot.sessions, (each) => each.id)).toEqual([1, 3]);
  });

  it('closes the sessions that meet criteria', async () => {
    const admin = run();
    const client = await open(admin);
    const plan = await client.sessions.closeMany.plan({ service: 'backup', older_than: 0.5 });
    if (!plan.ok) throw new Error(plan.problem.detail);
    const { mark } = plan.value;
    const options = { service: 'backup', older_than: 0.5, mark, prefer: 'representation' } as const;
    expect(await client.sessions.closeMany(options)).toMatchObject({ value: { closed: { sessions: 3 } } });
  });

  it('sends a patch, and gives the resource after it', async () => {
    const client = await open();
    const answer = await client.services.patch(odd, [{ op: 'add', path: '/max_connection', value: 5 }]);
    expect(answer).toMatchObject({ ok: true, value: { name: odd, max_connection: 5 } });
  });

  it('creates a resource with the mark of its plan, and deletes it', async () => {
    const admin = run();
    const client = await open(admin);
    const server = { name: 'db 3', address: '192.0.2.3', port: 5432, protocol: 'pg' };
    const plan = await client.servers.create.plan(server);
    const mark = plan.ok && 'mark' in plan.value ? plan.value.mark : '';
    expect(admin.snapshot.servers.size).toBe(1);
    const created = await client.servers.create(server, { mark });
    expect(created).toMatchObject({ ok: true, value: { name: 'db 3', status: [] } });
    expect(created).toHaveProperty('etag', expect.stringMatching(/^"/));
    expect(await client.servers.create({ ...server, port: 1 })).toMatchObject({
      problem: { code: 'resource-exists' },
    });
    const list = [{ op: 'add', path: '/servers', value: ['/servers/db-3'] }] as const;
    await client.services.patch('Backup', list);
    expect(await client.servers.delete('db 3')).toMatchObject({ problem: { code: 'resource-in-use' } });
    expect(await client.servers.delete('db 3', { detach: true, prefer: 'representation' })).toMatchObject({
      ok: true,
      value: { outcome: 'accepted', closed: { sessions: 0 } },
    });
    expect(admin.snapshot.services.find('backup')?.settings.servers).toEqual([]);
  });

  it('creates, reads and deletes a listener by the names of its service and its own', async () => {
    const admin = run();
    const client = await open(admin);
    const listener = { name: 'second one', protocol: 'pg', address: '::1', port: 4010 };
    expect(await client.services.createListener(odd, listener)).toMatchObject({
      ok: true,
      value: listener,
    });
    expect(await client.services.listener(odd, 'Second One', { fields: ['port'] })).toMatchObject({
      value: { port: 4010 },
    });
    expect(await client.services.deleteListener(odd, 'second one')).toMatchObject({ ok: true });
    expect(await client.services.listener(odd, 'second one')).toMatchObject({
      problem: { code: 'listener-not-found' },
    });
  });

  it('sends a sequence with the mark of its plan', async () => {
    const admin = run();
    const client = await open(admin);
    const sequence = {
      commands: [
        { method: 'PUT', path: '/services/Backup/stop' },
        { method: 'DELETE', path: '/services/Backup/sessions' },
      ],
    } as const;
    const plan = await client.sequence.send.plan(sequence);
    expect(plan).toMatchObject({ ok: true, value: { outcome: 'accepted', closes: { sessions: 3 } } });
    const mark = plan.ok && 'mark' in plan.value ? plan.value.mark : '';
    expect(await client.sequence.send(sequence, { mark, prefer: 'representation' })).toMatchObject({
      ok: true,
      value: { outcome: 'accepted', closed: { sessions: 3, connections: 0 } },
    });
    expect([admin.snapshot.sessions.size, admin.snapshot.services.find('backup')?.state]).toEqual([
      0,
      'stopped',
    ]);
  });

  it('sends a command whose plan has no mark as one without a mark', async () => {
    const admin = run();
    const client = await open(admin);
    const withoutMark: object = { mark: undefined };
    expect(await client.services.stop('Backup', withoutMark)).toMatchObject({ ok: true });
    expect(admin.snapshot.services.find('backup')?.state).toBe('stopped');
  });

  it('gives a refusal as a value, with its problem', async () => {
    const client = await open();
    expect(await client.sessions.close(99)).toMatchObject({
      ok: false,
      problem: { code: 'session-not-found', status: 404 },
    });
    const outdated = await client.services.stop('Backup', { ifMatch: '"other"' });
    expect(outdated).toMatchObject({ ok: false, problem: { code: 'precondition-failed' } });
  });
});

describe('createClient', () => {
  it('has a method for each route, and a plan for each command', () => {
    const client = createClient(() => Promise.reject(new Error('nothing is sent'))) as unknown as Record<
      string,
      Record<string, { readonly plan?: unknown }>
    >;
    for (const { id, kind } of routes) {
      // `client.events` follows the stream.
      if (kind === 'stream') continue;
      const [group = '', name = ''] = id.split('.');
      const method = client[group]?.[name];
      const plan = kind === 'command' ? 'function' : 'undefined';
      expect([id, typeof method, typeof method?.plan]).toEqual([id, 'function', plan]);
    }
  });

  it('says when a refused request may be sent again', async () => {
    const overloaded: Send = () =>
      Promise.resolve({
        status: 503,
        headers: { 'content-type': 'application/problem+json', 'retry-after': '2' },
        body: JSON.stringify({ code: 'overloaded' }),
      });
    expect(await createClient(overloaded).services.stop('Backup')).toMatchObject({
      ok: false,
      retryAfterMs: 2000,
    });
  });

  it('says that an interface in the same process is of another version', async () => {
    const send = sendTo(run());
    await expect(send({ method: 'GET', target: '/later', headers: {} })).rejects.toThrow(
      'The interface has no /later: it is of another version',
    );
  });

  it('refuses an empty name, which would lead to the list', async () => {
    const client = createClient(sendTo(run()));
    await expect(client.services.get('')).rejects.toThrow(RangeError);
  });

  it('rejects if something other than the interface answers', async () => {
    const proxy: Send = () =>
      Promise.resolve({
        status: 502,
        headers: { 'content-type': 'text/html' },
        body: '<h1>Bad gateway</h1>',
      });
    await expect(createClient(proxy).services.list()).rejects.toThrow('status 502, <h1>Bad gateway</h1>');
  });

  it('rejects with the address if nobody answers', async () => {
    const base = await serve(run());
    await closing.pop()?.();
    const list = createClient(sendWithFetch(base)).services.list({ range: [0, 9] });
    await expect(list).rejects.toThrow(`No answer of the interface from ${base}/services: ECONNREFUSED`);
  });
});

describe('sendWithFetch', () => {
  /** The address of a server that answers as `answer` does. */
  async function addressOf(answer: RequestListener): Promise<string> {
    const server = createServer(answer).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    closing.push(() => new Promise((resolve) => server.close(resolve).closeAllConnections()));
    return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  }

  it('sends its headers with each request', async () => {
    const seen: string[] = [];
    const base = await addressOf((request, response) => {
      seen.push(`${String(request.headers.authorization)} ${String(request.headers['content-type'])}`);
      response.writeHead(204).end();
    });
    const client = createClient(sendWithFetch(base, { headers: { authorization: 'Bearer x' } }));
    await client.services.stop('Sales');
    await client.users.create({ name: 'ada', password: 'engine' });
    expect(seen).toEqual(['Bearer x undefined', 'Bearer x application/json']);
  });

  // Promise: client-origin
  it.each([301, 303, 307, 308])('takes nothing to another address if the answer is %i', async (status) => {
    let asked = 0;
    const other = await addressOf((_request, response) => void response.end(String((asked += 1))));
    const base = await addressOf((_request, response) => {
      response.writeHead(status, { location: other }).end();
    });
    const client = createClient(sendWithFetch(base));
    await expect(client.users.create({ name: 'ada', password: 'engine' })).rejects.toThrow(
      'unexpected redirect',
    );
    await expect(client.services.list()).rejects.toThrow('unexpected redirect');
    expect(asked).toBe(0);
  });

  it.each([
    ['a page of HTML', 'text/html', '<h1>Log in</h1>'],
    ['no JSON', 'application/json', 'moved'],
    ['nothing', 'application/json', ''],
  ])('rejects with the address if a proxy answers 200 with %s', async (_what, type, body) => {
    const base = await addressOf((_request, response) => {
      response.writeHead(200, { 'content-type': type }).end(body);
    });
    const client = createClient(sendWithFetch(`${base}/admin`));
    const message = `No answer of the interface from ${base}/admin/services: status 200, ${body}`;
    await expect(client.services.list()).rejects.toThrow(message);
  });

  it('rejects with the reason of the signal alone', async () => {
    const client = createClient(sendWithFetch(await addressOf(() => undefined)));
    const control = new AbortController();
    const list = client.services.list({ signal: control.signal });
    control.abort(new Error('left'));
    await expect(list).rejects.toThrow(/^left$/);
  });

  it.each(['.', '..'])('refuses the name %j, which a URL would resolve', async (name) => {
    const client = createClient(sendWithFetch(await serve(run())));
    await expect(client.services.stop(name)).rejects.toThrow(RangeError);
  });

  it('ends a request with its signal', async () => {
    const client = createClient(sendWithFetch(await serve(run())));
    await expect(client.services.list({ signal: AbortSignal.abort() })).rejects.toThrow('aborted');
  });
});

describe('withEtags', () => {
  /** A client that keeps tags, and the requests that it sends. */
  function keeping(admin: Admin): { readonly client: Client; readonly sent: readonly AdminRequest[] } {
    const sent: AdminRequest[] = [];
    const send = sendTo(admin);
    const client = createClient(
      withEtags((request) => {
        sent.push(request);
        return send(request);
      }),
    );
    return { client, sent };
  }

  it('refuses a command on a resource that somebody else has changed since it was read', async () => {
    const admin = run();
    const { client } = keeping(admin);
    await client.services.get('Backup');
    await createClient(sendTo(admin)).services.patch('Backup', [{ op: 'add', path: '/user', value: 'app' }]);
    expect(await client.services.stop('Backup')).toMatchObject({ problem: { code: 'precondition-failed' } });
    await client.services.get('Backup');
    expect(await client.services.stop('Backup')).toMatchObject({ ok: true });
  });

  it('remembers no tags of sessions, and keeps one that a command has itself', async () => {
    const { client, sent } = keeping(run());
    const read = await client.sessions.get(1);
    expect(read).toHaveProperty('etag', expect.stringMatching(/^"1\.\d+"$/));
    await client.sessions.close(1);
    await client.sessions.close(2, { ifMatch: '"2.0"' });
    expect(sent.map(({ headers }) => headers['if-match'])).toEqual([undefined, undefined, '"2.0"']);
  });

  it('takes the tag from the answer of each command', async () => {
    const { client, sent } = keeping(run());
    await client.services.get('Backup');
    for (const answer of [
      await client.services.patch('Backup', [{ op: 'add', path: '/user', value: 'app' }]),
      await client.services.stop('Backup'),
      await client.services.closeSessions('Backup'),
      await client.services.start('Backup'),
    ])
      expect(answer).toHaveProperty('ok', true);
    expect(sent.map(({ headers }) => typeof headers['if-match'])).toEqual([
      'undefined',
      'string',
      'string',
      'string',
      'string',
    ]);
  });

  it('refuses a patch after a stop of its own if somebody else has patched in between', async () => {
    const admin = run();
    const { client } = keeping(admin);
    const user = (value: string) => [{ op: 'add', path: '/user', value }] as const;
    await client.services.get('Backup');
    await client.services.stop('Backup');
    await createClient(sendTo(admin)).services.patch('Backup', user('other'));
    expect(await client.services.patch('Backup', user('mine'))).toMatchObject({
      problem: { code: 'precondition-failed' },
    });
  });

  it.each([
    [
      'users, which have one tag together',
      async (client: Client) => [
        await client.users.create({ name: 'joan', password: 'arc' }),
        await client.users.create({ name: 'ada', password: 'engine' }),
        await client.users.delete('joan'),
        await client.users.create({ name: 'bob', password: 'builder' }),
        await client.users.list(),
        await client.users.delete('ada'),
      ],
      ['undefined', 'string', 'string', 'string', 'undefined', 'string'],
    ],
    [
      'the logs',
      async (client: Client) => [
        await client.gateway.logs(),
        await client.gateway.flushLogs(),
        await client.gateway.flushLogs(),
      ],
      ['undefined', 'string', 'string'],
    ],
  ])('keeps the tag of %s', async (_what, call, tags) => {
    const { client, sent } = keeping(run());
    for (const answer of await call(client)) expect(answer).toHaveProperty('ok', true);
    expect(sent.map(({ headers }) => typeof headers['if-match'])).toEqual(tags);
  });

  it('keeps the tag of a new resource, and none of a deleted one or of a list', async () => {
    const { client, sent } = keeping(run());
    const server = { name: 'db-3', address: '192.0.2.3', port: 5432, protocol: 'pg' };
    const port = [{ op: 'replace', path: '/port', value: 1 }] as const;
    for (const answer of [
      await client.servers.list(),
      await client.servers.create(server),
      await client.servers.create(server),
      await client.servers.patch('db-3', port),
      await client.servers.delete('db-3', { detach: true }),
      await client.servers.create({ ...server, name: 'db-4' }),
      await client.servers.create(server),
      await client.servers.delete('db-3'),
    ])
      expect(answer).toHaveProperty('ok', true);
    expect(sent.map(({ headers }) => typeof headers['if-match'])).toEqual([
      'undefined',
      'undefined',
      'undefined',
      'string',
      'string',
      'undefined',
      'undefined',
      'string',
    ]);
  });

  it('keeps the tag of the whole resource alone, and no tag of a dry run', async () => {
    const { client, sent } = keeping(run());
    await client.services.get('Backup', { fields: ['name'] });
    await client.services.stop.plan('Backup');
    await client.services.stop('Backup', { ifMatch: '*' });
    expect(sent.map(({ headers }) => headers['if-match'])).toEqual([undefined, undefined, '*']);
  });

  it.each([
    ['a stop', (client: Client) => client.services.stop.plan('Backup')],
    [
      'a patch',
      (client: Client) => client.services.patch.plan('Backup', [{ op: 'add', path: '/user', value: 'app' }]),
    ],
  ])(
    'keeps the tag through a dry run of %s: the command after it overwrites nothing',
    async (_what, plan) => {
      const admin = run();
      const { client, sent } = keeping(admin);
      await client.services.get('Backup');
      expect(await plan(client)).toMatchObject({ ok: true, value: { outcome: 'accepted' } });
      await createClient(sendTo(admin)).services.patch('Backup', [
        { op: 'add', path: '/user', value: 'other' },
      ]);
      expect(await client.services.stop('Backup')).toMatchObject({
        problem: { code: 'precondition-failed' },
      });
      expect(sent.map(({ headers }) => typeof headers['if-match'])).toEqual([
        'undefined',
        'string',
        'string',
      ]);
    },
  );
});

describe('closeEach', () => {
  const etagOf = async (client: Client, id: number): Promise<string> => {
    const answer = await client.sessions.get(id);
    return answer.ok ? (answer.etag ?? '') : '';
  };

  it('leaves out a chosen session that has ended, and closes no later one with its id', async () => {
    const admin = run();
    const client = createClient(sendTo(admin));
    const chosen = await Promise.all([1, 2].map(async (id) => ({ id, etag: await etagOf(client, id) })));
    admin.report({ type: 'session.closed', id: 1, connected: Date.parse('2016-09-09T11:12:37Z') });
    const close = closeEach(client, chosen);
    const plan = await close.plan();
    expect(plan).toMatchObject({ value: { outcome: 'accepted', closes: { sessions: 1 } } });
    // Somebody else gets the id.
    const connected = Date.parse('2016-09-09T12:00:00Z');
    admin.report({
      ...{ type: 'session.opened', id: 1, state: 'ready', user: 'eve', address: '192.0.2.8' },
      ...{ service: 'Backup', connected },
    });
    const mark = plan.ok ? plan.value.mark : '';
    expect(await close({ mark })).toMatchObject({ value: { closed: { sessions: 1 } } });
    expect([...admin.snapshot.sessions].map(({ id }) => id)).toEqual([1, 3]);
  });

  it('is refused if all chosen sessions have ended, or if one that was typed does not exist', async () => {
    const admin = run();
    const client = createClient(sendTo(admin));
    const ended = [{ id: 1, etag: await etagOf(client, 1) }];
    admin.report({ type: 'session.closed', id: 1, connected: Date.parse('2016-09-09T11:12:37Z') });
    for (const chosen of [ended, [{ id: 2 }, { id: 77 }]])
      expect(JSON.stringify(await closeEach(client, chosen).plan())).toContain('session-not-found');
  });
});

describe('the parts of an update', () => {
  it.each<[string, object, object, readonly string[], readonly string[]]>([
    ['a value', { port: 1 }, { port: 2 }, ['replace /port'], ['replace /port 1 2']],
    [
      'a name with signs',
      { parameters: {} },
      { parameters: { 'a/b~': 0 } },
      ['add /parameters/a~1b~0'],
      ['add /parameters/a~1b~0  0'],
    ],
    [
      'secrets',
      {},
      {},
      ['add /password', 'remove /parameters/toString'],
      ['add /password', 'remove /parameters/toString'],
    ],
    [
      'what was declared secret since',
      { parameters: { token: null } },
      { parameters: {} },
      ['remove /parameters/token'],
      ['remove /parameters/token'],
    ],
    [
      'links',
      { servers: ['/servers/a', '/servers/b'] },
      { servers: ['/servers/c', '/servers/b'] },
      ['replace /servers/0'],
      ['remove /servers/a first', 'add /servers/c  first'],
    ],
    [
      'links in the history',
      { servers: { '/servers/a': '' } },
      { servers: { '/servers/b': '/servers/c' } },
      ['replace /servers/0'],
      ['remove /servers/a first', 'add /servers/b  after /servers/c'],
    ],
    [
      'links that change places',
      { filters: ['/filters/a', '/filters/b', '/filters/c'] },
      { filters: ['/filters/c', '/filters/b', '/filters/a'] },
      ['replace /filters'],
      ['replace /filters/a first after /filters/b', 'replace /filters/c after /filters/b first'],
    ],
    [
      'words',
      { status: ['running'] },
      { status: ['maintenance', 'running'] },
      ['add /state/0'],
      ['add /status/maintenance  first'],
    ],
    [
      'words that change places',
      { status: ['running', 'master'] },
      { status: ['master', 'running'] },
      ['add /state/0', 'remove /state/2'],
      ['replace /status/running first after master', 'replace /status/master after running first'],
    ],
  ])('say what has changed of %s', (_what, from, to, operations, told) => {
    const patch = operations.map((operation) => {
      const [op, path] = operation.split(' ');
      return { op, path };
    });
    const parts = changedParts({ from, to, operations: patch }, JSON.stringify);
    expect(
      parts.map((part) => [part.op, part.path, part.from ?? '', part.to ?? ''].join(' ').trimEnd()),
    ).toEqual(told);
  });

  it('are none of an event that is no update', () => {
    expect(
      changedParts({ type: 'service.created', to: { servers: ['/servers/a'] } }, JSON.stringify),
    ).toEqual([]);
  });
});

const ids = Object.keys(acts) as ActId[];

describe('the table of acts', () => {
  it('has a row for each endpoint that makes a change, and one for the read-only mode', () => {
    const commands = routes.flatMap(({ id, kind }) => (kind === 'command' ? [id] : []));
    expect(ids.toSorted()).toEqual([...commands, 'interface.hold'].toSorted());
  });

  it.each(ids)('wants a name typed before %s: for what goes away that of the subject', (id) => {
    const isFree = ['interface.hold', 'services.resume', 'servers.resume'].includes(id);
    const isOfSubject = /\.(?:close|delete|stop|drain|forget)/.test(id);
    expect(acts[id].typed).toBe(isFree ? 'nothing' : isOfSubject ? 'subject' : 'gateway');
    const place = { subject: 'Sales', gateway: 'eu-1', environment: 'production' };
    expect(nameToType(id, place)).toBe(isFree ? undefined : isOfSubject ? 'Sales' : 'eu-1');
    expect(nameToType(id, { ...place, subject: undefined })).toBe(isFree ? undefined : 'eu-1');
    for (const environment of ['staging', 'Production', undefined])
      expect(nameToType(id, { ...place, environment })).toBeUndefined();
  });

  it('names what a search for sessions is about: first the service', () => {
    const search = { service: 'Sales', server: 'db-1', user: 'app', address: '::1', idle_over: 9 };
    const { service, ...fromServer } = search;
    const { server, ...fromUser } = fromServer;
    const { user, ...fromAddress } = fromUser;
    const { address, ...rest } = fromAddress;
    expect([search, fromServer, fromUser, fromAddress, rest].map(subjectOfSearch)).toEqual([
      ...[service, server, user, address],
      undefined,
    ]);
  });
});
