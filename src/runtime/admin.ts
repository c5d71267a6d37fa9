/**
 * The running administration interface: what it is made of, what it can do, and how it is begun.
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
import type { Decision, HostReport, Transition } from '../resources/index.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { systemClock } from '../ports/system-clock.ts';
import { assemble, partsOf, quietly } from './create-admin.ts';
import { beforeDeadline } from './deadline.ts';
import type { EventGap, EventsOptions, PublishedEvent } from './event-log.ts';
import type { Execution } from './execution.ts';
import type { Authorize, Handled } from './handler/handler.ts';
import { restore } from './history.ts';
import { noJournal, openJournal } from './journal.ts';
import { beginLife } from './life.ts';
import { defaultLimits, type Limits } from './limits.ts';
import type { Closes } from './handler/plan.ts';

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
  /** Name of whoever asks, for the record. */
  readonly actor?: string;
  /** Refuses with `precondition-failed` unless the resource at this link still has this entity tag. */
  readonly ifMatch?: {
    /** Link of the resource, such as `/services/sales`. */
    readonly link: string;
    /** The entity tag, or `*`, as `If-Match` has it. */
    readonly etag: string;
  };
  /** Takes the command back while it has not begun; then `execute` rejects. One that has begun goes on. */
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
   * Executes a command: decides, asks the host, settles. Rejects only when the transition throws, when it was taken back, or
   * with a RangeError when the link of `ifMatch` is not that of a resource.
   */
  execute(transition: Transition, options?: ExecuteOptions): Promise<Execution>;
  /** Decides as {@link Admin.execute} would at this moment, says what it would close, and does nothing. */
  plan(
    transition: Transition,
    options?: Omit<ExecuteOptions, 'signal'>,
  ): Decision & {
    /** How many sessions and backend connections would be closed. */
    readonly closes: Closes;
  };
  /** Takes in what the host reports. Synchronous, never queued; what is malformed goes to `onError`. */
  report(report: HostReport | readonly HostReport[]): void;
  /**
   * Reads the events, in order, from now on or from where a reader left off.
   *
   * @throws RangeError when `after` is not an event id
   */
  events(options?: EventsOptions): AsyncIterableIterator<PublishedEvent | EventGap>;
  /** Refuses what is to come, answers what waits, settles what is under way. */
  close(): Promise<void>;
  /** The same as {@link Admin.close}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Runs the administration interface of a gateway. Nothing outlives the process.
 *
 * @param options - the state, the gateway, and what else differs from the defaults
 * @returns the running interface; close it when the gateway ends
 * @throws RangeError when the time zone is unknown, or a limit is not a whole number from 1 on
 *
 * @example
 * ```ts
 * import { createAdmin, createSnapshot } from 'gateway-admin-core';
 *
 * const admin = createAdmin({
 *   snapshot: createSnapshot({ services: [{ name: 'Sales', router: 'readconnroute' }] }),
 *   gateway: { apply: async () => {}, inspect: async () => 'in-place' },
 * });
 * const handled = await admin.handle({ method: 'PUT', target: '/service/Sales/stop', headers: {} });
 * handled.matched && handled.response.status; // => 204
 * admin.snapshot.services.find('sales')?.state; // => 'stopped'
 * await admin.close();
 * ```
 *
 * @public
 */
export function createAdmin(options: AdminOptions): Admin {
  return assemble(partsOf(options), beginLife(options.snapshot), noJournal).admin;
}

/**
 * Runs the administration interface of a gateway, with a store that keeps the configuration and the admin users.
 *
 * What was under way when the gateway last ended is found out first: the host is asked with `inspect`. What it does not
 * answer for in time stays open: commands on those resources are refused until it is known. Then open in the gateway
 * what `admin.snapshot` says is started, and report the sessions: they are not kept.
 *
 * @param options - the store, the state with which it begins, the gateway, and what else differs from the defaults
 * @returns the running interface; close it when the gateway ends
 * @throws Error when the store cannot be read, or holds what this version does not understand: nothing is guessed
 * @throws RangeError as {@link createAdmin}
 *
 * @example
 * ```ts
 * import { createMemoryStore, createSnapshot, openAdmin, stopService } from 'gateway-admin-core';
 *
 * const store = createMemoryStore();
 * const gateway = { apply: async () => {}, inspect: async () => 'in-place' as const };
 * const snapshot = createSnapshot({ services: [{ name: 'Sales', router: 'readconnroute' }] });
 * const before = await openAdmin({ snapshot, gateway, store });
 * await before.execute((state, context) => stopService(state, 'Sales', context));
 * await before.close();
 *
 * const after = await openAdmin({ snapshot, gateway, store });
 * after.snapshot.services.find('sales')?.state; // => 'stopped'
 * await after.close();
 * ```
 *
 * @public
 */
export async function openAdmin(options: OpenAdminOptions): Promise<Admin> {
  const { store, snapshot } = options;
  try {
    // First what can be refused: a store that is not empty wins over every later attempt.
    const parts = partsOf(options);
    const { position, repaired, ...stored } = await store.load();
    const history = restore(stored, snapshot);
    if (repaired !== undefined) parts.onError(new Error(repaired));
    const deadlineMs = parts.limits.storeDeadlineMs;
    const journal = await openJournal({ ...parts, store, position, history, deadlineMs });
    const { admin, writer } = assemble(parts, beginLife(history.snapshot), journal);
    await Promise.all(history.open.map((open) => writer.resume(open)));
    return admin;
  } catch (error) {
    await letGo(options);
    throw error;
  }
}

/** Whatever comes of it, it must not hide why the interface does not open. */
async function letGo({ store, clock = systemClock, limits, onError }: OpenAdminOptions): Promise<void> {
  const { storeDeadlineMs } = { ...defaultLimits, ...limits };
  await beforeDeadline(clock, storeDeadlineMs, () => store[Symbol.asyncDispose]()).catch(quietly(onError));
}
