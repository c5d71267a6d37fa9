/**
 * The session table: the sessions and connections of a gateway, in the order of the session ids, with an index by
 * service and by server.
 *
 * The table and the index use persistent ordered maps. A change copies a few short paths, for any number of sessions.
 * What a batch has made is a draft: the later changes of the batch change the draft in place, and the end of the batch
 * freezes the draft.
 */
import type { Json } from '../../json/value.ts';
import { inspectMethod, maxNamesPrinted, quote } from '../../core/inspection.ts';
import type { Batch } from '../../core/batch.ts';
import { OrderedMap } from '../../core/ordered-map.ts';
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
  /** The counters of the connection; left out if the host has not said them. */
  readonly statistics?: ConnectionStatistics;
  /** The revision that opened the connection; 0 for a connection of the first snapshot. */
  readonly opened: number;
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
  /** The revision that opened the session; 0 for a session of the first snapshot. */
  readonly opened: number;
  /** The revision that last changed the user; left out if the session has the user that it opened with. */
  readonly renamed?: number;
  /** The backend connections of the session, in the order of opening. */
  readonly connections: readonly Connection[];
}

/** A connection that is about to open. @internal */
export type OpeningConnection = Omit<Connection, 'opened'>;

/** A session that is about to open. @internal */
export interface OpeningSession extends Omit<Session, 'opened' | 'connections'> {
  readonly connections: readonly OpeningConnection[];
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
   * The output for `JSON.stringify`: the counters, the index by service and by server, and every session with its
   * connections. `console.log` shows the counts.
   */
  toJSON(): Json;
}

/** The name of the class in printed output. */
const printedName = 'SessionTable';

/**
 * The implementation of {@link SessionTable}, with its index and the methods that make the next table. These methods
 * give the same table if the change does not apply.
 *
 * @internal
 */
export class IndexedSessionTable implements SessionTable {
  readonly #batch: Batch | undefined;
  #sessions: OrderedMap<Session>;
  /** Records that the batch has made. They are frozen at its end, because their connections often open with them. */
  #fresh: Session[] | undefined;
  // A plain property, because test runners compare the sessions by the iterator and everything else by properties.
  index: SessionIndex;

  private constructor(batch: Batch | undefined, sessions: OrderedMap<Session>, index: SessionIndex) {
    this.#batch = batch;
    this.#sessions = sessions;
    this.index = index;
  }

  /** An empty table for the given services and servers: maps from key to position, which must never change. */
  static create(
    services: ReadonlyMap<string, number>,
    servers: ReadonlyMap<string, number>,
  ): IndexedSessionTable {
    const index = SessionIndex.create(services, servers);
    const table = new IndexedSessionTable(undefined, OrderedMap.empty(), index);
    table.freeze();
    return table;
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
    return this.index.ofService(key)?.open ?? 0;
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
    return this.index.ofService(key)?.sessions.content.values(offset, length) ?? [];
  }

  /** The ids of {@link IndexedSessionTable.rangeOfService}. */
  idsOfService(key: string, offset: number, length: number): readonly number[] {
    return this.index.ofService(key)?.sessions.content.keys(offset, length) ?? [];
  }

  countOfServer(key: string): number {
    return this.index.ofServer(key)?.connections ?? 0;
  }

