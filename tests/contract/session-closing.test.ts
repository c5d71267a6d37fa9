/**
 * `DELETE /sessions`: which sessions are closed, what is refused, and what a plan says.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';

import { describe, expect, it } from '@jest/globals';
import { createSnapshot, type HostReport, type Plan } from 'gateway-admin-core';

import { crowdedSnapshot } from '../support/document.ts';
import { runAdmin, sampleGateway, type Running } from '../support/running-admin.ts';
import { transports, type Answer, type Transport } from '../support/transport.ts';

type Send = Transport['send'];

async function sendTo({ admin }: Pick<Running, 'admin'>): Promise<Send> {
  const { send } = await transports.core(admin);
  return send;
}

const codeOf = ({ status, body }: Answer): readonly unknown[] => [
  status,
  (body as { readonly code?: string } | undefined)?.code,
];
const representation = { headers: { prefer: 'return=representation' } };
const idsOf = (list: unknown): readonly unknown[] =>
  (list as readonly { readonly id: number }[]).map(({ id }) => id);

async function planOf(send: Send, query: string): Promise<Extract<Plan, { readonly mark: string }>> {
  return (await send('DELETE', `/sessions?${query}&dry_run=true`)).body as never;
}

/** The sample document has the sessions 0, 9 and 12. */
const chosen: readonly (readonly [query: string, left: readonly number[]])[] = [
  ['service=MY%20service', [0]],
  ['server=db-serv-1', [0]],
  ['user=alice', [0, 12]],
  ['user=Alice', [0, 9, 12]],
  ['address=::1', [0, 9]],
  ['service=my-service&user=carol', [0, 9]],
  ['user=alice&address=::1', [0, 9, 12]],
  // The last one connects later than now.
  ['older_than=0', [12]],
  ['older_than=900000000000', [0, 9, 12]],
  ['all=true', []],
];

/** What is refused, with nothing changed. */
const refused: readonly (readonly [query: string, status: number, code: string])[] = [
  ['', 400, 'query-invalid'],
  ['?all=false', 400, 'query-invalid'],
  ['?all=yes', 400, 'query-invalid'],
  ['?all=', 400, 'query-invalid'],
  ['?all=true&user=alice', 400, 'query-invalid'],
  ['?all=true&all=true', 400, 'query-invalid'],
  ['?user=alice&user=alice', 400, 'query-invalid'],
  ['?user=%00', 400, 'query-invalid'],
  ['?users=alice', 400, 'query-invalid'],
  ['?range=0-9', 400, 'query-invalid'],
  ['?fields=id&user=alice', 400, 'query-invalid'],
  ['?idle_over=abc', 400, 'query-invalid'],
  ['?idle_over=', 400, 'query-invalid'],
  ['?idle_over=-1', 400, 'query-invalid'],
  ['?idle_over=1e3', 400, 'query-invalid'],
  ['?idle_over=9999999999999999', 400, 'query-invalid'],
  ['?older_than=1h', 400, 'query-invalid'],
  ['?older_than=NaN', 400, 'query-invalid'],
  ['?user=alice&mark=x', 400, 'query-invalid'],
  ['?service=nothing', 404, 'service-not-found'],
  ['?service=', 404, 'service-not-found'],
  ['?service=__proto__&user=alice', 404, 'service-not-found'],
  ['?server=nothing', 404, 'server-not-found'],
  ['?server=My-Service&service=My-Service', 404, 'server-not-found'],
];

