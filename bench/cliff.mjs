/**
 * Rows of growth: what one of many costs, when there are few and when there are many. The cost for each of the largest
 * number must be about that of the smallest one.
 */
import { adoptDocument, createAdmin, createSnapshot, drain, patchService } from 'gateway-admin-core';

import { measure, measureGrowth, ratios } from './harness.mjs';
import { gateway } from './sessions.mjs';

export const rows = {
  N1: { title: 'Reports, changes and reads, while many servers drain', run: whileDraining },
  N2: { title: 'The beginning of a drain, of each of many servers', run: beginnings },
  N3: { title: 'GET of the history, for each of its entries', run: histories },
  N4: { title: 'The adoption of a document, for each server that is new', run: adoptions },
  N5: { title: 'A command, for each of many that are in flight at once', run: flights },
};

/** The largest cost of one of the largest number, of that of one of the smallest number. */
const most = 1.3;

const able = { ...gateway, supports: ['drain', 'create', 'delete'] };
const context = { now: Date.UTC(2026, 0, 1) };
const json = { 'content-type': 'application/json' };
/** A drain with a deadline in a year. */
const aYear = { timeout: 31_536_000, then: 'close' };

const nameAt = (at) => `db-${String(at)}`;

function servers(count) {
  return Array.from({ length: count }, (_, at) => ({
    name: nameAt(at),
    address: '10.0.0.1',
    port: 5432,
    protocol: 'pg',
  }));
}

function open(document, options = {}) {
  return createAdmin({ snapshot: createSnapshot(document), gateway: able, ...options });
}

/** Servers, of which the first ones drain. */
function openDraining(count, draining) {
  const until = new Date(Date.now() + aYear.timeout * 1000).toISOString();
  const setting = { since: '2026-01-01T00:00:00Z', until, ...aYear };
  const all = servers(count).map((server, at) => (at < draining ? { ...server, drain: setting } : server));
  return open({ servers: all, services: [{ name: 'read', router: 'readconnroute' }] });
}

async function request(admin, method, target, body) {
  const { response } = await admin.handle({
    method,
    target,
    headers: body ? json : {},
    ...(body && { body }),
  });
  const text = await bodyOf(response);
  if (response.status >= 300) throw new Error(`${method} ${target} got ${response.status}: ${text}`);
  return text;
}

/** A long list comes in pieces. */
async function bodyOf({ body = '' }) {
  if (typeof body === 'string') return body;
  let text = '';
  for await (const piece of body) text += typeof piece === 'string' ? piece : Buffer.from(piece).toString();
  return text;
}

async function execute(admin, transition) {
  const { outcome } = await admin.execute(transition);
  if (outcome !== 'accepted') throw new Error(outcome);
}

/** The cost of one of the largest number, of that of one of the smallest number. */
function compare(row, title, costs, sizes) {
  row.atMost(title, most, ratios(costs, sizes.at(-1), sizes[0]));
  for (const size of sizes) row.report(`${title}, with ${size.toLocaleString('en')}`, costs[size], 'µs');
}

async function whileDraining(row) {
  const sizes = [0, 1, 5000];
  const worlds = sizes.map((size) => ({ admin: openDraining(5001, size), count: 0 }));
  const works = [
    { title: 'a session that comes and goes elsewhere', work: (world) => comeAndGo(world, nameAt(5000)) },
    { title: 'a server reported', work: reportServer },
    { title: 'a PATCH of a service', work: patch },
    // This session is an event more, and makes another version of its server.
    { title: 'a session on one that drains', work: (world) => comeAndGo(world, nameAt(0)), first: 1 },
  ];
  for (const { title, work, first = 0 } of works) {
    const cases = Object.fromEntries(worlds.map((world, at) => [sizes[at], () => work(world)]));
    compare(row, title, await measure(cases), [...new Set([first, ...sizes.slice(1)])]);
  }
  for (const { admin } of worlds) await admin.close();
  const lists = [500, 5000];
  const read = {
    open: (size) => openDraining(size, size),
    work: (admin) => request(admin, 'GET', '/servers'),
    close: (admin) => admin.close(),
  };
  compare(row, 'GET of all servers, all of which drain', await measureGrowth(lists, read), lists);
}

