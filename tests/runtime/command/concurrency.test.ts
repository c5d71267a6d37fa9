import { getEventListeners } from 'node:events';

import { describe, expect, it } from '@jest/globals';
import {
  closeServiceSessions,
  closeSession,
  sequence,
  startService,
  stopMonitor,
  stopService,
  type Admin,
  type Execution,
  type Transition,
} from 'gateway-admin-core';
import { hold } from 'gateway-admin-core/testing';

import { openedSessions } from '../../support/opened-session.ts';
import { appliedTo, runAdmin, sampleGateway } from '../../support/running-admin.ts';
import { limit } from '../../support/transition.ts';

const stop =
  (name = 'My Service'): Transition =>
  (snapshot, context) =>
    stopService(snapshot, name, context);
const start =
  (name = 'My Service'): Transition =>
  (snapshot, context) =>
    startService(snapshot, name, context);
const stopMain: Transition = (snapshot, context) => stopMonitor(snapshot, 'Main Monitor', context);
const closeAll =
  (name: string): Transition =>
  (snapshot, context) =>
    closeServiceSessions(snapshot, name, context);

const stateOf = (admin: Admin, key = 'my-service'): string | undefined =>
  admin.snapshot.services.find(key)?.state;

function codeOf(execution: Execution): string {
  return 'problem' in execution ? execution.problem.code : execution.outcome;
}

