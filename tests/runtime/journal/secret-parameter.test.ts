/**
 * Secret parameters that clients send, and what a store keeps of them. tests/properties/secret-parameter.test.ts has the
 * laws, tests/snapshot/secret-parameter.test.ts the names and the documents.
 */
import { inspect } from 'node:util';

import { describe, expect, it } from '@jest/globals';
import {
  adoptDocument,
  createMemoryStore,
  createSecretSealer,
  createSnapshot,
  DifferingDocumentError,
  InvalidDocumentError,
  patchServer,
  type Admin,
  type ConfigurationStore,
  type GatewayDocument,
  type Operation,
  type Snapshot,
  type Transition,
} from 'gateway-admin-core';
import { createScriptedGateway, hold } from 'gateway-admin-core/testing';

import { filter, server, service } from '../../support/document-entry.ts';
import { FailingStore } from '../../support/failing-store.ts';
import { takeLeaks } from '../../support/leak.ts';
import { openRunning, runAdmin } from '../../support/running-admin.ts';
import { transports, type Answer } from '../../support/transport.ts';

const secret = 'planted-Secret-7';
const secretParameters = ['password'];
const document: GatewayDocument = {
  servers: [{ ...server, parameters: { weight: 5 } }],
  services: [service],
  filters: [filter],
};
const plainDocument: GatewayDocument = {
  ...document,
  servers: [{ ...server, parameters: { password: secret } }],
};
const snapshot = createSnapshot(document);
const sealer = createSecretSealer({ key: new Uint8Array(32).fill(7) });

async function patch(admin: Admin, target: string, ...operations: readonly object[]): Promise<Answer> {
  const { send } = await transports.core(admin);
  const headers = { 'content-type': 'application/json' };
  return send('PATCH', target, { headers, body: JSON.stringify(operations) });
}

const setPassword = (value: unknown): object => ({ op: 'add', path: '/parameters/password', value });
const write =
  (...operations: readonly Operation[]): Transition =>
  (state, context) =>
    patchServer(state, 'db', operations, context);
const writePlain = write({ op: 'add', path: '/parameters/password', value: secret });

function sealedOf({ snapshot: { servers } }: Admin): string {
  const password = servers.find('db')?.settings.parameters['password'];
  return typeof password === 'object' ? password.sealed : '';
}

/** A store that a life has left, after some commands. */
async function storeAfter(
  options: Parameters<typeof openRunning>[1],
  ...transitions: readonly Transition[]
): Promise<ConfigurationStore> {
  const store = createMemoryStore();
  const { admin } = await openRunning(store, { snapshot, sealer, ...options });
  for (const transition of transitions) expect((await admin.execute(transition)).outcome).toBe('accepted');
  await admin.close();
  return store;
}

/** Opens a store, which must fail; gives the error. The store must stay as it is. */
async function refusal(
  store: ConfigurationStore,
  options: Parameters<typeof openRunning>[1] = {},
): Promise<Error> {
  const before = JSON.stringify(await store.load());
  const opening = openRunning(store, { snapshot, sealer, secretParameters, ...options });
  const error = await opening.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof Error)) throw new Error('The store was opened');
  expect(inspect(error, { depth: null })).not.toContain(secret);
  expect(JSON.stringify(await store.load())).toBe(before);
  return error;
}

