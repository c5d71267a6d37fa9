/**
 * Sessions: what a connect costs, alone and in batches, at any size; reading; memory; and a steady load.
 *
 * "structure" is the session table alone, which only the built files give. "report" is the whole way through
 * `admin.report`, with validation, events and frozen snapshots.
 */
import { applyReports } from 'gateway-admin-core';
import { enableMapSet, freeze, produce } from 'immer';

import { Batch } from '../dist/core/batch.js';
import { OrderedMap } from '../dist/core/ordered-map.js';
import { collectGarbage, cpuMs, heapOf, measure, ratios, startTurn } from './harness.mjs';
import * as peers from './peers/index.mjs';
import {
  MutableTable,
  adminWith,
  connect,
  disconnect,
  numbers,
  recordOf,
  serverNames,
  serviceNames,
  sessionOf,
  snapshotWithoutSessions,
  update,
} from './sessions.mjs';

enableMapSet();

const million = 1_000_000;

/** The interface with a million sessions, loaded once for all rows. Rows work on the snapshot, which stays as it is. */
let loaded;
const base = () => (loaded ??= adminWith(million));
const recordsOf = (snapshot) => snapshot.sessions.range(0, Infinity);

/** Ids that no row has used before. */
let lastId = 10 * million;
const freshIds = (count) => {
  lastId += count;
  return numbers(lastId - count, count);
};

/** Takes one input after the other. */
const taking = (inputs) => () => inputs.pop();

export const rows = {
  S1: {
    title: 'One connect with two connections, all indexes, 1,000,000 live, every old snapshot valid',
    run: oneConnect,
  },
  S2: { title: 'Connects and closes in lists of 1,000, two connections each, 1,000,000 live', run: batches },
  S3: { title: 'An event at 1,000,000 sessions against 10,000', run: events },
  S4: { title: 'A range of 100 sessions at any offset of 1,000,000', run: range },
  S5: {
    title: 'All sessions of one of 100 services, 1,000,000 live, against the scan of a Map',
    run: ofService,
  },
  S6: { title: 'Memory', run: memory },
  S7: {
    title: 'Steady 20,000 events a second while a reader holds snapshots, against mutable Maps',
    run: steady,
  },
};

/** Maps in an immer draft: the natural peer. */
export function immerState(records) {
  const maps = new MutableTable(records);
  return freeze({ sessions: maps.sessions, services: maps.services, servers: maps.servers }, true);
}

export function immerOpen(state, sessions) {
  return produce(state, (draft) => {
    for (const session of sessions) MutableTable.prototype.add.call(draft, recordOf(session));
  });
}

async function oneConnect(row) {
  const admin = base();
  let state = immerState(recordsOf(admin.snapshot));
  let table = admin.snapshot.sessions;
  const kept = [];
  // Long rounds, because the collector works once for some thousand snapshots that are kept.
  const [rounds, count, warmRounds] = [5, 2000, 2];
  const sessions = taking(freshIds((rounds + warmRounds) * count).map(sessionOf));
  const reports = taking(freshIds((rounds + warmRounds) * count).map(connect));
  // Otherwise, the collector still marks the million sessions of the peer while ours are measured.
  collectGarbage();
  const ours = await measure(
    {
      structure: () => kept.push((table = table.open(sessions(), { revision: 1 }))),
      report: () => {
        admin.report(reports());
        kept.push(admin.snapshot);
      },
    },
    { rounds, count, warmRounds },
  );
  collectGarbage();
  const peer = await measure(
    { immer: () => (state = immerOpen(state, freshIds(1).map(sessionOf))) },
    { rounds, count: 1 },
  );
  const times = { ...ours, ...peer };
  row.report('structure: immer on Maps takes', ratios(times, 'immer', 'structure'));
  row.report('report: immer on Maps takes', ratios(times, 'immer', 'report'));
}

