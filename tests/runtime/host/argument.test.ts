import { describe, expect, it } from '@jest/globals';
import {
  adoptDocument,
  applyReports,
  canRevert,
  canTransition,
  changePassword,
  closeServerConnections,
  closeServiceSessions,
  closeSession,
  createAdmin,
  createBasicAuthentication,
  createMemoryStore,
  createPbkdf2Hasher,
  createSecretSealer,
  createSnapshot,
  createUser,
  deleteUser,
  evolve,
  flushLogs,
  lifecycle,
  nameKey,
  nextState,
  openAdmin,
  patchFilter,
  patchMonitor,
  patchServer,
  patchService,
  revert,
  sequence,
  startMonitor,
  startService,
  stopMonitor,
  stopService,
  systemClock,
  toDocument,
  type Snapshot,
  type Transition,
} from 'gateway-admin-core';
import { applyPatch, diff, formatPointer, parseJson, parsePointer } from 'gateway-admin-core/json';

import { sampleSnapshot } from '../../support/document.ts';
import { runAdmin } from '../../support/running-admin.ts';

const snapshot = sampleSnapshot();
const gateway = { apply: () => Promise.resolve(), inspect: () => Promise.resolve('in-place' as const) };
const stop: Transition = (state, context) => stopService(state, 'My Service', context);
const started = {
  type: 'service.started',
  at: 0,
  resource: '/services/My-Service',
  service: 'my-service',
} as const;

/** Every public function that takes a snapshot, with arguments that it accepts. */
const functions: readonly (readonly [
  string,
  (snapshot: Snapshot, context: { readonly now: number }) => unknown,
])[] = [
  ['startService', (state, context) => startService(state, 'My Service', context)],
  ['stopService', (state, context) => stopService(state, 'My Service', context)],
  ['patchService', (state, context) => patchService(state, 'My Service', [], context)],
  ['startMonitor', (state, context) => startMonitor(state, 'Main Monitor', context)],
  ['stopMonitor', (state, context) => stopMonitor(state, 'Main Monitor', context)],
  ['patchMonitor', (state, context) => patchMonitor(state, 'Main Monitor', [], context)],
  ['patchServer', (state, context) => patchServer(state, 'db-serv-1', [], context)],
  ['patchFilter', (state, context) => patchFilter(state, 'Hint', [], context)],
  ['closeSession', (state, context) => closeSession(state, 9, context)],
  ['closeServiceSessions', (state, context) => closeServiceSessions(state, 'My Service', context)],
  ['closeServerConnections', (state, context) => closeServerConnections(state, 'db-serv-1', context)],
  ['flushLogs', (state, context) => flushLogs(state, context)],
  ['createUser', (state, context) => createUser(state, { name: 'joan', passwordHash: 'x' }, context)],
  ['changePassword', (state, context) => changePassword(state, 'ada', 'x', context)],
  ['deleteUser', (state, context) => deleteUser(state, 'ada', context)],
  ['revert', (state, context) => revert(started)(state, context)],
  ['adoptDocument', (state, context) => adoptDocument(state, snapshot, context)],
  ['sequence', (state, context) => sequence(stop)(state, context)],
  ['applyReports', (state, context) => applyReports(state, [], context)],
];

const withoutContext: typeof functions = [
  ['evolve', (state) => evolve(state, [])],
  ['toDocument', (state) => toDocument(state)],
  ['createAdmin', (state) => createAdmin({ snapshot: state, gateway })],
];

const foreign: readonly (readonly [string, unknown])[] = [
  ['undefined', undefined],
  ['null', null],
  ['a text', 'snapshot'],
  ['an empty object', {}],
  ['a list', []],
  ['a document', toDocument(snapshot)],
  ['a copy through JSON', JSON.parse(JSON.stringify(snapshot))],
  ['a spread copy', { ...snapshot }],
  ['a changed copy', { ...snapshot, revision: 99 }],
  ['a frozen copy with a foreign part', Object.freeze({ ...snapshot, services: [] })],
  ['an object that inherits', Object.create(snapshot)],
];

