/**
 * The PostgreSQL store under settings of the server, the database and the role that change what a statement means.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';

import { StoreConflictError } from 'gateway-admin-core';
import type { SharedStore } from 'gateway-admin-core/fleet';
import { openPostgresStore, type PostgresStoreOptions } from 'gateway-admin-core/postgres-store';

import { PostgresServer } from '../../support/postgres.ts';
import { TransactionPool } from '../../support/transaction-pool.ts';

// Without a commit that waits, a crash within ten seconds loses the record.
const lazy = 'wal_writer_delay=10s';

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
  await server.kill();
  await server.begin(lazy);
});
afterAll(() => server[Symbol.asyncDispose]());

const disposables: AsyncDisposable[] = [];
afterEach(async () => {
  for (const each of disposables.splice(0).reverse()) await each[Symbol.asyncDispose]();
  await server.query('alter system reset all');
  await server.query('alter database postgres reset all');
  await server.query('select pg_reload_conf()');
});

let clusters = 0;
function newCluster(): string {
  clusters += 1;
  return `fleet-${String(clusters)}`;
}

async function open(options: PostgresStoreOptions = {}): Promise<SharedStore> {
  const store = await openPostgresStore({ ...server.address, cluster: newCluster(), ...options });
  disposables.push(store);
  return store;
}

/**
 * Changes a setting of the running server. Resolves when new connections have it; older ones get it at the same time.
 */
async function set(name: string, value: string): Promise<void> {
  await server.query(`alter system set ${name} = ${value}`);
  await server.query('select pg_reload_conf()');
  const isSet = async () =>
    (await server.query(`select current_setting($1) as value`, [name]))[0]?.['value'] === value;
  while (!(await isSet())) await new Promise((resolve) => setTimeout(resolve, 10));
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
      await server.begin(lazy);
      const after = await open({ cluster });
      expect(await after.load()).toEqual({ state: { number: 19 }, records: [], position });
    },
  );

  it('keeps a setting that waits for more', async () => {
    await server.query('alter database postgres set synchronous_commit = remote_apply');
    const cluster = newCluster();
    const store = await open({ cluster });
    const { position } = await store.load();
    const noted = await noteSetting('synchronous_commit', 'postgres');
    try {
      const second = await store.append([1], { expectedPosition: position });
      for (const value of ['off', 'local', 'remote_write', 'on']) {
        await server.query(`alter database postgres set synchronous_commit = ${value}`);
        const other = await open({ cluster });
        await other.compact(1, { expectedPosition: (await other.load()).position });
      }
      expect(second).not.toBe(position);
      expect(await noted.values()).toEqual(['remote_apply', 'on', 'on', 'on', 'on']);
    } finally {
      await noted[Symbol.asyncDispose]();
    }
  });

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

  it('confirms a call that was kept before only when the standby has it, also after a crash of the primary', async () => {
    const primary = await PostgresServer.start();
    disposables.push(primary);
    await primary.kill();
    const standby = await primary.beginWithStandby();
    disposables.push(standby);
    const store = await open({ ...primary.address, queryTimeoutMs: 500 });
    const { position } = await store.load();
    const send = (): Promise<string> => store.append(['once'], { expectedPosition: position });
    await standby.kill();
    await expect(send()).rejects.toThrow(/timeout/);
    await primary.kill();
    await primary.begin('synchronous_standby_names=standby');
    // The server shows the record now.
    await expect(persistFor(1000, send)).rejects.toThrow(/timeout/);
    await standby.beginBehind(primary);
    const end = await persistFor(20_000, send);
    expect(await store.read(position)).toEqual([{ records: ['once'], position: end }]);
  });
});

/** Notes a setting when a transaction that adds a record commits. */
async function noteSetting(name: string, database: string) {
  const client = await server.client(database);
  await client.query('create table noted (value text)');
  await client.query(`create function note() returns trigger language plpgsql as $$ begin
    insert into noted values (current_setting('${name}')); return new; end $$`);
  await client.query(`create constraint trigger note after insert on gateway_record deferrable initially deferred
    for each row execute function note()`);
  return {
    values: async () =>
      (await client.query<{ value: string }>('select value from noted')).rows.map(({ value }) => value),
    [Symbol.asyncDispose]: async () => {
      await client.query('drop table noted; drop function note cascade');
      await client.end();
    },
  };
}

const levels = ['serializable', 'repeatable read'] as const;
const ways = ['without a pool', 'behind a pool'] as const;

