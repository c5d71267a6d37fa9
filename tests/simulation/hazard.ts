/**
 * The hazards that only some worlds have. Each has a fixed share of the worlds, and a random source of its own draws
 * them: a world without them runs as it did before the hazards were added.
 */
import type { Random } from 'gateway-admin-core/testing';

/** What a world has besides the hazards of every world. */
export interface Hazards {
  readonly random: Random;
  /** The store is lost at some time: another program has taken or changed the content. */
  readonly losesStore: boolean;
  /** Many calls of the gateway answer after their deadline. */
  readonly isTardy: boolean;
  /** Clients abandon commands of unknown outcome. */
  readonly abandons: boolean;
  /** An audit sink keeps records, and fails at times; with `required`, answers wait for their records. */
  readonly audit: 'none' | 'optional' | 'required';
  /** Readers of events stop, and come again later. */
  readonly hasReaders: boolean;
  /** The largest number of events that are kept for readers. */
  readonly maxEventsKept: number;
  /** Clients send requests, with conditions. */
  readonly hasRequests: boolean;
  /** Clients send passwords of services, and the sealer never answers at times. */
  readonly seals: boolean;
  /** A part that has failed works again in the end. */
  readonly heals: boolean;
}

/** How many worlds have each hazard, from 0 to 1. */
const shares = {
  losesStore: 0.08,
  isTardy: 0.08,
  abandons: 0.3,
  audit: 0.12,
  hasReaders: 0.1,
  hasRequests: 0.12,
  seals: 0.06,
  isIncurable: 0.1,
} as const;

/** Draws the hazards of a world. */
export function hazardsOf(random: Random): Hazards {
  const has = Object.fromEntries(
    Object.entries(shares).map(([name, share]) => [name, random.chance(share)]),
  ) as Record<keyof typeof shares, boolean>;
  return {
    random,
    ...has,
    audit: has.audit ? random.pick(['optional', 'required', 'required']) : 'none',
    // More than any one revision has: who keeps up misses nothing.
    maxEventsKept: has.hasReaders ? random.pick([10_000, 64]) : 10_000,
    heals: !has.isIncurable,
  };
}
