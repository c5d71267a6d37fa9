/**
 * The session table: the sessions and connections of a gateway, in the order of the session ids, with an index by
 * service and by server.
 *
 * The table and the index use persistent ordered maps. A change copies a few short paths, for any number of sessions.
 */
import type { Json } from '../json/value.ts';
import { inspectMethod, maxNamesPrinted, quote } from '../core/inspection.ts';
import { OrderedMap } from '../core/ordered-map.ts';
import { SessionIndex, type TableChange } from './session-index.ts';

/** The counters of a backend connection, as last reported. @public */
export interface ConnectionStatistics {
  /** The number of reads. */
  readonly reads: number;
  /** The number of writes. */
  readonly writes: number;
  /** The number of buffered writes. */
  readonly buffered_writes: number;
  /** The number of times that the buffer rose above its high-water mark. */
  readonly high_water_events: number;
  /** The number of times that the buffer fell below its low-water mark. */
  readonly low_water_events: number;
}

/** A backend connection of a session. @public */
export interface Connection {
  /** Id of the connection, unique within its session. Responses never contain this id. */
  readonly id: number;
  /** Key of the name of the server. */
  readonly server: string;
  /** Descriptive text of the purpose of the connection. */
  readonly role: string;
  /** Descriptive text of the state of the connection. */
  readonly state: string;
  /** The counters of the connection. */
  readonly statistics: ConnectionStatistics;
}

/** A client session. @public */
export interface Session {
  /** Id of the session, unique among the open sessions: a safe integer, 0 or more. */
  readonly id: number;
  /** Descriptive text of the state of the session. */
  readonly state: string;
  /** Name of the user of the client. */
  readonly user: string;
  /** Address of the client. */
  readonly address: string;
  /** Key of the name of the service. */
  readonly service: string;
  /** Connect time of the client, in milliseconds since 1970-01-01T00:00:00Z. */
  readonly connected: number;
  /** How long the session has been idle, as a plain number: the interface description names no unit. */
  readonly idle: number;
  /** The backend connections of the session, in the order of opening. */
  readonly connections: readonly Connection[];
}

/** Names an open session. If a connect time is given, the session must have it, because ids are reused. @internal */
export interface SessionName {
  readonly id: number;
  readonly connected?: number;
}

/** Names a connection of an open session. If a connect time is given, the session must have it. @internal */
export interface ConnectionName {
  readonly session: number;
  readonly id: number;
  readonly connected?: number;
}

/** A backend connection with its session. @internal */
export interface SessionConnection {
  /** The session. */
  readonly session: Session;
  /** The connection. */
  readonly connection: Connection;
}

/** The counters of an unused connection. @internal */
export const noStatistics: ConnectionStatistics = Object.freeze({
  reads: 0,
  writes: 0,
  buffered_writes: 0,
  high_water_events: 0,
  low_water_events: 0,
});

const noConnections: readonly Connection[] = Object.freeze([]);

/**
 * The sessions of a gateway with their connections. Immutable: only events make the next table. Methods that take a key
 * expect the key of the name of a service or server, and count 0 for an unknown key.
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
  /** The number of open sessions. */
  readonly size: number;
  /** The number of sessions that were ever opened on all services. */
  readonly total: number;
  /** Finds an open session by id; `undefined` if there is no such session. */
  find(id: number): Session | undefined;
  /** At most `length` sessions in the order of their ids, from position `offset` on. */
  range(offset: number, length: number): readonly Session[];
  /** The number of open sessions of a service. */
  countOfService(key: string): number;
  /** The number of sessions that were ever opened on a service. */
  totalOfService(key: string): number;
  /** The number of open connections to a server. */
  countOfServer(key: string): number;
  /** The number of connections of a session. */
  countConnections(sessionId: number): number;
  /**
   * The output for `JSON.stringify` and test runners: the counters, the index by service and by server, and every
   * session with its connections. `console.log` shows the counts.
   */
  toJSON(): Json;
}

/** The name of the class in printed output. */
const kind = 'SessionTable';

/**
 * The implementation of {@link SessionTable}, with its index and the methods that make the next table. These methods
 * give the same table if the change does not apply.
 *
 * @internal
 */
export class IndexedSessionTable implements SessionTable {
  readonly #sessions: OrderedMap<Session>;
  // A plain property, because test runners compare the sessions by the iterator and everything else by properties.
  readonly index: SessionIndex;

  private constructor(sessions: OrderedMap<Session>, index: SessionIndex) {
    this.#sessions = sessions;
    this.index = index;
    Object.freeze(this);
  }

  /** An empty table for the given services and servers: maps from key to position, which must never change. */
  static create(
    services: ReadonlyMap<string, number>,
    servers: ReadonlyMap<string, number>,
  ): IndexedSessionTable {
    return new IndexedSessionTable(OrderedMap.empty(), SessionIndex.create(services, servers));
  }

