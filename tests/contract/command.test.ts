/**
 * What a command is answered: the plan of a dry run, and what became of the command.
 */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { problemTable, type ProblemCode, type Telemetry } from 'gateway-admin-core';

import { planted } from '../support/planted.ts';
import { appliedTo, runAdmin, sampleGateway, type Running } from '../support/running-admin.ts';
import { transports, type Answer, type Transport } from '../support/transport.ts';
import { endpoints, sentBy, taggedBy, targetOf } from './endpoint.ts';

const writes = endpoints.filter(({ method }) => method !== 'GET');

interface Plan {
  readonly outcome: string;
  readonly patch?: readonly object[];
  readonly events: readonly { readonly type: string }[];
  readonly effects: readonly { readonly type: string }[];
  readonly etag?: string;
  readonly closes: { readonly sessions: number; readonly connections: number };
  readonly stays: { readonly sessions: number };
}

describe('a plan', () => {
  let running: Running;
  let transport: Transport;

  beforeEach(async () => {
    running = runAdmin();
    transport = await transports.core(running.admin);
  });

  const send = (endpoint: (typeof writes)[number], target: string): Promise<Answer> =>
    transport.send(endpoint.method, target, sentBy(endpoint));

  async function planOf(method: string, target: string): Promise<Plan> {
    const { status, body } = await transport.send(method, `${target}?dry_run=true`);
    expect(status).toBe(200);
    return body as Plan;
  }

  // Promise: dry-run
  it.each(writes)(
    '$method $path with dry_run changes nothing, and the real command makes the planned changes',
    async (endpoint) => {
      const { admin, gateway } = running;
      const { snapshot } = admin;
      const { status, body, headers } = await send(endpoint, `${targetOf(endpoint)}?dry_run=true`);
      const plan = body as Plan;
      expect([status, headers['content-type'], plan.outcome]).toEqual([200, 'application/json', 'accepted']);
      expect(admin.snapshot).toBe(snapshot);
      expect(gateway.calls).toEqual([]);
      // An admin user has no settings, so a plan to change the password has no patch of settings.
      expect(plan.patch !== undefined).toBe(plan.effects.some(({ type }) => type.endsWith('.update')));
      const members = Object.keys(plan).filter((member) => !['patch', 'etag', 'notes'].includes(member));
      expect(members).toEqual(['outcome', 'mark', 'events', 'effects', 'closes', 'stays']);

      const after = admin.events();
      const marked = `${targetOf(endpoint)}?mark=${String((plan as { readonly mark?: string }).mark)}`;
      expect((await send(endpoint, marked)).status).toBe(endpoint.answer.status);
      expect(gateway.applied.map(({ type }) => type)).toEqual(plan.effects.map(({ type }) => type));
      const { value } = (await after.next()) as { value: { event: { type: string } } };
      expect(value.event.type).toBe(plan.events[0]?.type);
      const target = taggedBy(endpoint);
      const tag = target && (await transport.send('GET', target)).headers['etag'];
      // What is created and then started gets its entity tag in two revisions.
      const isCreation = endpoint.method === 'POST' && plan.effects.length > 1;
      // The content of a password is known once it is set.
      const setsPassword = endpoint.path.startsWith('/users') && endpoint.method !== 'DELETE';
      // So is that of a drain: it says since when.
      const drains = endpoint.path.endsWith('/drain');
      expect(plan.etag).toBe(isCreation || setsPassword || drains ? undefined : tag);
    },
  );

  it('says that nothing would change', async () => {
    const plan = await planOf('PUT', '/service/My-Service/start');
    expect(plan).toMatchObject({ outcome: 'unchanged', events: [], effects: [] });
    expect(plan).not.toHaveProperty('patch');
    expect(plan.etag).toBe((await transport.send('GET', '/services/My-Service')).headers['etag']);
    expect((await planOf('DELETE', '/servers/db-serv-3/connections')).outcome).toBe('unchanged');
  });

  it('shows the effective operations, not the operations of the request', async () => {
    const { body } = await transport.send('PATCH', '/services/My-Service?dry_run=true', {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify([
        { op: 'test', path: '/max_connection', value: 100 },
        { op: 'replace', path: '/max_connection', value: 7 },
        { op: 'replace', path: '/root_user', value: false },
      ]),
    });
    expect((body as Plan).patch).toEqual([{ op: 'replace', path: '/max_connection', value: 7 }]);
  });

  it.each(['', 'yes', '1', 'TRUE', 'true&dry_run=true'])('refuses dry_run=%s', async (value) => {
    const { snapshot } = running.admin;
    const { status, body } = await transport.send('PUT', `/service/My-Service/stop?dry_run=${value}`);
    expect([status, (body as { code: string }).code]).toEqual([400, 'query-invalid']);
    expect(running.admin.snapshot).toBe(snapshot);
  });

  it('performs the command with dry_run=false', async () => {
    expect((await transport.send('PUT', '/service/My-Service/stop?dry_run=false')).status).toBe(204);
    expect(appliedTo(running.gateway)).toEqual(['service.stop /services/My-Service']);
  });

  // Promise: plan-secret
  it('shows no secret', async () => {
    const secret = 'a secret of the operator';
    const plan = (method: string, target: string, json?: unknown): Promise<Answer> =>
      transport.send(method, `${target}?dry_run=true`, {
        headers: { 'content-type': 'application/json' },
        ...(json === undefined ? {} : { body: JSON.stringify(json) }),
      });
    const set = [{ op: 'replace', path: '/password', value: secret }];
    const plans = [
      await plan('PATCH', '/services/My-Service', set),
      await plan('PATCH', '/services/My-Service', [{ op: 'remove', path: '/password' }]),
      await plan('PUT', '/users', { name: 'joan', password: secret }),
      await plan('PATCH', '/users/ada', set),
      await plan('DELETE', '/users/ada'),
    ];
    for (const { status, text } of plans) {
      expect(status).toBe(200);
      for (const hidden of [secret, planted.hash, planted.sealed, 'pbkdf2', 'sealed"', 'v1.']) {
        expect(text).not.toContain(hidden);
      }
    }
  });
});

