import { once } from 'node:events';
import {
  connect,
  constants,
  createServer,
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type Http2Server,
  type OutgoingHttpHeaders,
} from 'node:http2';
import { connect as connectSocket, createServer as createRelay, type AddressInfo } from 'node:net';

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createNodeHandler } from 'gateway-admin-core/node';
import { hold } from 'gateway-admin-core/testing';

import { openedSessions } from '../support/opened-session.ts';
import { appliedTo, runAdmin, sampleGateway, type Running } from '../support/running-admin.ts';

/** A relay in front of a server, which records what the server sends. */
async function recordFrames(server: Http2Server) {
  const chunks: Buffer[] = [];
  const relay = createRelay((socket) => {
    const behind = connectSocket((server.address() as AddressInfo).port, '127.0.0.1');
    socket.pipe(behind);
    behind.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      socket.write(chunk);
    });
    for (const each of [socket, behind]) each.on('error', () => undefined);
  });
  await once(relay.listen(0, '127.0.0.1'), 'listening');
  const { port } = relay.address() as AddressInfo;
  return { port, bytes: () => Buffer.concat(chunks), close: () => relay.close() };
}

/** What the frames of the first stream say, each once: RFC 9113 §4.1 has the form of a frame. */
function marksIn(bytes: Buffer): readonly string[] {
  const types: Readonly<Record<number, string>> = { 0: 'DATA', 1: 'HEADERS', 3: 'RESET' };
  const marks: string[] = [];
  for (let at = 0; at + 9 <= bytes.length; at += 9 + bytes.readUIntBE(at, 3)) {
    const [type = 0, flags = 0] = bytes.subarray(at + 3, at + 5);
    const mark = types[type];
    if (bytes.readUInt32BE(at + 5) !== 1 || mark === undefined) continue;
    marks.push(mark);
    if (type !== 3 && (flags & 1) === 1) marks.push('END');
  }
  return [...new Set(marks)];
}

