/**
 * The table of sessions. It is tested by itself, because its indexes are compared with a count of all sessions after
 * every change, also after changes that no report and no command makes.
 */
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';

import { Batch } from '../../../src/core/batch.ts';
import {
  IndexedSessionTable,
  noStatistics,
  type Connection,
  type ConnectionName,
  type OpeningConnection,
  type OpeningSession,
  type Session,
  type SessionName,
} from '../../../src/snapshot/session/table.ts';
import type { TableChange } from '../../../src/snapshot/session/session-index.ts';
import { thawedPlaces } from '../../support/frozen.ts';
import { withoutOpened } from '../../support/shown-session.ts';

const services = ['sales', 'stock', 'constructor'];
const servers = ['db-1', 'db-2', '__proto__'];
const places = (keys: readonly string[]): Map<string, number> =>
  new Map(keys.map((key, position) => [key, position]));
const empty = IndexedSessionTable.create(places(services), places(servers));

/** The changes of a table, by what they give. */
interface Changes<T> {
  open(session: OpeningSession, change: TableChange): T;
  update(which: SessionName, update: SessionUpdate, change: TableChange): T;
  close(which: readonly SessionName[], change: TableChange): T;
  openConnection(which: SessionName, connection: OpeningConnection, change: TableChange): T;
  updateConnection(which: ConnectionName, update: ConnectionUpdate, change: TableChange): T;
  closeConnection(which: ConnectionName, change: TableChange): T;
  withTotal(key: string, total: number): T;
}

type SessionUpdate = Parameters<IndexedSessionTable['update']>[1];
type ConnectionUpdate = Parameters<IndexedSessionTable['updateConnection']>[1];

/** The table without indexes: all is counted anew. What does not apply gives the same model. */
class Model implements Changes<Model> {
  readonly sessions: readonly Session[] = [];
  readonly totals: ReadonlyMap<string, number> = new Map();
  readonly live: ReadonlyMap<string, number> = new Map();

  ofService(key: string): readonly Session[] {
    return this.sessions.filter(({ service }) => service === key);
  }

  ofServer(key: string): readonly { readonly session: Session; readonly connection: Connection }[] {
    return this.sessions
      .flatMap((session) => session.connections.map((connection) => ({ session, connection })))
      .filter(({ connection }) => connection.server === key);
  }

  open(given: OpeningSession, { revision: opened, revision }: TableChange): Model {
    const { id, service } = given;
    if (this.#find(id) !== undefined || !services.includes(service) || !canHave(given.connections))
      return this;
    const connections = given.connections.map((each) => ({ ...each, opened }));
    const session = { ...given, connections, opened };
    const sessions = [...this.sessions, session].toSorted((a, b) => a.id - b.id);
    const totals = new Map(this.totals).set(service, (this.totals.get(service) ?? 0) + 1);
    return this.#with({ sessions, totals, live: new Map(this.live).set(service, revision) });
  }

  close(which: readonly SessionName[], { revision }: TableChange): Model {
    return which.reduce<Model>((model, { id, connected }) => {
      const session = model.#find(id, connected);
      if (session === undefined) return model;
      const sessions = model.sessions.filter((each) => each !== session);
      return model.#with({ sessions, live: new Map(model.live).set(session.service, revision) });
    }, this);
  }

  update({ id, connected }: SessionName, update: SessionUpdate, { revision }: TableChange): Model {
    return this.#replace(this.#find(id, connected), (session) => {
      const isRenamed = update.user !== undefined && update.user !== session.user;
      return { ...session, ...update, ...(isRenamed ? { renamed: revision } : {}) };
    });
  }

  openConnection(
    { id, connected }: SessionName,
    connection: OpeningConnection,
    { revision: opened }: TableChange,
  ): Model {
    return this.#connect(this.#find(id, connected), (open) =>
      canHave([...open, connection]) ? [...open, { ...connection, opened }] : open,
    );
  }

  updateConnection({ session, id, connected }: ConnectionName, update: ConnectionUpdate): Model {
    return this.#connect(this.#find(session, connected), (open) =>
      open.map((each) => (each.id === id ? { ...each, ...update } : each)),
    );
  }

  closeConnection({ session, id, connected }: ConnectionName): Model {
    return this.#connect(this.#find(session, connected), (open) => open.filter((each) => each.id !== id));
  }

  withTotal(service: string, total: number): Model {
    if (!services.includes(service) || total <= (this.totals.get(service) ?? 0)) return this;
    return this.#with({ totals: new Map(this.totals).set(service, total) });
  }

  #find(id: number, connected?: number): Session | undefined {
    return this.sessions.find((each) => each.id === id && (connected ?? each.connected) === each.connected);
  }

  #connect(of: Session | undefined, recipe: (open: readonly Connection[]) => readonly Connection[]): Model {
    return this.#replace(of, (session) => ({ ...session, connections: recipe(session.connections) }));
  }

  #replace(one: Session | undefined, recipe: (session: Session) => Session): Model {
    const sessions = this.sessions.map((each) => (each === one ? recipe(each) : each));
    const same = JSON.stringify(sessions) === JSON.stringify(this.sessions);
    return same ? this : this.#with({ sessions });
  }

  #with(next: Partial<Pick<Model, 'sessions' | 'totals' | 'live'>>): Model {
    return Object.assign(new Model(), this, next);
  }
}

