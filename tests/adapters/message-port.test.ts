import { getEventListeners, once } from 'node:events';
import { pathToFileURL } from 'node:url';
import { MessageChannel, Worker, type MessagePort } from 'node:worker_threads';

import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import type { Admin, AdminRequest, AdminResponse } from 'gateway-admin-core';
import type { Send } from 'gateway-admin-core/client';
import { connect, serve, type Port, type ServeOptions } from 'gateway-admin-core/message-port';

import { buildPackage } from '../support/built-package.ts';
import { crowdedSnapshot } from '../support/document.ts';
import { root } from '../support/project.ts';
import { runAdmin } from '../support/running-admin.ts';

const closing: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A new channel, which the end of the test closes. */
function channel(): readonly [MessagePort, MessagePort] {
  const { port1, port2 } = new MessageChannel();
  closing.push(() => port2.close());
  return [port1, port2];
}

interface Served {
  readonly send: Send;
  readonly end: () => void;
  readonly near: MessagePort;
  readonly far: MessagePort;
  /** What went to `onError` of the adapter. */
  readonly told: readonly unknown[];
}

function open(admin: Pick<Admin, 'handle'>, options: ServeOptions = {}): Served {
  const [near, far] = channel();
  const told: unknown[] = [];
  const end = serve(admin, near, { onError: (error) => told.push(error), ...options });
  return { send: connect(far), end, near, far, told };
}

/** An interface that gives one response to every request. */
function answering(respond: (request: AdminRequest) => Partial<AdminResponse>): Pick<Admin, 'handle'> {
  return {
    handle: (request) =>
      Promise.resolve({ matched: true, response: { status: 200, headers: {}, ...respond(request) } }),
  };
}

/** An interface that never answers, and the signals of the requests. */
function silent(): Pick<Admin, 'handle'> & { readonly signals: readonly AbortSignal[] } {
  const signals: AbortSignal[] = [];
  return {
    signals,
    handle: ({ signal }) => {
      if (signal !== undefined) signals.push(signal);
      return new Promise(() => undefined);
    },
  };
}

const get: AdminRequest = { method: 'GET', target: '/services/My-Service', headers: {} };

function piecesIn({ body }: AdminResponse): AsyncIterator<Uint8Array, unknown> {
  if (typeof body !== 'object') throw new TypeError('The response has no pieces');
  return body[Symbol.asyncIterator]();
}

async function bytesIn(response: AdminResponse): Promise<Buffer> {
  const { body = '' } = response;
  if (typeof body === 'string') return Buffer.from(body);
  const pieces: Uint8Array[] = [];
  for await (const piece of body) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** Waits until something holds. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}

describe('a worker', () => {
  beforeAll(buildPackage);

  /** Runs a program with the built package; `load` imports a part of the package. */
  function start(program: string, workerData: unknown, transferList: MessagePort[] = []): Worker {
    const dist = JSON.stringify(pathToFileURL(`${root}dist/`).href);
    const text = `const { parentPort, workerData } = require('node:worker_threads');
      const load = (part) => import(${dist} + part);
      (async () => { ${program} })();`;
    const worker = new Worker(text, { eval: true, workerData, transferList });
    closing.push(() => worker.terminate());
    return worker;
  }

  it('commands an interface in the main thread, reads long lists, and follows the events', async () => {
    const { admin } = runAdmin({ snapshot: crowdedSnapshot(2345) });
    const [near, far] = channel();
    serve(admin, near);
    const program = `
      const { createClient } = await load('client/index.js');
      const { connect } = await load('adapters/message-port.js');
      const client = createClient(connect(workerData));
      const events = client.events();
      const first = events.next();
      await client.gateway.get();
      const { value } = await client.sessions.list();
      const stopped = await client.services.stop('Sales');
      const refused = await client.services.stop('Nothing');
      const { event } = (await first).value;
      await events.return();
      parentPort.postMessage([value.elements.length, stopped.ok, refused.problem.code, event.type]);`;
    const report: unknown[] = await once(start(program, far, [far]), 'message');
    expect(report).toEqual([[2345, true, 'service-not-found', 'service.stopped']]);
    expect(admin.snapshot.services.find('sales')?.state).toBe('stopped');
  });

  it('has the interface, and its exit rejects what is under way and what comes later', async () => {
    const program = `
      const { createAdmin, createSnapshot } = await load('index.js');
      const { serve } = await load('adapters/message-port.js');
      const gateway = { apply: () => new Promise(() => {}), inspect: () => new Promise(() => {}) };
      const snapshot = createSnapshot({ services: [{ name: 'Sales', router: 'cli' }] });
      serve(createAdmin({ snapshot, gateway }), parentPort);`;
    const worker = start(program, undefined);
    const send = connect(worker);
    const response = await send({ ...get, target: '/services/Sales?fields=state' });
    expect(response).toMatchObject({ status: 200, body: '{"state":"started"}' });
    const stop = send({ method: 'PUT', target: '/service/Sales/stop', headers: {} });
    const refused = expect(stop).rejects.toThrow('The other side of the message port has ended');
    await send(get);
    await worker.terminate();
    await refused;
    await expect(send(get)).rejects.toThrow('The other side of the message port has ended');
  });
});

