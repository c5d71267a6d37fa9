/**
 * What a store does to its disk, written down, and from it every disk that a power failure may leave.
 *
 * The model is the one that POSIX promises and no more: content is safe once its file was synced, a name once its
 * directory was synced. Of what came since, any part may be there.
 */
import { mkdir, rm, writeFile, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

import { watchedFiles, type FileCall, type NodeFiles } from './watched-files.ts';

/** What is on a disk: content by name. */
export type Disk = ReadonlyMap<string, Buffer>;

type Change =
  | { readonly type: 'write'; readonly position: number; readonly bytes: Buffer }
  | { readonly type: 'truncate'; readonly length: number };

interface File {
  synced: Buffer;
  pending: Change[];
}

type Naming =
  | { readonly type: 'create'; readonly name: string; readonly file: File }
  | { readonly type: 'rename'; readonly from: string; readonly to: string; readonly file: File }
  | { readonly type: 'unlink'; readonly name: string };

/** The disk below a directory of a store, with its unsynced changes. */
export class DiskLog {
  /** The file system for the store. */
  readonly files: NodeFiles;
  /**
   * Whether the next sync fails, of content (`datasync`) or of names (`sync`). What it was to make safe is then as good as never done, as some systems have it: they
   * count it as written, and no later sync writes it.
   */
  failsSync: (method: string) => boolean = () => false;
  /** Whether the process is gone: no call reaches the disk. */
  isGone: () => boolean = () => false;
  readonly #opened = new Map<FileHandle, File | undefined>();
  readonly #afterEach: () => void;
  /** Names as the store sees them, and as they were when the directory was last synced. */
  readonly #names: Map<string, File>;
  readonly #synced: Map<string, File>;
  #pending: Naming[];

  /**
   * @param directory - path of the directory
   * @param afterEach - called after each change, and after each sync. Where it throws, that is what the store gets
   * @param before - what was done to the disk before; left out when it is empty
   */
  constructor(directory: string, afterEach: () => void, before?: DiskLog) {
    this.#names = new Map(before === undefined ? [] : before.#names);
    this.#synced = new Map(before === undefined ? [] : before.#synced);
    this.#pending = before === undefined ? [] : [...before.#pending];
    this.#afterEach = afterEach;
    this.files = watchedFiles(async (call, make) => {
      const isOfStore = call.path === directory || dirname(call.path) === directory;
      if (!isOfStore || basename(call.path).startsWith('lock-')) return make();
      if (this.isGone()) throw new Error('killed');
      const isSync = /^(data)?sync$/.test(call.method);
      if (isSync && this.failsSync(call.method)) return this.#forget(call);
      // What is safe is written down here. The disk of the tests need not be waited for.
      const result = isSync ? undefined : await make();
      this.#take(call);
      if (call.method === 'open')
        this.#opened.set(result as FileHandle, this.#names.get(basename(call.path)));
      return result;
    });
  }

  /** Every disk that a power failure at this moment may leave, some of them more than once. */
  *afterPowerFailure(): Generator<Disk> {
    for (let subset = 0; subset < 2 ** this.#pending.length; subset += 1)
      for (const survival of survivals) yield this.left(survival, (index) => (subset & (2 ** index)) !== 0);
  }

  /**
   * The disk that a power failure at this moment leaves.
   *
   * @param survival - how much of the content that was not synced is there
   * @param keepsName - whether a change of a name that was not synced is there, by its place among these changes
   */
  left(survival: Survival, keepsName: (index: number, count: number) => boolean): Disk {
    const names = new Map(this.#synced);
    const count = this.#pending.length;
    for (const naming of this.#pending.filter((_each, index) => keepsName(index, count))) name(names, naming);
    return new Map([...names].map(([key, file]) => [key, contents[survival](file)]));
  }

  /** The machine starts again with a disk, in the place of all that was there. */
  async restore(directory: string, disk: Disk): Promise<void> {
    await restoreDisk(directory, disk);
    this.#pending = [];
    for (const names of [this.#names, this.#synced]) names.clear();
    for (const [key, synced] of disk) {
      const file = { synced, pending: [] };
      for (const names of [this.#names, this.#synced]) names.set(key, file);
    }
  }

  /** A sync that fails: all that it was to make safe may be there at this moment, and never again. */
  #forget({ method, file }: FileCall): never {
    this.#afterEach();
    const content = file === undefined ? undefined : this.#opened.get(file);
    if (method === 'sync') this.#pending = [];
    else if (content !== undefined) content.pending = [];
    this.#afterEach();
    throw new Error('EIO: the sync failed');
  }

  #take({ method, path, parameters, file: handle }: FileCall): void {
    const [first, second, third, fourth] = parameters;
    const file = handle === undefined ? this.#names.get(basename(path)) : this.#opened.get(handle);
    if (method === 'open' && (second === 'w' || second === 'wx')) this.#open(basename(path), file);
    else if (method === 'write') file?.pending.push(writeOf(first as Buffer, second, third, fourth));
    else if (method === 'truncate') file?.pending.push({ type: 'truncate', length: Number(first) });
    else if (method === 'datasync') this.#sync(file);
    else if (method === 'sync') this.#syncNames();
    else if (method === 'rename') this.#rename(basename(path), basename(String(second)), file);
    else if (method === 'unlink') this.#name({ type: 'unlink', name: basename(path) });
    else return;
    this.#afterEach();
  }

  #open(key: string, file: File | undefined): void {
    if (file !== undefined) file.pending.push({ type: 'truncate', length: 0 });
    else this.#name({ type: 'create', name: key, file: { synced: Buffer.alloc(0), pending: [] } });
  }

  #rename(from: string, to: string, file: File | undefined): void {
    if (file === undefined) throw new RangeError('A file without a name was renamed');
    this.#name({ type: 'rename', from, to, file });
  }

  #sync(file: File | undefined): void {
    if (file === undefined) throw new RangeError('A file without a name was synced');
    file.synced = changed(file.synced, file.pending);
    file.pending = [];
  }

  #syncNames(): void {
    for (const naming of this.#pending) name(this.#synced, naming);
    this.#pending = [];
  }

  #name(naming: Naming): void {
    name(this.#names, naming);
    this.#pending.push(naming);
  }
}

/** Puts a disk into a directory, in the place of all that was there. */
export async function restoreDisk(directory: string, disk: Disk): Promise<void> {
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { mode: 0o700 });
  for (const [key, content] of disk) await writeFile(join(directory, key), content);
}

/** How much of what was not synced is there. */
const contents = {
  'no content': ({ synced }: File) => synced,
  'all content': ({ synced, pending }: File) => changed(synced, pending),
  'all but the last write': ({ synced, pending }: File) => changed(synced, pending.slice(0, -1)),
  'half of each write': ({ synced, pending }: File) => changed(synced, shortened(pending)),
  // The file has become as long as it was to be.
  'the first sector, and every other one': ({ synced, pending }: File) => withHoles(synced, pending, 0),
  'the second sector, and every other one': ({ synced, pending }: File) => withHoles(synced, pending, 1),
};

export type Survival = keyof typeof contents;

export const survivals = Object.keys(contents) as readonly Survival[];

function changed(content: Buffer, changes: readonly Change[]): Buffer {
  let result = Buffer.from(content);
  for (const change of changes) {
    const length = change.type === 'truncate' ? change.length : change.position + change.bytes.length;
    const resized = Buffer.alloc(change.type === 'truncate' ? length : Math.max(length, result.length));
    result.copy(resized);
    if (change.type === 'write') change.bytes.copy(resized, change.position);
    result = resized;
  }
  return result;
}

function shortened(changes: readonly Change[]): readonly Change[] {
  return changes.map((change) =>
    change.type === 'write'
      ? { ...change, bytes: change.bytes.subarray(0, change.bytes.length / 2) }
      : change,
  );
}

function withHoles(synced: Buffer, pending: readonly Change[], parity: 0 | 1): Buffer {
  const result = changed(synced, pending);
  for (let start = 0; start < result.length; start += 512) {
    if ((start / 512) % 2 === parity) continue;
    const end = Math.min(start + 512, result.length);
    result.fill(0, start, end);
    synced.subarray(start, end).copy(result, start);
  }
  return result;
}

function name(names: Map<string, File>, naming: Naming): void {
  if (naming.type === 'create') names.set(naming.name, naming.file);
  else if (naming.type === 'unlink') names.delete(naming.name);
  else {
    names.delete(naming.from);
    names.set(naming.to, naming.file);
  }
}

function writeOf(bytes: Buffer, offset: unknown, length: unknown, position: unknown): Change {
  const start = Number(offset);
  return {
    type: 'write',
    position: Number(position),
    bytes: Buffer.from(bytes.subarray(start, start + Number(length))),
  };
}
