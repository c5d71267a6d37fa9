import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import {
  closeServerConnections,
  closeServiceSessions,
  closeSession,
  closeSessions,
  createMemoryStore,
  createRoles,
  createUser,
  patchServer,
  patchService,
  sequence,
  stopService,
  type Admin,
  type Execution,
  type Plan,
  type Transition,
} from 'gateway-admin-core';
import { createScriptedGateway } from 'gateway-admin-core/testing';

import { subjectPatches, patchSubject } from '../../support/arbitrary-patch.ts';
import { crowdedSnapshot, sampleSnapshot } from '../../support/document.ts';
import { openedSession, openedSessions } from '../../support/opened-session.ts';
import { openRunning, runAdmin, type Running } from '../../support/running-admin.ts';
import { transports, type Answer } from '../../support/transport.ts';

const closeAll: Transition = (snapshot, context) => closeServiceSessions(snapshot, 'My Service', context);
const cutAll: Transition = (snapshot, context) => closeServerConnections(snapshot, 'db-serv-1', context);
const stop: Transition = (snapshot, context) => stopService(snapshot, 'My Service', context);
const limitTo =
  (value: number): Transition =>
  (snapshot, context) =>
    patchService(snapshot, 'My Service', [{ op: 'replace', path: '/max_connection', value }], context);

function markOf(admin: Admin, transition: Transition): string {
  const plan = admin.plan(transition);
  if (plan.outcome === 'refused') throw new Error(plan.problem.detail);
  return plan.mark;
}

/** The outcome of a command with a mark; of a refusal its code and its plan. */
async function send(admin: Admin, transition: Transition, mark: string): Promise<unknown> {
  const execution = await admin.execute(transition, { mark });
  return 'problem' in execution ? execution.problem.code : execution.outcome;
}

/** The sessions of a service end by themselves. */
function end(admin: Admin, key: string): void {
  for (const { id, service, connected } of admin.snapshot.sessions)
    if (service === key) admin.report({ type: 'session.closed', id, connected });
}

const idsOf = ({ admin }: Pick<Running, 'admin'>, service: string): readonly number[] =>
  [...admin.snapshot.sessions].filter((session) => session.service === service).map(({ id }) => id);

function planIn(execution: Execution): Extract<Plan, { readonly mark: string }> {
  if (execution.outcome !== 'refused') throw new Error('The command was not refused');
  const plan = execution.problem.plan as Plan | undefined;
  if (plan === undefined || plan.outcome === 'refused') throw new Error('The refusal has no plan');
  return plan;
}

