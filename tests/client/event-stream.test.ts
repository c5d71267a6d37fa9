/**
 * Streams of events, and signals of requests over fetch.
 */
import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { MessageChannel } from 'node:worker_threads';

import { afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type Admin, createUser, type ProblemCode, startService, stopService } from 'gateway-admin-core';
import {
  createClient,
  type EventStreamItem,
  type Send,
  sendTo,
  sendWithFetch,
} from 'gateway-admin-core/client';
import { connect, serve } from 'gateway-admin-core/message-port';
import { createNodeHandler } from 'gateway-admin-core/node';

import { buildPackage } from '../support/built-package.ts';
import { otherLife, placeOf } from '../support/event-reader.ts';
import { root } from '../support/project.ts';
import { runAdmin } from '../support/running-admin.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

function run(): Admin {
  const { admin } = runAdmin();
  closing.push(() => admin.close());
  return admin;
}

async function overFetch(admin: Admin): Promise<Send> {
  const server = createServer(createNodeHandler(admin)).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  closing.push(() => server.close().closeAllConnections());
  return sendWithFetch(`http://127.0.0.1:${String((server.address() as AddressInfo).port)}/`);
}

const stop = (admin: Admin) => admin.execute((state, context) => stopService(state, 'My Service', context));
const start = (admin: Admin) => admin.execute((state, context) => startService(state, 'My Service', context));

describe.each([
  ['in process', (admin: Admin) => Promise.resolve(sendTo(admin))],
  ['over fetch', overFetch],
])('client.events, %s', (_way, open) => {
  it('follows the stream of an interface, without secrets, and goes on after an id', async () => {
    const admin = run();
    const client = createClient(await open(admin));
    const control = new AbortController();
    const items: EventStreamItem[] = [];
    for await (const item of client.events({ after: otherLife, signal: control.signal })) {
      items.push(item);
      // The gap says that the stream is open.
      if (items.length === 1) {
        await stop(admin);
        await start(admin);
        await admin.execute((state, context) =>
          createUser(state, { name: 'joan', password: { sealed: 'opaque' } }, context),
        );
      }
      if (items.length === 4) control.abort();
    }
    const shown = items.map((item) => ('gap' in item ? 'gap' : `${placeOf(item.id)} ${item.event.type}`));
    expect(shown).toEqual(['gap', '1.0 service.stopped', '2.0 service.started', '3.0 user.created']);
    expect(JSON.stringify(items)).not.toContain('opaque');

    const [, first] = items;
    const after = first !== undefined && 'id' in first ? first.id : '';
    for await (const item of client.events({ after, types: ['user'] })) {
      expect(item).toMatchObject({ event: { type: 'user.created', name: 'joan' } });
      break;
    }
  });

  it('says of a gap how much was missed, since when, and the id to go on after', async () => {
    const { admin } = runAdmin({ limits: { maxEventsKept: 2 } });
    closing.push(() => admin.close());
    const client = createClient(await open(admin));
    const control = new AbortController();
    const items: EventStreamItem[] = [];
    for await (const item of client.events({ after: otherLife, signal: control.signal })) {
      items.push(item);
      if (items.length === 1) await stop(admin);
      if (items.length === 2) {
        const { id } = item;
        for (const change of [start, stop, start, stop]) await change(admin);
        const late = client.events({ after: id });
        const { value: gap } = await late.next();
        expect(gap).toEqual({ gap: true, id: expect.stringMatching(/\.3\.0$/), isRestart: false });
        expect((await late.next()).value).toMatchObject({ id: expect.stringMatching(/\.4\.0$/) });
        await late.return();
        control.abort();
      }
    }
    expect(items).toMatchObject([{ gap: true, isRestart: true }, { event: { type: 'service.stopped' } }]);
  });

  it('throws the problem of a refusal', async () => {
    const client = createClient(await open(run()));
    await expect(client.events({ after: 'x' }).next()).rejects.toMatchObject({
      cause: { code: 'header-invalid' },
    });
  });
});

