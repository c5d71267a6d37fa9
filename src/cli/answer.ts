/**
 * What the interface answers: the value, or the end of the command with its exit code.
 */
import type { Answer } from '../client/index.ts';
import type { Fault, Problem } from '../index.ts';
import { CommandError, exitCodes } from './command.ts';
import { safeText } from './output.ts';

/** The value of the answer to a command that was sent: if nobody understands the answer, the outcome is unknown. */
export async function outcomeOf<T>(answer: Promise<Answer<T>>): Promise<T> {
  try {
    const value = valueOf(await answer);
    if (value === undefined || (typeof value === 'object' && value !== null)) return value;
    throw new Error('it is no resource');
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(
      `The answer cannot be understood (${String(error)}). The outcome of the command is unknown: look at the state.`,
      exitCodes.unknown,
    );
  }
}

/** The value of an answer; a refusal ends the command. */
export function valueOf<T>(answer: Answer<T>): T {
  if (answer.ok) return answer.value;
  throw refusal(answer.problem, answer.retryAfterMs);
}

/** An entity tag as a user copies it: a shell would take the double quotes away. */
export function shownTag(etag: string): string {
  return safeText(etag.replace(/^(?:W\/)?"(.*)"$/, '$1'));
}

/** The entity tag that a user has given, with or without its double quotes. */
export function givenTag(text: string): string {
  return text === '*' || text.endsWith('"') ? text : `"${text}"`;
}

/** The end of a command that was refused. */
export function refusal(problem: Problem, retryAfterMs?: number): CommandError {
  const { code, status, title, detail, errors = [] } = problem;
  if (typeof code !== 'string') throw new Error('the problem has no code');
  const faults = errors.length < 2 ? [] : errors.map((fault) => `\n  ${faultText(fault)}`);
  const what = safeText(`${faults.length === 0 ? detail : title} (${code})`);
  const text = [what, ...nextStep(problem, retryAfterMs), ...faults].join('');
  if (code === 'outcome-unknown') return new CommandError(text, exitCodes.unknown, problem);
  const isNotAllowed = status === 401 || status === 403;
  return new CommandError(text, isNotAllowed ? exitCodes.notAllowed : exitCodes.refused, problem);
}

function nextStep({ code }: Problem, retryAfterMs: number | undefined): readonly string[] {
  if (code === 'unauthenticated') return [' Try: --user NAME --password-file FILE'];
  if (code === 'outcome-unknown') return [' Try: gateway-admin commands'];
  if (retryAfterMs === undefined || !Number.isFinite(retryAfterMs)) return [];
  return [` Try again in ${String(Math.ceil(retryAfterMs / 1000))} s.`];
}

/** A fault in a line. */
export function faultText({ pointer, detail }: Fault): string {
  return safeText(`${pointer}: ${detail}`);
}
