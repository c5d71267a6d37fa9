/**
 * Scripts: the outcome of each call of a scripted gateway, given by the test or drawn at random.
 */
import type { Effect, EffectContext } from '../../index.ts';
import type { Random } from '../random.ts';
import type { ApplyFaults, InspectFaults } from './fault.ts';

/**
 * The outcome of one call of `apply`.
 *
 * - `done`: the gateway applies the effect, and the call resolves.
 * - A name of `ApplyFaults`: this fault happens.
 * - An error: nothing is applied, and the call rejects with the error. An {@link EffectRefusedError} is a refusal with
 *   its reason.
 * - A function: the call returns the result of the function. The effect is applied only if the function calls
 *   `perform`.
 *
 * @beta
 */
export type ApplyWay =
  | 'done'
  | keyof ApplyFaults
  | Error
  | ((effect: Effect, context: EffectContext, perform: () => void) => Promise<void>);

/**
 * The outcome of one call of `inspect`.
 *
 * - `answer`: the call gives the true answer.
 * - `in-place` and `not-in-place`: the call gives this answer, true or not.
 * - A name of `InspectFaults`: this fault happens.
 * - An error: the call rejects with the error.
 * - A function: the call returns the result of the function. `look` gives the true answer.
 *
 * @beta
 */
export type InspectWay =
  | 'answer'
  | 'in-place'
  | 'not-in-place'
  | keyof InspectFaults
  | Error
  | ((
      effect: Effect,
      context: EffectContext,
      look: () => 'in-place' | 'not-in-place',
    ) => Promise<'in-place' | 'not-in-place'>);

/** The outcomes of the calls of one method. @internal */
export interface Script<Way> {
  /** Sets the outcomes of the next calls, in order. */
  readonly add: (ways: readonly Way[]) => void;
  /** Sets the outcome of all calls after these; `undefined` means random outcomes. */
  readonly otherwise: (way: Way | undefined) => void;
  /** The outcome of the current call: from the test, else the given outcome, else a random outcome. */
  readonly next: (insteadOfChance?: Way) => Way;
}

/**
 * Creates the script of a method. A call without a fault from the test or from chance has the outcome `well`.
 *
 * @internal
 */
export function createScript<Way, Fault extends Way & string>(
  well: Way,
  all: Readonly<Record<Fault, number>>,
  faults: Partial<Record<Fault, number>> = {},
  random: Random,
): Script<Way> {
  const ways: Way[] = [];
  let usual: Way | undefined;
  // In the order of the table, so that the order of the given probabilities does not matter.
  const order = (Object.keys(all) as Fault[]).filter((fault) => (faults[fault] ?? 0) > 0);
  const byChance = (): Way => order.find((fault) => random.chance(faults[fault] ?? 0)) ?? well;
  return {
    add: (more) => void ways.push(...more),
    otherwise: (way) => {
      usual = way;
    },
    next: (insteadOfChance) => ways.shift() ?? usual ?? insteadOfChance ?? byChance(),
  };
}
