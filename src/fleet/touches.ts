/**
 * Touches: when the log has changed what a decision rests on. Harm without them: a command is kept although another
 * node has changed its resources since the decision, or has deleted its caller.
 */
import { linkKey } from '../core/link.ts';
import { Overtaken, type Basis } from '../runtime/journal/basis.ts';

/** The moments of the last changes. A moment is a number of records. @internal */
export class Touches {
  #moment = 0;
  /** The moment of the last change of everything. */
  #all = 0;
  /** The moment of the last change of a resource, by the key of its link. */
  readonly #last = new Map<string, number>();

  /** How many records the log has by now. */
  get moment(): number {
    return this.#moment;
  }

  /** @param links - the links of what the next record changes */
  touch(links: readonly string[]): void {
    this.#moment += 1;
    for (const link of links) this.#last.set(linkKey(link), this.#moment);
  }

  /** Every decision so far must be made again: the log was loaded again, or other parameters are secret. */
  touchAll(): void {
    this.#moment += 1;
    this.#all = this.#moment;
  }

  /** Looks whether what a decision rests on was changed since. */
  since({ since, links }: Basis): () => Overtaken | undefined {
    const keys = links.map(linkKey);
    return () => {
      const isTouched = this.#all > since || keys.some((key) => (this.#last.get(key) ?? 0) > since);
      return isTouched ? new Overtaken() : undefined;
    };
  }
}
