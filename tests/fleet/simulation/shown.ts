/**
 * What a snapshot shows of the configuration that the nodes share: the tag and the content of each resource that a
 * command can name. Users have one tag in common, so all of them are one resource.
 */
import type { Entity, Service, Snapshot } from 'gateway-admin-core';

import { listValidator, validatorOf } from '../../support/internal.ts';

/** A resource, as a snapshot shows it. */
export interface Shown {
  readonly link: string;
  /** The first part of the entity tag. */
  readonly tag: string;
  /** What commands have made of it: not what a gateway reports or counts. */
  readonly content: string;
}

const collections = ['services', 'servers', 'monitors', 'filters'] as const;

/**
 * What a snapshot shows.
 *
 * @param before - what is the same object in this snapshot is left out
 */
export function shownIn(snapshot: Snapshot, before?: Snapshot): readonly Shown[] {
  const shown = collections.flatMap((name): readonly Shown[] => {
    const entities: Iterable<Entity> = snapshot[name];
    if (entities === before?.[name]) return [];
    const changed = [...entities].filter((entity) => before?.[name].find(entity.name) !== entity);
    const tagOf = (entity: Entity): string => validatorOf(snapshot, { collection: name }, entity).content;
    const resources = changed.map((entity) => ({
      link: `/${name}/${entity.name}`,
      tag: tagOf(entity),
      content: contentOf(entity),
    }));
    return [
      ...resources,
      { link: `/${name}`, tag: tagOfList(snapshot, name), content: contentOfAll(entities) },
    ];
  });
  const { users } = snapshot;
  if (users === before?.users) return shown;
  return [...shown, { link: '/users', tag: tagOfList(snapshot, 'users'), content: contentOfUsers(snapshot) }];
}

function tagOfList(snapshot: Snapshot, collection: string): string {
  return listValidator(snapshot, { collection }).content;
}

/** The first part of the entity tag of a resource; `undefined` if it has none, or is not there. */
export function tagAt(snapshot: Snapshot, link: string): string | undefined {
  const [, collection = '', name = ''] = link.split('/');
  if (collection === 'users') return tagOfList(snapshot, collection);
  if (collection === '') return undefined;
  const entity = snapshot[collection as 'services'].find(name);
  return entity && validatorOf(snapshot, { collection }, entity).content;
}

const contents = new WeakMap<Entity, string>();

/** The content of a resource: what is wanted. Of a status, commands set one word. */
function contentOf(entity: Entity): string {
  const known = contents.get(entity);
  if (known !== undefined) return known;
  const {
    revision: _revision,
    key: _key,
    seen: _seen,
    ...kept
  } = entity as Entity & { readonly seen?: object };
  const { settings, listeners } = kept as Pick<Partial<Service>, 'listeners' | 'settings'>;
  const open = listeners && { listeners: listeners.toSorted((a, b) => (a.name < b.name ? -1 : 1)) };
  const { state: status, ...given } = { ...settings } as { readonly state?: readonly string[] };
  const isOut = status?.includes('maintenance');
  const content = JSON.stringify({ ...kept, ...open, isOut, settings: given }, inOrder);
  contents.set(entity, content);
  return content;
}

/** For `JSON.stringify`: members in one order. */
function inOrder(_key: string, value: unknown): unknown {
  const isPlain = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isPlain ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))) : value;
}

/** The content of a resource; `undefined` if the resource is not there. */
export function contentAt(snapshot: Snapshot, link: string): string | undefined {
  const [, collection = '', name = ''] = link.split('/');
  if (collection === 'users') return contentOfUsers(snapshot);
  if (collection === '') return JSON.stringify(snapshot.interface, inOrder);
  const entity = snapshot[collection as 'services'].find(name);
  return entity && contentOf(entity);
}

/** The members of what {@link contentAt} gives, and those of its settings, each as text; none without the resource. */
export function membersAt(snapshot: Snapshot, link: string): ReadonlyMap<string, string> {
  const content = link.startsWith('/users') ? undefined : contentAt(snapshot, link);
  if (content === undefined) return new Map();
  const { settings = {}, ...rest } = JSON.parse(content) as { readonly settings?: object };
  const members: readonly (readonly [string, unknown])[] = Object.entries({ ...rest, ...settings });
  return new Map(members.map(([name, value]) => [name, JSON.stringify(value)]));
}

function contentOfAll(entities: Iterable<Entity>): string {
  return Array.from(entities, contentOf).toSorted().join('\n');
}

const wholes = new WeakMap<Snapshot, string>();

/** The content of everything that commands of all nodes change. */
export function contentOfAllIn(snapshot: Snapshot): string {
  const known = wholes.get(snapshot);
  if (known !== undefined) return known;
  const lists = collections.map((name) => contentOfAll(snapshot[name]));
  const text = [...lists, contentOfUsers(snapshot), JSON.stringify(snapshot.interface, inOrder)].join('\n\n');
  wholes.set(snapshot, text);
  return text;
}

/** Of a password, the command that has set it: the same password can have another hash. */
function contentOfUsers(snapshot: Snapshot): string {
  const texts = Array.from(snapshot.users, ({ name }) => `${name} ${passwordAt(snapshot, name) ?? ''}`);
  return texts.toSorted().join('\n');
}

/** The command that has set the password of a user; `undefined` for a user of the first document. */
export function passwordAt({ births }: Snapshot, name: string): string | undefined {
  return births.of(`/users/${name}/password`) ?? births.of(`/users/${name}`);
}

/** The resource that shows what a link names: a listener is a part of its service, and users are one resource. */
export function placeOf(link: string): string {
  const [, collection = '', name] = link.split('/');
  return collection === 'users' || name === undefined ? `/${collection}` : `/${collection}/${name}`;
}
