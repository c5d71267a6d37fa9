/**
 * The state: what every snapshot has, and the functions that read a snapshot and make the next snapshot. No kind of
 * resource is known here: the collections of a snapshot are members that a {@link Named} names.
 */
import { Immer, type Draft } from 'immer';

import { IndexedCollection, type Collection, type Entity, type Named } from '../core/collection.ts';
import type { EventBase, FoldContext } from '../core/decision.ts';
import { linkTo, parseLink } from '../core/link.ts';
import { nameKey } from '../core/name.ts';
import type { FindName } from '../core/reference.ts';
import { BirthTable } from './birth.ts';
import type { TableChange } from './session/session-index.ts';
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
  readonly draining: number;
  readonly births: Pick<BirthTable, 'of' | 'toJSON'>;
}

/** The collections whose resources can drain. */
const drainable = ['servers', 'services'] as const;

/** A service or server that drains. @internal */
export interface DrainingResource {
  readonly collection: (typeof drainable)[number];
  readonly key: string;
}

/** What is open on a service or server. @internal */
export interface OpenCounts {
  readonly sessions: number;
  readonly connections: number;
}

/** A resource with settings, which a patch can change. @internal */
export interface ConfiguredEntity extends Entity {
  /** The settings. */
  readonly settings: object;
  /** What the host sees; left out for a kind of which it sees nothing. */
  readonly seen?: object;
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

/** The part of {@link Named} that finds a collection. @internal */
export type Where<T extends Entity> = Pick<Named<T>, 'collection' | 'resource'>;

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
 * The revision of the last change of anything that the representation of a resource shows. The counters of a service
 * count too. They are in the session table, so that a new session copies no service.
 *
 * @internal
 */
export function shownRevision(
  state: State,
  { collection }: Pick<Where<Entity>, 'collection'>,
  { key, revision }: Pick<Entity, 'key' | 'revision'>,
): number {
  return collection === 'services' ? Math.max(revision, sessionsOf(state).liveOfService(key)) : revision;
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
 * Changes one resource of a collection, and its revision. Gives the same snapshot if the resource is gone or stays
 * unchanged.
 *
 * @internal
 */
export function revise<S extends State, T extends Entity>(
  state: S,
  named: Named<T>,
  key: string,
  fold: FoldContext,
  recipe: (draft: Draft<T>, before: T) => void,
): S {
  const before = find(state, named, key);
  if (before === undefined) return state;
  const after = produce(before as Entity, (draft) => {
    recipe(draft as Draft<T>, before);
  });
  if (after === before) return state;
  const entity = Object.freeze({ ...after, revision: fold.revision }) as T;
  return put(state, named, entity, fold);
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
  fold: FoldContext,
  copy: (before: T) => T,
): S {
  const before = find(state, named, key);
  if (before === undefined) return state;
  const after: { revision: number } = copy(before);
  if (after === before) return state;
  after.revision = fold.revision;
  return put(state, named, Object.freeze(after) as T, fold);
}

/** Replaces the resource with the key of `entity`, or adds `entity`. @internal */
export function put<S extends State, T extends Entity>(
  state: S,
  named: Named<T>,
  entity: T,
  fold: FoldContext,
): S {
  const collection = collectionOf(state, named);
  // Read first: a batch changes the collection in place.
  const hasDrained = drains(collection.findByKey(entity.key));
  const next = withMember(state, named.collection, collection.with(entity, fold.batch), fold);
  return withDraining(next, Number(drains(entity)) - Number(hasDrained), fold);
}

/** Whether a resource drains. @internal */
export function drains(entity: Partial<ConfiguredEntity> | undefined): boolean {
  return entity?.settings !== undefined && 'drain' in entity.settings;
}

/** A snapshot with more or fewer resources that drain. */
function withDraining<S extends State>(state: S, more: number, fold: FoldContext): S {
  return more === 0 ? state : withMember(state, 'draining', state.draining + more, fold);
}

/** The services and servers that drain. @internal */
export function drainingIn(state: State): readonly DrainingResource[] {
  if (state.draining === 0) return [];
  return drainable.flatMap((collection) => placesOf(collection, collectionOf(state, { collection })));
}

/** The services and servers that drain, and are not the same objects as in an earlier snapshot. @internal */
export function changedDrains(before: State, next: State): readonly DrainingResource[] {
  if (next.draining === 0) return [];
  return drainable.flatMap((collection) => {
    const named = { collection };
    return placesOf(collection, collectionOf(next, named).since(collectionOf(before, named)));
  });
}

function placesOf(
  collection: DrainingResource['collection'],
  entities: Iterable<Entity>,
): readonly DrainingResource[] {
  return [...entities].filter(drains).map(({ key }) => ({ collection, key }));
}

/** Counts what is open on a service or server. @internal */
export function openOn(state: Pick<State, 'sessions'>, collection: string, key: string): OpenCounts {
  const table = sessionsOf(state);
  return collection === 'services'
    ? { sessions: table.countOfService(key), connections: table.countConnectionsOfService(key) }
    : { sessions: table.countSessionsOfServer(key), connections: table.countOfServer(key) };
}

/**
 * A snapshot with another value of one member. The first change of a fold copies the snapshot; the others change that
 * copy, which is frozen at the end of the fold.
 */
function withMember<S extends State>(
  state: S,
  member: string,
  value: SessionTable | Collection<Entity> | State['draining'] | BirthTable,
  fold: FoldContext,
): S {
  if (Object.isFrozen(state)) return { ...state, [member]: value };
  (state as unknown as Record<string, unknown>)[member] = value;
  fold.batch.count();
  return state;
}

/** Notes that the command of an event has made its resource. @internal */
export function withBirth<S extends State>(state: S, event: EventBase, fold: FoldContext): S {
  return withBirths(state, birthsOf(state).with(event), fold);
}

/** Forgets who has made a resource and what belongs to it. @internal */
export function withoutBirth<S extends State>(state: S, link: string, fold: FoldContext): S {
  return withBirths(state, birthsOf(state).without(link), fold);
}

function withBirths<S extends State>(state: S, births: BirthTable, fold: FoldContext): S {
  return births === state.births ? state : withMember(state, 'births', births, fold);
}

/** The births of a snapshot, as their implementation. @internal */
export function birthsOf({ births }: State): BirthTable {
  return births instanceof BirthTable ? births : refuse();
}

/** Removes the resource with a key. Gives the same snapshot if the resource is gone. @internal */
export function remove<S extends State>(state: S, named: Named<Entity>, key: string, fold: FoldContext): S {
  const before = collectionOf(state, named);
  const hasDrained = drains(before.findByKey(key));
  const after = before.without(key, fold.revision);
  if (after === before) return state;
  const next = withMember(state, named.collection, after, fold);
  return withDraining(next, -Number(hasDrained), fold);
}

/** Gives a resource a new revision, because its representation shows something that changed elsewhere. @internal */
export function markChanged<S extends State>(
  state: S,
  named: Named<Entity>,
  link: string,
  fold: FoldContext,
): S {
  return markKey(state, named, nameKey(parseLink(link, named.collection) ?? ''), fold);
}

function markKey<S extends State>(
  state: S,
  { collection }: Pick<Named<Entity>, 'collection'>,
  key: string,
  fold: FoldContext,
): S {
  const named = { collection } as Named<Entity>;
  const entity = find(state, named, key);
  if (entity === undefined) return state;
  return put(state, named, Object.freeze({ ...entity, revision: fold.revision }), fold);
}

/**
 * Puts collections into the order that they have in another state.
 *
 * @param revision - the revision of a collection that gets another order
 * @returns the same object if no order changes
 * @internal
 */
export function inOrderOf<S extends State>(state: S, other: S, revision: number): S {
  const changed: Record<string, unknown> = {};
  for (const collection of Object.keys(state)) {
    const [before, wanted] = [memberOf(state, collection), memberOf(other, collection)];
    const after = wanted && before?.inOrderOf(wanted, revision);
    if (after !== before) changed[collection] = after;
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
 * Changes the session table of a snapshot, and gives a new revision to what drains and shows other numbers now. Gives
 * the same snapshot for the same table.
 *
 * @param changed - gives the changed table
 * @internal
 */
export function withSessions<S extends State>(
  state: S,
  fold: FoldContext,
  changed: (table: IndexedSessionTable, change: TableChange) => IndexedSessionTable,
): S {
  const table = sessionsOf(state);
  if (state.draining === 0) return withTable(state, changed(table, fold), fold);
  // No copies by spreading: each would take as long as all the rest.
  const { revision, batch } = fold;
  const recounted = { services: new Set<string>(), servers: new Set<string>() };
  let next = withTable(state, changed(table, { revision, batch, recounted }), fold);
  for (const collection of drainable)
    for (const key of recounted[collection])
      if (drains(find(next, { collection }, key))) next = markKey(next, { collection }, key, fold);
  return next;
}

function withTable<S extends State>(state: S, sessions: SessionTable, fold: FoldContext): S {
  return sessions === state.sessions ? state : withMember(state, 'sessions', sessions, fold);
}

/** The host has reported everything that is open. @internal */
export function withCompleteSessions<S extends State>(state: S, fold: FoldContext): S {
  if (state.sessionsIncomplete !== true) return state;
  const { sessionsIncomplete: _incomplete, ...rest } = state;
  return drainingIn(state).reduce(
    (now, { collection, key }) => markKey(now, { collection }, key, fold),
    rest as unknown as S,
  );
}