describe('a secret parameter that a client sends', () => {
  const adding = (map: string, value: unknown): object => ({ op: 'add', path: `/${map}/password`, value });
  it.each([
    ['/servers/db', 'servers', 'parameters', secret],
    ['/filter/Hint', 'filters', 'parameters', { value: secret, configurable: true }],
    ['/services/Sales', 'services', 'router_options', secret],
  ] as const)(
    '%s: is sealed, and the host can open the text (%#)',
    async (target, collection, map, value) => {
      const { admin, gateway } = runAdmin({ snapshot, sealer, secretParameters });
      const answer = await patch(admin, target, adding(map, value));
      expect(answer).toMatchObject({ status: 200, body: { [map]: {} } });
      expect(answer.text).not.toMatch(/password|sealed|planted/i);
      const [thing] = admin.snapshot[collection];
      const stored = (thing?.settings as unknown as Record<string, Record<string, unknown>>)[map]?.[
        'password'
      ];
      const { value: own } = stored as { readonly value?: unknown };
      const { sealed: text } = (own ?? stored) as { readonly sealed: string };
      expect(await sealer.open(text)).toBe(secret);
      expect(JSON.stringify(gateway.calls)).not.toContain(secret);
      expect(JSON.stringify(gateway.calls)).toContain(text);
    },
  );

  const noTexts = [7, true, null, { sealed: 'v1.forged' }, [secret], { value: secret }];
  it.each([...noTexts, '', 'a\nb', 'x'.repeat(1025)])(
    'is refused unless it can be a secret: %j',
    async (value) => {
      const { admin } = runAdmin({ snapshot, secretParameters });
      for (const operation of [
        setPassword(value),
        { op: 'replace', path: '/parameters', value: { password: value } },
      ]) {
        const answer = await patch(admin, '/servers/db', operation);
        expect(answer).toMatchObject({
          status: 422,
          body: { errors: [{ pointer: '/parameters/password', code: 'password-unacceptable' }] },
        });
        expect(answer.text).not.toContain(secret);
      }
      expect(admin.snapshot.servers.find('db')).toBe(snapshot.servers.find('db'));
    },
  );

  it('is secret when the name is declared at either place', () => {
    const early = createSnapshot(document, { secretParameters: ['pin'] });
    const namesIn = (options: Parameters<typeof runAdmin>[0]) => runAdmin(options).admin.snapshot;
    expect(namesIn({ snapshot: early }).secretParameters).toEqual(['pin']);
    expect(namesIn({ snapshot: early, secretParameters }).secretParameters).toEqual(['password', 'pin']);
    expect(namesIn({ snapshot })).not.toHaveProperty('secretParameters');
  });
});

