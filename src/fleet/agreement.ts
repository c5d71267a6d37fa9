/**
 * Agreement: whether the nodes have the same configuration at the same revision.
 *
 * The fold gives every node the same state at the same place of the log, over all versions of the library. A node that has
 * another state shows a fault of the library or of the store, and the operator must know.
 */
import { hashOf } from './hash.ts';
import type { SharedHistory } from './shared-history.ts';

/** What a configuration is at a revision. @internal */
export interface Digest {
  readonly revision: number;
  /** Follows from the configuration. */
  readonly text: string;
}

/** The number of own digests that are kept: another node can be behind. */
const mostKept = 32;

/** Compares the configuration of this node with those of the others. @internal */
export class Agreement {
  readonly #own = new Map<number, string>();
  readonly #differing = new Set<string>();

  /** The configuration of this node, for the others. */
  digestOf(history: SharedHistory): Digest {
    const { revision } = history.snapshot;
    const known = this.#own.get(revision);
    if (known !== undefined) return { revision, text: known };
    const configuration = history.configuration();
    const text = [0, 1].map((seed) => hashOf(configuration, seed).toString(16)).join('-');
    this.#own.set(revision, text);
    const [oldest] = this.#own.keys();
    if (this.#own.size > mostKept && oldest !== undefined) this.#own.delete(oldest);
    return { revision, text };
  }

  /**
   * Compares what another node has.
   *
   * @returns whether the node has just turned out to have another configuration
   */
  compare(node: string, { revision, text }: Digest): boolean {
    const own = this.#own.get(revision);
    if (own === undefined) return false;
    const differed = this.#differing.delete(node);
    if (own !== text) this.#differing.add(node);
    return own !== text && !differed;
  }

  /** Whether a node had another configuration when the two were last compared. */
  differs(node: string): boolean {
    return this.#differing.has(node);
  }
}
