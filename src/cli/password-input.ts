/**
 * Password input: from a terminal without echo, from a pipe, or from a file. Never from an argument, because other users of
 * the machine can read the arguments of a program.
 */
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';

import { CommandError, exitCodes, type Call, type Surroundings } from './command.ts';
import { readText, warnOfReaders } from './input.ts';

/** What reading a secret needs of a call. */
type Reading = Pick<Call, 'surroundings' | 'output'>;

/** Reads a new password. On a terminal, the password is asked for twice. */
export async function readNewPassword(file: string | undefined, call: Reading): Promise<string> {
  const { surroundings } = call;
  if (file === undefined && surroundings.stdin.isTTY) return asking(surroundings, askTwice);
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
      if (line.done === true) throw new CommandError('No password was typed.', exitCodes.refused);
      return line.value;
    });
  } finally {
    terminal.close();
  }
}

async function askTwice(ask: Ask): Promise<string> {
  const password = await ask('New password: ');
  if (password === (await ask('The same password again: '))) return password;
  throw new CommandError('The two passwords differ. Try again.', exitCodes.refused);
}
