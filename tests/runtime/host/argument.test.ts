/**
 * Wrong arguments of a host without types. One law: the call throws or rejects at once, the sentence names the argument
 * and what it must be, nothing is changed, and later calls go on.
 */
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
  type AdminRequest,
  type Snapshot,
  type Transition,
} from 'gateway-admin-core';
import { applyPatch, formatPointer, parseJson, parsePointer } from 'gateway-admin-core/json';

import { sampleSnapshot } from '../../support/document.ts';
import { runAdmin } from '../../support/running-admin.ts';
import { stop } from '../../support/transition.ts';

const snapshot = sampleSnapshot();
const gateway = { apply: () => Promise.resolve(), inspect: () => Promise.resolve('in-place' as const) };
const f = gateway.apply;
const now = { now: 0 };
const head = { at: 0, resource: '/services/My-Service', service: 'my-service' } as const;
const stopped = {
  type: 'service.started',
  ...head,
  from: { state: 'stopped' },
  to: { state: 'started' },
} as const;

/** Every public function that takes a snapshot, with arguments that it accepts. */
const functions: Readonly<
  Record<string, (snapshot: Snapshot, context: { readonly now: number }) => unknown>
> = {
  startService: (state, context) => startService(state, 'My Service', context),
  stopService: (state, context) => stopService(state, 'My Service', context),
  patchService: (state, context) => patchService(state, 'My Service', [], context),
  startMonitor: (state, context) => startMonitor(state, 'Main Monitor', context),
  stopMonitor: (state, context) => stopMonitor(state, 'Main Monitor', context),
  patchMonitor: (state, context) => patchMonitor(state, 'Main Monitor', [], context),
  patchServer: (state, context) => patchServer(state, 'db-serv-1', [], context),
  patchFilter: (state, context) => patchFilter(state, 'Hint', [], context),
  closeSession: (state, context) => closeSession(state, 9, context),
  closeServiceSessions: (state, context) => closeServiceSessions(state, 'My Service', context),
  closeServerConnections: (state, context) => closeServerConnections(state, 'db-serv-1', context),
  flushLogs,
  createUser: (state, context) => createUser(state, { name: 'joan', password: { sealed: 'x' } }, context),
  changePassword: (state, context) => changePassword(state, 'ada', { sealed: 'x' }, context),
  deleteUser: (state, context) => deleteUser(state, 'ada', context),
  revert: (state, context) => revert(stopped)(state, context),
  adoptDocument: (state, context) => adoptDocument(state, snapshot, context),
  sequence: (state, context) => sequence(stop)(state, context),
  applyReports: (state, context) => applyReports(state, [], context),
};

const foreign: readonly unknown[] = [
  ...[undefined, null, 'snapshot', {}, [], toDocument(snapshot), JSON.parse(JSON.stringify(snapshot))],
  ...[{ ...snapshot }, { ...snapshot, revision: 99 }, Object.freeze({ ...snapshot, services: [] })],
  Object.create(snapshot),
];

/** Checks that a call is refused with a sentence: at once, or by a promise if the call gives one. */
async function expectRefused(call: () => unknown, message: string | RegExp): Promise<void> {
  const refused = await Promise.resolve()
    .then(call)
    .then(
      () => undefined,
      (error: unknown) => error,
    );
  expect([message, refused]).toEqual([message, expect.any(TypeError)]);
  const { message: told } = refused as TypeError;
  if (typeof message === 'string') expect(told).toContain(message);
  else expect(told).toMatch(message);
}

describe('a function of a snapshot', () => {
  // Promise: foreign-snapshot
  it.each(Object.entries(functions))(
    '%s refuses a foreign snapshot, and a wrong context',
    async (_name, call) => {
      for (const value of foreign)
        await expectRefused(() => call(value as Snapshot, now), 'snapshot must come from createSnapshot');
      for (const context of [undefined, null, 5, {}, { now: NaN }, { now: '5' }, { now: 5n }])
        await expectRefused(
          () => call(snapshot, context as never),
          'context must have the time in milliseconds since 1970, such as { now: Date.now() }',
        );
      for (const state of [snapshot, stop(snapshot, now).next, runAdmin().admin.snapshot])
        expect(() => call(state, now)).not.toThrow();
    },
  );
});

const deciding = [startService, stopMonitor, closeServiceSessions, closeServerConnections, deleteUser];
const adopt = (options: never) => adoptDocument(snapshot, snapshot, now, options);
const create = (given: object) => createAdmin({ snapshot, gateway, ...given });

