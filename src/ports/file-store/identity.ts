/**
 * Identity: which file is at a path, and whether a store may use that file.
 *
 * A store opens its files once, and other programs can remove or replace the names of these files. The store then
 * writes into a file that nobody finds again. Therefore the store compares device and inode.
 */
import type { BigIntStats, lstatSync } from 'node:fs';

/** A file, whatever its name. @internal */
export interface Identity {
  readonly dev: bigint;
  readonly ino: bigint;
}

/**
 * The function of the file system that looks at a path. Does not follow a link at the end of the path.
 *
 * Synchronous, because a store looks several times at each write. A look at a directory or file that is open takes some
 * microseconds and no disk access; a turn in the thread pool takes ten times as long.
 */
interface Looking {
  readonly lstatSync: typeof lstatSync;
}

/** Gives the status of the file at a path; `undefined` if there is none. @internal */
export function statusAt(path: string, files: Looking): BigIntStats | undefined {
  try {
    return files.lstatSync(path, { bigint: true, throwIfNoEntry: false });
  } catch (error) {
    // A file stands where a directory of the path was.
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return undefined;
    throw error;
  }
}

/** Whether two identities belong to one file. @internal */
export function isSameFile(one: Identity | undefined, other: Identity): boolean {
  return one?.dev === other.dev && one.ino === other.ino;
}

/** The bits of a mode that let the group or others write. */
const writableByOthers = 0o022n;

/**
 * Checks that the directory of a store is a directory, belongs to the user of this process, and is closed to others.
 * Platforms without user ids check only the first.
 *
 * @throws Error with a sentence that says what to do
 * @internal
 */
export function assertOwnDirectory(path: string, status: BigIntStats, user = process.geteuid?.()): void {
  if (status.isSymbolicLink())
    throw new Error(
      `${path} is a symbolic link. A link can be pointed elsewhere while the store is open. Give the path of the ` +
        'directory itself.',
    );
  if (!status.isDirectory())
    throw new Error(
      `${path} is not a directory. Give the path of a directory that holds nothing but the store.`,
    );
  assertOwner(path, status, user);
  if (user !== undefined && (status.mode & writableByOthers) !== 0n)
    throw new Error(
      `Other users may write to ${path} (mode ${(status.mode & 0o777n).toString(8)}), and could replace the store. ` +
        `Close the directory to other users: chmod 700 ${path}`,
    );
}

/**
 * Checks that a file of a store is an ordinary file, and belongs to the user of this process.
 *
 * @throws Error with a sentence that says what to do
 * @internal
 */
export function assertOwnFile(path: string, status: BigIntStats, user = process.geteuid?.()): void {
  if (!status.isFile())
    throw new Error(
      `${path} is ${kindOf(status)}, and the store uses only ordinary files. Nothing was changed. Move ` +
        `${path} away, and restore the whole directory from a backup if the content is missing then.`,
    );
  assertOwner(path, status, user);
}

function assertOwner(path: string, { uid }: BigIntStats, user: number | undefined): void {
  if (user === undefined || uid === BigInt(user)) return;
  throw new Error(
    `${path} belongs to the user with the id ${String(uid)}, and this process runs as the user with the id ` +
      `${String(user)}. Run the process as the owner, or change the owner: chown -R ${String(user)} ${path}`,
  );
}

function kindOf(status: BigIntStats): string {
  if (status.isSymbolicLink()) return 'a symbolic link';
  if (status.isDirectory()) return 'a directory';
  if (status.isFIFO()) return 'a pipe';
  if (status.isSocket()) return 'a socket';
  return 'a device';
}
