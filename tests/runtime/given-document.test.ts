/** tests/scenarios/store/document.txt says what becomes of the document of a start. */
import { inspect } from 'node:util';

import { describe, expect, it } from '@jest/globals';
import {
  adoptDocument,
  createMemoryStore,
  createSnapshot,
  DifferingDocumentError,
  EffectRefusedError,
  patchServer,
  patchService,
  sequence,
  stopMonitor,
  stopService,
  type GatewayDocument,
  type Transition,
} from 'gateway-admin-core';
import { hold } from 'gateway-admin-core/testing';

import { configuration } from '../support/configuration.ts';
import { sampleDocument, sampleSnapshot } from '../support/document.ts';
import { planted } from '../support/planted.ts';
import { appliedTo, openRunning, runAdmin, sampleGateway } from '../support/running-admin.ts';

const stop: Transition = (snapshot, context) => stopService(snapshot, 'My Service', context);
const stopWatch: Transition = (snapshot, context) => stopMonitor(snapshot, 'Main Monitor', context);
const limit: Transition = (snapshot, context) =>
  patchService(snapshot, 'My Service', [{ op: 'replace', path: '/max_connection', value: 7 }], context);

const adopting =
  (given = sampleSnapshot(), options: Parameters<typeof adoptDocument>[3] = {}): Transition =>
  (snapshot, context) =>
    adoptDocument(snapshot, given, context, options);

function withServices(change: (service: object) => object): GatewayDocument {
  return { ...sampleDocument, services: (sampleDocument.services ?? []).map(change) } as GatewayDocument;
}

describe('a start with a document that differs from the store', () => {
  /** The error of a start on a store that has the sample document. */
  async function told(document: GatewayDocument): Promise<DifferingDocumentError> {
    const store = createMemoryStore();
    await (await openRunning(store)).admin.close();
    const { admin, errors } = await openRunning(store, { snapshot: createSnapshot(document) });
    await admin.close();
    expect(errors).toEqual([expect.any(DifferingDocumentError)]);
    return errors[0] as DifferingDocumentError;
  }

  it('lists 20 places at most, and counts the others', async () => {
    const entries = Array.from({ length: 50 }, (_, at) => [`p${String(at)}`, at] as const);
    const parameters = Object.fromEntries(entries);
    const servers = (sampleDocument.servers ?? []).map((server) => ({ ...server, parameters }));
    const error = await told({ ...sampleDocument, servers });
    const lines = error.message.split('\n');
    expect(lines).toHaveLength(1 + 20 + 1 + 1);
    expect(lines[0]).toContain('in 203 places');
    expect(lines[21]).toBe('  and 183 more');
    expect(error.differences).toHaveLength(203);
    expect(Object.isFrozen(error.differences[0])).toBe(true);
  });

  // Promise: document-differs-secret
  it('tells of passwords without their values, in the message and in a console', async () => {
    const error = await told({
      ...withServices((each) => ({ ...each, passwordSealed: 'v1.planted-too' })),
      users: [{ name: 'ada', passwordHash: 'planted-too' }],
    });
    expect(error.differences.map(({ pointer }) => pointer)).toEqual([
      ...[0, 1, 2, 3].map((at) => `/services/${String(at)}/passwordSealed`),
      '/users/0/passwordHash',
    ]);
    const text = JSON.stringify(error.differences) + inspect(error, { depth: 9 });
    expect(text).toContain('the document has another password than the one in use');
    expect(text).toContain('the document has a password, and none is in use');
    for (const secret of ['planted-too', planted.sealed, planted.hash]) expect(text).not.toContain(secret);
  });
});

describe('a running interface that adopts a document', () => {
  // Promise: adopt-document
  it('asks the gateway for every change, keeps the result, and differs no more after a restart', async () => {
    const store = createMemoryStore();
    const { admin, gateway } = await openRunning(store);
    await admin.execute(sequence(stop, stopWatch, limit));
    const { length } = gateway.calls;
    expect((await admin.execute(adopting(), { actor: 'ada' })).outcome).toBe('accepted');
    expect(appliedTo(gateway).slice(length)).toEqual([
      'service.update /services/My-Service',
      'service.start /services/My-Service',
      'monitor.start /monitors/Main-Monitor',
    ]);
    expect(configuration(admin.snapshot)).toEqual(configuration(sampleSnapshot()));
    expect((await admin.execute(adopting())).outcome).toBe('unchanged');
    await admin.close();
    const next = await openRunning(store);
    await next.admin.close();
    expect(next.errors).toEqual([]);
  });

  // Promise: adopt-atomic
  it('changes nothing if the gateway refuses one change: the others are undone', async () => {
    const { admin, gateway } = runAdmin();
    await admin.execute(sequence(stop, stopWatch, limit));
    const [before, { length }] = [admin.snapshot, gateway.calls];
    gateway.will('done', 'done', new EffectRefusedError('No probes now.'));
    expect(await admin.execute(adopting())).toMatchObject({
      outcome: 'refused',
      problem: { code: 'effect-refused', detail: 'The gateway refused: No probes now. Nothing was changed.' },
    });
    expect(appliedTo(gateway).slice(length + 3)).toEqual([
      'service.stop /services/My-Service',
      'service.update /services/My-Service',
    ]);
    expect(admin.snapshot).toBe(before);
    expect(gateway.differences(admin.snapshot)).toEqual([]);
  });

  it('is planned with every event and effect, without secrets', async () => {
    const { admin } = runAdmin();
    await admin.execute(stop);
    const given = createSnapshot(withServices((each) => ({ ...each, passwordSealed: 'v1.other' })));
    const plan = admin.plan(adopting(given));
    const updates = ['my', 'bare', 'report', 'spare'].map((name) => `${name}-service`);
    expect(plan).toMatchObject({
      outcome: 'accepted',
      effects: [
        ...updates.map((service) => ({ type: 'service.update', service })),
        { type: 'service.start', service: 'my-service' },
      ],
    });
    expect(JSON.stringify(plan)).not.toMatch(/v1\./);
  });

  it('waits for a command in flight, also on a resource that does not differ yet', async () => {
    const held = hold();
    const { admin, gateway } = runAdmin({ gateway: sampleGateway().will(held.apply) });
    const executions = [stop, adopting()].map((each) => admin.execute(each));
    await held.begun;
    held.done();
    const outcomes = (await Promise.all(executions)).map(({ outcome }) => outcome);
    expect(outcomes).toEqual(['accepted', 'accepted']);
    const verbs = ['stop', 'start'];
    expect(appliedTo(gateway)).toEqual(verbs.map((verb) => `service.${verb} /services/My-Service`));
  });

  it('is refused while the outcome of a command on one of its resources is unknown, and goes on with others', async () => {
    const { admin, gateway } = runAdmin();
    await admin.execute((snapshot, context) =>
      patchServer(snapshot, 'db-serv-1', [{ op: 'replace', path: '/port', value: 1 }], context),
    );
    gateway.will(new Error('lost')).otherwise({ apply: 'done', inspect: new Error('cannot tell') });
    expect((await admin.execute(stop)).outcome).toBe('unknown');
    expect(await admin.execute(adopting())).toMatchObject({ problem: { code: 'command-in-progress' } });
    const only = adopting(undefined, { only: ['/servers/db-serv-1'] });
    expect((await admin.execute(only)).outcome).toBe('accepted');
  });
});
