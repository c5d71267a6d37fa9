/**
 * The router: finds the route, the path parameters and the `Allow` header for a method and a path.
 *
 * Paths are compared segment by segment. Fixed segments must match exactly, and go before variable ones; variable
 * segments are percent-decoded once.
 */
import { decodeSegment } from '../core/link.ts';
import type { PathParameters } from './route.ts';

/** The part of a route that the router needs. @internal */
export interface Routable {
  readonly method: string;
  readonly path: string;
  readonly aliases: readonly string[];
}

/**
 * The result of a look-up. `path` is a known path without a route for the method; `broken-escape` is a variable
 * segment that is not valid percent-encoding.
 *
 * @internal
 */
export type Match<T> =
  | { readonly found: 'route'; readonly route: T; readonly parameters: PathParameters }
  | { readonly found: 'path'; readonly path: KnownPath<T> }
  | { readonly found: 'broken-escape'; readonly route: T; readonly segment: string }
  | { readonly found: 'nothing' };

/** A known path with its routes by method. @internal */
export interface KnownPath<T> {
  /** The variable segments, without their colon. */
  readonly variables: readonly { readonly name: string; readonly position: number }[];
  readonly routes: ReadonlyMap<string, T>;
  /** Value of the `Allow` header (RFC 9110 §10.2.1). */
  readonly allow: string;
}

/** Finds routes. @internal */
export interface Router<T> {
  /** Looks up a route. `path` is the path of the request target, without the query. */
  match(this: void, method: string, path: string): Match<T>;
}

/**
 * Creates a router.
 *
 * @throws RangeError when two routes have the same method and path
 * @internal
 */
export function createRouter<T extends Routable>(routes: Iterable<T>): Router<T> {
  const root = treeOf(routes);
  return {
    match(method, path) {
      const segments = segmentsOf(path);
      const known = knownBelow(root, segments, 0);
      if (known === undefined) return { found: 'nothing' };
      const route = known.routes.get(method === 'HEAD' ? 'GET' : method);
      if (route === undefined) return { found: 'path', path: known };
      return bind(route, known, segments);
    },
  };
}

function bind<T>(route: T, { variables }: KnownPath<T>, segments: readonly string[]): Match<T> {
  const parameters: Record<string, string> = {};
  for (const { name, position } of variables) {
    const segment = segments[position] ?? '';
    const value = decodeSegment(segment);
    if (value === undefined) return { found: 'broken-escape', route, segment };
    parameters[name] = value;
  }
  return { found: 'route', route, parameters };
}

/** The segments of a path. One trailing slash is ignored; a path without a leading slash has no segments. */
function segmentsOf(path: string): readonly string[] {
  if (!path.startsWith('/')) return [];
  return path.slice(1, path.length > 2 && path.endsWith('/') ? -1 : undefined).split('/');
}

/** What the known paths that begin alike have next. */
interface Place<T> {
  readonly fixed: Map<string, Place<T>>;
  variable?: Place<T>;
  /** The path that ends here. */
  known?: KnownPath<T>;
}

/** The known path that the segments from a position on lead to. A fixed segment without one gives way to a variable. */
function knownBelow<T>(
  { fixed, variable, known }: Place<T>,
  segments: readonly string[],
  position: number,
): KnownPath<T> | undefined {
  const segment = segments[position];
  if (segment === undefined) return known;
  const next = fixed.get(segment);
  const found = next && knownBelow(next, segments, position + 1);
  if (found !== undefined || variable === undefined || segment === '') return found;
  return knownBelow(variable, segments, position + 1);
}

function treeOf<T extends Routable>(routes: Iterable<T>): Place<T> {
  const root: Place<T> = { fixed: new Map() };
  for (const [path, here] of routesByPath(routes)) {
    const segments = segmentsOf(path);
    const known = { variables: variablesOf(segments), routes: here, allow: allowOf(here) };
    segments.reduce(placeBelow, root).known = known;
  }
  return root;
}

function placeBelow<T>(place: Place<T>, segment: string): Place<T> {
  if (segment.startsWith(':')) return (place.variable ??= { fixed: new Map() });
  const next = place.fixed.get(segment) ?? { fixed: new Map() };
  place.fixed.set(segment, next);
  return next;
}

function routesByPath<T extends Routable>(routes: Iterable<T>): ReadonlyMap<string, ReadonlyMap<string, T>> {
  const byPattern = new Map<string, Map<string, T>>();
  for (const route of routes) {
    for (const path of [route.path, ...route.aliases]) {
      const here = byPattern.get(path) ?? new Map<string, T>();
      if (here.has(route.method))
        throw new RangeError(
          `Two routes for ${route.method} ${path}: each method and path may have one route`,
        );
      byPattern.set(path, here.set(route.method, route));
    }
  }
  return byPattern;
}

function variablesOf(segments: readonly string[]): KnownPath<unknown>['variables'] {
  return segments.flatMap((part, position) =>
    part.startsWith(':') ? [{ name: part.slice(1), position }] : [],
  );
}

function allowOf(routes: ReadonlyMap<string, unknown>): string {
  return [...routes.keys()]
    .flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
    .concat('OPTIONS')
    .join(', ');
}
