import { describe, expect, it } from '@jest/globals';
import {
  StoreLostError,
  createBasicAuthentication,
  createMemoryStore,
  createPbkdf2Hasher,
  createRoles,
  createSnapshot,
  deleteUser,
  routes,
  stopService,
  type AdminOptions,
  type AdminRequest,
  type InterfaceRepresentation,
  type Transition,
} from 'gateway-admin-core';
import { hold } from 'gateway-admin-core/testing';

import { readAudit } from '../../support/audit-reader.ts';
import { FailingStore } from '../../support/failing-store.ts';
import { sampleZone } from '../../support/document.ts';
import { read } from '../../support/project.ts';
import { openRunning, runAdmin, sampleGateway, type Running } from '../../support/running-admin.ts';
import { silentHost } from '../../support/silent-host.ts';

const stop: Transition = (snapshot, context) => stopService(snapshot, 'My Service', context);
const hasher = createPbkdf2Hasher({ rounds: 1 });
const patchType = { 'content-type': 'application/json-patch+json' };

/** An answer with its body as JSON. */
interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

async function send(
  { admin }: Pick<Running, 'admin'>,
  method: string,
  target: string,
  more: Partial<AdminRequest> = {},
): Promise<Answer> {
  const handled = await admin.handle({ method, target, headers: {}, ...more });
  if (!handled.matched) throw new Error(`Nothing at ${target}`);
  const { status, headers, body } = handled.response;
  return { status, headers, body: typeof body === 'string' ? JSON.parse(body) : undefined };
}

async function shown(running: Pick<Running, 'admin'>): Promise<InterfaceRepresentation> {
  const { status, body } = await send(running, 'GET', '/');
  expect(status).toBe(200);
  return body as InterfaceRepresentation;
}

function patch(running: Running, operations: unknown, more: Partial<AdminRequest> = {}): Promise<Answer> {
  const headers = { ...patchType, ...more.headers };
  return send(running, 'PATCH', '/', { body: JSON.stringify(operations), ...more, headers });
}

const replace = (value: unknown): unknown => [{ op: 'replace', path: '/read_only', value }];

/** The status of an answer with the code of its problem. */
function codeOf({ status, body }: Answer): string {
  return `${String(status)} ${(body as { readonly code?: string } | undefined)?.code ?? ''}`;
}

/** An interface whose users are ada and grace. */
async function guarded({ access, ...options }: Partial<AdminOptions> = {}): Promise<Running> {
  const users = await Promise.all(
    ['ada', 'grace'].map(async (name) => ({ name, passwordHash: await hasher.hash('pw') })),
  );
  const authenticate = createBasicAuthentication();
  return runAdmin({
    snapshot: createSnapshot({ users }),
    hasher,
    access: { authenticate, ...access },
    ...(options as object),
  });
}

const as = (name: string, password = 'pw'): { headers: { authorization: string } } => ({
  headers: { authorization: `Basic ${btoa(`${name}:${password}`)}` },
});

describe('GET /', () => {
  it('shows an interface without a store', async () => {
    const { links, version, ...state } = await shown(runAdmin());
    const mode = { ready: true, read_only: false, unknown_outcomes: 0 };
    expect(state).toEqual({ ...mode, time_zone: sampleZone });
    const { time_zone: zone } = await shown(runAdmin({ timeZone: '+03:00' }));
    expect(zone).toBe('+03:00');
    expect(version).toBe((JSON.parse(read('package.json')) as { version: string }).version);
    expect(links['services']).toBe('/services');
  });

  it('has a link to everything that is read without a name', async () => {
    const running = runAdmin();
    const { links } = await shown(running);
    const readable = routes.filter(({ method, path }) => method === 'GET' && !/:|^\/$|^\/ready$/.test(path));
    expect(Object.values(links)).toEqual(readable.map(({ path }) => path));
    for (const link of Object.values(links))
      expect([link, (await send(running, 'GET', link)).status]).toEqual([link, 200]);
  });

  it('is not ready once the interface is closed', async () => {
    const running = runAdmin();
    await running.admin.close();
    expect((await shown(running)).ready).toBe(false);
  });

  // Promise: health
  it('counts the commands of unknown outcome, and is ready all the same', async () => {
    const held = hold();
    const pending = runAdmin({ gateway: sampleGateway().will(held.apply) });
    const execution = pending.admin.execute(stop);
    await held.begun;
    expect((await shown(pending)).unknown_outcomes).toBe(0);
    held.done();
    await execution;
    const unknown = await silentHost(stop, 'not-in-place', 'not-in-place');
    await unknown.execution;
    expect(await shown(unknown)).toMatchObject({ ready: true, unknown_outcomes: 1 });
  });

  // Promise: health
  it('shows whether the store answers', async () => {
    const store = new FailingStore();
    const running = await openRunning(store);
    expect(await shown(running)).toMatchObject({ ready: true, store: 'ok' });
    store.fail();
    await running.admin.execute(stop);
    expect(await shown(running)).toMatchObject({ ready: false, store: 'retrying' });
    store.work();
    await running.clock.advance(60_000);
    expect(await shown(running)).toMatchObject({ ready: true, store: 'ok' });
    store.failWith(new StoreLostError('The directory was removed.'));
    await running.admin.execute(stop);
    expect(await shown(running)).toMatchObject({ ready: false, store: 'lost' });
  });

  it('has no entity tag, because the health changes by itself', async () => {
    expect((await send(runAdmin(), 'GET', '/')).headers).not.toHaveProperty('etag');
  });
});

