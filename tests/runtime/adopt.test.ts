import { describe, expect, it } from '@jest/globals';
import {
  adoptDocument,
  createMemoryStore,
  createResource,
  createSnapshot,
  deleteListener,
  deleteResource,
  EffectRefusedError,
  openAdmin,
  patchServer,
  stopService,
  type Admin,
  type ConfigurationStore,
  type GatewayDocument,
} from 'gateway-admin-core';
import { createScriptedGateway } from 'gateway-admin-core/testing';

import { configuration } from '../support/configuration.ts';

const db = (name: string) => ({ name, address: '10.0.0.1', port: 5432, protocol: 'pg' });
const first: GatewayDocument = {
  servers: [db('db-1'), db('db-2')],
  services: [{ name: 'Sales', router: 'cli', servers: ['/servers/db-1'] }],
};
const second: GatewayDocument = {
  servers: [db('db-1'), db('db-2'), db('db-3')],
  services: [
    { name: 'Sales', router: 'cli', servers: ['/servers/db-1', '/servers/db-3'], max_connection: 7 },
    { name: 'Reports', router: 'cli', servers: ['/servers/db-3'] },
  ],
};

/** Opens the interface as a host does. What the host is asked for at the start is in `asked`. */
async function open(
  document: GatewayDocument,
  store: ConfigurationStore,
  adopt?: 'nothing' | 'additions' | 'all',
): Promise<{
  readonly admin: Admin;
  readonly errors: readonly string[];
  readonly asked: readonly unknown[];
}> {
  const snapshot = createSnapshot(document);
  const gateway = createScriptedGateway({ snapshot });
  const errors: string[] = [];
  const admin = await openAdmin({
    snapshot,
    gateway,
    store,
    observe: { onError: (error) => errors.push(String(error)) },
    ...(adopt === undefined ? {} : { adopt }),
  });
  return { admin, errors, asked: [...gateway.calls] };
}

/** A store of the first document, from which an operator has deleted db-2. */
async function storeOfFirst(): Promise<ConfigurationStore> {
  const store = createMemoryStore();
  const { admin } = await open(first, store);
  await admin.execute((snapshot, context) => deleteResource(snapshot, 'servers', 'db-2', context));
  await admin.close();
  return store;
}

const namesIn = ({ snapshot }: Admin): readonly string[] =>
  [...snapshot.servers, ...snapshot.services].map(({ name }) => name);

