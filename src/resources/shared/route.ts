/**
 * Routes that several kinds share: constructors for reading routes and commands, and the routes of a collection.
 */
import type * as z from 'zod/mini';

import type { Entity, Named } from '../../core/collection.ts';
import type { Context, DecisionOf } from '../../core/decision.ts';
import { fieldNames, type ObjectShape } from '../../core/shape.ts';
import type { Validator } from '../../core/content.ts';
import { endpoint, type EndpointId } from '../../http/endpoint.ts';
import {
  plainCommand,
  plainRoute,
  type ActionRoute,
  type CommandRoute,
  type ItemRoute,
  type Listing,
  type ListRoute,
  type PathParameters,
  type ProbeRoute,
  type Route,
  type ResourceRoute,
  type Search,
  type StreamRoute,
  type Things,
  type WholeRoute,
} from '../../http/route.ts';
import { ok, type Result } from '../../problem.ts';
import { collectionOf, linkOf, shownRevision, type State } from '../../snapshot/state.ts';
import { taggedByList, validatorOf } from '../../snapshot/validator.ts';
import { finder } from './look-up.ts';
import type { Rendering, Surroundings } from './rendering.ts';

/** A route of a kind with the functions that serve the route. @internal */
export type KindRoute =
  | ResourceRoute<State, DecisionOf<State>, Surroundings>
  | BoundAction
  | WholeRoute
  | StreamRoute
  | ProbeRoute<Surroundings>;

/** A route that changes the running interface. @internal */
export type BoundAction = ActionRoute<Surroundings>;

/** The members that every route declares itself. The constructors here add the others. */
type Described = Pick<Route, 'id' | 'path' | 'role' | 'summary' | 'isAddition'>;

/** The members that every reading route declares itself. */
interface Reading<T> extends Described {
  /** Shape of the representation, or of one element; a text if the elements are links. */
  readonly shape: ObjectShape | z.ZodMiniString;
  readonly fieldAliases?: Readonly<Record<string, string>>;
  find(this: void, snapshot: State, parameters: PathParameters, around?: Surroundings): Result<T>;
  validator?(this: void, snapshot: State, thing: T): Validator;
  conditionTag?(this: void, thing: T): string;
  readonly ofList?: Pick<Named<Entity>, 'collection'>;
  /** Link of the resource; the path when left out. */
  link?(this: void, thing: T): string;
}

/** Creates a route that reads one resource. @internal */
export function itemRoute<T>(
  route: Reading<T> &
    Pick<ItemRoute<State, Surroundings, T>, 'kind' | 'method' | 'read' | 'publicFields'> &
    Partial<Pick<Route, 'query'>>,
): ItemRoute<State, Surroundings, T> {
  return {
    ...plainRoute,
    query: ['fields', 'may'],
    fields: fieldsOf(route),
    link: () => route.path,
    ...route,
  };
}

/** Creates a route that reads a list. @internal */
export function listRoute<T>(
  route: Reading<T> &
    Pick<ListRoute<State, Surroundings, T>, 'kind' | 'method' | 'list' | 'query' | 'select'> &
    Partial<Pick<Route, 'search'>>,
): ListRoute<State, Surroundings, T> {
  return {
    ...plainRoute,
    fields: fieldsOf(route),
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

/** Creates a listing of things with revisions. */
function listingOfThings<T extends object>(total: number, things: Things<T>): Listing {
  const { range, represent } = things;
  return {
    ...listing(total, (offset, length) => range(offset, length).map(represent)),
    things: things as unknown as Things,
  };
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
    CommandRoute<State, DecisionOf<State>, Surroundings, T>,
    'kind' | 'method' | 'find' | 'validator' | 'validatorWhenGone' | 'ofList' | 'conditionTag' | 'link'
  > &
  Partial<Pick<Route, 'aliases'>> & {
    /** Decides the command about the resource that the path names. */
    decide(this: void, snapshot: State, thing: T, context: Context): DecisionOf<State>;
  }): CommandRoute<State, DecisionOf<State>, Surroundings, T> {
  const change = ok({ decide });
  return {
    ...plainCommand,
    ...route,
    command: () => change,
  };
}

/** Creates a route that changes the running interface. @internal */
export function actionRoute<T>(
  route: Described & Omit<ActionRoute<Surroundings, T>, Exclude<keyof Route, 'kind' | 'method'>>,
): ActionRoute<Surroundings, T> {
  return {
    ...plainCommand,
    worksReadOnly: true,
    ...route,
  };
}

/** Tells an action from a command about a resource. @internal */
export function isAction(route: object): route is BoundAction {
  return 'findIn' in route;
}

/** Tells a route that takes many changes as one from the others. @internal */
export function isWhole(route: object): route is WholeRoute {
  return 'takes' in route;
}

/** The endpoint of a collection with a name, such as `get` for `servers.get`. @internal */
export function endpointOf<N extends string>({ collection }: Named<Entity>, name: N) {
  return endpoint(`${collection}.${name}` as Extract<EndpointId, `${string}.${N}`>);
}

/** The members of a route whose path names a resource: how the route finds, tags and links the resource. @internal */
export function atResource<T extends Entity>(named: Named<T>) {
  return {
    find: finder(named),
    validator: (snapshot: State, entity: T) => validatorOf(snapshot, named, entity),
    link: (entity: T) => linkOf(named.collection, entity),
  };
}

/** How the resources of a collection are shown. @internal */
interface Readable<T> {
  readonly shape: ObjectShape;
  readonly fieldAliases?: Readonly<Record<string, string>>;
  represent(this: void, snapshot: State, entity: T, rendering: Rendering): object;
}

/** Creates the routes `GET /<collection>/:name` and `GET /<collection>`. @internal */
export function readRoutes<T extends Entity>(named: Named<T>, readable: Readable<T>): readonly KindRoute[] {
  const { represent, ...shown } = readable;
  const item = itemRoute<T>({
    ...shown,
    ...endpointOf(named, 'get'),
    role: 'reader',
    summary: `Gives one ${named.singular}.`,
    ...atResource(named),
    read: represent,
  });
  return [item, collectionRoute(named, readable)];
}

/** Creates the route `GET /<collection>`. @internal */
export function collectionRoute<T extends Entity>(
  named: Named<T>,
  { represent, ...shown }: Readable<T>,
): KindRoute {
  return listRoute({
    ...shown,
    ...endpointOf(named, 'list'),
    role: 'reader',
    query: ['fields', 'range'],
    summary: `Lists the ${named.collection}.`,
    find: () => ok(named),
    ...taggedByList(named),
    list(snapshot, _named, rendering) {
      const entities = collectionOf(snapshot, named);
      return listingOfThings(entities.size, {
        range: (offset, length) => entities.range(offset, length),
        revision: (entity) => shownRevision(snapshot, named, entity),
        represent: (entity) => represent(snapshot, entity, rendering),
        by: represent,
      });
    },
  });
}
