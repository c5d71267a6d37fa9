import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, afterEach, describe, expect, it, jest } from '@jest/globals';
import {
  InvalidDocumentError,
  createMemoryStore,
  createSnapshot,
  patchFilter,
  patchMonitor,
  patchServer,
  patchService,
  routes,
  type Admin,
  type AuditRecord,
  type GatewayDocument,
  type Operation,
  type PublishedEvent,
  type Snapshot,
} from 'gateway-admin-core';
import { applyPatch } from 'gateway-admin-core/json';
import { createFetchHandler } from 'gateway-admin-core/fetch';
import { createNodeHandler } from 'gateway-admin-core/node';

import { readAudit } from '../support/audit-reader.ts';
import { sampleDocument, sampleSnapshot } from '../support/document.ts';
import { otherLife } from '../support/event-reader.ts';
import { expectRefused } from '../support/expect-decision.ts';
import { patchOf, writers, type BadInput, type Input } from '../support/input.ts';
import { problemBreaches } from '../support/problem-details.ts';
import { openRunning, runAdmin, type Running } from '../support/running-admin.ts';
import {
  rowsThrough,
  transportNames,
  transports,
  type Answer,
  type Sent,
  type Transport,
} from '../support/transport.ts';
import { badInputs, fineInputs } from './bad-input.ts';
import { readOnlySnapshot } from '../support/read-only.ts';

const [patch] = writers;
const limit = 1_048_576;
const builtIns = [Object.prototype, Array.prototype, Function.prototype];
const untouched = builtIns.map((prototype) => Reflect.ownKeys(prototype));

afterEach(() => {
  expect(builtIns.map((prototype) => Reflect.ownKeys(prototype))).toEqual(untouched);
});

/** All events since the start. Ends the interface. */
async function eventsOf(admin: Admin): Promise<readonly PublishedEvent[]> {
  const reader = admin.events({ after: otherLife });
  await admin.close();
  const events: PublishedEvent[] = [];
  for await (const item of reader) if ('event' in item) events.push(item);
  return events;
}

/** The paths of what changes something, with the id of each. */
const writing = routes.flatMap(({ kind, id, method, path, aliases }) =>
  kind === 'command'
    ? [path, ...aliases].map((each) => ({
        id,
        method,
        path: new RegExp(`^${each.replace(/:\w+/g, '[^/]+')}/?$`),
      }))
    : [],
);

/** The id of the endpoint that a request would change something with; `undefined` if there is none. */
function writingRoute({ method, target }: Pick<Input, 'method' | 'target'>): string | undefined {
  const [place = '', ...query] = target.split('?');
  if (query.join('?') === 'dry_run=true') return undefined;
  return writing.find((each) => each.method === method && each.path.test(place))?.id;
}

/** An interface, which may be on a store whose calls are counted. */
interface Counted extends Running {
  /** What has written to the store since the start. */
  readonly writes?: jest.Mock;
}

