/**
 * The index of a session table: for each service and each server the ids of its sessions, and what was counted.
 *
 * All is kept in ordered maps that share what does not change, so a change costs a few short paths however many
 * sessions there are.
 */
import { OrderedMap, type Owner } from '../core/ordered-map.ts';

/** What a change of a session table belongs to. @internal */
export interface TableChange {
  /** The revision of the snapshot that is being made. */
  readonly revision: number;
  /** Token of a batch, any object of its own: faster, but of the tables of one batch only the last may be used. */
  readonly owner?: Owner;
}

/** What the index reads of a session. */
interface Indexed {
  readonly id: number;
  readonly connected: number;
  readonly service: string;
  readonly connections: readonly Placed[];
}

/** What the index reads of a connection. */
interface Placed {
  readonly server: string;
}

/** What is known of a service or a server. Only a service has a total, and is live. */
interface Entry {
  readonly position: number;
  /** By session id: of a service the connect time, of a server the number of connections, which is its weight too. */
  readonly sessions: OrderedMap<number>;
  readonly total: number;
  readonly live: number;
}

type Entries = OrderedMap<Entry>;
type Positions = ReadonlyMap<string, number>;

/** What the index says of a service, for a reader. @internal */
export interface IndexedService {
  readonly key: string;
  /** How many sessions were ever opened. */
  readonly total: number;
  /** The revision at which the counters last changed. */
  readonly live: number;
  /** The connect times of the open sessions by their ids. */
  readonly sessions: Readonly<Record<string, number>>;
}

/** What the index says of a server, for a reader. @internal */
export interface IndexedServer {
  readonly key: string;
  /** How many connections each session has there, by the ids of the sessions. */
  readonly sessions: Readonly<Record<string, number>>;
}

const tag = 'String';

/**
 * The index of one session table. Immutable. Services and servers are named by the keys of their names.
 *
 * @internal
 */
export class SessionIndex {
  /** How many sessions were ever opened, on all services together. */
  readonly total: number;
  /** The revision at which the counters of any service last changed; 0 when they never did. */
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

  /** An index without sessions, for services and servers given as positions by key. The maps must never change. */
  static create(services: Positions, servers: Positions): SessionIndex {
    const entries = (positions: Positions, sessions: OrderedMap<number>): Entries =>
      OrderedMap.from(
        Array.from(positions.values(), (position) => [position, { position, sessions, total: 0, live: 0 }]),
      );
    const counts = OrderedMap.empty<number>((connections) => connections);
    const times = OrderedMap.empty<number>();
    return new SessionIndex({ services, servers }, entries(services, times), entries(servers, counts));
  }

  /** What is known of a service, by its key. */
  ofService(key: string): Entry | undefined {
    const position = this.#positions.services.get(key);
    return position === undefined ? undefined : this.#services.get(position);
  }

  /** What is known of a server, by its key. */
  ofServer(key: string): Entry | undefined {
    const position = this.#positions.servers.get(key);
    return position === undefined ? undefined : this.#servers.get(position);
  }

  /** Whether a session on this service with these connections can be indexed. */
  has({ service, connections }: Pick<Indexed, 'service' | 'connections'>): boolean {
    const { services, servers } = this.#positions;
    return services.has(service) && connections.every(({ server }) => servers.has(server));
  }

  /** This index with one more session, and its service counted up. Its service and servers must be there. */
  opened({ id, connected, service, connections }: Indexed, { revision, owner }: TableChange): SessionIndex {
    const { position, sessions, total } = this.ofService(service) as Entry;
    const own = sessions.set(id, connected, owner);
    const entry = { position, sessions: own, total: total + 1, live: revision };
    const services = this.#services.set(position, entry, owner);
    const servers = this.#recount(id, connections, 1, owner);
    return new SessionIndex(this.#positions, services, servers, this.total + 1, revision);
  }

  /** This index without a session that is in it. */
  closed({ id, service, connections }: Indexed, { revision, owner }: TableChange): SessionIndex {
    const { position, sessions, total } = this.ofService(service) as Entry;
    const entry = { position, sessions: sessions.delete(id, owner), total, live: revision };
    const services = this.#services.set(position, entry, owner);
    const servers = this.#recount(id, connections, -1, owner);
    return new SessionIndex(this.#positions, services, servers, this.total, revision);
  }

  /** This index with a connection of a session counted in or out. Its server must be there. */
  recounted(id: number, connection: Placed, by: 1 | -1, { owner }: TableChange): SessionIndex {
    const servers = this.#recount(id, [connection], by, owner);
    return new SessionIndex(this.#positions, this.#services, servers, this.total, this.live);
  }

  /** This index with a higher number of sessions that were ever opened on a service. A lower one changes nothing. */
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

  /** What the index says of each service, in the order of declaration. */
  get services(): readonly IndexedService[] {
    return Array.from(this.#positions.services.keys(), (key) => {
      const { sessions, total, live } = this.ofService(key) as Entry;
      return { key, total, live, sessions: Object.fromEntries(sessions) };
    });
  }

  /** What the index says of each server, in the order of declaration. */
  get servers(): readonly IndexedServer[] {
    return Array.from(this.#positions.servers.keys(), (key) => {
      const { sessions } = this.ofServer(key) as Entry;
      return { key, sessions: Object.fromEntries(sessions) };
    });
  }

  // Jest and Vitest see no private fields, and walk no iterator below a session table. What says that it is a String they
  // compare by its value: so two indexes differ in a test if anything in them does, and no index pays for that when made.
  get [Symbol.toStringTag](): string {
    return tag;
  }

  valueOf(): string {
    return JSON.stringify([this.total, this.live, this.services, this.servers]);
  }

  /** The servers with connections of a session counted in or out. */
  #recount(id: number, connections: readonly Placed[], by: 1 | -1, owner?: Owner): Entries {
    let servers = this.#servers;
    for (const { server } of connections) {
      const position = this.#positions.servers.get(server) as number;
      const entry = servers.get(position) as Entry;
      // Down to 0 the entry goes.
      const sessions = entry.sessions.update(id, (count = 0) => count + by || undefined, owner);
      servers = servers.set(position, { position, sessions, total: 0, live: 0 }, owner);
    }
    return servers;
  }
}
