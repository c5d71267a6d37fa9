/**
 * The snapshot: the immutable state of one gateway, with the names of its collections.
 */
import { IndexedCollection, type Collection, type Entity, type Named } from '../core/collection.ts';
import type { Context } from '../core/decision.ts';
import { IndexedSessionTable, type Session, type SessionTable } from '../snapshot/session/table.ts';
import { notOurs } from '../snapshot/state.ts';
import type { Filter } from './filter.ts';
import type { Instance, Module } from './gateway.ts';
import type { Interface } from './interface.ts';
import type { Logs } from './log.ts';
import type { Monitor } from './monitor.ts';
import type { Server } from './server.ts';
import type { Service } from './service.ts';
import type { Task, Threads } from './telemetry.ts';
import type { User } from './user.ts';

/**
 * The state of one gateway at one moment. Deep-frozen. A change makes a new snapshot, which shares the unchanged parts.
 * Only {@link createSnapshot} and the transitions return one. A gateway document is not a snapshot.
 *
 * @public
 */
export interface Snapshot extends Created, SnapshotMembers {}

/** What only the compiler reads: of the members that are missing, its message names the first. @internal */
interface Created {
  /** Never there. */
  readonly [fromCreateSnapshot]: true;
}

/** The key of what only the compiler reads. @internal */
declare const fromCreateSnapshot: unique symbol;

/** The members of a snapshot. @internal */
interface SnapshotMembers {
  /** The id of the life of the interface; empty if not given. Revisions of different epochs cannot be compared. */
  readonly epoch: string;
  /** The number of the snapshot. Each change raises it by one. */
  readonly revision: number;
  /**
   * The names of secret parameters, as {@link nameKey} folds them, in alphabetical order; left out if there are none. A
   * router option of a service, or a parameter of a server, listener, monitor or filter, with such a name is stored
   * sealed and never shown.
   */
  readonly secretParameters?: readonly string[];
  /** The interface itself: its read-only mode. */
  readonly interface: Interface;
  /** The instance of the gateway. */
  readonly gateway: Instance;
  /** The logging of the gateway. */
  readonly logs: Logs;
  /** The threads of the gateway, as given by the document; see {@link Telemetry}. */
  readonly threads: Threads;
  /** The queued tasks of the gateway, as given by the document; see {@link Telemetry}. */
  readonly tasks: readonly Task[];
  /** The loaded modules of the gateway. */
  readonly modules: readonly Module[];
  /** The backend servers, in declaration order. */
  readonly servers: Collection<Server>;
  /** The services with their listeners, in declaration order. */
  readonly services: Collection<Service>;
  /** The monitors, in declaration order. */
  readonly monitors: Collection<Monitor>;
  /** The filters, in declaration order. */
  readonly filters: Collection<Filter>;
  /** The admin users, in the order of their creation. */
  readonly users: Collection<User>;
  /** The sessions and their connections, by session id. */
  readonly sessions: SessionTable;
  /** True until the host has reported everything that is open, with `sessions.complete`; left out after that. */
  readonly sessionsIncomplete?: true;
  /** The number of services and servers that drain: those with the setting `drain`. */
  readonly draining: number;
  /** The commands that have made the resources. */
  readonly births: {
    /**
     * The id of the command that has made the resource of a link. Below the link of an admin user, `/password` is the
     * password that was set since. `undefined` for what the first gateway document has, or if there is nothing.
     */
    of(link: string): string | undefined;
    /** The births as JSON: the ids of the commands by the link, with folded names. */
    toJSON(): Readonly<Record<string, string>>;
  };
}

/**
 * The resource that a link names.
 *
 * @public
 */
export type LinkedResource =
  | { readonly kind: 'service'; readonly service: Service }
  | { readonly kind: 'server'; readonly server: Server }
  | { readonly kind: 'monitor'; readonly monitor: Monitor }
  | { readonly kind: 'filter'; readonly filter: Filter }
  | { readonly kind: 'user'; readonly user: User }
  | { readonly kind: 'session'; readonly session: Session };

/** The collection of the servers. @internal */
export const servers: Named<Server, 'server'> = { collection: 'servers', singular: 'server' };
/** The collection of the services. @internal */
export const services: Named<Service, 'service'> = { collection: 'services', singular: 'service' };
/** The collection of the monitors. @internal */
export const monitors: Named<Monitor, 'monitor'> = { collection: 'monitors', singular: 'monitor' };
/** The collection of the filters. @internal */
export const filters: Named<Filter, 'filter'> = { collection: 'filters', singular: 'filter' };
/** The collection of the admin users. @internal */
export const users: Named<User, 'user'> = { collection: 'users', singular: 'user' };

/** Every collection, in the order of a gateway document. @internal */
export const collections: readonly Named<Entity>[] = [servers, services, monitors, filters, users];

/**
 * Checks that a value is a snapshot: frozen, with the collections that only {@link createSnapshot} and the fold of
 * events make. A copy has not these collections, or is not frozen.
 *
 * @param name - the name of the argument, for the message
 * @throws TypeError for any other value
 * @internal
 */
export function assertSnapshot(value: unknown, name = 'snapshot'): asserts value is Snapshot {
  const members = value as Readonly<Record<string, unknown>> | null | undefined;
  const isOurs =
    Object.isFrozen(value) &&
    collections.every(({ collection }) => members?.[collection] instanceof IndexedCollection) &&
    members?.['sessions'] instanceof IndexedSessionTable;
  if (!isOurs) throw new TypeError(notOurs(name));
}

/**
 * Checks the arguments that every transition has.
 *
 * @throws TypeError if one of them is not such a value
 * @internal
 */
export function assertInputs(snapshot: unknown, context: unknown): void {
  assertSnapshot(snapshot);
  if (!Number.isFinite((context as Partial<Context> | null | undefined)?.now)) throw new TypeError(noTime);
}

const noTime = 'context must have the time in milliseconds since 1970, such as { now: Date.now() }';
