/**
 * Loggers and measurements of the host. tests/scenarios/log/log.txt has the lines of the log.
 */
import { readdirSync } from 'node:fs';

import { describe, expect, it, jest } from '@jest/globals';
import * as fc from 'fast-check';
import {
  createBasicAuthentication,
  createMemoryStore,
  createSnapshot,
  createUser,
  EffectRefusedError,
  HostError,
  measurementTable,
  problemTable,
  routes,
  type Admin,
  type Logger,
  type Measurement,
} from 'gateway-admin-core';
import { hold } from 'gateway-admin-core/testing';
import pino from 'pino';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';

import { codesOf, tablesOf } from '../../docs/table.ts';
import { createWorld } from '../../fleet/node.ts';
import { requests } from '../../support/arbitrary-request.ts';
import { sampleDocument } from '../../support/document.ts';
import { FailingStore } from '../../support/failing-store.ts';
import { lookAt, takeLeaks } from '../../support/leak.ts';
import { credentials, quickHasher, snapshotOf } from '../../support/log-in.ts';
import { planted } from '../../support/planted.ts';
import { read } from '../../support/project.ts';
import { openRunning, runAdmin, sampleGateway } from '../../support/running-admin.ts';
import { takeLines } from '../../support/taken-line.ts';
import { stop, stopMain } from '../../support/transition.ts';

const throws = (): never => {
  throw new Error('full');
};
const neverSeen = (): Promise<never> => new Promise(() => undefined);

async function ask(admin: Admin, method: string, target: string, more: object = {}): Promise<number> {
  const handled = await admin.handle({ method, target, headers: {}, ...more });
  return handled.matched ? handled.response.status : 0;
}

it('the line of a request is there for a fault of the host alone, and not for a client that has left', async () => {
  const { logger, lines } = takeLines();
  const { admin } = runAdmin({ observe: { logger } });
  const body = (): Promise<never> => Promise.reject(new Error('broken'));
  expect(await ask(admin, 'GET', '/services', { signal: AbortSignal.abort() })).toBe(503);
  expect(await ask(admin, 'PUT', '/users', { body, peer: '10.0.0.7' })).toBe(500);
  const fields = { route: 'users.create', status: 500, code: 'internal', peer: '10.0.0.7' };
  expect(lines.filter(([, message]) => message === 'Request failed')).toMatchObject([
    ['error', 'Request failed', fields],
  ]);
});

it('the line of an error has the error of onError, and without onError the console stays empty', async () => {
  const shown = jest.spyOn(console, 'error').mockImplementation(() => undefined);
  const { logger, lines } = takeLines();
  const { admin } = runAdmin({ observe: { logger, onError: undefined as never } });
  admin.report({ type: 'nothing' } as never);
  expect(lines.slice(1)).toEqual([
    ['error', 'Error', { err: expect.objectContaining({ name: 'ReportError' }) }],
  ]);
  expect(shown).not.toHaveBeenCalled();
  shown.mockRestore();
  await admin.close();
});

it('the lines of throttled log-ins are one a second, with the number of log-ins since the last line', async () => {
  const { logger, lines } = takeLines();
  const { clock, flood } = await floodWithLogIns(logger);
  await clock.advance(1000);
  await flood(2);
  const throttled = lines.flatMap(([, message, fields]) => (message === 'Log-ins throttled' ? [fields] : []));
  expect(throttled).toEqual([1, 18].map((count) => ({ count, peer: '10.0.0.7' })));
});

