/**
 * Silence: which nodes are silent to others, and which commands they end.
 */
import { describe, expect, it } from '@jest/globals';
import type { SharedStore } from 'gateway-admin-core/fleet';
import { hold } from 'gateway-admin-core/testing';

import { altered } from '../support/altered-store.ts';
import { said } from '../support/foreign-node.ts';
import { limit, port } from '../support/transition.ts';
import { createWorld, outcome } from './node.ts';

const leaseMs = 3000;

/** A store whose calls for the log, or whose announcements, reject while a test wants it. */
function failing(store: SharedStore, line: { log: boolean; announcements: boolean }): SharedStore {
  const unless = <T>(fails: boolean, call: () => Promise<T>): Promise<T> =>
    fails ? Promise.reject(new Error('The line is cut')) : call();
  return altered(store, {
    append: (records, where) => unless(line.log, () => store.append(records, where)),
    read: (after) => unless(line.log, () => store.read(after)),
    changed: (after, signal) => unless(line.log, () => store.changed(after, signal)),
    announce: (node, status) => unless(line.announcements, () => store.announce(node, status)),
  });
}

/** A node that hears another one, of which a test says what it announces. */
async function openObserver() {
  const world = createWorld();
  const store = world.memory.open();
  const say = (beat: number, more = {}) => store.announce('b', { ...said, beat, ...more });
  await say(1);
  const own = { ...world.clock };
  const line = { log: false, announcements: false };
  const { admin } = await world.open('a', leaseMs, { clock: own, wrap: (each) => failing(each, line) });
  /** Whether the node could take the other one out of the fleet. */
  const isSilent = async () => (await outcome({ admin }, 'DELETE', '/fleet/b?dry_run=true')) === '200';
  return { ...{ world, own, line, say, isSilent, admin }, advance: world.clock.advance };
}

describe('the silence of a node', () => {
  it('begins when the node was heard last, also between two beats', async () => {
    const { say, isSilent, advance, admin } = await openObserver();
    await advance(2900);
    await say(2);
    // For a client that waits for the other nodes, the node announces itself, and hears them.
    const waiting = admin.execute(limit(7), { settle: 'fleet', waitMs: 10 });
    await advance(50);
    await waiting;
    // The beats at 3, 4 and 5 seconds.
    await advance(2800);
    expect(await isSilent()).toBe(false);
    await advance(1000);
    expect(await isSilent()).toBe(true);
  });

  it.each([
    ['goes back', -3_600_000],
    ['fails', NaN],
  ])('is counted by the beats if the clock %s', async (_what, now) => {
    const { own, isSilent, advance } = await openObserver();
    await advance(1000);
    own.monotonic = () => now;
    await advance(1500);
    expect(await isSilent()).toBe(false);
    await advance(2000);
    expect(await isSilent()).toBe(true);
  });

  it('counts anew after every failed announcement: nobody could be heard', async () => {
    const { line, isSilent, advance } = await openObserver();
    await advance(2500);
    line.announcements = true;
    await advance(1000);
    line.announcements = false;
    // The beat at 4 seconds hears the others again, and those from 5 seconds on count.
    await advance(3000);
    expect(await isSilent()).toBe(false);
    await advance(1000);
    expect(await isSilent()).toBe(true);
  });

  it('is over when the node says something that this version cannot read', async () => {
    const { say, isSilent, advance } = await openObserver();
    await advance(20_000);
    expect(await isSilent()).toBe(true);
    await say(2, { format: 'of a later version' });
    await advance(20_000);
    expect(await isSilent()).toBe(false);
  });
});

describe('a node that was silent for too long', () => {
  it('keeps its commands if it is heard again before the record that ends them has its turn', async () => {
    const world = createWorld();
    let isSlow = false;
    const slow = (store: SharedStore): SharedStore =>
      altered(store, {
        append: async (...how) => {
          if (isSlow) await world.clock.sleep(7000);
          return store.append(...how);
        },
      });
    const line = { log: false, announcements: false };
    const limits = { effectDeadlineMs: 60_000 };
    const observer = await world.open('observer', leaseMs, { wrap: slow });
    const silent = await world.open('silent', leaseMs, { wrap: (store) => failing(store, line), limits });
    await world.clock.advance(2000);
    const held = hold();
    silent.gateway.will(held.apply);
    const changing = silent.admin.execute(limit(7));
    await world.clock.advance(1000);
    line.announcements = true;
    await world.clock.advance(1000);
    isSlow = true;
    const other = observer.admin.execute(port(7007));
    await world.clock.advance(4000);
    expect(observer.admin.fleet.nodes()).toMatchObject([{}, { node: 'silent', alive: false }]);
    line.announcements = false;
    isSlow = false;
    await world.clock.advance(10_000);
    expect((await other).outcome).toBe('accepted');
    held.done();
    await world.clock.advance(1000);
    expect((await changing).outcome).toBe('accepted');
  });
});

describe('a node that was nearly silent for too long', () => {
  it('is not silent a second after an outage in which the observer could not read the log', async () => {
    const world = createWorld();
    const ofObserver = { log: false, announcements: false };
    const ofSilent = { log: false, announcements: false };
    const observer = await world.open('observer', leaseMs, { wrap: (store) => failing(store, ofObserver) });
    const limits = { effectDeadlineMs: 60_000 };
    const silent = await world.open('silent', leaseMs, { wrap: (store) => failing(store, ofSilent), limits });
    await world.clock.advance(2000);
    const held = hold();
    silent.gateway.will(held.apply);
    const changing = silent.admin.execute(limit(7));
    await world.clock.settle();
    // One or two beats of three are missing when the observer cannot read the log any more.
    ofSilent.announcements = true;
    await world.clock.advance(1500);
    ofObserver.log = true;
    await world.clock.advance(3000);
    ofObserver.log = false;
    // The observer reads again, and counts another second of silence.
    await world.clock.advance(2000);
    ofSilent.announcements = false;
    await world.clock.advance(2000);
    held.done();
    await world.clock.advance(1000);
    expect((await changing).outcome).toBe('accepted');
    expect(observer.admin.fleet.nodes()).toMatchObject([{}, { node: 'silent', alive: true }]);
  });
});

it('a call of announce that never ends does not make a node silent', async () => {
  const world = createWorld();
  let calls = 0;
  const nodes = [
    await world.open('a', 4000, {
      wrap: (store) =>
        altered(store, {
          announce: (...how) => {
            calls += 1;
            return calls === 5 ? new Promise(() => undefined) : store.announce(...how);
          },
        }),
    }),
    await world.open('b', 4000),
  ] as const;
  for (let second = 0; second < 10; second += 1) {
    await world.clock.advance(1000);
    expect(nodes[1].admin.fleet.nodes().every(({ alive }) => alive)).toBe(true);
  }
  expect(calls).toBeGreaterThan(6);
});
