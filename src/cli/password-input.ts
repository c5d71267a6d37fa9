/**
 * Password input: from a terminal without echo, from a pipe, or from a file. Never from an argument, because other users of
 * the machine can read the arguments of a program.
 */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { Writable, type Readable } from 'node:stream';

import { CommandError, exitCodes, type Streams } from './command.ts';

/** Reads a new password. On a terminal, the password is asked for twice. */
export async function readNewPassword(file: string | undefined, streams: Streams): Promise<string> {
  if (file !== undefined) return withoutLineEnd(await readFileText(file));
  return streams.stdin.isTTY ? askTwice(streams) : withoutLineEnd(await readText(streams.stdin));
}

async function readFileText(file: string): Promise<string> {
  try {
    return await readText(createReadStream(file));
  } catch (error) {
    const { message } = error as Error;
    throw new CommandError(`The password file cannot be read: ${message}`, exitCodes.refused);
  }
}

/** More characters than any acceptable password has. */
const enough = 16_384;

/** Reads a stream to its end, or until the text is too long for a password: a device such as /dev/zero never ends. */
async function readText(stream: Readable): Promise<string> {
  let text = '';
  for await (const part of stream.setEncoding('utf8') as AsyncIterable<string>) {
    text += part;
    if (text.length > enough) break;
  }
  return text;
}

/** Editors and `echo` end a line, and that end is no part of the password. */
function withoutLineEnd(text: string): string {
  return text.replace(/\r?\n$/, '');
}

/** Asks on a terminal. What the user types is not shown. */
async function askTwice({ stdin, stderr }: Streams): Promise<string> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: stdin, output: silent, terminal: true });
  const interrupted = new Promise<never>((_resolve, reject) => {
    terminal.once('SIGINT', () => reject(new CommandError('Interrupted.', exitCodes.interrupted)));
  });
  const typed = terminal[Symbol.asyncIterator]();
  const ask = async (question: string): Promise<string> => {
    stderr.write(question);
    const line = await Promise.race([typed.next(), interrupted]).finally(() => stderr.write('\n'));
    if (line.done === true) throw new CommandError('No password was typed.', exitCodes.refused);
    return line.value;
  };
  try {
    const password = await ask('New password: ');
    if (password === (await ask('The same password again: '))) return password;
    throw new CommandError('The two passwords differ. Try again.', exitCodes.refused);
  } finally {
    terminal.close();
  }
}
