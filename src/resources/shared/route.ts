/**
 * Routes that several kinds share: constructors for reading routes and commands, and the routes of a collection.
 */
import type * as z from 'zod/mini';

import type { Context } from '../../core/decision.ts';
import { fieldNames, type ObjectShape } from '../../core/shape.ts';
import type { Version } from '../../core/version.ts';
import { endpoint } from '../../http/endpoint.ts';
import type {
  ActionRoute,
  CommandRoute,
  ItemRoute,
  Listing,
  ListRoute,
  PathParameters,
  Route,
  ResourceRoute,
  Search,
  StreamRoute,
} from '../../http/route.ts';
import { ok, type Result } from '../../problem.ts';
import {
  linkOf,
  sessionsOf,
  shownVersion,
  singular,
  type Collections,
  type Snapshot,
} from '../../snapshot/snapshot.ts';
import type { Decision } from '../index.ts';
import { finder } from './look-up.ts';
import type { Rendering, Surroundings } from './rendering.ts';

/** A route of the interface with the functions that serve the route. @internal */
export type BoundRoute = BoundResourceRoute | BoundAction | StreamRoute;

/** A route about a resource of the gateway. @internal */
export type BoundResourceRoute = ResourceRoute<Snapshot, Decision, Surroundings>;

/** A route that changes the running interface. @internal */
export type BoundAction = ActionRoute<Surroundings>;

/** The members that every route declares itself. The constructors here add the others. */
type Described = Pick<Route, 'id' | 'path' | 'role' | 'summary' | 'isAddition'>;

/** The members that every reading route declares itself. */
interface Reading<T> extends Described {
  /** Shape of the representation, or of one element; a text if the elements are links. */
  readonly shape: ObjectShape | z.ZodMiniString;
  readonly fieldAliases?: Readonly<Record<string, string>>;
  find(this: void, snapshot: Snapshot, parameters: PathParameters): Result<T>;
  version?(this: void, snapshot: Snapshot, thing: T): Version;
  /** Link of the resource; the path when left out. */
  link?(this: void, thing: T): string;
}

/** Creates a route that reads one resource. @internal */
export function itemRoute<T>(
  route: Reading<T> & Pick<ItemRoute<Snapshot, Surroundings, T>, 'kind' | 'method' | 'read' | 'publicFields'>,
): ItemRoute<Snapshot, Surroundings, T> {
  return {
    aliases: [],
    query: ['fields'],
    search: [],
    fields: fieldsOf(route),
    mediaTypes: [],
    link: () => route.path,
    ...route,
  };
}

/** Creates a route that reads a list. @internal */
export function listRoute<T>(
  route: Reading<T> &
    Pick<ListRoute<Snapshot, Surroundings, T>, 'kind' | 'method' | 'list' | 'query' | 'select'> &
    Partial<Pick<Route, 'search'>>,
): ListRoute<Snapshot, Surroundings, T> {
  return {
    aliases: [],
    search: [],
    fields: fieldsOf(route),
    mediaTypes: [],
    link: () => route.path,
    ...route,
  };
}

function fieldsOf({
  shape,
  fieldAliases = {},
}: Pick<Reading<unknown>, 'shape' | 'fieldAliases'>): readonly string[] {
  return 'shape' in shape ? [...fieldNames(shape), ...Object.keys(fieldAliases)] : [];
}

/** Creates a listing of representations: plain objects with plain JSON in their members. @internal */
export function listing(
  total: number,
  slice: (offset: number, length: number) => readonly (object | string)[],
): Listing {
  return { total, slice: slice as Listing['slice'] };
}

/** Creates a listing of an array. @internal */
export function listingOf<T>(items: readonly T[], represent: (item: T) => object): Listing {
  return listing(items.length, (offset, length) => items.slice(offset, offset + length).map(represent));
}

/** Creates a search for elements that no index has. @internal */
export function searchOf<C>(search: Search<C>): Search {
  // The cast is safe: `listing` gets only elements of `wanted`.
  return search as Search;
}