/** Whether a session can have these connections. */
function canHave(connections: readonly OpeningConnection[]): boolean {
  const ids = new Set(connections.map(({ id }) => id));
  return ids.size === connections.length && connections.every(({ server }) => servers.includes(server));
}

const mostly = <T>(usual: readonly T[], rare: T): fc.Arbitrary<T> =>
  fc.oneof({ arbitrary: fc.constantFrom(...usual), weight: 20 }, { arbitrary: fc.constant(rare), weight: 1 });
const ids = fc.oneof({ arbitrary: fc.nat(120), weight: 30 }, fc.constant(Number.MAX_SAFE_INTEGER));
const connectionIds = fc.nat(4);
const times = fc.integer({ min: 1_700_000_000_000, max: 1_700_000_000_002 });
const sinces = fc.record({ connected: times }, { requiredKeys: [] });
const states = fc.constantFrom('ready', 'closing');
const statistics = fc.oneof(
  fc.constant(noStatistics),
  fc.nat(1).map((reads) => ({ ...noStatistics, reads })),
);
const connections: fc.Arbitrary<OpeningConnection> = fc.record({
  id: connectionIds,
  server: mostly(servers, 'db-9'),
  role: fc.constantFrom('master', 'slave'),
  state: states,
  statistics,
});
const sessions: fc.Arbitrary<OpeningSession> = fc.record({
  id: ids,
  state: states,
  user: fc.constantFrom('ada', 'bob'),
  address: fc.constant('::1'),
  service: mostly(services, 'toString'),
  connected: times,
  idle: fc.nat(2),
  connections: fc.array(connections, { maxLength: 3 }),
});
const sessionUpdates = fc.record(
  { state: states, user: fc.constantFrom('ada', 'bob'), address: fc.constant('::2'), idle: fc.nat(2) },
  { requiredKeys: [] },
);
const connectionUpdates = fc.record(
  { state: states, role: fc.constantFrom('master', 'slave'), statistics },
  { requiredKeys: [] },
);
/** A change, of a table or of a model. The arguments are there for the reader of a counterexample. */
interface Command {
  readonly args: readonly unknown[];
  run<T>(on: Changes<T>, change: TableChange): T;
}

function command<A extends readonly unknown[]>(
  weight: number,
  args: fc.Arbitrary<A>,
  run: <T>(on: Changes<T>, change: TableChange, ...args: A) => T,
): fc.WeightedArbitrary<Command> {
  const arbitrary = args.map((each): Command => ({
    args: each,
    run: (on, change) => run(on, change, ...each),
  }));
  return { arbitrary, weight };
}

const commands: fc.Arbitrary<Command> = fc.oneof(
  command(6, fc.tuple(sessions), (on, change, session) => on.open(session, change)),
  command(1, fc.tuple(ids, sinces, sessionUpdates), (on, change, id, since, update) =>
    on.update({ id, ...since }, update, change),
  ),
  // The same session may be named twice.
  command(2, fc.tuple(fc.array(fc.tuple(ids, sinces), { maxLength: 5 })), (on, change, which) =>
    on.close(
      which.map(([id, since]) => ({ id, ...since })),
      change,
    ),
  ),
  command(3, fc.tuple(ids, sinces, connections), (on, change, id, since, connection) =>
    on.openConnection({ id, ...since }, connection, change),
  ),
  command(
    2,
    fc.tuple(ids, connectionIds, sinces, connectionUpdates),
    (on, change, session, id, since, update) =>
      on.updateConnection({ session, id, ...since }, update, change),
  ),
  command(2, fc.tuple(ids, connectionIds, sinces), (on, change, session, id, since) =>
    on.closeConnection({ session, id, ...since }, change),
  ),
  command(1, fc.tuple(mostly(services, 'none'), fc.nat(200)), (on, _change, key, total) =>
    on.withTotal(key, total),
  ),
);