async function batches(row) {
  const admin = base();
  const records = recordsOf(admin.snapshot);
  // A gateway runs for long, so both sides are measured on warm code.
  const [rounds, count, warmRounds] = [6, 8, 6];
  const inputs = (of) => taking(numbers(0, (rounds + warmRounds) * count).map(() => freshIds(1000).map(of)));
  const against = async (cases, how = {}) => {
    collectGarbage();
    return measure(cases, { rounds, count, warmRounds, ...how });
  };
  const structure = () => {
    const next = inputs(sessionOf);
    let table = admin.snapshot.sessions;
    return () => {
      const batch = new Batch();
      for (const session of next()) table = table.open(session, { revision: 1, batch });
      batch.end();
      return table;
    };
  };
  const report = () => {
    const next = inputs(connect);
    return () => admin.report(next());
  };
  await againstMaps(row, against, { records, inputs, admin });
  await againstLibraries(row, against, { records, inputs, structure });
  let state = immerState(records);
  const times = await against(
    {
      report: report(),
      immer: () => (state = immerOpen(state, freshIds(1000).map(sessionOf))),
    },
    { rounds: 4, count: 1, warmRounds: 1 },
  );
  row.report('report: immer on Maps takes', ratios(times, 'immer', 'report'));
}

/** A gateway sees as many sessions end as begin, so each one that is opened is closed in the next list. */
async function againstMaps(row, against, { records, inputs, admin }) {
  const maps = new MutableTable(records);
  const lists = { structure: inputs(sessionOf), report: inputs((id) => id), maps: inputs(sessionOf) };
  let table = admin.snapshot.sessions;
  const times = await against({
    structure: () => {
      const sessions = lists.structure();
      for (const change of [opening(sessions), closing(sessions)]) {
        const batch = new Batch();
        for (const step of change) table = step(table, { revision: 1, batch });
        batch.end();
      }
      return table;
    },
    report: () => {
      const ids = lists.report();
      admin.report(ids.map(connect));
      admin.report(ids.map(disconnect));
    },
    maps: () => {
      const sessions = lists.maps();
      for (const session of sessions) maps.open(session);
      for (const { id } of sessions) maps.close(id);
    },
  });
  row.atMost('structure, of mutable Maps', 2.5, ratios(times, 'structure', 'maps'));
  row.atMost('report, of mutable Maps', 3.3, ratios(times, 'report', 'maps'));
}

const opening = (sessions) => sessions.map((session) => (table, change) => table.open(session, change));

const closing = (sessions) => sessions.map((session) => (table, change) => table.close([session], change));

async function againstLibraries(row, against, { records, inputs, structure }) {
  const { Map: ImmutableMap } = (await peers.immutable()) ?? {};
  if (ImmutableMap === undefined) row.note('Immutable.js is not installed');
  else {
    const next = inputs(sessionOf);
    let table = immutableTable(ImmutableMap, records);
    const times = await against({
      structure: structure(),
      immutable: () => (table = immutableOpen(table, next())),
    });
    row.report('structure: Immutable.js takes', ratios(times, 'immutable', 'structure'));
  }
  const { default: module } = (await peers.sortedBtree()) ?? {};
  if (module === undefined) return row.note('sorted-btree is not installed');
  const BTree = module.default ?? module;
  const next = inputs(sessionOf);
  let trees = btreeTable(BTree, records);
  const times = await against({
    structure: structure(),
    btree: () => (trees = btreeOpen(trees, next())),
  });
  return row.report('structure: sorted-btree takes', ratios(times, 'btree', 'structure'));
}

/** One Map for the sessions, and one for each service and each server. */
export function immutableTable(ImmutableMap, records) {
  const empty = { ids: ImmutableMap(), connections: 0 };
  const table = {
    sessions: ImmutableMap(),
    services: ImmutableMap(serviceNames.map((name) => [name, { ...empty, total: 0 }])),
    servers: ImmutableMap(serverNames.map((name) => [name, empty])),
  };
  return immutableOpen(table, records, (record) => record);
}

export function immutableOpen({ sessions, services, servers }, given, record = recordOf) {
  const open = [sessions, services, servers].map((each) => each.asMutable());
  const touched = new Map();
  const entryIn = (map, key) => {
    const known = touched.get(key);
    if (known !== undefined) return known;
    const entry = { ...map.get(key) };
    entry.ids = entry.ids.asMutable();
    touched.set(key, entry);
    return entry;
  };
  for (const each of given) {
    const session = record(each);
    open[0].set(session.id, session);
    const service = entryIn(open[1], session.service);
    service.ids.set(session.id, session.connected);
    service.connections += session.connections.length;
    service.total += 1;
    for (const { server } of session.connections) {
      const entry = entryIn(open[2], server);
      entry.ids.set(session.id, (entry.ids.get(session.id) ?? 0) + 1);
      entry.connections += 1;
    }
  }
  for (const [key, entry] of touched) {
    entry.ids = entry.ids.asImmutable();
    open[open[1].has(key) ? 1 : 2].set(key, Object.freeze(entry));
  }
  const [nextSessions, nextServices, nextServers] = open.map((each) => each.asImmutable());
  return { sessions: nextSessions, services: nextServices, servers: nextServers };
}

