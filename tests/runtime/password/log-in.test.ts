import { describe, expect, it } from '@jest/globals';
import {
  changePassword,
  createBasicAuthentication,
  createMemoryStore,
  createSnapshot,
  createUser,
  deleteUser,
  type Hasher,
  type Transition,
} from 'gateway-admin-core';
import { createVirtualClock } from 'gateway-admin-core/testing';

import {
  createLogIn,
  createNotingHasher,
  credentials,
  quickHasher,
  requestWith,
  snapshotOf,
} from '../../support/log-in.ts';
import { openRunning, runAdmin } from '../../support/running-admin.ts';

/** A hasher that answers when it is told to. */
function createHeldHasher() {
  const verified: string[] = [];
  let present: Hasher = quickHasher;
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  return {
    verified,
    release: () => release(),
    verifyWith: (other: Hasher) => (present = other),
    hasher: {
      hash: (password: string) => quickHasher.hash(password),
      async verify(password: string, hash: string) {
        verified.push(password);
        await released;
        return present.verify(password, hash);
      },
    },
  };
}

/** Waits until something is so. Hashing takes its time outside the event loop. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}

describe('the work of a log-in', () => {
  /** The work of the log-ins, one after the other, with names and passwords. */
  async function workOf(...logIns: readonly (readonly [string, string])[]): Promise<readonly string[]> {
    const { hasher: noted, work } = createNotingHasher();
    const logIn = createLogIn(noted);
    const snapshot = await snapshotOf({ ada: 'engine' });
    for (const each of logIns) await logIn(requestWith(credentials(...each)), snapshot);
    return work.calls;
  }

  // Promise: log-in-work
  it('is the same for an unknown user, a wrong password and the right one, from the first on', async () => {
    const first = await workOf(['ada', 'difference']);
    expect(first).toEqual(['hash', 'verify $pbkdf2-sha256$i=1']);
    expect(await workOf(['bob', 'difference'])).toEqual(first);
    expect(await workOf(['ada', 'engine'])).toEqual(first);
  });

  it('is the same where there are no users at all', async () => {
    const { hasher: noted, work } = createNotingHasher();
    const logIn = createLogIn(noted);
    expect(await logIn(requestWith(credentials('ada', 'engine')), createSnapshot({}))).toBeUndefined();
    expect(work.calls).toEqual(['hash', 'verify $pbkdf2-sha256$i=1']);
  });
});

