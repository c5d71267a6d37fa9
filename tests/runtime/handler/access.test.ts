/**
 * Who may do what: callers who change on the way, the challenge of a 401, and the endpoints of the host.
 */
import { describe, expect, it } from '@jest/globals';
import {
  changePassword,
  createBasicAuthentication,
  createPbkdf2Hasher,
  createRoles,
  createSnapshot,
  createUser,
  deleteUser,
  type AdminOptions,
  type AdminRequest,
  type AdminResponse,
  type AuditRecord,
  type Authorize,
  type HostAttempt,
  type Role,
  type Transition,
} from 'gateway-admin-core';
import { hold } from 'gateway-admin-core/testing';

import { sampleDocument } from '../../support/document.ts';
import { FailingSink } from '../../support/failing-sink.ts';
import { credentials } from '../../support/log-in.ts';
import { runAdmin, sampleGateway, type Running } from '../../support/running-admin.ts';
import { stop } from '../../support/transition.ts';
import { setReadOnly } from '../../support/read-only.ts';

const hasher = createPbkdf2Hasher({ rounds: 1 });
const headers = {
  authorization: `Basic ${btoa('ada:engine')}`,
  'content-type': 'application/json',
};
const remove: Transition = (snapshot, context) => deleteUser(snapshot, 'ada', context);

/** An interface whose users are ada and Grace. */
async function guarded(options: Partial<AdminOptions> = {}): Promise<Running> {
  const users = [
    { name: 'ada', password: { sealed: await hasher.hash('engine') } },
    { name: 'Grace', password: { sealed: await hasher.hash('compiler') } },
  ];
  return runAdmin({
    snapshot: createSnapshot({ ...sampleDocument, users }),
    hasher,
    access: { authenticate: createBasicAuthentication() },
    ...(options as object),
  });
}

function send(
  { admin }: Running,
  method: string,
  target: string,
  body?: string | (() => Promise<Uint8Array>),
): Promise<AdminResponse> {
  const request = { method, target, headers, ...(body === undefined ? {} : { body }) };
  return admin.handle(request).then((handled) => {
    if (!handled.matched) throw new Error(`Nothing at ${target}`);
    return handled.response;
  });
}

/** A moment that a test chooses. */
function moment(): { readonly come: Promise<void>; readonly now: () => void } {
  let now = (): void => undefined;
  const come = new Promise<void>((resolve) => (now = resolve));
  return { come, now };
}

const newUser = '{"name":"mallory","password":"pw"}';

/** The ways in which the caller changes while a request is on the way. */
const endings = {
  deleted: [remove],
  'given another password': [
    (snapshot, context) => changePassword(snapshot, 'Ada', { sealed: 'another' }, context),
  ],
  'deleted, and created again with another password': [
    remove,
    (snapshot, context) => createUser(snapshot, { name: 'Ada', password: { sealed: 'another' } }, context),
  ],
} satisfies Record<string, readonly Transition[]>;

/** Asks, lets something happen in the middle of that, and gives the answer. */
async function during(
  running: Running,
  sent: () => Promise<AdminResponse>,
  [asked, over]: readonly [Promise<void>, () => void],
  end: (running: Running) => Promise<void>,
): Promise<[Running, AdminResponse]> {
  const response = sent();
  await asked;
  await end(running);
  over();
  return [running, await response];
}

/** Requests that take time, each with the work that a test lets go on. */
const waits: Readonly<
  Record<string, (end: (running: Running) => Promise<void>) => Promise<[Running, AdminResponse]>>
> = {
  'its log-in is in flight': async (end) => {
    const [asked, found] = [moment(), moment()];
    const authenticate = async (): Promise<{ readonly name: string }> => {
      asked.now();
      await found.come;
      return { name: 'ada' };
    };
    const challenge = createBasicAuthentication().challenge ?? '';
    const running = await guarded({ access: { authenticate: Object.assign(authenticate, { challenge }) } });
    const stopping = () => send(running, 'PUT', '/service/My-Service/stop');
    return during(running, stopping, [asked.come, found.now], end);
  },
  'its body is on the way': async (end) => {
    const running = await guarded();
    const [asked, sent] = [moment(), moment()];
    const body = async (): Promise<Uint8Array> => {
      asked.now();
      await sent.come;
      return new TextEncoder().encode(newUser);
    };
    return during(running, () => send(running, 'PUT', '/users', body), [asked.come, sent.now], end);
  },
  'its new password is hashed': async (end) => {
    const [asked, hashed] = [moment(), moment()];
    const hash = async (password: string): Promise<string> => {
      if (password === 'pw') {
        asked.now();
        await hashed.come;
      }
      return hasher.hash(password);
    };
    const running = await guarded({ hasher: { ...hasher, hash } });
    return during(running, () => send(running, 'PUT', '/users', newUser), [asked.come, hashed.now], end);
  },
  'its command waits for its turn': async (end) => {
    const held = hold();
    const running = await guarded({ gateway: sampleGateway().will(held.apply) });
    const first = running.admin.execute(stop);
    await held.begun;
    const starting = () => send(running, 'PUT', '/service/My-Service/start');
    return during(running, starting, [running.clock.settle(), held.done], end).finally(() => first);
  },
};