  get size(): number {
    return this.#sessions.size;
  }

  get total(): number {
    return this.index.total;
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
    return this.index.ofService(key)?.sessions.size ?? 0;
  }

  totalOfService(key: string): number {
    return this.index.ofService(key)?.total ?? 0;
  }

  /** The revision of the last change of the counters of a service; 0 if they never changed. */
  liveOfService(key: string): number {
    return this.index.ofService(key)?.live ?? 0;
  }

  /** Like {@link SessionTable.range}, for the sessions of a service. */
  rangeOfService(key: string, offset: number, length: number): readonly Session[] {
    return this.idsOfService(key, offset, length).map((id) => this.#sessions.get(id) as Session);
  }

  /** The ids of {@link IndexedSessionTable.rangeOfService}, many times faster. */
  idsOfService(key: string, offset: number, length: number): readonly number[] {
    return this.index.ofService(key)?.sessions.keys(offset, length) ?? [];
  }

  /** The ids and connect times of {@link IndexedSessionTable.rangeOfService}, about ten times faster. */
  identitiesOfService(
    key: string,
    offset: number,
    length: number,
  ): readonly Pick<Session, 'id' | 'connected'>[] {
    const entries = this.index.ofService(key)?.sessions.range(offset, length) ?? [];
    return entries.map((entry) => ({ id: entry.key, connected: entry.value }));
  }

  countOfServer(key: string): number {
    return this.index.ofServer(key)?.sessions.weight ?? 0;
  }

  /** Like {@link SessionTable.range}, for the sessions with a connection to a server. */
  rangeOfServer(key: string, offset: number, length: number): readonly Session[] {
    const ids = this.index.ofServer(key)?.sessions.keysAt(offset, length) ?? [];
    return ids.map((id) => this.#sessions.get(id) as Session);
  }

  /** The number of sessions with a connection to a server. */
  countSessionsOfServer(key: string): number {
    return this.index.ofServer(key)?.sessions.size ?? 0;
  }

  /** The number of connections of all sessions of a service. */
  countConnectionsOfService(key: string): number {
    return this.index.ofService(key)?.connections ?? 0;
  }

  countConnections(sessionId: number): number {
    return this.find(sessionId)?.connections.length ?? 0;
  }

  /** At most `length` connections to a server, from position `offset` on, by session id, then by order of opening. */
  connectionsOfServer(key: string, offset: number, length: number): readonly SessionConnection[] {
    const found: SessionConnection[] = [];
    for (const { key: id, start, end } of this.index.ofServer(key)?.sessions.range(offset, length) ?? []) {
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

  /** Raises the number of sessions that were ever opened on a service. A lower number changes nothing. */
  withTotal(key: string, total: number): IndexedSessionTable {
    const index = this.index.withTotal(key, total);
    return index === this.index ? this : new IndexedSessionTable(this.#sessions, index);
  }

  /**
   * Opens a session with its connections. Changes nothing if the id is in use, if the service or a server is unknown,
   * or if two of the connections have the same id.
   *
   * @throws RangeError if the id is not a safe integer
   */
  open(session: Session, change: TableChange): IndexedSessionTable {
    if (!this.index.has(session) || hasTwins(session.connections) || this.find(session.id) !== undefined)
      return this;
    const record = sessionRecord(session, connectionRecords(session.connections));
    const sessions = this.#sessions.set(record.id, record, change.owner);
    return new IndexedSessionTable(sessions, this.index.opened(record, change));
  }

  /** Changes an open session. */
  update(
    which: SessionName,
    update: Partial<Pick<Session, 'state' | 'user' | 'address' | 'idle'>>,
    change: TableChange,
  ): IndexedSessionTable {
    const before = this.#identify(which.id, which.connected);
    if (before === undefined || agrees(before, update)) return this;
    const { id, service, connected, connections } = before;
    return this.#put({ ...before, ...update, id, service, connected }, connections, this.index, change);
  }

  /** Closes a session. */
  close(which: SessionName, change: TableChange): IndexedSessionTable {
    const session = this.#identify(which.id, which.connected);
    if (session === undefined) return this;
    const sessions = this.#sessions.delete(session.id, change.owner);
    return new IndexedSessionTable(sessions, this.index.closed(session, change));
  }

  /** Opens a connection of a session. Changes nothing if the id is in use, or if the session or server is unknown. */
  openConnection(which: SessionName, connection: Connection, change: TableChange): IndexedSessionTable {
    const session = this.#identify(which.id, which.connected);
    if (session === undefined || this.index.ofServer(connection.server) === undefined) return this;
    const { length } = session.connections;
    if (placeOf(session.connections, connection.id) < length) return this;
    const record = connectionRecord(connection);
    const index = this.index.recounted(session, record, 1, change);
    return this.#put(session, [...session.connections].toSpliced(length, 0, record), index, change);
  }

  /** Changes an open connection. */
  updateConnection(
    which: ConnectionName,
    update: Partial<Pick<Connection, 'state' | 'role' | 'statistics'>>,
    change: TableChange,
  ): IndexedSessionTable {
    const session = this.#identify(which.session, which.connected);
    const place = placeOf(session?.connections ?? [], which.id);
    const before = session?.connections[place];
    if (session === undefined || before === undefined) return this;
    const { id, server, statistics } = before;
    const after = connectionRecord({ ...before, ...update, id, server }, statistics);
    if (agrees(before, after)) return this;
    return this.#put(session, [...session.connections].with(place, after), this.index, change);
  }

  /** Closes a connection. */
  closeConnection(which: ConnectionName, change: TableChange): IndexedSessionTable {
    const session = this.#identify(which.session, which.connected);
    const place = placeOf(session?.connections ?? [], which.id);
    const closed = session?.connections[place];
    if (session === undefined || closed === undefined) return this;
    const index = this.index.recounted(session, closed, -1, change);
    return this.#put(session, [...session.connections].toSpliced(place, 1), index, change);
  }

  /** Finds a session by id and, if it is given, by connect time. */
  #identify(id: number, connected: number | undefined): Session | undefined {
    const session = this.find(id);
    return connected === undefined || session?.connected === connected ? session : undefined;
  }

  // A getter for Jest, and a tag for Vitest; see IndexedCollection.
  get toJSON(): () => Json {
    return () => {
      const { size, total, index } = this;
      const { live, services, servers } = index;
      // No member is secret. The cast is safe, because all members are JSON.
      return { size, total, live, services, servers, sessions: this.range(0, Infinity) } as unknown as Json;
    };
  }

  get [Symbol.toStringTag](): string {
    return kind;
  }

  [inspectMethod](): string {
    const counts = [...this.index.openOnServices()].map(([key, count]) => `${quote(key)}: ${String(count)}`);
    const shown = counts.slice(0, maxNamesPrinted);
    const more = counts.length > shown.length ? ['…'] : [];
    const parts = [`total: ${String(this.total)}`, ...shown, ...more];
    return `${kind}(${String(this.size)}) { ${parts.join(', ')} }`;
  }

  /** A copy of this table in which the session with the id is replaced. */
  #put(
    session: Session,
    connections: readonly Connection[],
    index: SessionIndex,
    { owner }: TableChange,
  ): IndexedSessionTable {
    const record = sessionRecord(session, Object.freeze(connections));
    return new IndexedSessionTable(this.#sessions.set(record.id, record, owner), index);
  }
}

/** Whether two connections have the same id. */
function hasTwins(connections: readonly Connection[]): boolean {
  return connections.length > 1 && new Set(connections.map(({ id }) => id)).size < connections.length;
}

/** Frozen copies of the connections of a new session. */
function connectionRecords(connections: readonly Connection[]): readonly Connection[] {
  return connections.length === 0
    ? noConnections
    : Object.freeze(connections.map((each) => connectionRecord(each)));
}

/** The position of a connection; the number of connections if there is no connection with the id. */
function placeOf(connections: readonly Connection[], id: number): number {
  // A loop, because the methods of frozen arrays are slow on Node 20.
  let place = 0;
  while (place < connections.length && connections[place]?.id !== id) place++;
  return place;
}

function sessionRecord(session: Session, connections: readonly Connection[]): Session {
  const { id, state, user, address, service, connected, idle } = session;
  return Object.freeze({ id, state, user, address, service, connected, idle, connections });
}

/** A frozen copy of a connection. Statistics that equal the known statistics become the same object. */
function connectionRecord(connection: Connection, known = noStatistics): Connection {
  const { id, server, role, state } = connection;
  const same = connection.statistics === known || agrees(known, connection.statistics);
  const statistics = same ? known : statisticsRecord(connection.statistics);
  return Object.freeze({ id, server, role, state, statistics });
}

/** A frozen copy. A frozen spread would have a hidden class of its own, which takes three times the memory. */
function statisticsRecord(given: ConnectionStatistics): ConnectionStatistics {
  const { reads, writes, buffered_writes, high_water_events, low_water_events } = given;
  return Object.freeze({ reads, writes, buffered_writes, high_water_events, low_water_events });
}

/** Whether an update changes nothing. */
function agrees<T extends object>(record: T, update: Partial<T>): boolean {
  return (Object.keys(update) as (keyof T)[]).every((name) => record[name] === update[name]);
}
