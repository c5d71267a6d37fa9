/**
 * Frames: how the file store writes JSON, so that whoever reads a file can tell what is whole, what a crash left
 * unfinished, and what is damaged.
 *
 * A file is frames, one behind the other, from its first byte to its last. A frame is a header of 12 bytes, three
 * big-endian numbers, and JSON in UTF-8:
 *
 * - the length of the JSON in bytes, at least 1 and below 2^28;
 * - the CRC-32 of that length, the generation of the file and the offset of the frame: who finds it right can trust the
 *   length, and knows that the frame belongs where it is;
 * - the CRC-32 of the JSON, continued from that of the header.
 *
 * The first frame says the format of the file, and the generation of the journal that goes on from there.
 *
 * What the rest relies on: JSON as it is written here has no byte below 0x20. So a stretch of zeros was never written,
 * and nothing in the JSON can be taken for a header, since a header begins with a byte below 0x10.
 */
import type { FileHandle } from 'node:fs/promises';
import { crc32 } from 'node:zlib';

import type { Json } from '../../json/value.ts';

/**
 * What loading a store rejects with when a file in it cannot be what a crash left: nothing is guessed, and nothing was
 * changed.
 *
 * @example
 * ```ts
 * import { DamagedStoreError } from 'gateway-admin-core/file-store';
 *
 * new DamagedStoreError('/var/lib/gateway/journal-1', 80, 'a checksum is wrong').offset; // => 80
 * ```
 *
 * @public
 */
export class DamagedStoreError extends Error {
  /** Absolute path of the damaged file. */
  readonly path: string;
  /** Where in the file the damage begins, in bytes. */
  readonly offset: number;

  /**
   * @param path - absolute path of the damaged file
   * @param offset - where in the file the damage begins, in bytes
   * @param damage - what is wrong there, without a full stop
   */
  constructor(path: string, offset: number, damage: string) {
    super(
      `${path} is damaged at byte ${String(offset)}: ${damage}. Nothing was changed. Restore the whole directory from a ` +
        'backup, or move it away to begin again with the configuration that the program is given.',
    );
    this.name = 'DamagedStoreError';
    this.path = path;
    this.offset = offset;
  }
}

/** One frame of a file. @internal */
export interface Frame {
  /** Where it begins. */
  readonly offset: number;
  readonly value: Json;
}

/** What a file holds. @internal */
export interface FramesRead {
  /** The frames up to the first that is not whole. */
  readonly frames: readonly Frame[];
  /** Where the last of them ends. */
  readonly end: number;
  /**
   * What is behind them: nothing (`whole`), what was being written when the writer or the machine stopped (`torn`), or
   * something that no crash can leave, in words.
   */
  readonly rest: 'whole' | 'torn' | { readonly damage: string };
}

/** What the first frame of a file says. @internal */
export interface Header {
  readonly format: typeof format;
  /** That of the journal which goes on from here. */
  readonly generation: number;
}

const format = 1;

/** A file is read at once: it must not outgrow a buffer. @internal */
export const longestFile = 2 ** 30;

/** A snapshot is of no generation. */
const ofSnapshot = 0;

const headerLength = 12;

/** It fits in a string on every platform, and keeps the first byte of a header below 0x10. */
const longestPayload = 2 ** 28 - 1;

/** What a disk writes as a whole, or not at all. */
const sectorLength = 512;

/**
 * Writes a frame.
 *
 * @param text - JSON
 * @param generation - that of the file, an integer below 2^32
 * @param offset - where in the file it goes, an integer below 2^32
 * @throws RangeError when the text takes 2^28 bytes or more
 * @internal
 */