describe('a command with the mark of its plan', () => {
  // Promise: mark
  it('closes the sessions that the plan showed; those that opened later stay', async () => {
    const running = runAdmin();
    const { admin } = running;
    const shown = idsOf(running, 'my-service');
    const mark = markOf(admin, closeAll);
    admin.report(openedSessions(50));
    const execution = await admin.execute(closeAll, { mark });
    expect(execution).toMatchObject({
      outcome: 'accepted',
      closed: { sessions: shown.length, connections: 3 },
    });
    expect(idsOf(running, 'my-service')).toEqual(openedSessions(50).map(({ id }) => id));
    // Again: nothing is left to do.
    expect(await admin.execute(closeAll, { mark })).toMatchObject({ outcome: 'accepted', events: [] });
    expect(idsOf(running, 'my-service')).toHaveLength(50);
  });

  it('closes no session that has the id of one that was shown', async () => {
    const running = runAdmin();
    const { admin } = running;
    const closeNine: Transition = (snapshot, context) => closeSession(snapshot, 9, context);
    const mark = markOf(admin, closeNine);
    const connected = 2 ** 41;
    admin.report({ ...openedSession(9), connected });
    expect(await send(admin, closeNine, mark)).toBe('accepted');
    expect(admin.snapshot.sessions.find(9)?.connected).toBe(connected);
  });

  it('closes no connection that opened later, and counts those that it closes', async () => {
    const { admin } = runAdmin();
    const mark = markOf(admin, cutAll);
    const server = 'db-serv-1';
    admin.report({ type: 'connection.opened', session: 9, id: 77, server, role: 'Slave', state: 'In use' });
    const execution = await admin.execute(cutAll, { mark });
    expect(execution).toMatchObject({ outcome: 'accepted', closed: { sessions: 0, connections: 2 } });
    expect(admin.snapshot.sessions.find(9)?.connections.map(({ id }) => id)).toContain(77);
    expect(admin.snapshot.sessions.countOfServer(server)).toBe(1);
  });

  it('closes ten of many in parts, of which most are empty', async () => {
    const snapshot = crowdedSnapshot(10);
    const { admin, gateway } = runAdmin({ snapshot });
    const closeSales: Transition = (state, context) => closeServiceSessions(state, 'Sales', context);
    const mark = markOf(admin, closeSales);
    admin.report(openedSessions(2500, 'db').map((report) => ({ ...report, service: 'Sales' })));
    const execution = await admin.execute(closeSales, { mark });
    expect(execution).toMatchObject({ outcome: 'accepted', closed: { sessions: 10, connections: 10 } });
    expect(admin.snapshot.sessions.size).toBe(2500);
    expect(gateway.applied.flatMap((effect) => ('sessions' in effect ? effect.sessions : []))).toHaveLength(
      10,
    );
  });

  it('closes no connection that is opened again under the same id while the command runs', async () => {
    const { admin, gateway } = runAdmin({ snapshot: crowdedSnapshot(1500) });
    const cut: Transition = (snapshot, context) => closeServerConnections(snapshot, 'db', context);
    const mark = markOf(admin, cut);
    gateway.will((_effect, _context, perform) => {
      const [session, id] = [1400, 0];
      admin.report({ type: 'connection.closed', session, id });
      admin.report({ type: 'connection.opened', session, id, server: 'db', role: 'Slave', state: 'In use' });
      perform();
      return Promise.resolve();
    });
    expect(await admin.execute(cut, { mark })).toMatchObject({ closed: { connections: 1499 } });
    expect(admin.snapshot.sessions.find(1400)?.connections).toHaveLength(1);
  });

  it('counts no connection that has ended by itself before the gateway was asked', async () => {
    const { admin } = runAdmin();
    const execution = admin.execute(cutAll);
    admin.report({ type: 'connection.closed', session: 9, id: 0 });
    expect(await execution).toMatchObject({ outcome: 'accepted', closed: { connections: 1 } });
  });

  it('stores no record of a part that closes nothing', async () => {
    const store = createMemoryStore();
    const { admin } = await openRunning(store, { snapshot: crowdedSnapshot(0) });
    const closeSales: Transition = (state, context) => closeServiceSessions(state, 'Sales', context);
    const report = (from: number, count: number): void => {
      admin.report(
        openedSessions(count, 'db').map((each) => ({ ...each, id: each.id + from, service: 'Sales' })),
      );
    };
    report(0, 10);
    const mark = markOf(admin, closeSales);
    report(10, 4000);
    const before = (await store.load()).records.length;
    expect(await admin.execute(closeSales, { mark })).toMatchObject({ closed: { sessions: 10 } });
    // The intent and the settlement of the first part, and the end.
    expect((await store.load()).records.length - before).toBe(3);
  });

  it('is done also if another closing of the sequence has nothing to close', async () => {
    const { admin } = runAdmin();
    const none: Transition = (snapshot, context) => closeServiceSessions(snapshot, 'Report Service', context);
    const both = sequence(closeAll, none);
    expect(await admin.execute(both, { mark: markOf(admin, both) })).toMatchObject({
      closed: { sessions: 2 },
    });
  });

  it('is done if what its plan closes has ended, and another closing of the sequence has sessions now', async () => {
    const { admin } = runAdmin();
    const other: Transition = (snapshot, context) =>
      closeServiceSessions(snapshot, 'Report Service', context);
    const both = sequence(limitTo(7), closeAll, other);
    const mark = markOf(admin, both);
    end(admin, 'my-service');
    admin.report({ ...openedSession(1), service: 'Report Service' });
    expect(await admin.execute(both, { mark })).toMatchObject({ closed: { sessions: 0, connections: 0 } });
    expect(admin.snapshot.services.find('my-service')?.settings.max_connection).toBe(7);
    expect(admin.snapshot.sessions.countOfService('report-service')).toBe(1);
  });

  it('is refused if another closing of the sequence would close what the plan has not shown', async () => {
    const { admin } = runAdmin();
    const other: Transition = (snapshot, context) =>
      closeServiceSessions(snapshot, 'Report Service', context);
    admin.report({ ...openedSession(1), service: 'Report Service' });
    const mark = markOf(admin, closeAll);
    end(admin, 'my-service');
    expect(await send(admin, sequence(closeAll, other), mark)).toBe('precondition-failed');
    expect(idsOf({ admin }, 'report-service')).toEqual([1]);
  });

  it('is done if others have made all that the plan showed', async () => {
    const { admin } = runAdmin();
    const both = sequence(stop, closeAll);
    const mark = markOf(admin, both);
    end(admin, 'my-service');
    await admin.execute(stop);
    expect(await admin.execute(both, { mark })).toMatchObject({ closed: { sessions: 0 } });
  });

  it('is an error of the host if a transition does not pass its context on', async () => {
    const { admin } = runAdmin();
    const forgetful: Transition = (snapshot, { now }) =>
      closeServiceSessions(snapshot, 'My Service', { now });
    const mark = markOf(admin, forgetful);
    admin.report(openedSessions(1));
    await expect(admin.execute(forgetful, { mark })).rejects.toThrow('must pass its context on');
    expect(admin.snapshot.sessions.countOfService('my-service')).toBe(3);
  });

  it('is refused if no plan can have the mark yet', async () => {
    const { admin } = runAdmin();
    const [command, digest, life, , ...bound] = markOf(admin, closeAll).split('.');
    const mark = [command, digest, life, '999999999999999', ...bound].join('.');
    expect(await send(admin, closeAll, mark)).toBe('precondition-failed');
  });

  it('binds where an element of a list comes to stand', async () => {
    const { admin } = runAdmin();
    const serversOf =
      (...value: string[]): Transition =>
      (snapshot, context) =>
        patchService(snapshot, 'My Service', [{ op: 'replace', path: '/servers', value }], context);
    const added = { op: 'add', path: '/servers/1', value: '/servers/db-serv-3' } as const;
    const add: Transition = (snapshot, context) => patchService(snapshot, 'My Service', [added], context);
    await admin.execute(serversOf('/servers/db-serv-1', '/servers/DB-Server-2'));
    const mark = markOf(admin, add);
    await admin.execute(serversOf('/servers/DB-Server-2'));
    expect(await send(admin, add, mark)).toBe('precondition-failed');
  });

  it('does its other part although all sessions have ended', async () => {
    const running = runAdmin();
    const { admin } = running;
    const stopAndClose = sequence(stop, closeAll);
    const mark = markOf(admin, stopAndClose);
    for (const { id, connected, service } of admin.snapshot.sessions)
      if (service === 'my-service') admin.report({ type: 'session.closed', id, connected });
    expect(await send(admin, stopAndClose, mark)).toBe('accepted');
    expect(admin.snapshot.services.find('my-service')?.state).toBe('stopped');
  });

  it.each<[string, Transition, Transition | undefined, Transition]>([
    ['something was changed that the command would change', limitTo(7), limitTo(9), limitTo(7)],
    ['the command is another one', limitTo(7), undefined, limitTo(8)],
    ['a part has no effect any more', sequence(stop, limitTo(7)), stop, sequence(stop, limitTo(7))],
  ])('is refused if %s', async (_what, planned, meanwhile, sent) => {
    const { admin } = runAdmin();
    const mark = markOf(admin, planned);
    if (meanwhile !== undefined) await admin.execute(meanwhile);
    const { revision } = admin.snapshot;
    const execution = await admin.execute(sent, { mark });
    expect(execution).toMatchObject({ outcome: 'refused', problem: { code: 'precondition-failed' } });
    expect(admin.snapshot.revision).toBe(revision);
    // The plan of now has a mark that fits.
    expect(await send(admin, sent, planIn(execution).mark)).toBe('accepted');
  });

  it('is refused if it would close what no plan has shown', async () => {
    const { admin } = runAdmin();
    const mark = markOf(admin, closeAll);
    const [command, digest] = mark.split('.');
    expect(await send(admin, closeAll, `${command ?? ''}.${digest ?? ''}`)).toBe('precondition-failed');
    const nothing = markOf(runAdmin({ snapshot: crowdedSnapshot(0) }).admin, (snapshot, context) =>
      closeServiceSessions(snapshot, 'Sales', context),
    );
    expect(await send(admin, closeAll, nothing)).toBe('precondition-failed');
  });

  it('is refused in another life of the interface if it closes anything', async () => {
    const mark = markOf(runAdmin().admin, closeAll);
    const { admin } = runAdmin();
    const execution = await admin.execute(closeAll, { mark });
    expect(planIn(execution)).toMatchObject({ closes: { sessions: 2, connections: 3 } });
    expect(execution).toHaveProperty(
      'problem.detail',
      expect.stringMatching(/before the last start .* The plan closed 2 sessions or connections\./),
    );
    // Settings have no life.
    expect(await send(admin, limitTo(7), markOf(runAdmin().admin, limitTo(7)))).toBe('accepted');
  });

  it('changes nothing twice: after a lost answer, it may be sent again', async () => {
    const { admin } = runAdmin();
    const mark = markOf(admin, stop);
    expect([await send(admin, stop, mark), await send(admin, stop, mark)]).toEqual(['accepted', 'unchanged']);
  });

  it('keeps the refusal of its own', async () => {
    const { admin } = runAdmin();
    const missing: Transition = (snapshot, context) => stopService(snapshot, 'Nowhere', context);
    expect(await send(admin, missing, markOf(admin, stop))).toBe('service-not-found');
  });

  it.each(['', 'x', '00000000', `00000000.${'0'.repeat(31)}`, `00000000.${'0'.repeat(32)}.a.1`])(
    'is no command if the mark is %j',
    async (mark) => {
      const { admin } = runAdmin();
      await expect(admin.execute(stop, { mark })).rejects.toThrow(RangeError);
    },
  );

  // A host can abort or close at any call. A rejection that nothing handles fails a test.
  it.each([1, 1500, 3500, 5500])(
    'is given up while its new plan is made, at call %i of the host',
    async (at) => {
      const giving = new AbortController();
      let calls = 0;
      const idle = (): number => {
        if ((calls += 1) === at) giving.abort(new Error('given up'));
        return 100;
      };
      const snapshot = crowdedSnapshot(20_000);
      const gateway = createScriptedGateway({ snapshot, telemetry: { idle } });
      const { admin } = runAdmin({ snapshot, gateway });
      const mark = markOf(admin, (state, context) => stopService(state, 'Sales', context));
      const closing: Transition = (snapshot, context) => closeSessions(snapshot, { idle_over: 5 }, context);
      await expect(admin.execute(closing, { mark, signal: giving.signal })).rejects.toThrow('given up');
      await admin.close();
    },
  );

  it.each([null, true, {}, [].values()])(
    'is refused as the host says, whatever members its refusal has: %p',
    async (completing) => {
      const { admin } = runAdmin();
      const refusing: Transition = (snapshot) =>
        Object.assign({}, stopService(snapshot, 'nothing', { now: 0 }), { completing });
      expect(await send(admin, refusing, markOf(admin, limitTo(7)))).toBe('service-not-found');
    },
  );
});

