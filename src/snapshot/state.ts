/**
 * The state: what every snapshot has, and the functions that read a snapshot and make the next snapshot. No kind of
 * resource is known here: the collections of a snapshot are members that a {@link Named} names.
 */
import { Immer, type Draft } from 'immer';

import { IndexedCollection, type Collection, type Entity, type Named } from '../core/collection.ts';
import { initialVersion, latest, nextVersion, type Version } from '../core/version.ts';
import type { Change } from '../core/decision.ts';
import { linkTo, parseLink } from '../core/link.ts';
import { nameKey } from '../core/name.ts';
import type { FindName } from '../core/reference.ts';
import { IndexedSessionTable, type SessionTable } from './session/table.ts';

/** An own instance of immer, because a host may have switched off freezing in the shared instance. */
const { produce } = new Immer();

/** The members that do not depend on the kinds. {@link Snapshot} has further members. @internal */
export interface State {
  readonly epoch: string;
  readonly revision: number;
  readonly secretParameters?: readonly string[];
  readonly sessions: SessionTable;
  readonly sessionsIncomplete?: true;
  readonly draining: readonly DrainingResource[];
}

/** A service or server that drains, with what is left. @internal */
export interface DrainingResource {
  readonly collection: 'services' | 'servers';
  readonly key: string;
  readonly sessions: number;
  readonly connections: number;
}

/** A resource with settings, which a patch can change. @internal */
export interface ConfiguredEntity extends Entity {
  /** The settings. */
  readonly settings: object;
}

/** The error about an argument that is no snapshot of this library. @internal */
export const notOurs = (name: string): string => `${name} must come from createSnapshot`;

function refuse(): never {
  throw new TypeError(notOurs('snapshot'));
}

/** A member of a snapshot, if it is a collection. */
function memberOf(state: State, name: string): IndexedCollection<Entity> | undefined {
  const { [name]: member } = state as unknown as Readonly<Record<string, unknown>>;
  return member instanceof IndexedCollection ? (member as IndexedCollection<Entity>) : undefined;
}

/** The part of {@link Named} that finds a collection. */
type Where<T extends Entity> = Pick<Named<T>, 'collection' | 'resource'>;

/** A collection of a snapshot, as its implementation. @internal */
export function collectionOf<T extends Entity>(state: State, { collection }: Where<T>): IndexedCollection<T> {
  // The compiler takes the type of the resources from `Named`.
  return (memberOf(state, collection) ?? refuse()) as unknown as IndexedCollection<T>;
}

/** Finds a resource by its key. @internal */
export function find<T extends Entity>(state: State, named: Where<T>, key: string): T | undefined {
  return collectionOf(state, named).findByKey(key);
}

/** Finds the names in a snapshot for links from clients and documents. @internal */
export function nameFinder(state: State): FindName {
  return (collection, key) => nameIn(state, collection, key);
}

function nameIn(state: State, collection: string, key: string): string | undefined {
  return memberOf(state, collection)?.findByKey(key)?.name;
}

/**
 * The version of the representation of a resource. The counters of a service count too. They are in the session table,
 * so that a new session copies no service.
 *
 * @internal
 */
export function shownVersion(state: State, collection: string, { key, version }: Entity): Version {
  if (collection !== 'services') return version;
  return latest(version, { command: 0, live: sessionsOf(state).liveOfService(key) });
}

/** The canonical link of a resource. @internal */
export function linkOf(collection: string, entity: Entity): string {
  return linkTo(collection, entity.name);
}

/** The canonical link of the resource with a key; a link made from the key if the resource is gone. @internal */
export function linkOfKey(state: State, collection: string, key: string): string {
  return linkTo(collection, nameIn(state, collection, key) ?? key);
}

/**
 * Changes one resource of a collection, and its version. Gives the same snapshot if the resource is gone or stays
 * unchanged.
 *
 * @internal
 */
