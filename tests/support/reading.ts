/**
 * Reading everything there is: what each reading route gives for each thing of a snapshot.
 */
import type { Json, Snapshot } from 'gateway-admin-core';
import * as z from 'zod/mini';

import { fields } from '../contract/field.ts';
import { boundRoutes, type BoundResourceRoute, type BoundRoute } from './internal.ts';
import { surroundings } from './surroundings.ts';

type ReadRoute = Exclude<BoundResourceRoute, { readonly kind: 'command' }>;

/** What one reading route gives: the representation, or the elements of the list. */
export interface Reading {
  readonly route: ReadRoute;
  readonly subject: string;
  readonly shown: readonly unknown[];
}

const readRoutes = boundRoutes.filter(isReading);

function isReading(route: BoundRoute): route is ReadRoute {
  return route.kind === 'item' || route.kind === 'list';
}

/** How many sessions are read one by one; the list has them all. */
const readOneByOne = 20;

/** Reads everything. Fails when a route does not know what the snapshot has. */
export function readAll(snapshot: Snapshot): readonly Reading[] {
  return readRoutes.flatMap((route) =>
    subjectsOf(route, snapshot).map((subject) => ({ route, subject, shown: read(route, subject, snapshot) })),
  );
}

function read(route: ReadRoute, subject: string, snapshot: Snapshot): readonly unknown[] {
  const found = find(route, subject, snapshot);
  if (!found.ok) throw new Error(`${route.id}: ${JSON.stringify(found.problem)}`);
  if (route.kind === 'item') return [route.read(snapshot, found.value, surroundings)];
  const list = route.list(snapshot, found.value, surroundings);
  const elements = list.slice(0, list.total);
  if (elements.length !== list.total)
    throw new Error(`${route.id} ${subject} has another total than elements`);
  return elements;
}

function find(route: ReadRoute, subject: string, snapshot: Snapshot): ReturnType<ReadRoute['find']> {
  const [name = '', listener = ''] = subject.split('\n');
  return route.find(snapshot, { name, listener, id: subject });
}

/** What the variable segments of a path can stand for, in lines; one empty text where there is none. */
function subjectsOf({ path }: ReadRoute, snapshot: Snapshot): readonly string[] {
  const [, collection = '', variable] = path.split('/');
  if (variable?.startsWith(':') !== true) return [''];
  if (path.endsWith('/:listener'))
    return [...snapshot.services].flatMap(({ name, listeners }) =>
      listeners.map((listener) => `${name}\n${listener.name}`),
    );
  // What a snapshot does not have.
  if (collection === 'history') return [];
  if (collection === 'sessions') return snapshot.sessions.range(0, readOneByOne).map(({ id }) => String(id));
  return [...snapshot[collection as 'services' | 'servers' | 'monitors' | 'filters']].map(({ name }) => name);
}

/** What is wrong with representations: not of the shape of their route, or with fields that it does not list. */
export function shapeBreaches(readings: readonly Reading[]): readonly string[] {
  return readings.flatMap(({ route, subject, shown }) =>
    shown.flatMap((each) => {
      const where = `${route.id} ${subject}`;
      const json = JSON.parse(JSON.stringify(each)) as Json;
      const parsed = z.safeParse(route.shape, json);
      if (!parsed.success) return [`${where}: ${JSON.stringify(parsed.error.issues)}`];
      const strangers = Object.keys(typeof each === 'object' ? (each ?? {}) : {}).filter(
        (name) => !route.fields.includes(name),
      );
      return strangers.map((name) => `${where}: shows "${name}", which "fields" does not know`);
    }),
  );
}

/**
 * The fields whose texts are links, and the collection that each must be of: by the contract, a `server link`. A field
 * that is something else in another kind is none of them.
 */
const linkFields: ReadonlyMap<string, string> = new Map(
  fields.flatMap(({ name, kind }) => {
    const [, thing] = /^(\w+) link/.exec(kind) ?? [];
    const isOther = fields.some((field) => field.name === name && field.kind !== kind);
    return thing === undefined || isOther ? [] : [[name, `${thing}s`]];
  }),
);

/** The links in representations that lead nowhere. */
export function danglingLinks(readings: readonly Reading[], snapshot: Snapshot): readonly string[] {
  return readings.flatMap(({ route, subject, shown }) =>
    shown
      .flatMap((each) => linksIn(each))
      .filter(({ link, collection }) => !resolves(link, collection, snapshot))
      .map(({ link }) => `${route.id} ${subject}: ${link}`),
  );
}

interface Link {
  readonly link: string;
  readonly collection: string;
}

function linksIn(shown: unknown): readonly Link[] {
  if (typeof shown === 'string') return [{ link: shown, collection: 'sessions' }];
  return Object.entries(shown as object).flatMap(([name, value]: [string, unknown]) => {
    const collection = linkFields.get(name);
    const links = Array.isArray(value) ? (value as readonly unknown[]) : [value];
    return collection === undefined ? [] : links.map((link) => ({ link: String(link), collection }));
  });
}

/** Whether a link is one of the collection, and GET of it finds something. */
export function resolves(link: string, collection: string, snapshot: Snapshot): boolean {
  const route = readRoutes.find(({ kind, path }) => kind === 'item' && path.startsWith(`/${collection}/:`));
  const [, first, name = '', more] = link.split('/');
  if (route?.kind !== 'item' || first !== collection || more !== undefined) return false;
  return find(route, decodeURIComponent(name), snapshot).ok;
}
