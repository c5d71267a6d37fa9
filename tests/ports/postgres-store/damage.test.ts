/**
 * The PostgreSQL store when its tables contradict each other: somebody has changed a row by hand, or has restored one
 * table alone.
 */
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';

import { StoreConflictError, createSnapshot, patchService } from 'gateway-admin-core';
import { openFleet, type SharedStore } from 'gateway-admin-core/fleet';
import { openPostgresStore } from 'gateway-admin-core/postgres-store';

import { blocksOfMarkdown } from '../../docs/code-block.ts';
import { PostgresDatabase } from '../../support/postgres.ts';
import { read } from '../../support/project.ts';

let database: PostgresDatabase;
beforeAll(async () => {
  database = await PostgresDatabase.create('damage_test');
});

const stores: SharedStore[] = [];
afterEach(async () => {
  for (const store of stores.splice(0)) await store[Symbol.asyncDispose]();
});

async function open(): Promise<SharedStore> {
  const store = await openPostgresStore(database.address);
  stores.push(store);
  return store;
}

/** Two stores at the end of a log: the state of two records, and two records behind it. */
async function opened() {
  await database.query(
    'drop table if exists gateway_schema, gateway_head, gateway_record, gateway_node cascade',
  );
  const [one, other] = [await open(), await open()];
  const begin = await one.load();
  const second = await one.append([1, 2], { expectedPosition: begin.position });
  const third = await one.compact({ sum: 3 }, { expectedPosition: second });
  const position = await one.append([4, 5], { expectedPosition: third });
  return { one, other, position };
}

const otherCall = '00000000-0000-4000-8000-000000000000';
const remedy =
  'Somebody has changed or restored one of them alone. Restore gateway_head and gateway_record from the same backup.';
const headAlone = (end: string, last: string) =>
  `The tables of the cluster "gateway" contradict each other: gateway_head ends at ${end}, and gateway_record ends at ${last}. ` +
  remedy;

/** What has happened to the tables, and what each call says. */
const damages: readonly (readonly [what: string, statement: string, says: (position: string) => string])[] = [
  [
    'gateway_head names a call that no record has',
    `update gateway_head set call = '${otherCall}'`,
    (position) => headAlone(`5.${otherCall}`, position),
  ],
  [
    'gateway_head ends behind the records',
    `update gateway_head set position = 7, call = '${otherCall}'`,
    (position) => headAlone(`7.${otherCall}`, position),
  ],
  [
    'gateway_head was restored alone',
    `update gateway_head as head set position = record.position, call = record.call
     from gateway_record as record where record.position = 3`,
    (position) => `gateway_record ends at ${position}. ${remedy}`,
  ],
  [
    'gateway_record was restored alone',
    'delete from gateway_record where position > 4',
    (position) =>
      `gateway_head ends at ${position}, and gateway_record ends at 4.${position.slice(2)}. ${remedy}`,
  ],
  [
    'the row in gateway_head was deleted',
    'delete from gateway_head',
    (position) => headAlone('no row', position),
  ],
  [
    'the rows in gateway_record were deleted',
    'delete from gateway_record',
    (position) => headAlone(position, 'no row'),
  ],
];

describe.each(damages)('a PostgreSQL store where %s', (_what, statement, says) => {
  // Promise: postgres-store-damage
  it('rejects every call with what is wrong and what to do, and never as a conflict', async () => {
    const { one, other, position } = await opened();
    await database.query(statement);
    const calls: readonly (() => Promise<unknown>)[] = [
      () => one.append([6], { expectedPosition: position }),
      () => one.compact({}, { expectedPosition: position }),
      () => other.append([6], { expectedPosition: position }),
      () => other.read(position),
      () => other.load(),
      async () => (await open()).load(),
    ];
    for (const call of calls) {
      const failed: unknown = await call().catch((error: unknown) => error);
      expect(failed).toMatchObject({ message: expect.stringContaining(says(position)) });
      expect(failed).not.toBeInstanceOf(StoreConflictError);
    }
    // Nothing was added by looking, or by opening.
    expect(await database.query('select 1 from gateway_record where position > 5')).toEqual([]);
  });
});

describe('a PostgreSQL store whose state leads to no record', () => {
  it('says so to whoever loads', async () => {
    const { other } = await opened();
    await database.query('delete from gateway_record where position = 3');
    await expect(other.load()).rejects.toThrow(
      `The tables of the cluster "gateway" contradict each other: the state in gateway_head is of position 3, and ` +
        `gateway_record has no row there. ${remedy}`,
    );
  });
});

describe('a fleet on tables that contradict each other', () => {
  // Promise: postgres-store-damage
  it('answers 503, tells the operator once, and goes on after the repair of the documentation', async () => {
    const repair = blocksOfMarkdown('docs/port-recipes.md', read('docs/port-recipes.md')).findLast(
      ({ language }) => language === 'sql',
    );
    const errors: unknown[] = [];
    const store = await openPostgresStore({ ...database.address, schema: 'gateway' });
    const admin = await openFleet({
      ...{ store, node: 'one', observe: { onError: (error: unknown) => errors.push(error) } },
      snapshot: createSnapshot({ services: [{ name: 'Sales', router: 'readconnroute' }] }),
      gateway: { apply: () => Promise.resolve(), inspect: () => Promise.resolve('in-place') },
    });
    const patch = (value: number) =>
      admin.execute((snapshot, context) =>
        patchService(snapshot, 'Sales', [{ op: 'add', path: '/max_connection', value }], context),
      );
    await patch(1);
    await database.query(`update gateway.gateway_head set call = '${otherCall}'`);
    const refused = { outcome: 'refused', problem: { code: 'store-unavailable' } };
    expect(await patch(2)).toMatchObject(refused);
    expect(await patch(3)).toMatchObject(refused);
    expect(errors).toEqual([expect.objectContaining({ message: expect.stringContaining(remedy) })]);
    await database.query(repair?.code ?? '');
    while ((await patch(4)).outcome !== 'accepted') await new Promise((resolve) => setTimeout(resolve, 100));
    expect(errors).toHaveLength(1);
    await admin.close();
  });
});
