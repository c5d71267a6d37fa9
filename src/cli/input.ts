/**
 * Input: texts from files and from the standard input.
 */
import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';

import { CommandError, exitCodes, type Surroundings } from './command.ts';

/**
 * Reads a text from a file; `-` is the standard input.
 *
 * @param longest - characters that the text can have: a device such as /dev/zero never ends by itself
 */
export async function readText(
  file: string,
  { stdin }: Pick<Surroundings, 'stdin'>,
  longest: number,
): Promise<string> {
  try {
    return await textOf(file === '-' ? stdin : createReadStream(file), longest);
  } catch (error) {
    throw unreadable(error);
  }
}

/**
 * Reads the first bytes of a file.
 *
 * @param most - how many
 */
export async function readBytes(file: string, most: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  try {
    for await (const part of createReadStream(file, { end: most - 1 })) parts.push(part as Uint8Array);
  } catch (error) {
    throw unreadable(error);
  }
  return Buffer.concat(parts);
}

function unreadable(error: unknown): CommandError {
  return new CommandError(`The file cannot be read: ${(error as Error).message}`, exitCodes.refused);
}

async function textOf(stream: Readable, longest: number): Promise<string> {
  let text = '';
  for await (const part of stream.setEncoding('utf8') as AsyncIterable<string>) {
    text += part;
    if (text.length > longest) throw new Error(`it has more than ${longest.toLocaleString('en')} characters`);
  }
  // Some editors begin a file with a byte order mark.
  return text.replace(/^\ufeff/, '');
}

/** More characters than any gateway document has. */
export const longestDocument = 256 * 1024 * 1024;