/** A tree for the sessions, and one for each service and each server; a clone shares its nodes until they change. */
export function btreeTable(BTree, records) {
  const table = {
    sessions: new BTree(),
    services: new Map(serviceNames.map((name) => [name, { ids: new BTree(), connections: 0, total: 0 }])),
    servers: new Map(serverNames.map((name) => [name, { ids: new BTree(), connections: 0 }])),
  };
  return btreeOpen(table, records, (record) => record);
}

export function btreeOpen(table, given, record = recordOf) {
  const sessions = table.sessions.clone();
  const next = { sessions, services: new Map(table.services), servers: new Map(table.servers) };
  const touched = new Set();
  const entryIn = (map, key) => {
    const entry = map.get(key);
    if (touched.has(key)) return entry;
    touched.add(key);
    const copy = { ...entry, ids: entry.ids.clone() };
    map.set(key, copy);
    return copy;
  };
  for (const each of given) {
    const session = record(each);
    sessions.set(session.id, session);
    const service = entryIn(next.services, session.service);
    service.ids.set(session.id, session.connected);
    service.connections += session.connections.length;
    service.total += 1;
    for (const { server } of session.connections) {
      const entry = entryIn(next.servers, server);
      entry.ids.set(session.id, (entry.ids.get(session.id) ?? 0) + 1);
      entry.connections += 1;
    }
  }
  return next;
}

async function events(row) {
  const [small, large] = [adminWith(10_000), base()];
  const [rounds, count] = [7, 20];
  const life = (admin, size) => () => {
    const ids = freshIds(size);
    admin.report(ids.map(connect));
    admin.report(ids.map((id) => update(id, 7)));
    admin.report(ids.map(disconnect));
  };
  const batched = await measure({ large: life(large, 1000), small: life(small, 1000) }, { rounds, count: 3 });
  const single = await measure(
    { large: life(large, 1), small: life(small, 1) },
    { rounds, count: count * 100 },
  );
  row.atMost('in batches of 1,000', 1.5, ratios(batched, 'large', 'small'));
  row.atMost('one by one', 1.5, ratios(single, 'large', 'small'));
  await small.close();
}

async function range(row) {
  const [small, large] = [adminWith(1000), base()];
  const offsets = numbers(0, 64).map((n) => Math.floor(((n * 37) % 64) * (million / 64)));
  let at = 0;
  const next = () => offsets[(at += 1) % offsets.length];
  const own = await measure({
    large: () => large.snapshot.sessions.range(next(), 100),
    small: () => small.snapshot.sessions.range(next() % 900, 100),
  });
  row.atMost('itself with 1,000 sessions', 1.5, ratios(own, 'large', 'small'));
  await small.close();
  const { default: module } = (await peers.sortedBtree()) ?? {};
  if (module === undefined) return row.note('sorted-btree is not installed');
  const BTree = module.default ?? module;
  const tree = new BTree(recordsOf(large.snapshot).map((record) => [record.id, record]));
  const walk = (offset) => {
    const found = [];
    let position = 0;
    for (const session of tree.values()) {
      if (position >= offset) found.push(session);
      if (found.length === 100) break;
      position += 1;
    }
    return found;
  };
  const peer = await measure({ btree: () => walk(next()) }, { rounds: 7, count: 8 });
  return row.atLeast('the walk of sorted-btree takes', 3000, ratios({ ...own, ...peer }, 'btree', 'large'));
}

async function ofService(row) {
  const { sessions } = base().snapshot;
  const map = new Map(recordsOf(base().snapshot).map((record) => [record.id, record]));
  const scan = (key) => {
    const found = [];
    for (const session of map.values()) if (session.service === key) found.push(session);
    return found;
  };
  let at = 0;
  const next = () => serviceNames[(at += 1) % serviceNames.length];
  const times = await measure({
    ids: () => sessions.idsOfService(next(), 0, Infinity),
    sessions: () => sessions.rangeOfService(next(), 0, Infinity),
    scan: () => scan(next()),
  });
  row.atLeast('ids', 100, ratios(times, 'scan', 'ids'));
  row.atLeast('the sessions themselves', 100, ratios(times, 'scan', 'sessions'));
}