describe('a mark', () => {
  it('is the same for every caller, at every time and in every life, but for what it closes', () => {
    fc.assert(
      fc.property(subjectPatches, ([subject, operations]) => {
        const patch: Transition = (snapshot, context) => patchSubject(subject, operations, snapshot, context);
        const one = runAdmin().admin.plan(patch, { actor: 'ada' });
        const other = runAdmin({ snapshot: laterSample }).admin.plan(patch);
        fc.pre(one.outcome !== 'refused' && other.outcome !== 'refused');
        expect(other.mark).toBe(one.mark);
      }),
      { numRuns: 30 },
    );
  });

  it('is another one for other values, and the same for other secrets', () => {
    const { admin } = runAdmin();
    expect(markOf(admin, limitTo(7))).not.toBe(markOf(admin, limitTo(8)));
    const seal =
      (sealed: string): Transition =>
      (snapshot, context) =>
        patchService(
          snapshot,
          'My Service',
          [{ op: 'replace', path: '/password', value: { sealed } }],
          context,
        );
    expect(markOf(admin, seal('v1.one'))).toBe(markOf(admin, seal('v1.two')));
    const create =
      (passwordHash: string): Transition =>
      (snapshot, context) =>
        createUser(snapshot, { name: 'eve', passwordHash }, context);
    expect(markOf(admin, create('hash one'))).toBe(markOf(admin, create('hash two')));
  });

  it('holds after a report about other words of the status', async () => {
    const { admin } = runAdmin();
    const out: Transition = (snapshot, context) =>
      patchServer(snapshot, 'db-serv-1', [{ op: 'add', path: '/state/-', value: 'maintenance' }], context);
    const mark = markOf(admin, out);
    admin.report({ type: 'server.reported', server: 'db-serv-1', status: ['slave', 'running'] });
    expect(await send(admin, out, mark)).toBe('accepted');
  });
});