const stop = '/service/My-Service/stop';

function expectProblem(answer: Answer, code: ProblemCode): void {
  const { status, title } = problemTable[code];
  expect(answer.body).toMatchObject({ code, status, title });
  expect([answer.status, answer.headers['content-type']]).toEqual([status, 'application/problem+json']);
}

describe('the outcome of a command', () => {
  async function open(options: Parameters<typeof runAdmin>[0]): Promise<Running & Pick<Transport, 'send'>> {
    const running = runAdmin(options);
    const { send } = await transports.core(running.admin);
    return { ...running, send };
  }

  const headers = { 'content-type': 'application/json' };
  const port = JSON.stringify([{ op: 'replace', path: '/port', value: 6432 }]);
  const limit = JSON.stringify([{ op: 'add', path: '/max_connection', value: 7 }]);
  it.each<[string, string, string, string | undefined, string]>([
    ['stop', 'PUT', stop, undefined, '/services/My-Service/sessions'],
    ['start', 'PUT', '/services/Bare-Service/start', undefined, '/services/Bare-Service/sessions'],
    ['patch of a service', 'PATCH', '/services/My-Service', limit, '/services/My-Service/sessions'],
    ['patch of a server', 'PATCH', '/servers/db-serv-1', port, '/servers/db-serv-1/connections'],
  ])('a teardown goes on beside a %s of unknown outcome', async (_what, method, target, body, teardown) => {
    const { send, admin } = await open({
      gateway: sampleGateway()
        .will(new Error('the wire broke'))
        .otherwise({ inspect: new Error('cannot see') }),
    });
    expectProblem(await send(method, target, body === undefined ? {} : { headers, body }), 'outcome-unknown');
    const shown = teardown.replace('/services/', '/sessions?service=/services/').replace(/\/sessions$/, '');
    const before = admin.snapshot.revision;
    expect((await send('DELETE', teardown)).status).toBe(204);
    expect(admin.snapshot.revision).toBeGreaterThan(before);
    expect((await send('GET', shown)).body).toEqual([]);
    expect(admin.commands()).toHaveLength(1);
  });

  // Promise: internal-error
  it('an internal error is 500 without details, and the error goes to onError', async () => {
    const failure = new Error('planted detail');
    const hasher = { hash: () => Promise.reject(failure), verify: () => Promise.resolve(false) };
    const { send, errors } = await open({ hasher });
    const headers = { 'content-type': 'application/json' };
    const answer = await send('PUT', '/users', { headers, body: '{"name":"joan","password":"x"}' });
    expectProblem(answer, 'internal');
    expect(answer.text).not.toContain('planted');
    expect(errors).toEqual([failure]);
  });

  it('figures of telemetry replace the stored figures, if telemetry has them', async () => {
    const statistics = { reads: 9, writes: 8, buffered_writes: 7, high_water_events: 6, low_water_events: 5 };
    const telemetry: Telemetry = {
      threads: () => ({
        load_average: { historic: 1, current: 2, '1min': 3, '5min': 4, '15min': 5 },
        threads: [],
      }),
      tasks: () => [
        { name: 'live', type: 'repeated', frequency: 1, next_due: Date.parse('2016-09-09T14:12:37+03:00') },
      ],
      idle: (session) => (session === 9 ? 7 : undefined),
      statistics: (session, connection) => (session === 9 && connection === 4 ? statistics : undefined),
    };
    const { send } = await open({ gateway: sampleGateway({ telemetry }) });
    expect((await send('GET', '/gateway/threads')).body).toMatchObject({
      load_average: { historic: 1 },
      threads: [],
    });
    expect((await send('GET', '/gateway/tasks')).body).toEqual([
      { name: 'live', type: 'repeated', frequency: 1, next_due: 'Fri Sep  9 14:12:37 2016' },
    ]);
    expect((await send('GET', '/sessions?fields=id,idle')).body).toEqual([
      { id: 0, idle: 0 },
      { id: 9, idle: 7 },
      { id: 12, idle: 0 },
    ]);
    expect((await send('GET', '/sessions/9/connections?fields=statistics')).body).toEqual([
      { statistics },
      {}, // nobody knows its counters
    ]);
  });
});
