import { describe, expect, it } from '@jest/globals';
import {
  createAdmin,
  createSnapshot,
  createUser,
  deleteUser,
  revert,
  stopService,
  type AdminOptions,
  type Authenticate,
  type AdminEvent,
  type Transition,
} from 'gateway-admin-core';
import { createScriptedGateway } from 'gateway-admin-core/testing';

import { planted } from '../../support/planted.ts';

const snapshot = createSnapshot({
  servers: [{ name: 'db-1', address: '10.0.0.1', port: 5432, protocol: 'pg' }],
  filters: [{ name: 'Hint', module: 'regexfilter' }],
  services: [{ name: 'Sales', router: 'readconnroute' }],
  users: [{ name: 'k', passwordHash: planted.hash }],
});

function run(options: Partial<AdminOptions> = {}) {
  const admin = createAdmin({ snapshot, gateway: createScriptedGateway({ snapshot }), ...options });
  const send = async (
    method: string,
    target: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ) => {
    const type = method === 'PATCH' ? 'application/json-patch+json' : 'application/json';
    const sent = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) };
    const handled = await admin.handle({
      method,
      target,
      headers: { 'content-type': type, ...headers },
      ...sent,
    });
    if (!handled.matched) throw new Error('There is nothing at this path');
    const { status, body: text = '' } = handled.response;
    const { code } = (typeof text === 'string' && text !== '' ? JSON.parse(text) : {}) as { code?: string };
    return { status, code };
  };
  return { admin, send };
}

describe('a host without types', () => {
  // Promise: principal
  it.each([null, false, '', {}, { name: 7 }])('answers 401 for a principal of %j', async (principal) => {
    const authenticate = (() => Promise.resolve(principal)) as unknown as Authenticate;
    expect(await run({ access: { authenticate } }).send('GET', '/services')).toMatchObject({ status: 401 });
  });

  const onError = (): void => undefined;

  // Promise: authorize-true
  it.each([undefined, null, 1, 'yes', Promise.resolve(true)])(
    'answers 403 when authorize returns %p',
    async (answer) => {
      const authorize = (() => answer) as unknown as () => boolean;
      expect(
        await run({ access: { authorize }, observe: { onError } }).send('GET', '/services'),
      ).toMatchObject({ status: 403 });
    },
  );

  // Promise: limit-value
  it.each([0, -1, NaN, 1.5, Infinity])('cannot turn a limit off with %p', (maxBodyBytes) => {
    expect(() => run({ limits: { maxBodyBytes } })).toThrow(
      new RangeError('The limit "maxBodyBytes" must be a whole number from 1 on'),
    );
  });

  it('does not stop other commands with a transition that is an async function', async () => {
    const { admin, send } = run();
    const wrong = (async (...args: Parameters<Transition>) =>
      Promise.resolve(stopService(args[0], 'Sales', args[1]))) as unknown as Transition;
    await expect(admin.execute(wrong)).rejects.toThrow(TypeError);
    expect(await send('PUT', '/service/Sales/stop')).toMatchObject({ status: 204 });
  });
});

describe('a user who is deleted', () => {
  // Promise: deleted-user
  it('gets a 401 even if the log-in was in flight before the deletion', async () => {
    const { admin, send } = run({
      access: {
        authenticate: async () => {
          await admin.execute((state, context) =>
            createUser(state, { name: 'other', passwordHash: 'opaque' }, context),
          );
          await admin.execute((state, context) => deleteUser(state, 'k', context));
          return { name: 'k' };
        },
      },
    });
    expect(await send('PUT', '/service/Sales/stop')).toMatchObject({ status: 401 });
    expect(admin.snapshot.services.find('Sales')?.state).toBe('started');
  });
});

