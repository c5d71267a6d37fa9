/**
 * The command line in this process: the streams are the test's, and the interface is behind a real server.
 *
 * A process for each command would take a second. The program of the package has no entry, so this door imports it; the
 * other tests of the command line call the program.
 */
import { EventEmitter } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';

import type { Admin } from 'gateway-admin-core';
import { createNodeHandler } from 'gateway-admin-core/node';

import type { Surroundings } from '../../src/cli/command.ts';
import { run } from '../../src/cli/run.ts';

export { run };

/** What became of a command. */
export interface Result {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** What surrounds a command. */
export interface Circumstances {
  /** The standard input. */
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Whether the streams are a terminal; the input is typed, a line at a time, when something is asked. */
  readonly isTerminal?: boolean;
  /** What happens between a question and its answer. */
  readonly meanwhile?: () => Promise<unknown>;
  /** What the output is like when nobody reads any more. */
  readonly leavesWhen?: (out: string) => boolean;
  /** Gets what is printed, in order, errors too. */
  readonly record?: (part: string, stream: 'out' | 'err') => void;
  /** Aborts when nobody reads the output any more. */
  readonly leaves?: AbortSignal;
}

/** Runs a command. */
export async function command(
  args: readonly string[],
  { input = '', env = {}, isTerminal = false, meanwhile, leaves, leavesWhen, record }: Circumstances = {},
): Promise<Result> {
  const [stdin, stdout, stderr] = [stream(isTerminal), stream(isTerminal), stream(isTerminal)];
  const lines = input.split('\n');
  const text = { out: '', err: '' };
  const leave = (): void => void stdout.emit('error', new Error('nobody reads'));
  stdout.setEncoding('utf8').on('data', (part: string) => {
    text.out += part;
    record?.(part, 'out');
    if (leavesWhen?.(text.out) === true) leave();
  });
  stderr.setEncoding('utf8').on('data', (part: string) => {
    text.err += part;
    record?.(part, 'err');
    if (!isTerminal || !/: $|\] $/.test(part)) return;
    void Promise.resolve(meanwhile?.()).then(() => stdin.write(`${lines.shift() ?? ''}\n`));
  });
  if (!isTerminal) stdin.end(input);
  stdout.on('error', () => undefined);
  leaves?.addEventListener('abort', leave);
  const streams = { stdin, stdout, stderr, env };
  const surroundings = Object.assign(new EventEmitter(), streams) as unknown as Surroundings;
  const code = await run(args, surroundings);
  return { code, ...text };
}

/** The words of a line, of which those in quotation marks are whole. */
export function wordsOf(line: string): readonly string[] {
  return (line.match(/(?:'[^']*'|[^\s'])+/g) ?? []).map((word) => word.replaceAll("'", ''));
}

function stream(isTerminal: boolean): PassThrough {
  const members = { isTTY: isTerminal, hasColors: () => isTerminal, setRawMode: () => undefined };
  return Object.assign(new PassThrough(), isTerminal ? members : {});
}

/** Servers of a test, closed after it. */
export function servers(after: (close: () => Promise<void>) => void): (admin: Admin) => Promise<string> {
  const closing: (() => Promise<unknown>)[] = [];
  after(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });
  return async (admin) => {
    const server = createServer(createNodeHandler(admin, { basePath: '/admin' })).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    closing.push(
      () => admin.close(),
      () => new Promise((resolve) => server.close(resolve).closeAllConnections()),
    );
    return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/admin`;
  };
}
