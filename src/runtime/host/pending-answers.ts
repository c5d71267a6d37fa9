/**
 * Pending answers: the calls of an interface that have no answer yet. The interface waits for them when it closes.
 */

/** The calls without an answer. @internal */
export class PendingAnswers {
  readonly #pending = new Set<Promise<unknown>>();

  /** Takes a call. Returns the same promise. */
  track<T>(answer: Promise<T>): Promise<T> {
    this.#pending.add(answer);
    const end = (): void => {
      this.#pending.delete(answer);
    };
    answer.then(end, end);
    return answer;
  }

  /**
   * Resolves when every call that was taken so far has its answer. Who waits for such an answer gets it first, because
   * callers of the same promise are called in the order in which they came.
   */
  async given(): Promise<void> {
    await Promise.allSettled(this.#pending);
  }
}