/** Changes that come one by one, or in a batch of which only the last table counts. */
interface Report {
  readonly commands: readonly Command[];
  readonly batch: boolean;
}

const lists = fc.array(commands, { maxLength: 80, size: 'max' });
const reports: fc.Arbitrary<Report> = fc.record({ commands: lists, batch: fc.boolean() });
const histories = fc.array(reports, { minLength: 1, maxLength: 5 });
const start = { table: empty, model: new Model() };

/** Every table that may be used after a history, from the first to the last. */
function play(history: readonly Report[]): readonly (typeof start)[] {
  const transitions = [start];
  for (const [index, { commands, batch }] of history.entries()) {
    const together = new Batch();
    const change = { revision: index + 1, ...(batch ? { batch: together } : {}) };
    let { table, model } = transitions.at(-1) ?? start;
    for (const command of commands) {
      table = command.run<IndexedSessionTable>(table, change);
      model = command.run<Model>(model, change);
      if (!batch) transitions.push({ table, model });
    }
    together.end();
    transitions.push({ table, model });
  }
  return transitions;
}

/** The number of connections by session id. */
function countsOf(open: ReturnType<Model['ofServer']>): Readonly<Record<number, number>> {
  const counts: Record<number, number> = {};
  for (const { session } of open) counts[session.id] = (counts[session.id] ?? 0) + 1;
  return counts;
}

function lastOf(history: readonly Report[]): typeof start {
  return play(history).at(-1) ?? start;
}

/** Opens a session and its connections, each at its own revision. */
function withSession(table: IndexedSessionTable, each: Session): IndexedSessionTable {
  const [first, later] = [true, false].map((isFirst) =>
    each.connections.filter(({ opened }) => (opened === each.opened) === isFirst),
  );
  const opened = table.open({ ...each, connections: first ?? [] }, { revision: each.opened });
  return (later ?? []).reduce(
    (made, one) => made.openConnection(each, one, { revision: one.opened }),
    opened,
  );
}

/** A table with the sessions and counters of a model that came about in another order. */
function rebuilt(model: Pick<Model, 'sessions' | 'totals' | 'live'>, start = empty): IndexedSessionTable {
  const openings = model.sessions.toReversed().map((each) => ({
    revision: each.opened,
    make: (table: IndexedSessionTable) => withSession(table, each),
  }));
  const endings = [...model.live].flatMap(([service, revision]) => {
    if (model.sessions.some((each) => each.service === service && each.opened === revision)) return [];
    // A session has ended at that revision. No session of a model has this id.
    const ended = { ...session, id: 5000, service };
    const make = (table: IndexedSessionTable): IndexedSessionTable =>
      table.open(ended, { revision }).close([ended], { revision });
    return [{ revision, make }];
  });
  const inOrder = [...openings, ...endings].toSorted((a, b) => a.revision - b.revision);
  let table = inOrder.reduce((made, { make }) => make(made), start);
  for (const [key, total] of model.totals) table = table.withTotal(key, total);
  return table;
}

