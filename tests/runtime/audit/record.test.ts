import { describe, expect, it } from '@jest/globals';
import {
  EffectRefusedError,
  adoptDocument,
  closeServiceSessions,
  createMemoryStore,
  createSnapshot,
  createUser,
  deleteUser,
  hostProblem,
  patchService,
  revert,
  stopService,
  toDocument,
  type AdminEvent,
  type AdminOptions,
  type AdminRequest,
  type Execution,
  type PublishedEvent,
  type Transition,
} from 'gateway-admin-core';
import { hold } from 'gateway-admin-core/testing';

import type { AuditGap, WriteRecord } from '../../../src/ports/audit-record.ts';
import { inShort, readAudit } from '../../support/audit-reader.ts';
import { crowdedSnapshot, sampleDocument } from '../../support/document.ts';
import { FailingStore } from '../../support/failing-store.ts';
import { openRunning, runAdmin, sampleGateway, type Running } from '../../support/running-admin.ts';

const stop: Transition = (snapshot, context) => stopService(snapshot, 'My Service', context);
const stopTarget = '/service/My%20Service/stop';
const patchType = { 'content-type': 'application/json-patch+json' };
const limit = [{ op: 'replace', path: '/max_connection', value: 7 }] as const;

/** An interface whose host knows the callers: ada may do everything, everybody else only read. */
function guarded(options: Partial<AdminOptions> = {}): Running & Audited {
  return audited(
    runAdmin({
      access: { authorize: (principal, route) => route.method === 'GET' || principal?.name === 'ada' },
      ...(options as object),
    }),
  );
}

interface Audited {
  /** Sends a request of ada, unless it says otherwise; gives the status. */
  readonly send: (request: Partial<AdminRequest>) => Promise<number>;
  /** The records so far. */
  readonly records: () => Promise<readonly WriteRecord[]>;
  readonly short: () => Promise<readonly string[]>;
}

function audited<R extends Running>(running: R): R & Audited {
  const { admin, clock } = running;
  const records = readAudit(admin);
  const settled = async () => {
    await clock.settle();
    return records as readonly WriteRecord[];
  };
  return {
    ...running,
    records: settled,
    short: async () => inShort(await settled()),
    send: async (request) => {
      const usual = { method: 'PUT', target: stopTarget, headers: {}, peer: '10.0.0.7' };
      const handled = await admin.handle({ ...usual, principal: { name: 'ada' }, ...request });
      return handled.matched ? handled.response.status : 404;
    },
  };
}

