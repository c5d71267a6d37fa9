/**
 * The tables of the PostgreSQL store: how they come into being, which role may do what with them, and what a store says
 * when somebody has changed a row by hand, or has restored one table alone.
 */
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';

import { StoreConflictError, createSnapshot, patchService } from 'gateway-admin-core';
import { openFleet, type SharedStore } from 'gateway-admin-core/fleet';
import { openPostgresStore, type PostgresStoreOptions } from 'gateway-admin-core/postgres-store';

import { blocksOfMarkdown } from '../../docs/code-block.ts';
import { PostgresDatabase } from '../../support/postgres.ts';
import { read } from '../../support/project.ts';

let database: PostgresDatabase;
beforeAll(async () => {
  database = await PostgresDatabase.create('schema_test');
});

const [roles = '', grants = '', retention = '', repair = ''] = blocksOfMarkdown(
  'docs/port-recipes.md',
  read('docs/port-recipes.md'),
).flatMap(({ language, code }) => (language === 'sql' ? [code] : []));

/** Opens a store, runs a task on it, and disposes of it. */
async function using<T>(
  options: PostgresStoreOptions,
  task: (store: Awaited<ReturnType<typeof openPostgresStore>>) => Promise<T>,
): Promise<T> {
  const store = await openPostgresStore({ ...database.address, ...options });
  return task(store).finally(() => store[Symbol.asyncDispose]());
}

/** Runs statements as a role. */
async function as(role: string, statements: string): Promise<readonly Record<string, unknown>[]> {
  const client = await database.client();
  try {
    await client.query(`set role ${role}`);
    return (await client.query<Record<string, unknown>>(statements)).rows;
  } finally {
    await client.end();
  }
}

async function appendTo(options: PostgresStoreOptions, records: readonly string[]): Promise<string> {
  return using(options, async (store) => {
    const { position } = await store.load();
    return store.append(records, { expectedPosition: position });
  });
}

describe('the tables of a PostgreSQL store', () => {
  // Promise: store-create
  it('are refused with create: false if the database is empty, and nothing is created', async () => {
    const options = { schema: 'never_begun', create: false };
    await expect(openPostgresStore({ ...database.address, ...options })).rejects.toThrow(
      /^The database has no tables in the schema "never_begun", and the option create is false\./,
    );
    expect(await database.query(`select to_regnamespace('never_begun')::text as name`)).toEqual([
      { name: null },
    ]);
    await using({ schema: 'begun' }, (store) => store.load());
    const other = { schema: 'begun', cluster: 'other', create: false };
    await expect(openPostgresStore({ ...database.address, ...other })).rejects.toThrow(
      /no row for the cluster "other"/,
    );
    expect(await database.query('select cluster from begun.gateway_head')).toEqual([{ cluster: 'gateway' }]);
    await using({ schema: 'begun', create: false }, async (store) => {
      expect(await store.load()).toMatchObject({ records: [] });
    });
  });

  // Promise: postgres-store-migration
  it('are created by one of several nodes that start at once', async () => {
    await database.query('create schema at_once');
    const options = { schema: 'at_once' };
    const starts = Array.from({ length: 5 }, () => using(options, (store) => store.load()));
    const positions = (await Promise.all(starts)).map(({ position }) => position);
    expect(new Set(positions).size).toBe(1);
    expect(await database.query('select version from at_once.gateway_schema')).toEqual([{ version: 1 }]);
  });

  it('are in the schema of the options, whatever its name, which is created if it is missing', async () => {
    const schema = 'a "name" with \\ and ü';
    await appendTo({ schema }, ['there']);
    expect(await using({ schema }, (store) => store.load())).toMatchObject({ records: ['there'] });
    expect(await using({ schema: 'elsewhere' }, (store) => store.load())).toMatchObject({ records: [] });
  });

  it('have the fleets of one schema apart, with their announcements', async () => {
    await appendTo({ cluster: 'berlin' }, ['of Berlin']);
    await using({ cluster: 'berlin' }, (store) => store.announce('one', 'up'));
    await using({ cluster: 'paris' }, async (store) => {
      expect(await store.load()).toMatchObject({ records: [] });
      expect(await store.announce('two', 'up')).toEqual(new Map([['two', 'up']]));
    });
  });

  it('are left alone when a later version of the library has made them', async () => {
    await using({ schema: 'later' }, (store) => store.load());
    await database.query('insert into later.gateway_schema values (7)');
    await expect(openPostgresStore({ ...database.address, schema: 'later' })).rejects.toThrow(
      'The tables in the schema "later" have version 7, and this version of gateway-admin-core knows version 1. ' +
        'Upgrade gateway-admin-core on this node.',
    );
  });

  // Promise: postgres-store-gap
  it('give no part of the records when one in the middle is missing', async () => {
    const options = { cluster: 'damaged' };
    await using(options, async (store) => {
      const { position } = await store.load();
      await store.append([1, 2, 3], { expectedPosition: position });
      await database.query(`delete from gateway_record where cluster = 'damaged' and position = 2`);
      expect(await store.read(position)).toBe('gone');
      await expect(store.load()).rejects.toThrow(
        `Records of the cluster "damaged" behind position ${position} are missing. Restore a backup.`,
      );
    });
  });

  it('have no row for a fleet that somebody has removed: each call says so', async () => {
    await using({ cluster: 'removed' }, async (store) => {
      const { position } = await store.load();
      for (const table of ['gateway_head', 'gateway_record'])
        await database.query(`delete from ${table} where cluster = 'removed'`);
      const missing = 'The tables have no row for the cluster "removed". Open the store again.';
      await expect(store.load()).rejects.toThrow(missing);
      await expect(store.append([1], { expectedPosition: position })).rejects.toThrow(missing);
      await expect(store.compact(1, { expectedPosition: position })).rejects.toThrow(missing);
    });
    expect(await using({ cluster: 'removed' }, (store) => store.load())).toMatchObject({ records: [] });
  });

  it('take no append without a record', async () => {
    await using({ cluster: 'empty' }, async (store) => {
      const { position } = await store.load();
      await expect(store.append([], { expectedPosition: position })).rejects.toThrow(
        new TypeError('append takes one record or more'),
      );
      expect(await store.load()).toEqual({ records: [], position });
    });
  });
});

