/**
 * The snapshot: the immutable state of one gateway, and the functions that read a snapshot and make the next snapshot.
 */
import { Immer, type Draft } from 'immer';

import { IndexedCollection, type Collection, type Entity } from '../core/collection.ts';
import { initialVersion, latest, nextVersion, type Version } from '../core/version.ts';
import type { Change, Context } from '../core/decision.ts';
import { linkTo, parseLink } from '../core/link.ts';
import { nameKey } from '../core/name.ts';
import type { FindName } from '../core/reference.ts';
import type { Filter } from '../resources/filter.ts';
import type { Instance, Module, Task, Threads } from '../resources/gateway.ts';
import type { Logs } from '../resources/log.ts';
import type { Monitor } from '../resources/monitor.ts';
import type { Server } from '../resources/server.ts';
import type { Service } from '../resources/service.ts';
import type { User } from '../resources/user.ts';
import { IndexedSessionTable, type SessionTable } from './session-table.ts';

/** An own instance of immer, because a host may have switched off freezing in the shared instance. */
const { produce } = new Immer();

/**
 * The state of one gateway at one moment. Deep-frozen. A change makes a new snapshot, which shares the unchanged parts.
 *
 * @public
 */
export interface Snapshot {
  /** The id of the life of the interface; empty if not given. Revisions of different epochs cannot be compared. */
  readonly epoch: string;
  /** The number of the snapshot. Each change raises it by one. */
  readonly revision: number;
  /**
   * The names of secret parameters, as {@link nameKey} folds them, in alphabetical order; left out if there are none. A
   * router option of a service, or a parameter of a server or filter, with such a name is stored sealed and never shown.
   */
  readonly secretParameters?: readonly string[];
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
}

/** The collections of a snapshot, each with the type of its resources. @internal */
export interface Collections {
  servers: Server;
  services: Service;
  monitors: Monitor;
  filters: Filter;
  users: User;
}

/** The name of one resource of each collection. @internal */
export const singular = {
  servers: 'server',
  services: 'service',
  monitors: 'monitor',
  filters: 'filter',
  users: 'user',
} as const satisfies Record<keyof Collections, string>;

/** Whether a text is the name of a collection. @internal */
export function isCollection(name: string): name is keyof Collections {
  return Object.hasOwn(singular, name);
}

const notOurs = (name: string): string => `${name} must come from createSnapshot`;

/**
 * Checks that a value is a snapshot: frozen, with the collections that only {@link createSnapshot} and the fold of events
 * make. A copy has not these collections, or is not frozen.
 *
 * @param name - the name of the argument, for the message
 * @throws TypeError for any other value
 * @internal
 */
