/**
 * Positions: which places of the log a node has read, and in which order. A position says no more of itself than which
 * call has ended there.
 */

/** The number of positions that are kept: another node can be behind. */
const most = 1000;

/** The last positions that a node has read. @internal */
export class Positions {
  /** Each position with its place in their order. */
  readonly #order = new Map<string, number>();
  #steps = 0;
  #end: string;

  /** @param end - the end of the log when the node began to read */
  constructor(end: string) {
    this.#end = end;
    this.#order.set(end, 0);
  }

  /** The end of the log, as far as the node has read. */
  get end(): string {
    return this.#end;
  }

  moveTo(end: string): void {
    this.#end = end;
    this.#steps += 1;
    this.#order.set(end, this.#steps);
    const [oldest] = this.#order.keys();
    if (this.#order.size > most && oldest !== undefined) this.#order.delete(oldest);
  }

  /** Forgets the way: the log was loaded again, and may have been set back. */
  jumpTo(end: string): void {
    this.#order.clear();
    this.moveTo(end);
  }

  /**
   * Whether a position is that of a change, or behind it. No for a position that the node has not read yet, that is
   * long gone, or that a set-back has taken back.
   */
  isPast(change: string, position: string): boolean {
    const [first, other] = [this.#order.get(change), this.#order.get(position)];
    return first !== undefined && other !== undefined && other >= first;
  }
}
