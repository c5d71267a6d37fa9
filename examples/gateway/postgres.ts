/**
 * The keeper of the databases: a process of its own that runs PostgreSQL servers on temporary data, one for each
 * argument, such as `db-1:5432`. The keeper stops the servers and removes the data when the gateway is gone, also if
 * the gateway was killed.
 */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Answer, Database } from './database.ts';
import {
  createData,
  findInstallation,
  freePort,
  isReady,
  spawnServer,
  type Installation,
} from './postgres-server.ts';

const servers: ChildProcess[] = [];
let isStopping = false;
const directory = await mkdtemp(join(tmpdir(), 'gateway-databases-'));
const starting = start().then(
  (databases) => tell({ databases }),
  (error: unknown) => tell({ reason: (error as Error).message }),
);
for (const end of ['disconnect', 'SIGTERM', 'SIGINT', 'SIGHUP']) process.once(end, () => void stop());
if (!process.connected) void stop();

function tell(answer: Answer): void {
  if (process.connected) process.send?.(answer);
}

async function start(): Promise<readonly Database[]> {
  const installation = await findInstallation(directory).catch((cause: unknown) => {
    const hint = 'To run a document with servers of your own: npm start -- --document FILE';
    throw new Error(`${(cause as Error).message}\n${hint}`, { cause });
  });
  const starts = process.argv.slice(2).map((argument) => startServer(installation, ...argument.split(':')));
  // A failed start does not end before the others: they are still writing their data.
  await Promise.allSettled(starts);
  return Promise.all(starts);
}

async function startServer(installation: Installation, name = '', wanted = ''): Promise<Database> {
  const data = join(directory, name);
  await createData(installation, data);
  const port = await freePort(Number(wanted)).catch(() => freePort());
  if (isStopping) throw new Error('The start was given up.');
  // A query ends soon after the session that has sent the query. Windows cannot.
  const interval = process.platform === 'win32' ? '0' : '500';
  const settings = [`client_connection_check_interval=${interval}`];
  // The databases are faster, and lose nothing that anybody needs. They take the clients of several gateways.
  if (name !== 'store') settings.push('fsync=off', 'max_connections=300');
  const server = spawnServer(installation, data, port, settings);
  servers.push(server);
  await isReady(server);
  return { name, port };
}

/** Stops the servers at once: nobody needs the data any more. */
async function stop(): Promise<never> {
  isStopping = true;
  await Promise.all(
    servers.map(async (server) => {
      if (server.exitCode !== null || server.signalCode !== null) return;
      const ended = once(server, 'exit');
      server.kill('SIGQUIT');
      await ended;
    }),
  );
  // A server that is not started yet is not started any more. The data are being written until then.
  await starting;
  await rm(directory, { recursive: true, force: true });
  process.exit();
}
