/**
 * The session table: the sessions and connections of a gateway with their indexes.
 *
 * All is kept in ordered maps that share what does not change: the sessions by id, for each service and each server
 * the ids of its sessions. A change costs a few short paths however many sessions there are, and so does a range.
 */
import { OrderedMap, type Owner } from '../core/ordered-map.ts';

/** The counters of a backend connection, as they were last reported. @public */
export interface ConnectionStatistics {
  /** How many reads were done. */
  readonly reads: number;
  /** How many writes were done. */
  readonly writes: number;
  /** How many writes had to wait in a buffer. */
  readonly buffered_writes: number;
  /** How often the buffer filled past its high mark. */
  readonly high_water_events: number;
  /** How often the buffer drained past its low mark. */
  readonly low_water_events: number;
}

/** A backend connection of a session. @public */
export interface Connection {
  /** Tells the connections of one session apart; it means nothing elsewhere and is never shown. */
  readonly id: number;
  /** Key of the name of the server it goes to. */
  readonly server: string;
  /** Descriptive text of what the connection is for. */
  readonly role: string;
  /** Descriptive text of how the connection is. */
  readonly state: string;
  /** Its counters. */
  readonly statistics: ConnectionStatistics;
}

/** A client session. @public */
export interface Session {
  /** Tells the sessions of a gateway apart: a safe integer, 0 or more. */
  readonly id: number;
  /** Descriptive text of how the session is. */
  readonly state: string;
  /** Name of the client's user. */
  readonly user: string;
  /** Address of the client. */
  readonly address: string;
  /** Key of the name of the service it is on. */
  readonly service: string;
  /** When the client connected, in milliseconds since 1970-01-01T00:00:00Z. */
  readonly connected: number;
  /** How long it has been idle; a plain number. */
  readonly idle: number;
  /** Its backend connections, in the order of opening. */
  readonly connections: readonly Connection[];
}

/** A backend connection with the session that it belongs to. @internal */
export interface SessionConnection {
  /** The session. */
  readonly session: Session;
  /** One of its connections. */
  readonly connection: Connection;
}

/** What a change of the table belongs to. @internal */
export interface TableChange {
  /** The revision of the snapshot that is being made. */
  readonly revision: number;
  /** Token of a batch, any object of its own: faster, but of the tables of one batch only the last may be used. */
  readonly owner?: object;
}

/** The counters of a connection that has done nothing yet. @internal */
export const noStatistics: ConnectionStatistics = Object.freeze({
  reads: 0,
  writes: 0,
  buffered_writes: 0,
  high_water_events: 0,
  low_water_events: 0,
});

const noConnections: readonly Connection[] = Object.freeze([]);

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

/**
 * The sessions of a gateway with their connections. Immutable; only events make the next one. Services and servers are
 * named by the keys of their names; of what is not there, there are 0.
 *
 * @example
 * ```ts
 * import { createSnapshot } from 'gateway-admin-core';
 *
 * const { sessions } = createSnapshot({ services: [{ name: 'Sales', router: 'readconnroute' }] });
 * [sessions.size, sessions.countOfService('sales'), sessions.find(7)]; // => [0, 0, undefined]
 * ```
 *
 * @public
 */
export interface SessionTable extends Iterable<Session> {
  /** How many sessions are open. */
  readonly size: number;
  /** How many sessions were ever opened, on all services together. */
  readonly total: number;
  /** The session with an id; `undefined` when it is not open. */
  find(id: number): Session | undefined;
  /** The sessions in the order of their ids, from the one at `offset` on, at most `length` of them. */
  range(offset: number, length: number): readonly Session[];
  /** How many sessions are open on a service. */
  countOfService(key: string): number;
  /** How many sessions were ever opened on a service. */
  totalOfService(key: string): number;
  /** How many connections are open to a server. */
  countOfServer(key: string): number;
  /** How many connections a session has. */
  countConnections(sessionId: number): number;
}

/**
 * The session tables of this library: what readers see, the indexes behind it, and how the next table is made. A change
 * gives a new table, or the same one when it does not apply.
 *
 * @internal
 */
export class IndexedSessionTable implements SessionTable {
  readonly total: number;
  /** The revision at which the counters of any service last changed; 0 when they never did. */
  readonly live: number;
  readonly #positions: { readonly services: Positions; readonly servers: Positions };
  readonly #sessions: OrderedMap<Session>;
  readonly #services: Entries;
  readonly #servers: Entries;

  private constructor(
    positions: { readonly services: Positions; readonly servers: Positions },
    sessions: OrderedMap<Session>,
    services: Entries,
    servers: Entries,
    total = 0,
    live = 0,
  ) {
    // These two are not private, so that a comparison of tables sees more than the sessions.
    this.total = total;
    this.live = live;
    this.#positions = positions;
    this.#sessions = sessions;
    this.#services = services;
    this.#servers = servers;
    Object.freeze(this);
  }