describe('a logger', () => {
  // Promise: log-no-secret
  it('gets no secret of a log-in, of a user or of a secret parameter, also in pino', async () => {
    const password = 'planted-Passw0rd';
    const text: string[] = [];
    const { admin } = await openRunning(new FailingStore(), {
      observe: { logger: pino({ level: 'trace' }, { write: (line: string) => text.push(line) }) },
      access: { authenticate: createBasicAuthentication({ openUntilFirstUser: true }) },
      secretParameters: ['password'],
      gateway: sampleGateway().otherwise({ apply: new Error('No connection'), inspect: 'not-in-place' }),
    });
    const headers = { 'content-type': 'application/json', authorization: credentials('ada', password) };
    const send = (method: string, target: string, body: unknown): Promise<number> =>
      ask(admin, method, target, { headers, body: JSON.stringify(body), peer: '10.0.0.7' });
    await admin.execute((snapshot, context) =>
      createUser(snapshot, { name: 'joan', password: { sealed: planted.hash } }, context),
    );
    for (const path of ['/password', '/router_options/password'])
      await send('PATCH', '/services/my-service', [{ op: 'add', path, value: password }]);
    await send('PUT', '/users', { name: 'jane', password });
    await send('PUT', '/users', { name: password, password });
    await ask(admin, 'GET', `/services?fields=${password}`, { headers });
    await admin.close();
    lookAt('a line of pino', text.join(''));
    expect(takeLeaks()).toEqual([]);
    expect(text.join('')).not.toContain(password);
    expect(text.map((line) => (JSON.parse(line) as { msg: string }).msg)).toContain('Command accepted');
  });

  it('of pino writes one line for a name with line breaks', async () => {
    const text: string[] = [];
    const logger = pino({}, { write: (line: string) => text.push(line) });
    const actor = 'eve\n{"level":60,"msg":"forged"}';
    await runAdmin({ observe: { logger } }).admin.execute(stop, { actor });
    const lines = text.join('').split('\n');
    expect(lines).toEqual([expect.any(String), expect.any(String), '']);
    expect(JSON.parse(lines[1] ?? '')).toMatchObject({ msg: 'Command accepted', actor });
  });

  // Promise: hook-harmless
  it.each<[string, () => unknown]>([
    ['rejects', () => Promise.reject(new Error('full'))],
    ['throws', throws],
  ])(
    'or a hook for measurements that %s changes nothing, and is told once for each function',
    async (_how, fail) => {
      const logger = { debug: fail, info: fail, warn: fail, error: fail } as Logger;
      const { admin, errors, clock } = runAdmin({ observe: { logger, onMeasurement: fail as () => void } });
      expect((await admin.execute(stop)).outcome).toBe('accepted');
      expect(await ask(admin, 'GET', '/services')).toBe(200);
      expect(await ask(admin, 'PUT', '/services/my-service/start')).toBe(204);
      await admin.close();
      await clock.settle();
      const calls = ['logger.debug', 'logger.error', 'logger.info', 'onMeasurement'];
      expect(errors.map((error) => (error as HostError).call).sort()).toEqual(calls);
    },
  );
});

describe('the table of the page', () => {
  it('has each line that is logged, with its level and its fields, and no other', async () => {
    const { logger, lines } = takeLines();
    await everyLife(logger);
    const rows = new Map(
      tablesOf(read('docs/observability.md'))
        .find(({ header }) => header[0] === 'Level')
        ?.rows.map(([level = '', message = '', when = '', fields = '']) => [
          codesOf(message)[0],
          { levels: [level, ...codesOf(when)], fields: codesOf(fields) },
        ]),
    );
    for (const [level, message, fields] of lines) {
      expect([message, rows.get(message)?.levels]).toEqual([message, expect.arrayContaining([level])]);
      const known = rows.get(message)?.fields;
      expect([message, Object.keys(fields).filter((name) => known?.includes(name) !== true)]).toEqual([
        message,
        [],
      ]);
    }
    expect(new Set(rows.keys())).toEqual(new Set(lines.map(([, message]) => message)));
    const names = (message: string): ReadonlySet<string> =>
      new Set(lines.filter((line) => line[1] === message).flatMap(([, , fields]) => Object.keys(fields)));
    expect(new Map([...rows].map(([message = '', { fields }]) => [message, new Set(fields)]))).toEqual(
      new Map([...rows.keys()].map((message = '') => [message, names(message)])),
    );
  });
});

/** Starts with a document that lacks monitors and a listener, and has other listeners under the same names. */
async function adoptLess(logger: Logger): Promise<void> {
  const store = createMemoryStore();
  await (await openRunning(store)).admin.close();
  const services = (sampleDocument.services ?? []).map(({ listeners = [], ...each }) => ({
    ...each,
    listeners: listeners.slice(0, 2).map((listener) => ({ ...listener, protocol: 'other' })),
  }));
  const snapshot = createSnapshot({ ...sampleDocument, services, monitors: [] });
  await (await openRunning(store, { observe: { logger }, snapshot, adopt: 'all' })).admin.close();
}

