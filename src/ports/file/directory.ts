/**
 * The directory of a program that keeps files durable: created, checked and locked at the opening, and looked at again
 * at each write. One call at a time uses the directory.
 */
import type { BigIntStats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

import { StoreLostError } from '../port-error.ts';
import { assertOwnDirectory, isSameFile, openingOf, statusAt, type Identity } from './identity.ts';
import { lockDirectory, type Lock } from './lock.ts';
import { meaningOf, type NodeFiles } from './file-system.ts';

/** An open file of the directory. @internal */
export interface OwnFile {
  /** Absolute path. */
  readonly path: string;
  readonly file: FileHandle;
  readonly identity: Identity;
}

/** A file of the directory that is not written any more. @internal */
export interface FileAtRest {
  readonly identity: Identity;
  /** In bytes. */
  readonly length: number;
}

/** A directory that belongs to this process alone, as long as it is open. @internal */
export class OwnDirectory {
  /** Absolute path of the directory. */
  readonly path: string;
  readonly files: NodeFiles;
  readonly #handle: FileHandle;
  readonly #identity: Identity;
  readonly #lock: Lock;
  #lost: StoreLostError | undefined;
  /** Settles when no call is in flight; never rejects. */
  #idle: Promise<void> = Promise.resolve();
  #closed: Promise<void> | undefined;

  private constructor(
    place: { readonly path: string; readonly handle: FileHandle; readonly identity: Identity },
    lock: Lock,
    files: NodeFiles,
  ) {
    this.path = place.path;
    this.#handle = place.handle;
    this.#identity = place.identity;
    this.#lock = lock;
    this.files = files;
  }

  /**
   * Opens and locks a directory. A missing directory is created durably, with access for its owner only.
   *
   * @param create - `false` if a missing directory is refused
   * @returns rejects with `StoreLockedError` if the directory is in use, and with an Error if the directory cannot be
   *   used
   */
  static async open(
    directory: string,
    { create = true, files }: { readonly create?: boolean; readonly files: NodeFiles },
  ): Promise<OwnDirectory> {
    // The empty path is the working directory of the process.
    if (typeof directory !== 'string' || directory === '')
      throw new TypeError('directory must be a path, such as /var/lib/gateway');
    if (typeof create !== 'boolean') throw new TypeError('The option create must be true or false');
    const path = resolve(directory);
    if (process.platform === 'win32')
      throw new Error(
        `Files in ${path} cannot be kept durable, because directories cannot be synced on Windows. Use Unix, or keep ` +
          'the content elsewhere.',
      );
    const present = statusAt(path, files);
    if (present !== undefined) assertOwnDirectory(path, present);
    else if (!create) throw notCreated(`${path} does not exist`);
    await makeDirectory(path, files);
    const handle = await files.open(path, 'r');
    try {
      const identity = await handle.stat({ bigint: true });
      assertOwnDirectory(path, identity);
      const lock = await lockDirectory({ path, fd: handle.fd }, files);
      return new OwnDirectory({ path, handle, identity }, lock, files);
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** Makes a call after the earlier calls have settled. Refuses every call once the directory is lost or closed. */
  inTurn<T>(call: () => Promise<T>): Promise<T> {
    if (this.#closed !== undefined)
      return Promise.reject(new Error(`The directory ${this.path} is closed. Open the directory again.`));
    const result = this.#idle.then(() => {
      if (this.#lost !== undefined) throw this.#lost;
      return call();
    });
    this.#idle = result.then(ignore, ignore);
    return result;
  }

  /** Makes the names of the files durable. */
  sync(): Promise<void> {
    return this.#handle.sync();
  }

  /**
   * Checks that directory and lock are still those that this process has opened, and closed to other users.
   *
   * @throws StoreLostError if another program has removed, replaced or opened one of them
   */
  assertOwn(): void {
    this.#statusOf({ path: this.path, identity: this.#identity });
    // The mode of the lock does not matter: other users cannot enter the directory.
    if (!isSameFile(statusAt(this.#lock.path, this.files), this.#lock.identity))
      throw this.#lose(`${this.#lock.path} was removed or replaced`);
  }

  /**
   * Checks the same of directory, lock and file, and gives the length of the file.
   *
   * @throws StoreLostError if another program has removed, replaced or opened one of them
   */
  lengthOf({ path, identity }: OwnFile): number {
    this.assertOwn();
    return Number(this.#statusOf({ path, identity }).size);
  }

  /**
   * Checks the same, and that the file ends where this process has stopped writing.
   *
   * @throws StoreLostError if another program has removed, replaced, opened or changed one of them
   */
  assertLength(file: OwnFile, expected: number): void {
    this.#assertLength(file.path, this.lengthOf(file), expected);
  }

  /**
   * Checks that a file that is not written any more is still as this process has left or found it.
   *
   * @param path - absolute path of the file
   * @param expected - the files that can be there; `undefined` for none
   * @throws StoreLostError if another program has removed, replaced, opened or changed the file
   */
  assertAtRest(path: string, expected: readonly (FileAtRest | undefined)[]): void {
    const status = statusAt(path, this.files);
    if (status === undefined && expected.includes(undefined)) return;
    const files = expected.filter((each) => each !== undefined);
    const file = files.find(({ identity }) => isSameFile(status, identity));
    if (file === undefined)
      throw this.#lose(`${path} was ${files.length === 0 ? 'added' : 'removed or replaced'}`);
    this.#assertLength(path, Number(this.#statusOf({ path, identity: file.identity }).size), file.length);
  }

  #statusOf({ path, identity }: Pick<OwnFile, 'path' | 'identity'>): BigIntStats {
    const status = statusAt(path, this.files);
    if (status === undefined || !isSameFile(status, identity))
      throw this.#lose(`${path} was removed or replaced`);
    const opening = openingOf(status);
    if (opening !== undefined) throw this.#lose(`${path} ${opening}`);
    return status;
  }

  #assertLength(path: string, length: number, expected: number): void {
    if (length !== expected)
      throw this.#lose(`${path} has ${String(length)} bytes instead of ${String(expected)}`);
  }

  /**
   * Closes a file after the calls in flight have settled, and then unlocks and closes the directory. Another call
   * changes nothing.
   *
   * @param file - gives the file, if one is open then
   */
  close(file: () => OwnFile | undefined): Promise<void> {
    return (this.#closed ??= this.#idle.then(async () => {
      try {
        await file()?.file.close();
      } finally {
        await this.#lock.release();
        await this.#handle.close();
      }
    }));
  }

  /** @param change - what another program did, as a clause without a full stop */
  #lose(change: string): StoreLostError {
    this.#lost = new StoreLostError(
      `${change} while the directory ${this.path} was open, so another process may use the directory. The last call was ` +
        'not confirmed, and every later call is refused. Find the program that changed the directory, check the content ' +
        'of the directory, and restart this process.',
    );
    return this.#lost;
  }
}

/**
 * The error for a place without content, where the caller wants content.
 *
 * @param seen - what is at the place, as a clause
 * @internal
 */
export function notCreated(seen: string): Error {
  return new Error(
    `${seen}, and the option create is false. Check the path, and that its disk is mounted. If the content was deleted, ` +
      'restore a backup. To begin without content, leave the option out once.',
  );
}

/** Creates a directory and its parents, durably. */
async function makeDirectory(path: string, files: NodeFiles): Promise<void> {
  const first = (await makeMissing(path, files)) ?? path;
  const top = dirname(first);
  // The parents are synced even if they exist: the process that made them may have been killed before its sync.
  let parent = path;
  do {
    parent = dirname(parent);
    await syncDirectory(parent, files);
  } while (parent.length > top.length);
}

/**
 * Creates a directory and its parents. Gives the first one that was missing; `undefined` if none was. One call for each
 * directory, because a recursive call of Node hides the cause of a refusal.
 */
async function makeMissing(path: string, files: NodeFiles): Promise<string | undefined> {
  const missing: string[] = [];
  for (let at = path; statusAt(at, files) === undefined; at = dirname(at)) missing.unshift(at);
  for (const each of missing) {
    try {
      await files.mkdir(each, { mode: 0o700 });
    } catch (cause) {
      // Another process may have created the directory meanwhile.
      if ((cause as NodeJS.ErrnoException).code !== 'EEXIST')
        throw new Error(`The directory ${each} cannot be created: ${meaningOf(cause)}`, { cause });
    }
  }
  return missing[0];
}

/** Makes the names in a directory durable. A directory without read access is not one that this program has created. */
async function syncDirectory(path: string, files: NodeFiles): Promise<void> {
  try {
    const directory = await files.open(path, 'r');
    await directory.sync().finally(() => directory.close());
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error;
  }
}

function ignore(): void {
  return undefined;
}
