import { describe, expect, it, jest } from '@jest/globals';
import {
  createBasicAuthentication,
  createUser,
  createMemoryStore,
  createSnapshot,
  EffectRefusedError,
  HostError,
  sequence,
  stopMonitor,
  stopService,
  type Admin,
  type GatewayDocument,
  type Logger,
  type Transition,
} from 'gateway-admin-core';
import { hold } from 'gateway-admin-core/testing';
import pino from 'pino';

import { createWorld } from '../../fleet/node.ts';
import { altered } from '../../support/altered-store.ts';
import { FailingStore } from '../../support/failing-store.ts';
import { sampleDocument } from '../../support/document.ts';
import { planted } from '../../support/planted.ts';
import { lookAt, takeLeaks } from '../../support/leak.ts';
import { openRunning, runAdmin, sampleGateway } from '../../support/running-admin.ts';
import { read } from '../../support/project.ts';
import { takeLines, type Line } from '../../support/taken-line.ts';
import { codesOf, tablesOf } from '../../docs/table.ts';
import { credentials, quickHasher } from '../../support/log-in.ts';

const stop: Transition = (snapshot, context) => stopService(snapshot, 'My Service', context);
const stopMain: Transition = (snapshot, context) => stopMonitor(snapshot, 'Main Monitor', context);
const service = { type: 'service.stopped', resource: '/services/My-Service' };

const neverSeen = (): Promise<never> => new Promise(() => undefined);

async function ask(admin: Admin, method: string, target: string, more: object = {}): Promise<number> {
  const handled = await admin.handle({ method, target, headers: {}, ...more });
  return handled.matched ? handled.response.status : 0;
}

describe('the lines of a command', () => {
  it('say when the command begins, and how and after how long the command ends', async () => {
    const { logger, lines } = takeLines();
    const held = hold();
    const { admin, clock } = runAdmin({ observe: { logger }, gateway: sampleGateway().will(held.apply) });
    const execution = admin.execute(stop, { actor: 'ada' });
    await held.begun;
    await clock.advance(120);
    held.done();
    await execution;
    await admin.close();
    const command = { command: 'sample-1', ...service, actor: 'ada' };
    expect(lines).toEqual([
      ['info', 'Interface opened', expect.objectContaining({ services: 4, recovered: 0, unknown: 0 })],
      ['debug', 'Command begun', command],
      ['info', 'Command accepted', { ...command, outcome: 'accepted', durationMs: 120 }],
      ['info', 'Interface closed', { revision: admin.snapshot.revision }],
    ]);
  });

  it('say why the gateway refused', async () => {
    const { logger, lines } = takeLines();
    const gateway = sampleGateway().will(new EffectRefusedError('The port is in use'));
    await runAdmin({ observe: { logger }, gateway }).admin.execute(stop);
    expect(lines.at(-1)).toEqual([
      'warn',
      'Command refused',
      {
        ...{ command: 'sample-1', ...service, outcome: 'refused', code: 'effect-refused' },
        detail: 'The gateway refused: The port is in use. Nothing was changed.',
        durationMs: 0,
      },
    ]);
  });

  it('say once that the outcome is unknown, and later what the outcome is', async () => {
    const { logger, lines } = takeLines();
    const gateway = sampleGateway().will(hold().apply, hold().apply);
    gateway.willSee(neverSeen, 'in-place', neverSeen, 'in-place');
    const { admin, clock } = runAdmin({ observe: { logger }, gateway });
    const execution = admin.execute(sequence(stop, stopMain));
    await clock.advance(50_000);
    expect((await execution).outcome).toBe('unknown');
    expect(lines.slice(2).filter(([, message]) => message !== 'Error')).toMatchObject([
      ['warn', 'Command unknown', { outcome: 'unknown', code: 'outcome-unknown', durationMs: 20_000 }],
      ['info', 'Command accepted', { command: 'sample-1', outcome: 'accepted', durationMs: 40_100 }],
    ]);
  });

  it('are not there for a command that is refused before its turn, or changes nothing', async () => {
    const { logger, lines } = takeLines();
    const { admin } = runAdmin({ observe: { logger } });
    expect(await ask(admin, 'PUT', '/services/nothing/stop')).toBe(404);
    expect(await ask(admin, 'PUT', '/services/my-service/start')).toBe(204);
    expect(lines).toHaveLength(1);
  });
});

