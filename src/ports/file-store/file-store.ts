/**
 * The file store: a durable store in a directory of its own, with a journal of appended records and a snapshot of the
 * last compaction.
 *
 * - `snapshot` contains the compacted state, and the generation of the journal that continues from there. Before the
 *   first compaction there is no snapshot, and the generation is 1.
 * - `journal-<generation>` contains the records appended since, one frame for each call.
 * - `*.new` is an unfinished file. A journal of another generation is left over from an interrupted compaction.
 * - `lock-*` is the lock.
 *
 * Both kinds of files begin with a frame that gives format and generation. A file gets its final name only after its
 * content is on the disk, and replaced files are removed only after the new name is on the disk. Therefore a crash at
 * any moment leaves the content before or after a step, never a mixture.
 */
import { lstatSync } from 'node:fs';
import * as promises from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';

import type { Json } from '../../json/value.ts';
import {
  DamagedStoreError,
  assertFormat,
  encodeFrame,
  encodeHeader,
  encodeSnapshot,
  generationOf,
  journalName,
  longestFile,
  readAll,
  readFrames,
  readSnapshot,
  writeSynced,
  type Frame,
} from './frame.ts';
import { assertOwnDirectory, assertOwnFile, isSameFile, statusAt, type Identity } from './identity.ts';
import { lockDirectory, type Lock, type StoreFiles } from './lock.ts';
import type { ConfigurationStore, StoredHistory } from '../port.ts';
import { StoreConflictError, StoreLost } from '../port-error.ts';

export { DamagedStoreError } from './frame.ts';
export { StoreLockedError } from './lock.ts';

/**
 * Opens and locks a file store. Needs Node on a Unix system and a local disk, because over a network file system the
 * lock has no effect between machines.
 *
 * A missing directory is created, with access for its owner only. `append` and `compact` resolve once the disk has
 * confirmed the data. After a failed write every later call rejects with the same error, until the store is opened
 * again. The lock ends with the process at the latest, and does not keep the process alive.
 *
 * Before and after each write, the store looks whether directory, journal and lock are still its own. If another program
 * has removed, replaced or cut one of them, the call rejects with `StoreLost`, and so does every later call.
 *
 * `load` removes an unfinished frame at the end of the journal, as a crash leaves it, and reports that in `repaired`.
 * For any other damage `load` rejects with `DamagedStoreError`, and for files of a newer version with an Error; in both
 * cases the files stay unchanged.
 *
 * @param directory - path of the directory, which must contain nothing else. The directory must not be a symbolic link,
 *   must belong to the user of the process, and must not be writable by other users
 * @returns the store. Dispose of the store at the end, also if `load` rejects. Rejects with `StoreLockedError` if the
 *   directory is in use, and with an Error if the directory cannot be used
 *
 * @example
 * ```ts
 * import { mkdtemp, rm } from 'node:fs/promises';
 * import { tmpdir } from 'node:os';
 * import { join } from 'node:path';
 * import { openFileStore } from 'gateway-admin-core/file-store';
 *
 * const directory = await mkdtemp(join(tmpdir(), 'gateway-'));
 * const store = await openFileStore(directory);
 * const { position } = await store.load();
 * await store.append([{ hello: 'world' }], { expectedPosition: position });
 * await store[Symbol.asyncDispose]();
 *
 * const again = await openFileStore(directory);
 * (await again.load()).records; // => [{ hello: 'world' }]
 * await again[Symbol.asyncDispose]();
 * await rm(directory, { recursive: true });
 * ```
 *
 * @public
 */
export function openFileStore(directory: string): Promise<ConfigurationStore>;
// The second parameter is for tests with a failing file system.
export async function openFileStore(
  directory: string,
  files: StoreFiles = nodeFiles,
): Promise<ConfigurationStore> {
  if (process.platform === 'win32') {
    throw new Error(
      'The file store does not run on Windows, because directories cannot be synced there. Use another store.',
    );
  }
  const path = resolve(directory);
  const present = statusAt(path, files);
  if (present !== undefined) assertOwnDirectory(path, present);
  await makeDirectory(path, files);
  const handle = await files.open(path, 'r');
  try {
    const identity = await handle.stat({ bigint: true });
    assertOwnDirectory(path, identity);
    const lock = await lockDirectory({ path, fd: handle.fd }, files);
    return new FileStore({ path, identity, handle, files }, lock);
  } catch (error) {
    await handle.close();
    throw error;
  }
}

