/**
 * The configuration of a gateway as plain maps: a second implementation, which shares nothing with the sources. Each
 * world of a simulation is held against it.
 */

/** A resource with its fields, as a gateway document has them. */
export type Fields = Readonly<Record<string, unknown>>;

/** A gateway document, or what `GET` answers of one. */
export type Document = object;

/** A session that is open, with the servers of its connections: links in lower case. */
interface Open {
  readonly service: string;
  readonly servers: readonly string[];
}

/** An event, as the history of a client shows it. */
export interface ShownEvent {
  readonly type: string;
  readonly resource: string;
  readonly operations?: readonly Operation[];
  readonly to?: Fields;
  /** Whether the event says what was so already. */
  readonly already?: boolean;
}

export interface Operation {
  readonly op: string;
  readonly path: string;
  readonly value?: unknown;
}

const collections = ['servers', 'services', 'monitors', 'filters', 'users'];

/** What the host sees and counts, and no command changes. */
const seen: readonly string[] = [
  'started',
  'total_connections',
  'state_reason',
  'state_since',
  'status_reason',
  'status_since',
];

/** Nobody is shown these. */
const secret = /^password|Sealed$/;

/** What a document may leave out. */
const absent: Readonly<Record<string, Fields>> = {
  servers: { parameters: {}, status: [] },
  services: { router_options: {}, state: 'started', filters: [], servers: [] },
  monitors: {
    ...{ state: 'started', servers: [], parameters: {} },
    ...{ monitor_interval: 2000, connect_timeout: 3, read_timeout: 1, write_timeout: 2 },
  },
  filters: { parameters: {} },
  users: {},
};

/** The configuration: every resource by its link in lower case, as `/services/sales/listeners/in`. */
export class Configuration {
  readonly #resources: Map<string, Fields>;
  readonly #open: readonly Open[];

  private constructor(resources: Map<string, Fields>, open: readonly Open[]) {
    this.#resources = resources;
    this.#open = open;
  }

  static of(document: Document): Configuration {
    const resources = new Map<string, Fields>();
    for (const collection of collections)
      for (const each of listIn<Fields>(document, collection)) {
        const { listeners, ...fields } = each;
        const link = `/${collection}/${String(each['name'])}`;
        resources.set(keyOf(link), asWanted({ ...absent[collection], ...fields }));
        for (const listener of (listeners ?? []) as readonly Fields[])
          resources.set(keyOf(`${link}/listeners/${String(listener['name'])}`), listener);
      }
    const { interface: own = { read_only: false } } = document as { readonly interface?: Fields };
    resources.set('/', own);
    const open = listIn<Fields>(document, 'sessions').map((session) => ({
      service: keyOf(String(session['service'])),
      servers: listIn<Fields>(session, 'connections').map(({ server }) => keyOf(String(server))),
    }));
    return new Configuration(resources, open);
  }

  get(link: string): Fields | undefined {
    return this.#resources.get(keyOf(link));
  }

  /** The resources of a collection, by their links in lower case. */
  list(collection: string): readonly (readonly [link: string, fields: Fields])[] {
    return [...this.#resources].filter(
      ([link]) => link.split('/').length === 3 && link.startsWith(collection),
    );
  }

  /** How many sessions a service has, or how many connections a server has. */
  openOn(link: string): number {
    const key = keyOf(link);
    return this.#open.flatMap(({ service, servers }) => [service, ...servers].filter((each) => each === key))
      .length;
  }

