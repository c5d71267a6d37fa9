/**
 * Counts what one operation runs and asks for: exact figures, the same on every machine, in seconds. Nothing watches the
 * interface: there is no sink, hook, logger or reader of events.
 *
 * `npm run counts` compares them with those of `counts.json`, and fails where one has grown by more than a twentieth.
 * `npm run counts -- --accept` takes the figures of now: the commit says why they grew.
 */
import { createHook } from 'node:async_hooks';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { Session } from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import {
  createAdmin,
  createBasicAuthentication,
  createMemoryStore,
  createPbkdf2Hasher,
  createSnapshot,
  openAdmin,
  startService,
  stopService,
} from '../dist/index.js';
import { openFileStore } from '../dist/ports/file-store/file-store.js';
import { sizes, unasked, worlds } from './growth-counts.mjs';

const mostGrowth = 1.05;
const file = fileURLToPath(new URL('counts.json', import.meta.url));

const document = {
  servers: [{ name: 'db-1', address: '10.0.0.1', port: 5432, protocol: 'pg', status: ['running'] }],
  services: [{ name: 'Sales', router: 'readconnroute', servers: ['/servers/db-1'], max_connection: 1 }],
};
const snapshot = createSnapshot(document);
const gateway = { apply: () => Promise.resolve(), inspect: () => Promise.resolve('not-in-place') };
const withCaller = { authenticate: () => ({ name: 'ada' }), authorize: () => true };

let value = 1;

/** The operations by name. Each gives the interface that it needs, and what is done once with it. */
const operations = {
  'GET of a service': () => [createAdmin({ snapshot, gateway }), get()],
  'GET of a service, with a remembered log-in': async () => {
    const password = { sealed: await createPbkdf2Hasher().hash('engine') };
    const users = [{ name: 'ada', password }];
    const access = { authenticate: createBasicAuthentication() };
    const admin = createAdmin({ snapshot: createSnapshot({ ...document, users }), gateway, access });
    return [admin, get({ authorization: `Basic ${btoa('ada:engine')}` })];
  },
  'PATCH of three operations': () => [createAdmin({ snapshot, gateway }), patch(three)],
  'PATCH of a service, with a memory store and a caller': async () => {
    const options = { snapshot, gateway, access: withCaller, store: createMemoryStore() };
    return [await openAdmin(options), patch(limit)];
  },
  'PATCH of a service, with a file store': async () => {
    const directory = mkdtempSync(join(tmpdir(), 'counts-'));
    const store = await openFileStore(join(directory, 'store'));
    const admin = await openAdmin({ snapshot, gateway, store });
    return [admin, patch(limit), () => rmSync(directory, { recursive: true })];
  },
  'stop and start of a service': () => [
    createAdmin({ snapshot, gateway }),
    async (admin) => {
      await admin.execute((now, context) => stopService(now, 'Sales', context));
      await admin.execute((now, context) => startService(now, 'Sales', context));
    },
  ],
  'the decision to stop a service': () => [
    createAdmin({ snapshot, gateway }),
    (admin) => stopService(admin.snapshot, 'Sales', { now: Date.now() }),
  ],
};

function get(headers = {}) {
  return (admin) => admin.handle({ method: 'GET', target: '/services/Sales', headers });
}

function patch(operationsOf) {
  const headers = { 'content-type': 'application/json-patch+json' };
  return (admin) =>
    admin.handle({
      method: 'PATCH',
      target: '/services/Sales',
      headers,
      body: JSON.stringify(operationsOf()),
    });
}

function limit() {
  return [{ op: 'replace', path: '/max_connection', value: (value += 1) }];
}

function three() {
  return [
    ...limit(),
    { op: 'replace', path: '/connection_timeout', value },
    { op: 'add', path: '/version_string', value: String(value) },
  ];
}

/** Counts every operation, warm. Gives a row of figures by its name. */
export async function counts() {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  const rows = {};
  for (const [name, make] of Object.entries(operations)) {
    const [admin, run, cleanUp = () => undefined] = await make();
    const once = async () => {
      const { response } = (await run(admin)) ?? {};
      if (response !== undefined && response.status !== 200)
        throw new Error(`${name} got ${response.status}`);
      // What a command does after its answer counts too.
      await setTimeout(20);
    };
    for (let time = 0; time < 50; time += 1) await run(admin);
    rows[name] = {
      ...(await functionsOf(session, once)),
      ...(await promisesOf(once)),
      ...(await writtenBy(once)),
    };
    await admin.close();
    cleanUp();
  }
  session.disconnect();
  return rows;
}

