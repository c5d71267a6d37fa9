import { describe, expect, it } from '@jest/globals';
import {
  closeServerConnections,
  closeServiceSessions,
  closeSession,
  createUser,
  flushLogs,
  patchService,
  sequence,
  startService,
  stopMonitor,
  stopService,
  type Plan,
  type Transition,
} from 'gateway-admin-core';

import { ask } from '../../support/ask.ts';
import { planted } from '../../support/planted.ts';
import { runAdmin } from '../../support/running-admin.ts';

const stop: Transition = (snapshot, context) => stopService(snapshot, 'My Service', context);
const closeAll: Transition = (snapshot, context) => closeServiceSessions(snapshot, 'My Service', context);
const cutServer: Transition = (snapshot, context) => closeServerConnections(snapshot, 'db-serv-1', context);
const closeNine: Transition = (snapshot, context) => closeSession(snapshot, 9, context);
const start: Transition = (snapshot, context) => startService(snapshot, 'My Service', context);
const stopWatch: Transition = (snapshot, context) => stopMonitor(snapshot, 'Main Monitor', context);
const stopBare: Transition = (snapshot, context) => stopService(snapshot, 'Bare Service', context);
const startBare: Transition = (snapshot, context) => startService(snapshot, 'Bare Service', context);

type Made = Exclude<Plan, { readonly outcome: 'refused' }>;

function planOf(transition: Transition): Made {
  const plan = runAdmin().admin.plan(transition);
  if (plan.outcome === 'refused') throw new Error(plan.problem.detail);
  return plan;
}

describe('a plan', () => {
  // Promise: plan-counts
  it('counts the sessions and connections that it would close, and the sessions that would stay', () => {
    const stopTwo = sequence(stop, startBare, stopBare);
    const rows: readonly (readonly [Transition, sessions: number, connections: number, stay: number])[] = [
      [stop, 0, 0, 2],
      [closeAll, 2, 3, 0],
      [closeNine, 1, 2, 0],
      [cutServer, 0, 2, 2],
      [flushLogs, 0, 0, 0],
      [stopWatch, 0, 0, 0],
      [start, 0, 0, 0],
      [sequence(stop, closeAll), 2, 3, 0],
      [sequence(stop, closeNine), 1, 2, 1],
      [sequence(stop, cutServer), 0, 2, 2],
      [stopTwo, 0, 0, 3],
    ];
    for (const [at, [transition, sessions, connections, stay]] of rows.entries()) {
      const { closes, stays } = planOf(transition);
      expect([at, closes, stays]).toEqual([at, { sessions, connections }, { sessions: stay }]);
    }
  });

  it('is made of any decision that the host has built, also if the session to close is not open', () => {
    const { admin } = runAdmin();
    const gone: Transition = (snapshot, context) => {
      const decision = closeNine(snapshot, context);
      if (decision.outcome !== 'accepted') return decision;
      const [effect] = decision.effects;
      const sessions = [
        { id: 9, connected: 0 },
        { id: 404, connected: 0 },
      ];
      return { ...decision, effects: [{ ...effect, sessions }] } as typeof decision;
    };
    expect(admin.plan(gone)).toMatchObject({
      closes: { sessions: 2, connections: 2 },
      stays: { sessions: 0 },
    });
  });

  it('is the same from admin.plan and over HTTP, with the entity tag that the resource gets', async () => {
    const { admin } = runAdmin();
    const ifMatch = { link: '/services/My-Service', etag: '*' };
    const plan = admin.plan(stop, { ifMatch }) as Made;
    const { body } = await ask(admin, 'PUT /service/My-Service/stop?dry_run=true');
    const mark: unknown = expect.stringMatching(/^(?!0{8}\.)[0-9a-f]{8}\.[0-9a-f]{32}$/);
    expect(body).toEqual({ ...plan, mark });
    expect(admin.plan(stop)).not.toHaveProperty('etag');
    await admin.execute(stop);
    expect((await ask(admin, 'GET /services/My-Service')).headers['etag']).toBe(plan.etag);
  });

  it('has no entity tag if the resource would be gone', () => {
    const { admin } = runAdmin();
    const plan = admin.plan(closeNine, { ifMatch: { link: '/sessions/9', etag: '*' } });
    expect(plan).toMatchObject({ outcome: 'accepted', closes: { sessions: 1 } });
    expect(plan).not.toHaveProperty('etag');
  });

  it('says why the command would be refused', () => {
    const { admin } = runAdmin();
    const ifMatch = { link: '/services/My-Service', etag: '"x"' };
    expect(admin.plan(stop, { ifMatch })).toEqual({
      outcome: 'refused',
      problem: expect.objectContaining({ code: 'precondition-failed', status: 412 }) as unknown,
    });
    const nowhere = { link: '/nowhere', etag: '*' };
    expect(() => admin.plan(stop, { ifMatch: nowhere })).toThrow(RangeError);
  });

  it('contains no secret', () => {
    const secret: Transition = sequence(
      (snapshot, context) => createUser(snapshot, { name: 'joan', passwordHash: 'planted hash' }, context),
      (snapshot, context) =>
        patchService(snapshot, 'My Service', [{ op: 'add', path: '/max_connection', value: 7 }], context),
    );
    const text = JSON.stringify(planOf(secret));
    expect(text).toContain('joan');
    for (const hidden of ['planted hash', planted.sealed, planted.hash]) expect(text).not.toContain(hidden);
  });

  it('throws for a transition that is an async function', () => {
    const wrong = (async () => Promise.resolve()) as unknown as Transition;
    expect(() => runAdmin().admin.plan(wrong)).toThrow(TypeError);
  });
});