const nodeFiles: StoreFiles = { ...promises, lstatSync };

/** The place of the files. */
interface Place {
  /** Absolute path of the directory. */
  readonly path: string;
  readonly identity: Identity;
  /** The open directory. A sync of this handle makes the names of the files durable. */
  readonly handle: FileHandle;
  readonly files: StoreFiles;
}

/** The journal that is being written. */
interface Journal {
  readonly path: string;
  readonly file: FileHandle;
  readonly identity: Identity;
  readonly generation: number;
  /** Offset of the next frame. */
  end: number;
}

const snapshotName = 'snapshot';
/** Suffix of an unfinished file. */
const unfinished = '.new';
const unfinishedNames: readonly string[] = [`${snapshotName}${unfinished}`, `${journalName(1)}${unfinished}`];
const fileMode = 0o600;

class FileStore implements ConfigurationStore {
  readonly durable = true;
  readonly #place: Place;
  readonly #lock: Lock;
  #journal: Journal | undefined;
  #failure: Error | undefined;
  /** Settles when no call is in flight; never rejects. */
  #idle: Promise<void> = Promise.resolve();
  #closed: Promise<void> | undefined;

  constructor(place: Place, lock: Lock) {
    this.#place = place;
    this.#lock = lock;
  }

  load(): Promise<StoredHistory> {
    return this.#inTurn(async () => {
      if (this.#journal !== undefined)
        throw new Error('The store is loaded already. Dispose of the store and open it again.');
      const { journal, history } = await recover(this.#place);
      this.#journal = journal;
      return history;
    });
  }

  async append(
    records: readonly Json[],
    { expectedPosition }: { readonly expectedPosition: string },
  ): Promise<string> {
    const text = JSON.stringify(records);
    return this.#inTurn(async () => {
      const journal = this.#journalAt(expectedPosition);
      const frame = encodeFrame(text, journal.generation, journal.end);
      if (journal.end + frame.length > longestFile) {
        throw new Error(`The journal in ${this.#place.path} is full. Call compact() first.`);
      }
      await this.#orFail(async () => {
        this.#assertOwn(journal, journal.end);
        await writeSynced(journal.file, frame, journal.end);
        // Only now: a store that another process opened after this look has loaded the frame.
        this.#assertOwn(journal, journal.end + frame.length);
      });
      journal.end += frame.length;
      return positionOf(journal);
    });
  }

  async compact(state: Json, { expectedPosition }: { readonly expectedPosition: string }): Promise<string> {
    const text = JSON.stringify(state);
    return this.#inTurn(async () => {
      const journal = this.#journalAt(expectedPosition);
      const snapshot = encodeSnapshot(text, journal.generation + 1);
      return this.#orFail(async () => {
        this.#assertOwn(journal, journal.end);
        const next = await replace(this.#place, journal, snapshot);
        this.#journal = next;
        this.#assertOwn(next, next.end);
        return positionOf(next);
      });
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return (this.#closed ??= this.#idle.then(() => this.#close()));
  }

  async #close(): Promise<void> {
    try {
      await this.#journal?.file.close();
    } finally {
      await this.#lock.release();
      await this.#place.handle.close();
    }
  }

  /** Makes a call after the earlier calls have settled. */
  #inTurn<T>(call: () => Promise<T>): Promise<T> {
    if (this.#closed !== undefined) {
      return Promise.reject(new Error(`The store in ${this.#place.path} is closed. Open the store again.`));
    }
    const result = this.#idle.then(call);
    this.#idle = result.then(ignore, ignore);
    return result;
  }

  #journalAt(expectedPosition: string): Journal {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#journal === undefined) throw new Error('The store is not loaded. Call load() first.');
    const position = positionOf(this.#journal);
    if (position !== expectedPosition) throw new StoreConflictError(expectedPosition, position);
    return this.#journal;
  }

  /**
   * Checks that directory, lock and journal are still those that this store has opened, and that the journal ends where
   * this store has stopped writing.
   *
   * @throws StoreLost if another program has removed, replaced or changed one of them
   */
  #assertOwn(journal: Journal, end: number): void {
    const [place, lock] = [this.#place, this.#lock];
    const [directory, socket, written] = [place, lock, journal].map(({ path }) =>
      statusAt(path, place.files),
    );
    if (!isSameFile(directory, place.identity))
      throw lost(place.path, `${place.path} was removed or replaced`);
    if (!isSameFile(socket, lock.identity)) throw lost(place.path, `${lock.path} was removed or replaced`);
    if (written === undefined || !isSameFile(written, journal.identity))
      throw lost(place.path, `${journal.path} was removed or replaced`);
    if (written.size !== BigInt(end))
      throw lost(place.path, `${journal.path} has ${String(written.size)} bytes instead of ${String(end)}`);
  }

  /** After a failed write the content of the disk is unknown, so the store refuses every later call. */
  async #orFail<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (cause) {
      if (cause instanceof StoreLost) throw (this.#failure = cause);
      this.#failure = new Error(
        `Writing to the store in ${this.#place.path} failed: ${(cause as Error).message}. ` +
          'The store refuses every call until it is opened again.',
        { cause },
      );
      throw this.#failure;
    }
  }
}

