/**
 * The command line as a shell runs it: the built program in a process of its own.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { root } from '../support/project.ts';

/** The built program. */
export const program = `${root}dist/node/cli/main.js`;

/** What became of a command. */
export interface Result {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs the program on the interface at a URL. */
export async function runProgram(url: string, ...args: readonly string[]): Promise<Result> {
  const env = { ...process.env, GATEWAY_ADMIN_URL: url };
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [program, ...args], { env });
    return { code: 0, out: stdout, err: stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, out: stdout, err: stderr };
  }
}