describe('a store', () => {
  // Promise: stored-parameter
  it('gets secret parameters only sealed, and gives them back', async () => {
    const store = createMemoryStore();
    const first = await openRunning(store, { snapshot, sealer, secretParameters });
    await patch(first.admin, '/servers/db', setPassword(secret));
    const sealed = sealedOf(first.admin);
    expect(JSON.stringify(await store.load())).not.toContain(secret);
    await first.admin.close();
    const second = await openRunning(store, { snapshot, sealer, secretParameters });
    expect(sealedOf(second.admin)).toBe(sealed);
    await second.admin.close();
    expect(JSON.stringify(await store.load())).not.toContain(secret);
  });

  // Promise: storable-secret
  it('that is durable gets no secret parameter that could not be read after a restart', async () => {
    const { admin } = await openRunning(new FailingStore(), { snapshot, secretParameters });
    for (const operation of [
      setPassword(secret),
      { op: 'replace', path: '/parameters', value: { password: secret, weight: 7 } },
    ])
      expect(await patch(admin, '/servers/db', operation)).toMatchObject({
        status: 422,
        body: { errors: [{ pointer: '/parameters/password', code: 'secret-not-storable' }] },
      });
    expect(admin.snapshot.servers.find('db')).toEqual(snapshot.servers.find('db'));
    await admin.close();
  });

  it('protects its secret parameters when the next start declares no name', async () => {
    const kept = createMemoryStore();
    const first = await openRunning(kept, { snapshot, sealer, secretParameters });
    await patch(first.admin, '/servers/db', setPassword(secret));
    await first.admin.close();
    const { admin, errors } = await openRunning(kept, { snapshot, sealer });
    expect(admin.snapshot.secretParameters).toEqual(['password']);
    const answer = await patch(admin, '/servers/db', setPassword('another secret'));
    expect(answer.status).toBe(200);
    expect(await sealer.open(sealedOf(admin))).toBe('another secret');
    expect(errors.map((error) => error instanceof DifferingDocumentError)).toEqual([true]);
    await admin.close();
    // The document would show the plain text in the list of differences.
    const error = await refusal(kept, { snapshot: createSnapshot(plainDocument), secretParameters: [] });
    expect(error).toBeInstanceOf(InvalidDocumentError);
  });

  it('is not opened with a document that has the plain text', async () => {
    const error = await refusal(createMemoryStore(), { snapshot: createSnapshot(plainDocument) });
    expect(error).toBeInstanceOf(InvalidDocumentError);
  });

  // Promise: stored-plain-parameter
  it('is not opened if it has the plain text, with a sentence that says what to do', async () => {
    const store = await storeAfter({}, writePlain);
    const error = await refusal(store);
    expect(error.message.split('\n')).toEqual([
      'The store contains the plain text of parameters that are declared secret:',
      '  /servers/db: parameters, "password"',
      'Nothing was changed. Start without these names in secretParameters, and remove the parameters. Then start with the names, and set the parameters again. Use new secrets, because the old ones were stored in plain text.',
    ]);
    // The steps of the message.
    const without = await openRunning(store, { snapshot, sealer });
    // Without the option the parameter is no secret, and the difference from the document is told.
    expect(takeLeaks()).toHaveLength(1);
    await without.admin.execute(write({ op: 'remove', path: '/parameters/password' }));
    await without.admin.close();
    const { admin } = await openRunning(store, { snapshot, sealer, secretParameters });
    expect((await patch(admin, '/servers/db', setPassword('a new secret'))).status).toBe(200);
    await admin.close();
    expect(JSON.stringify(await store.load())).not.toMatch(/planted|a new secret/);
  });

  // Any name can be declared, also the name of a member of an operation.
  it.each(['token', 'a/b', 'a~b', 'op', 'path', 'value', 'type'])(
    'shows and keeps no plain text of a parameter that is declared secret later: %s',
    async (name) => {
      const place = `/parameters/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
      const store = await storeAfter(
        {},
        write({ op: 'add', path: '/parameters/weight', value: 7 }),
        write({ op: 'add', path: place, value: secret }),
        write({ op: 'remove', path: place }),
      );
      const { admin } = await openRunning(store, { snapshot, sealer, secretParameters: [name] });
      const { send } = await transports.core(admin);
      const { body } = await send('GET', '/history?fields=undo,events');
      expect(JSON.stringify(body)).not.toContain(secret);
      expect(body).toMatchObject([{ undo: 'refused' }, { undo: 'refused' }, { undo: 'possible' }]);
      expect(JSON.stringify(await store.load())).not.toContain(secret);
      await admin.close();
    },
  );

  it('takes back after a restart whether a secret parameter is configurable', async () => {
    const store = createMemoryStore();
    const hint = (configurable: boolean): Snapshot =>
      createSnapshot({
        filters: [{ ...filter, parameters: { token: { value: { sealed: 'opaque' }, configurable } } }],
      });
    const options = { snapshot: hint(true), sealer, secretParameters: ['token'] };
    const first = await openRunning(store, options);
    await first.admin.execute((state, context) => adoptDocument(state, hint(false), context));
    await first.admin.close();
    const { admin } = await openRunning(store, options);
    const { send } = await transports.core(admin);
    expect((await send('GET', '/history?fields=undo')).body).toEqual([{ undo: 'possible' }]);
    await admin.close();
  });

  it('is not opened if a command in flight has the plain text', async () => {
    const store = createMemoryStore();
    const gateway = createScriptedGateway({ snapshot }).will(hold().apply);
    const dead = await openRunning(store, { snapshot, sealer, gateway });
    dead.admin.execute(writePlain).catch(() => undefined);
    await dead.clock.settle();
    expect(JSON.stringify(await store.load())).toContain(secret);
    expect((await refusal(store)).message).toContain('/servers/db: parameters, "password"');
  });

  it('names each place once, and twenty places at most', async () => {
    const names = Array.from({ length: 25 }, (_, at) => `db-${String(at)}`);
    const servers = names.map((name) => ({ ...server, name, parameters: { password: secret } }));
    const many = createSnapshot({ servers });
    const store = createMemoryStore();
    await (await openRunning(store, { snapshot: many })).admin.close();
    const { message } = await refusal(store);
    expect(message.match(/parameters, "password"/g)).toHaveLength(20);
    expect(message).toContain('\n  and 5 more\n');
  });

  it('that differs from the document in secret parameters is told without them', async () => {
    const sealedIn = (texts: Readonly<Record<string, string>>): Snapshot => {
      const secrets = Object.entries({ ...texts, same: 'v1.planted' });
      const parameters = Object.fromEntries(secrets.map(([name, sealed]) => [name, { sealed }]));
      return createSnapshot({ servers: [{ ...server, parameters }] });
    };
    const store = createMemoryStore();
    const first = sealedIn({ password: 'v1.planted-a', only: 'v1.planted-b' });
    await (await openRunning(store, { snapshot: first })).admin.close();
    const second = sealedIn({ password: 'v1.planted-c', new: 'v1.planted-d' });
    const { admin, errors } = await openRunning(store, { snapshot: second });
    await admin.close();
    const [error] = errors;
    if (!(error instanceof DifferingDocumentError)) throw new Error('Nothing was told');
    expect(error.differences.map(({ pointer, detail }) => `${pointer}: ${detail}`)).toEqual([
      '/servers/0/parameters/password: the document has another secret than the one in use',
      '/servers/0/parameters/new: the document has a secret, and none is in use',
      '/servers/0/parameters/only: the document has no secret, and one is in use',
    ]);
    expect(inspect([error, error.differences], { depth: null })).not.toContain('planted');
  });
});