  /** Like {@link SessionTable.range}, for the sessions with a connection to a server. */
  rangeOfServer(key: string, offset: number, length: number): readonly Session[] {
    const ids = this.index.ofServer(key)?.sessions.content.keysAt(offset, length) ?? [];
    return ids.map((id) => this.#sessions.get(id) as Session);
  }

  /** The number of sessions with a connection to a server. */
  countSessionsOfServer(key: string): number {
    return this.index.ofServer(key)?.sessions.content.size ?? 0;
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
    for (const { key: id, start, end } of this.index.ofServer(key)?.sessions.content.range(offset, length) ??
      []) {
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
    return index === this.index ? this : this.#with(this.#sessions, index, undefined);
  }

  /** A table that knows a service or server with this key, which has no sessions yet. */
  withKey(collection: string, key: string, change: TableChange): IndexedSessionTable {
    const index = this.index.withKey(collection, key, change);
    return index === this.index ? this : this.#with(this.#sessions, index, change.batch);
  }

  /** A table that knows no service or server with this key any more. What is open there ends with it. */
  withoutKey(collection: string, key: string, change: TableChange): IndexedSessionTable {
    const left = this.#withNothingOpen(collection, key, change);
    const index = left.index.withoutKey(collection, key, change);
    return index === left.index ? left : left.#with(left.#sessions, index, change.batch);
  }

  #withNothingOpen(collection: string, key: string, change: TableChange): IndexedSessionTable {
    if (collection === 'services')
      return this.close(this.rangeOfService(key, 0, this.countOfService(key)), change);
    if (collection !== 'servers') return this;
    return this.connectionsOfServer(key, 0, this.countOfServer(key)).reduce<IndexedSessionTable>(
      (left, { session, connection }) =>
        left.closeConnection({ session: session.id, id: connection.id }, change),
      this,
    );
  }

  /**
   * Opens a session with its connections. Changes nothing if the id is in use, if the service or a server is unknown,
   * or if two of the connections have the same id.
   *
   * @throws RangeError if the id is not a safe integer
   */
  open(session: OpeningSession, change: TableChange): IndexedSessionTable {
    if (!this.index.has(session) || hasTwins(session.connections)) return this;
    const { batch, revision: opened } = change;
    let record: Session | undefined;
    const sessions = this.#sessions.update(
      session.id,
      (before) => {
        if (before !== undefined) return before;
        const connections = session.connections.map((each) => connectionRecord(each, opened));
        const make = batch === undefined ? sessionRecord : draftOf;
        return (record = make(session, opened, connections));
      },
      batch,
    );
    if (record === undefined) return this;
    const table = this.#with(sessions, this.index.opened(record, change), batch);
    if (batch !== undefined) (table.#fresh ??= []).push(record);
    return table;
  }

  /** Changes an open session. */
  update(
    { id, connected }: SessionName,
    update: Partial<Pick<Session, 'state' | 'user' | 'address' | 'idle'>>,
    change: TableChange,
  ): IndexedSessionTable {
    const before = this.#named(id, connected);
    if (before === undefined || agrees(before, update)) return this;
    const { service, connected: since, opened, connections } = before;
    const isRenamed = (update.user ?? before.user) !== before.user;
    const renamed = isRenamed ? { renamed: change.revision } : {};
    return this.#replace(
      sessionRecord({ ...before, ...update, ...renamed, id, service, connected: since }, opened, connections),
      change,
    );
  }

  /** Closes sessions. */
  close(which: readonly SessionName[], change: TableChange): IndexedSessionTable {
    const closed: Session[] = [];
    let sessions = this.#sessions;
    for (const { id, connected } of which) {
      sessions = sessions.update(
        id,
        (session) => {
          if (session === undefined) return undefined;
          if ((connected ?? session.connected) !== session.connected) return session;
          closed.push(session);
          return undefined;
        },
        change.batch,
      );
    }
    if (closed.length === 0) return this;
    return this.#with(sessions, this.index.closed(closed, change), change.batch);
  }

  /** Opens a connection of a session. Changes nothing if the id is in use, or if the session or server is unknown. */
  openConnection(
    { id, connected }: SessionName,
    connection: OpeningConnection,
    change: TableChange,
  ): IndexedSessionTable {
    if (!this.index.hasServerOf(connection)) return this;
    const session = this.#named(id, connected);
    if (session === undefined) return this;
    const { connections } = session;
    if (positionOf(connections, connection.id) < connections.length) return this;
    const record = connectionRecord(connection, change.revision);
    // Frozen arrays are copied before a method is called: on Node 20 such methods are slow.
    const opened =
      connections.length === 0 ? [record] : [...connections].toSpliced(connections.length, 0, record);
    if (Object.isFrozen(session)) {
      const after = sessionRecord(session, session.opened, opened);
      const sessions = this.#sessions.set(id, after, change.batch);
      const index = this.index.replaced(after, change).recounted(after, record, 1, change);
      return this.#with(sessions, index, change.batch);
    }
    // The batch has opened the session too, so the record that the index has is changed in place.
    (session as { connections: readonly Connection[] }).connections = opened;
    return this.#with(this.#sessions, this.index.recounted(session, record, 1, change), change.batch);
  }

  /** Changes an open connection. */
  updateConnection(
    { session: sessionId, id, connected }: ConnectionName,
    update: Partial<Pick<Connection, 'state' | 'role' | 'statistics'>>,
    change: TableChange,
  ): IndexedSessionTable {
    const session = this.#named(sessionId, connected);
    if (session === undefined) return this;
    const position = positionOf(session.connections, id);
    const before = session.connections[position];
    if (before === undefined) return this;
    const { server, statistics, opened } = before;
    const after = connectionRecord({ ...before, ...update, id, server }, opened, statistics);
    if (agrees(before, after)) return this;
    const connections = [...session.connections].with(position, after);
    return this.#replace(sessionRecord(session, session.opened, connections), change);
  }

