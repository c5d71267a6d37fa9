/**
 * The history of a fleet in the state that a node of an earlier version reads.
 */
import { expect, it } from '@jest/globals';

import { limit } from '../support/transition.ts';
import { createWorld, storedIn } from './node.ts';

it('is no part of the state until every node can read it', async () => {
  const world = createWorld();
  const old = await world.open('old', 10_000, { levels: [1, 1] });
  const young = await world.open('young');
  await old.admin.execute(limit(7));
  expect((await storedIn(world)).toState()).not.toHaveProperty('entries');
  await old.admin.close();
  await world.clock.advance(5000);
  await young.admin.execute(limit(8));
  const entries = [{ id: expect.stringMatching(/^young-/) as unknown }];
  expect((await storedIn(world)).toState()).toMatchObject({ level: 2, entries });
  await young.admin.close();
});
