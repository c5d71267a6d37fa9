/**
 * The lock of a directory: at most one store has it open, whichever process or container it is in.
 *
 * Process ids say nothing across containers, and a file outlives whoever made it. A listening Unix socket does not: the
 * kernel refuses connections to it from the moment that its process is gone, however it ended. So whoever wants the
 * directory first listens on a socket of its own in there, and only then knocks at all others. Of two that come at the
 * same time, the later one to knock finds the other listening: never do both get in. It happens that neither does;
 * then both try again after a random pause.
 */
import { randomBytes, randomInt } from 'node:crypto';
import type { mkdir, open, readdir, rename, unlink } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * What `openFileStore` rejects with when the directory is in use.
 *
 * @example
 * ```ts
 * import { StoreLockedError } from 'gateway-admin-core/file-store';
 *
 * new StoreLockedError('/var/lib/gateway').name; // => 'StoreLockedError'
 * ```
 *
 * @public
 */
export class StoreLockedError extends Error {
  /** @param directory - the directory that is in use */
  constructor(directory: string) {
    super(
      `Another process, or another part of this one, has the store in ${directory} open. ` +
        'Stop it first, or use a directory of its own for each gateway.',
    );
    this.name = 'StoreLockedError';
  }
}

/** What a store asks of the file system. @internal */
export interface StoreFiles {
  readonly mkdir: typeof mkdir;
  readonly open: typeof open;
  readonly readdir: typeof readdir;
  readonly rename: typeof rename;
  readonly unlink: typeof unlink;
}

/** A directory that is open. @internal */
export interface OpenDirectory {
  /** Absolute path. */
  readonly path: string;
  /** File descriptor; stays open for as long as the lock is held. */
  readonly fd: number;
}

/** Gives the lock back. @internal */
export type Unlock = () => Promise<void>;

const attempts = 6;
const firstPauseMs = 20;

/** What fits in the address of a Unix socket everywhere; the system cuts longer ones short without a word. */
const longestAddress = 103;

/**
 * Locks a directory for as long as the process lives. It keeps no process alive.
 *
 * @returns gives the lock back. Rejects with {@link StoreLockedError} when someone else has it, and with an Error when
 *   there can be no socket in the directory
 * @internal
 */
export async function lockDirectory(directory: OpenDirectory, files: StoreFiles): Promise<Unlock> {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    if (attempt > 0) await sleep(randomInt(firstPauseMs * 2 ** attempt));
    const unlock = await tryLock(directory, files);
    if (unlock !== undefined) return unlock;
  }
  throw new StoreLockedError(directory.path);
}

async function tryLock(directory: OpenDirectory, files: StoreFiles): Promise<Unlock | undefined> {
  const id = randomBytes(8).toString('hex');
  const [unfinished, name] = [`lock-${id}.new`, `lock-${id}.sock`];
  const server = await listen(socketAddress(directory, unfinished)).catch((cause: unknown) => {
    const text = `The directory ${directory.path} cannot be locked with a socket: ${(cause as Error).message}`;
    throw new Error(text, { cause });
  });
  const unlock: Unlock = async () => {
    await files.unlink(join(directory.path, name)).catch(ignore);
    await new Promise((resolve) => server.close(resolve));
  };
  try {
    // Under its final name a socket listens from the start: who is refused there knows that its process is gone.
    const visible = await renamed(files, join(directory.path, unfinished), join(directory.path, name));
    if (visible && (await isAlone(directory, name, files))) return unlock;
  } catch (error) {
    await unlock();
    throw error;
  }
  await unlock();
  return undefined;
}

/** Renames a socket. It may be gone: who has the lock clears away what others left unfinished. */
async function renamed(files: StoreFiles, from: string, to: string): Promise<boolean> {
  try {
    await files.rename(from, to);
    return true;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false;
    throw error;
  }
}

/** Whether nobody else listens. Clears away the sockets of processes that are gone. */
async function isAlone(directory: OpenDirectory, own: string, files: StoreFiles): Promise<boolean> {
  const names = await files.readdir(directory.path);
  // It does no harm when one stays.
  const remove = (name: string): Promise<void> => files.unlink(join(directory.path, name)).catch(ignore);
  const others = names.filter((name) => /^lock-[0-9a-f]+\.sock$/.test(name) && name !== own);
  const listening = await Promise.all(
    others.map(async (name) => {
      if (await isListening(socketAddress(directory, name))) return true;
      await remove(name);
      return false;
    }),
  );
  if (listening.includes(true)) return false;
  await Promise.all(names.filter((name) => /^lock-[0-9a-f]+\.new$/.test(name)).map(remove));
  return true;
}

/**
 * Gives the address of a socket in a directory, however long the path of the directory is.
 *
 * @throws Error when the path is too long and the platform has no shorter one
 * @internal
 */
export function socketAddress(
  directory: OpenDirectory,
  name: string,
  platform: string = process.platform,
): string {
  const address = join(directory.path, name);
  if (Buffer.byteLength(address) <= longestAddress) return address;
  if (platform === 'linux') return `/proc/self/fd/${String(directory.fd)}/${name}`;
  throw new Error(
    `The path ${directory.path} is too long for the socket that locks it: an address takes ` +
      `${String(longestAddress)} bytes here. Use a directory with a shorter path.`,
  );
}

function listen(path: string): Promise<Server> {
  // The connection has said all that it can.
  const server = createServer((connection) => connection.destroy());
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    // Exclusive: in a cluster it would else belong to the primary process.
    server.listen({ path, exclusive: true }, () => {
      server.off('error', reject);
      // What fails later is the accepting of connections, and to them it does not matter.
      server.on('error', ignore);
      server.unref();
      resolve(server);
    });
  });
}

/** Whether someone listens at an address, or may do so: only a clear refusal counts as nobody. */
function isListening(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ path });
    socket.on('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', (error) => {
      resolve(!['ECONNREFUSED', 'ENOENT'].includes(codeOf(error) ?? ''));
    });
  });
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}

function ignore(): void {
  return undefined;
}