/** A node of a fleet whose gateway follows a change the second time. */
async function followLate(logger: Logger): Promise<void> {
  const world = createWorld();
  const [one, two] = [await world.open('one'), await world.open('two', undefined, { observe: { logger } })];
  two.gateway.will(new EffectRefusedError('no'));
  await one.admin.execute(stop);
  await world.clock.advance(3000);
  for (const { admin } of [one, two]) await admin.close();
}

/** Runs interfaces until each line was logged with each of its fields. */
async function everyLife(logger: Logger): Promise<void> {
  await followLate(logger);
  await adoptLess(logger);
  const store = new FailingStore();
  const gateway = sampleGateway().will('done', new EffectRefusedError('no'), hold().apply);
  const { admin, clock } = await openRunning(store, {
    observe: { logger },
    gateway: gateway.otherwise({ inspect: neverSeen }),
  });
  await admin.execute(stop, { actor: 'ada' });
  await admin.execute(stopMain, { actor: 'ada' });
  await clock.waitFor(admin.execute(stopMain, { actor: 'ada' }));
  const events = [{ type: 'user.created', resource: '/users/eve', actor: 'ada' }];
  const unfoldable = { outcome: 'accepted', resources: [], events, effects: [] };
  await expect(admin.execute(() => unfoldable as never)).rejects.toThrow(TypeError);
  store.fail();
  await ask(admin, 'PUT', '/services/my-service/start', { peer: '10.0.0.7' });
  store.work();
  await clock.advance(100);
  await clock.waitFor(admin.close());
  // The outcome is unknown in the next life, too. The life after that finds the command done.
  for (const seen of [new Error('No connection'), 'in-place'] as const) {
    const next = await openRunning(store, { observe: { logger }, gateway: sampleGateway().willSee(seen) });
    await next.clock.waitFor(next.admin.close());
  }
  const other = createMemoryStore();
  const dead = await openRunning(other, { gateway: sampleGateway().will(hold().apply) });
  dead.admin.execute(stop, { actor: 'ada' }).catch(() => undefined);
  await dead.clock.settle();
  await (
    await openRunning(other, { observe: { logger }, gateway: sampleGateway().willSee('not-in-place') })
  ).admin.close();
  await floodWithLogIns(logger);
}

/** Sends log-ins to an interface that verifies none, so that most of them are throttled. */
async function floodWithLogIns(logger: Logger) {
  const running = runAdmin({
    observe: { logger },
    access: { authenticate: createBasicAuthentication() },
    hasher: { ...quickHasher, verify: () => new Promise(() => undefined) },
    limits: { maxHashesInFlight: 1, maxHashesQueued: 1 },
  });
  // Two are never answered: one is being verified, and one waits.
  let open = 0;
  let sent = 0;
  const flood = (count: number): Promise<void> =>
    new Promise((done) => {
      open += count;
      for (let left = count; left > 0; left -= 1) {
        const headers = { authorization: credentials('ada', String((sent += 1))) };
        const answered = ask(running.admin, 'GET', '/services', { headers, peer: '10.0.0.7' });
        void answered.then(() => {
          open -= 1;
          if (open === 2) done();
        });
      }
    });
  await flood(20);
  return { ...running, flood };
}

/** The types of events and effects that the pages list. */
function documentedTypes(): readonly string[] {
  const pages = readdirSync('docs').filter((name) => name.endsWith('.md'));
  return pages.flatMap((name) => read(`docs/${name}`).match(/(?<=`)[a-z]+\.[a-zA-Z]+(?=`)/g) ?? []);
}

/** A hook that keeps the measurements. */
function takeMeasurements() {
  const all: Measurement[] = [];
  const of = (name: Measurement['name']): readonly unknown[] =>
    all.filter((each) => each.name === name).map(({ value, labels }) => ({ value, ...labels }));
  return { all, of, onMeasurement: (measurement: Measurement) => void all.push(measurement) };
}

