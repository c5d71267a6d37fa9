/**
 * A node of a fleet in a process of its own: an administration interface over HTTP, and a gateway that takes its time. The
 * assignment is the argument, as JSON. `GET /gateway` says what the gateway does, and how far the node has come.
 */
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';

import { createPbkdf2Hasher, createSnapshot } from 'gateway-admin-core';
import { openFleet } from 'gateway-admin-core/fleet';
import { createNodeHandler } from 'gateway-admin-core/node';
import { openPostgresStore } from 'gateway-admin-core/postgres-store';

const { node, hosts, cluster, port, leaseMs, document, keptIn, isDeaf } = JSON.parse(process.argv[2]);

/** The settings that the clients change, by kind. */
const settings = {
  services: ({ max_connection, connection_timeout }) => ({ max_connection, connection_timeout }),
  servers: ({ parameters = {} }) => ({ 'parameters/count': parameters.count }),
  monitors: ({ monitor_interval }) => ({ monitor_interval }),
};

/** What the gateway does, by field. A gateway that outlives its interface keeps it in a file. */
let actual = keptState();

function keptState() {
  try {
    return JSON.parse(readFileSync(keptIn, 'utf8'));
  } catch {
    return {};
  }
}

function make(fields) {
  actual = { ...actual, ...fields };
  if (keptIn !== undefined) writeFileSync(keptIn, JSON.stringify(actual));
}

function fieldsOf(resource, values) {
  const all = Object.entries(values).map(([name, value]) => [`${resource} ${name}`, value]);
  return Object.fromEntries(all.filter(([, value]) => value !== undefined));
}

/** What is so when the effect is done. */
function resultOf({ type, resource, to }) {
  if (type.endsWith('.start')) return { [`${resource} state`]: 'started' };
  if (type.endsWith('.stop')) return { [`${resource} state`]: 'stopped' };
  return fieldsOf(resource, settings[resource.split('/')[1]](to));
}

const gateway = {
  async apply(effect) {
    await sleep(Math.random() * 20);
    make(resultOf(effect));
    await sleep(Math.random() * 20);
  },
  inspect: (effect) => {
    const isInPlace = Object.entries(resultOf(effect)).every(([field, value]) =>
      isDeepStrictEqual(actual[field], value),
    );
    return Promise.resolve(isInPlace ? 'in-place' : 'not-in-place');
  },
};

/** What a gateway does that has opened what the interface shows. */
function opened(snapshot) {
  const links = Object.keys(settings).flatMap((kind) =>
    [...snapshot[kind]].map((each) => {
      const state = 'state' in each ? { state: each.state } : {};
      return fieldsOf(`/${kind}/${each.name}`, { ...settings[kind](each.settings), ...state });
    }),
  );
  return Object.assign({}, ...links);
}

process.on('disconnect', () => process.exit(2));
if (!process.connected) process.exit(2);
const store = await openPostgresStore({
  ...{ hosts, cluster, database: 'postgres', user: 'postgres' },
  ...{ connectTimeoutMs: 1000, queryTimeoutMs: 3000 },
});
// As behind a pool, or with a connection for hints that has died in silence.
if (isDeaf)
  store.changed = async (_after, signal) => {
    if (!signal.aborted) await once(signal, 'abort');
  };
const admin = await openFleet({
  ...{ node, leaseMs, store, gateway },
  snapshot: createSnapshot(document),
  hasher: createPbkdf2Hasher({ rounds: 1 }),
  observe: { onError: (error) => console.error(node, String(error)) },
});
actual = opened(admin.snapshot);
make({});
const handle = createNodeHandler(admin, { onError: console.error });
const server = createServer((request, response) => {
  if (request.url !== '/gateway') return handle(request, response);
  const [own] = admin.fleet.nodes();
  response.end(JSON.stringify({ actual, position: own.position, behind: own.behind }));
}).listen(port, '127.0.0.1', () => process.send({ port: server.address().port }));
process.on('SIGTERM', () => {
  server.close().closeAllConnections();
  void admin.close().then(() => process.exit(0));
});
