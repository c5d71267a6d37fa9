/**
 * The PostgreSQL store on a real server: the audits of stores, hints, options, and settings of its database.
 */
import { getEventListeners } from 'node:events';
import { inspect } from 'node:util';

import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';

import { StoreConflictError } from 'gateway-admin-core';
import type { SharedStore } from 'gateway-admin-core/fleet';
import { openPostgresStore, type PostgresStoreOptions } from 'gateway-admin-core/postgres-store';
import { sharedStoreAudits, type SharedStorePlace } from 'gateway-admin-core/testing';

import { PostgresDatabase } from '../../support/postgres.ts';
import { TransactionPool } from '../../support/transaction-pool.ts';

let database: PostgresDatabase;
let pool: TransactionPool;
beforeAll(async () => {
  database = await PostgresDatabase.create('store_test');
  pool = await TransactionPool.to(database.port, 4);
});
afterAll(() => pool[Symbol.asyncDispose]());

const stores: AsyncDisposable[] = [];
afterEach(async () => {
  for (const store of stores.splice(0)) await store[Symbol.asyncDispose]();
});

let places = 0;
function newCluster(): string {
  places += 1;
  return `fleet-${String(places)}`;
}

async function open(options: PostgresStoreOptions = {}): Promise<SharedStore> {
  const store = await openPostgresStore({ ...database.address, cluster: newCluster(), ...options });
  stores.push(store);
  return store;
}

/** A place is a fleet of its own in the same tables. */
function createPlace(port = database.port): Promise<SharedStorePlace> {
  const cluster = newCluster();
  return Promise.resolve({
    open: () => openPostgresStore({ ...database.address, hosts: [{ host: '127.0.0.1', port }], cluster }),
    backup: () => backup(cluster),
  });
}

/** Copies the rows of a fleet, and writes them back. */
async function backup(cluster: string): Promise<() => Promise<void>> {
  const tables = ['gateway_head', 'gateway_record'];
  const rows = await Promise.all(
    tables.map((table) =>
      database.query(`select json_agg(row)::text as rows from ${table} as row where cluster = $1`, [cluster]),
    ),
  );
  return async () => {
    for (const [at, table] of tables.entries()) {
      await database.query(`delete from ${table} where cluster = $1`, [cluster]);
      await database.query(`insert into ${table} select * from json_populate_recordset(null::${table}, $1)`, [
        rows[at]?.[0]?.['rows'],
      ]);
    }
  };
}

const audits = sharedStoreAudits(() => createPlace());

describe('a PostgreSQL store', () => {
  // Promise: postgres-store
  it.each(audits.map((audit) => [audit.name, audit] as const))('%s', async (_name, audit) => {
    await expect(audit.run()).resolves.toBeUndefined();
  });
});

describe('a PostgreSQL store behind a pool in transaction mode', () => {
  const pooled = sharedStoreAudits(() => createPlace(pool.port));

  it.each(pooled.map((audit) => [audit.name, audit] as const))('%s', async (_name, audit) => {
    await expect(audit.run()).resolves.toBeUndefined();
  });
});

describe('a position of a PostgreSQL store', () => {
  it('has no text around it: such a text is gone, and is no place for an append', async () => {
    const store = await open();
    const { position } = await store.load();
    for (const text of [`x${position}`, `${position}x`, `\n${position}`, `${position}\n`]) {
      expect(await store.read(text)).toBe('gone');
      await expect(store.append([1], { expectedPosition: text })).rejects.toThrow(StoreConflictError);
    }
    expect(await store.load()).toEqual({ records: [], position });
  });
});

describe('a PostgreSQL store that was disposed of', () => {
  it('says so at each call', async () => {
    const store = await open();
    const { position } = await store.load();
    await store[Symbol.asyncDispose]();
    const calls: readonly (() => Promise<unknown>)[] = [
      () => store.load(),
      () => store.append([1], { expectedPosition: position }),
      () => store.compact(1, { expectedPosition: position }),
      () => store.read(position),
      () => store.changed(position, new AbortController().signal),
      () => store.announce('one', 1),
    ];
    for (const call of calls) await expect(call()).rejects.toThrow(/^The store was disposed of\.$/);
  });
});

