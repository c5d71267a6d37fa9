/**
 * The scripted gateway: scripts, faults and held calls.
 */
import { describe, expect, it } from '@jest/globals';
import { type Effect, type EffectContext, EffectRefusedError } from 'gateway-admin-core';
import {
  createScriptedGateway,
  createVirtualClock,
  everyFault,
  type GatewayFaults,
  hold,
  type ScriptedGateway,
  type VirtualClock,
} from 'gateway-admin-core/testing';

import { sampleSnapshot } from '../../support/document.ts';

const service = { resource: '/services/My-Service', service: 'my-service' };
const [started, stopped] = [{ state: 'started' }, { state: 'stopped' }] as const;
const start = { type: 'service.start', ...service, from: stopped, to: started } as const;
const stop = { type: 'service.stop', ...service, from: started, to: stopped } as const;
const context: EffectContext = { commandId: '1', signal: new AbortController().signal };

interface Scene {
  readonly gateway: ScriptedGateway;
  readonly clock: VirtualClock;
}

function scene(options: { seed?: number; faults?: GatewayFaults; lateMs?: number } = {}): Scene {
  // After every deadline of the sample.
  const clock = createVirtualClock(Date.parse('2016-09-10T00:00:00Z'));
  return { clock, gateway: createScriptedGateway({ snapshot: sampleSnapshot(), clock, ...options }) };
}

/** How a call ended, and whether the service was stopped: at once, and once there is nothing left to wait for. */
interface Story {
  readonly atOnce: 'done' | 'not done';
  readonly inTheEnd: 'done' | 'not done';
  readonly ending: string;
  readonly tookTime: boolean;
}

async function tell({ gateway, clock }: Scene, call: (effect: Effect) => Promise<unknown>): Promise<Story> {
  const progress = (): 'done' | 'not done' =>
    gateway.state.services['my-service']?.state === 'stopped' ? 'done' : 'not done';
  let ending = 'silent';
  try {
    // As `await` does: the first answer counts.
    Promise.resolve(call(stop)).then(
      (value) => (ending = typeof value === 'string' ? value : 'resolved'),
      (error: unknown) => (ending = (error as Error).name),
    );
  } catch (error) {
    ending = `threw ${(error as Error).name}`;
  }
  const atOnce = progress();
  await clock.runUntilIdle();
  return { atOnce, inTheEnd: progress(), ending, tookTime: clock.monotonic() > 0 };
}

/** The stories that something scripted has over many seeds. */
async function stories(
  method: 'apply' | 'inspect',
  script: (gateway: ScriptedGateway) => void,
): Promise<readonly string[]> {
  const seen = new Set<string>();
  for (let seed = 0; seed < 40; seed += 1) {
    const one = scene({ seed });
    script(one.gateway);
    const story = await tell(one, (effect) => one.gateway[method](effect, context));
    const { atOnce, inTheEnd, ending, tookTime } = story;
    seen.add([atOnce, inTheEnd, ending, ...(tookTime ? ['late'] : [])].join(', '));
  }
  return [...seen].sort();
}

describe('the outcomes of apply', () => {
  it.each([
    ['done', ['done, done, resolved']],
    ['refuse', ['not done, not done, EffectRefusedError']],
    ['throwAtOnce', ['not done, not done, threw Error']],
    ['failBefore', ['not done, not done, Error']],
    ['failAfter', ['done, done, Error']],
    ['late', ['done, done, resolved, late', 'not done, done, resolved, late']],
    ['lateRefuse', ['not done, not done, EffectRefusedError, late']],
    [
      'lateFail',
      ['done, done, Error, late', 'not done, done, Error, late', 'not done, not done, Error, late'],
    ],
    ['silentAfter', ['done, done, silent, late', 'not done, done, silent, late']],
    ['silentBefore', ['not done, not done, silent']],
    ['twice', ['done, done, resolved']],
  ] as const)('%s', async (fault, expected) => {
    expect(await stories('apply', ({ will }) => will(fault))).toEqual(expected);
  });
});

it('an effect that is in place changes nothing, also if its call is answered late', async () => {
  for (let seed = 0; seed < 10; seed += 1) {
    const { gateway, clock } = scene({ seed });
    gateway.will('late', 'done');
    const starting = gateway.apply(start, context);
    await gateway.apply(stop, { ...context, commandId: '2' });
    await clock.runUntilIdle();
    await starting;
    expect(gateway.state.services['my-service']?.state).toBe('stopped');
  }
});