describe('measurements', () => {
  it('have the durations of requests, commands, effects and calls of the store', async () => {
    const { of, onMeasurement } = takeMeasurements();
    const held = hold();
    const gateway = sampleGateway().will(held.apply);
    const { admin, clock } = await openRunning(createMemoryStore(), { observe: { onMeasurement }, gateway });
    const answer = ask(admin, 'PUT', '/service/My-Service/stop');
    await held.begun;
    await clock.advance(250);
    held.done();
    await answer;
    await ask(admin, 'OPTIONS', '/services');
    expect(await ask(admin, 'GET', '/elsewhere')).toBe(0);
    const lasted = (what: string) => of(`gateway_admin_${what}_duration_seconds` as Measurement['name']);
    expect(lasted('request')).toEqual([
      { value: 0.25, route: 'services.stop', method: 'PUT', status: '204' },
      { value: 0, route: 'none', method: 'OPTIONS', status: '204' },
    ]);
    expect(lasted('command')).toEqual([{ value: 0.25, type: 'service.stopped', outcome: 'accepted' }]);
    expect(lasted('effect')).toEqual([{ value: 0.25, type: 'service.stop', outcome: 'applied' }]);
    const calls = ['load', 'compact', 'append', 'append'];
    expect(lasted('store')).toEqual(calls.map((call) => ({ value: 0, call, outcome: 'done' })));
    const bytes = { value: expect.any(Number) as unknown };
    expect(of('gateway_admin_store_bytes_total')).toEqual([bytes, bytes]);
    await admin.close();
  });

  it('have the effects that the gateway refuses', async () => {
    const { of, onMeasurement } = takeMeasurements();
    const gateway = sampleGateway().will(new EffectRefusedError('Not now.'));
    await runAdmin({ observe: { onMeasurement }, gateway }).admin.execute(stop);
    const refused = { value: 0, type: 'service.stop', outcome: 'refused' };
    expect(of('gateway_admin_effect_duration_seconds')).toEqual([refused]);
  });

  it('have a command of unknown outcome twice: when that is answered, and when the outcome is known', async () => {
    const { of, onMeasurement } = takeMeasurements();
    const held = hold();
    const gateway = sampleGateway()
      .will(held.apply)
      .willSee(() => new Promise(() => undefined), 'in-place');
    const { admin, clock } = runAdmin({ observe: { onMeasurement }, gateway });
    const execution = admin.execute(stop);
    await held.begun;
    await clock.advance(20_050);
    await execution;
    await clock.settle();
    expect(of('gateway_admin_command_duration_seconds')).toEqual([
      { value: 20, type: 'service.stopped', outcome: 'unknown' },
      { value: 20.05, type: 'service.stopped', outcome: 'accepted' },
    ]);
    expect(of('gateway_admin_commands_unknown')).toEqual([{ value: 0 }, { value: 1 }, { value: 0 }]);
  });

  it('have the commands that wait and are in flight, and the readers of events', async () => {
    const { of, onMeasurement } = takeMeasurements();
    const [first, second] = [hold(), hold()];
    const { admin } = runAdmin({
      observe: { onMeasurement },
      gateway: sampleGateway().will(first.apply, second.apply),
    });
    const executions = [admin.execute(stop), admin.execute(stopMain), admin.execute(stop)];
    await Promise.all([first.begun, second.begun]);
    expect(of('gateway_admin_commands_waiting').at(-1)).toEqual({ value: 1 });
    expect(of('gateway_admin_commands_in_flight').at(-1)).toEqual({ value: 2 });
    first.done();
    second.done();
    await Promise.all(executions);
    expect(of('gateway_admin_commands_waiting')).toEqual([{ value: 0 }, { value: 1 }, { value: 0 }]);
    expect(of('gateway_admin_commands_in_flight').at(-1)).toEqual({ value: 0 });
    const left = new AbortController();
    const { signal } = left;
    await admin.handle({ method: 'GET', target: '/events', headers: {}, signal });
    await admin.handle({ method: 'GET', target: '/events', headers: {}, signal });
    left.abort();
    expect(of('gateway_admin_event_readers').map((each) => (each as { value: number }).value)).toEqual([
      1, 2, 1, 0,
    ]);
    await admin.close();
  });

  it('have the log-ins by their outcome, and the errors by their source', async () => {
    const { of, onMeasurement } = takeMeasurements();
    const access = { authenticate: createBasicAuthentication() };
    const snapshot = await snapshotOf({ ada: 'engine' });
    const { admin } = runAdmin({ observe: { onMeasurement }, snapshot, hasher: quickHasher, access });
    for (const password of ['engine', 'wrong'])
      await ask(admin, 'GET', '/services', { headers: { authorization: credentials('ada', password) } });
    await ask(admin, 'GET', '/services');
    admin.report({ type: 'nothing' } as never);
    const outcomes = ['accepted', 'refused'].map((outcome) => ({ value: 1, outcome }));
    expect(of('gateway_admin_logins_total')).toEqual(outcomes);
    expect(of('gateway_admin_errors_total')).toEqual([{ value: 1, source: 'report' }]);
    await admin.close();
  });

  // Promise: bounded-labels
  it('have labels of fixed sets of values, whatever clients send', async () => {
    const words = {
      route: ['none', ...routes.map(({ id }) => id)],
      method: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'other'],
      status: [
        ...['disconnected', '200', '204', '304'],
        ...Object.values(problemTable).map((row) => String(row.status)),
      ],
      // The types of events and effects, of which the pages have every one.
      type: documentedTypes(),
      outcome: 'accepted refused unknown applied done failed throttled overloaded'.split(' '),
      call: ['load', 'append', 'compact'],
      source: ['apply', 'inspect', 'report', 'document', 'other'],
    };
    const sets = new Map(Object.entries(words).map(([label, values]) => [label, new Set<unknown>(values)]));
    const { all, onMeasurement } = takeMeasurements();
    const { admin } = runAdmin({ observe: { onMeasurement } });
    await fc.assert(
      fc.asyncProperty(requests, async (request) => {
        await admin.handle(request);
      }),
      { numRuns: 300 },
    );
    expect(all.length).toBeGreaterThan(9);
    for (const { name, kind, value, labels } of all) {
      const row = measurementTable[name];
      expect([name, kind, Object.keys(labels)]).toEqual([name, row.kind, row.labels]);
      expect(value).toBeGreaterThanOrEqual(0);
      expect(Object.entries(labels).filter(([label, word]) => sets.get(label)?.has(word) !== true)).toEqual(
        [],
      );
    }
    await admin.close();
  });
});

