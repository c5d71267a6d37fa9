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
  /** The number that the tag of `If-Match` stands for. */
  readonly tag?: number;
  /** Left out if the client has no answer, or none that tells. */
  readonly answer?: 'accepted' | 'unchanged' | 'patch-test-failed' | 'precondition-failed' | 'read';
}

/** What a fleet promises about one number, which is `initial` at first. */
export function registerOf(initial: number): Model<number, NumberCall> {
  const outcomeIn = (present: number, { value, test, tag }: NumberCall): NumberCall['answer'] => {
    if (tag !== undefined && tag !== present) return 'precondition-failed';
    if (test !== undefined && test !== present) return 'patch-test-failed';
    return value === present ? 'unchanged' : 'accepted';
  };
  return {
    initial,
    step(present, call) {
      const { value, answer } = call;
      if (answer === 'read') return value === present ? present : undefined;
      const outcome = outcomeIn(present, call);
      if (answer !== undefined && answer !== outcome) return undefined;
      return outcome === 'accepted' ? value : present;
    },
  };
}
