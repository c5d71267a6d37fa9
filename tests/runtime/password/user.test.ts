/**
 * The first user, and users whose password gets a hash of another cost.
 */
import { describe, expect, it } from '@jest/globals';
import {
  changePassword,
  createBasicAuthentication,
  createMemoryStore,
  createPbkdf2Hasher,
  createSnapshot,
  deleteUser,
  hostProblem,
  type Admin,
  type AdminEvent,
  type AdminOptions,
  type AdminResponse,
  type Hasher,
  type Transition,
} from 'gateway-admin-core';

import { ask } from '../../support/ask.ts';
import { otherLife } from '../../support/event-reader.ts';
import { openStream } from '../../support/event-stream.ts';
import { credentials } from '../../support/log-in.ts';
import { openRunning, runAdmin, type Running } from '../../support/running-admin.ts';
import { setReadOnly } from '../../support/read-only.ts';

const empty = { snapshot: createSnapshot({}), access: { authenticate: createBasicAuthentication() } };
const newUser = { name: 'ada', password: 'engine' };

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
    const execution = await admin.createFirstUser(newUser);
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
    const executions = await Promise.all([admin.createFirstUser(newUser), admin.createFirstUser(eve)]);
    expect(executions.map(({ outcome }) => outcome).toSorted()).toEqual(['accepted', 'refused']);
    expect([...admin.snapshot.users]).toHaveLength(1);
  });

  it('is refused once there is a user, and hashes nothing', async () => {
    const hashed: string[] = [];
    const hash = (password: string) => Promise.resolve(`hash ${String(hashed.push(password))}`);
    const { admin } = runAdmin({ ...empty, hasher: { hash, verify: () => Promise.resolve(false) } });
    await admin.createFirstUser(newUser);
    const problem = { code: 'user-exists', status: 409 };
    const second = await admin.createFirstUser({ name: 'eve', password: 'apple' });
    expect(second).toMatchObject({ outcome: 'refused', problem });
    expect(hashed).toEqual(['engine']);
  });

  it.each([
    ['an empty password', 'ada', '', '/password', 'password-unacceptable'],
    ['a password that the host objects to', 'ada', 'ada', '/password', 'password-unacceptable'],
    ['a password that is none', 'ada', 7 as unknown as string, '/password', 'validation-failed'],
    ['a name with a space', 'ada l', 'engine', '/name', 'validation-failed'],
  ])('refuses %s', async (_what, name, password, pointer, code) => {
    const passwordPolicy = (password: string) => (password === 'ada' ? 'must not be the name' : undefined);
    const { admin } = runAdmin({ ...empty, access: { ...empty.access, passwordPolicy } });
    const execution = await admin.createFirstUser({ name, password });
    const problem = { status: 422, errors: [{ pointer, code }] };
    expect(execution).toMatchObject({ outcome: 'refused', problem });
    expect(admin.snapshot.users.size).toBe(0);
  });
});

