/** The databases behind the default document: embedded PostgreSQL, in processes of their own and all in memory. */
import { fork } from 'node:child_process';
import { once } from 'node:events';

export type Database = Awaited<ReturnType<typeof startDatabase>>;

/** Starts a database within a few seconds. It ends when this process does, however that comes about. */
export async function startDatabase() {
  const program = new URL('backend.js', import.meta.url);
  const child = fork(program, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`A database ended before it was ready, with code ${String(code)}.`);
  });
  const [port] = (await Promise.race([once(child, 'message'), ended])) as [number];
  return { pid: child.pid ?? 0, port, stop: () => child.kill('SIGKILL') };
}