export function encodeFrame(text: string, generation: number, offset: number): Buffer {
  const length = Buffer.byteLength(text);
  if (length > longestPayload) {
    throw new RangeError(
      `What is stored at once takes at most ${String(longestPayload)} bytes, not ${String(length)}`,
    );
  }
  const frame = Buffer.allocUnsafe(headerLength + length);
  frame.write(text, headerLength);
  const check = checkOf(length, generation, offset);
  frame.writeUInt32BE(length, 0);
  frame.writeUInt32BE(check, 4);
  frame.writeUInt32BE(crc32(frame.subarray(headerLength), check), 8);
  return frame;
}

/**
 * Reads the frames of a file.
 *
 * @param bytes - all that the file holds
 * @param generation - that of the file
 * @internal
 */
export function readFrames(bytes: Buffer, generation: number): FramesRead {
  const frames: Frame[] = [];
  let offset = 0;
  while (offset < bytes.length) {
    const end = endOfFrame(bytes, offset, generation);
    if (end === undefined) return { frames, end: offset, rest: restAt(bytes, offset, generation) };
    const value = parsed(bytes, offset + headerLength, end);
    if (value === undefined) return { frames, end: offset, rest: { damage: 'what is there is not JSON' } };
    frames.push({ offset, value });
    offset = end;
  }
  return { frames, end: offset, rest: 'whole' };
}

/**
 * Writes the header of a file: its first frame.
 *
 * @param generation - that of the journal which goes on from here
 * @param ofFile - that of the file itself
 * @internal
 */
export function encodeHeader(generation: number, ofFile: number): Buffer {
  const header: Header = { format, generation };
  return encodeFrame(JSON.stringify(header), ofFile, 0);
}

/**
 * Writes a snapshot: a header and a state.
 *
 * @param state - JSON
 * @param generation - that of the journal which goes on from here
 * @internal
 */
export function encodeSnapshot(state: string, generation: number): Buffer {
  const header = encodeHeader(generation, ofSnapshot);
  return Buffer.concat([header, encodeFrame(state, ofSnapshot, header.length)]);
}

/**
 * Reads a snapshot.
 *
 * @param path - that of the file
 * @param bytes - all that it holds
 * @throws DamagedStoreError when that is not a snapshot from end to end
 * @throws Error when it is of another format
 * @internal
 */
export function readSnapshot(path: string, bytes: Buffer): { state: Json; generation: number } {
  const { frames, end, rest } = readFrames(bytes, ofSnapshot);
  const { generation } = assertFormat(path, frames);
  const [, state, more] = frames;
  if (rest === 'whole' && state !== undefined && more === undefined)
    return { state: state.value, generation };
  throw new DamagedStoreError(path, end, typeof rest === 'object' ? rest.damage : 'there is not one state');
}

/**
 * Checks that a file begins with a header that this version understands, and gives it.
 *
 * @param path - that of the file
 * @param frames - what it holds
 * @throws DamagedStoreError when there is no header
 * @throws Error when it is of another format
 * @internal
 */
export function assertFormat(path: string, [header]: readonly Frame[]): Header {
  if (header === undefined) throw new DamagedStoreError(path, 0, 'it does not begin with a whole header');
  const { value } = header as { readonly value: Partial<Header> | null };
  if (value?.format === format) return value as Header;
  throw new Error(
    `${path} is of format ${JSON.stringify(value?.format)}, and this version reads format ${String(format)}. ` +
      'Start the version that has written it, or restore a backup from before.',
  );
}

/** The name of a journal. @internal */
export function journalName(generation: number): string {
  return `journal-${String(generation)}`;
}

/** The generation of the journal that has a name, when there is one. @internal */
export function generationOf(name: string): number | undefined {
  const [, digits] = /^journal-([1-9][0-9]*)$/.exec(name) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

/** Reads a file. @internal */
export async function readAll(file: FileHandle, path: string): Promise<Buffer> {
  const { size } = await file.stat();
  if (size > longestFile) throw new DamagedStoreError(path, longestFile, 'it is longer than it can be');
  const bytes = Buffer.allocUnsafe(size);
  for (let done = 0; done < size;) {
    const { bytesRead } = await file.read(bytes, done, size - done, done);
    if (bytesRead === 0) throw new Error(`${path} became shorter while it was read`);
    done += bytesRead;
  }
  return bytes;
}

/** Writes bytes, all of them, and waits for the disk. @internal */
export async function writeSynced(file: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, position + done);
    if (bytesWritten === 0) throw new Error('the system wrote nothing');
    done += bytesWritten;
  }
  await file.datasync();
}