/** What is wrong: the sentence, the call, and each value that it refuses. */
const wrong: readonly (readonly [string | RegExp, (value: never) => unknown, ...(readonly unknown[])])[] = [
  ['snapshot must come from', (state) => evolve(state, []), ...foreign],
  ['snapshot must come from', toDocument, ...foreign],
  ['snapshot must come from', (state) => createAdmin({ snapshot: state, gateway }), ...foreign],
  ['given must come from createSnapshot', (given) => adoptDocument(snapshot, given, now), ...foreign],
  ...deciding.map(
    (decide) =>
      [
        /^The name of a \w+ must be a string/,
        (name: never) => decide(snapshot, name, now),
        ...[5, undefined, null, {}],
      ] as const,
  ),
  ['The options of adoptDocument must be an object', adopt, null, 5],
  ['only must be a list of links', adopt, { only: '/services/sales' }, { only: null }, { only: [5] }],
  ['events must be a list of events', (events) => evolve(snapshot, events), undefined, null, 5, {}],
  [/^A transition must be a function/, (next) => sequence(stop, next), undefined, null, 5, {}],
  [/^An event must be an object with a type/, (events) => evolve(snapshot, events), [null]],
  [/^An event must be an object with a type/, revert, undefined, null, 5],
  [/^An event must be an object with a type/, canRevert, undefined, null, 5],
  [/^createAdmin needs options/, createAdmin, undefined, null, 5, 'x'],
  [/^openAdmin needs options/, openAdmin, undefined, null, 5, 'x'],
  [
    /^createAdmin keeps nothing, so it has no option store\. Call openAdmin/,
    create,
    { store: createMemoryStore() },
  ],
  [/^The options of createSnapshot must be an object/, (options) => createSnapshot({}, options), null, 5],
  ['name must be a string', nameKey, undefined],
  ['lifecycle must be an object', (life) => nextState(life, 'stopped', 'start'), null],
  ['state must be a string', (state) => nextState(lifecycle, state, 'start'), undefined],
  ['input must be a string', (input) => nextState(lifecycle, 'stopped', input), null],
  ['lifecycle has no state "paused"', (state) => nextState(lifecycle, state, 'start'), 'paused'],
  ['lifecycle has no state "toString"', (state) => canTransition(lifecycle, state, 'start'), 'toString'],
  ['lifecycle has no input "pause"', (input) => canTransition(lifecycle, 'stopped', input), 'pause'],
  ['history must be an object', createMemoryStore, null],
  ['options must be an object', createPbkdf2Hasher, null],
  ['options must be an object', createBasicAuthentication, null],
  ['options must be an object', createSecretSealer, null],
  ['body must be a string', (body) => parseJson(body, { depth: 1 }), null],
  ['limits must be an object', (limits) => parseJson('{}', limits), undefined],
  ['text must be a string', parsePointer, 5],
  ['tokens must be a list', formatPointer, '/a'],
  ['rules must be an object', (rules) => applyPatch({}, [], rules), null],
];

it.each(wrong)('%s', async (message, call, ...values) => {
  for (const value of values) await expectRefused(() => call(value as never), message);
});

it.each([undefined, null, 5, [], 'x'])(
  'createSnapshot refuses the document %p with a sentence',
  (document) => {
    expect(() => createSnapshot(document as never)).toThrow(/The gateway document has/);
  },
);

/** The options that have a value at a place such as `access.authenticate`. */
function optionAt(place: string, value: unknown): object {
  return place.split('.').reduceRight((inner, name) => ({ [name]: inner }), value) as object;
}

const store = createMemoryStore();
const sink = { append: f };
const audit = 'observe.audit';

function awaited(name: string): string {
  return `The option ${name} is a promise. Await it first: ${name}: await …`;
}

function supporting(...values: readonly unknown[]): readonly unknown[] {
  return values.map((supports) => ({ ...gateway, supports }));
}

