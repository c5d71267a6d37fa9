/**
 * Plans and their notes. tests/scenarios/plan/note.txt says what the notes name.
 */
import { describe, expect, it } from '@jest/globals';
import {
  adoptDocument,
  closeServerConnections,
  closeSession,
  createSnapshot,
  drain,
  flushLogs,
  patchService,
  sequence,
  type AdminOptions,
  type Decision,
  type Effect,
  type Plan,
  type Transition,
} from 'gateway-admin-core';

import { ask } from '../../support/ask.ts';
import { sampleSnapshot } from '../../support/document.ts';
import { runAdmin, type Running } from '../../support/running-admin.ts';
import { closeMine, limit, start, startBare, stop, stopBare, stopMain } from '../../support/transition.ts';

const cutServer: Transition = (snapshot, context) => closeServerConnections(snapshot, 'db-serv-1', context);
const closeNine: Transition = (snapshot, context) => closeSession(snapshot, 9, context);

function planOf(transition: Transition): Plan {
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
      [closeMine, 2, 3, 0],
      [closeNine, 1, 2, 0],
      [cutServer, 0, 2, 2],
      [flushLogs, 0, 0, 0],
      [stopMain, 0, 0, 0],
      [start, 0, 0, 0],
      [sequence(stop, closeMine), 2, 3, 0],
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
    const sessions = [9, 404].map((id) => ({ id, connected: 0 }));
    const gone: Transition = (snapshot, context) => {
      const { events, effects, ...decision } = closeNine(snapshot, context) as Extract<
        Decision,
        { effects: readonly Effect[] }
      >;
      const told = { events: [{ ...events[0], sessions }], effects: [{ ...effects[0], sessions }] };
      return { ...decision, ...told } as Decision;
    };
    expect(admin.plan(gone)).toMatchObject({
      closes: { sessions: 2, connections: 2 },
      stays: { sessions: 0 },
    });
  });

  it('is the same from admin.plan and over HTTP, with the entity tag that the resource gets', async () => {
    const { admin } = runAdmin();
    const ifMatch = { link: '/services/My-Service', etag: '*' };
    const plan = admin.plan(stop, { ifMatch }) as Plan;
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
    const problem = { code: 'precondition-failed', status: 412 };
    expect(admin.plan(stop, { ifMatch })).toMatchObject({ outcome: 'refused', problem });
    expect(() => admin.plan(stop, { ifMatch: { link: '/nowhere', etag: '*' } })).toThrow(RangeError);
  });

  it('throws for a transition that is an async function', () => {
    const wrong = (async () => Promise.resolve()) as unknown as Transition;
    expect(() => runAdmin().admin.plan(wrong)).toThrow(TypeError);
  });
});

type Foresee = NonNullable<AdminOptions['foresee']>;

function notesOf({ admin }: Running, transition: Transition): Plan['notes'] {
  const plan = admin.plan(transition);
  if (plan.outcome === 'refused') throw new Error(plan.problem.detail);
  return plan.notes;
}

describe('the notes of a plan', () => {
  it('name what the gateway has, and a document lacks', () => {
    const none = createSnapshot({ servers: [], filters: [] });
    const notes = notesOf(runAdmin(), (snapshot, context) => adoptDocument(snapshot, none, context));
    const { servers, filters } = sampleSnapshot();
    expect(notes).toHaveLength(servers.size + filters.size);
    expect(notes).toContainEqual({
      code: 'left-as-it-is',
      resource: '/filters/Hint',
      detail: '/filters/Hint: not in the document, left as it is',
    });
  });

  it('name a deadline of a document that has passed, unless the drain is in use', () => {
    const how = { timeout: 1, then: 'close' } as const;
    const drained = drain(sampleSnapshot(), 'services', 'My Service', how, { now: 0 }).next;
    const adopting: Transition = (snapshot, context) => adoptDocument(snapshot, drained, context);
    const passed = expect.objectContaining({ code: 'deadline-passed', resource: '/services/My-Service' });
    expect(notesOf(runAdmin(), adopting)).toContainEqual(passed);
    expect(notesOf(runAdmin({ snapshot: drained }), adopting)).toBeUndefined();
  });

  it('are those of a host that foresees what it will do, at most 20', () => {
    const idle = { code: 'host-idle', resource: '/services/My-Service', detail: 'They are idle.' } as const;
    const foresee: Foresee = ({ events }, { sessions }) => [
      { ...idle, resource: events[0]?.resource ?? '', count: sessions.size },
    ];
    const count = sampleSnapshot().sessions.size;
    expect(notesOf(runAdmin({ foresee }), limit(1))).toEqual([{ ...idle, count }]);
    expect(notesOf(runAdmin({ foresee: () => [] }), limit(1))).toBeUndefined();
    const many = runAdmin({ foresee: () => Array<typeof idle>(30).fill(idle) });
    expect(notesOf(many, limit(1))).toHaveLength(20);
  });

  const fails = (): never => {
    throw new Error('no');
  };
  it.each<[string, () => unknown]>([
    ['throws', fails],
    ['answers a promise', () => Promise.resolve([])],
    ['answers with a code of the library', () => [{ code: 'gateway-may-close', detail: 'x' }]],
    ['answers with two lines', () => [{ code: 'host-x', detail: 'a\nb' }]],
    ['answers with half a session', () => [{ code: 'host-x', detail: 'a', count: 0.5 }]],
    ['answers nothing', () => undefined],
  ])('are those of no host, and onError gets an error, if the host %s', (_what, foresee) => {
    const running = runAdmin({ foresee: foresee as Foresee });
    expect(notesOf(running, limit(1))).toMatchObject([{ code: 'gateway-may-close' }]);
    expect(running.errors).toMatchObject([{ name: 'HostError', call: 'foresee' }]);
  });

  // When each lost server was looked for in each service, this took longer than a test may.
  it('are made in one pass over many services of many servers', () => {
    const names = Array.from({ length: 1000 }, (_, at) => `s-${String(at)}`);
    const servers = names.map((name) => `/servers/${name}`);
    const connected = { state: 'In use', role: 'Master' };
    const snapshot = createSnapshot({
      servers: names.map((name) => ({ name, address: 'a', port: 1, protocol: 'pg', status: ['running'] })),
      services: names.slice(0, 300).map((name) => ({ name, router: 'r', servers })),
      sessions: servers.map((link, id) => ({
        ...{ id, state: 'ready', user: 'bob', address: '::1', service: '/services/s-1' },
        connected: '2026-01-01T00:00:00Z',
        connections: [{ id: 0, ...connected, server: link }],
      })),
    });
    const none: Transition = (state, context) =>
      patchService(state, 's-1', [{ op: 'replace', path: '/servers', value: [] }], context);
    expect(runAdmin({ snapshot }).admin.plan(none)).toMatchObject({ outcome: 'accepted' });
  });
});
