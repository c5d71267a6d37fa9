/**
 * A store whose hints fail: what the operator learns, and when.
 */
import { expect, it } from '@jest/globals';

import { altered } from '../support/altered-store.ts';
import { createWorld, type World } from './node.ts';

/** A node on a store whose hints fail while a test wants it. */
async function openOn(hints: { fail: boolean }, world: World = createWorld()) {
  const node = await world.open('one', 10_000, {
    wrap: (store) =>
      altered(store, {
        changed: async (...how) =>
          hints.fail ? Promise.reject(new Error('The queue is full.')) : store.changed(...how),
      }),
  });
  const codes = (): readonly string[] => node.admin.alerts().map(({ code }) => code);
  return { ...node, clock: world.clock, codes };
}

// Promise: hints-failing
it('a node says once that hints fail, for as long as they fail', async () => {
  const hints = { fail: false };
  const { clock, errors, codes } = await openOn(hints);
  for (const times of [1, 2]) {
    hints.fail = true;
    await clock.advance(60_000);
    expect(codes()).toContain('hints-failing');
    expect(errors).toHaveLength(times);
    hints.fail = false;
    await clock.advance(5000);
    expect(codes()).not.toContain('hints-failing');
  }
});

it('a node says nothing about a hint that fails now and then', async () => {
  const hints = { fail: false };
  const { clock, errors, codes } = await openOn(hints);
  for (let times = 0; times < 5; times += 1) {
    hints.fail = true;
    await clock.advance(1500);
    expect(codes()).not.toContain('hints-failing');
    hints.fail = false;
    await clock.advance(1500);
  }
  expect(errors).toEqual([]);
});

it('a node says of a store that does not answer only that', async () => {
  const node = await openOn({ fail: false });
  const { clock, errors, codes } = node;
  node.cut(true);
  await clock.advance(30_000);
  expect(codes()).toContain('store-retrying');
  expect(codes()).not.toContain('hints-failing');
  expect(errors).toEqual([new Error('The line is cut')]);
});