describe('the document at a start with a store', () => {
  it('is not taken over by default: one sentence names what is left out, and the option', async () => {
    const { admin, errors } = await open(second, await storeOfFirst());
    expect(namesIn(admin)).toEqual(['db-1', 'Sales']);
    expect(errors).toHaveLength(1);
    expect(errors[0]).toContain(
      'Only in the document, and not in use: /servers/db-2, /servers/db-3, /services/Reports. To create what the store ' +
        "has never had at each start, give openAdmin the option adopt: 'additions'.",
    );
    await admin.close();
  });

  it('gives with additions what the gateway has refused to create, which nobody has deleted', async () => {
    const store = createMemoryStore();
    const snapshot = createSnapshot(first);
    const gateway = createScriptedGateway({ snapshot }).will('done', new EffectRefusedError('No.'));
    const before = await openAdmin({ snapshot, gateway, store });
    const refused = await before.execute((state, context) =>
      createResource(state, 'services', { name: 'Reports', router: 'cli' }, context),
    );
    expect(refused.outcome).toBe('refused');
    await before.close();
    const { admin } = await open(second, store, 'additions');
    expect(namesIn(admin)).toContain('Reports');
    await admin.close();
  });

  it('gives with additions nothing that was deleted before the gateway has refused to create it again', async () => {
    const store = createMemoryStore();
    const snapshot = createSnapshot(second);
    const gateway = createScriptedGateway({ snapshot });
    const before = await openAdmin({ snapshot, gateway, store });
    const reports = { name: 'Reports', router: 'cli' };
    await before.execute((state, context) => stopService(state, 'Reports', context));
    await before.execute((state, context) => deleteResource(state, 'services', 'Reports', context));
    gateway.will('done', new EffectRefusedError('No.'));
    await before.execute((state, context) => createResource(state, 'services', reports, context));
    await before.close();
    const { admin } = await open(second, store, 'additions');
    expect(namesIn(admin)).not.toContain('Reports');
    await admin.close();
  });

  it('gives with additions also a listener of a service, and all that does not rest on what was deleted', async () => {
    const listener = (name: string, port: number) => ({ name, protocol: 'pg', address: '::', port });
    const listening = (...listeners: readonly ReturnType<typeof listener>[]): GatewayDocument => ({
      ...first,
      services: [{ name: 'Sales', router: 'cli', servers: ['/servers/db-1'], listeners }],
    });
    const store = createMemoryStore();
    const before = await open(listening(listener('gone', 1), listener('kept', 2)), store);
    await before.admin.execute((state, context) => deleteListener(state, 'Sales', 'gone', context));
    await before.admin.execute((state, context) => deleteResource(state, 'servers', 'db-2', context));
    await before.admin.close();
    const { services = [] } = listening(listener('gone', 1), listener('kept', 7), listener('new', 3));
    const resting = { name: 'Resting', router: 'cli', servers: ['/servers/db-3', '/servers/db-2'] };
    const document = { ...second, services: [...services, resting] };
    const { admin, asked, errors } = await open(document, store, 'additions');
    expect(namesIn(admin)).toEqual(['db-1', 'db-3', 'Sales']);
    expect(admin.snapshot.services.find('sales')?.listeners).toEqual([
      listener('kept', 2),
      listener('new', 3),
    ]);
    expect(asked).toEqual([]);
    expect(errors).toHaveLength(1);
    expect(errors[0]).toContain(
      'Only in the document, and not in use: /servers/db-2, /services/Resting. The option adopt: ' +
        "'additions' creates nothing that was deleted, and nothing that lists such a resource.",
    );
    expect(errors[0]).not.toContain('give openAdmin');
    await admin.close();
  });

  // Promise: adopt-additions
  it('gives what the store has never had with additions, and not what was deleted since', async () => {
    const store = await storeOfFirst();
    const { admin, asked } = await open(second, store, 'additions');
    expect(namesIn(admin)).toEqual(['db-1', 'db-3', 'Sales', 'Reports']);
    expect(admin.snapshot.services.find('reports')?.state).toBe('started');
    expect(admin.snapshot.services.find('sales')?.settings.max_connection).toBeUndefined();
    expect(asked).toEqual([]);
    await admin.close();
    // What was deleted stays deleted over compactions, until it is created again.
    const again = await open(first, store, 'additions');
    expect(namesIn(again.admin)).toEqual(['db-1', 'db-3', 'Sales', 'Reports']);
    await again.admin.execute((snapshot, context) =>
      createResource(snapshot, 'servers', db('db-2'), context),
    );
    await again.admin.close();
    const kept = await open(first, store);
    expect(namesIn(kept.admin)).toContain('db-2');
    await kept.admin.close();
  });

  it('is used as a whole with all, and in the history', async () => {
    const store = await storeOfFirst();
    const { admin, errors, asked } = await open(second, store, 'all');
    expect(configuration(admin.snapshot)).toMatchObject(configuration(createSnapshot(second)));
    expect([errors, asked]).toEqual([[], []]);
    await admin.close();
    const { admin: next } = await open(first, store);
    expect(namesIn(next)).toEqual(['db-1', 'db-2', 'db-3', 'Sales', 'Reports'].toSorted(byPlace));
    await next.close();
  });

  // Promise: adopt-absent
  it('keeps with all what the store has of a kind of which the document has no list', async () => {
    const store = await storeOfFirst();
    const filters = await open({ filters: [{ name: 'Log', module: 'tee' }] }, store, 'all');
    expect([namesIn(filters.admin), filters.admin.snapshot.filters.size]).toEqual([['db-1', 'Sales'], 1]);
    await filters.admin.close();
    const { admin, errors } = await open({}, store, 'all');
    expect([namesIn(admin), admin.snapshot.filters.size, errors]).toEqual([['db-1', 'Sales'], 1, []]);
    await admin.close();
  });

  // Promise: adopt-empty
  it('is not used with all if it would leave nothing, and the host is told how to delete everything', async () => {
    const store = await storeOfFirst();
    const none: GatewayDocument = { servers: [], services: [], monitors: [], filters: [] };
    const { admin, errors } = await open(none, store, 'all');
    expect(namesIn(admin)).toEqual(['db-1', 'Sales']);
    expect(errors[0]).toContain(
      'The given document was not adopted. The document would leave no server, service, monitor or filter. Nothing ' +
        'was changed. To delete all that there is, execute adoptDocument with the options prune and allowEmpty.',
    );
    const plan = admin.plan((snapshot, context) =>
      adoptDocument(snapshot, createSnapshot(none), context, { prune: true, allowEmpty: true }),
    );
    expect(plan.outcome).toBe('accepted');
    await admin.close();
  });

  it('stays out if it cannot be used as a whole, and the host is told why', async () => {
    const store = await storeOfFirst();
    const other = { ...second, services: [{ name: 'Sales', router: 'other' }] };
    const { admin, errors } = await open(other, store, 'all');
    expect(namesIn(admin)).toEqual(['db-1', 'Sales']);
    expect(errors[0]).toContain('The given document was not adopted. /services/0/router');
    await admin.close();
  });

  it('is what an empty store begins with, whatever the option says', async () => {
    const { admin, errors } = await open(second, createMemoryStore(), 'all');
    expect([namesIn(admin).length, errors]).toEqual([5, []]);
    await admin.execute((snapshot, context) =>
      patchServer(snapshot, 'db-1', [{ op: 'replace', path: '/port', value: 1 }], context),
    );
    await admin.close();
  });

  it('is refused with another word', async () => {
    await expect(open(first, createMemoryStore(), 'some' as never)).rejects.toThrow(
      'The option adopt must be one of nothing, additions, all',
    );
  });
});

/** Created ones stand last. */
function byPlace(one: string, other: string): number {
  const order = ['db-1', 'db-2', 'db-3', 'Sales', 'Reports'];
  return order.indexOf(one) - order.indexOf(other);
}
