/**
 * Wrong answers of a host without types. One law: the client gets this answer, nothing else is changed or asked for, and
 * the host is told of the function and the answer, without secrets.
 */
import { getEventListeners } from 'node:events';

import { afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import {
  createBasicAuthentication,
  createMemoryStore,
  createSnapshot,
  EffectRefusedError,
  HostError,
  type AdminRequest,
  type Authenticate,
  type Telemetry,
  type Transition,
} from 'gateway-admin-core';
import { hold, type HeldCall, type InspectWay } from 'gateway-admin-core/testing';

import { ask } from '../../support/ask.ts';
import { readAudit } from '../../support/audit-reader.ts';
import { sampleDocument } from '../../support/document.ts';
import { credentials, quickHasher } from '../../support/log-in.ts';
import {
  appliedTo,
  openRunning,
  runAdmin,
  sampleClock,
  sampleGateway,
  type Running,
} from '../../support/running-admin.ts';
import { silentHost } from '../../support/silent-host.ts';
import { stop, stopMain } from '../../support/transition.ts';

type Answer = () => unknown;

const broken = new TypeError('no such table');
const fails = (): never => {
  throw broken;
};
const rejects = (): Promise<never> => Promise.reject(broken);
const gives = (...values: readonly unknown[]): readonly Answer[] => values.map((value) => () => value);
const resolves = (...values: readonly unknown[]): readonly Answer[] =>
  values.map((value) => () => Promise.resolve(value));
/** What a function can do in place of an answer. */
const failures = [fails, rejects, ...resolves(true), ...gives(null, 1, {})];
const notBoolean = [...failures, ...gives('true', undefined)];
const notText = resolves(undefined, null, 5, {}, ['text'], '', 'two\nlines', '\ud800', 'x'.repeat(8193));
const notSentence = [...failures, ...gives('', true, false)];
const notVerified = resolves({ valid: true }, 'false', 'true', [], 1, 0, '', null, undefined);

const users = [{ name: 'ada', password: { sealed: '' } }];
beforeAll(async () => {
  users.splice(0, 1, { name: 'ada', password: { sealed: await quickHasher.hash('engine') } });
});

const logIn = { authenticate: createBasicAuthentication() };
const read = 'GET /services';
const stopIt = 'PUT /service/My-Service/stop';
const newUser = 'PUT /users {"name":"joan","password":"correct horse"}';
const setPassword = (target: string): string =>
  `PATCH ${target} [{"op":"add","path":"/password","value":"correct horse"}]`;
const newPasswords = [newUser, setPassword('/users/ada')];
const newSecret = setPassword('/services/My-Service');
const reading = [read, stopIt];

/** The options with one function of the host, which is named as the errors name it. */
function optionsWith(call: string, answer: Answer): object {
  const [port = '', name = ''] = call.split('.');
  if (call === 'apply') return { gateway: { ...sampleGateway(), apply: answer, inspect: inPlace } };
  if (call === 'inspect') return { gateway: { ...sampleGateway(), apply: rejects, inspect: answer } };
  if (call === 'authenticate.isOpen') {
    const authenticate = Object.assign(createBasicAuthentication().bind(undefined), { isOpen: answer });
    return { access: { authenticate } };
  }
  if (port === 'sealer') return { sealer: { durable: true, seal: answer, open: answer } };
  if (port === 'hasher')
    return { hasher: { ...quickHasher, [name]: answer }, ...(name !== 'hash' && { access: logIn }) };
  return { access: { [call]: answer } };
}

const inPlace = () => Promise.resolve('in-place' as const);
const thrown = [undefined, null, 5n, Symbol('s'), 'text', {}, broken];

/** One function of the host, what is asked, what each is answered with, and the wrong answers. */
type Case = readonly [
  call: string,
  requests: readonly string[],
  status: string,
  answers: readonly Answer[],
  more?: {
    /** How often the host is told of two requests: each time unless it says otherwise. */
    readonly told?: number;
    /** What the message of the error contains. */
    readonly message?: RegExp;
    readonly changes?: true;
  },
];

const line = (length: string): RegExp =>
  RegExp(` instead of a line of 1 to ${length} characters\\. The request was refused\\.$`);
const sentence = /failed: no such table|instead of undefined or a sentence/;
const promised = /^authorize answered a promise instead of true or false\. The request was refused\.$/;
const resolved =
  /resolved to (?:false|null|"refused"|an object) at service\.stop of .* throw an EffectRefusedError/;
const failed = /^apply failed at service\.stop of \/services\/My-Service \(command sample-1\)(?::|\.) /;
const seen =
  /(?:failed|answered (?:"yes"|undefined|true|an object|a function)) at service\.stop of .*sample-1\)/;
