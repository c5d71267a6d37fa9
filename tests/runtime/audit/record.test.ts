/**
 * Audit records as programs get them. tests/scenarios/audit/record.txt has which requests leave one, and when.
 */
import { describe, expect, it } from '@jest/globals';
import {
  adoptDocument,
  closeServiceSessions,
  createBasicAuthentication,
  createSnapshot,
  deleteUser,
  flushLogs,
  patchService,
  revert,
  toDocument,
  type Admin,
  type AdminEvent,
  type Decision,
  type AdminOptions,
  type AdminRequest,
  type AuditRecord,
  type Authorize,
  type Json,
  type PublishedEvent,
  type Transition,
} from 'gateway-admin-core';
import { hold } from 'gateway-admin-core/testing';

import { inShort, readAudit } from '../../support/audit-reader.ts';
import { crowdedSnapshot, sampleDocument } from '../../support/document.ts';
import { credentials, quickHasher } from '../../support/log-in.ts';
import { runAdmin, sampleGateway, type Running } from '../../support/running-admin.ts';
import { missing, stop, stopUnreadably } from '../../support/transition.ts';

const stopTarget = '/service/My%20Service/stop';
const patchType = { 'content-type': 'application/json-patch+json' };
const limitOps = [{ op: 'replace', path: '/max_connection', value: 7 }] as const;

/** An interface whose host knows the callers: ada may do everything, everybody else only read. */
function guarded(options: Parameters<typeof runAdmin>[0] = {}): Running & Audited {
  const authorize: Authorize = (who, route) => route.method === 'GET' || who?.name === 'ada';
  return audited(runAdmin({ access: { authorize }, ...options }));
}

type WriteRecord = Extract<AuditRecord, { readonly kind: 'write' }>;

interface Audited {
  /** Sends a request of ada, unless it says otherwise; gives the status. */
  readonly send: (request: Partial<AdminRequest>) => Promise<number>;
  /** The records so far. */
  readonly records: () => Promise<readonly WriteRecord[]>;
  /** The same, of every kind. */
  readonly all: () => Promise<readonly AuditRecord[]>;
  readonly short: () => Promise<readonly string[]>;
}

function audited<R extends Running>(running: R): R & Audited {
  const { admin, clock } = running;
  const records = readAudit(admin);
  const settled = async () => {
    await clock.settle();
    return records as readonly never[];
  };
  return {
    ...running,
    records: settled,
    all: settled,
    short: async () => inShort(await settled()),
    send: async (request) => {
      const usual = { method: 'PUT', target: stopTarget, headers: {}, peer: '10.0.0.7' };
      const handled = await admin.handle({ ...usual, principal: { name: 'ada' }, ...request });
      return handled.matched ? handled.response.status : 404;
    },
  };
}

describe('the audit records of an interface without a sink', () => {
  it('begin with the first reader, and are kept from then on, also while nobody reads', async () => {
    const { admin } = runAdmin();
    const send = (limit: number): Promise<unknown> => {
      const body = JSON.stringify([{ op: 'replace', path: '/max_connection', value: limit }]);
      return admin.handle({ method: 'PATCH', target: '/services/My-Service', headers: patchType, body });
    };
    await send(1);
    const first = admin.audit();
    const { value } = (await Promise.all([first.next(), send(2)]))[0] as { readonly value: WriteRecord };
    expect(value).toMatchObject({ revision: 2, outcome: 'accepted' });
    await first.return?.();
    await send(3);
    const second = admin.audit({ after: value.id });
    expect((await second.next()).value).toMatchObject({ revision: 3 });
    const third = admin.audit({ after: 'a.1' });
    expect((await third.next()).value).toEqual({ kind: 'gap', next: value.id });
    await admin.close();
  });

  it('have the outcome of a command that began before the first reader', async () => {
    const held = hold();
    const { admin, clock } = runAdmin({ gateway: sampleGateway().will(held.apply).willSee('not-in-place') });
    const request = { method: 'PUT', target: stopTarget, headers: {} };
    const answer = admin.handle(request);
    await held.begun;
    await clock.advance(admin.limits.effectDeadlineMs);
    await answer;
    const records = readAudit(admin);
    held.done();
    await clock.settle();
    expect(inShort(records)).toEqual(['nobody services.stop accepted']);
    expect(records).toHaveLength(1);
    await admin.close();
  });
});

