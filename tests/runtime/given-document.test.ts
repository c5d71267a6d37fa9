import { inspect } from 'node:util';

import { describe, expect, it } from '@jest/globals';
import {
  adoptDocument,
  createMemoryStore,
  createSnapshot,
  createUser,
  DifferingDocumentError,
  EffectRefusedError,
  hostProblem,
  patchServer,
  patchService,
  stopMonitor,
  stopService,
  type ConfigurationStore,
  type GatewayDocument,
  type Snapshot,
  type Transition,
} from 'gateway-admin-core';
import { createScriptedGateway, hold } from 'gateway-admin-core/testing';

import type { AdoptOptions } from '../../src/resources/shared/adoption.ts';
import { configuration } from '../support/configuration.ts';
import { sampleDocument, sampleSnapshot } from '../support/document.ts';
import { planted } from '../support/planted.ts';
import { appliedTo, openRunning, runAdmin, sampleGateway } from '../support/running-admin.ts';

const stop: Transition = (snapshot, context) => stopService(snapshot, 'My Service', context);
const stopWatch: Transition = (snapshot, context) => stopMonitor(snapshot, 'Main Monitor', context);
const limit: Transition = (snapshot, context) =>
  patchService(snapshot, 'My Service', [{ op: 'replace', path: '/max_connection', value: 7 }], context);
const addUser: Transition = (snapshot, context) =>
  createUser(snapshot, { name: 'eve', passwordHash: planted.hash }, context);

const adopting =
  (given: Snapshot = sampleSnapshot(), options: AdoptOptions = {}): Transition =>
  (snapshot, context) =>
    adoptDocument(snapshot, given, context, options);

/** A store that a life on the sample document has left, after some commands. */
async function storeAfter(...transitions: readonly Transition[]): Promise<ConfigurationStore> {
  const store = createMemoryStore();
  const { admin, errors } = await openRunning(store);
  for (const transition of transitions) expect((await admin.execute(transition)).outcome).toBe('accepted');
  await admin.close();
  expect(errors).toEqual([]);
  return store;
}

/** What `onError` gets when a store is opened with a document. */
async function told(
  store: ConfigurationStore,
  document: GatewayDocument = sampleDocument,
): Promise<unknown[]> {
  const { admin, errors } = await openRunning(store, { snapshot: createSnapshot(document) });
  await admin.close();
  return [...errors];
}

function withServices(change: (service: object) => object): GatewayDocument {
  return { ...sampleDocument, services: (sampleDocument.services ?? []).map(change) } as GatewayDocument;
}

