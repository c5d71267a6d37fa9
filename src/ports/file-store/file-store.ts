/**
 * A durable store in a directory of its own: a journal of what was appended, and a snapshot of what was compacted.
 *
 * - `snapshot` holds the state that was compacted last and the generation of the journal that goes on from it; there is
 *   none before the first compaction, when the generation is 1.
 * - `journal-<generation>` holds what was appended since, a frame for each call.
 * - `*.new` is a file in the making; other journals are what an interrupted compaction left.
 * - `lock-*` is the lock.
 *
 * Both kinds of files begin with a frame that says their format and generation. A file gets its name once its content is
 * on the disk, and what it replaces goes once that name is there too: at every moment, what is in the directory is what
 * was there before a step or after it.
 */
import * as nodeFiles from 'node:fs/promises';
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
import { lockDirectory, type StoreFiles, type Unlock } from './lock.ts';
import type { ConfigurationStore, StoredHistory } from '../port.ts';
import { StoreConflictError } from '../port-error.ts';

export { DamagedStoreError } from './frame.ts';
export { StoreLockedError } from './lock.ts';

/**
 * Opens a store in a directory of its own, and locks it. It needs Node on a Unix system and a local disk: over a network
 * file system, the lock does not hold between machines.
 *
 * The directory is made when there is none, for its owner alone. `append` and `compact` resolve once the disk has
 * confirmed what they wrote. When a write fails, nothing more is taken: each later call rejects with the first failure,
 * until the store is opened again. `load` cuts off what a crash left unfinished at the end of the journal, and says so
 * in `repaired`; it rejects with `DamagedStoreError` when there is any other damage, and with an Error when a
 * newer version has written the files. Then the files stay as they are.
 *
 * The lock ends with the process at the latest, and keeps no process alive.
 *
 * @param directory - path of the directory; nothing else belongs in there
 * @returns the store, to be disposed of when it is no longer needed, also when `load` rejects. Rejects with
 *   `StoreLockedError` when the directory is in use, and with an Error of the system when it cannot be used
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
// The second parameter is for tests, in which the file system fails.
export async function openFileStore(
  directory: string,
  files: StoreFiles = nodeFiles,
): Promise<ConfigurationStore> {
  if (process.platform === 'win32') {
    throw new Error('The file store does not run on Windows, where directories cannot be synced.');
  }
  const path = resolve(directory);
  await makeDirectory(path, files);
  const handle = await files.open(path, 'r');
  try {
    return new FileStore({ path, handle, files }, await lockDirectory({ path, fd: handle.fd }, files));
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Where the files are. */
interface Place {
  /** Absolute path of the directory. */
  readonly path: string;
  /** The directory itself: synced, it keeps the names in it. */
  readonly handle: FileHandle;
  readonly files: StoreFiles;
}

/** The journal that is being written. */
interface Journal {
  readonly file: FileHandle;
  readonly generation: number;
  /** Where the next frame goes. */
  end: number;
}

const snapshotName = 'snapshot';
/** Ending of a file in the making. */
const unfinished = '.new';
const fileMode = 0o600;

class FileStore implements ConfigurationStore {
  readonly durable = true;
  readonly #place: Place;
  readonly #unlock: Unlock;
  #journal: Journal | undefined;
  #failure: Error | undefined;
  /** Settles when nothing is in flight; never rejects. */
  #idle: Promise<void> = Promise.resolve();
  #closed: Promise<void> | undefined;

  constructor(place: Place, unlock: Unlock) {
    this.#place = place;
    this.#unlock = unlock;
  }