describe('DELETE /sessions', () => {
  it.each(chosen)('by %s leaves the sessions %j', async (query, left) => {
    const { admin, gateway } = runAdmin();
    const send = await sendTo({ admin });
    const plan = await planOf(send, query);
    const answer = await send('DELETE', `/sessions?${query}`, representation);
    expect(answer.status).toBe(200);
    expect(idsOf((await send('GET', '/sessions')).body)).toEqual(left);
    const sessions = 3 - left.length;
    expect(answer.body).toMatchObject({ closed: { sessions, connections: plan.closes.connections } });
    expect([plan.outcome, plan.closes.sessions]).toEqual([
      sessions === 0 ? 'unchanged' : 'accepted',
      sessions,
    ]);
    const asked = gateway.applied;
    expect(asked.map(({ type, resource }) => [type, resource])).toEqual(
      sessions === 0 ? [] : [['sessions.close', '/sessions']],
    );
  });

  it.each(refused)('%s is %i %s, and nothing is changed', async (query, status, code) => {
    const { admin, gateway } = runAdmin();
    const send = await sendTo({ admin });
    const before = admin.snapshot;
    expect(codeOf(await send('DELETE', `/sessions${query}`))).toEqual([status, code]);
    expect(codeOf(await send('DELETE', `/sessions${query}${query === '' ? '?' : '&'}dry_run=true`))).toEqual([
      status,
      code,
    ]);
    expect([admin.snapshot, gateway.applied]).toEqual([before, []]);
  });

  it('says which criteria there are', async () => {
    const send = await sendTo(runAdmin());
    const { body } = await send('DELETE', '/sessions');
    expect(body).toMatchObject({
      detail: expect.stringMatching(/service, server, user, address, idle_over, older_than.*all=true/),
    });
  });

  it('is refused with a tag, because the list of sessions has none', async () => {
    const send = await sendTo(runAdmin());
    const headers = { 'if-match': '"x.1.1"' };
    expect(codeOf(await send('DELETE', '/sessions?user=alice', { headers }))).toEqual([
      412,
      'precondition-failed',
    ]);
  });

  it('is refused in a sequence, whose paths have no query', async () => {
    const send = await sendTo(runAdmin());
    const body = JSON.stringify({ commands: [{ method: 'DELETE', path: '/sessions' }] });
    const headers = { 'content-type': 'application/json' };
    expect(codeOf(await send('POST', '/sequence', { headers, body }))).toEqual([422, 'op-not-allowed']);
  });

  it('publishes the criteria with the event', async () => {
    const { admin } = runAdmin();
    const send = await sendTo({ admin });
    const events = admin.events();
    await send('DELETE', '/sessions?user=alice&older_than=1');
    const { value } = (await events.next()) as { readonly value: object };
    expect(value).toMatchObject({
      event: {
        ...{ type: 'sessions.closed', resource: '/sessions', sessions: [{ id: 9 }] },
        criteria: { user: 'alice', older_than: 1 },
      },
    });
  });

  it('lets a session stay that the host calls active when its turn comes', async () => {
    const idle = new Map([[9, 700]]);
    const gateway = sampleGateway();
    const telemetry = { idle: (id: number) => idle.get(id) };
    const { admin } = runAdmin({ gateway: { ...gateway, telemetry } });
    const send = await sendTo({ admin });
    expect(idsOf((await send('GET', '/sessions?idle_over=600')).body)).toEqual([9]);
    const { mark, closes } = await planOf(send, 'idle_over=600');
    expect(closes.sessions).toBe(1);
    idle.set(9, 0);
    const { body } = await send('DELETE', `/sessions?idle_over=600&mark=${mark}`, representation);
    expect(body).toMatchObject({ closed: { sessions: 0 } });
    expect(admin.snapshot.sessions.find(9)).toBeDefined();
  });
});

const later: HostReport = {
  ...{ type: 'session.opened', id: 40, state: 'ready', user: 'alice', address: '::1' },
  ...{ service: 'My Service', connected: 5 },
};

