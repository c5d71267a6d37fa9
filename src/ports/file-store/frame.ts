/**
 * Frames: the file format of the file store. A reader can distinguish whole frames, an unfinished frame after a crash,
 * and damage.
 *
 * A file consists of frames without gaps. A frame is a header of 12 bytes, followed by JSON in UTF-8. The header is
 * three big-endian numbers:
 *
 * - the length of the JSON in bytes, at least 1 and below 2^28;
 * - the CRC-32 of that length, the generation of the file and the offset of the frame. If this checksum is right, the
 *   length can be trusted, and the frame belongs to this place;
 * - the CRC-32 of the JSON, continued from the checksum of the header.
 *
 * The first frame gives the format of the file, and the generation of the journal that continues from there.
 *
 * Two facts help to recognise an unfinished frame. JSON text as written here contains no byte below 0x20, so a stretch
 * of zeros was never written. A header begins with a byte below 0x10, so no part of the JSON looks like a header.
 */
import type { FileHandle } from 'node:fs/promises';
import { crc32 } from 'node:zlib';

import { AdminError } from '../../error.ts';
import type { Json } from '../../json/value.ts';
import { readBytes } from '../file/file-system.ts';

/**
 * The error of `load` for a store that is damaged in a way no crash can cause. Nothing was guessed, and no file was
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
export class DamagedStoreError extends AdminError {
  /** Absolute path of the damaged file. */
  readonly path: string;
  /** Offset of the damage in the file, in bytes. */
  readonly offset: number;

  /**
   * @param path - absolute path of the damaged file
   * @param offset - offset of the damage in the file, in bytes
   * @param damage - the damage, as a clause without a full stop
   */
  constructor(path: string, offset: number, damage: string) {
    super(
      'store-damaged',
      `${path} is damaged at byte ${String(offset)}: ${damage}. Nothing was changed. Restore the whole directory ` +
        'from a backup, or move the directory away to start again with the configuration that the program is given.',
    );
    this.name = 'DamagedStoreError';
    this.path = path;
    this.offset = offset;
  }
}

/** One frame of a file. @internal */
export interface Frame {
  /** Offset of the frame in the file, in bytes. */
  readonly offset: number;
  readonly value: Json;
}

/** The content of a file. @internal */
export interface FramesRead {
  /** The frames before the first one that is not whole. */
  readonly frames: readonly Frame[];
  /** Offset of the end of the last of these frames. */
  readonly end: number;
  /**
   * The bytes after these frames: none (`whole`), a frame that a crash left unfinished (`torn`), or damage that no
   * crash can cause, in words.
   */
  readonly rest: 'whole' | 'torn' | { readonly damage: string };
}

/** The content of the first frame of a file. @internal */
export interface Header {
  readonly format: typeof format;
  /** Generation of the journal that continues from here. */
  readonly generation: number;
}

const format = 1;

/** Largest file, in bytes. A file is read in one piece, so the file must fit into a buffer. @internal */
export const longestFile = 2 ** 30;

/** Stands for the generation of a snapshot, which has none. */
const ofSnapshot = 0;

const headerLength = 12;

/**
 * Largest JSON of a frame, in bytes. This limit fits into a string on every platform, and keeps the first header byte
 * below 0x10.
 */
const longestPayload = 2 ** 28 - 1;

/** Number of bytes that a disk writes as a whole, or not at all. */
const sectorLength = 512;

/**
 * Encodes a frame.
 *
 * @param text - JSON
 * @param generation - generation of the file, an integer below 2^32
 * @param offset - offset of the frame in the file, an integer below 2^32
 * @throws RangeError when the text has 2^28 bytes or more
 * @internal
 */
export function encodeFrame(text: string, generation: number, offset: number): Buffer {
  const length = Buffer.byteLength(text);
  if (length > longestPayload) {
    throw new RangeError(`One call can store at most ${String(longestPayload)} bytes, not ${String(length)}`);
  }
  const frame = Buffer.allocUnsafe(headerLength + length);
  frame.write(text, headerLength);
  const check = checkOf(length, generation, offset);
  frame.writeUInt32BE(length, 0);
  frame.writeUInt32BE(check, 4);
  frame.writeUInt32BE(crc32(frame.subarray(headerLength), check), 8);
  return frame;
}

/** Gives the length of the frame of a text, in bytes. @internal */
export function frameLength(text: string): number {
  return headerLength + Buffer.byteLength(text);
}

/**
 * Decodes the frames of a file.
 *
 * @param bytes - the whole file
 * @param generation - generation of the file
 * @internal
 */
export function readFrames(bytes: Buffer, generation: number): FramesRead {
  const frames: Frame[] = [];
  let offset = 0;
  while (offset < bytes.length) {
    const end = endOfFrame(bytes, offset, generation);
    if (end === undefined) return { frames, end: offset, rest: restAt(bytes, offset, generation) };
    const value = parsed(bytes, offset + headerLength, end);
    if (value === undefined)
      return { frames, end: offset, rest: { damage: 'the content of the frame is not JSON' } };
    frames.push({ offset, value });
    offset = end;
  }
  return { frames, end: offset, rest: 'whole' };
}

/**
 * Encodes the first frame of a file.
 *
 * @param generation - generation of the journal that continues from here
 * @param ofFile - generation of the file itself
 * @internal
 */
export function encodeHeader(generation: number, ofFile: number): Buffer {
  const header: Header = { format, generation };
  return encodeFrame(JSON.stringify(header), ofFile, 0);
}