describe('the hints of a PostgreSQL store', () => {
  const { signal } = new AbortController();

  /** Two stores of one fleet; the first one hears hints. */
  async function openTwo() {
    const cluster = newCluster();
    const [one, other] = [await open({ cluster }), await open({ cluster })];
    // The announcement takes its turn behind the hint of the change before it.
    const sent = (): Promise<unknown> => other.announce('other', 1);
    // A connection gets its notifications before the answer to its next statement.
    const hear = async (): Promise<void> => {
      await sent();
      await one.announce('one', 1);
    };
    await hear();
    const { position } = await one.load();
    return { one, other, position, hear };
  }

  it('are kept while nobody waits, and are heard once', async () => {
    const { one, other, position, hear } = await openTwo();
    await other.append([1], { expectedPosition: position });
    await hear();
    await one.changed(position, signal);
    let isHeard = false;
    const again = one.changed(position, signal).then(() => (isHeard = true));
    await hear();
    expect(isHeard).toBe(false);
    await one[Symbol.asyncDispose]();
    await again;
  });

  it('leave no listener on the signal, however the waiting ends', async () => {
    const { one, other, position, hear } = await openTwo();
    const stop = new AbortController();
    const listeners = (): number => getEventListeners(stop.signal, 'abort').length;
    const heard = one.changed(position, stop.signal);
    await hear();
    expect(listeners()).toBe(1);
    const second = await other.append([1], { expectedPosition: position });
    await heard;
    expect(listeners()).toBe(0);
    const aborted = one.changed(second, stop.signal);
    await hear();
    expect(listeners()).toBe(1);
    stop.abort();
    await aborted;
    expect(listeners()).toBe(0);
  });

  it('wake nobody for what their own store has appended', async () => {
    const { one, other, position, hear } = await openTwo();
    let isHeard = false;
    const changed = one.changed(position, signal).then(() => (isHeard = true));
    const second = await one.append([1], { expectedPosition: position });
    await hear();
    expect(isHeard).toBe(false);
    await other.append([2], { expectedPosition: second });
    await changed;
  });

  it('wake nobody who knows the position already', async () => {
    const { one, other, position, hear } = await openTwo();
    const second = await other.append([1], { expectedPosition: position });
    let isHeard = false;
    const changed = one.changed(second, signal).then(() => (isHeard = true));
    await hear();
    expect(isHeard).toBe(false);
    await other.append([2], { expectedPosition: second });
    await changed;
  });
});

