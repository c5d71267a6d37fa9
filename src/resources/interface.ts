/**
 * The interface itself: what there is to read, the version of the library, the health, and the read-only mode. The
 * endpoints are in `mode.ts`.
 */
import type { Role } from '../http/route.ts';
import type { DrainingResource } from '../snapshot/state.ts';

/**
 * The settings of the interface, which a patch can modify.
 *
 * @public
 */
export interface InterfaceSettings {
  /** Whether every request that would change the configuration is refused, but for those that change the mode. */
  readonly read_only: boolean;
  /** Why the interface is read-only: a text of 1 to 1,024 characters; only while it is. */
  readonly read_only_reason?: string;
}

/**
 * The interface in a snapshot. No gateway document has it: a store keeps it, and a fleet shares it.
 *
 * @public
 */
export interface Interface {
  /** The settings, which a patch can modify. */
  readonly settings: InterfaceSettings;
  /** Since when the interface is read-only, in milliseconds since 1970-01-01T00:00:00Z; left out if it is not. */
  readonly read_only_since?: number;
  /** Name of the user who has begun the read-only mode; left out if the caller was not known. */
  readonly read_only_by?: string;
}

/**
 * The interface in a response.
 *
 * @see docs/spec-choices.md 40.
 *
 * @public
 */
export interface InterfaceRepresentation extends InterfaceSettings {
  /** The name of the gateway; left out if the program gives none. */
  readonly name?: string;
  /** The environment of the gateway, such as `production`; left out if the program gives none. */
  readonly environment?: string;
  /** The name of the caller; left out without a log-in. */
  readonly user?: string;
  /** The role of the caller; left out if the rule for access knows no roles. */
  readonly role?: Role;
  /** Whether the interface takes commands: the interface is not closed, and its store answers. */
  readonly ready: boolean;
  /** Since when the interface is read-only, such as `2016-08-29T12:52:31+03:00`; left out if it is not. */
  readonly read_only_since?: string;
  /** Name of the user who has begun the read-only mode; left out if the user is not known. */
  readonly read_only_by?: string;
  /**
   * Whether the configuration store answers: `ok`, `retrying` while calls that failed are made again, `lost` if only a
   * restart helps. Left out without a store.
   */
  readonly store?: 'ok' | 'retrying' | 'lost';
  /** Number of commands in flight whose outcome is unknown. */
  readonly unknown_outcomes: number;
  /** The present time of the gateway, such as `2016-08-29T12:52:31+03:00`. */
  readonly now: string;
  /** Time zone of all times: an IANA name, such as `Europe/Helsinki`, or an offset, such as `+03:00`. */
  readonly time_zone: string;
  /** Version of the library. */
  readonly version: string;
  /** The link of everything that can be read without a name or an id, by the last word of the link. */
  readonly links: Readonly<Record<string, string>>;
}

/** A port that does not answer. */
interface PortOutage {
  /** Since when, in milliseconds since 1970-01-01T00:00:00Z. */
  readonly since: number;
  /** Why the last call has failed, in the words of the port. */
  readonly reason: string;
}

/** The running interface, as its own endpoints show it. @internal */
export interface RunningInterface {
  /** The present state, besides what the snapshot has, the time, and who asks. */
  state(this: void): Omit<InterfaceRepresentation, 'user' | 'role' | 'now' | `read_only${string}`>;
  /** When this life began, in milliseconds since 1970-01-01T00:00:00Z. */
  readonly begun: number;
  /** The ports that keep something and do not answer; left out for a port that answers. */
  outages(this: void): { readonly store?: PortOutage; readonly audit?: PortOutage };
  /** Why the last try of the deadline of a drain has failed, in a sentence; empty if it has not. */
  deadlineFailures(this: void, place: DrainingResource): readonly string[];
  /**
   * Since when a monitor that is wanted lists a server, by the link of the server, in milliseconds since
   * 1970-01-01T00:00:00Z; `undefined` if none does.
   */
  watchedSince(this: void, link: string): number | undefined;
  /** The resources that the gateway could not bring to what is wanted. Never throws. */
  lags(this: void): readonly { readonly resource: string; readonly since: number; readonly reason: string }[];
}
