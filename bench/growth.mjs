/**
 * What `pictures.mjs` draws: the cost of an operation for a number of sessions, here and with the structures of
 * `session.mjs`. Every call begins with the same sessions, so that the number does not change while the cost is measured.
 */
import { applyReports } from 'gateway-admin-core';

import { collectGarbage, measure } from './harness.mjs';
import * as peers from './peers/index.mjs';
import { btreeOpen, btreeTable, immerOpen, immerState, immutableOpen, immutableTable } from './session.mjs';
import { MutableTable, adminWith, connect, numbers, serviceNames, sessionOf } from './sessions.mjs';

const ours = 'gateway-admin-core';
const ids = (size) => numbers(size + 1, 64);

/** The snapshot with the sessions, and their records. */
let made;
function base(size) {
  if (made === undefined) {
    const { snapshot } = adminWith(size);
    made = { snapshot, records: snapshot.sessions.range(0, Infinity) };
  }
  return made;
}

/** Gives one of the values after the other, again and again. */
function cycle(values) {
  let at = 0;
  return () => values[(at = (at + 1) % values.length)];
}

/**
 * The least of several samples, because other work on the machine only adds to them. A case is measured alone, so that the
 * others do not fill the memory meanwhile.
 */
async function costOf(work) {
  collectGarbage();
  const { cost } = await measure({ cost: work }, { rounds: 7, roundMs: 30, warmMs: 300 });
  return Math.min(...cost);
}

export const costs = {
  async connect(size) {
    const { snapshot, records } = base(size);
    const report = cycle(ids(size).map(connect));
    const session = cycle(ids(size).map(sessionOf));
    const change = { revision: 1 };
    const times = {
      [ours]: await costOf(() => snapshot.sessions.open(session(), change)),
      'with checks and events': await costOf(() => applyReports(snapshot, report(), { now: 0 })),
    };
    const state = immerState(records);
    times['immer on Maps'] = await costOf(() => immerOpen(state, [session()]));
    const { Map: ImmutableMap } = (await peers.immutable()) ?? {};
    if (ImmutableMap !== undefined) {
      const table = immutableTable(ImmutableMap, records);
      times['Immutable.js'] = await costOf(() => immutableOpen(table, [session()]));
    }
    const BTree = await btree();
    if (BTree !== undefined) {
      const trees = btreeTable(BTree, records);
      times['sorted-btree'] = await costOf(() => btreeOpen(trees, [session()]));
    }
    const maps = new MutableTable(records);
    // Closed again, so that the number of sessions stays. Opening takes at most as long as both.
    times['mutable Maps, no snapshots'] = await costOf(() => {
      const opened = session();
      maps.open(opened);
      maps.close(opened.id);
    });
    return times;
  },

  async page(size) {
    const { snapshot, records } = base(size);
    const times = { [ours]: await costOf(() => snapshot.sessions.range(size - 100, 100)) };
    const map = new Map(records.map((record) => [record.id, record]));
    times['a walk of a Map'] = await costOf(() => lastOf(map.values(), size));
    const BTree = await btree();
    if (BTree !== undefined) {
      const tree = new BTree(records.map((record) => [record.id, record]));
      times['a walk of sorted-btree'] = await costOf(() => lastOf(tree.values(), size));
    }
    return times;
  },

  async service(size) {
    const { snapshot, records } = base(size);
    const { sessions } = snapshot;
    const name = cycle(serviceNames);
    const times = { [ours]: await costOf(() => sessions.rangeOfService(name(), 0, Infinity)) };
    const { sessions: map, services } = new MutableTable(records);
    times['a scan of a Map'] = await costOf(() => {
      const [found, key] = [[], name()];
      for (const session of map.values()) if (session.service === key) found.push(session);
      return found;
    });
    times['a Map with an index'] = await costOf(() =>
      Array.from(services.get(name()).ids.keys(), (id) => map.get(id)),
    );
    return times;
  },
};

async function btree() {
  const { default: module } = (await peers.sortedBtree()) ?? {};
  return module?.default ?? module;
}

/** The last 100 of the values, by their position. */
function lastOf(values, size) {
  const found = [];
  let position = 0;
  for (const value of values) {
    if (position >= size - 100) found.push(value);
    position += 1;
  }
  return found;
}
