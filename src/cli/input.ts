/**
 * Input: texts from files and from the standard input.
 */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';

import { CommandError, exitCodes, type Call, type Surroundings } from './command.ts';
import { safeText } from './output.ts';

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
  // Some editors begin a file with a byte order mark, which the decoder leaves out.
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let text = '';
  for await (const part of stream as AsyncIterable<Uint8Array>) {
    text += decoded(decoder, part);
    if (text.length > longest) throw new Error(`it has more than ${longest.toLocaleString('en')} characters`);
  }
  return text + decoded(decoder);
}

function decoded(decoder: TextDecoder, part?: Uint8Array): string {
  try {
    return decoder.decode(part, { stream: part !== undefined });
  } catch (error) {
    throw new Error('it is not UTF-8', { cause: error });
  }
}

/** Warns if every user of the machine can read a file with a secret. Only a file has such a mode, and not on Windows. */
export async function warnOfReaders(
  file: string | undefined,
  { output }: Pick<Call, 'output'>,
): Promise<void> {
  if (file === undefined || file === '-' || process.platform === 'win32') return;
  const found = await stat(file).catch(() => undefined);
  if (found?.isFile() !== true || (found.mode & 0o004) === 0) return;
  const name = safeText(file);
  output.note(`gateway-admin: every user of this machine can read ${name}. Try: chmod 600 ${name}`);
}

/** More characters than any gateway document has. */
export const longestDocument = 256 * 1024 * 1024;