/** @param change - what another program did, as a clause without a full stop */
function lost(directory: string, change: string): StoreLost {
  return new StoreLost(
    `${change} while the store in ${directory} was open, so another process may use the directory. The last call was ` +
      'not confirmed, and the store refuses every later call. Find the program that changed the directory, check the ' +
      'content of the directory, and restart this process.',
  );
}

function positionOf({ generation, end }: Journal): string {
  return `${String(generation)}.${String(end)}`;
}

/** Creates a directory and its parents, durably. */
async function makeDirectory(path: string, files: StoreFiles): Promise<void> {
  const first = (await files.mkdir(path, { recursive: true, mode: 0o700 })) ?? path;
  // The parents are synced even if they exist: the process that made them may have been killed before its sync.
  let made = path;
  do {
    made = dirname(made);
    await syncDirectory(made, files);
  } while (made.length >= first.length && made !== dirname(made));
}

/** Makes the names in a directory durable. A directory without read access is not one that this program has created. */
async function syncDirectory(path: string, files: StoreFiles): Promise<void> {
  try {
    const directory = await files.open(path, 'r');
    await directory.sync().finally(() => directory.close());
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error;
  }
}

/** Loads the content, and repairs the traces of a crash. */
async function recover(place: Place): Promise<{ journal: Journal; history: StoredHistory }> {
  const names = await namesIn(place);
  const snapshot = names.includes(snapshotName) ? await loadSnapshot(place) : undefined;
  const generation = snapshot?.generation ?? 1;
  if (!names.includes(journalName(generation))) {
    throw new DamagedStoreError(join(place.path, journalName(generation)), 0, 'the file is missing');
  }
  const strays = await straysAmong(names, generation, place);
  const { journal, records, repaired } = await openJournal(place, generation);
  try {
    // The new names must be durable before the replaced files are removed.
    await place.handle.sync();
    for (const name of strays) await place.files.unlink(join(place.path, name));
  } catch (error) {
    await journal.file.close().catch(ignore);
    throw error;
  }
  const history = { records, position: positionOf(journal), ...repaired };
  return { journal, history: snapshot === undefined ? history : { state: snapshot.state, ...history } };
}

/** Lists the directory, after creating the first journal if there is none. */
async function namesIn(place: Place): Promise<readonly string[]> {
  const names = await place.files.readdir(place.path);
  for (const name of names.filter(isOfStore)) {
    const path = join(place.path, name);
    const status = statusAt(path, place.files);
    if (status !== undefined) assertOwnFile(path, status);
  }
  if (names.some((name) => name === snapshotName || generationOf(name) !== undefined)) return names;
  const { file } = await createJournal(place, 1, `${journalName(1)}${unfinished}`);
  await file.close();
  await rename(place, `${journalName(1)}${unfinished}`, journalName(1));
  return place.files.readdir(place.path);
}

/** Whether the store reads or writes a file of this name. */
function isOfStore(name: string): boolean {
  return name === snapshotName || unfinishedNames.includes(name) || generationOf(name) !== undefined;
}

/** The names of the files that a crash has left over. */
async function straysAmong(
  names: readonly string[],
  current: number,
  place: Place,
): Promise<readonly string[]> {
  for (const name of names) {
    const generation = generationOf(name) ?? current;
    if (generation > current) await assertEmptyJournal(place, generation, current);
  }
  return names.filter((name) => {
    return unfinishedNames.includes(name) || (generationOf(name) ?? current) !== current;
  });
}