describe('a store that loads while another node stores the first state', () => {
  it('never gives the position of the state without the state', async () => {
    for (let round = 0; round < 30; round += 1) {
      const cluster = `beginning-${String(round)}`;
      await using({ cluster }, async (one) =>
        using({ cluster }, async (other) => {
          const { position } = await one.load();
          const first = { first: round };
          const [loaded] = await Promise.all([
            other.load(),
            one.compact(first, { expectedPosition: position }),
          ]);
          if (loaded.position !== position) expect(loaded.state).toEqual(first);
        }),
      );
    }
  });
});

describe('the roles of the documentation', () => {
  const node = { schema: 'gateway', user: 'gateway_node' };
  beforeAll(async () => {
    await database.query(roles);
    await using({ schema: 'gateway', user: 'gateway_owner' }, (store) => store.load());
    await as('gateway_owner', grants);
  });

  // Promise: postgres-store-role
  it('let a node do all calls, in fleets old and new', async () => {
    for (const cluster of ['gateway', 'new'])
      await using({ ...node, cluster }, async (store) => {
        const { position } = await store.load();
        const second = await store.append([1], { expectedPosition: position });
        const third = await store.compact({ sum: 1 }, { expectedPosition: second });
        await store.append([2], { expectedPosition: third });
        expect(await store.read(position)).toMatchObject([
          { records: [1] },
          { records: [] },
          { records: [2] },
        ]);
        expect(await store.announce('one', 1)).toEqual(new Map([['one', 1]]));
        expect(await store.announce('one', null)).toEqual(new Map());
      });
  });

  it.each([
    'update gateway.gateway_record set record = null',
    'delete from gateway.gateway_record',
    'truncate gateway.gateway_record',
    'delete from gateway.gateway_head',
    'drop table gateway.gateway_record',
    'create table gateway.mine ()',
  ])('let no node run: %s', async (statement) => {
    await expect(as('gateway_node', statement)).rejects.toThrow(/permission denied|must be owner/);
  });

  it('let an auditor see the view, with every character, and nothing else', async () => {
    const value = 'a\u0000b\ud83dc "\\u0000" ü';
    await using({ ...node, cluster: 'audited' }, async (store) => {
      const { position } = await store.load();
      const intent = { type: 'intent', command: 'c-1', node: 'one', actor: 'ada', events: [{ value }] };
      const settlement = { type: 'settlement', command: 'c-1', node: 'one', events: [] };
      const end = await store.append([intent, settlement], { expectedPosition: position });
      await store.compact({}, { expectedPosition: end });
    });
    const rows = await as(
      'gateway_auditor',
      `select position::int, type, command, node, actor, events from gateway.gateway_audit where cluster = 'audited'
       order by gateway_audit.position`,
    );
    const events = [{ value: 'a\ufffdb\ufffdc "\\ufffd" ü' }];
    expect(rows).toEqual([
      { position: 1, type: 'intent', command: 'c-1', node: 'one', actor: 'ada', events },
      { position: 2, type: 'settlement', command: 'c-1', node: 'one', actor: null, events: [] },
    ]);
    await expect(as('gateway_auditor', 'select 1 from gateway.gateway_record')).rejects.toThrow(
      'permission denied',
    );
  });

  it('are not enough to create tables: a node says what it lacks', async () => {
    await database.query('create schema bare; grant usage on schema bare to gateway_node');
    await expect(openPostgresStore({ ...database.address, ...node, schema: 'bare' })).rejects.toThrow(
      /permission denied for schema bare \(42501\)/,
    );
  });

  it('let the owner delete old records, and nodes load the state again', async () => {
    const cluster = 'old';
    await using({ ...node, cluster }, async (store) => {
      const { position } = await store.load();
      const second = await store.append([1], { expectedPosition: position });
      const third = await store.append([2], { expectedPosition: second });
      const compacted = await store.compact({ sum: 3 }, { expectedPosition: third });
      await store.append([4], { expectedPosition: compacted });
      expect(await store.read(second)).toMatchObject([{ records: [2] }, { records: [] }, { records: [4] }]);
      await database.query(
        `update gateway.gateway_record set at = at - interval '2 years' where position <= 3`,
      );
      await as('gateway_owner', retention);
      expect(await store.read(second)).toBe('gone');
      expect(await store.read(compacted)).toMatchObject([{ records: [4] }]);
      expect(await store.load()).toMatchObject({ state: { sum: 3 }, records: [4] });
    });
  });
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
    await database.query('drop schema gateway cascade');
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
    await database.query(repair);
    while ((await patch(4)).outcome !== 'accepted') await new Promise((resolve) => setTimeout(resolve, 100));
    expect(errors).toHaveLength(1);
    await admin.close();
  });
});
