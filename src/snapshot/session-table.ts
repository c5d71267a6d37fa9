/**
 * The session table: the sessions and connections of a gateway, by session id, with their index.
 *
 * The sessions are kept in an ordered map, as what the index knows of them. Maps share what does not change, so a change
 * costs a few short paths however many sessions there are, and so does a range.
 */
import type { Json } from '../json/value.ts';
import { inspectMethod, maxNamesPrinted, quote } from '../core/inspection.ts';
import { OrderedMap } from '../core/ordered-map.ts';
import { SessionIndex, type TableChange } from './session-index.ts';

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

/** The counters of a connection that has done nothing yet. @internal */
export const noStatistics: ConnectionStatistics = Object.freeze({
  reads: 0,
  writes: 0,
  buffered_writes: 0,
  high_water_events: 0,
  low_water_events: 0,
});

const noConnections: readonly Connection[] = Object.freeze([]);

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
  /**
   * What `JSON.stringify` and test runners show: the counters, the index by service and by server, and every session with
   * its connections. `console.log` shows the counts.
   */
  toJSON(): Json;
}

/** What a session table is called where it is printed. */
const kind = 'SessionTable';

/**
 * The session tables of this library: what readers see, the index behind it, and how the next table is made. A change
 * gives a new table, or the same one when it does not apply.
 *
 * @internal
 */
export class IndexedSessionTable implements SessionTable {
  readonly #sessions: OrderedMap<Session>;
  // Not private to the language: test runners compare the sessions by the iterator, and this as a property.
  readonly index: SessionIndex;

  private constructor(sessions: OrderedMap<Session>, index: SessionIndex) {
    this.#sessions = sessions;
    this.index = index;
    Object.freeze(this);
  }

  /** A table without sessions, for services and servers given as positions by key. The maps must never change. */
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

  /** The revision at which the counters of a service last changed; 0 when they never did. */
  liveOfService(key: string): number {
    return this.index.ofService(key)?.live ?? 0;
  }

  /** Like {@link SessionTable.range}, of the sessions on a service. */
  rangeOfService(key: string, offset: number, length: number): readonly Session[] {
    return this.idsOfService(key, offset, length).map((id) => this.#sessions.get(id) as Session);
  }

  /** The ids of what {@link IndexedSessionTable.rangeOfService} gives, many times faster. */
  idsOfService(key: string, offset: number, length: number): readonly number[] {
    return this.index.ofService(key)?.sessions.keys(offset, length) ?? [];
  }

  /** The ids and connect times of what {@link IndexedSessionTable.rangeOfService} gives, some ten times faster. */
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

  countConnections(sessionId: number): number {
    return this.find(sessionId)?.connections.length ?? 0;
  }

  /** The connections to a server from the one at `offset` on, at most `length`: by session id, then as opened. */
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

  /** Raises the number of sessions that were ever opened on a service. A lower one changes nothing. */
  withTotal(key: string, total: number): IndexedSessionTable {
    const index = this.index.withTotal(key, total);
    return index === this.index ? this : new IndexedSessionTable(this.#sessions, index);
  }

  /**
   * Opens a session with the connections it has. Changes nothing when the id is taken, a service or server is not
   * there, or two of the connections have one id.
   *
   * @throws RangeError when the id is not a safe integer
   */
  open(session: Session, change: TableChange): IndexedSessionTable {
    if (!this.index.has(session) || hasTwins(session.connections) || this.find(session.id) !== undefined)
      return this;
    const record = sessionRecord(session, connectionRecords(session.connections));
    const sessions = this.#sessions.set(record.id, record, change.owner);
    return new IndexedSessionTable(sessions, this.index.opened(record, change));
  }

  /** Changes a session that is open. */
  update(
    id: number,
    update: Partial<Pick<Session, 'state' | 'user' | 'address' | 'idle'>>,
    change: TableChange,
  ): IndexedSessionTable {
    const before = this.find(id);
    if (before === undefined || agrees(before, update)) return this;
    const { service, connected, connections } = before;
    return this.#put({ ...before, ...update, id, service, connected }, connections, this.index, change);
  }

  /** Closes a session; when a connect time is given, only one that connected then, because ids are used again. */
  close(
    which: { readonly id: number; readonly connected?: number },
    change: TableChange,
  ): IndexedSessionTable {
    const session = this.#identify(which.id, which.connected);
    if (session === undefined) return this;
    const sessions = this.#sessions.delete(session.id, change.owner);
    return new IndexedSessionTable(sessions, this.index.closed(session, change));
  }

  /** Opens one more connection of a session. Changes nothing when its id is taken, or the server is not there. */
  openConnection(sessionId: number, connection: Connection, change: TableChange): IndexedSessionTable {
    const session = this.find(sessionId);
    if (session === undefined || this.index.ofServer(connection.server) === undefined) return this;
    const { length } = session.connections;
    if (placeOf(session.connections, connection.id) < length) return this;
    const record = connectionRecord(connection);
    const index = this.index.recounted(sessionId, record, 1, change);
    return this.#put(session, [...session.connections].toSpliced(length, 0, record), index, change);
  }

  /** Changes a connection that is open. */
  updateConnection(
    sessionId: number,
    id: number,
    update: Partial<Pick<Connection, 'state' | 'role' | 'statistics'>>,
    change: TableChange,
  ): IndexedSessionTable {
    const session = this.find(sessionId);
    const place = placeOf(session?.connections ?? [], id);
    const before = session?.connections[place];
    if (session === undefined || before === undefined) return this;
    const { server, statistics } = before;
    const after = connectionRecord({ ...before, ...update, id, server }, statistics);
    if (agrees(before, after)) return this;
    return this.#put(session, [...session.connections].with(place, after), this.index, change);
  }

  /** Closes a connection; when a connect time is given, only one of a session that connected then. */
  closeConnection(
    which: { readonly session: number; readonly id: number; readonly connected?: number },
    change: TableChange,
  ): IndexedSessionTable {
    const session = this.#identify(which.session, which.connected);
    const place = placeOf(session?.connections ?? [], which.id);
    const closed = session?.connections[place];
    if (session === undefined || closed === undefined) return this;
    const index = this.index.recounted(session.id, closed, -1, change);
    return this.#put(session, [...session.connections].toSpliced(place, 1), index, change);
  }

  /** The session with an id; when a connect time is given, only the one that connected then. */
  #identify(id: number, connected: number | undefined): Session | undefined {
    const session = this.find(id);
    return connected === undefined || session?.connected === connected ? session : undefined;
  }

  // A getter for the sake of Jest, and the tag for that of Vitest: see IndexedCollection.
  get toJSON(): () => Json {
    return () => {
      const { size, total, index } = this;
      const { live, services, servers } = index;
      // Nothing in it is secret; the types are of what is JSON already.
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

  /** This table with the session of this id replaced. */
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

/** Whether two connections have one id. */
function hasTwins(connections: readonly Connection[]): boolean {
  return connections.length > 1 && new Set(connections.map(({ id }) => id)).size < connections.length;
}

/** Own records of the connections of a session that is opened. */
function connectionRecords(connections: readonly Connection[]): readonly Connection[] {
  return connections.length === 0
    ? noConnections
    : Object.freeze(connections.map((each) => connectionRecord(each)));
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
