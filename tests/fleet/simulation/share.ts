/**
 * The simulation of a fleet in shares: each test file takes every fourth seed, so that the files run side by side.
 */
import { expect, it } from '@jest/globals';

import { simulate } from './world.ts';

const shares = 4;
const seeds = Number(process.env['SIMULATION_SEEDS'] ?? 2000);
const first = Number(process.env['SIMULATION_FIRST'] ?? 0);
const mostFailures = 5;

/**
 * Declares the test of one share. `SIMULATION_SEEDS` and `SIMULATION_FIRST` in the environment choose the seeds of all
 * shares together.
 *
 * @param share - from 1 to 4
 */
export function testShare(share: number): void {
  const mine = Array.from({ length: seeds }, (_, index) => first + index).filter(
    (seed) => seed % shares === share - 1,
  );
  // Promise: simulation
  it(`keeps every gateway in step in every one of ${String(mine.length)} fleets`, async () => {
    const failures: string[] = [];
    for (const seed of mine) {
      if (failures.length === mostFailures) break;
      const faults = await simulate(seed).catch((error: unknown) => [String(error)]);
      if (faults.length > 0) failures.push([`Seed ${String(seed)}; ${again(seed)}`, ...faults].join('\n  '));
    }
    expect(failures.join('\n')).toBe('');
  }, 3_600_000);
}

function again(seed: number): string {
  return `to run it again: SIMULATION_FIRST=${String(seed)} SIMULATION_SEEDS=1 npx jest tests/fleet/simulation`;
}