describe('many log-ins at the same time', () => {
  // Promise: hash-limit
  it('are verified a few at a time; some wait, the others are throttled', async () => {
    const { hasher, work } = createNotingHasher();
    const logIn = createLogIn(hasher);
    const snapshot = await snapshotOf({ ada: 'engine' });
    const guesses = Array.from({ length: 1000 }, (_none, at) => credentials('ada', String(at)));
    const answers = await Promise.all(guesses.map((guess) => logIn(requestWith(guess), snapshot)));
    expect(work.most).toBe(2);
    expect(work.under).toBe(0);
    // Which ones is not determined: the fingerprints of the log-ins are made at the same time.
    expect(answers.filter((answer) => answer === undefined)).toHaveLength(66);
    expect(answers.filter((answer) => answer === 'throttled')).toHaveLength(934);
    expect(work.calls.filter((call) => call.startsWith('verify'))).toHaveLength(66);
    expect(work.calls.filter((call) => call === 'hash')).toHaveLength(1);
  });

  const ada = (peer: string, password = 'engine') => requestWith(credentials('ada', password), { peer });

  /** A queue of one running and ten waiting log-ins, which 100 guesses have filled. Nothing is verified before the release. */
  async function flood(peerOf: (at: number) => string) {
    const held = createHeldHasher();
    const logIn = createLogIn(held.hasher, { maxHashesInFlight: 1, maxHashesQueued: 10 });
    const snapshot = await snapshotOf({ ada: 'engine', grace: 'compiler' });
    let throttled = 0;
    const ask = async (request: ReturnType<typeof requestWith>) => {
      const answer = await logIn(request, snapshot);
      if (answer === 'throttled') throttled += 1;
      return answer;
    };
    const guesses = Array.from({ length: 100 }, (_none, at) => ask(ada(peerOf(at), String(at))));
    await until(() => throttled === 89);
    return { held, ask, guesses, throttled: (count: number) => until(() => throttled === count) };
  }

  // Promise: log-in-share
  it('leave a place for a client at another address, and for another user of the same address', async () => {
    const { held, ask, guesses, throttled } = await flood(() => '192.0.2.1');
    const elsewhere = ask(ada('192.0.2.2'));
    await throttled(90);
    const other = ask(requestWith(credentials('grace', 'compiler'), { peer: '192.0.2.1' }));
    await throttled(91);
    held.release();
    expect([await elsewhere, await other]).toEqual([{ name: 'ada' }, { name: 'grace' }]);
    expect((await Promise.all(guesses)).filter((answer) => answer === undefined)).toHaveLength(9);
    // After the guess that was under way, the peers take turns, and the names of a peer take turns.
    expect(held.verified.slice(2, 4)).toEqual(['engine', 'compiler']);
  });

  it('leave a place for a client at any other network, against guesses from a /56 of IPv6', async () => {
    const { held, ask, guesses, throttled } = await flood((at) => `2001:db8:1:${at.toString(16)}::1`);
    const right = ask(ada('2001:db8:2::1'));
    await throttled(90);
    held.release();
    expect(await right).toEqual({ name: 'ada' });
    await Promise.all(guesses);
    expect(held.verified.indexOf('engine')).toBeLessThanOrEqual(2);
  });

  it('leave a turn for a client without a failed log-in, against 20 addresses that repeat their guesses', async () => {
    const held = createHeldHasher();
    const logIn = createLogIn(held.hasher, { maxHashesInFlight: 1, maxHashesQueued: 10 });
    const snapshot = await snapshotOf({ ada: 'engine' });
    const guess = (at: number) => logIn(ada(`192.0.2.${String(at)}`, String(at)), snapshot);
    held.release();
    const peers = [...Array(20).keys()];
    for (const at of peers) expect(await guess(at)).toBeUndefined();
    const stuck = createHeldHasher();
    held.verifyWith(stuck.hasher);
    let throttled = 0;
    const again = peers.map(async (at) => {
      if ((await guess(at)) === 'throttled') throttled += 1;
    });
    await until(() => throttled === 9);
    const answer = logIn(ada('192.0.2.99'), snapshot);
    await until(() => throttled === 10);
    stuck.release();
    expect(await answer).toEqual({ name: 'ada' });
    await Promise.all(again);
    expect(stuck.verified.indexOf('engine')).toBeLessThanOrEqual(2);
  });

  it('do not stand in the way of malformed ones, which need no turn', async () => {
    const held = createHeldHasher();
    const logIn = createLogIn(held.hasher, { maxHashesInFlight: 1, maxHashesQueued: 1 });
    const snapshot = await snapshotOf({ ada: 'engine' });
    const answers = [1, 2, 3].map(() => logIn(requestWith(credentials('ada', 'engine')), snapshot));
    expect(await logIn(requestWith('Basic x'), snapshot)).toBeUndefined();
    // Which of the three finds no place is decided by WebCrypto.
    expect(await Promise.race(answers)).toBe('throttled');
    held.release();
    const names = (await Promise.all(answers)).filter((answer) => answer !== 'throttled');
    expect(names).toEqual([{ name: 'ada' }, { name: 'ada' }]);
  });

  // Their order is that of their arrival in the queue (see fair-queue.test.ts), which WebCrypto decides.
  it('are verified one by one, but for those whose client went away', async () => {
    const held = createHeldHasher();
    const logIn = createLogIn(held.hasher, { maxHashesInFlight: 1 });
    const snapshot = await snapshotOf({ ada: 'engine' });
    const controller = new AbortController();
    const answers = ['1', '2', '3', 'engine', '5'].map((password) => {
      const signal = password === '3' ? controller.signal : new AbortController().signal;
      return logIn(requestWith(credentials('ada', password), { signal }), snapshot);
    });
    controller.abort();
    held.release();
    expect(await Promise.all(answers)).toEqual([undefined, undefined, undefined, { name: 'ada' }, undefined]);
    expect([...held.verified].sort()).toEqual(['1', '2', '5', 'engine']);
  });
});