describe('an interface that is open until there is a user', () => {
  // Promise: open-until-first-user
  it('asks for a log-in from the moment at which the first user exists', async () => {
    const authenticate = createBasicAuthentication({ openUntilFirstUser: true });
    const { admin } = runAdmin({ ...empty, access: { authenticate } });
    expect(await statusOf(admin)).toBe(200);
    expect((await ask(admin, 'PUT /users', { body: newUser })).status).toBe(204);
    expect([await statusOf(admin), await statusOf(admin, 'ada:engine')]).toEqual([401, 200]);
  });

  it('refuses a request that was on the way when the first user was created', async () => {
    const authenticate = createBasicAuthentication({ openUntilFirstUser: true });
    const { admin } = runAdmin({ ...empty, access: { authenticate } });
    const body = async () => {
      await admin.createFirstUser(newUser);
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
    const authenticate = createBasicAuthentication({ openUntilFirstUser: true });
    const [open, host] = [
      runAdmin({ ...empty, access: { authenticate } }),
      runAdmin({ snapshot: createSnapshot({}) }),
    ];
    const body = JSON.stringify(newUser);
    await open.admin.handle({ ...create, body });
    await host.admin.handle({ ...create, body, principal: { name: 'host' } });
    for (const { admin, errors } of [open, host])
      expect([admin.snapshot.users.size, errors]).toEqual([1, []]);
  });
});

const [older, hasher] = [1, 2].map((rounds) => createPbkdf2Hasher({ rounds })) as [Hasher, Hasher];
const patchType = { 'content-type': 'application/json-patch+json' };

/** The options of an interface whose user ada has a hash of the older hasher. */
async function optionsWith(present: Hasher = hasher) {
  const users = [
    { name: 'ada', password: { sealed: await older.hash('engine') } },
    { name: 'Grace', password: { sealed: await hasher.hash('compiler') } },
  ];
  const snapshot = createSnapshot({ users }, { epoch: 'sample' });
  return { snapshot, hasher: present, access: { authenticate: createBasicAuthentication() } };
}

async function send(
  { admin }: Running,
  [name, password]: readonly [string, string],
  method = 'GET',
  target = '/users',
  body?: () => Promise<Uint8Array>,
): Promise<AdminResponse> {
  const headers = { authorization: credentials(name, password), ...patchType };
  const request = { method, target, headers, ...(body === undefined ? {} : { body }) };
  const handled = await admin.handle(request);
  if (!handled.matched) throw new Error(`Nothing at ${target}`);
  return handled.response;
}

const ada = ['ada', 'engine'] as const;
const grace = ['grace', 'compiler'] as const;
const hashOf = ({ admin }: Running, name: string): string =>
  admin.snapshot.users.find(name)?.settings.password.sealed ?? '';

/** A hasher that waits with each new hash, and then makes the hash or fails. */
function createHeldHasher() {
  let [go, fail]: [() => void, (error: Error) => void] = [() => undefined, () => undefined];
  const held = new Promise<void>((resolve, reject) => ([go, fail] = [resolve, reject]));
  // The decoy is made at once.
  const hash: Hasher['hash'] = (password) =>
    password === 'nobody' ? hasher.hash(password) : held.then(() => hasher.hash(password));
  return { ...hasher, hash, go, fail };
}

/** The type of the first event of a running interface. Waits for the event. */
async function firstEvent({ admin }: Running): Promise<string | undefined> {
  for await (const item of admin.events({ after: otherLife })) if ('event' in item) return item.event.type;
  return undefined;
}

/** The events of a running interface. Ends the interface. */
async function eventsOf({ admin, clock }: Running): Promise<readonly AdminEvent[]> {
  const reader = admin.events({ after: otherLife });
  await clock.settle();
  await admin.close();
  const events: AdminEvent[] = [];
  for await (const item of reader) if ('event' in item) events.push(item.event);
  return events;
}

describe('a log-in with a hash of an older cost', () => {
  // Promise: rehash
  it('renews the hash by an event of its own, and the password and every entity tag stay', async () => {
    const running = runAdmin(await optionsWith());
    const { users } = running.admin.snapshot;
    const reader = running.admin.events();
    const { etag } = (await send(running, ada)).headers;
    expect((await reader.next()).value).toMatchObject({
      event: { type: 'user.rehashed', resource: '/users/ada', user: 'ada', actor: 'ada' },
    });
    expect(hashOf(running, 'ada')).toMatch(/^\$pbkdf2-sha256\$i=2\$/);
    expect(running.admin.snapshot.users.revision).toBe(users.revision);
    const again = await send(running, ada);
    expect([again.status, again.headers['etag']]).toEqual([200, etag]);
    expect((await eventsOf(running)).map(({ type }) => type)).toEqual(['user.rehashed']);
  });

  it.each([
    ['a wrong password', ['ada', 'difference'], 401],
    ['an unknown user', ['joan', 'engine'], 401],
    ['a hash of the present cost', grace, 200],
  ] as const)('is needed: with %s, no hash is renewed', async (_what, credentials, status) => {
    const running = runAdmin(await optionsWith());
    const { snapshot } = running.admin;
    expect((await send(running, credentials)).status).toBe(status);
    expect(await eventsOf(running)).toEqual([]);
    expect(running.admin.snapshot).toBe(snapshot);
  });

  it('does not wait for the new hash', async () => {
    const held = createHeldHasher();
    const running = runAdmin(await optionsWith(held));
    expect((await send(running, ada)).status).toBe(200);
    expect(hashOf(running, 'ada')).toMatch(/^\$pbkdf2-sha256\$i=1\$/);
    held.go();
    expect(await firstEvent(running)).toBe('user.rehashed');
    expect(await eventsOf(running)).toHaveLength(1);
  });

  it.each<[string, Transition]>([
    [
      'another password',
      (snapshot, context) => changePassword(snapshot, 'ada', { sealed: 'another' }, context),
    ],
    ['no place', (snapshot, context) => deleteUser(snapshot, 'ada', context)],
  ])('renews nothing once the user has %s', async (_what, transition) => {
    const held = createHeldHasher();
    const running = runAdmin(await optionsWith(held));
    await send(running, ada);
    await running.admin.execute(transition);
    const { snapshot } = running.admin;
    held.go();
    expect(await eventsOf(running)).toHaveLength(1);
    expect(running.admin.snapshot).toBe(snapshot);
    expect(running.errors).toEqual([]);
  });

  // Promise: rehash-caller
  it('ends no log-in: a stream goes on, and a command that waits meanwhile is done', async () => {
    const held = createHeldHasher();
    const running = runAdmin(await optionsWith(held));
    const stream = await openStream(running.admin, { headers: { authorization: credentials(...ada) } });
    let sent: (bytes: Uint8Array) => void = () => undefined;
    const body = new Promise<Uint8Array>((resolve) => (sent = resolve));
    const answer = send(running, ada, 'PATCH', '/users/grace', () => body);
    const reader = running.admin.events();
    held.go();
    expect((await reader.next()).value).toMatchObject({ event: { type: 'user.rehashed' } });
    sent(new TextEncoder().encode('[{"op":"replace","path":"/password","value":"cobol"}]'));
    expect((await answer).status).toBe(200);
    expect((await stream.messages(2)).map(({ type }) => type)).toEqual(['user.rehashed', 'user.updated']);
    await stream.leave();
  });

  it('succeeds also if no new hash can be made, and the host is told', async () => {
    const held = createHeldHasher();
    const running = runAdmin(await optionsWith(held));
    expect((await send(running, ada)).status).toBe(200);
    held.fail(new Error('out of memory'));
    expect(await eventsOf(running)).toEqual([]);
    expect(running.errors).toEqual([new Error('out of memory')]);
  });

  it('is tried again by a later log-in if the new hash was not made in time, and says nothing', async () => {
    let isSlow = true;
    const hash: Hasher['hash'] = (password) =>
      isSlow && password !== 'nobody' ? new Promise(() => undefined) : hasher.hash(password);
    const running = runAdmin(await optionsWith({ ...hasher, hash }));
    const before = hashOf(running, 'ada');
    expect((await send(running, ada)).status).toBe(200);
    await running.clock.advance(running.admin.limits.hashDeadlineMs);
    expect(hashOf(running, 'ada')).toBe(before);
    isSlow = false;
    // After five minutes, the log-in is verified again.
    await running.clock.advance(300_000);
    expect((await send(running, ada)).status).toBe(200);
    // The platform hashes in threads of its own, so the clock cannot wait for the hash.
    expect(await firstEvent(running)).toBe('user.rehashed');
    expect(await eventsOf(running)).toHaveLength(1);
    expect(running.errors).toEqual([]);
  });

  it('keeps the new hash over a restart', async () => {
    const store = createMemoryStore();
    const first = await openRunning(store, await optionsWith());
    await send(first, ada);
    expect(await firstEvent(first)).toBe('user.rehashed');
    await first.admin.close();
    const renewed = hashOf(first, 'ada');
    const second = await openRunning(store, await optionsWith());
    expect(hashOf(second, 'ada')).toBe(renewed);
    await second.admin.close();
  });

  it.each([
    ['neither before nor after it is made', [false, false], 1],
    ['before it is made', [true, true], 0],
    ['while it is made', [false, true], 0],
  ] as const)(
    'renews the hash unless the interface is read-only: %s',
    async (_when, [before, after], count) => {
      let make = (): void => undefined;
      const made = new Promise<string>((resolve) => (make = () => resolve('$pbkdf2-sha256$i=2$new')));
      const hash: Hasher['hash'] = (password) => (password === 'nobody' ? hasher.hash(password) : made);
      const running = runAdmin(await optionsWith({ ...hasher, hash }));
      await setReadOnly(running.admin, before);
      expect((await send(running, ada)).status).toBe(200);
      await setReadOnly(running.admin, after);
      const { revision } = running.admin.snapshot;
      make();
      const renewals = (await eventsOf(running)).filter(({ type }) => type === 'user.rehashed');
      expect(renewals).toHaveLength(count);
      expect(running.admin.snapshot.revision - revision).toBe(count);
      expect(running.errors).toEqual([]);
    },
  );

  it('obeys the rule of the host, and says nothing', async () => {
    const refusal = hostProblem('host-no', { status: 409, title: 'No', detail: 'Not now.' });
    const veto: AdminOptions['veto'] = () => refusal;
    const running = runAdmin({ ...(await optionsWith()), veto });
    expect((await send(running, ada)).status).toBe(200);
    expect(await eventsOf(running)).toEqual([]);
    expect(running.errors).toEqual([]);
  });
});
