/**
 * The lock of a directory: at most one holder has the directory open, in any process or container.
 *
 * Process ids mean nothing across containers, and a lock file outlives its process. A listening Unix socket does not:
 * the kernel refuses connections as soon as the process is gone, however the process ended. To take the lock, a process
 * first listens on a socket of its own in the directory, and then tries to connect to all other sockets. If two do that
 * at the same time, the second one to connect finds the other one listening, so at most one of them succeeds. If
 * neither succeeds, both try again after a random pause.
 */
import cluster from 'node:cluster';
import { randomBytes, randomInt } from 'node:crypto';
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { AdminError } from '../../error.ts';
import { statusAt, type Identity } from './identity.ts';
import type { NodeFiles } from './file-system.ts';

/**
 * The error with which `openFileStore` and `openAuditFile` reject if the directory is in use.
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
export class StoreLockedError extends AdminError {
  /** @param directory - the directory that is in use */
  constructor(directory: string) {
    super(
      'store-locked',
      `Another process, or another part of this process, has the directory ${directory} open. ` +
        (cluster.isWorker ? adviceToWorker : advice),
    );
    this.name = 'StoreLockedError';
  }
}

const advice = 'Stop that process first, or use a separate directory for each gateway and each purpose.';

/**
 * The workers of node:cluster, and of pm2, run the same program: a directory for each would split the configuration.
 */
const adviceToWorker =
  'This process is a worker of node:cluster. Open the store and the interface in the primary process alone, or run a node ' +
  'of a fleet with a name of its own in each worker (openFleet). Only audit records may have a directory for each worker.';

/** An open directory. @internal */
export interface OpenDirectory {
  /** Absolute path. */
  readonly path: string;
  /** File descriptor, open as long as the lock is held. */
  readonly fd: number;
}

/** The lock of a directory. @internal */
export interface Lock {
  /** Absolute path of the socket. */
  readonly path: string;
  /** The socket at that path. If another file is there, or none, the lock is gone. */
  readonly identity: Identity;
  readonly release: () => Promise<void>;
}

const attempts = 6;
const firstPauseMs = 20;

/** Longest address of a Unix socket that every platform supports; longer ones are truncated silently. */
const longestAddress = 103;

/**
 * Locks a directory until the process ends, or until the lock is released. The lock does not keep the process alive.
 *
 * @returns the lock. Rejects with {@link StoreLockedError} if another holder has the lock, and with an Error if the
 *   directory cannot contain a socket
 * @internal
 */
export async function lockDirectory(directory: OpenDirectory, files: NodeFiles): Promise<Lock> {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    if (attempt > 0) await sleep(randomInt(firstPauseMs * 2 ** attempt));
    const lock = await tryLock(directory, files);
    if (lock !== undefined) return lock;
  }
  throw new StoreLockedError(directory.path);
}

async function tryLock(directory: OpenDirectory, files: NodeFiles): Promise<Lock | undefined> {
  const id = randomBytes(8).toString('hex');
  const [unfinished, name] = [`lock-${id}.new`, `lock-${id}.sock`];
  const path = join(directory.path, name);
  const server = await listen(socketAddress(directory, unfinished)).catch((cause: unknown) => {
    const text = `The directory ${directory.path} cannot be locked with a socket: ${(cause as Error).message}`;
    throw new Error(text, { cause });
  });
  const release = async (): Promise<void> => {
    await files.unlink(path).catch(ignore);
    await new Promise((resolve) => server.close(resolve));
  };
  try {
    // The socket listens before it gets its final name. A refusal under the final name therefore means a dead process.
    const visible = await renamed(files, join(directory.path, unfinished), path);
    if (visible && (await isAlone(directory, name, files))) {
      const identity = statusAt(path, files);
      if (identity !== undefined) return { path, identity, release };
    }
  } catch (error) {
    await release();
    throw error;
  }
  await release();
  return undefined;
}

/** Renames a socket. False if the socket is gone, because the holder of the lock removes unfinished sockets. */
async function renamed(files: NodeFiles, from: string, to: string): Promise<boolean> {
  try {
    await files.rename(from, to);
    return true;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false;
    throw error;
  }
}

/** Whether nobody else listens. Removes the sockets of dead processes. */
async function isAlone(directory: OpenDirectory, own: string, files: NodeFiles): Promise<boolean> {
  const names = await files.readdir(directory.path);
  // A socket that cannot be removed does no harm.
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
 * Gives the address of a socket in a directory, also for a directory with a long path.
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
  // The other side only needs to see that the connection succeeds.
  const server = createServer((connection) => connection.destroy());
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    // Without `exclusive`, the primary process of a cluster would own the socket.
    server.listen({ path, exclusive: true }, () => {
      server.off('error', reject);
      // A later error concerns one incoming connection only. The other side sees the failed connection itself.
      server.on('error', ignore);
      server.unref();
      resolve(server);
    });
  });
}

/** Whether somebody listens at an address. Only a clear refusal counts as no; any other error counts as yes. */
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
