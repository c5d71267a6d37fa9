import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MessageChannel } from 'node:worker_threads';

import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { AdminRequest } from 'gateway-admin-core';
import { createFetchHandler } from 'gateway-admin-core/fetch';
import { connect, serve } from 'gateway-admin-core/message-port';
import { createNodeHandler } from 'gateway-admin-core/node';

import { runAdmin } from '../support/running-admin.ts';

const broken = new Error('the log is full');
const noPage = new Error('no such page');
const get: AdminRequest = { method: 'GET', target: '/services', headers: {} };

/** How `onError` of an adapter fails. */
const failing = [
  [
    'throws',
    (): never => {
      throw broken;
    },
  ],
  ['rejects', () => Promise.reject(broken) as never],
] as const;

/** How the routes of the host fail. */
const pages = {
  throws: (): never => {
    throw noPage;
  },
  rejects: () => Promise.reject(noPage),
} as const;

let shown: jest.SpiedFunction<typeof console.error>;
const opened: (() => unknown)[] = [];

beforeEach(() => {
  shown = jest.spyOn(console, 'error').mockImplementation(() => undefined);
});

afterEach(() => {
  for (const close of opened.splice(0)) close();
  shown.mockRestore();
});

/** Checks that the console got the failure of `onError` once, with the error that nobody got. */
function expectShown(lost: RegExp): void {
  expect(shown).toHaveBeenCalledTimes(1);
  const error: unknown = shown.mock.calls[0]?.[0];
  expect(error).toMatchObject({ name: 'HostError', call: 'onError', cause: broken });
  expect((error as Error).message).toMatch(lost);
}

/** The status of a response of a server with the routes `next`. */
async function statusBehindNode(next: () => unknown, onError?: (error: unknown) => unknown): Promise<number> {
  const handler = createNodeHandler(runAdmin().admin, onError === undefined ? {} : { onError });
  const server = createServer((request, response) => {
    handler(request, response, next);
  });
  opened.push(
    () => server.close(),
    () => server.closeAllConnections(),
  );
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return (await fetch(`http://127.0.0.1:${String(port)}/elsewhere`)).status;
}

async function statusBehindFetch(
  next: () => unknown,
  onError?: (error: unknown) => unknown,
): Promise<number> {
  const handler = createFetchHandler(runAdmin().admin, {
    next: next as () => Response,
    ...(onError === undefined ? {} : { onError }),
  });
  return (await handler(new Request('http://localhost/elsewhere'))).status;
}

describe.each([
  ['node', statusBehindNode],
  ['fetch', statusBehindFetch],
])('the adapter for %s', (_name, statusWith) => {
  // Promise: adapter-on-error
  it.each(failing)('answers although its onError %s', async (_way, onError) => {
    expect(await statusWith(pages.throws, onError)).toBe(500);
    await new Promise((resolve) => setImmediate(resolve));
    expectShown(/^onError failed: the log is full\. The error for onError was: no such page\.$/);
  });

  it.each(Object.keys(pages) as (keyof typeof pages)[])(
    'answers 500, and tells onError once, if the routes of the host fail: next %s',
    async (way) => {
      const told: unknown[] = [];
      expect(await statusWith(pages[way], (error) => told.push(error))).toBe(500);
      expect(told).toEqual([noPage]);
      expect(await statusWith(pages[way])).toBe(500);
      expect(shown).not.toHaveBeenCalled();
    },
  );
});

describe('the adapter for message ports', () => {
  // Promise: adapter-on-error
  it.each(failing)('goes on although its onError %s', async (_way, onError) => {
    const { port1, port2 } = new MessageChannel();
    opened.push(() => port2.close());
    serve(runAdmin().admin, port1, { onError });
    const send = connect(port2);
    port2.postMessage('something else');
    expect((await send(get)).status).toBe(200);
    expectShown(/a port of its own\.$/);
  });
});

describe('a hook of an adapter', () => {
  const failures: readonly (readonly [string, object, RegExp])[] = [
    [
      'peerOf that rejects',
      { peerOf: () => Promise.reject(noPage) },
      /^peerOf answered a promise instead of /,
    ],
    ['peerOf that resolves', { peerOf: () => Promise.resolve('192.0.2.1') }, /^peerOf answered a promise/],
    [
      'peerOf that gives null',
      { peerOf: () => null },
      /^peerOf answered null instead of a string or undefined/,
    ],
    [
      'peerOf that throws',
      { peerOf: pages.throws },
      /^peerOf failed: no such page\. The request was refused\.$/,
    ],
    ['principalOf that throws', { principalOf: pages.throws }, /^no such page$/],
  ];

  // Promise: audit-failed-hook
  it.each(failures)(
    'is told once to each side, and refuses the request: a %s',
    async (_what, hooks, message) => {
      const told: unknown[] = [];
      const options = { ...hooks, onError: (error: unknown) => told.push(error) };
      const { admin, errors } = runAdmin();
      const handler = createFetchHandler(admin, options);
      expect((await handler(new Request('http://localhost/services'))).status).toBe(500);
      expect(told).toMatchObject([{ message: expect.stringMatching(message) }]);
      expect(errors).toEqual(told);
    },
  );

  it.each(failures)('is answered although onError fails: a %s', async (_what, hooks) => {
    for (const [, onError] of failing) {
      const { admin, errors } = runAdmin();
      const handler = createFetchHandler(admin, { ...hooks, onError });
      expect((await handler(new Request('http://localhost/services'))).status).toBe(500);
      expect(errors).toHaveLength(1);
    }
    expect(shown).toHaveBeenCalledTimes(failing.length);
  });
});
