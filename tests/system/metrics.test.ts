import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterEach, describe, expect, it } from '@jest/globals';
import { createBasicAuthentication, metricsOf } from 'gateway-admin-core';

import { closeAll, type Closers } from '../../examples/gateway/closing.ts';
import { createListener } from '../../examples/gateway/metrics.ts';
import { readExposition } from '../support/exposition.ts';
import { credentials, quickHasher, snapshotOf } from '../support/log-in.ts';
import { runAdmin } from '../support/running-admin.ts';

const headers = { authorization: credentials('ada', 'engine') };
const closers: Closers = [];
afterEach(() => closeAll(closers));

/** Serves an interface with a log-in. */
async function serve() {
  const { admin } = runAdmin({
    snapshot: await snapshotOf({ ada: 'engine' }),
    hasher: quickHasher,
    access: { authenticate: createBasicAuthentication() },
  });
  const server = createServer(createListener(admin)).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  closers.push(
    () => admin.close(),
    () => server.close().closeAllConnections(),
  );
  const origin = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  const ask = (path: string, init: RequestInit = { headers }) => fetch(origin + path, init);
  return { admin, ask };
}

describe('the example gateway', () => {
  it('serves its figures to Prometheus at /metrics, with the type of the format', async () => {
    const { admin, ask } = await serve();
    const response = await ask('/metrics');
    expect([response.status, response.headers.get('content-type')]).toEqual([
      200,
      'text/plain; version=0.0.4; charset=utf-8',
    ]);
    const text = await response.text();
    expect(text).toBe(metricsOf(admin));
    expect(readExposition(text).length).toBeGreaterThan(5);
  });

  it('compares the path alone, and answers HEAD without a body', async () => {
    const { admin, ask } = await serve();
    expect(await (await ask('/metrics?x=1')).text()).toBe(metricsOf(admin));
    const [got, asked] = [await ask('/metrics'), await ask('/metrics', { method: 'HEAD', headers })];
    expect([asked.status, await asked.text()]).toEqual([200, '']);
    expect(asked.headers.get('content-type')).toBe(got.headers.get('content-type'));
  });

  it('wants the log-in of the interface for them', async () => {
    const { ask } = await serve();
    const response = await ask('/metrics', {});
    expect([response.status, response.headers.get('content-type')]).toEqual([
      401,
      'application/problem+json',
    ]);
    expect(await response.text()).not.toContain('gateway_');
  });

  it('leaves every other request to the interface', async () => {
    const { ask } = await serve();
    expect((await ask('/services')).status).toBe(200);
    expect((await ask('/metrics/more')).status).toBe(404);
    expect((await ask('/metrics', { method: 'POST' })).status).toBe(404);
  });
});