describe('concurrent commands', () => {
  // Promise: resource-order
  it('on one resource run one after another, in order of arrival', async () => {
    const [first, second] = [hold(), hold()];
    const gateway = sampleGateway().will(first.apply, second.apply);
    const { admin, clock } = runAdmin({ gateway });
    const executions = [admin.execute(stop()), admin.execute(start()), admin.execute(stop())];
    await first.begun;
    await clock.settle();
    expect(appliedTo(gateway)).toEqual(['service.stop /services/My-Service']);
    first.done();
    await second.begun;
    expect(stateOf(admin)).toBe('stopped');
    second.done();
    expect((await Promise.all(executions)).map(({ outcome }) => outcome)).toEqual([
      'accepted',
      'accepted',
      'accepted',
    ]);
    expect(appliedTo(gateway)).toEqual(
      [1, 2, 3].map((at) => `service.${at === 2 ? 'start' : 'stop'} /services/My-Service`),
    );
    expect([stateOf(admin), admin.snapshot.revision]).toEqual(['stopped', 3]);
  });

  // Promise: resource-parallel
  it('on different resources overlap, and settle in the order in which apply resolves', async () => {
    const [first, second] = [hold(), hold()];
    const { admin } = runAdmin({ gateway: sampleGateway().will(first.apply, second.apply) });
    const [slow, quick] = [admin.execute(stop()), admin.execute(stopMain)];
    await Promise.all([first.begun, second.begun]);
    second.done();
    expect((await quick).outcome).toBe('accepted');
    expect([stateOf(admin), admin.snapshot.revision]).toEqual(['started', 1]);
    first.done();
    await slow;
    expect([stateOf(admin), admin.snapshot.monitors.find('main-monitor')?.state]).toEqual([
      'stopped',
      'stopped',
    ]);
    expect(admin.snapshot.revision).toBe(2);
  });

  it('wait if they share a resource with a command in flight, and do not delay the others', async () => {
    const first = hold();
    const gateway = sampleGateway().will(first.apply);
    const { admin } = runAdmin({ gateway });
    const one = admin.execute(stop());
    const both = admin.execute(sequence(stopMain, start()));
    const other = admin.execute(start('Bare Service'));
    const behind = admin.execute((snapshot, context) => stopMonitor(snapshot, 'Main Monitor', context));
    await other;
    expect(appliedTo(gateway)).toEqual([
      'service.stop /services/My-Service',
      'service.start /services/Bare-Service',
    ]);
    first.done();
    expect((await Promise.all([one, both, behind])).map(({ outcome }) => outcome)).toEqual([
      'accepted',
      'accepted',
      'unchanged',
    ]);
  });

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

  it('with the same entity tag: one edit is accepted, the other is refused', async () => {
    const { admin, gateway } = runAdmin();
    const etag = `"${admin.snapshot.epoch}.0.0"`;
    const ifMatch = { link: '/services/my-service', etag };
    const answers = await Promise.all([
      admin.execute(limit(1), { ifMatch }),
      admin.execute(limit(2), { ifMatch }),
    ]);
    expect(answers.map(codeOf)).toEqual(['accepted', 'precondition-failed']);
    expect(gateway.calls).toHaveLength(1);
    expect(admin.snapshot.services.find('my-service')?.settings.max_connection).toBe(1);
  });

  // Promise: decided-in-turn
  it('are decided again when their turn comes', async () => {
    const first = hold();
    const { admin, gateway } = runAdmin({ gateway: sampleGateway().will(first.apply) });
    const [one, two] = [admin.execute(closeAll('My Service')), admin.execute(closeAll('My Service'))];
    await first.begun;
    first.done();
    expect([(await one).outcome, (await two).outcome]).toEqual(['accepted', 'unchanged']);
    expect(gateway.calls).toHaveLength(1);
  });

  // Promise: queue-limit
  it('are refused when too many commands wait', async () => {
    const first = hold();
    const { admin } = runAdmin({
      gateway: sampleGateway().will(first.apply),
      limits: { maxQueued: 2 },
    });
    const waiting = [admin.execute(stop()), admin.execute(start()), admin.execute(stop())];
    await first.begun;
    expect(await admin.execute(start())).toMatchObject({
      outcome: 'refused',
      problem: { code: 'overloaded', status: 503 },
    });
    first.done();
    expect((await Promise.all(waiting)).map(({ outcome }) => outcome)).toEqual([
      'accepted',
      'accepted',
      'accepted',
    ]);
    expect((await admin.execute(start())).outcome).toBe('accepted');
  });

  // Promise: started-completes
  it('leave the queue when cancelled, and run to completion once started', async () => {
    const first = hold();
    const { admin, gateway } = runAdmin({ gateway: sampleGateway().will(first.apply) });
    const begun = new AbortController();
    const waits = new AbortController();
    const one = admin.execute(stop(), { signal: begun.signal });
    const two = admin.execute(start(), { signal: waits.signal });
    await first.begun;
    begun.abort();
    waits.abort(new Error('never mind'));
    await expect(two).rejects.toThrow('never mind');
    await expect(
      admin.execute(start(), { signal: AbortSignal.abort(new Error('too late')) }),
    ).rejects.toThrow('too late');
    first.done();
    expect((await one).outcome).toBe('accepted');
    expect([stateOf(admin), gateway.calls.length]).toEqual(['stopped', 1]);
  });

  it('leave the queue when their client disconnects', async () => {
    const first = hold();
    const { admin, gateway, clock } = runAdmin({ gateway: sampleGateway().will(first.apply) });
    const client = new AbortController();
    const one = admin.execute(stop());
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

  it('share one listener on a signal, however many of them wait', async () => {
    const held = hold();
    const { admin } = runAdmin({ gateway: sampleGateway().will(held.apply) });
    const { signal } = new AbortController();
    const executions = Array.from({ length: 20 }, () => admin.execute(stop(), { signal }));
    await held.begun;
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    held.done();
    await Promise.all(executions);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('leave no listener on a signal that outlives them, with every outcome', async () => {
    const held = hold();
    const { admin, gateway } = runAdmin({ limits: { maxQueued: 1 } });
    const long = new AbortController();
    const { signal } = long;
    const wrong: Transition = () => {
      throw new Error('mine');
    };
    expect(codeOf(await admin.execute(stop(), { signal }))).toBe('accepted');
    expect(codeOf(await admin.execute(stop(), { signal }))).toBe('unchanged');
    expect(codeOf(await admin.execute(stop('nothing'), { signal }))).toBe('service-not-found');
    await expect(admin.execute(wrong, { signal })).rejects.toThrow('mine');
    gateway.will(new Error('the wire broke')).willSee(new Error('cannot see'));
    expect(codeOf(await admin.execute(stopMain, { signal }))).toBe('outcome-unknown');
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    gateway.will(held.apply);
    const [begun, waits] = [admin.execute(start(), { signal }), admin.execute(stop(), { signal })];
    expect(codeOf(await admin.execute(stop(), { signal }))).toBe('overloaded');
    const closing = admin.close();
    expect(codeOf(await waits)).toBe('closed');
    expect(codeOf(await admin.execute(stop(), { signal }))).toBe('closed');
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
        inner = admin.execute(start());
        await clock.settle();
        order.push(`outer ends: ${stateOf(admin) ?? ''}`);
      },
      () => {
        order.push(`inner begins: ${stateOf(admin) ?? ''}`);
        return Promise.resolve();
      },
    );
    await admin.execute(stop());
    await inner;
    expect(order).toEqual(['outer begins', 'outer ends: started', 'inner begins: stopped']);
    expect(stateOf(admin)).toBe('started');
  });

  it('are queued, not nested, when they come from a transition', async () => {
    const { admin } = runAdmin();
    let inner: Promise<Execution> | undefined;
    const execution = await admin.execute((snapshot, context) => {
      inner ??= admin.execute(start('Bare Service'));
      return stopService(snapshot, 'My Service', context);
    });
    expect([execution.outcome, (await inner)?.outcome]).toEqual(['accepted', 'accepted']);
  });
});

describe('a report during a command', () => {
  // Promise: report-kept
  it('survives the settlement of the command', async () => {
    const held = hold();
    const { admin } = runAdmin({ gateway: sampleGateway().will(held.apply) });
    const execution = admin.execute(limit(7));
    await held.begun;
    admin.report([
      {
        type: 'session.opened',
        id: 77,
        state: 'a',
        user: 'b',
        address: 'c',
        service: 'My Service',
        connected: 7,
      },
      { type: 'service.reported', service: 'My Service', state: 'failed' },
      { type: 'server.reported', server: 'db-serv-1', status: [] },
    ]);
    expect(admin.snapshot.revision).toBe(1);
    held.done();
    await execution;
    expect(admin.snapshot.sessions.countOfService('my-service')).toBe(3);
    expect(admin.snapshot.services.find('my-service')).toMatchObject({
      state: 'failed',
      settings: { max_connection: 7 },
    });
    expect(admin.snapshot.servers.find('db-serv-1')?.settings.state).toEqual([]);
    expect(admin.snapshot.revision).toBe(2);
  });

  it('of a status survives an edit of another field of the server', async () => {
    const held = hold();
    const { admin } = runAdmin({ gateway: sampleGateway().will(held.apply) });
    const handled = admin.handle({
      method: 'PATCH',
      target: '/servers/db-serv-1',
      headers: { 'content-type': 'application/json' },
      body: '[{"op":"replace","path":"/port","value":6000}]',
    });
    await held.begun;
    admin.report({ type: 'server.reported', server: 'db-serv-1', status: ['slave'] });
    held.done();
    const { response } = (await handled) as { response: { body: string } };
    expect(JSON.parse(response.body)).toMatchObject({ port: 6000, status: ['slave'], state: ['slave'] });
  });

  it('can make the change of the command first: the command still makes a revision', async () => {
    const held = hold();
    const { admin } = runAdmin({ gateway: sampleGateway().will(held.apply) });
    const execution = admin.execute((snapshot, context) =>
      closeServiceSessions(snapshot, 'Bare Service', context),
    );
    await held.begun;
    admin.report({
      type: 'session.closed',
      id: 0,
      connected: admin.snapshot.sessions.find(0)?.connected ?? 0,
    });
    held.done();
    expect(await execution).toMatchObject({ outcome: 'accepted', events: [{ type: 'sessions.closed' }] });
    expect(admin.snapshot.revision).toBe(2);
  });

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

describe('commands in flight', () => {
  const close =
    (id: number): Transition =>
    (snapshot, context) =>
      closeSession(snapshot, id, context);

  it('are limited in number: further commands wait for their turn, and get a turn', async () => {
    const held = [hold(), hold(), hold()];
    const gateway = sampleGateway().will(...held.map(({ apply }) => apply));
    const { admin, clock } = runAdmin({ gateway, limits: { maxInFlight: 2 } });
    admin.report(openedSessions(3));
    const executions = [1000, 1001, 1002].map((id) => admin.execute(close(id)));
    await clock.settle();
    expect(gateway.calls).toHaveLength(2);
    held[1]?.done();
    await clock.settle();
    expect(gateway.calls).toHaveLength(3);
    for (const { done } of held) done();
    const outcomes = (await Promise.all(executions)).map(({ outcome }) => outcome);
    expect(outcomes).toEqual(['accepted', 'accepted', 'accepted']);
  });

  it('do not count against the limit while their outcome is unknown', async () => {
    const held = [hold(), hold()];
    const gateway = sampleGateway()
      .will(...held.map(({ apply }) => apply))
      .otherwise({ inspect: 'not-in-place' });
    const { admin, clock } = runAdmin({ gateway, limits: { maxInFlight: 2 } });
    admin.report(openedSessions(3));
    const executions = [1000, 1001, 1002].map((id) => admin.execute(close(id)));
    await clock.settle();
    await clock.advance(10_000);
    const outcomes = (await Promise.all(executions)).map(({ outcome }) => outcome);
    expect(outcomes).toEqual(['unknown', 'unknown', 'accepted']);
    await admin.close();
  });
});