/**
 * Encodes a snapshot: a header and a state.
 *
 * @param state - JSON
 * @param generation - generation of the journal that continues from here
 * @internal
 */
export function encodeSnapshot(state: string, generation: number): Buffer {
  const header = encodeHeader(generation, ofSnapshot);
  return Buffer.concat([header, encodeFrame(state, ofSnapshot, header.length)]);
}

/**
 * Decodes a snapshot.
 *
 * @param path - path of the file, for messages
 * @param bytes - the whole file
 * @throws DamagedStoreError when the bytes are not exactly one snapshot
 * @throws Error when the file has another format
 * @internal
 */
export function readSnapshot(path: string, bytes: Buffer): { state: Json; generation: number } {
  const { frames, end, rest } = readFrames(bytes, ofSnapshot);
  const { generation } = assertFormat(path, frames);
  const [, state, more] = frames;
  if (rest === 'whole' && state !== undefined && more === undefined)
    return { state: state.value, generation };
  throw new DamagedStoreError(
    path,
    end,
    typeof rest === 'object' ? rest.damage : 'the snapshot does not contain exactly one state',
  );
}

/**
 * Checks that a file begins with a header of the present format, and gives the header.
 *
 * @param path - path of the file, for messages
 * @param frames - the frames of the file
 * @throws DamagedStoreError when there is no header
 * @throws Error when the file has another format
 * @internal
 */
export function assertFormat(path: string, [header]: readonly Frame[]): Header {
  if (header === undefined)
    throw new DamagedStoreError(path, 0, 'the file does not begin with a whole header');
  const { value } = header as { readonly value: Partial<Header> | null };
  if (value?.format === format) return value as Header;
  throw new Error(
    `${path} has format ${JSON.stringify(value?.format)}, and this version reads format ${String(format)}. ` +
      'Start the version that has written the file, or restore an earlier backup.',
  );
}

/** Gives the file name of a journal. @internal */
export function journalName(generation: number): string {
  return `journal-${String(generation)}`;
}

/** Gives the generation of a journal by its file name; `undefined` for the name of another file. @internal */
export function generationOf(name: string): number | undefined {
  const digits = /^journal-([1-9][0-9]*)$/.exec(name)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** Reads a whole file. @internal */
export async function readAll(file: FileHandle, path: string): Promise<Buffer> {
  const { size } = await file.stat();
  if (size > longestFile)
    throw new DamagedStoreError(path, longestFile, 'the file is longer than the store ever writes');
  return readBytes(file, path, { start: 0, end: size });
}

/** The end of the frame; `undefined` if the frame is not whole. */
function endOfFrame(bytes: Buffer, offset: number, generation: number): number | undefined {
  const length = lengthAt(bytes, offset, generation);
  if (length === undefined) return undefined;
  const end = offset + headerLength + length;
  if (end > bytes.length) return undefined;
  const sum = crc32(bytes.subarray(offset + headerLength, end), bytes.readUInt32BE(offset + 4));
  return sum === bytes.readUInt32BE(offset + 8) ? end : undefined;
}

/** The length of the JSON of a frame; `undefined` if there is no correct header at the offset. */
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
 * Classifies a frame that is not whole.
 *
 * Each frame is synced before the next one is written. Therefore a crash can leave only the last frame unfinished: the
 * frame is too short, or some of its sectors were never written. A wrong frame without such a gap, or with frames after
 * it, is damage.
 */
function restAt(bytes: Buffer, offset: number, generation: number): FramesRead['rest'] {
  const fileEnd = bytes.length;
  if (fileEnd - offset < headerLength || isZero(bytes, offset, fileEnd)) return 'torn';
  const length = lengthAt(bytes, offset, generation);
  if (length === undefined) {
    const unfinished =
      (hasHole(bytes, offset, fileEnd) && !hasFrameBehind(bytes, offset, generation)) ||
      lacksStart(bytes, offset, generation);
    return unfinished ? 'torn' : { damage: 'the bytes are not the header of a frame' };
  }
  const end = offset + headerLength + length;
  if (end > fileEnd) return 'torn';
  const unfinished = hasHole(bytes, offset, end) && isZero(bytes, end, fileEnd);
  return unfinished ? 'torn' : { damage: 'the checksum of the frame is wrong' };
}

/** Whether a sector, or the part of a sector inside the range, was never written. */
function hasHole(bytes: Buffer, from: number, to: number): boolean {
  const boundary = from - (from % sectorLength) + sectorLength;
  // A correct header can begin with several zeros, so a shorter part of a sector proves nothing.
  if (boundary - from >= 8 && isZero(bytes, from, Math.min(to, boundary))) return true;
  for (let start = boundary; start < to; start += sectorLength) {
    if (isZero(bytes, start, Math.min(to, start + sectorLength))) return true;
  }
  return false;
}

/**
 * Whether all of the last frame is there but its few bytes before the boundary of a sector, which are zeros. The end of
 * the file says which bytes should be there: if a single bit differs, that can have flipped in a synced frame.
 */
function lacksStart(bytes: Buffer, offset: number, generation: number): boolean {
  const length = sectorLength - (offset % sectorLength);
  const left = bytes.subarray(offset);
  const frame = encodeFrame(left.toString('utf8', headerLength), generation, offset);
  const missing = frame.toString('hex', 0, length).replaceAll('0', '');
  return (
    isZero(left, 0, length) &&
    frame.subarray(length).equals(left.subarray(length)) &&
    !/^[1248]$/.test(missing)
  );
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
