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
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';

import { assertMembers } from '../../core/member.ts';
import type { Json } from '../../json/value.ts';
import { type NodeFiles, nodeFiles, readBytes, writeSynced } from '../file/file-system.ts';
import { notCreated, OwnDirectory, type FileAtRest, type OwnFile } from '../file/directory.ts';
import { assertOwnFile, statusAt } from '../file/identity.ts';
import type { ConfigurationStore, StoredHistory } from '../port.ts';
import { StoreConflictError, StoreLostError } from '../port-error.ts';
import {
  DamagedStoreError,
  assertFormat,
  encodeFrame,
  encodeHeader,
  encodeSnapshot,
  frameLength,
  generationOf,
  journalName,
  longestFile,
  readAll,
  readFrames,
  readSnapshot,
  type Frame,
} from './frame.ts';

export { DamagedStoreError } from './frame.ts';
export { StoreLockedError } from '../file/lock.ts';

/**
 * The options of `openFileStore`.
 *
 * @public
 */
export interface FileStoreOptions {
  /**
   * Whether a store may begin here; `true` by default. With `false`, `openFileStore` rejects if the directory is
   * missing, and `load` rejects if the directory contains no store. Give `false` once the gateway was set up: a deleted
   * directory then stops the start, and the gateway does not begin again from its document.
   */
  readonly create?: boolean;
}

/**
 * Opens and locks a file store. Needs Node on a Unix system and a local disk, because over a network file system the
 * lock has no effect between machines.
 *
 * A missing directory is created, with access for its owner only. `append` and `compact` resolve once the disk has
 * confirmed the data. After a failed write, only the same call can follow: the store then writes everything again that
 * the disk has not confirmed. The lock ends with the process at the latest, and does not keep the process alive.
 *
 * Before and after each write, the store checks that directory, journal, snapshot and lock are still its own. If
 * another program has removed, replaced or cut one of them, or opened one to other users, the call rejects with
 * `StoreLostError`, and so does every later call.
 *
 * `load` removes an unfinished frame at the end of the journal, as a crash leaves it, and reports that in `repaired`.
 * For any other damage `load` rejects with `DamagedStoreError`, and for files of a newer version with an Error; in both
 * cases the files stay unchanged.
 *
 * @param directory - path of the directory, which must contain nothing else. The directory must not be a symbolic link,
 *   must belong to the user of the process, and must not be writable by other users
 * @param options - whether a store may begin here
 * @returns the store. Dispose of the store at the end, also if `load` rejects. Rejects with `StoreLockedError` if the
 *   directory is in use, with a TypeError for a wrong option, and with an Error if the directory cannot be used
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
export function openFileStore(directory: string, options?: FileStoreOptions): Promise<ConfigurationStore>;
// The third parameter is for tests with a failing file system.
export async function openFileStore(
  directory: string,
  options: FileStoreOptions = {},
  files: NodeFiles = nodeFiles,
): Promise<ConfigurationStore> {
  assertMembers(options, ['create'], 'option of openFileStore');
  const { create = true } = options;
  return new FileStore(await OwnDirectory.open(directory, { create, files }), create);
}

/** The journal that is being written. */
interface Journal extends OwnFile {
  readonly generation: number;
  /** Offset of the next frame. */
  end: number;
}

const snapshotName = 'snapshot';
/** Suffix of an unfinished file. */
const unfinished = '.new';
const fileMode = 0o600;

class FileStore implements ConfigurationStore {
  readonly durable = true;
  readonly #directory: OwnDirectory;
  /** Whether a store may begin in the directory. */
  readonly #create: boolean;
  #journal: Journal | undefined;
  /** What can be at the path of the snapshot. More than one only after a compaction that has failed. */
  #snapshots: readonly (FileAtRest | undefined)[] = [];
  /**
   * The call that has failed, as the bytes that it writes. Until the same call has succeeded, no other call may write.
   */
  #failed: Buffer | undefined;

  constructor(directory: OwnDirectory, create: boolean) {
    this.#directory = directory;
    this.#create = create;
  }

  load(): Promise<StoredHistory> {
    return this.#directory.inTurn(async () => {
      if (this.#journal !== undefined)
        throw new Error('The store is loaded already. Dispose of the store and open it again.');
      const { journal, snapshot, history } = await loadContent(this.#directory, this.#create);
      this.#journal = journal;
      this.#snapshots = [snapshot];
      return history;
    });
  }

