/**
 * Agreement: whether the nodes have the same configuration at the same position of the log.
 *
 * The fold gives every node the same state at the same position, over all versions of the library. A node that has
 * another state shows a fault of the library or of the store, and the operator must know. Positions are compared, not
 * revisions: after a set-back, the log can reach an earlier revision again with other changes.
 */
import type { FleetState } from './fleet-state.ts';

/** What the configuration is at a position. @internal */
export interface Digest {
  readonly position: string;
  /** Follows from the configuration. */
  readonly text: string;
}

/** A position of the log, and the state of the fleet there. */
interface StateAt {
  readonly position: string;
  readonly state: Pick<FleetState, 'configuration'>;
}

/** The number of own digests that are kept: another node can be behind. */
const mostKept = 32;

/** Compares the configuration of this node with those of the others. @internal */
export class Agreement {
  readonly #own = new Map<string, string>();
  readonly #differing = new Set<string>();

  /** The configuration of this node, for the others. */
  digestOf({ position, state }: StateAt): Digest {
    const known = this.#own.get(position);
    if (known !== undefined) return { position, text: known };
    const configuration = state.configuration();
    const text = [0, 1].map((seed) => fastHashOf(configuration, seed).toString(16)).join('-');
    this.#own.set(position, text);
    const [oldest] = this.#own.keys();
    if (this.#own.size > mostKept && oldest !== undefined) this.#own.delete(oldest);
    return { position, text };
  }

  /**
   * Compares what another node has.
   *
   * @returns whether the node has just turned out to have another configuration
   */
  compare(node: string, { position, text }: Digest): boolean {
    const own = this.#own.get(position);
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

/**
 * Gives a whole number below 2^32 that follows from a text (FNV-1a over UTF-16 code units, with its bits mixed at the
 * end). Different seeds give different numbers. SHA-256 in `core/digest.ts` would take seven times as long, and a node
 * hashes its whole configuration.
 */
function fastHashOf(text: string, seed: number): number {
  let hash = 0x811c9dc5 ^ seed;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}
