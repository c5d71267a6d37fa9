/**
 * Streams of events, and marks, through each adapter.
 */
import { createServer, get, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MessageChannel, type MessagePort } from 'node:worker_threads';

import { afterEach, describe, expect, it } from '@jest/globals';
import { type Admin, flushLogs, type Limits, patchService, type Plan, systemClock } from 'gateway-admin-core';
import { type Answer, createClient, type Send, sendWithFetch } from 'gateway-admin-core/client';
import { createFetchHandler } from 'gateway-admin-core/fetch';
import { connect, connect as connectPort, serve } from 'gateway-admin-core/message-port';
import { createNodeHandler } from 'gateway-admin-core/node';

import { placeOf } from '../support/event-reader.ts';
import { nothing, type OpenStream, readPieces } from '../support/event-stream.ts';
import { openedSessions } from '../support/opened-session.ts';
import { runAdmin, sampleGateway } from '../support/running-admin.ts';

type Client = Omit<OpenStream, 'response'> & { readonly status: number };
type Connect = (headers?: Readonly<Record<string, string>>) => Promise<Client>;

let server: Server | undefined;
let admin: Admin | undefined;
let port: MessagePort | undefined;

afterEach(async () => {
  await admin?.close();
  port?.close();
  server?.close();
  server?.closeAllConnections();
  server = undefined;
});

/** An interface on the clock of the machine. */
function run(limits: Partial<Limits> = {}): Admin {
  admin = runAdmin({ clock: systemClock as never, gateway: sampleGateway(), limits }).admin;
  return admin;
}

async function listen(served: Admin): Promise<number> {
  const { port } = await new Promise<AddressInfo>((resolve) => {
    const opened = createServer(createNodeHandler(served));
    server = opened.listen(0, '127.0.0.1', () => resolve(opened.address() as AddressInfo));
  });
  return port;
}

/** The client of `node:http`. */
async function nodeClient(served: Admin): Promise<Connect> {
  const port = await listen(served);
  return async (headers = {}) => {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      get({ host: '127.0.0.1', port, path: '/events', headers, agent: false }, resolve).once('error', reject);
    });
    return { status: response.statusCode ?? 0, ...readPieces(response as AsyncIterable<Buffer>) };
  };
}

/** `fetch` over a socket. */
async function fetchClient(served: Admin): Promise<Connect> {
  const port = await listen(served);
  return (headers = {}) => streamOf(fetch(`http://127.0.0.1:${String(port)}/events`, { headers }));
}

/** `fetch` without a socket, as in a service worker. */
function workerClient(served: Admin): Promise<Connect> {
  const handler = createFetchHandler(served);
  return Promise.resolve((headers = {}) =>
    streamOf(handler(new Request('http://localhost/events', { headers }))),
  );
}

/** A message port, as in a worker. */
function portClient(served: Admin): Promise<Connect> {
  const { port1, port2 } = new MessageChannel();
  serve(served, port1);
  port = port2;
  const send = connectPort(port2);
  return Promise.resolve(async (headers = {}) => {
    const { status, body } = await send({ method: 'GET', target: '/events', headers });
    return { status, ...readPieces(typeof body === 'object' ? body : nothing) };
  });
}

async function streamOf(answer: Promise<Response>): Promise<Client> {
  const { status, body } = await answer;
  return { status, ...readPieces(body ?? nothing) };
}

