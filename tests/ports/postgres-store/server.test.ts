/**
 * The PostgreSQL store on a server that is killed, that has a standby, TLS or passwords, or whose settings change.
 */
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import { inspect } from 'node:util';

import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';

import { createSnapshot } from 'gateway-admin-core';
import { openFleet, type SharedStore } from 'gateway-admin-core/fleet';
import { openPostgresStore, type PostgresStoreOptions } from 'gateway-admin-core/postgres-store';
import { createScriptedGateway, sharedStoreAudits, type SharedStorePlace } from 'gateway-admin-core/testing';

import { BreakingWire } from '../../support/breaking-wire.ts';
import { selfSigned } from '../../support/certificate.ts';
import { watch } from '../../support/leak.ts';
import { PostgresServer } from '../../support/postgres.ts';
import { TransactionPool } from '../../support/transaction-pool.ts';
import { limit } from '../../support/transition.ts';

const certificate = selfSigned();
const [first, second] = [selfSigned('certified'), selfSigned('certified')];

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
  await server.kill();
  await server.write({
    'root.crt': first.cert,
    'pg_hba.conf': [
      'host all blue,green,guarded all scram-sha-256',
      'hostssl all certified all cert',
      'host all,replication postgres all trust',
      '',
    ].join('\n'),
  });
  await begin();
  for (const role of ['blue', 'green'])
    await server.query(`create role ${role} login superuser password 'of ${role}'`);
  await server.query('create role certified login superuser');
});
afterAll(() => server[Symbol.asyncDispose]());

/** Starts the server, which must not run, again. */
function begin(): Promise<void> {
  return server.beginWithTls(
    certificate,
    'ssl_ca_file=root.crt',
    // Without a commit that waits, a crash within ten seconds loses the record.
    'wal_writer_delay=10s',
    // The smallest queue of notifications that a server can have.
    'max_notify_queue_pages=64',
  );
}

const disposables: AsyncDisposable[] = [];
afterEach(async () => {
  for (const each of disposables.splice(0).reverse()) await each[Symbol.asyncDispose]();
});

let clusters = 0;
async function open(options: PostgresStoreOptions = {}): Promise<SharedStore> {
  const cluster = options.cluster ?? newCluster();
  const store = await openPostgresStore({ ...server.address, ...options, cluster });
  disposables.push(store);
  return store;
}

function newCluster(): string {
  clusters += 1;
  return `fleet-${String(clusters)}`;
}

/** Makes the same call until it resolves, as the library does. */
async function persist<T>(call: () => Promise<T>, failed?: () => void): Promise<T> {
  for (let failures = 0; ; failures += 1) {
    try {
      return await call();
    } catch (error) {
      if (failures === 1000 || (error as Error).name === 'StoreConflictError') throw error;
      failed?.();
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}

/** Asks until a condition holds. */
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 10));
}

/**
 * Appends numbers one at a time, through all failures, for as long as `disturb` runs. Gives the number of failures.
 *
 * @param disturb - gets a function that gives the number of failures until now
 */
async function appendThrough(
  store: SharedStore,
  count: number,
  disturb: (failures: () => number) => Promise<void>,
): Promise<number> {
  let { position } = await store.load();
  let failed = 0;
  const disturbance = { isOver: false };
  const disturbing = disturb(() => failed).finally(() => (disturbance.isOver = true));
  for (let number = 0; number < count || !disturbance.isOver; number += 1) {
    const append = (): Promise<string> => store.append([{ number }], { expectedPosition: position });
    position = await persist(append, () => (failed += 1));
  }
  await disturbing;
  return failed;
}

async function numbersIn(store: SharedStore): Promise<readonly number[]> {
  return (await store.load()).records.map((record) => (record as { number: number }).number);
}

/** The connections of stores. */
function backends(where = 'true'): Promise<readonly Record<string, unknown>[]> {
  return server.query(
    `select pid from pg_stat_activity where application_name = 'gateway-admin-core' and ${where}`,
  );
}

/** Ends the connections of stores. Gives their number. */
async function terminate(where?: string): Promise<number> {
  const found = await backends(where);
  for (const { pid } of found) await server.query('select pg_terminate_backend($1)', [pid]);
  return found.length;
}

/** Waits until there are none of these connections of stores. */
function untilGone(where?: string): Promise<void> {
  return until(async () => (await backends(where)).length === 0);
}

