/**
 * The adapter for node:http: connections, pipelined requests, and answers in pieces.
 */
import { EventEmitter, once } from 'node:events';
import {
  Agent,
  createServer,
  get,
  type IncomingMessage,
  request as httpRequest,
  type Server,
  type ServerResponse,
} from 'node:http';
import { connect as connectHttp2, createServer as createHttp2Server } from 'node:http2';
import { type AddressInfo, connect, type Server as SocketServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Admin, AdminRequest } from 'gateway-admin-core';
import { createNodeHandler } from 'gateway-admin-core/node';
import { hold } from 'gateway-admin-core/testing';

import { openedSessions } from '../support/opened-session.ts';
import { appliedTo, runAdmin, type Running, sampleGateway } from '../support/running-admin.ts';

describe('an interface behind node', () => {
  const gateway = sampleGateway();
  let running: Running;
  let server: Server;
  let port: number;

  beforeEach(async () => {
    running = runAdmin({ gateway });
    server = createServer(createNodeHandler(running.admin));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    ({ port } = server.address() as AddressInfo);
  });

  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  it('accepts a target in absolute form, as proxies send it', async () => {
    const text = await new Promise<string>((resolve, reject) => {
      const socket = connect(port, '127.0.0.1').setEncoding('utf8').once('error', reject);
      let received = '';
      socket.on('data', (part: string) => (received += part)).once('end', () => resolve(received));
      socket.end('GET http://localhost/users HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    });
    expect(text).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('closes a keep-alive connection after reading only a part of the body', async () => {
    const agent = new Agent({ keepAlive: true });
    const connection = await new Promise((resolve, reject) => {
      const headers = { 'content-type': 'application/json-patch+json', 'content-length': 10_000_000 };
      const path = '/services/My-Service';
      const request = httpRequest({ port, host: '127.0.0.1', method: 'PATCH', path, headers, agent });
      request.once('error', reject);
      request.once('response', (response) => {
        request.on('error', () => undefined);
        resolve(response.headers.connection);
      });
      request.write(Buffer.alloc(2_000_000, ' '));
    });
    expect(connection).toBe('close');
    agent.destroy();
  });

  // Promise: early-answer
  it.each([
    ['PATCH', '/services/My-Service', 'text/plain', 415],
    ['PATCH', '/services/My-Service', 'application/json', 413],
    ['PUT', '/service/My-Service/stop', 'text/plain', 204],
  ])(
    'keeps its answer for a client that sends the body first: %s %s with %s',
    async (method, path, type, status) => {
      const { admin } = runAdmin({ limits: { maxBodyBytes: 100_000 } });
      server.removeAllListeners('request').on('request', createNodeHandler(admin));
      const socket = connect(port, '127.0.0.1').setEncoding('utf8').pause();
      const [length, part] = [400_000, ' '.repeat(20_000)];
      socket.write(
        `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${type}\r\nTransfer-Encoding: chunked\r\n\r\n`,
      );
      for (let sent = 0; sent < length; sent += part.length) {
        socket.write(`${part.length.toString(16)}\r\n${part}\r\n`);
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
      socket.write('0\r\n\r\n');
      let text = '';
      for await (const piece of socket) text += String(piece);
      expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${String(status)} [^]*\r\nconnection: close\r\n`, 'i'));
    },
  );

  it('closes the connection of a body without an end', async () => {
    const { admin, gateway } = runAdmin();
    server.removeAllListeners('request').on('request', createNodeHandler(admin));
    const socket = connect(port, '127.0.0.1').resume();
    socket.on('error', () => undefined);
    socket.write(
      'PUT /service/My-Service/stop HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n',
    );
    const sending = setInterval(() => socket.write('1\r\nx\r\n'), 10);
    await new Promise((resolve) => socket.once('close', resolve));
    clearInterval(sending);
    expect(appliedTo(gateway)).toEqual(['service.stop /services/My-Service']);
  });

  it('takes the peer from the connection, or from peerOf', async () => {
    const peers: unknown[] = [];
    const authenticate = ({ peer }: AdminRequest) => {
      peers.push(peer);
      return Promise.resolve({ name: 'ada' });
    };
    const { admin } = runAdmin({ access: { authenticate } });
    const peerOf = ({ headers }: IncomingMessage) => String(headers['x-real-ip']);
    for (const handler of [createNodeHandler(admin), createNodeHandler(admin, { peerOf })]) {
      server.removeAllListeners('request').on('request', handler);
      await fetch(`http://127.0.0.1:${String(port)}/services`, { headers: { 'x-real-ip': '192.0.2.1' } });
    }
    expect(peers).toEqual(['127.0.0.1', '192.0.2.1']);
  });

  // Promise: body-parser
  it('says to onError that a body parser has read the body before', async () => {
    const handler = createNodeHandler(running.admin);
    const parsing = createServer((request, response) => {
      request.resume().once('end', () => {
        handler(request, response);
      });
    });
    await new Promise<void>((resolve) => parsing.listen(0, '127.0.0.1', resolve));
    const origin = `http://127.0.0.1:${String((parsing.address() as AddressInfo).port)}`;
    const headers = { 'content-type': 'application/json-patch+json' };
    const sent = { method: 'PATCH', headers, body: '[]' };
    const answer = await fetch(`${origin}/services/My-Service`, sent);
    expect([answer.status, await answer.json()]).toMatchObject([500, { code: 'internal' }]);
    expect(running.errors.map(String)).toEqual([expect.stringContaining('before body parsers')]);
    // What needs no body is not in the way of a body parser.
    expect((await fetch(`${origin}/services`)).status).toBe(200);
    expect(
      (await fetch(`${origin}/gateway/logs/flush?dry_run=true`, { ...sent, method: 'POST' })).status,
    ).toBe(200);
    parsing.closeAllConnections();
    parsing.close();
  });

  it('breaks off an answer whose pieces fail, and tells onError of the adapter', async () => {
    const told: unknown[] = [];
    const failure = new Error('no more');
    const pieces = async function* (): AsyncGenerator<Uint8Array> {
      yield Buffer.from('[');
      await new Promise((resolve) => setImmediate(resolve));
      throw failure;
    };
    const admin: Admin = {
      ...running.admin,
      handle: () =>
        Promise.resolve({ matched: true, response: { status: 200, headers: {}, body: pieces() } }),
    };
    const handler = createNodeHandler(admin, { onError: (error) => told.push(error) });
    server.removeAllListeners('request').on('request', handler);
    const response = await fetch(`http://127.0.0.1:${String(port)}/services`);
    await expect(response.text()).rejects.toThrow('terminated');
    expect(told).toEqual([failure]);
  });

  it('cancels a waiting command when its client disconnects', async () => {
    const held = hold();
    gateway.will(held.apply);
    const send = (method: string, path: string): ReturnType<typeof httpRequest> =>
      httpRequest({ port, host: '127.0.0.1', method, path, agent: false }).once('error', () => undefined);
    const first = send('PUT', '/service/My-Service/stop').end();
    await held.begun;
    const second = send('PUT', '/service/My-Service/start');
    const arrived = new Promise<void>((resolve) => server.once('request', () => resolve()));
    second.end();
    await arrived;
    const gone = new Promise((resolve) => server.once('connection', resolve));
    second.destroy();
    // A request after it: by then the server has seen that the client is gone.
    const third = send('GET', '/services').end();
    await gone;
    await new Promise((resolve) => third.once('response', resolve));
    const answered = new Promise((resolve) => first.once('response', resolve));
    held.done();
    await answered;
    await running.admin.close();
    expect(appliedTo(gateway)).toEqual(['service.stop /services/My-Service']);
  });
});

describe('pipelined requests', () => {
  /** A server whose log-ins a test can count and hold, and a connection that sends so many requests at once. */
  async function pipeline(count: number, target: string, most = 9): Promise<Pipeline> {
    const [started, held]: [string[], (() => void)[]] = [[], []];
    const running = runAdmin({
      access: {
        authenticate: async (request) => {
          started.push(request.target);
          await new Promise<void>((resolve) => held.push(resolve));
          return { name: 'ada' };
        },
      },
    });
    running.admin.report(openedSessions(10_000));
    const server = createServer(createNodeHandler(running.admin));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').setEncoding('utf8');
    const lines = Array.from(
      { length: count },
      (_, index) => `GET ${target}?range=0-${String(most - index)}`,
    );
    socket
      .on('error', () => undefined)
      .write(lines.map((line) => `${line} HTTP/1.1\r\nHost: localhost\r\n\r\n`).join(''));
    return { started, held, socket, server };
  }

  interface Pipeline {
    readonly started: readonly string[];
    readonly held: (() => void)[];
    readonly socket: Socket;
    readonly server: Server;
  }

  const until = async (isSo: () => boolean): Promise<void> => {
    while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 1));
  };
  const aMoment = (): Promise<unknown> => new Promise((resolve) => setTimeout(resolve, 50));

  // Promise: pipelined
  it('begin one after the other, and are answered in order', async () => {
    const { started, held, socket, server } = await pipeline(5, '/services');
    let text = '';
    socket.on('data', (part: string) => (text += part));
    for (let turn = 1; turn <= 5; turn += 1) {
      await until(() => held.length === turn);
      await aMoment();
      expect(started).toHaveLength(turn);
      held[turn - 1]?.();
    }
    await until(() => text.split('HTTP/1.1 200').length === 6);
    expect(started.map((target) => target.slice(-1))).toEqual(['9', '8', '7', '6', '5']);
    socket.destroy();
    server.close();
  });

  it('wait while the client does not read the answer before', async () => {
    const { started, held, socket, server } = await pipeline(50, '/sessions', 10_000);
    socket.pause();
    const answering = setInterval(() => held.splice(0).forEach((go) => go()), 1);
    // The buffers of the system hold the first answers, and never all of the 50 lists.
    for (let before = -1; before < started.length;) {
      before = started.length;
      for (let moment = 0; moment < 4; moment += 1) await aMoment();
    }
    clearInterval(answering);
    expect(started.length).toBeLessThan(50);
    socket.destroy();
    server.closeAllConnections();
    server.close();
  });

  it('of 50 clients that read nothing take bounded memory', async () => {
    const running = runAdmin({});
    running.admin.report(openedSessions(10_000));
    let started = 0;
    const listener = createNodeHandler({
      ...running.admin,
      handle: (request) => {
        started += 1;
        return running.admin.handle(request);
      },
    });
    const server = createServer(listener);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const used = (): number => process.memoryUsage().heapUsed + process.memoryUsage().external;
    const [before, request] = [used(), 'GET /sessions HTTP/1.1\r\nHost: localhost\r\n\r\n'];
    const sockets = Array.from({ length: 50 }, () =>
      connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined),
    );
    for (const socket of sockets) socket.write(request.repeat(200));
    for (let seen = -1; seen < started;) {
      seen = started;
      for (let moment = 0; moment < 4; moment += 1) await aMoment();
    }
    // The buffers of the system hold the first answers. All 10,000 lists would take tens of gigabytes.
    expect(started).toBeGreaterThanOrEqual(50);
    expect(started).toBeLessThan(50 * 20);
    expect(used() - before).toBeLessThan(500e6);
    for (const socket of sockets) socket.destroy();
    server.closeAllConnections();
    server.close();
  });

  // Promise: pipelined
  it.each([
    ['a GET with a body', 'GET /services HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello'],
    [
      'a GET with a body in chunks',
      'GET /services HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n',
    ],
    [
      'a refused body',
      'PATCH /services/My-Service HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello',
    ],
  ])('are not begun after the answer that closes the connection: %s', async (_what, first) => {
    const { admin, gateway } = runAdmin();
    const server = createServer(createNodeHandler(admin));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').setEncoding('utf8');
    let text = '';
    socket.on('data', (part: string) => (text += part)).on('error', () => undefined);
    const stop = 'PUT /service/My-Service/stop HTTP/1.1\r\nHost: localhost\r\n\r\n';
    socket.write(first + stop + stop);
    await new Promise((resolve) => socket.once('close', resolve));
    expect(text.match(/^HTTP\/1\.1 \d+|^Connection: \S+/gim)).toEqual([
      expect.stringMatching(/^HTTP\/1\.1 (?:200|415)$/),
      expect.stringMatching(/^connection: close$/i),
    ]);
    expect(appliedTo(gateway)).toEqual([]);
    server.close();
  });

  it('are forgotten when the connection closes', async () => {
    const { started, held, socket, server } = await pipeline(50, '/services');
    await until(() => held.length === 1);
    socket.destroy();
    await aMoment();
    held[0]?.();
    await aMoment();
    expect(started).toHaveLength(1);
    server.close();
  });
});

const servers: SocketServer[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function portOf(server: SocketServer): Promise<number> {
  servers.push(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

async function answerAt(port: number): Promise<IncomingMessage> {
  const [answer] = (await once(
    get({ host: '127.0.0.1', port, agent: false, path: '/events' }),
    'response',
  )) as [IncomingMessage];
  return answer.on('error', () => undefined);
}

/** An interface whose answers have these pieces. */
function inPieces(pieces: () => AsyncIterable<Uint8Array>): Pick<Admin, 'handle'> {
  return {
    handle: () => Promise.resolve({ matched: true, response: { status: 200, headers: {}, body: pieces() } }),
  };
}

it('ends with the response that the host has ended, also if another piece comes', async () => {
  const { admin } = runAdmin();
  const told: unknown[] = [];
  const handle = createNodeHandler(admin, { onError: (error) => told.push(error) });
  let response: ServerResponse | undefined;
  const port = await portOf(createServer((request, given) => handle(request, (response = given))));
  const answer = await answerAt(port);
  await once(answer.setEncoding('utf8'), 'data');
  response?.end();
  await admin.handle({ method: 'PUT', target: '/service/My-Service/stop', headers: {} });
  await once(answer.resume(), 'end');
  expect(told).toEqual([]);
});

it('listens once to a middleware that takes its listeners, and ends when a client leaves that reads nothing', async () => {
  const ended = { at: 0 };
  const handle = createNodeHandler(
    inPieces(async function* () {
      try {
        for (let count = 0; count < 2000; count += 1) {
          yield new Uint8Array(100_000);
          await sleep(0);
        }
      } finally {
        ended.at = performance.now();
      }
    }),
  );
  const own = new EventEmitter();
  const port = await portOf(
    createServer((request, response) => {
      const on = response.on.bind(response);
      // As the middleware compression does.
      const takeOver = (event: string, listener: () => void): EventEmitter => {
        if (event !== 'drain') return on(event, listener);
        on('drain', () => own.emit('drain'));
        return own.on(event, listener);
      };
      handle(request, Object.assign(response, { on: takeOver }));
    }),
  );
  const answer = await answerAt(port);
  for (let count = 0; count < 40; count += 1) await once(answer, 'data');
  expect(own.listenerCount('drain')).toBe(1);
  expect(own.listenerCount('close')).toBe(0);
  answer.pause();
  await sleep(100);
  expect(ended.at).toBe(0);
  answer.destroy();
  for (let tries = 0; tries < 100 && ended.at === 0; tries += 1) await sleep(20);
  expect(ended.at).toBeGreaterThan(0);
});

it.each([
  ['an error', new Error('No more.')],
  ['nothing', undefined],
])('breaks over HTTP/2 when its pieces fail with %s, and tells it', async (_what, fault) => {
  const told: unknown[] = [];
  const handle = createNodeHandler(
    inPieces(async function* () {
      yield new Uint8Array(10);
      await Promise.reject(await sleep(20, fault));
    }),
    { onError: (error) => told.push(error) },
  );
  const server = createHttp2Server((request, response) =>
    handle(request as unknown as IncomingMessage, response as unknown as ServerResponse),
  );
  const client = connectHttp2(`http://127.0.0.1:${String(await portOf(server))}`);
  const stream = client.request({ ':path': '/' });
  const seen: string[] = [];
  stream.on('end', () => seen.push('end')).on('error', () => seen.push('error'));
  await once(stream.resume(), 'close').catch(() => undefined);
  client.close();
  expect([seen, told]).toEqual([['error'], [fault]]);
});