  /** Closes a connection. */
  closeConnection(
    { session: sessionId, id, connected }: ConnectionName,
    change: TableChange,
  ): IndexedSessionTable {
    const session = this.#named(sessionId, connected);
    if (session === undefined) return this;
    const position = positionOf(session.connections, id);
    const closed = session.connections[position];
    if (closed === undefined) return this;
    const after = sessionRecord(session, session.opened, [...session.connections].toSpliced(position, 1));
    const sessions = this.#sessions.set(sessionId, after, change.batch);
    const index = this.index.replaced(after, change).recounted(after, closed, -1, change);
    return this.#with(sessions, index, change.batch);
  }

  /** Freezes the table with its new records, at the end of its batch. */
  freeze(): void {
    for (const record of this.#fresh ?? []) {
      Object.freeze(record.connections);
      Object.freeze(record);
    }
    this.#fresh = undefined;
    this.index.freeze();
    Object.freeze(this);
  }

  /** An open session; `undefined` if there is no such session, or if it has another connect time. */
  #named(id: number, connected: number | undefined): Session | undefined {
    const session = this.#sessions.get(id);
    return (connected ?? session?.connected) === session?.connected ? session : undefined;
  }

  /** The next table, with another record of a session. */
  #replace(session: Session, change: TableChange): IndexedSessionTable {
    const sessions = this.#sessions.set(session.id, session, change.batch);
    return this.#with(sessions, this.index.replaced(session, change), change.batch);
  }

  /** The next table. This table, changed in place, if the batch has made it. */
  #with(sessions: OrderedMap<Session>, index: SessionIndex, batch: Batch | undefined): IndexedSessionTable {
    if (batch === undefined || this.#batch !== batch) {
      const table = new IndexedSessionTable(batch, sessions, index);
      if (batch === undefined) table.freeze();
      else batch.add(table);
      return table;
    }
    this.#sessions = sessions;
    this.index = index;
    batch.count();
    return this;
  }

  toJSON(): Json {
    const { size, total, index } = this;
    const { live, services, servers } = index;
    // No member is secret. The cast is safe, because all members are JSON.
    const sessions = this.range(0, Infinity).map(shownSession);
    return { size, total, live, services, servers, sessions } as unknown as Json;
  }

  [inspectMethod](): string {
    const counts = [...this.index.openOnServices()].map(([key, count]) => `${quote(key)}: ${String(count)}`);
    const shown = counts.slice(0, maxNamesPrinted);
    const more = counts.length > shown.length ? ['…'] : [];
    const parts = [`total: ${String(this.total)}`, ...shown, ...more];
    return `${printedName}(${String(this.size)}) { ${parts.join(', ')} }`;
  }
}

/** Whether two connections have the same id. */
function hasTwins(connections: readonly OpeningConnection[]): boolean {
  return connections.length > 1 && new Set(connections.map(({ id }) => id)).size < connections.length;
}

/** The position of a connection; the number of connections if there is no connection with the id. */
function positionOf(connections: readonly Connection[], id: number): number {
  // A loop, because the methods of frozen arrays are slow on Node 20.
  let position = 0;
  while (position < connections.length && connections[position]?.id !== id) position++;
  return position;
}

/** A frozen copy of a session, with the given list of connections. Freezes the list, too. */
function sessionRecord(
  session: Omit<Session, 'opened' | 'connections'>,
  opened: number,
  given: readonly Connection[],
): Session {
  Object.freeze(given);
  return Object.freeze(draftOf(session, opened, given));
}

/** A copy of a session, which a batch freezes at its end. */
function draftOf(
  session: Omit<Session, 'opened' | 'connections'>,
  opened: number,
  given: readonly Connection[],
): Session {
  const { id, state, user, address, service, connected, idle, renamed } = session;
  const connections = given.length === 0 ? noConnections : given;
  const record = { id, state, user, address, service, connected, idle, connections, opened };
  // Most sessions keep their user, and a member would cost each of them memory.
  return renamed === undefined ? record : { ...record, renamed };
}

/** A session without the revisions of its life: two tables with the same sessions show the same. */
function shownSession({ opened: _opened, renamed: _renamed, connections, ...session }: Session): object {
  return { ...session, connections: connections.map(({ opened: _own, ...connection }) => connection) };
}

/** A frozen copy of a connection. Statistics that equal the known statistics become the same object. */
function connectionRecord(
  { id, server, role, state, statistics: given }: OpeningConnection,
  opened: number,
  known?: ConnectionStatistics,
): Connection {
  if (given === undefined) return Object.freeze({ id, server, role, state, opened });
  const isSame = known !== undefined && agrees(known, given);
  const statistics = isSame ? known : statisticsRecord(given);
  return Object.freeze({ id, server, role, state, statistics, opened });
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
