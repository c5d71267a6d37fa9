/**
 * Executions: the results of commands, and the messages for the client.
 */
import { problem, type Problem, type ProblemCode } from '../problem.ts';
import type { Decision, AdminEvent } from '../resources/index.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';

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
       * Events that stand although the command was refused: the earlier batches of a large teardown, and events whose
       * effects the host refused to undo. Usually empty.
       */
      readonly events: readonly AdminEvent[];
    }
  | {
      /**
       * The change may or may not have been made. With the code `outcome-unknown`, the host did not answer in time; the
       * host is still being asked, and an event will give the outcome. With the code `store-unavailable`, the store
       * failed; the outcome is known after a restart.
       */
      readonly outcome: 'unknown';
      /** The cause, and what to do next. */
      readonly problem: Problem;
      /** Id of the command. The events that settle the command have the same id. */
      readonly commandId: string;
    };

/** The result of a command that changes nothing. @internal */
export function ended(decision: Exclude<Decision, { readonly outcome: 'accepted' }>): Execution {
  if (decision.outcome === 'refused') return { outcome: 'refused', problem: decision.problem, events: [] };
  return { outcome: 'unchanged', snapshot: decision.next };
}

/** The result of a refused command. @internal */
export function refusal(code: ProblemCode, detail: string, events: readonly AdminEvent[] = []): Execution {
  return { outcome: 'refused', problem: problem(code, detail), events };
}

/** An earlier command on the resource has an unknown outcome. @internal */
export function inProgress(): Execution {
  return refusal(
    'command-in-progress',
    'The outcome of an earlier command on this resource is not known yet, so this command was refused. Nothing was ' +
      'changed. Try again in a moment; if that does not help, check whether the gateway hangs.',
  );
}

/** The host did not answer in time. @internal */
export function outcomeUnknown(commandId: string): Execution {
  const detail =
    `The gateway did not say in time whether the change was made (command ${commandId}). The gateway is still being ` +
    'asked. Read the resource again before you repeat the command. An event with this command id gives the outcome.';
  return { outcome: 'unknown', problem: problem('outcome-unknown', detail), commandId };
}

const repair =
  'All commands are refused until the store is repaired and the gateway is restarted. Reading still works.';

/**
 * The intent was not journaled, so the host was not asked.
 *
 * @param held - what earlier parts of the command have done, in a sentence
 * @internal
 */
export function storeUnavailable(held = 'Nothing was changed.'): Execution {
  return refusal('store-unavailable', `The configuration store has failed. ${held} ${repair}`);
}

/**
 * The store failed at the settlement of a command with effects. The snapshot shows what the host did, but the journal
 * may not.
 *
 * @param held - a sentence that says how much of the change the host made
 * @internal
 */
export function doneUnkept(commandId: string, held: string): Execution {
  const what =
    `${held} But the configuration store failed before this result was stored (command ${commandId}). The result is in ` +
    'effect now; after a restart, the gateway is asked again. Read the resource again then.';
  return { outcome: 'unknown', problem: problem('store-unavailable', `${what} ${repair}`), commandId };
}

/**
 * The store failed at the settlement of a command without effects. The snapshot does not show the change, but the
 * journal may contain the change.
 *
 * @internal
 */
export function perhapsKept(commandId: string): Execution {
  const what =
    `The configuration store failed while it stored this change (command ${commandId}). The change is not in effect ` +
    'now, but may be in effect after a restart. Read the resource again then.';
  return { outcome: 'unknown', problem: problem('store-unavailable', `${what} ${repair}`), commandId };
}
