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
  it.each<[string, Transition, Made['closes'], Made['stays']]>([
    ['a stop of a service', stop, { sessions: 0, connections: 0 }, { sessions: 2 }],
    ['the end of its sessions', closeAll, { sessions: 2, connections: 3 }, { sessions: 0 }],
    ['the end of one session', closeNine, { sessions: 1, connections: 2 }, { sessions: 0 }],
    ['the end of the connections to a server', cutServer, { sessions: 0, connections: 2 }, { sessions: 2 }],
    ['a flush', flushLogs, { sessions: 0, connections: 0 }, { sessions: 0 }],
    ['a stop of a monitor', stopWatch, { sessions: 0, connections: 0 }, { sessions: 0 }],
    ['a start of what is started', start, { sessions: 0, connections: 0 }, { sessions: 0 }],
    [
      'a stop, and the end of all sessions',
      sequence(stop, closeAll),
      { sessions: 2, connections: 3 },
      { sessions: 0 },
    ],
    [
      'a stop, and the end of one session',
      sequence(stop, closeNine),
      { sessions: 1, connections: 2 },
      { sessions: 1 },
    ],
    [
      'a stop, and the end of connections of the same sessions',
      sequence(stop, cutServer),
      { sessions: 0, connections: 2 },
      { sessions: 2 },
    ],
    [
      'a stop of two services',
      sequence(stop, startBare, stopBare),
      { sessions: 0, connections: 0 },
      { sessions: 3 },
    ],
  ])(
    'counts the sessions and connections that %s would close, and the sessions that would stay',
    (_what, transition, closes, stays) => {
      const plan = planOf(transition);
      expect([plan.closes, plan.stays]).toEqual([closes, stays]);
    },
  );

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

  it('is the same from admin.plan and over HTTP', async () => {
    const { admin } = runAdmin();
    const ifMatch = { link: '/services/My-Service', etag: '*' };
    const handled = await admin.handle({
      method: 'PUT',
      target: '/service/My-Service/stop?dry_run=true',
      headers: {},
    });
    const body = handled.matched ? handled.response.body : undefined;
    expect(JSON.parse(typeof body === 'string' ? body : '')).toEqual({
      ...admin.plan(stop, { ifMatch }),
      mark: expect.stringMatching(/^(?!0{8}\.)[0-9a-f]{8}\.[0-9a-f]{32}$/),
    });
  });

  it('has no entity tag without ifMatch', async () => {
    const { admin } = runAdmin();
    expect(admin.plan(stop)).not.toHaveProperty('etag');
    const { etag } = admin.plan(stop, { ifMatch: { link: '/services/My-Service', etag: '*' } }) as Made;
    await admin.execute(stop);
    const handled = await admin.handle({ method: 'GET', target: '/services/My-Service', headers: {} });
    expect(handled.matched && handled.response.headers['etag']).toBe(etag);
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