/** Holds the row that every append changes, until the function that is given is called. */
async function holdHead(cluster: string): Promise<() => Promise<void>> {
  const held = await server.client();
  await held.query('begin');
  await held.query('select 1 from gateway_head where cluster = $1 for update', [cluster]);
  return async () => {
    await held.query('rollback');
    await held.end();
  };
}

const isWaiting = `wait_event_type = 'Lock'`;

describe('a PostgreSQL store whose server or connection is lost', () => {
  // Promise: postgres-store-killed
  it('keeps every confirmed record once, and in order, when the server is killed during appends', async () => {
    const store = await open();
    const failures = await appendThrough(store, 200, async () => {
      for (let times = 0; times < 2; times += 1) {
        await server.kill();
        await begin();
      }
    });
    const numbers = await numbersIn(store);
    expect(failures).toBeGreaterThan(0);
    expect(numbers).toEqual(numbers.map((_number, at) => at));
    expect(numbers.length).toBeGreaterThanOrEqual(200);
  });

  it('keeps every confirmed record once, and in order, when its connections are ended during appends', async () => {
    const store = await open();
    await appendThrough(store, 200, async (failures) => {
      // A connection that ends between two appends fails none of them.
      for (let ended = 0; ended < 5 || failures() === 0;) ended += await terminate();
    });
    const numbers = await numbersIn(store);
    expect(numbers).toEqual(numbers.map((_number, at) => at));
    expect(numbers.length).toBeGreaterThanOrEqual(200);
  });

  it('keeps an append once whose connection is ended while the server works on it', async () => {
    const cluster = newCluster();
    const store = await open({ cluster });
    const { position } = await store.load();
    const release = await holdHead(cluster);
    const send = (): Promise<string> => store.append(['once'], { expectedPosition: position });
    const failed = send().catch((error: unknown) => error);
    await until(async () => (await backends(isWaiting)).length > 0);
    expect(await terminate(isWaiting)).toBe(1);
    expect(await failed).toMatchObject({ message: expect.stringContaining('terminating connection') });
    await release();
    const end = await send();
    expect(await store.read(position)).toEqual([{ records: ['once'], position: end }]);
  });

  it('gives up a call that the server does not answer, and keeps the same call once afterwards', async () => {
    const cluster = newCluster();
    const store = await open({ cluster, queryTimeoutMs: 200 });
    const { position } = await store.load();
    const release = await holdHead(cluster);
    const send = (): Promise<string> => store.append(['once'], { expectedPosition: position });
    await expect(send()).rejects.toThrow(/timeout/);
    await untilGone(isWaiting);
    await release();
    const end = await send();
    expect(await store.read(position)).toEqual([{ records: ['once'], position: end }]);
  });

  it('connects again, and hears hints again, after the connection for hints was ended', async () => {
    const cluster = newCluster();
    const [one, other] = [await open({ cluster }), await open({ cluster })];
    const { position } = await one.load();
    const { signal } = new AbortController();
    await one.announce('one', 1);
    const heard = one.changed(position, signal);
    const second = await other.append([1], { expectedPosition: position });
    await heard;
    expect(await terminate(`query like 'listen %' or query like '%gateway_node%'`)).toBeGreaterThan(0);
    const stop = new AbortController();
    const deaf = one.changed(second, stop.signal);
    stop.abort();
    await deaf;
    await persist(() => one.announce('one', 2));
    const heardAgain = one.changed(second, signal);
    await other.append([2], { expectedPosition: second });
    await heardAgain;
  });

  it('listens again as soon as a hint is waited for, without an announcement', async () => {
    const cluster = newCluster();
    const [one, other] = [await open({ cluster }), await open({ cluster })];
    const { position } = await one.load();
    const isListening = `query like 'listen %' and state = 'idle'`;
    const listen = async (): Promise<void> => {
      while ((await backends(isListening)).length === 0) await one.changed(position, AbortSignal.abort());
    };
    await listen();
    expect(await terminate(isListening)).toBe(1);
    await untilGone(isListening);
    await listen();
    const heard = one.changed(position, new AbortController().signal);
    await other.append([1], { expectedPosition: position });
    await heard;
  });

  it('tries to connect once, however often a hint is waited for meanwhile', async () => {
    const wire = await BreakingWire.to(server.port);
    disposables.push(wire);
    const store = await open({ hosts: [{ host: '127.0.0.1', port: wire.port }] });
    await store.announce('one', 1);
    await server.kill();
    try {
      await expect(store.announce('one', 2)).rejects.toThrow();
      const before = wire.connections;
      for (let times = 0; times < 20; times += 1) await store.changed('', AbortSignal.abort());
      // Takes its turn behind the attempt.
      await expect(store.announce('one', 3)).rejects.toThrow();
      expect(wire.connections - before).toBe(2);
    } finally {
      await begin();
    }
  });

  it('takes no hint from the announcement of the position that it knows', async () => {
    const cluster = newCluster();
    const store = await open({ cluster });
    const { position } = await store.load();
    await store.announce('one', 1);
    const notify = (payload: string) =>
      server.query('select pg_notify($1, $2)', [`gateway_${cluster}`, payload]);
    let hints = 0;
    const heard = store.changed(position, new AbortController().signal).then(() => (hints += 1));
    await notify(position);
    // Its answer comes behind the notification, on the same connection.
    await store.announce('one', 2);
    expect(hints).toBe(0);
    await notify('another position');
    await heard;
  });

  it('connects again at its next call when the connections were ended while nothing was asked', async () => {
    const store = await open();
    const { position } = await store.load();
    expect(await terminate()).toBeGreaterThan(0);
    await untilGone();
    const end = await persist(() => store.append(['after'], { expectedPosition: position }));
    expect(await store.load()).toEqual({ records: ['after'], position: end });
  });

  it('leaves no connection behind when it is disposed of', async () => {
    const store = await open();
    await store.announce('one', 1);
    expect(await backends()).toHaveLength(2);
    await store[Symbol.asyncDispose]();
    await untilGone();
  });
});