describe('a log-in that was verified', () => {
  const header = credentials('ada', 'engine');
  const verifications = ({ calls }: { readonly calls: readonly string[] }): number =>
    calls.filter((call) => call.startsWith('verify')).length;

  /** Logs in from networks, with a count of the verifications. */
  async function remembering() {
    const { hasher, work } = createNotingHasher();
    const clock = createVirtualClock(0, { turn: 'event-loop' });
    const logIn = createLogIn(hasher, {}, clock);
    const snapshot = await snapshotOf({ Ada: 'engine' });
    const from = (peer?: string, name = 'ada') =>
      logIn(requestWith(credentials(name, 'engine'), peer === undefined ? {} : { peer }), snapshot);
    const fromAll = async (...numbers: readonly number[]): Promise<void> => {
      for (const each of numbers) await from(`192.0.2.${String(each)}`);
    };
    return { from, fromAll, clock, verified: () => verifications(work) };
  }

  // Promise: remembered-log-in
  it('is remembered for five minutes, whatever the case of the name, and starts no timer for them', async () => {
    const { from, clock, verified } = await remembering();
    expect(await from('', 'aDA')).toEqual({ name: 'Ada' });
    expect(clock.sleeping).toBe(0);
    await clock.advance(299_999);
    expect([await from('', 'ada'), verified()]).toEqual([{ name: 'Ada' }, 1]);
    await clock.advance(1);
    expect([await from('', 'aDA'), verified()]).toEqual([{ name: 'Ada' }, 2]);
  });

  const networks = [...Array(17).keys()];
  it('is remembered for five minutes again, once another log-in has pushed it out', async () => {
    const { fromAll, clock, verified } = await remembering();
    await fromAll(...networks);
    await clock.advance(200_000);
    await fromAll(0);
    await clock.advance(299_999);
    await fromAll(0);
    expect(verified()).toBe(18);
  });

  it('is remembered for each network of a user', async () => {
    const { from, verified } = await remembering();
    const peers = ['192.0.2.1', '2001:db8::1', '192.0.2.1', '2001:db8::ffff', undefined, undefined];
    for (const peer of peers) await from(peer);
    expect(verified()).toBe(3);
  });

  it('is forgotten for the network that logged in first, beyond 16 networks', async () => {
    const { fromAll, verified } = await remembering();
    await fromAll(...networks, ...networks.slice(1).toReversed());
    expect(verified()).toBe(17);
    await fromAll(0);
    expect(verified()).toBe(18);
  });

  it('is verified once, if its client sends many requests at the same time', async () => {
    const { hasher, work } = createNotingHasher();
    const logIn = createLogIn(hasher, { maxHashesInFlight: 1 });
    const snapshot = await snapshotOf({ ada: 'engine' });
    const answers = await Promise.all(Array.from({ length: 20 }, () => logIn(requestWith(header), snapshot)));
    expect(answers).toEqual(Array.from({ length: 20 }, () => ({ name: 'ada' })));
    expect(verifications(work)).toBe(1);
  });

  it.each([
    ['another password', 'ada', 'difference'],
    ['another user with the same password', 'grace', 'engine'],
    ['no user', 'joan', 'engine'],
  ])('is not the log-in of %s', async (_what, name, password) => {
    const logIn = createLogIn(quickHasher);
    const snapshot = await snapshotOf({ ada: 'engine', grace: 'compiler' });
    await logIn(requestWith(header), snapshot);
    expect(await logIn(requestWith(credentials(name, password)), snapshot)).toBeUndefined();
  });

  it('is forgotten once the user is gone, is another one, or has another password', async () => {
    const access = { authenticate: createBasicAuthentication() };
    const { admin } = runAdmin({ snapshot: await snapshotOf({ ada: 'engine', grace: 'compiler' }), access });
    const [engine, another] = await Promise.all(['engine', 'another'].map((each) => quickHasher.hash(each)));
    const statusAfter = async (...steps: readonly Transition[]): Promise<unknown> => {
      for (const step of steps) await admin.execute(step);
      const handled = await admin.handle(requestWith(header));
      return handled.matched && handled.response.status;
    };
    const have =
      (passwordHash = ''): Transition =>
      (snapshot, context) =>
        changePassword(snapshot, 'ada', { sealed: passwordHash }, context);
    const isGone: Transition = (snapshot, context) => deleteUser(snapshot, 'ada', context);
    const isAnother: Transition = (snapshot, context) =>
      createUser(snapshot, { name: 'ada', password: { sealed: another ?? '' } }, context);
    expect(await statusAfter()).toBe(200);
    expect(await statusAfter(have(another))).toBe(401);
    expect(await statusAfter(have(engine))).toBe(200);
    expect(await statusAfter(isGone)).toBe(401);
    expect(await statusAfter(isAnother)).toBe(401);
    await admin.close();
  });

  // Promise: guess-elsewhere
  it('does not tell a right guess from a wrong one at another network, while all places are taken', async () => {
    const held = createHeldHasher();
    const logIn = createLogIn(held.hasher, { maxHashesInFlight: 1, maxHashesQueued: 1 });
    const snapshot = await snapshotOf({ ada: 'engine' });
    const from = (peer: string, password: string) =>
      logIn(requestWith(credentials('ada', password), { peer }), snapshot);
    held.release();
    await from('192.0.2.1', 'engine');
    const stuck = createHeldHasher();
    held.verifyWith(stuck.hasher);
    const guesses = ['1', '2', '3'].map((guess) => from('192.0.2.2', guess));
    expect(await Promise.race(guesses)).toBe('throttled');
    expect(await from('192.0.2.2', 'engine')).toBe('throttled');
    expect(await from('192.0.2.1', 'engine')).toEqual({ name: 'ada' });
    stuck.release();
  });
});

