/**
 * How each problem code is provoked at an endpoint: one row for each code.
 */
import {
  patchInterface,
  createRoles,
  createUser,
  deleteResource,
  deleteUser,
  EffectRefusedError,
  flushLogs,
  sequence,
  startMonitor,
  stopMonitor,
  stopService,
  type ProblemCode,
} from 'gateway-admin-core';
import { hold } from 'gateway-admin-core/testing';

import { boundRoutes } from '../docs/tables.ts';
import { createWorld, type Node, type World } from '../fleet/node.ts';
import { sampleSnapshot } from '../support/document.ts';
import { appendTo, foreignRecord } from '../support/foreign-node.ts';
import { FailingSink, sinkFailures } from '../support/failing-sink.ts';
import { FailingStore } from '../support/failing-store.ts';
import { codesOf } from '../openapi/problem-code.ts';
import { nested } from '../support/input.ts';
import { openSampleFleet, runSampleFleet, runWithEndedNode } from '../support/sample-fleet.ts';
import { openedSessions } from '../support/opened-session.ts';
import { openRunning, runAdmin, sampleGateway, type Running } from '../support/running-admin.ts';
import { endpoints, requestOf, targetOf, withQuery, type Endpoint } from './endpoint.ts';
import { readOnlySnapshot } from '../support/read-only.ts';

type Options = Parameters<typeof runAdmin>[0];

/** A request at an endpoint, and the interface that gets the request. */
interface Provocation {
  readonly target?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | (() => Promise<Uint8Array>);
  readonly options?: Options;
  /** The store of the interface; none if left out. */
  readonly store?: FailingStore;
  /** What comes before the request. Gets the function that sends the request of the endpoint itself. */
  readonly before?: (running: Running & Partial<Pick<Node, 'cut'>>, send: () => Promise<unknown>) => unknown;
  /** Whether the interface is a node of a fleet. The endpoints of a fleet have nothing to do elsewhere. */
  readonly inFleet?: boolean;
  /** Whether time must pass until the answer. */
  readonly isLate?: true;
}

type Row = (endpoint: Endpoint) => Provocation;

const longTime = 120_000;

/** Lets time pass until there is an answer, a long time at most. */
async function letPass<T>(clock: Running['clock'], answer: Promise<T>): Promise<T> {
  const waiting = { isOpen: true };
  const answered = answer.finally(() => (waiting.isOpen = false));
  for (let passed = 0; waiting.isOpen && passed < longTime; passed += 1000) await clock.advance(1000);
  return answered;
}

/** What a patch of each kind changes: the first field, a value of a wrong type, and a shown field. */
const patched: Readonly<Record<string, readonly [field: string, wrong: unknown, shown: string]>> = {
  services: ['router_options', { max: 7 }, 'name'],
  servers: ['parameters', [], 'name'],
  monitors: ['monitor_interval', 'x', 'name'],
  filters: ['parameters', 7, 'name'],
  users: ['password', 'x', 'name'],
  '': ['read_only', 7, 'ready'],
};

/** A resource of each kind that is in use. */
const existing: Readonly<Record<string, string>> = {
  services: 'My-Service',
  servers: 'db-serv-1',
  monitors: 'Main-Monitor',
  filters: 'Hint',
  listeners: 'My-Listener',
};

/** The map of parameters of each kind. */
const mapOf = (endpoint: Endpoint): string =>
  kindOf(endpoint) === 'services' ? 'router_options' : 'parameters';

const kindOf = ({ path }: Endpoint): string =>
  path.includes('/listeners') ? 'listeners' : (path.split('/')[1] ?? '').replace(/([^s])$/, '$1s');

/** Whether an endpoint has nothing to do outside a fleet. */
const isOfFleet = ({ path }: Pick<Endpoint, 'path'>): boolean => path.startsWith('/fleet/');

const patch =
  (...operations: readonly object[]): Row =>
  () => ({ body: JSON.stringify(operations) });