describe('openPostgresStore', () => {
  const url = 'postgres://ada:planted-secret@127.0.0.1/postgres';
  const wrong: Readonly<Record<string, readonly unknown[]>> = {
    connectionString: [url],
    hosts: [
      ...[[], null, '127.0.0.1', [null], [{ host: 5 }], [{ host: url }], [{ host: 'ada:planted-secret@db' }]],
      ...['x', -1, 65_536, NaN].map((port) => [{ host: '127.0.0.1', port }]),
    ],
    schema: [null, 5, '', 'a\0b', 's'.repeat(64), 'ü'.repeat(32)],
    cluster: [5, null, ['x'], 'x\n', '', 'a b', 'ä', 'x'.repeat(41), 'a"b'],
    database: [5, null, {}],
    user: [5, null, {}],
    password: [5, null, {}],
    ssl: ['yes', 5, null],
    connectTimeoutMs: [NaN, 0, -1, 0.5, '5', 1e12],
    queryTimeoutMs: [NaN, 0, -1, 0.5, '5', 1e12],
  };

  it.each(Object.entries(wrong).flatMap(([name, values]) => values.map((value) => [name, value] as const)))(
    'refuses the option %s, and quotes nothing: %j',
    async (name, value) => {
      const refused: unknown = await open({ [name]: value }).catch((error: unknown) => error);
      expect(refused).toMatchObject({ name: 'TypeError', message: expect.stringContaining(name) });
      expect(inspect(refused, { depth: Infinity, showHidden: true })).not.toContain('planted-secret');
    },
  );

  it.each([
    [{ host: 'db-1' }, 'There is no option of openPostgresStore with the name "host". Did you mean hosts?'],
    [{ hosts: [] }, 'The option hosts must be a list of one or more servers'],
  ])('looks for no other server than the options %j name', async (options, message) => {
    await expect(openPostgresStore(options as object)).rejects.toThrow(message);
  });

  it('needs the name of the database with a function for the user, whose name it has otherwise', async () => {
    const { database: _database, ...rest } = database.address;
    await expect(openPostgresStore({ ...rest, user: () => 'blue' })).rejects.toThrow(
      new TypeError(
        'The option database must be given if user is a function: without it, each user has a database of its own',
      ),
    );
  });

  describe('with the environment', () => {
    const { env } = process;
    afterEach(() => {
      process.env = env;
    });

    it('refuses a URL, and quotes nothing', async () => {
      process.env = { ...env, PGHOST: url };
      await expect(openPostgresStore({ user: 'postgres' })).rejects.toThrow(
        /^The environment variable PGHOST must be the name of a server, not a URL$/,
      );
    });

    it.each([
      ['127.0.0.1', '127.0.0.1'],
      [undefined, 'localhost'],
    ])('takes the server, and names the server to the fleet: PGHOST is %s', async (given, host) => {
      process.env = { ...env, PGHOST: given, PGPORT: String(database.port) };
      const { database: name } = database.address;
      const store = await openPostgresStore({ user: 'postgres', database: name, cluster: newCluster() });
      stores.push(store);
      expect(store.addresses).toEqual([{ host, port: database.port }]);
      expect((await store.load()).records).toEqual([]);
    });
  });

  it.each(['LATIN1', 'SQL_ASCII'])('refuses a database with the encoding %s', async (encoding) => {
    const name = encoding.toLowerCase();
    await database.query(
      `create database ${name} encoding '${encoding}' template template0 lc_collate 'C' lc_ctype 'C'`,
    );
    await expect(open({ database: name })).rejects.toThrow(
      `the database has the encoding ${encoding}, which cannot store every text. Use a database with the encoding UTF8`,
    );
  });

  it('refuses a server that takes no changes, with the reason', async () => {
    await database.query(
      'create role reading login superuser; alter role reading set default_transaction_read_only = on',
    );
    await expect(open({ user: 'reading' })).rejects.toThrow('the server is a standby, or read-only');
  });

  it.each([true, Object.freeze({ key: 'a key', rejectUnauthorized: true })])(
    'refuses a server without TLS: %j',
    async (ssl) => {
      await expect(open({ ssl })).rejects.toThrow('The server does not support SSL connections');
    },
  );
});

/** Notes a setting when a transaction that adds a record commits. */
async function noteSetting(name: string, of: PostgresDatabase) {
  await of.query('create table noted (value text)');
  await of.query(`create function note() returns trigger language plpgsql as $$ begin
    insert into noted values (current_setting('${name}')); return new; end $$`);
  await of.query(`create constraint trigger note after insert on gateway_record deferrable initially deferred
    for each row execute function note()`);
  return async () => (await of.query('select value from noted')).map(({ value }) => value);
}

describe('a PostgreSQL store on a server that stops to wait for its disk', () => {
  it('keeps a setting that waits for more', async () => {
    const own = await PostgresDatabase.create('lazy');
    await own.query('alter database lazy set synchronous_commit = remote_apply');
    const options = { ...own.address, cluster: newCluster() };
    const store = await open(options);
    const { position } = await store.load();
    const noted = await noteSetting('synchronous_commit', own);
    await store.append([1], { expectedPosition: position });
    for (const value of ['off', 'local', 'remote_write', 'on']) {
      await own.query(`alter database lazy set synchronous_commit = ${value}`);
      const other = await open(options);
      await other.compact(1, { expectedPosition: (await other.load()).position });
    }
    expect(await noted()).toEqual(['remote_apply', 'on', 'on', 'on', 'on']);
  });
});