describe('a session table', () => {
  it('says of its sessions, of each service and of each server what a search through a list says', () => {
    fc.assert(
      fc.property(histories, fc.nat(130), fc.nat(130), (history, offset, length) => {
        const { table, model } = lastOf(history);
        const end = offset + length;
        expect([...table]).toEqual(model.sessions);
        expect(table.size).toBe(model.sessions.length);
        expect(table.range(offset, length)).toEqual(model.sessions.slice(offset, end));
        expect(table.range(0, Infinity)).toEqual(model.sessions);
        const every = Array.from({ length: 122 }, (_, id) => model.sessions.find((each) => each.id === id));
        expect(every.map((_, id) => table.find(id))).toEqual(every);
        const counts = every.map((session) => session?.connections.length ?? 0);
        expect(every.map((_, id) => table.countConnections(id))).toEqual(counts);
        for (const key of [...services, 'toString']) {
          const all = model.ofService(key);
          const connections = all.flatMap((session) => session.connections);
          const [total, live] = [model.totals.get(key) ?? 0, model.live.get(key) ?? 0];
          expect([table.totalOfService(key), table.liveOfService(key)]).toEqual([total, live]);
          expect(table.countOfService(key)).toBe(all.length);
          expect(table.countConnectionsOfService(key)).toBe(connections.length);
          expect(table.rangeOfService(key, 0, Infinity)).toEqual(all);
          expect(table.rangeOfService(key, offset, length)).toEqual(all.slice(offset, end));
          expect(table.idsOfService(key, offset, length)).toEqual(all.slice(offset, end).map(({ id }) => id));
        }
        for (const key of [...servers, 'db-9']) {
          const all = model.ofServer(key);
          const having = model.sessions.filter((each) =>
            each.connections.some(({ server }) => server === key),
          );
          expect([table.countOfServer(key), table.countSessionsOfServer(key)]).toEqual([
            all.length,
            having.length,
          ]);
          expect(table.rangeOfServer(key, offset, length)).toEqual(having.slice(offset, end));
          expect(table.connectionsOfServer(key, 0, Infinity)).toEqual(all);
          expect(table.connectionsOfServer(key, offset, length)).toEqual(all.slice(offset, end));
        }
        expect(table.total).toBe([...model.totals.values()].reduce((sum, each) => sum + each, 0));
        expect(table.index.live).toBe(Math.max(0, ...model.live.values()));
      }),
      { numRuns: 60 },
    );
  });

  it('is frozen, has all in its JSON, and equals a table that came to the same another way', () => {
    fc.assert(
      fc.property(histories, (history) => {
        const { table, model } = lastOf(history);
        expect(thawedPlaces(table)).toEqual([]);
        expect(JSON.stringify(table)).toBe(JSON.stringify(rebuilt(model)));
        expect(JSON.parse(JSON.stringify(table))).toEqual({
          size: model.sessions.length,
          total: table.total,
          live: table.index.live,
          services: services.map((key) => ({
            key,
            total: table.totalOfService(key),
            live: table.liveOfService(key),
            sessions: Object.fromEntries(model.ofService(key).map(({ id, connected }) => [id, connected])),
          })),
          servers: servers.map((key) => ({ key, sessions: countsOf(model.ofServer(key)) })),
          sessions: withoutOpened(model.sessions),
        });
      }),
      { numRuns: 60 },
    );
  });

  it('stays as it was when newer tables have changed, and never counts fewer sessions that were ever opened', () => {
    fc.assert(
      fc.property(histories, (history) => {
        const tables = play(history);
        for (const { table, model } of tables) {
          expect(JSON.stringify([...table])).toBe(JSON.stringify(model.sessions));
          for (const key of services) expect(table.countOfService(key)).toBe(model.ofService(key).length);
          for (const key of servers) expect(table.countOfServer(key)).toBe(model.ofServer(key).length);
        }
        for (const key of services) {
          const totals = tables.map(({ table }) => table.totalOfService(key));
          expect(totals).toEqual(totals.toSorted((a, b) => a - b));
          const open = tables.map(({ table }) => table.countOfService(key));
          expect(open.filter((count, at) => count > (totals[at] ?? 0))).toEqual([]);
        }
      }),
      { numRuns: 30 },
    );
  });

  it('is the same object, or a batch tells of no change, exactly when a change does not apply', () => {
    fc.assert(
      fc.property(histories, lists, (history, more) => {
        const { table, model } = lastOf(history);
        const alone = { revision: 9 };
        const applied = more.filter((command) => command.run<IndexedSessionTable>(table, alone) !== table);
        expect(applied).toEqual(more.filter((command) => command.run<Model>(model, alone) !== model));
        const before = JSON.stringify(table);
        const batch = new Batch();
        const change = { revision: 9, batch };
        let [now, then] = [table, model];
        for (const command of more) {
          const count = batch.changes;
          const next = command.run<IndexedSessionTable>(now, change);
          const wanted = command.run<Model>(then, change);
          expect(next !== now || batch.changes > count).toBe(wanted !== then);
          [now, then] = [next, wanted];
        }
        batch.end();
        expect(JSON.stringify(table)).toBe(before);
        expect([...now]).toEqual(then.sessions);
        expect([...now].flatMap((session) => thawedPlaces(session))).toEqual([]);
        expect(Object.isFrozen(now) && Object.isFrozen(now.index)).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  it('has the JSON of none that differs in a session, a connection, a counter or an index', () => {
    const expectOther = (one: IndexedSessionTable, other: IndexedSessionTable): void =>
      expect(JSON.stringify(one)).not.toBe(JSON.stringify(other));
    fc.assert(
      fc.property(histories, (history) => {
        const { table, model } = lastOf(history);
        fc.pre(model.sessions.length > 0);
        const [{ id, service } = session] = model.sessions;
        const other = rebuilt(model);
        expectOther(table, other.update({ id }, { state: 'x' }, { revision: 1 }));
        expectOther(table, other.openConnection({ id }, { ...connection, id: 99 }, { revision: 1 }));
        expectOther(table, other.withTotal(service, 1000));
        const [live = 0, total = 0] = [model.live.get(service), model.totals.get(service)];
        const { sessions, totals } = model;
        const later = { sessions, totals, live: new Map(model.live).set(service, live + 1) };
        expectOther(table, rebuilt(later));
        // The sums stay the same.
        const elsewhere = services.find((key) => key !== service) ?? '';
        const more = other.withTotal(service, total + 1);
        const [left, right] = [more, other.withTotal(elsewhere, other.totalOfService(elsewhere) + 1)];
        expect([left.total, left.size]).toEqual([right.total, right.size]);
        expectOther(left, right);
        for (const reversed of [
          IndexedSessionTable.create(places(services.toReversed()), places(servers)),
          IndexedSessionTable.create(places(services), places(servers.toReversed())),
        ])
          expectOther(table, rebuilt(model, reversed));
      }),
      { numRuns: 40 },
    );
  });
});

const session: OpeningSession = {
  id: 7,
  state: 'ready',
  user: 'ada',
  address: '::1',
  service: 'sales',
  connected: 1_700_000_000_000,
  idle: 0,
  connections: [],
};
const connection = { id: 1, server: 'db-1', role: 'master', state: 'open', statistics: noStatistics };
const change: TableChange = { revision: 1 };
const one = empty.open({ ...session, connections: [connection] }, change);

describe('a record of the table', () => {
  it('is a copy: what the caller does with the original later is not seen', () => {
    const connections = [{ ...connection, statistics: { ...noStatistics, reads: 1 } }];
    const original = { ...session, connections };
    const table = empty.open(original, change);
    original.state = 'gone';
    connections.pop();
    expect(table.find(7)).toMatchObject({ state: 'ready', connections: [{ statistics: { reads: 1 } }] });
  });
  it('has no statistics of a connection until they are known', () => {
    const { statistics, ...other } = { ...connection, id: 2 };
    const opened = one.openConnection({ id: 7 }, other, change);
    expect(opened.find(7)?.connections[1]).not.toHaveProperty('statistics');
    const told = opened.updateConnection({ session: 7, id: 2 }, { statistics }, change);
    expect(told.find(7)?.connections[1]).toMatchObject({ id: 2, statistics });
  });

  it('keeps its identity, whatever an update says', () => {
    const wide = { id: 8, service: 'stock', connected: 0, connections: [], state: 'closing' };
    expect(one.update({ id: 7 }, wide, change).find(7)).toEqual({ ...one.find(7), state: 'closing' });
    const wider = { id: 9, server: 'db-2', role: 'slave' };
    expect(one.updateConnection({ session: 7, id: 1 }, wider, change).find(7)?.connections).toEqual([
      { ...connection, role: 'slave', opened: 1 },
    ]);
  });

  it('is the same object in the next table when only others change', () => {
    const two = one.open({ ...session, id: 8 }, change);
    expect(two.update({ id: 8 }, { idle: 5 }, change).find(7)).toBe(one.find(7));
  });
});

describe('closing', () => {
  it.each([
    ['without a connect time', {}, 0],
    ['with the connect time of the session', { connected: session.connected }, 0],
    ['with the connect time of an earlier session', { connected: session.connected - 1 }, 1],
  ])('a session %s', (_how, since, left) => {
    expect(one.close([{ id: 7, ...since }], change).size).toBe(left);
    expect(one.closeConnection({ session: 7, id: 1, ...since }, change).countOfServer('db-1')).toBe(left);
  });
});

describe('opening', () => {
  it('refuses an id that is no safe integer', () => {
    expect(() => empty.open({ ...session, id: 0.5 }, change)).toThrow(RangeError);
  });
});
