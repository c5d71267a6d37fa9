/**
 * The test of one share of the simulation of a fleet.
 */
import { expect, it } from '@jest/globals';

import { failuresIn, seedsOf } from '../../support/simulated-seed.ts';
import { simulate } from './world.ts';

/** Declares the test of one share, 1 or 2. */
export function testShare(share: number): void {
  const seeds = seedsOf(share);
  // Promise: simulation
  it(`keeps every gateway in step in every one of ${String(seeds.length)} fleets`, async () => {
    expect(await failuresIn(seeds, simulate, 'tests/fleet/simulation')).toBe('');
  }, 3_600_000);
}