/** Where the frame ends, when it is whole. */
function endOfFrame(bytes: Buffer, offset: number, generation: number): number | undefined {
  const length = lengthAt(bytes, offset, generation);
  if (length === undefined) return undefined;
  const end = offset + headerLength + length;
  if (end > bytes.length) return undefined;
  const sum = crc32(bytes.subarray(offset + headerLength, end), bytes.readUInt32BE(offset + 4));
  return sum === bytes.readUInt32BE(offset + 8) ? end : undefined;
}

/** The length of the JSON of a frame, when there is a header at the offset and it is right. */
function lengthAt(bytes: Buffer, offset: number, generation: number): number | undefined {
  if (offset + headerLength > bytes.length) return undefined;
  const length = bytes.readUInt32BE(offset);
  if (length === 0 || length > longestPayload) return undefined;
  return checkOf(length, generation, offset) === bytes.readUInt32BE(offset + 4) ? length : undefined;
}

function checkOf(length: number, generation: number, offset: number): number {
  const numbers = Buffer.allocUnsafe(12);
  numbers.writeUInt32BE(length, 0);
  numbers.writeUInt32BE(generation, 4);
  numbers.writeUInt32BE(offset, 8);
  return crc32(numbers);
}

function parsed(bytes: Buffer, start: number, end: number): Json | undefined {
  try {
    return JSON.parse(bytes.toString('utf8', start, end)) as Json;
  } catch {
    return undefined;
  }
}

/**
 * Says what a frame that is not whole is.
 *
 * A frame is synced before the next is begun, so that a crash can only leave the last one unfinished: it stops short, or
 * sectors in it were never written. One that is all there and wrong, or that others follow, is no crash's doing.
 */
function restAt(bytes: Buffer, offset: number, generation: number): FramesRead['rest'] {
  const fileEnd = bytes.length;
  if (fileEnd - offset < headerLength || isZero(bytes, offset, fileEnd)) return 'torn';
  const length = lengthAt(bytes, offset, generation);
  if (length === undefined) {
    const unfinished = hasHole(bytes, offset, fileEnd) && !hasFrameBehind(bytes, offset, generation);
    return unfinished ? 'torn' : { damage: 'there is something else than the header of a record' };
  }
  const end = offset + headerLength + length;
  if (end > fileEnd) return 'torn';
  const unfinished = hasHole(bytes, offset, end) && isZero(bytes, end, fileEnd);
  return unfinished ? 'torn' : { damage: 'the checksum of what is there is wrong' };
}

/** Whether a sector, or the part of one that is in the range, was never written. */
function hasHole(bytes: Buffer, from: number, to: number): boolean {
  const boundary = from - (from % sectorLength) + sectorLength;
  // The first bytes of a header can be zeros by right: a part that holds no more proves nothing.
  if (boundary - from >= 8 && isZero(bytes, from, Math.min(to, boundary))) return true;
  for (let start = boundary; start < to; start += sectorLength) {
    if (isZero(bytes, start, Math.min(to, start + sectorLength))) return true;
  }
  return false;
}

function hasFrameBehind(bytes: Buffer, offset: number, generation: number): boolean {
  for (let at = offset + 1; at + headerLength <= bytes.length; at += 1) {
    if (lengthAt(bytes, at, generation) !== undefined) return true;
  }
  return false;
}

function isZero(bytes: Buffer, from: number, to: number): boolean {
  for (let at = from; at < to; at += 1) if (bytes[at] !== 0) return false;
  return true;
}
