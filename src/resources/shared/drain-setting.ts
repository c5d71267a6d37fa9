/**
 * The setting of a drain, as a document and a patch have it.
 */

/**
 * The drain of a service or server, as a setting.
 *
 * @public
 */
export interface Drain {
  /** When the drain began: ISO 8601 in UTC. */
  readonly since: string;
  /**
   * Seconds until the deadline: a whole number from 1 to 31,536,000. Left out for a drain that goes on until it is
   * ended.
   */
  readonly timeout?: number;
  /** The deadline: ISO 8601 in UTC; left out without `timeout`. */
  readonly until?: string;
  /** What happens at the deadline: what is open is closed, or the drain ends. Given exactly with `timeout`. */
  readonly then?: 'close' | 'resume';
  /** Why, for other operators: one line of at most 1,024 characters. */
  readonly reason?: string;
  /** Who has asked for the drain; left out if the caller is unknown. */
  readonly by?: string;
  /** The state of the service that the end of the drain brings back. A server has none. */
  readonly from: 'started' | 'stopped';
}

/** What a caller says of a drain: with a deadline, also what happens then. @internal */
export type DrainOptions = WithDeadline | WithoutDeadline;

/** A drain that has an end. @internal */
interface WithDeadline extends Required<Pick<Drain, 'timeout' | 'then'>>, Pick<Drain, 'reason'> {}

/** A drain that goes on until it is ended. @internal */
interface WithoutDeadline extends Pick<Drain, 'reason'> {
  /** Not without `then`. */
  readonly timeout?: never;
  /** Not without `timeout`. */
  readonly then?: never;
}