const patchOf =
  (make: (field: string, wrong: unknown, shown: string) => readonly object[]): Row =>
  (endpoint) => ({ body: JSON.stringify(make(...(patched[kindOf(endpoint)] ?? ['', '', '']))) });

const body =
  (text: string | Uint8Array): Row =>
  () => ({ body: text });

/** The body of the endpoint with other members. Of a patch, the operations. */
const definition =
  (changed: object): Row =>
  (endpoint) => ({ body: JSON.stringify({ ...(endpoint.body?.json as object), ...changed }) });

/** A secret in a definition. */
const secretIn = (endpoint: Endpoint, value: string): object => {
  const token = secretOf(endpoint).split('/').slice(1);
  return token.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as object;
};

const query =
  (text: string): Row =>
  (endpoint) => ({ target: withQuery(targetOf(endpoint), text) });

const subject =
  (name: string): Row =>
  (endpoint) => ({ target: targetOf({ ...endpoint, subject: name }) });

const nobody = subject('77777/77777');
/** A name that nothing has, in the path or in the query. */
const missing =
  (parameter: string): Row =>
  (endpoint) =>
    endpoint.query === undefined ? nobody(endpoint) : query(`${parameter}=77777`)(endpoint);
const logIn = (found: 'throttled' | 'overloaded' | undefined): Row => {
  const authenticate = (): Promise<typeof found> => Promise.resolve(found);
  return () => ({ headers: { authorization: 'Basic x' }, options: { access: { authenticate } } });
};

/** A hasher that answers at once: time that passes is no reason to refuse a password. */
const hasher = { hash: () => Promise.resolve('opaque'), verify: () => Promise.resolve(true) };

/** The gateway begins an effect and does not end it. */
const holding = (endpoint: Endpoint): ReturnType<typeof sampleGateway> =>
  gatewayOf(endpoint).will(hold().apply).otherwise({ inspect: 'not-in-place' });

/** The gateway of an endpoint; of the history, with two commands that are settled before. */
const gatewayOf = ({ path }: Endpoint): ReturnType<typeof sampleGateway> =>
  isOfHistory({ path }) ? sampleGateway().will('done', 'done') : sampleGateway();

const isOfHistory = ({ path }: Pick<Endpoint, 'path'>): boolean => path.startsWith('/history');

/** Whether the host is asked for nothing. */
const isWithoutEffects = (endpoint: Endpoint): boolean => ['users', ''].includes(kindOf(endpoint));

/** A command without effects waits for the store. */
const unanswered: Row = (endpoint) => {
  if (!isWithoutEffects(endpoint)) return { options: { gateway: holding(endpoint) }, isLate: true };
  const store = new FailingStore();
  const before = (): void => store.fail('never answers, and nothing is kept');
  return { store, before, isLate: true };
};

/** Deletes a service that was not stopped. */
const stoppedAndDeleted = sequence(
  (snapshot, context) => stopService(snapshot, 'Report Service', context),
  (snapshot, context) => deleteResource(snapshot, 'services', 'Report Service', context),
);

/** Changes the users and the interface, and then a monitor. */
const changedWithMonitor = sequence(
  (snapshot, context) => createUser(snapshot, { name: 'joan', password: { sealed: 'opaque' } }, context),
  (snapshot, context) =>
    patchInterface(snapshot, [{ op: 'replace', path: '/read_only', value: true }], context),
  (snapshot, context) => stopMonitor(snapshot, 'Main Monitor', context),
);

const inProgress: Row = (endpoint) => ({
  options: { gateway: holding(endpoint) },
  async before({ admin, clock }, send) {
    void (isWithoutEffects(endpoint) ? admin.execute(changedWithMonitor) : send());
    await clock.advance(longTime);
  },
});

