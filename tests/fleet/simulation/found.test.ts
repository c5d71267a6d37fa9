/**
 * The simulation has teeth: it finds a store that breaks a rule of `SharedStore`.
 */
import { expect, it } from '@jest/globals';

import type { DiskRules } from './shared-disk.ts';
import { simulate } from './world.ts';

const seeds = 500;

it.each([
  { rules: { namesCall: false }, what: 'positions are only numbers' },
  { rules: { isConditional: false }, what: 'append does not look at the end of the log' },
])('the simulation finds a store in which $what', async ({ rules }) => {
  const seed = await firstFound(rules);
  expect(seed).toBeLessThan(seeds);
  expect(await simulate(seed)).toEqual([]);
});

/** The first seed that finds fault with the store; the number of seeds tried if none does. */
async function firstFound(rules: Partial<DiskRules>): Promise<number> {
  let seed = 0;
  while (seed < seeds && (await simulate(seed, rules)).length === 0) seed += 1;
  return seed;
}
