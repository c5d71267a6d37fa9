import { describe, expect, it } from '@jest/globals';
import {
  changePassword,
  createBasicAuthentication,
  createPbkdf2Hasher,
  createSnapshot,
  createUser,
  deleteUser,
  stopService,
  type AdminOptions,
  type AdminRequest,
  type AdminResponse,
  type Authorize,
  type Transition,
} from 'gateway-admin-core';
import { hold } from 'gateway-admin-core/testing';

import { sampleDocument } from '../../support/document.ts';
import { runAdmin, sampleGateway, type Running } from '../../support/running-admin.ts';

const hasher = createPbkdf2Hasher({ rounds: 1 });
const headers = {
  authorization: `Basic ${btoa('ada:engine')}`,
  'content-type': 'application/json',
};
const stop: Transition = (snapshot, context) => stopService(snapshot, 'My Service', context);
const remove: Transition = (snapshot, context) => deleteUser(snapshot, 'ada', context);

/** An interface whose users are ada and Grace. */
async function guarded(options: Partial<AdminOptions> = {}): Promise<Running> {
  const users = [
    { name: 'ada', passwordHash: await hasher.hash('engine') },
    { name: 'Grace', passwordHash: await hasher.hash('compiler') },
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
  'given another password': [(snapshot, context) => changePassword(snapshot, 'Ada', 'another', context)],
  'deleted, and created again with another password': [
    remove,
    (snapshot, context) => createUser(snapshot, { name: 'Ada', passwordHash: 'another' }, context),
  ],
} satisfies Record<string, readonly Transition[]>;

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
    const response = send(running, 'PUT', '/service/My-Service/stop');
    await asked.come;
    await end(running);
    found.now();
    return [running, await response];
  },
  'its body is on the way': async (end) => {
    const running = await guarded();
    const [asked, sent] = [moment(), moment()];
    const response = send(running, 'PUT', '/users', async () => {
      asked.now();
      await sent.come;
      return new TextEncoder().encode(newUser);
    });
    await asked.come;
    await end(running);
    sent.now();
    return [running, await response];
  },
  'its new password is hashed': async (end) => {
    const [asked, hashed] = [moment(), moment()];
    const slow = {
      ...hasher,
      hash: async (password: string) => {
        if (password === 'pw') {
          asked.now();
          await hashed.come;
        }
        return hasher.hash(password);
      },
    };
    const running = await guarded({ hasher: slow });
    const response = send(running, 'PUT', '/users', newUser);
    await asked.come;
    await end(running);
    hashed.now();
    return [running, await response];
  },
  'its command waits for its turn': async (end) => {
    const held = hold();
    const running = await guarded({ gateway: sampleGateway().will(held.apply) });
    const first = running.admin.execute(stop);
    await held.begun;
    const response = send(running, 'PUT', '/service/My-Service/start');
    await running.clock.settle();
    await end(running);
    held.done();
    await first;
    return [running, await response];
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

describe('a log-in that is throttled', () => {
  it('is a 429 that says when to come again', async () => {
    const running = await guarded({ access: { authenticate: () => Promise.resolve('throttled') } });
    const { status, headers } = await send(running, 'GET', '/services');
    expect([status, headers['retry-after']]).toEqual([429, '1']);
  });
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
    const { admin } = runAdmin({
      access: {
        authorize: (_principal, _route, parameters) => {
          asked.push(parameters);
          return true;
        },
      },
    });
    await admin.handle({ method: 'GET', target: '/sessions/9', headers: {} });
    await admin.handle({ method: 'DELETE', target: '/commands/Berlin-1', headers: {} });
    expect(asked.slice(0, 2)).toEqual([{ id: '9' }, { id: 'Berlin-1' }]);
  });
});