/** Checks a later journal: an interrupted compaction leaves the next journal with nothing but its header. */
async function assertEmptyJournal(place: Place, generation: number, current: number): Promise<void> {
  const path = join(place.path, journalName(generation));
  const { length } = await using(place, path, 'r', (file) => readAll(file, path));
  if (generation !== current + 1 || length > encodeHeader(generation, generation).length) {
    throw new DamagedStoreError(path, 0, 'the snapshot that this journal continues from is missing');
  }
}

async function loadSnapshot(place: Place): Promise<{ state: Json; generation: number }> {
  const path = join(place.path, snapshotName);
  return readSnapshot(path, await using(place, path, 'r', (file) => readAll(file, path)));
}

interface OpenJournal {
  readonly journal: Journal;
  readonly records: readonly Json[];
  /** The repair, if there was one. */
  readonly repaired: { readonly repaired?: string };
}

async function openJournal(place: Place, generation: number): Promise<OpenJournal> {
  const path = join(place.path, journalName(generation));
  const file = await place.files.open(path, 'r+');
  try {
    const identity = await file.stat({ bigint: true });
    const bytes = await readAll(file, path);
    const { frames, end, rest } = readFrames(bytes, generation);
    assertFormat(path, frames);
    if (typeof rest === 'object') throw new DamagedStoreError(path, end, rest.damage);
    const records = recordsIn(path, frames);
    if (rest === 'torn') await file.truncate(end);
    // A whole frame may not be on the disk if its writer was killed before the sync, and later writes rely on the
    // frame.
    await file.datasync();
    const repaired = rest === 'torn' ? { repaired: repairOf(path, bytes.length - end, end) } : {};
    return { journal: { path, file, identity, generation, end }, records, repaired };
  } catch (error) {
    await file.close().catch(ignore);
    throw error;
  }
}

function repairOf(path: string, length: number, end: number): string {
  return (
    `${path} ended with an unfinished write, because the program or the machine stopped. The last ` +
    `${String(length)} bytes of the file, from byte ${String(end)} on, were removed. The store had not confirmed ` +
    'them, unless the disk has lost confirmed data.'
  );
}

function recordsIn(path: string, [, ...frames]: readonly Frame[]): readonly Json[] {
  const records: Json[] = [];
  for (const { offset, value } of frames) {
    if (!Array.isArray(value))
      throw new DamagedStoreError(path, offset, 'the frame does not contain a list of records');
    for (const record of value as readonly Json[]) records.push(record);
  }
  return records;
}

/** Creates the next journal, and makes a new snapshot refer to it. */
async function replace(place: Place, old: Journal, snapshot: Buffer): Promise<Journal> {
  const generation = old.generation + 1;
  const journal = await createJournal(place, generation, journalName(generation));
  try {
    // The name of the journal must be durable before a snapshot refers to the journal.
    await place.handle.sync();
    const path = join(place.path, `${snapshotName}${unfinished}`);
    await using(place, path, 'w', (file) => writeSynced(file, snapshot, 0));
    await rename(place, `${snapshotName}${unfinished}`, snapshotName);
  } catch (error) {
    await journal.file.close().catch(ignore);
    throw error;
  }
  // The state is stored. A failure from here on only leaves a file that the next load removes.
  await old.file.close().catch(ignore);
  await place.files.unlink(join(place.path, journalName(old.generation))).catch(ignore);
  return journal;
}

/** Creates a journal without records. The name becomes durable only with a sync of the directory. */
async function createJournal(place: Place, generation: number, name: string): Promise<Journal> {
  const path = join(place.path, name);
  const file = await place.files.open(path, 'w', fileMode);
  try {
    const identity = await file.stat({ bigint: true });
    const header = encodeHeader(generation, generation);
    await writeSynced(file, header, 0);
    return { path, file, identity, generation, end: header.length };
  } catch (error) {
    await file.close().catch(ignore);
    throw error;
  }
}

/** Renames a file, durably. */
async function rename(place: Place, from: string, to: string): Promise<void> {
  await place.files.rename(join(place.path, from), join(place.path, to));
  await place.handle.sync();
}

async function using<T>(
  place: Place,
  path: string,
  flags: 'r' | 'w',
  task: (file: FileHandle) => Promise<T>,
): Promise<T> {
  const file = await place.files.open(path, flags, fileMode);
  return task(file).finally(() => file.close());
}

function ignore(): void {
  return undefined;
}