  async append(
    records: readonly Json[],
    { expectedPosition }: { readonly expectedPosition: string },
  ): Promise<string> {
    const text = JSON.stringify(records);
    return this.#directory.inTurn(async () => {
      const journal = this.#loaded();
      if (positionOf(journal) !== expectedPosition)
        return this.#confirm(journal, expectedPosition, await isEndOf(journal, text, expectedPosition));
      const frame = encodeFrame(text, journal.generation, journal.end);
      if (journal.end + frame.length > longestFile) {
        throw new Error(`The journal in ${this.#directory.path} is full. Call compact() first.`);
      }
      return this.#write(frame, journal, async () => {
        await writeSynced(journal.file, frame, journal.end);
        // Only now: a store that another process opened after this check has loaded the frame.
        this.#assertUntouched(journal, journal.end + frame.length);
        journal.end += frame.length;
        return journal;
      });
    });
  }

  async compact(state: Json, { expectedPosition }: { readonly expectedPosition: string }): Promise<string> {
    const text = JSON.stringify(state);
    return this.#directory.inTurn(async () => {
      const journal = this.#loaded();
      if (positionOf(journal) !== expectedPosition) {
        const isRepeated = await isStateOf(this.#directory, journal, text, expectedPosition);
        return this.#confirm(journal, expectedPosition, isRepeated);
      }
      const snapshot = encodeSnapshot(text, journal.generation + 1);
      return this.#write(snapshot, journal, async () => {
        const next = await startGeneration(this.#directory, journal, snapshot, (renamed) => {
          this.#snapshots = [...this.#snapshots, renamed];
        });
        this.#journal = next;
        this.#snapshots = this.#snapshots.slice(-1);
        // The state is stored: if the check below fails, the repeated call writes nothing.
        this.#failed = undefined;
        this.#assertUntouched(next, next.end);
        return next;
      });
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#directory.close(() => this.#journal);
  }

  /** @throws Error if the store is not loaded */
  #loaded(): Journal {
    if (this.#journal === undefined) throw new Error('The store is not loaded. Call load() first.');
    return this.#journal;
  }

  /** Confirms a repeated call whose content is kept. Any other call for this position comes from another writer. */
  #confirm(journal: Journal, expectedPosition: string, isRepeated: boolean): string {
    if (!isRepeated) throw new StoreConflictError(expectedPosition, positionOf(journal));
    this.#assertUntouched(journal, journal.end);
    return positionOf(journal);
  }

  /** @throws StoreLostError unless directory, journal, snapshot and lock are as this process has left them */
  #assertUntouched(journal: Journal, end: number): void {
    this.#directory.assertLength(journal, end);
    this.#directory.assertAtRest(join(this.#directory.path, snapshotName), this.#snapshots);
  }

  /**
   * Makes a call that writes.
   *
   * @param bytes - what the call writes
   * @param journal - the present journal
   * @param work - gives the journal in which the store continues
   */
  async #write(bytes: Buffer, journal: Journal, work: () => Promise<Journal>): Promise<string> {
    if (this.#failed?.equals(bytes) === false)
      throw new Error(
        `The last call of the store in ${this.#directory.path} failed. Make the same call again first.`,
      );
    try {
      if (this.#failed !== undefined) await this.#cutFailed(journal);
      this.#assertUntouched(journal, journal.end);
      this.#failed = bytes;
      const next = await work();
      this.#failed = undefined;
      return positionOf(next);
    } catch (cause) {
      if (cause instanceof StoreLostError) throw cause;
      throw new Error(
        `Writing to the store in ${this.#directory.path} failed: ${(cause as Error).message}. ` +
          'Nothing of this call is confirmed. The store can be used again once the same call succeeds.',
        { cause },
      );
    }
  }

  /**
   * Removes the bytes of a failed append. After a failed sync, the system may count bytes as synced that are not on the
   * disk. Therefore all bytes after the last good sync are written again, and the file gets its length again.
   */
  async #cutFailed(journal: Journal): Promise<void> {
    if (this.#directory.lengthOf(journal) > journal.end) await journal.file.truncate(journal.end);
  }
}

