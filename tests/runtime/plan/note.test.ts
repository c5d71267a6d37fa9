/** tests/scenarios/plan/note.txt says what the notes of a plan name. */
import { describe, expect, it } from '@jest/globals';
import {
  adoptDocument,
  createSnapshot,
  drain,
  patchService,
  type AdminOptions,
  type Plan,
  type Transition,
} from 'gateway-admin-core';

import { sampleSnapshot } from '../../support/document.ts';
import { runAdmin, type Running } from '../../support/running-admin.ts';

type Foresee = NonNullable<AdminOptions['foresee']>;

const limit: Transition = (snapshot, context) =>
  patchService(snapshot, 'My Service', [{ op: 'add', path: '/max_connection', value: 1 }], context);

function notesOf({ admin }: Running, transition: Transition): Extract<Plan, { mark: string }>['notes'] {
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
    const drained = drain(
      sampleSnapshot(),
      'services',
      'My Service',
      { timeout: 1, then: 'close' },
      { now: 0 },
    );
    const adopting: Transition = (snapshot, context) => adoptDocument(snapshot, drained.next, context);
    const passed = expect.objectContaining({ code: 'deadline-passed', resource: '/services/My-Service' });
    expect(notesOf(runAdmin(), adopting)).toContainEqual(passed);
    expect(notesOf(runAdmin({ snapshot: drained.next }), adopting)).toBeUndefined();
  });

  it('are those of a host that foresees what it will do, at most 20', () => {
    const foresee: Foresee = ({ events }, { sessions }) => [
      {
        ...{ code: 'host-idle', resource: events[0]?.resource ?? '' },
        ...{ count: sessions.size, detail: 'They are idle.' },
      },
    ];
    const { size } = sampleSnapshot().sessions;
    expect(notesOf(runAdmin({ foresee }), limit)).toEqual([
      { code: 'host-idle', resource: '/services/My-Service', count: size, detail: 'They are idle.' },
    ]);
    expect(notesOf(runAdmin({ foresee: () => [] }), limit)).toBeUndefined();
    const note = { code: 'host-x', detail: 'x' } as const;
    const many = runAdmin({ foresee: () => Array.from({ length: 30 }, () => note) });
    expect(notesOf(many, limit)).toHaveLength(20);
  });

  it.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('no');
      },
    ],
    ['answers a promise', () => Promise.resolve([])],
    ['answers with a code of the library', () => [{ code: 'gateway-may-close', detail: 'x' }]],
    ['answers with two lines', () => [{ code: 'host-x', detail: 'a\nb' }]],
    ['answers with half a session', () => [{ code: 'host-x', detail: 'a', count: 0.5 }]],
    ['answers nothing', () => undefined],
  ])('are those of no host, and onError gets an error, if the host %s', (_what, foresee) => {
    const running = runAdmin({ foresee: foresee as Foresee });
    expect(notesOf(running, limit)).toMatchObject([{ code: 'gateway-may-close' }]);
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
