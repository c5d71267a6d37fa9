import { describe, expect, it } from '@jest/globals';
import {
  canRevert,
  changePassword,
  createSnapshot,
  createUser,
  deleteUser,
  toDocument,
  type Json,
  type Transition,
} from 'gateway-admin-core';

import { readAudit } from '../support/audit-reader.ts';
import { sampleSnapshot } from '../support/document.ts';
import { quickHasher } from '../support/log-in.ts';
import { planted } from '../support/planted.ts';
import { expectAccepted, expectRefused } from '../support/expect-decision.ts';
import { runAdmin } from '../support/running-admin.ts';
import { transports } from '../support/transport.ts';

type NewUser = Parameters<typeof createUser>[1];

const create =
  (user: NewUser): Transition =>
  (snapshot, context) =>
    createUser(snapshot, user, context);
const remove =
  (name: string): Transition =>
  (snapshot, context) =>
    deleteUser(snapshot, name, context);

const change =
  (name: string, sealed: string): Transition =>
  (snapshot, context) =>
    changePassword(snapshot, name, { sealed }, context);

const joan = { name: 'Joan99', password: { sealed: 'opaque' } };
const required = { now: 5, authentication: 'required' } as const;

describe('creating a user', () => {
  it('adds the user at the end, with the hash and without effects', () => {
    const { next, events, effects, resources } = expectAccepted(create(joan));
    expect(events).toMatchObject([
      { type: 'user.created', resource: '/users/Joan99', user: 'joan99', ...joan },
    ]);
    expect([effects, resources]).toEqual([[], ['/users']]);
    expect([...next.users].map(({ name }) => name)).toEqual(['ada', 'Grace', 'Joan99']);
    expect(toDocument(next).users?.[2]).toEqual(joan);
    expect(next.users.revision).toBe(1);
  });

  it.each(['ADA', 'grace'])('is refused for the existing user %s, and keeps the password', (name) => {
    const snapshot = sampleSnapshot();
    const problem = expectRefused(create({ name, password: { sealed: 'another' } }), snapshot);
    expect(problem).toMatchObject({
      ...{ code: 'user-exists', status: 409 },
      detail: `There is already a user named "${name}", in this or another case. Change the password of that user, or choose another name.`,
    });
    expect(snapshot.users.find(name)?.settings.password.sealed).toBe(planted.hash);
  });

  it.each([
    ['', undefined],
    [' ', undefined],
    ['jane.doe', 'janedoe'],
    ['Jane Doe', 'JaneDoe'],
    [' ada', 'ada'],
    ['ada ', 'ada'],
    ['a-b', 'ab'],
    ['a_b', 'ab'],
    ['jane@example.com', 'janeexamplecom'],
    ['ädä', 'ada'],
    ['ａｄａ', 'ada'],
    ['K\u212a', 'KK'],
    ['\u017f', 's'],
    ['ada\u0000', 'ada'],
    ['ada\n', 'ada'],
    ['\ud800', undefined],
    ['١', undefined],
    ['😀', undefined],
    ['x'.repeat(65), undefined],
    [`${'-'.repeat(1000)}x`, undefined],
  ])('is refused for the name %j, and proposes %j', (name, proposal) => {
    const hint = proposal === undefined ? '' : `, such as "${proposal}"`;
    expect(expectRefused(create({ ...joan, name }))).toMatchObject({
      status: 422,
      errors: [{ pointer: '/name', detail: `must be 1 to 64 letters and digits (A-Z, a-z, 0-9)${hint}` }],
    });
    if (proposal !== undefined) expectAccepted(create({ ...joan, name: `${proposal}2` }));
  });

  it.each(['a', '0', 'x'.repeat(64), 'constructor', 'length', '007'])('accepts the name %s', (name) => {
    expect(expectAccepted(create({ ...joan, name })).next.users.find(name)?.name).toBe(name);
  });

  it.each([
    ['no hash', { name: 'joan' }, '/password'],
    ['an empty hash', { name: 'joan', password: { sealed: '' } }, '/password/sealed'],
    ['a hash that is no text', { name: 'joan', password: { sealed: 7 } }, '/password/sealed'],
    ['more than a hash', { name: 'joan', password: { sealed: 'x', salt: 'x' } }, '/password/salt'],
    ['a plain password', { ...joan, password: 'x' }, '/password'],
    ['a role', { ...joan, role: 'admin' }, '/role'],
    ['isAdmin', { ...joan, isAdmin: true }, '/isAdmin'],
  ])('is refused for %s', (_what, user, pointer) => {
    expect(expectRefused(create(user as NewUser))).toMatchObject({ status: 422, errors: [{ pointer }] });
  });

  it('looks no deeper than a hash is', () => {
    const password = { sealed: { deep: 'opaque' } as unknown as string };
    expect(expectRefused(create({ ...joan, password })).errors).toMatchObject([
      { pointer: '/password/sealed', detail: 'must not be nested more than 2 levels deep' },
    ]);
  });
});

