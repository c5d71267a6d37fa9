/**
 * The simulations, as a test runs them: bundled, in a process of their own, because the context of a test makes them
 * half as slow again.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { root } from './project.ts';

const run = promisify(execFile);

/** All that `scripts/simulation.js` prints, with the faults of each world that fails. */
export async function simulated(...given: readonly string[]): Promise<string> {
  const running = run(process.execPath, ['scripts/simulation.js', '--alone', ...given], { cwd: root });
  const { stdout } = await running.catch((error: unknown) => error as { readonly stdout: string });
  return stdout.trim();
}
