/**
 * Every function of the host, failing: the process goes on, every answer is given, and somewhere the error is shown.
 */
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import {
  createBasicAuthentication,
  createMemoryStore,
  createSecretSealer,
  createSnapshot,
  openAdmin,
  stopMonitor,
  systemClock,
  type Admin,
  type AdminOptions,
  type Clock,
  type ConfigurationStore,
} from 'gateway-admin-core';

import { sampleDocument } from '../../support/document.ts';
import { credentials, quickHasher } from '../../support/log-in.ts';
import { sampleGateway } from '../../support/running-admin.ts';

type AnyFunction = (...given: readonly never[]) => unknown;

/** Calls a function of the host by its name, or fails in its place. */
type Call = (name: string, run: () => unknown) => unknown;

const broken = new TypeError('no such table');
const nothing = (): void => undefined;

beforeAll(() => {
  jest.spyOn(console, 'error').mockImplementation(nothing);
});

afterAll(() => {
  jest.restoreAllMocks();
});

/** The functions of a port, each of which is called through `call`. */
function through<P extends object>(call: Call, prefix: string, port: P, names: readonly (keyof P)[]): P {
  const functions = names.map((name) => {
    const run = (port[name] as AnyFunction).bind(port);
    return [name, (...given: readonly never[]) => call(`${prefix}.${String(name)}`, () => run(...given))];
  });
  return { ...port, ...(Object.fromEntries(functions) as Partial<P>) };
}

const logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };

/** A host whose every function is called through `call`. */
async function hostOf(
  call: Call,
  errors: unknown[],
): Promise<AdminOptions & { readonly store: ConfigurationStore }> {
  const gateway = { ...sampleGateway() };
  const telemetry = { idle: () => 1, threads: () => undefined, tasks: () => undefined };
  const authenticate = createBasicAuthentication({ openUntilFirstUser: true });
  const hook = <F extends AnyFunction>(name: string, run: F): F =>
    ((...given: readonly never[]) => call(name, () => run(...given))) as F;
  return {
    snapshot: createSnapshot({
      ...sampleDocument,
      users: [{ name: 'ada', password: { sealed: await quickHasher.hash('engine') } }],
    }),
    gateway: {
      ...through(call, 'gateway', gateway, ['apply', 'inspect']),
      telemetry: through(call, 'telemetry', telemetry, ['idle', 'threads', 'tasks']),
    },
    clock: through<Clock>(call, 'clock', systemClock, ['now', 'monotonic', 'sleep']),
    hasher: through(call, 'hasher', { ...quickHasher, needsRehash: () => false, knows: () => true }, [
      ...(['hash', 'verify', 'needsRehash', 'knows'] as const),
    ]),
    sealer: through(call, 'sealer', createSecretSealer(), ['seal']),
    store: through(call, 'store', createMemoryStore(), [
      ...(['load', 'append', 'compact', Symbol.asyncDispose] as const),
    ]),
    veto: hook('veto', () => undefined),
    access: {
      authenticate: Object.assign(hook('authenticate', authenticate), {
        isOpen: hook('isOpen', () => false),
      }),
      authorize: hook('authorize', () => true),
      passwordPolicy: hook('passwordPolicy', () => undefined),
    },
    observe: {
      onError: hook('onError', (error) => errors.push(error)),
      logger: through(call, 'logger', logger, ['debug', 'info', 'warn', 'error']),
      onMeasurement: hook('onMeasurement', nothing),
      audit: {
        sink: through(
          call,
          'sink',
          { append: () => Promise.resolve(), [Symbol.asyncDispose]: () => Promise.resolve() },
          ['append', Symbol.asyncDispose],
        ),
      },
    },
    // Far above what a busy machine takes: a deadline that passes is an error that no function has caused.
    limits: { effectDeadlineMs: 1000, storeDeadlineMs: 1000, auditDeadlineMs: 1000 },
  };
}

