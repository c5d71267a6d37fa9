import { describe, expect, it } from '@jest/globals';
import {
  EffectRefused,
  closeServiceSessions,
  createUser,
  patchService,
  sequence,
  stopMonitor,
  stopService,
  type Execution,
  type Transition,
} from 'gateway-admin-core';
import { hold } from 'gateway-admin-core/testing';

import { FailingStore } from '../support/failing-store.ts';
import { openedSessions } from '../support/opened-session.ts';
import { openRunning, sampleClock, sampleGateway } from '../support/running-admin.ts';

const stop: Transition = (snapshot, context) => stopService(snapshot, 'My Service', context);
const limit =
  (max: number): Transition =>
  (snapshot, context) =>
    patchService(snapshot, 'My Service', [{ op: 'add', path: '/max_connection', value: max }], context);
const stopWatch: Transition = (snapshot, context) => stopMonitor(snapshot, 'Main Monitor', context);
const addUser: Transition = (snapshot, context) =>
  createUser(snapshot, { name: 'newcomer', passwordHash: 'opaque' }, context);

describe('a store that fails', () => {
  // Promise: intent-failed
  it('at the intent: the host is not called, and nothing changes', async () => {
    const store = new FailingStore();
    const { admin, gateway, errors } = await openRunning(store);
    const before = admin.snapshot;
    store.fail();
    expect(await admin.execute(stop)).toMatchObject({
      outcome: 'refused',
      problem: { code: 'store-unavailable', status: 503 },
    });
    expect([admin.snapshot === before, gateway.calls]).toEqual([true, []]);
    expect(errors.map(String)).toEqual(['Error: The disk is full']);
    await admin.close();
  });

  // Promise: settlement-failed
  it('at the settlement: the command is not confirmed, and the snapshot shows the state of the host', async () => {
    const store = new FailingStore();
    const held = hold();
    const { admin } = await openRunning(store, { gateway: sampleGateway().will(held.apply) });
    const execution = admin.execute(stop);
    await held.begun;
    store.fail();
    held.done();
    expect(await execution).toMatchObject({ outcome: 'unknown', problem: { code: 'store-unavailable' } });
    expect(admin.snapshot.services.find('my-service')?.state).toBe('stopped');
    await admin.close();
  });

  it('at a command without effects: nothing changes, and the 503 says that the change may be stored', async () => {
    const store = new FailingStore();
    const { admin } = await openRunning(store);
    const before = admin.snapshot;
    store.fail();
    expect(await admin.execute(addUser)).toMatchObject({ outcome: 'unknown', problem: { status: 503 } });
    expect(admin.snapshot).toBe(before);
    await admin.close();
  });

  // Promise: store-failed
  it('is not called again: commands are refused from then on, reading and reports continue', async () => {
    const store = new FailingStore();
    const { admin, gateway } = await openRunning(store);
    store.fail();
    await admin.execute(stop);
    const calls = store.calls.length;
    for (const transition of [stop, addUser, limit(3)]) {
      expect(await admin.execute(transition)).toMatchObject({ problem: { code: 'store-unavailable' } });
    }
    admin.report({ type: 'server.reported', server: 'db-serv-1', status: ['maintenance', 'running'] });
    const read = await admin.handle({ method: 'GET', target: '/servers/db-serv-1', headers: {} });
    expect(read.matched && read.response.body).toContain('"status":["running"]');
    expect([store.calls.length, gateway.calls]).toEqual([calls, []]);
    await admin.close();
  });

  // Promise: store-timeout
  it('by not answering counts as failed after the deadline', async () => {
    const store = new FailingStore();
    const { admin, clock, errors } = await openRunning(store);
    store.fail('never answers, and nothing is kept');
    const execution = admin.execute(stop);
    await clock.settle();
    await clock.advance(30_000);
    expect(await execution).toMatchObject({ outcome: 'refused', problem: { code: 'store-unavailable' } });
    expect(errors.map(String)).toEqual(['Error: The configuration store did not answer within 30000 ms.']);
    await admin.close();
  });

  it('at the start keeps the interface from opening', async () => {
    const store = new FailingStore();
    store.fail();
    await expect(openRunning(store)).rejects.toThrow('The disk is full');
  });

  it('at the settlement of a refused command leaves the refusal unchanged', async () => {
    const store = new FailingStore();
    const held = hold();
    const { admin } = await openRunning(store, { gateway: sampleGateway().will(held.apply) });
    const execution = admin.execute(stop);
    await held.begun;
    store.fail();
    held.fail(new EffectRefused('Not now.'));
    expect(await execution).toMatchObject({ problem: { code: 'effect-refused' } });
    await admin.close();
  });

  it('at the settlement of a refused undo: the 503 says why the host refused, and which event stands', async () => {
    const store = new FailingStore();
    const held = hold();
    const gateway = sampleGateway().will('done', held.apply, new EffectRefused('Not back.'));
    const { admin } = await openRunning(store, { gateway });
    const execution = admin.execute(sequence(stop, stopWatch));
    await held.begun;
    store.fail();
    held.fail(new EffectRefused('Not now.'));
    const { outcome, problem } = (await execution) as Extract<Execution, { readonly outcome: 'unknown' }>;
    expect([outcome, problem.code]).toEqual(['unknown', 'store-unavailable']);
    expect(problem.detail).toContain('The gateway refused: Not now.');
    expect(problem.detail).toContain('service.stopped of /services/My-Service');
    expect(admin.snapshot.services.find('my-service')?.state).toBe('stopped');
    await admin.close();
  });

  it('in the middle of a teardown: the 503 says how many parts were done', async () => {
    const store = new FailingStore();
    const { admin } = await openRunning(store);
    admin.report(openedSessions(2500));
    store.failAfter(1, 'rejects, and nothing is kept');
    const { outcome, problem } = (await admin.execute((snapshot, context) =>
      closeServiceSessions(snapshot, 'My Service', context),
    )) as Extract<Execution, { readonly outcome: 'unknown' }>;
    expect([outcome, problem.status]).toEqual(['unknown', 503]);
    expect(problem.detail).toContain(
      'Only 1 of 3 parts were done. The gateway was not asked for the other parts.',
    );
    expect(admin.snapshot.sessions.size).toBe(1500);
    await admin.close();
  });

  it('at load and again at disposal: openAdmin rejects with the first error', async () => {
    const store = new FailingStore();
    store.fail();
    store[Symbol.asyncDispose] = () => Promise.reject(new Error('not now'));
    await expect(openRunning(store)).rejects.toThrow('The disk is full');
    const clock = sampleClock();
    store[Symbol.asyncDispose] = () => new Promise(() => undefined);
    const opening = openRunning(store, { clock, limits: { storeDeadlineMs: 50 } });
    const failed = expect(opening).rejects.toThrow('The disk is full');
    await clock.settle();
    await clock.advance(50);
    await failed;
  });

  it('at disposal does not keep the interface from closing', async () => {
    const store = new FailingStore();
    const { admin, clock, errors } = await openRunning(store);
    store[Symbol.asyncDispose] = () => new Promise(() => undefined);
    const closing = admin.close();
    await clock.settle();
    await clock.advance(30_000);
    await closing;
    expect(errors.map(String)).toEqual(['Error: The configuration store did not answer within 30000 ms.']);
  });

  it('gives a 503 over HTTP', async () => {
    const store = new FailingStore();
    const { admin } = await openRunning(store);
    store.fail();
    const handled = await admin.handle({ method: 'PUT', target: '/service/My-Service/stop', headers: {} });
    expect(handled.matched && [handled.response.status, handled.response.headers['content-type']]).toEqual([
      503,
      'application/problem+json',
    ]);
    await admin.close();
  });
});
