import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterEach, describe, expect, it } from '@jest/globals';
import { createUser, stopService, startService, type Admin } from 'gateway-admin-core';
import {
  createClient,
  sendTo,
  sendWithFetch,
  type EventStreamItem,
  type Send,
} from 'gateway-admin-core/client';
import { createHandler } from 'gateway-admin-core/node';

import { otherLife, placeOf } from '../support/event-reader.ts';
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
  const server = createServer(createHandler(admin)).listen(0, '127.0.0.1');
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
          createUser(state, { name: 'joan', passwordHash: 'opaque' }, context),
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

  it('throws the problem of a refusal', async () => {
    const client = createClient(await open(run()));
    await expect(client.events({ after: 'x' }).next()).rejects.toMatchObject({
      cause: { code: 'header-invalid' },
    });
  });
});

it('client.events connects again when the connection breaks, and gives each event once', async () => {
  const admin = run();
  const server = createServer(createHandler(admin)).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  closing.push(() => server.close().closeAllConnections());
  const client = createClient(
    sendWithFetch(`http://127.0.0.1:${String((server.address() as AddressInfo).port)}`),
  );
  const places: string[] = [];
  for await (const item of client.events({ after: otherLife })) {
    places.push('gap' in item ? 'gap' : placeOf(item.id));
    if (places.length === 1) await stop(admin);
    if (places.length === 2) {
      server.closeAllConnections();
      await start(admin);
    }
    if (places.length === 3) break;
  }
  expect(places).toEqual(['gap', '1.0', '2.0']);
});
