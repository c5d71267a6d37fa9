/**
 * The command line at a running gateway: in this process, or as a shell runs it.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

import { command, type Result } from '../cli/command-line.ts';
import { root } from '../support/project.ts';

export type { Result };

/** The built program. */
const commandLine = `${root}dist/node/cli/main.js`;

/** A command that goes on, in a process of its own. */
export interface Running {
  /** What it has printed so far, errors too. */
  readonly printed: () => string;
  /** Sends what Ctrl-C sends. */
  readonly interrupt: () => void;
  /** Ends the process. */
  readonly kill: () => void;
  /** The exit code is -1 if a signal has ended the process. */
  readonly ended: Promise<Result>;
}

/** Runs a command on the interface at a URL. */
export function runCommand(url: string, ...args: readonly string[]): Promise<Result> {
  return command(args, { env: { GATEWAY_ADMIN_URL: url } });
}

/**
 * Starts the built program on the interface at a URL.
 *
 * @param input - what it reads
 */
export function startProgram(url: string, args: readonly string[], input = ''): Running {
  return start(commandLine, url, args, input);
}

/** Starts a tool of `examples/tools` on the interface at a URL. */
export function startTool(url: string, name: string, ...args: readonly string[]): Running {
  return start(`${root}examples/dist/tools/${name}.js`, url, args, '');
}

function start(program: string, url: string, args: readonly string[], input: string): Running {
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