describe.each(['serializable', 'repeatable read'])(
  'PostgreSQL stores whose database has the isolation level "%s"',
  (level) => {
    const name = level.replace(' ', '_');
    let strict: PostgresDatabase;
    let pooled: TransactionPool;
    beforeAll(async () => {
      strict = await PostgresDatabase.create(name);
      await strict.query(`alter database ${name} set default_transaction_isolation = '${level}'`);
      pooled = await TransactionPool.to(strict.port, 4);
    });
    afterAll(() => pooled[Symbol.asyncDispose]());

    const ways = [
      ['without a pool', () => strict.port],
      ['behind a pool', () => pooled.port],
    ] as const;
    const address = (port: number): PostgresStoreOptions => ({
      ...{ hosts: [{ host: '127.0.0.1', port }], database: name },
      cluster: newCluster(),
    });

    // Promise: postgres-store-isolation
    it.each(ways)('all open, when several do it at once (%s)', async (way, port) => {
      for (let round = 0; round < 5; round += 1) {
        const schema = `${way} ${String(round)}`;
        const options = { ...address(port()), schema };
        const opened = await Promise.all(Array.from({ length: 5 }, () => open(options)));
        const positions = await Promise.all(opened.map(async (store) => (await store.load()).position));
        expect(new Set(positions).size).toBe(1);
      }
    });

    // Promise: postgres-store-isolation
    it.each(ways)(
      'answer each append of several writers with a position or a conflict (%s)',
      async (_way, port) => {
        const options = address(port());
        const writers = await Promise.all([1, 2, 3].map(() => open(options)));
        await Promise.all(writers.map((store, writer) => write(store, writer, 40)));
        const { records } = await (await open(options)).load();
        const written = [0, 1, 2].flatMap((writer) =>
          Array.from({ length: 40 }, (_none, number) => [writer, number]),
        );
        expect(records.toSorted()).toEqual(written.toSorted());
      },
    );

    it('make each change at the level "read committed"', async () => {
      const store = await open(address(strict.port));
      const noted = await noteSetting('transaction_isolation', strict);
      await store.append([1], { expectedPosition: (await store.load()).position });
      expect(await noted()).toEqual(['read committed']);
    });
  },
);

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

describe('a PostgreSQL store whose database reads a backslash in a plain string as an escape', () => {
  it('has a view for auditors that can be read', async () => {
    const own = await PostgresDatabase.create('escaping');
    await own.query('alter database escaping set standard_conforming_strings = off');
    const store = await open(own.address);
    const { position } = await store.load();
    const value = 'a\u0000b\ud83dc "\\u0000" ü';
    await store.append([{ type: 'intent', events: [{ value }] }], { expectedPosition: position });
    const select = 'select type, events from gateway_audit';
    const shown = [{ type: 'intent', events: [{ value: 'a\ufffdb\ufffdc "\\ufffd" ü' }] }];
    expect(await own.query(select)).toEqual(shown);
    await own.query('alter database escaping reset all');
    expect(await own.query(select)).toEqual(shown);
  });
});

describe('a PostgreSQL store that the server picks to end a deadlock', () => {
  it('appends again', async () => {
    const own = await PostgresDatabase.create('deadlock');
    // The server looks once, when a statement has waited for so long: long enough for a busy machine to come to the lock.
    await own.query("alter database deadlock set deadlock_timeout = '3s'");
    const store = await open(own.address);
    const { position } = await store.load();
    const other = await own.client();
    await other.query("set deadlock_timeout = '1min'");
    await other.query('begin');
    await other.query('select 1 from gateway_head for update');
    const appended = store.append(['once'], { expectedPosition: position });
    const waiting = `select 1 from pg_stat_activity where application_name = 'gateway-admin-core'
      and datname = current_database() and wait_event_type = 'Lock'`;
    while ((await own.query(waiting)).length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    // The server looks for the store first, so it ends the statement of the store.
    await other.query('lock table gateway_record in share mode');
    await other.query('commit');
    await other.end();
    expect(await store.read(position)).toEqual([{ records: ['once'], position: await appended }]);
  });
});
