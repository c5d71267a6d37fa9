/** tests/scenarios/command/command.txt says what clients see of a command. */
import { describe, expect, it } from '@jest/globals';
import {
  closeServiceSessions,
  EffectRefusedError,
  sequence,
  stopMonitor,
  stopService,
  type Execution,
  type GatewayPort,
  type Transition,
} from 'gateway-admin-core';

import { crowdedSnapshot } from '../../support/document.ts';
import { runAdmin, sampleGateway } from '../../support/running-admin.ts';

const stop: Transition = (snapshot, context) => stopService(snapshot, 'My Service', context);

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
      { type: 'service.stop', resource: '/services/My-Service', service: 'my-service' },
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

  it('rejects when the transition throws, and the next command runs', async () => {
    const { admin } = runAdmin();
    const wrong: Transition = () => {
      throw new RangeError('mine');
    };
    await expect(admin.execute(wrong)).rejects.toThrow('mine');
    expect((await admin.execute(stop)).outcome).toBe('accepted');
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

  // Promise: applied-then-failed
  it('with anything else is asked with inspect', async () => {
    for (const reason of [undefined, 'EffectRefusedError', new Error('the wire broke')]) {
      const fail = (): Promise<never> =>
        Promise.resolve().then(() => {
          throw reason;
        });
      const { admin, gateway } = runAdmin();
      gateway.will((_effect, _context, perform) => {
        perform();
        return fail();
      });
      expect(codeOf(await admin.execute(stop))).toBe('accepted');
      expect(gateway.inspected).toHaveLength(1);
      expect(gateway.differences(admin.snapshot)).toEqual([]);
      const undone = runAdmin({ gateway: sampleGateway().will(fail) });
      expect(codeOf(await undone.admin.execute(stop))).toBe('effect-refused');
      expect(undone.gateway.inspected).toHaveLength(1);
    }
  });
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
