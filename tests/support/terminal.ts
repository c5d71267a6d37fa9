/**
 * A real terminal, which the program "script" gives.
 */
import { spawn, spawnSync, type ChildProcessWithoutNullStreams } from 'node:child_process';

import { it } from '@jest/globals';

/** Runs a command of the shell on a terminal, and passes its exit code on. */
export function onTerminal(
  command: string,
  env: NodeJS.ProcessEnv = process.env,
): ChildProcessWithoutNullStreams {
  return spawn('script', ['-qec', command, '/dev/null'], { env });
}

const hasTerminal = spawnSync('script', ['-qec', 'true', '/dev/null']).status === 0;

/** A test that needs a terminal. */
// eslint-disable-next-line no-restricted-properties -- Not every machine has the program "script".
export const itOnTerminal = hasTerminal ? it : it.skip;