describe('GET / without a log-in', () => {
  // Promise: ready-alone
  it.each([
    ['no header', {}],
    ['a caller whom the host has not found', { principal: null }],
  ])('shows whether the interface is ready, and nothing else: %s', async (_what, request) => {
    const running = await guarded();
    const target = '/';
    expect(await send(running, 'GET', target, request)).toMatchObject({ status: 200, body: { ready: true } });
    const { body } = await send(running, 'GET', target, request);
    expect(Object.keys(body as object)).toEqual(['ready']);
    expect(await send(running, 'HEAD', target, request)).toMatchObject({ status: 200, body: undefined });
    await running.admin.close();
    expect((await send(running, 'GET', target, request)).body).toEqual({ ready: false });
  });

  // Promise: ready-alone
  it('tells nobody why the store fails, and no other endpoint does', async () => {
    const store = new FailingStore();
    const passwordHash = await hasher.hash('pw');
    const services = [{ name: 'My Service', router: 'readconnroute' }];
    const snapshot = createSnapshot({ services, users: [{ name: 'ada', passwordHash }] });
    const access = { authenticate: createBasicAuthentication() };
    const running = await openRunning(store, { snapshot, hasher, access });
    store.failWith(new Error('the disk of db-1.internal is full'));
    await running.admin.execute(stop);
    for (const { method, path } of routes) {
      const answer = await send(running, method, path.replaceAll(/:\w+/g, '1'));
      expect(JSON.stringify(answer)).not.toContain('db-1.internal');
    }
    expect((await send(running, 'GET', '/alerts', as('ada'))).body).toMatchObject([
      { detail: expect.stringContaining('the disk of db-1.internal is full') },
    ]);
  });

  it.each([
    ['ready', { ready: true }],
    ['ready,version,links', { ready: true }],
    ['version', {}],
  ])('shows of the fields %s no other one', async (fields, body) => {
    expect((await send(await guarded(), 'GET', `/?fields=${fields}`)).body).toEqual(body);
  });

  it('checks the query', async () => {
    const running = await guarded();
    expect(codeOf(await send(running, 'GET', '/?fields=nothing'))).toBe('400 fields-invalid');
    expect(codeOf(await send(running, 'GET', '/?range=0-1'))).toBe('400 query-invalid');
  });

  it('tells a caller with wrong credentials that they are wrong', async () => {
    const running = await guarded();
    expect(codeOf(await send(running, 'GET', '/', as('ada', 'wrong')))).toBe('401 unauthenticated');
    const foreign = { ...as('ada', 'wrong'), principal: null };
    expect(codeOf(await send(running, 'GET', '/', foreign))).toBe('401 unauthenticated');
  });

  it('shows everything to a caller who has logged in', async () => {
    const running = await guarded();
    const answers = [
      await send(running, 'GET', '/', as('ada')),
      await send(running, 'GET', '/', { principal: { name: 'x' } }),
    ];
    for (const { body } of answers) expect(body).toMatchObject({ ready: true, read_only: false });
  });

  it('refuses a caller who may not read', async () => {
    const running = await guarded({ access: { authorize: createRoles({ readers: ['ada'] }) } });
    expect(codeOf(await send(running, 'GET', '/', as('grace')))).toBe('403 forbidden');
    expect(codeOf(await send(running, 'GET', '/', { principal: { name: 'x' } }))).toBe('403 forbidden');
    expect((await send(running, 'GET', '/', as('ada'))).status).toBe(200);
  });

  it('keeps the rule about the name in Host while nobody has to log in', async () => {
    const headers = { host: 'rebound.example' };
    expect(codeOf(await send(runAdmin(), 'GET', '/', { headers }))).toBe('403 origin-refused');
    expect((await send(await guarded(), 'GET', '/', { headers })).body).toEqual({ ready: true });
  });

  it('shows nothing at another path', async () => {
    const running = await guarded();
    for (const target of ['/services', '/gateway', '/commands'])
      expect(codeOf(await send(running, 'GET', target))).toBe('401 unauthenticated');
    expect(codeOf(await send(running, 'PATCH', '/'))).toBe('401 unauthenticated');
  });
});