const strange = [...resolves('yes', undefined, { state: 'in-place' }, () => 1), ...gives(true)];
const counts = / The answer counts as false\.$/;

const cases: readonly Case[] = [
  ['passwordPolicy', newPasswords, '500 internal', notSentence, { message: sentence }],
  ['authenticate.isOpen', nobody(reading), '401 unauthenticated', notBoolean, { told: 1, message: counts }],
  ['authenticate', reading, '401 unauthenticated', resolves(null, false, '', {}, { name: 7 }), { told: 0 }],
  ['hasher.needsRehash', [read], '200', notBoolean, { told: 1 }],
  ['hasher.verify', reading, '500 internal', notVerified, { message: /instead of true or false\./ }],
  ['hasher.hash', newPasswords, '500 internal', notText, { message: line('4,096') }],
  ['sealer.seal', [newSecret], '500 internal', notText, { message: line('8,192') }],
  ['authorize', reading, '500 internal', [fails]],
  ['authorize', reading, '403 forbidden', [rejects, ...resolves(true)], { message: promised }],
  ['authorize', reading, '403 forbidden', gives(false, undefined, null, 1, 'yes'), { told: 0 }],
  ['apply', [stopIt], '204', resolves(false, null, 'refused', { ok: false }), doneAndTold(resolved)],
  ['apply', [stopIt], '204', thrown.flatMap(failingWith), doneAndTold(failed)],
  ['inspect', [stopIt], '504 outcome-unknown', [fails, rejects, ...strange], { message: seen }],
];

function doneAndTold(message: RegExp) {
  return { told: 1, message, changes: true as const };
}

function nobody(requests: readonly string[]): readonly string[] {
  return requests.map((request) => `anonymous ${request}`);
}

function failingWith(error: unknown): readonly Answer[] {
  return [
    () => {
      throw error;
    },
    () => Promise.reject(error as Error),
  ];
}

function requestOf(text: string): AdminRequest {
  const [, anonymous, method = '', target = '', body] =
    /^(anonymous )?(\S+) (\S+)(?: (.*))?$/.exec(text) ?? [];
  const authorization = anonymous === undefined ? credentials('ada', 'engine') : undefined;
  const type = method === 'PATCH' ? 'application/json-patch+json' : 'application/json';
  const headers = { authorization, ...(body !== undefined && { 'content-type': type }) };
  return { method, target, headers, ...(body !== undefined && { body }) };
}

async function send({ admin }: Running, text: string) {
  const handled = await admin.handle(requestOf(text));
  if (!handled.matched) throw new Error(`Nothing at ${text}`);
  const { status, body: answer } = handled.response;
  const { code = '' } = status < 400 ? {} : (JSON.parse(answer as string) as { code?: string });
  return `${String(status)} ${code}`.trim();
}

function run(options: object): Running {
  return runAdmin({
    snapshot: createSnapshot({ ...sampleDocument, users }, { epoch: 'sample' }),
    hasher: quickHasher,
    ...options,
  });
}

