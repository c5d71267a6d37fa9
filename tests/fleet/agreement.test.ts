/**
 * Agreement: a node whose configuration differs from that of another node is found out.
 */
import { expect, it } from '@jest/globals';
import type { Json } from 'gateway-admin-core';
import type { SharedStore } from 'gateway-admin-core/fleet';

import { altered } from '../support/altered-store.ts';
import { said } from '../support/foreign-node.ts';
import { limit, port } from '../support/transition.ts';
import { createWorld } from './node.ts';

const sentence = (name: string) =>
  expect.stringContaining(`The node "${name}" has read another configuration`) as unknown;

it('a node that reads something else out of the log is found out at every node, once, until it agrees', async () => {
  const world = createWorld();
  const lying = (store: SharedStore): SharedStore =>
    altered(store, {
      read: async (after) => {
        const text = JSON.stringify(await store.read(after));
        return JSON.parse(text.replaceAll(/"max_connection":7\b/g, '"max_connection":70')) as ReturnType<
          SharedStore['read']
        >;
      },
    });
  const [one, other] = [await world.open('one'), await world.open('other', 10_000, { wrap: lying })];
  const differing = () => [one, other].map(({ admin }) => admin.fleet.nodes().map(({ differs }) => differs));
  await world.clock.advance(3000);
  expect(differing()).toEqual([
    [false, false],
    [false, false],
  ]);
  for (const [change, differs] of [
    [limit(7), true] as const,
    [port(7007), true] as const,
    [limit(8), false] as const,
  ]) {
    await one.admin.execute(change);
    await world.clock.advance(5000);
    expect(differing()).toEqual(Array.from({ length: 2 }, () => [false, differs]));
  }
  expect([one, other].map(({ errors }) => errors.map(String))).toEqual([
    [sentence('other')],
    [sentence('one')],
  ]);
});

it('a node compares the last 32 positions that it has read, and no others', async () => {
  const world = createWorld();
  const node = await world.open('one');
  const store = world.memory.open();
  const positions: string[] = [];
  for (let value = 1; value <= 33; value += 1) {
    await node.admin.execute(limit(value));
    await world.clock.advance(1100);
    positions.push(node.admin.fleet.position);
  }
  let beat = 0;
  const claim = async (position: string): Promise<readonly unknown[]> => {
    const status: Json = { ...said, leaseMs: 10_000, beat: (beat += 1), digest: { position, text: 'other' } };
    await store.announce('other', status);
    await world.clock.advance(1100);
    return node.errors.map(String);
  };
  const [first = '', second = ''] = positions;
  expect(await claim(first)).toEqual([]);
  // After a set-back, a number can come again with other changes.
  expect(await claim(second.replace(/\..*/, '.x'))).toEqual([]);
  expect(await claim(second)).toEqual([sentence('other')]);
});
