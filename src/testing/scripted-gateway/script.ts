/**
 * Scripts: how each call of a scripted gateway goes, as the test says or as chance has it.
 */
import type { Effect, EffectContext } from '../../index.ts';
import type { Random } from '../random.ts';
import type { ApplyFaults, InspectFaults } from './fault.ts';

/**
 * How one call of `apply` goes.
 *
 * - `done`: the gateway does it, and the call resolves.
 * - A name of `ApplyFaults`: it goes wrong in that way.
 * - An error: nothing is done, and the call rejects with that error. An {@link EffectRefused} is a refusal with a
 *   reason of the test's own.
 * - A function: the call gives what the function gives. `perform` has the gateway do what the effect asks for; without
 *   it nothing is done.
 *
 * @public
 */
export type ApplyWay =
  | 'done'
  | keyof ApplyFaults
  | Error
  | ((effect: Effect, context: EffectContext, perform: () => void) => Promise<void>);

/**
 * How one call of `inspect` goes.
 *
 * - `answer`: it answers the truth.
 * - `in-place` and `not-in-place`: it answers this, whether it is true or not.
 * - A name of `InspectFaults`: it goes wrong in that way.
 * - An error: the call rejects with that error.
 * - A function: the call gives what the function gives. `look` says what is true.
 *
 * @public
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

/** How the calls of one method go. @internal */
export interface Script<Way> {
  /** Says how the next calls go, in order. */
  readonly add: (ways: readonly Way[]) => void;
  /** Says how all calls go after them; by chance when nothing is given. */
  readonly otherwise: (way: Way | undefined) => void;
  /** How the call goes that is made now: as the test says, else as given here, else by chance. */
  readonly next: (insteadOfChance?: Way) => Way;
}

/** Makes the script of a method whose calls go well unless the test or chance say otherwise. @internal */
export function createScript<Way, Fault extends Way & string>(
  well: Way,
  all: Readonly<Record<Fault, number>>,
  faults: Partial<Record<Fault, number>> = {},
  random: Random,
): Script<Way> {
  const ways: Way[] = [];
  let usual: Way | undefined;
  // In the order of the table, whatever the order in which the probabilities were given.
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
