/**
 * The seeds of a simulation, in two shares: each test file takes every second seed, so that the files run side by side.
 */
const shares = 2;
const mostFailures = 5;
const count = Number(process.env['SIMULATION_SEEDS'] ?? 500);
const first = Number(process.env['SIMULATION_FIRST'] ?? 0);

/**
 * The seeds of one share. `SIMULATION_SEEDS` and `SIMULATION_FIRST` in the environment choose the seeds of all shares
 * together.
 *
 * @param share - 1 or 2
 */
export function seedsOf(share: number): readonly number[] {
  const all = Array.from({ length: count }, (_, index) => first + index);
  return all.filter((seed) => seed % shares === share - 1);
}

/**
 * Runs the worlds of some seeds. Gives what went wrong in the first ones that fail; an empty text if all hold.
 *
 * @param simulate - runs the world of a seed, and gives what went wrong
 * @param folder - the folder of the simulation, to tell how to run a seed again
 */
export async function failuresIn(
  seeds: readonly number[],
  simulate: (seed: number) => Promise<readonly string[]>,
  folder: string,
): Promise<string> {
  const failures: string[] = [];
  for (const seed of seeds) {
    if (failures.length === mostFailures) break;
    const faults = await simulate(seed).catch((error: unknown) => [String(error)]);
    const again = `to run it again: SIMULATION_FIRST=${String(seed)} SIMULATION_SEEDS=1 npx jest ${folder}`;
    if (faults.length > 0) failures.push([`Seed ${String(seed)}; ${again}`, ...faults].join('\n  '));
  }
  return failures.join('\n');
}