/** Runs the interface on a store. The sessions of the sample document are not kept by a store. */
async function runStored(options: Parameters<typeof openRunning>[1] = {}): Promise<Counted> {
  const store = createMemoryStore();
  const writes = jest.fn();
  const running = await openRunning(
    {
      durable: store.durable,
      load: () => store.load(),
      append: (...given) => {
        writes('append', ...given);
        return store.append(...given);
      },
      compact: (...given) => {
        writes('compact', ...given);
        return store.compact(...given);
      },
      [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
    },
    options,
  );
  writes.mockClear();
  return { ...running, writes };
}

/** Fails when anything was changed, or asked of the gateway or the store, or anything went wrong inside. */
function expectUntouched({ admin, gateway, errors, writes }: Counted, before: Admin['snapshot']): void {
  expect(admin.snapshot).toBe(before);
  expect(gateway.calls).toEqual([]);
  expect(errors).toEqual([]);
  if (writes !== undefined) expect(writes).not.toHaveBeenCalled();
}

/** The same at the end of an interface, of which no reader has seen an event either. */
async function expectNothingChanged(running: Counted, before: Admin['snapshot']): Promise<void> {
  expectUntouched(running, before);
  expect(await eventsOf(running.admin)).toEqual([]);
  expectUntouched(running, before);
}

it('counts what an accepted change writes to the store', async () => {
  const { admin, writes } = await runStored();
  await admin.handle({ ...patch, body: patchOf('replace /user "x"') });
  expect(writes).toHaveBeenCalled();
  await admin.close();
});

/** The faults of a problem, each as `<operation> <pointer>`, in the order of their operations. */
function faultsOf({ body }: Answer): readonly string[] | undefined {
  const { errors } = body as { errors?: readonly { operation?: number; pointer: string }[] };
  return errors?.map(({ operation, pointer }) => `${String(operation ?? '-')} ${pointer}`).sort();
}

/** The core is told a peer for each request: attempts of one peer in one second can share an audit record. */
function sendThrough(transport: Transport, input: Input, records: readonly unknown[] = []): Promise<Answer> {
  const { method, target, headers, body } = input;
  const sent = { headers, peer: String(records.length), ...(body === undefined ? {} : { body }) };
  // Bytes go the same way as text.
  return transport.send(method, target, sent as Sent);
}

/** Expects one new audit record if the request would change something. */
async function expectRecord(
  input: Input,
  { clock }: Running,
  all: readonly AuditRecord[],
  before: number,
  expected: object,
): Promise<void> {
  await clock.settle();
  const id = writingRoute(input);
  const record = { kind: 'write', route: { id, method: input.method }, ...expected };
  expect(all.slice(before)).toMatchObject(id === undefined ? [] : [record]);
  expect(JSON.stringify(all.slice(before))).not.toContain('planted');
}

describe.each(transportNames)('through %s', (name) => {
  let transport: Transport | undefined;

  afterEach(async () => {
    await transport?.close();
    transport = undefined;
  });

  async function send(input: Input, { admin }: Running): Promise<Answer> {
    transport = await transports[name](admin);
    return sendThrough(transport, input);
  }

  // What is refused changes nothing, so one interface gets all inputs of a kind.
  describe.each(Object.entries(badInputs))('%s', (_, inputs) => {
    type Opened = readonly [Counted, Transport, readonly AuditRecord[]];
    const opened = new Map<string, Promise<Opened>>();

    function openFor({ limits, readOnly }: BadInput): Promise<Opened> {
      const key = JSON.stringify([limits, readOnly]);
      const opening = opened.get(key) ?? open(limits === undefined ? {} : { limits }, readOnly === true);
      opened.set(key, opening);
      return opening;
    }

    async function open(options: Parameters<typeof runStored>[0], readOnly: boolean): Promise<Opened> {
      const running = await runStored({
        ...options,
        ...(readOnly && { snapshot: readOnlySnapshot(sampleSnapshot()) }),
      });
      return [running, await transports[name](running.admin), readAudit(running.admin)];
    }

    afterAll(async () => {
      for (const opening of opened.values()) {
        const [running, carrier] = await opening;
        await carrier.close();
        expect(await eventsOf(running.admin)).toEqual([]);
      }
    });

    // `Request` and `node:http` change targets on the way, each in its own manner.
    const rows = rowsThrough(name, inputs, ({ method, target, code }) => [method, target, code].join(' '));
    // Promise: bad-input
    // Promise: patch-atomic
    // Promise: patch-faults
    // Promise: audit-each-write
    it.each(rows)('is refused with $status $code and changes nothing: $method $what', async (input) => {
      const [running, carrier, records] = await openFor(input);
      const [{ snapshot }, { length }] = [running.admin, records];
      const answer = await sendThrough(carrier, input, records);
      expect(answer).toMatchObject({ status: input.status, body: { code: input.code } });
      expect(problemBreaches(answer)).toEqual([]);
      expect(faultsOf(answer)).toEqual(input.faults?.toSorted());
      expect(answer.text).not.toContain('planted');
      const isPatchType = input.method === 'PATCH' && input.status === 415;
      expect(answer.headers['accept-patch']).toBe(isPatchType ? 'application/json-patch+json' : undefined);
      expectUntouched(running, snapshot);
      if (name === 'core')
        await expectRecord(input, running, records, length, { outcome: 'refused', code: input.code });
    });
  });

  // `Request` takes no body for GET.
  const fine = fineInputs.filter(
    ({ method, body }) => name !== 'fetch' || method !== 'GET' || body === undefined,
  );

  it.each(fine)('is accepted although it is unusual: $what', async (input) => {
    const running = runAdmin();
    const { snapshot } = running.admin;
    const records = readAudit(running.admin);
    const answer = await send(input, running);
    expect(answer).toMatchObject({ status: input.status });
    const done = { outcome: input.changes ? 'accepted' : 'unchanged', revision: input.changes ? 1 : 0 };
    await expectRecord(input, running, records, 0, done);
    if (!input.changes) await expectNothingChanged(running, snapshot);
    else expect(running.admin.snapshot.revision).toBe(snapshot.revision + 1);
  });

  it('finds a name in any Unicode normal form, and with any white space', async () => {
    const snapshot = createSnapshot({ services: [{ name: 'Köln Süd', router: 'cli' }] });
    const running = runAdmin({ snapshot });
    for (const each of ['Köln Süd', 'KÖLN-SÜD', 'Köln\u2003Süd', 'köln\u00a0süd', 'Köln\u2028Süd']) {
      for (const form of ['NFC', 'NFD']) {
        const target = `/services/${encodeURIComponent(each.normalize(form))}`;
        const answer = await send({ what: each, method: 'GET', target, headers: {} }, running);
        expect([each, form, answer.status]).toEqual([each, form, 200]);
        await transport?.close();
      }
    }
  });
});

describe('a pointer that is too long for a problem', () => {
  it.each(['~', '/', '~/', 'x~', '😀', 'x😀'])(
    'is cut to a valid pointer of whole characters: %s',
    async (unit) => {
      const transport = await transports.core(runAdmin().admin);
      for (const start of ['', 'x', 'xx', 'xxx']) {
        const key = start + unit.repeat(1000);
        const body = JSON.stringify({ name: 'joan', password: 'planted', [key]: 1 });
        const answer = await transport.send('PUT', '/users', { headers: writers[1].headers, body });
        expect(problemBreaches(answer)).toEqual([]);
        expect(answer.text).not.toMatch(/\\ud[89a-f]/);
      }
    },
  );
});

/** White space that never ends, in pieces; counts the bytes that were taken. */
function endless(): { readonly pieces: Iterable<Uint8Array>; taken: number; ended: boolean } {
  const piece = new TextEncoder().encode(' '.repeat(16_384));
  const count = { taken: 0, ended: false, pieces: give() };
  return count;

  function* give(): Generator<Uint8Array> {
    try {
      for (;;) {
        count.taken += piece.length;
        yield piece;
      }
    } finally {
      count.ended = true;
    }
  }
}

/** Pauses beyond the limit: a client that writes into a closed connection may lose the answer that is on its way. */
async function* unhurried(stream: ReturnType<typeof endless>): AsyncGenerator<Uint8Array> {
  for (const piece of stream.pieces) {
    if (stream.taken > limit) await sleep(5);
    yield piece;
  }
}

describe('a body that does not end', () => {
  // Promise: body-deadline
  it('is 408 after the deadline, and nothing is done', async () => {
    const running = await runStored();
    const { admin, clock } = running;
    const before = admin.snapshot;
    const handled = admin.handle({ ...patch, body: () => new Promise(() => undefined) });
    await clock.advance(admin.limits.bodyDeadlineMs - 1);
    expect(clock.sleeping).toBe(1);
    await clock.advance(1);
    expect(await handled).toMatchObject({ matched: true, response: { status: 408 } });
    await expectNothingChanged(running, before);
  });

  it('is 408 through node, and the connection is closed', async () => {
    const { admin, clock } = runAdmin();
    const server = createServer(createNodeHandler(admin));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const { target: path, ...rest } = patch;
    const request = httpRequest({ host: '127.0.0.1', port, path, ...rest, agent: false });
    const answered = new Promise((resolve) => request.once('response', resolve));
    request.on('error', () => undefined);
    request.write('[');
    while (clock.sleeping === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    await clock.advance(admin.limits.bodyDeadlineMs);
    expect(await answered).toMatchObject({ statusCode: 408, headers: { connection: 'close' } });
    request.destroy();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
});

describe('an endless body without Content-Length', () => {
  // Promise: endless-body
  it('is read with the limit, and is then a 413', async () => {
    const { admin } = runAdmin();
    const { snapshot } = admin;
    const asked: number[] = [];
    const handled = await admin.handle({
      ...patch,
      body: (most) => {
        asked.push(most);
        return Promise.resolve(new Uint8Array(most + 1).fill(0x20));
      },
    });
    expect(handled).toMatchObject({ matched: true, response: { status: 413 } });
    expect(asked).toEqual([limit]);
    expect(admin.snapshot).toBe(snapshot);
  });

  it('is 413 through fetch, and its stream is cancelled', async () => {
    const running = await runStored();
    const { snapshot } = running.admin;
    const stream = endless();
    const { target, ...init } = patch;
    const body = Readable.toWeb(Readable.from(stream.pieces)) as ReadableStream<Uint8Array>;
    const request = new Request(`http://localhost${target}`, {
      ...init,
      body,
      duplex: 'half',
    } as RequestInit);
    const response = await createFetchHandler(running.admin)(request);
    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({ code: 'content-too-large' });
    await expectNothingChanged(running, snapshot);
    expect(stream.ended).toBe(true);
    expect(stream.taken).toBeLessThan(1.5 * limit);
  });

  it('is 413 through node, and the connection is closed', async () => {
    const running = await runStored();
    const { snapshot } = running.admin;
    const stream = endless();
    const server = createServer(createNodeHandler(running.admin));
    const read = new Promise<number>((resolve) => {
      server.once('connection', (socket: Socket) => socket.once('close', () => resolve(socket.bytesRead)));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const { target: path, ...rest } = patch;
    const status = await new Promise((resolve, reject) => {
      const request = httpRequest({ host: '127.0.0.1', port, path, ...rest, agent: false });
      const source = Readable.from(unhurried(stream));
      request.once('response', (response) => resolve([response.statusCode, response.headers.connection]));
      request.once('error', reject);
      // Once it is answered, the client may find the connection closed under its hands.
      request.once('response', () => request.on('error', () => source.destroy()));
      request.once('close', () => source.destroy());
      source.pipe(request);
    });
    expect(status).toEqual([413, 'close']);
    expect(await read).toBeLessThan(2 * limit);
    await expectNothingChanged(running, snapshot);
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
});

const planted = (): never => {
  throw new Error('planted');
};

/** What is no JSON, and what JSON cannot be made of. */
const strange: readonly (readonly [what: string, value: unknown])[] = [
  ['undefined', undefined],
  ['a function', planted],
  ['a symbol', Symbol('planted')],
  ['a bigint', 1n],
  ['NaN', NaN],
  ['Infinity', -Infinity],
  [
    'an instance of a class',
    new (class {
      readonly op = 'remove';
      readonly path = '/user';
    })(),
  ],
  ['a date', new Date(0)],
  ['a map', new Map([['op', 'add']])],
  ['a boxed text', new String('planted')],
  ['bytes', new Uint8Array(1)],
  ['a promise', Promise.resolve()],
  ['an object that inherits its members', Object.create({ op: 'remove', path: '/user' })],
  ['a list with holes', Array<number>(1)],
  ['an array of a class', new (class extends Array<number> {})()],
  ['a cycle', cycle()],
  ['a cyclic list', cyclicList()],
  ['a getter that throws', Object.defineProperty({}, 'op', { get: planted, enumerable: true })],
  ['a proxy that throws', new Proxy({}, { ownKeys: planted, get: planted, getPrototypeOf: planted })],
  ['a revoked proxy', revoked()],
];

function cycle(): object {
  const loop: Record<string, unknown> = { op: 'add', path: '/user' };
  loop['value'] = loop;
  return loop;
}

function cyclicList(): unknown[] {
  const loop: unknown[] = [];
  loop.push([loop]);
  return loop;
}

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

/** The code with which each way into the library refuses some operations. */
function codesOf(operations: unknown): readonly string[] {
  const given = operations as readonly Operation[];
  const decisions = [
    (snapshot: Snapshot) => patchService(snapshot, 'My Service', given, { now: 0 }),
    (snapshot: Snapshot) => patchServer(snapshot, 'db-serv-1', given, { now: 0 }),
    (snapshot: Snapshot) => patchMonitor(snapshot, 'Main Monitor', given, { now: 0 }),
    (snapshot: Snapshot) => patchFilter(snapshot, 'Hint', given, { now: 0 }),
  ].map((decide) => expectRefused(decide));
  const applied = applyPatch({ user: 'x' }, operations);
  const problems = [...decisions, ...(applied.ok ? [] : [applied.problem])];
  expect(JSON.stringify(problems)).not.toContain('planted');
  return problems.map(({ status, code }) => `${String(status)} ${code}`);
}

describe('an unusual value from a program', () => {
  it.each(strange)('is refused as a patch, as an operation and inside an operation: %s', (_, value) => {
    const everywhere = Array<string>(5).fill('400 patch-malformed');
    expect(codesOf(value)).toEqual(everywhere);
    expect(codesOf([value])).toEqual(everywhere);
    for (const member of ['op', 'path', 'value']) {
      const operation = { op: 'add', path: '/user', value: 'x', [member]: value };
      expect([member, codesOf([operation])]).toEqual([member, everywhere]);
    }
    expect(codesOf([{ op: 'copy', path: '/user', from: value }])).toEqual(everywhere);
    expect(codesOf([{ op: 'add', path: '/user', value: [{ a: value }] }])).toEqual(everywhere);
  });

  it.each(strange)('is refused in a document, with a pointer to the place: %s', (_, value) => {
    const places = {
      '': value,
      '/services': { ...sampleDocument, services: value },
      '/services/0/name': { services: [{ name: value, router: 'cli' }] },
    };
    for (const [place, document] of Object.entries(places)) {
      const faults = faultsOfDocument(document);
      expect(faults.map(({ code }) => code)).toEqual(['patch-malformed']);
      expect(faults[0]?.pointer.startsWith(place)).toBe(true);
      expect(JSON.stringify(faults)).not.toContain('planted');
    }
  });

  it('has each getter called at most once, and keeps the returned value', () => {
    const runs: Record<string, number> = {};
    const once = (members: Readonly<Record<string, unknown>>): object =>
      Object.defineProperties(
        {},
        Object.fromEntries(
          Object.entries(members).map(([name, value]) => [
            name,
            { enumerable: true, get: () => counted(name, value) },
          ]),
        ),
      );
    const counted = (name: string, value: unknown): unknown => {
      runs[name] = (runs[name] ?? 0) + 1;
      return runs[name] === 1 ? value : planted;
    };
    const operation = once({ op: 'add', path: '/router_options', value: once({ mode: 'x' }), from: 7 });
    const decision = patchService(sampleSnapshot(), 'My Service', [operation as Operation], { now: 0 });
    const { password: _kept, ...options } =
      decision.next.services.find('my-service')?.settings.router_options ?? {};
    expect(options).toEqual({ mode: 'x' });
    expect(Object.values(runs)).toEqual([1, 1, 1, 1, 1]);
    const document = once({ services: [once({ name: 'Sales', router: 'cli' })] }) as GatewayDocument;
    expect([...createSnapshot(document).services].map(({ name }) => name)).toEqual(['Sales']);
    expect(new Set(Object.values(runs))).toEqual(new Set([1]));
  });
});

function faultsOfDocument(document: unknown): InvalidDocumentError['faults'] {
  try {
    createSnapshot(document as GatewayDocument);
  } catch (error) {
    if (error instanceof InvalidDocumentError) return error.faults;
    throw error;
  }
  return [];
}