describe('the audit record of a request', () => {
  it('says who did what from where, when, and what became of it', async () => {
    const { admin, clock, send, records } = guarded();
    const body = JSON.stringify([{ op: 'test', path: '/user', value: 'service_user' }, ...limitOps]);
    const target = '/services/My%20Service';
    const reader = admin.events();
    expect(await send({ method: 'PATCH', target, headers: patchType, body })).toBe(200);
    const [record] = await records();
    const changed = { type: 'service.updated', resource: '/services/My-Service' };
    const published = (await reader.next()) as { readonly value: PublishedEvent };
    expect(record).toEqual({
      kind: 'write',
      id: expect.stringMatching(/^[0-9a-f]{12}\.1$/),
      time: new Date(clock.now()).toISOString().replace('.000Z', '+00:00'),
      actor: 'ada',
      peer: '10.0.0.7',
      route: { id: 'services.patch', method: 'PATCH', path: '/services/my-service' },
      resources: ['/services/My-Service'],
      command: published.value.event.command,
      outcome: 'accepted',
      revision: 1,
      change: [{ ...changed, service: 'my-service', operations: limitOps }],
    });
    expect(Object.isFrozen(record)).toBe(true);
  });

  it('names the caller who was deleted meanwhile, and the client that left', async () => {
    const users = ['ada', 'grace'].map((name) => ({ name, password: { sealed: 'opaque' } }));
    const { admin, send, short } = guarded({ snapshot: createSnapshot({ users }) });
    expect(await send({ signal: AbortSignal.abort() })).toBe(503);
    const body = async (): Promise<Uint8Array> => {
      await admin.execute((snapshot, context) => deleteUser(snapshot, 'ada', context), { actor: 'root' });
      return new TextEncoder().encode('{"name":"joan","password":"secret"}');
    };
    const headers = { 'content-type': 'application/json' };
    expect(await send({ target: '/users', headers, body })).toBe(401);
    expect(await short()).toEqual([
      'ada services.stop refused closed',
      'root execute accepted',
      'ada users.create refused unauthenticated',
    ]);
  });

  it('is left by no read, no dry run and no other path', async () => {
    const { send, short } = guarded();
    for (const method of ['GET', 'HEAD', 'OPTIONS', 'POST', 'PAINT'])
      await send({ method, target: '/services/My-Service' });
    await send({ target: `${stopTarget}?dry_run=true` });
    await send({ target: '/service/none/stop?dry_run=true' });
    await send({ target: '/elsewhere' });
    expect(await short()).toEqual([]);
  });

  it('has the number of closed sessions, not each of them', async () => {
    const { admin, records } = audited(runAdmin({ snapshot: crowdedSnapshot(2500) }));
    const close: Transition = (snapshot, context) => closeServiceSessions(snapshot, 'Sales', context);
    await admin.execute(close);
    expect(await records()).toMatchObject([
      { revision: 3, change: [{ type: 'sessions.closed', resource: '/services/Sales', count: 2500 }] },
    ]);
    expect(JSON.stringify(await records()).length).toBeLessThan(600);
  });

  it('stays small: a long name, a long path and a large change are cut', async () => {
    const { admin, send, records } = guarded({ limits: { maxTargetBytes: 100_000 } });
    await send({ peer: 'p'.repeat(1000), target: `/service/${'x'.repeat(50_000)}/stop` });
    const options = Array.from({ length: 90 }, (_, at) => [`o${String(at)}`, 'x'.repeat(1000)]);
    const value = Object.fromEntries(options) as Json;
    const large: Transition = (snapshot, context) =>
      patchService(snapshot, 'My Service', [{ op: 'replace', path: '/router_options', value }], context);
    await admin.execute(large, { actor: 'a'.repeat(1000) });
    const [first, second] = await records();
    expect([first?.peer, second?.actor]).toEqual([`${'p'.repeat(255)}…`, `${'a'.repeat(255)}…`]);
    expect(first?.route?.path).toHaveLength(1025);
    expect(second?.change).toEqual([{ type: 'service.updated', resource: '/services/My-Service' }]);
  });
});

