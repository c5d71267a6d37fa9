/**
 * Worlds of one node.
 */
import { faultsAtRest } from './law.ts';
import { beginning, drawSteps, simplerUnits } from './random.ts';
import { simulateScenario } from './scenario-world.ts';

export function simulate(seed: number): Promise<readonly string[]> {
  const kind = { begin: () => [beginning], draw: drawSteps, simpler: simplerUnits, faults: faultsAtRest };
  return simulateScenario(kind, seed);
}
