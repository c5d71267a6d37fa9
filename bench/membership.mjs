/**
 * Servers that come, are reported and go: what one of 10,000 costs, against one of 1,000.
 */
import { createAdmin, createSnapshot } from 'gateway-admin-core';

import { measure, ratios } from './harness.mjs';
import { gateway } from './sessions.mjs';

export const rows = {
  S9: { title: 'Servers created, reported and deleted, one of 10,000 against one of 1,000', run: servers },
};

const sizes = [1000, 10_000];
const serverAt = (at) => ({ name: `db-${String(at)}`, address: '10.0.0.1', port: 5432, protocol: 'pg' });
const able = { ...gateway, supports: ['create', 'delete'] };

/** An interface with servers, and a counter of the servers that came later. */
function open(size) {
  const servers = Array.from({ length: size }, (_, at) => serverAt(at));
  const admin = createAdmin({ snapshot: createSnapshot({ servers }), gateway: able });
  const reports = servers.map(({ name }) => ({ type: 'server.reported', server: name, status: ['running'] }));
  return { size, admin, reports, words: [['running'], []], turn: 0 };
}

async function servers(row) {
  const worlds = sizes.map(open);
  await sideBySide(row, worlds, 'created and deleted', comeAndGo, 1);
  await sideBySide(row, worlds, 'all reported at once', reportAll, (world) => world.size);
  for (const { admin } of worlds) await admin.close();
}

async function sideBySide(row, worlds, title, work, share) {
  const cases = Object.fromEntries(worlds.map((world) => [world.size, () => work(world)]));
  const times = await measure(cases, { rounds: 15 });
  const costs = Object.fromEntries(
    worlds.map((world) => {
      const by = typeof share === 'function' ? share(world) : share;
      return [world.size, times[world.size].map((time) => time / by)];
    }),
  );
  row.atMost(title, 1.3, ratios(costs, sizes[1], sizes[0]));
  for (const size of sizes) row.report(`${title}, each of ${size.toLocaleString('en')}`, costs[size], 'µs');
}

const json = { 'content-type': 'application/json' };

async function comeAndGo({ size, admin }) {
  const server = serverAt(size);
  const post = { method: 'POST', target: '/servers', headers: json, body: JSON.stringify(server) };
  const created = await admin.handle(post);
  const deleted = await admin.handle({ method: 'DELETE', target: `/servers/${server.name}`, headers: {} });
  if (created.response.status !== 201 || deleted.response.status !== 204)
    throw new Error(`${created.response.status}, ${deleted.response.status}`);
}

function reportAll(world) {
  world.turn = 1 - world.turn;
  const status = world.words[world.turn];
  world.admin.report(world.reports.map((report) => ({ ...report, status })));
}
