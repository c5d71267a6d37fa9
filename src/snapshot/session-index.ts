/**
 * The index of a session table: for each service and each server, the ids of its sessions and the counters.
 *
 * The index consists of ordered maps that share unchanged parts. A change copies a few short paths, also in a table
 * with a million sessions.
 */
import { OrderedMap, type Owner } from '../core/ordered-map.ts';

/** The revision and the batch of a change of a session table. @internal */
export interface TableChange {
  /** The revision of the snapshot that is being made. */
  readonly revision: number;
  /** Token of a batch: any object that only this batch uses. Faster, but only the last table of a batch may be used. */
  readonly owner?: Owner;
}

/** The members of a session that the index reads. */
interface Indexed {
  readonly id: number;
  readonly connected: number;
  readonly service: string;
  readonly connections: readonly Placed[];
}

/** The members of a connection that the index reads. */
interface Placed {
  readonly server: string;
}

/** The entry of a service or a server. The counters are used for services only. */
interface Entry {
  readonly position: number;
  /** By session id: the connect time (service), or the number of connections, which is also the weight (server). */
  readonly sessions: OrderedMap<number>;
  /** The number of connections of all sessions of a service. */
  readonly connections: number;
  readonly total: number;
  readonly live: number;
}

type Entries = OrderedMap<Entry>;
type Positions = ReadonlyMap<string, number>;

/** The entry of a service in plain values, for people. @internal */
export interface IndexedService {
  readonly key: string;
  /** The number of sessions ever opened. */
  readonly total: number;
  /** The revision at which the counters last changed. */
  readonly live: number;
  /** The connect times of the open sessions by their ids. */
  readonly sessions: Readonly<Record<string, number>>;
}

/** The entry of a server in plain values, for people. @internal */
export interface IndexedServer {
  readonly key: string;
  /** The number of connections of each session to the server, by the ids of the sessions. */
  readonly sessions: Readonly<Record<string, number>>;
}

const tag = 'String';

const zero: Pick<Entry, 'connections' | 'total' | 'live'> = { connections: 0, total: 0, live: 0 };

/**
 * The index of one session table. Immutable. Services and servers are identified by the keys of their names.
 *
 * @internal
 */
export class SessionIndex {
  /** The number of sessions ever opened on all services together. */
  readonly total: number;
  /** The revision at which the counters of any service last changed; 0 if no counter has changed. */
  readonly live: number;
  readonly #positions: { readonly services: Positions; readonly servers: Positions };
  readonly #services: Entries;
  readonly #servers: Entries;

  private constructor(
    positions: { readonly services: Positions; readonly servers: Positions },
    services: Entries,
    servers: Entries,
    total = 0,
    live = 0,
  ) {
    this.total = total;
    this.live = live;
    this.#positions = positions;
    this.#services = services;
    this.#servers = servers;
    Object.freeze(this);
  }

  /** Creates an index without sessions. The maps give the position of each key, and must never change. */
  static create(services: Positions, servers: Positions): SessionIndex {
    const entries = (positions: Positions, sessions: OrderedMap<number>): Entries =>
      OrderedMap.from(
        Array.from(positions.values(), (position) => [position, { position, sessions, ...zero }]),
      );
    const counts = OrderedMap.empty<number>((connections) => connections);
    const times = OrderedMap.empty<number>();
    return new SessionIndex({ services, servers }, entries(services, times), entries(servers, counts));
  }

  /** The entry of a service, by key. */
  ofService(key: string): Entry | undefined {
    const position = this.#positions.services.get(key);
    return position === undefined ? undefined : this.#services.get(position);
  }

  /** The entry of a server, by key. */
  ofServer(key: string): Entry | undefined {
    const position = this.#positions.servers.get(key);
    return position === undefined ? undefined : this.#servers.get(position);
  }

  /** Whether a session on this service with these connections can be indexed. */
  has({ service, connections }: Pick<Indexed, 'service' | 'connections'>): boolean {
    const { services, servers } = this.#positions;
    return services.has(service) && connections.every(({ server }) => servers.has(server));
  }