function memory(row) {
  const { snapshot } = base();
  const ids = numbers(1, 5000).map((n) => n * 199);
  const changed = (report) => {
    const change = () => ids.map((id) => applyReports(snapshot, report(id), { now: 0 }).next);
    // The heap keeps compiled code as well, so everything runs once before.
    change();
    return heapOf(change);
  };
  const kB = (bytes) => bytes / ids.length / 1000;
  row.report('one retained snapshot after one change of a session', kB(changed((id) => update(id, 7))), 'kB');
  row.atMost(
    'one retained snapshot after a connect with two connections',
    6,
    kB(changed((id) => connect(id + 20 * million))),
    'kB',
  );
  const count = 300_000;
  const made = numbers(1, count);
  let table;
  const whole = heapOf(() => {
    let state = snapshotWithoutSessions();
    for (let from = 0; from < count; from += 1000)
      state = applyReports(state, made.slice(from, from + 1000).map(connect), { now: 0 }).next;
    return (table = state.sessions);
  });
  const records = heapOf(() => Array.from(table, recordOf));
  const entries = Array.from(table, (record) => [record.id, record]);
  const tree = heapOf(() => OrderedMap.from(entries));
  const maps = heapOf(() => new MutableTable(made.map(sessionOf)));
  row.atMost('a session with two connections, of mutable Maps', 0.9, whole / maps);
  row.report('indexes, for each session', (whole - records - tree) / count, 'bytes');
  row.report('a session with two connections', whole / count, 'bytes');
  row.report('its records alone', records / count, 'bytes');
  row.report('the same in mutable Maps', maps / count, 'bytes');
}

async function steady(row) {
  for (const count of [100_000, million]) {
    const shares = [];
    const ticks = { ours: [], maps: [] };
    const admin = count === million ? base() : adminWith(count);
    const maps = new MutableTable(recordsOf(admin.snapshot));
    const openIds = { ours: numbers(1, 50_000), maps: numbers(1, 50_000) };
    const held = [];
    const ours = (reports) => {
      admin.report(reports);
      held.push(admin.snapshot);
      if (held.length > 100) held.shift();
    };
    const theirs = (reports) => reports.forEach((report) => applyToMaps(maps, report));
    for (let round = 0; round < 4; round += 1) {
      const order = [
        () => load(ours, openIds.ours, ticks.ours),
        () => load(theirs, openIds.maps, ticks.maps),
      ];
      const [first, second] = round % 2 === 0 ? order : order.toReversed();
      const results = [await first(), await second()];
      const [own, other] = round % 2 === 0 ? results : results.toReversed();
      // The first round warms the code.
      if (round > 0) shares.push(own / other);
    }
    const size = count.toLocaleString('en');
    row.atMost(`share of a core, ${size} sessions`, 2.5, shares);
    row.atMost(`longest tick, ${size} sessions`, 50, Math.max(...ticks.ours), 'ms');
    row.report(`longest tick of the Maps, ${size} sessions`, Math.max(...ticks.maps), 'ms');
    if (admin !== loaded) await admin.close();
  }
}

/** Two seconds of 20,000 events a second; gives the milliseconds of CPU time. */
function load(apply, openIds, ticks) {
  return cpuMs(async () => {
    const end = performance.now() + 2000;
    for (let due = performance.now(); due < end; due += 10) {
      const opened = freshIds(80);
      const closed = openIds.splice(0, 80);
      openIds.push(...opened);
      const reports = [
        ...opened.map(connect),
        ...opened.slice(0, 40).map((id) => update(id, 7)),
        ...closed.map(disconnect),
      ];
      const msOf = startTurn();
      apply(reports);
      ticks.push(msOf());
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, due + 10 - performance.now())));
    }
  });
}

function applyToMaps(maps, report) {
  if (report.type === 'session.opened') {
    const { type: _type, ...session } = report;
    maps.open({ ...session, idle: 0 });
  } else if (report.type === 'session.updated') maps.update(report.id, { idle: report.idle });
  else maps.close(report.id);
}
