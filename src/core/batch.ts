/**
 * Batches: several changes of which only the last result is used, such as the events of one fold.
 *
 * The first change of a batch makes a copy, and later changes modify the copy. The end of the batch freezes all copies.
 */

/** Something that a batch has made and may change in place until the end of the batch. */
interface Draft {
  /** Freezes the draft. */
  freeze(): void;
}

/** One batch of changes. @internal */
export class Batch {
  readonly #drafts: Draft[] = [];
  #changes = 0;

  /**
   * The number of changes in place so far. Such a change gives the same object, so its caller cannot see it otherwise.
   */
  get changes(): number {
    return this.#changes;
  }

  /** Takes a draft that this batch has made. */
  add(draft: Draft): void {
    this.#drafts.push(draft);
  }

  /** Counts a change in place. */
  count(): void {
    this.#changes += 1;
  }

  /** Freezes what the batch has made. */
  end(): void {
    for (const draft of this.#drafts) draft.freeze();
    // Nodes of persistent maps keep a reference to the batch.
    this.#drafts.length = 0;
  }
}