/** Waits until a client has a place. The server learns later than the client that a connection has ended. */
async function connectSoon(connect: Connect): Promise<Client> {
  for (;;) {
    const client = await connect();
    if (client.status === 200) return client;
    await client.leave();
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

describe.each([
  ['node:http', nodeClient],
  ['fetch', fetchClient],
  ['fetch without a socket', workerClient],
  ['a message port', portClient],
])('a client of %s', (_name, open) => {
  // Promise: stream-transports
  it('gets the first piece at once, and each event when it happens', async () => {
    const served = run();
    const client = await (await open(served))();
    expect(client.status).toBe(200);
    expect(await client.piece()).toMatch(/^retry: 2000\n: heartbeat: 15000\nid: /);
    for (const place of ['1.0', '2.0']) {
      const next = client.messages(1);
      await served.execute(flushLogs);
      expect((await next).map(({ id, type }) => `${placeOf(id)} ${type}`)).toEqual([`${place} logs.flushed`]);
    }
    await client.leave();
  });

  it('resumes after a break', async () => {
    const served = run();
    const connect = await open(served);
    const first = await connect();
    const next = first.messages(1);
    await served.execute(flushLogs);
    await next;
    await first.leave();
    for (let at = 0; at < 3; at += 1) await served.execute(flushLogs);
    const second = await connect({ 'last-event-id': first.lastId() });
    expect((await second.messages(3)).map(({ id }) => placeOf(id))).toEqual(['2.0', '3.0', '4.0']);
    await second.leave();
  });

  it('leaves its place when it goes', async () => {
    const served = run({ maxEventReaders: 1 });
    const connect = await open(served);
    const first = await connect();
    await first.piece();
    const refused = await connect();
    expect(refused.status).toBe(503);
    await refused.leave();
    await first.leave();
    expect((await connectSoon(connect)).status).toBe(200);
  });

  it('gets the end when the interface closes', async () => {
    const served = run();
    const client = await (await open(served))();
    const messages = client.messages(9);
    await served.execute(flushLogs);
    await served.close();
    expect(await messages).toHaveLength(1);
    const closing = server;
    if (closing !== undefined) await new Promise((resolve) => closing.close(resolve));
  });
});

it('a client of node:http that reads nothing gets a gap later, and others get every event at once', async () => {
  const kept = 200;
  const served = run({ maxEventsKept: kept });
  const connect = await nodeClient(served);
  const [slow, quick] = [await connect(), await connect()];
  // Large enough for the buffers of the connection to be full.
  const actor = 'a'.repeat(100_000);
  const total = 300;
  const places: string[] = [];
  for (let at = 0; at < total; at += 1) {
    await served.execute(flushLogs, { actor });
    const [message] = await quick.messages(1);
    places.push(placeOf(message?.id ?? ''));
  }
  expect(places).toEqual(Array.from({ length: total }, (_none, at) => `${String(at + 1)}.0`));
  await served.close();
  const late = await slow.messages(total + 1);
  expect(late.map(({ type }) => type).filter((type) => type === 'gap')).toEqual(['gap']);
  expect(placeOf(late.at(-1)?.id ?? '')).toBe(`${String(total)}.0`);
  await quick.leave();
});

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** How the client reaches the interface: through each adapter. */
const ways: Readonly<Record<string, (admin: Admin) => Promise<Send>>> = {
  async 'the message port'(admin) {
    const { port1, port2 } = new MessageChannel();
    serve(admin, port1);
    closing.push(() => port2.close());
    return Promise.resolve(connect(port2));
  },
  async 'the fetch adapter'(admin) {
    const handle = createFetchHandler(admin);
    const own = async (...given: Parameters<typeof fetch>): Promise<Response> =>
      handle(new Request(...given));
    return Promise.resolve(sendWithFetch('http://localhost', { fetch: own }));
  },
  async 'the node adapter'(admin) {
    const server = createServer(createNodeHandler(admin)).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    closing.push(() => new Promise((resolve) => server.close(resolve).closeAllConnections()));
    return sendWithFetch(`http://127.0.0.1:${String((server.address() as AddressInfo).port)}`);
  },
};

function markIn(plan: Answer<Plan>): string {
  if (!plan.ok) throw new Error(plan.problem.detail);
  return plan.value.mark;
}

// Promise: mark
it.each(Object.entries(ways))(
  'a mark is refused or carried out by a client through %s',
  async (_way, open) => {
    const { admin } = runAdmin();
    const client = createClient(await open(admin));
    const limit = [{ op: 'replace', path: '/max_connection', value: 7 }] as const;
    const mark = markIn(await client.services.patch.plan('My Service', limit));
    await admin.execute((snapshot, context) =>
      patchService(snapshot, 'My Service', [{ op: 'replace', path: '/max_connection', value: 8 }], context),
    );
    const refused = await client.services.patch('My Service', limit, { mark });
    if (refused.ok) throw new Error('The mark of another plan was carried out');
    const { status, code, plan } = refused.problem;
    expect([status, code, plan]).toEqual([
      412,
      'precondition-failed',
      expect.objectContaining({ outcome: 'accepted' }),
    ]);
    const { mark: now = '' } = plan as { readonly mark?: string };
    expect(await client.services.patch('My Service', limit, { mark: now })).toMatchObject({ ok: true });
    expect(admin.snapshot.services.find('my-service')?.settings.max_connection).toBe(7);

    const closed = markIn(await client.services.closeSessions.plan('My Service'));
    admin.report(openedSessions(20));
    const answer = await client.services.closeSessions('My Service', {
      mark: closed,
      prefer: 'representation',
    });
    expect(answer).toMatchObject({ ok: true, value: { closed: { sessions: 2, connections: 3 } } });
    expect(admin.snapshot.sessions.countOfService('my-service')).toBe(20);
  },
);
