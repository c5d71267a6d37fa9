/** The databases of the example: PostgreSQL servers on temporary data, kept by a process of their own. */
import { fork } from 'node:child_process';
import { once } from 'node:events';

import type { Closers } from './closing.ts';
import { freePort } from './postgres-server.ts';

/** A PostgreSQL server on 127.0.0.1. */
export interface Database {
  readonly name: string;
  readonly port: number;
}

/** The answer of the process that keeps the databases: the databases, or why there are none. */
export type Answer =
  { readonly databases: readonly Database[]; readonly reason?: undefined } | { readonly reason: string };

/** Gives each database a port that is free now. */
export function placesFor(names: readonly string[]): Promise<readonly Database[]> {
  return Promise.all(names.map(async (name) => ({ name, port: await freePort() })));
}

/**
 * Starts the databases within seconds. They end when this process does, however that comes about.
 *
 * @param wanted - the servers, each on its port or, if another program has the port by now, on one that is free; the
 *   server `store` keeps what it has confirmed, also if the machine fails
 * @param signal - gives up the start
 * @param closers - gets the function that stops the databases; it resolves when their data are removed
 */
export async function startDatabases(
  wanted: readonly Database[],
  signal: AbortSignal,
  closers: Closers,
): Promise<readonly Database[]> {
  signal.throwIfAborted();
  const program = new URL('postgres.js', import.meta.url);
  // Detached: Ctrl-C reaches every process of a terminal, and the gateway decides what it means for the databases.
  const names = wanted.map(({ name, port }) => `${name}:${String(port)}`);
  const keeper = fork(program, names, { detached: true, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const ended = once(keeper, 'exit');
  closers.push(async () => {
    if (keeper.connected) keeper.disconnect();
    await ended;
  });
  const failed = ended.then(([code]): [Answer] => [
    { reason: `The databases ended before they were ready, with code ${String(code)}.` },
  ]);
  const [answer] = (await Promise.race([once(keeper, 'message', { signal }), failed])) as [Answer];
  if (answer.reason !== undefined) throw new Error(answer.reason);
  return answer.databases;
}