/** Creates a route for a command without a body. @internal */
export function commandRoute<T>({
  decide,
  ...route
}: Described &
  Pick<
    CommandRoute<Snapshot, Decision, Surroundings, T>,
    'kind' | 'method' | 'find' | 'version' | 'versionWhenGone' | 'link'
  > &
  Partial<Pick<Route, 'aliases'>> & {
    /** Decides the command about the resource that the path names. */
    decide(this: void, snapshot: Snapshot, thing: T, context: Context): Decision;
  }): CommandRoute<Snapshot, Decision, Surroundings, T> {
  const change = ok({ decide });
  return {
    aliases: [],
    query: ['dry_run'],
    search: [],
    fields: [],
    mediaTypes: [],
    ...route,
    command: () => change,
  };
}

/** Creates a route that changes the running interface. @internal */
export function actionRoute<T>(
  route: Described &
    Partial<Pick<Route, 'mediaTypes'>> &
    Omit<ActionRoute<Surroundings, T>, Exclude<keyof Route, 'kind' | 'method'>>,
): ActionRoute<Surroundings, T> {
  return {
    aliases: [],
    query: ['dry_run'],
    search: [],
    fields: [],
    mediaTypes: [],
    ...route,
  };
}

/** Tells an action from a command about a resource. @internal */
export function isAction(route: BoundRoute): route is BoundAction {
  return 'findIn' in route;
}

/** How the resources of a collection are shown. @internal */
export interface Readable<K extends keyof Collections> {
  readonly collection: K;
  readonly shape: ObjectShape;
  readonly fieldAliases?: Readonly<Record<string, string>>;
  represent(this: void, snapshot: Snapshot, entity: Collections[K], rendering: Rendering): object;
}

/** The collections whose resources are read one by one. */
type Named = Exclude<keyof Collections, 'users'>;

/** Creates the routes `GET /<collection>/:name` and `GET /<collection>`. @internal */
export function readRoutes<K extends Named>(readable: Readable<K>): readonly BoundRoute[] {
  const { collection, represent, ...shown } = readable;
  const id: `${Named}.get` = `${collection}.get`;
  const item = itemRoute<Collections[K]>({
    ...shown,
    ...endpoint(id),
    role: 'reader',
    summary: `Gives one ${singular[collection]}.`,
    find: finder(collection),
    link: (entity) => linkOf(collection, entity),
    version: (snapshot, entity) => shownVersion(snapshot, collection, entity),
    read: represent,
  });
  return [item, collectionRoute(readable)];
}

/** Creates the route `GET /<collection>`. @internal */
export function collectionRoute<K extends keyof Collections>(readable: Readable<K>): BoundRoute {
  const { collection, represent, ...shown } = readable;
  const id: `${keyof Collections}.list` = `${collection}.list`;
  return listRoute({
    ...shown,
    ...endpoint(id),
    role: 'reader',
    query: ['fields', 'range'],
    summary: `Lists the ${collection}.`,
    find: () => ok(collection),
    version: collectionVersion,
    list: (snapshot, _collection, rendering) =>
      listing(snapshot[collection].size, (offset, length) =>
        entries(snapshot, collection, offset, length).map((entity) => represent(snapshot, entity, rendering)),
      ),
  });
}

/** The version of the list of a collection: the last change of anything that the list shows. @internal */
export function collectionVersion(snapshot: Snapshot, collection: keyof Collections): Version {
  let { command, live } = snapshot[collection].version;
  // The counters of all services together: to ask each service takes longer than to write its representation.
  if (collection === 'services') live = Math.max(live, sessionsOf(snapshot).index.live);
  for (const { version } of entries(snapshot, collection, 0, Infinity)) {
    command = Math.max(command, version.command);
    live = Math.max(live, version.live);
  }
  return { command, live };
}

function entries<K extends keyof Collections>(
  snapshot: Snapshot,
  collection: K,
  offset: number,
  length: number,
): readonly Collections[K][] {
  return snapshot[collection].range(offset, length) as unknown as readonly Collections[K][];
}
