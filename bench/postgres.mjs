/** The PostgreSQL store: statements and time of a change, a restart with a long log, and a node with nothing to do. */
import { setTimeout as sleep } from 'node:timers/promises';

import { Client } from 'pg';

import { createSnapshot, patchService } from 'gateway-admin-core';
import { openFleet } from 'gateway-admin-core/fleet';
import { openPostgresStore } from 'gateway-admin-core/postgres-store';

import { cpuMs } from './harness.mjs';
import { openServer } from './postgres-server.mjs';

export const rows = {
  G1: {
    title: 'Changes of one node in PostgreSQL, with 1, 8 and 64 clients on different resources',
    run: changes,
  },
  G2: { title: 'Restart with a log of 100,000 records in PostgreSQL', run: restart },
  G3: { title: 'A node on PostgreSQL that has nothing to do', run: idle },
};

const mostClients = 64;
const names = Array.from({ length: mostClients }, (_, number) => `Service ${number}`);
const services = names.map((name) => ({ name, router: 'readconnroute', max_connection: 1 }));
const snapshot = createSnapshot({ services });
const gateway = { apply: () => Promise.resolve(), inspect: () => Promise.resolve('in-place') };
const roundMs = 1000;

/** Gives the place of a new server to the work, and ends the server. */
async function withServer(work) {
  const { close, ...place } = await openServer();
  try {
    await work(place);
  } finally {
    await close();
  }
}

const login = { database: 'postgres', user: 'postgres' };

async function openNode(place, cluster) {
  const store = await openPostgresStore({ hosts: [place], ...login, cluster });
  const onError = (error) => {
    throw error;
  };
  return openFleet({ node: 'bench', snapshot, gateway, store, observe: { onError } });
}

async function connect(place) {
  const client = new Client({ ...place, ...login });
  await client.connect();
  return client;
}

/**
 * The statements that this process has sent. The server counts transactions alone, and counts one more for each
 * notification that it passes on.
 */
let sent = 0;
const { query } = Client.prototype;
Client.prototype.query = function counted(...given) {
  sent += 1;
  return query.apply(this, given);
};

/** The peer writes the two records of a change with an INSERT each, on a connection for each client. */
function changes(row) {
  return withServer(async (place) => {
    for (const clients of [1, 8, mostClients]) {
      const [statements, ratios, rates] = [[], [], []];
      for (let round = 0; round < 5; round += 1) {
        const own = await ownRate({ place, clients, cluster: `changes-${clients}-${round}` });
        statements.push(own.statements);
        rates.push(own.rate);
        if (clients === 8) ratios.push(own.rate / (await peerRate(place, clients)));
      }
      // The announcements and readings of a second are among the statements.
      row.atMost(`statements a change, ${clients} clients`, 2.2 / clients, statements, '');
      row.report(`changes a second, ${clients} clients`, rates, '/s');
      if (clients === 8) row.atLeast('two INSERTs a change, on a connection for each client', 0.9, ratios);
    }
  });
}

async function ownRate({ place, clients, cluster }) {
  const admin = await openNode(place, cluster);
  const one = async (name, until) => {
    let done = 0;
    for (let value = 2; performance.now() < until; value += 1) {
      const patch = [{ op: 'replace', path: '/max_connection', value: value + (done % 2) * 100_000 }];
      const { outcome } = await admin.execute((now, context) => patchService(now, name, patch, context));
      if (outcome !== 'accepted') throw new Error(outcome);
      done += 1;
    }
    return done;
  };
  const all = (ms) => Promise.all(names.slice(0, clients).map((name) => one(name, performance.now() + ms)));
  await all(300);
  const before = sent;
  const start = performance.now();
  const count = sum(await all(roundMs));
  const rate = (count * 1000) / (performance.now() - start);
  const statements = (sent - before) / count;
  await admin.close();
  return { rate, statements };
}

async function peerRate(place, clients) {
  const opened = await Promise.all(Array.from({ length: clients }, () => connect(place)));
  await opened[0].query('create table if not exists peer (id bigserial primary key, record json)');
  const record = JSON.stringify({ type: 'intent', text: 'x'.repeat(800) });
  const until = performance.now() + roundMs;
  const one = async (client) => {
    let done = 0;
    for (; performance.now() < until; done += 1)
      for (let each = 0; each < 2; each += 1)
        await client.query('insert into peer (record) values ($1)', [record]);
    return done;
  };
  const count = sum(await Promise.all(opened.map(one)));
  await Promise.all(opened.map((client) => client.end()));
  return (count * 1000) / roundMs;
}

/** The transactions of the database so far. The server counts them when a connection has been idle for a moment. */
async function transactions(watcher) {
  await sleep(1200);
  await watcher.query('select pg_stat_clear_snapshot()');
  const { rows: found } = await watcher.query(
    `select xact_commit::int as count from pg_stat_database where datname = 'postgres'`,
  );
  return found[0].count;
}

/** The peer reads the same records with one SELECT, and parses them. */
function restart(row) {
  return withServer(async (place) => {
    const cluster = 'restart';
    await (await openNode(place, cluster)).close();
    const watcher = await connect(place);
    await fill(watcher, cluster);
    const samples = [];
    for (let round = 0; round < 6; round += 1) {
      let texts;
      const parse = await cpuMs(async () => {
        const { rows: found } = await watcher.query(
          'select position::text, call::text, record::text from gateway_record where cluster = $1 order by position',
          [cluster],
        );
        texts = found.map(({ record }) => JSON.parse(record));
      });
      const own = await cpuMs(async () => {
        const store = await openPostgresStore({ hosts: [place], ...login, cluster });
        const { records } = await store.load();
        if (records.length < 100_000 || texts.length < 100_000) throw new Error('The log is too short');
        await store[Symbol.asyncDispose]();
      });
      if (round > 0) samples.push(own / parse);
    }
    row.atMost('one SELECT with parse', 1.5, samples);
    await watcher.end();
  });
}

/** Appends 100,000 records as the nodes do. */
async function fill(watcher, cluster) {
  const record = JSON.stringify({ type: 'settlement', command: 'bench-1', text: 'x'.repeat(600) });
  await watcher.query(
    `insert into gateway_record (cluster, position, call, record)
      select $1, head.position + number, head.call, $2::json
      from gateway_head as head, generate_series(1, 100000) as number where head.cluster = $1`,
    [cluster, record],
  );
  await watcher.query(`update gateway_head set position = position + 100000 where cluster = $1`, [cluster]);
}

function idle(row) {
  return withServer(async (place) => {
    const admin = await openNode(place, 'idle');
    const watcher = await connect(place);
    const [counts, shares] = [[], []];
    for (let round = 0; round < 3; round += 1) {
      const before = await transactions(watcher);
      const start = performance.now();
      const cpu = process.cpuUsage();
      await sleep(5000);
      const { user, system } = process.cpuUsage(cpu);
      shares.push((user + system) / 10 / (performance.now() - start));
      const after = await transactions(watcher);
      // Without the two of the watcher.
      counts.push((after - before - 2) / ((performance.now() - start) / 1000));
    }
    row.atMost('transactions a second', 3, counts, '/s');
    row.atMost('CPU time, of a core', 0.3, shares, '%');
    await watcher.end();
    await admin.close();
  });
}

function sum(values) {
  return values.reduce((total, value) => total + value, 0);
}
