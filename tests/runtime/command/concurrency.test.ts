/** tests/scenarios/command/concurrency.txt says what clients see of commands at the same time. */
import { getEventListeners } from 'node:events';

import { describe, expect, it } from '@jest/globals';
import {
  startService,
  stopMonitor,
  stopService,
  type Admin,
  type Execution,
  type Transition,
} from 'gateway-admin-core';
import { hold } from 'gateway-admin-core/testing';

import { appliedTo, runAdmin, sampleGateway } from '../../support/running-admin.ts';
import { limit } from '../../support/transition.ts';

const stop: Transition = (snapshot, context) => stopService(snapshot, 'My Service', context);
const start: Transition = (snapshot, context) => startService(snapshot, 'My Service', context);
const startBare: Transition = (snapshot, context) => startService(snapshot, 'Bare Service', context);
const missing: Transition = (snapshot, context) => stopService(snapshot, 'nothing', context);
const stopMain: Transition = (snapshot, context) => stopMonitor(snapshot, 'Main Monitor', context);

const stateOf = (admin: Admin): string | undefined => admin.snapshot.services.find('my-service')?.state;

function codeOf(execution: Execution): string {
  return 'problem' in execution ? execution.problem.code : execution.outcome;
}

describe('concurrent commands', () => {
  it('wait for a resource that the command of a host spells in another way', async () => {
    const first = hold();
    const gateway = sampleGateway().will(first.apply);
    const { admin } = runAdmin({ gateway });
    const one = admin.execute(limit(7));
    const two = admin.execute((snapshot, context) => {
      const decision = limit(8)(snapshot, context);
      if (decision.outcome !== 'accepted') return decision;
      const { next, events, effects } = decision;
      return { outcome: 'accepted', next, events, effects, resources: ['/services/MY-SERVICE'] };
    });
    await first.begun;
    expect(appliedTo(gateway)).toHaveLength(1);
    first.done();
    expect((await Promise.all([one, two])).map(({ outcome }) => outcome)).toEqual(['accepted', 'accepted']);
    expect(gateway.differences(admin.snapshot)).toEqual([]);
  });

  // Promise: started-completes
  it('leave the queue when cancelled, and run to completion once started', async () => {
    const first = hold();
    const { admin, gateway } = runAdmin({ gateway: sampleGateway().will(first.apply) });
    const begun = new AbortController();
    const waits = new AbortController();
    const one = admin.execute(stop, { signal: begun.signal });
    const two = admin.execute(start, { signal: waits.signal });
    await first.begun;
    begun.abort();
    waits.abort(new Error('never mind'));
    await expect(two).rejects.toThrow('never mind');
    await expect(admin.execute(start, { signal: AbortSignal.abort(new Error('too late')) })).rejects.toThrow(
      'too late',
    );
    first.done();
    expect((await one).outcome).toBe('accepted');
    expect([stateOf(admin), gateway.calls.length]).toEqual(['stopped', 1]);
  });

  it('leave the queue when their client disconnects', async () => {
    const first = hold();
    const { admin, gateway, clock } = runAdmin({ gateway: sampleGateway().will(first.apply) });
    const client = new AbortController();
    const one = admin.execute(stop);
    const target = '/service/My-Service/start';
    const two = admin.handle({ method: 'PUT', target, headers: {}, signal: client.signal });
    await first.begun;
    await clock.settle();
    client.abort();
    first.done();
    expect((await one).outcome).toBe('accepted');
    expect(await two).toMatchObject({ response: { status: 503 } });
    expect([stateOf(admin), gateway.calls.length]).toEqual(['stopped', 1]);
  });

  it('leave no listener on a signal that outlives them, with every outcome', async () => {
    const held = hold();
    const { admin, gateway } = runAdmin({ limits: { maxQueued: 1 } });
    const long = new AbortController();
    const { signal } = long;
    const wrong: Transition = () => {
      throw new Error('mine');
    };
    expect(codeOf(await admin.execute(stop, { signal }))).toBe('accepted');
    expect(codeOf(await admin.execute(stop, { signal }))).toBe('unchanged');
    expect(codeOf(await admin.execute(missing, { signal }))).toBe('service-not-found');
    await expect(admin.execute(wrong, { signal })).rejects.toThrow('mine');
    gateway.will(new Error('the wire broke')).willSee(new Error('cannot see'));
    expect(codeOf(await admin.execute(stopMain, { signal }))).toBe('outcome-unknown');
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    gateway.will(held.apply);
    const [begun, waits] = [admin.execute(start, { signal }), admin.execute(stop, { signal })];
    await held.begun;
    // However many wait, they share one.
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    expect(codeOf(await admin.execute(stop, { signal }))).toBe('overloaded');
    const closing = admin.close();
    expect(codeOf(await waits)).toBe('closed');
    expect(codeOf(await admin.execute(stop, { signal }))).toBe('closed');
    held.done();
    expect(codeOf(await begun)).toBe('accepted');
    await closing;
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  // Promise: no-nesting
  it('are queued, not nested, when they come from inside the host', async () => {
    const order: string[] = [];
    const gateway = sampleGateway();
    const { admin, clock } = runAdmin({ gateway });
    let inner: Promise<Execution> | undefined;
    gateway.will(
      async () => {
        order.push('outer begins');
        inner = admin.execute(start);
        await clock.settle();
        order.push(`outer ends: ${stateOf(admin) ?? ''}`);
      },
      () => {
        order.push(`inner begins: ${stateOf(admin) ?? ''}`);
        return Promise.resolve();
      },
    );
    await admin.execute(stop);
    await inner;
    expect(order).toEqual(['outer begins', 'outer ends: started', 'inner begins: stopped']);
    expect(stateOf(admin)).toBe('started');
  });

  it('are queued, not nested, when they come from a transition', async () => {
    const { admin } = runAdmin();
    let inner: Promise<Execution> | undefined;
    const execution = await admin.execute((snapshot, context) => {
      inner ??= admin.execute(startBare);
      return stopService(snapshot, 'My Service', context);
    });
    expect([execution.outcome, (await inner)?.outcome]).toEqual(['accepted', 'accepted']);
  });
});

describe('a report during a command', () => {
  it('that changes nothing keeps the snapshot, and a malformed report goes to onError', () => {
    const { admin, errors } = runAdmin();
    const before = admin.snapshot;
    admin.report({ type: 'service.reported', service: 'Report Service', state: 'failed' });
    admin.report([]);
    admin.report({ type: 'session.opened' } as never);
    admin.report(null as never);
    expect(admin.snapshot).toBe(before);
    expect(errors).toHaveLength(2);
    expect(errors).toMatchObject([{ name: 'ReportError' }, { name: 'ReportError' }]);
  });
});
