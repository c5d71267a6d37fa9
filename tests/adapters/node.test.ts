import { createServer, request as httpRequest, Agent, type IncomingMessage } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import type { Server } from 'node:http';

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Admin, AdminRequest } from 'gateway-admin-core';
import { createNodeHandler } from 'gateway-admin-core/node';
import { hold } from 'gateway-admin-core/testing';

import { openedSessions } from '../support/opened-session.ts';
import { appliedTo, runAdmin, sampleGateway, type Running } from '../support/running-admin.ts';

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

  it('answers 500 for an error in the third argument, and tells onError of the adapter', async () => {
    const told: unknown[] = [];
    const failure = new Error('no such page');
    const handler = createNodeHandler(running.admin, { onError: (error) => told.push(error) });
    server.removeAllListeners('request').on('request', (request, response) => {
      handler(request, response, () => {
        throw failure;
      });
    });
    const response = await fetch(`http://127.0.0.1:${String(port)}/elsewhere`);
    expect([response.status, await response.text()]).toEqual([500, '']);
    expect([told, running.errors]).toEqual([[failure], []]);
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
    running.admin.report(openedSessions(20_000));
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
    const { started, held, socket, server } = await pipeline(50, '/sessions', 20_000);
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
    running.admin.report(openedSessions(20_000));
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