describe('GET /ready', () => {
  // Promise: ready
  it('answers 204 while the interface takes commands, and otherwise a 503 without figures', async () => {
    const store = new FailingStore();
    const running = await openRunning(store);
    const ready = await send(running, 'GET', '/ready');
    expect([ready.status, ready.body]).toEqual([204, undefined]);
    store.fail();
    await running.admin.execute(stop);
    const { status, headers, body } = await send(running, 'GET', '/ready');
    expect([status, headers['retry-after']]).toEqual([503, '1']);
    expect(body).toEqual({
      ...{ type: 'urn:problem-type:gateway-admin:not-ready', code: 'not-ready' },
      ...{ status: 503, title: 'The gateway is not ready', detail: expect.any(String) },
    });
    store.work();
    await running.clock.advance(60_000);
    expect((await send(running, 'GET', '/ready')).status).toBe(204);
    await running.admin.close();
    expect(codeOf(await send(running, 'GET', '/ready'))).toBe('503 not-ready');
  });

  // Promise: ready
  it('asks nobody for a log-in: without one, with wrong credentials, and without any role', async () => {
    const running = await guarded({ access: { authorize: () => false } });
    for (const request of [{}, as('ada', 'wrong'), { principal: null }, { principal: { name: 'x' } }])
      expect((await send(running, 'GET', '/ready', request)).status).toBe(204);
    expect((await send(running, 'HEAD', '/ready')).status).toBe(204);
    expect(codeOf(await send(running, 'DELETE', '/ready'))).toBe('405 method-not-allowed');
    expect(codeOf(await send(running, 'GET', '/ready?verbose=true'))).toBe('400 query-invalid');
  });

  it('keeps the rule about the name in Host while nobody has to log in', async () => {
    const headers = { host: 'rebound.example' };
    expect(codeOf(await send(runAdmin(), 'GET', '/ready', { headers }))).toBe('403 origin-refused');
    expect((await send(await guarded(), 'GET', '/ready', { headers })).status).toBe(204);
  });

  it('does not hash the password of a probe', async () => {
    let verified = 0;
    const counting = {
      ...hasher,
      verify: (...given: Parameters<typeof hasher.verify>) => ((verified += 1), hasher.verify(...given)),
    };
    const running = await guarded({ hasher: counting });
    await send(running, 'GET', '/ready', as('ada', 'wrong'));
    expect(verified).toBe(0);
    await send(running, 'GET', '/', as('ada', 'wrong'));
    expect(verified).toBe(1);
  });
});