it('client.events counts what a reader was too slow for, and says since when', async () => {
  const { admin } = runAdmin({ limits: { maxEventsKept: 2 } });
  closing.push(() => admin.close());
  // In process nothing is read ahead, so the test decides what the reader is too late for.
  const events = createClient(sendTo(admin)).events({ after: otherLife });
  await events.next();
  await stop(admin);
  const { value: first } = await events.next();
  for (const change of [start, stop, start, stop]) await change(admin);
  const at = first !== undefined && 'event' in first ? first.event.at : 0;
  const gap = { gap: true, isRestart: false, missed: 2, since: at };
  expect((await events.next()).value).toEqual({ ...gap, id: expect.stringMatching(/\.3\.0$/) });
  expect((await events.next()).value).toMatchObject({ event: { type: 'service.started' } });
  await events.return();
});

it('client.events connects again when the connection breaks, says so, and gives each event once', async () => {
  const admin = run();
  const server = createServer(createNodeHandler(admin)).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  closing.push(() => server.close().closeAllConnections());
  const client = createClient(
    sendWithFetch(`http://127.0.0.1:${String((server.address() as AddressInfo).port)}`),
  );
  const places: string[] = [];
  const states: string[] = [];
  for await (const item of client.events({ after: otherLife, onState: (state) => states.push(state) })) {
    places.push('gap' in item ? 'gap' : placeOf(item.id));
    if (places.length === 1) await stop(admin);
    if (places.length === 2) {
      server.closeAllConnections();
      await start(admin);
    }
    if (places.length === 3) break;
  }
  expect(places).toEqual(['gap', '1.0', '2.0']);
  expect(states).toEqual(['open', 'waiting', 'open']);
});

/** A transport whose first connection sends the given texts, and whose later ones send nothing. */
function sending(texts: Iterable<string>, type = 'text/event-stream'): Send {
  const encoder = new TextEncoder();
  async function* body(): AsyncGenerator<Uint8Array> {
    await Promise.resolve();
    for (const text of texts) yield encoder.encode(text);
  }
  return () => Promise.resolve({ status: 200, headers: { 'content-type': type }, body: body() });
}

/** A transport that brings one answer. */
function answering(status: number, type: string, body: string): Send {
  return () => Promise.resolve({ status, headers: { 'content-type': type }, body });
}

const frame = (data: string, id = '5f0c8e21a9b3.1.0'): string =>
  `id: ${id}\nevent: service.stopped\ndata: ${data}\n\n`;

function* repeated(text: string, count: number): Generator<string> {
  for (let at = 0; at < count; at += 1) yield text;
}

describe('client.events, and a stream that', () => {
  const firstOf = (send: Send) => createClient(send).events().next();

  it('brings a long event in small pieces, is read in linear time', async () => {
    const [piece, count] = ['x'.repeat(1024), 8192];
    const texts = ['id: a.1.0\nevent: x\ndata: "', ...repeated(piece, count), '"\n', '\n'];
    const { value } = await firstOf(sending(texts));
    expect(value).toMatchObject({ id: 'a.1.0' });
    expect((value as unknown as { readonly event: string }).event).toHaveLength(1024 * count);
  });

  it('brings an event without end, ends with an error', async () => {
    const events = firstOf(sending(repeated('x'.repeat(1_048_576), 70)));
    await expect(events).rejects.toThrow('status 200, an event over 64 MiB');
  });

  it.each([
    ['an id that no header can carry', frame('{}', 'ā.1.0')],
    ['an event that is no JSON', frame('<html>')],
  ])('brings %s, ends with an error', async (_what, text) => {
    await expect(firstOf(sending([text]))).rejects.toThrow(
      'No answer of the interface from send: status 200, ',
    );
  });

  it.each([
    ['is a page of HTML', sending(['<h1>Log in</h1>'], 'text/html'), 'status 200, <h1>Log in</h1>'],
    ['is of another program', answering(404, 'text/plain', 'no such page'), 'status 404, no such page'],
  ])('%s, ends with an error if the interface was never there', async (_what, send, message) => {
    await expect(firstOf(send)).rejects.toThrow(message);
  });

  it('has a line separator in a text, gives the whole text', async () => {
    const { value } = await firstOf(sending([frame(JSON.stringify({ reason: 'a\u2028id: b' }))]));
    expect(value).toMatchObject({ id: '5f0c8e21a9b3.1.0', event: { reason: 'a\u2028id: b' } });
  });
});