describe('the line of a start', () => {
  it.each([
    ['in-place', 'info', 0, 'accepted'],
    ['not-in-place', 'info', 0, 'refused'],
    [new Error('The gateway is not there yet'), 'warn', 1, 'unknown'],
  ] as const)(
    'after a crash with %s says what became of the command',
    async (seen, level, unknown, outcome) => {
      const store = createMemoryStore();
      const dead = await openRunning(store, { gateway: sampleGateway().will(hold().apply) });
      dead.admin.execute(stop, { actor: 'ada' }).catch(() => undefined);
      await dead.clock.settle();
      const { logger, lines } = takeLines();
      const { admin } = await openRunning(store, {
        observe: { logger },
        gateway: sampleGateway().willSee(seen),
      });
      expect(lines.filter(([, message]) => /^(?:Command|Interface)/.test(message))).toMatchObject([
        [expect.any(String), `Command ${outcome}`, { ...service, actor: 'ada', outcome, recovered: true }],
        [level, 'Interface opened', { recovered: 1, unknown }],
      ]);
      expect(lines.filter(([, , fields]) => 'durationMs' in fields)).toEqual([]);
      await admin.close();
    },
  );
});

describe('the lines of a start', () => {
  const warning = ['warn', 'The store was empty: the document is in use', {}];

  // Promise: store-empty
  it('warn that a durable store was empty, at the first start and after its content was deleted', async () => {
    const { logger, lines } = takeLines();
    const store = new FailingStore();
    for (const each of [store, store, new FailingStore()])
      await (await openRunning(each, { observe: { logger } })).admin.close();
    const starts = lines.filter(([, message]) => message !== 'Interface closed').map(([level]) => level);
    expect(starts).toEqual(['warn', 'info', 'info', 'warn', 'info']);
    expect(lines[0]).toEqual(warning);
  });

  // Promise: adopt-logged
  it('warn of each resource that a document deletes, and of no listener that is only opened anew', async () => {
    const { logger, lines } = takeLines();
    await adoptLess(logger);
    expect(lines.filter(([level]) => level === 'warn')).toEqual(
      [
        '/services/My-Service/listeners/Local-Listener',
        ...['/monitors/Main-Monitor', '/monitors/Idle-Monitor', '/monitors/Failed-Monitor'],
      ].map((resource) => ['warn', 'Document deleted a resource', { resource }]),
    );
  });

  it('warn at the node that begins a fleet on an empty store, and at no other node', async () => {
    const { logger, lines } = takeLines();
    const world = createWorld({ wrap: (store) => altered(store, { durable: true }) });
    const nodes = [
      await world.open('one', 10_000, { observe: { logger } }),
      await world.open('two', 10_000, { observe: { logger } }),
    ];
    expect(lines.filter(([level]) => level === 'warn')).toEqual([warning]);
    for (const { admin } of nodes) await admin.close();
  });

  it('do not warn of a store in memory, which is empty at each start', async () => {
    const { logger, lines } = takeLines();
    await (await openRunning(createMemoryStore(), { observe: { logger } })).admin.close();
    expect(lines.map(([level]) => level)).toEqual(['info', 'info']);
  });
});

describe('the line of a document that differs from the store', () => {
  const sampleWith = (members: object): GatewayDocument => ({
    ...sampleDocument,
    services: (sampleDocument.services ?? []).map((each) => ({ ...each, ...members })),
  });
  const adoptable = sampleWith({ max_connection: 7 });
  const fixed = sampleWith({ router: 'other' });

  it.each([
    [
      'is at level info if adoptDocument can take all over, and no error',
      adoptable,
      ['info', 'Document differs', 4],
      0,
    ],
    ['is an error if a place cannot change while the gateway runs', fixed, ['error', 'Error', undefined], 1],
  ] as const)('%s', async (_what, document, line, count) => {
    const store = createMemoryStore();
    await (await openRunning(store)).admin.close();
    const { logger, lines } = takeLines();
    const { admin, errors } = await openRunning(store, {
      observe: { logger },
      snapshot: createSnapshot(document),
    });
    const told = lines.filter(([level, message]) => level === 'error' || message === 'Document differs');
    expect(
      told.map(([level, message, fields]) => [level, message, (fields as { places?: number }).places]),
    ).toEqual([line]);
    expect(errors).toHaveLength(count);
    await admin.close();
  });
});