/** The functions of the built package that run, how often, in how many files, and those of what only watches. */
async function functionsOf(session, once) {
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  await once();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  await session.post('Profiler.stopPreciseCoverage');
  const run = result
    .filter(({ url }) => url.includes('/dist/') && !/\/(?:node_modules|testing)\//.test(url))
    .flatMap(({ url, functions }) => functions.map(({ ranges: [{ count }] }) => ({ url, count })))
    .filter(({ count }) => count > 0);
  return {
    functions: run.length,
    calls: run.reduce((sum, { count }) => sum + count, 0),
    files: new Set(run.map(({ url }) => url)).size,
    watching: run.filter(({ url }) => /\/runtime\/(?:audit|instrumentation)\//.test(url)).length,
  };
}

async function promisesOf(once) {
  let promises = 0;
  const hook = createHook({ init: (_id, type) => void (promises += type === 'PROMISE' ? 1 : 0) });
  const count = async (work) => {
    promises = 0;
    hook.enable();
    await work();
    hook.disable();
    return promises;
  };
  const idle = await count(async () => void (await setTimeout(20)));
  return { promises: (await count(once)) - idle };
}

/** How often a file is synced, and the bytes that are written to files. */
async function writtenBy(once) {
  const handle = await open(fileURLToPath(import.meta.url));
  const methods = Object.getPrototypeOf(handle);
  await handle.close();
  const { datasync, write } = methods;
  let [syncs, bytes] = [0, 0];
  methods.datasync = function () {
    syncs += 1;
    return datasync.call(this);
  };
  methods.write = async function (...given) {
    const written = await write.apply(this, given);
    bytes += written.bytesWritten;
    return written;
  };
  await once();
  Object.assign(methods, { datasync, write });
  return { syncs, bytes };
}

/**
 * Counts the calls of the operations in a world with few resources and in one with many. What one of many costs must not
 * depend on their number; `growth` is the ratio.
 */
export async function growth() {
  const all = await callsWith(sizes);
  if (unasked.size > 0) throw new Error(`No operation asks ${[...unasked].join(', ')}`);
  const row = ([[few, callsOfFew], [many, callsOfMany]]) => ({
    ...{ [`with ${String(few)}`]: callsOfFew, [`with ${String(many)}`]: callsOfMany },
    growth: round(callsOfMany / callsOfFew),
  });
  return Object.fromEntries(Object.entries(all).map(([name, points]) => [name, row(points)]));
}

/**
 * Counts the calls of operations in worlds of some sizes.
 *
 * @param {number[]} of - the numbers of resources of each kind
 * @param {string[]} [only] - the names of the operations; all by default
 * @returns {Promise<Record<string, [size: number, calls: number][]>>} by operation
 */
export async function callsWith(of, only) {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  const calls = {};
  for (const { open: openWorld, operations: all } of worlds) {
    const wanted = Object.entries(all).filter(([name]) => only?.includes(name) ?? true);
    if (wanted.length === 0) continue;
    for (const size of of) {
      const world = await openWorld(size);
      for (const [name, prepare] of wanted)
        (calls[name] ??= []).push([size, await callsOf(session, () => prepare(world, size))]);
      await world.close();
    }
  }
  session.disconnect();
  return only === undefined ? calls : Object.fromEntries(only.map((name) => [name, calls[name]]));
}

/** The calls of an operation when it is done for the fourth time. */
async function callsOf(session, prepare) {
  for (let time = 0; time < 3; time += 1) await (await prepare())();
  const work = await prepare();
  const { calls } = await functionsOf(session, async () => {
    await work();
    await setTimeout(20);
  });
  return calls;
}

function round(ratio) {
  return Number(ratio.toFixed(2));
}

/** What has grown by more than a twentieth, in a line each. */
function grownSince(accepted, rows) {
  return Object.entries(rows).flatMap(([name, row]) =>
    Object.entries(row)
      .filter(([key, count]) => count > (accepted[name]?.[key] ?? 0) * mostGrowth)
      .map(
        ([key, count]) =>
          `${name}: ${String(count)} ${key}, accepted are ${String(accepted[name]?.[key] ?? 0)}`,
      ),
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const operationRows = await counts();
  console.table(operationRows);
  const growthRows = await growth();
  console.table(growthRows);
  const rows = { ...operationRows, ...growthRows };
  if (process.argv.includes('--accept')) writeFileSync(file, `${JSON.stringify(rows, undefined, 2)}\n`);
  const grown = grownSince(JSON.parse(readFileSync(file, 'utf8')), rows);
  if (grown.length > 0) console.log(`More than before:\n${grown.join('\n')}`);
  process.exitCode = grown.length === 0 ? 0 : 1;
}
