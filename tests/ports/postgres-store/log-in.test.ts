/**
 * The log-in of the PostgreSQL store that the host gives anew for each connection: its user, its password, its
 * certificate.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';

import { createSnapshot } from 'gateway-admin-core';
import { openFleet, type SharedStore } from 'gateway-admin-core/fleet';
import { openPostgresStore, type PostgresStoreOptions } from 'gateway-admin-core/postgres-store';
import { createScriptedGateway } from 'gateway-admin-core/testing';

import { selfSigned } from '../../support/certificate.ts';
import { PostgresServer } from '../../support/postgres.ts';

const certificate = selfSigned();
const [first, second] = [selfSigned('certified'), selfSigned('certified')];

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
  await server.kill();
  await server.write({
    'root.crt': first.cert,
    'pg_hba.conf': [
      'host all blue,green all scram-sha-256',
      'hostssl all certified all cert',
      'host all postgres all trust',
      '',
    ].join('\n'),
  });
  await server.beginWithTls(certificate, 'ssl_ca_file=root.crt');
  for (const role of ['blue', 'green'])
    await server.query(`create role ${role} login superuser password 'of ${role}'`);
  await server.query('create role certified login superuser');
});
afterAll(() => server[Symbol.asyncDispose]());

const stores: SharedStore[] = [];
afterEach(async () => {
  for (const store of stores.splice(0)) await store[Symbol.asyncDispose]();
});

let clusters = 0;
async function open(options: PostgresStoreOptions): Promise<SharedStore> {
  clusters += 1;
  const cluster = `fleet-${String(clusters)}`;
  const store = await openPostgresStore({ ...server.address, ...options, cluster });
  stores.push(store);
  return store;
}

const own = `from pg_stat_activity where application_name = 'gateway-admin-core'`;

/** The roles that the connections of stores have logged in with. */
async function roles(): Promise<readonly unknown[]> {
  return (await server.query(`select usename ${own} order by backend_start`)).map(({ usename }) => usename);
}

/** Ends the connections of stores, as a proxy of the network does. Resolves when they are gone. */
async function endConnections(): Promise<void> {
  await server.query(`select pg_terminate_backend(pid) ${own}`);
  while ((await roles()).length > 0) await new Promise((resolve) => setTimeout(resolve, 10));
}

/** Makes a call until it resolves, as the library does. */
async function persist<T>(call: () => Promise<T>): Promise<T> {
  for (let times = 0; ; times += 1) {
    try {
      return await call();
    } catch (error) {
      if (times === 100) throw error;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
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
    while (!details().some((detail) => refused.test(detail)))
      await new Promise((resolve) => setTimeout(resolve, 20));
    current.password = 'of green';
    while (details().length > 0) await new Promise((resolve) => setTimeout(resolve, 20));
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
