/**
 * The PostgreSQL store when servers, connections and answers are lost.
 */
import { writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import { inspect } from 'node:util';

import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';

import type { SharedStore } from 'gateway-admin-core/fleet';
import { openPostgresStore, type PostgresStoreOptions } from 'gateway-admin-core/postgres-store';
import { sharedStoreAudits, type SharedStorePlace } from 'gateway-admin-core/testing';

import { BreakingWire } from '../../support/breaking-wire.ts';
import { selfSigned } from '../../support/certificate.ts';
import { PostgresServer } from '../../support/postgres.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(() => server[Symbol.asyncDispose]());

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

/** Makes the same call until it resolves, as the library does. Gives the number of calls that were rejected too. */
async function persist(call: () => Promise<string>): Promise<{ position: string; failures: number }> {
  for (let failures = 0; ; failures += 1) {
    try {
      return { position: await call(), failures };
    } catch (error) {
      if (failures === 1000 || (error as Error).name === 'StoreConflictError') throw error;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
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
    const kept = await persist(() => store.append([{ number }], { expectedPosition: position }));
    position = kept.position;
    failed += kept.failures;
  }
  await disturbing;
  return failed;
}

async function numbersIn(store: SharedStore): Promise<readonly number[]> {
  return (await store.load()).records.map((record) => (record as { number: number }).number);
}

function backends(where: string): Promise<readonly Record<string, unknown>[]> {
  return server.query(
    `select pid from pg_stat_activity where application_name = 'gateway-admin-core' and ${where}`,
  );
}

/** Ends the connections of stores. Gives their number. */
async function terminate(where: string): Promise<number> {
  const found = await backends(where);
  for (const { pid } of found) await server.query('select pg_terminate_backend($1)', [pid]);
  return found.length;
}

/** Waits until a statement finds a row. */
async function until(text: string): Promise<void> {
  while ((await server.query(text)).length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
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

const isWaiting = `select 1 from pg_stat_activity where application_name = 'gateway-admin-core' and wait_event_type = 'Lock'`;

describe('a PostgreSQL store whose server or connection is lost', () => {
  // Promise: postgres-store-killed
  it('keeps every confirmed record once, and in order, when the server is killed during appends', async () => {
    const store = await open();
    const failures = await appendThrough(store, 200, async () => {
      for (let times = 0; times < 2; times += 1) {
        await server.kill();
        await server.begin();
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
      for (let ended = 0; ended < 5 || failures() === 0;) ended += await terminate('true');
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
    await until(isWaiting);
    expect(await terminate(`wait_event_type = 'Lock'`)).toBe(1);
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
    await until(`select 1 where not exists (${isWaiting})`);
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
    await persist(async () => String((await one.announce('one', 2)).size));
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
    await until(`select 1 where not exists (select 1 from pg_stat_activity where ${isListening})`);
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
      await server.begin();
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
    expect(await terminate('true')).toBeGreaterThan(0);
    await until(
      `select 1 where not exists (select 1 from pg_stat_activity where application_name = 'gateway-admin-core')`,
    );
    const { position: end } = await persist(() => store.append(['after'], { expectedPosition: position }));
    expect(await store.load()).toEqual({ records: ['after'], position: end });
  });

  it('leaves no connection behind when it is disposed of', async () => {
    const store = await open();
    await store.announce('one', 1);
    expect(await backends('true')).toHaveLength(2);
    await store[Symbol.asyncDispose]();
    await until(
      `select 1 where not exists (select 1 from pg_stat_activity where application_name = 'gateway-admin-core')`,
    );
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
  it('announces its node again before the others take the node for dead', async () => {
    const wire = await BreakingWire.to(server.port);
    disposables.push(wire);
    const store = await open({ hosts: [{ host: '127.0.0.1', port: wire.port }] });
    await store.announce('one', 1);
    wire.silence();
    const begin = performance.now();
    await persist(async () => String((await store.announce('one', 2)).size));
    expect(performance.now() - begin).toBeLessThan(8000);
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
    await server.begin();
    const nobody = { host: '127.0.0.1', port: await closedPort() };
    const hosts = [nobody, ...standby.address.hosts, ...server.address.hosts];
    const store = await open({ hosts, cluster });
    const { position } = await store.load();
    await server.kill();
    try {
      const send = (): Promise<string> => store.append(['after'], { expectedPosition: position });
      await expect(send()).rejects.toThrow();
      await standby.query('select pg_promote()');
      const { position: end } = await persist(send);
      const other = await open({ ...standby.address, cluster });
      expect(await other.load()).toEqual({ records: ['after'], position: end });
    } finally {
      await server.begin();
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

describe('openPostgresStore', () => {
  const url = 'postgres://ada:planted-secret@127.0.0.1/postgres';
  const wrong: readonly (readonly [string, unknown])[] = [
    ['connectionString', url],
    ...[
      [],
      null,
      '127.0.0.1',
      [null],
      [{ host: 5 }],
      [{ host: url }],
      [{ host: 'ada:planted-secret@db' }],
    ].map((hosts) => ['hosts', hosts] as const),
    ...['x', -1, 65_536, NaN].map((port) => ['hosts', [{ host: '127.0.0.1', port }]] as const),
    ...[null, 5, '', 'a\0b', 's'.repeat(64), 'ü'.repeat(32)].map((schema) => ['schema', schema] as const),
    ...[5, null, ['x'], 'x\n'].map((cluster) => ['cluster', cluster] as const),
    ...[5, null, {}].flatMap((value) => [['database', value] as const, ['user', value] as const]),
    ...[5, null, {}].map((value) => ['password', value] as const),
    ...['yes', 5, null].map((value) => ['ssl', value] as const),
    ...[NaN, 0, -1, 0.5, '5', 1e12].map((value) => ['connectTimeoutMs', value] as const),
    ...[NaN, 0, -1, 0.5, '5', 1e12].map((value) => ['queryTimeoutMs', value] as const),
  ];

  it.each(wrong)('refuses the option %s, and quotes nothing: %j', async (name, value) => {
    const refused: unknown = await openPostgresStore({ ...server.address, [name]: value }).catch(
      (error: unknown) => error,
    );
    expect(refused).toMatchObject({ name: 'TypeError', message: expect.stringContaining(name) });
    expect(inspect(refused, { depth: Infinity, showHidden: true })).not.toContain('planted-secret');
  });

  it('refuses a URL in the environment, and quotes nothing', async () => {
    const { PGHOST: before } = process.env;
    process.env['PGHOST'] = url;
    try {
      await expect(openPostgresStore({ user: 'postgres' })).rejects.toThrow(
        /^The environment variable PGHOST must be the name of a server, not a URL$/,
      );
    } finally {
      if (before === undefined) delete process.env['PGHOST'];
      else process.env['PGHOST'] = before;
    }
  });

  it.each([
    ['127.0.0.1', '127.0.0.1'],
    [undefined, 'localhost'],
  ])(
    'takes the server of the environment, and names the server to the fleet: PGHOST is %s',
    async (given, host) => {
      const { env } = process;
      process.env = { ...env, PGHOST: given, PGPORT: String(server.port) };
      try {
        const store = await openPostgresStore({ user: 'postgres', cluster: newCluster() });
        disposables.push(store);
        expect(store.addresses).toEqual([{ host, port: server.port }]);
        expect((await store.load()).records).toEqual([]);
      } finally {
        process.env = env;
      }
    },
  );

  it.each(['LATIN1', 'SQL_ASCII'])('refuses a database with the encoding %s', async (encoding) => {
    const database = encoding.toLowerCase();
    await server.query(
      `create database ${database} encoding '${encoding}' template template0 lc_collate 'C' lc_ctype 'C'`,
    );
    await expect(open({ database })).rejects.toThrow(
      `the database has the encoding ${encoding}, which cannot store every text. Use a database with the encoding UTF8`,
    );
  });
});

describe('a PostgreSQL store with TLS', () => {
  it.each([true, Object.freeze({ key: 'a key', rejectUnauthorized: true })])(
    'refuses a server without TLS: %j',
    async (ssl) => {
      await expect(open({ ssl })).rejects.toThrow('The server does not support SSL connections');
    },
  );

  // Promise: postgres-store-tls
  it('keeps and reads records over TLS, and refuses a certificate that it cannot verify', async () => {
    const certificate = selfSigned();
    await server.kill();
    await server.beginWithTls(certificate);
    try {
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
    } finally {
      await server.kill();
      await server.begin();
    }
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

describe('what a PostgreSQL store shows', () => {
  const shownIn = (value: unknown): string => inspect(value, { depth: Infinity, showHidden: true });

  // Promise: postgres-store-secret
  it('has no password in the errors of a log-in that fails, nor in the store', async () => {
    await server.query(`create role guarded login superuser password 'right-planted-secret'`);
    const [row] = await server.query('show hba_file');
    const rules = 'host all guarded all scram-sha-256\nhost all all all trust\n';
    await writeFile(String(row?.['hba_file']), rules);
    await server.query('select pg_reload_conf()');
    for (const password of ['wrong-planted-secret', () => 'wrong-planted-secret']) {
      const refused: unknown = await open({ user: 'guarded', password }).catch((error: unknown) => error);
      expect(refused).toMatchObject({ message: expect.stringContaining('password authentication failed') });
      expect(shownIn(refused)).not.toContain('planted-secret');
    }
    const reasons: readonly (readonly [reason: unknown, sentence: string])[] = [
      [undefined, 'the function password failed, and did not say why'],
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
    const never = (): Promise<never> => new Promise(() => undefined);
    await expect(open({ user: 'guarded', password: never, connectTimeoutMs: 200 })).rejects.toThrow(
      'timeout',
    );
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