describe('a host without types', () => {
  // Promise: policy-fails
  // Promise: is-open-fails
  // Promise: needs-rehash-fails
  // Promise: verify-true
  // Promise: port-text
  // Promise: principal
  // Promise: authorize-promise
  // Promise: authorize-true
  // Promise: host-error
  it.each(cases)('that answers %s wrongly: %j get %s', async (call, requests, status, answers, how = {}) => {
    const { told = 2, message = /failed|answered/, changes } = how;
    for (const answer of answers)
      for (const request of requests) {
        const running = run(optionsWith(call, answer));
        const { snapshot } = running.admin;
        // A command of unknown outcome is open: the next one is refused.
        const times = status.startsWith('504') ? 1 : 2;
        for (let time = 0; time < times; time += 1) {
          const answered = await send(running, request);
          expect([request, answered.slice(0, status.length)]).toEqual([request, status]);
          await running.clock.settle();
        }
        const errors = running.errors.filter((error) => (error as HostError).call === call);
        expect([request, errors.length]).toEqual([request, Math.min(times, told)]);
        for (const error of errors as readonly HostError[]) {
          expect(error.message).toMatch(new RegExp(`^${call} `));
          expect(error.message).toMatch(message);
          expect(error.message).not.toContain('correct horse');
        }
        if (changes === undefined) expect(running.admin.snapshot).toBe(snapshot);
        expect(running.errors.every((error) => error instanceof HostError)).toBe(true);
      }
  });

  // Promise: knows-fails
  it.each(notBoolean)('that answers hasher.knows wrongly does not start the interface (%#)', (knows) => {
    const hasher = { ...quickHasher, knows } as never;
    const start = (): unknown => run({ hasher, access: logIn });
    expect(start).toThrow(HostError);
    expect(start).toThrow(/^hasher\.knows (?:failed: |answered .* instead of true or false)/);
    expect(() => run({ hasher })).not.toThrow();
  });

  it.each<[string, () => unknown]>([
    ...[fails, ...gives('', true, {})].map((answer): [string, () => unknown] => ['passwordPolicy', answer]),
    ['hasher.hash', () => Promise.resolve(undefined)],
  ])('that answers %s wrongly makes createFirstUser reject (%#)', async (call, answer) => {
    const { admin } = run({ ...optionsWith(call, answer), snapshot: createSnapshot({}) });
    const creation = admin.createFirstUser({ name: 'ada', password: 'correct horse' });
    await expect(creation).rejects.toMatchObject({ name: 'HostError', call });
    expect(admin.snapshot.users.size).toBe(0);
  });
});

describe('a host that never answers', () => {
  let asked = 0;
  const never = (): Promise<never> => {
    asked += 1;
    return new Promise(() => undefined);
  };
  const twice = `${newSecret.slice(0, -1)},{"op":"add","path":"/password","value":"y"}]`;

  // Promise: host-deadline
  it.each([
    ['sealer.seal', twice, 'The secret was not sealed'],
    ['hasher.hash', newUser, 'The password was not hashed'],
    ['hasher.verify', stopIt, 'The password was not checked'],
    ['authenticate', stopIt, 'The log-in was not checked'],
    ['principal', stopIt, 'The log-in was not checked'],
  ])('%s: the request is a 503 at the deadline, and the host is told', async (call, request, detail) => {
    const isOfRequest = call === 'principal';
    const { admin, clock, errors } = run(isOfRequest ? {} : optionsWith(call, never));
    const { snapshot } = admin;
    const answers: unknown[] = [];
    asked = 0;
    const sent = { ...requestOf(request), ...(isOfRequest && { principal: never }) };
    const handling = admin.handle(sent).then((handled) => answers.push(handled));
    // The log-in of a user is looked up with WebCrypto, which takes its time.
    while (asked === 0) await clock.settle();
    await clock.advance(admin.limits.hashDeadlineMs - 1);
    expect([answers, errors]).toEqual([[], []]);
    await clock.advance(1);
    await handling;
    expect(answers).toMatchObject([
      { response: { status: 503, headers: { 'retry-after': '1' }, body: expect.stringContaining(detail) } },
    ]);
    expect(errors).toMatchObject([{ name: 'HostError', call }]);
    expect(String(errors[0])).toContain(`${call} did not answer within 10000 ms`);
    expect(admin.snapshot).toBe(snapshot);
  });

  it('the time in which a password waits to be hashed is not that of authenticate', async () => {
    const jobs: (() => void)[] = [];
    const verify = (): Promise<boolean> => new Promise((resolve) => jobs.push(() => resolve(true)));
    const authenticate: Authenticate = async (_request, _snapshot, check) => {
      await clock.sleep(6000);
      return check('ada', 'engine');
    };
    const { admin, clock, errors } = runAdmin({
      hasher: { hash: () => Promise.resolve('a hash'), verify },
      limits: { maxHashesInFlight: 1 },
      access: { authenticate },
    });
    const answers: unknown[] = [];
    for (let each = 0; each < 3; each += 1)
      void admin
        .handle({ method: 'GET', target: '/services', headers: {}, peer: `10.0.0.${String(each)}` })
        .then((handled) => handled.matched && answers.push(handled.response.status));
    await clock.advance(6000);
    for (let each = 1; each <= 3; each += 1) {
      while (jobs.length < each) await clock.settle();
      await clock.advance(8000);
      jobs[each - 1]?.();
      while (answers.length < each) await clock.settle();
    }
    expect([answers, errors]).toEqual([[200, 200, 200], []]);
  });
});

