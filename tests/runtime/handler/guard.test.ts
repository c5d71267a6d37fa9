import { describe, expect, it } from '@jest/globals';
import {
  createBasicAuthentication,
  createRoles,
  type AdminRequest,
  type AuditRecord,
  type HostAttempt,
  type Role,
} from 'gateway-admin-core';

import { FailingSink } from '../../support/failing-sink.ts';
import { credentials } from '../../support/log-in.ts';
import { runAdmin, type Running } from '../../support/running-admin.ts';

const post: AdminRequest = { method: 'POST', target: '/rotate?now=1', headers: {}, peer: '10.0.0.9' };

const people = {
  hasher: {
    hash: () => Promise.resolve('x'),
    verify: (text: string) => Promise.resolve(text === 'right'),
  },
  access: { authenticate: createBasicAuthentication(), authorize: createRoles({ operators: ['ada'] }) },
};

function as(password: string, more: Partial<AdminRequest> = {}): AdminRequest {
  return { ...post, ...more, headers: { authorization: credentials('ada', password), ...more.headers } };
}

/** The status of the response and the code of its problem; the name of the caller of an admitted request. */
async function decided({ admin }: Running, request: AdminRequest, role: Role): Promise<string> {
  const guarded = await admin.guard(request, role);
  if (guarded.admitted) return `admitted ${guarded.principal?.name ?? 'nobody'}`;
  const { status, body } = guarded.response;
  const { code } = JSON.parse(typeof body === 'string' ? body : '{}') as { code: string };
  return `${String(status)} ${code}`;
}

async function recordsOf({ admin }: Running, act: () => Promise<unknown>): Promise<readonly AuditRecord[]> {
  const reader = admin.audit();
  await act();
  await admin.close();
  const records: AuditRecord[] = [];
  for await (const record of reader) if (record.kind !== 'gap') records.push(record);
  return records;
}

describe('the guard of an endpoint of the host', () => {
  it('admits everybody where nobody has to log in', async () => {
    expect(await decided(runAdmin(), post, 'administrator')).toBe('admitted nobody');
  });

  const bad: AdminRequest = as('right', { headers: { 'if-match': 7 as never } });

  it.each<[string, AdminRequest, Role]>([
    ['401 unauthenticated', post, 'reader'],
    ['401 unauthenticated', as('wrong'), 'reader'],
    ['admitted ada', as('right'), 'reader'],
    ['admitted ada', as('right'), 'operator'],
    ['403 forbidden', as('right'), 'administrator'],
    [
      '403 origin-refused',
      as('right', { headers: { origin: 'https://elsewhere.test', host: 'x.test' } }),
      'reader',
    ],
    ['400 header-invalid', bad, 'reader'],
  ])('answers %s as an endpoint of the interface does', async (answer, request, role) => {
    expect(await decided(runAdmin(people), request, role)).toBe(answer);
  });

  it('gives the challenge of the log-in with a 401', async () => {
    const guarded = await runAdmin(people).admin.guard(post, 'reader');
    expect(guarded).toMatchObject({
      response: { headers: { 'www-authenticate': expect.stringMatching(/^Basic /) } },
    });
  });

  it('refuses what could change something in the read-only mode, and lets reads through', async () => {
    const running = runAdmin(people);
    running.admin.readOnly = true;
    expect(await decided(running, as('right'), 'operator')).toBe('403 read-only');
    expect(await decided(running, as('right', { method: 'GET' }), 'operator')).toBe('admitted ada');
  });

  it('answers the preflight of an allowed origin, and counts no log-in', async () => {
    const running = runAdmin({
      ...people,
      access: { ...people.access, allowedOrigins: ['https://console.test'] },
    });
    const asked = { origin: 'https://console.test', 'access-control-request-method': 'POST' };
    const guarded = await running.admin.guard({ ...post, method: 'OPTIONS', headers: asked }, 'operator');
    expect(guarded).toMatchObject({
      admitted: false,
      response: { status: 204, headers: { 'access-control-allow-methods': 'POST' } },
    });
  });

  it('admits no change once the interface is closed', async () => {
    const running = runAdmin(people);
    await running.admin.close();
    expect(await decided(running, as('right'), 'operator')).toBe('503 closed');
    expect(await decided(running, as('right', { method: 'GET' }), 'operator')).toBe('admitted ada');
  });

  it('tells authorize the path and the role', async () => {
    const asked: unknown[] = [];
    const running = runAdmin({
      access: {
        authorize: (_principal, { id, method, path, role }) => asked.push([id, method, path, role]) > 0,
      },
    });
    await decided(running, post, 'operator');
    expect(asked[0]).toEqual(['host', 'POST', '/rotate', 'operator']);
  });

  it('leaves the record of a refused attempt, and none of an admitted one', async () => {
    const running = runAdmin(people);
    const records = await recordsOf(running, async () => {
      await running.admin.guard(as('right'), 'administrator');
      await running.admin.guard(as('right'), 'operator');
      await running.admin.guard(as('wrong'), 'operator');
    });
    expect(records).toMatchObject([
      {
        kind: 'write',
        actor: 'ada',
        peer: '10.0.0.9',
        route: { id: 'host', method: 'POST', path: '/rotate' },
        code: 'forbidden',
      },
      { kind: 'failed-log-in', peer: '10.0.0.9', count: 1 },
    ]);
  });

  it('refuses a role that there is not', async () => {
    await expect(runAdmin().admin.guard(post, 'root' as never)).rejects.toThrow(
      'role must be one of reader, operator, administrator',
    );
  });
});

