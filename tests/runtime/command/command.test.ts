/**
 * What programs and hosts see of commands. tests/scenarios/command/ has what clients see.
 */
import { getEventListeners } from 'node:events';

import { describe, expect, it } from '@jest/globals';
import {
  adoptDocument,
  closeServiceSessions,
  createMemoryStore,
  createSnapshot,
  createUser,
  EffectRefusedError,
  HostError,
  openAdmin,
  sequence,
  stopMonitor,
  stopService,
  type Admin,
  type Decision,
  type Execution,
  type GatewayPort,
  type Transition,
} from 'gateway-admin-core';
import { hold } from 'gateway-admin-core/testing';

import { readAudit } from '../../support/audit-reader.ts';
import { crowdedSnapshot } from '../../support/document.ts';
import { FailingStore } from '../../support/failing-store.ts';
import { appliedTo, openRunning, runAdmin, sampleGateway } from '../../support/running-admin.ts';
import { silentHost } from '../../support/silent-host.ts';
import {
  limit,
  missing,
  start,
  startBare,
  stop,
  stopMain,
  stopUnreadably,
} from '../../support/transition.ts';

function codeOf(execution: Execution): string {
  return 'problem' in execution ? execution.problem.code : execution.outcome;
}

describe('a command', () => {
  // Promise: applied
  it('gives the snapshot that is shown from then on, and is asked for with its id', async () => {
    const { admin, gateway, clock } = runAdmin();
    const before = admin.snapshot;
    const execution = await admin.execute(stop, { actor: 'ada' });
    expect(gateway.applied).toEqual([
      {
        ...{ type: 'service.stop', resource: '/services/My-Service', service: 'my-service' },
        ...{ from: { state: 'started' }, to: { state: 'stopped' } },
      },
    ]);
    expect(execution).toMatchObject({
      outcome: 'accepted',
      events: [{ type: 'service.stopped', actor: 'ada', at: clock.now() }],
    });
    expect('snapshot' in execution && execution.snapshot).toBe(admin.snapshot);
    expect([admin.snapshot.revision, before.revision]).toEqual([1, 0]);
    const again = await admin.execute(stop);
    expect([again.outcome, 'snapshot' in again && again.snapshot]).toEqual(['unchanged', admin.snapshot]);
  });

  it('that is refused leaves the same snapshot, also if the gateway has done a part and undone it', async () => {
    const { admin, gateway } = runAdmin();
    const before = admin.snapshot;
    gateway.will('done', new EffectRefusedError('No.'));
    const both = sequence(stop, (from, context) => stopMonitor(from, 'Main Monitor', context));
    expect(codeOf(await admin.execute(both))).toBe('effect-refused');
    expect(new Set(gateway.calls.map(({ context }) => context.commandId)).size).toBe(1);
    expect(codeOf(await admin.execute((from, context) => stopService(from, 'nothing', context)))).toBe(
      'service-not-found',
    );
    expect(admin.snapshot).toBe(before);
  });

  // Promise: teardown-shares
  it('that is a long teardown settles each part in a turn of the event loop of its own', async () => {
    const { admin } = runAdmin({ snapshot: crowdedSnapshot(2500) });
    const seen: number[] = [];
    const execution = admin.execute((from, context) => closeServiceSessions(from, 'Sales', context));
    for (let turn = 0; turn < 50; turn += 1) {
      seen.push(admin.snapshot.sessions.size);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await execution).toMatchObject({ outcome: 'accepted', events: { length: 3 } });
    expect([...new Set(seen)]).toEqual([2500, 1500, 500, 0]);
    expect(admin.snapshot.revision).toBe(3);
  });
});

describe('a host whose apply fails', () => {
  it('with the code of a refusal from another copy of the library has refused', async () => {
    const foreign = Object.assign(new Error('Not now.'), { code: 'effect-refused' });
    const { admin, gateway } = runAdmin({ gateway: sampleGateway().will(foreign) });
    expect(codeOf(await admin.execute(stop))).toBe('effect-refused');
    expect(gateway.inspected).toEqual([]);
  });
});

type Answers = Parameters<Promise<void>['then']>;
type Answer = (...callbacks: Answers) => unknown;

/** A call that gives a thenable: the second answer of a promise would be ignored by the language already. */
function answering(answers: readonly Answer[]): { apply: GatewayPort['apply']; answer(this: void): void } {
  const asked: Answers[] = [];
  const thenable = { then: (...callbacks: Answers) => void asked.push(callbacks) };
  return {
    apply: () => thenable as unknown as Promise<void>,
    answer() {
      for (const callbacks of asked) for (const give of answers) give(...callbacks);
    },
  };
}