describe('an error of a call', () => {
  it('has the effect, the command and the cause, and no settings that a console would show', async () => {
    const gateway = sampleGateway().will(broken).willSee('in-place');
    const { admin, errors } = runAdmin({ gateway });
    await admin.execute(stop);
    const effect = { type: 'service.stop', resource: '/services/My-Service' };
    expect(errors).toMatchObject([
      { name: 'HostError', call: 'apply', commandId: 'sample-1', cause: broken, effect },
    ]);
    expect(Object.keys(errors[0] as object).sort()).toEqual(['call', 'code', 'commandId', 'name']);
  });

  // tests/scenarios/host/late-answer.txt has the other late answers.
  it.each<[string, (held: HeldCall) => void]>([
    ['does it', (held) => held.done()],
    ['refuses', (held) => held.fail(new EffectRefusedError('too late'))],
    ['fails', (held) => held.fail(broken)],
  ])('is told after a 504 and a close, if the gateway %s', async (_way, end) => {
    const { admin, held, clock, errors, execution } = await silentHost(
      stop,
      ...Array<'not-in-place'>(3).fill('not-in-place'),
    );
    await execution;
    await admin.close();
    errors.length = 0;
    end(held);
    await clock.settle();
    const message = expect.stringContaining('after the interface was closed') as unknown;
    expect(errors).toMatchObject([{ call: 'apply', commandId: 'sample-1', message }]);
  });

  it('of inspect is told although it comes after the deadline', async () => {
    const looking = hold();
    const look: InspectWay = async (effect, context) => {
      await looking.apply(effect, context, () => undefined);
      return 'in-place';
    };
    const gateway = sampleGateway().will(broken).willSee(look, 'in-place');
    const { admin, clock, errors } = runAdmin({ gateway });
    const execution = admin.execute(stop);
    await looking.begun;
    await clock.advance(10_000);
    expect((await execution).outcome).toBe('unknown');
    await clock.advance(50);
    looking.fail(new Error('no connection'));
    await clock.settle();
    const message = expect.stringContaining('no connection') as unknown;
    expect(errors).toMatchObject([{ call: 'apply' }, { call: 'inspect', message }]);
  });
});

