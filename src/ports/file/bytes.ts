/**
 * Bytes of a file: read and written as a whole. A read or a write that cannot be completed throws.
 */
import type { FileHandle } from 'node:fs/promises';

/** Reads a part of a file. @internal */
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

/** Writes all the bytes, and waits for the disk. @internal */
export async function writeSynced(file: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, position + done);
    if (bytesWritten === 0) throw new Error('the system wrote nothing');
    done += bytesWritten;
  }
  await file.datasync();
}
