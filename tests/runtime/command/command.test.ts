import { describe, expect, it } from '@jest/globals';
import {
  closeServiceSessions,
  createUser,
  EffectRefusedError,
  patchService,
  sequence,
  startService,
  stopMonitor,
  stopService,
  type Admin,
  type Execution,
  type GatewayPort,
  type Transition,
} from 'gateway-admin-core';
import { hold } from 'gateway-admin-core/testing';

import { crowdedSnapshot } from '../../support/document.ts';
import { contentOf } from '../../support/expect-decision.ts';
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

describe('a command', () => {
  // Promise: applied
  it('asks the host, then changes the snapshot and publishes the event', async () => {
    const { admin, gateway, clock } = runAdmin();
    const before = admin.snapshot;
    const execution = await admin.execute(stop(), { actor: 'ada' });
    expect(gateway.applied).toEqual([
      { type: 'service.stop', resource: '/services/My-Service', service: 'my-service' },
    ]);
    expect(execution).toMatchObject({
      outcome: 'accepted',
      events: [{ type: 'service.stopped', actor: 'ada', at: clock.now() }],
    });
    expect(execution.outcome === 'accepted' && execution.snapshot).toBe(admin.snapshot);
    expect([stateOf(admin), admin.snapshot.revision, before.revision]).toEqual(['stopped', 1, 0]);
  });

  // Promise: shown-when-applied
  it('shows no change before the host has applied the effect', async () => {
    const held = hold();
    const { admin } = runAdmin({ gateway: sampleGateway().will(held.apply) });
    const before = admin.snapshot;
    const execution = admin.execute(stop());
    await held.begun;
    expect(admin.snapshot).toBe(before);
    held.done();
    expect((await execution).outcome).toBe('accepted');
    expect(stateOf(admin)).toBe('stopped');
  });

  it('has the time at which the host resolved apply, not the time of the decision', async () => {
    const held = hold();
    const { admin, clock } = runAdmin({ gateway: sampleGateway().will(held.apply) });
    const execution = admin.execute(start('Bare Service'));
    await held.begun;
    await clock.advance(1234);
    held.done();
    await execution;
    expect(admin.snapshot.services.find('bare-service')?.started).toBe(clock.now());
  });

  // Promise: no-op
  it('changes nothing when the state is already as requested: two stops call the host once', async () => {
    const { admin, gateway } = runAdmin();
    const [one, two] = await Promise.all([admin.execute(stop()), admin.execute(stop())]);
    expect([one.outcome, two.outcome, gateway.calls.length]).toEqual(['accepted', 'unchanged', 1]);
    expect(two.outcome === 'unchanged' && two.snapshot).toBe(admin.snapshot);
    expect(admin.snapshot.revision).toBe(1);
  });

  // Promise: refused-unchanged
  it('changes nothing when it is refused', async () => {
    const { admin, gateway } = runAdmin();
    const before = admin.snapshot;
    expect(codeOf(await admin.execute(stop('nothing')))).toBe('service-not-found');
    expect(codeOf(await admin.execute(limit(-1)))).toBe('validation-failed');
    expect(admin.snapshot).toBe(before);
    expect(gateway.calls).toEqual([]);
  });

  it('without effects does not call the host', async () => {
    const { admin, gateway } = runAdmin();
    const add: Transition = (snapshot, context) =>
      createUser(snapshot, { name: 'joan', passwordHash: 'x' }, context);
    expect((await admin.execute(add)).outcome).toBe('accepted');
    expect(admin.snapshot.users.find('joan')).toBeDefined();
    expect(gateway.calls).toEqual([]);
  });

  it('rejects when the transition throws, and the next command runs', async () => {
    const { admin } = runAdmin();
    await expect(
      admin.execute(() => {
        throw new RangeError('mine');
      }),
    ).rejects.toThrow('mine');
    expect((await admin.execute(stop())).outcome).toBe('accepted');
  });

  it('has a plan that equals its decision, and planning changes nothing', () => {
    const { admin, gateway } = runAdmin();
    const { snapshot } = admin;
    const plan = admin.plan(stop(), { actor: 'ada' });
    expect(plan).toMatchObject({ outcome: 'accepted', events: [{ type: 'service.stopped', actor: 'ada' }] });
    expect(admin.snapshot).toBe(snapshot);
    expect(gateway.calls).toEqual([]);
    expect(admin.plan(start()).outcome).toBe('unchanged');
    const ifMatch = { link: '/services/My-Service', etag: '"x"' };
    expect(admin.plan(stop(), { ifMatch })).toMatchObject({
      outcome: 'refused',
      problem: { code: 'precondition-failed' },
    });
  });
});

