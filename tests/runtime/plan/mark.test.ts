/**
 * tests/scenarios/plan/mark.txt says what a mark binds a command to.
 */
import { createHash } from 'node:crypto';

import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import {
  closeServerConnections,
  closeServiceSessions,
  closeSessions,
  createMemoryStore,
  createRoles,
  sequence,
  stopService,
  type Admin,
  type Json,
  type Transition,
} from 'gateway-admin-core';
import { createScriptedGateway } from 'gateway-admin-core/testing';

import { patchSubject, subjectPatches } from '../../support/arbitrary-patch.ts';
import { ask } from '../../support/ask.ts';
import { crowdedSnapshot, sampleSnapshot } from '../../support/document.ts';
import { openedSession, openedSessions } from '../../support/opened-session.ts';
import { openRunning, runAdmin } from '../../support/running-admin.ts';
import { closeMine, limit, stop } from '../../support/transition.ts';

const closing =
  (name: string): Transition =>
  (snapshot, context) =>
    closeServiceSessions(snapshot, name, context);

const cutting =
  (name: string): Transition =>
  (snapshot, context) =>
    closeServerConnections(snapshot, name, context);

function markOf(admin: Admin, transition: Transition): string {
  const plan = admin.plan(transition);
  if (plan.outcome === 'refused') throw new Error(plan.problem.detail);
  return plan.mark;
}

/** The outcome of a command with a mark; of a refusal the code. */
async function send(admin: Admin, transition: Transition, mark: string): Promise<unknown> {
  const execution = await admin.execute(transition, { mark });
  return 'problem' in execution ? execution.problem.code : execution.outcome;
}

/** The sessions of a service end by themselves. */
function end(admin: Admin, key: string): void {
  for (const { id, service, connected } of admin.snapshot.sessions)
    if (service === key) admin.report({ type: 'session.closed', id, connected });
}