/** The sample in an interface that has run for a while: with another epoch and revision. */
const laterSample = Object.freeze({ ...sampleSnapshot(), epoch: 'later', revision: 77 });

describe('a mark over HTTP', () => {
  const target = (mark?: unknown): string =>
    `/services/My-Service/sessions${typeof mark === 'string' ? `?mark=${mark}` : '?dry_run=true'}`;

  async function over(options: Parameters<typeof runAdmin>[0] = {}) {
    const running = runAdmin(options);
    const { send: sendThrough } = await transports.core(running.admin);
    const prefer = { prefer: 'return=representation' };
    const put = (path: string, headers = {}): Promise<Answer> => sendThrough('PUT', path, { headers });
    return { ...running, put, prefer, sendThrough };
  }

  const markIn = ({ body }: Answer): string => (body as { readonly mark: string }).mark;

  it('binds a command to its plan, and the answer says what was closed', async () => {
    const { admin, sendThrough, prefer } = await over();
    const planned = await sendThrough('DELETE', target());
    admin.report(openedSessions(20));
    const done = await sendThrough('DELETE', target(markIn(planned)), { headers: prefer });
    expect(done).toMatchObject({
      status: 200,
      headers: { 'preference-applied': 'return=representation' },
      body: { outcome: 'accepted', closed: { sessions: 2, connections: 3 } },
    });
    expect(admin.snapshot.sessions.countOfService('my-service')).toBe(20);
  });

  it('belongs to its route and its resource', async () => {
    const { put } = await over();
    const mark = markIn(await put('/service/My-Service/stop?dry_run=true'));
    const wrong = await put(`/service/My-Service/start?mark=${mark}`);
    expect(wrong).toMatchObject({
      status: 412,
      body: { code: 'precondition-failed', plan: { outcome: 'unchanged' } },
    });
    expect((await put(`/service/Bare-Service/stop?mark=${mark}`)).status).toBe(412);
    // Another spelling of the same name.
    expect((await put(`/service/my-service/stop?mark=${mark}`)).status).toBe(204);
  });

  it('holds or not, as a dry run with the mark says', async () => {
    const { put } = await over();
    const mark = markIn(await put('/service/My-Service/stop?dry_run=true'));
    expect((await put(`/service/My-Service/stop?dry_run=true&mark=${mark}`)).body).toMatchObject({ mark });
    await put('/service/My-Service/stop');
    await put('/service/My-Service/start');
    expect((await put(`/service/My-Service/stop?dry_run=true&mark=${mark}`)).status).toBe(200);
    expect((await put(`/service/My-Service/start?dry_run=true&mark=${mark}`)).status).toBe(412);
  });

  it('binds an action of the interface', async () => {
    const { sendThrough, admin } = await over();
    const sent = {
      headers: { 'content-type': 'application/json-patch+json' },
      body: JSON.stringify([{ op: 'replace', path: '/read_only', value: true }]),
    };
    const mark = markIn(await sendThrough('PATCH', '/?dry_run=true', sent));
    const other = { ...sent, body: sent.body.replace('true', 'false') };
    expect((await sendThrough('PATCH', `/?mark=${mark}`, other)).status).toBe(412);
    expect(admin.readOnly).toBe(false);
    expect((await sendThrough('PATCH', `/?mark=${mark}`, sent)).status).toBe(200);
    expect(admin.readOnly).toBe(true);
  });

  it.each(['', 'x', `${'0'.repeat(8)}.${'0'.repeat(32)}&mark=1`])('is refused if it is %j', async (mark) => {
    const { put } = await over();
    expect((await put(`/service/My-Service/stop?mark=${mark}`)).body).toMatchObject({
      code: 'query-invalid',
    });
  });

  it('says without a change that nothing was done', async () => {
    const { put, prefer } = await over();
    expect(await put('/service/My-Service/start', prefer)).toMatchObject({
      status: 200,
      body: { outcome: 'unchanged', closed: { sessions: 0, connections: 0 } },
    });
  });
});

