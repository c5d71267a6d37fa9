/**
 * Executions: the results of commands, and the messages for the client.
 */
import { problem, type Problem, type ProblemCode } from '../../problem.ts';
import type { Decision, AdminEvent } from '../../resources/index.ts';
import type { Snapshot } from '../../resources/snapshot.ts';

/**
 * The result of a command.
 *
 * @public
 */
export type Execution =
  | {
      /** The change was made. */
      readonly outcome: 'accepted';
      /** A snapshot that contains the change. */
      readonly snapshot: Snapshot;
      /** The settled events, as recorded. */
      readonly events: readonly AdminEvent[];
      /** What this command has closed. */
      readonly closed: Closed;
    }
  | {
      /** The state was already as requested; nothing was done. */
      readonly outcome: 'unchanged';
      /** The snapshot on which the command was decided. */
      readonly snapshot: Snapshot;
    }
  | {
      /** The command was refused. */
      readonly outcome: 'refused';
      /** Why, and which events stand anyway. */
      readonly problem: Problem;
      /**
       * Events that have settled although the command was refused: earlier parts that stand, earlier parts that were
       * taken back, with the events that take them back, and events whose effects the host refused to undo. Usually
       * empty.
       */
      readonly events: readonly AdminEvent[];
      /** The time after which the command can succeed, in milliseconds; only while the store is being tried again. */
      readonly retryAfterMs?: number;
    }
  | {
      /**
       * The change may or may not have been made, because the host or the store did not answer in time. The host is
       * still being asked, or the store is being tried again, and an event will give the outcome. If the store is lost
       * or the interface closes, the outcome is known after a restart.
       */
      readonly outcome: 'unknown';
      /** The cause, and what to do next. */
      readonly problem: Problem;
      /** Id of the command. The events that settle the command have the same id. */
      readonly commandId: string;
    };

/** What a command has closed. A session that ended by itself while the gateway was asked counts as closed. @public */
export interface Closed {
  /** The number of sessions. */
  readonly sessions: number;
  /** The number of backend connections, including the connections of the closed sessions. */
  readonly connections: number;
}

/** @internal */
export const nothingClosed: Closed = Object.freeze({ sessions: 0, connections: 0 });

/** The result of a refused command. @internal */
export type Refusal = Extract<Execution, { readonly outcome: 'refused' }>;

/** The key of {@link Decided}. A decision that the host has built can have a member of any name. @internal */
export const misfit = Symbol('misfit');

/** A decision. If the mark does not fit, it is refused and says why: the answer then has the plan of now. @internal */
export type Decided = Decision & { readonly [misfit]?: string };

/** A decision that changes nothing. @internal */
export type Unaccepted = Exclude<Decided, { readonly outcome: 'accepted' }>;

/** The result of a command that changes nothing. @internal */
export function ended(decision: Unaccepted): Execution {
  if (decision.outcome === 'refused') return { outcome: 'refused', problem: decision.problem, events: [] };
  return { outcome: 'unchanged', snapshot: decision.next };
}

/** The result of a refused command. @internal */
export function refusal(code: ProblemCode, detail: string, events: readonly AdminEvent[] = []): Refusal {
  return { outcome: 'refused', problem: problem(code, detail), events };
}

/** An earlier command on the resource has an unknown outcome. @internal */
export function inProgress(commandId: string): Refusal {
  const detail =
    `The outcome of an earlier command (${commandId}) on this resource is not known yet, so this command was refused. ` +
    'Nothing was changed. Try again in a moment. If that does not help, check whether the gateway hangs, or abandon the ' +
    `earlier command with DELETE /commands/${commandId}.`;
  return { outcome: 'refused', problem: problemOn('command-in-progress', commandId, detail), events: [] };
}

/** A problem with the id of the command that it is about. @internal */
export function problemOn(code: ProblemCode, command: string, detail: string): Problem {
  return Object.freeze({ ...problem(code, detail), command });
}

/** The host did not answer in time. @internal */
export function outcomeUnknown(commandId: string): Execution {
  const detail =
    `The gateway did not say in time whether the change was made (command ${commandId}). The gateway is still being ` +
    'asked. Read the resource again before you repeat the command. An event with this command id gives the outcome.';
  return unknown(commandId, detail);
}

/**
 * The store does not answer, and the host was not asked for anything.
 *
 * @param retryAfterMs - the time until the store is tried again; `undefined` if the store is lost
 * @param done - what earlier parts of the command have done, in a sentence
 * @internal
 */
export function storeUnavailable(retryAfterMs: number | undefined, done = 'Nothing was changed.'): Refusal {
  const begin = `The configuration store does not answer. ${done} Reading still works.`;
  if (retryAfterMs === undefined)
    return refusal(
      'store-unavailable',
      `${begin} The store is not tried again: repair the store as the error in the log of the gateway says, and restart ` +
        'the gateway.',
    );
  const again = `${begin} The store is being tried again. Send the command again in a few seconds.`;
  return { ...refusal('store-unavailable', again), retryAfterMs };
}

/**
 * The audit sink does not keep records, and a rule of the host requires that it does.
 *
 * @internal
 */
export function auditUnavailable(retryAfterMs: number): Refusal {
  const detail =
    'The audit records of earlier commands are not kept yet, so this command was refused. Nothing was changed. Reading ' +
    'still works. Send the command again in a few seconds. If that does not help, repair the audit sink as the error in ' +
    'the log of the gateway says.';
  return { ...refusal('audit-unavailable', detail), retryAfterMs };
}

const untilStored =
  'The store is being tried again, and an event with this command id gives the outcome. Until then, reading shows the ' +
  'state before this change. Read the resource again before you repeat the command.';

const afterRestart = 'The store is not tried again. Restart the gateway, and read the resource again then.';

/**
 * The host has applied the effects of a command, and the store has not stored the result in time.
 *
 * @param done - a sentence that says how much of the change the host made
 * @internal
 */
export function resultPending(commandId: string, done: string): Execution {
  return unknown(
    commandId,
    `${done} But the configuration store does not answer, ${notStored(commandId)}. ${untilStored}`,
  );
}

/** The store has not stored a change without effects in time. @internal */
export function changePending(commandId: string): Execution {
  return unknown(
    commandId,
    `The configuration store does not answer, ${notStored(commandId)}. ${untilStored}`,
  );
}

/**
 * The host has applied the effects of a command, and the result will not be stored in this life. The snapshot shows
 * what the host did. The next life asks the host.
 *
 * @internal
 */
export function resultLost(commandId: string, done: string): Execution {
  return unknown(
    commandId,
    `${done} But the configuration store does not answer, ${notStored(commandId)}. ${afterRestart}`,
  );
}

/**
 * A change without effects will not be confirmed in this life. The snapshot does not show the change, but the store may
 * contain the change.
 *
 * @internal
 */
export function changeLost(commandId: string): Execution {
  const what = `The configuration store does not answer, ${notStored(commandId)}. The change is not in effect now, but `;
  return unknown(commandId, `${what}may be in effect after a restart. ${afterRestart}`);
}

function notStored(commandId: string): string {
  return `and the result is not confirmed (command ${commandId})`;
}

function unknown(commandId: string, detail: string): Execution {
  return { outcome: 'unknown', problem: problemOn('outcome-unknown', commandId, detail), commandId };
}
