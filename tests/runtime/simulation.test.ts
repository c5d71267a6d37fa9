import { expect, it } from '@jest/globals';

import { simulate } from '../simulation/simulation.ts';

const seeds = Number(process.env['SIMULATION_SEEDS'] ?? 2000);
const first = Number(process.env['SIMULATION_FIRST'] ?? 0);

// Promise: simulation
it(`tells the truth in every one of ${String(seeds)} worlds`, async () => {
  const failures: string[] = [];
  for (let seed = first; seed < first + seeds && failures.length < 5; seed += 1) {
    const faults = await simulate(seed).catch((error: unknown) => [String(error)]);
    const again = `SIMULATION_FIRST=${String(seed)} SIMULATION_SEEDS=1 npx jest tests/runtime/simulation`;
    if (faults.length > 0)
      failures.push([`Seed ${String(seed)}; to run it again: ${again}`, ...faults].join('\n  '));
  }
  expect(failures.join('\n')).toBe('');
}, 3_600_000);