describe('PATCH /', () => {
  // Promise: read-only-patch
  it('begins and ends the read-only mode, and admin.readOnly shows the mode', async () => {
    const running = runAdmin();
    const on = await patch(running, replace(true));
    expect([on.status, on.body]).toEqual([200, await shown(running)]);
    expect([running.admin.readOnly, (on.body as InterfaceRepresentation).read_only]).toEqual([true, true]);
    expect(codeOf(await send(running, 'PUT', '/service/My-Service/stop'))).toBe('403 read-only');
    expect((await patch(running, replace(false))).body).toMatchObject({ read_only: false });
    expect(running.admin.readOnly).toBe(false);
  });

  it('says who has begun the read-only mode', async () => {
    const running = await guarded();
    const ask = async (name: string, value: boolean): Promise<unknown> =>
      (
        await send(running, 'PATCH', '/', {
          headers: { ...as(name).headers, ...patchType },
          body: JSON.stringify(replace(value)),
        })
      ).body;
    expect(await ask('ada', true)).toMatchObject({ read_only: true, read_only_by: 'ada' });
    expect(await ask('grace', true)).toMatchObject({ read_only: true, read_only_by: 'ada' });
    expect(await ask('grace', false)).not.toHaveProperty('read_only_by');
    running.admin.readOnly = true;
    expect((await send(running, 'GET', '/', as('ada'))).body).not.toHaveProperty('read_only_by');
  });

  it('sees the mode that the program has set', async () => {
    const running = runAdmin();
    running.admin.readOnly = true;
    const test = [{ op: 'test', path: '/read_only', value: true }, ...(replace(false) as object[])];
    expect((await patch(running, test)).status).toBe(200);
    expect(codeOf(await patch(running, test))).toBe('409 patch-test-failed');
    expect(running.admin.readOnly).toBe(false);
  });

  it('changes nothing in a dry run, and says what would change', async () => {
    const running = runAdmin();
    const dryRun = (operations: unknown): Promise<Answer> =>
      send(running, 'PATCH', '/?dry_run=true', { headers: patchType, body: JSON.stringify(operations) });
    const nothing = {
      mark: expect.any(String),
      events: [],
      effects: [],
      closes: { sessions: 0, connections: 0 },
      stays: { sessions: 0 },
    };
    expect((await dryRun(replace(true))).body).toEqual({
      outcome: 'accepted',
      patch: replace(true),
      ...nothing,
    });
    expect((await dryRun(replace(false))).body).toEqual({ outcome: 'unchanged', ...nothing });
    expect(codeOf(await dryRun(replace(1)))).toBe('422 validation-failed');
    expect(running.admin.readOnly).toBe(false);
  });

  it.each([
    ['a field that is shown', [{ op: 'replace', path: '/ready', value: false }], '422 field-not-modifiable'],
    ['no field', [{ op: 'add', path: '/nothing', value: 1 }], '422 field-unknown'],
    ['the required field', [{ op: 'remove', path: '/read_only' }], '422 validation-failed'],
    ['a list of no operations', { op: 'remove' }, '400 patch-malformed'],
  ])('refuses a patch of %s', async (_what, operations, code) => {
    const running = runAdmin();
    expect(codeOf(await patch(running, operations))).toBe(code);
    expect(running.admin.readOnly).toBe(false);
  });

  it('needs a body of the right type', async () => {
    const headers = { 'content-type': 'text/plain' };
    const answer = await patch(runAdmin(), replace(true), { headers });
    expect([codeOf(answer), answer.headers['accept-patch']]).toEqual([
      '415 unsupported-media-type',
      'application/json-patch+json',
    ]);
    expect(codeOf(await patch(runAdmin(), [], { body: '' }))).toBe('400 body-missing');
  });

  it('has no entity tag, so only * matches', async () => {
    const running = runAdmin();
    const headers = { 'if-match': '"sample.1.1"' };
    expect(codeOf(await patch(running, replace(true), { headers }))).toBe('412 precondition-failed');
    expect((await patch(running, replace(true), { headers: { 'if-match': '*' } })).status).toBe(200);
  });

  it('is the right of an administrator', async () => {
    const running = await guarded({
      access: { authorize: createRoles({ administrators: ['ada'], operators: ['grace'] }) },
    });
    expect(codeOf(await patch(running, replace(true), as('grace')))).toBe('403 forbidden');
    expect(running.admin.readOnly).toBe(false);
    expect((await patch(running, replace(true), as('ada'))).status).toBe(200);
  });

  it('is refused to a web page of another origin', async () => {
    const headers = { origin: 'https://evil.example', host: 'localhost' };
    expect(codeOf(await patch(runAdmin(), replace(true), { headers }))).toBe('403 origin-refused');
  });

  it('is refused to a caller who is deleted while the body is on the way', async () => {
    const running = await guarded();
    const answer = await patch(running, undefined, {
      ...as('grace'),
      body: async () => {
        await running.admin.execute((snapshot, context) => deleteUser(snapshot, 'grace', context));
        return new TextEncoder().encode(JSON.stringify(replace(true)));
      },
    });
    expect(codeOf(answer)).toBe('401 unauthenticated');
    expect(answer.headers['www-authenticate']).toMatch(/^Basic /);
    expect(running.admin.readOnly).toBe(false);
  });

  // Promise: audit-read-only
  it('leaves an audit record with the new mode', async () => {
    const running = await guarded();
    const records = readAudit(running.admin);
    for (const value of [true, true, 1]) await patch(running, replace(value), as('ada'));
    await running.clock.settle();
    const route = { id: 'interface.patch', method: 'PATCH', path: '/' };
    const asked = [{ operations: [{ op: 'replace', path: '/read_only' }] }];
    expect(records).toMatchObject([
      { actor: 'ada', route, outcome: 'accepted', change: [{ operations: replace(true) }] },
      { actor: 'ada', route, outcome: 'unchanged', change: asked },
      { actor: 'ada', route, outcome: 'refused', code: 'validation-failed', change: asked },
    ]);
  });

  it('publishes no event and keeps nothing in a store', async () => {
    const store = createMemoryStore();
    const running = await openRunning(store);
    const { snapshot } = running.admin;
    await patch(running, replace(true));
    expect(running.admin.snapshot).toBe(snapshot);
    await running.admin.close();
    expect((await openRunning(store)).admin.readOnly).toBe(false);
  });
});