describe('the host', () => {
  const yes: Answer = (resolve) => resolve?.(undefined);
  const no: Answer = (_resolve, rejectWith) => rejectWith?.(new EffectRefusedError('No.'));
  const broken: Answer = (_resolve, rejectWith) => rejectWith?.(new Error('changed its mind'));

  // Promise: first-answer
  it.each([
    ['yes, yes and a failure', [yes, yes, broken], 'accepted', 1, 0, []],
    ['yes and no', [yes, no], 'accepted', 1, 0, []],
    ['no and yes', [no, yes], 'effect-refused', 0, 0, []],
    ['a failure, no and yes', [broken, no, yes], 'accepted', 1, 1, ['HostError']],
  ] as const)(
    'counts with its first answer only: %s',
    async (_what, answers, code, revision, inspections, told) => {
      const { apply, answer } = answering(answers);
      const gateway = sampleGateway().will(apply).willSee('in-place');
      const { admin, errors, clock } = runAdmin({ gateway });
      const execution = admin.execute(stop);
      await clock.settle();
      answer();
      expect(codeOf(await execution)).toBe(code);
      // And once more, when all is over.
      answer();
      await clock.settle();
      expect([admin.snapshot.revision, gateway.calls.length, gateway.inspected.length]).toEqual([
        revision,
        1 + inspections,
        inspections,
      ]);
      expect(errors.map((error) => (error as Error).name)).toEqual(told);
    },
  );
});

const stateOf = (admin: Admin): string | undefined => admin.snapshot.services.find('my-service')?.state;