describe('the mark of DELETE /sessions', () => {
  it('closes no session that has opened since, and the same again is done', async () => {
    const { admin } = runAdmin();
    const send = await sendTo({ admin });
    const { mark } = await planOf(send, 'user=alice');
    admin.report(later);
    for (const sessions of [1, 0]) {
      const { status, body } = await send('DELETE', `/sessions?user=alice&mark=${mark}`, representation);
      expect([status, body]).toMatchObject([200, { closed: { sessions } }]);
    }
    expect(admin.snapshot.sessions.find(40)).toBeDefined();
  });

  it('of a plan that closes nothing closes nothing', async () => {
    const { admin } = runAdmin();
    const send = await sendTo({ admin });
    const { mark, outcome } = await planOf(send, 'user=dan');
    expect(outcome).toBe('unchanged');
    const closing = `/sessions?user=dan&mark=${mark}`;
    const { body } = await send('DELETE', closing, representation);
    expect(body).toMatchObject({ outcome: 'unchanged', closed: { sessions: 0, connections: 0 } });
    admin.report({ ...later, user: 'dan' });
    expect(codeOf(await send('DELETE', closing))).toEqual([412, 'precondition-failed']);
    expect(admin.snapshot.sessions.size).toBe(4);
  });

  it.each([
    ['other criteria', 'user=carol'],
    ['other values', 'user=Alice'],
    ['more criteria', 'user=alice&older_than=0'],
  ])('is no mark of %s', async (_what, query) => {
    const { admin } = runAdmin();
    const send = await sendTo({ admin });
    const { mark } = await planOf(send, 'user=alice');
    const answer = await send('DELETE', `/sessions?${query}&mark=${mark}`);
    expect(codeOf(answer)).toEqual([412, 'precondition-failed']);
    const { plan } = answer.body as { readonly plan: Plan };
    expect(plan).toMatchObject(await planOf(send, query));
    expect(admin.snapshot.sessions.size).toBe(3);
  });

  it('is refused with 404 when the service is gone', async () => {
    const { admin } = runAdmin();
    const send = await sendTo({ admin });
    const { mark } = await planOf(send, 'service=report-service');
    expect((await send('PUT', '/service/report-service/stop')).status).toBe(204);
    expect((await send('DELETE', '/services/report-service')).status).toBe(204);
    const answer = await send('DELETE', `/sessions?service=report-service&mark=${mark}`);
    expect(codeOf(answer)).toEqual([404, 'service-not-found']);
  });
});

describe('closing some of 5,500 sessions', () => {
  /** The numbers of sessions that were looked at in each turn of the event loop. */
  async function turnsOf(answer: Promise<unknown>): Promise<readonly number[]> {
    const progress = { done: false };
    const ended = answer.finally(() => (progress.done = true));
    const table = Object.getPrototypeOf(createSnapshot({}).sessions) as object;
    const own = Object.getOwnPropertyDescriptor(table, 'range') ?? {};
    const range = own.value as (this: unknown, ...given: unknown[]) => readonly unknown[];
    let looked = 0;
    Object.defineProperty(table, 'range', {
      ...own,
      value(this: unknown, ...given: unknown[]) {
        const found = range.apply(this, given);
        looked += found.length;
        return found;
      },
    });
    const turns: number[] = [];
    try {
      while (!progress.done) {
        await nextTurn();
        turns.push(looked);
        looked = 0;
      }
    } finally {
      Object.defineProperty(table, 'range', own);
    }
    await ended;
    return turns.filter((count) => count > 0);
  }

  // Promise: close-in-pieces
  it.each(['user=nobody&dry_run=true', 'user=nobody', 'all=true&dry_run=true', 'all=true'])(
    'by %s looks at 1,000 of them in each turn of the event loop',
    async (query) => {
      const { admin } = runAdmin({ snapshot: crowdedSnapshot(5500) });
      const send = await sendTo({ admin });
      const turns = await turnsOf(send('DELETE', `/sessions?${query}`));
      expect(turns.reduce((sum, each) => sum + each)).toBe(5500);
      // A busy machine can run the timers of two pieces in one turn.
      expect(Math.max(...turns)).toBeLessThanOrEqual(2000);
    },
  );

  it('counts all and lists 100 in the plan, and has the plan of now in a 412', async () => {
    const { admin } = runAdmin({ snapshot: crowdedSnapshot(5500) });
    const send = await sendTo({ admin });
    const plan = await planOf(send, 'user=bob');
    expect(plan).toMatchObject({
      outcome: 'accepted',
      closes: { sessions: 5500 },
      events: [{ count: 5500 }],
    });
    expect((plan.events[0] as { readonly sessions: readonly unknown[] }).sessions).toHaveLength(100);
    const answer = await send('DELETE', `/sessions?all=true&mark=${plan.mark}`);
    expect(answer.body).toMatchObject({ plan: { closes: { sessions: 5500 } } });
  });

  it('settles in parts, of which the empty ones leave no record', async () => {
    const { admin, gateway } = runAdmin({ snapshot: crowdedSnapshot(5500) });
    admin.report({ type: 'session.updated', id: 3210, user: 'eve' });
    const send = await sendTo({ admin });
    const { body } = await send('DELETE', '/sessions?user=eve', representation);
    expect(body).toMatchObject({ outcome: 'accepted', closed: { sessions: 1 } });
    expect(gateway.applied).toHaveLength(1);
    expect(admin.snapshot.sessions.size).toBe(5499);
  });
});
