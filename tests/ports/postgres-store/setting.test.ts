/**
 * The PostgreSQL store under settings of the server, the database and the role that change what a statement means.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';

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

/** Changes a setting of the running server. Resolves when new connections have it; older ones get it at the same time. */
async function set(name: string, value: string): Promise<void> {
  await server.query(`alter system set ${name} = ${value}`);
  await server.query('select pg_reload_conf()');
  const isSet = async () =>
    (await server.query(`select current_setting($1) as value`, [name]))[0]?.['value'] === value;
  while (!(await isSet())) await new Promise((resolve) => setTimeout(resolve, 10));
}

/** The address of a pool in transaction mode in front of the server. */
async function pooled(): Promise<PostgresStoreOptions> {
  const pool = await TransactionPool.to(server.port, 2);
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
    const seen = `create function note_commit() returns trigger language plpgsql as $$ begin
        insert into noted values (current_setting('synchronous_commit')); return new; end $$`;
    await server.query('create table noted (value text)');
    await server.query(seen);
    // Deferred: looks when the commit begins.
    await server.query(`create constraint trigger note after insert on gateway_record deferrable initially deferred
      for each row execute function note_commit()`);
    try {
      const second = await store.append([1], { expectedPosition: position });
      for (const value of ['off', 'local', 'remote_write', 'on']) {
        await server.query(`alter database postgres set synchronous_commit = ${value}`);
        const other = await open({ cluster });
        await other.compact(1, { expectedPosition: (await other.load()).position });
      }
      expect(second).not.toBe(position);
      expect(await server.query('select value from noted')).toEqual(
        ['remote_apply', 'on', 'on', 'on', 'on'].map((value) => ({ value })),
      );
    } finally {
      await server.query('drop table noted; drop function note_commit cascade');
    }
  });

  // Promise: postgres-store-durable
  it.each(['fsync', 'full_page_writes'])('confirms nothing while %s is off, and says so', async (name) => {
    const store = await open();
    const { position } = await store.load();
    await set(name, 'off');
    const refusal =
      `${name} is off, and a crash of the machine would lose changes that clients got a 204 for. ` +
      `Set ${name} = on for the server`;
    const append = (): Promise<string> => store.append([1], { expectedPosition: position });
    await expect(append()).rejects.toThrow(refusal);
    await expect(store.compact(1, { expectedPosition: position })).rejects.toThrow(refusal);
    await expect(open()).rejects.toThrow(refusal);
    expect(await store.read(position)).toEqual([]);
    await set(name, 'on');
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
    await expect(persistFor(2000, send)).rejects.toThrow(/timeout/);
    await standby.beginBehind(primary);
    const end = await persistFor(20_000, send);
    expect(await store.read(position)).toEqual([{ records: ['once'], position: end }]);
  }, 60_000);
});

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