function comeAndGo({ admin }, server) {
  const session = { id: 1, connected: context.now };
  const opened = { state: 'Session ready for routing', user: 'ada', address: '192.0.2.7', service: 'read' };
  const connections = [{ id: 0, server, role: 'slave', state: 'Connected' }];
  admin.report({ type: 'session.opened', ...session, ...opened, connections });
  admin.report({ type: 'session.closed', ...session });
}

function reportServer(world) {
  world.count += 1;
  const status = world.count % 2 === 0 ? ['running'] : [];
  world.admin.report({ type: 'server.reported', server: nameAt(5000), status });
}

function patch(world) {
  world.count += 1;
  const operations = [{ op: 'replace', path: '/max_connection', value: world.count }];
  return execute(world.admin, (snapshot, within) => patchService(snapshot, 'read', operations, within));
}

async function beginnings(row) {
  const sizes = [500, 5000];
  const begin = {
    open: (size) => openDraining(size, 0),
    work: async (admin, size) => {
      for (let at = 0; at < size; at += 1)
        await execute(admin, (snapshot, within) => drain(snapshot, 'servers', nameAt(at), aYear, within));
    },
    close: (admin) => admin.close(),
  };
  compare(row, 'one drain', await measureGrowth(sizes, begin), sizes);
}

async function histories(row) {
  const sizes = [100, 1000];
  const worlds = {
    'undos of undos': undosOfUndos,
    'creations and deletions': creationsAndDeletions,
  };
  for (const [title, fill] of Object.entries(worlds))
    for (const query of ['', '?fields=id']) {
      const get = {
        open: async (size) => {
          const admin = open({ services: [{ name: 'read', router: 'readconnroute' }] });
          await fill(admin, size);
          return admin;
        },
        work: async (admin, size) => {
          const { length } = JSON.parse(await request(admin, 'GET', `/history${query}`));
          if (length !== size) throw new Error(`${length} entries`);
        },
        close: (admin) => admin.close(),
      };
      compare(row, `${title}${query}`, await measureGrowth(sizes, get), sizes);
    }
}

async function undosOfUndos(admin, count) {
  await patch({ admin, count: 1 });
  const newest = async () => JSON.parse(await request(admin, 'GET', '/history?range=0-0'))[0].id;
  const first = await newest();
  const [prefix, number] = [
    first.slice(0, first.lastIndexOf('-')),
    Number(first.slice(first.lastIndexOf('-') + 1)),
  ];
  for (let at = 0; at < count - 1; at += 1)
    await request(admin, 'PUT', `/history/${prefix}-${String(number + at)}/undo`);
}

async function creationsAndDeletions(admin, count) {
  for (let at = 0; at < count / 2; at += 1) {
    const [server] = servers(1);
    await request(admin, 'POST', '/servers', JSON.stringify(server));
    await request(admin, 'DELETE', `/servers/${server.name}`);
  }
}

async function adoptions(row) {
  const sizes = [1000, 8000];
  const adopt = {
    open: (size) => ({ admin: open({}), given: createSnapshot({ servers: servers(size) }) }),
    work: async ({ admin, given }, size) => {
      await execute(admin, (snapshot, within) => adoptDocument(snapshot, given, within));
      if (admin.snapshot.servers.size !== size) throw new Error('Servers are missing.');
    },
    close: ({ admin }) => admin.close(),
  };
  compare(row, 'one new server', await measureGrowth(sizes, adopt), sizes);
}

async function flights(row) {
  const sizes = [1000, 30_000];
  const fly = {
    open: (size) => {
      const world = { answers: [] };
      const waiting = { ...able, apply: () => new Promise((resolve) => world.answers.push(resolve)) };
      const limits = { maxInFlight: size, maxQueued: size };
      world.admin = open({ servers: servers(size) }, { gateway: waiting, limits });
      return world;
    },
    work: async ({ admin, answers }, size) => {
      const all = Array.from({ length: size }, (_, at) =>
        execute(admin, (snapshot, within) => drain(snapshot, 'servers', nameAt(at), {}, within)),
      );
      while (answers.length < size) await new Promise((resolve) => setImmediate(resolve));
      for (const answer of answers) answer();
      await Promise.all(all);
    },
    close: ({ admin }) => admin.close(),
  };
  compare(row, 'one command', await measureGrowth(sizes, fly, { rounds: 3 }), sizes);
}