/** The options of createAdmin and openAdmin: the sentence, the place, and each value. */
const options: readonly (readonly [string | RegExp, string, ...(readonly unknown[])])[] = [
  ['snapshot must come from createSnapshot', 'snapshot', ...foreign],
  ['gateway must be an object with the functions apply and inspect', 'gateway', undefined, null],
  ['gateway must have the function apply', 'gateway', {}, { ...gateway, apply: true }],
  ['gateway must have the function inspect', 'gateway', { apply: f }],
  ['gateway.telemetry must be an object', 'gateway', { ...gateway, telemetry: 5 }],
  [
    'no reader of gateway.telemetry with the name "Idle". Did you mean idle? The names are threads, tasks, idle, stat',
    ...['gateway', { ...gateway, telemetry: { Idle: () => 1 } }],
  ] as never,
  ['supports must be a list with some of', 'gateway', ...supporting('create', [5])],
  ['supports must list create and delete together', 'gateway', ...supporting(['create'])],
  ['clock must have the function now', 'clock', {}, Date.now],
  ['clock must have the function sleep', 'clock', { now: Date.now }],
  ['clock.monotonic must be a function', 'clock', { ...systemClock, monotonic: 5 }],
  ['timeZone must be a string', 'timeZone', 3],
  ['allowedOrigins must be a list of strings', 'access.allowedOrigins', 'https://console.example'],
  ['allowedHosts must be a list of strings', 'access.allowedHosts', [5]],
  ['hasher must have the function hash', 'hasher', {}],
  ['hasher must have the function verify', 'hasher', { hash: f }],
  ['hasher.knows must be a function', 'hasher', { hash: f, verify: f, knows: 5 }],
  ['sealer.durable must be true or false', 'sealer', { seal: f, open: f }],
  ['sealer must have the function seal', 'sealer', { durable: true }],
  ['authenticate must be a function', 'access.authenticate', {}],
  ['authorize must be a function', 'access.authorize', true],
  ['passwordPolicy must be a function', 'access.passwordPolicy', /x/],
  ['onError must be a function', 'observe.onError', console],
  ['veto must be a function', 'veto', 'no'],
  ['foresee must be a function', 'foresee', 'no'],
  ['logger must have the function info', 'observe.logger', { debug: f }],
  ['logger must be an object with the functions debug, info, warn and error', 'observe.logger', 'info'],
  ['onMeasurement must be a function', 'observe.onMeasurement', {}],
  ['secretParameters must be a list of names of 1 to 255', 'secretParameters', 'password', ['password', 7]],
  ['observe.audit must be an object with a sink', audit, 5, null],
  ['observe.audit.sink must be an object with the function append', audit, {}],
  ['observe.audit.sink must have the function append', audit, { sink: { write: f } }],
  ['observe.audit.required must be true or false', audit, { sink, required: 1 }],
  [/option of observe.audit .*Did you mean required\?/, audit, { sink, require: true }],
  ['limits must be an object', 'limits', 5, null],
  [/^There is no limit with the name "maxBodySize". Did you mean maxBodyBytes\?/, 'limits.maxBodySize', 5],
  [/with the name "autenticate". Did you mean authenticate\?/, 'access.autenticate', f],
  [/with the name "authorise". Did you mean authorize\?/, 'access.authorise', f],
  [/with the name "AUTHORIZE". Did you mean authorize\?/, 'access.AUTHORIZE', f],
  ['The option access must be an object', 'access', 5],
  ['The option observe must be an object', 'observe', 'all'],
  [/Admin has no option authorize: .* access: { authorize }$/, 'authorize', f],
  [/Admin has no option onError: .* observe: { onError }$/, 'onError', f],
  [/with the name "secretParameter". Did you mean secretParameters\?/, 'secretParameter', ['pin']],
  [/^There is no option of \w+ with the name "x{100}"…. The names are snapshot,/, 'x'.repeat(10_000), 1],
  ...Object.entries({ gateway, snapshot, 'observe.logger': console, 'observe.audit.sink': sink }).map(
    ([name, value]) => [awaited(name), name, ...[Promise.resolve(value)]] as const,
  ),
];

