/**
 * Keeping the configuration: what a durable change costs, and a restart. `npm run bench`, after a build.
 */
import { mkdtemp, open, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { createSnapshot, openAdmin, patchService } from 'gateway-admin-core';
import { openFileStore } from 'gateway-admin-core/file-store';

const clients = 64;
const names = Array.from({ length: clients }, (_, n) => `Service ${n}`);
const snapshot = createSnapshot({
  servers: [{ name: 'db', address: '10.0.0.1', port: 5432, protocol: 'pg' }],
  services: names.map((name) => ({
    name,
    router: 'readconnroute',
    servers: ['/servers/db'],
    max_connection: 1,
  })),
});
const gateway = { apply: () => Promise.resolve(), inspect: () => Promise.resolve('in-place') };

const directory = await mkdtemp(join(tmpdir(), 'gateway-bench-'));
try {
  await durableChanges();
  await restart();
} finally {
  await rm(directory, { recursive: true });
}

/** D1. The peer does what a store without group commit does: each record waits for the disk on its own. */
async function durableChanges() {
  const rates = { ours: [], peer: [] };
  for (let round = 0; round < 5; round += 1) {
    rates.ours.push(await ownRate(join(directory, `store-${round}`)));
    rates.peer.push(await recordRate(join(directory, `peer-${round}`)));
  }
  const [ours, peer] = [median(rates.ours), median(rates.peer)];
  print('D1: durable changes a second, 64 clients on different services', [
    ['ours, two records for each change', `${ours.toFixed(0)}/s`],
    ['one fdatasync for each record, two records for each change', `${(peer / 2).toFixed(0)}/s`],
    ['ratio, against changes', verdict(ours / (peer / 2), 8)],
    ['ratio, against single records', verdict(ours / peer, 8)],
  ]);
}

async function ownRate(path) {
  const admin = await openAdmin({ snapshot, gateway, store: await openFileStore(path) });
  const end = performance.now() + 800;
  let changes = 0;
  const client = async (name) => {
    for (let value = 2; performance.now() < end; value += 1) {
      const { outcome } = await admin.execute((now, context) =>
        patchService(now, name, [{ op: 'replace', path: '/max_connection', value }], context),
      );
      if (outcome !== 'accepted') throw new Error(outcome);
      changes += 1;
    }
  };
  const begin = performance.now();
  await Promise.all(names.map(client));
  const rate = (changes * 1000) / (performance.now() - begin);
  await admin.close();
  return rate;
}

async function recordRate(path) {
  const file = await open(path, 'a');
  const record = Buffer.alloc(900, 'x');
  const begin = performance.now();
  let records = 0;
  for (; performance.now() - begin < 400; records += 1) {
    await file.write(record);
    await file.datasync();
  }
  const rate = (records * 1000) / (performance.now() - begin);
  await file.close();
  return rate;
}

/** D2. A journal of 100,000 records: read, checked, and folded. */
async function restart() {
  const path = join(directory, 'restart');
  const store = await openFileStore(path);
  let { position } = await store.load();
  const records = Array.from(changesOf(50_000)).flat();
  position = await store.compact(stateOf(), { expectedPosition: position });
  for (let from = 0; from < records.length; from += 50) {
    position = await store.append(records.slice(from, from + 50), { expectedPosition: position });
  }
  await store[Symbol.asyncDispose]();
  const times = { ours: [], parse: [], dropped: [] };
  const texts = records.map((record) => JSON.stringify(record));
  const [journal] = (await readdir(path)).filter((name) => name.startsWith('journal'));
  const bytes = (await readFile(join(path, journal))).length;
  for (let round = 0; round < 5; round += 1) {
    // Held, as whoever wants to use them holds them; and dropped one by one, which nobody can use.
    times.parse.push(await cpuMs(() => texts.map((text) => JSON.parse(text))));
    times.dropped.push(await cpuMs(() => texts.forEach((text) => JSON.parse(text))));
    times.ours.push(await cpuMs(() => openCopy(path, round)));
  }
  const [ours, parse, dropped] = [times.ours, times.parse, times.dropped].map(median);
  print(`D2: restart with a journal of 100,000 records (${(bytes / 1e6).toFixed(0)} MB)`, [
    ['ours: read, check, fold, write down what it amounts to', `${ours.toFixed(0)} ms`],
    ['JSON.parse of the same records', `${parse.toFixed(0)} ms`],
    ['the same, each dropped at once', `${dropped.toFixed(0)} ms`],
    [
      'ratio to the first (at most)',
      `${(ours / parse).toFixed(2)} × (target 3 ×: ${ours <= 3 * parse ? 'met' : 'MISSED'})`,
    ],
  ]);
}

/** What 50,000 changes write down: an intent and a settlement for each. */
function* changesOf(count) {
  let now = snapshot;
  for (let n = 0; n < count; n += 1) {
    const name = names[n % clients];
    const decision = patchService(now, name, [{ op: 'replace', path: '/max_connection', value: n + 2 }], {
      now: n,
    });
    now = decision.next;
    const { events, effects, resources } = decision;
    const command = `bench-${n}`;
    yield [
      { type: 'intent', command, resources, events, effects },
      {
        type: 'settlement',
        command,
        revision: n,
        events: events.map((event) => ({ ...event, command })),
        last: true,
      },
    ];
  }
}

function stateOf() {
  const services = names.map((name) => ({
    name,
    router: 'readconnroute',
    servers: ['/servers/db'],
    max_connection: 1,
  }));
  const servers = [{ name: 'db', address: '10.0.0.1', port: 5432, protocol: 'pg' }];
  return { format: 1, revision: 0, document: { servers, services }, open: [] };
}

/** Opens a copy: opening puts the journal together. */
async function openCopy(path, round) {
  const store = await openFileStore(path);
  // Not compacted for good, so that each round finds the same journal.
  const reading = {
    durable: true,
    load: () => store.load(),
    append: () => Promise.reject(new Error(`round ${round} writes nothing`)),
    compact: (_state, { expectedPosition }) => Promise.resolve(expectedPosition),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
  const admin = await openAdmin({ snapshot, gateway, store: reading });
  if (admin.snapshot.services.find('service-0').settings.max_connection < 40_000)
    throw new Error('not restored');
  await admin.close();
}

async function cpuMs(work) {
  const start = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}

function verdict(ratio, target) {
  return `${ratio.toFixed(2)} × (target ${target} ×: ${ratio >= target ? 'met' : 'MISSED'})`;
}

function print(title, rows) {
  console.log(`\n${title}`);
  for (const [name, text] of rows) console.log(`  ${name.padEnd(62)} ${text}`);
}