it('prom-client has the figures of requests', async () => {
  const registry = new Registry();
  const classes = { counter: Counter, gauge: Gauge, histogram: Histogram };
  const metrics = new Map(
    Object.entries(measurementTable).map(([name, { kind, help, labels }]) => [
      name,
      new classes[kind]({ name, help, labelNames: labels, registers: [registry] }),
    ]),
  );
  const onMeasurement = ({ name, labels, value }: Measurement): void => {
    const metric = metrics.get(name);
    if (metric instanceof Counter) metric.inc(labels, value);
    else if (metric instanceof Gauge) metric.set(labels, value);
    else metric?.observe(labels, value);
  };
  const { admin } = runAdmin({ observe: { onMeasurement } });
  for (const name of ['my-service', 'nothing', 'elsewhere']) await ask(admin, 'GET', `/services/${name}`);
  await ask(admin, 'PUT', '/services/my-service/stop');
  await admin.close();
  const text = await registry.metrics();
  const request = 'gateway_admin_request_duration_seconds_count';
  for (const line of [
    `${request}{route="services.get",method="GET",status="200"} 1`,
    `${request}{route="services.get",method="GET",status="404"} 2`,
    `${request}{route="services.stop",method="PUT",status="204"} 1`,
    'gateway_admin_command_duration_seconds_count{type="service.stopped",outcome="accepted"} 1',
    'gateway_admin_effect_duration_seconds_count{type="service.stop",outcome="applied"} 1',
    'gateway_admin_commands_in_flight 0',
  ])
    expect(text.split('\n')).toContain(line);
});

describe('the table of the page', () => {
  it('has each measurement, with its kind and its labels', () => {
    const rows = tablesOf(read('docs/observability.md')).find(
      ({ heading }) => heading === 'What is measured',
    )?.rows;
    expect(rows?.map(([name = '', kind, labels = '']) => [codesOf(name)[0], kind, codesOf(labels)])).toEqual(
      Object.entries(measurementTable).map(([name, { kind, labels }]) => [name, kind, labels]),
    );
  });
});
