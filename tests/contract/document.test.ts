/**
 * The document as a whole: what a scenario cannot show, because it is large, or needs a sealer.
 */
import { describe, expect, it } from '@jest/globals';
import { createSecretSealer, createSnapshot, type GatewayDocument } from 'gateway-admin-core';

import { appliedTo, runAdmin } from '../support/running-admin.ts';

const headers = { 'content-type': 'application/json' };

/** Sends requests to an interface, and gives the status and the JSON of each answer. */
function sending({ admin }: ReturnType<typeof runAdmin>) {
  return async (method: string, target: string, body?: unknown) => {
    const text = body === undefined ? {} : { body: JSON.stringify(body) };
    const handled = await admin.handle({ method, target, headers, ...text });
    if (!handled.matched) throw new Error('There is no such route');
    const { status, body: answer = '' } = handled.response;
    return { status, json: (answer === '' ? null : JSON.parse(answer as string)) as unknown };
  };
}

describe('a document of 5,000 resources', () => {
  const document: GatewayDocument = {
    servers: Array.from({ length: 4500 }, (_none, at) => ({
      ...{ name: `db-${String(at)}`, address: '10.0.0.1', port: 5432, protocol: 'pg' },
    })),
    services: Array.from({ length: 500 }, (_none, at) => ({
      ...{ name: `S-${String(at)}`, router: 'cli', state: 'stopped' as const },
      servers: [`/servers/db-${String(at)}`],
    })),
  };

  // Promise: document-one-command
  it('is taken over in one command through the front door, and one undo takes it back', async () => {
    const running = runAdmin({ snapshot: createSnapshot({ filters: [{ name: 'Hint', module: 'tee' }] }) });
    const send = sending(running);
    const { json: plan } = await send('POST', '/document?dry_run=true', document);
    expect(plan).toMatchObject({
      ...{ outcome: 'accepted', count: { 'server.created': 4500, 'service.created': 500 } },
      events: { length: 100 },
      effects: { length: 100 },
    });
    const { mark } = plan as { readonly mark: string };
    expect(await send('POST', `/document?mark=${mark}`, document)).toMatchObject({ status: 204 });
    expect(appliedTo(running.gateway)).toHaveLength(5000);
    expect(await send('POST', '/document', document)).toMatchObject({ status: 204 });
    const { json: entries } = await send('GET', '/history?fields=id,events,resources,count,undo');
    expect(entries).toMatchObject([
      {
        ...{ events: { length: 100 }, resources: { length: 100 }, undo: 'possible' },
        count: { 'server.created': 4500, 'service.created': 500 },
      },
    ]);
    const [{ id }] = entries as readonly [{ readonly id: string }];
    const whole = await send('GET', `/history/${id}?fields=events,count`);
    expect(whole.json).toMatchObject({ events: { length: 5000 } });
    expect(Object.keys(whole.json as object)).toEqual(['events']);
    const part = await send('GET', `/history/${id}?range=4998-9999&fields=resources,count`);
    expect(part.json).toEqual({
      resources: ['/services/S-498', '/services/S-499'],
      count: { 'server.created': 4500, 'service.created': 500 },
    });
    expect(await send('PUT', `/history/${id}/undo`)).toMatchObject({ status: 204 });
    const { services, servers, filters } = running.admin.snapshot;
    expect([services.size, servers.size, filters.size]).toEqual([0, 0, 1]);
  });
});

describe('a large member of a document', () => {
  const large = 'x'.repeat(70_000);

  it('is ignored as a small one is, unless no document has its name', async () => {
    const send = sending(runAdmin({ snapshot: createSnapshot({}) }));
    expect(await send('POST', '/document', { sessions: [large], gateway: { config: large } })).toMatchObject({
      status: 204,
    });
    expect(await send('POST', '/document', { server: [large] })).toMatchObject({
      ...{ status: 422, json: { code: 'field-unknown', errors: [{ pointer: '/server' }] } },
    });
  });
});

describe('the secrets of a document', () => {
  const sales = { name: 'Sales', router: 'cli', state: 'stopped' as const };
  const old = { sealed: 'old' };
  const sealed = { password: old, router_options: { token: old, other: old } };

  // Promise: document-secret
  it('stay if the document lacks them, and are sealed if it has them in plain text', async () => {
    const running = runAdmin({
      snapshot: createSnapshot({ services: [{ ...sales, ...sealed }] }),
      sealer: createSecretSealer(),
      secretParameters: ['token'],
    });
    const send = sending(running);
    const settings = () => running.admin.snapshot.services.find('sales')?.settings;
    expect(await send('POST', '/document', { services: [{ ...sales, router_options: {} }] })).toMatchObject({
      status: 204,
    });
    expect(appliedTo(running.gateway)).toEqual([]);
    const written = { ...sales, password: 'plain', router_options: { token: 'plain', mode: 'x' } };
    const { json: plan } = await send('POST', '/document?dry_run=true', { services: [written] });
    expect(JSON.stringify(plan)).not.toContain('plain"');
    const { mark } = plan as { readonly mark: string };
    expect(await send('POST', `/document?mark=${mark}`, { services: [written] })).toMatchObject({
      status: 204,
    });
    expect(settings()).toMatchObject({
      router_options: { mode: 'x', token: { sealed: expect.not.stringMatching(/old|plain/) }, other: old },
      password: { sealed: expect.not.stringMatching(/old|plain/) },
    });
    const { json: entries } = await send('GET', '/history?fields=id,undo');
    // As a patch of a secret, which has the sealed text before.
    expect(entries).toMatchObject([{ undo: 'possible' }]);
    const [{ id }] = entries as readonly [{ readonly id: string }];
    expect(await send('PUT', `/history/${id}/undo`)).toMatchObject({ status: 204 });
    expect(settings()).toMatchObject(sealed);
  });
});
