import { describe, expect, it } from '@jest/globals';
import {
  createAdmin,
  EffectRefusedError,
  HostError,
  sequence,
  stopMonitor,
  stopService,
  type GatewayPort,
  type Transition,
} from 'gateway-admin-core';
import { hold, type InspectWay } from 'gateway-admin-core/testing';

import { sampleSnapshot } from '../../support/document.ts';
import { runAdmin, sampleClock, sampleGateway } from '../../support/running-admin.ts';
import { silentHost } from '../../support/silent-host.ts';

const stop: Transition = (snapshot, context) => stopService(snapshot, 'My Service', context);
const stopMain: Transition = (snapshot, context) => stopMonitor(snapshot, 'Main Monitor', context);
const broken = new TypeError("Cannot read properties of undefined (reading 'port')");

/** A gateway whose methods a test gives, without types. */
function gatewayOf(methods: { readonly [name: string]: unknown }): GatewayPort {
  return { apply: () => Promise.resolve(), inspect: () => Promise.resolve('in-place'), ...methods };
}

function throwing(error: unknown): () => never {
  return () => {
    throw error;
  };
}

/** Runs a stop on a gateway, and gives the outcome with the errors that were told. */
async function stopOn(gateway: GatewayPort) {
  const errors: unknown[] = [];
  const admin = createAdmin({
    snapshot: sampleSnapshot(),
    gateway,
    clock: sampleClock(),
    observe: { onError: (error) => errors.push(error) },
  });
  const execution = await admin.execute(stop);
  await admin.close();
  return { execution, errors };
}

describe('an error of apply or inspect', () => {
  // Promise: host-error
  it.each([
    ['in-place', 'accepted'],
    ['not-in-place', 'refused'],
  ])('is told with its effect and command, also if inspect then says %s', async (seen, outcome) => {
    for (const apply of [throwing(broken), () => Promise.reject(broken)]) {
      const { execution, errors } = await stopOn(gatewayOf({ apply, inspect: () => Promise.resolve(seen) }));
      expect(execution.outcome).toBe(outcome);
      expect(errors).toEqual([expect.any(HostError)]);
      expect(errors).toMatchObject([
        {
          name: 'HostError',
          call: 'apply',
          effect: { type: 'service.stop', resource: '/services/My-Service' },
          commandId: 'sample-1',
          cause: broken,
        },
      ]);
      expect(String(errors[0])).toBe(
        'HostError: apply failed at service.stop of /services/My-Service (command sample-1): ' +
          "Cannot read properties of undefined (reading 'port'). The library asks inspect for the outcome.",
      );
    }
  });

  it('is told if inspect throws, rejects, or gives another answer', async () => {
    for (const [inspect, message] of [
      [throwing(broken), 'inspect failed at service.stop of /services/My-Service (command sample-1): Cannot'],
      [() => Promise.reject(broken), 'inspect failed at service.stop'],
      [
        () => Promise.resolve('yes'),
        'inspect answered "yes" at service.stop of /services/My-Service (command sample-1), instead of in-place or not-in-place.',
      ],
      [() => Promise.resolve(undefined), 'inspect answered undefined at service.stop'],
      [() => true, 'inspect answered true at service.stop'],
      [() => Promise.resolve({ state: 'in-place' }), 'inspect answered an object at service.stop'],
      [() => Promise.resolve(() => 'in-place'), 'inspect answered a function at service.stop'],
    ] as const) {
      const apply = (): Promise<never> => Promise.reject(broken);
      const { execution, errors } = await stopOn(gatewayOf({ apply, inspect }));
      expect(execution.outcome).toBe('unknown');
      expect(errors).toMatchObject([
        { call: 'apply' },
        { call: 'inspect', commandId: 'sample-1', effect: { type: 'service.stop' } },
      ]);
      expect((errors[1] as Error).message).toContain(message);
    }
  });

  it('is told if apply resolves to a value, which counts as done', async () => {
    for (const value of [false, null, 'refused', { ok: false }]) {
      const { execution, errors } = await stopOn(gatewayOf({ apply: () => Promise.resolve(value) }));
      expect([execution.outcome, errors]).toEqual(['accepted', [expect.any(HostError)]]);
      expect(errors).toMatchObject([{ call: 'apply', commandId: 'sample-1' }]);
      expect(String(errors[0])).toMatch(
        /^HostError: apply resolved to (?:false|null|"refused"|an object) at service\.stop of .* throw an EffectRefusedError/,
      );
    }
  });

  it('is not told if the host refuses, because a refusal is no error', async () => {
    const apply = (): Promise<never> => Promise.reject(new EffectRefusedError('The port is in use'));
    const { execution, errors } = await stopOn(gatewayOf({ apply }));
    expect([execution.outcome, errors]).toEqual(['refused', []]);
  });

  it('is told with the effect that undoes another one', async () => {
    const gateway = sampleGateway().will('done', new EffectRefusedError('no'), broken).willSee('in-place');
    const { admin, errors } = runAdmin({ gateway });
    expect((await admin.execute(sequence(stop, stopMain))).outcome).toBe('refused');
    expect(errors).toMatchObject([{ call: 'apply', effect: { type: 'service.start' }, cause: broken }]);
  });

  it('can be any value', async () => {
    for (const value of [undefined, null, 5n, Symbol('s'), 'text', {}]) {
      const { execution, errors } = await stopOn(gatewayOf({ apply: throwing(value) }));
      expect([execution.outcome, errors.length]).toEqual(['accepted', 1]);
      expect((errors[0] as HostError).cause).toBe(value);
      expect((errors[0] as HostError).message).toMatch(/^apply failed at service\.stop of .*\)(?::|\.) /);
    }
  });

  it('does not show the settings of its effect in a console', async () => {
    const { errors } = await stopOn(gatewayOf({ apply: throwing(broken) }));
    expect(Object.keys(errors[0] as object).sort()).toEqual(['call', 'code', 'commandId', 'name']);
  });
});

