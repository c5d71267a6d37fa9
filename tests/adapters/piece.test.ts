/**
 * Answers in pieces over `node:http`: what the host and its middleware do with the response meanwhile.
 */
import { EventEmitter, once } from 'node:events';
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect as connectHttp2, createServer as createHttp2Server } from 'node:http2';
import type { AddressInfo, Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterEach, expect, it } from '@jest/globals';
import type { Admin } from 'gateway-admin-core';
import { createNodeHandler } from 'gateway-admin-core/node';

import { runAdmin } from '../support/running-admin.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function portOf(server: Server): Promise<number> {
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