describe('client.events, once it was connected,', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  const problemType = 'application/problem+json';
  const refusing = (code: ProblemCode, status: number): Send =>
    answering(
      status,
      problemType,
      JSON.stringify({
        type: `urn:problem-type:gateway-admin:${code}`,
        code,
        status,
        detail: `It is ${code}.`,
      }),
    );

  /** Follows streams that come one after another. */
  function follow(...streams: readonly Send[]) {
    const left = [...streams];
    const [sent, states]: [string[], string[]] = [[], []];
    const send: Send = (request) => {
      sent.push(String(request.headers['last-event-id']));
      return (left.shift() as Send)(request);
    };
    const onState = (state: string, reason: Error | undefined): void => {
      states.push(reason === undefined ? state : `${state}: ${reason.message}`);
    };
    return { events: createClient(send).events({ onState }), sent, states };
  }

  // Promise: client-proxy
  it.each<[string, Send, string]>([
    ['a page', answering(404, 'text/plain', 'no such page'), 'status 404, no such page'],
    ['a page without a type', () => Promise.resolve({ status: 404, headers: {} }), 'status 404, '],
    ['a page that says yes', answering(200, 'text/html', '<h1>Log in</h1>'), 'status 200, <h1>Log in</h1>'],
    ['a page that wants a log-in', answering(401, 'text/html', 'Log in'), 'status 401, Log in'],
    [
      'the problem of another program',
      answering(403, problemType, '{"type":5,"status":403,"detail":"No."}'),
      'No.',
    ],
    ['no JSON where a problem is said to be', answering(404, problemType, '<html>'), 'status 404, <html>'],
    ['nothing at all where a problem is said to be', answering(404, problemType, 'null'), ''],
    ['a stream of something else', sending(['id: ā.1.0\n\n']), 'the event id ā.1.0'],
    ['an event that is no JSON', sending([frame('<html>', 'a.1.1')]), '<html>'],
    ['a bad gateway', answering(502, 'text/html', 'no upstream'), 'status 502, no upstream'],
    ['too many log-ins', refusing('login-throttled', 429), 'It is login-throttled.'],
    ['an interface that closes', refusing('closed', 503), 'It is closed.'],
    ['no connection', () => Promise.reject(new Error('ECONNREFUSED')), 'ECONNREFUSED'],
  ])('tries again after %s, and says so', async (_what, send, message) => {
    const { events, sent, states } = follow(
      sending([frame('{}', 'a.1.0')]),
      send,
      sending([frame('{}', 'a.2.0')]),
    );
    expect((await events.next()).value).toMatchObject({ id: 'a.1.0' });
    const next = events.next();
    // The first pause, and the second one, which is longer.
    await jest.advanceTimersByTimeAsync(2000);
    expect(sent).toHaveLength(2);
    await jest.advanceTimersByTimeAsync(3999);
    expect(sent).toHaveLength(2);
    await jest.advanceTimersByTimeAsync(1);
    expect((await next).value).toMatchObject({ id: 'a.2.0' });
    expect(sent[2]).toMatch(/^a\.1\.[01]$/);
    expect(states.filter((state) => state === 'open').length).toBeGreaterThanOrEqual(2);
    expect(states.at(-2)).toContain('waiting');
    expect(states.at(-2)).toContain(message);
  });

  it('ends with an error at an event over 64 MiB: the same event would come again and again', async () => {
    const endless = sending(repeated('x'.repeat(1_048_576), 70));
    const { events, sent, states } = follow(sending([frame('{}', 'a.1.0')]), endless);
    await events.next();
    const next = expect(events.next()).rejects.toThrow('status 200, an event over 64 MiB');
    await jest.advanceTimersByTimeAsync(2000);
    await next;
    expect([sent, states.at(-1)]).toEqual([['undefined', 'a.1.0'], 'open']);
  });

  it('waits longer from time to time, at most 30 seconds, and as at first after a stream', async () => {
    const none = answering(404, 'text/plain', '');
    const stream = (id: string) => sending([frame('{}', id)]);
    const others = Array.from({ length: 6 }, () => none);
    const { events, sent } = follow(stream('a.1.0'), ...others, stream('a.2.0'), none);
    await events.next();
    const next = events.next();
    for (const [at, pauseMs] of [2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000].entries()) {
      await jest.advanceTimersByTimeAsync(pauseMs - 1);
      expect(sent).toHaveLength(at + 1);
      await jest.advanceTimersByTimeAsync(1);
      expect(sent).toHaveLength(at + 2);
    }
    await next;
    void events.next();
    await jest.advanceTimersByTimeAsync(2000);
    expect(sent).toHaveLength(9);
  });

  it.each([
    ['a log-in that has ended', refusing('unauthenticated', 401), 'unauthenticated'],
    ['a role that is too small', refusing('forbidden', 403), 'forbidden'],
    ['an id that is none', refusing('header-invalid', 400), 'header-invalid'],
  ])('ends with the refusal of the interface: %s', async (_what, send, code) => {
    const { events } = follow(sending([frame('{}', 'a.1.0')]), send);
    await events.next();
    const next = expect(events.next()).rejects.toMatchObject({ cause: { code } });
    await jest.advanceTimersByTimeAsync(2000);
    await next;
  });
});

