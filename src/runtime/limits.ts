/**
 * Limits: the bounds on sizes, counts and waiting times.
 */
import { assertMembers } from '../core/member.ts';
import { isObject } from './host/check.ts';

/**
 * The limits of the interface. The defaults suit a gateway with a few administrators.
 *
 * @public
 */
export interface Limits {
  /** Largest size of a request body, in bytes; 1 MiB by default. A larger body is 413. */
  readonly maxBodyBytes: number;
  /** Largest size of a request target, in bytes; 8 KiB by default. A longer target is 414. */
  readonly maxTargetBytes: number;
  /** Largest nesting depth of arrays and objects in a body; 32 by default. A deeper body is 400. */
  readonly maxBodyDepth: number;
  /** Largest number of values in a body, nested ones included; 50,000 by default. A body with more is 413. */
  readonly maxBodyValues: number;
  /** Largest size of a document in the body of `POST /document`, in bytes; 16 MiB by default. A larger one is 413. */
  readonly maxDocumentBytes: number;
  /** Largest number of values in such a document; 2,000,000 by default. A document with more is 413. */
  readonly maxDocumentValues: number;
  /** Deadline for reading a body, in milliseconds; 30,000 by default. A body that takes longer is 408. */
  readonly bodyDeadlineMs: number;
  /** Largest number of waiting commands; 1,024 by default. Further commands are 503. */
  readonly maxQueued: number;
  /**
   * Largest number of commands in flight; 1,024 by default. Further commands wait. Commands with an unknown outcome do
   * not count.
   */
  readonly maxInFlight: number;
  /** Deadline of one call to the host, in milliseconds; 10,000 by default. `inspect` is called after a late `apply`. */
  readonly effectDeadlineMs: number;
  /**
   * Deadline of one call to the store, in milliseconds; 30,000 by default. Then the call is made again. A command whose
   * result is not stored within this time is 504, and stays in flight.
   */
  readonly storeDeadlineMs: number;
  /** Largest number of passwords that are hashed at the same time, new ones and log-ins together; 2 by default. */
  readonly maxHashesInFlight: number;
  /** Largest number of passwords that wait to be hashed; 64 by default. Further ones are 429. */
  readonly maxHashesQueued: number;
  /**
   * Deadline of one call to the hasher, the sealer, `authenticate`, or `principal` of a request, in milliseconds;
   * 10,000 by default. A request that takes longer is 503. The time in which `authenticate` waits for `verifyPassword`
   * does not count.
   */
  readonly hashDeadlineMs: number;
  /** Largest number of past events that are kept for readers; 10,000 by default. */
  readonly maxEventsKept: number;
  /**
   * Largest number of readers of `GET /events` at the same time; 100 by default. Further ones are 503. The last quarter
   * is kept for users, or peers, without a stream.
   */
  readonly maxEventReaders: number;
  /** Time between two heartbeats of `GET /events`, in milliseconds; 15,000 by default. */
  readonly heartbeatMs: number;
  /**
   * Largest number of past audit records that are kept for readers, and of audit records that wait for the sink; 10,000
   * by default.
   */
  readonly maxAuditKept: number;
  /**
   * Deadline of one call to the audit sink, in milliseconds; 10,000 by default. If the sink is required, also the
   * longest time that the answer to a command waits for its record.
   */
  readonly auditDeadlineMs: number;
}

/** Longest peer, caller or command id that is recorded, logged or told apart, in UTF-16 code units. @internal */
export const longestName = 255;

/**
 * The default limits.
 *
 * @public
 */
export const defaultLimits: Limits = Object.freeze({
  maxBodyBytes: 1_048_576,
  maxTargetBytes: 8192,
  maxBodyDepth: 32,
  maxBodyValues: 50_000,
  maxDocumentBytes: 16 * 1_048_576,
  maxDocumentValues: 2_000_000,
  bodyDeadlineMs: 30_000,
  maxQueued: 1024,
  maxInFlight: 1024,
  effectDeadlineMs: 10_000,
  storeDeadlineMs: 30_000,
  // Leaves the other two threads that Node has for such work to the disk.
  maxHashesInFlight: 2,
  maxHashesQueued: 64,
  hashDeadlineMs: 10_000,
  maxEventsKept: 10_000,
  maxEventReaders: 100,
  heartbeatMs: 15_000,
  maxAuditKept: 10_000,
  auditDeadlineMs: 10_000,
});

/**
 * Checks limits, and adds the defaults.
 *
 * @throws TypeError for an unknown limit
 * @throws RangeError for a limit that is not a whole number from 1 on. `Infinity` is refused too, because a limit that
 *   is turned off by mistake protects nobody
 * @internal
 */
export function limitsFrom(given: unknown = {}): Limits {
  if (!isObject(given)) throw new TypeError('The option limits must be an object');
  const known = Object.keys(defaultLimits) as (keyof Limits)[];
  assertMembers(given, known, 'limit');
  const limits = Object.fromEntries(known.map((name) => [name, given[name] ?? defaultLimits[name]]));
  for (const [name, value] of Object.entries(limits)) {
    if (!Number.isSafeInteger(value) || (value as number) < 1)
      throw new RangeError(`The limit "${name}" must be a whole number from 1 on`);
  }
  return Object.freeze(limits) as unknown as Limits;
}