/** A store that has failed before. A store keeps no sessions, so they are reported anew. */
const withoutStore: Row = (endpoint) => {
  // Other nodes may have changed who may do what the running interface alone does.
  if (/^\/(?:commands|fleet)/.test(endpoint.path)) return { inFleet: true, before: ({ cut }) => cut?.(true) };
  const store = new FailingStore();
  return {
    store,
    async before({ admin, clock }) {
      admin.report(openedSession);
      store.fail();
      void admin.execute(flushLogs);
      await clock.advance(longTime);
    },
    isLate: true,
  };
};

/** The session of the sample that endpoints are about. */
const openedSession = {
  ...({ type: 'session.opened', id: 9, state: 'Session ready for routing', user: 'alice' } as const),
  ...{ address: '192.168.121.1', service: 'My Service', connected: Date.parse('2016-09-09T14:12:37+03:00') },
  connections: [{ id: 0, state: 'In use', role: 'Master', server: 'db-serv-1' }],
};

/** How each code is provoked. A code without a row belongs to no endpoint. */
export const provocations: Readonly<Partial<Record<ProblemCode, Row>>> = {
  'body-missing': body(''),
  'body-encoding-invalid': body(new Uint8Array([0x22, 0x80, 0x22])),
  'body-not-json': body('['),
  'body-duplicate-key': body('{"a":1,"a":2}'),
  'body-too-deep': body(nested(33, '[', ']')),
  'number-out-of-range': body('[1e400]'),
  'body-timeout': () => ({ body: () => new Promise(() => undefined), isLate: true }),
  'content-too-large': body(' '.repeat(1_048_577)),
  'unsupported-media-type': () => ({ headers: { 'content-type': 'text/plain' } }),
  'path-encoding-invalid': subject('%zz/x'),
  'session-id-invalid': subject('x'),
  'range-invalid': query('range=2-1'),
  'fields-invalid': query('fields=nothing'),
  'query-invalid': query('nothing=1'),
  'uri-too-long': query(`fields=${'x'.repeat(8192)}`),
  'header-invalid': ({ method, stream }) => {
    const reading = stream === true ? 'last-event-id' : 'if-none-match';
    return { headers: { [method === 'GET' ? reading : 'if-match']: 'x' } };
  },
  'patch-malformed': body('{}'),
  'pointer-invalid': patch({ op: 'remove', path: 'name' }),
  'patch-too-many-operations': patch(...Array<object>(101).fill({ op: 'remove', path: '/name' })),
  'patch-result-too-large': patchOf((field) => [
    { op: 'add', path: `/${field}`, value: { a: { value: 'x'.repeat(600_000) } } },
    { op: 'copy', from: `/${field}/a`, path: `/${field}/b` },
  ]),
  'patch-path-missing': patchOf((_field, _wrong, shown) => [
    { op: 'test', path: `/${shown}/nothing`, value: 7 },
  ]),
  'patch-test-failed': patchOf((_field, _wrong, shown) => [{ op: 'test', path: `/${shown}`, value: 7 }]),
  'op-not-allowed': patch({ op: 'remove', path: '' }),
  'reserved-key': (endpoint) => {
    if (endpoint.method === 'PATCH') return patch({ op: 'add', path: '/__proto__', value: 1 })(endpoint);
    const value = kindOf(endpoint) === 'filters' ? { value: 'x' } : 'x';
    return definition({ [mapOf(endpoint)]: { constructor: value } })(endpoint);
  },
  'field-not-modifiable': (endpoint) =>
    endpoint.method === 'PATCH'
      ? patchOf((_field, _wrong, shown) => [{ op: 'remove', path: `/${shown}` }])(endpoint)
      : definition(kindOf(endpoint) === 'servers' ? { status: ['running'] } : { state: 'failed' })(endpoint),
  'field-unknown': (endpoint) =>
    endpoint.method === 'PATCH'
      ? { body: '[{"op":"remove","path":"/nothing"}]' }
      : definition({ nothing: 1 })(endpoint),
  'field-write-only': (endpoint) => patch({ op: 'test', path: secretOf(endpoint), value: 'x' })(endpoint),
  'link-unresolved': (endpoint) => {
    const field = kindOf(endpoint) === 'services' ? 'filters' : 'servers';
    const value = ['/nothing/x'];
    return endpoint.method === 'PATCH'
      ? patch({ op: 'add', path: `/${field}`, value })(endpoint)
      : definition({ [field]: value })(endpoint);
  },
  'validation-failed': (endpoint) => {
    if (endpoint.mayLackBody === true) return { body: '{"timeout":1}' };
    if (endpoint.method !== 'PATCH') return { body: '{}' };
    if (kindOf(endpoint) === 'users') return patch({ op: 'remove', path: '/password' })(endpoint);
    return patchOf((field, wrong) => [{ op: 'replace', path: `/${field}`, value: wrong }])(endpoint);
  },
  'parameter-not-configurable': patch({ op: 'replace', path: '/parameters/source/value', value: 'x' }),
  'password-unacceptable': (endpoint) =>
    endpoint.method === 'PATCH'
      ? patch({ op: 'add', path: secretOf(endpoint), value: '' })(endpoint)
      : definition(secretIn(endpoint, ''))(endpoint),
  'secret-not-storable': (endpoint) => ({
    ...(endpoint.method === 'PATCH'
      ? patch({ op: 'add', path: secretOf(endpoint), value: 'x' })(endpoint)
      : definition(secretIn(endpoint, 'x'))(endpoint)),
    store: new FailingStore(),
  }),
  'document-empty': () => ({}),
  'resource-exists': (endpoint) => definition({ name: existing[kindOf(endpoint)] })(endpoint),
  'resource-in-use': (endpoint) => subject(existing[kindOf(endpoint)] ?? '')(endpoint),
  'not-supported': () => ({ options: { gateway: Object.assign(sampleGateway(), { supports: [] }) } }),
  unauthenticated: logIn(undefined),
  'login-throttled': logIn('throttled'),
  overloaded: logIn('overloaded'),
  forbidden: () => ({ options: { access: { authorize: () => false } } }),
  'read-only': () => ({ options: { snapshot: readOnlySnapshot(sampleSnapshot()) } }),
  'not-ready': () => ({ before: ({ admin }) => admin.close() }),
  'origin-refused': () => ({ headers: { host: 'gateway.example' } }),
  internal: () => ({
    options: {
      access: {
        authorize: () => {
          throw new Error('The rule is broken');
        },
      },
    },
  }),
  'service-not-found': missing('service'),
  'server-not-found': missing('server'),
  'listener-not-found': subject('My-Service/77777'),
  'monitor-not-found': nobody,
  'filter-not-found': nobody,
  'session-not-found': nobody,
  'user-not-found': nobody,
  'node-not-found': (endpoint) => ({ ...nobody(endpoint), inFleet: endpoint.path.endsWith('/:node') }),
  'node-alive': subject('berlin'),
  'command-not-found': nobody,
  'entry-not-found': nobody,
  'undo-refused': ({ path }) => ({
    before: ({ admin }) => (path.endsWith('undo') ? startAgain(admin) : forget(admin)),
  }),
  'user-exists': body('{"name":"ada","password":"x"}'),
  'last-user': () => ({
    headers: { authorization: 'x' },
    options: { access: { authenticate: () => Promise.resolve({ name: 'root' }) } },
    async before({ admin }) {
      const principal = { name: 'root' };
      await admin.handle({ method: 'DELETE', target: '/users/ada', headers: {}, principal });
    },
  }),
  'last-administrator': () => ({
    headers: { authorization: 'x' },
    options: {
      access: {
        authenticate: () => Promise.resolve({ name: 'root' }),
        authorize: createRoles({ administrators: ['root', 'grace'] }),
      },
    },
  }),
  'precondition-failed': () => ({ headers: { 'if-match': '"other"' } }),
  'effect-refused': (endpoint) => ({
    options: { gateway: gatewayOf(endpoint).will(new EffectRefusedError('The gateway is busy.')) },
  }),
  'partly-done': (endpoint) => {
    const refusing = { apply: new EffectRefusedError('The gateway is busy.') };
    if (isOfHistory(endpoint))
      return {
        // The way back from the deletion of a service: the service is created, and cannot start.
        target: endpoint.path.endsWith('undo') ? '/history/sample-3/undo' : '/history/sample-2/restore',
        options: { gateway: gatewayOf(endpoint).will('done', 'done', 'done').otherwise(refusing) },
        before: ({ admin }) => admin.execute(stoppedAndDeleted),
      };
    const sessions = openedSessions(1500, endpoint.path.startsWith('/servers') ? 'db-serv-1' : undefined);
    return {
      ...(endpoint.path === '/sessions' ? { target: '/sessions?all=true' } : {}),
      options: { gateway: sampleGateway().will('done').otherwise(refusing) },
      before: ({ admin }) => {
        admin.report(sessions);
      },
    };
  },
  'outcome-unknown': unanswered,
  'command-in-progress': inProgress,
  'command-not-abandonable': () => ({
    async before({ admin, gateway }) {
      const held = hold();
      gateway.will(held.apply);
      void admin.execute((snapshot, context) => stopMonitor(snapshot, 'Main Monitor', context));
      await held.begun;
    },
  }),
  'audit-unavailable': () => {
    const sink = new FailingSink();
    return {
      options: { observe: { audit: { sink, required: true } } },
      async before({ admin, clock }) {
        sink.fail(sinkFailures['rejects, and nothing is kept']);
        const flushed = admin.execute(flushLogs);
        await clock.advance(longTime);
        await flushed;
      },
    };
  },
  'store-unavailable': withoutStore,
  closed: () => ({ before: ({ admin }) => admin.close() }),
};

