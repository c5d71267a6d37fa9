/**
 * Input: texts from files and from the standard input, and passwords.
 *
 * A password comes from a terminal without echo, from a pipe, or from a file. Never from an argument, because other
 * users of the machine can read the arguments of a program.
 */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { Writable, type Readable } from 'node:stream';

import type { Problem } from '../index.ts';
import { parseJson, type Json } from '../json/index.ts';
import { CommandError, exitCodes, refused, type Call, type Surroundings } from './command.ts';
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
  return refused(`The file cannot be read: ${(error as Error).message}`);
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

/**
 * Warns if every user of the machine can read a file with a secret. Only a file has such a mode, and not on Windows.
 */
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
const longestDocument = 256 * 1024 * 1024;

/**
 * Reads JSON from a file; `-` is the standard input.
 *
 * @param wrong - the end of the command for a text that is not JSON
 */
export async function readJson(
  file: string,
  surroundings: Surroundings,
  { depth, wrong }: { readonly depth: number; readonly wrong: (problem: Problem) => CommandError },
): Promise<Json> {
  const parsed = parseJson(await readText(file, surroundings, longestDocument), { depth });
  if (parsed.ok) return parsed.value;
  const { detail } = parsed.problem;
  // The parser speaks of requests.
  const said = detail.replace(/^The body/, 'The text').replace(' Send a JSON value.', '');
  throw wrong({ ...parsed.problem, detail: said });
}

/** What reading a secret needs of a call. */
type Reading = Pick<Call, 'surroundings' | 'output'>;

/** Reads a new password. On a terminal, the password is asked for twice. */
export async function readNewPassword(
  file: string | undefined,
  call: Reading,
  question = 'New password: ',
): Promise<string> {
  const { surroundings } = call;
  if (file === undefined && surroundings.stdin.isTTY)
    return asking(surroundings, (ask) => askTwice(ask, question));
  return readGiven(file, call);
}

/** Reads the password of a user. On a terminal, the password is asked for. */
export async function readPassword(
  file: string | undefined,
  question: string,
  call: Reading,
): Promise<string> {
  const { surroundings } = call;
  if (file === undefined && surroundings.stdin.isTTY) return asking(surroundings, (ask) => ask(question));
  return readGiven(file, call);
}

/** More characters than any acceptable password has. */
const enough = 16_384;

/** Reads a secret from a file; `-`, and no file, are the standard input. */
export async function readGiven(file: string | undefined, call: Reading): Promise<string> {
  await warnOfReaders(file, call);
  return withoutLineEnd(await readText(file ?? '-', call.surroundings, enough));
}

/** Editors and `echo` end a line, and that end is no part of the password. */
function withoutLineEnd(text: string): string {
  return text.replace(/\r?\n$/, '');
}

/** Puts a question, and gives what the user types. */
type Ask = (question: string) => Promise<string>;

/** Asks on a terminal. What the user types is not shown. */
async function asking({ stdin, stderr }: Surroundings, use: (ask: Ask) => Promise<string>): Promise<string> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: stdin, output: silent, terminal: true });
  const interrupted = new Promise<never>((_resolve, reject) => {
    terminal.once('SIGINT', () => reject(new CommandError('Interrupted.', exitCodes.interrupted)));
  });
  const typed = terminal[Symbol.asyncIterator]();
  try {
    return await use(async (question) => {
      stderr.write(question);
      const line = await Promise.race([typed.next(), interrupted]).finally(() => stderr.write('\n'));
      if (line.done === true) throw refused('No password was typed.');
      return line.value;
    });
  } finally {
    terminal.close();
  }
}

async function askTwice(ask: Ask, question: string): Promise<string> {
  const password = await ask(question);
  if (password === (await ask('The same password again: '))) return password;
  throw refused('The two passwords differ. Try again.');
}

/** Whether a value that was read is an object. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