  /** This index with one more session, also in the total of its service. The service and the servers must exist. */
  opened({ id, connected, service, connections }: Indexed, { revision, owner }: TableChange): SessionIndex {
    const before = this.ofService(service) as Entry;
    const { position } = before;
    const entry = {
      position,
      sessions: before.sessions.set(id, connected, owner),
      connections: before.connections + connections.length,
      total: before.total + 1,
      live: revision,
    };
    const services = this.#services.set(position, entry, owner);
    const servers = this.#recount(id, connections, 1, owner);
    return new SessionIndex(this.#positions, services, servers, this.total + 1, revision);
  }

  /** This index without a session. The session must be in the index. */
  closed({ id, service, connections }: Indexed, { revision, owner }: TableChange): SessionIndex {
    const before = this.ofService(service) as Entry;
    const { position, total } = before;
    const entry = {
      position,
      sessions: before.sessions.delete(id, owner),
      connections: before.connections - connections.length,
      total,
      live: revision,
    };
    const services = this.#services.set(position, entry, owner);
    const servers = this.#recount(id, connections, -1, owner);
    return new SessionIndex(this.#positions, services, servers, this.total, revision);
  }

  /** This index with a connection of a session added or removed. The server must exist. */
  recounted(
    { id, service }: Pick<Indexed, 'id' | 'service'>,
    connection: Placed,
    by: 1 | -1,
    { owner }: TableChange,
  ): SessionIndex {
    const servers = this.#recount(id, [connection], by, owner);
    const before = this.ofService(service) as Entry;
    const entry = { ...before, connections: before.connections + by };
    const services = this.#services.set(before.position, entry, owner);
    return new SessionIndex(this.#positions, services, servers, this.total, this.live);
  }

  /** This index with a higher total of a service. A lower total changes nothing. */
  withTotal(key: string, total: number): SessionIndex {
    const service = this.ofService(key);
    if (service === undefined || total <= service.total) return this;
    const services = this.#services.set(service.position, { ...service, total });
    const sum = this.total - service.total + total;
    return new SessionIndex(this.#positions, services, this.#servers, sum, this.live);
  }

  /** The services that have open sessions, with their number. */
  *openOnServices(): Generator<readonly [key: string, count: number], void, undefined> {
    for (const [key, position] of this.#positions.services) {
      const count = this.#services.get(position)?.sessions.size ?? 0;
      if (count > 0) yield [key, count];
    }
  }

  /** The entries of all services in plain values, in the order of declaration. */
  get services(): readonly IndexedService[] {
    return Array.from(this.#positions.services.keys(), (key) => {
      const { sessions, total, live } = this.ofService(key) as Entry;
      return { key, total, live, sessions: Object.fromEntries(sessions) };
    });
  }

  /** The entries of all servers in plain values, in the order of declaration. */
  get servers(): readonly IndexedServer[] {
    return Array.from(this.#positions.servers.keys(), (key) => {
      const { sessions } = this.ofServer(key) as Entry;
      return { key, sessions: Object.fromEntries(sessions) };
    });
  }

  // Jest and Vitest see neither private fields nor iterators below a session table, but compare a String by value. With
  // this tag, two indexes with different content differ in a test, and creating an index costs nothing more.
  get [Symbol.toStringTag](): string {
    return tag;
  }

  valueOf(): string {
    return JSON.stringify([this.total, this.live, this.services, this.servers]);
  }

  /** The servers with connections of a session added or removed. */
  #recount(id: number, connections: readonly Placed[], by: 1 | -1, owner?: Owner): Entries {
    let servers = this.#servers;
    for (const { server } of connections) {
      const position = this.#positions.servers.get(server) as number;
      const entry = servers.get(position) as Entry;
      // A count of 0 removes the entry.
      const sessions = entry.sessions.update(id, (count = 0) => count + by || undefined, owner);
      servers = servers.set(position, { position, sessions, ...zero }, owner);
    }
    return servers;
  }
}