describe('a PostgreSQL store behind a wire that breaks', () => {
  const place = async (): Promise<SharedStorePlace> => {
    const wire = await BreakingWire.to(server.port);
    disposables.push(wire);
    const cluster = newCluster();
    const hosts = [{ host: '127.0.0.1', port: wire.port }];
    return {
      open: () => openPostgresStore({ ...server.address, hosts, cluster }),
      failNext: (kept) => wire.breakNext(kept === 'nothing' ? 'request' : 'answer'),
    };
  };
  const audits = sharedStoreAudits(place).filter(({ id }) => id.includes('repeat'));

  // Promise: postgres-store-answer
  it.each(audits.map((audit) => [audit.name, audit] as const))('%s', async (_name, audit) => {
    await expect(audit.run()).resolves.toBeUndefined();
  });
});

describe('a PostgreSQL store on connections that die silently', () => {
  it('announces its node again before the node is silent to the others', async () => {
    // A dead wire breaks before the store waits for its calls at the end.
    await using wire = await BreakingWire.to(server.port);
    const lease = { queryTimeoutMs: 8000 };
    const store = await open({ hosts: [{ host: '127.0.0.1', port: wire.port }], ...lease });
    const { position } = await store.load();
    await store.announce('one', 1);
    wire.silence();
    let isOver = false;
    const append = store.append([1], { expectedPosition: position });
    void append.catch(() => undefined).finally(() => (isOver = true));
    await expect(store.announce('one', 2)).rejects.toThrow(/timeout/);
    expect(isOver).toBe(false);
    await persist(() => store.announce('one', 2));
  });
});

describe('a PostgreSQL store with several servers', () => {
  // Promise: postgres-store-primary
  it('uses the primary, and goes on with the standby that is promoted when the primary is gone', async () => {
    const cluster = newCluster();
    await open({ cluster });
    await server.kill();
    const standby = await server.copyAsStandby();
    disposables.push(standby);
    await begin();
    const nobody = { host: '127.0.0.1', port: await closedPort() };
    const hosts = [nobody, ...standby.address.hosts, ...server.address.hosts];
    const store = await open({ hosts, cluster });
    const { position } = await store.load();
    await server.kill();
    try {
      const send = (): Promise<string> => store.append(['after'], { expectedPosition: position });
      await expect(send()).rejects.toThrow();
      await standby.query('select pg_promote()');
      const end = await persist(send);
      const other = await open({ ...standby.address, cluster });
      expect(await other.load()).toEqual({ records: ['after'], position: end });
    } finally {
      await begin();
    }
  });

  it('says of each server why it cannot be used', async () => {
    const nobody = await closedPort();
    const silent = await silentServer();
    disposables.push(silent);
    const hosts = [
      { host: '127.0.0.1', port: nobody },
      { host: '127.0.0.1', port: silent.port },
    ];
    await expect(open({ hosts, connectTimeoutMs: 200 })).rejects.toThrow(
      new RegExp(
        `^No PostgreSQL server can take the configuration\\. 127\\.0\\.0\\.1:${String(nobody)}: connect ECONNREFUSED .*; ` +
          `127\\.0\\.0\\.1:${String(silent.port)}: timeout expired$`,
      ),
    );
  });
});