function overPort(admin: Admin): Promise<Send> {
  const { port1, port2 } = new MessageChannel();
  serve(admin, port1);
  closing.push(() => port2.close());
  return Promise.resolve(connect(port2));
}

it.each([
  ['in process', (admin: Admin) => Promise.resolve(sendTo(admin))],
  ['over fetch', overFetch],
  ['over a message port', overPort],
])('client.events, %s, ends a silent connection, and goes on after the last event', async (_way, open) => {
  // The clock of the interface stands still, so the heartbeats that it announces do not come.
  const { admin } = runAdmin({ limits: { heartbeatMs: 100, maxEventReaders: 1 } });
  closing.push(() => admin.close());
  const send = await open(admin);
  const sent: (string | undefined)[] = [];
  const client = createClient(async (request) => {
    sent.push(request.headers['last-event-id']);
    const response = await send(request);
    // The only place for a reader is free again: the first connection has ended.
    expect(response.status).toBe(200);
    if (sent.length === 2) await start(admin);
    return response;
  });
  const places: string[] = [];
  const states: string[] = [];
  for await (const item of client.events({ after: otherLife, onState: (state) => states.push(state) })) {
    places.push('gap' in item ? 'gap' : placeOf(item.id));
    if (places.length === 1) await stop(admin);
    if (places.length === 3) break;
  }
  expect(places).toEqual(['gap', '1.0', '2.0']);
  expect(sent).toEqual([otherLife, expect.stringMatching(/\.1\.0$/)]);
});

