/**
 * Limits: how much is accepted before anything is done with it.
 */

/**
 * The limits of the interface. Each can be set; the defaults suit a gateway with a few administrators.
 *
 * @public
 */
export interface Limits {
  /** Bytes of a request body: 1 MiB by default. More is 413. */
  readonly maxBodyBytes: number;
  /** Bytes of a request target: 8 KiB by default. More is 414. */
  readonly maxTargetBytes: number;
  /** How many arrays and objects of a body may be inside one another: 32 by default. */
  readonly maxBodyDepth: number;
  /** How many commands may wait for others: 1,024 by default. More are 503. */
  readonly maxQueued: number;
  /**
   * How many commands may be in flight at the same time: 1,024 by default. The others wait. Commands of unknown outcome do
   * not count.
   */
  readonly maxInFlight: number;
  /** How long the host may take for one call, in milliseconds: 10,000 by default. */
  readonly effectDeadlineMs: number;
  /** How long the store may take to keep something, in milliseconds: 30,000 by default. Then it counts as failed. */
  readonly storeDeadlineMs: number;
  /** How many events are kept for readers that come back: 10,000 by default. */
  readonly maxEventsKept: number;
}

/**
 * The limits that hold unless others are given.
 *
 * @public
 */
export const defaultLimits: Limits = Object.freeze({
  maxBodyBytes: 1_048_576,
  maxTargetBytes: 8192,
  maxBodyDepth: 32,
  maxQueued: 1024,
  maxInFlight: 1024,
  effectDeadlineMs: 10_000,
  storeDeadlineMs: 30_000,
  maxEventsKept: 10_000,
});

/**
 * Completes limits with the defaults.
 *
 * @throws RangeError for a limit that is not a positive whole number: a limit that is switched off by a slip protects
 *   nobody
 * @internal
 */
export function limitsFrom(given: Partial<Limits> = {}): Limits {
  const known = Object.keys(defaultLimits) as (keyof Limits)[];
  const limits = Object.fromEntries(known.map((name) => [name, given[name] ?? defaultLimits[name]]));
  for (const [name, value] of Object.entries(limits)) {
    if (!Number.isSafeInteger(value) || value < 1)
      throw new RangeError(`The limit "${name}" must be a whole number from 1 on`);
  }
  return Object.freeze(limits) as unknown as Limits;
}