/** The error for an `apply` that never settles. */
const notSettled: unknown = expect.objectContaining({
  call: 'apply',
  message: expect.stringMatching(
    /^apply did not settle within 10000 ms at service\.stop of \/services\/My-Service \(command sample-1\), and the /,
  ) as unknown,
});

describe('a silent host', () => {
  // Promise: apply-settles
  it('is an error for onError when the command is answered with a 504', async () => {
    const { errors, execution } = await silentHost(stop, 'not-in-place');
    expect([(await execution).outcome, errors]).toEqual(['unknown', [notSettled]]);
  });
});

describe('a late answer of the host', () => {
  async function silent(...seen: readonly InspectWay[]) {
    const host = await silentHost(stop, ...seen);
    return { ...host, outcome: (await host.execution).outcome };
  }

  // Promise: late-answer-told
  it.each([
    [
      'done',
      /^apply was done after the deadline at service\.stop .* after a 504\. The command settles now\.$/,
    ],
    [
      'refuse',
      /^apply refused after the deadline at service\.stop .* after a 504\. An event says the outcome\.$/,
    ],
    [
      'fail',
      /^apply failed after the deadline at service\.stop .* The answer came after a 504\. An event says the outcome\.$/,
    ],
  ] as const)('is told if apply ends after a 504 (%s)', async (way, message) => {
    const { held, clock, errors, outcome } = await silent('not-in-place', 'not-in-place', 'not-in-place');
    expect([outcome, errors.splice(0)]).toEqual(['unknown', [notSettled]]);
    end(held, way);
    await clock.settle();
    expect(errors).toMatchObject([{ call: 'apply', effect: { type: 'service.stop' } }]);
    expect((errors[0] as Error).message).toMatch(message);
  });

  it.each([
    ['done', 'service.stopped'],
    ['refuse', 'command.failed'],
    ['fail', 'command.failed'],
  ] as const)(
    'settles the command at once, however long the pause before the next question is (%s)',
    async (way, type) => {
      const { admin, held, clock } = await silent(
        ...Array.from({ length: 7 }, () => 'not-in-place' as const),
      );
      // The pauses have grown to seconds.
      await clock.advance(3150);
      const next = admin.events().next();
      end(held, way);
      await clock.settle();
      expect(admin.commands()).toEqual([]);
      expect(await next).toMatchObject({ value: { event: { type } } });
    },
  );

  it.each([
    ['done', 'stopped'],
    ['refuse', 'started'],
  ] as const)(
    'settles the command if the interface closes right after the answer (%s)',
    async (way, state) => {
      const { admin, held, errors } = await silent('not-in-place', 'not-in-place');
      expect(errors.splice(0)).toEqual([notSettled]);
      end(held, way);
      await admin.close();
      expect([admin.commands(), admin.snapshot.services.find('My Service')?.state]).toEqual([[], state]);
      expect(String(errors[0])).toContain('after a 504');
    },
  );

  it.each(['done', 'refuse', 'fail'] as const)('is told if apply ends after a close (%s)', async (way) => {
    const { admin, held, clock, errors } = await silent('not-in-place', 'not-in-place', 'not-in-place');
    expect(errors.splice(0)).toEqual([notSettled]);
    await admin.close();
    end(held, way);
    await clock.settle();
    expect(errors).toMatchObject([{ call: 'apply', commandId: 'sample-1' }]);
    expect((errors[0] as Error).message).toContain('after the interface was closed');
  });

  it('is told if it contradicts inspect, and not told if it agrees', async () => {
    for (const [way, count] of [
      ['done', 0],
      ['refuse', 1],
      ['fail', 1],
    ] as const) {
      const { held, clock, errors, outcome } = await silent('in-place');
      expect(outcome).toBe('accepted');
      end(held, way);
      await clock.settle();
      expect([way, errors.length]).toEqual([way, count]);
      if (way === 'refuse') expect(String(errors[0])).toContain('inspect had answered in-place');
    }
  });

  it('is told if inspect rejects after its deadline', async () => {
    const looking = hold();
    const gateway = sampleGateway()
      .will(broken)
      .willSee(async (effect, context) => {
        await looking.apply(effect, context, () => undefined);
        return 'in-place';
      }, 'in-place');
    const { admin, clock, errors } = runAdmin({ gateway });
    const execution = admin.execute(stop);
    await looking.begun;
    await clock.advance(10_000);
    expect((await execution).outcome).toBe('unknown');
    await clock.advance(50);
    looking.fail(new Error('no connection'));
    await clock.settle();
    expect(errors).toMatchObject([
      { call: 'apply' },
      { call: 'inspect', message: expect.stringContaining('no connection') as unknown },
    ]);
  });

  function end(held: ReturnType<typeof hold>, way: 'done' | 'refuse' | 'fail'): void {
    if (way === 'done') held.done();
    else if (way === 'refuse') held.fail(new EffectRefusedError('too late'));
    else held.fail(broken);
  }
});