describe('concurrent commands', () => {
  it('wait for a resource that the command of a host spells in another way', async () => {
    const first = hold();
    const gateway = sampleGateway().will(first.apply);
    const { admin } = runAdmin({ gateway });
    const spelled: Transition = (snapshot, context) =>
      ({ ...limit(8)(snapshot, context), resources: ['/services/MY-SERVICE'] }) as Decision;
    const executions = [limit(7), spelled].map((each) => admin.execute(each));
    await first.begun;
    expect(appliedTo(gateway)).toHaveLength(1);
    first.done();
    const outcomes = (await Promise.all(executions)).map(({ outcome }) => outcome);
    expect(outcomes).toEqual(['accepted', 'accepted']);
    expect(gateway.differences(admin.snapshot)).toEqual([]);
  });

  // Promise: started-completes
  it('leave the queue when cancelled or left by their client, and run to completion once started', async () => {
    const first = hold();
    const { admin, gateway, clock } = runAdmin({ gateway: sampleGateway().will(first.apply) });
    const [begun, waits, client] = [new AbortController(), new AbortController(), new AbortController()];
    const one = admin.execute(stop, { signal: begun.signal });
    const two = admin.execute(start, { signal: waits.signal });
    const asked = { method: 'PUT', target: '/service/My-Service/start', headers: {}, signal: client.signal };
    const three = admin.handle(asked);
    await first.begun;
    await clock.settle();
    begun.abort();
    waits.abort(new Error('never mind'));
    client.abort();
    await expect(two).rejects.toThrow('never mind');
    const late = AbortSignal.abort(new Error('too late'));
    await expect(admin.execute(start, { signal: late })).rejects.toThrow('too late');
    first.done();
    expect((await one).outcome).toBe('accepted');
    expect(await three).toMatchObject({ response: { status: 503 } });
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
    const outer = async (): Promise<void> => {
      order.push('outer begins');
      inner = admin.execute(start);
      await clock.settle();
      order.push(`outer ends: ${stateOf(admin) ?? ''}`);
    };
    gateway.will(outer, () => Promise.resolve(void order.push(`inner begins: ${stateOf(admin) ?? ''}`)));
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

const neverCalled: Transition = () => {
  throw new Error('The transition was called');
};
const stale = '"sample.9.9"';

describe('a command with a condition', () => {
  // Promise: condition-first
  it('is refused before the decision: for a resource that is missing, for a tag that is none or another', async () => {
    const { admin } = runAdmin();
    const codes = async (link: string): Promise<readonly string[]> => {
      const executions = [stale, 'no tag at all'].map(async (etag) =>
        codeOf(await admin.execute(neverCalled, { ifMatch: { link, etag } })),
      );
      return Promise.all(executions);
    };
    for (const [link, code] of [
      ['/services/nothing', 'service-not-found'],
      ['/services/nothing/listeners', 'service-not-found'],
      ['/servers/nothing', 'server-not-found'],
      ['/monitors/nothing', 'monitor-not-found'],
      ['/filters/nothing', 'filter-not-found'],
      ['/sessions/1', 'session-not-found'],
      ['/sessions/x', 'session-id-invalid'],
    ] as const) {
      expect([link, ...(await codes(link))]).toEqual([link, code, code]);
      expect(codeOf(await admin.execute(neverCalled, { ifMatch: { link, etag: '*' } }))).toBe(code);
    }
    const named = ['services/my-service', 'servers/db-serv-1', 'monitors/main-monitor', 'filters/hint'];
    const others = [
      'services',
      'services/My-Service/listeners',
      'sessions/9',
      'users',
      'gateway/logs',
      'gateway',
    ];
    for (const link of [...named, ...others].map((path) => `/${path}`)) {
      expect([link, ...(await codes(link))]).toEqual([link, 'precondition-failed', 'header-invalid']);
      const decided = admin.execute(neverCalled, { ifMatch: { link, etag: '*' } });
      await expect(decided).rejects.toThrow('The transition was called');
    }
  });

  it('waits for a command in flight that creates its user', async () => {
    const store = new FailingStore();
    const { admin, clock } = await openRunning(store);
    const create: Transition = (snapshot, context) =>
      createUser(snapshot, { name: 'joan', password: { sealed: 'opaque' } }, context);
    // Until the store has tried again, the command is in flight.
    store.failAfter(0, 'rejects, and nothing is kept', 1);
    const creating = admin.execute(create);
    const headers = { 'if-match': '*' };
    const handled = admin.handle({ method: 'DELETE', target: '/users/joan', headers });
    await clock.settle();
    expect(admin.snapshot.users.find('joan')).toBeUndefined();
    await clock.advance(100);
    expect((await creating).outcome).toBe('accepted');
    expect(await handled).toMatchObject({ response: { status: 204 } });
    await admin.close();
  });
});

const db = (name: string) => ({ name, address: '10.0.0.1', port: 5432, protocol: 'pg' });
const spareDocument = createSnapshot({ servers: [db('db-1'), db('spare')] });

const adopt: Transition = (from, context) =>
  adoptDocument(from, createSnapshot({ servers: [db('db-1')] }), context, { prune: true });

// Promise: not-supported
it('a host that does not say what it supports is not asked for the adoption of a document', async () => {
  const asked: string[] = [];
  const gateway = {
    apply: ({ type }: { readonly type: string }) => Promise.resolve(void asked.push(type)),
    inspect: () => Promise.resolve('in-place' as const),
  };
  const admin = await openAdmin({ snapshot: spareDocument, gateway, store: createMemoryStore() });
  const refusal = { outcome: 'refused', problem: { code: 'not-supported', status: 409 } };
  expect(await admin.execute(adopt)).toMatchObject(refusal);
  expect(admin.plan(adopt)).toMatchObject(refusal);
  expect(asked).toEqual([]);
  await admin.close();
});

describe('a host that does not answer within the deadline', () => {
  it('sees its signal abort at the deadline and not before, and is asked with inspect', async () => {
    const { gateway, execution } = await silentHost(stop, 'in-place');
    expect(gateway.calls.map(({ method }) => method)).toEqual(['apply', 'inspect']);
    const [apply, inspect] = gateway.calls.map(({ context }) => context);
    expect([apply?.signal.aborted, inspect?.signal.aborted]).toEqual([true, false]);
    expect(inspect?.commandId).toBe(apply?.commandId);
    expect((await execution).outcome).toBe('accepted');
    const held = hold();
    const running = runAdmin({ gateway: sampleGateway().will(held.apply) });
    const quick = running.admin.execute(stop);
    await held.begun;
    await running.clock.advance(running.admin.limits.effectDeadlineMs - 1);
    held.done();
    expect((await quick).outcome).toBe('accepted');
    expect(running.gateway.calls[0]?.context.signal.aborted).toBe(false);
  });

  it('tells onError an error that ends the command after its 504', async () => {
    const held = hold();
    const broken = new Error('no such actor');
    let isBroken = false;
    const gateway = sampleGateway().will(held.apply).willSee('not-in-place');
    const { admin, errors, clock } = runAdmin({ gateway });
    const execution = admin.execute(stopUnreadably(() => isBroken, broken));
    await held.begun;
    await clock.advance(admin.limits.effectDeadlineMs);
    expect((await execution).outcome).toBe('unknown');
    isBroken = true;
    held.done();
    await clock.advance(60_000);
    expect(errors.filter((error) => error === broken)).toHaveLength(1);
  });

  it('settles with the last time of a clock that fails after the 504', async () => {
    const held = hold();
    const running = runAdmin({ gateway: sampleGateway().will(held.apply).willSee('not-in-place') });
    const events = running.admin.events();
    readAudit(running.admin);
    void running.admin.execute(stop);
    await held.begun;
    await running.clock.advance(running.admin.limits.effectDeadlineMs);
    const before = running.clock.now();
    running.clock.now = () => NaN;
    held.done();
    await running.clock.advance(60_000);
    expect(running.admin.snapshot.services.find('my-service')?.state).toBe('stopped');
    expect((await events.next()).value).toMatchObject({ event: { type: 'service.stopped', at: before } });
    const ofClock = running.errors.filter(
      (error) => error instanceof HostError && error.call === 'clock.now',
    );
    expect(ofClock).toHaveLength(1);
  });
});
