/**
 * Uses the built package in the runtime that runs this file: `npm run test:runtimes`. Prints the version of the
 * runtime, and for each check `yes`, `-` if the runtime has no such thing, or the error.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MessageChannel } from 'node:worker_threads';

import { createAdmin, createSnapshot, openAdmin, stopService } from 'gateway-admin-core';
import { createClient, sendTo, sendWithFetch } from 'gateway-admin-core/client';
import { createFetchHandler } from 'gateway-admin-core/fetch';
import { openFileStore } from 'gateway-admin-core/file-store';
import { connect, serve } from 'gateway-admin-core/message-port';
import { createNodeHandler } from 'gateway-admin-core/node';
import { createScryptHasher } from 'gateway-admin-core/scrypt';

const { Bun, Deno } = globalThis;
const options = () => ({
  snapshot: createSnapshot({ services: [{ name: 'Sales', router: 'readconnroute' }] }),
  gateway: { apply: async () => {}, inspect: async () => 'in-place' },
});

const checks = {
  require: everyEntry,
  process: inProcess,
  fetch: overFetch,
  http: overHttp,
  port: overPort,
  store,
  scrypt,
};
const results = {};
for (const [name, check] of Object.entries(checks)) {
  try {
    results[name] = (await check()) ?? 'yes';
  } catch (error) {
    results[name] = String(error);
  }
}
console.log(JSON.stringify({ version: runtime(), results }));

function runtime() {
  if (Bun) return `Bun ${Bun.version}`;
  if (Deno) return `Deno ${Deno.version.deno}`;
  return `${process.env.VITEST ? 'vitest 4, ' : ''}Node ${process.versions.node}`;
}

/** Loads every entry of the package with `require`. */
function everyEntry() {
  const require = createRequire(import.meta.url);
  const { exports } = require('gateway-admin-core/package.json');
  for (const subpath of Object.keys(exports)) require(`gateway-admin-core${subpath.slice(1)}`);
}

async function inProcess() {
  await use(sendTo(createAdmin(options())));
}

/** The server of the runtime that serves a function from a request to a response. */
async function overFetch() {
  const handler = createFetchHandler(createAdmin(options()), { basePath: '/admin' });
  const server = Bun?.serve({ port: 0, fetch: handler }) ?? Deno?.serve({ port: 0, onListen() {} }, handler);
  if (server === undefined) return '-';
  await use(sendWithFetch(`http://127.0.0.1:${server.port ?? server.addr.port}/admin`));
  await (server.shutdown?.() ?? server.stop(true));
}

async function overHttp() {
  const server = createServer(createNodeHandler(createAdmin(options()), { basePath: '/admin' }));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  await use(sendWithFetch(`http://127.0.0.1:${server.address().port}/admin`));
  server.close().closeAllConnections();
}

async function overPort() {
  const { port1, port2 } = new MessageChannel();
  serve(createAdmin(options()), port1);
  await use(connect(port2));
  port2.close();
}

/** What is stored is there after a restart. */
async function store() {
  const directory = await mkdtemp(join(tmpdir(), 'gateway-'));
  const open = async () => openAdmin({ ...options(), store: await openFileStore(directory), onError() {} });
  const before = await open();
  await before.execute((snapshot, context) => stopService(snapshot, 'Sales', context));
  await before.close();
  const after = await open();
  assert.equal(after.snapshot.services.find('Sales')?.state, 'stopped');
  await after.close();
  await rm(directory, { recursive: true });
}

async function scrypt() {
  const hasher = createScryptHasher();
  const hash = await hasher.hash('correct horse');
  assert.deepEqual(
    [await hasher.verify('correct horse', hash), await hasher.verify('x', hash)],
    [true, false],
  );
}

/** Reads, sends commands with and without a body, refuses one, and follows the events. */
async function use(send) {
  let hasOpened;
  const opened = new Promise((resolve) => (hasOpened = resolve));
  const client = createClient(async (request) => {
    const response = await send(request);
    if (request.target === '/events') hasOpened();
    return response;
  });
  const events = client.events();
  const first = events.next();
  await opened;
  const list = await client.services.list({ fields: ['name', 'state'] });
  assert.deepEqual(list.value, { elements: [{ name: 'Sales', state: 'started' }], total: 1 });
  assert.equal((await client.services.stop('Sales')).ok, true);
  assert.equal((await first).value.event.type, 'service.stopped');
  const patched = await client.services.patch('Sales', [{ op: 'add', path: '/max_connection', value: 7 }]);
  assert.equal(patched.value.max_connection, 7);
  assert.equal((await events.next()).value.event.type, 'service.updated');
  await events.return();
  assert.equal((await client.services.stop('Stock')).problem.code, 'service-not-found');
}