describe('the line of a request', () => {
  it('is there for a fault of the host alone, and not for a client that has left', async () => {
    const { logger, lines } = takeLines();
    const store = new FailingStore();
    const { admin } = await openRunning(store, {
      observe: { logger },
    });
    const failures = (): readonly Line[] => lines.filter(([, message]) => message === 'Request failed');
    expect(await ask(admin, 'GET', '/services/nothing')).toBe(404);
    expect(await ask(admin, 'BREW', '/services')).toBe(501);
    const signal = AbortSignal.abort();
    expect(await ask(admin, 'GET', '/services', { signal })).toBe(503);
    expect(failures()).toEqual([]);
    store.fail();
    expect(await ask(admin, 'PUT', '/services/my-service/stop', { peer: '10.0.0.7' })).toBe(503);
    expect(await ask(admin, 'PUT', '/users', { body: () => Promise.reject(new Error('broken')) })).toBe(500);
    expect(failures()).toEqual([
      [
        'warn',
        'Request failed',
        expect.objectContaining({
          ...{ route: 'services.stop', method: 'PUT', status: 503, code: 'store-unavailable' },
          peer: '10.0.0.7',
        }),
      ],
      [
        'error',
        'Request failed',
        expect.objectContaining({ route: 'users.create', status: 500, code: 'internal' }),
      ],
    ]);
  });
});

describe('the line of an error', () => {
  it('has the error of onError, and without onError the console stays empty', async () => {
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
});

describe('the lines of throttled log-ins', () => {
  it('are one a second, with the number of log-ins since the last line', async () => {
    const { logger, lines } = takeLines();
    const { clock, flood } = await floodWithLogIns(logger);
    const throttled = (): readonly unknown[] =>
      lines.filter(([, message]) => message === 'Log-ins throttled').map(([, , fields]) => fields);
    expect(throttled()).toEqual([{ count: 1, peer: '10.0.0.7' }]);
    await clock.advance(1000);
    await flood(2);
    expect(throttled()).toEqual([
      { count: 1, peer: '10.0.0.7' },
      { count: 18, peer: '10.0.0.7' },
    ]);
  });
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
      createUser(snapshot, { name: 'joan', passwordHash: planted.hash }, context),
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
    const { admin } = runAdmin({
      observe: { logger: pino({}, { write: (line: string) => text.push(line) }) },
    });
    await admin.execute(stop, { actor: 'eve\n{"level":60,"msg":"forged"}' });
    expect(
      text
        .join('')
        .split('\n')
        .filter((line) => line !== ''),
    ).toHaveLength(2);
    expect(JSON.parse(text[1] ?? '')).toMatchObject({
      msg: 'Command accepted',
      actor: 'eve\n{"level":60,"msg":"forged"}',
    });
  });

  // Promise: hook-harmless
  it.each([
    [
      'throws',
      () => {
        throw new Error('full');
      },
    ],
    ['rejects', () => Promise.reject(new Error('full'))],
  ])(
    'or a hook for measurements that %s changes nothing, and is told once for each function',
    async (_how, hook) => {
      const fail = hook as () => void;
      const { admin, errors, clock } = runAdmin({
        observe: { logger: { debug: fail, info: fail, warn: fail, error: fail }, onMeasurement: fail },
      });
      expect((await admin.execute(stop)).outcome).toBe('accepted');
      expect(await ask(admin, 'GET', '/services')).toBe(200);
      expect(await ask(admin, 'PUT', '/services/my-service/start')).toBe(204);
      await admin.close();
      await clock.settle();
      expect(errors.every((error) => error instanceof HostError)).toBe(true);
      expect(errors.map((error) => (error as HostError).call).sort()).toEqual([
        ...['logger.debug', 'logger.error', 'logger.info', 'onMeasurement'],
      ]);
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