describe('an interface behind HTTP/2', () => {
  /** The names of the headers of each response, also of those that Node drops with a warning. */
  const sent: string[][] = [];
  const told: unknown[] = [];
  /** The targets of the requests that arrived, and of those whose stream is closed at the server. */
  const [arrived, closed]: [string[], string[]] = [[], []];
  let running: Running;
  let server: Http2Server;
  let client: ClientHttp2Session;

  beforeEach(async () => {
    running = runAdmin({
      gateway: sampleGateway(),
      limits: { maxEventReaders: 1, maxBodyBytes: 10_000 },
    });
    const handler = createNodeHandler(running.admin, { onError: (error) => told.push(error) });
    server = createServer((request, response) => {
      const writeHead = response.writeHead.bind(response);
      Object.assign(response, {
        writeHead: (status: number, headers: OutgoingHttpHeaders) => {
          sent.push(Object.keys(headers));
          return writeHead(status, headers);
        },
      });
      arrived.push(request.url);
      response.once('close', () => closed.push(request.url));
      handler(request as never, response as never);
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    // Node counts the unsent rest of each body, also when the server has refused the body.
    const options = { maxSessionMemory: 1000 };
    client = connect(`http://127.0.0.1:${String((server.address() as AddressInfo).port)}`, options);
  });

  afterEach(async () => {
    await running.admin.close();
    client.destroy();
    // The streams of this test close before the next one counts.
    await once(server.close(), 'close');
    expect([told.splice(0), running.errors]).toEqual([[], []]);
    expect(sent.splice(0).flat()).not.toContain('connection');
    for (const targets of [arrived, closed]) targets.length = 0;
  });

  async function until(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise((resolve) => setTimeout(resolve, 1));
  }

  /** Sends a request, and leaves its body open. */
  function send(method: string, path: string, headers: OutgoingHttpHeaders = {}): ClientHttp2Stream {
    return client.request({ ':method': method, ':path': path, ...headers }, { endStream: false });
  }

  async function statusOf(stream: ClientHttp2Stream): Promise<unknown> {
    const [{ ':status': status }] = (await once(stream, 'response')) as [Record<string, unknown>];
    return status;
  }

  // Promise: http2-leaves
  it('loses a reader of events without an error, and its place is free', async () => {
    const events = send('GET', '/events').end();
    expect(await statusOf(events)).toBe(200);
    await once(events, 'data');
    events.close();
    await until(() => closed.length === 1);
    const next = send('GET', '/events').end();
    expect(await statusOf(next)).toBe(200);
    next.close();
    await until(() => closed.length === 2);
  });

  // Promise: http2-leaves
  it('cancels a waiting command when its client leaves', async () => {
    const held = hold();
    running.gateway.will(held.apply);
    const first = send('PUT', '/service/My-Service/stop').end();
    await held.begun;
    const target = '/service/My-Service/start';
    const second = send('PUT', target).end();
    await until(() => arrived.includes(target));
    second.close();
    await until(() => closed.includes(target));
    held.done();
    expect(await statusOf(first)).toBe(204);
    await running.admin.close();
    expect(appliedTo(running.gateway)).toEqual(['service.stop /services/My-Service']);
  });

  it('answers before the end of a body, without the header Connection', async () => {
    const patch = send('PATCH', '/services/My-Service', { 'content-type': 'text/plain' });
    patch.write('x');
    expect(await statusOf(patch)).toBe(415);
    patch.close();
    expect(await statusOf(send('GET', '/services').end())).toBe(200);
  });

  // Promise: http2-early-answer
  it.each([
    ['PATCH', '/services/My-Service', 'application/json', 413],
    ['PATCH', '/services/My-Service', 'text/plain', 415],
    ['PUT', '/service/My-Service/stop', 'application/json', 204],
    ['PUT', '/services', 'application/json', 405],
    ['PUT', '/nothing', 'application/json', 404],
    ['BREW', '/services', 'application/json', 501],
  ])('ends the stream of a body that it does not read: %s %s with %s', async (method, path, type, status) => {
    for (let count = 1; count <= 10; count += 1) {
      const stream = send(method, path, { 'content-type': type }).resume();
      const ended = once(stream, 'end');
      stream.end(Buffer.alloc(1_000_001, ' '));
      expect(await statusOf(stream)).toBe(status);
      await ended;
      await until(() => closed.length === count);
      expect(stream.rstCode).toBe(constants.NGHTTP2_NO_ERROR);
    }
    expect(await statusOf(send('GET', '/services').end())).toBe(200);
  });

  it.each([
    ['GET', '/services', false, ['HEADERS', 'DATA', 'END']],
    ['GET', '/services', true, ['HEADERS', 'DATA', 'END', 'RESET']],
    ['HEAD', '/services', true, ['HEADERS', 'END', 'RESET']],
    ['PUT', '/service/My-Service/stop', false, ['HEADERS', 'END']],
    ['PUT', '/service/My-Service/stop', true, ['HEADERS', 'END', 'RESET']],
  ])(
    'marks the end of the answer before a reset: %s %s, with a body that goes on: %s',
    async (method, path, hasBody, marks) => {
      const frames = await recordFrames(server);
      const other = connect(`http://127.0.0.1:${String(frames.port)}`);
      const stream = other.request({ ':method': method, ':path': path }, { endStream: !hasBody }).resume();
      if (hasBody) stream.write('x');
      await once(stream, 'close', { signal: AbortSignal.timeout(180_000) }).catch(() => stream.close());
      expect(marksIn(frames.bytes())).toEqual(marks);
      other.destroy();
      frames.close();
    },
  );

  it('sends the whole of an early answer', async () => {
    running.admin.report(openedSessions(5000));
    const list = send('GET', '/sessions').setEncoding('utf8');
    list.write('x');
    let text = '';
    list.on('data', (part) => (text += String(part)));
    await once(list, 'end');
    expect(JSON.parse(text)).toHaveLength(5003);
    await until(() => closed.length === 1);
  });
});