export function revise<S extends State, T extends Entity>(
  state: S,
  named: Named<T>,
  key: string,
  change: Change,
  recipe: (draft: Draft<T>, before: T) => void,
): S {
  const before = find(state, named, key);
  if (before === undefined) return state;
  const after = produce(before as Entity, (draft) => {
    recipe(draft as Draft<T>, before);
  });
  if (after === before) return state;
  const entity = Object.freeze({ ...after, version: nextVersion(before.version, change) }) as T;
  return put(state, named, entity, change);
}

/**
 * Changes one resource of a collection as {@link revise} does, without a draft, which would take several times as long.
 *
 * @param copy - gives a changed copy, not frozen itself; the given resource itself if nothing changes. A copy with
 *   equal members is a change too, as when a secret is written again
 * @internal
 */
export function replace<S extends State, T extends Entity>(
  state: S,
  named: Named<T>,
  key: string,
  change: Change,
  copy: (before: T) => T,
): S {
  const before = find(state, named, key);
  if (before === undefined) return state;
  const after: { version: Version } = copy(before);
  if (after === before) return state;
  after.version = nextVersion(before.version, change);
  return put(state, named, Object.freeze(after) as T, change);
}

/** Replaces the resource with the key of `entity`, or adds `entity`. @internal */
export function put<S extends State, T extends Entity>(
  state: S,
  named: Named<T>,
  entity: T,
  change: Change,
): S {
  const next = collectionOf(state, named).with(entity, change.batch);
  const { settings = {} } = entity as Partial<ConfiguredEntity>;
  return withDrain(withMember(state, named.collection, next, change), named, entity.key, {
    isDraining: 'drain' in settings,
    change,
  });
}

/** A snapshot that lists a resource as draining, or no longer. */
function withDrain<S extends State>(
  state: S,
  { collection }: Named<Entity>,
  key: string,
  { isDraining, change }: { readonly isDraining: boolean; readonly change: Change },
): S {
  const listed = leftOn(state, collection, key);
  if ((listed !== undefined) === isDraining) return state;
  const others = state.draining.filter((each) => each !== listed);
  const next = isDraining ? [...others, ...drainingIn(state, [{ collection, key }])] : others;
  return withMember(state, 'draining', Object.freeze(next), change);
}

/** Finds what is left on a resource; `undefined` if the resource does not drain. @internal */
export function leftOn(
  { draining }: Pick<State, 'draining'>,
  collection: string,
  key: string,
): DrainingResource | undefined {
  return draining.find((each) => each.key === key && each.collection === collection);
}

/** The services and servers that drain, with what is left. @internal */
export function drainingIn(
  state: Pick<State, 'sessions'>,
  resources: Iterable<{ readonly collection: string; readonly key: string }>,
): readonly DrainingResource[] {
  const table = sessionsOf(state);
  return Array.from(resources, ({ collection, key }) =>
    Object.freeze(
      collection === 'services'
        ? {
            collection,
            key,
            sessions: table.countOfService(key),
            connections: table.countConnectionsOfService(key),
          }
        : {
            collection: 'servers' as const,
            key,
            sessions: table.countSessionsOfServer(key),
            connections: table.countOfServer(key),
          },
    ),
  );
}

/**
 * A snapshot with another value of one member. The first change of a fold copies the snapshot; the others change that
 * copy, which is frozen at the end of the fold.
 */
function withMember<S extends State>(
  state: S,
  member: string,
  value: SessionTable | Collection<Entity> | State['draining'],
  change: Change,
): S {
  if (Object.isFrozen(state)) return { ...state, [member]: value };
  (state as unknown as Record<string, unknown>)[member] = value;
  change.batch.count();
  return state;
}

/** Removes the resource with a key. Gives the same snapshot if the resource is gone. @internal */
export function remove<S extends State>(state: S, named: Named<Entity>, key: string, change: Change): S {
  const before = collectionOf(state, named);
  const after = before.without(key, nextVersion(initialVersion, change));
  if (after === before) return state;
  return withDrain(withMember(state, named.collection, after, change), named, key, {
    isDraining: false,
    change,
  });
}

