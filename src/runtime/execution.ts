/**
 * Executions: what becomes of commands, and how that is said.
 */
import { problem, type Problem, type ProblemCode } from '../problem.ts';
import type { Decision, AdminEvent } from '../resources/index.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';

/**
 * What became of a command.
 *
 * @public
 */
export type Execution =
  | {
      /** It happened. */
      readonly outcome: 'accepted';
      /** The snapshot in which it has. */
      readonly snapshot: Snapshot;
      /** What happened, as it was recorded. */
      readonly events: readonly AdminEvent[];
    }
  | {
      /** It was so already; nothing was done. */
      readonly outcome: 'unchanged';
      /** The snapshot on which this was decided. */
      readonly snapshot: Snapshot;
    }
  | {
      /** It was refused. */
      readonly outcome: 'refused';
      /** Why, and what stays of it. */
      readonly problem: Problem;
      /** What came true all the same and stays: what the host would not take back. Empty as a rule. */
      readonly events: readonly AdminEvent[];
    }
  | {
      /**
       * It cannot be promised either way. `outcome-unknown`: the host did not say in time whether it was done; that is
       * found out, and an event will tell. `store-unavailable`: the store failed, and a restart will tell.
       */
      readonly outcome: 'unknown';
      /** What to do next. */
      readonly problem: Problem;
      /** Identifies the command in the events that settle it. */
      readonly commandId: string;
    };

/** What becomes of a command that changes nothing. @internal */
export function ended(decision: Exclude<Decision, { readonly outcome: 'accepted' }>): Execution {
  if (decision.outcome === 'refused') return { outcome: 'refused', problem: decision.problem, events: [] };
  return { outcome: 'unchanged', snapshot: decision.next };
}

/** What becomes of a command that is refused. @internal */
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