describe('an option', () => {
  // Promise: option-check
  it.each(options)('of createAdmin and openAdmin: %s', async (message, place, ...values) => {
    for (const value of values) {
      const given = { snapshot, gateway, ...optionAt(place, value) };
      expect(() => createAdmin(given)).toThrow(TypeError);
      const own = createMemoryStore();
      await expectRefused(() => createAdmin(given), message);
      await expectRefused(() => openAdmin({ ...given, store: own }), message);
      // The store is disposed of.
      await expect(own.append([], { expectedPosition: '0.0' })).rejects.toThrow('disposed of');
    }
  });

  it.each<[string, ...unknown[]]>([
    ['store must be an object with the functions load, append, compact and [Symbol.asyncDispose]', undefined],
    ['store must have the function load', {}],
    ['store must have the function append', { ...store, append: 5 }],
    ['store must have the function [Symbol.asyncDispose]', { ...store, [Symbol.asyncDispose]: undefined }],
    ['store.durable must be true or false', { ...store, durable: undefined }],
    [awaited('store'), Promise.resolve(store)],
  ])('of openAdmin: %s', (message, value) =>
    expectRefused(() => openAdmin({ snapshot, gateway, store: value as never }), message),
  );

  // Promise: limit-value
  it('that is a limit is a whole number from 1 on', () => {
    for (const maxBodyBytes of [0, -1, NaN, 1.5, Infinity])
      expect(() => create({ limits: { maxBodyBytes } })).toThrow(
        new RangeError('The limit "maxBodyBytes" must be a whole number from 1 on'),
      );
  });

  it('may be undefined if there is a default', async () => {
    const nothing = (...names: readonly string[]): object =>
      Object.fromEntries(names.map((name) => [name, undefined]));
    const admin = create({
      ...nothing('clock', 'timeZone', 'hasher', 'sealer', 'secretParameters', 'veto', 'limits'),
      access: nothing('authenticate', 'authorize', 'allowedOrigins', 'allowedHosts', 'passwordPolicy'),
      observe: nothing('audit', 'logger', 'onMeasurement', 'onError'),
    });
    await create(nothing('access', 'observe')).close();
    expect((await admin.execute(stop)).outcome).toBe('accepted');
    await admin.close();
  });
});

describe('an argument of a running interface', () => {
  const { admin, errors } = runAdmin();
  const transition = /^A transition must be a function, such as/;
  const signal = 'signal must be an AbortSignal';
  const ifMatch = 'ifMatch must be an object with the strings link and etag';
  type Call = (value: never) => unknown;
  const misspelt =
    'no option of a command with the name "ifmatch". Did you mean ifMatch? The names are actor, ifMatch, mark, signal.';
  const noMatches = [5, { link: 5, etag: '*' }, { link: '/services/My-Service' }].map((given) => ({
    ifMatch: given,
  }));
  const ofCommand = (call: Call): readonly (readonly [string, Call, ...(readonly unknown[])])[] => [
    ['The options of a command must be an object', call, null, 5],
    [misspelt, call, { ifmatch: { link: '/', etag: '*' } }],
    ['The actor must be a string', call, { actor: 5 }, { actor: 5n }],
    [ifMatch, call, ...noMatches],
  ];
  const rows: readonly (readonly [string | RegExp, Call, ...(readonly unknown[])])[] = [
    ...[(value: never) => admin.execute(value), (value: never) => admin.plan(value)].map(
      (call) => [transition, call, ...[undefined, null, 5, {}, 'stop', Promise.resolve(stop)]] as const,
    ),
    ...ofCommand((how) => admin.execute(stop, how)),
    ...ofCommand((how) => admin.plan(stop, how)),
    [signal, (how) => admin.execute(stop, how), { signal: {} }, { signal: null }],
    [signal, (how) => admin.events(how), { signal: {} }],
    ['The options of events must be an object', (how) => admin.events(how), null, '1.0'],
    ['There is no option of events with the name "From"', (how) => admin.events(how), { From: '7.0' }],
    ['after must be an event id, which is a string such as', (after) => admin.events({ after }), 5, null],
    ['The options of audit must be an object', (how) => admin.audit(how), null, 7],
    ['There is no option of audit with the name "from"', (how) => admin.audit(how), { from: 'a.1' }],
    ['after must be the id of an audit record', (how) => admin.audit(how), { after: 7 }],
    [signal, (how) => admin.audit(how), { signal: 'x' }],
    ['The id of a command must be a string', (id) => admin.abandon(id), undefined, 5],
  ];

  it.each(rows)('%s', async (message, call, ...values) => {
    for (const value of values) await expectRefused(() => call(value as never), message);
    expect([admin.snapshot.revision, admin.readOnly, errors]).toEqual([0, false, []]);
  });

  it('does not stop other commands', async () => {
    const wrongs = [
      (async (...given: Parameters<Transition>) => Promise.resolve(stop(...given))) as never,
      (() => ({ ...stop(snapshot, now), events: [] })) as Transition,
      (() => ({ ...stop(snapshot, now), events: [{ type: 'service.updated', ...head }] })) as never,
    ];
    const running = runAdmin();
    const refusals = wrongs.map((each) => expect(running.admin.execute(each)).rejects.toThrow(TypeError));
    expect((await running.admin.execute(stop)).outcome).toBe('accepted');
    await Promise.all(refusals);
    expect([running.gateway.applied.length, running.errors]).toEqual([1, []]);
  });

  // Promise: report-safe
  it('of report never throws: each fault is an error for the host, and the other reports count', () => {
    const running = runAdmin();
    const given: readonly unknown[] = [
      ...[undefined, null, 5, 5n, NaN, '', 'text', Symbol('s'), {}, () => 1, new Map(), [[]]],
      ...[{ type: 5n }, { type: 'session.opened', id: NaN }, Array(3)],
    ];
    for (const [at, value] of given.entries()) {
      running.admin.report(value as never);
      expect(running.errors.length).toBe(at + 1);
    }
    expect(running.admin.snapshot.revision).toBe(0);
    const right = { type: 'server.reported', server: 'db-serv-1', status: ['running'] } as const;
    running.admin.report([{ type: 'nonsense' } as never, right]);
    expect([running.admin.snapshot.revision, running.errors.length]).toEqual([1, given.length + 1]);
  });
});

