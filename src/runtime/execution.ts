/**
 * Executions: the answers of commands, and how they are said.
 */
import { problem, type Problem, type ProblemCode } from '../problem.ts';
import type { Decision, AdminEvent } from '../resources/index.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';

/**
 * The answer of a command.
 *
 * @public
 */
export type Execution =
  | {
      /** The change was made. */
      readonly outcome: 'accepted';
      /** A snapshot that has the change. */
      readonly snapshot: Snapshot;
      /** What happened, as it was recorded. */
      readonly events: readonly AdminEvent[];
    }
  | {
      /** What was asked for was so already; nothing was done. */
      readonly outcome: 'unchanged';
      /** The snapshot on which the command was decided. */
      readonly snapshot: Snapshot;
    }
  | {
      /** The command was refused. */
      readonly outcome: 'refused';
      /** Why, and which part stands all the same. */
      readonly problem: Problem;
      /** Events that stand because the host refused to undo their effects. Usually empty. */
      readonly events: readonly AdminEvent[];
    }
  | {
      /**
       * Nobody can say yet whether the change was made. `outcome-unknown`: the host did not say in time; it is asked on,
       * and an event will tell. `store-unavailable`: the store failed, and a restart will tell.
       */
      readonly outcome: 'unknown';
      /** What to do next. */
      readonly problem: Problem;
      /** Identifies the command in the events that settle it. */
      readonly commandId: string;
    };

/** The answer of a command that changes nothing. @internal */
export function ended(decision: Exclude<Decision, { readonly outcome: 'accepted' }>): Execution {
  if (decision.outcome === 'refused') return { outcome: 'refused', problem: decision.problem, events: [] };
  return { outcome: 'unchanged', snapshot: decision.next };
}

/** The answer of a command that is refused. @internal */
export function refusal(code: ProblemCode, detail: string, events: readonly AdminEvent[] = []): Execution {
  return { outcome: 'refused', problem: problem(code, detail), events };
}

/** An earlier command on the resource is not settled. @internal */
export function inProgress(): Execution {
  return refusal(
    'command-in-progress',
    'It is not yet known what became of an earlier command on this resource. Try again in a moment.',
  );
}

/** The host did not say in time. @internal */
export function outcomeUnknown(commandId: string): Execution {
  const detail =
    `The gateway did not say in time whether it was done (command ${commandId}). It is being found out: ` +
    'read the resource again in a moment. An event with the id of this command will tell.';
  return { outcome: 'unknown', problem: problem('outcome-unknown', detail), commandId };
}

const repair = 'Commands are refused until the store is repaired and the gateway restarted; reading goes on.';

/** The intent could not be kept, so the host was asked for nothing. @internal */
export function storeUnavailable(): Execution {
  return refusal('store-unavailable', `The configuration store has failed. Nothing was changed. ${repair}`);
}

/**
 * What the host has done holds, but a restart may not know.
 *
 * @param held - a sentence that says what that is
 * @internal
 */
export function doneUnkept(commandId: string, held: string): Execution {
  const what =
    `${held} But the configuration store failed before that was kept (command ` +
    `${commandId}). It holds now; after a restart the gateway is asked what is in place.`;
  return { outcome: 'unknown', problem: problem('store-unavailable', `${what} ${repair}`), commandId };
}

/** Nothing has come of it yet, but a restart may find it. @internal */
export function perhapsKept(commandId: string): Execution {
  const what =
    `The configuration store failed while it kept this (command ${commandId}). It does not hold now; ` +
    'after a restart it may. Look again then.';
  return { outcome: 'unknown', problem: problem('store-unavailable', `${what} ${repair}`), commandId };
}