/** Uses every function of the interface. Gives the statuses and outcomes of the answers. */
async function live(admin: Admin, errors: unknown[]): Promise<readonly unknown[]> {
  const headers = { authorization: credentials('ada', 'engine'), 'content-type': 'application/json' };
  const ask = async (method: string, target: string, body?: unknown): Promise<number> => {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const handled = await admin.handle({ method, target, headers, ...sent });
    return handled.matched ? handled.response.status : 0;
  };
  const execution = admin.execute((snapshot, context) => stopMonitor(snapshot, 'Main Monitor', context));
  const answers: unknown[] = await Promise.all([
    ask('GET', '/sessions'),
    ask('GET', '/gateway/threads'),
    ask('GET', '/gateway/tasks'),
    ask('PUT', '/service/My-Service/stop'),
    ask('PATCH', '/services/Report-Service', [{ op: 'add', path: '/password', value: 'plum pie' }]),
    ask('PUT', '/users', { name: 'eve', password: 'plum pie' }),
    ask('DELETE', '/users/nobody'),
    execution.then(
      ({ outcome }) => outcome,
      (error: unknown) => errors.push(error),
    ),
  ]);
  admin.report({ type: 'server.reported', server: 'db-serv-1', status: ['running'] });
  await admin.close();
  return answers;
}

/** What an interface has done whose host fails in one function, at some of its calls; and how often each was called. */
async function lifeOf(target: string, fail: () => unknown, isFailing: (call: number) => boolean) {
  let failures = 0;
  const calls = new Map<string, number>();
  const call: Call = (name, run) => {
    const number = (calls.get(name) ?? 0) + 1;
    calls.set(name, number);
    if (name !== target || !isFailing(number)) return run();
    failures += 1;
    return fail();
  };
  const errors: unknown[] = [];
  const admin = await openAdmin(await hostOf(call, errors)).catch(
    (error: unknown) => void errors.push(error),
  );
  const answers = admin === undefined ? [] : await live(admin, errors);
  return { answers, failures, errors, calls };
}

const functions = [
  ...['gateway.apply', 'telemetry.idle', 'telemetry.threads', 'telemetry.tasks'],
  ...['clock.now', 'clock.monotonic', 'clock.sleep'],
  ...['hasher.hash', 'hasher.verify', 'hasher.needsRehash', 'hasher.knows', 'sealer.seal'],
  ...['store.load', 'store.append', 'store.compact', 'store.Symbol(Symbol.asyncDispose)'],
  ...['veto', 'authenticate', 'isOpen', 'authorize', 'passwordPolicy'],
  ...['onError', 'onMeasurement', 'logger.debug', 'logger.info', 'logger.warn', 'logger.error'],
  ...['sink.append', 'sink.Symbol(Symbol.asyncDispose)'],
];

const throws = (): never => {
  throw broken;
};
const ways = [['throws', throws] as const, ['rejects', () => Promise.reject(broken)] as const];

/** How often each function is called if none fails. */
let calls: ReadonlyMap<string, number>;

it('a host that does not fail gets the answers of its clients', async () => {
  const life = await lifeOf('', nothing, () => false);
  expect([life.answers, life.errors]).toEqual([[200, 200, 200, 204, 200, 204, 404, 'accepted'], []]);
  calls = life.calls;
});

describe.each(ways)('a host that %s', (_way, fail) => {
  // Promise: failing-host
  it.each(functions)('in %s ends no process, gets every answer, and learns of it', async (target) => {
    const ats = [1, 2, 5, 13].filter((at) => at <= (calls.get(target) ?? 0));
    // At one call, or at twenty of them. Jest fails a test with a rejection that nothing handles.
    const lives = [
      ...ats.map((at) => lifeOf(target, fail, (call) => call === at)),
      lifeOf(target, fail, (call) => call <= 20),
    ];
    for (const { answers, failures, errors } of await Promise.all(lives)) {
      expect([0, 8]).toContain(answers.length);
      if (target !== 'onError') expect(errors.length > 0).toBe(failures > 0);
    }
    await new Promise((resolve) => setImmediate(resolve));
  });
});