const documentOf = (document: object): Provocation => ({ body: JSON.stringify(document) });
const newService = { name: 'New Service', router: 'readconnroute' };

/** What differs if the body is a document. */
const ofDocument: Readonly<Partial<Record<ProblemCode, Provocation>>> = {
  'content-too-large': { body: ' '.repeat(16 * 1_048_576 + 1) },
  'validation-failed': documentOf([]),
  'reserved-key': documentOf({ services: [{ ...newService, router_options: { constructor: 'x' } }] }),
  'op-not-allowed': documentOf({ users: [] }),
  'link-unresolved': documentOf({ services: [{ ...newService, servers: ['/servers/x'] }] }),
  'password-unacceptable': documentOf({ services: [{ ...newService, password: '' }] }),
  'secret-not-storable': documentOf({ services: [{ ...newService, password: 'x' }] }),
  'resource-in-use': { target: '/document?prune=true', ...documentOf({ servers: [] }) },
  'document-empty': {
    target: '/document?prune=true',
    ...documentOf({ servers: [], services: [], monitors: [], filters: [] }),
  },
  'not-supported': documentOf({ services: [newService] }),
  'partly-done': {
    ...documentOf({ services: [newService] }),
    before: () => undefined,
  },
};

/** A field that no answer shows. */
function secretOf(endpoint: Endpoint): string {
  return (
    {
      servers: '/parameters/password',
      monitors: '/parameters/password',
      listeners: '/parameters/password',
      filters: '/parameters/password/value',
    }[kindOf(endpoint)] ?? '/password'
  );
}

