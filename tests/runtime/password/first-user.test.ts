import { describe, expect, it } from '@jest/globals';
import { createBasicAuthentication, createMemoryStore, createSnapshot, type Admin } from 'gateway-admin-core';

import { openRunning, runAdmin } from '../../support/running-admin.ts';

const empty = { snapshot: createSnapshot({}), access: { authenticate: createBasicAuthentication() } };
const ada = { name: 'ada', password: 'engine' };

/** The status of a request, with a log-in or without one. */
async function statusOf(admin: Admin, logIn?: string): Promise<number> {
  const headers = logIn === undefined ? {} : { authorization: `Basic ${btoa(logIn)}` };
  const handled = await admin.handle({ method: 'GET', target: '/users', headers });
  return handled.matched ? handled.response.status : 0;
}

describe('admin.createFirstUser', () => {
  // Promise: first-user
  it('creates a user who can log in', async () => {
    const { admin } = runAdmin(empty);
    expect(await statusOf(admin, 'ada:engine')).toBe(401);
    const execution = await admin.createFirstUser(ada);
    expect(execution).toMatchObject({
      outcome: 'accepted',
      events: [{ type: 'user.created', actor: 'ada' }],
    });
    expect(JSON.stringify(execution)).not.toContain('engine');
    expect(await statusOf(admin, 'ada:engine')).toBe(200);
  });

  it('creates one user, if two programs call it at the same time', async () => {
    const { admin } = runAdmin(empty);
    const eve = { name: 'eve', password: 'apple' };
    const executions = await Promise.all([admin.createFirstUser(ada), admin.createFirstUser(eve)]);
    expect(executions.map(({ outcome }) => outcome).toSorted()).toEqual(['accepted', 'refused']);
    expect([...admin.snapshot.users]).toHaveLength(1);
  });

  it('is refused once there is a user, and hashes nothing', async () => {
    let hashed = 0;
    const hasher = {
      hash: (password: string) => Promise.resolve(`${String((hashed += 1))} ${String(password.length)}`),
      verify: () => Promise.resolve(false),
    };
    const { admin } = runAdmin({ ...empty, hasher });
    await admin.createFirstUser(ada);
    const second = await admin.createFirstUser({ name: 'eve', password: 'apple' });
    expect(second).toMatchObject({ outcome: 'refused', problem: { code: 'user-exists', status: 409 } });
    expect(hashed).toBe(1);
  });

  it.each([
    ['an empty password', { name: 'ada', password: '' }, '/password', 'password-unacceptable'],
    [
      'a password that the host objects to',
      { name: 'ada', password: 'ada' },
      '/password',
      'password-unacceptable',
    ],
    [
      'a password that is none',
      { name: 'ada', password: 7 as unknown as string },
      '/password',
      'validation-failed',
    ],
    ['a name with a space', { name: 'ada l', password: 'engine' }, '/name', 'validation-failed'],
  ])('refuses %s', async (_what, user, pointer, code) => {
    const passwordPolicy = (password: string) => (password === 'ada' ? 'must not be the name' : undefined);
    const { admin } = runAdmin({ ...empty, access: { ...empty.access, passwordPolicy } });
    const execution = await admin.createFirstUser(user);
    expect(execution).toMatchObject({
      outcome: 'refused',
      problem: { status: 422, errors: [{ pointer, code }] },
    });
    expect(admin.snapshot.users.size).toBe(0);
  });

  it('keeps the user in the store', async () => {
    const store = createMemoryStore();
    const first = await openRunning(store, empty);
    await first.admin.createFirstUser(ada);
    await first.admin.close();
    const second = await openRunning(store, empty);
    expect(await statusOf(second.admin, 'ada:engine')).toBe(200);
    await second.admin.close();
  });
});

describe('an interface that is open until there is a user', () => {
  // Promise: open-until-first-user
  it('asks for a log-in from the moment at which the first user exists', async () => {
    const authenticate = createBasicAuthentication({ openUntilFirstUser: true });
    const { admin } = runAdmin({ ...empty, access: { authenticate } });
    expect(await statusOf(admin)).toBe(200);
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify(ada);
    const handled = await admin.handle({ method: 'PUT', target: '/users', headers, body });
    expect(handled).toMatchObject({ response: { status: 204 } });
    expect([await statusOf(admin), await statusOf(admin, 'ada:engine')]).toEqual([401, 200]);
  });

  it('refuses a request that was on the way when the first user was created', async () => {
    const authenticate = createBasicAuthentication({ openUntilFirstUser: true });
    const { admin } = runAdmin({ ...empty, access: { authenticate } });
    const body = async () => {
      await admin.createFirstUser(ada);
      return new TextEncoder().encode(JSON.stringify({ name: 'eve', password: 'apple' }));
    };
    const headers = { 'content-type': 'application/json' };
    const handled = await admin.handle({ method: 'PUT', target: '/users', headers, body });
    expect(handled).toMatchObject({ response: { status: 401 } });
    expect([...admin.snapshot.users].map(({ name }) => name)).toEqual(['ada']);
  });
});

describe('the first user of an interface without a log-in', () => {
  const create = { method: 'PUT', target: '/users', headers: { 'content-type': 'application/json' } };

  it('is told to the host, once', async () => {
    const { admin, errors } = runAdmin({ snapshot: createSnapshot({}) });
    for (const name of ['ada', 'eve'])
      await admin.handle({ ...create, body: JSON.stringify({ name, password: 'engine' }) });
    expect([...admin.snapshot.users]).toHaveLength(2);
    expect(errors.map(String)).toEqual([
      'Error: There is a user now, but nobody has to log in: give createAdmin the option access.authenticate',
    ]);
  });

  it('is nothing to tell if the host knows the caller, or asks for a log-in', async () => {
    const [open, host] = [
      runAdmin({
        ...empty,
        access: { authenticate: createBasicAuthentication({ openUntilFirstUser: true }) },
      }),
      runAdmin({ snapshot: createSnapshot({}) }),
    ];
    const body = JSON.stringify(ada);
    await open.admin.handle({ ...create, body });
    await host.admin.handle({ ...create, body, principal: { name: 'host' } });
    for (const { admin, errors } of [open, host]) {
      expect(admin.snapshot.users.size).toBe(1);
      expect(errors).toEqual([]);
    }
  });
});
