/**
 * The hints of the PostgreSQL store on a server whose notifications other programs hold up.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';

import { createSnapshot } from 'gateway-admin-core';
import { openFleet, type SharedStore } from 'gateway-admin-core/fleet';
import { openPostgresStore } from 'gateway-admin-core/postgres-store';
import { createScriptedGateway } from 'gateway-admin-core/testing';

import { watch } from '../../support/leak.ts';
import { PostgresServer } from '../../support/postgres.ts';
import { limit } from '../../support/transition.ts';

/** The smallest queue that a server can have. */
const small = 'max_notify_queue_pages=64';

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
  await server.kill();
  await server.begin(small);
});
afterAll(() => server[Symbol.asyncDispose]());

const disposables: AsyncDisposable[] = [];
afterEach(async () => {
  for (const each of disposables.splice(0).reverse()) await each[Symbol.asyncDispose]();
});

async function open(cluster: string, at: PostgresServer = server): Promise<SharedStore> {
  const store = await openPostgresStore({ ...at.address, cluster });
  disposables.push(store);
  return store;
}

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

/** Asks until a condition holds. */
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 10));
}

const { signal } = new AbortController();

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
    const [one, other] = [await open('store'), await open('store')];
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
    const heard = other.changed(position, signal);
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
    const admin = watch(
      await openFleet({ snapshot, gateway, node: 'one', store: await open('fleet'), observe }),
    );
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
  }, 20_000);
});

describe('a PostgreSQL store beside a program whose notification waits for a standby', () => {
  // Promise: postgres-store-hint
  it('keeps every change, and holds no announcement up for the hint', async () => {
    const primary = await PostgresServer.start();
    disposables.push(primary);
    await primary.kill();
    const standby = await primary.beginWithStandby();
    disposables.push(standby);
    await standby.query('select pg_wal_replay_pause()');
    const program = await primary.client();
    await program.query('set synchronous_commit = remote_apply');
    // Holds the lock that all notifications of the server take.
    const notified = program
      .query('begin; create table other (); notify other; commit')
      .catch(() => undefined);
    const waits = `select 1 from pg_stat_activity where wait_event = 'SyncRep'`;
    await until(async () => (await primary.query(waits)).length > 0);
    const store = await open('store', primary);
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
});