describe('a start with a document that differs from the store', () => {
  // Promise: document-differs
  it('tells onError once what differs, which one is in use, and what to do', async () => {
    const errors = await told(await storeAfter(stop, limit, addUser));
    expect(errors).toEqual([expect.any(DifferingDocumentError)]);
    expect((errors[0] as Error).message.split('\n')).toEqual([
      'The given document differs from the store in 2 places. The configuration in the store is in use.',
      '  /services/My-Service (/services/0/state): the document has "started", and "stopped" is in use',
      '  /services/My-Service (/services/0/max_connection): the document has 100, and 7 is in use',
      'To use the values of the document, execute adoptDocument (the part after a semicolon says why a place cannot be adopted). To keep the values in use, change the document.',
    ]);
    const { differences } = errors[0] as DifferingDocumentError;
    expect(differences.map(({ pointer }) => pointer)).toEqual([
      ...['/services/0/state', '/services/0/max_connection'],
    ]);
    expect(Object.isFrozen(differences[0])).toBe(true);
  });

  it.each<[string, GatewayDocument, readonly string[]]>([
    ['of no kind of which the document has no list', {}, []],
    [
      'of the kinds of which it has a list',
      { servers: sampleDocument.servers ?? [], filters: [] },
      ['/filters/Hint', '/filters/Query-Log', '/filters/Spare'],
    ],
  ])('tells what the document lacks %s', async (_what, document, lacking) => {
    const errors = (await told(await storeAfter(), document)) as DifferingDocumentError[];
    expect(errors.flatMap(({ differences }) => differences.map(({ resource }) => resource))).toEqual(lacking);
  });

  it('is silent about a user who came into being over the interface', async () => {
    expect(await told(await storeAfter(addUser))).toEqual([]);
  });

  it('uses the store', async () => {
    const { admin } = await openRunning(await storeAfter(stop, limit));
    expect(admin.snapshot.services.find('my service')).toMatchObject({
      state: 'stopped',
      settings: { max_connection: 7 },
    });
    await admin.close();
  });

  it.each<[string, GatewayDocument]>([
    ['the same document', sampleDocument],
    ['another order', { ...sampleDocument, services: (sampleDocument.services ?? []).toReversed() }],
    [
      'other sessions and another process',
      { ...sampleDocument, sessions: [], gateway: {}, logs: {}, tasks: [] },
    ],
    ['other times and counters', withServices((each) => ({ ...each, started: '2020-01-01T00:00:00Z' }))],
  ])('tells nothing for %s', async (_what, document) => {
    expect(await told(await storeAfter(), document)).toEqual([]);
  });

  it('tells nothing for an empty store, and nothing without a store', async () => {
    expect(await told(createMemoryStore())).toEqual([]);
    expect(runAdmin().errors).toEqual([]);
  });

  it('lists 20 places at most, and counts the others', async () => {
    const parameters = Object.fromEntries(
      Array.from({ length: 50 }, (_, at) => [`p${String(at)}`, at] as const),
    );
    const servers = (sampleDocument.servers ?? []).map((server) => ({ ...server, parameters }));
    const [error] = (await told(await storeAfter(), { ...sampleDocument, servers })) as Error[];
    const lines = (error?.message ?? '').split('\n');
    expect(lines).toHaveLength(1 + 20 + 1 + 1);
    expect(lines[0]).toContain('in 203 places');
    expect(lines[21]).toBe('  and 183 more');
    expect((error as DifferingDocumentError).differences).toHaveLength(203);
  });

  // Promise: document-differs-secret
  it('tells of passwords without their values, in the message and in a console', async () => {
    const document: GatewayDocument = {
      ...withServices((each) => ({ ...each, passwordSealed: 'v1.planted-too' })),
      users: [{ name: 'ada', passwordHash: 'planted-too' }],
    };
    const [error] = (await told(await storeAfter(), document)) as DifferingDocumentError[];
    expect(error?.differences.map(({ pointer }) => pointer)).toEqual([
      '/services/0/passwordSealed',
      '/services/1/passwordSealed',
      '/services/2/passwordSealed',
      '/services/3/passwordSealed',
      '/users/0/passwordHash',
    ]);
    const text = JSON.stringify(error?.differences) + inspect(error, { depth: 9 });
    expect(text).toContain('the document has another password than the one in use');
    expect(text).toContain('the document has a password, and none is in use');
    for (const secret of ['planted-too', planted.sealed, planted.hash]) expect(text).not.toContain(secret);
  });

  it('tells what is true after the command of the last process is settled', async () => {
    const store = createMemoryStore();
    const dying = await openRunning(store, { gateway: sampleGateway().will(hold().apply) });
    dying.admin.execute(stop).catch(() => undefined);
    await dying.clock.settle();
    const { admin, errors } = await openRunning(store, { gateway: sampleGateway().willSee('in-place') });
    await admin.close();
    expect(
      errors.map((error) => (error as DifferingDocumentError).differences.map(({ pointer }) => pointer)),
    ).toEqual([['/services/0/state']]);
    expect(String(errors[0])).toMatch(/ differs from the store in 1 place\. /);
  });
});

