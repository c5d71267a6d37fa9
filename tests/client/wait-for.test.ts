/**
 * Waiting for a state, and sending again: over real streams, with the real clock.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterEach, describe, expect, it } from '@jest/globals';
import { type Admin, createSnapshot, startService, stopService } from 'gateway-admin-core';
import {
  createClient,
  type Send,
  sendTo,
  sendWithFetch,
  waitFor,
  withRetry,
} from 'gateway-admin-core/client';
import { createNodeHandler } from 'gateway-admin-core/node';

import { openedSession } from '../support/opened-session.ts';
import { runAdmin } from '../support/running-admin.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

function run(): Admin {
  const { admin } = runAdmin({
    limits: { maxEventReaders: 1 },
    snapshot: createSnapshot({ services: [{ name: 'Sales', router: 'readconnroute' }] }),
  });
  closing.push(() => admin.close());
  return admin;
}

const stop = (admin: Admin) => admin.execute((snapshot, context) => stopService(snapshot, 'Sales', context));
const start = (admin: Admin) =>
  admin.execute((snapshot, context) => startService(snapshot, 'Sales', context));

async function serve(admin: Admin, port = 0) {
  const server = createServer(createNodeHandler(admin)).listen(port, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const close = () => new Promise((resolve) => server.close(resolve).closeAllConnections());
  closing.push(close);
  return { close, port: (server.address() as AddressInfo).port };
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe('waitFor', () => {
  it('answers at once if the state is as wanted, and otherwise when an event has made it so', async () => {
    const admin = run();
    const client = createClient(sendTo(admin));
    const isIn = (state: string) =>
      waitFor(
        client,
        () => client.services.get('Sales', { fields: ['state'] }),
        (answer) => answer.ok && answer.value.state === state,
      );
    expect(await isIn('started')).toMatchObject({ ok: true, value: { state: 'started' } });
    const waiting = isIn('stopped');
    await pause(150);
    await stop(admin);
    expect(await waiting).toMatchObject({ value: { state: 'stopped' } });
  });

  it('takes a refusal for an answer', async () => {
    const admin = run();
    admin.report({ ...openedSession(7), service: 'Sales' });
    const client = createClient(sendTo(admin));
    const waiting = waitFor(
      client,
      () => client.sessions.get(7),
      (answer) => !answer.ok && answer.problem.code === 'session-not-found',
    );
    await pause(150);
    admin.report({ type: 'session.closed', id: 7, connected: 7 });
    expect((await waiting).ok).toBe(false);
  });

  it('asks rarely while events pour in, and misses none', async () => {
    const admin = run();
    const client = createClient(sendTo(admin));
    let asked = 0;
    const waiting = waitFor(
      client,
      () => {
        asked += 1;
        return client.services.get('Sales', { fields: ['state'] });
      },
      (answer) => answer.ok && asked > 1 && answer.value.state === 'stopped',
    );
    for (let at = 0; at < 100; at += 1) {
      await stop(admin);
      await start(admin);
    }
    await stop(admin);
    expect(await waiting).toMatchObject({ value: { state: 'stopped' } });
    expect(asked).toBeLessThan(20);
  });

  it('ends with an error that has the last answer', async () => {
    const admin = run();
    const client = createClient(sendTo(admin));
    const waiting = waitFor(
      client,
      () => client.services.get('Sales', { fields: ['state'] }),
      () => false,
      { timeoutMs: 50 },
    );
    await expect(waiting).rejects.toMatchObject({
      name: 'TimeoutError',
      message: 'Not done after 50 ms. The last answer was {"state":"started"}',
    });
  });

  it.each([Infinity, 2 ** 40])('has no limit with %d', async (timeoutMs) => {
    const leaving = new AbortController();
    const { signal } = leaving;
    const client = createClient(sendTo(run()));
    const waiting = waitFor(
      client,
      () => client.services.get('Sales'),
      () => false,
      { timeoutMs, signal },
    );
    await pause(150);
    leaving.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
  });

  it.each([NaN, -1, '5' as never])('refuses the limit %p', async (timeoutMs) => {
    const client = createClient(sendTo(run()));
    await expect(
      waitFor(
        client,
        () => client.services.get('Sales'),
        () => true,
        { timeoutMs },
      ),
    ).rejects.toThrow(RangeError);
  });

  it('takes an answer without a body, and says so', async () => {
    const client = createClient(sendTo(run()));
    const waiting = waitFor(
      client,
      () => client.services.start('Sales'),
      () => false,
      { timeoutMs: 50 },
    );
    await expect(waiting).rejects.toThrow('Not done after 50 ms. The last answer was without a body');
  });

  it('ends with the reason of its signal, with an error of the condition, and with that of a refused stream', async () => {
    const admin = run();
    const client = createClient(sendTo(admin));
    const ask = () => client.services.get('Sales');
    const leaving = new AbortController();
    const waiting = waitFor(client, ask, () => false, { signal: leaving.signal });
    await pause(20);
    leaving.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    await expect(waitFor(client, ask, () => false, { signal: leaving.signal })).rejects.toThrow('enough');
    const broken = waitFor(client, ask, () => {
      throw new RangeError('no such state');
    });
    await expect(broken).rejects.toThrow('no such state');
    const reader = new AbortController();
    void client.events({ signal: reader.signal }).next();
    await expect(waitFor(client, ask, () => false)).rejects.toThrow(
      /largest number of readers of events, which is 1/,
    );
    reader.abort();
  });

  it('goes on while the interface is away', async () => {
    const admin = run();
    const { port, close } = await serve(admin);
    const client = createClient(sendWithFetch(`http://127.0.0.1:${String(port)}`));
    const waiting = waitFor(
      client,
      () => client.services.get('Sales'),
      (answer) => answer.ok && answer.value.state === 'stopped',
    );
    await pause(150);
    await close();
    await stop(admin);
    await serve(admin, port);
    expect(await waiting).toMatchObject({ value: { state: 'stopped' } });
  });
});

describe('withRetry', () => {
  /** Answers 503 so many times, and then 204. Counts the requests. */
  function failing(times: number, headers = {}): { readonly send: Send; readonly count: () => number } {
    let count = 0;
    return {
      count: () => count,
      send: () => {
        count += 1;
        return Promise.resolve(
          count > times ? { status: 204, headers: {} } : { status: 503, headers, body: '{}' },
        );
      },
    };
  }
  const request = { method: 'PUT', target: '/services/Sales/stop', headers: {} };

  it('sends again after the time that the answer asks for', async () => {
    const { send, count } = failing(1, { 'retry-after': '1' });
    expect(await withRetry(send, 5000)(request)).toMatchObject({ status: 204 });
    expect(count()).toBe(2);
  });

  it('sends nothing again that would come too late, has no such time, or got another answer', async () => {
    const late = failing(2, { 'retry-after': '2' });
    expect(await withRetry(late.send, 1000)(request)).toMatchObject({ status: 503 });
    const untimed = failing(2);
    expect(await withRetry(untimed.send, 1000)(request)).toMatchObject({ status: 503 });
    const other: Send = () => Promise.resolve({ status: 504, headers: { 'retry-after': '0' }, body: '{}' });
    expect(await withRetry(other, 1000)(request)).toMatchObject({ status: 504 });
    expect([late.count(), untimed.count()]).toEqual([1, 1]);
  });

  it.each(['0', '-5', '', 'Wed, 21 Oct 2015 07:28:00 GMT'])(
    'does not hurry for Retry-After: %j',
    async (after) => {
      const { send, count } = failing(99, { 'retry-after': after });
      expect(await withRetry(send, 1500)(request)).toMatchObject({ status: 503 });
      expect(count()).toBeLessThan(3);
    },
  );

  it('sends what a function gives once, and refuses what is no time', async () => {
    const { send, count } = failing(9, { 'retry-after': '1' });
    const body = () => Promise.resolve(new Uint8Array(1));
    expect(await withRetry(send, 60_000)({ ...request, body })).toMatchObject({ status: 503 });
    expect(count()).toBe(1);
    for (const forMs of [NaN, -1, '200' as never]) expect(() => withRetry(send, forMs)).toThrow(RangeError);
    expect(() => withRetry(undefined as never, 1)).toThrow(TypeError);
  });

  it('ends with the signal of the request', async () => {
    const { send, count } = failing(9, { 'retry-after': '1' });
    const leaving = new AbortController();
    const answer = withRetry(send, 60_000)({ ...request, signal: leaving.signal });
    leaving.abort(new Error('enough'));
    await expect(answer).rejects.toThrow('enough');
    expect(count()).toBe(1);
  });
});
