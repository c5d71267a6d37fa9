/**
 * A number of a resource, as the clients of a fleet see the number change: each call sets the number, perhaps on a
 * condition.
 */
import type { Call, Model } from './history-checker.ts';

/** Sets the number, or reads the number once everything has come to rest. */
export interface NumberCall extends Call {
  /** The new number; for a reading, the number that was read. */
  readonly value: number;
  /** The number that the client expects, as `test` of a patch. */
  readonly test?: number;
  /** The tag that the client names, as `If-Match`; for a reading, the tag that was read. */
  readonly tag?: string;
  /** Left out if the client has no answer, or none that tells. */
  readonly answer?: 'accepted' | 'unchanged' | 'patch-test-failed' | 'precondition-failed' | 'read';
  /** The tag that the answer shows. */
  readonly tagged?: string;
}

interface NumberState {
  readonly value: number;
  /** The tag; `undefined` if no client has been told. */
  readonly tag?: string;
}

/**
 * What a fleet promises about one number.
 *
 * @param calls - all calls, for the tags that were told
 * @param seen - the number that each tag stands for
 */
export function registerOf(
  initial: NumberState,
  calls: readonly NumberCall[],
  seen: ReadonlyMap<string, number> = new Map(),
): Model<NumberState, NumberCall> {
  const told = new Set([initial.tag, ...calls.map(({ tagged }) => tagged)]);
  /** A tag that nobody was told is that of a call without an answer, which has set its number. */
  const fits = ({ value, tag: present }: NumberState, tag: string): boolean =>
    present === undefined ? !told.has(tag) && (seen.get(tag) ?? value) === value : present === tag;
  const outcomeIn = (state: NumberState, { value, test, tag }: NumberCall): NumberCall['answer'] => {
    if (tag !== undefined && !fits(state, tag)) return 'precondition-failed';
    if (test !== undefined && test !== state.value) return 'patch-test-failed';
    return value === state.value ? 'unchanged' : 'accepted';
  };
  return {
    initial,
    step(state, call) {
      const { value, tag, answer, tagged } = call;
      if (answer === 'read') return value === state.value && fits(state, tag ?? '') ? state : undefined;
      const outcome = outcomeIn(state, call);
      if (answer !== undefined && answer !== outcome) return undefined;
      if (outcome !== 'accepted') return state;
      return tagged === undefined ? { value } : { value, tag: tagged };
    },
  };
}