describe.each([...functions, ...withoutContext])('%s', (_name, call) => {
  // Promise: foreign-snapshot
  it.each(foreign)('refuses %s in place of a snapshot', (_what, value) => {
    expect(() => call(value as Snapshot, { now: 0 })).toThrow(
      new TypeError('snapshot must come from createSnapshot'),
    );
  });

  it('takes the snapshots of createSnapshot, of a decision and of a running interface', () => {
    const { admin } = runAdmin();
    for (const state of [snapshot, stop(snapshot, { now: 0 }).next, admin.snapshot]) {
      expect(() => call(state, { now: 0 })).not.toThrow();
    }
  });
});

describe.each(functions)('%s', (_name, call) => {
  it.each([undefined, null, 5, {}, { now: NaN }, { now: '5' }, { now: 5n }])(
    'refuses %p in place of a context',
    (context) => {
      expect(() => call(snapshot, context as never)).toThrow(
        new TypeError('context must have the time in milliseconds since 1970, such as { now: Date.now() }'),
      );
    },
  );
});

describe('openAdmin', () => {
  it.each(foreign)('refuses %s in place of a snapshot, and disposes of the store', async (_what, value) => {
    const store = createMemoryStore();
    const opening = openAdmin({ snapshot: value as Snapshot, gateway, store });
    await expect(opening).rejects.toThrow(new TypeError('snapshot must come from createSnapshot'));
    await expect(store.append([], { expectedPosition: '0.0' })).rejects.toThrow('disposed of');
  });
});

describe('other arguments of pure functions', () => {
  it.each([5, undefined, null, {}])('refuse the name %p', (name) => {
    for (const decide of [
      startService,
      stopMonitor,
      closeServiceSessions,
      closeServerConnections,
      deleteUser,
    ]) {
      expect(() => decide(snapshot, name as never, { now: 0 })).toThrow(
        /^The name of a \w+ must be a string/,
      );
    }
  });

  it.each(foreign)('refuse %s in place of a given snapshot', (_what, value) => {
    expect(() => adoptDocument(snapshot, value as Snapshot, { now: 0 })).toThrow(
      new TypeError('given must come from createSnapshot'),
    );
  });

  it.each([
    [null, 'The options of adoptDocument must be an object'],
    [5, 'The options of adoptDocument must be an object'],
    [{ only: '/services/sales' }, 'only must be a list of links'],
    [{ only: null }, 'only must be a list of links'],
    [{ only: [5] }, 'only must be a list of links'],
  ])('refuse %p in place of the options of adoptDocument', (options, message) => {
    const call = (): unknown => adoptDocument(snapshot, snapshot, { now: 0 }, options as never);
    expect(call).toThrow(TypeError);
    expect(call).toThrow(message);
  });

  it('refuse what is no event, no list and no transition', () => {
    for (const value of [undefined, null, 5, {}]) {
      expect(() => evolve(snapshot, value as never)).toThrow(
        new TypeError('events must be a list of events'),
      );
      expect(() => sequence(stop, value as never)).toThrow(/^A transition must be a function/);
    }
    expect(() => evolve(snapshot, [null] as never)).toThrow(/^An event must be an object with a type/);
    for (const value of [undefined, null, 5]) {
      for (const read of [revert, canRevert])
        expect(() => read(value as never)).toThrow(/^An event must be an object with a type/);
    }
  });
});

/** The options that have a value at a place such as `access.authenticate`. */
function optionAt(place: string, value: unknown): object {
  return place.split('.').reduceRight((inner, name) => ({ [name]: inner }), value) as object;
}

