/**
 * The audit file: an audit sink that keeps the records as JSON lines, in numbered files in a directory of its own.
 *
 * - `audit-<number>.jsonl` contains one line for each record. Only the file with the highest number is written.
 * - `lock-*` is the lock.
 */
import { assertMembers } from '../../core/member.ts';
import type { AuditRecord } from '../audit-record.ts';
import { type NodeFiles, nodeFiles, writeSynced } from '../file/file-system.ts';
import { OwnDirectory } from '../file/directory.ts';
import { isSameFile, statusAt } from '../file/identity.ts';
import type { AuditSink } from '../port.ts';
import { StoreLostError } from '../port-error.ts';
import {
  createFile,
  numbersIn,
  openNewest,
  pathOf,
  type Newest,
  type NumberedFile,
} from './numbered-file.ts';

export { StoreLockedError } from '../file/lock.ts';

/**
 * The options of `openAuditFile`.
 *
 * @beta
 */
export interface AuditFileOptions {
  /**
   * The size from which on records go to a new file, in bytes: 64 MiB if left out, and at least 1. The records of one
   * call go to one file, so a file is larger if one call is larger.
   */
  readonly maxBytes?: number;
  /**
   * The number of files that are kept, at least 2. Before there are more, the oldest ones are removed. If left out, no
   * file is removed.
   */
  readonly maxFiles?: number;
  /**
   * Whether the records may begin here; `true` by default. With `false`, `openAuditFile` rejects if the directory is
   * missing or contains no audit file.
   */
  readonly create?: boolean;
}

/**
 * An audit sink that keeps the records in files.
 *
 * @beta
 */
export interface AuditFile extends AuditSink {
  /**
   * What a crash had left when the directory was opened, and what was done, in sentences. Left out if there was
   * nothing.
   */
  readonly repaired?: string;
  /**
   * Keeps records in order, one line for each. Resolves once the disk has confirmed them. If the call rejects, none of
   * its records are kept, and the next call tries again.
   *
   * @param records - the records
   * @returns rejects with `StoreLostError`, and so does every later call, if another program has removed, replaced or
   *   changed the newest file, the lock or the directory. If a program has renamed the newest file, the records go to a
   *   new file
   */
  append(records: readonly AuditRecord[]): Promise<void>;
  /** Closes the files after the calls in flight have settled, and ends the lock. Another disposal changes nothing. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Opens a directory for audit records. The records are JSON lines in UTF-8, in the files `audit-000001.jsonl`,
 * `audit-000002.jsonl` and so on. Only the newest file is written. Needs Node on a Unix system and a local disk.
 *
 * A missing directory is created, with access for its owner only, and so are the files. The directory is locked until
 * the sink is disposed of, or the process ends.
 *
 * An unfinished line at the end of the newest file, as a crash leaves it, is removed; a whole record without its line
 * break gets one. If lines in the newest file were lost in a power failure, that file stays as it is, and records
 * continue in a new file. In each case `repaired` says so.
 *
 * @param directory - path of the directory, which must be used for nothing else. The directory must not be a symbolic
 *   link, must belong to the user of the process, and must not be writable by other users
 * @param options - when a new file begins, how many are kept, and whether the records may begin here
 * @returns the sink. Rejects with `StoreLockedError` if the directory is in use, with a RangeError for a wrong option,
 *   and with an Error if the directory or its newest file cannot be used
 *
 * @example
 * ```ts
 * import { mkdtemp, readFile, rm } from 'node:fs/promises';
 * import { tmpdir } from 'node:os';
 * import { join } from 'node:path';
 * import { openAuditFile } from 'gateway-admin-core/audit-file';
 *
 * const directory = await mkdtemp(join(tmpdir(), 'audit-'));
 * const sink = await openAuditFile(directory, { maxBytes: 16 * 1024 * 1024, maxFiles: 100 });
 * await sink.append([{ kind: 'failed-log-in', id: '5f0c.1', time: '2016-08-29T09:52:31.250+00:00', count: 1 }]);
 * await sink[Symbol.asyncDispose]();
 *
 * const text = await readFile(join(directory, 'audit-000001.jsonl'), 'utf8');
 * text.split('\n').length; // => 2
 * await rm(directory, { recursive: true });
 * ```
 *
 * @beta
 */
export function openAuditFile(directory: string, options?: AuditFileOptions): Promise<AuditFile>;
// The third parameter is for tests with a failing file system.
export async function openAuditFile(
  directory: string,
  options: AuditFileOptions = {},
  files: NodeFiles = nodeFiles,
): Promise<AuditFile> {
  assertMembers(options, ['maxBytes', 'maxFiles', 'create'], 'option of openAuditFile');
  const { maxBytes = 64 * 1024 * 1024, maxFiles, create = true } = options;
  assertWhole('maxBytes', maxBytes, 1);
  if (maxFiles !== undefined) assertWhole('maxFiles', maxFiles, 2);
  const own = await OwnDirectory.open(directory, { create, files });
  try {
    return new JsonLines(own, { maxBytes, maxFiles }, await openNewest(own, create));
  } catch (error) {
    await own.close(() => undefined);
    throw error;
  }
}

function assertWhole(name: string, value: number, least: number): void {
  if (Number.isSafeInteger(value) && value >= least) return;
  throw new RangeError(`${name} must be a whole number from ${String(least)} on, not ${String(value)}`);
}

interface Limits {
  readonly maxBytes: number;
  readonly maxFiles: number | undefined;
}

class JsonLines implements AuditFile {
  readonly repaired?: string;
  readonly #directory: OwnDirectory;
  readonly #limits: Limits;
  #newest: NumberedFile;
  /** Whether a failed call may have left bytes behind the end of the newest file. */
  #hasRest = false;