describe('a request', () => {
  const request = { method: 'GET', target: '/services/My-Service', headers: {} };
  const patch = { ...request, method: 'PATCH', headers: { 'content-type': 'application/json-patch+json' } };
  const operations = [{ op: 'add', path: '/max_connection', value: 7 }];
  const text = JSON.stringify(operations);
  const headers = (given: unknown): unknown => ({ ...request, headers: given });

  /** A fault of the program is a 500. A fault in the headers is a 400, because it may come from a client. */
  const bad: readonly (readonly [string, 500 | 400, ...(readonly unknown[])])[] = [
    ['The request must be an object with method, target and headers', 500, undefined, null, 'GET /services'],
    ['The method of the request must be a string', 500, {}, { ...request, method: 5 }],
    ['The target of the request must', 500, { ...request, target: new URL('http://a/') }],
    ['The headers of the request must be an object', 400, ...[undefined, null, [['a', 'b']]].map(headers)],
    ['Object.fromEntries', 400, headers(new Headers({ 'if-match': '*' })), headers(new Map())],
    ['"date" must be a string', 400, headers({ date: ['*'] }), headers({ date: 5 })],
    ['The signal of the request must be', 500, { ...request, signal: {} }],
    ['The peer of the request must be a string', 500, { ...request, peer: {} }],
    [
      'The body of the request must be text, bytes or a function',
      500,
      ...bodies(operations, 5, Promise.resolve('[]')),
    ],
    [
      'must give bytes',
      500,
      ...bodies(
        () => Promise.resolve('[]'),
        () => undefined,
      ),
    ],
  ];
  function bodies(...given: readonly unknown[]): readonly unknown[] {
    return given.map((body) => ({ ...patch, body }));
  }

  // Promise: hostile-request
  it.each(bad)('is answered with the fault, and nothing is done: %s', async (detail, status, ...values) => {
    for (const given of values) {
      const { admin, gateway: asked, errors } = runAdmin();
      const { snapshot: before } = admin;
      const handled = await admin.handle(given as never);
      if (!handled.matched) throw new Error('must be answered');
      const body = JSON.parse(handled.response.body as string) as { code: string; detail: string };
      const code = status === 500 ? 'internal' : 'header-invalid';
      expect([handled.response.status, body.code]).toEqual([status, code]);
      expect(body.detail).toContain(detail);
      expect([admin.snapshot === before, asked.calls]).toEqual([true, []]);
      expect(errors.map((error) => error instanceof TypeError)).toEqual(status === 500 ? [true] : []);
      expect((await admin.handle(request)).matched).toBe(true);
    }
  });

  it('may have its body as bytes, text or a function, undefined headers, and no prototype', async () => {
    const bytes = Buffer.from(text);
    const bare = Object.assign(Object.create(null) as object, { 'if-match': undefined });
    for (const given of [
      ...bodies(new TextEncoder().encode(text), bytes, text, () => Promise.resolve(bytes)),
      { ...request, headers: bare },
    ] as readonly AdminRequest[])
      expect(await runAdmin().admin.handle(given)).toMatchObject({ response: { status: 200 } });
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