describe('the options of createAdmin and openAdmin', () => {
  const bad: readonly (readonly [string, unknown, string | RegExp])[] = [
    ['gateway', undefined, 'gateway must be an object with the functions apply and inspect'],
    ['gateway', null, 'gateway must be an object'],
    ['gateway', {}, 'gateway must have the function apply'],
    ['gateway', { apply: gateway.apply }, 'gateway must have the function inspect'],
    ['gateway', { ...gateway, apply: true }, 'gateway must have the function apply'],
    ['gateway', { ...gateway, telemetry: 5 }, 'gateway.telemetry must be an object'],
    [
      'gateway',
      { ...gateway, telemetry: { Idle: () => 1 } },
      'There is no reader of gateway.telemetry with the name "Idle". Did you mean idle? The names are threads, tasks, idle, statistics.',
    ],
    ['clock', {}, 'clock must have the function now'],
    ['clock', { now: Date.now }, 'clock must have the function sleep'],
    ['clock', Date.now, 'clock must have the function now'],
    ['clock', { ...systemClock, monotonic: 5 }, 'clock.monotonic must be a function'],
    ['timeZone', 3, 'timeZone must be a string'],
    ['access.allowedOrigins', 'https://console.example', 'allowedOrigins must be a list of strings'],
    ['access.allowedHosts', [5], 'allowedHosts must be a list of strings'],
    ['hasher', {}, 'hasher must have the function hash'],
    ['hasher', { hash: gateway.apply }, 'hasher must have the function verify'],
    ['sealer', { seal: gateway.apply, open: gateway.apply }, 'sealer.durable must be true or false'],
    ['sealer', { durable: true }, 'sealer must have the function seal'],
    ['access.authenticate', {}, 'authenticate must be a function'],
    ['access.authorize', true, 'authorize must be a function'],
    ['access.passwordPolicy', /x/, 'passwordPolicy must be a function'],
    ['observe.onError', console, 'onError must be a function'],
    ['veto', 'no', 'veto must be a function'],
    ['observe.logger', { debug: gateway.apply }, 'logger must have the function info'],
    ['observe.logger', 'info', 'logger must be an object with the functions debug, info, warn and error'],
    ['observe.onMeasurement', {}, 'onMeasurement must be a function'],
    ['secretParameters', 'password', 'secretParameters must be a list of names of 1 to 255 characters'],
    ['secretParameters', ['password', 7], 'secretParameters must be a list of names'],
    ['observe.audit', 5, 'observe.audit must be an object with a sink'],
    ['observe.audit', null, 'observe.audit must be an object with a sink'],
    ['observe.audit', {}, 'observe.audit.sink must be an object with the function append'],
    ['observe.audit', { sink: { write: gateway.apply } }, 'observe.audit.sink must have the function append'],
    [
      'observe.audit',
      { sink: { append: gateway.apply }, required: 1 },
      'observe.audit.required must be true or false',
    ],
    ['limits', 5, 'limits must be an object'],
    ['limits', null, 'limits must be an object'],
    [
      'limits',
      { maxBodySize: 5 },
      /^There is no limit with the name "maxBodySize". Did you mean maxBodyBytes\?/,
    ],
    ['access.autenticate', () => undefined, /with the name "autenticate". Did you mean authenticate\?/],
    ['access.authorise', () => false, /with the name "authorise". Did you mean authorize\?/],
    ['access.AUTHORIZE', () => false, /with the name "AUTHORIZE". Did you mean authorize\?/],
    ['access', 5, 'The option access must be an object'],
    ['observe', 'all', 'The option observe must be an object'],
    ['authorize', () => false, /Admin has no option authorize: .* access: { authorize }$/],
    ['onError', () => undefined, /Admin has no option onError: .* observe: { onError }$/],
    ['secretParameter', ['pin'], /with the name "secretParameter". Did you mean secretParameters\?/],
    [
      'x'.repeat(10_000),
      1,
      /^There is no option of (?:create|open)Admin with the name "x{100}"…. The names are snapshot,/,
    ],
    [
      'observe.audit',
      { sink: { append: gateway.apply }, require: true },
      /option of observe.audit .*Did you mean required\?/,
    ],
  ];

  // Promise: option-check
  it.each(bad)('refuse %s: %p', async (name, value, message) => {
    const options = { snapshot, gateway, ...optionAt(name, value) } as never;
    expect(() => createAdmin(options)).toThrow(TypeError);
    expect(() => createAdmin(options)).toThrow(message);
    const store = createMemoryStore();
    const opening = openAdmin({ ...(options as object), store } as never);
    await expect(opening).rejects.toThrow(message);
    await expect(store.append([], { expectedPosition: '0.0' })).rejects.toThrow('disposed of');
  });

  it('refuse a store for createAdmin, which would not use it', () => {
    const options = { snapshot, gateway, store: createMemoryStore() };
    expect(() => createAdmin(options)).toThrow(
      /^createAdmin keeps nothing, so it has no option store\. Call openAdmin/,
    );
  });

  it.each([
    ['store', createMemoryStore()],
    ['gateway', gateway],
    ['snapshot', snapshot],
    ['observe.logger', console],
    ['observe.audit.sink', { append: gateway.apply }],
  ])('say that a promise of %s must be awaited', async (name, value) => {
    const promise = Promise.resolve(value);
    const options = { snapshot, gateway, ...optionAt(name, promise) };
    await expect(openAdmin({ store: createMemoryStore(), ...options })).rejects.toThrow(
      `The option ${name} is a promise. Await it first: ${name}: await …`,
    );
  });

  it.each([undefined, null, 5, 'x'])('refuse %p in place of the options', async (options) => {
    expect(() => createAdmin(options as never)).toThrow(/^createAdmin needs options/);
    await expect(openAdmin(options as never)).rejects.toThrow(/^openAdmin needs options/);
  });

  it.each([
    [undefined, 'store must be an object with the functions load, append, compact and [Symbol.asyncDispose]'],
    [{}, 'store must have the function load'],
    [{ ...createMemoryStore(), append: 5 }, 'store must have the function append'],
    [
      { ...createMemoryStore(), [Symbol.asyncDispose]: undefined },
      'store must have the function [Symbol.asyncDispose]',
    ],
    [{ ...createMemoryStore(), durable: undefined }, 'store.durable must be true or false'],
  ])('refuse the store %p', async (store, message) => {
    const opening = openAdmin({ snapshot, gateway, store } as never);
    await expect(opening).rejects.toThrow(TypeError);
    await expect(openAdmin({ snapshot, gateway, store } as never)).rejects.toThrow(message);
  });

  it('may have undefined for every option with a default', async () => {
    const nothing = (...names: readonly string[]): object =>
      Object.fromEntries(names.map((name) => [name, undefined]));
    const admin = createAdmin({
      ...{ snapshot, gateway },
      ...nothing('clock', 'timeZone', 'hasher', 'sealer', 'secretParameters', 'veto', 'limits'),
      access: nothing('authenticate', 'authorize', 'allowedOrigins', 'allowedHosts', 'passwordPolicy'),
      observe: nothing('audit', 'logger', 'onMeasurement', 'onError'),
    });
    await createAdmin({ snapshot, gateway, ...nothing('access', 'observe') }).close();
    expect((await admin.execute(stop)).outcome).toBe('accepted');
    await admin.close();
  });
});