  load(): Promise<StoredHistory> {
    return this.#inTurn(async () => {
      if (this.#journal !== undefined) throw new Error('The store is loaded already. Open it again instead.');
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
        throw new Error(`The journal in ${this.#place.path} is full. Compact it first.`);
      }
      await this.#orFail(writeSynced(journal.file, frame, journal.end));
      journal.end += frame.length;
      return positionOf(journal);
    });
  }

  async compact(state: Json, { expectedPosition }: { readonly expectedPosition: string }): Promise<string> {
    const text = JSON.stringify(state);
    return this.#inTurn(async () => {
      const journal = this.#journalAt(expectedPosition);
      const snapshot = encodeSnapshot(text, journal.generation + 1);
      this.#journal = await this.#orFail(replace(this.#place, journal, snapshot));
      return positionOf(this.#journal);
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return (this.#closed ??= this.#idle.then(() => this.#close()));
  }

  async #close(): Promise<void> {
    try {
      await this.#journal?.file.close();
    } finally {
      await this.#unlock();
      await this.#place.handle.close();
    }
  }

  /** Makes a call once those before it are done. */
  #inTurn<T>(call: () => Promise<T>): Promise<T> {
    if (this.#closed !== undefined) {
      return Promise.reject(new Error(`The store in ${this.#place.path} is closed. Open it again.`));
    }
    const result = this.#idle.then(call);
    this.#idle = result.then(ignore, ignore);
    return result;
  }

  #journalAt(expectedPosition: string): Journal {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#journal === undefined) throw new Error('The store is not loaded. Load it first.');
    const position = positionOf(this.#journal);
    if (position !== expectedPosition) throw new StoreConflictError(expectedPosition, position);
    return this.#journal;
  }

  /** After a failed write nobody knows what the disk has: the store takes nothing more. */
  async #orFail<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (cause) {
      this.#failure = new Error(
        `Writing to the store in ${this.#place.path} failed: ${(cause as Error).message}. ` +
          'It takes nothing more until it is opened again.',
        { cause },
      );
      throw this.#failure;
    }
  }
}

function positionOf({ generation, end }: Journal): string {
  return `${String(generation)}.${String(end)}`;
}

/** Makes a directory, with all above it, so that it is there after a power failure too. */
async function makeDirectory(path: string, files: StoreFiles): Promise<void> {
  const first = (await files.mkdir(path, { recursive: true, mode: 0o700 })) ?? path;
  // It may have been made by a process that was killed before it came to this.
  let made = path;
  do {
    made = dirname(made);
    await syncDirectory(made, files);
  } while (made.length >= first.length && made !== dirname(made));
}

/** Keeps the names in a directory. One that must not be read is not where this program makes directories. */
async function syncDirectory(path: string, files: StoreFiles): Promise<void> {
  try {
    const directory = await files.open(path, 'r');
    await directory.sync().finally(() => directory.close());
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error;
  }
}

/** Reads all there is, and puts right what a crash left. */
async function recover(place: Place): Promise<{ journal: Journal; history: StoredHistory }> {
  const names = await namesIn(place);
  const snapshot = names.includes(snapshotName) ? await loadSnapshot(place) : undefined;
  const generation = snapshot?.generation ?? 1;
  if (!names.includes(journalName(generation))) {
    throw new DamagedStoreError(join(place.path, journalName(generation)), 0, 'it is missing');
  }
  const strays = await straysAmong(names, generation, place);
  const { journal, records, repaired } = await openJournal(place, generation);
  try {
    // The names too are kept before anything that they replaced goes.
    await place.handle.sync();
    for (const name of strays) await place.files.unlink(join(place.path, name));
  } catch (error) {
    await journal.file.close().catch(ignore);
    throw error;
  }
  const history = { records, position: positionOf(journal), ...repaired };
  return { journal, history: snapshot === undefined ? history : { state: snapshot.state, ...history } };
}

/** What is in the directory; a journal at least. */
async function namesIn(place: Place): Promise<readonly string[]> {
  const names = await place.files.readdir(place.path);
  if (names.some((name) => name === snapshotName || generationOf(name) !== undefined)) return names;
  const { file } = await createJournal(place, 1, `${journalName(1)}${unfinished}`);
  await file.close();
  await rename(place, `${journalName(1)}${unfinished}`, journalName(1));
  return place.files.readdir(place.path);
}