// Promise: hash-deadline
it('a hasher that does not answer is waited for until the deadline, and its place is free again', async () => {
  const held = createHeldHasher();
  const clock = createVirtualClock(0, { turn: 'event-loop' });
  const limits = { maxHashesInFlight: 1, maxHashesQueued: 1, hashDeadlineMs: 10_000 };
  const logIn = createLogIn(held.hasher, limits, clock);
  const snapshot = await snapshotOf({ ada: 'engine' });
  const [first, second] = [0, 1].map(() => logIn(requestWith(credentials('ada', 'engine')), snapshot));
  await until(() => held.verified.length === 1);
  await clock.advance(10_000);
  expect(await first).toBe('overloaded');
  held.release();
  expect(await second).toEqual({ name: 'ada' });
});

it.each([
  ['could not make', () => Promise.reject(new Error('out of memory')), 'Error: out of memory'],
  ['never made', () => new Promise<never>(() => undefined), 'overloaded'],
])('a hasher is asked again for the decoy that it %s', async (_what, failing, first) => {
  let calls = 0;
  const hash: Hasher['hash'] = (password) => ((calls += 1) === 1 ? failing() : quickHasher.hash(password));
  const clock = createVirtualClock(0, { turn: 'event-loop' });
  const logIn = createLogIn({ ...quickHasher, hash }, {}, clock);
  const snapshot = await snapshotOf({ ada: 'engine' });
  const guess = (password: string) => logIn(requestWith(credentials('ada', password)), snapshot);
  const answer = guess('engine').catch(String);
  await until(() => calls === 1);
  await clock.advance(10_000);
  expect(await answer).toBe(first);
  expect(await guess('engine')).toEqual({ name: 'ada' });
  expect(await guess('difference')).toBeUndefined();
  expect(calls).toBe(2);
});

describe('an interface whose users have hashes that the hasher does not know', () => {
  const users = [
    { name: 'ada', password: { sealed: '$2b$10$of-another-hasher' } },
    { name: 'grace', password: { sealed: '$scrypt$of-another-hasher' } },
  ];
  const told = /^The hasher does not know the password hash of "ada", "grace"/;
  const authenticate = createBasicAuthentication();

  // Promise: known-hashes
  it('is not started, with a document or with a store', async () => {
    expect(() => runAdmin({ snapshot: createSnapshot({ users }), access: { authenticate } })).toThrow(told);
    const store = createMemoryStore();
    const before = await openRunning(store, { snapshot: createSnapshot({ users }) });
    await before.admin.execute((snapshot, context) => deleteUser(snapshot, 'grace', context));
    await before.admin.close();
    const opening = openRunning(store, { snapshot: createSnapshot({}), access: { authenticate } });
    await expect(opening).rejects.toThrow(/^The hasher does not know the password hash of "ada", so/);
  });

  it('is started without a log-in, and with a hasher that does not tell', async () => {
    await runAdmin({ snapshot: createSnapshot({ users }) }).admin.close();
    const hasher: Hasher = { ...quickHasher };
    delete hasher.knows;
    await runAdmin({ snapshot: createSnapshot({ users }), access: { authenticate }, hasher }).admin.close();
  });

  it('lists 20 users, and says how many more there are', () => {
    const many = Array.from({ length: 25 }, (_none, at) => ({
      name: `u${String(at)}`,
      password: { sealed: 'x' },
    }));
    const start = () => runAdmin({ snapshot: createSnapshot({ users: many }), access: { authenticate } });
    expect(start).toThrow(/"u19" and 5 more, so these users could never log in/);
  });
});
