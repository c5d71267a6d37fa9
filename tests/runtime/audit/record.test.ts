/**
 * Audit records as programs get them. tests/scenarios/audit/record.txt has which requests leave one, and when.
 */
import { describe, expect, it } from '@jest/globals';
import {
  adoptDocument,
  closeServiceSessions,
  createSnapshot,
  deleteUser,
  patchService,
  revert,
  stopService,
  toDocument,
  type AdminEvent,
  type AdminOptions,
  type AdminRequest,
  type AuditRecord,
  type PublishedEvent,
  type Transition,
} from 'gateway-admin-core';

import { inShort, readAudit } from '../../support/audit-reader.ts';
import { crowdedSnapshot, sampleDocument } from '../../support/document.ts';
import { runAdmin, type Running } from '../../support/running-admin.ts';

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

type WriteRecord = Extract<AuditRecord, { readonly kind: 'write' }>;

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

it('a record is made once for all readers', async () => {
  const { admin, clock } = runAdmin();
  const [one, two] = [readAudit(admin), readAudit(admin)];
  await admin.execute(stop);
  await clock.settle();
  expect(one).toHaveLength(1);
  expect(one[0]).toBe(two[0]);
});
