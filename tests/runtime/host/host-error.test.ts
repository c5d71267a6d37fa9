import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import {
  createAdmin,
  EffectRefusedError,
  HostError,
  sequence,
  stopMonitor,
  stopService,
  type Admin,
  type Clock,
  type GatewayPort,
  type Telemetry,
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

async function get(admin: Admin, target: string): Promise<{ status: number; body: unknown }> {
  const handled = await admin.handle({ method: 'GET', target, headers: {} });
  if (!handled.matched) throw new Error('There is nothing at this path');
  const { status, body } = handled.response;
  return { status, body: typeof body === 'string' ? (JSON.parse(body) as unknown) : body };
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

  it('can be any value, also one that throws when it is read', async () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    const unreadable = Object.defineProperty(new Error('x'), 'message', { get: throwing(broken) });
    for (const value of [undefined, null, 5n, Symbol('s'), 'text', {}, proxy, unreadable]) {
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

describe('a clock that fails', () => {
  const range = 'instead of milliseconds since 1970 in the years 0 to 9999.';
  const sleeps = 'The system clock sleeps in its place.';
  const bad: readonly [string, Partial<Record<keyof Clock, unknown>>, string][] = [
    [
      'now throws',
      { now: throwing(broken) },
      `clock.now failed: ${broken.message}. The last known time is used in its place.`,
    ],
    ['now gives NaN', { now: () => NaN }, `clock.now answered NaN ${range}`],
    ['now gives a bigint', { now: () => 5n }, `clock.now answered 5 ${range}`],
    ['now gives a promise', { now: () => Promise.reject(broken) }, `clock.now answered a promise ${range}`],
    ['now gives microseconds', { now: () => 1e15 }, `clock.now answered 1000000000000000 ${range}`],
    [
      'now gives a time before the year 0',
      { now: () => -1e15 },
      `clock.now answered -1000000000000000 ${range}`,
    ],
    ['sleep throws', { sleep: throwing(broken) }, `clock.sleep failed: ${broken.message}. ${sleeps}`],
    [
      'sleep rejects',
      { sleep: () => Promise.reject(broken) },
      `clock.sleep failed: ${broken.message}. ${sleeps}`,
    ],
    [
      'monotonic throws',
      { monotonic: throwing(broken) },
      `clock.monotonic failed: ${broken.message}. The last known time is used in its place.`,
    ],
    [
      'monotonic gives NaN',
      { monotonic: () => NaN },
      'clock.monotonic answered NaN instead of milliseconds. The last known time is used in its place.',
    ],
    [
      'sleep gives nothing',
      { sleep: () => undefined },
      `clock.sleep answered undefined instead of a promise. ${sleeps}`,
    ],
  ];

  // Promise: clock-error
  it.each(bad)('is told once, and commands and reads go on: %s', async (_what, methods, message) => {
    const errors: unknown[] = [];
    const values: number[] = [];
    // A deadline begins to sleep only for a call that does not settle at once.
    const apply = (): Promise<void> =>
      methods.sleep === undefined ? Promise.resolve() : new Promise((resolve) => setImmediate(resolve));
    const admin = createAdmin({
      snapshot: sampleSnapshot(),
      gateway: gatewayOf({ apply, inspect: () => Promise.reject(new EffectRefusedError('cannot tell')) }),
      clock: { now: () => 1e12, sleep: () => Promise.resolve(), ...methods } as unknown as Clock,
      observe: { onError: (error) => errors.push(error), onMeasurement: ({ value }) => values.push(value) },
    });
    expect((await admin.execute(stop)).outcome).toBe('accepted');
    expect((await admin.execute(stopMain)).outcome).toBe('accepted');
    expect((await get(admin, '/services/My-Service')).status).toBe(200);
    admin.report({ type: 'service.reported', service: 'Report Service', state: 'failed' });
    await admin.close();
    const [call] = message.split(' ');
    expect(errors).toMatchObject([{ name: 'HostError', call, message }]);
    // A duration is short, and no wrong answer appears in one.
    expect(values.filter((value) => !(value >= 0 && value < 60))).toEqual([]);
  });

  it('may sleep with any thenable, also one that rejects', async () => {
    const errors: unknown[] = [];
    const soon = (): PromiseLike<void> => ({
      then: (...how) => new Promise<void>((done) => setImmediate(done)).then(...how),
    });
    const later = (): PromiseLike<void> => ({
      then: (...how) => Promise.reject<undefined>(broken).then(...how),
    });
    for (const sleep of [soon, later]) {
      const admin = createAdmin({
        snapshot: sampleSnapshot(),
        gateway: gatewayOf({ apply: () => new Promise(() => undefined) }),
        clock: { now: () => 1e12, sleep } as unknown as Clock,
        limits: { effectDeadlineMs: 1 },
        observe: { onError: (error) => errors.push(error) },
      });
      // Only the deadline ends the wait for `apply`, and then the gateway is asked.
      expect((await admin.execute(stop)).outcome).toBe('accepted');
      await admin.close();
    }
    const told = errors.filter((error) => (error as HostError).call === 'clock.sleep');
    expect(told).toMatchObject([{ cause: broken }]);
  });

  it('does not make a deadline pass at once or never', async () => {
    const held = hold();
    const errors: unknown[] = [];
    const admin = createAdmin({
      snapshot: sampleSnapshot(),
      gateway: sampleGateway().will(held.apply, 'silentBefore'),
      clock: { now: () => 0, sleep: throwing(broken) },
      limits: { effectDeadlineMs: 200 },
      observe: { onError: (error) => errors.push(error) },
    });
    const execution = admin.execute(stop);
    await held.begun;
    await new Promise((resolve) => setTimeout(resolve, 20));
    held.done();
    expect((await execution).outcome).toBe('accepted');
    expect((await admin.execute(stopMain)).outcome).toBe('unknown');
    await admin.close();
  });

  it('that fails once gives the last time in its place', async () => {
    const times = [1000, 1000, NaN, 3000];
    const clock = { now: () => times.shift() ?? 4000, sleep: () => Promise.resolve() };
    const { admin } = runAdmin({ clock: clock as never, gateway: sampleGateway() });
    const execution = await admin.execute(stop);
    expect(execution).toMatchObject({ outcome: 'accepted', events: [{ at: 1000 }] });
  });
});

describe('telemetry that fails', () => {
  const load = { historic: 1, current: 2, '1min': 3, '5min': 4, '15min': 5 };
  const counters = { reads: 9, writes: 8, buffered_writes: 7, high_water_events: 6, low_water_events: 5 };
  const task = { name: 'live', type: 'repeated', frequency: 1, next_due: 1e12 };
  const target = {
    threads: '/gateway/threads',
    tasks: '/gateway/tasks',
    idle: '/sessions',
    statistics: '/sessions/9/connections',
  } as const;

  const wrong: readonly [keyof Telemetry, unknown][] = [
    ...([throwing(broken), () => NaN, () => Infinity, () => 5n, () => '5', () => null] as const).map(
      (reader): [keyof Telemetry, unknown] => ['idle', reader],
    ),
    ['idle', () => Promise.reject(broken)],
    ['idle', 7],
    ['statistics', throwing(broken)],
    ['statistics', () => Promise.resolve(counters)],
    ['statistics', () => ({ ...counters, reads: NaN })],
    ['statistics', () => ({ ...counters, writes: 5n })],
    ['statistics', () => ({ reads: 1 })],
    ['statistics', () => null],
    ['threads', throwing(broken)],
    ['threads', () => Promise.resolve({ load_average: load, threads: [] })],
    ['threads', () => ({ load_average: { ...load, current: NaN }, threads: [] })],
    ['threads', () => ({ load_average: load })],
    ['threads', () => 5n],
    ['tasks', throwing(broken)],
    ['tasks', () => [{ ...task, frequency: Infinity }]],
    ['tasks', () => [{ ...task, next_due: 1e300 }]],
    ['tasks', () => [{ ...task, name: 5n }]],
    ['tasks', () => Promise.resolve([task])],
    ['tasks', () => 'none'],
  ];

  // Promise: telemetry-error
  it.each(wrong)('in %s is told once, and the stored figures are shown (%#)', async (name, reader) => {
    const stored = await get(runAdmin().admin, target[name]);
    const gateway = sampleGateway({ telemetry: { [name]: reader } });
    const { admin, errors } = runAdmin({ gateway });
    for (let time = 0; time < 3; time += 1) expect(await get(admin, target[name])).toEqual(stored);
    await new Promise((resolve) => setImmediate(resolve));
    expect(errors).toMatchObject([{ name: 'HostError', call: `telemetry.${name}` }]);
  });

  it.each<[keyof Telemetry, unknown, string]>([
    ['idle', throwing(broken), `telemetry.idle failed: ${broken.message}.`],
    ['idle', () => NaN, 'telemetry.idle answered NaN, which is no figure.'],
    [
      'statistics',
      () => ({ ...counters, writes: 5n }),
      'telemetry.statistics answered wrong counters: writes answered 5, which is no figure.',
    ],
    ['statistics', () => 5, 'telemetry.statistics answered 5, which is no figure.'],
    [
      'tasks',
      () => 'none',
      'telemetry.tasks answered wrong figures: (document): must be an array, not a string (validation-failed).',
    ],
  ])('in %s is told with what was wrong (%#)', async (name, reader, sentence) => {
    const { admin, errors } = runAdmin({ gateway: sampleGateway({ telemetry: { [name]: reader } }) });
    await get(admin, target[name]);
    expect(errors).toMatchObject([{ message: `${sentence} The response shows the stored figure.` }]);
  });

  it('fails for one figure alone: the other figures are shown', async () => {
    const idle = (session: number): number => (session === 9 ? NaN : 77);
    const { admin } = runAdmin({ gateway: sampleGateway({ telemetry: { idle } }) });
    const { body } = await get(admin, '/sessions?fields=id,idle');
    const idles = body as readonly { id: number; idle: number }[];
    expect(idles.length).toBeGreaterThan(1);
    for (const { id, idle: shown } of idles) if (id !== 9) expect(shown).toBe(77);
    expect(idles.find(({ id }) => id === 9)?.idle).not.toBeNull();
  });

  it('is called with its own object as this', async () => {
    class Figures implements Telemetry {
      readonly figure = 12;
      idle(): number {
        return this.figure;
      }
    }
    const { admin, errors } = runAdmin({ gateway: sampleGateway({ telemetry: new Figures() }) });
    expect((await get(admin, '/sessions/9?fields=idle')).body).toEqual({ idle: 12 });
    expect(errors).toEqual([]);
  });
});

describe('onError', () => {
  let shown: jest.SpiedFunction<typeof console.error>;

  beforeEach(() => {
    shown = jest.spyOn(console, 'error').mockImplementation(() => undefined);
  });

  afterEach(() => {
    shown.mockRestore();
  });

  /** Causes errors of two kinds, three times each. */
  async function failOften(onError?: (error: unknown) => unknown): Promise<void> {
    const admin = createAdmin({
      snapshot: sampleSnapshot(),
      gateway: gatewayOf({ apply: throwing(broken), inspect: () => Promise.resolve('in-place') }),
      clock: sampleClock(),
      ...(onError === undefined ? {} : { observe: { onError: onError } }),
    });
    for (const name of ['My Service', 'Report Service']) {
      await admin.execute((snapshot, context) => stopService(snapshot, name, context));
    }
    expect((await admin.execute(stopMain)).outcome).toBe('accepted');
    for (let time = 0; time < 3; time += 1) admin.report({ type: 'nonsense' } as never);
    await admin.close();
  }

  // Promise: console-once
  it('that is missing is replaced by the console: one line for each kind of error, not for each call', async () => {
    await failOften();
    expect(shown.mock.calls.map(([error]) => (error as Error).name)).toEqual(['HostError', 'ReportError']);
    expect(shown.mock.calls[0]?.[0]).toMatchObject({ call: 'apply', cause: broken });
  });

  it('that is missing is replaced by the console: errors of one function with different causes are of different kinds', async () => {
    const causes = [broken, new RangeError('first'), new RangeError('second')];
    const apply = (): Promise<never> => Promise.reject(causes.shift() ?? broken);
    const gateway = gatewayOf({ apply, inspect: () => Promise.resolve('in-place') });
    const admin = createAdmin({ snapshot: sampleSnapshot(), gateway, clock: sampleClock() });
    for (const name of ['My Service', 'Report Service'])
      await admin.execute((snapshot, context) => stopService(snapshot, name, context));
    await admin.execute(stopMain);
    expect(shown.mock.calls.map(([error]) => String((error as HostError).cause))).toEqual([
      String(broken),
      'RangeError: first',
    ]);
    await admin.close();
  });

  it('that is missing is replaced by the console also for an error that cannot be read', async () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    const admin = createAdmin({
      snapshot: sampleSnapshot(),
      gateway: gatewayOf({ apply: throwing(proxy), inspect: () => Promise.resolve('in-place') }),
      clock: sampleClock(),
    });
    expect((await admin.execute(stop)).outcome).toBe('accepted');
    expect((await admin.execute(stopMain)).outcome).toBe('accepted');
    expect(shown.mock.calls.map(([error]) => (error as HostError).call)).toEqual(['apply']);
    await admin.close();
  });

  it('that is given gets every error, and the console none', async () => {
    const errors: unknown[] = [];
    await failOften((error) => errors.push(error));
    expect(errors.map((error) => (error as Error).name).sort()).toEqual([
      ...Array<string>(errors.length - 3).fill('HostError'),
      ...Array<string>(3).fill('ReportError'),
    ]);
    expect(shown).not.toHaveBeenCalled();
  });

  // Promise: on-error-throws
  it.each([
    ['throws', throwing(broken)],
    ['rejects', async () => Promise.reject(broken)],
  ])('that %s breaks nothing, and is shown once in the console', async (_way, onError) => {
    await failOften(onError);
    await new Promise((resolve) => setImmediate(resolve));
    expect(shown).toHaveBeenCalledTimes(1);
    const error: unknown = shown.mock.calls[0]?.[0];
    expect(error).toMatchObject({ name: 'HostError', call: 'onError', cause: broken });
    // The first error that nobody got is not lost.
    expect((error as Error).message).toMatch(
      /^onError failed: Cannot read .*\. The error for onError was: apply failed at service\.stop/,
    );
  });

  it('may be missing where there is no console, and where the console throws', async () => {
    shown.mockImplementation(throwing(broken));
    await failOften();
    const before = Object.getOwnPropertyDescriptor(globalThis, 'console') ?? {};
    Object.defineProperty(globalThis, 'console', { value: undefined, configurable: true, writable: true });
    try {
      await failOften();
    } finally {
      Object.defineProperty(globalThis, 'console', before);
    }
  });
});