describe.each(levels.flatMap((level) => ways.map((way) => [level, way] as const)))(
  'PostgreSQL stores whose database has the isolation level "%s" (%s)',
  (level, way) => {
    const address = async (): Promise<PostgresStoreOptions> =>
      way === 'behind a pool' ? { ...(await pooled(4)), database: 'strict' } : { database: 'strict' };
    beforeAll(async () => {
      await server.query('create database strict');
      await server.query(`alter database strict set default_transaction_isolation = '${level}'`);
    });
    afterAll(() => server.query('drop database strict with (force)'));

    // Promise: postgres-store-isolation
    it('all open, when several do it at once', async () => {
      for (let round = 0; round < 10; round += 1) {
        const options = { ...(await address()), cluster: newCluster(), schema: `at_once_${String(round)}` };
        const stores = await Promise.all(Array.from({ length: 5 }, () => open(options)));
        const positions = await Promise.all(stores.map(async (store) => (await store.load()).position));
        expect(new Set(positions).size).toBe(1);
      }
    });

    if (way === 'without a pool')
      it('make each change at the level "read committed"', async () => {
        const store = await open(await address());
        const noted = await noteSetting('transaction_isolation', 'strict');
        disposables.push(noted);
        await store.append([1], { expectedPosition: (await store.load()).position });
        expect(await noted.values()).toEqual(['read committed']);
      });

    // Promise: postgres-store-isolation
    it('answer each append of several writers with a position or a conflict', async () => {
      const options = { ...(await address()), cluster: newCluster() };
      const stores = await Promise.all([1, 2, 3].map(() => open(options)));
      await Promise.all(stores.map((store, writer) => write(store, writer, 60)));
      const { records } = await (await open(options)).load();
      const written = [0, 1, 2].flatMap((writer) =>
        Array.from({ length: 60 }, (_none, number) => [writer, number]),
      );
      expect(records).toHaveLength(written.length);
      expect(records).toEqual(expect.arrayContaining(written));
    });
  },
);

describe('a PostgreSQL store whose database reads a backslash in a plain string as an escape', () => {
  it('has a view for auditors that can be read', async () => {
    await server.query('alter database postgres set standard_conforming_strings = off');
    const schema = 'escaping';
    const store = await open({ schema });
    const { position } = await store.load();
    const value = 'a\u0000b\ud83dc "\\u0000" ü';
    await store.append([{ type: 'intent', events: [{ value }] }], { expectedPosition: position });
    const select = 'select type, events from escaping.gateway_audit';
    const shown = [{ type: 'intent', events: [{ value: 'a\ufffdb\ufffdc "\\ufffd" ü' }] }];
    expect(await server.query(select)).toEqual(shown);
    await server.query('alter database postgres reset all');
    expect(await server.query(select)).toEqual(shown);
  });
});

describe('a PostgreSQL store that the server picks to end a deadlock', () => {
  it('appends again', async () => {
    const store = await open();
    const { position } = await store.load();
    const other = await server.client();
    await other.query('begin');
    await other.query('select 1 from gateway_head for update');
    const appended = store.append(['once'], { expectedPosition: position });
    const waiting = `select 1 from pg_stat_activity where application_name = 'gateway-admin-core' and wait_event_type = 'Lock'`;
    while ((await server.query(waiting)).length === 0)
      await new Promise((resolve) => setTimeout(resolve, 10));
    // The store has waited for longer, so the server ends its statement.
    await other.query('lock table gateway_record in share mode');
    await other.query('commit');
    await other.end();
    expect(await store.read(position)).toEqual([{ records: ['once'], position: await appended }]);
  });
});

/** Appends records one at a time: reads after a conflict, and appends again. Any other failure is an error. */
async function write(store: SharedStore, writer: number, count: number): Promise<void> {
  let { position } = await store.load();
  for (let number = 0; number < count;) {
    try {
      position = await store.append([[writer, number]], { expectedPosition: position });
      number += 1;
    } catch (error) {
      if (!(error instanceof StoreConflictError)) throw error;
      const steps = await store.read(position);
      if (steps === 'gone') throw new Error('The log is gone.', { cause: error });
      position = steps.at(-1)?.position ?? position;
    }
    await store.announce(`node-${String(writer)}`, number);
  }
}

/** Makes a call until it resolves, or a time is over. */
async function persistFor<T>(milliseconds: number, call: () => Promise<T>): Promise<T> {
  for (const begin = performance.now(); ;) {
    try {
      return await call();
    } catch (error) {
      if (performance.now() - begin > milliseconds) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}