  constructor(directory: OwnDirectory, limits: Limits, { newest, repaired }: Newest) {
    this.#directory = directory;
    this.#limits = limits;
    this.#newest = newest;
    if (repaired !== undefined) this.repaired = repaired;
  }

  async append(records: readonly AuditRecord[]): Promise<void> {
    const lines = Buffer.from(records.map((record) => `${JSON.stringify(record)}\n`).join(''));
    return this.#directory.inTurn(() => this.#keep(lines));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#directory.close(() => this.#newest);
  }

  async #keep(lines: Buffer): Promise<void> {
    try {
      await this.#leaveRenamed();
      await this.#cutRest();
      const { end } = this.#newest;
      this.#directory.assertLength(this.#newest, end);
      if (end > 0 && end + lines.length > this.#limits.maxBytes) await this.#rotate();
      await this.#write(lines);
    } catch (cause) {
      if (cause instanceof StoreLostError) throw cause;
      // If this fails too, the next call or the next opening cuts the rest.
      await this.#cutRest().catch(ignore);
      throw new Error(
        `Writing to ${this.#newest.path} failed: ${(cause as Error).message}. No record of this call is kept. The next ` +
          'call tries again, so nothing needs to be restarted once the disk works and has space.',
        { cause },
      );
    }
  }

  async #write(lines: Buffer): Promise<void> {
    const newest = this.#newest;
    const end = newest.end + lines.length;
    this.#hasRest = true;
    await writeSynced(newest.file, lines, newest.end);
    if (await this.#leaveRenamed()) return this.#write(lines);
    // Only now: a sink that another process opened after this look has found the lines.
    this.#directory.assertLength(newest, end);
    newest.end = end;
    this.#hasRest = false;
  }

  /**
   * Cuts what a failed call has left behind the last kept line. Waits for the disk, because the file may not be written
   * again, and no later opening looks at the end of an older file.
   */
  async #cutRest(): Promise<void> {
    if (!this.#hasRest) return;
    const { file, end } = this.#newest;
    if (this.#directory.lengthOf(this.#newest) > end) await file.truncate(end);
    await file.datasync();
    this.#hasRest = false;
  }

  /**
   * Continues in a new file if another program has renamed the newest one, as logrotate does. The old file keeps its
   * records, and loses what was not confirmed. A file that was removed or cut has lost records, so it is not left here.
   *
   * @returns whether a new file was begun
   */
  async #leaveRenamed(): Promise<boolean> {
    const { path, file, identity, end } = this.#newest;
    if (isSameFile(statusAt(path, this.#directory.files), identity)) return false;
    const { nlink, size } = await file.stat({ bigint: true });
    if (nlink === 0n || size < BigInt(end)) return false;
    this.#directory.assertOwn();
    if (size > BigInt(end)) await file.truncate(end);
    await file.datasync();
    this.#hasRest = false;
    await this.#rotate();
    return true;
  }

  /** Continues in a new file. Makes room first: the disk may be full. */
  async #rotate(): Promise<void> {
    const { maxFiles } = this.#limits;
    if (maxFiles !== undefined) await this.#removeAllBut(maxFiles - 1);
    const old = this.#newest;
    this.#newest = await createFile(this.#directory, old.number + 1);
    await old.file.close().catch(ignore);
  }

  async #removeAllBut(count: number): Promise<void> {
    const numbers = await numbersIn(this.#directory);
    const oldest = numbers.filter((number) => number <= this.#newest.number).slice(0, -count);
    // A file that cannot be removed must not stop the records. The next rotation tries again.
    for (const number of oldest)
      await this.#directory.files.unlink(pathOf(this.#directory, number)).catch(ignore);
  }
}

function ignore(): void {
  return undefined;
}
