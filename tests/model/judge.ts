/**
 * Holds what an interface has done against the model.
 */
import { decide, type Asking, type Command } from './command.ts';
import { Configuration, type Document, type ShownEvent } from './configuration.ts';

/** A command that no other command and no report has crossed. */
export interface Undisturbed {
  readonly command: Command;
  readonly asking: Asking;
  /** The documents when the command was sent, and when it was answered. */
  readonly before: Document;
  readonly after: Document;
  readonly answer: { readonly status: number; readonly code?: string | undefined };
}

/** Refusals that come from the gateway, the store or the load, and not from the state. */
const outside: readonly (string | undefined)[] = [
  'command-in-progress',
  'effect-refused',
  'partly-done',
  'outcome-unknown',
  'overloaded',
  'store-unavailable',
  'audit-unavailable',
  'precondition-failed',
  'closed',
];

/** What is answered when a command may have been done in part, or may be done still. */
const inPart: readonly (string | undefined)[] = ['partly-done', 'outcome-unknown', 'store-unavailable'];

/** Refusals of requests that are no commands: what closes is the last part of a sequence. */
const malformed: readonly (string | undefined)[] = ['query-invalid', 'op-not-allowed'];

/** What the model would have decided otherwise. */
export function decisionFaults(given: Undisturbed): readonly string[] {
  const { command, asking, answer } = given;
  const [before, after] = [given.before, given.after].map(Configuration.of);
  if (before === undefined || after === undefined) return [];
  const isDry = command.path.includes('dry_run=true');
  const decided = isDry ? { next: before } : decide(before, command, asking);
  if (decided === undefined) return [];
  const what = `${command.method} ${command.path}`;
  const got = answer.code ?? String(answer.status);
  const isDone = answer.status < 300;
  if (!isDone && !inPart.includes(answer.code)) {
    const changed = before.differences(after);
    if (changed.length > 0) return [`${what} was refused with ${got}, and has changed ${changed.join('; ')}`];
  }
  if ([...outside, ...malformed].includes(answer.code)) return [];
  if (isDry && !isDone) return [];
  if (decided.code !== undefined)
    return decided.code === answer.code
      ? []
      : [`${what} was answered with ${got}, and the model says ${decided.code}`];
  if (!isDone) return [`${what} was answered with ${got}, and the model does it`];
  return decided.next
    .differences(after)
    .map((text) => `${what} was done, and the model has another outcome: ${text}`);
}

/** What the entries of a history, the oldest one first, do not amount to. */
export function foldFaults(
  beginning: Document,
  entries: readonly { readonly events: readonly ShownEvent[] }[],
  end: Document,
): readonly string[] {
  const folded = entries
    .flatMap(({ events }) => events)
    .reduce((configuration, event) => configuration.after(event), Configuration.of(beginning));
  return folded
    .differences(Configuration.of(end))
    .map((text) => `the history amounts to another configuration: ${text}`);
}
