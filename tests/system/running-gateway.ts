/**
 * The example gateway as its users run it: the built program in a process of its own.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import type { GatewayDocument } from 'gateway-admin-core';

import { defaultDocument } from '../../examples/gateway/document.ts';
import { judge } from '../support/openapi.ts';
import { PostgresDatabase } from '../support/postgres.ts';
import { root } from '../support/project.ts';

/** What the administration interface answered. */
interface Answer {
  readonly status: number;
  /** The body as JSON; `undefined` when there is none. */
  readonly body: unknown;
}

/** A gateway that has said that it is ready. */
export interface RunningGateway {
  readonly process: ChildProcess;
  /** Base URL of the administration interface. */
  readonly admin: string;
  /** All that it has printed until it was ready. */
  readonly output: string;
  /** All that it has printed by now. */
  printed(this: void): string;
  /** All that it has printed about errors by now. */
  errors(this: void): string;
  /** The port of the listener of a service, by the name of the service with hyphens. */
  portOf(this: void, service: string): number;
  /** Asks the administration interface. A body is a JSON Patch, unless the headers say something else. */
  ask(this: void, method: string, target: string, body?: unknown, headers?: Headers): Promise<Answer>;
  /** What GET answers. */
  get(this: void, target: string): Promise<unknown>;
  /** Ends the gateway, and gives its exit code. */
  stop(this: void): Promise<number | null>;
  /** Kills the gateway: it does nothing any more. */
  kill(this: void): Promise<void>;
}

/** By name. */
type Headers = Readonly<Record<string, string>>;

/** Variables of the environment that differ. */
type Environment = Readonly<Record<string, string>>;

/** What became of a gateway that ended by itself. */
interface EndedGateway {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A platform for which there is no PostgreSQL. */
export const unsupportedPlatform: Environment = {
  NODE_OPTIONS: "--import=data:text/javascript,Object.defineProperty(process,'arch',{value:'abacus'})",
};

/** Headers that the server of Node adds. */
const ofTheTransport: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'date',
  'keep-alive',
  'transfer-encoding',
]);

const running = new Set<ChildProcess>();

/** Starts the gateway with an administration port of its own. */
export async function startGateway(
  args: readonly string[] = [],
  environment: Environment = {},
): Promise<RunningGateway> {
  const { child, printed } = spawnGateway(['--admin-port', '0', ...args], environment);
  const isReady = (): boolean => {
    if (child.exitCode !== null) throw new Error(`The gateway has ended: ${printed.stderr}`);
    return /^admin .*\n/m.test(printed.stdout);
  };
  // Databases take their time on a machine that does other things as well.
  await until('the gateway is ready', isReady);
  const output = printed.stdout;
  const admin = /^admin (.*)$/m.exec(output)?.[1] ?? '';
  const ask = async (
    method: string,
    target: string,
    body?: unknown,
    headers: Headers = {},
  ): Promise<Answer> => {
    const type = { 'content-type': 'application/json-patch+json' };
    const sent =
      body === undefined ? { headers } : { headers: { ...type, ...headers }, body: JSON.stringify(body) };
    const response = await fetch(admin + target, { method, ...sent });
    const text = await response.text();
    const { status, headers: given } = response;
    const own = [...given].filter(([name]) => !ofTheTransport.has(name));
    judge({ method, target, ...sent }, { status, headers: Object.fromEntries(own), body: text }, text);
    return { status, body: text === '' ? undefined : (JSON.parse(text) as unknown) };
  };
  return {
    process: child,
    admin,
    output,
    printed: () => printed.stdout,
    errors: () => printed.stderr,
    portOf: (service) => Number(new RegExp(`^listener ${service} .*:(\\d+)$`, 'm').exec(output)?.[1]),
    ask,
    get: async (target) => (await ask('GET', target)).body,
    stop: () => end(child, 'SIGTERM'),
    async kill() {
      await end(child, 'SIGKILL');
    },
  };
}

/** Starts the gateway on a document. */
export function startOn(
  document: GatewayDocument,
  args: readonly string[] = [],
  environment: Environment = {},
): Promise<RunningGateway> {
  return withFile(document, (path) => startGateway(['--document', path, ...args], environment));
}

/**
 * Starts the gateway on its default document, with the PostgreSQL server of all tests in place of two servers of its
 * own. They are for tests that end a database or look at what the example starts.
 */
export async function startOnDatabases(
  args: readonly string[] = [],
  environment: Environment = {},
): Promise<RunningGateway> {
  const { port } = await PostgresDatabase.shared();
  const databases = ['db-1', 'db-2'].map((name) => ({ name, port }));
  return startOn(defaultDocument(databases), args, environment);
}

/** Runs the gateway until it ends by itself. */
export async function runToEnd(
  args: readonly string[],
  environment: Environment = {},
): Promise<EndedGateway> {
  const { child, printed } = spawnGateway(args, environment);
  await once(child, 'close');
  return { code: child.exitCode, ...printed };
}

/** Starts the gateway, interrupts it as Ctrl-C does after a time, and gives its end. */
export async function interrupt(afterMs: number, environment: Environment): Promise<EndedGateway> {
  const { child, printed } = spawnGateway(['--admin-port', '0'], environment);
  const ended = once(child, 'close');
  await sleep(afterMs);
  child.kill('SIGINT');
  await ended;
  return { code: child.exitCode, ...printed };
}

/** Runs the gateway on a document until it ends by itself. */
export function runOn(document: unknown, ...args: readonly string[]): Promise<EndedGateway> {
  return withFile(document, (path) => runToEnd(['--document', path, '--admin-port', '0', ...args]));
}

/** Ends every gateway that a test has left. */
export async function endGateways(): Promise<void> {
  await Promise.all([...running].map((child) => end(child, 'SIGKILL')));
}

/** Reads a path under a name that `fetch` cannot give, and gives the status and the text. */
export async function readUnder(host: string, url: string): Promise<readonly [number | undefined, string]> {
  const [response] = (await once(request(url, { headers: { host } }).end(), 'response')) as [IncomingMessage];
  let text = '';
  for await (const part of response) text += String(part);
  return [response.statusCode, text];
}

/** The longest time that a test waits for something: a limit for what never comes, not for a slow machine. */
const limitMs = 180_000;

/** Waits for something to become so, but not for ever. */
export async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + limitMs;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`Waited ${String(limitMs)} ms in vain until ${what}`);
    await sleep(20);
  }
}

function spawnGateway(
  args: readonly string[],
  environment: Environment,
): {
  readonly child: ChildProcess;
  readonly printed: { stdout: string; stderr: string };
} {
  const child = spawn(process.execPath, [`${root}examples/dist/gateway/main.js`, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...environment },
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  const printed = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      printed[name] += text;
    });
  }
  return { child, printed };
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) {
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  }
  return child.exitCode;
}

/** The file is there until the gateway is ready or has ended: it reads a document once. */
async function withFile<T>(document: unknown, use: (path: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-'));
  const path = join(folder, 'document.json');
  try {
    writeFileSync(path, JSON.stringify(document));
    return await use(path);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