describe.each(Object.entries(endings))('a caller who is %s', (_ending, transitions) => {
  // Promise: principal-holds
  // Promise: deleted-user
  it.each(Object.entries(waits))('while %s gets a 401, and nothing is done', async (_when, run) => {
    let calls = 0;
    const [{ admin, gateway }, { status, headers }] = await run(async ({ admin, gateway }) => {
      for (const transition of transitions)
        expect((await admin.execute(transition)).outcome).toBe('accepted');
      calls = gateway.calls.length;
    });
    expect([status, headers['www-authenticate']]).toEqual([401, expect.stringMatching(/^Basic /)]);
    expect(admin.snapshot.users.find('mallory')).toBeUndefined();
    expect(gateway.calls).toHaveLength(calls);
  });
});

describe('the challenge of a 401', () => {
  const challengeTo = async (
    request: Pick<AdminRequest, 'principal' | 'headers'>,
    options: Partial<AdminOptions> = {},
  ): Promise<unknown> => {
    const { admin } = await guarded(options);
    const handled = await admin.handle({ method: 'PUT', target: '/service/My-Service/stop', ...request });
    expect(handled).toMatchObject({ response: { status: 401 } });
    return handled.matched && handled.response.headers['www-authenticate'];
  };
  const with401 = (challenge: string) => ({
    access: { authenticate: Object.assign(() => Promise.resolve(undefined), { challenge }) },
  });
  const basic = 'Basic realm="gateway admin", charset="UTF-8"';
  // A browser has no dialog for a scheme that it does not know.
  const unknown = 'Host realm="gateway admin"';

  // Promise: no-dialog
  it.each(['cors', 'same-origin', 'no-cors'])(
    'opens no dialog over a page whose script sends the request in the mode %s',
    async (mode) => {
      const headers = { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': mode };
      expect(await challengeTo({ headers })).toBe(unknown);
      const wrong = { ...headers, authorization: `Basic ${btoa('ada:wrong')}` };
      expect(await challengeTo({ headers: wrong })).toBe(unknown);
      const digest = 'Bearer, Digest realm="gateway admin", nonce="1"';
      expect(await challengeTo({ headers }, with401(digest))).toBe(unknown);
    },
  );

  it('is that of the log-in for a person who opens the address, and for programs', async () => {
    const headers = { 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate' };
    expect(await challengeTo({ headers })).toBe(basic);
    expect(await challengeTo({ headers: {} })).toBe(basic);
  });

  it('is that of the log-in if browsers have no dialog for the scheme', async () => {
    const headers = { 'sec-fetch-mode': 'cors', 'sec-fetch-site': 'same-origin' };
    for (const challenge of ['Bearer realm="Basic access"', 'Negotiate'])
      expect(await challengeTo({ headers }, with401(challenge))).toBe(challenge);
  });

  // Promise: no-dialog
  it('never names the log-in of the interface to a caller whom the host had to know', async () => {
    expect(await challengeTo({ headers: {}, principal: null })).toBe(unknown);
    expect(await challengeTo({ headers: {}, principal: () => Promise.resolve(null) })).toBe(unknown);
  });
});

it('a log-in that is throttled is a 429 that says when to come again', async () => {
  const running = await guarded({ access: { authenticate: () => Promise.resolve('throttled') } });
  const { status, headers } = await send(running, 'GET', '/services');
  expect([status, headers['retry-after']]).toEqual([429, '1']);
});

describe('authorize', () => {
  it('is asked again at the turn of a command', async () => {
    let allowed = true;
    const held = hold();
    const authorize: Authorize = () => allowed;
    const running = await guarded({ access: { authorize }, gateway: sampleGateway().will(held.apply) });
    const first = running.admin.execute(stop);
    await held.begun;
    const response = send(running, 'PUT', '/service/My-Service/start');
    await running.clock.settle();
    allowed = false;
    held.done();
    await first;
    expect((await response).status).toBe(403);
    expect(running.admin.snapshot.services.find('my-service')?.state).toBe('stopped');
  });

  // Promise: authorize-key
  it.each(['Sales%20East', 'SALES-EAST', 'sales%09east', '%73ales-east', 'Sales-Ea%73t'])(
    'is given the key of a name that is written %s',
    async (spelling) => {
      const asked: unknown[] = [];
      const authorize: Authorize = (_principal, _route, parameters) => {
        asked.push(parameters);
        return parameters['name'] !== 'sales-east';
      };
      const snapshot = createSnapshot({ services: [{ name: 'Sales East', router: 'readconnroute' }] });
      const { admin } = runAdmin({ snapshot, access: { authorize } });
      const target = `/service/${spelling}/stop`;
      const handled = await admin.handle({ method: 'PUT', target, headers: {} });
      expect(handled.matched && handled.response.status).toBe(403);
      expect(asked).toEqual([{ name: 'sales-east' }]);
    },
  );

  it('is given ids as they are, because an id has one spelling', async () => {
    const asked: unknown[] = [];
    const authorize: Authorize = (_principal, _route, parameters) => asked.push(parameters) > 0;
    const { admin } = runAdmin({ access: { authorize } });
    await admin.handle({ method: 'GET', target: '/sessions/9', headers: {} });
    await admin.handle({ method: 'DELETE', target: '/commands/Berlin-1', headers: {} });
    expect(asked.slice(0, 2)).toEqual([{ id: '9' }, { id: 'Berlin-1' }]);
  });
});

const post: AdminRequest = { method: 'POST', target: '/rotate?now=1', headers: {}, peer: '10.0.0.9' };

const withLogIn = {
  hasher: {
    hash: () => Promise.resolve('x'),
    verify: (text: string) => Promise.resolve(text === 'right'),
  },
  access: { authenticate: createBasicAuthentication(), authorize: createRoles({ operators: ['ada'] }) },
};

function as(password: string, more: Partial<AdminRequest> = {}): AdminRequest {
  return { ...post, ...more, headers: { authorization: credentials('ada', password), ...more.headers } };
}

/** The status of the response and the code of its problem; the name of the caller of an admitted request. */
async function decided({ admin }: Running, request: AdminRequest, role: Role): Promise<string> {
  const guarded = await admin.guard(request, role);
  if (guarded.admitted) return `admitted ${guarded.principal?.name ?? 'nobody'}`;
  const { status, body } = guarded.response;
  const { code } = JSON.parse(typeof body === 'string' ? body : '{}') as { code: string };
  return `${String(status)} ${code}`;
}

async function recordsOf({ admin }: Running, act: () => Promise<unknown>): Promise<readonly AuditRecord[]> {
  const reader = admin.audit();
  await act();
  await admin.close();
  const records: AuditRecord[] = [];
  for await (const record of reader) if (record.kind !== 'gap') records.push(record);
  return records;
}

describe('the guard of an endpoint of the host', () => {
  it('admits everybody where nobody has to log in', async () => {
    expect(await decided(runAdmin(), post, 'administrator')).toBe('admitted nobody');
  });

  const bad = { 'if-match': 7 as never };
  const foreign = { origin: 'https://elsewhere.test', host: 'x.test' };

  it.each<[string, AdminRequest, Role]>([
    ['401 unauthenticated', post, 'reader'],
    ['401 unauthenticated', as('wrong'), 'reader'],
    ['admitted ada', as('right'), 'reader'],
    ['admitted ada', as('right'), 'operator'],
    ['403 forbidden', as('right'), 'administrator'],
    ['403 origin-refused', as('right', { headers: foreign }), 'reader'],
    ['400 header-invalid', as('right', { headers: bad }), 'reader'],
  ])('answers %s as an endpoint of the interface does', async (answer, request, role) => {
    expect(await decided(runAdmin(withLogIn), request, role)).toBe(answer);
  });

  it('gives the challenge of the log-in with a 401', async () => {
    const guarded = await runAdmin(withLogIn).admin.guard(post, 'reader');
    const challenge = { 'www-authenticate': expect.stringMatching(/^Basic /) as unknown };
    expect(guarded).toMatchObject({ response: { headers: challenge } });
  });

  it('refuses what could change something in the read-only mode, and lets reads through', async () => {
    const running = runAdmin(withLogIn);
    await setReadOnly(running.admin, true);
    expect(await decided(running, as('right'), 'operator')).toBe('403 read-only');
    expect(await decided(running, as('right', { method: 'GET' }), 'operator')).toBe('admitted ada');
  });

  it('answers the preflight of an allowed origin, and counts no log-in', async () => {
    const access = { ...withLogIn.access, allowedOrigins: ['https://console.test'] };
    const { admin } = runAdmin({ ...withLogIn, access });
    const headers = { origin: 'https://console.test', 'access-control-request-method': 'POST' };
    expect(await admin.guard({ ...post, method: 'OPTIONS', headers }, 'operator')).toMatchObject({
      admitted: false,
      response: { status: 204, headers: { 'access-control-allow-methods': 'POST' } },
    });
  });

  it('admits no change once the interface is closed', async () => {
    const running = runAdmin(withLogIn);
    await running.admin.close();
    expect(await decided(running, as('right'), 'operator')).toBe('503 closed');
    expect(await decided(running, as('right', { method: 'GET' }), 'operator')).toBe('admitted ada');
  });

  it('tells authorize the path and the role', async () => {
    const asked: unknown[] = [];
    const authorize: Authorize = (_who, { id, method, path, role }) =>
      asked.push([id, method, path, role]) > 0;
    await decided(runAdmin({ access: { authorize } }), post, 'operator');
    expect(asked[0]).toEqual(['host', 'POST', '/rotate', 'operator']);
  });

  it('leaves the record of a refused attempt, and none of an admitted one', async () => {
    const running = runAdmin(withLogIn);
    const records = await recordsOf(running, async () => {
      await running.admin.guard(as('right'), 'administrator');
      await running.admin.guard(as('right'), 'operator');
      await running.admin.guard(as('wrong'), 'operator');
    });
    expect(records).toMatchObject([
      {
        kind: 'write',
        actor: 'ada',
        peer: '10.0.0.9',
        route: { id: 'host', method: 'POST', path: '/rotate' },
        code: 'forbidden',
      },
      { kind: 'failed-log-in', peer: '10.0.0.9', count: 1 },
    ]);
  });

  it('refuses a role that there is not', async () => {
    await expect(runAdmin().admin.guard(post, 'root' as never)).rejects.toThrow(
      'role must be one of reader, operator, administrator',
    );
  });
});

describe('audit.record', () => {
  it('leaves a record in the words of the host, without secrets at any depth', async () => {
    const running = runAdmin({ secretParameters: ['token', 'a/b'] });
    const change: HostAttempt['change'] = [
      { type: 'key.rotated', password: { sealed: 'v1.planted' } },
      { password: 'planted', parameters: { token: 'planted', weight: 1 } },
      { operations: [{ op: 'add', path: '/parameters/token', value: 'planted' }] },
      { operations: [{ op: 'add', path: '/parameters/a~1b', value: 'planted' }] },
    ];
    const resources = ['/servers/db-serv-1'];
    const attempt = { request: post, principal: { name: 'ada' }, outcome: 'accepted', resources } as const;
    const records = await recordsOf(running, () => running.admin.audit.record({ ...attempt, change }));
    expect(records).toMatchObject([
      {
        ...{ kind: 'write', actor: 'ada', peer: '10.0.0.9', resources, outcome: 'accepted', revision: 0 },
        route: { id: 'host', method: 'POST', path: '/rotate' },
        change: [
          { type: 'key.rotated' },
          { parameters: { weight: 1 } },
          { operations: [{ op: 'add' }] },
          { operations: [{ op: 'add' }] },
        ],
      },
    ]);
    expect(JSON.stringify(records)).not.toContain('planted');
  });

  it('cuts what is too long for a record', async () => {
    const running = runAdmin();
    const long = `host-${'x'.repeat(100_000)}` as const;
    const [record] = await recordsOf(running, () =>
      running.admin.audit.record({ request: post, outcome: 'refused', code: long, resources: [long] }),
    );
    expect(record).toMatchObject({ code: `${long.slice(0, 255)}…`, resources: [`${long.slice(0, 1024)}…`] });
  });

  it('rejects once the interface is closed, because no sink gets the record', async () => {
    const { admin } = runAdmin();
    await admin.close();
    await expect(admin.audit.record({ request: post, outcome: 'accepted' })).rejects.toThrow('is closed');
  });

  it('resolves when a required sink has the record', async () => {
    const sink = new FailingSink();
    const { admin } = runAdmin({ observe: { audit: { sink, required: true } } });
    await admin.audit.record({ request: post, outcome: 'refused', code: 'host-busy' });
    expect(sink.kept).toMatchObject([{ outcome: 'refused', code: 'host-busy' }]);
  });

  const accepted = { request: post, outcome: 'accepted' };
  it.each([
    [undefined, 'audit.record needs an attempt'],
    [{ outcome: 'accepted' }, 'request must be the request that guard got'],
    [{ request: post, outcome: 'done' }, 'outcome must be one of accepted, unchanged, refused, unknown'],
    [{ ...accepted, actor: 'ada' }, 'There is no member of an attempt with the name "actor"'],
    [{ ...accepted, request: { ...post, peer: 7 } }, 'The peer of request must be a string'],
    [{ ...accepted, principal: 'ada' }, 'principal must be an object with a name'],
    [{ request: post, outcome: 'refused', code: 7 }, 'code must be a string'],
    [{ ...accepted, resources: '/x' }, 'resources must be a list of strings'],
    [{ ...accepted, change: [null] }, 'change must be a list of objects of plain JSON'],
    [{ ...accepted, change: [{ at: new Date(0) }] }, 'change must be a list of objects'],
  ])('refuses %j', async (attempt, message) => {
    await expect(runAdmin().admin.audit.record(attempt as never)).rejects.toThrow(message);
  });
});