describe('the outcomes of inspect', () => {
  it.each([
    ['answer', ['not done, not done, not-in-place']],
    ['throwAtOnce', ['not done, not done, threw Error']],
    ['fail', ['not done, not done, Error']],
    ['late', ['not done, not done, not-in-place, late']],
    ['silent', ['not done, not done, silent']],
    ['twice', ['not done, not done, not-in-place']],
    ['in-place', ['not done, not done, in-place']],
    ['not-in-place', ['not done, not done, not-in-place']],
  ] as const)('%s', async (fault, expected) => {
    expect(await stories('inspect', ({ willSee }) => willSee(fault))).toEqual(expected);
  });

  it('a late answer gives the state at the beginning or at the end of the call', async () => {
    const answers = new Set<string>();
    for (let seed = 0; seed < 20; seed += 1) {
      const { gateway, clock } = scene({ seed });
      gateway.willSee('late');
      const answer = gateway.inspect(stop, context);
      await gateway.apply(stop, context);
      await clock.runUntilIdle();
      answers.add(await answer);
    }
    expect(answers).toEqual(new Set(['in-place', 'not-in-place']));
  });
});

describe('a call that answers twice', () => {
  it('calls its waiting code several times, and rejects at the end', async () => {
    const { gateway } = scene();
    gateway.will('twice');
    gateway.willSee('twice');
    const heard: string[] = [];
    const hear = async (answer: Promise<unknown>): Promise<void> => {
      await answer.then(
        (value) => heard.push(`yes ${String(value)}`),
        (error: unknown) => heard.push(String(error)),
      );
    };
    await hear(gateway.apply(stop, context));
    await hear(gateway.inspect(stop, context));
    const again = 'Error: The scripted gateway answered again';
    const [yes, seen] = ['yes undefined', 'yes in-place'];
    expect(heard).toEqual([yes, yes, again, seen, seen, again]);
  });
});

describe('random faults', () => {
  const count = 400;
  const ways = (options: Parameters<typeof scene>[0], calls = count): readonly string[] => {
    const { gateway } = scene(options);
    for (let call = 0; call < calls; call += 1) {
      const own = { ...context, commandId: String(call) };
      for (const method of ['apply', 'inspect'] as const) {
        try {
          void gateway[method](stop, own).then(undefined, () => undefined);
        } catch {
          // It was to throw.
        }
      }
    }
    return gateway.calls.map(({ method, way }) => `${method} ${way}`);
  };

  it('happen as often as their probability says', () => {
    const seen = ways({ faults: everyFault, seed: 1 }, 4000);
    for (const method of ['apply', 'inspect'] as const) {
      let left = 1;
      for (const [fault, probability] of Object.entries(everyFault[method])) {
        const share = seen.filter((way) => way === `${method} ${fault}`).length / 4000;
        expect([fault, Math.abs(share - left * probability) < 0.02, share > 0]).toEqual([fault, true, true]);
        left *= 1 - probability;
      }
    }
  });

  it('are the same for the same seed, in whatever order the probabilities are given', () => {
    const reversed = {
      inspect: Object.fromEntries(Object.entries(everyFault.inspect).reverse()),
      apply: Object.fromEntries(Object.entries(everyFault.apply).reverse()),
    };
    const first = ways({ faults: everyFault, seed: 5 });
    expect(ways({ faults: reversed, seed: 5 })).toEqual(first);
    expect(ways({ faults: everyFault, seed: 6 })).not.toEqual(first);
  });

  it('never happen with the probability 0, and always with the probability 1', () => {
    const plain = new Set(['apply done', 'inspect answer']);
    expect(new Set(ways({ seed: 3 }))).toEqual(plain);
    expect(new Set(ways({ faults: { apply: { refuse: 0 }, inspect: {} } }))).toEqual(plain);
    expect(new Set(ways({ faults: { apply: { failAfter: 1, twice: 1 }, inspect: { fail: 1 } } }))).toEqual(
      new Set(['apply failAfter', 'inspect fail']),
    );
  });

  it('fail at most three inspections of a command in a row', async () => {
    const { gateway } = scene({ faults: { inspect: { fail: 1 } } });
    for (let round = 0; round < 8; round += 1) {
      for (const commandId of ['a', 'b'])
        await gateway.inspect(stop, { ...context, commandId }).catch(String);
    }
    const of = (asked: string): readonly string[] =>
      gateway.calls.flatMap(({ way, context: { commandId } }) => (commandId === asked ? [way] : []));
    const round = ['fail', 'fail', 'fail', 'answer'];
    expect([of('a'), of('b')]).toEqual([
      [...round, ...round],
      [...round, ...round],
    ]);
  });

  it('delay a late answer by up to the longest delay', async () => {
    const whiles: number[] = [];
    for (let seed = 0; seed < 200; seed += 1) {
      const { gateway, clock } = scene({ seed, lateMs: 1000 });
      gateway.will('lateRefuse');
      gateway.apply(stop, context).catch(() => undefined);
      await clock.runUntilIdle();
      whiles.push(clock.monotonic());
    }
    expect([Math.min(...whiles) <= 2, Math.max(...whiles) <= 1000, Math.max(...whiles) > 900]).toEqual([
      true,
      true,
      true,
    ]);
    expect(whiles.every(Number.isInteger)).toBe(true);
  });
});

