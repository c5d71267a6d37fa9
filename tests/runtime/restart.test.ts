import { describe, expect, it } from '@jest/globals';
import {
  createMemoryStore,
  createUser,
  deleteUser,
  sequence,
  startService,
  stopMonitor,
  stopService,
  type ConfigurationStore,
  type EventGap,
  type PublishedEvent,
  type Transition,
} from 'gateway-admin-core';

import { settle } from '../support/manual-clock.ts';
import { openRunning } from '../support/running-admin.ts';
import { hold, ScriptedGateway } from '../support/scripted-gateway.ts';

const stop: Transition = (snapshot, context) => stopService(snapshot, 'My Service', context);
const stopWatch: Transition = (snapshot, context) => stopMonitor(snapshot, 'Main Monitor', context);
const addUser: Transition = (snapshot, context) =>
  createUser(snapshot, { name: 'newcomer', passwordHash: 'opaque' }, context);

/** A gateway that dies with the process: what it was asked for last is never answered. */
async function die(
  store: ConfigurationStore,
  gateway: ScriptedGateway,
  ...transitions: readonly Transition[]
) {
  const running = await openRunning(store, { gateway });
  for (const transition of transitions) running.admin.execute(transition).catch(() => undefined);
  await settle();
  return running;
}

describe('a command that was under way when the process ended', () => {
  it('has happened when the host says so', async () => {
    const store = createMemoryStore();
    const dead = await die(store, new ScriptedGateway().will(hold().apply), stop);
    const gateway = new ScriptedGateway().willSee('in-place');
    const { admin } = await openRunning(store, { gateway });
    expect(admin.snapshot.services.find('my-service')?.state).toBe('stopped');
    expect(gateway.calls.map(({ method, effect: { type } }) => `${method} ${type}`)).toEqual([
      'inspect service.stop',
    ]);
    expect(gateway.calls[0]?.context.commandId).toBe(dead.gateway.calls[0]?.context.commandId);
    await admin.close();
  });

  it('has not happened when the host says so, and an event tells', async () => {
    const store = createMemoryStore();
    const dead = await die(store, new ScriptedGateway().will(hold().apply), stop);
    const gateway = new ScriptedGateway().willSee('not-in-place');
    const { admin } = await openRunning(store, { gateway });
    expect(admin.snapshot.services.find('my-service')?.state).toBe('started');
    const reader = admin.events({ after: '0.0' });
    const gap = (await reader.next()) as { value: EventGap };
    expect(gap.value).toMatchObject({ gap: true, next: '1000000001.0' });
    const told = (await reader.next()) as { value: PublishedEvent };
    expect(told.value).toMatchObject({
      id: '1000000001.0',
      event: {
        type: 'command.failed',
        resource: '/services/My-Service',
        command: dead.gateway.calls[0]?.context.commandId,
      },
    });
    await admin.close();
    const third = await openRunning(store);
    expect(third.gateway.calls).toEqual([]);
    await third.admin.close();
  });

  it('is taken back when only a part of it was done', async () => {
    const store = createMemoryStore();
    const gateway = new ScriptedGateway().will(() => Promise.resolve(), hold().apply);
    await die(store, gateway, sequence(stop, stopWatch));
    const next = new ScriptedGateway().willSee('in-place', 'not-in-place');
    const { admin } = await openRunning(store, { gateway: next });
    expect(next.wishes).toEqual(['service.start /services/My-Service']);
    expect(admin.snapshot.services.find('my-service')?.state).toBe('started');
    await admin.close();
  });

  it('has not happened when it would have led back to where it began, and nothing shows that it had', async () => {
    const store = createMemoryStore();
    const there: Transition = (snapshot, context) => startService(snapshot, 'My Service', context);
    await die(store, new ScriptedGateway().will(hold().apply), sequence(stop, there, addUser));
    const gateway = new ScriptedGateway().willSee('not-in-place', 'in-place', 'in-place');
    const { admin } = await openRunning(store, { gateway });
    expect(admin.snapshot.users.find('newcomer')).toBeUndefined();
    expect(gateway.wishes).toEqual([]);
    await admin.close();
  });

  it('keeps its resource from others until the host knows, without keeping the interface from opening', async () => {
    const store = createMemoryStore();
    await die(store, new ScriptedGateway().will(hold().apply), stop);
    const gateway = new ScriptedGateway().willSee(new Error('too early'), new Error('too early'), 'in-place');
    const { admin, clock } = await openRunning(store, { gateway });
    expect(await admin.execute(stop)).toMatchObject({ problem: { code: 'command-in-progress' } });
    expect((await admin.execute(stopWatch)).outcome).toBe('accepted');
    await clock.advance(1000);
    expect((await admin.execute(stop)).outcome).toBe('unchanged');
    await admin.close();
  });

  it('stays open when the interface closes before it is known, again and again', async () => {
    const store = createMemoryStore();
    await die(store, new ScriptedGateway().will(hold().apply), stop);
    for (let life = 0; life < 3; life += 1) {
      const gateway = new ScriptedGateway().willSee(new Error('too early'));
      const { admin } = await openRunning(store, { gateway });
      await admin.close();
    }
    const { admin } = await openRunning(store, { gateway: new ScriptedGateway().willSee('in-place') });
    expect(admin.snapshot.services.find('my-service')?.state).toBe('stopped');
    await admin.close();
  });

  it('that asked nothing of the host is there or is not', async () => {
    const store = createMemoryStore();
    const { admin } = await openRunning(store);
    expect((await admin.execute(addUser)).outcome).toBe('accepted');
    expect(
      (await admin.execute((snapshot, context) => deleteUser(snapshot, 'nobody', context))).outcome,
    ).toBe('refused');
    const { records } = await store.load();
    expect(records).toMatchObject([{ type: 'settlement', last: true }]);
  });
});
