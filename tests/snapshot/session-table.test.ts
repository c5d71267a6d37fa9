import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';

import { createOwner } from '../../src/core/ordered-map.ts';
import {
  SessionTable,
  noStatistics,
  type Connection,
  type Session,
  type TableChange,
} from '../../src/snapshot/session-table.ts';
import { thawedPlaces } from '../support/frozen.ts';

const services = ['sales', 'stock', 'constructor'];
const servers = ['db-1', 'db-2', '__proto__'];
const places = (keys: readonly string[]): Map<string, number> =>
  new Map(keys.map((key, position) => [key, position]));
const empty = SessionTable.create(places(services), places(servers));

type SessionUpdate = Parameters<SessionTable['update']>[1];
type ConnectionUpdate = Parameters<SessionTable['updateConnection']>[2];

/** A change as data. */
type Command =
  | ['open', session: Session]
  | ['update', id: number, update: SessionUpdate]
  | ['close', id: number, connected: number | undefined]
  | ['openConnection', session: number, connection: Connection]
  | ['updateConnection', session: number, id: number, update: ConnectionUpdate]
  | ['closeConnection', session: number, id: number, connected: number | undefined]
  | ['total', service: string, total: number];

function apply(table: SessionTable, command: Command, change: TableChange): SessionTable {
  switch (command[0]) {
    case 'open':
      return table.open(command[1], change);
    case 'update':
      return table.update(command[1], command[2], change);
    case 'close':
      return table.close({ id: command[1], ...since(command[2]) }, change);
    case 'openConnection':
      return table.openConnection(command[1], command[2], change);
    case 'updateConnection':
      return table.updateConnection(command[1], command[2], command[3], change);
    case 'closeConnection':
      return table.closeConnection({ session: command[1], id: command[2], ...since(command[3]) }, change);
    case 'total':
      return table.withTotal(command[1], command[2]);
  }
}

function since(connected: number | undefined): { readonly connected?: number } {
  return connected === undefined ? {} : { connected };
}

/** The table without indexes: all is counted anew. */
class Model {
  readonly sessions: readonly Session[];
  readonly totals: ReadonlyMap<string, number>;
  readonly live: ReadonlyMap<string, number>;

  constructor(
    sessions: readonly Session[] = [],
    totals: ReadonlyMap<string, number> = new Map(),
    live: ReadonlyMap<string, number> = new Map(),
  ) {
    this.sessions = sessions;
    this.totals = totals;
    this.live = live;
  }

  /** The model after a change; the same one when the change does not apply. */
  apply(command: Command, revision: number): Model {
    switch (command[0]) {
      case 'open':
        return this.#open(command[1], revision);
      case 'update':
        return this.#replace(command[1], undefined, (session) => ({ ...session, ...command[2] }));
      case 'close':
        return this.#close(command[1], command[2], revision);
      case 'openConnection':
        return this.#connect(command[1], undefined, (connections) =>
          connectable([...connections, command[2]]) ? [...connections, command[2]] : connections,
        );
      case 'updateConnection':
        return this.#connect(command[1], undefined, (connections) =>
          connections.map((each) => (each.id === command[2] ? { ...each, ...command[3] } : each)),
        );
      case 'closeConnection':
        return this.#connect(command[1], command[3], (connections) =>
          connections.filter(({ id }) => id !== command[2]),
        );
      case 'total':
        return this.#total(command[1], command[2]);
    }
  }

  ofService(key: string): readonly Session[] {
    return this.sessions.filter(({ service }) => service === key);
  }

  ofServer(key: string): readonly { readonly session: Session; readonly connection: Connection }[] {
    return this.sessions.flatMap((session) =>
      session.connections
        .filter(({ server }) => server === key)
        .map((connection) => ({ session, connection })),
    );
  }

  #open(session: Session, revision: number): Model {
    const { id, service, connections } = session;
    if (this.sessions.some((each) => each.id === id)) return this;
    if (!services.includes(service) || !connectable(connections)) return this;
    const sessions = [...this.sessions, session].toSorted((a, b) => a.id - b.id);
    const totals = new Map(this.totals).set(service, (this.totals.get(service) ?? 0) + 1);
    return new Model(sessions, totals, new Map(this.live).set(service, revision));
  }

  #close(id: number, connected: number | undefined, revision: number): Model {
    const session = this.sessions.find((each) => each.id === id);
    if (session === undefined || (connected ?? session.connected) !== session.connected) return this;
    const sessions = this.sessions.filter((each) => each !== session);
    return new Model(sessions, this.totals, new Map(this.live).set(session.service, revision));
  }

  #connect(
    id: number,
    connected: number | undefined,
    recipe: (connections: readonly Connection[]) => readonly Connection[],
  ): Model {
    return this.#replace(id, connected, (session) => ({
      ...session,
      connections: recipe(session.connections),
    }));
  }

  #replace(id: number, connected: number | undefined, recipe: (session: Session) => Session): Model {
    const sessions = this.sessions.map((session) =>
      session.id === id && (connected ?? session.connected) === session.connected ? recipe(session) : session,
    );
    const same = JSON.stringify(sessions) === JSON.stringify(this.sessions);
    return same ? this : new Model(sessions, this.totals, this.live);
  }

  #total(service: string, total: number): Model {
    if (!services.includes(service) || total <= (this.totals.get(service) ?? 0)) return this;
    return new Model(this.sessions, new Map(this.totals).set(service, total), this.live);
  }
}

