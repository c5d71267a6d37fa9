/**
 * Numbered files: the files of an audit directory, and what a crash leaves in the newest of them.
 *
 * A file keeps its name for good, and only the file with the highest number is written. A rotation creates one empty
 * file, so a crash in the middle leaves nothing to repair.
 *
 * A crash leaves a call unfinished: only a beginning of its lines is there, or some sectors were never written and are
 * zeros. JSON text contains no zero byte, so a zero byte was never written.
 */
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';

import { readBytes, writeSynced } from '../file/file-system.ts';
import { notCreated, type OwnDirectory, type OwnFile } from '../file/directory.ts';
import { assertOwnFile, statusAt } from '../file/identity.ts';

/** The file that is being written. @internal */
export interface NumberedFile extends OwnFile {
  readonly number: number;
  /** Offset of the next line. */
  end: number;
}

/** The newest file, as {@link openNewest} has left it. @internal */
export interface Newest {
  readonly newest: NumberedFile;
  /** What a crash had left, and what was done, in sentences. */
  readonly repaired?: string;
}

const mode = 0o600;
const lineBreak = Buffer.from('\n');
/** The number of bytes that are read at once. */
const pieceLength = 64 * 1024;

/** Gives the numbers of the files in a directory, the lowest first. @internal */
export async function numbersIn({ path, files }: OwnDirectory): Promise<readonly number[]> {
  const names = await files.readdir(path);
  return names.flatMap((name) => numberOf(name) ?? []).sort((a, b) => a - b);
}

/** Gives the path of a file. The names sort as the numbers do. @internal */
export function pathOf({ path }: OwnDirectory, number: number): string {
  return join(path, `audit-${String(number).padStart(6, '0')}.jsonl`);
}

function numberOf(name: string): number | undefined {
  const [, digits] = /^audit-(\d{6}|[1-9]\d{6,14})\.jsonl$/.exec(name) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

/** Creates an empty file durably, with this number or the next free one. @internal */
export async function createFile(directory: OwnDirectory, number: number): Promise<NumberedFile> {
  const path = pathOf(directory, number);
  const file = await openNew(directory, path);
  if (file === undefined) return createFile(directory, number + 1);
  try {
    const identity = await file.stat({ bigint: true });
    await directory.sync();
    return { path, file, identity, number, end: 0 };
  } catch (error) {
    await directory.files.unlink(path).catch(ignore);
    await file.close().catch(ignore);
    throw error;
  }
}

/** Gives `undefined` if there is something at the path. */
async function openNew({ files }: OwnDirectory, path: string): Promise<FileHandle | undefined> {
  try {
    return await files.open(path, 'wx', mode);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return undefined;
    throw error;
  }
}

/**
 * Opens the newest file, after creating the first one if there is none, and repairs the traces of a crash.
 *
 * @param create - whether the first file may be created
 * @internal
 */
export async function openNewest(directory: OwnDirectory, create: boolean): Promise<Newest> {
  const number = (await numbersIn(directory)).at(-1);
  if (number === undefined && !create) await assertBegun(directory);
  if (number === undefined) return { newest: await createFile(directory, 1) };
  const path = pathOf(directory, number);
  const status = statusAt(path, directory.files);
  if (status !== undefined) assertOwnFile(path, status);
  const file = await directory.files.open(path, 'r+');
  try {
    const identity = await file.stat({ bigint: true });
    const size = Number(identity.size);
    const { end, zero } = await linesOf(file, path, size);
    if (zero !== undefined && zero < end) return await leave(directory, { path, file, number, zero });
    const repaired = size === end ? undefined : await mend({ path, file, end, size });
    // Lines and name may not be on the disk if their writer was killed before the sync, and later lines rely on them.
    await file.datasync();
    await directory.sync();
    const newest = { path, file, identity, number, end: repaired?.end ?? end };
    return repaired === undefined ? { newest } : { newest, repaired: repaired.text };
  } catch (error) {
    await file.close().catch(ignore);
    throw error;
  }
}

/** Checks that there were records before. Another program can have renamed all files. */
async function assertBegun({ path, files }: OwnDirectory): Promise<void> {
  const names = await files.readdir(path);
  if (!names.some((name) => name.startsWith('audit-'))) throw notCreated(`${path} contains no audit file`);
}

/** Finds the end of the last line that has its line break, and the first zero byte. */
async function linesOf(
  file: FileHandle,
  path: string,
  size: number,
): Promise<{ readonly end: number; readonly zero: number | undefined }> {
  let end = 0;
  let zero: number | undefined;
  for (let start = 0; start < size; start += pieceLength) {
    const piece = await readBytes(file, path, { start, end: Math.min(start + pieceLength, size) });
    const lastBreak = piece.lastIndexOf(lineBreak);
    if (lastBreak !== -1) end = start + lastBreak + 1;
    const firstZero = piece.indexOf(0);
    if (firstZero !== -1) zero ??= start + firstZero;
  }
  return { end, zero };
}

/** Ends the last line if the record is whole, and removes the line otherwise. Gives the new end of the file. */
async function mend({
  path,
  file,
  end,
  size,
}: {
  readonly path: string;
  readonly file: FileHandle;
  readonly end: number;
  readonly size: number;
}): Promise<{ readonly end: number; readonly text: string }> {
  const cause = 'because the program or the machine stopped';
  if (isRecord(await readBytes(file, path, { start: end, end: size }))) {
    await writeSynced(file, lineBreak, size);
    return { end: size + 1, text: `${path} ended without a line break, ${cause}. The line break was added.` };
  }
  await file.truncate(end);
  const text =
    `${path} ended with an unfinished line, ${cause}. The last ${String(size - end)} bytes of the file, from byte ` +
    `${String(end)} on, were removed. Their record was not confirmed, unless the disk has lost confirmed data.`;
  return { end, text };
}

/** No beginning of a JSON object is JSON. */
function isRecord(line: Buffer): boolean {
  try {
    const value: unknown = JSON.parse(line.toString());
    return typeof value === 'object' && value !== null;
  } catch {
    return false;
  }
}

/**
 * Leaves a file with damaged lines as it is, because the lines behind them are whole. Records continue in a new file.
 */
async function leave(
  directory: OwnDirectory,
  damaged: {
    readonly path: string;
    readonly file: FileHandle;
    readonly number: number;
    readonly zero: number;
  },
): Promise<Newest> {
  const newest = await createFile(directory, damaged.number + 1);
  await damaged.file.close().catch(ignore);
  const repaired =
    `${damaged.path} has zeros from byte ${String(damaged.zero)} on, because the machine stopped before the disk had all ` +
    'bytes, or because the disk has lost confirmed data. The line there cannot be read, and the other lines can. The ' +
    `file was left as it is, and the next record goes to ${newest.path}.`;
  return { newest, repaired };
}

function ignore(): void {
  return undefined;
}