  /** A configuration in which a resource has other fields. */
  with(link: string, fields: Fields): Configuration {
    return new Configuration(new Map(this.#resources).set(keyOf(link), asWanted(fields)), this.#open);
  }

  /** A configuration in which a resource exists by its definition. */
  created(link: string, { listeners = [], ...definition }: Fields): Configuration {
    const [, collection = '', ...rest] = link.split('/');
    const isListener = rest.length > 1;
    const fields = { ...(isListener ? {} : absent[collection]), ...definition };
    return (listeners as readonly Fields[]).reduce<Configuration>(
      (next, listener) => next.with(`${link}/listeners/${String(listener['name'])}`, listener),
      this.with(link, fields),
    );
  }

  /** A configuration without a resource, and without what is a part of the resource. */
  without(link: string): Configuration {
    const key = keyOf(link);
    const left = [...this.#resources].filter(([each]) => each !== key && !each.startsWith(`${key}/`));
    return new Configuration(new Map(left), this.#open);
  }

  /** A configuration in which something has happened. */
  after({ type, resource, operations = [], to, already }: ShownEvent): Configuration {
    const fields = this.get(resource);
    const verb = type.split('.')[1] ?? '';
    if (already === true) return this;
    if (verb === 'created') return this.created(resource, { name: nameIn(resource), ...to });
    if (verb === 'deleted') return this.without(resource);
    if (fields === undefined) return this;
    if (verb === 'started') return this.with(resource, started(fields));
    if (verb === 'stopped') return this.with(resource, { ...fields, state: 'stopped' });
    return this.with(resource, operations.reduce(changed, fields));
  }

  /** In what two configurations differ, said of each resource. */
  differences(other: Configuration): readonly string[] {
    const links = new Set([...this.#resources.keys(), ...other.#resources.keys()]);
    return [...links].flatMap((link) => {
      const [here, there] = [this, other].map((each) => textOf(each.#resources.get(link)));
      return here === there ? [] : [`${link}: ${String(here)} and ${String(there)}`];
    });
  }
}

/** Names are compared without regard to case. */
export function keyOf(link: string): string {
  return decodeURI(link).toLowerCase();
}

/** A service that starts does not drain any more. */
export function started({ drain: _drain, ...fields }: Fields): Fields {
  return { ...fields, state: 'started' };
}

/** The name at the end of a link. */
function nameIn(link: string): string {
  return decodeURI(link).split('/').at(-1) ?? '';
}

/** The fields that commands change, without secrets, with the state that is wanted: what has failed is wanted. */
function asWanted(all: Fields): Fields {
  const { status, ...fields } = Object.fromEntries(
    Object.entries(all).filter(([name]) => !seen.includes(name) && !secret.test(name)),
  );
  return {
    ...fields,
    ...('state' in fields ? { state: fields['state'] === 'stopped' ? 'stopped' : 'started' } : {}),
    // Monitors find the other words of the status.
    ...(Array.isArray(status) ? { status: status.filter((word) => word === 'maintenance') } : {}),
  };
}

/** Fields after an operation of JSON Patch. */
function changed(fields: Fields, { op, path, value }: Operation): Fields {
  const [first = '', ...rest] = path
    .split('/')
    .slice(1)
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
  if (op === 'test') return fields;
  // The status of a server is its state.
  if (first === 'state' && 'status' in fields)
    return { ...fields, status: op === 'remove' ? [] : ['maintenance'] };
  return placed(fields, [first, ...rest], op, value);
}

/** An object in which the value at a path is set or removed. */
function placed(owner: Fields, [token = '', ...rest]: readonly string[], op: string, value: unknown): Fields {
  const { [token]: child, ...others } = owner;
  if (rest.length === 0) return op === 'remove' ? others : { ...owner, [token]: value };
  const next = Array.isArray(child)
    ? placedInList(child, rest[0] ?? '', op, value)
    : placed((child ?? {}) as Fields, rest, op, value);
  return { ...owner, [token]: next };
}

function placedInList(
  list: readonly unknown[],
  token: string,
  op: string,
  value: unknown,
): readonly unknown[] {
  const at = token === '-' ? list.length : Number(token);
  const isAdded = op === 'add';
  return list.toSpliced(at, isAdded ? 0 : 1, ...(op === 'remove' ? [] : [value]));
}

function listIn<T>(value: object, name: string): readonly T[] {
  return ((value as Fields)[name] ?? []) as readonly T[];
}

/** Whether two values are equal, in whatever order members are. */
export function sameJson(one: unknown, other: unknown): boolean {
  return textOf(one) === textOf(other);
}

/** JSON text with the members of each object in one order. */
function textOf(value: unknown): string | undefined {
  return JSON.stringify(value, (_name, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : each,
  );
}
