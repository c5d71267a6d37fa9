/**
 * The file system: its functions, which tests replace to make a disk fail, parts of files that are read and written
 * whole, and refusals as sentences for an operator.
 */
import { lstatSync } from 'node:fs';
import * as promises from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';

/** The functions of the file system. @internal */
export interface NodeFiles {
  /**
   * Does not follow a link at the end of the path.
   *
   * Synchronous, because files are looked at several times at each write. A look at a directory or file that is open
   * takes some microseconds and no disk access; a turn in the thread pool takes ten times as long.
   */
  readonly lstatSync: typeof lstatSync;
  readonly mkdir: typeof promises.mkdir;
  readonly open: typeof promises.open;
  readonly readdir: typeof promises.readdir;
  readonly rename: typeof promises.rename;
  readonly unlink: typeof promises.unlink;
}

/** The functions of Node. @internal */
export const nodeFiles: NodeFiles = { ...promises, lstatSync };

/** Reads a part of a file. A read that cannot be completed throws. @internal */
export async function readBytes(
  file: FileHandle,
  path: string,
  { start, end }: { readonly start: number; readonly end: number },
): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(end - start);
  for (let done = 0; done < bytes.length;) {
    const { bytesRead } = await file.read(bytes, done, bytes.length - done, start + done);
    if (bytesRead === 0)
      throw new Error(`${path} became shorter during the read: another program writes to the file`);
    done += bytesRead;
  }
  return bytes;
}

/** Writes all the bytes, and waits for the disk. A write that cannot be completed throws. @internal */
export async function writeSynced(file: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, position + done);
    if (bytesWritten === 0) throw new Error('the system wrote nothing');
    done += bytesWritten;
  }
  await file.datasync();
}

/** What the usual errors mean, and what to do, by code. */
const meanings: Readonly<Record<string, string>> = {
  EROFS: 'the disk is read-only. Mount the disk for writing, or use a directory on another disk.',
  EACCES:
    'the user of this process has no right to write there. Give the user this right, or use another directory.',
  EPERM: 'the system permits no write there. Check the attributes of the disk, or use another directory.',
  ENOSPC: 'the disk is full. Make room, and start again.',
  EDQUOT: 'the quota of the disk is used up. Raise the quota or make room, and start again.',
  ENOTDIR: 'a part of the path is a file. Correct the path.',
};

/** What an error of the file system means, as a clause and sentences that follow a colon. @internal */
export function meaningOf(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  return meanings[code] ?? `${message}. Check the path and its disk.`;
}