describe('an interface behind a message port', () => {
  const chunks = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 12 });

  it('sends the pieces of a body as they are, one for each', async () => {
    let body: readonly Uint8Array[] = [];
    const { send } = open(
      answering(() => ({
        // eslint-disable-next-line @typescript-eslint/require-await -- nothing to wait for
        body: (async function* () {
          yield* body;
        })(),
      })),
    );
    await fc.assert(
      fc.asyncProperty(chunks, fc.boolean(), async (pieces, isPart) => {
        // A part of a larger memory, as those of Node's buffers are.
        body = isPart ? pieces.map((piece) => Buffer.concat([piece, piece]).subarray(piece.length)) : pieces;
        const got: number[][] = [];
        for await (const piece of (await send(get)).body as AsyncIterable<Uint8Array>) got.push([...piece]);
        expect(got).toEqual(pieces.map((piece) => [...piece]));
      }),
    );
  });

  it('gives no memory around a piece to the other side', async () => {
    const around = Buffer.from('secret piece secret');
    const { send } = open(
      answering(() => ({
        // eslint-disable-next-line @typescript-eslint/require-await -- nothing to wait for
        body: (async function* () {
          yield around.subarray(7, 12);
        })(),
      })),
    );
    const { value } = await piecesIn(await send(get)).next();
    expect(Buffer.from((value as Uint8Array).buffer).toString()).toBe('piece');
    expect(around.toString()).toBe('secret piece secret');
  });

  it('gets the body of a request as text or as bytes', async () => {
    const { admin } = runAdmin();
    const { send } = open(admin);
    const patch = (value: number): string =>
      JSON.stringify([{ op: 'replace', path: '/max_connection', value }]);
    const headers = { 'Content-Type': 'application/json-patch+json' };
    for (const body of [patch(7), Buffer.from(patch(8))]) {
      const response = await send({ ...get, method: 'PATCH', headers, body });
      expect(response.status).toBe(200);
    }
    expect(admin.snapshot.services.find('my-service')?.settings.max_connection).toBe(8);
  });

  it('answers 404 outside the interface', async () => {
    const { send } = open(runAdmin().admin);
    const response = await send({ ...get, target: '/nothing' });
    expect([response.status, response.body]).toEqual([404, expect.stringContaining('route-not-found')]);
  });

  it('answers many requests at once, each with its own answer', async () => {
    const { send } = open(runAdmin({ snapshot: crowdedSnapshot(3000) }).admin);
    const ids = Array.from({ length: 300 }, (_none, id) => id);
    const answers = await Promise.all(
      ids.map(async (id) => {
        const isList = id % 10 === 0;
        const target = isList
          ? `/sessions?fields=id&range=${String(id)}-2999`
          : `/sessions/${String(id)}?fields=id`;
        const found = JSON.parse((await bytesIn(await send({ ...get, target }))).toString()) as unknown;
        return isList ? (found as unknown[])[0] : found;
      }),
    );
    expect(answers).toEqual(ids.map((id) => ({ id })));
  });

  it('makes a piece when the client pulls the piece, and not before', async () => {
    let made = 0;
    const { send } = open(
      answering(() => ({
        // eslint-disable-next-line @typescript-eslint/require-await -- nothing to wait for
        body: (async function* () {
          for (;;) yield new Uint8Array([(made += 1)]);
        })(),
      })),
    );
    const pieces = piecesIn(await send(get));
    await send(get);
    expect(made).toBe(0);
    const both = await Promise.all([pieces.next(), pieces.next()]);
    expect(both.map(({ value }) => [...(value as Uint8Array)])).toEqual([[1], [2]]);
    await send(get);
    expect(made).toBe(2);
    await pieces.return?.();
    expect(await pieces.next()).toEqual({ done: true, value: undefined });
  });

  it('asks the hooks who sends a request, and from where; the client cannot say so itself', async () => {
    const callers: unknown[] = [];
    const { admin } = runAdmin({
      access: {
        authorize: (principal) => {
          callers.push(principal);
          return true;
        },
      },
    });
    const { send, told } = open(admin, {
      principalOf: ({ headers }) =>
        headers['x-name'] === undefined ? undefined : { name: headers['x-name'] },
      peerOf: ({ target }) => target,
    });
    const forged = { ...get, principal: { name: 'root' }, peer: 'elsewhere' };
    expect((await send(forged)).status).toBe(401);
    expect((await send({ ...forged, headers: { 'x-name': 'ada' } })).status).toBe(200);
    expect([callers, told]).toEqual([[{ name: 'ada' }], []]);
  });

  it('tells both sides of an error in principalOf, and answers 500', async () => {
    const failure = new Error('no such log-in');
    const { admin, errors } = runAdmin();
    const { send, told } = open(admin, { principalOf: () => Promise.reject(failure) });
    expect((await send(get)).status).toBe(500);
    expect([told, errors]).toEqual([[failure], [failure]]);
  });

  it('has a port of its own', () => {
    const { near, far, end } = open(runAdmin().admin);
    expect(() => serve(runAdmin().admin, near)).toThrow('The message port is in use');
    expect(() => connect(far)).toThrow(TypeError);
    end();
    expect(() => serve(runAdmin().admin, near)).not.toThrow();
  });

  it('works with the ports of browsers, which have listeners for events', async () => {
    const [near, far] = channel().map((port) => {
      const target = port as unknown as Extract<Port, { removeEventListener: unknown }>;
      return {
        postMessage: (message: unknown, transfer: ArrayBuffer[]) => port.postMessage(message, transfer),
        start: () => port.start(),
        addEventListener: target.addEventListener.bind(port),
        removeEventListener: target.removeEventListener.bind(port),
      };
    }) as [Port, Port];
    const end = serve(runAdmin({ snapshot: crowdedSnapshot(2345) }).admin, near);
    const send = connect(far);
    const list = await bytesIn(await send({ ...get, target: '/sessions' }));
    expect(JSON.parse(list.toString())).toHaveLength(2345);
    end();
    await expect(send(get)).rejects.toThrow('has ended');
  });
});

