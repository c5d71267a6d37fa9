/**
 * The audits of stores, and what the hints tell, on a real PostgreSQL server.
 */
import { getEventListeners } from 'node:events';

import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';

import { StoreConflictError } from 'gateway-admin-core';
import type { SharedStore } from 'gateway-admin-core/fleet';
import { openPostgresStore } from 'gateway-admin-core/postgres-store';
import { sharedStoreAudits, type SharedStorePlace } from 'gateway-admin-core/testing';

import { PostgresDatabase } from '../../support/postgres.ts';
import { TransactionPool } from '../../support/transaction-pool.ts';

let database: PostgresDatabase;
beforeAll(async () => {
  database = await PostgresDatabase.create('audit_test');
});

let places = 0;

/** A place is a fleet of its own in the same tables. */
function createPlace(port = database.port): Promise<SharedStorePlace> {
  places += 1;
  const cluster = `fleet-${String(places)}`;
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
  let pool: TransactionPool;
  beforeAll(async () => {
    pool = await TransactionPool.to(database.port, 3);
  });
  afterAll(() => pool[Symbol.asyncDispose]());

  const pooled = sharedStoreAudits(() => createPlace(pool.port));

  it.each(pooled.map((audit) => [audit.name, audit] as const))('%s', async (_name, audit) => {
    await expect(audit.run()).resolves.toBeUndefined();
  });
});

describe('a position of a PostgreSQL store', () => {
  it('has no text around it: such a text is gone, and is no place for an append', async () => {
    const place = await createPlace();
    const store = await place.open();
    const { position } = await store.load();
    for (const text of [`x${position}`, `${position}x`, `\n${position}`, `${position}\n`]) {
      expect(await store.read(text)).toBe('gone');
      await expect(store.append([1], { expectedPosition: text })).rejects.toThrow(StoreConflictError);
    }
    expect(await store.load()).toEqual({ records: [], position });
    await store[Symbol.asyncDispose]();
  });
});

describe('a PostgreSQL store that was disposed of', () => {
  it('says so at each call', async () => {
    const place = await createPlace();
    const store = await place.open();
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
  const stores: SharedStore[] = [];
  afterEach(async () => {
    for (const store of stores.splice(0)) await store[Symbol.asyncDispose]();
  });

  /** Two stores of one fleet; the first one hears hints. */
  async function openTwo() {
    const place = await createPlace();
    const [one, other] = [await place.open(), await place.open()];
    stores.push(one, other);
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