async function closedPort(): Promise<number> {
  const listening = createServer().listen(0, '127.0.0.1');
  await once(listening, 'listening');
  const { port } = listening.address() as AddressInfo;
  await once(listening.close(), 'close');
  return port;
}

/** A server that takes connections, and never answers. */
async function silentServer(): Promise<AsyncDisposable & { readonly port: number }> {
  const sockets: Socket[] = [];
  const silent: Server = createServer((socket) => sockets.push(socket.on('error', () => undefined)));
  await once(silent.listen(0, '127.0.0.1'), 'listening');
  return {
    port: (silent.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await once(silent.close(), 'close');
    },
  };
}

/**
 * Changes a setting of the running server. Resolves when new connections have it; older ones get it at the same time.
 */
async function set(name: string, value: string): Promise<void> {
  await server.query(`alter system set ${name} = ${value}`);
  await server.query('select pg_reload_conf()');
  const current = 'select current_setting($1) as value';
  await until(async () => (await server.query(current, [name]))[0]?.['value'] === value);
}

/** The address of a pool in transaction mode in front of the server. */
async function pooled(size = 2): Promise<PostgresStoreOptions> {
  const pool = await TransactionPool.to(server.port, size);
  disposables.push(pool);
  return { hosts: [{ host: '127.0.0.1', port: pool.port }] };
}

const places = [
  ['the database', `alter database postgres set synchronous_commit = off`],
  ['the server', 'alter system set synchronous_commit = off'],
] as const;

describe('a PostgreSQL store on a server that stops to wait for its disk', () => {
  afterEach(async () => {
    await server.query('alter system reset all');
    await server.query('alter database postgres reset all');
    await server.query('select pg_reload_conf()');
  });

  // Promise: postgres-store-durable
  it.each(
    places.flatMap(([place, statement]) =>
      ['without a pool', 'behind a pool'].map((way) => [place, way, statement] as const),
    ),
  )(
    'loses no confirmed change in a crash, if the setting is one of %s (%s)',
    async (_place, way, statement) => {
      const cluster = newCluster();
      const address = async () => (way === 'behind a pool' ? { cluster, ...(await pooled()) } : { cluster });
      const store = await open(await address());
      let { position } = await store.load();
      await server.query(statement);
      await server.query('select pg_reload_conf()');
      // A later connection begins with the setting.
      const other = await open(await address());
      for (let number = 0; number < 20; number += 1) {
        const records = [{ number }];
        const by = number % 2 === 0 ? store : other;
        position =
          number % 5 === 4
            ? await by.compact({ number }, { expectedPosition: position })
            : await by.append(records, { expectedPosition: position });
      }
      await server.kill();
      await begin();
      const after = await open({ cluster });
      expect(await after.load()).toEqual({ state: { number: 19 }, records: [], position });
    },
  );

  // Promise: postgres-store-durable
  it('confirms nothing while fsync is off, and says so', async () => {
    const store = await open();
    const { position } = await store.load();
    await set('fsync', 'off');
    const refusal =
      'fsync is off, and a crash of the machine would lose changes that clients got a 204 for. Set fsync = on for the server';
    const append = (): Promise<string> => store.append([1], { expectedPosition: position });
    await expect(append()).rejects.toThrow(refusal);
    await expect(store.compact(1, { expectedPosition: position })).rejects.toThrow(refusal);
    await expect(open()).rejects.toThrow(refusal);
    expect(await store.read(position)).toEqual([]);
    await set('fsync', 'on');
    const end = await append();
    expect(await store.read(position)).toEqual([{ records: [1], position: end }]);
  });
});

