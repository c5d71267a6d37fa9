/**
 * The index of a session table: for each service its sessions and counters, for each server the ids of its sessions.
 *
 * The index consists of ordered maps that share unchanged parts. A change copies the short paths to the entries of its
 * service and servers, also in a table with a million sessions. A batch of changes copies each path once, and changes
 * its copies in place. The lists of sessions are deferred: counters are always up to date, and a list is built when it
 * is read.
 */
import type { Batch } from '../../core/batch.ts';
import { DeferredMap } from '../../core/deferred-map.ts';
import { KeyMap } from '../../core/key-map.ts';
import { OrderedMap } from '../../core/ordered-map.ts';
import type { Session } from './table.ts';

/** The revision and the batch of a change of a session table. @internal */
export interface TableChange {
  /** The revision of the snapshot that is being made. */
  readonly revision: number;
  /** The batch; left out for a change alone. Faster, but only the last table of a batch may be used. */
  readonly batch?: Batch;
  /** Gets the key of each service and server with other numbers than before; left out if nobody asks. */
  readonly recounted?: Recounted;
}

/** The keys of services and servers. */
type Recounted = Readonly<Record<Indexed, Set<string>>>;

/** The members of a connection that the index reads. */
interface Placed {
  readonly server: string;
}

/** The entry of a service or server. `V` is what the entry has of a session, and `C` a change of that. */
class Row<V extends NonNullable<unknown>, C> {
  /** The batch that has made the entry, and may change it. */
  readonly batch: Batch | undefined;
  /** By the ids of the sessions. */
  readonly sessions: DeferredMap<V, C>;
  /** The number of connections of all sessions. */
  connections = 0;

  constructor(batch: Batch | undefined, sessions: DeferredMap<V, C>) {
    this.batch = batch;
    this.sessions = sessions;
  }

  /** A copy that the batch may change. */
  copy(batch: Batch | undefined): Row<V, C> {
    const copy = new Row(batch, this.sessions.copy());
    copy.connections = this.connections;
    return copy;
  }
}

/** The entry of a server has the number of connections of each session, which is also the weight of the session. */
type ServerEntry = Row<number, 1 | -1>;

/**
 * The entry of a service has the sessions themselves. A change is the new record; `undefined` if the session has ended.
 */
class ServiceEntry extends Row<Session, Session | undefined> {
  /** The number of open sessions. */
  open = 0;
  total = 0;
  live = 0;

  override copy(batch: Batch | undefined): ServiceEntry {
    const copy = new ServiceEntry(batch, this.sessions.copy());
    const { connections, open, total, live } = this;
    return Object.assign(copy, { connections, open, total, live });
  }
}

type Indexed = 'services' | 'servers';

/** Whether the index has entries for the resources of a collection. */
function isIndexed(collection: string): collection is Indexed {
  return collection === 'services' || collection === 'servers';
}

/** The entry of a service without sessions. */
function newService(position: number): ServiceEntry {
  return new ServiceEntry(undefined, new DeferredMap(OrderedMap.empty<Session>(), latest, position));
}

/** The entry of a server without connections. */
function newServer(position: number): ServerEntry {
  const noCounts = OrderedMap.empty<number>((connections) => connections);
  return new Row(undefined, new DeferredMap(noCounts, sum, position));
}

function latest(_before: unknown, session: Session | undefined): Session | undefined {
  return session;
}

/** A count of 0 removes the session. */
function sum(before = 0, by: 1 | -1): number | undefined {
  return before + by || undefined;
}

type Services = OrderedMap<ServiceEntry>;
type Servers = OrderedMap<ServerEntry>;
type Positions = KeyMap;

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

/**
 * The index of one session table. Immutable from the end of its batch on. Services and servers are identified by the
 * keys of their names.
 *
 * @internal
 */
export class SessionIndex {
  /** The number of sessions ever opened on all services together. */
  total: number;
  /** The revision at which the counters of any service last changed; 0 if no counter has changed. */
  live: number;
  readonly #batch: Batch | undefined;
  readonly #positions: { readonly services: Positions; readonly servers: Positions };
  #services: Services;
  #servers: Servers;