describe('a clock', () => {
  const what = 'instead of milliseconds since 1970 in the years 0 to 9999.';

  // Promise: clock-error
  it.each<[string, () => unknown]>([
    ['NaN', () => NaN],
    ['5', () => 5n],
    ['a promise', rejects],
    ['253402300800000', () => 253_402_300_800_000],
    ['-62167219200001', () => -62_167_219_200_001],
    ['Infinity', () => Infinity],
  ])('whose now gives %s fails the call, and no such time is stored', async (text, now) => {
    const store = createMemoryStore();
    const clock = sampleClock();
    const before = clock.now();
    const running = await openRunning(store, { clock });
    readAudit(running.admin);
    clock.now = now as () => number;
    expect(await send(running, stopIt)).toMatch(/^500 internal/);
    const error = { name: 'HostError', call: 'clock.now' };
    const message = `clock.now answered ${text} ${what} The call that needed the time was given up.`;
    const told = { ...error, message };
    // The second error is about the audit record of the request, which has the last time.
    const last = `clock.now answered ${text} ${what} The last time that the clock has told counts instead.`;
    expect(running.errors).toMatchObject([told, { ...error, message: last }]);
    await expect(running.admin.execute(stop)).rejects.toMatchObject(told);
    expect(() => running.admin.plan(stop)).toThrow(HostError);
    expect(await send(running, read)).toBe('200');
    expect([running.admin.snapshot.revision, appliedTo(running.gateway)]).toEqual([0, []]);
    await running.admin.close();
    expect(() => runAdmin({ clock })).toThrow(told.message);
    await expect(openRunning(store, { clock })).rejects.toThrow(told.message);
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
    const [events, audit] = [admin.events(), admin.audit()];
    const before = clock.now();
    const answer = send(running, stopIt);
    await held.begun;
    clock.now = fails;
    held.done();
    expect(await answer).toBe('204');
    expect((await events.next()).value).toMatchObject({ event: { type: 'service.stopped', at: before } });
    expect((await audit.next()).value).toMatchObject({ outcome: 'accepted' });
    admin.report({ type: 'server.reported', server: 'db-serv-1', status: ['maintenance'] });
    expect((await events.next()).value).toMatchObject({ event: { type: 'server.reported', at: before } });
    expect(await send(running, 'GET /alerts')).toBe('200');
    // The clock is asked for each of these, and onError gets one error.
    expect(errors).toMatchObject([{ call: 'clock.now', cause: broken }]);
    await admin.close();
    clock.now = () => before;
    const next = await openRunning(store, { clock });
    expect(next.admin.snapshot.services.find('my-service')?.state).toBe('stopped');
    await next.admin.close();
  });

  it('without monotonic whose now fails ends the five minutes of every verified log-in', async () => {
    let verified = 0;
    const verify = (): Promise<boolean> => Promise.resolve((verified += 1) > 0);
    const { monotonic: _none, ...clock } = sampleClock();
    const running = run({ clock, hasher: { ...quickHasher, verify }, access: logIn });
    for (const now of [clock.now, clock.now, () => NaN, () => NaN]) {
      clock.now = now;
      expect(await send(running, read)).toBe('200');
    }
    expect(verified).toBe(3);
  });

  it('whose sleep fails hands the sleep over to the system: a deadline neither passes at once nor never', async () => {
    const held = hold();
    const { admin, errors } = runAdmin({
      gateway: sampleGateway().will(held.apply, 'silentBefore'),
      clock: { ...sampleClock(), sleep: rejects },
      limits: { effectDeadlineMs: 200 },
    });
    const execution = admin.execute(stop);
    await held.begun;
    await new Promise((resolve) => setTimeout(resolve, 20));
    held.done();
    expect((await execution).outcome).toBe('accepted');
    const second = admin.execute(stopMain);
    expect((await second).outcome).toBe('unknown');
    expect(errors.slice(0, 1)).toMatchObject([{ call: 'clock.sleep', cause: broken }]);
    await admin.close();
  });
});