/** The files that a crash left, by name. */
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
    const inTheMaking = name === `${snapshotName}${unfinished}` || name === `${journalName(1)}${unfinished}`;
    return inTheMaking || (generationOf(name) ?? current) !== current;
  });
}

/** A compaction that was interrupted got no further than the header of the next journal. */
async function assertEmptyJournal(place: Place, generation: number, current: number): Promise<void> {
  const path = join(place.path, journalName(generation));
  const { length } = await using(place, path, 'r', (file) => readAll(file, path));
  if (generation !== current + 1 || length > encodeHeader(generation, generation).length) {
    throw new DamagedStoreError(path, 0, 'it goes on from a snapshot that is not there');
  }
}

async function loadSnapshot(place: Place): Promise<{ state: Json; generation: number }> {
  const path = join(place.path, snapshotName);
  return readSnapshot(path, await using(place, path, 'r', (file) => readAll(file, path)));
}

interface OpenJournal {
  readonly journal: Journal;
  readonly records: readonly Json[];
  /** What was repaired, if anything was. */
  readonly repaired: { readonly repaired?: string };
}

async function openJournal(place: Place, generation: number): Promise<OpenJournal> {
  const path = join(place.path, journalName(generation));
  const file = await place.files.open(path, 'r+');
  try {
    const bytes = await readAll(file, path);
    const { frames, end, rest } = readFrames(bytes, generation);
    assertFormat(path, frames);
    if (typeof rest === 'object') throw new DamagedStoreError(path, end, rest.damage);
    const records = recordsIn(path, frames);
    if (rest === 'torn') await file.truncate(end);
    // Also what is whole may not have been synced, when its writer was killed: from now on others rely on it.
    await file.datasync();
    const repaired = rest === 'torn' ? { repaired: repairOf(path, bytes.length - end, end) } : {};
    return { journal: { file, generation, end }, records, repaired };
  } catch (error) {
    await file.close().catch(ignore);
    throw error;
  }
}

function repairOf(path: string, length: number, end: number): string {
  return (
    `${path} ended in the middle of what was being written when the program or the machine stopped: its last ` +
    `${String(length)} bytes, from byte ${String(end)} on, were removed. Unless the disk has lost what it had confirmed, ` +
    'nobody had been told that they were kept.'
  );
}

function recordsIn(path: string, [, ...frames]: readonly Frame[]): readonly Json[] {
  const records: Json[] = [];
  for (const { offset, value } of frames) {
    if (!Array.isArray(value)) throw new DamagedStoreError(path, offset, 'there are no records');
    for (const record of value as readonly Json[]) records.push(record);
  }
  return records;
}

/** Begins the next journal, and has a new snapshot lead to it. */
async function replace(place: Place, old: Journal, snapshot: Buffer): Promise<Journal> {
  const generation = old.generation + 1;
  const journal = await createJournal(place, generation, journalName(generation));
  try {
    // The journal has its name before a snapshot says it.
    await place.handle.sync();
    const path = join(place.path, `${snapshotName}${unfinished}`);
    await using(place, path, 'w', (file) => writeSynced(file, snapshot, 0));
    await rename(place, `${snapshotName}${unfinished}`, snapshotName);
  } catch (error) {
    await journal.file.close().catch(ignore);
    throw error;
  }
  // The state is kept. What fails from here on leaves a file that the next load removes.
  await old.file.close().catch(ignore);
  await place.files.unlink(join(place.path, journalName(old.generation))).catch(ignore);
  return journal;
}

/** Makes a journal without records; it has its name for good only once the directory is synced. */
async function createJournal(place: Place, generation: number, name: string): Promise<Journal> {
  const file = await place.files.open(join(place.path, name), 'w', fileMode);
  try {
    const header = encodeHeader(generation, generation);
    await writeSynced(file, header, 0);
    return { file, generation, end: header.length };
  } catch (error) {
    await file.close().catch(ignore);
    throw error;
  }
}

/** Gives a file the name that it has from then on, also after a power failure. */
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