/** Gives a resource a new version, because its representation shows something that changed elsewhere. @internal */
export function markChanged<S extends State>(
  state: S,
  named: Named<Entity>,
  link: string,
  change: Change,
): S {
  return markKey(state, named, nameKey(parseLink(link, named.collection) ?? ''), change);
}

function markKey<S extends State>(
  state: S,
  { collection }: Pick<Named<Entity>, 'collection'>,
  key: string,
  change: Change,
): S {
  const named = { collection } as Named<Entity>;
  const entity = find(state, named, key);
  if (entity === undefined) return state;
  const version = nextVersion(entity.version, change);
  return put(state, named, Object.freeze({ ...entity, version }), change);
}

/**
 * Gives resources and collections other versions.
 *
 * @param state - the snapshot to change
 * @param versionOf - gives the wanted version of a resource by its collection and key, or of a collection without a
 *   key, once its resources have theirs. Given the present version, the version stays
 * @returns the snapshot with these versions; the same object if no version changes
 * @internal
 */
export function replaceVersions<S extends State>(
  state: S,
  versionOf: (collection: string, present: Version, key?: string) => Version,
): S {
  const changed: Record<string, unknown> = {};
  for (const collection of Object.keys(state)) {
    const before = memberOf(state, collection);
    const after = before?.revised(
      ({ key, version }) => versionOf(collection, version, key),
      (version) => versionOf(collection, version),
    );
    if (after !== before) changed[collection] = after;
  }
  return Object.keys(changed).length === 0 ? state : Object.freeze({ ...state, ...changed });
}

/**
 * Puts collections into the order that they have in another state.
 *
 * @param onOrdered - called with each collection that gets another order
 * @returns the same object if no order changes
 * @internal
 */
export function inOrderOf<S extends State>(state: S, other: S, onOrdered: (collection: string) => void): S {
  const changed: Record<string, unknown> = {};
  for (const collection of Object.keys(state)) {
    const [before, wanted] = [memberOf(state, collection), memberOf(other, collection)];
    const after = wanted && before?.inOrderOf(wanted);
    if (after === before) continue;
    changed[collection] = after;
    onOrdered(collection);
  }
  return Object.keys(changed).length === 0 ? state : Object.freeze({ ...state, ...changed });
}

/**
 * The session table of a snapshot, with the methods that only events may use.
 *
 * @throws TypeError for a snapshot that does not come from {@link createSnapshot}
 * @internal
 */
export function sessionsOf({ sessions }: Pick<State, 'sessions'>): IndexedSessionTable {
  return sessions instanceof IndexedSessionTable ? sessions : refuse();
}

/**
 * Replaces the session table of a snapshot, and gives a new version to what drains and shows other numbers now. Gives
 * the same snapshot for the same table.
 *
 * @internal
 */
export function withSessions<S extends State>(state: S, sessions: SessionTable, change: Change): S {
  const next = sessions === state.sessions ? state : withMember(state, 'sessions', sessions, change);
  // A batch may have changed the table in place.
  return next.draining.length === 0 ? next : recounted(next, change);
}

function recounted<S extends State>(state: S, change: Change): S {
  const draining = drainingIn(state, state.draining);
  const changed = draining.filter((now, at) => {
    const before = state.draining[at];
    return now.sessions !== before?.sessions || now.connections !== before.connections;
  });
  if (changed.length === 0) return state;
  const next = withMember(state, 'draining', Object.freeze(draining), change);
  // Also what a command has closed is each node's own, and no change of the configuration.
  const live = { ...change, origin: 'report' } as const;
  return changed.reduce((now, { collection, key }) => markKey(now, { collection }, key, live), next);
}

/** The host has reported everything that is open. @internal */
export function withCompleteSessions<S extends State>(state: S, change: Change): S {
  if (state.sessionsIncomplete !== true) return state;
  const { sessionsIncomplete: _incomplete, ...rest } = state;
  return state.draining.reduce(
    (now, { collection, key }) => markKey(now, { collection }, key, change),
    rest as unknown as S,
  );
}
