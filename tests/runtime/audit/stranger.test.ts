import { describe, expect, it } from '@jest/globals';
import {
  createBasicAuthentication,
  createPbkdf2Hasher,
  createSnapshot,
  type AdminOptions,
  type AdminRequest,
  type AuditRecord,
} from 'gateway-admin-core';

import { readAudit } from '../../support/audit-reader.ts';
import { sampleDocument } from '../../support/document.ts';
import { runAdmin } from '../../support/running-admin.ts';

const hasher = createPbkdf2Hasher({ rounds: 1 });
const secret = 'planted-Passw0rd';
const wrong = { authorization: `Basic ${btoa(`${secret}:${secret}`)}` };
const origin = 'https://evil.example';
const target = '/service/My-Service/stop';

/** An interface that asks for a log-in, and what it has recorded so far. */
async function guarded(options: Partial<AdminOptions> = {}) {
  const users = [{ name: 'ada', passwordHash: await hasher.hash('engine') }];
  const running = runAdmin({
    snapshot: createSnapshot({ ...sampleDocument, users }),
    hasher,
    access: { authenticate: createBasicAuthentication() },
    limits: { maxHashesInFlight: 10, maxHashesQueued: 2000 },
    ...(options as object),
  });
  const { admin, clock } = running;
  const records = readAudit(admin);
  return {
    ...running,
    send: async (request: Partial<AdminRequest>) => {
      await admin.handle({ method: 'GET', target: '/services', headers: wrong, peer: 'a', ...request });
    },
    records: async (): Promise<readonly AuditRecord[]> => {
      await clock.settle();
      return records;
    },
  };
}

/** Records in short: `<peer> <kind> <count>`. */
function counted(records: readonly AuditRecord[]): readonly string[] {
  return records.map((record) => {
    if (record.kind === 'dropped') throw new Error('There is no sink');
    const { peer = 'somebody', kind, count, several } = record;
    return `${peer} ${kind} ${String(count)}${several === true ? ' of several' : ''}`;
  });
}

describe('a failed log-in', () => {
  // Promise: audit-log-in
  it('is recorded at once, and then once a second for each peer with a count', async () => {
    const { send, records, clock } = await guarded();
    await send({});
    expect(counted(await records())).toEqual(['a failed-log-in 1']);
    for (let at = 0; at < 9; at += 1) await send({});
    await send({ peer: 'b', method: 'PUT', target });
    await send({ peer: 'b' });
    expect(counted(await records())).toEqual(['a failed-log-in 1', 'b failed-log-in 1']);
    await clock.advance(999);
    expect(await records()).toHaveLength(2);
    await clock.advance(1);
    const first = ['a failed-log-in 1', 'b failed-log-in 1', 'a failed-log-in 9', 'b failed-log-in 1'];
    expect(counted(await records())).toEqual(first);
    await send({});
    expect(await records()).toHaveLength(4);
    await clock.advance(1000);
    expect(counted(await records())).toEqual([...first, 'a failed-log-in 1']);
    await clock.advance(10_000);
    expect([(await records()).length, clock.sleeping]).toEqual([5, 0]);
  });

  it('is recorded without the name and the password that were tried', async () => {
    const { send, records } = await guarded();
    await send({});
    await send({ method: 'PUT', target: `/service/My-Service/stop` });
    const [first, ...others] = await records();
    expect(first).toEqual({
      kind: 'failed-log-in',
      id: expect.any(String),
      time: '2016-09-10T00:00:00+00:00',
      peer: 'a',
      count: 1,
    });
    expect(others).toEqual([]);
  });

  it.each<[what: string, request: Partial<AdminRequest>, records: number]>([
    ['a read without credentials', { headers: {} }, 0],
    ['a dry run without credentials', { headers: {}, method: 'PUT', target: `${target}?dry_run=true` }, 0],
    ['a command without credentials', { headers: {}, method: 'PUT', target }, 1],
    ['a command that the host has found no caller for', { principal: null, method: 'PUT', target }, 1],
    ['a read of a client that has left', { signal: AbortSignal.abort() }, 0],
    ['a read with the right password', { headers: { authorization: `Basic ${btoa('ada:engine')}` } }, 0],
  ])('is told from %s', async (_what, request, count) => {
    const { send, records } = await guarded();
    await send(request);
    expect(counted(await records())).toEqual(Array<string>(count).fill('a failed-log-in 1'));
  });

  it('is recorded for requests that do not say where they come from, and for a peer of any length', async () => {
    const { admin, send, records, clock } = await guarded();
    const request = { method: 'GET', target: '/services', headers: wrong };
    await admin.handle(request);
    await send({ peer: 'x'.repeat(10_000) });
    await clock.advance(1000);
    expect(counted(await records())).toEqual([
      'somebody failed-log-in 1',
      `${'x'.repeat(255)}… failed-log-in 1`,
    ]);
  });

  it('of too many peers is recorded together, so that the records of a second are bounded', async () => {
    const { send, records, clock } = await guarded();
    await Promise.all(Array.from({ length: 1000 }, (_, at) => send({ peer: `peer ${String(at)}` })));
    expect(await records()).toHaveLength(101);
    await clock.advance(1000);
    const [last] = counted(await records()).slice(-1);
    expect([(await records()).length, last]).toEqual([102, 'somebody failed-log-in 899 of several']);
    await clock.advance(10_000);
    await send({ peer: 'late' });
    expect(counted(await records()).slice(-1)).toEqual(['late failed-log-in 1']);
  });

  it('is counted to the end: what is not recorded yet is recorded when the interface closes', async () => {
    const { admin, send, records } = await guarded();
    for (let at = 0; at < 5; at += 1) await send({});
    await admin.close();
    expect(counted(await records())).toEqual(['a failed-log-in 1', 'a failed-log-in 4']);
  });
});

describe('a command that is refused before its caller is known', () => {
  it('is recorded once a second for each peer and endpoint, with a count', async () => {
    const { send, records, clock } = await guarded();
    const headers = { host: 'gateway.example', origin };
    for (let at = 0; at < 3; at += 1) await send({ method: 'PUT', target, headers });
    await send({ method: 'DELETE', target: '/sessions/9', headers });
    await send({ method: 'DELETE', target: '/users/%zz', headers });
    await clock.advance(1000);
    const refused = { kind: 'write', peer: 'a', outcome: 'refused', code: 'origin-refused', revision: 0 };
    const stop = { id: 'services.stop', method: 'PUT', path: '/service/my-service/stop' };
    expect(await records()).toMatchObject([
      { ...refused, route: stop, count: 1 },
      { ...refused, route: { id: 'sessions.close', path: '/sessions/9' }, count: 1 },
      { ...refused, route: { id: 'users.delete', path: '/users/:name' }, code: 'path-encoding-invalid' },
      { ...refused, route: stop, count: 2 },
    ]);
  });

  it('is recorded also when the log-in itself fails', async () => {
    const { send, records } = await guarded({
      access: { authenticate: () => Promise.reject(new Error('planted')) },
    });
    await send({ method: 'PUT', target });
    await send({});
    expect(await records()).toMatchObject([
      { kind: 'write', outcome: 'refused', code: 'internal', count: 1 },
    ]);
  });

  it('counts throttled log-ins as failed ones', async () => {
    const { send, records } = await guarded({ access: { authenticate: () => Promise.resolve('throttled') } });
    await send({ method: 'PUT', target });
    await send({ peer: 'b' });
    expect(counted(await records())).toEqual(['a failed-log-in 1', 'b failed-log-in 1']);
  });
});
