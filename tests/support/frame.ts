/**
 * Files of a file store, written from the description of their format alone: they share no code with the sources.
 */
import { crc32 } from 'node:zlib';

/** A frame: the length of a JSON text, a check of length, generation and offset, a check of both, and the text. */
export function encodeFrame(text: string, generation: number, offset: number): Buffer {
  const content = Buffer.from(text);
  const check = crc32(numbers(content.length, generation, offset));
  return Buffer.concat([numbers(content.length, check, crc32(content, check)), content]);
}

/** The first frame of a file of a generation, with the generation of the journal that continues from there. */
export function encodeHeader(generation: number, ofFile: number): Buffer {
  return encodeFrame(JSON.stringify({ format: 1, generation }), ofFile, 0);
}

/** A snapshot: a header, and a state as JSON. A snapshot has the generation 0. */
export function encodeSnapshot(state: string, generation: number): Buffer {
  const header = encodeHeader(generation, 0);
  return Buffer.concat([header, encodeFrame(state, 0, header.length)]);
}

function numbers(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  values.forEach((value, at) => bytes.writeUInt32BE(value, 4 * at));
  return bytes;
}