describe('the audit record of a command of the host', () => {
  // Promise: audit-each-command
  it('is left by execute however it ends, by undo, by adoptDocument and by abandon', async () => {
    const { admin, short, records } = audited(runAdmin());
    const stopped = await admin.execute(stop, { actor: 'ada' });
    await admin.execute(stop);
    await admin.execute(missing, { actor: 'ada' });
    const [event] = stopped.outcome === 'accepted' ? stopped.events : [];
    await admin.execute(revert(event as AdminEvent), { actor: 'grace' });
    const given = createSnapshot({ ...sampleDocument, services: toDocument(admin.snapshot).services ?? [] });
    await admin.execute((snapshot, context) => adoptDocument(snapshot, given, context));
    await admin.abandon('none');
    const thrown = admin.execute(() => {
      throw new Error('planted');
    });
    await expect(thrown).rejects.toThrow('planted');
    const cancelled = admin.execute(stop, { signal: AbortSignal.abort() });
    await expect(cancelled).rejects.toThrow();
    await expect(admin.execute('nothing' as never)).rejects.toThrow(TypeError);
    expect(await short()).toEqual([
      'ada execute accepted',
      'nobody execute unchanged',
      'ada execute refused service-not-found',
      'grace execute accepted',
      'nobody execute unchanged',
      'nobody abandon refused command-not-found',
      'nobody execute refused internal',
      'nobody execute refused closed',
    ]);
    expect((await records())[3]).toMatchObject({
      resources: ['/services/My-Service'],
      change: [{ type: 'service.started', resource: '/services/My-Service' }],
    });
  });

  it('says that the outcome is unknown if the command fails after the gateway was asked', async () => {
    const { admin, gateway, records } = audited(runAdmin());
    const planted = stopUnreadably(() => gateway.calls.length > 0);
    await expect(admin.execute(planted)).rejects.toThrow('planted');
    expect(await records()).toMatchObject([{ command: 'sample-1', outcome: 'unknown', code: 'internal' }]);
  });

  it('is plain JSON, also of a decision that the host has built', async () => {
    const { admin, records } = audited(runAdmin());
    const toJSON = (): never => {
      throw new Error('planted');
    };
    const hostile = { toJSON, big: 1n } as never;
    const { events, effects } = stop(admin.snapshot, { now: 0 }) as Extract<Decision, { events: unknown }>;
    const own = {
      resources: [hostile, '/services/My-Service'],
      events: [{ ...events[0], hostile }],
      effects: [{ ...effects[0], hostile }],
    };
    await admin.execute(((snapshot, context) => ({ ...stop(snapshot, context), ...own })) as Transition);
    for (const decision of [
      { outcome: 'refused' },
      { outcome: 'refused', problem: { code: hostile } },
      { outcome: 'unchanged' },
    ])
      await admin.execute(() => ({ ...decision, resources: [] }) as never);
    expect(JSON.parse(JSON.stringify(await records()))).toMatchObject([
      { outcome: 'accepted', resources: ['/services/My-Service'] },
      { outcome: 'refused', code: 'internal' },
      { outcome: 'refused', code: 'internal' },
      { outcome: 'unchanged' },
    ]);
  });
});

it('a record is made once for all readers', async () => {
  const { admin, clock } = runAdmin();
  const [one, two] = [readAudit(admin), readAudit(admin)];
  await admin.execute(stop);
  await clock.settle();
  expect(one).toHaveLength(1);
  expect(one[0]).toBe(two[0]);
});

const secret = 'planted-Passw0rd';
const wrong = { authorization: credentials(secret, secret) };
const origin = 'https://evil.example';
const target = '/service/My-Service/stop';

