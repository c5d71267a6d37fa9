/**
 * The kinds of resources that the command line lists and shows, as data, and how the program names a resource.
 */
import type { EndpointId, EventOptions } from '../client/index.ts';
import { endpoints } from '../http/endpoint.ts';

/** The endpoints that list something, or that read one resource. */
type ListId = Extract<EndpointId, `${string}.${'list' | 'tasks' | 'modules'}`>;
type ItemId = Extract<EndpointId, `${string}.get`>;

/** Types of events, or their first words. */
export type EventTypes = NonNullable<EventOptions['types']>;

/** What the command line knows of a kind. */
interface Kind {
  readonly list: ListId;
  /** Left out if the interface shows no single resource of the kind. */
  readonly item?: ItemId;
  /** The fields that a table shows. */
  readonly columns: readonly string[];
  /** The field that tells the resources apart. Default: `name`. */
  readonly id?: string;
  /** The beginnings of the types of events after which the table may be another one; none if no event says so. */
  readonly events?: EventTypes;
}

const traffic: EventTypes = ['session', 'sessions'];

/** Every kind, by its word in the singular. */
export const kinds = {
  service: {
    list: 'services.list',
    item: 'services.get',
    columns: ['name', 'state', 'router', 'current_connections', 'total_connections', 'servers'],
    events: ['service', ...traffic],
  },
  server: {
    list: 'servers.list',
    item: 'servers.get',
    columns: ['name', 'status', 'address', 'port', 'protocol'],
    events: ['server'],
  },
  monitor: {
    list: 'monitors.list',
    item: 'monitors.get',
    columns: ['name', 'state', 'module', 'monitor_interval', 'servers'],
    events: ['monitor'],
  },
  filter: {
    list: 'filters.list',
    item: 'filters.get',
    columns: ['name', 'module', 'services'],
    events: ['filter', 'service'],
  },
  session: {
    list: 'sessions.list',
    item: 'sessions.get',
    columns: ['id', 'user', 'address', 'service', 'state', 'connected', 'idle'],
    id: 'id',
    events: traffic,
  },
  user: { list: 'users.list', columns: ['name'], events: ['user'] },
  command: {
    list: 'commands.list',
    columns: ['id', 'type', 'resource', 'actor', 'since', 'outcome', 'progress'],
    id: 'id',
  },
  module: { list: 'gateway.modules', columns: ['name', 'type', 'version', 'api_version', 'maturity'] },
  node: {
    list: 'fleet.list',
    columns: ['node', 'alive', 'version', 'position', 'behind', 'differs', 'seen'],
    id: 'node',
  },
  task: { list: 'gateway.tasks', columns: ['name', 'type', 'frequency', 'next_due'] },
} as const satisfies Readonly<Record<string, Kind>>;

/** A list, before the options of a call. */
export interface KnownList {
  readonly id: EndpointId;
  readonly columns: readonly string[];
  /** A table asks for its columns: the interface does not show all of them by itself. */
  readonly asks?: true;
}

/** The lists that belong to a resource. */
export const partLists: Readonly<Record<string, KnownList>> = {
  listeners: { id: 'services.listeners', columns: ['name', 'protocol', 'address', 'port', 'ssl'] },
  connections: {
    id: 'servers.connections',
    columns: ['session', 'user', 'address', 'service', 'state', 'role', 'statistics'],
    asks: true,
  },
};

/** What the resource is to which each of these lists belongs. */
export const owners = { listeners: 'service', connections: 'server' } as const;

/** The things of which there is one, and the endpoint of each. */
export const singles = {
  gateway: 'gateway.get',
  interface: 'interface.get',
  logs: 'gateway.logs',
  threads: 'gateway.threads',
} as const satisfies Readonly<Record<string, EndpointId>>;

/** The words of all kinds, in the plural, as `list` takes them. */
export const plurals: readonly string[] = Object.keys(kinds).map((word) => `${word}s`);

type GroupWith<Id, Method extends string> = Id extends `${infer Group}.${Method}` ? Group : never;

/** A collection that a document configures: the interface lists, shows and patches its resources. */
export type Configured = GroupWith<EndpointId, 'list'> &
  GroupWith<EndpointId, 'get'> &
  GroupWith<EndpointId, 'patch'>;

/** The collections that a document configures. */
export const configured = plurals.filter((word): word is Configured =>
  ['list', 'get', 'patch'].every((method) => `${word}.${method}` in endpoints),
);

/** The arguments that name a resource of a kind that has such an endpoint. */
export function resourceWith(endpoint: string) {
  const words = Object.keys(kinds).filter((word) => `${word}s.${endpoint}` in endpoints);
  const names = Object.fromEntries(words.map((word) => [word, word]));
  return [
    { name: 'kind', choices: words },
    { name: 'name', names },
  ] as const;
}

/** Finds a kind by its word, in the singular or the plural. */
export function kindOf(word: string): Kind {
  return kinds[word.replace(/s$/, '') as keyof typeof kinds];
}

/** What a change is about. */
export interface Subject {
  /** The name as the user has given it, or several names. */
  readonly name: string;
  /** The arguments of the program that show the present values, such as `show service Sales`. */
  readonly look: string;
}

/** The most names that a sentence has. */
export const mostNamed = 5;

/** The resources of a kind that have these names. */
export function subjectOf(kind: string, ...names: readonly string[]): Subject {
  const [first = '', ...others] = names;
  const isShown = others.length === 0 && kind in kinds && 'item' in kinds[kind as keyof typeof kinds];
  const look = isShown ? `show ${kind} ${wordOf(first)}` : `list ${kind}s`;
  return {
    name: names.length > mostNamed ? `${names.length.toLocaleString('en')} ${kind}s` : names.join(', '),
    look,
  };
}

/** A listener of a service. */
export function listenerOf(service: string, listener: string): Subject {
  return { name: listener, look: `list listeners ${wordOf(service)}` };
}

/** The resource at a path, such as `/services/Sales/stop`; `undefined` if the program shows no such resource. */
export function subjectAt(path: string): Subject | undefined {
  const [, kind = '', name] = /^\/(service|server|monitor|filter)s?\/([^/]+)/.exec(path) ?? [];
  return name === undefined ? undefined : subjectOf(kind, decodedName(name));
}

/** The name for which a segment of a path stands. */
export function decodedName(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** A text as a shell takes it for one word. */
export function wordOf(text: string): string {
  return /^[\w@%+:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