describe('the arguments of a running interface', () => {
  it.each([undefined, null, 5, {}, 'stop', Promise.resolve(stop)])(
    'execute and plan refuse %p in place of a transition, and later commands go on',
    async (value) => {
      const { admin } = runAdmin();
      const message = /^A transition must be a function, such as/;
      await expect(admin.execute(value as never)).rejects.toThrow(TypeError);
      await expect(admin.execute(value as never)).rejects.toThrow(message);
      expect(() => admin.plan(value as never)).toThrow(message);
      expect((await admin.execute(stop)).outcome).toBe('accepted');
    },
  );

  it.each([
    [null, 'The options of a command must be an object'],
    [5, 'The options of a command must be an object'],
    [
      { ifmatch: { link: '/', etag: '*' } },
      'There is no option of a command with the name "ifmatch". Did you mean ifMatch? The names are actor, ifMatch, mark, signal.',
    ],
    [{ actor: 5 }, 'The actor must be a string'],
    [{ signal: {} }, 'signal must be an AbortSignal'],
    [{ signal: null }, 'signal must be an AbortSignal'],
    [{ ifMatch: 5 }, 'ifMatch must be an object with the strings link and etag'],
    [{ ifMatch: { link: 5, etag: '*' } }, 'ifMatch must be an object with the strings link and etag'],
    [
      { ifMatch: { link: '/services/My-Service' } },
      'ifMatch must be an object with the strings link and etag',
    ],
  ])('execute and plan refuse the options %p', async (options, message) => {
    const { admin } = runAdmin();
    await expect(admin.execute(stop, options as never)).rejects.toThrow(new TypeError(message));
    if (!(options instanceof Object && 'signal' in options))
      expect(() => admin.plan(stop, options as never)).toThrow(new TypeError(message));
    expect(admin.snapshot.revision).toBe(0);
  });

  it.each([
    [null, TypeError, 'The options of events must be an object'],
    ['1.0', TypeError, 'The options of events must be an object'],
    [{ From: '7.0' }, TypeError, 'There is no option of events with the name "From"'],
    [{ after: 5 }, TypeError, 'after must be an event id, which is a string such as 5f0c8e21a9b3.7.0'],
    [{ after: null }, TypeError, 'after must be an event id'],
    [{ after: 'x' }, RangeError, 'An event id must have the form'],
    [{ signal: {} }, TypeError, 'signal must be an AbortSignal'],
  ])('events refuses %p', (options, error, message) => {
    const { admin } = runAdmin();
    expect(() => admin.events(options as never)).toThrow(error);
    expect(() => admin.events(options as never)).toThrow(message);
  });

  it.each([
    [null, 'The options of audit must be an object'],
    [{ from: 'a.1' }, 'There is no option of audit with the name "from"'],
  ])('audit refuses %p', (options, message) => {
    const { admin } = runAdmin();
    expect(() => admin.audit(options as never)).toThrow(TypeError);
    expect(() => admin.audit(options as never)).toThrow(message);
  });

  // Promise: report-safe
  it('report throws for nothing that it is given', () => {
    const { admin, errors } = runAdmin();
    const given: readonly unknown[] = [
      ...[undefined, null, 5, 5n, NaN, '', 'text', Symbol('s'), {}, () => 1, new Map(), [[]]],
      ...[{ type: 5n }, { type: 'session.opened', id: NaN }, Array(3)],
    ];
    for (const value of given) {
      const before = errors.length;
      admin.report(value as never);
      expect(errors.length).toBe(before + 1);
    }
    expect(admin.snapshot.revision).toBe(0);
    admin.report([
      { type: 'nonsense' } as never,
      { type: 'server.reported', server: 'db-serv-1', status: ['running'] },
    ]);
    expect([admin.snapshot.revision, errors.length]).toEqual([1, given.length + 1]);
  });
});