describe('a request through a message port', () => {
  it('rejects with its signal, and the signal aborts at the interface', async () => {
    const admin = silent();
    const { send } = open(admin);
    const client = new AbortController();
    const request = send({ ...get, signal: client.signal });
    await until(() => admin.signals.length === 1);
    expect(admin.signals[0]?.aborted).toBe(false);
    client.abort(new Error('enough'));
    await expect(request).rejects.toThrow('enough');
    await until(() => admin.signals[0]?.aborted === true);
    await expect(send({ ...get, signal: client.signal })).rejects.toThrow('enough');
    expect(admin.signals).toHaveLength(1);
  });

  it('has a signal that has aborted if the interface reads it after the client has left', async () => {
    const asked: AdminRequest[] = [];
    const { send, end } = open({
      handle: (request) => {
        asked.push(request);
        return new Promise(() => undefined);
      },
    });
    const client = new AbortController();
    const [left, stayed] = [send({ ...get, signal: client.signal }), send(get)];
    await until(() => asked.length === 2);
    client.abort(new Error('enough'));
    await expect(left).rejects.toThrow('enough');
    // Messages keep their order, so the interface knows by then that the first client has left.
    const later = send(get);
    await until(() => asked.length === 3);
    expect(asked.map(({ signal }) => signal?.aborted)).toEqual([true, false, false]);
    end();
    for (const request of [stayed, later]) await expect(request).rejects.toThrow('has ended');
  });

  it('goes on when the signal of another request aborts', async () => {
    const admin = silent();
    const { send, end } = open(admin);
    const [leaving, staying] = [new AbortController(), new AbortController()];
    const left = send({ ...get, signal: leaving.signal });
    const stayed = [send({ ...get, signal: staying.signal }), send(get)];
    await until(() => admin.signals.length === 3);
    leaving.abort(new Error('enough'));
    await expect(left).rejects.toThrow('enough');
    await until(() => admin.signals[0]?.aborted === true);
    expect(admin.signals.map(({ aborted }) => aborted)).toEqual([true, false, false]);
    end();
    for (const request of stayed) await expect(request).rejects.toThrow('has ended');
  });

  it('ends in the middle of its pieces with its signal, and with the end of its iterator', async () => {
    let [waits, ends] = [0, 0];
    const { send, told } = open(
      answering(({ signal }) => ({
        body: (async function* () {
          try {
            yield new Uint8Array([1]);
            waits += 1;
            await new Promise((resolve) => signal?.addEventListener('abort', resolve));
            throw new Error('the client has left');
          } finally {
            ends += 1;
          }
        })(),
      })),
    );
    const client = new AbortController();
    const aborted = piecesIn(await send({ ...get, signal: client.signal }));
    await aborted.next();
    const next = aborted.next();
    await until(() => waits === 1);
    client.abort(new Error('enough'));
    await expect(next).rejects.toThrow('enough');
    await until(() => ends === 1);
    const left = piecesIn(await send(get));
    await left.next();
    const last = left.next();
    await until(() => waits === 2);
    await left.return?.();
    expect(await last).toEqual({ done: true, value: undefined });
    await until(() => ends === 2);
    await new Promise((resolve) => setImmediate(resolve));
    expect(told).toEqual([]);
  });

  it('ends the pieces of an answer that comes after the client has left', async () => {
    let [isBegun, isEnded] = [false, false];
    const { send } = open({
      handle: async ({ signal }) => {
        isBegun = true;
        await new Promise((resolve) => signal?.addEventListener('abort', resolve));
        const body = {
          [Symbol.asyncIterator]: () => ({
            next: () => Promise.reject(new Error('nobody asks')),
            return: () => {
              isEnded = true;
              return Promise.resolve({ done: true as const, value: undefined });
            },
          }),
        };
        return { matched: true, response: { status: 200, headers: {}, body } };
      },
    });
    const client = new AbortController();
    const request = send({ ...get, signal: client.signal });
    await until(() => isBegun);
    client.abort();
    await expect(request).rejects.toThrow('aborted');
    await until(() => isEnded);
  });

  it('shares one listener on a signal with other requests, and leaves none behind', async () => {
    const { send } = open(runAdmin({ snapshot: crowdedSnapshot(2345) }).admin);
    const { signal } = new AbortController();
    const requests = Array.from({ length: 30 }, (_none, id) =>
      send({ ...get, target: id === 0 ? '/sessions' : `/sessions/${String(id)}`, signal }),
    );
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    const [list] = await Promise.all(requests);
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    if (list !== undefined) await bytesIn(list);
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  it('rejects if the interface breaks off, and the reason stays at the side of the interface', async () => {
    const failure = new Error('the table has a secret');
    const broken = open(
      answering(() => ({
        // eslint-disable-next-line @typescript-eslint/require-await -- nothing to wait for
        body: (async function* () {
          yield new Uint8Array([1]);
          throw failure;
        })(),
      })),
    );
    const pieces = piecesIn(await broken.send(get));
    await pieces.next();
    await expect(pieces.next()).rejects.toThrow('The interface broke off the answer because of an error.');
    const failing = open({ handle: () => Promise.reject(failure) });
    await expect(failing.send(get)).rejects.toThrow('onError of serve');
    expect([broken.told, failing.told]).toEqual([[failure], [failure]]);
  });

  // Promise: port-end
  it.each([
    ['the serving ends', ({ end }: Served) => end()],
    ['the interface closes its port', ({ near }: Served) => near.close()],
    ['the client closes its port', ({ far }: Served) => far.close()],
  ])('rejects, with all others, when %s', async (_when, stop) => {
    const admin = silent();
    const served = open(admin);
    const requests = Array.from({ length: 20 }, () => served.send(get));
    await until(() => admin.signals.length === 20);
    stop(served);
    for (const { status } of await Promise.allSettled(requests)) expect(status).toBe('rejected');
    await expect(served.send(get)).rejects.toThrow('has ended');
    await until(() => admin.signals.every(({ aborted }) => aborted));
    expect(served.told).toEqual([]);
  });

  it('rejects in the middle of its pieces when the serving ends', async () => {
    const { send, end } = open(runAdmin({ snapshot: crowdedSnapshot(2345) }).admin);
    const pieces = piecesIn(await send({ ...get, target: '/sessions' }));
    await pieces.next();
    end();
    await expect(pieces.next()).rejects.toThrow('has ended');
  });

  it('rejects at each later piece when it failed between two pieces', async () => {
    const { send, end } = open(runAdmin({ snapshot: crowdedSnapshot(2345) }).admin);
    const list = { ...get, target: '/sessions' };
    const client = new AbortController();
    const aborted = piecesIn(await send({ ...list, signal: client.signal }));
    const cut = piecesIn(await send(list));
    await Promise.all([aborted.next(), cut.next()]);
    client.abort(new Error('enough'));
    await expect(aborted.next()).rejects.toThrow('enough');
    await expect(aborted.next()).rejects.toThrow('enough');
    end();
    await expect(send(get)).rejects.toThrow('has ended');
    await expect(cut.next()).rejects.toThrow('has ended');
  });

  it('tells onError when the pieces that its client has left cannot be ended', async () => {
    const failure = new Error('the table cannot be closed');
    const { send, told } = open(
      answering(() => ({
        body: {
          [Symbol.asyncIterator]: () => ({
            next: () => Promise.resolve({ done: false as const, value: new Uint8Array([1]) }),
            return: () => Promise.reject(failure),
          }),
        },
      })),
    );
    const pieces = piecesIn(await send(get));
    await pieces.next();
    await pieces.return?.();
    await until(() => told.length > 0);
    expect(told).toEqual([failure]);
  });

  it('carries no function as its body, and no value that a message cannot have', async () => {
    const { send } = open(runAdmin().admin);
    await expect(send({ ...get, body: () => Promise.resolve(new Uint8Array()) })).rejects.toThrow(TypeError);
    const headers = { odd: (() => undefined) as never };
    const { signal } = new AbortController();
    await expect(send({ ...get, headers, signal })).rejects.toThrow('could not be cloned');
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    expect((await send(get)).status).toBe(200);
  });
});

describe('messages that do not come from the other side of the adapter', () => {
  const strange: readonly unknown[] = [
    undefined,
    null,
    7,
    'request',
    [],
    {},
    new Map([['type', 'request']]),
    { type: 'request' },
    { type: 'request', id: '1' },
    { type: 'pull', id: 99 },
    { type: 'pull' },
    { type: 'toString', id: 1 },
    { type: ['request'], id: 1 },
  ];

  // Promise: port-messages
  it.each(strange)('change nothing, and are an error for onError: %j', async (message) => {
    const { send, far, told } = open(runAdmin().admin);
    far.postMessage(message);
    expect((await send(get)).status).toBe(200);
    expect(told.map(String)).toEqual([expect.stringContaining('a port of its own')]);
  });

  it('are told if a client pulls twice, or uses an id twice', async () => {
    const admin = silent();
    const [near, far] = channel();
    const told: unknown[] = [];
    serve(admin, near, { onError: (error) => told.push(error) });
    for (const type of ['request', 'request', 'pull', 'pull']) far.postMessage({ type, id: 1, request: get });
    await until(() => told.length === 3);
    expect(admin.signals).toHaveLength(1);
  });

  it.each([
    [undefined, 500],
    [7, 500],
    [{}, 500],
    [{ method: 7, target: '/', headers: {} }, 500],
    [{ ...get, headers: null }, 400],
    [{ ...get, headers: { 'if-match': 7 } }, 400],
    [{ ...get, method: 'PATCH', body: 7 }, 500],
  ])('are answered if they are a request of a wrong form: %j', async (request, status) => {
    const [near, far] = channel();
    serve(runAdmin().admin, near);
    far.postMessage({ type: 'request', id: 1, request });
    const [reply] = (await once(far, 'message')) as [{ readonly value: AdminResponse }];
    expect(reply.value.status).toBe(status);
  });

  it.each([
    { done: true },
    { done: true, value: 'x' },
    { done: false, value: new Uint8Array(1) },
    { value: { status: 200, headers: {} } },
    { type: 'other' },
  ])('reject the request that they belong to: %j', async (reply) => {
    const [near, far] = channel();
    near.on('message', (question: { readonly id: number }) => {
      near.postMessage({ id: question.id + 99 });
      near.postMessage('something else');
      near.postMessage({ ...reply, id: question.id });
    });
    await expect(connect(far)(get)).rejects.toThrow('It must call serve, and send nothing else');
  });

  it('reject the piece that they belong to, and each later one', async () => {
    const [near, far] = channel();
    near.on('message', ({ id, type }: { readonly id: number; readonly type: string }) => {
      near.postMessage({ id, done: false, value: type === 'pull' ? 'x' : { status: 200, headers: {} } });
    });
    const pieces = piecesIn(await connect(far)(get));
    await expect(pieces.next()).rejects.toThrow('It must call serve, and send nothing else');
    await expect(pieces.next()).rejects.toThrow('It must call serve, and send nothing else');
  });

  it('are told, and reject what is under way, if the platform cannot read them', async () => {
    const { send, near, far, told } = open(silent());
    const cause = new Error('no such class here');
    near.emit('messageerror', cause);
    expect(told).toEqual([cause]);
    const request = send(get);
    far.emit('messageerror', cause);
    await expect(request).rejects.toMatchObject({ message: expect.stringContaining('no reply'), cause });
  });
});
