import { describe, expect, it } from '@jest/globals';
import {
  closeServiceSessions,
  createMemoryStore,
  createUser,
  deleteResource,
  deleteUser,
  patchServer,
  patchService,
  sequence,
  startService,
  stopMonitor,
  stopService,
  type Admin,
  type AdminEvent,
  type ConfigurationStore,
  type EventGap,
  type PublishedEvent,
  type Transition,
} from 'gateway-admin-core';
import { hold, type ScriptedGateway } from 'gateway-admin-core/testing';

import { otherLife } from '../../support/event-reader.ts';
import { openedSessions } from '../../support/opened-session.ts';
import { appliedTo, openRunning, sampleGateway } from '../../support/running-admin.ts';

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
  await running.clock.settle();
  return running;
}

describe('a command that was in flight when the process ended', () => {
  // Promise: recovery-applied
  it('is done when inspect says in-place', async () => {
    const store = createMemoryStore();
    const dead = await die(store, sampleGateway().will(hold().apply), stop);
    const gateway = sampleGateway().willSee('in-place');
    const { admin } = await openRunning(store, { gateway });
    expect(admin.snapshot.services.find('my-service')?.state).toBe('stopped');
    expect(gateway.calls.map(({ method, effect: { type } }) => `${method} ${type}`)).toEqual([
      'inspect service.stop',
    ]);
    expect(gateway.calls[0]?.context.commandId).toBe(dead.gateway.calls[0]?.context.commandId);
    await admin.close();
  });

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
    const dead = await die(store, sampleGateway().will('done', hold().apply), sequence(limit(7), limit(8)));
    expect(stored[0]).toContain('"before":{"max_connection":7},"after":{"max_connection":8}');
    expect(stored[0]).not.toContain('router');
    const gateway = sampleGateway().willSee('in-place', 'in-place', 'not-in-place');
    const { admin } = await openRunning(store, { gateway });
    expect(gateway.inspected.slice(0, 2)).toEqual(dead.gateway.applied);
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

  // Promise: recovery-failed
  it('fails when inspect says not-in-place, and an event says so', async () => {
    const store = createMemoryStore();
    const dead = await die(store, sampleGateway().will(hold().apply), stop);
    const gateway = sampleGateway().willSee('not-in-place');
    const { admin } = await openRunning(store, { gateway });
    expect(admin.snapshot.services.find('my-service')?.state).toBe('started');
    const reader = admin.events({ after: otherLife });
    const gap = (await reader.next()) as { value: EventGap };
    expect(gap.value).toMatchObject({
      gap: true,
      next: expect.stringMatching(/^[0-9a-f]{12}\.1000000001\.0$/),
    });
    const told = (await reader.next()) as { value: PublishedEvent };
    expect(told.value).toMatchObject({
      id: gap.value.next,
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

  // Promise: recovery-undo
  it('is undone when only some of its effects are in place', async () => {
    const store = createMemoryStore();
    const gateway = sampleGateway().will('done', hold().apply);
    await die(store, gateway, sequence(stop, stopWatch));
    const next = sampleGateway().willSee('in-place', 'not-in-place');
    const { admin } = await openRunning(store, { gateway: next });
    expect(appliedTo(next)).toEqual(['service.start /services/My-Service']);
    expect(admin.snapshot.services.find('my-service')?.state).toBe('started');
    await admin.close();
  });

  it('fails when its effects cancel out, and none has left a trace', async () => {
    const store = createMemoryStore();
    const there: Transition = (snapshot, context) => startService(snapshot, 'My Service', context);
    await die(store, sampleGateway().will(hold().apply), sequence(stop, there, addUser));
    const gateway = sampleGateway().willSee('not-in-place', 'in-place', 'in-place');
    const { admin } = await openRunning(store, { gateway });
    expect(admin.snapshot.users.find('newcomer')).toBeUndefined();
    expect(appliedTo(gateway)).toEqual([]);
    await admin.close();
  });

  // Promise: recovery-unknown
  it('blocks its resource until the outcome is known, and the interface opens meanwhile', async () => {
    const store = createMemoryStore();
    await die(store, sampleGateway().will(hold().apply), stop);
    const gateway = sampleGateway().willSee(new Error('too early'), new Error('too early'), 'in-place');
    const { admin, clock } = await openRunning(store, { gateway });
    expect(await admin.execute(stop)).toMatchObject({ problem: { code: 'command-in-progress' } });
    expect((await admin.execute(stopWatch)).outcome).toBe('accepted');
    await clock.advance(1000);
    expect((await admin.execute(stop)).outcome).toBe('unchanged');
    await admin.close();
  });

  it('stays open in the journal if the interface closes before the outcome is known, in several lives', async () => {
    const store = createMemoryStore();
    await die(store, sampleGateway().will(hold().apply), stop);
    for (let life = 0; life < 3; life += 1) {
      const gateway = sampleGateway().willSee(new Error('too early'));
      const { admin } = await openRunning(store, { gateway });
      await admin.close();
    }
    const { admin } = await openRunning(store, { gateway: sampleGateway().willSee('in-place') });
    expect(admin.snapshot.services.find('my-service')?.state).toBe('stopped');
    await admin.close();
  });

  it('without effects is stored as one settlement, or not at all', async () => {
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

describe('a long teardown that was in flight when the process ended', () => {
  const teardown: Transition = (snapshot, context) => closeServiceSessions(snapshot, 'My Service', context);

  /** Ends a life in which two of the four parts of a teardown were done, and the host was asked for the third. */
  async function dieHalfway(store: ConfigurationStore): Promise<void> {
    const done = (): Promise<void> => Promise.resolve();
    const third = hold();
    const gateway = sampleGateway().will(done, done, third.apply);
    const { admin } = await openRunning(store, { gateway });
    admin.report(openedSessions(3001));
    admin.execute(teardown).catch(() => undefined);
    await third.begun;
    expect(firstSessionsIn(gateway)).toEqual([1000, 2000, 3000]);
  }

  /** The events of a life. Ends the life. */
  async function eventsOf(admin: Admin): Promise<readonly AdminEvent[]> {
    const reader = admin.events({ after: otherLife });
    await admin.close();
    const events: AdminEvent[] = [];
    for await (const item of reader) if ('event' in item) events.push(item.event);
    return events;
  }

  /** The first session of each part that the host was asked about, in the order of the calls. */
  function firstSessionsIn(gateway: ScriptedGateway): readonly (number | undefined)[] {
    return gateway.calls.map(({ effect }) =>
      effect.type === 'sessions.close' ? effect.sessions[0]?.id : undefined,
    );
  }

  it('settles the part in flight, also after several lives, and does not ask for the parts after it', async () => {
    const store = createMemoryStore();
    await dieHalfway(store);
    const second = sampleGateway().willSee(new Error('too early'));
    await openRunning(store, { gateway: second });
    expect(firstSessionsIn(second)).toEqual([3000]);
    const { admin, gateway: third } = await openRunning(store, {
      gateway: sampleGateway().willSee('in-place'),
    });
    expect(firstSessionsIn(third)).toEqual([3000]);
    expect(await eventsOf(admin)).toMatchObject([
      { type: 'sessions.closed', sessions: { length: 1000 } },
      { type: 'command.failed', reason: expect.stringContaining('3 of 4 parts were done') },
    ]);
    const fourth = await openRunning(store);
    expect(fourth.gateway.calls).toEqual([]);
    await fourth.admin.close();
  });

  it('asks for nothing when no part was in flight', async () => {
    const store = createMemoryStore();
    const dying: ConfigurationStore = {
      ...store,
      // The process ends between the settlement of the second part and the intent of the third one.
      append: (records, options) =>
        records.some((record) => (record as { part?: number }).part === 2)
          ? new Promise(() => undefined)
          : store.append(records, options),
    };
    const { admin: first, clock } = await openRunning(dying);
    first.report(openedSessions(3001));
    first.execute(teardown).catch(() => undefined);
    await clock.advance(1000);
    const { admin, gateway } = await openRunning(store);
    expect(gateway.calls).toEqual([]);
    expect(await eventsOf(admin)).toMatchObject([
      { type: 'command.failed', reason: expect.stringContaining('2 of 4 parts were done') },
    ]);
  });

  it('counts the parts of earlier lives in the reason of its failure', async () => {
    const store = createMemoryStore();
    await dieHalfway(store);
    const { admin, gateway } = await openRunning(store, {
      gateway: sampleGateway().willSee('not-in-place'),
    });
    expect(firstSessionsIn(gateway)).toEqual([3000]);
    const reader = admin.events({ after: otherLife });
    await reader.next();
    expect(await reader.next()).toMatchObject({
      value: {
        event: {
          type: 'command.failed',
          reason: expect.stringContaining('2 of 4 parts were done before'),
        },
      },
    });
    await admin.close();
  });
});

describe('a service that the host could not open', () => {
  const startedOf = ({ snapshot }: Admin, name: string): number | undefined =>
    snapshot.services.find(name)?.started;

  it('shows no time of a start before it has started', async () => {
    const { admin, clock } = await openRunning(createMemoryStore());
    const opened = clock.now();
    expect(startedOf(admin, 'My Service')).toBe(opened);
    admin.report({
      type: 'service.reported',
      service: 'My Service',
      state: 'failed',
      reason: 'The port is in use',
    });
    expect(startedOf(admin, 'My Service')).toBeUndefined();
    await clock.advance(5000);
    admin.report({
      type: 'service.reported',
      service: 'My Service',
      state: 'started',
      started: opened + 4000,
    });
    expect(startedOf(admin, 'My Service')).toBe(opened + 4000);
    // From now on the time is a fact.
    admin.report({ type: 'service.reported', service: 'My Service', state: 'failed' });
    expect(startedOf(admin, 'My Service')).toBe(opened + 4000);
    await admin.close();
  });
});
