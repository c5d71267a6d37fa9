import { beforeEach, describe, expect, it } from '@jest/globals';

import { planted } from '../support/planted.ts';
import { appliedTo, runAdmin, type Running } from '../support/running-admin.ts';
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
      expect(plan.etag).toBe(isCreation ? undefined : tag);
    },
  );

  it.each([
    ['DELETE', '/sessions/9', { sessions: 1, connections: 2 }, { sessions: 0 }],
    ['DELETE', '/services/My-Service/sessions', { sessions: 2, connections: 3 }, { sessions: 0 }],
    ['DELETE', '/servers/db-serv-1/connections', { sessions: 0, connections: 2 }, { sessions: 2 }],
    ['PUT', '/service/My-Service/stop', { sessions: 0, connections: 0 }, { sessions: 2 }],
    ['PUT', '/monitor/Main-Monitor/stop', { sessions: 0, connections: 0 }, { sessions: 0 }],
    ['POST', '/gateway/logs/flush', { sessions: 0, connections: 0 }, { sessions: 0 }],
  ])(
    'counts the sessions and connections that %s %s would close, and the sessions that would stay',
    async (method, target, closes, stays) => {
      const plan = await planOf(method, target);
      expect([plan.closes, plan.stays]).toEqual([closes, stays]);
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

  it('gives the refusal of the command', async () => {
    expect((await transport.send('PUT', '/service/nothing/stop?dry_run=true')).status).toBe(404);
    const stale = { headers: { 'if-match': '"x"' } };
    expect((await transport.send('PUT', '/service/My-Service/stop?dry_run=true', stale)).status).toBe(412);
    const headers = { 'content-type': 'application/json' };
    const existing = { headers, body: '{"name":"ADA","password":"x"}' };
    expect((await transport.send('PUT', '/users?dry_run=true', existing)).status).toBe(409);
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
      for (const hidden of [secret, planted.hash, planted.sealed, 'pbkdf2', 'passwordHash"', 'v1.']) {
        expect(text).not.toContain(hidden);
      }
    }
  });
});
