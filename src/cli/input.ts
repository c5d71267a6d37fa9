/**
 * Input: texts and JSON from files and from the standard input, passwords, and times.
 *
 * A password comes from a terminal without echo, from a pipe, or from a file. Never from an argument, because other
 * users of the machine can read the arguments of a program.
 */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { Writable, type Readable } from 'node:stream';

import type { Client } from '../client/index.ts';
import type { TimeFormat } from '../core/time.ts';
import type { Problem } from '../index.ts';
import { parseJson, type Json } from '../json/index.ts';
import { valueOrEnd } from './answer.ts';
import { CommandError, exitCodes, refused, wrongUse, type Call, type Surroundings } from './command.ts';
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

/** Writes times as the interface does, in its time zone. */
export async function timesOf(client: Client): Promise<TimeFormat> {
  const { time_zone: zone = 'UTC' } = valueOrEnd(await client.interface.get({ fields: ['time_zone'] })) as {
    readonly time_zone?: string;
  };
  const { createTimeFormat } = await import('../core/time.ts');
  return createTimeFormat(zone);
}

/**
 * The instant of an option, as the interface takes it: `2016-08-29T12:52:31+03:00`, `2016-08-29 12:52`, `2016-08-29`,
 * `yesterday`, or a span before now such as `1h30m`. A time without an offset is in the time zone of the gateway, as
 * the times that are printed.
 *
 * @param option - the name of the option, for the error about a text that is no instant
 */
export async function instantIn(option: string, text: string, client: Client): Promise<string> {
  const seconds = secondsIn(text);
  // A date cannot be as early as some spans reach back, and no change is older than 1970.
  if (seconds !== undefined) return new Date(Math.max(0, Date.now() - seconds * 1000)).toISOString();
  const { parseInstant } = await import('../core/time.ts');
  const instant = parseInstant(text) === undefined ? await wallInstant(text, () => timesOf(client)) : text;
  if (instant !== undefined && parseInstant(instant) !== undefined) return instant;
  throw wrongUse(
    `--${option} takes a time such as 2016-08-29T12:52:31+03:00, 2016-08-29, yesterday or 1h30m, and not ` +
      `${safeText(text.slice(0, 100))}.`,
  );
}

/** How many days before today a word means. */
const days: ReadonlyMap<string, number> = new Map([
  ['today', 0],
  ['yesterday', 1],
]);

const dayMs = 86_400_000;

/** The instant of a date or time in the zone of the gateway; `undefined` if the text is neither. */
async function wallInstant(text: string, times: () => Promise<TimeFormat>): Promise<string | undefined> {
  const [, date, time = '00:00'] = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d)?))?$/.exec(text) ?? [];
  const ago = days.get(text);
  if (date === undefined && ago === undefined) return undefined;
  const { iso8601 } = await times();
  const day = date ?? dayBefore(iso8601(Date.now()), ago ?? 0);
  const wall = `${day}T${time.padEnd(8, ':00')}`;
  const asUtc = Date.parse(`${wall}Z`);
  if (Number.isNaN(asUtc)) return undefined;
  // The offset can be another one at the instant itself.
  const offsetAt = (at: number): string => iso8601(at).slice(-6);
  return `${wall}${offsetAt(Date.parse(`${wall}${offsetAt(asUtc)}`))}`;
}

function dayBefore(now: string, count: number): string {
  return new Date(Date.parse(`${now.slice(0, 10)}T00:00:00Z`) - count * dayMs).toISOString().slice(0, 10);
}

/** A span: a number of seconds alone, or numbers with units, the largest unit first. */
const form = /^(?:(\d{1,9})|(?=.)(?:(\d{1,9})d)?(?:(\d{1,9})h)?(?:(\d{1,9})m)?(?:(\d{1,9})s)?)$/;

/** The seconds of each number in a span. */
const units = [1, 86_400, 3600, 60, 1] as const;

/** The seconds of a span such as `90`, `45s`, `10m`, `1h30m` or `1d`; `undefined` if the text is no span. */
export function secondsIn(text: string): number | undefined {
  const [, ...numbers] = form.exec(text) ?? [];
  if (numbers.length === 0) return undefined;
  return units.reduce((sum, unit, at) => sum + Number(numbers[at] ?? 0) * unit, 0);
}
