import { describe, expect, it } from '@jest/globals';
import type { AdminRequest } from 'gateway-admin-core';
import { createFetchHandler } from 'gateway-admin-core/fetch';

import { crowdedSnapshot } from '../support/document.ts';
import { runAdmin } from '../support/running-admin.ts';

const origin = 'http://localhost';

describe('an interface behind fetch', () => {
  it('reads a body in chunks of any size', async () => {
    const { admin } = runAdmin();
    const text = '[{"op":"replace","path":"/max_connection","value":7}]';
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const byte of new TextEncoder().encode(text)) controller.enqueue(new Uint8Array([byte]));
        controller.close();
      },
    });
    const headers = { 'content-type': 'application/json-patch+json' };
    const init = { method: 'PATCH', headers, body, duplex: 'half' } as RequestInit;
    const response = await createFetchHandler(admin)(new Request(`${origin}/services/My-Service`, init));
    expect([response.status, await response.json()]).toMatchObject([200, { max_connection: 7 }]);
  });

  // Promise: body-parser
  it('says to onError that a body parser has read the body before', async () => {
    const { admin, errors } = runAdmin();
    const headers = { 'content-type': 'application/json-patch+json' };
    const request = new Request(`${origin}/services/My-Service`, { method: 'PATCH', headers, body: '[]' });
    await request.text();
    const response = await createFetchHandler(admin)(request);
    expect([response.status, await response.json()]).toMatchObject([500, { code: 'internal' }]);
    expect(errors.map(String)).toEqual([expect.stringContaining('before body parsers')]);
  });

  it('answers 500 for an error in next, and tells onError of the adapter', async () => {
    const { admin, errors } = runAdmin();
    const told: unknown[] = [];
    const failure = new Error('no such page');
    const next = (): never => {
      throw failure;
    };
    const handler = createFetchHandler(admin, { next, onError: (error) => told.push(error) });
    const response = await handler(new Request(`${origin}/elsewhere`));
    expect([response.status, await response.text()]).toEqual([500, '']);
    expect([told, errors]).toEqual([[failure], []]);
    expect((await createFetchHandler(admin, { next })(new Request(`${origin}/elsewhere`))).status).toBe(500);
  });

  it('stops producing a list when the client stops reading', async () => {
    const { admin } = runAdmin({ snapshot: crowdedSnapshot(2345) });
    let ended = false;
    const handler = createFetchHandler({
      ...admin,
      handle: async (request) => {
        const handled = await admin.handle(request);
        if (!handled.matched || typeof handled.response.body !== 'object') return handled;
        const pieces = handled.response.body;
        const watched = async function* (): AsyncGenerator<Uint8Array> {
          try {
            yield* pieces;
          } finally {
            ended = true;
          }
        };
        return { matched: true, response: { ...handled.response, body: watched() } };
      },
    });
    const response = await handler(new Request(`${origin}/sessions`));
    const reader = response.body?.getReader();
    expect((await reader?.read())?.done).toBe(false);
    await reader?.cancel();
    expect(ended).toBe(true);
  });

  it('answers 401 if principalOf returns nobody', async () => {
    const { admin } = runAdmin();
    const handler = createFetchHandler(admin, {
      principalOf: ({ headers }) => (headers.has('x-name') ? { name: 'ada' } : undefined),
    });
    expect((await handler(new Request(`${origin}/services`))).status).toBe(401);
    const named = { headers: { 'x-name': 'ada' } };
    expect((await handler(new Request(`${origin}/services`, named))).status).toBe(200);
  });

  it('takes the peer from peerOf', async () => {
    const peers: unknown[] = [];
    const authenticate = ({ peer }: AdminRequest) => {
      peers.push(peer);
      return Promise.resolve({ name: 'ada' });
    };
    const { admin } = runAdmin({ access: { authenticate } });
    const peerOf = ({ headers }: Request) => headers.get('x-real-ip') ?? undefined;
    await createFetchHandler(admin, { peerOf })(
      new Request(`${origin}/services`, { headers: { 'x-real-ip': '192.0.2.1' } }),
    );
    await createFetchHandler(admin, { peerOf })(new Request(`${origin}/services`));
    await createFetchHandler(admin)(new Request(`${origin}/services`));
    expect(peers).toEqual(['192.0.2.1', undefined, undefined]);
  });
});
