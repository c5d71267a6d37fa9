/**
 * Questions: a change that cannot be undone is made only if somebody has said yes.
 */
import { createInterface } from 'node:readline/promises';

import { CommandError, exitCodes, type Call } from './command.ts';
import { safeText } from './output.ts';

/** Asks, unless the user has said yes on the command line. Ends the command if the answer is not yes. */
export async function confirm({ has, surroundings }: Call, question: string): Promise<void> {
  if (has('yes')) return;
  const { stdin, stderr } = surroundings;
  // The standard input has ended if a document or a password was typed there.
  if (!stdin.isTTY || stdin.readableEnded)
    throw new CommandError(
      `${safeText(question)} Nobody can be asked: without a terminal, say --yes.`,
      exitCodes.wrongUse,
    );
  const terminal = createInterface({ input: stdin, output: stderr });
  const leaving = new AbortController();
  terminal.once('SIGINT', () => leaving.abort()).once('close', () => leaving.abort());
  try {
    const answer = await terminal.question(`${safeText(question)} [y/N] `, { signal: leaving.signal });
    if (!/^y(?:es)?$/i.test(answer.trim())) throw new CommandError('Nothing was done.', exitCodes.refused);
  } catch (error) {
    if (!leaving.signal.aborted) throw error;
    throw new CommandError('Nothing was done.', exitCodes.interrupted);
  } finally {
    terminal.close();
  }
}
