/**
 * The test of one share of the simulation.
 */
import { expect, it } from '@jest/globals';

import { failuresIn, seedsOf } from '../support/simulated-seed.ts';
import { simulate } from './simulation.ts';

/** Declares the test of one share, 1 or 2. */
export function testShare(share: number): void {
  const seeds = seedsOf(share);
  // Promise: simulation
  it(`tells the truth in every one of ${String(seeds.length)} worlds`, async () => {
    expect(await failuresIn(seeds, simulate, 'tests/simulation')).toBe('');
  }, 3_600_000);
}