describe('audit.record', () => {
  it('leaves a record in the words of the host, without secrets', async () => {
    const running = runAdmin();
    const records = await recordsOf(running, () =>
      running.admin.audit.record({
        request: post,
        principal: { name: 'ada' },
        outcome: 'accepted',
        resources: ['/servers/db-serv-1'],
        change: [{ type: 'key.rotated', passwordSealed: 'v1.planted' }],
      }),
    );
    expect(records).toMatchObject([
      {
        kind: 'write',
        actor: 'ada',
        peer: '10.0.0.9',
        route: { id: 'host', method: 'POST', path: '/rotate' },
        resources: ['/servers/db-serv-1'],
        outcome: 'accepted',
        revision: 0,
        change: [{ type: 'key.rotated' }],
      },
    ]);
    expect(JSON.stringify(records)).not.toContain('planted');
  });

  it('leaves out secrets in plain text, at any depth', async () => {
    const running = runAdmin({ secretParameters: ['token'] });
    const change: HostAttempt['change'] = [
      { password: 'planted', parameters: { token: 'planted', weight: 1 } },
      { operations: [{ op: 'add', path: '/parameters/token', value: 'planted' }] },
    ];
    const records = await recordsOf(running, () =>
      running.admin.audit.record({ request: post, outcome: 'accepted', change }),
    );
    expect(JSON.stringify(records)).not.toContain('planted');
    expect(records).toMatchObject([
      { change: [{ parameters: { weight: 1 } }, { operations: [{ op: 'add' }] }] },
    ]);
  });

  it('cuts what is too long for a record', async () => {
    const running = runAdmin();
    const long = `host-${'x'.repeat(100_000)}` as const;
    const [record] = await recordsOf(running, () =>
      running.admin.audit.record({ request: post, outcome: 'refused', code: long, resources: [long] }),
    );
    expect(record).toMatchObject({ code: `${long.slice(0, 255)}…`, resources: [`${long.slice(0, 1024)}…`] });
  });

  it('rejects once the interface is closed, because no sink gets the record', async () => {
    const { admin } = runAdmin();
    await admin.close();
    await expect(admin.audit.record({ request: post, outcome: 'accepted' })).rejects.toThrow('is closed');
  });

  it('resolves when a required sink has the record', async () => {
    const sink = new FailingSink();
    const { admin } = runAdmin({ observe: { audit: { sink, required: true } } });
    await admin.audit.record({ request: post, outcome: 'refused', code: 'host-busy' });
    expect(sink.kept).toMatchObject([{ outcome: 'refused', code: 'host-busy' }]);
  });

  it.each([
    [undefined, 'audit.record needs an attempt'],
    [{ outcome: 'accepted' }, 'request must be the request that guard got'],
    [{ request: post, outcome: 'done' }, 'outcome must be one of accepted, unchanged, refused, unknown'],
    [
      { request: post, outcome: 'accepted', actor: 'ada' },
      'There is no member of an attempt with the name "actor"',
    ],
    [{ request: { ...post, peer: 7 }, outcome: 'accepted' }, 'The peer of request must be a string'],
    [{ request: post, outcome: 'accepted', principal: 'ada' }, 'principal must be an object with a name'],
    [{ request: post, outcome: 'refused', code: 7 }, 'code must be a string'],
    [{ request: post, outcome: 'accepted', resources: '/x' }, 'resources must be a list of strings'],
    [
      { request: post, outcome: 'accepted', change: [null] },
      'change must be a list of objects of plain JSON',
    ],
    [
      { request: post, outcome: 'accepted', change: [{ at: new Date(0) }] },
      'change must be a list of objects',
    ],
  ])('refuses %j', async (attempt, message) => {
    await expect(runAdmin().admin.audit.record(attempt as never)).rejects.toThrow(message);
  });
});