export function assertSnapshot(value: unknown, name = 'snapshot'): asserts value is Snapshot {
  if (typeof value !== 'object' || value === null || !Object.isFrozen(value))
    throw new TypeError(notOurs(name));
  const { servers, services, monitors, filters, users, sessions } = value as Partial<Snapshot>;
  const isOurs =
    servers instanceof IndexedCollection &&
    services instanceof IndexedCollection &&
    monitors instanceof IndexedCollection &&
    filters instanceof IndexedCollection &&
    users instanceof IndexedCollection &&
    sessions instanceof IndexedSessionTable;
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

/** A collection of a snapshot, as its implementation. @internal */
export function collectionOf<K extends keyof Collections>(
  snapshot: Snapshot,
  name: K,
): IndexedCollection<Collections[K]> {
  const collection: Collection<Entity> = snapshot[name];
  // The mapped type gives the resource type of each collection. The compiler cannot derive that from the index.
  if (collection instanceof IndexedCollection) return collection as IndexedCollection<Collections[K]>;
  throw new TypeError(notOurs('snapshot'));
}

/** Finds a resource by its key. @internal */
export function find<K extends keyof Collections>(
  snapshot: Snapshot,
  collection: K,
  key: string,
): Collections[K] | undefined {
  return collectionOf(snapshot, collection).findByKey(key);
}

/** Finds the names in a snapshot for links from clients and documents. @internal */
export function nameFinder(snapshot: Snapshot): FindName {
  return (collection, key) => (isCollection(collection) ? find(snapshot, collection, key)?.name : undefined);
}

/**
 * The version of the representation of a resource. The counters of a service count too. They are in the session table,
 * so that a new session copies no service.
 *
 * @internal
 */
export function shownVersion(
  snapshot: Snapshot,
  collection: keyof Collections,
  { key, version }: Entity,
): Version {
  if (collection !== 'services') return version;
  return latest(version, { command: 0, live: sessionsOf(snapshot).liveOfService(key) });
}

/** The canonical link of a resource. @internal */
export function linkOf(collection: keyof Collections, entity: Entity): string {
  return linkTo(collection, entity.name);
}

/** The canonical link of the resource with a key; a link made from the key if the resource is gone. @internal */
export function linkOfKey(snapshot: Snapshot, collection: keyof Collections, key: string): string {
  return linkTo(collection, find(snapshot, collection, key)?.name ?? key);
}

/**
 * Changes one resource of a collection, and its version. Gives the same snapshot if the resource is gone or stays
 * unchanged.
 *
 * @internal
 */
export function revise<K extends keyof Collections>(
  snapshot: Snapshot,
  collection: K,
  key: string,
  change: Change,
  recipe: (draft: Draft<Collections[K]>, before: Collections[K]) => void,
): Snapshot {
  const before = find(snapshot, collection, key);
  if (before === undefined) return snapshot;
  const after = produce(before as Entity, (draft) => {
    recipe(draft as Draft<Collections[K]>, before);
  });
  if (after === before) return snapshot;
  const entity = Object.freeze({ ...after, version: nextVersion(before.version, change) }) as Collections[K];
  return put(snapshot, collection, entity, change);
}

/**
 * Changes one resource of a collection as {@link revise} does, without a draft, which would take several times as long.
 *
 * @param copy - gives a changed copy, not frozen itself; the given resource itself if nothing changes
 * @internal
 */
export function replace<K extends keyof Collections>(
  snapshot: Snapshot,
  collection: K,
  key: string,
  change: Change,
  copy: (before: Collections[K]) => Collections[K],
): Snapshot {
  const before = find(snapshot, collection, key);
  if (before === undefined) return snapshot;
  const after: { version: Version } = copy(before);
  if (after === before) return snapshot;
  after.version = nextVersion(before.version, change);
  return put(snapshot, collection, Object.freeze(after) as Collections[K], change);
}

/**
 * Replaces the settings of one resource of a collection, and changes its version, also if the settings are equal: to
 * write a secret again is a change. Gives the same snapshot if the resource is gone.
 *
 * @internal
 */
export function replaceSettings<K extends Exclude<keyof Collections, 'users'>>(
  snapshot: Snapshot,
  collection: K,
  key: string,
  change: Change,
  settingsOf: (settings: Collections[K]['settings']) => Collections[K]['settings'],
): Snapshot {
  const before = find(snapshot, collection, key);
  if (before === undefined) return snapshot;
  const settings = Object.freeze(settingsOf(before.settings));
  // Spread, because patches are frequent and an immer draft takes ten times as long.
  const after: Entity = {
    ...(before as Entity),
    settings,
    version: nextVersion(before.version, change),
  } as Entity;
  return put(snapshot, collection, Object.freeze(after) as Collections[K], change);
}

/** Replaces the resource with the key of `entity`, or adds `entity`. @internal */
export function put<K extends keyof Collections>(
  snapshot: Snapshot,
  collection: K,
  entity: Collections[K],
  change: Change,
): Snapshot {
  return withMember(snapshot, collection, collectionOf(snapshot, collection).with(entity), change);
}

/**
 * A snapshot with another value of one member. The first change of a fold copies the snapshot; the others change that copy,
 * which is frozen at the end of the fold.
 */
function withMember(
  snapshot: Snapshot,
  member: keyof Snapshot,
  value: SessionTable | Collection<Entity>,
  change: Change,
): Snapshot {
  if (Object.isFrozen(snapshot)) return { ...snapshot, [member]: value };
  (snapshot as unknown as Record<string, unknown>)[member] = value;
  change.batch.count();
  return snapshot;
}

/** Removes the resource with a key. Gives the same snapshot if the resource is gone. @internal */
export function remove(
  snapshot: Snapshot,
  collection: keyof Collections,
  key: string,
  change: Change,
): Snapshot {
  const before = collectionOf(snapshot, collection);
  const after = before.without(key, nextVersion(initialVersion, change));
  return after === before ? snapshot : withMember(snapshot, collection, after, change);
}

/** Gives a resource a new version, because its representation shows something that changed elsewhere. @internal */
export function markChanged(
  snapshot: Snapshot,
  collection: keyof Collections,
  link: string,
  change: Change,
): Snapshot {
  const entity = find(snapshot, collection, nameKey(parseLink(link, collection) ?? ''));
  if (entity === undefined) return snapshot;
  const version = nextVersion(entity.version, change);
  return put(snapshot, collection, Object.freeze({ ...entity, version }), change);
}

/**
 * Gives resources and collections other versions.
 *
 * @param snapshot - the snapshot to change
 * @param versionOf - gives the wanted version of a resource by its collection and key, or of a collection without a key,
 *   once its resources have theirs. Given the present version, the version stays
 * @returns the snapshot with these versions; the same object if no version changes
 * @internal
 */
export function alignVersions(
  snapshot: Snapshot,
  versionOf: (collection: keyof Collections, present: Version, key?: string) => Version,
): Snapshot {
  const changed: Partial<Record<keyof Collections, unknown>> = {};
  for (const collection of Object.keys(singular) as (keyof Collections)[]) {
    const before = collectionOf(snapshot, collection);
    const after = before.revised(
      ({ key, version }) => versionOf(collection, version, key),
      (version) => versionOf(collection, version),
    );
    if (after !== before) changed[collection] = after;
  }
  if (Object.keys(changed).length === 0) return snapshot;
  return Object.freeze({ ...snapshot, ...(changed as Partial<Snapshot>) });
}

/**
 * The session table of a snapshot, with the methods that only events may use.
 *
 * @throws TypeError for a snapshot that does not come from {@link createSnapshot}
 * @internal
 */
export function sessionsOf({ sessions }: Snapshot): IndexedSessionTable {
  if (sessions instanceof IndexedSessionTable) return sessions;
  throw new TypeError(notOurs('snapshot'));
}

/** Replaces the session table of a snapshot. Gives the same snapshot for the same table. @internal */
export function withSessions(snapshot: Snapshot, sessions: SessionTable, change: Change): Snapshot {
  return sessions === snapshot.sessions ? snapshot : withMember(snapshot, 'sessions', sessions, change);
}