describe('a running interface that adopts a document', () => {
  // Promise: adopt-document
  it('asks the gateway for every change, keeps the result, and differs no more after a restart', async () => {
    const store = await storeAfter(stop, stopWatch, limit);
    const { admin, gateway } = await openRunning(store);
    expect((await admin.execute(adopting(), { actor: 'ada' })).outcome).toBe('accepted');
    expect(appliedTo(gateway)).toEqual([
      'service.update /services/My-Service',
      'service.start /services/My-Service',
      'monitor.start /monitors/Main-Monitor',
    ]);
    expect(configuration(admin.snapshot)).toEqual(configuration(sampleSnapshot()));
    expect((await admin.execute(adopting())).outcome).toBe('unchanged');
    await admin.close();
    expect(await told(store)).toEqual([]);
  });

  it('works without a store too, with a document that is read again', async () => {
    const { admin, gateway } = runAdmin();
    const given = createSnapshot(
      withServices((each) => ({ ...each, connection_timeout: 9, state: 'stopped' })),
    );
    expect((await admin.execute(adopting(given))).outcome).toBe('accepted');
    expect(appliedTo(gateway)).toHaveLength(6);
    expect(gateway.differences(admin.snapshot)).toEqual([]);
    await admin.close();
  });

  // Promise: adopt-atomic
  it('changes nothing if the gateway refuses one change: the others are undone', async () => {
    const { admin, gateway } = await openRunning(await storeAfter(stop, stopWatch, limit));
    const before = admin.snapshot;
    gateway.will('done', 'done', new EffectRefusedError('No probes now.'));
    expect(await admin.execute(adopting())).toMatchObject({
      outcome: 'refused',
      problem: { code: 'effect-refused', detail: 'The gateway refused: No probes now. Nothing was changed.' },
    });
    expect(appliedTo(gateway).slice(3)).toEqual([
      'service.stop /services/My-Service',
      'service.update /services/My-Service',
    ]);
    expect(admin.snapshot).toBe(before);
    expect(gateway.state.services['my-service']?.settings['max_connection']).toBe(7);
    await admin.close();
  });

  it('is planned and vetoed like every command', async () => {
    const seen: string[] = [];
    const { admin, gateway } = await openRunning(await storeAfter(stop, limit), {
      veto: ({ effects, next }) => {
        seen.push(...effects.map(({ type }) => type));
        return next.services.find('my service')?.settings.max_connection === 100
          ? hostProblem('host-limit', { status: 409, title: 'Too many', detail: 'At most 50.' })
          : undefined;
      },
    });
    const refused = { outcome: 'refused', problem: { code: 'host-limit' } };
    expect(await admin.execute(adopting())).toMatchObject(refused);
    expect(admin.plan(adopting())).toMatchObject(refused);
    expect(admin.plan(adopting(undefined, { only: ['/servers/db-serv-1'] }))).toMatchObject({
      outcome: 'unchanged',
    });
    expect(seen).toEqual(['service.update', 'service.start', 'service.update', 'service.start']);
    expect(gateway.calls).toEqual([]);
    await admin.close();
  });

  it('is planned with every event and effect, without secrets', async () => {
    const { admin, gateway } = await openRunning(await storeAfter(stop, limit));
    const plan = admin.plan(
      adopting(createSnapshot(withServices((each) => ({ ...each, passwordSealed: 'v1.other' })))),
    );
    expect(plan).toMatchObject({
      outcome: 'accepted',
      effects: [
        { type: 'service.update', service: 'my-service' },
        { type: 'service.update', service: 'bare-service' },
        { type: 'service.update', service: 'report-service' },
        { type: 'service.update', service: 'spare-service' },
        { type: 'service.start', service: 'my-service' },
      ],
    });
    expect(JSON.stringify(plan)).not.toMatch(/v1\./);
    expect([gateway.calls, admin.snapshot.services.find('my service')?.state]).toEqual([[], 'stopped']);
    await admin.close();
  });

  it('waits for a command in flight, also on a resource that does not differ yet', async () => {
    const held = hold();
    const { admin, gateway } = runAdmin({ gateway: sampleGateway().will(held.apply) });
    const stopping = admin.execute(stop);
    await held.begun;
    const adoption = admin.execute(adopting());
    held.done();
    expect((await stopping).outcome).toBe('accepted');
    expect((await adoption).outcome).toBe('accepted');
    expect(appliedTo(gateway)).toEqual([
      'service.stop /services/My-Service',
      'service.start /services/My-Service',
    ]);
    await admin.close();
  });

  it('is refused while the outcome of a command on one of its resources is unknown, and goes on with the others', async () => {
    const port: Transition = (snapshot, context) =>
      patchServer(snapshot, 'db-serv-1', [{ op: 'replace', path: '/port', value: 1 }], context);
    const store = await storeAfter(port);
    const gateway = createScriptedGateway({ snapshot: sampleSnapshot() })
      .will(new Error('lost'))
      .otherwise({ apply: 'done', inspect: new Error('cannot tell') });
    const { admin } = await openRunning(store, { gateway });
    expect((await admin.execute(stop)).outcome).toBe('unknown');
    expect(await admin.execute(adopting())).toMatchObject({ problem: { code: 'command-in-progress' } });
    expect((await admin.execute(adopting(undefined, { only: ['/servers/db-serv-1'] }))).outcome).toBe(
      'accepted',
    );
    await admin.close();
  });
});
