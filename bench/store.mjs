/** Keeping the configuration: what a durable change costs, and a restart. */
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { createSnapshot, openAdmin, patchService } from 'gateway-admin-core';
import { openFileStore } from 'gateway-admin-core/file-store';

import { cpuMs } from './harness.mjs';

export const rows = {
  D1: {
    title: 'Durable changes a second with the file store, 64 clients on different resources',
    run: durableChanges,
  },
  D2: { title: 'Restart with a journal of 100,000 records', run: restart },
  H4: {
    title: 'File store: calls a change with 64 clients, and bytes of one number in a large service',
    run: writes,
  },
};

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

async function inDirectory(work) {
  const directory = await mkdtemp(join(tmpdir(), 'gateway-bench-'));
  try {
    await work(directory);
  } finally {
    await rm(directory, { recursive: true });
  }
}

/** The peer does what a store without group commit does: each of the two records of a change waits for the disk alone. */
function durableChanges(row) {
  return inDirectory(async (directory) => {
    const [own, peer] = [[], []];
    for (let round = 0; round < 5; round += 1) {
      const ownFirst = round % 2 === 0;
      if (ownFirst) own.push(await ownRate(join(directory, `store-${round}`)));
      peer.push((await recordRate(join(directory, `peer-${round}`))) / 2);
      if (!ownFirst) own.push(await ownRate(join(directory, `store-${round}`)));
    }
    const times = own.map((rate, round) => rate / peer[round]);
    row.report('one fdatasync for each record gives a part of it', times);
    row.report('durable changes a second', own, '/s');
  });
}

async function ownRate(path) {
  const { rate } = await load(await openFileStore(path));
  return rate;
}

/** Lets all clients change their services for a while. Closes the store. */
async function load(store) {
  const admin = await openAdmin({ snapshot, gateway, store });
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
  return { rate, changes };
}

/** Each call of `append` waits for the disk once. */
function writes(row) {
  return inDirectory(async (directory) => {
    const samples = [];
    for (let round = 0; round < 3; round += 1) {
      const { store, written } = counting(await openFileStore(join(directory, `calls-${round}`)));
      const { changes } = await load(store);
      samples.push(written.calls / changes);
    }
    row.atMost('calls a change', 2.2 / clients, samples, '');
    const serverNames = Array.from({ length: 1000 }, (_, n) => `db-${n}`);
    const document = {
      servers: serverNames.map((name) => ({ name, address: '10.0.0.1', port: 5432, protocol: 'pg' })),
      services: [
        {
          ...{ name: 'Large', router: 'readconnroute', max_connection: 1 },
          servers: serverNames.map((name) => `/servers/${name}`),
        },
      ],
    };
    const { store, written } = counting(await openFileStore(join(directory, 'bytes')));
    const admin = await openAdmin({ snapshot: createSnapshot(document), gateway, store });
    const change = (value) =>
      admin.execute((now, context) =>
        patchService(now, 'Large', [{ op: 'replace', path: '/max_connection', value }], context),
      );
    await change(2);
    const before = written.bytes;
    await change(3);
    await admin.close();
    // What names the change: its operation, once each in the two records.
    const operation = JSON.stringify({ op: 'replace', path: '/max_connection', value: 3 }).length;
    row.report('bytes of one number in a service with 1,000 servers', written.bytes - before, 'bytes');
    row.atMost('the change itself, in both records', 2, (written.bytes - before) / (2 * operation));
  });
}

/** A store that counts the calls and the bytes of the records. */
function counting(store) {
  const written = { calls: 0, bytes: 0 };
  const append = (records, where) => {
    written.calls += 1;
    written.bytes += records.reduce((sum, record) => sum + JSON.stringify(record).length, 0);
    return store.append(records, where);
  };
  const counted = {
    durable: store.durable,
    load: () => store.load(),
    append,
    compact: (state, where) => store.compact(state, where),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
  return { store: counted, written };
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

/** A journal of 100,000 records: read, checked, folded, and written down as what it amounts to. */
function restart(row) {
  return inDirectory(async (directory) => {
    const path = join(directory, 'restart');
    const store = await openFileStore(path);
    let { position } = await store.load();
    const records = Array.from(changesOf(50_000)).flat();
    position = await store.compact(stateOf(), { expectedPosition: position });
    for (let from = 0; from < records.length; from += 50)
      position = await store.append(records.slice(from, from + 50), { expectedPosition: position });
    await store[Symbol.asyncDispose]();
    const texts = records.map((record) => JSON.stringify(record));
    const samples = [];
    for (let round = 0; round < 6; round += 1) {
      // Held, as whoever wants to use them holds them.
      const parse = await cpuMs(() => texts.map((text) => JSON.parse(text)));
      const own = await cpuMs(() => openCopy(path, round));
      if (round > 0) samples.push(own / parse);
    }
    row.atMost('JSON.parse of the same records', 2, samples);
  });
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
    const { resources, events } = decision;
    const command = `bench-${n}`;
    yield [
      { type: 'intent', command, resources, part: 0, of: 1, events },
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
  const none = { earlierLives: 0, births: {}, open: [], abandoned: [], entries: [], deleted: [] };
  const mode = { settings: { read_only: false } };
  return { format: 2, revision: 0, document: { servers, services }, interface: mode, ...none };
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
  const onError = (error) => {
    // The document that is given is not the one that the journal leads to.
    if (error.name !== 'DifferingDocumentError') throw error;
  };
  const admin = await openAdmin({ snapshot, gateway, store: reading, observe: { onError } });
  if (admin.snapshot.services.find('service-0').settings.max_connection < 40_000)
    throw new Error('not restored');
  await admin.close();
}