describe('telemetry', () => {
  const load = { historic: 1, current: NaN, '1min': 3, '5min': 4, '15min': 5 };
  const counters = { reads: NaN, writes: 8, buffered_writes: 7, high_water_events: 6, low_water_events: 5 };
  const task = { name: 'live', type: 'repeated', frequency: 1, next_due: 1e12 };
  const readers = {
    threads: ['/gateway/threads', { load_average: load, threads: [] }],
    tasks: ['/gateway/tasks', [{ ...task, frequency: Infinity }], [{ ...task, next_due: 1e300 }]],
    idle: ['/sessions', NaN, 5n],
    statistics: ['/sessions/9/connections', counters],
  } as const;
  const bodyAt = async ({ admin }: Running, target: string) => (await ask(admin, `GET ${target}`)).body;
  const running = (telemetry: unknown): Running =>
    runAdmin({ gateway: sampleGateway({ telemetry: telemetry as Telemetry }) });

  // Promise: telemetry-error
  it.each(Object.entries(readers))(
    '%s with a wrong answer is told once, and the stored figures are shown',
    async (name, [target, ...figures]) => {
      const stored = await bodyAt(runAdmin(), target);
      const unreadable = ['threads', 'tasks'].includes(name) ? [() => new Proxy([], { get: fails })] : [];
      const wrong = [fails, rejects, ...resolves(true), ...gives(null, {}, ...figures), ...unreadable];
      for (const reader of wrong) {
        const asked = running({ [name]: reader });
        for (let time = 0; time < 3; time += 1) expect(await bodyAt(asked, target)).toEqual(stored);
        await asked.clock.settle();
        expect(asked.errors).toMatchObject([{ call: `telemetry.${name}` }]);
      }
    },
  );

  const reported = { ...counters, reads: 9 };
  it.each<[string, Telemetry | undefined, idle: number, reads: number]>([
    ['is left out', undefined, 77, 9],
    ['has only other figures', { threads: () => undefined }, 77, 9],
    ['does not know them', { idle: () => undefined, statistics: () => undefined }, 77, 9],
    ['knows them', { idle: () => 1, statistics: () => ({ ...reported, reads: 2 }) }, 1, 2],
  ])(
    'gives way to idle times and counters that were reported unless it knows them: it %s',
    async (_what, has, idle, reads) => {
      const asked = running(has);
      asked.admin.report([
        { type: 'session.updated', id: 9, idle: 77 },
        { type: 'connection.updated', session: 9, id: 0, statistics: reported },
      ]);
      expect(await bodyAt(asked, '/sessions/9')).toMatchObject({ idle });
      expect(await bodyAt(asked, '/sessions/9/connections')).toMatchObject([{}, { statistics: { reads } }]);
    },
  );

  it('fails for one figure alone, and is called with its own object as this', async () => {
    class Figures implements Telemetry {
      readonly figure = 77;
      idle(session: number): number {
        return session === 9 ? NaN : this.figure;
      }
    }
    const body = await bodyAt(running(new Figures()), '/sessions?fields=id,idle');
    const idles = body as readonly { readonly id: number; readonly idle: number }[];
    expect(idles.length).toBeGreaterThan(1);
    for (const { id, idle } of idles) expect(idle === 77).toBe(id !== 9);
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
  async function failTwice(onError?: unknown): Promise<void> {
    const gateway = sampleGateway().will(broken).willSee('in-place');
    const { admin, clock } = runAdmin({ gateway, observe: { onError: onError as () => void } });
    await admin.execute(stop);
    admin.report({ type: 'nonsense' } as never);
    await clock.settle();
    await admin.close();
  }
  const both = [{ call: 'apply', cause: broken }, { name: 'ReportError' }];

  // Promise: console-default
  it('that is left out is replaced by the console, and otherwise the console gets nothing', async () => {
    await failTwice();
    expect(shown.mock.calls).toMatchObject(both.map((error) => [error]));
    shown.mockClear();
    const errors: unknown[] = [];
    await failTwice((error: unknown) => errors.push(error));
    expect(errors).toMatchObject(both);
    expect(shown).not.toHaveBeenCalled();
  });

  // Promise: on-error-throws
  it.each([fails, rejects])(
    'that fails breaks nothing, and the console gets both errors (%#)',
    async (onError) => {
      await failTwice(onError);
      const lost = ['apply failed at service\\.stop .*', 'Reports of the host have faults .*'];
      const told = lost.map((text) => {
        const sentence = `^onError failed: no such table\\. The error for onError was: ${text}\\.$`;
        return [
          { call: 'onError', cause: broken, message: expect.stringMatching(RegExp(sentence)) as unknown },
        ];
      });
      expect(shown.mock.calls).toMatchObject(told);
    },
  );
});

describe('a command', () => {
  it('is not started if its transition closes the interface, or cancels the command', async () => {
    const { admin, gateway, clock } = runAdmin();
    const controller = new AbortController();
    const leaving: Transition = (snapshot, context) => {
      controller.abort(new Error('changed my mind'));
      return stop(snapshot, context);
    };
    await expect(admin.execute(leaving, { signal: controller.signal })).rejects.toThrow('changed my mind');
    const closing: Transition = (snapshot, context) => {
      void admin.close();
      return stop(snapshot, context);
    };
    expect(await admin.execute(closing)).toMatchObject({ outcome: 'refused', problem: { code: 'closed' } });
    await clock.settle();
    expect(gateway.calls).toEqual([]);
  });

  it('that is refused with a long reason has a detail that is cut, and stays well-formed text', async () => {
    const gateway = sampleGateway().will(new EffectRefusedError(`a${'💥'.repeat(600)}`));
    const execution = await runAdmin({ gateway }).admin.execute(stop);
    const detail = execution.outcome === 'refused' ? execution.problem.detail : '';
    expect([detail.length > 600, detail.isWellFormed()]).toEqual([true, true]);
  });
});

describe('a signal of the host', () => {
  it('has one listener for many readers, and none once nobody waits', async () => {
    const { admin } = runAdmin();
    const { signal } = new AbortController();
    const readers = Array.from({ length: 50 }, () => admin.events({ signal }));
    const items = readers.map((reader) => reader.next());
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    // A reader that leaves does not take the listener of the others along.
    await readers[0]?.return?.();
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    await admin.execute(stop);
    expect((await Promise.all(items)).map(({ done = false }) => done).filter(Boolean)).toHaveLength(1);
    for (const reader of readers) await reader.return?.();
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});
