/**
 * The snapshot: the immutable state of one gateway, and the few ways to look at it and to make the next one.
 */
import { Immer, type Draft } from 'immer';

import { IndexedCollection, type Collection, type Entity } from '../core/collection.ts';
import { initialVersion, latest, nextVersion, type Version } from '../core/version.ts';
import type { Change } from '../core/decision.ts';
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

/** An immer of our own: a host may have switched freezing off for its own purposes. */
const { produce } = new Immer({ autoFreeze: true });

/**
 * The state of one gateway at one moment. Deep-frozen; every change makes a new one that shares what did not change.
 *
 * @public
 */
export interface Snapshot {
  /** Tells the lives of a gateway apart: revisions of different epochs cannot be compared. Empty when not given. */
  readonly epoch: string;
  /** Goes up by one with each new snapshot. */
  readonly revision: number;
  /** The instance itself. */
  readonly gateway: Instance;
  /** Its logging. */
  readonly logs: Logs;
  /** Its threads, as they were stored; see {@link Telemetry}. */
  readonly threads: Threads;
  /** Its queued tasks, as they were stored; see {@link Telemetry}. */
  readonly tasks: readonly Task[];
  /** Its loaded modules. */
  readonly modules: readonly Module[];
  /** The backend servers, in declaration order. */
  readonly servers: Collection<Server>;
  /** The services with their listeners, in declaration order. */
  readonly services: Collection<Service>;
  /** The monitors, in declaration order. */
  readonly monitors: Collection<Monitor>;
  /** The filters, in declaration order. */
  readonly filters: Collection<Filter>;
  /** The admin users, in the order in which they were created. */
  readonly users: Collection<User>;
  /** The sessions and their connections, by session id. */
  readonly sessions: SessionTable;
}

/** The parts of a snapshot that are collections of named things. @internal */
export interface Collections {
  servers: Server;
  services: Service;
  monitors: Monitor;
  filters: Filter;
  users: User;
}

/** What one thing of a collection is called. @internal */
export const singular = {
  servers: 'server',
  services: 'service',
  monitors: 'monitor',
  filters: 'filter',
  users: 'user',
} as const satisfies Record<keyof Collections, string>;

const notOurs = 'snapshot must come from createSnapshot';

/** A collection of a snapshot, with what only events may do to it. */
function collectionOf<K extends keyof Collections>(
  snapshot: Snapshot,
  name: K,
): IndexedCollection<Collections[K]> {
  const collection: Collection<Entity> = snapshot[name];
  // The mapped type says what each collection holds; the compiler cannot see it through the index.
  if (collection instanceof IndexedCollection) return collection as IndexedCollection<Collections[K]>;
  throw new TypeError(notOurs);
}

/** Finds a thing by its key. @internal */
export function find<K extends keyof Collections>(
  snapshot: Snapshot,
  collection: K,
  key: string,
): Collections[K] | undefined {
  return collectionOf(snapshot, collection).findByKey(key);
}

/** Look-up of the names of a snapshot, for links that come in. @internal */
export function nameFinder(snapshot: Snapshot): FindName {
  return (collection, key) =>
    Object.hasOwn(singular, collection)
      ? find(snapshot, collection as keyof Collections, key)?.name
      : undefined;
}

/**
 * When anything that the representation of a thing shows last changed. The counters of a service are in the session
 * table, so that opening a session copies no service.
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

/** The canonical link of a named thing. @internal */
export function linkOf(collection: keyof Collections, entity: Entity): string {
  return linkTo(collection, entity.name);
}

/** The canonical link of the thing with this key; made of the key itself when the thing is gone. @internal */
export function linkOfKey(snapshot: Snapshot, collection: keyof Collections, key: string): string {
  return linkTo(collection, find(snapshot, collection, key)?.name ?? key);
}

/**
 * Changes one thing of a collection, and its version with it. Total: a thing that is gone, or that stays as it is,
 * gives the snapshot that was given.
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
  return put(
    snapshot,
    collection,
    Object.freeze({ ...after, version: nextVersion(before.version, change) }) as Collections[K],
  );
}

/**
 * Gives one thing of a collection other settings, and its version with them. Total, as {@link revise} is. It makes a
 * new thing even of equal settings: writing a secret again is a change.
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
  // Spread, not a draft: patches are frequent, and this is a tenth of the time.
  const after: Entity = {
    ...(before as Entity),
    settings,
    version: nextVersion(before.version, change),
  } as Entity;
  return put(snapshot, collection, Object.freeze(after) as Collections[K]);
}

/** Puts one thing in the place of the one with its key, or adds it. @internal */
export function put<K extends keyof Collections>(
  snapshot: Snapshot,
  collection: K,
  entity: Collections[K],
): Snapshot {
  return { ...snapshot, [collection]: collectionOf(snapshot, collection).with(entity) };
}

/** Takes the thing with a key away. Total, as {@link revise} is. @internal */
export function remove(
  snapshot: Snapshot,
  collection: keyof Collections,
  key: string,
  change: Change,
): Snapshot {
  const before = collectionOf(snapshot, collection);
  const after = before.without(key, nextVersion(initialVersion, change));
  return after === before ? snapshot : { ...snapshot, [collection]: after };
}

/** Marks that something which a thing shows has changed, though the thing itself is as it was. @internal */
export function touch(
  snapshot: Snapshot,
  collection: keyof Collections,
  link: string,
  change: Change,
): Snapshot {
  const entity = find(snapshot, collection, nameKey(parseLink(link, collection) ?? ''));
  if (entity === undefined) return snapshot;
  return put(
    snapshot,
    collection,
    Object.freeze({ ...entity, version: nextVersion(entity.version, change) }),
  );
}

/**
 * The session table of a snapshot, with what only events may do to it.
 *
 * @throws TypeError for a snapshot that somebody made by hand
 * @internal
 */
export function sessionsOf({ sessions }: Snapshot): IndexedSessionTable {
  if (sessions instanceof IndexedSessionTable) return sessions;
  throw new TypeError(notOurs);
}

/** The snapshot with another session table; the same object when the table is the same. @internal */
export function withSessions(snapshot: Snapshot, sessions: SessionTable): Snapshot {
  return sessions === snapshot.sessions ? snapshot : { ...snapshot, sessions };
}