describe('a refusal of the host', () => {
  // Promise: gateway-refusal
  it('is a 409 with the reason, and changes nothing', async () => {
    const { admin, gateway } = runAdmin({
      gateway: sampleGateway().will(new EffectRefusedError('The port 4006 is in use.')),
    });
    const before = admin.snapshot;
    const execution = await admin.execute(start('Bare Service'));
    expect(execution).toMatchObject({ outcome: 'refused', problem: { code: 'effect-refused', status: 409 } });
    expect(execution.outcome === 'refused' && execution.problem.detail).toContain('The port 4006 is in use.');
    expect(admin.snapshot).toBe(before);
    expect([gateway.calls.length, gateway.inspected.length]).toEqual([1, 0]);
    expect((await admin.execute(start('Bare Service'))).outcome).toBe('accepted');
  });

  it('is recognised by the code of the error when it comes from another copy of the library', async () => {
    const foreign = Object.assign(new Error('Not now.'), { code: 'effect-refused' });
    const { admin, gateway } = runAdmin({ gateway: sampleGateway().will(foreign) });
    expect(codeOf(await admin.execute(stop()))).toBe('effect-refused');
    expect(gateway.inspected.length).toBe(0);
  });

  // Promise: all-or-nothing
  it('undoes the effects before it, the last one first', async () => {
    const gateway = sampleGateway().will('done', 'done', new EffectRefusedError('No.'));
    const { admin } = runAdmin({ gateway });
    const before = admin.snapshot;
    const execution = await admin.execute(sequence(stop(), limit(1), stopMain));
    expect(codeOf(execution)).toBe('effect-refused');
    expect(execution.outcome === 'refused' && execution.problem.detail).toBe(
      'The gateway refused: No. Nothing was changed.',
    );
    expect(appliedTo(gateway)).toEqual([
      'service.stop /services/My-Service',
      'service.update /services/My-Service',
      'monitor.stop /monitors/Main-Monitor',
      'service.update /services/My-Service',
      'service.start /services/My-Service',
    ]);
    expect(gateway.applied[3]).toMatchObject({
      before: { max_connection: 1 },
      after: { max_connection: 100 },
    });
    expect(new Set(gateway.calls.map(({ context }) => context.commandId)).size).toBe(1);
    expect(admin.snapshot).toBe(before);
  });

  // Promise: undo-refused
  it('names each effect that the host refuses to undo, and the snapshot shows the effect', async () => {
    const gateway = sampleGateway().will(
      'done',
      new EffectRefusedError('No.'),
      new EffectRefusedError('Never.'),
    );
    const { admin } = runAdmin({ gateway });
    const execution = await admin.execute(sequence(stop(), stopMain));
    expect(codeOf(execution)).toBe('partly-done');
    expect(execution.outcome === 'refused' && execution.problem.detail).toBe(
      'The gateway refused: No. Some earlier changes stand, because the gateway refused to undo them: service.stopped of /services/My-Service.',
    );
    expect(stateOf(admin)).toBe('stopped');
    expect(admin.snapshot.monitors.find('main-monitor')?.state).toBe('started');
  });

  it('in the middle of a long teardown leaves closed sessions closed', async () => {
    const { admin, gateway } = runAdmin({ snapshot: crowdedSnapshot(2500) });
    gateway.will('done', new EffectRefusedError('Busy.'));
    const execution = await admin.execute(closeAll('Sales'));
    expect(execution).toMatchObject({ outcome: 'refused', problem: { code: 'partly-done' } });
    expect(execution.outcome === 'refused' && execution.problem.detail).toBe(
      'The gateway refused: Busy. 1 of 3 parts were done before that, and stay done.',
    );
    expect(admin.snapshot.sessions.countOfService('sales')).toBe(1500);
    expect(gateway.calls).toHaveLength(2);
    expect(gateway.differences(admin.snapshot)).toEqual([]);
  });
});

