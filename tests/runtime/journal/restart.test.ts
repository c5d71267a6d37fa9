import { describe, expect, it } from '@jest/globals';
import {
  createMemoryStore,
  createUser,
  deleteResource,
  deleteUser,
  patchServer,
  patchService,
  sequence,
  type ConfigurationStore,
  type Transition,
} from 'gateway-admin-core';
import { hold } from 'gateway-admin-core/testing';

import { openRunning, sampleGateway } from '../../support/running-admin.ts';

describe('a command that was in flight when the process ended', () => {
  it('shows inspect all settings, of which the store has what changes', async () => {
    const memory = createMemoryStore();
    const stored: string[] = [];
    const store: ConfigurationStore = {
      ...memory,
      append: (records, where) => {
        stored.push(...records.map((record) => JSON.stringify(record)));
        return memory.append(records, where);
      },
    };
    const limit =
      (value: number): Transition =>
      (snapshot, context) =>
        patchService(snapshot, 'My Service', [{ op: 'add', path: '/max_connection', value }], context);
    const dead = await openRunning(store, { gateway: sampleGateway().will('done', hold().apply) });
    dead.admin.execute(sequence(limit(7), limit(8))).catch(() => undefined);
    await dead.clock.settle();
    expect(stored[0]).toContain('"before":{"max_connection":7},"after":{"max_connection":8}');
    expect(stored[0]).not.toContain('router');
    const gateway = sampleGateway().willSee('in-place', 'in-place', 'not-in-place');
    const { admin } = await openRunning(store, { gateway });
    expect(gateway.inspected.slice(0, 2)).toEqual(dead.gateway.applied);
    expect(gateway.calls[0]?.context.commandId).toBe(dead.gateway.calls[0]?.context.commandId);
    expect(admin.snapshot.services.find('my-service')?.settings).toEqual(
      expect.objectContaining({ max_connection: 8, router_options: expect.anything() }),
    );
    await admin.close();
  });

  it('shows inspect all settings, also if the command was abandoned and its resource is gone', async () => {
    const store = createMemoryStore();
    const gateway = sampleGateway().will(hold().apply).otherwise({ inspect: 'not-in-place' });
    const dead = await openRunning(store, { gateway });
    const { admin, clock } = dead;
    const execution = admin.execute((snapshot, context) =>
      patchServer(snapshot, 'Spare DB', [{ op: 'replace', path: '/port', value: 7 }], context),
    );
    await clock.advance(admin.limits.effectDeadlineMs);
    await execution;
    await admin.abandon(admin.commands()[0]?.id ?? '');
    gateway.otherwise({});
    const detach: Transition = (snapshot, context) =>
      deleteResource(snapshot, 'servers', 'Spare DB', context, { detach: true });
    expect((await admin.execute(detach)).outcome).toBe('accepted');
    await admin.close();
    const later = sampleGateway().willSee('in-place');
    const { admin: next } = await openRunning(store, { gateway: later });
    expect(later.inspected).toEqual(gateway.applied.slice(0, 1));
    await next.close();
  });

  it('without effects is stored as one settlement, or not at all', async () => {
    const store = createMemoryStore();
    const { admin } = await openRunning(store);
    const addUser: Transition = (snapshot, context) =>
      createUser(snapshot, { name: 'newcomer', passwordHash: 'opaque' }, context);
    expect((await admin.execute(addUser)).outcome).toBe('accepted');
    expect(
      (await admin.execute((snapshot, context) => deleteUser(snapshot, 'nobody', context))).outcome,
    ).toBe('refused');
    const { records } = await store.load();
    expect(records).toMatchObject([{ type: 'settlement', last: true }]);
  });
});
