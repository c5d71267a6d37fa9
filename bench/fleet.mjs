/**
 * What a fleet costs: `npm run bench:fleet`, on a quiet machine. Fleets of several sizes on one PostgreSQL server, side by side
 * with one node on a file store, in alternating order. All nodes run in this process, so that they share its processor: on
 * machines of their own, large fleets are faster than here.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { createSnapshot, openAdmin, patchService } from 'gateway-admin-core';
import { openFileStore } from 'gateway-admin-core/file-store';
import { openFleet } from 'gateway-admin-core/fleet';
import { openPostgresStore } from 'gateway-admin-core/postgres-store';

import { openServer } from './postgres-server.mjs';

const clients = 64;
const sizes = (process.argv[2] ?? '1,2,3,5,10').split(',').map(Number);
const rounds = 3;
const [warmMs, measuredMs] = [700, 2000];

const names = Array.from({ length: clients }, (_, number) => `Service ${number}`);
const snapshot = createSnapshot({
  services: names.map((name) => ({ name, router: 'readconnroute', max_connection: 1 })),
});
const gateway = { apply: () => Promise.resolve(), inspect: () => Promise.resolve('in-place') };

const directory = await mkdtemp(join(tmpdir(), 'gateway-fleet-bench-'));
let clusters = 0;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1));
const server = await openServer();
try {
  const cases = [
    { title: 'one node, file store', open: openAlone },
    ...sizes.map((size) => ({ title: nodes(size), open: () => openNodes(size, server) })),
  ];
  await compare('64 clients on 64 services', cases, (client) => names[client]);
  await compare('64 clients on one service', cases, () => names[0]);
  explain();
} finally {
  await server.close();
  await rm(directory, { recursive: true, force: true, maxRetries: 5 });
}

async function openAlone() {
  clusters += 1;
  const store = await openFileStore(join(directory, `store-${clusters}`));
  return [await openAdmin({ snapshot, gateway, store, observe: { onError } })];
}

async function openNodes(size, { host, port }) {
  clusters += 1;
  const place = { hosts: [{ host, port }], database: 'postgres', user: 'postgres' };
  const opening = Array.from({ length: size }, async (_, number) => {
    const store = await openPostgresStore({ ...place, cluster: `bench-${clusters}` });
    return openFleet({ node: `node-${number}`, snapshot, gateway, store, observe: { onError } });
  });
  return Promise.all(opening);
}

/** Measures all cases by turns, and prints a line for each. */
async function compare(title, cases, serviceOf) {
  const results = cases.map(() => []);
  for (let round = 0; round < rounds; round += 1) {
    const order = [...cases.keys()];
    for (const index of round % 2 === 0 ? order : order.reverse())
      results[index].push(await measure(await cases[index].open(), serviceOf));
  }
  console.log(`\n${title}`);
  const columns = ['changes/s', 'change p50', 'p99', 'longest', 'others have it p50', 'p99', 'refused'];
  console.log(`  ${''.padEnd(22)}${columns.map((each) => each.padStart(19)).join('')}`);
  for (const [index, { title: name }] of cases.entries()) {
    const all = results[index];
    const taken = all.flatMap((each) => each.taken);
    const lags = all.flatMap((each) => each.lags);
    const cells = [
      median(all.map((each) => each.rate)).toFixed(0),
      ...[0.5, 0.99, 1].map((part) => milliseconds(taken, part)),
      ...[0.5, 0.99].map((part) => milliseconds(lags, part)),
      String(all.reduce((sum, { refused }) => sum + refused, 0)),
    ];
    console.log(`  ${name.padEnd(22)}${cells.map((each) => each.padStart(19)).join('')}`);
  }
}

/** Lets all clients work on their nodes. Closes the nodes. */
async function measure(admins, serviceOf) {
  const watched = watch(admins);
  const [taken, lags] = [[], watched.lags];
  let [refused, value] = [0, 1];
  const begin = performance.now() + warmMs;
  const end = begin + measuredMs;
  const client = async (_, number) => {
    const node = number % admins.length;
    while (performance.now() < end) {
      const mine = (value += 1);
      const sent = performance.now();
      const patch = [{ op: 'replace', path: '/max_connection', value: mine }];
      const { outcome } = await admins[node].execute((now, context) =>
        patchService(now, serviceOf(number), patch, context),
      );
      const now = performance.now();
      if (outcome !== 'accepted') refused += 1;
      else if (sent >= begin) {
        taken.push(now - sent);
        watched.acknowledged(node, mine, now);
      }
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  await watched.settled();
  await Promise.all(admins.map((admin) => admin.close()));
  return { rate: (taken.length * 1000) / measuredMs, taken, lags, refused };
}

/**
 * Measures when the other nodes have a change. A node converges on the newest state, and can leave out a change that is
 * overtaken: then the event of a later change counts. Changes of one service are numbered upwards in order.
 */
function watch(admins) {
  const lags = [];
  const shown = admins.map(() => new Map());
  const waiting = admins.map(() => new Map());
  const observe = async (admin, node) => {
    for await (const item of admin.events()) {
      if (item.gap === true || item.event.type !== 'service.updated') continue;
      const { max_connection: value } = item.event.to;
      const now = performance.now();
      shown[node].set(value, now);
      const at = waiting[node].get(value);
      if (at !== undefined) lags.push(Math.max(0, now - at));
      waiting[node].delete(value);
    }
  };
  for (const [node, admin] of admins.entries()) void observe(admin, node);
  return {
    lags,
    acknowledged(from, value, at) {
      for (const node of admins.keys()) {
        if (node === from) continue;
        const seen = shown[node].get(value);
        if (seen === undefined) waiting[node].set(value, at);
        else lags.push(Math.max(0, seen - at));
      }
    },
    /** Gives the others time to follow. What is left was overtaken. */
    settled: () => sleep(300),
  };
}

/** A fleet that tells of an error is no fleet to measure. */
function onError(error) {
  console.error(error);
  process.exitCode = 1;
}

function explain() {
  console.log(`
How to read this: "change" is the time from sending a change to its answer: done here, and kept for all. "others have it" is
the time from the answer until the gateway of another node has made the change too; a change that was overtaken before is left
out. Changes of one fleet are appended to one log, so more nodes do not make more changes a second: they make more conflicts.
"refused" are commands that waited for a resource for ten seconds. Compare rows of one run; machines differ.`);
}

function nodes(size) {
  return `${size} ${size === 1 ? 'node' : 'nodes'}, PostgreSQL`;
}

function milliseconds(values, part) {
  if (values.length === 0) return '-';
  return `${values.toSorted((a, b) => a - b)[Math.ceil(values.length * part) - 1].toFixed(1)} ms`;
}

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}