describe('the audit record of a request', () => {
  it('says who did what from where, when, and what became of it', async () => {
    const { admin, clock, send, records } = guarded();
    const body = JSON.stringify([{ op: 'test', path: '/user', value: 'service_user' }, ...limit]);
    const target = '/services/My%20Service';
    const reader = admin.events();
    expect(await send({ method: 'PATCH', target, headers: patchType, body })).toBe(200);
    const [record] = await records();
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
      change: [
        {
          type: 'service.updated',
          resource: '/services/My-Service',
          service: 'my-service',
          operations: limit,
        },
      ],
    });
    expect(Object.isFrozen(record)).toBe(true);
  });

  it('names the code of each refusal, and says how far the request got', async () => {
    const held = hold();
    const running = guarded({
      gateway: sampleGateway().will(new EffectRefusedError('Busy.'), held.apply),
      veto: ({ events }) =>
        events.some(({ type }) => type === 'monitor.stopped')
          ? hostProblem('host-no', { status: 409, title: 'No', detail: 'No.' })
          : undefined,
      limits: { maxQueued: 1 },
    });
    const { send, short, clock, admin } = running;
    const patch = { method: 'PATCH', target: '/services/my-service', headers: patchType };
    const body = JSON.stringify(limit);
    expect(await send({ principal: { name: 'Grace' } })).toBe(403);
    expect(await send({ ...patch, target: '/services/none', body })).toBe(404);
    expect(await send({ ...patch, headers: { ...patchType, 'if-match': '"x"' }, body })).toBe(412);
    expect(await send({ ...patch, headers: { 'content-type': 'text/plain' }, body })).toBe(415);
    expect(await send({ ...patch, body: '[' })).toBe(400);
    expect(await send({ target: '/monitor/Main-Monitor/stop' })).toBe(409);
    expect(await send({})).toBe(409);
    const late = send({ ...patch, body: () => new Promise(() => undefined) });
    await clock.settle();
    await clock.advance(admin.limits.bodyDeadlineMs);
    expect(await late).toBe(408);
    const [first, waiting, full] = [send({}), send({}), send({})];
    expect(await full).toBe(503);
    held.done();
    expect(await Promise.all([first, waiting])).toEqual([204, 204]);
    const broken = { ...patch, body: () => Promise.reject(new Error('planted')) };
    expect(await send(broken)).toBe(500);
    await admin.close();
    expect(await send({})).toBe(503);
    expect(await short()).toEqual([
      'Grace services.stop refused forbidden',
      'ada services.patch refused service-not-found',
      'ada services.patch refused precondition-failed',
      'ada services.patch refused unsupported-media-type',
      'ada services.patch refused body-not-json',
      'ada monitors.stop refused host-no',
      'ada services.stop refused effect-refused',
      'ada services.patch refused body-timeout',
      'ada services.stop refused overloaded',
      'ada services.stop accepted',
      'ada services.stop unchanged',
      'ada services.patch refused internal',
    ]);
  });

  it('says what a refused request asked for: operations without values, and a new user without the password', async () => {
    const { send, records } = guarded();
    const patch = {
      method: 'PATCH',
      target: '/services/My-Service',
      headers: { ...patchType, 'if-match': '"x"' },
    };
    const operations = [{ op: 'test', path: '/user', value: 'typed here' }, ...limit];
    expect(await send({ ...patch, body: JSON.stringify(operations) })).toBe(412);
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ name: 'Grace', password: 'compiler' });
    expect(await send({ target: '/users', headers, body })).toBe(409);
    expect((await records()).map(({ change }) => change)).toEqual([
      [
        {
          operations: [
            { op: 'test', path: '/user' },
            { op: 'replace', path: '/max_connection' },
          ],
        },
      ],
      [{ name: 'Grace' }],
    ]);
  });

  it('names the caller who was deleted meanwhile, and the client that left', async () => {
    const users = [
      { name: 'ada', passwordHash: 'opaque' },
      { name: 'grace', passwordHash: 'opaque' },
    ];
    const { admin, send, short } = guarded({ snapshot: createSnapshot({ users }) });
    const aborted = AbortSignal.abort();
    expect(await send({ signal: aborted })).toBe(503);
    const remove: Transition = (snapshot, context) => deleteUser(snapshot, 'ada', context);
    const body = async (): Promise<Uint8Array> => {
      await admin.execute(remove, { actor: 'root' });
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

  // Promise: audit-early-refusal
  it('is left by a request that is refused before anything is looked at', async () => {
    const { admin, clock } = runAdmin();
    const records = readAudit(admin);
    const long = `/users/${'x'.repeat(9000)}`;
    await admin.handle({ method: 'DELETE', target: long, headers: {} });
    await admin.handle({ method: 'PUT', target: '/service/My-Service/stop', headers: { x: 5 as never } });
    await admin.handle({ method: 'GET', target: `/users?fields=${long}`, headers: {} });
    await clock.settle();
    expect(inShort(records)).toEqual([
      'nobody users.delete refused uri-too-long',
      'nobody services.stop refused header-invalid',
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
    const options = {
      value: Object.fromEntries(Array.from({ length: 90 }, (_, at) => [`o${String(at)}`, 'x'.repeat(1000)])),
    };
    const operation = { op: 'replace', path: '/router_options', ...options } as const;
    await admin.execute((snapshot, context) => patchService(snapshot, 'My Service', [operation], context), {
      actor: 'a'.repeat(1000),
    });
    const [first, second] = await records();
    expect(first?.peer).toBe(`${'p'.repeat(255)}…`);
    expect(first?.route?.path).toHaveLength(1025);
    expect(second?.actor).toBe(`${'a'.repeat(255)}…`);
    expect(second?.change).toEqual([{ type: 'service.updated', resource: '/services/My-Service' }]);
  });
});

describe('the audit record of a command of the host', () => {
  // Promise: audit-each-command
  it('is left by execute however it ends, by undo, by adoptDocument and by abandon', async () => {
    const { admin, short, records } = audited(runAdmin());
    const stopped = await admin.execute(stop, { actor: 'ada' });
    await admin.execute(stop);
    await admin.execute((snapshot, context) => stopService(snapshot, 'none', context), { actor: 'ada' });
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
    const planted: Transition = (snapshot, context) => {
      const decision = stop(snapshot, context);
      if (decision.outcome !== 'accepted') throw new Error('The service runs');
      const [event] = decision.events;
      const note = (): number => {
        if (gateway.calls.length > 0) throw new Error('planted');
        return 1;
      };
      const events = [Object.defineProperty({ ...event }, 'note', { enumerable: true, get: note })];
      return { ...decision, events: events as unknown as readonly AdminEvent[] };
    };
    await expect(admin.execute(planted)).rejects.toThrow('planted');
    expect(await records()).toMatchObject([{ command: 'sample-1', outcome: 'unknown', code: 'internal' }]);
  });

  it('is plain JSON, also of a decision that the host has built', async () => {
    const { admin, records } = audited(runAdmin());
    const hostile = {
      toJSON: () => {
        throw new Error('planted');
      },
      big: 1n,
    } as never;
    const build =
      (more: object): Transition =>
      (snapshot, context) => ({ ...stop(snapshot, context), ...more });
    const { events } = stop(admin.snapshot, { now: 0 }) as { events: readonly AdminEvent[] };
    await admin.execute(
      build({ resources: [hostile, '/services/My-Service'], events: [{ ...events[0], hostile }] }),
    );
    await admin.execute(() => ({ outcome: 'refused', resources: [] }) as never);
    await admin.execute(() => ({ outcome: 'refused', resources: [], problem: { code: hostile } }) as never);
    await admin.execute(() => ({ outcome: 'unchanged', resources: [] }) as never);
    expect(JSON.parse(JSON.stringify(await records()))).toMatchObject([
      { outcome: 'accepted', resources: ['/services/My-Service'] },
      { outcome: 'refused', code: 'internal' },
      { outcome: 'refused', code: 'internal' },
      { outcome: 'unchanged' },
    ]);
  });
});

describe('a command of unknown outcome', () => {
  // Promise: audit-unknown
  it.each([
    ['accepted', 'in-place', undefined],
    ['refused', 'not-in-place', 'effect-refused'],
  ] as const)('leaves a second record when it turns out as %s', async (outcome, seen, code) => {
    const held = hold();
    const gateway = sampleGateway().will(held.apply);
    const { clock, send, records, admin } = guarded({ gateway });
    gateway.otherwise({ inspect: new Error('blind') });
    const answer = send({});
    await held.begun;
    await clock.advance(admin.limits.effectDeadlineMs);
    expect(await answer).toBe(504);
    gateway.otherwise({ inspect: seen });
    held.fail(new Error('broken'));
    await clock.advance(60_000);
    const [first, second, ...others] = await records();
    expect(others).toEqual([]);
    const same = { actor: 'ada', peer: '10.0.0.7', route: { id: 'services.stop' }, command: first?.command };
    expect(first).toMatchObject({ ...same, outcome: 'unknown', code: 'outcome-unknown', revision: 0 });
    expect(second).toMatchObject({ ...same, outcome, ...(code === undefined ? {} : { code }), revision: 1 });
    expect(first?.command).toEqual(expect.any(String));
  });

  it('leaves the record of who abandons it, and no second one of its own', async () => {
    const held = hold();
    const { admin, clock, send, records } = guarded({ gateway: sampleGateway().will(held.apply) });
    const answer = send({});
    await held.begun;
    await clock.advance(admin.limits.effectDeadlineMs);
    await answer;
    const [{ id } = { id: '' }] = admin.commands();
    expect(await send({ method: 'DELETE', target: `/commands/${id}` })).toBe(204);
    held.done();
    await clock.advance(60_000);
    expect(await records()).toMatchObject([
      { command: id, outcome: 'unknown' },
      { route: { id: 'commands.abandon', path: `/commands/${id}` }, actor: 'ada', outcome: 'accepted' },
    ]);
  });

  it('leaves its second record in the next life if the process ends before', async () => {
    const store = createMemoryStore();
    const held = hold();
    const dead = await openRunning(store, { gateway: sampleGateway().will(held.apply, hold().apply) });
    dead.admin.execute(stop, { actor: 'ada' }).catch(() => undefined);
    const create: Transition = (snapshot, context) =>
      createUser(snapshot, { name: 'joan', passwordHash: 'opaque' }, context);
    await dead.admin.execute(create);
    await held.begun;
    const [{ id } = { id: '' }] = dead.admin.commands();
    const gateway = sampleGateway().willSee(() => new Promise(() => undefined));
    gateway.otherwise({ inspect: new Error('blind') });
    const opening = openRunning(store, { gateway, clock: dead.clock });
    await dead.clock.advance(dead.admin.limits.effectDeadlineMs);
    const { records } = audited(await opening);
    gateway.otherwise({ inspect: 'in-place' });
    await dead.clock.advance(60_000);
    expect(await records()).toMatchObject([
      { actor: 'ada', command: id, outcome: 'accepted', resources: ['/services/My-Service'] },
    ]);
  });

  it.each([
    ['accepted', 'in-place'],
    ['refused', 'not-in-place'],
  ] as const)('and abandoned leaves a record in the next life: %s if %s', async (outcome, seen) => {
    const store = createMemoryStore();
    const first = await openRunning(store, { gateway: sampleGateway().will(hold().apply) });
    const answer = first.admin.execute(stop, { actor: 'ada' });
    await first.clock.advance(first.admin.limits.effectDeadlineMs);
    const { commandId } = (await answer) as Extract<Execution, { readonly outcome: 'unknown' }>;
    await first.admin.abandon(commandId);
    await first.admin.close();
    const next = await openRunning(store, { gateway: sampleGateway().willSee(seen) });
    const reader = next.admin.audit({ after: 'a.1' });
    const gap = (await reader.next()) as { readonly value: AuditGap };
    expect(gap.value).toMatchObject({ kind: 'gap' });
    const record = { actor: 'ada', command: commandId, outcome, resources: ['/services/My-Service'] };
    expect(await reader.next()).toMatchObject({ value: record });
    await next.admin.close();
  });

  it('is settled after the store was away, with both records', async () => {
    const store = new FailingStore();
    const held = hold();
    const running = await openRunning(store, { gateway: sampleGateway().will(held.apply) });
    const { admin, clock, short } = audited(running);
    const answer = admin.execute(stop, { actor: 'ada' });
    await held.begun;
    store.fail();
    held.done();
    await clock.advance(admin.limits.storeDeadlineMs);
    expect((await answer).outcome).toBe('unknown');
    expect((await admin.execute(stop)).outcome).toBe('refused');
    store.work();
    await clock.advance(60_000);
    expect(await short()).toEqual([
      'ada execute unknown outcome-unknown',
      'nobody execute refused store-unavailable',
      'ada execute accepted',
    ]);
  });
});