/** Whether a session can have these connections. */
function connectable(connections: readonly Connection[]): boolean {
  const ids = new Set(connections.map(({ id }) => id));
  return ids.size === connections.length && connections.every(({ server }) => servers.includes(server));
}

const mostly = <T>(usual: readonly T[], rare: T): fc.Arbitrary<T> =>
  fc.oneof({ arbitrary: fc.constantFrom(...usual), weight: 20 }, { arbitrary: fc.constant(rare), weight: 1 });
const ids = fc.oneof({ arbitrary: fc.nat(120), weight: 30 }, fc.constant(Number.MAX_SAFE_INTEGER));
const connectionIds = fc.nat(4);
const times = fc.integer({ min: 1_700_000_000_000, max: 1_700_000_000_002 });
const states = fc.constantFrom('ready', 'closing');
const statistics = fc.oneof(
  fc.constant(noStatistics),
  fc.nat(1).map((reads) => ({ ...noStatistics, reads })),
);
const connections: fc.Arbitrary<Connection> = fc.record({
  id: connectionIds,
  server: mostly(servers, 'db-9'),
  role: fc.constantFrom('master', 'slave'),
  state: states,
  statistics,
});
const sessions: fc.Arbitrary<Session> = fc.record({
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
const commands: fc.Arbitrary<Command> = fc.oneof(
  { arbitrary: fc.tuple(fc.constant('open'), sessions), weight: 6 },
  { arbitrary: fc.tuple(fc.constant('update'), ids, sessionUpdates), weight: 1 },
  { arbitrary: fc.tuple(fc.constant('close'), ids, fc.option(times, { nil: undefined })), weight: 2 },
  { arbitrary: fc.tuple(fc.constant('openConnection'), ids, connections), weight: 3 },
  {
    arbitrary: fc.tuple(fc.constant('updateConnection'), ids, connectionIds, connectionUpdates),
    weight: 2,
  },
  {
    arbitrary: fc.tuple(
      fc.constant('closeConnection'),
      ids,
      connectionIds,
      fc.option(times, { nil: undefined }),
    ),
    weight: 2,
  },
  { arbitrary: fc.tuple(fc.constant('total'), mostly(services, 'none'), fc.nat(200)), weight: 1 },
) as fc.Arbitrary<Command>;

/** Changes that come one by one, or in a batch of which only the last table counts. */
interface Report {
  readonly commands: readonly Command[];
  readonly batch: boolean;
}

const histories: fc.Arbitrary<readonly Report[]> = fc.array(
  fc.record({ commands: fc.array(commands, { maxLength: 80, size: 'max' }), batch: fc.boolean() }),
  { minLength: 1, maxLength: 5 },
);

interface Step {
  readonly table: SessionTable;
  readonly model: Model;
  readonly revision: number;
}

/** Every table that may be used after a history, from the first to the last. */
function play(history: readonly Report[]): readonly [Step, ...Step[]] {
  const steps: [Step, ...Step[]] = [{ table: empty, model: new Model(), revision: 0 }];
  let last: Step = steps[0];
  for (const report of history) {
    const owner = createOwner();
    const batch = { revision: last.revision + 1, owner };
    for (const command of report.commands) {
      const change = report.batch ? batch : { revision: last.revision + 1 };
      const table = apply(last.table, command, change);
      const model = last.model.apply(command, change.revision);
      last = { table, model, revision: change.revision };
      if (!report.batch) steps.push(last);
    }
    steps.push(last);
  }
  return steps;
}

function lastOf(history: readonly Report[]): Step {
  return play(history).at(-1) as Step;
}

describe('a session table', () => {
  it('says of its sessions what a list of them says', () => {
    fc.assert(
      fc.property(histories, fc.nat(130), fc.nat(130), (history, offset, length) => {
        const { table, model } = lastOf(history);
        expect([...table]).toEqual(model.sessions);
        expect(table.size).toBe(model.sessions.length);
        expect(table.range(offset, length)).toEqual(model.sessions.slice(offset, offset + length));
        expect(table.range(0, Infinity)).toEqual(model.sessions);
        for (let id = 0; id < 122; id++) {
          const session = model.sessions.find((each) => each.id === id);
          expect(table.get(id)).toEqual(session);
          expect(table.countConnections(id)).toBe(session?.connections.length ?? 0);
        }
      }),
    );
  });

  it('says of each service what a count of its sessions says', () => {
    fc.assert(
      fc.property(histories, fc.nat(60), fc.nat(60), (history, offset, length) => {
        const { table, model } = lastOf(history);
        for (const key of [...services, 'toString']) {
          const all = model.ofService(key);
          const page = all.slice(offset, offset + length);
          expect(table.countOfService(key)).toBe(all.length);
          expect(table.totalOfService(key)).toBe(model.totals.get(key) ?? 0);
          expect(table.liveOfService(key)).toBe(model.live.get(key) ?? 0);
          expect(table.rangeOfService(key, 0, Infinity)).toEqual(all);
          expect(table.rangeOfService(key, offset, length)).toEqual(page);
          expect(table.idsOfService(key, offset, length)).toEqual(page.map(({ id }) => id));
          expect(table.identitiesOfService(key, offset, length)).toEqual(
            page.map(({ id, connected }) => ({ id, connected })),
          );
        }
        expect(table.total).toBe([...model.totals.values()].reduce((sum, each) => sum + each, 0));
        expect(table.live).toBe(Math.max(0, ...model.live.values()));
      }),
    );
  });

  it('says of each server what a search through all connections says, in order', () => {
    fc.assert(
      fc.property(histories, fc.nat(60), fc.nat(60), (history, offset, length) => {
        const { table, model } = lastOf(history);
        for (const key of [...servers, 'db-9']) {
          const all = model.ofServer(key);
          expect(table.countOfServer(key)).toBe(all.length);
          expect(table.connectionsOfServer(key, 0, Infinity)).toEqual(all);
          expect(table.connectionsOfServer(key, offset, length)).toEqual(all.slice(offset, offset + length));
        }
      }),
    );
  });

  it('stays as it was when newer tables have changed', () => {
    fc.assert(
      fc.property(histories, (history) => {
        for (const { table, model } of play(history)) {
          expect(JSON.stringify([...table])).toBe(JSON.stringify(model.sessions));
          for (const key of services) expect(table.countOfService(key)).toBe(model.ofService(key).length);
          for (const key of servers) expect(table.countOfServer(key)).toBe(model.ofServer(key).length);
        }
      }),
      { numRuns: 30 },
    );
  });

  it('is the same object exactly when a change does not apply', () => {
    fc.assert(
      fc.property(histories, fc.array(commands, { maxLength: 100, size: 'max' }), (history, more) => {
        const { table, model, revision } = lastOf(history);
        const change = { revision: revision + 1 };
        for (const command of more) {
          const applies = model.apply(command, change.revision) !== model;
          expect([command, apply(table, command, change) !== table]).toEqual([command, applies]);
        }
      }),
      { numRuns: 30 },
    );
  });

  it('never counts fewer sessions that were ever opened than before, nor fewer than are open', () => {
    fc.assert(
      fc.property(histories, (history) => {
        const steps = play(history);
        for (const key of services) {
          const totals = steps.map(({ table }) => table.totalOfService(key));
          expect(totals).toEqual(totals.toSorted((a, b) => a - b));
          for (const { table } of steps) {
            expect(table.totalOfService(key)).toBeGreaterThanOrEqual(table.countOfService(key));
          }
        }
      }),
      { numRuns: 30 },
    );
  });

  it('is frozen with all that it gives', () => {
    fc.assert(
      fc.property(histories, (history) => {
        const { table } = lastOf(history);
        expect(thawedPlaces(table)).toEqual([]);
      }),
      { numRuns: 30 },
    );
  });

  it('equals a table that came to the same sessions and counters another way', () => {
    fc.assert(
      fc.property(histories, (history) => {
        const { table, model } = lastOf(history);
        fc.pre(model.sessions.length > 0);
        let other = empty;
        for (const session of model.sessions.toReversed())
          other = other.open(session, { revision: table.live });
        for (const [key, total] of model.totals) other = other.withTotal(key, total);
        expect(table).toEqual(other);
        expect(table).not.toEqual(other.withTotal('sales', 1000));
        expect(table).not.toEqual(
          other.update(other.range(0, 1)[0]?.id ?? 0, { state: 'x' }, { revision: 1 }),
        );
      }),
      { numRuns: 30 },
    );
  });
});

const session: Session = {
  id: 7,
  state: 'ready',
  user: 'ada',
  address: '::1',
  service: 'sales',
  connected: 1_700_000_000_000,
  idle: 0,
  connections: [],
};
const connection: Connection = {
  id: 1,
  server: 'db-1',
  role: 'master',
  state: 'open',
  statistics: noStatistics,
};
const change: TableChange = { revision: 1 };
const one = empty.open({ ...session, connections: [connection] }, change);

describe('a record of the table', () => {
  it('is a copy: what the caller does with the original later is not seen', () => {
    const connections = [{ ...connection, statistics: { ...noStatistics, reads: 1 } }];
    const original = { ...session, connections };
    const table = empty.open(original, change);
    original.state = 'gone';
    connections.pop();
    expect(table.get(7)).toMatchObject({ state: 'ready', connections: [{ statistics: { reads: 1 } }] });
  });

  it('shares the statistics of connections that have done nothing', () => {
    const table = one.openConnection(7, { ...connection, id: 2, statistics: { ...noStatistics } }, change);
    expect(table.get(7)?.connections.map((each) => each.statistics === noStatistics)).toEqual([true, true]);
  });

  it('keeps its identity, whatever an update says', () => {
    const wide = { id: 8, service: 'stock', connected: 0, connections: [], state: 'closing' };
    expect(one.update(7, wide, change).get(7)).toEqual({
      ...session,
      connections: [connection],
      state: 'closing',
    });
    const wider = { id: 9, server: 'db-2', role: 'slave' };
    expect(one.updateConnection(7, 1, wider, change).get(7)?.connections).toEqual([
      { ...connection, role: 'slave' },
    ]);
  });

  it('is the same object in the next table when only others change', () => {
    const two = one.open({ ...session, id: 8 }, change);
    expect(two.update(8, { idle: 5 }, change).get(7)).toBe(one.get(7));
  });
});

describe('closing', () => {
  it.each([
    ['without a connect time', undefined, 0],
    ['with the connect time of the session', session.connected, 0],
    ['with another connect time, as of an earlier session with this id', session.connected - 1, 1],
  ])('a session %s', (_how, connected, left) => {
    expect(one.close({ id: 7, ...since(connected) }, change).size).toBe(left);
    expect(
      one.closeConnection({ session: 7, id: 1, ...since(connected) }, change).countOfServer('db-1'),
    ).toBe(left);
  });

  it('a session ends its connections', () => {
    const table = one.close({ id: 7 }, { revision: 5 });
    expect([table.size, table.countOfServer('db-1'), table.totalOfService('sales')]).toEqual([0, 0, 1]);
    expect(table.liveOfService('sales')).toBe(5);
  });
});

describe('opening', () => {
  it('refuses an id that is no safe integer', () => {
    expect(() => empty.open({ ...session, id: 0.5 }, change)).toThrow(RangeError);
  });

  it('counts several connections of a session to one server, in the order of opening', () => {
    const table = one.openConnection(7, { ...connection, id: 0 }, change);
    expect(table.countOfServer('db-1')).toBe(2);
    expect(table.connectionsOfServer('db-1', 1, 1).map((each) => each.connection.id)).toEqual([0]);
    expect(table.closeConnection({ session: 7, id: 1 }, change).countOfServer('db-1')).toBe(1);
  });
});