/** An interface that asks for a log-in, and what it has recorded so far. Requests have a wrong one, from the peer a. */
async function strange(access: AdminOptions['access'] = { authenticate: createBasicAuthentication() }) {
  const users = [{ name: 'ada', password: { sealed: await quickHasher.hash('engine') } }];
  const snapshot = createSnapshot({ ...sampleDocument, users });
  const limits = { maxHashesInFlight: 10, maxHashesQueued: 2000 };
  const running = audited(runAdmin({ snapshot, access, limits }));
  const usual = { method: 'GET', target: '/services', headers: wrong, peer: 'a' };
  const send = async (request: Partial<AdminRequest> = {}): Promise<unknown> =>
    running.admin.handle({ ...usual, ...request });
  return { ...running, records: running.all, send };
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
    const { send, records, clock } = await strange();
    await send();
    expect(counted(await records())).toEqual(['a failed-log-in 1']);
    for (let at = 0; at < 9; at += 1) await send();
    await send({ peer: 'b', method: 'PUT', target });
    await send({ peer: 'b' });
    expect(counted(await records())).toEqual(['a failed-log-in 1', 'b failed-log-in 1']);
    await clock.advance(999);
    expect(await records()).toHaveLength(2);
    await clock.advance(1);
    const first = ['a failed-log-in 1', 'b failed-log-in 1', 'a failed-log-in 9', 'b failed-log-in 1'];
    expect(counted(await records())).toEqual(first);
    await send();
    expect(await records()).toHaveLength(4);
    await clock.advance(1000);
    expect(counted(await records())).toEqual([...first, 'a failed-log-in 1']);
    await clock.advance(10_000);
    expect([(await records()).length, clock.sleeping]).toEqual([5, 0]);
  });

  it('is recorded without the name and the password that were tried', async () => {
    const { send, records } = await strange();
    await send();
    await send({ method: 'PUT', target });
    const [id, time]: readonly unknown[] = [expect.any(String), '2016-09-10T00:00:00+00:00'];
    expect(await records()).toEqual([{ kind: 'failed-log-in', id, time, peer: 'a', count: 1 }]);
  });

  it.each<[what: string, request: Partial<AdminRequest>, records: number]>([
    ['a read without credentials', { headers: {} }, 0],
    ['a dry run without credentials', { headers: {}, method: 'PUT', target: `${target}?dry_run=true` }, 0],
    ['a command without credentials', { headers: {}, method: 'PUT', target }, 1],
    ['a command that the host has found no caller for', { principal: null, method: 'PUT', target }, 1],
    ['a read of a client that has left', { signal: AbortSignal.abort() }, 0],
    ['a read with the right password', { headers: { authorization: credentials('ada', 'engine') } }, 0],
  ])('is told from %s', async (_what, request, count) => {
    const { send, records } = await strange();
    await send(request);
    expect(counted(await records())).toEqual(Array<string>(count).fill('a failed-log-in 1'));
  });

  it('is recorded for requests that do not say where they come from, and for a peer of any length', async () => {
    const { admin, send, records, clock } = await strange();
    await admin.handle({ method: 'GET', target: '/services', headers: wrong });
    await send({ peer: 'x'.repeat(10_000) });
    await clock.advance(1000);
    const peers = ['somebody', `${'x'.repeat(255)}…`];
    expect(counted(await records())).toEqual(peers.map((peer) => `${peer} failed-log-in 1`));
  });

  it('of too many peers is recorded together, so that the records of a second are bounded', async () => {
    const { send, records, clock } = await strange();
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
    const { admin, send, records } = await strange();
    for (let at = 0; at < 5; at += 1) await send();
    await admin.close();
    expect(counted(await records())).toEqual(['a failed-log-in 1', 'a failed-log-in 4']);
  });
});