/** Whether a journal ends with these records, and they begin at the expected position: the same call came before. */
async function isEndOf(journal: Journal, text: string, expectedPosition: string): Promise<boolean> {
  const { path, file, generation } = journal;
  const start = journal.end - frameLength(text);
  if (positionOf({ generation, end: start }) !== expectedPosition) return false;
  const kept = await readBytes(file, path, { start, end: journal.end });
  return kept.equals(encodeFrame(text, generation, start));
}

/** Whether a journal continues from this state and is empty, and the state replaced what ended at the position. */
async function isStateOf(
  directory: OwnDirectory,
  { generation, end }: Journal,
  text: string,
  expectedPosition: string,
): Promise<boolean> {
  const isNext = expectedPosition.startsWith(`${String(generation - 1)}.`);
  if (!isNext || generation === 1 || end !== encodeHeader(generation, generation).length) return false;
  const path = join(directory.path, snapshotName);
  const kept = await withFile(directory, path, 'r', (file) => readAll(file, path));
  return kept.equals(encodeSnapshot(text, generation));
}

function positionOf({ generation, end }: Pick<Journal, 'generation' | 'end'>): string {
  return `${String(generation)}.${String(end)}`;
}

/** Loads the content, and repairs the traces of a crash. */
async function loadContent(
  directory: OwnDirectory,
  create: boolean,
): Promise<{
  readonly journal: Journal;
  readonly snapshot: FileAtRest | undefined;
  readonly history: StoredHistory;
}> {
  const names = await namesIn(directory, create);
  const snapshot = names.includes(snapshotName) ? await snapshotIn(directory) : undefined;
  const generation = snapshot?.generation ?? 1;
  if (!names.includes(journalName(generation))) {
    throw new DamagedStoreError(join(directory.path, journalName(generation)), 0, 'the file is missing');
  }
  const strays = await straysAmong(names, generation, directory);
  const { journal, records, repaired } = await openJournal(directory, generation);
  try {
    // The new names must be durable before the replaced files are removed.
    await directory.sync();
    for (const name of strays) await directory.files.unlink(join(directory.path, name));
  } catch (error) {
    await journal.file.close().catch(ignore);
    throw error;
  }
  const history = { records, position: positionOf(journal), ...repaired };
  if (snapshot === undefined) return { journal, snapshot, history };
  return { journal, snapshot: snapshot.file, history: { state: snapshot.state, ...history } };
}

/** Lists the directory. Creates the first journal if the directory has no journal and `create` is set. */
async function namesIn(directory: OwnDirectory, create: boolean): Promise<readonly string[]> {
  const names = await directory.files.readdir(directory.path);
  for (const name of names.filter(isOfStore)) {
    const path = join(directory.path, name);
    const status = statusAt(path, directory.files);
    if (status !== undefined) assertOwnFile(path, status);
  }
  if (names.some((name) => name === snapshotName || generationOf(name) !== undefined)) return names;
  if (!create) throw notCreated(`${directory.path} contains no store`);
  const { file } = await createJournal(directory, 1);
  await file.close();
  return directory.files.readdir(directory.path);
}

/** Whether the store reads or writes a file of this name. */
function isOfStore(name: string): boolean {
  return name === snapshotName || generationOf(name) !== undefined || isUnfinished(name);
}

function isUnfinished(name: string): boolean {
  const finished = name.slice(0, -unfinished.length);
  return name.endsWith(unfinished) && (finished === snapshotName || generationOf(finished) !== undefined);
}

/** The names of the files that a crash has left over. */
async function straysAmong(
  names: readonly string[],
  current: number,
  directory: OwnDirectory,
): Promise<readonly string[]> {
  for (const name of names) {
    const generation = generationOf(name) ?? current;
    if (generation > current) await assertEmptyJournal(directory, generation, current);
  }
  return names.filter((name) => isUnfinished(name) || (generationOf(name) ?? current) !== current);
}

