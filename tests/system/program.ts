/**
 * The command line as a shell runs it: the built program in a process of its own.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

import { root } from '../support/project.ts';

/** The built program. */
const program = `${root}dist/node/cli/main.js`;

/** What became of a command. */
export interface Result {
  /** The exit code; -1 if a signal has ended the process. */
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** A command that goes on. */
export interface Running {
  /** What it has printed so far, errors too. */
  readonly printed: () => string;
  /** Sends what Ctrl-C sends. */
  readonly interrupt: () => void;
  /** Ends the process. */
  readonly kill: () => void;
  readonly ended: Promise<Result>;
}

/** Runs the program on the interface at a URL. */
export function runProgram(url: string, ...args: readonly string[]): Promise<Result> {
  return startProgram(url, args).ended;
}

/**
 * Starts the program on the interface at a URL.
 *
 * @param input - what it reads
 */
export function startProgram(url: string, args: readonly string[], input = ''): Running {
  const env = { ...process.env, GATEWAY_ADMIN_URL: url };
  const child = spawn(process.execPath, [program, ...args], { env });
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (part: string) => (out += part));
  child.stderr.setEncoding('utf8').on('data', (part: string) => (err += part));
  // A program that reads nothing may end before.
  child.stdin.on('error', () => undefined).end(input);
  const ended = once(child, 'close').then(([code]) => ({ code: (code as number | null) ?? -1, out, err }));
  return {
    ended,
    printed: () => out + err,
    interrupt: () => void child.kill('SIGINT'),
    kill: () => void child.kill(),
  };
}