  /** A table without sessions, for services and servers given as positions by key. The maps must never change. */
  static create(
    services: ReadonlyMap<string, number>,
    servers: ReadonlyMap<string, number>,
  ): IndexedSessionTable {
    const entries = (positions: Positions, sessions: OrderedMap<number>): Entries =>
      OrderedMap.from(
        Array.from(positions.values(), (position) => [position, { position, sessions, total: 0, live: 0 }]),
      );
    const counts = OrderedMap.empty<number>((connections) => connections);
    const times = OrderedMap.empty<number>();
    return new IndexedSessionTable(
      { services, servers },
      OrderedMap.empty(),
      entries(services, times),
      entries(servers, counts),
    );
  }

  get size(): number {
    return this.#sessions.size;
  }

  find(id: number): Session | undefined {
    return this.#sessions.get(id);
  }

  range(offset: number, length: number): readonly Session[] {
    return this.#sessions.values(offset, length);
  }

  *[Symbol.iterator](): Generator<Session, void, undefined> {
    for (const [, session] of this.#sessions) yield session;
  }

  countOfService(key: string): number {
    return this.#service(key)?.sessions.size ?? 0;
  }

  totalOfService(key: string): number {
    return this.#service(key)?.total ?? 0;
  }

  /** The revision at which the counters of a service last changed; 0 when they never did. */
  liveOfService(key: string): number {
    return this.#service(key)?.live ?? 0;
  }

  /** Like {@link SessionTable.range}, of the sessions on a service. */
  rangeOfService(key: string, offset: number, length: number): readonly Session[] {
    return this.idsOfService(key, offset, length).map((id) => this.#sessions.get(id) as Session);
  }

  /** The ids of what {@link IndexedSessionTable.rangeOfService} gives, many times faster. */
  idsOfService(key: string, offset: number, length: number): readonly number[] {
    return this.#service(key)?.sessions.keys(offset, length) ?? [];
  }

  /** The ids and connect times of what {@link IndexedSessionTable.rangeOfService} gives, some ten times faster. */
  identitiesOfService(
    key: string,
    offset: number,
    length: number,
  ): readonly Pick<Session, 'id' | 'connected'>[] {
    const entries = this.#service(key)?.sessions.range(offset, length) ?? [];
    return entries.map((entry) => ({ id: entry.key, connected: entry.value }));
  }

  countOfServer(key: string): number {
    return this.#server(key)?.sessions.weight ?? 0;
  }

  countConnections(sessionId: number): number {
    return this.find(sessionId)?.connections.length ?? 0;
  }

  /** The connections to a server from the one at `offset` on, at most `length`: by session id, then as opened. */
  connectionsOfServer(key: string, offset: number, length: number): readonly SessionConnection[] {
    const found: SessionConnection[] = [];
    for (const { key: id, start, end } of this.#server(key)?.sessions.range(offset, length) ?? []) {
      const session = this.#sessions.get(id) as Session;
      let place = 0;
      for (const connection of session.connections) {
        if (connection.server !== key) continue;
        if (place >= start && place < end) found.push({ session, connection });
        place++;
      }
    }
    return found;
  }

  /** Raises the number of sessions that were ever opened on a service. A lower one changes nothing. */
  withTotal(key: string, total: number): IndexedSessionTable {
    const service = this.#service(key);
    if (service === undefined || total <= service.total) return this;
    const services = this.#services.set(service.position, { ...service, total });
    const sum = this.total - service.total + total;
    return new IndexedSessionTable(this.#positions, this.#sessions, services, this.#servers, sum, this.live);
  }

  /**
   * Opens a session with the connections it has. Changes nothing when the id is taken, a service or server is not
   * there, or two of the connections have one id.
   *
   * @throws RangeError when the id is not a safe integer
   */
  open(session: Session, { revision, owner }: TableChange): IndexedSessionTable {
    const { id, connected } = session;
    const service = this.#service(session.service);
    const connections = this.#recordsOf(session.connections);
    if (service === undefined || connections === undefined || this.find(id) !== undefined) return this;
    const sessions = this.#sessions.set(id, sessionRecord(session, connections), owner);
    const own = service.sessions.set(id, connected, owner);
    const entry = { position: service.position, sessions: own, total: service.total + 1, live: revision };
    const services = this.#services.set(service.position, entry, owner);
    const servers = this.#recount(id, connections, 1, owner);
    return new IndexedSessionTable(this.#positions, sessions, services, servers, this.total + 1, revision);
  }

  /** Changes a session that is open. */
  update(
    id: number,
    update: Partial<Pick<Session, 'state' | 'user' | 'address' | 'idle'>>,
    { owner }: TableChange,
  ): IndexedSessionTable {
    const before = this.find(id);
    if (before === undefined || agrees(before, update)) return this;
    const { service, connected, connections } = before;
    return this.#put({ ...before, ...update, id, service, connected }, connections, this.#servers, owner);
  }

  /** Closes a session; when a connect time is given, only one that connected then, because ids are used again. */
  close(
    which: { readonly id: number; readonly connected?: number },
    change: TableChange,
  ): IndexedSessionTable {
    const { revision, owner } = change;
    const session = this.#identify(which.id, which.connected);
    const service = session && this.#service(session.service);
    if (session === undefined || service === undefined) return this;
    const sessions = this.#sessions.delete(session.id, owner);
    const own = service.sessions.delete(session.id, owner);
    const entry = { position: service.position, sessions: own, total: service.total, live: revision };
    const services = this.#services.set(service.position, entry, owner);
    const servers = this.#recount(session.id, session.connections, -1, owner);
    return new IndexedSessionTable(this.#positions, sessions, services, servers, this.total, revision);
  }

  /** Opens one more connection of a session. Changes nothing when its id is taken, or the server is not there. */
  openConnection(sessionId: number, connection: Connection, { owner }: TableChange): IndexedSessionTable {
    const session = this.find(sessionId);
    if (session === undefined || this.#server(connection.server) === undefined) return this;
    const { length } = session.connections;
    if (placeOf(session.connections, connection.id) < length) return this;
    const record = connectionRecord(connection);
    const servers = this.#recount(sessionId, [record], 1, owner);
    return this.#put(session, [...session.connections].toSpliced(length, 0, record), servers, owner);
  }

  /** Changes a connection that is open. */
  updateConnection(
    sessionId: number,
    id: number,
    update: Partial<Pick<Connection, 'state' | 'role' | 'statistics'>>,
    { owner }: TableChange,
  ): IndexedSessionTable {
    const session = this.find(sessionId);
    const place = placeOf(session?.connections ?? [], id);
    const before = session?.connections[place];
    if (session === undefined || before === undefined) return this;
    const { server, statistics } = before;
    const after = connectionRecord({ ...before, ...update, id, server }, statistics);
    if (agrees(before, after)) return this;
    return this.#put(session, [...session.connections].with(place, after), this.#servers, owner);
  }

  /** Closes a connection; when a connect time is given, only one of a session that connected then. */
  closeConnection(
    which: { readonly session: number; readonly id: number; readonly connected?: number },
    { owner }: TableChange,
  ): IndexedSessionTable {
    const session = this.#identify(which.session, which.connected);
    const place = placeOf(session?.connections ?? [], which.id);
    const closed = session?.connections[place];
    if (session === undefined || closed === undefined) return this;
    const servers = this.#recount(session.id, [closed], -1, owner);
    return this.#put(session, [...session.connections].toSpliced(place, 1), servers, owner);
  }

  #service(key: string): Entry | undefined {
    const position = this.#positions.services.get(key);
    return position === undefined ? undefined : this.#services.get(position);
  }

  #server(key: string): Entry | undefined {
    const position = this.#positions.servers.get(key);
    return position === undefined ? undefined : this.#servers.get(position);
  }

  /** The session with an id; when a connect time is given, only the one that connected then. */
  #identify(id: number, connected: number | undefined): Session | undefined {
    const session = this.find(id);
    return connected === undefined || session?.connected === connected ? session : undefined;
  }

  /** Own records of connections; `undefined` when they cannot all be opened. */
  #recordsOf(connections: readonly Connection[]): readonly Connection[] | undefined {
    if (connections.length === 0) return noConnections;
    const { size } = new Set(connections.map(({ id }) => id));
    const known = connections.every(({ server }) => this.#positions.servers.has(server));
    const possible = known && size === connections.length;
    return possible ? Object.freeze(connections.map((each) => connectionRecord(each))) : undefined;
  }

  /** This table with the session of this id replaced. */
  #put(
    session: Session,
    connections: readonly Connection[],
    servers: Entries,
    owner?: Owner,
  ): IndexedSessionTable {
    const record = sessionRecord(session, Object.freeze(connections));
    const sessions = this.#sessions.set(record.id, record, owner);
    return new IndexedSessionTable(this.#positions, sessions, this.#services, servers, this.total, this.live);
  }

  /** The servers with connections of a session counted in or out. */
  #recount(id: number, connections: readonly Connection[], by: 1 | -1, owner?: Owner): Entries {
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

/** The place of a connection; that of a next one when it is not there. */
function placeOf(connections: readonly Connection[], id: number): number {
  // Not by a method of the array: those of frozen arrays are slow on Node 20.
  let place = 0;
  while (place < connections.length && connections[place]?.id !== id) place++;
  return place;
}

function sessionRecord(session: Session, connections: readonly Connection[]): Session {
  const { id, state, user, address, service, connected, idle } = session;
  return Object.freeze({ id, state, user, address, service, connected, idle, connections });
}

/** A connection; statistics that say the same as those that are known become the same object. */
function connectionRecord(connection: Connection, known = noStatistics): Connection {
  const { id, server, role, state } = connection;
  const same = connection.statistics === known || agrees(known, connection.statistics);
  const statistics = same ? known : Object.freeze({ ...connection.statistics });
  return Object.freeze({ id, server, role, state, statistics });
}

/** Whether an update changes nothing. */
function agrees<T extends object>(record: T, update: Partial<T>): boolean {
  return (Object.keys(update) as (keyof T)[]).every((name) => record[name] === update[name]);
}