describe('a long teardown', () => {
  // Promise: teardown-shares
  it('settles in parts, and other commands get a turn between the parts', async () => {
    const first = hold();
    const { admin, gateway } = runAdmin({ snapshot: crowdedSnapshot(2500) });
    gateway.will(first.apply);
    const seen: number[] = [];
    const execution = admin.execute(closeAll('Sales'));
    await first.begun;
    first.done();
    for (let turn = 0; turn < 50; turn += 1) {
      seen.push(admin.snapshot.sessions.size);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await execution).toMatchObject({ outcome: 'accepted', events: { length: 3 } });
    expect([...new Set(seen)]).toEqual([2500, 1500, 500, 0]);
    expect([admin.snapshot.revision, gateway.calls.length]).toEqual([3, 3]);
  });

  // Promise: teardown-scope
  it('closes the sessions that were open at the decision, not later sessions', async () => {
    const first = hold();
    const { admin, gateway } = runAdmin({ snapshot: crowdedSnapshot(3) });
    gateway.will(first.apply);
    const execution = admin.execute(closeAll('Sales'));
    await first.begun;
    admin.report([
      { type: 'session.opened', id: 50, state: 'a', user: 'b', address: 'c', service: 'Sales', connected: 7 },
      { type: 'session.closed', id: 1, connected: admin.snapshot.sessions.find(1)?.connected ?? 0 },
      { type: 'session.opened', id: 1, state: 'a', user: 'b', address: 'c', service: 'Sales', connected: 8 },
    ]);
    first.done();
    await execution;
    expect([...admin.snapshot.sessions].map(({ id }) => id)).toEqual([1, 50]);
  });
});

describe('a host whose apply fails without EffectRefusedError', () => {
  const rejected = (reason: unknown): Promise<never> =>
    Promise.resolve().then(() => {
      throw reason;
    });

  // Promise: applied-then-failed
  it.each([
    ['throws at once', throwing],
    ['rejects', () => rejected(new Error('the wire broke'))],
    ['rejects with nothing', () => rejected(undefined)],
    ['rejects with a text', () => rejected('EffectRefusedError')],
  ])('%s: inspect decides whether the effect was applied', async (_what, fail) => {
    const done = runAdmin();
    done.gateway.will((_effect, _context, perform) => {
      perform();
      return fail();
    });
    expect((await done.admin.execute(stop())).outcome).toBe('accepted');
    expect([stateOf(done.admin), done.gateway.inspected.length]).toEqual(['stopped', 1]);
    expect(done.gateway.differences(done.admin.snapshot)).toEqual([]);

    const undone = runAdmin({ gateway: sampleGateway().will(fail) });
    const before = contentOf(undone.admin.snapshot);
    expect(codeOf(await undone.admin.execute(stop()))).toBe('effect-refused');
    expect(contentOf(undone.admin.snapshot)).toEqual(before);
    expect(undone.gateway.inspected).toHaveLength(1);
  });

  function throwing(): never {
    throw new Error('thrown at once');
  }
});

type Answer = (
  resolve?: (() => unknown) | null,
  rejectWith?: ((error: unknown) => unknown) | null,
) => unknown;

/** A call that gives a thenable: the second answer of a promise would be ignored by the language already. */
function answering(answers: readonly Answer[]): {
  readonly apply: GatewayPort['apply'];
  answer(this: void): void;
} {
  const asked: Parameters<Answer>[] = [];
  const thenable = {
    then: (...callbacks: Parameters<Answer>) => void asked.push(callbacks),
  };
  return {
    apply: () => thenable as unknown as Promise<void>,
    answer() {
      for (const callbacks of asked) for (const give of answers) give(...callbacks);
    },
  };
}

describe('the host', () => {
  const yes: Answer = (resolve) => resolve?.();
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
      const execution = admin.execute(stop());
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

describe('an effect that the host refuses to undo', () => {
  const limitTo =
    (value: number): Transition =>
    (snapshot, context) =>
      patchService(snapshot, 'My Service', [{ op: 'replace', path: '/max_connection', value }], context);

  it('keeps the earlier effects on the same settings', async () => {
    const gateway = sampleGateway().will(
      'done',
      'done',
      new EffectRefusedError('No.'),
      new EffectRefusedError('Not back.'),
      'done',
    );
    const { admin } = runAdmin({ gateway });
    const execution = await admin.execute(
      sequence(limitTo(2), limitTo(3), (snapshot, context) => stopMonitor(snapshot, 'Main Monitor', context)),
    );
    expect(execution).toMatchObject({ outcome: 'refused', problem: { code: 'partly-done' } });
    // The gateway was not asked to go from 3 to where it was before 2.
    expect(gateway.calls).toHaveLength(4);
    expect(admin.snapshot.services.find('my-service')?.settings.max_connection).toBe(3);
  });
});
