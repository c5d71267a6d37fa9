import { describe, expect, it } from '@jest/globals';
import {
  createBasicAuthentication,
  createPbkdf2Hasher,
  createRoles,
  createSnapshot,
  type Authorize,
  type Hasher,
} from 'gateway-admin-core';

import { sampleDocument } from '../support/document.ts';
import { runAdmin, type Running } from '../support/running-admin.ts';
import { transports, type Answer } from '../support/transport.ts';
import { additions, endpoints, targetOf, withQuery } from './endpoint.ts';

const json = { 'content-type': 'application/json' };
const hasher: Hasher = createPbkdf2Hasher({ rounds: 1 });
const basic = (name: string, password: string): string =>
  `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;

interface Guarded extends Running {
  send(
    this: void,
    method: string,
    target: string,
    authorization?: string,
    body?: string,
    ifMatch?: string,
  ): Promise<Answer>;
}

describe('with authentication', () => {
  async function guard(authorize?: Authorize): Promise<Guarded> {
    const users = [
      { name: 'ada', password: { sealed: await hasher.hash('engine') } },
      { name: 'Grace', password: { sealed: await hasher.hash('compiler') } },
    ];
    const running = runAdmin({
      snapshot: createSnapshot({ ...sampleDocument, users }, { epoch: 'sample' }),
      hasher,
      access: {
        authenticate: createBasicAuthentication(),
        ...(authorize === undefined ? {} : { authorize }),
      },
    });
    const open = await transports.core(running.admin);
    return {
      ...running,
      send: (method, target, authorization, body, ifMatch) =>
        open.send(method, target, {
          headers: {
            ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
            ...(body === undefined ? {} : json),
            ...(authorization === undefined ? {} : { authorization }),
          },
          ...(body === undefined ? {} : { body }),
        }),
    };
  }

  it('every endpoint answers 401 without a log-in, before any other check', async () => {
    const { send, admin, gateway } = await guard();
    const { snapshot } = admin;
    for (const endpoint of [...endpoints, ...additions].filter(({ isPublic }) => isPublic !== true)) {
      const body = endpoint.body === undefined ? undefined : '{ not JSON';
      const target = withQuery(targetOf(endpoint), 'nonsense=1');
      const answer = await send(endpoint.method, target, undefined, body);
      const { code } = answer.body as { readonly code: string };
      expect([endpoint.path, answer.status, code]).toEqual([endpoint.path, 401, 'unauthenticated']);
      const challenge = 'Basic realm="gateway admin", charset="UTF-8"';
      expect(answer.headers['www-authenticate']).toBe(challenge);
    }
    expect(admin.snapshot).toBe(snapshot);
    expect(gateway.calls).toEqual([]);
  });

  it.each([
    ['nothing', undefined],
    ['an empty header', ' '],
    ['another scheme', 'Bearer abc'],
    ['no base64', 'Basic ***'],
    ['no colon', `Basic ${Buffer.from('ada').toString('base64')}`],
    ['a wrong password', basic('ada', 'wrong')],
    ['no password', basic('ada', '')],
    ['an unknown user', basic('nobody', 'engine')],
    ['the password of another user', basic('ada', 'compiler')],
    ['__proto__', basic('__proto__', 'engine')],
    ['no space', basic('ada', 'engine').replace(' ', '')],
  ])('gives the same 401 for %s', async (_what, authorization) => {
    const { send } = await guard();
    const reference = await send('GET', '/services', basic('nobody', 'nothing'));
    const answer = await send('GET', '/services', authorization);
    expect([answer.status, answer.text]).toEqual([401, reference.text]);
    expect(answer.headers['www-authenticate']).toBe(reference.headers['www-authenticate']);
  });

  it('lets users in by a name in any case, and names them as actors in events', async () => {
    const { send, admin } = await guard();
    const reader = admin.events();
    expect((await send('GET', '/services', basic('ada', 'engine'))).status).toBe(200);
    expect((await send('PUT', '/service/My-Service/stop', basic('GRACE', 'compiler'))).status).toBe(204);
    expect((await reader.next()).value).toMatchObject({ event: { actor: 'Grace' } });
  });

  // Promise: changed-password
  it('lets the only user change the password, and from then on only the new one counts', async () => {
    const { send, admin } = await guard();
    const [old, wrong] = [basic('ada', 'engine'), basic('ada', 'nginee')];
    expect((await send('DELETE', '/users/grace', old)).status).toBe(204);
    const patch = JSON.stringify([{ op: 'replace', path: '/password', value: 'ngi\u0301ne' }]);
    const answer = await send('PATCH', '/users/ADA', old, patch);
    expect([answer.status, answer.body]).toEqual([200, { name: 'ada' }]);
    expect((await send('GET', '/users', old)).status).toBe(401);
    expect((await send('GET', '/users', wrong)).status).toBe(401);
    expect((await send('GET', '/users', basic('ada', 'ng\u00edne'))).status).toBe(200);
    expect(admin.snapshot.users.size).toBe(1);
  });

  it('asks the policy of the host about a new password, and hashes once for each request', async () => {
    const hashed: string[] = [];
    const counting: Hasher = {
      ...hasher,
      hash: (password) => {
        hashed.push(password);
        return hasher.hash(password);
      },
    };
    const { admin } = runAdmin({
      hasher: counting,
      access: { passwordPolicy: (password) => (password.length < 4 ? 'must be longer' : undefined) },
    });
    const open = await transports.core(admin);
    const patch = (...values: readonly string[]): Promise<Answer> =>
      open.send('PATCH', '/users/ada', {
        headers: json,
        body: JSON.stringify(values.map((value) => ({ op: 'add', path: '/password', value }))),
      });
    expect((await patch('long enough', 'abc')).body).toMatchObject({
      errors: [
        { pointer: '/password', operation: 1, code: 'password-unacceptable', detail: 'must be longer' },
      ],
    });
    expect(hashed).toEqual([]);
    expect((await patch('long enough', 'longer still')).status).toBe(200);
    expect(hashed).toEqual(['longer still']);
    expect((await patch()).status).toBe(200);
    expect(hashed).toHaveLength(1);
  });

  // Promise: last-user
  it('lets users delete themselves, but never the last one', async () => {
    const { send, admin } = await guard();
    expect((await send('DELETE', '/users/ada', basic('ada', 'engine'))).status).toBe(204);
    const answer = await send('DELETE', '/users/grace', basic('Grace', 'compiler'));
    expect([answer.status, (answer.body as { code: string }).code]).toEqual([409, 'last-user']);
    expect(admin.snapshot.users.size).toBe(1);
  });

  // Promise: last-administrator
  it('does not delete the last administrator, in a plan either', async () => {
    const { send, admin } = await guard(
      createRoles({ administrators: ['ADA', 'joan'], operators: ['grace'] }),
    );
    const ada = basic('ada', 'engine');
    const remove = (name: string, query = '') => send('DELETE', `/users/${name}${query}`, ada);
    for (const query of ['?dry_run=true', ''])
      expect(await remove('ada', query)).toMatchObject({
        status: 409,
        body: {
          code: 'last-administrator',
          detail:
            '"ada" is the last administrator, and without one nobody can create users or change settings. ' +
            'First create another user whom the roles of this gateway make an administrator.',
        },
      });
    expect(admin.snapshot.users.size).toBe(2);
    expect((await send('PUT', '/users', ada, '{"name":"joan","password":"of arc"}')).status).toBe(204);
    expect((await remove('ada')).status).toBe(204);
    const joan = basic('joan', 'of arc');
    expect((await send('DELETE', '/users/joan', joan)).body).toMatchObject({ code: 'last-administrator' });
    expect((await send('DELETE', '/users/grace', joan)).status).toBe(204);
  });

  it('knows no last administrator by a rule without roles, or whose roles fail', async () => {
    const roleOf = (): never => {
      throw new Error('no');
    };
    for (const authorize of [() => true, Object.assign(() => true, { roleOf })]) {
      const { send } = await guard(authorize);
      expect((await send('DELETE', '/users/ada', basic('ada', 'engine'))).status).toBe(204);
    }
  });

  // Promise: last-two-users
  it('deletes exactly one user when the last two delete each other at the same time', async () => {
    const { send, admin } = await guard();
    const answers = await Promise.all([
      send('DELETE', '/users/ada', basic('Grace', 'compiler')),
      send('DELETE', '/users/grace', basic('ada', 'engine')),
    ]);
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses[0]).toBe(204);
    expect([401, 409]).toContain(statuses[1]);
    expect(admin.snapshot.users.size).toBe(1);
  });

  // Promise: authorize-first
  it('answers 403 to an unauthorised request before the resource is looked up', async () => {
    const asked: unknown[] = [];
    const { send, admin } = await guard((principal, route, parameters) => {
      asked.push([principal?.name, route.id, parameters]);
      return route.method === 'GET';
    });
    const { snapshot } = admin;
    const ada = basic('ada', 'engine');
    for (const target of ['/service/My-Service/stop', '/service/nothing/stop']) {
      const { status, body } = await send('PUT', target, ada);
      expect([status, (body as { code: string }).code]).toEqual([403, 'forbidden']);
    }
    expect((await send('GET', '/services/My-Service', ada)).status).toBe(200);
    expect(asked).toEqual([
      ['ada', 'services.stop', { name: 'my-service' }],
      ['ada', 'services.stop', { name: 'nothing' }],
      ['ada', 'services.get', { name: 'my-service' }],
    ]);
    expect(admin.snapshot).toBe(snapshot);
  });
});

describe('creating users', () => {
  async function open() {
    const { admin } = runAdmin();
    const { send } = await transports.core(admin);
    const put = (body: unknown): Promise<Answer> =>
      send('PUT', '/users', { headers: json, body: JSON.stringify(body) });
    return { admin, send, put };
  }

  // Promise: existing-user
  it('is refused for an existing name in another case, and keeps the password of that user', async () => {
    const { admin, put } = await open();
    const { snapshot } = admin;
    const { status, body } = await put({ name: 'ADA', password: 'another' });
    expect([status, (body as { code: string }).code]).toEqual([409, 'user-exists']);
    expect(admin.snapshot).toBe(snapshot);
  });

  it('without authentication lets the last user be deleted', async () => {
    const { send } = await open();
    for (const name of ['ada', 'GRACE']) expect((await send('DELETE', `/users/${name}`)).status).toBe(204);
    expect((await send('GET', '/users')).body).toEqual([]);
  });
});
