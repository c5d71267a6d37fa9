/**
 * The simulation has teeth: it finds a store that breaks a rule of `SharedStore`.
 */
import { expect, it } from '@jest/globals';

import { simulate } from './world.ts';

it.each([
  [{ namesCall: false }, 'positions are only numbers', 264],
  [{ isConditional: false }, 'append does not look at the end of the log', 0],
] as const)('the simulation finds a store %j: %s', async (rules, _what, seed) => {
  expect(await simulate(seed)).toEqual([]);
  expect(await simulate(seed, rules)).not.toEqual([]);
});
