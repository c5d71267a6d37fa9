import { afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import {
  createBasicAuthentication,
  createMemoryStore,
  createSnapshot,
  HostError,
  stopMonitor,
  stopService,
  type Hasher,
  type Telemetry,
  type Transition,
} from 'gateway-admin-core';
import { hold } from 'gateway-admin-core/testing';

import { guardClock } from '../../../src/runtime/host/guard.ts';
import { sampleDocument } from '../../support/document.ts';
import { credentials, quickHasher } from '../../support/log-in.ts';
import { answerOf } from '../../support/limit.ts';
import {
  appliedTo,
  openRunning,
  runAdmin,
  sampleClock,
  sampleGateway,
  type Running,
} from '../../support/running-admin.ts';

const broken = new TypeError('no such table');
const users = [{ name: 'ada', passwordHash: '' }];
const right = { authorization: credentials('ada', 'engine') };
const json = { 'content-type': 'application/json' };
const patchType = { 'content-type': 'application/json-patch+json' };

/** What a function of a host without types can do in place of an answer. */
const failures: readonly (readonly [string, () => unknown])[] = [
  [
    'throws',
    () => {
      throw broken;
    },
  ],
  ['rejects', () => Promise.reject(broken)],
  ['resolves', () => Promise.resolve(true)],
  ['gives null', () => null],
  ['gives a number', () => 1],
  ['gives an object', () => ({})],
];

/** Texts are an answer of the password policy alone. */
const wrong = [
  ...failures,
  ['gives a text', () => 'true'] as const,
  ['gives nothing', () => undefined] as const,
];

beforeAll(async () => {
  users.splice(0, 1, { name: 'ada', passwordHash: await quickHasher.hash('engine') });
});

/** Status and code of the answer to a request. */
async function answerTo(
  { admin }: Running,
  method: string,
  target: string,
  headers: Readonly<Record<string, string>> = {},
  body?: string,
): Promise<string> {
  const request = { method, target, headers, ...(body === undefined ? {} : { body }) };
  const handled = await admin.handle(request);
  if (!handled.matched) throw new Error(`Nothing at ${target}`);
  const { status, body: text } = handled.response;
  const { code = '' } = status < 400 ? {} : (JSON.parse(text as string) as { code?: string });
  return `${String(status)} ${code}`.trim();
}

function stateOf({ admin }: Running): string | undefined {
  return admin.snapshot.services.find('my-service')?.state;
}

/** The body of the answer to a GET. */
async function bodyAt({ admin }: Running, target: string): Promise<unknown> {
  const handled = await admin.handle({ method: 'GET', target, headers: {} });
  return handled.matched ? JSON.parse(handled.response.body as string) : undefined;
}

/** Checks that `onError` got one error, with the name of the function. */
function expectTold({ errors }: Running, call: string): void {
  expect(errors).toEqual([expect.any(HostError)]);
  expect(errors).toMatchObject([{ call }]);
  expect(String(errors[0])).toMatch(new RegExp(`^HostError: ${call} (?:failed: |answered .* instead of )`));
}

function run(options: object): Running {
  return runAdmin({
    snapshot: createSnapshot({ ...sampleDocument, users }),
    hasher: quickHasher,
    ...options,
  });
}

describe('a password policy', () => {
  const policies = [
    ...failures,
    ['gives an empty text', () => ''] as const,
    ['gives true', () => true] as const,
    ['gives false', () => false] as const,
  ];

  // Promise: policy-fails
  it.each(policies)(
    'that %s fails the request, changes nothing, and is told',
    async (_what, passwordPolicy) => {
      for (const [method, target, headers, body] of [
        ['PUT', '/users', json, '{"name":"joe","password":"correct horse"}'],
        ['PATCH', '/users/ada', patchType, '[{"op":"add","path":"/password","value":"correct horse"}]'],
      ] as const) {
        const running = run({ access: { passwordPolicy } });
        const { snapshot } = running.admin;
        expect(await answerTo(running, method, target, headers, body)).toBe('500 internal');
        expectTold(running, 'passwordPolicy');
        expect(String(running.errors[0])).not.toContain('correct horse');
        expect(running.admin.snapshot).toBe(snapshot);
      }
    },
  );

  it.each(policies)('that %s rejects createFirstUser', async (_what, passwordPolicy) => {
    const running = run({ access: { passwordPolicy }, snapshot: createSnapshot({}) });
    const creation = running.admin.createFirstUser({ name: 'ada', password: 'correct horse' });
    await expect(creation).rejects.toMatchObject({ name: 'HostError', call: 'passwordPolicy' });
    expect(running.admin.snapshot.users.size).toBe(0);
  });
});

describe('isOpen of an authentication', () => {
  /** The Basic authentication, with an `isOpen` of the host. */
  const withIsOpen = (isOpen: () => unknown): Running =>
    run({ access: { authenticate: Object.assign(createBasicAuthentication().bind(undefined), { isOpen }) } });

  // Promise: is-open-fails
  it.each(wrong)('that %s opens nothing, and is told once', async (_what, isOpen) => {
    const running = withIsOpen(isOpen);
    expect(await answerTo(running, 'GET', '/services')).toBe('401 unauthenticated');
    expect(await answerTo(running, 'PUT', '/service/My-Service/stop')).toBe('401 unauthenticated');
    expect(await answerTo(running, 'GET', '/services', right)).toBe('200');
    expectTold(running, 'authenticate.isOpen');
    expect(appliedTo(running.gateway)).toEqual([]);
  });
});

describe('needsRehash of a hasher', () => {
  // Promise: needs-rehash-fails
  it.each(wrong)('that %s renews no hash, is told, and the log-in goes on', async (_what, needsRehash) => {
    const running = run({
      hasher: { ...quickHasher, needsRehash: needsRehash as () => boolean },
      access: { authenticate: createBasicAuthentication() },
    });
    const { snapshot } = running.admin;
    expect(await answerTo(running, 'GET', '/services', right)).toBe('200');
    await running.clock.settle();
    expectTold(running, 'hasher.needsRehash');
    expect(running.admin.snapshot).toBe(snapshot);
  });
});

describe('knows of a hasher', () => {
  // Promise: knows-fails
  it.each(wrong)('that %s does not start the interface', (_what, knows) => {
    const hasher: Hasher = { ...quickHasher, knows: knows as () => boolean };
    const start = (): unknown => run({ hasher, access: { authenticate: createBasicAuthentication() } });
    expect(start).toThrow(HostError);
    expect(start).toThrow(/^hasher\.knows (?:failed: |answered .* instead of true or false)/);
    expect(() => run({ hasher })).not.toThrow();
  });
});

describe('authorize', () => {
  it('that throws is told, and refuses the request with 500', async () => {
    const running = run({
      access: {
        authorize: () => {
          throw broken;
        },
      },
    });
    expect(await answerTo(running, 'PUT', '/service/My-Service/stop')).toBe('500 internal');
    expectTold(running, 'authorize');
    expect(running.errors).toMatchObject([{ cause: broken }]);
    expect(appliedTo(running.gateway)).toEqual([]);
  });

  // Promise: authorize-promise
  it.each([
    ['resolves to true', () => Promise.resolve(true)],
    ['rejects', () => Promise.reject(broken)],
  ])('that gives a promise allows nobody, and is told: the promise %s', async (_what, authorize) => {
    const running = run({ access: { authorize } });
    expect(await answerTo(running, 'PUT', '/service/My-Service/stop')).toBe('403 forbidden');
    expectTold(running, 'authorize');
    expect(appliedTo(running.gateway)).toEqual([]);
  });

  it.each([false, undefined, null, 1, 'yes'])(
    'that gives %p allows nobody, and is no fault',
    async (answer) => {
      const running = run({ access: { authorize: () => answer } });
      expect(await answerTo(running, 'GET', '/services')).toBe('403 forbidden');
      expect(running.errors).toEqual([]);
    },
  );
});

const hashed = [{ name: 'ada', passwordHash: 'hash' }];

describe('a hasher whose verify answers', () => {
  // Promise: verify-true
  it.each([{ valid: false }, { valid: true }, 'false', 'true', [], 1, 0, '', null, undefined])(
    '%p lets nobody in, and the host is told',
    async (answer) => {
      const verify = (): Promise<never> => Promise.resolve(answer as never);
      const { admin, errors } = runAdmin({
        snapshot: createSnapshot({ users: hashed }),
        hasher: { hash: () => Promise.resolve('hash'), verify },
        access: { authenticate: createBasicAuthentication() },
      });
      const request = { method: 'GET', target: '/users', headers: right };
      expect(await answerOf(admin, request)).toBe('500 internal');
      expect(await answerOf(admin, request)).toBe('500 internal');
      expect(errors).toEqual([expect.any(HostError), expect.any(HostError)]);
      expect(errors).toMatchObject([{ call: 'hasher.verify' }, { call: 'hasher.verify' }]);
      expect(String(errors[0])).toMatch(/^HostError: hasher.verify answered .* instead of true or false\./);
    },
  );
});

describe('a port that gives no usable text in place of a', () => {
  const replace = JSON.stringify([{ op: 'add', path: '/password', value: 'correct horse' }]);
  const requests = [
    ['hash', 'hasher.hash', 'PUT', '/users', '{"name":"joan","password":"correct horse"}'],
    ['hash of a new password', 'hasher.hash', 'PATCH', '/users/ada', replace],
    ['sealed text', 'sealer.seal', 'PATCH', '/services/Sales', replace],
  ] as const;
  const answers = [undefined, null, 5, {}, ['text'], '', 'two\nlines', '\ud800', 'x'.repeat(8193)];

  // Promise: port-text
  it.each(requests.flatMap((request) => answers.map((answer) => [...request, answer] as const)))(
    '%s (%s, %s %s) fails the request, and the host is told: %s, %p',
    async (_what, call, method, target, body, answer) => {
      const wrong = (): Promise<never> => Promise.resolve(answer as never);
      const { admin, errors } = runAdmin({
        snapshot: createSnapshot({ users: hashed, services: [{ name: 'Sales', router: 'readconnroute' }] }),
        hasher: { hash: wrong, verify: () => Promise.resolve(false) },
        sealer: { durable: true, seal: wrong, open: wrong },
      });
      expect(await answerOf(admin, { method, target, headers: json, body })).toBe('500 internal');
      expect(errors).toMatchObject([{ name: 'HostError', call }]);
      expect(String(errors[0])).toMatch(
        / instead of a line of 1 to (?:4,096|8,192) characters\. The request was refused\.$/,
      );
      expect(String(errors[0])).not.toContain('correct horse');
      expect(admin.snapshot.revision).toBe(0);
    },
  );

  it('rejects createFirstUser', async () => {
    const { admin } = runAdmin({
      snapshot: createSnapshot({}),
      hasher: { hash: () => Promise.resolve(undefined as never), verify: () => Promise.resolve(false) },
    });
    const creation = admin.createFirstUser({ name: 'ada', password: 'correct horse' });
    await expect(creation).rejects.toThrow(
      'hasher.hash answered undefined instead of a line of 1 to 4,096 characters',
    );
  });
});

describe('a clock', () => {
  const wanted =
    'instead of milliseconds since 1970 in the years 0 to 9999. The call that needed the time was given up.';
  const lastCounts =
    'instead of milliseconds since 1970 in the years 0 to 9999. The last time that the clock has told counts instead.';

  // Promise: clock-error
  it.each([
    ['NaN', () => NaN],
    ['5', () => 5n],
    ['a promise', () => Promise.reject(broken)],
    ['253402300800000', () => 253_402_300_800_000],
    ['-62167219200001', () => -62_167_219_200_001],
    ['Infinity', () => Infinity],
  ])('whose now gives %s fails the call, and no such time is stored', async (text, wrong) => {
    const store = createMemoryStore();
    const clock = sampleClock();
    const before = clock.now();
    const running = await openRunning(store, { clock });
    clock.now = wrong as () => number;
    expect(await answerTo(running, 'PUT', '/service/My-Service/stop')).toBe('500 internal');
    const told = { name: 'HostError', call: 'clock.now', message: `clock.now answered ${text} ${wanted}` };
    // The second error is about the audit record of the request, which has the last time.
    const instead = { ...told, message: `clock.now answered ${text} ${lastCounts}` };
    expect(running.errors).toMatchObject([told, instead]);
    const stop: Transition = (snapshot, context) => stopService(snapshot, 'My Service', context);
    await expect(running.admin.execute(stop)).rejects.toMatchObject(told);
    expect(() => running.admin.plan(stop)).toThrow(HostError);
    expect(await answerTo(running, 'GET', '/services')).toBe('200');
    expect([running.admin.snapshot.revision, appliedTo(running.gateway)]).toEqual([0, []]);
    await running.admin.close();
    clock.now = () => before;
    const next = await openRunning(store, { clock });
    expect((await next.admin.execute(stop)).outcome).toBe('accepted');
    await next.admin.close();
  });

  // Promise: clock-failure
  it('whose now fails while the gateway works loses neither the change nor its event nor its audit record', async () => {
    const held = hold();
    const store = createMemoryStore();
    const running = await openRunning(store, { gateway: sampleGateway().will(held.apply) });
    const { admin, clock, errors } = running;
    const events = admin.events();
    const audit = admin.audit();
    const before = clock.now();
    const answer = answerTo(running, 'PUT', '/service/My-Service/stop');
    await held.begun;
    clock.now = () => {
      throw broken;
    };
    held.done();
    expect(await answer).toBe('204');
    expect(stateOf(running)).toBe('stopped');
    expect((await events.next()).value).toMatchObject({ event: { type: 'service.stopped', at: before } });
    expect((await audit.next()).value).toMatchObject({ outcome: 'accepted' });
    admin.report({ type: 'server.reported', server: 'db-serv-1', status: ['maintenance'] });
    expect((await events.next()).value).toMatchObject({ event: { type: 'server.reported', at: before } });
    expect(await answerTo(running, 'GET', '/alerts')).toBe('200');
    // The clock is asked for each of these, and onError gets one error.
    expect(errors).toMatchObject([{ call: 'clock.now', cause: broken }]);
    await admin.close();
    clock.now = () => before;
    const next = await openRunning(store, { clock });
    expect(stateOf(next)).toBe('stopped');
    await next.admin.close();
  });

  it('whose now fails before it has told any time fails the start', async () => {
    const clock = { ...sampleClock(), now: () => NaN };
    expect(() => runAdmin({ clock })).toThrow(`clock.now answered NaN ${wanted}`);
    await expect(openRunning(createMemoryStore(), { clock })).rejects.toThrow(
      `clock.now answered NaN ${wanted}`,
    );
  });

  it('without monotonic whose now fails ends the five minutes of every verified log-in', () => {
    let time = 5;
    const { monotonic } = guardClock({ now: () => time, sleep: () => Promise.resolve() }, () => undefined);
    expect(monotonic()).toBe(5);
    time = NaN;
    expect(monotonic()).toBeNaN();
  });

  it('whose sleep fails hands the sleep over to the system: a deadline neither passes at once nor never', async () => {
    const held = hold();
    const { admin, errors } = runAdmin({
      gateway: sampleGateway().will(held.apply, 'silentBefore'),
      clock: { ...sampleClock(), sleep: () => Promise.reject(broken) },
      limits: { effectDeadlineMs: 200 },
    });
    const execution = admin.execute((snapshot, context) => stopService(snapshot, 'My Service', context));
    await held.begun;
    await new Promise((resolve) => setTimeout(resolve, 20));
    held.done();
    expect((await execution).outcome).toBe('accepted');
    const second = admin.execute((snapshot, context) => stopMonitor(snapshot, 'Main Monitor', context));
    expect((await second).outcome).toBe('unknown');
    expect(errors.slice(0, 1)).toMatchObject([{ call: 'clock.sleep', cause: broken }]);
    await admin.close();
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

  const wrong: readonly [keyof Telemetry, () => unknown][] = [
    ...failures
      .filter(([what]) => what !== 'gives a number')
      .flatMap(([, reader]) =>
        Object.keys(target).map((name): [keyof Telemetry, () => unknown] => [
          name as keyof Telemetry,
          reader,
        ]),
      ),
    ['idle', () => NaN],
    ['idle', () => 5n],
    ['statistics', () => ({ ...counters, reads: NaN })],
    ['threads', () => ({ load_average: { ...load, current: NaN }, threads: [] })],
    ['tasks', () => [{ ...task, frequency: Infinity }]],
    ['tasks', () => [{ ...task, next_due: 1e300 }]],
  ];

  // Promise: telemetry-error
  it.each(wrong)('in %s is told once, and the stored figures are shown (%#)', async (name, reader) => {
    const stored = await bodyAt(runAdmin(), target[name]);
    const running = runAdmin({ gateway: sampleGateway({ telemetry: { [name]: reader } }) });
    for (let time = 0; time < 3; time += 1) expect(await bodyAt(running, target[name])).toEqual(stored);
    await running.clock.settle();
    expectTold(running, `telemetry.${name}`);
  });

  it('fails for one figure alone: the other figures are shown', async () => {
    const idle = (session: number): number => (session === 9 ? NaN : 77);
    const running = runAdmin({ gateway: sampleGateway({ telemetry: { idle } }) });
    const idles = (await bodyAt(running, '/sessions?fields=id,idle')) as readonly {
      id: number;
      idle: number;
    }[];
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
    const running = runAdmin({ gateway: sampleGateway({ telemetry: new Figures() }) });
    expect(await bodyAt(running, '/sessions/9?fields=idle')).toEqual({ idle: 12 });
    expect(running.errors).toEqual([]);
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

  /** Causes one error of the gateway and one of a report. */
  async function failTwice(onError?: (error: unknown) => unknown): Promise<void> {
    const { admin, clock } = runAdmin({
      gateway: sampleGateway().will(broken).willSee('in-place'),
      observe: { onError: onError as (error: unknown) => void },
    });
    await admin.execute((snapshot, context) => stopService(snapshot, 'My Service', context));
    admin.report({ type: 'nonsense' } as never);
    await clock.settle();
    await admin.close();
  }

  // Promise: console-default
  it('that is left out is replaced by the console', async () => {
    await failTwice();
    expect(shown.mock.calls).toMatchObject([[{ call: 'apply', cause: broken }], [{ name: 'ReportError' }]]);
  });

  it('that is given gets every error, and the console none', async () => {
    const errors: unknown[] = [];
    await failTwice((error) => errors.push(error));
    expect(errors).toMatchObject([{ call: 'apply', cause: broken }, { name: 'ReportError' }]);
    expect(shown).not.toHaveBeenCalled();
  });

  // Promise: on-error-throws
  it.each(failures.slice(0, 2))(
    'that %s breaks nothing, and the console gets both errors',
    async (_way, onError) => {
      await failTwice(onError);
      const lost = ['apply failed at service\\.stop .*', 'Reports of the host have faults .*'];
      expect(shown.mock.calls).toMatchObject(
        lost.map((text) => [
          {
            call: 'onError',
            cause: broken,
            message: expect.stringMatching(
              new RegExp(`^onError failed: no such table\\. The error for onError was: ${text}\\.$`),
            ),
          },
        ]),
      );
    },
  );
});
