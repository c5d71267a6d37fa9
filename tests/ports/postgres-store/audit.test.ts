/**
 * The audits of stores, on a real PostgreSQL server.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { openPostgresStore } from 'gateway-admin-core/postgres-store';
import { sharedStoreAudits, type SharedStorePlace } from 'gateway-admin-core/testing';

import { PostgresServer } from '../../support/postgres.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(() => server[Symbol.asyncDispose]());

let places = 0;

/** A place is a fleet of its own in the same tables. */
function createPlace(): Promise<SharedStorePlace> {
  places += 1;
  const cluster = `fleet-${String(places)}`;
  return Promise.resolve({
    open: () => openPostgresStore({ ...server.address, cluster }),
    backup: () => backup(cluster),
  });
}

/** Copies the rows of a fleet, and writes them back. */
async function backup(cluster: string): Promise<() => Promise<void>> {
  const tables = ['gateway_head', 'gateway_record'];
  const rows = await Promise.all(
    tables.map((table) =>
      server.query(`select json_agg(row)::text as rows from ${table} as row where cluster = $1`, [cluster]),
    ),
  );
  return async () => {
    for (const [at, table] of tables.entries()) {
      await server.query(`delete from ${table} where cluster = $1`, [cluster]);
      await server.query(`insert into ${table} select * from json_populate_recordset(null::${table}, $1)`, [
        rows[at]?.[0]?.['rows'],
      ]);
    }
  };
}

const audits = sharedStoreAudits(createPlace);

describe('a PostgreSQL store', () => {
  // Promise: postgres-store
  it.each(audits.map((audit) => [audit.name, audit] as const))('%s', async (_name, audit) => {
    await expect(audit.run()).resolves.toBeUndefined();
  });
});