describe('the audit record of a command with a mark', () => {
  it('has the mark, and what was closed', async () => {
    const { admin } = runAdmin();
    const mark = markOf(admin, closeAll);
    admin.report(openedSessions(20));
    const reader = admin.audit();
    await admin.execute(closeAll, { mark });
    const change = [{ type: 'sessions.closed', resource: '/services/My-Service' }];
    const closed = { sessions: 2, connections: 3 };
    expect((await reader.next()).value).toMatchObject({
      call: 'execute',
      mark,
      outcome: 'accepted',
      closed,
      change,
    });
  });
});

describe('planning', () => {
  const reader = { name: 'eve' };
  const authorize = createRoles({ readers: ['eve'] });

  // Promise: reader-plans
  it('is allowed to readers, who may not send the command', async () => {
    const { admin } = runAdmin({ access: { authorize } });
    const put = async (query: string): Promise<number | undefined> => {
      const target = `/service/My-Service/stop${query}`;
      const handled = await admin.handle({ method: 'PUT', target, headers: {}, principal: reader });
      return handled.matched ? handled.response.status : undefined;
    };
    expect([await put('?dry_run=true'), await put(''), await put('?dry_run=false')]).toEqual([200, 403, 403]);
  });

  it('is refused by a rule that does not know dry runs', async () => {
    const { admin } = runAdmin({ access: { authorize: (_principal, { role }) => role === 'reader' } });
    const target = '/service/My-Service/stop?dry_run=true';
    const handled = await admin.handle({ method: 'PUT', target, headers: {}, principal: reader });
    expect(handled).toMatchObject({ response: { status: 403 } });
  });

  it('goes on in the read-only mode', async () => {
    const { admin } = runAdmin();
    admin.readOnly = true;
    const target = '/service/My-Service/stop?dry_run=true';
    expect(await admin.handle({ method: 'PUT', target, headers: {} })).toMatchObject({
      response: { status: 200 },
    });
  });

  it('neither hashes nor seals', async () => {
    const hasher = { hash: () => Promise.reject(new Error('hashed')), verify: () => Promise.resolve(true) };
    const sealer = {
      durable: true,
      seal: () => Promise.reject(new Error('sealed')),
      open: () => Promise.resolve(''),
    };
    const { admin, errors } = runAdmin({ hasher, sealer });
    const plan = async (method: string, target: string, body: unknown): Promise<unknown> => {
      const headers = {
        'content-type': method === 'PATCH' ? 'application/json-patch+json' : 'application/json',
      };
      const request = { method, target: `${target}?dry_run=true`, headers, body: JSON.stringify(body) };
      const handled = await admin.handle(request);
      return handled.matched ? handled.response.status : undefined;
    };
    expect(await plan('PUT', '/users', { name: 'eve', password: 'secret' })).toBe(200);
    const operations = [{ op: 'add', path: '/password', value: 'secret' }];
    expect(await plan('PATCH', '/services/My-Service', operations)).toBe(200);
    expect(errors).toEqual([]);
  });

  it('says first what is wrong with the query, and leaves no record', async () => {
    const { admin } = runAdmin({ access: { authorize } });
    const reading = admin.audit();
    const target = '/service/My-Service/stop?dry_run=true&mark=x';
    const handled = await admin.handle({ method: 'PUT', target, headers: {}, principal: reader });
    expect(handled).toMatchObject({ response: { status: 400 } });
    await admin.close();
    expect(await reading.next()).toEqual({ value: undefined, done: true });
  });

  it('shows the role that a rule gives, and tells onError of another answer', async () => {
    const roleOf = () => Promise.reject(new Error('no')) as never;
    const { admin, errors } = runAdmin({ access: { authorize: Object.assign(() => true, { roleOf }) } });
    const handled = await admin.handle({ method: 'GET', target: '/', headers: {}, principal: reader });
    expect(handled.matched && handled.response.body).toContain('"user":"eve","ready"');
    expect(errors).toMatchObject([{ name: 'HostError', call: 'authorize' }]);
  });

  it('says in a 403 who may not do it, and which role is needed', async () => {
    const { admin } = runAdmin({ access: { authorize } });
    const target = '/service/My-Service/stop';
    const handled = await admin.handle({ method: 'PUT', target, headers: {}, principal: reader });
    const body = handled.matched ? handled.response.body : '';
    expect(body).toMatch(/eve.*operator/);
  });
});