describe('a hostile program', () => {
  it('has its getters read only once by createUser', () => {
    let reads = 0;
    const user = {
      get name() {
        reads += 1;
        return reads > 1 ? 'a b!' : 'ok';
      },
      passwordHash: 'opaque',
    };
    expect(createUser(snapshot, user, { now: 0 }).next.users.find('ok')?.name).toBe('ok');
    expect(reads).toBe(1);
  });

  it.each(['copy', 'move'] as const)(
    'cannot revert with a %s operation, which could reveal a secret',
    (op) => {
      const inverse = [{ op, from: '/passwordSealed', path: '/user' }];
      const forged = {
        type: 'service.updated',
        at: 0,
        resource: '/services/Sales',
        service: 'sales',
        inverse,
      };
      const decision = revert(forged as unknown as AdminEvent)(snapshot, { now: 0 });
      expect(decision).toMatchObject({ outcome: 'refused', problem: { code: 'op-not-allowed' } });
      expect(decision.next).toBe(snapshot);
    },
  );
});

describe('a hostile client', () => {
  it('gets 409 for adding to the parameters that the same patch removed', async () => {
    const operations = [
      { op: 'remove', path: '/parameters' },
      { op: 'add', path: '/parameters/x/value', value: '1' },
    ];
    expect(await run().send('PATCH', '/filter/Hint', operations)).toEqual({
      status: 409,
      code: 'patch-path-missing',
    });
  });

  it.each([
    ['links', [{ op: 'replace', path: '/servers', value: Array(49_000).fill('') }]],
    [
      'options',
      [
        {
          op: 'add',
          path: '/router_options',
          value: Object.fromEntries(Array.from({ length: 49_000 }, (_, n) => [`k${String(n)}`, ''])),
        },
      ],
    ],
  ])('gets 422 for too many %s', async (_what, operations) => {
    expect(await run().send('PATCH', '/services/Sales', operations)).toEqual({
      status: 422,
      code: 'validation-failed',
    });
  });

  it.each([
    ['a password', 'PUT', '/users', { name: 'zz', password: `a${'\u0315\u0300'.repeat(130_000)}` }],
    [
      'a link',
      'PATCH',
      '/services/Sales',
      [{ op: 'replace', path: '/servers', value: [`/servers/a${'\u0315\u0300'.repeat(130_000)}`] }],
    ],
  ])('gets 422 for half a megabyte of combining marks in %s', async (_what, method, target, body) => {
    expect(await run().send(method, target, body)).toMatchObject({ status: 422 });
  });

  it('cannot delete a user with a letter that only looks like the name', async () => {
    expect(await run().send('DELETE', '/users/%E2%84%AA')).toEqual({ status: 404, code: 'user-not-found' });
  });

  it('gets the problem of a malformed session id before its condition is checked', async () => {
    const answer = await run().send('DELETE', '/sessions/abc', undefined, { 'if-match': '"other.0.0"' });
    expect(answer).toEqual({ status: 400, code: 'session-id-invalid' });
  });

  // Promise: hash-limit
  it('cannot start more than a few password hashes at the same time', async () => {
    let [running, most] = [0, 0];
    const hasher = {
      async hash(): Promise<string> {
        running += 1;
        most = Math.max(most, running);
        await new Promise((resolve) => setImmediate(resolve));
        running -= 1;
        return 'opaque';
      },
      verify: () => Promise.resolve(false),
    };
    const { send } = run({ hasher });
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, n) =>
        send('PUT', '/users', { name: `user${String(n)}`, password: 'secret' }),
      ),
    );
    expect(most).toBe(2);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([204, 429]));
  });

  it('gets a short problem for a very long key', async () => {
    const operations = [{ op: 'add', path: '/router_options', value: { ['k'.repeat(100_000)]: 1 } }];
    const handled = await run().admin.handle({
      method: 'PATCH',
      target: '/services/Sales',
      headers: { 'content-type': 'application/json-patch+json' },
      body: JSON.stringify(operations),
    });
    const body = handled.matched ? handled.response.body : undefined;
    expect(typeof body === 'string' ? body.length : Infinity).toBeLessThan(5000);
  });
});
