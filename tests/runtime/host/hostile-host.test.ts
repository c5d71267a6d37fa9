import { getEventListeners } from 'node:events';

import { describe, expect, it } from '@jest/globals';
import {
  createMemoryStore,
  EffectRefusedError,
  startService,
  stopMonitor,
  stopService,
  type Transition,
} from 'gateway-admin-core';

import { openRunning, runAdmin, sampleGateway } from '../../support/running-admin.ts';

const stop: Transition = (snapshot, context) => stopService(snapshot, 'My Service', context);
const start: Transition = (snapshot, context) => startService(snapshot, 'My Service', context);
const stopWatch: Transition = (snapshot, context) => stopMonitor(snapshot, 'Main Monitor', context);

describe('a transition that builds its own decision', () => {
  /** Stops the service, and tells something else of it. */
  const telling =
    (events: readonly object[]): Transition =>
    (snapshot, context) =>
      ({ ...stop(snapshot, context), events }) as never;

  it('never gets unreadable events into the journal, and does not stop other commands', async () => {
    const store = createMemoryStore();
    const { admin, errors } = await openRunning(store);
    const malformed = telling([
      { type: 'service.updated', at: 0, resource: '/services/x', service: 'my-service' },
    ]);
    const wrong = expect(admin.execute(malformed)).rejects.toThrow(TypeError);
    expect((await admin.execute(stopWatch)).outcome).toBe('accepted');
    await wrong;
    expect(errors).toEqual([]);
    await admin.close();
    const { admin: next } = await openRunning(store);
    expect(next.snapshot.monitors.find('main-monitor')?.state).toBe('stopped');
    await next.close();
  });

  it('rejects if it has an effect without an event', async () => {
    const { admin, gateway } = runAdmin();
    await expect(admin.execute(telling([]))).rejects.toThrow('an effect for each event');
    expect(gateway.calls).toEqual([]);
  });

  it('is not started if it closes the interface', async () => {
    const { admin, gateway } = runAdmin();
    const closing: Transition = (snapshot, context) => {
      void admin.close();
      return stop(snapshot, context);
    };
    expect(await admin.execute(closing)).toMatchObject({ outcome: 'refused', problem: { code: 'closed' } });
    expect(gateway.calls).toEqual([]);
  });

  it('is not started if it cancels its own command', async () => {
    const { admin, gateway, clock } = runAdmin();
    const controller = new AbortController();
    const leaving: Transition = (snapshot, context) => {
      controller.abort(new Error('changed my mind'));
      return stop(snapshot, context);
    };
    await expect(admin.execute(leaving, { signal: controller.signal })).rejects.toThrow('changed my mind');
    await clock.settle();
    expect(gateway.calls).toEqual([]);
  });
});

describe('a host without types', () => {
  it('cannot give an actor that JSON cannot represent', async () => {
    const { admin } = await openRunning(createMemoryStore());
    await expect(admin.execute(stop, { actor: 5n as unknown as string })).rejects.toThrow('actor');
    expect((await admin.execute(stop)).outcome).toBe('accepted');
    await admin.close();
  });

  it('can give a long reason: the detail is cut, and stays well-formed text', async () => {
    const reason = `a${'💥'.repeat(600)}`;
    const gateway = sampleGateway().will(new EffectRefusedError(reason));
    const { admin } = runAdmin({ gateway });
    const execution = await admin.execute(stop);
    const detail = execution.outcome === 'refused' ? execution.problem.detail : '';
    expect([detail.length > 600, detail.isWellFormed()]).toEqual([true, true]);
  });
});

describe('readers of events', () => {
  it('leave no listener on a long-lived signal', async () => {
    const { admin } = runAdmin();
    const controller = new AbortController();
    for (let reader = 0; reader < 100; reader += 1) {
      const events = admin.events({ signal: controller.signal });
      const next = events.next();
      await events.return?.();
      await next;
    }
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    const events = admin.events({ signal: controller.signal });
    const next = events.next();
    controller.abort();
    expect(await next).toMatchObject({ done: true });
  });

  it('end for good when they are left', async () => {
    const { admin } = runAdmin();
    const events = admin.events();
    await admin.execute(stop);
    await events.return?.();
    expect(await events.next()).toMatchObject({ done: true });
  });

  it('share one listener on a signal: 50 readers leave no listener, and end when the signal aborts', async () => {
    const { admin } = runAdmin();
    const controller = new AbortController();
    const readers = Array.from({ length: 50 }, () => admin.events({ signal: controller.signal }));
    for (let round = 0; round < 2; round += 1) {
      const items = readers.map((reader) => reader.next());
      expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1);
      await admin.execute(round === 0 ? stop : start);
      expect(new Set((await Promise.all(items)).map(({ done }) => done))).toEqual(new Set([false]));
    }
    // A reader listens on until an event finds nobody waiting.
    await admin.execute(stop);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    for (const reader of readers) expect(await reader.next()).toMatchObject({ done: false });
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    const [first, ...others] = readers.map((reader) => reader.next());
    // A reader that leaves does not take the listener of the others along.
    await readers[0]?.return?.();
    expect(await first).toMatchObject({ done: true });
    controller.abort();
    for (const item of await Promise.all(others)) expect(item).toMatchObject({ done: true });
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });
});
