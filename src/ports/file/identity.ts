/**
 * Identity: which file is at a path, and whether this process may use that file.
 *
 * A program opens its files once, and other programs can remove or replace the names of these files. The program then
 * writes into a file that nobody finds again. Therefore device and inode are compared.
 */
import type { BigIntStats } from 'node:fs';

import type { NodeFiles } from './file-system.ts';

/** A file, whatever its name. @internal */
export interface Identity {
  readonly dev: bigint;
  readonly ino: bigint;
}

/** Gives the status of the file at a path; `undefined` if there is none. @internal */
export function statusAt(path: string, files: Pick<NodeFiles, 'lstatSync'>): BigIntStats | undefined {
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
 * Checks that a directory is a directory, belongs to the user of this process, and is closed to others. Platforms
 * without user ids check only the first.
 *
 * @throws Error with a sentence that says what to do
 * @internal
 */
export function assertOwnDirectory(path: string, status: BigIntStats, user = process.geteuid?.()): void {
  if (status.isSymbolicLink())
    throw new Error(
      `${path} is a symbolic link. A link can be pointed elsewhere while the directory is open. Give the path of the ` +
        'directory itself, or use a directory inside it.',
    );
  if (!status.isDirectory())
    throw new Error(
      `${path} is not a directory. Give the path of a directory that is used for nothing else.`,
    );
  assertOwner(path, status, user);
  if (user !== undefined && isWritableByOthers(status))
    throw new Error(
      `Other users may write to ${path} (mode ${modeOf(status)}), and could replace its files. Close the directory to ` +
        `other users: chmod 700 ${path}. If the system sets the mode again at each mount, use a directory inside it.`,
    );
}

/**
 * What has opened a file or directory to other users, as a clause; `undefined` if it belongs to the user of this
 * process, and nobody else may write to it. On platforms without user ids, nothing has.
 *
 * @internal
 */
export function openingOf(status: BigIntStats, user = process.geteuid?.()): string | undefined {
  if (user === undefined) return undefined;
  if (status.uid !== BigInt(user)) return `was given to the user with the id ${String(status.uid)}`;
  return isWritableByOthers(status) ? `was opened to other users (mode ${modeOf(status)})` : undefined;
}

function isWritableByOthers({ mode }: BigIntStats): boolean {
  return (mode & writableByOthers) !== 0n;
}

function modeOf({ mode }: BigIntStats): string {
  return (mode & 0o777n).toString(8);
}

/**
 * Checks that a file is an ordinary file, belongs to the user of this process, and that nobody else may write to the
 * file. Platforms without user ids check only the first.
 *
 * @throws Error with a sentence that says what to do
 * @internal
 */
export function assertOwnFile(path: string, status: BigIntStats, user = process.geteuid?.()): void {
  if (!status.isFile())
    throw new Error(
      `${path} is ${kindOf(status)}, and only ordinary files are used. Nothing was changed. Move ` +
        `${path} away, and restore the whole directory from a backup if the content is missing then.`,
    );
  assertOwner(path, status, user);
  if (user !== undefined && isWritableByOthers(status))
    throw new Error(
      `Other users may write to ${path} (mode ${modeOf(status)}), and could have changed the file. Nothing was changed. ` +
        'If you trust the content, for example after you have restored a backup, close the file to other users: chmod ' +
        `600 ${path}`,
    );
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