/** Another program, which listens in a transaction that it leaves open. The queue is full then. Gives the end of it. */
async function fillQueue(): Promise<() => Promise<void>> {
  const idle = await server.client();
  for (const statement of ['listen other', 'begin', 'select 1']) await idle.query(statement);
  const notify = `select pg_notify('other', repeat('x', 7000) || $1)`;
  let sent = 0;
  const send = async (): Promise<void> => {
    for (; sent < 100; sent += 1) await server.query(notify, [String(sent)]);
  };
  await expect(send()).rejects.toMatchObject({ code: '54000' });
  expect(sent).toBeGreaterThan(60);
  return () => idle.end();
}

/** Why a store gives no hints; `undefined` if it gives them. */
async function reasonOf(store: SharedStore, position: string): Promise<unknown> {
  const stop = new AbortController();
  const failed = store.changed(position, stop.signal).catch((error: unknown) => error);
  stop.abort();
  return failed;
}

describe('a PostgreSQL store on a server whose queue of notifications is full', () => {
  // Promise: postgres-store-hint
  it('keeps every change, says why it gives no hints, and gives them again when there is room', async () => {
    const [one, other] = [await open({ cluster: 'store' }), await open({ cluster: 'store' })];
    await other.announce('other', 1);
    const { position } = await one.load();
    const release = await fillQueue();
    const second = await one.append([1], { expectedPosition: position });
    const third = await one.compact({ sum: 1 }, { expectedPosition: second });
    expect(await other.read(position)).toEqual([
      { records: [1], position: second },
      { records: [], position: third },
    ]);
    await until(async () => (await reasonOf(one, third)) !== undefined);
    expect(await reasonOf(one, third)).toMatchObject({
      message: expect.stringMatching(
        /^PostgreSQL at .*: too many notifications in the NOTIFY queue \(54000\)$/,
      ),
    });
    const heard = other.changed(position, new AbortController().signal);
    await release();
    // The hint that failed is given again, without another change.
    await until(async () => (await reasonOf(one, third)) === undefined);
    await heard;
  });

  // Promise: hints-failing
  it('is an alert of the fleet that changes, said once, and no refusal', async () => {
    const snapshot = createSnapshot({ services: [{ name: 'My Service', router: 'readconnroute' }] });
    const errors: string[] = [];
    const gateway = createScriptedGateway({ snapshot });
    const observe = { onError: (error: unknown) => errors.push(String(error)) };
    const admin = watch(await openFleet({ snapshot, gateway, node: 'one', store: await open(), observe }));
    const alerts = () => admin.alerts().filter(({ code }) => code === 'hints-failing');
    const release = await fillQueue();
    expect((await admin.execute(limit(7))).outcome).toBe('accepted');
    expect((await admin.execute(limit(8))).outcome).toBe('accepted');
    await until(() => alerts().length > 0);
    expect(alerts()).toMatchObject([
      { level: 'warning', resource: '/', detail: expect.stringContaining('NOTIFY queue (54000)') },
    ]);
    await release();
    await until(() => alerts().length === 0);
    expect(errors).toEqual([expect.stringContaining('gives no hints')]);
    await admin.close();
  });
});

describe('a PostgreSQL store on a server with a standby that every change waits for', () => {
  let standby: PostgresServer;
  beforeAll(async () => {
    await server.kill();
    standby = await server.beginWithStandby();
  });
  afterAll(async () => {
    await standby[Symbol.asyncDispose]();
    await server.kill();
    await begin();
  });

  // Promise: postgres-store-hint
  it('keeps every change, and holds no announcement up for the hint, beside a notification that waits for the standby', async () => {
    await standby.query('select pg_wal_replay_pause()');
    const program = await server.client();
    await program.query('set synchronous_commit = remote_apply');
    // Holds the lock that all notifications of the server take.
    const notified = program
      .query('begin; create table other (); notify other; commit')
      .catch(() => undefined);
    const waits = `select 1 from pg_stat_activity where wait_event = 'SyncRep'`;
    await until(async () => (await server.query(waits)).length > 0);
    const store = await open();
    const { position } = await store.load();
    const end = await store.append([1], { expectedPosition: position });
    expect(await store.announce('one', 1)).toEqual(new Map([['one', 1]]));
    expect(await store.read(position)).toEqual([{ records: [1], position: end }]);
    await until(async () => (await reasonOf(store, end)) !== undefined);
    expect(await reasonOf(store, end)).toMatchObject({
      message: expect.stringContaining('lock timeout (55P03)'),
    });
    await standby.query('select pg_wal_replay_resume()');
    await notified;
    await program.end();
  });

  it('confirms a call that was kept before only when the standby has it, also after a crash of the primary', async () => {
    const store = await open({ queryTimeoutMs: 500 });
    const { position } = await store.load();
    const send = (): Promise<string> => store.append(['once'], { expectedPosition: position });
    await standby.kill();
    await expect(send()).rejects.toThrow(/timeout/);
    await server.kill();
    await server.begin('synchronous_standby_names=standby');
    // The server shows the record now.
    let said = '';
    while (!/timeout|^confirmed/.test(said)) said = await send().then(() => 'confirmed', String);
    expect(said).toMatch(/timeout/);
    await standby.beginBehind(server);
    const end = await persist(send);
    expect(await store.read(position)).toEqual([{ records: ['once'], position: end }]);
  });
});

