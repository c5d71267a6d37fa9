/**
 * The running administration interface as types: the options it is made of, and what it can do.
 */
import type {
  Authenticate,
  Clock,
  ConfigurationStore,
  GatewayPort,
  Hasher,
  SecretSealer,
} from '../ports/port.ts';
import type { AdminRequest } from '../http/message.ts';
import type { HostReport, Transition } from '../resources/index.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import type { EventGap, EventsOptions, PublishedEvent } from './event-log.ts';
import type { Execution } from './execution.ts';
import type { Authorize, Handled } from './handler/handler.ts';
import type { Limits } from './limits.ts';
import type { Plan } from './handler/plan.ts';

/**
 * What a running administration interface is made of.
 *
 * @public
 */
export interface AdminOptions {
  /** The state to begin with; see {@link createSnapshot}. */
  readonly snapshot: Snapshot;
  /** The real gateway. */
  readonly gateway: GatewayPort;
  /** The time; the system's by default. */
  readonly clock?: Clock;
  /** Zone in which times are shown: an IANA name, or an offset such as `+03:00`. UTC by default. */
  readonly timeZone?: string;
  /** Hashes passwords; PBKDF2-SHA-256 by default. */
  readonly hasher?: Hasher;
  /** Seals secrets; by default with a key that lives as long as the process. */
  readonly sealer?: SecretSealer;
  /** Finds out who asks; nobody has to say by default. While it is given, the last admin user cannot be deleted. */
  readonly authenticate?: Authenticate;
  /** Decides who may do what; everyone everything by default. */
  readonly authorize?: Authorize;
  /** Says what is wrong with the password of an admin user, beyond the rules that always hold; `undefined` for nothing. */
  readonly passwordPolicy?: (password: string) => string | undefined;
  /** The limits that differ from {@link defaultLimits}. */
  readonly limits?: Partial<Limits>;
  /** Told of what is wrong in the host or in here: malformed reports, errors thrown. Does nothing by default. */
  readonly onError?: (error: unknown) => void;
}

/**
 * What a running administration interface with a store is made of.
 *
 * @public
 */
export interface OpenAdminOptions extends AdminOptions {
  /**
   * The state with which an empty store begins. A store that is not empty wins; what tells of the process of the
   * gateway (its instance, threads, tasks, modules and where it logs) is always taken from here, and sessions never are.
   */
  readonly snapshot: Snapshot;
  /** Keeps the configuration and the admin users. It belongs to the interface from now on, which disposes of it. */
  readonly store: ConfigurationStore;
}

/**
 * How a command is executed.
 *
 * @public
 */
export interface ExecuteOptions {
  /** Name of the principal who asks, for the record. */
  readonly actor?: string;
  /** Refuses with `precondition-failed` unless the resource at this link still has this entity tag. */
  readonly ifMatch?: {
    /** Link of the resource, such as `/services/sales`. */
    readonly link: string;
    /** The entity tag, or `*`, as `If-Match` has it. */
    readonly etag: string;
  };
  /** Cancels the command while it waits, and `execute` rejects. A command in flight goes on. */
  readonly signal?: AbortSignal;
}

/**
 * A running administration interface.
 *
 * @public
 */
export interface Admin {
  /** The current state. */
  readonly snapshot: Snapshot;
  /** The limits that hold. */
  readonly limits: Limits;
  /** Answers a request. Never rejects. */
  handle(request: AdminRequest): Promise<Handled>;
  /**
   * Executes a command: decides, asks the host, settles. Rejects only when the transition throws, when its signal cancels
   * it, or with a RangeError when the link of `ifMatch` is not that of a resource. With `ifMatch`, a resource that is gone
   * (404) and a tag that does not fit (412) are refused before the transition decides.
   */
  execute(transition: Transition, options?: ExecuteOptions): Promise<Execution>;
  /**
   * Decides as {@link Admin.execute} would at this moment, says what that would do, and does nothing.
   *
   * @throws whatever the transition throws; a RangeError as {@link Admin.execute}
   */
  plan(transition: Transition, options?: Omit<ExecuteOptions, 'signal'>): Plan;
  /** Takes in what the host reports. Synchronous, never queued; what is malformed goes to `onError`. */
  report(report: HostReport | readonly HostReport[]): void;
  /**
   * Reads the events, in order, from now on or from where a reader left off.
   *
   * @throws RangeError when `after` is not an event id
   */
  events(options?: EventsOptions): AsyncIterableIterator<PublishedEvent | EventGap>;
  /** Refuses commands to come, answers those that wait, and settles those in flight. */
  close(): Promise<void>;
  /** The same as {@link Admin.close}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}
