/**
 * Gateway documents: what `createSnapshot` costs, against `JSON.parse` of the same text.
 */
import { createSnapshot, loadSnapshot } from 'gateway-admin-core';

import { collectGarbage, cpuMs, measure, ratios, startTurn } from './harness.mjs';
import { serverNames, serviceNames } from './sessions.mjs';

export const rows = {
  S8: { title: '`createSnapshot` of large documents, against `JSON.parse` of the same text', run: load },
};

async function load(row) {
  await loadResources(row);
  for (const [name, count, rounds] of [
    ['100,000 sessions', 100_000, 5],
    ['1,000,000 sessions', 1_000_000, 1],
  ]) {
    const text = documentWith(count);
    const samples = [];
    const seconds = [];
    for (let round = 0; round < rounds; round += 1) {
      collectGarbage();
      const parse = await cpuMs(() => JSON.parse(text));
      const document = JSON.parse(text);
      collectGarbage();
      const own = await cpuMs(() => createSnapshot(document));
      samples.push(own / parse);
      seconds.push(own / 1000);
    }
    row.atMost(`${name}, of JSON.parse`, 8, samples);
    row.report(name, seconds, 's');
  }
  await loadInPieces(row, JSON.parse(documentWith(100_000)));
}

async function loadResources(row) {
  const name = '1,000 services and 1,000 servers';
  const text = manyResources();
  const document = JSON.parse(text);
  row.report(`${name}, the first time`, await cpuMs(() => createSnapshot(document)), 'ms');
  const times = await measure({ own: () => createSnapshot(document), parse: () => JSON.parse(text) });
  row.report(`${name}, of JSON.parse`, ratios(times, 'own', 'parse'));
  row.report(
    name,
    times.own.map((us) => us / 1000),
    'ms',
  );
}

/** The longest turn of the event loop while a document is loaded in pieces. */
async function loadInPieces(row, document) {
  const longest = [];
  for (let round = 0; round < 3; round += 1) {
    collectGarbage();
    let [msOf, most] = [startTurn(), 0];
    const look = () => {
      most = Math.max(most, msOf());
      msOf = startTurn();
    };
    const timer = setInterval(look, 0);
    await loadSnapshot(document);
    look();
    clearInterval(timer);
    longest.push(most);
  }
  row.atMost('longest turn while loadSnapshot reads 100,000 sessions', 15, longest, 'ms');
}

function documentWith(count) {
  const servers = serverNames.map((name) => ({ name, address: '10.0.0.1', port: 5432, protocol: 'pg' }));
  const services = serviceNames.map((name) => ({ name, router: 'readconnroute' }));
  const whole = JSON.stringify({ servers, services, sessions: [] });
  // Written in parts, because a list of a million sessions need not be in memory for its text.
  const parts = [];
  for (let first = 1; first <= count; first += 10_000) {
    const part = Array.from({ length: Math.min(10_000, count - first + 1) }, (_, n) =>
      sessionEntry(first + n),
    );
    parts.push(JSON.stringify(part).slice(1, -1));
  }
  return `${whole.slice(0, -2)}${parts.join(',')}]}`;
}

function sessionEntry(id) {
  return {
    id,
    state: 'Session ready for routing',
    user: 'ada',
    address: '192.0.2.7',
    service: `/services/${serviceNames[id % serviceNames.length]}`,
    connected: new Date(Date.UTC(2026, 0, 1) + id).toISOString(),
    connections: [
      { id: 0, state: 'Connected', role: 'slave', server: `/servers/${serverNames[(id * 7) % 1000]}` },
    ],
  };
}

function manyResources() {
  const servers = serverNames.map((name, n) => ({
    name,
    address: `10.0.${n >> 8}.${n & 255}`,
    port: 5432,
    protocol: 'pg',
    status: ['slave', 'running'],
    parameters: { weight: n },
  }));
  const services = serverNames.map((_, n) => ({
    name: `service-${n}`,
    router: 'readconnroute',
    servers: [0, 1, 2].map((each) => `/servers/server-${(n + each) % 1000}`),
    router_options: { router_options: 'master' },
    user: 'service_user',
    max_connection: 100,
    listeners: [{ name: 'listener', address: '0.0.0.0', port: 4000, protocol: 'pg' }],
  }));
  return JSON.stringify({ servers, services });
}