  private constructor(
    batch: Batch | undefined,
    positions: { readonly services: Positions; readonly servers: Positions },
    services: Services,
    servers: Servers,
    total = 0,
    live = 0,
  ) {
    this.total = total;
    this.live = live;
    this.#batch = batch;
    this.#positions = positions;
    this.#services = services;
    this.#servers = servers;
  }

  /** Creates an index without sessions. The maps give the position of each key, and must never change. */
  static create(services: ReadonlyMap<string, number>, servers: ReadonlyMap<string, number>): SessionIndex {
    const entries = <E extends object>(
      positions: ReadonlyMap<string, number>,
      make: (position: number) => E,
    ): OrderedMap<E> =>
      OrderedMap.from(Array.from(positions.values(), (position) => [position, make(position)] as const));
    const positions = { services: KeyMap.of(services), servers: KeyMap.of(servers) };
    return new SessionIndex(
      undefined,
      positions,
      entries(services, newService),
      entries(servers, newServer),
    ).freeze();
  }

  /** This index with a service or server that has no sessions yet. The same index for any other collection. */
  withKey(collection: string, key: string, { batch }: TableChange): SessionIndex {
    if (!isIndexed(collection) || this.#positions[collection].has(key)) return this;
    const before = this.#positions[collection];
    const placed = collection === 'services' ? this.#services : this.#servers;
    const [last = -1] = placed.keys(Math.max(0, placed.size - 1), 1);
    const position = last + 1;
    const index = this.#placed(collection, before.with(key, position), batch);
    if (collection === 'services')
      index.#services = index.#services.set(position, newService(position), batch);
    else index.#servers = index.#servers.set(position, newServer(position), batch);
    return index.#made(batch);
  }

  /** This index without a service or server, and its total. The service or server must have no sessions. */
  withoutKey(collection: string, key: string, { batch }: TableChange): SessionIndex {
    const before = isIndexed(collection) ? this.#positions[collection] : undefined;
    const position = before?.get(key);
    if (!isIndexed(collection) || before === undefined || position === undefined) return this;
    const total = collection === 'services' ? (this.ofService(key)?.total ?? 0) : 0;
    const index = this.#placed(collection, before.without(key), batch);
    if (collection === 'services') index.#services = index.#services.delete(position, batch);
    else index.#servers = index.#servers.delete(position, batch);
    index.total -= total;
    return index.#made(batch);
  }

  /** The entry of a service, by key. */
  ofService(key: string): Readonly<ServiceEntry> | undefined {
    const position = this.#positions.services.get(key);
    return position === undefined ? undefined : this.#services.get(position);
  }

  /** The entry of a server, by key. */
  ofServer(key: string): Readonly<ServerEntry> | undefined {
    const position = this.#positions.servers.get(key);
    return position === undefined ? undefined : this.#servers.get(position);
  }

  /** Whether a session on this service with these connections can be indexed. */
  has({
    service,
    connections,
  }: {
    readonly service: string;
    readonly connections: readonly Placed[];
  }): boolean {
    return this.#positions.services.has(service) && connections.every((each) => this.hasServerOf(each));
  }

  /** Whether a connection can be indexed. */
  hasServerOf({ server }: Placed): boolean {
    return this.#positions.servers.has(server);
  }

  /** This index with one more session, also in the total of its service. The service and the servers must exist. */
  opened(session: Session, change: TableChange): SessionIndex {
    const { revision, batch, recounted } = change;
    const { id, connections } = session;
    const index = this.#draft(batch);
    const service = index.#ownService(session.service, batch);
    service.sessions.change(id, session, batch);
    service.open += 1;
    service.connections += connections.length;
    service.total += 1;
    service.live = revision;
    recounted?.services.add(session.service);
    for (const { server } of connections) index.#recount(id, server, 1, change);
    index.total += 1;
    index.live = revision;
    return index.#made(batch);
  }

  /** This index with another record of a session, which has the same id, service and servers. */
  replaced(session: Session, { batch }: TableChange): SessionIndex {
    const index = this.#draft(batch);
    index.#ownService(session.service, batch).sessions.change(session.id, session, batch);
    return index.#made(batch);
  }

  /** This index without some sessions. The sessions must be in the index. */
  closed(sessions: readonly Session[], change: TableChange): SessionIndex {
    const { revision, batch, recounted } = change;
    const index = this.#draft(batch);
    for (const { id, service: key, connections } of sessions) {
      const service = index.#ownService(key, batch);
      service.sessions.change(id, undefined, batch);
      service.open -= 1;
      service.connections -= connections.length;
      service.live = revision;
      recounted?.services.add(key);
      for (const { server } of connections) index.#recount(id, server, -1, change);
    }
    index.live = revision;
    return index.#made(batch);
  }

  /** This index with a connection of a session added or removed. The record of the session stays the same object. */
  recounted({ id, service }: Session, { server }: Placed, by: 1 | -1, change: TableChange): SessionIndex {
    const { batch, recounted } = change;
    const index = this.#draft(batch);
    index.#ownService(service, batch).connections += by;
    recounted?.services.add(service);
    index.#recount(id, server, by, change);
    return index.#made(batch);
  }

  /** This index with a higher total of a service. A lower total changes nothing. */
  withTotal(key: string, total: number): SessionIndex {
    const service = this.ofService(key);
    if (service === undefined || total <= service.total) return this;
    const index = this.#draft(undefined);
    index.#ownService(key, undefined).total = total;
    index.total += total - service.total;
    return index.#made(undefined);
  }

  /** Freezes the index, at the end of its batch. */
  freeze(): this {
    return Object.freeze(this);
  }

  /** The services that have open sessions, with their number. */
  *openOnServices(): Generator<readonly [key: string, count: number], void, undefined> {
    for (const [key, position] of this.#positions.services) {
      const count = this.#services.get(position)?.open ?? 0;
      if (count > 0) yield [key, count];
    }
  }

  /** The entries of all services in plain values, in the order of declaration. */
  get services(): readonly IndexedService[] {
    return Array.from(this.#positions.services, ([key]) => {
      const { sessions, total, live } = this.ofService(key) as ServiceEntry;
      const times = Array.from(sessions.content, ([id, { connected }]) => [id, connected] as const);
      return { key, total, live, sessions: Object.fromEntries(times) };
    });
  }

