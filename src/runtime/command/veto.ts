/**
 * The veto: the rule of the host about decisions.
 */
import type { Context } from '../../core/decision.ts';
import { parseProblem, problem, type Problem } from '../../problem.ts';
import type { Decision } from '../../resources/index.ts';
import { callFailed, isThenable, wrongAnswer } from '../host/host-error.ts';

/**
 * The host's own rule: sees an accepted decision before anything is done, and returns the problem with which the command
 * is refused, or `undefined` to allow the command.
 *
 * The function is asked in the turn of the command, also for `plan` and dry runs, and can be asked several times for one
 * command. It is synchronous and changes nothing. If it throws, or returns anything else, the command is refused with 500
 * `internal`. Make the problem with {@link hostProblem} or {@link problem}.
 *
 * @public
 */
export type Veto = (
  decision: Extract<Decision, { readonly outcome: 'accepted' }>,
  context: Context,
) => Problem | undefined;

/**
 * Guards the veto of a host: the result never throws, and fails closed.
 *
 * @param onError - gets a {@link HostError} if the veto throws or answers wrongly
 * @internal
 */
export function guardVeto(veto: Veto, onError: (error: unknown) => void): Veto {
  return (decision, context) => {
    try {
      const answer: unknown = veto(decision, context);
      if (answer === undefined) return undefined;
      const parsed = isThenable(answer) ? undefined : parseProblem(answer);
      if (parsed !== undefined) return parsed;
      onError(wrongAnswer('veto', answer, 'undefined or a problem', refused));
    } catch (cause) {
      onError(callFailed('veto', cause, refused));
    }
    return undecided;
  };
}

const refused = 'The command was refused.';

const undecided = problem(
  'internal',
  'The gateway failed to say whether this command is allowed, so the command was refused. Nothing was changed. The error ' +
    'was reported to the gateway.',
);