/** What a provocation was answered with. */
interface Provoked {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** The answers of a node whose gateway does not follow, and of one that was silent for too long. */
export const fleetProvocations: Readonly<
  Partial<Record<ProblemCode, (world: Pair, send: Send) => Promise<Handled>>>
> = {
  async 'node-behind'({ clock, own, other }, send) {
    own.gateway.otherwise({ apply: new EffectRefusedError('There is no room.') });
    await send(other);
    await clock.advance(5000);
    return letPass(clock, send(own));
  },
  async 'node-outdated'({ clock, memory, own }, send) {
    await appendTo(memory.open(), foreignRecord('new-1', { format: 4 }));
    await clock.advance(5000);
    return send(own);
  },
  async fenced({ clock, own }, send) {
    const held = hold();
    own.gateway.will(held.apply);
    const handled = send(own);
    await held.begun;
    own.cut(true);
    await clock.advance(6000);
    own.cut(false);
    held.done();
    return letPass(clock, handled);
  },
};

interface Pair {
  readonly clock: World['clock'];
  readonly memory: World['memory'];
  readonly own: Node;
  readonly other: Node;
}

type Handled = Awaited<ReturnType<Node['admin']['handle']>>;
type Send = (node: Node) => Promise<Handled>;

async function provokeInFleet(code: ProblemCode, endpoint: Endpoint): Promise<Provoked> {
  const world = createWorld();
  const leaseMs = 3000;
  const own = await world.open('own', leaseMs);
  const other = await world.open('other', leaseMs);
  const entry = isOfHistory(endpoint) ? await makeHistory(own.admin) : undefined;
  const target = targetOf(entry === undefined ? endpoint : { ...endpoint, subject: entry });
  if (entry !== undefined) await world.clock.advance(5000);
  const handled = await fleetProvocations[code]?.(
    { clock: world.clock, memory: world.memory, own, other },
    ({ admin }) => admin.handle(requestOf(endpoint, target)),
  );
  const { response } = handled as Extract<Handled, { readonly matched: true }>;
  await own.admin.close();
  await other.admin.close();
  // Each life of a node has a random name in the ids of its commands.
  const text = (response.body as string).replace(/own-[0-9a-f]{12}/g, 'own-5f0c8e21a9b3');
  return { status: response.status, headers: response.headers, text };
}

/** The provocation at an endpoint. What a command refuses is provoked in a sequence by a sequence of that command. */
function provocationAt(endpoint: Endpoint, code: ProblemCode, row: Row): Provocation {
  if (endpoint.path === '/document') return { ...row(endpoint), ...ofDocument[code] };
  const own = row(endpoint);
  if (endpoint.path !== '/sequence') return own;
  const part = endpoints.find((each) => commandCodesOf(each).includes(code));
  if (part === undefined) return own;
  const { target = targetOf(part), body: given, ...others } = row(part);
  // The whole request is at fault.
  if (target.includes('?') || others.headers?.['if-match'] !== undefined) return own;
  if (given !== undefined && (typeof given !== 'string' || given === '')) return own;
  const text = given ?? JSON.stringify(part.body?.json ?? null);
  const command = `"method":"${part.method}","path":"${target}","body":${text}`;
  return { ...others, body: `{"commands":[{${command}}]}` };
}

/** The codes of an endpoint that sends a command. */
function commandCodesOf({ method, path }: Endpoint): readonly ProblemCode[] {
  const route = boundRoutes.find((each) => each.method === method && each.path === path);
  return route?.kind === 'command' ? codesOf(route) : [];
}

/** Whether a provocation is a request alone, to an interface as the endpoint needs it. */
function isRequestAlone(provocation: Provocation): boolean {
  return Object.keys(provocation).every((member) => ['target', 'headers', 'body'].includes(member));
}

/** The interface for the provocation of a code at an endpoint. */
async function openFor(code: ProblemCode, endpoint: Endpoint, provocation: Provocation): Promise<Running> {
  const { store, options, inFleet = isOfFleet(endpoint) } = provocation;
  const all = { hasher, ...options };
  const openAlone = () => (store === undefined ? runAdmin(all) : openRunning(store, all));
  const running = await (inFleet ? runWithEndedNode(all) : openAlone());
  return code === 'command-not-abandonable' ? running : runFor(endpoint, running);
}

/** Sends the request of a provocation, and gives the answer. */
async function answerTo(
  { before, isLate, target, headers, body: sent }: Provocation,
  endpoint: Endpoint,
  running: Running,
): Promise<Provoked> {
  const own = requestOf(endpoint);
  await before?.(running, () => running.admin.handle(own));
  const handled = running.admin.handle({
    ...own,
    ...(target === undefined ? {} : { target }),
    ...(sent === undefined ? {} : { body: sent }),
    headers: { ...own.headers, ...headers },
  });
  if (isLate === true) await letPass(running.clock, handled);
  const { response } = (await handled) as Extract<Handled, { readonly matched: true }>;
  return { status: response.status, headers: response.headers, text: response.body as string };
}

/** Makes the provocation of a code at an endpoint, and gives the answer. */
export async function provoke(code: ProblemCode, endpoint: Endpoint): Promise<Provoked> {
  return provoker(endpoint).provoke(code);
}

/**
 * Makes provocations at an endpoint. Those that are a request alone share one interface: what is refused leaves
 * everything as it was, and `isAsItWas` tells whether that holds.
 */
export function provoker(endpoint: Endpoint): {
  readonly provoke: (code: ProblemCode) => Promise<Provoked>;
  readonly isAsItWas: () => boolean;
} {
  let shared: { readonly running: Running; readonly snapshot: Running['admin']['snapshot'] } | undefined;
  return {
    async provoke(code) {
      if (Object.hasOwn(fleetProvocations, code)) return provokeInFleet(code, endpoint);
      const row = provocations[code];
      if (row === undefined) throw new RangeError(`Nothing provokes ${code}`);
      const provocation = provocationAt(endpoint, code, row);
      if (!isRequestAlone(provocation))
        return answerTo(provocation, endpoint, await openFor(code, endpoint, provocation));
      if (shared === undefined) {
        const running = await openFor(code, endpoint, provocation);
        shared = { running, snapshot: running.admin.snapshot };
      }
      return answerTo(provocation, endpoint, shared.running);
    },
    isAsItWas: () => shared === undefined || shared.running.admin.snapshot === shared.snapshot,
  };
}

/** Runs the interface that an endpoint needs: there is a command of unknown outcome, if the endpoint is about one. */
export async function runFor({ path }: Pick<Endpoint, 'path'>, given?: Running): Promise<Running> {
  if (path === '/fleet' && given === undefined) return runSampleFleet();
  if (path === '/fleet/behind/retry' && given === undefined) return (await openSampleFleet()).paris;
  if (isOfFleet({ path }) && given === undefined) return runWithEndedNode();
  const running = given ?? runAdmin();
  if (path.startsWith('/commands')) await leaveUnknown(running);
  if (isOfHistory({ path })) await makeHistory(running.admin);
  return running;
}

/** A monitor was stopped, and another one was started since. Gives the entry of the first command. */
async function makeHistory(admin: Pick<Running['admin'], 'execute'>): Promise<string | undefined> {
  const actor = { actor: 'ada' };
  const stopped = await admin.execute(
    (snapshot, context) => stopMonitor(snapshot, 'Main Monitor', context),
    actor,
  );
  await admin.execute((snapshot, context) => startMonitor(snapshot, 'Idle Monitor', context), actor);
  return stopped.outcome === 'accepted' ? stopped.events[0]?.command : undefined;
}

/** A later command stands in the way of an undo. */
async function startAgain(admin: Running['admin']): Promise<void> {
  await admin.execute((snapshot, context) => startMonitor(snapshot, 'Main Monitor', context));
}

/** So many commands follow that the history does not keep them all. */
async function forget(admin: Running['admin']): Promise<void> {
  const user = { name: 'joan', password: { sealed: 'opaque' } };
  for (let count = 0; count < 501; count += 1) {
    await admin.execute((snapshot, context) => createUser(snapshot, user, context));
    await admin.execute((snapshot, context) => deleteUser(snapshot, 'joan', context));
  }
}

/** Leaves the first command of an interface with an unknown outcome. */
async function leaveUnknown({ admin, gateway, clock }: Running): Promise<void> {
  gateway.will(hold().apply).willSee('not-in-place');
  const execution = admin.execute((snapshot, context) => stopMonitor(snapshot, 'Main Monitor', context));
  await clock.advance(admin.limits.effectDeadlineMs);
  await execution;
}