describe('a command with the mark of its plan', () => {
  it('closes no connection that is opened again under the same id while the command runs', async () => {
    const { admin, gateway } = runAdmin({ snapshot: crowdedSnapshot(1500) });
    const mark = markOf(admin, cutting('db'));
    gateway.will((_effect, _context, perform) => {
      const connection = { session: 1400, id: 0 };
      const again = { server: 'db', role: 'Slave', state: 'In use' };
      admin.report({ type: 'connection.closed', ...connection });
      admin.report({ type: 'connection.opened', ...connection, ...again });
      perform();
      return Promise.resolve();
    });
    expect(await admin.execute(cutting('db'), { mark })).toMatchObject({ closed: { connections: 1499 } });
    expect(admin.snapshot.sessions.find(1400)?.connections).toHaveLength(1);
  });

  it('counts no connection that has ended by itself before the gateway was asked', async () => {
    const { admin } = runAdmin();
    const execution = admin.execute(cutting('db-serv-1'));
    admin.report({ type: 'connection.closed', session: 9, id: 0 });
    expect(await execution).toMatchObject({ outcome: 'accepted', closed: { connections: 1 } });
  });

  it('stores no record of a part that closes nothing', async () => {
    const store = createMemoryStore();
    const { admin } = await openRunning(store, { snapshot: crowdedSnapshot(0) });
    const ofSales = openedSessions(4000, 'db').map((each) => ({ ...each, service: 'Sales' }));
    admin.report(ofSales.slice(0, 10));
    const mark = markOf(admin, closing('Sales'));
    admin.report(ofSales.slice(10));
    const before = (await store.load()).records.length;
    expect(await admin.execute(closing('Sales'), { mark })).toMatchObject({ closed: { sessions: 10 } });
    // The intent and the settlement of the first part, and the end.
    expect((await store.load()).records.length - before).toBe(3);
  });

  it('is done if what its plan closes has ended, and another closing of the sequence has sessions now', async () => {
    const { admin } = runAdmin();
    const both = sequence(limit(7), closeMine, closing('Report Service'));
    const mark = markOf(admin, both);
    end(admin, 'my-service');
    admin.report({ ...openedSession(1), service: 'Report Service' });
    expect(await admin.execute(both, { mark })).toMatchObject({ closed: { sessions: 0, connections: 0 } });
    expect(admin.snapshot.services.find('my-service')?.settings.max_connection).toBe(7);
    expect(admin.snapshot.sessions.countOfService('report-service')).toBe(1);
  });

  it('is refused if another closing of the sequence would close what the plan has not shown', async () => {
    const { admin } = runAdmin();
    admin.report({ ...openedSession(1), service: 'Report Service' });
    const mark = markOf(admin, closeMine);
    end(admin, 'my-service');
    expect(await send(admin, sequence(closeMine, closing('Report Service')), mark)).toBe(
      'precondition-failed',
    );
    expect(admin.snapshot.sessions.countOfService('report-service')).toBe(1);
  });

  it('is an error of the host if a transition does not pass its context on', async () => {
    const { admin } = runAdmin();
    const forgetful: Transition = (snapshot, { now }) => closeMine(snapshot, { now });
    const mark = markOf(admin, forgetful);
    admin.report(openedSessions(1));
    await expect(admin.execute(forgetful, { mark })).rejects.toThrow('must pass its context on');
    expect(admin.snapshot.sessions.countOfService('my-service')).toBe(3);
  });

  it('is refused if no plan can have shown what it closes', async () => {
    const { admin } = runAdmin();
    const [command = '', digest = '', life = '', , ...bound] = markOf(admin, closeMine).split('.');
    const nothing = markOf(runAdmin({ snapshot: crowdedSnapshot(0) }).admin, closing('Sales'));
    const later = [command, digest, life, '999999999999999', ...bound].join('.');
    for (const mark of [later, `${command}.${digest}`, nothing])
      expect(await send(admin, closeMine, mark)).toBe('precondition-failed');
  });

  it('is no command if the mark is none', async () => {
    const { admin } = runAdmin();
    const digits = (count: number): string => '0'.repeat(count);
    for (const mark of ['', 'x', digits(8), `${digits(8)}.${digits(31)}`, `${digits(8)}.${digits(32)}.a.1`]) {
      await expect(admin.execute(stop, { mark })).rejects.toThrow(RangeError);
      const { body } = await ask(admin, `PUT /service/My-Service/stop?mark=${mark}`);
      expect(body).toMatchObject({ code: 'query-invalid' });
    }
  });

  // A host can abort or close at any call. A rejection that nothing handles fails a test.
  const crowd = crowdedSnapshot(5000);
  it.each([1, 1500, 3500, 4500])(
    'is given up while its new plan is made, at call %i of the host',
    async (at) => {
      const giving = new AbortController();
      let calls = 0;
      const idle = (): number => {
        if ((calls += 1) === at) giving.abort(new Error('given up'));
        return 100;
      };
      const gateway = createScriptedGateway({ snapshot: crowd, telemetry: { idle } });
      const { admin } = runAdmin({ snapshot: crowd, gateway });
      const mark = markOf(admin, (state, context) => stopService(state, 'Sales', context));
      const idling: Transition = (snapshot, context) => closeSessions(snapshot, { idle_over: 5 }, context);
      await expect(admin.execute(idling, { mark, signal: giving.signal })).rejects.toThrow('given up');
      await admin.close();
    },
  );

  it('is refused as the host says, whatever members its refusal has', async () => {
    const { admin } = runAdmin();
    for (const completing of [null, true, {}, [].values()]) {
      const refusing: Transition = (snapshot) =>
        Object.assign({}, stopService(snapshot, 'nothing', { now: 0 }), { completing });
      expect(await send(admin, refusing, markOf(admin, limit(7)))).toBe('service-not-found');
    }
  });

  it('says in its answer and in the audit what was closed, and what was not', async () => {
    const { admin } = runAdmin();
    const headers = { prefer: 'return=representation' };
    const line = (query: string): string => `DELETE /services/My-Service/sessions?${query}`;
    const { mark } = (await ask(admin, line('dry_run=true'))).body as { readonly mark: string };
    admin.report(openedSessions(20));
    const reader = admin.audit();
    const closed = { sessions: 2, connections: 3 };
    expect(await ask(admin, line(`mark=${mark}`), { headers })).toMatchObject({
      status: 200,
      headers: { 'preference-applied': 'return=representation' },
      body: { outcome: 'accepted', closed },
    });
    const change = [{ type: 'sessions.closed', resource: '/services/My-Service' }];
    expect((await reader.next()).value).toMatchObject({ mark, outcome: 'accepted', closed, change });
    expect((await ask(admin, 'PUT /service/My-Service/start', { headers })).body).toMatchObject({
      outcome: 'unchanged',
      closed: { sessions: 0, connections: 0 },
    });
  });
});