/** Checks a later journal: an interrupted compaction leaves the next journal with nothing but its header. */
async function assertEmptyJournal(
  directory: OwnDirectory,
  generation: number,
  current: number,
): Promise<void> {
  const path = join(directory.path, journalName(generation));
  const { length } = await withFile(directory, path, 'r', (file) => readAll(file, path));
  if (generation !== current + 1 || length > encodeHeader(generation, generation).length) {
    throw new DamagedStoreError(path, 0, 'the snapshot that this journal continues from is missing');
  }
}

async function snapshotIn(
  directory: OwnDirectory,
): Promise<{ readonly state: Json; readonly generation: number; readonly file: FileAtRest }> {
  const path = join(directory.path, snapshotName);
  return withFile(directory, path, 'r', async (file) => {
    const identity = await file.stat({ bigint: true });
    const bytes = await readAll(file, path);
    return { ...readSnapshot(path, bytes), file: { identity, length: bytes.length } };
  });
}

interface OpenJournal {
  readonly journal: Journal;
  readonly records: readonly Json[];
  /** The repair, if there was one. */
  readonly repaired: { readonly repaired?: string };
}

async function openJournal(directory: OwnDirectory, generation: number): Promise<OpenJournal> {
  const path = join(directory.path, journalName(generation));
  const file = await directory.files.open(path, 'r+');
  try {
    const identity = await file.stat({ bigint: true });
    const bytes = await readAll(file, path);
    const { frames, end, rest } = readFrames(bytes, generation);
    assertFormat(path, frames);
    if (typeof rest === 'object') throw new DamagedStoreError(path, end, rest.damage);
    const records = recordsIn(path, frames);
    if (rest === 'torn') await file.truncate(end);
    // The last frame may not be on the disk, and later writes rely on it: its writer was killed before the sync.
    // After a failed sync, the system may count it as synced, and syncs it only if it is written again.
    const last = frames.at(-1)?.offset ?? 0;
    await writeSynced(file, bytes.subarray(last, end), last);
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

/**
 * Starts the next generation: creates its journal, and makes a new snapshot refer to the journal.
 *
 * @param onRename - called before the new snapshot gets its name: a rename that fails can have been made all the same
 */
async function startGeneration(
  directory: OwnDirectory,
  old: Journal,
  snapshot: Buffer,
  onRename: (snapshot: FileAtRest) => void,
): Promise<Journal> {
  const generation = old.generation + 1;
  // The name of the journal must be durable before a snapshot refers to the journal.
  const journal = await createJournal(directory, generation);
  try {
    const path = join(directory.path, `${snapshotName}${unfinished}`);
    const identity = await withFile(directory, path, 'w', async (file) => {
      await writeSynced(file, snapshot, 0);
      return file.stat({ bigint: true });
    });
    onRename({ identity, length: snapshot.length });
    await rename(directory, `${snapshotName}${unfinished}`, snapshotName);
  } catch (error) {
    await journal.file.close().catch(ignore);
    throw error;
  }
  // The state is stored. A failure from here on only leaves a file that the next load removes.
  await old.file.close().catch(ignore);
  await directory.files.unlink(join(directory.path, journalName(old.generation))).catch(ignore);
  return journal;
}

/**
 * Creates a journal without records, durably. If there is one already, from a compaction that failed, that journal
 * stays until the new one has its place: a snapshot may refer to it.
 */
async function createJournal(directory: OwnDirectory, generation: number): Promise<Journal> {
  const name = journalName(generation);
  const path = join(directory.path, name);
  const file = await directory.files.open(`${path}${unfinished}`, 'w', fileMode);
  try {
    const identity = await file.stat({ bigint: true });
    const header = encodeHeader(generation, generation);
    await writeSynced(file, header, 0);
    await rename(directory, `${name}${unfinished}`, name);
    return { path, file, identity, generation, end: header.length };
  } catch (error) {
    await file.close().catch(ignore);
    throw error;
  }
}

/** Renames a file, durably. */
async function rename(directory: OwnDirectory, from: string, to: string): Promise<void> {
  await directory.files.rename(join(directory.path, from), join(directory.path, to));
  await directory.sync();
}

async function withFile<T>(
  directory: OwnDirectory,
  path: string,
  flags: 'r' | 'w',
  task: (file: FileHandle) => Promise<T>,
): Promise<T> {
  const file = await directory.files.open(path, flags, fileMode);
  return task(file).finally(() => file.close());
}

function ignore(): void {
  return undefined;
}
