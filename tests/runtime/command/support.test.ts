import { describe, expect, it } from '@jest/globals';
import {
  adoptDocument,
  createListener,
  createMemoryStore,
  createResource,
  createSnapshot,
  deleteResource,
  drain,
  openAdmin,
  patchServer,
  sequence,
  type Admin,
  type AdminOptions,
  type GatewayDocument,
  type GatewayPort,
  type Transition,
} from 'gateway-admin-core';
import { createScriptedGateway } from 'gateway-admin-core/testing';

const db = (name: string) => ({ name, address: '10.0.0.1', port: 5432, protocol: 'pg' });
const document: GatewayDocument = {
  servers: [db('db-1'), db('spare')],
  services: [{ name: 'Sales', router: 'cli' }],
};
const snapshot = createSnapshot(document);

const create: Transition = (from, context) => createResource(from, 'servers', db('db-9'), context);
const remove: Transition = (from, context) => deleteResource(from, 'servers', 'spare', context);
const move: Transition = (from, context) =>
  patchServer(from, 'db-1', [{ op: 'replace', path: '/port', value: 1 }], context);
const listen: Transition = (from, context) =>
  createListener(from, 'Sales', { name: 'second', protocol: 'pg', address: '::', port: 2 }, context);
const adopt: Transition = (from, context) =>
  adoptDocument(from, createSnapshot({ ...document, servers: [db('db-1')] }), context, { prune: true });

/** A host that supports some of the effects, as an old host supports none. */
async function running(
  supports?: GatewayPort['supports'],
): Promise<{ readonly admin: Admin; readonly asked: readonly string[] }> {
  const scripted = createScriptedGateway({ snapshot });
  const asked: string[] = [];
  const gateway: GatewayPort = {
    apply(effect, context) {
      asked.push(effect.type);
      return scripted.apply(effect, context);
    },
    inspect: (effect, context) => scripted.inspect(effect, context),
    ...(supports === undefined ? {} : { supports }),
  };
  const admin = await openAdmin({ snapshot, gateway, store: createMemoryStore() });
  return { admin, asked };
}

describe('a host that does not say what it supports', () => {
  // Promise: not-supported
  it.each<[string, Transition]>([
    ['a creation', create],
    ['a deletion', remove],
    ['a listener', listen],
    ['a sequence with other commands before', sequence(move, create)],
    ['the adoption of a document', adopt],
  ])('is not asked for %s, and works as before', async (_what, transition) => {
    const { admin, asked } = await running();
    const refusal = { outcome: 'refused', problem: { code: 'not-supported', status: 409 } };
    expect(await admin.execute(transition)).toMatchObject(refusal);
    expect(admin.plan(transition)).toMatchObject(refusal);
    expect(asked).toEqual([]);
    expect((await admin.execute(move)).outcome).toBe('accepted');
    await admin.close();
  });

  it('is asked for what it supports alone', async () => {
    const { admin, asked } = await running(['create', 'delete']);
    expect((await admin.execute(create)).outcome).toBe('accepted');
    const drained = await admin.execute((from, context) => drain(from, 'services', 'Sales', {}, context));
    expect(drained).toMatchObject({ problem: { code: 'not-supported' } });
    expect(asked).toEqual(['server.create']);
    await admin.close();
  });

  it('is told what to do instead', async () => {
    const { admin } = await running();
    expect(await admin.execute(remove)).toMatchObject({
      problem: {
        detail:
          'This gateway cannot delete /servers/spare while it runs. Change the document of the gateway, and start the ' +
          'gateway again. A gateway with a store takes the document over only with the option adopt of openAdmin.',
      },
    });
    await admin.close();
  });

  // The undo of a creation is a deletion, also where the gateway refuses what comes after.
  it.each([[['create']], [['delete', 'drain']]] as const)(
    'is an error of the host if it could not undo what it does: %j',
    async (supports) => {
      await expect(running(supports)).rejects.toThrow(
        'gateway.supports must list create and delete together: each undoes the other',
      );
    },
  );

  it('is an error of the host if it says what nothing asks for', async () => {
    const gateway = { ...createScriptedGateway({ snapshot }), supports: ['creation'] };
    await expect(
      openAdmin({ snapshot, gateway, store: createMemoryStore() } as unknown as AdminOptions & {
        readonly store: ReturnType<typeof createMemoryStore>;
      }),
    ).rejects.toThrow('gateway.supports must be a list with some of create, delete');
  });
});