describe('a mark', () => {
  it('is the same for every caller, at every time and in every life, but for what it closes', () => {
    /** The sample in an interface that has run for a while: with another epoch and revision. */
    const laterSample = Object.freeze({ ...sampleSnapshot(), epoch: 'later', revision: 77 });
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

  it('belongs to its route and its resource, however that is spelled', async () => {
    const { admin } = runAdmin();
    const { body } = await ask(admin, 'PUT /service/My-Service/stop?dry_run=true');
    const { mark } = body as { readonly mark: string };
    const misfit = { code: 'precondition-failed', plan: { outcome: 'unchanged' } };
    for (const [path, status] of [
      ['My-Service/start', 412],
      ['Bare-Service/stop', 412],
      ['my-service/stop', 204],
    ] as const) {
      const answer = await ask(admin, `PUT /service/${path}?mark=${mark}`);
      expect([path, answer.status]).toEqual([path, status]);
      if (status === 412) expect(answer.body).toMatchObject(misfit);
    }
  });

  it('begins with the SHA-256 of what is asked for, of any length and any characters', async () => {
    const { admin } = runAdmin();
    const expectDigits = async (reason: string): Promise<void> => {
      const asked: Json = { reason };
      const { status, body } = await ask(admin, 'PUT /service/My-Service/drain?dry_run=true', {
        body: asked,
      });
      const text = JSON.stringify(['services.drain', { name: 'my-service' }, asked]);
      const digits = createHash('sha256').update(text, 'utf8').digest('hex').slice(0, 8);
      expect([reason, status, (body as { readonly mark: string }).mark.slice(0, 8)]).toEqual([
        reason,
        200,
        digits,
      ]);
    };
    for (let length = 1; length <= 130; length += 1) await expectDigits('a'.repeat(length));
    await expectDigits('Zeit für Ä, ☕ und 🐘');
  });
});

describe('planning', () => {
  const authorize = createRoles({ readers: ['eve'] });
  const stopping = (query: string): string => `PUT /service/My-Service/stop${query}`;

  // Promise: reader-plans
  it('is allowed to readers, who may not send the command, and are told the role that they need', async () => {
    const { admin } = runAdmin({ access: { authorize } });
    const queries = ['?dry_run=true', '', '?dry_run=false'];
    const answers = queries.map((query) => ask(admin, stopping(query), { as: 'eve' }));
    const [planned, sent, other] = await Promise.all(answers);
    expect([planned?.status, sent?.status, other?.status]).toEqual([200, 403, 403]);
    expect(JSON.stringify(sent?.body)).toMatch(/eve.*operator/);
  });

  it('is refused by a rule that does not know dry runs', async () => {
    const { admin } = runAdmin({ access: { authorize: (_principal, { role }) => role === 'reader' } });
    expect((await ask(admin, stopping('?dry_run=true'), { as: 'eve' })).status).toBe(403);
  });

  it('neither hashes nor seals', async () => {
    const hasher = { hash: () => Promise.reject(new Error('hashed')), verify: () => Promise.resolve(true) };
    const seal = (): Promise<never> => Promise.reject(new Error('sealed'));
    const sealer = { durable: true, seal, open: () => Promise.resolve('') };
    const { admin, errors } = runAdmin({ hasher, sealer });
    const user = { name: 'eve', password: 'secret' };
    const operations = [{ op: 'add', path: '/password', value: 'secret' }];
    expect((await ask(admin, 'PUT /users?dry_run=true', { body: user })).status).toBe(200);
    expect((await ask(admin, 'PATCH /services/My-Service?dry_run=true', { body: operations })).status).toBe(
      200,
    );
    expect(errors).toEqual([]);
  });

  it('says first what is wrong with the query, and leaves no record', async () => {
    const { admin } = runAdmin({ access: { authorize } });
    const reading = admin.audit();
    expect((await ask(admin, stopping('?dry_run=true&mark=x'), { as: 'eve' })).status).toBe(400);
    await admin.close();
    expect(await reading.next()).toEqual({ value: undefined, done: true });
  });

  it('shows the role that a rule gives, and tells onError of another answer', async () => {
    const roleOf = () => Promise.reject(new Error('no')) as never;
    const { admin, errors } = runAdmin({ access: { authorize: Object.assign(() => true, { roleOf }) } });
    const { body } = await ask(admin, 'GET /', { as: 'eve' });
    expect(JSON.stringify(body)).toContain('"user":"eve","ready"');
    expect(errors).toMatchObject([{ name: 'HostError', call: 'authorize' }]);
  });
});

it('binds that a secret would change, and not its text', async () => {
  let count = 0;
  const seal = (): Promise<string> => Promise.resolve(`opaque ${String((count += 1))}`);
  const sealer = { durable: true, seal, open: () => Promise.resolve('') };
  const { admin } = await openRunning(createMemoryStore(), { sealer });
  const write = (path: string, value: Json): Promise<unknown> =>
    ask(admin, 'PATCH /services/My-Service', { body: [{ op: 'add', path, value }] });
  await write('/password', 'one long password');
  await write('/max_connection', 7);
  const entries = (await ask(admin, 'GET /history?fields=id')).body as readonly { readonly id: string }[];
  const restore = `PUT /history/${entries.at(-1)?.id ?? ''}/restore`;
  const { mark } = (await ask(admin, `${restore}?dry_run=true`)).body as { readonly mark: string };
  await write('/password', 'another long password');
  expect((await ask(admin, `${restore}?mark=${mark}`)).status).toBe(412);
  const { mark: now } = (await ask(admin, `${restore}?dry_run=true`)).body as { readonly mark: string };
  expect((await ask(admin, `${restore}?mark=${now}`)).status).toBe(204);
  await admin.close();
});