describe('a script', () => {
  it('decides the next calls, before random faults do', async () => {
    const { gateway } = scene({ faults: { apply: { refuse: 1 }, inspect: { fail: 1 } } });
    gateway.will('done', 'failAfter');
    gateway.will('done');
    gateway.willSee('answer');
    for (let call = 0; call < 4; call += 1) await gateway.apply(stop, context).catch(String);
    for (let call = 0; call < 2; call += 1) await gateway.inspect(stop, context).catch(String);
    expect(gateway.calls.map(({ way }) => way)).toEqual([
      'done',
      'failAfter',
      'done',
      'refuse',
      'answer',
      'fail',
    ]);
  });

  it('decides all later calls, until random faults are turned on again', async () => {
    const { gateway } = scene({ faults: { apply: { failBefore: 1 }, inspect: { fail: 1 } } });
    const call = async (): Promise<void> => {
      await gateway.apply(stop, context).catch(String);
      await gateway.inspect(stop, context).catch(String);
    };
    gateway.otherwise({ apply: 'refuse', inspect: 'in-place' }).will('done').willSee('answer');
    for (let round = 0; round < 3; round += 1) await call();
    gateway.otherwise({ inspect: 'answer' });
    await call();
    gateway.otherwise({});
    await call();
    const ways = (asked: string): readonly string[] =>
      gateway.calls.flatMap(({ method, way }) => (method === asked ? [way] : []));
    expect(ways('apply')).toEqual(['done', 'refuse', 'refuse', 'failBefore', 'failBefore']);
    expect(ways('inspect')).toEqual(['answer', 'in-place', 'in-place', 'answer', 'fail']);
  });

  it('can give an untrue answer of inspect', async () => {
    const { gateway } = scene();
    gateway.willSee('in-place', 'not-in-place', 'answer');
    const answers: string[] = [];
    for (let call = 0; call < 3; call += 1) answers.push(await gateway.inspect(stop, context));
    expect(answers).toEqual(['in-place', 'not-in-place', 'not-in-place']);
  });

  it('can give the error with which a call rejects: nothing is applied', async () => {
    const { gateway } = scene();
    const [refusal, failure] = [new EffectRefusedError('The port is in use.'), new Error('cannot see')];
    gateway.will(refusal).willSee(failure);
    await expect(gateway.apply(stop, context)).rejects.toBe(refusal);
    await expect(gateway.inspect(stop, context)).rejects.toBe(failure);
    expect(gateway.state.services['my-service']?.state).toBe('started');
    expect(gateway.calls.map(({ way }) => way)).toEqual(['custom', 'custom']);
  });

  it('can give a function that decides whether the effect is applied, and how the call answers', async () => {
    const { gateway } = scene();
    const answer = Promise.resolve();
    const stateOf = (): string | undefined => gateway.state.services['my-service']?.state;
    const given: unknown[] = [];
    gateway.will(
      (...args) => {
        given.push(args.slice(0, 2));
        return answer;
      },
      (_effect, _context, perform) => {
        perform();
        throw new Error('thrown at once');
      },
    );
    // The very thing that the function gives: it need not be a promise.
    expect(gateway.apply(stop, context)).toBe(answer);
    expect([given, stateOf()]).toEqual([[[stop, context]], 'started']);
    expect(() => gateway.apply(stop, context)).toThrow('thrown at once');
    expect(stateOf()).toBe('stopped');
    gateway.willSee(async (_effect, _context, look) =>
      Promise.resolve(look() === 'in-place' ? 'not-in-place' : 'in-place'),
    );
    expect(await gateway.inspect(stop, context)).toBe('not-in-place');
  });

  it('records the calls and the applied effects', async () => {
    const { gateway } = scene();
    await gateway.inspect(stop, context);
    await gateway.apply(stop, context);
    await gateway.apply(start, context);
    expect(gateway.calls).toEqual([
      { method: 'inspect', effect: stop, context, way: 'answer' },
      { method: 'apply', effect: stop, context, way: 'done' },
      { method: 'apply', effect: start, context, way: 'done' },
    ]);
    expect([gateway.applied, gateway.inspected]).toEqual([[stop, start], [stop]]);
  });
});