describe('a request', () => {
  const request = { method: 'GET', target: '/services/My-Service', headers: {} };
  const patch = {
    method: 'PATCH',
    target: '/services/My-Service',
    headers: { 'content-type': 'application/json-patch+json' },
  };
  const operations = [{ op: 'add', path: '/max_connection', value: 7 }];

  const fetched = new Headers({ 'if-match': '*' });

  /** A fault of the program is a 500. A fault in the headers is a 400, because it may come from a client. */
  const bad: readonly (readonly [string, unknown, 500 | 400, string])[] = [
    ['undefined', undefined, 500, 'The request must be an object with method, target and headers'],
    ['null', null, 500, 'The request must be an object with method, target and headers'],
    ['a text', 'GET /services', 500, 'The request must be an object'],
    ['an empty object', {}, 500, 'The method of the request must be a string'],
    ['a method that is no text', { ...request, method: 5 }, 500, 'The method of the request'],
    ['a URL as target', { ...request, target: new URL('http://a/') }, 500, 'The target of the request must'],
    ['no headers', { ...request, headers: undefined }, 400, 'The headers of the request must be an object'],
    ['headers that are null', { ...request, headers: null }, 400, 'The headers of the request'],
    ['headers that are a list', { ...request, headers: [['a', 'b']] }, 400, 'The headers of the request'],
    ['headers of fetch', { ...request, headers: fetched }, 400, 'Object.fromEntries'],
    ['headers in a map', { ...request, headers: new Map() }, 400, 'Object.fromEntries'],
    ['a header that is a list', { ...request, headers: { date: ['*'] } }, 400, '"date" must be a string'],
    ['a header that is a number', { ...request, headers: { age: 5 } }, 400, '"age" must be a string'],
    ['a signal that is none', { ...request, signal: {} }, 500, 'The signal of the request must be'],
    ['a peer that is no text', { ...request, peer: {} }, 500, 'The peer of the request must be a string'],
    ['a body that is an object', { ...patch, body: operations }, 500, 'must be text, bytes or a function'],
    ['a body that is a number', { ...patch, body: 5 }, 500, 'The body of the request'],
    ['a body in a promise', { ...patch, body: Promise.resolve('[]') }, 500, 'The body of the request'],
    ['a function that gives text', { ...patch, body: () => Promise.resolve('[]') }, 500, 'must give bytes'],
    ['a function that gives nothing', { ...patch, body: () => undefined }, 500, 'must give bytes'],
  ];

  // Promise: hostile-request
  it.each(bad)(
    'is answered with the fault, and nothing is done: %s',
    async (_what, given, status, detail) => {
      const { admin, gateway: asked, errors } = runAdmin();
      const { snapshot: before } = admin;
      const handled = await admin.handle(given as never);
      if (!handled.matched) throw new Error('must be answered');
      const { response } = handled;
      const body = JSON.parse(response.body as string) as { code: string; detail: string };
      expect([response.status, body.code]).toEqual([status, status === 500 ? 'internal' : 'header-invalid']);
      expect(body.detail).toContain(detail);
      expect([admin.snapshot === before, asked.calls]).toEqual([true, []]);
      expect(errors.map((error) => error instanceof TypeError)).toEqual(status === 500 ? [true] : []);
      expect((await admin.handle(request)).matched).toBe(true);
    },
  );

  it.each([
    ['bytes', new TextEncoder().encode(JSON.stringify(operations))],
    ['a buffer', Buffer.from(JSON.stringify(operations))],
    ['text', JSON.stringify(operations)],
    ['a function', () => Promise.resolve(Buffer.from(JSON.stringify(operations)))],
  ])('may have its body as %s', async (_what, body) => {
    const handled = await runAdmin().admin.handle({ ...patch, body });
    expect(handled.matched && handled.response.status).toBe(200);
  });

  it('may have undefined headers and an object without prototype', async () => {
    const headers = Object.assign(Object.create(null) as object, { 'if-match': undefined });
    const handled = await runAdmin().admin.handle({ ...request, headers });
    expect(handled.matched && handled.response.status).toBe(200);
  });

  it('with a fault, whose client has left, is answered as any request of such a client', async () => {
    const { admin, errors } = runAdmin();
    const left = { ...request, signal: AbortSignal.abort() };
    const answer = await admin.handle(left);
    expect(answer).toMatchObject({ response: { status: 503 } });
    expect(await admin.handle({ ...left, target: 5 } as never)).toEqual(answer);
    expect(errors).toEqual([]);
  });
});