describe('client.events, and a connection', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  /** A transport whose connections bring one text, and then nothing until their signals abort. */
  function silent(text: string): { readonly send: Send; readonly opened: () => number } {
    let opened = 0;
    const send: Send = ({ signal }) => {
      opened += 1;
      const body = (async function* (): AsyncGenerator<Uint8Array> {
        yield new TextEncoder().encode(text);
        await new Promise((_resolve, reject) => {
          signal?.addEventListener('abort', () => reject(new Error('aborted')));
        });
      })();
      return Promise.resolve({ status: 200, headers: { 'content-type': 'text/event-stream' }, body });
    };
    return { send, opened: () => opened };
  }

  const begin = 'retry: 2000\n: heartbeat: 60000\n';

  it.each([
    ['three heartbeats that the interface announces', `${begin}id: a.1.0\n\n`, 180_000],
    ['45 seconds if the interface announces no heartbeat', 'retry: 2000\nid: a.1.0\n\n', 45_000],
    [
      '45 seconds if a field or a comment only resembles a heartbeat or an event',
      'heartbeat: 1\n: heartbeat: soon\n: event: x\n: data: {}\nid: a.1.0\n\n',
      45_000,
    ],
    [
      'the longest time of a timer if the heartbeats are rarer',
      'retry: 2000\n: heartbeat: 9007199254740991\nid: a.1.0\n\n',
      2 ** 31 - 1,
    ],
  ])('ends after %s', async (_time, text, silenceMs) => {
    const { send, opened } = silent(text);
    const control = new AbortController();
    const next = createClient(send).events({ signal: control.signal }).next();
    await jest.advanceTimersByTimeAsync(silenceMs + 1999);
    expect(opened()).toBe(1);
    await jest.advanceTimersByTimeAsync(1);
    expect(opened()).toBe(2);
    control.abort();
    await jest.advanceTimersByTimeAsync(0);
    expect(await next).toEqual({ done: true, value: undefined });
    expect(jest.getTimerCount()).toBe(0);
  });

  it('stays while the program is busy with an event', async () => {
    const { send, opened } = silent(`${begin}id: a.1.0\nevent: x\ndata: {}\n\n`);
    const events = createClient(send).events();
    await events.next();
    await jest.advanceTimersByTimeAsync(1_000_000);
    expect(opened()).toBe(1);
    await events.return();
    expect(jest.getTimerCount()).toBe(0);
  });

  it('that is silent from the beginning, ends the loop with an error', async () => {
    const send: Send = ({ signal }) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason as Error));
      });
    const next = expect(createClient(send).events().next()).rejects.toThrow('Nothing came for 45000 ms');
    await jest.advanceTimersByTimeAsync(45_000);
    await next;
  });
});

beforeAll(buildPackage);

/**
 * A server that sends the beginning of a body and then nothing, and a client whose signal aborts after a collection.
 */
const program = (type: string, beginning: string, read: string): string => `
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient, sendWithFetch } from ${JSON.stringify(pathToFileURL(`${root}dist/client/index.js`).href)};

let isClosed = false;
const server = createServer((_request, response) => {
  response.writeHead(200, { 'content-type': ${JSON.stringify(type)} }).write(${JSON.stringify(beginning)});
  response.on('close', () => (isClosed = true));
}).listen(0, '127.0.0.1');
await new Promise((resolve) => server.once('listening', resolve));
const send = sendWithFetch('http://127.0.0.1:' + server.address().port);
const client = createClient(send);
const { signal, abort } = (() => {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort(new Error('left')) };
})();
const reading = (${read})().then(() => 'ended', ({ message }) => message);
await sleep(100);
for (let round = 0; round < 5; round += 1) {
  gc();
  await sleep(10);
}
abort();
const end = await Promise.race([reading, sleep(180_000, 'still reading', { ref: false })]);
for (let wait = 0; wait < 100 && !isClosed; wait += 1) await sleep(10);
console.log(end, isClosed ? 'closed' : 'still open');
process.exit();
`;

async function outputOf(source: string): Promise<string> {
  const args = ['--expose-gc', '--input-type=module', '--eval', source];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return stdout;
}

describe('a signal of a request over fetch, after memory was collected', () => {
  it.each([
    [
      'client.events',
      'ended',
      program(
        'text/event-stream',
        ':\n\n',
        'async () => { for await (const item of client.events({ signal })); }',
      ),
    ],
    ['a list', 'left', program('application/json', '[', 'async () => client.services.list({ signal })')],
    [
      'a body that a program reads itself',
      'left',
      program(
        'application/json',
        '[',
        "async () => { for await (const _ of (await send({ method: 'GET', target: '/', headers: {}, signal })).body); }",
      ),
    ],
  ])('ends %s, and the connection', async (_what, end, source) => {
    expect(await outputOf(source)).toBe(`${end} closed\n`);
  });
});
