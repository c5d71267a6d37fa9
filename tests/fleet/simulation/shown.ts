/**
 * What a snapshot shows of the configuration that the nodes share: the tag and the content of each resource that a
 * command can name. Users have one tag in common, so all of them are one resource.
 */
import type { Entity, Service, Snapshot } from 'gateway-admin-core';

import { sharedListeners } from './listening.ts';

/** A resource, as a snapshot shows it. */
export interface Shown {
  readonly link: string;
  /** The command number of the entity tag. */
  readonly command: number;
  /** What commands have made of it: not what a gateway reports or counts. */
  readonly content: string;
}

const collections = ['services', 'servers', 'monitors', 'filters'] as const;

/** Any collection of a snapshot. */
type Entities = Iterable<Entity> & Pick<Snapshot['services'], 'version'>;

/**
 * What a snapshot shows.
 *
 * @param before - what is the same object in this snapshot is left out
 */
export function shownIn(snapshot: Snapshot, before?: Snapshot): readonly Shown[] {
  const shown = collections.flatMap((name): readonly Shown[] => {
    const entities: Entities = snapshot[name];
    if (entities === before?.[name]) return [];
    const changed = [...entities].filter((entity) => before?.[name].find(entity.name) !== entity);
    const list = { link: `/${name}`, command: commandNumberOf(entities), content: contentOfAll(entities) };
    const resources = changed.map((entity) => ({
      link: `/${name}/${entity.name}`,
      command: entity.version.command,
      content: contentOf(entity),
    }));
    return [...resources, list];
  });
  const { users } = snapshot;
  if (users === before?.users) return shown;
  return [...shown, { link: '/users', command: commandNumberOf(users), content: contentOfAll(users) }];
}

const contents = new WeakMap<Entity, string>();

/** The content of a resource: what is wanted. Of a status, commands set one word. */
function contentOf(entity: Entity): string {
  const known = contents.get(entity);
  if (known !== undefined) return known;
  const {
    version: _version,
    key: _key,
    seen: _seen,
    ...kept
  } = entity as Entity & { readonly seen?: object };
  const { settings, listeners } = kept as Pick<Partial<Service>, 'listeners' | 'settings'>;
  const open = listeners === undefined ? {} : { listeners: sharedListeners(listeners) };
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

/** The command number of the tag of a resource; `undefined` if the resource is not there. */
export function commandNumberAt(snapshot: Snapshot, link: string): number | undefined {
  const [, collection = '', name = ''] = link.split('/');
  if (collection === 'users') return commandNumberOf(snapshot.users);
  // Nothing stands for the interface itself.
  if (collection === '') return undefined;
  return snapshot[collection as 'services'].find(name)?.version.command;
}

/** The content of a resource; `undefined` if the resource is not there. */
export function contentAt(snapshot: Snapshot, link: string): string | undefined {
  const [, collection = '', name = ''] = link.split('/');
  if (collection === 'users') return contentOfAll(snapshot.users);
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

/** A collection has the number of its last change. */
function commandNumberOf(entities: Entities): number {
  return Math.max(entities.version.command, ...Array.from(entities, ({ version }) => version.command));
}

/** The resource that shows what a link names: a listener is a part of its service, and users are one resource. */
export function placeOf(link: string): string {
  const [, collection = '', name] = link.split('/');
  return collection === 'users' || name === undefined ? `/${collection}` : `/${collection}/${name}`;
}