describe('createSnapshot', () => {
  it.each([undefined, null, 5, [], 'x'])('refuses the document %p with a sentence', (document) => {
    expect(() => createSnapshot(document as never)).toThrow(/The gateway document has/);
  });

  it.each([null, 5])('refuses the options %p with a sentence', (options) => {
    expect(() => createSnapshot({}, options as never)).toThrow(
      /^The options of createSnapshot must be an object/,
    );
  });
});

describe('arguments of functions that take no snapshot', () => {
  it.each<[string, () => unknown]>([
    ['name must be a string', () => nameKey(undefined as never)],
    ['lifecycle must be an object', () => nextState(null as never, 'stopped', 'start')],
    ['state must be a string', () => nextState(lifecycle, undefined as never, 'start')],
    ['input must be a string', () => nextState(lifecycle, 'stopped', null as never)],
    ['lifecycle has no state "paused"', () => nextState(lifecycle, 'paused' as never, 'start')],
    ['lifecycle has no state "toString"', () => canTransition(lifecycle, 'toString' as never, 'start')],
    ['lifecycle has no input "pause"', () => canTransition(lifecycle, 'stopped', 'pause' as never)],
    ['history must be an object', () => createMemoryStore(null as never)],
    ['options must be an object', () => createPbkdf2Hasher(null as never)],
    ['options must be an object', () => createBasicAuthentication(null as never)],
    ['options must be an object', () => createSecretSealer(null as never)],
    ['body must be a string', () => parseJson(null as never, { depth: 1 })],
    ['limits must be an object', () => parseJson('{}', undefined as never)],
    ['text must be a string', () => parsePointer(5 as never)],
    ['tokens must be a list', () => formatPointer('/a' as never)],
    ['rules must be an object', () => applyPatch({}, [], null as never)],
    ['options must be an object', () => diff({}, {}, null as never)],
  ])('are named: %s', (message, call) => {
    expect(call).toThrow(new TypeError(message));
  });
});
