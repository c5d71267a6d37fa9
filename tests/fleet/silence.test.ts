import { describe, expect, it } from '@jest/globals';
import type { SharedStore } from 'gateway-admin-core/fleet';
import { hold } from 'gateway-admin-core/testing';

import { limit, port } from '../support/transition.ts';
import { altered, createWorld } from './node.ts';

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
    const observer = await world.open('observer', 3000, { wrap: slow });
    const silent = await world.open('silent', 3000, { wrap: (store) => failing(store, line), limits });
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
    await observer.admin.close();
    await silent.admin.close();
  });
});

describe('a node that was nearly silent for too long', () => {
  it('is not taken for dead a second after an outage in which the observer could not read the log', async () => {
    const world = createWorld();
    const [ofObserver, ofSilent] = [
      { log: false, announcements: false },
      { log: false, announcements: false },
    ];
    const observer = await world.open('observer', 3000, { wrap: (store) => failing(store, ofObserver) });
    const limits = { effectDeadlineMs: 60_000 };
    const silent = await world.open('silent', 3000, { wrap: (store) => failing(store, ofSilent), limits });
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
    expect(observer.admin.fleet.nodes()).toMatchObject([
      { node: 'observer' },
      { node: 'silent', alive: true },
    ]);
    await observer.admin.close();
    await silent.admin.close();
  });
});
