/**
 * Says if the answers to concurrent calls have an order in which each answer is right: the search of Wing and Gong
 * ("Testing and Verifying Concurrent Objects", 1993), with a memory of what was tried (Lowe, "Testing for
 * Linearizability", 2017).
 */

/** A call on one resource. */
export interface Call {
  /** The moment at which the client has asked. Each moment is that of one question or one answer. */
  readonly askedAt: number;
  /** The moment of the answer; infinite if the client has no answer: then the call may have had its effect, or not. */
  readonly answeredAt: number;
}

/** What calls do to a state. */
export interface Model<State, C extends Call> {
  readonly initial: State;
  /** The state after a call; `undefined` if the answer to the call is wrong in the state before. */
  readonly step: (state: State, call: C) => State | undefined;
}

/**
 * Finds an order of calls in which each answer is right, and no call comes after one that was asked after its answer.
 *
 * @param calls - the calls on one resource
 * @param model - states must survive `JSON.stringify`
 * @returns the calls in that order, without those that have had no effect; `undefined` if there is no such order
 */
export function orderOf<State, C extends Call>(
  calls: readonly C[],
  { initial, step }: Model<State, C>,
): readonly C[] | undefined {
  const tried = new Set<string>();
  const search = (left: readonly C[], state: State): readonly C[] | undefined => {
    const firstAnswer = Math.min(...left.map(({ answeredAt }) => answeredAt));
    if (firstAnswer === Number.POSITIVE_INFINITY) return [];
    const key = JSON.stringify([state, left.map(({ askedAt }) => askedAt)]);
    if (tried.has(key)) return undefined;
    tried.add(key);
    for (const call of left) {
      const next = call.askedAt < firstAnswer ? step(state, call) : undefined;
      const others = left.filter((each) => each !== call);
      const rest = next === undefined ? undefined : search(others, next);
      if (rest !== undefined) return [call, ...rest];
    }
    return undefined;
  };
  return search(calls, initial);
}