  /** The entries of all servers in plain values, in the order of declaration. */
  get servers(): readonly IndexedServer[] {
    return Array.from(this.#positions.servers, ([key]) => {
      const { sessions } = this.ofServer(key) as ServerEntry;
      return { key, sessions: Object.fromEntries(sessions.content) };
    });
  }

  /** This index if the batch has made it, else a copy, to be changed in place. */
  #draft(batch: Batch | undefined): SessionIndex {
    if (batch !== undefined && this.#batch === batch) return this;
    return new SessionIndex(batch, this.#positions, this.#services, this.#servers, this.total, this.live);
  }

  /** A draft with other positions of the services or servers. */
  #placed(collection: Indexed, positions: Positions, batch: Batch | undefined): SessionIndex {
    const { total, live } = this;
    const placed = { ...this.#positions, [collection]: positions };
    return new SessionIndex(batch, placed, this.#services, this.#servers, total, live);
  }

  /** This draft as a result: a change alone is complete, and the end of a batch seals the others. */
  #made(batch: Batch | undefined): this {
    return batch === undefined ? this.freeze() : this;
  }

  /** The entry of a service, to be changed in place. The service must exist. */
  #ownService(key: string, batch: Batch | undefined): ServiceEntry {
    const position = this.#positions.services.get(key) as number;
    const before = this.#services.get(position) as ServiceEntry;
    if (batch !== undefined && before.batch === batch) return before;
    const entry = before.copy(batch);
    this.#services = this.#services.set(position, entry, batch);
    return entry;
  }

  /** Adds or removes a connection of a session in the entry of its server. The server must exist. */
  #recount(id: number, key: string, by: 1 | -1, { batch, recounted }: TableChange): void {
    recounted?.servers.add(key);
    const position = this.#positions.servers.get(key) as number;
    let server = this.#servers.get(position) as ServerEntry;
    if (batch === undefined || server.batch !== batch) {
      server = server.copy(batch);
      this.#servers = this.#servers.set(position, server, batch);
    }
    server.sessions.change(id, by, batch);
    server.connections += by;
  }
}