describe('a gateway without a clock', () => {
  it('uses the system clock', () => {
    const gateway = createScriptedGateway({ snapshot: sampleSnapshot() });
    const before = Date.now();
    const [opened] = gateway.openSession('My Service');
    expect(opened).toMatchObject({ type: 'session.opened' });
    const { connected } = opened as Extract<typeof opened, { readonly type: 'session.opened' }>;
    expect([connected >= before, connected <= Date.now()]).toEqual([true, true]);
  });
});

describe('the telemetry of a scripted gateway', () => {
  it('gives the figures of the test, if there are any', () => {
    const telemetry = { idle: () => 7 };
    const snapshot = sampleSnapshot();
    expect(createScriptedGateway({ snapshot, telemetry }).telemetry).toBe(telemetry);
    expect(createScriptedGateway({ snapshot })).not.toHaveProperty('telemetry');
  });
});

describe('dropped calls', () => {
  it('apply nothing and are not answered; later calls are', async () => {
    const seen = new Set<string>();
    for (let seed = 0; seed < 20; seed += 1) {
      const one = scene({ seed });
      one.gateway.will('late');
      const story = await tell(one, async (effect) => {
        const call = one.gateway.apply(effect, context);
        one.gateway.dropCalls();
        return call;
      });
      seen.add([story.atOnce, story.inTheEnd, story.ending].join(', '));
      one.gateway.will('late', 'done');
      const later = one.gateway.apply(stop, context);
      await one.clock.waitFor(later);
      expect(one.gateway.state.services['my-service']?.state).toBe('stopped');
    }
    expect([...seen].sort()).toEqual(['done, done, silent', 'not done, not done, silent']);
  });
});

describe('a wrong argument', () => {
  it.each([
    [{ lateMs: 0 }, 'lateMs must be a number of milliseconds from 1 on, not 0'],
    [{ lateMs: Infinity }, 'lateMs must be'],
    [{ seed: 0.5 }, 'The seed must be a safe integer'],
    [
      { faults: { apply: { refuse: 1.5 } } },
      'The probability of "refuse" must be a number from 0 to 1, not 1.5',
    ],
    [{ faults: { inspect: { fail: NaN } } }, 'The probability of "fail"'],
    [{ faults: { inspect: { refuse: 1 } } as GatewayFaults }, 'There is no fault "refuse"'],
    [{ faults: { apply: { done: 1 } } as GatewayFaults }, 'There is no fault "done"'],
  ])('%j', (options, message) => {
    expect(() => scene(options)).toThrow(new RegExp(`^${message}`));
    expect(() => scene(options)).toThrow(RangeError);
  });
});

describe('a held call', () => {
  const stateOf = (gateway: ScriptedGateway): string | undefined =>
    gateway.state.services['my-service']?.state;

  it('applies the effect when the test says done', async () => {
    const { gateway } = scene();
    const held = hold();
    const seen: string[] = [];
    void held.begun.then(() => seen.push('begun'));
    gateway.will(held.apply);
    await Promise.resolve();
    expect(seen).toEqual([]);
    const call = gateway.apply(stop, context).then(() => seen.push('done'));
    await held.begun;
    expect([seen, stateOf(gateway)]).toEqual([['begun'], 'started']);
    held.done();
    await call;
    expect([seen, stateOf(gateway)]).toEqual([['begun', 'done'], 'stopped']);
  });

  it('applies nothing when the test says fail, whatever the test says later', async () => {
    const { gateway } = scene();
    const held = hold();
    gateway.will(held.apply);
    const call = gateway.apply(stop, context);
    const refusal = new EffectRefusedError('Busy.');
    held.fail(refusal);
    held.done();
    await expect(call).rejects.toBe(refusal);
    expect(stateOf(gateway)).toBe('started');
  });

  it('is refused when the gateway cannot apply the effect', async () => {
    const { gateway } = scene();
    const held = hold();
    gateway.will(held.apply);
    const call = gateway.apply({ ...stop, service: 'nothing' }, context);
    held.done();
    await expect(call).rejects.toThrow(EffectRefusedError);
  });

  it('can be ended before it is made, or never made', async () => {
    const { gateway } = scene();
    const [done, failed] = [hold(), hold()];
    done.done();
    failed.fail(new Error('nobody hears of it'));
    gateway.will(done.apply);
    await gateway.apply(stop, context);
    expect(stateOf(gateway)).toBe('stopped');
  });

  it('applies nothing after the calls are dropped', async () => {
    const { gateway } = scene();
    const held = hold();
    gateway.will(held.apply);
    const call = gateway.apply(stop, context);
    gateway.dropCalls();
    held.done();
    await call;
    expect(stateOf(gateway)).toBe('started');
  });
});