describe('a PostgreSQL store with TLS', () => {
  // Promise: postgres-store-tls
  it('keeps and reads records over TLS, and refuses a certificate that it cannot verify', async () => {
    const cluster = newCluster();
    const store = await open({ cluster, ssl: { ca: certificate.cert } });
    const { position } = await store.load();
    const end = await store.append(['kept'], { expectedPosition: position });
    expect(await store.read(position)).toEqual([{ records: ['kept'], position: end }]);
    await store.announce('one', 1);
    const connections = `select ssl.ssl from pg_stat_ssl as ssl join pg_stat_activity as activity using (pid)
      where activity.application_name = 'gateway-admin-core'`;
    expect(await server.query(connections)).toEqual([{ ssl: true }, { ssl: true }]);
    await expect(open({ cluster, ssl: true })).rejects.toThrow(/self-signed certificate/);
    await expect(open({ cluster, ssl: { ca: selfSigned().cert } })).rejects.toThrow(/certificate/);
  });
});

/** The roles that the connections of stores have logged in with. */
async function roles(): Promise<readonly unknown[]> {
  const found = `select usename from pg_stat_activity where application_name = 'gateway-admin-core'`;
  return (await server.query(`${found} order by backend_start`)).map(({ usename }) => usename);
}

/** Ends the connections of stores, as a proxy of the network does. Resolves when they are gone. */
async function endConnections(): Promise<void> {
  await terminate();
  await untilGone();
}