describe('a command that is refused before its caller is known', () => {
  it('is recorded once a second for each peer and endpoint, with a count', async () => {
    const { send, records, clock } = await strange();
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
    const { send, records } = await strange({ authenticate: () => Promise.reject(new Error('planted')) });
    await send({ method: 'PUT', target });
    await send();
    const record = { kind: 'write', outcome: 'refused', code: 'internal', count: 1 };
    expect(await records()).toMatchObject([record]);
  });

  it('counts throttled log-ins as failed ones', async () => {
    const { send, records } = await strange({ authenticate: () => Promise.resolve('throttled') });
    await send({ method: 'PUT', target });
    await send({ peer: 'b' });
    expect(counted(await records())).toEqual(['a failed-log-in 1', 'b failed-log-in 1']);
  });
});

type Reader = ReturnType<Admin['audit']>;
type Item = Awaited<ReturnType<Reader['next']>>['value'];

/** The next so many items: the number in the id of each record. */
async function take(reader: Reader, count: number): Promise<readonly string[]> {
  const items: string[] = [];
  for (let at = 0; at < count; at += 1) {
    const { done, value } = (await reader.next()) as IteratorResult<Item, undefined>;
    if (done === true) items.push('end');
    else if (value.kind === 'gap')
      items.push(`gap of ${String(value.missed)} before ${numberOf(value.next)}`);
    else items.push(numberOf(value.id));
  }
  return items;
}

function numberOf(id = '.nothing'): string {
  return id.split('.')[1] ?? '';
}

async function flushTimes(admin: Admin, times: number): Promise<void> {
  for (let at = 0; at < times; at += 1) await admin.execute(flushLogs);
}

/** The id of the next record. */
async function idOfNext(admin: Admin): Promise<string> {
  const next = admin.audit().next() as Promise<{ readonly value: AuditRecord }>;
  await flushTimes(admin, 1);
  return (await next).value.id;
}

describe('admin.audit', () => {
  it('gives the records in order, from now on or after a given one', async () => {
    const { admin } = runAdmin();
    const id = await idOfNext(admin);
    const reader = admin.audit();
    await flushTimes(admin, 2);
    await admin.close();
    expect(await take(reader, 3)).toEqual(['2', '3', 'end']);
    expect(await take(admin.audit({ after: id }), 3)).toEqual(['2', '3', 'end']);
    expect(await take(admin.audit({ after: id.replace('.1', '.3') }), 1)).toEqual(['end']);
  });

  it('tells a reader that is behind how many records are missing', async () => {
    const { admin } = runAdmin({ limits: { maxAuditKept: 2 } });
    const id = await idOfNext(admin);
    const slow = admin.audit();
    await flushTimes(admin, 5);
    await admin.close();
    expect(await take(slow, 4)).toEqual(['gap of 3 before 5', '5', '6', 'end']);
    expect(await take(admin.audit({ after: id }), 2)).toEqual(['gap of 3 before 5', '5']);
  });

  it.each(['000000000000.1', 'ID.4'])(
    'gives a gap after a record that is not of this life: %s',
    async (text) => {
      const { admin } = runAdmin();
      const id = await idOfNext(admin);
      await admin.close();
      const after = text.replace('ID', id.split('.')[0] ?? '');
      expect(await take(admin.audit({ after }), 3)).toEqual(['gap of undefined before 1', '1', 'end']);
    },
  );

  it('gives a gap before nothing after a record of another life, if this life has none yet', async () => {
    const { admin } = runAdmin();
    const reader = admin.audit({ after: '000000000000.1' });
    expect(await reader.next()).toEqual({ value: { kind: 'gap' }, done: false });
    await flushTimes(admin, 1);
    expect(await take(reader, 1)).toEqual(['1']);
  });

  it('ends when the signal aborts, and delays nobody', async () => {
    const { admin } = runAdmin();
    const control = new AbortController();
    const reader = admin.audit({ signal: control.signal });
    const waiting = take(reader, 1);
    control.abort();
    expect(await waiting).toEqual(['end']);
    await flushTimes(admin, 1);
    await admin.close();
  });

  it.each(['', 'x', '7.0', '.1', 'a.', 'a.0', 'a.1.1', 'A.1', 'a.-1', 'a.1e1', `a.${'9'.repeat(16)}`])(
    'cannot begin after %j',
    (after) => {
      expect(() => runAdmin().admin.audit({ after })).toThrow(RangeError);
    },
  );
});