describe('changing a password', () => {
  it.each(['Grace', 'GRACE', 'grace'])('replaces the hash of the user %s, without effects', (name) => {
    const { next, events, effects, resources } = expectAccepted(change(name, 'another'));
    expect(events).toMatchObject([
      { type: 'user.updated', resource: '/users/Grace', user: 'grace', password: { sealed: 'another' } },
    ]);
    expect([effects, resources]).toEqual([[], ['/users']]);
    expect(toDocument(next).users).toEqual([
      { name: 'ada', password: { sealed: planted.hash } },
      { name: 'Grace', password: { sealed: 'another' } },
    ]);
  });

  it('is a change also with the present hash, and moves the revision of the collection', () => {
    const { next } = expectAccepted(change('ada', planted.hash));
    expect([next.users.revision, next.users.find('ada')?.revision]).toEqual([1, 1]);
  });

  it('is possible for the last user', () => {
    const one = createSnapshot({ users: [joan] });
    expect(expectAccepted(change('joan99', 'another'), one, required).next.users.size).toBe(1);
  });

  it.each(['nobody', '', 'constructor', '__proto__', 'K\u212a'])(
    'is refused for the missing user %j',
    (name) => {
      expect(expectRefused(change(name, 'another')).code).toBe('user-not-found');
    },
  );

  it.each(['', 'a\u0000b', 'x'.repeat(4097), 7, undefined, { sealed: 'v1.opaque' }])(
    'is refused for the hash %j',
    (hash) => {
      expect(expectRefused(change('ada', hash as string))).toMatchObject({
        status: 422,
        errors: [{ pointer: '/password/sealed' }],
      });
    },
  );

  it('is refused in plain text', () => {
    const transition: Transition = (snapshot, context) =>
      changePassword(snapshot, 'ada', 'planted' as never, context);
    const problem = expectRefused(transition);
    expect(problem.errors).toMatchObject([{ pointer: '/password', code: 'validation-failed' }]);
    expect(JSON.stringify(problem)).not.toContain('planted');
  });

  it('cannot be undone, because the event does not have the old hash', () => {
    const { events } = expectAccepted(change('ada', 'another'));
    expect(events.map(canRevert)).toEqual([false]);
    expect(JSON.stringify(events)).not.toContain(planted.hash);
  });
});

describe('deleting a user', () => {
  it.each(['ada', 'ADA', 'aDa'])('finds the user by the name %s', (name) => {
    const { next, events, effects, resources } = expectAccepted(remove(name));
    expect(events).toMatchObject([{ type: 'user.deleted', resource: '/users/ada', user: 'ada' }]);
    expect([effects, resources]).toEqual([[], ['/users']]);
    expect([...next.users].map((user) => user.name)).toEqual(['Grace']);
  });

  it.each(['nobody', '', 'constructor', '__proto__'])('is refused for the missing user %j', (name) => {
    expect(expectRefused(remove(name)).code).toBe('user-not-found');
  });

  it('frees the name for a new user', () => {
    const { next } = expectAccepted(remove('ada'));
    expect(
      expectAccepted(create({ name: 'ADA', password: { sealed: 'new' } }), next).next.users.find('ada')?.name,
    ).toBe('ADA');
  });

  it('is refused for the last user if a log-in is required', () => {
    const { next } = expectAccepted(remove('ada'), sampleSnapshot(), required);
    expect(expectRefused(remove('Grace'), next, required)).toMatchObject({ code: 'last-user', status: 409 });
    expect(
      expectAccepted(remove('Grace'), next, { ...required, authentication: 'none' }).next.users.size,
    ).toBe(0);
    expect(expectAccepted(remove('Grace'), next, { now: 5 }).next.users.size).toBe(0);
  });

  it('refuses a missing user as missing, not as the last user', () => {
    const one = createSnapshot({ users: [joan] });
    expect(expectRefused(remove('nobody'), one, required).code).toBe('user-not-found');
    expect(expectRefused(remove('nobody'), createSnapshot({}), required).code).toBe('user-not-found');
  });
});

describe('a request for a password', () => {
  const setting = { op: 'replace', path: '/password', value: 'compiler' };

  /** Runs an interface whose hasher gives one hash for every password, and sends a request. */
  async function sent(
    method: string,
    target: string,
    body: Json,
    hash: string | Promise<string> = 'another',
  ) {
    const running = runAdmin({ hasher: { ...quickHasher, hash: () => Promise.resolve(hash) } });
    const records = readAudit(running.admin);
    const { send } = await transports.core(running.admin);
    const type = Array.isArray(body) ? 'application/json-patch+json' : 'application/json';
    const answer = send(method, target, { headers: { 'content-type': type }, body: JSON.stringify(body) });
    return { ...running, records, answer };
  }

  it('can test the name of the user', async () => {
    const test = { op: 'test', path: '/name', value: 'Grace' };
    const { admin, answer } = await sent('PATCH', '/users/GRACE', [test, setting]);
    expect((await answer).status).toBe(200);
    expect(admin.snapshot.users.find('grace')?.settings.password.sealed).toBe('another');
  });

  it('rests on all users if the patch is refused', async () => {
    const test = { op: 'test', path: '/name', value: 'Ada' };
    const { answer, records, clock } = await sent('PATCH', '/users/GRACE', [test, setting]);
    expect((await answer).body).toMatchObject({ code: 'patch-test-failed' });
    await clock.settle();
    expect(records).toMatchObject([{ resources: ['/users'] }]);
  });

  it.each([
    ['PUT', '/users', { name: 'joan', password: 'compiler' }],
    ['PATCH', '/users/GRACE', [setting]],
  ] as const)('is refused as the hash is: %s %s', async (method, target, body) => {
    const { answer, clock, admin } = await sent(method, target, body, new Promise(() => undefined));
    await clock.advance(10_000);
    expect((await answer).body).toMatchObject({
      code: 'overloaded',
      detail: 'The password was not hashed in time. Try again later.',
    });
    expect(admin.snapshot.revision).toBe(0);
  });
});