describe('a PostgreSQL store whose log-in the host gives', () => {
  // Promise: postgres-store-log-in
  it('goes on with another user, and the password of that user, after a rotation', async () => {
    const current = { user: 'blue' };
    const store = await open({
      user: () => Promise.resolve(current.user),
      password: (user) => `of ${user}`,
    });
    const { position } = await store.load();
    await store.announce('one', 1);
    expect(await roles()).toEqual(['blue', 'blue']);
    current.user = 'green';
    await server.query('alter role blue nologin');
    await endConnections();
    const end = await persist(() => store.append(['kept'], { expectedPosition: position }));
    await persist(() => store.announce('one', 2));
    expect(await roles()).toEqual(['green', 'green']);
    expect(await store.read(position)).toEqual([{ records: ['kept'], position: end }]);
  });

  // Promise: postgres-store-log-in
  it('goes on with another certificate, also if it comes to read a half-written one in between', async () => {
    const ca = certificate.cert;
    const current = { ca, ...first };
    const store = await open({ user: 'certified', ssl: () => current });
    const { position } = await store.load();
    // From here on, the server takes the second certificate alone.
    await server.write({ 'root.crt': second.cert });
    await server.query('select pg_reload_conf()');
    const append = (): Promise<string> => store.append(['kept'], { expectedPosition: position });
    Object.assign(current, { ...second, cert: second.cert.slice(0, 200) });
    await endConnections();
    // The first call can find the connection that was ended.
    await expect(append()).rejects.toThrow();
    await expect(append()).rejects.toThrow(/PEM/);
    Object.assign(current, first);
    await expect(append()).rejects.toThrow(/unknown ca|certificate/);
    Object.assign(current, second);
    const end = await append();
    expect(await store.read(position)).toEqual([{ records: ['kept'], position: end }]);
  });

  it('lets a reader of the alerts know that the server has refused a log-in', async () => {
    const current = { password: 'of green' };
    const snapshot = createSnapshot({ services: [{ name: 'My Service', router: 'readconnroute' }] });
    const logIn = { user: 'green', password: () => current.password };
    const admin = await openFleet({
      ...{ snapshot, gateway: createScriptedGateway({ snapshot }), node: 'one' },
      store: await openPostgresStore({ ...server.address, ...logIn, cluster: 'refused' }),
      observe: { onError: () => undefined },
    });
    const details = (): readonly string[] => admin.alerts().map(({ detail }) => detail);
    current.password = 'forgotten';
    await endConnections();
    const refused = /^The configuration store does not answer: .*"green" \(28P01\)\. Changes are refused\./;
    await until(() => details().some((detail) => refused.test(detail)));
    current.password = 'of green';
    await until(() => details().length === 0);
    await admin.close();
  });

  const failing: readonly (readonly [what: string, log: () => PostgresStoreOptions, sentence: string])[] = (
    ['user', 'ssl', 'password'] as const
  ).flatMap((name) => {
    const giving = (ask: () => unknown) => () => ({ user: 'green', [name]: ask }) as PostgresStoreOptions;
    return [
      [
        `${name} that throws`,
        giving(() => {
          throw new Error('the vault is sealed');
        }),
        `the function ${name} failed: the vault is sealed`,
      ],
      [
        `${name} that rejects without a reason`,
        giving(
          () =>
            new Promise((_resolve, reject) => {
              (reject as (reason: unknown) => void)(undefined);
            }),
        ),
        `the function ${name} failed, and did not say why`,
      ],
      [`${name} that gives something else`, giving(() => 5), `the function ${name} must give `],
      [`${name} that gives nothing`, giving(() => undefined), `the function ${name} must give `],
      [
        `${name} that never answers`,
        giving(() => new Promise(() => undefined)),
        name === 'password' ? 'timeout expired' : `the function ${name} did not answer within 300 ms`,
      ],
    ] as const;
  });

  it.each(failing)('is refused with a sentence for a function %s', async (_what, log, sentence) => {
    await expect(open({ ...log(), connectTimeoutMs: 300 })).rejects.toThrow(sentence);
  });

  it('needs the name of the database with a function for the user, whose name it has otherwise', async () => {
    const { database: _database, ...rest } = server.address;
    await expect(openPostgresStore({ ...rest, user: () => 'blue' })).rejects.toThrow(
      new TypeError(
        'The option database must be given if user is a function: without it, each user has a database of its own',
      ),
    );
  });
});

describe('what a PostgreSQL store shows', () => {
  const shownIn = (value: unknown): string => inspect(value, { depth: Infinity, showHidden: true });

  // Promise: postgres-store-secret
  it('has no password in the errors of a log-in that fails, nor in the store', async () => {
    await server.query(`create role guarded login superuser password 'right-planted-secret'`);
    for (const password of ['wrong-planted-secret', () => 'wrong-planted-secret']) {
      const refused: unknown = await open({ user: 'guarded', password }).catch((error: unknown) => error);
      expect(refused).toMatchObject({ message: expect.stringContaining('password authentication failed') });
      expect(shownIn(refused)).not.toContain('planted-secret');
    }
    const reasons: readonly (readonly [reason: unknown, sentence: string])[] = [
      [{}, 'an unknown error'],
      [new AggregateError([new Error('no route')], 'the vault is sealed'), 'the vault is sealed'],
      [new AggregateError([new Error('no route'), new Error('no key')], ''), 'no route, no key'],
    ];
    for (const [reason, sentence] of reasons) {
      const failing = (): Promise<never> =>
        new Promise((_resolve, reject) => {
          (reject as (reason: unknown) => void)(reason);
        });
      await expect(open({ user: 'guarded', password: failing })).rejects.toThrow(sentence);
    }
    const store = await open({ user: 'guarded', password: 'right-planted-secret' });
    expect(shownIn(store)).not.toContain('planted-secret');
  });

  it('has no stored values in the errors of a statement that fails', async () => {
    const cluster = newCluster();
    const store = await open({ cluster });
    const { position } = await store.load();
    await server.query(
      `alter table gateway_record add constraint small check (cluster <> '${cluster}') not valid`,
    );
    const failed: unknown = await store
      .append([{ sealed: 'planted-secret' }], { expectedPosition: position })
      .catch((error: unknown) => error);
    await server.query('alter table gateway_record drop constraint small');
    expect(failed).toMatchObject({
      message: expect.stringContaining('violates check constraint "small" (23514)'),
    });
    expect(shownIn(failed)).not.toContain('planted-secret');
  });
});
