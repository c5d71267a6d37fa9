import { describe, expect, it } from '@jest/globals';
import {
  adoptDocument,
  closeServerConnections,
  createSnapshot,
  deleteResource,
  drain,
  patchMonitor,
  patchServer,
  patchService,
  resume,
  sequence,
  startMonitor,
  startService,
  stopMonitor,
  stopService,
  type AdminOptions,
  type GatewayDocument,
  type Operation,
  type Plan,
  type Transition,
} from 'gateway-admin-core';

import { runAdmin } from '../../support/running-admin.ts';

type Foresee = NonNullable<AdminOptions['foresee']>;
type Notes = NonNullable<Extract<Plan, { readonly mark: string }>['notes']>;

const server = (name: string, ...status: ('running' | 'maintenance')[]) => ({
  ...{ name, address: '10.0.0.1', port: 5432, protocol: 'pg', status },
});
const session = (id: number, on: string) => ({
  ...{
    id,
    state: 'ready',
    user: 'bob',
    address: '::1',
    service: '/services/Sales',
    connected: '2026-01-01T00:00:00Z',
  },
  connections: [{ id: 0, state: 'In use', role: 'Master', server: `/servers/${on}` }],
});
const document: GatewayDocument = {
  servers: [server('db-1', 'running'), server('db-2', 'running', 'maintenance'), server('db-3')],
  services: [
    { name: 'Sales', router: 'r', servers: ['/servers/db-1'] },
    { name: 'Reports', router: 'r', servers: ['/servers/db-3'], state: 'stopped' },
  ],
  sessions: [session(1, 'db-1'), session(2, 'db-1')],
};

function notesOf(transition: Transition, foresee?: Foresee, errors: unknown[] = []): Notes {
  const observe = { onError: (error: unknown) => errors.push(error) };
  const { admin } = runAdmin({ snapshot: createSnapshot(document), observe, ...(foresee && { foresee }) });
  const plan = admin.plan(transition);
  if (plan.outcome === 'refused') throw new Error(plan.problem.detail);
  return plan.notes ?? [];
}

const patchSales =
  (...operations: Operation[]): Transition =>
  (snapshot, context) =>
    patchService(snapshot, 'Sales', operations, context);
const setState =
  (name: string, ...value: string[]): Transition =>
  (snapshot, context) =>
    patchServer(snapshot, name, [{ op: 'replace', path: '/state', value }], context);
const limit = patchSales({ op: 'add', path: '/max_connection', value: 1 });

describe('the notes of a plan', () => {
  it('say of a started service that it loses its last server, also if the server is down', () => {
    const services = [{ name: 'Reports', router: 'r', servers: ['/servers/db-3'] }];
    const { admin } = runAdmin({ snapshot: createSnapshot({ ...document, services, sessions: [] }) });
    const plan = admin.plan((snapshot, context) =>
      deleteResource(snapshot, 'servers', 'db-3', context, { detach: true }),
    );
    expect(plan).toMatchObject({
      notes: [
        {
          ...{ code: 'no-usable-server', resource: '/services/Reports' },
          detail: 'No server of Reports takes new sessions then.',
        },
        { code: 'gateway-may-close' },
      ],
    });
  });

  // Promise: notes
  it.each<[string, Transition, Partial<Notes[number]>[]]>([
    [
      'a setting with which the gateway may close sessions',
      patchSales({ op: 'add', path: '/connection_timeout', value: 10 }),
      [{ code: 'gateway-may-close', resource: '/services/Sales' }],
    ],
    ['a setting with which it may not', patchSales({ op: 'add', path: '/user', value: 'x' }), []],
    [
      'the only server of a service',
      setState('db-1', 'running', 'maintenance'),
      [{ code: 'no-usable-server', resource: '/services/Sales' }],
    ],
    [
      'a drain of the only server of a service, with a deadline',
      (snapshot, context) => drain(snapshot, 'servers', 'db-1', { timeout: 60, then: 'close' }, context),
      [
        {
          code: 'closes-at-deadline',
          count: 2,
          detail: 'What is left of db-1 is closed after 60 s. Now it has 2 connections.',
        },
        { code: 'no-usable-server', resource: '/services/Sales' },
      ],
    ],
    [
      'a drain that comes back before its deadline',
      (snapshot, context) => {
        const options = { timeout: 60, then: 'close' } as const;
        const begun = { now: context.now - 45_500 };
        return adoptDocument(snapshot, drain(snapshot, 'services', 'Sales', options, begun).next, context);
      },
      [
        {
          code: 'closes-at-deadline',
          detail: 'What is left of Sales is closed after 15 s. Now it has 2 sessions.',
        },
      ],
    ],
    [
      'a drain that comes back after its deadline',
      (snapshot, context) => {
        const drained = drain(snapshot, 'services', 'Sales', { timeout: 1, then: 'close' }, { now: 0 }).next;
        return adoptDocument(snapshot, drained, context);
      },
      [
        {
          code: 'deadline-passed',
          resource: '/services/Sales',
          detail:
            'The deadline 1970-01-01T00:00:01+00:00 of the drain of /services/Sales has passed: the drain comes back ' +
            'without a deadline.',
        },
      ],
    ],
    [
      'the end of a drain',
      sequence(
        (snapshot, context) => drain(snapshot, 'services', 'Sales', {}, context),
        (snapshot, context) => resume(snapshot, 'services', 'Sales', context),
      ),
      [{ code: 'ends-drain', resource: '/services/Sales', detail: 'The drain of Sales ends.' }],
    ],
    [
      'a drain that takes a deadline away',
      sequence(
        (snapshot, context) =>
          drain(snapshot, 'services', 'Sales', { timeout: 60, then: 'close' }, { now: context.now - 1000 }),
        (snapshot, context) => drain(snapshot, 'services', 'Sales', { reason: 'kernel' }, context),
      ),
      [
        {
          code: 'closes-at-deadline',
        },
        {
          code: 'ends-deadline',
          resource: '/services/Sales',
          detail: 'The deadline of Sales goes away.',
        },
      ],
    ],
    [
      'a drain that takes a deadline away at which the drain would end',
      sequence(
        (snapshot, context) => drain(snapshot, 'servers', 'db-2', { timeout: 60, then: 'resume' }, context),
        (snapshot, context) => drain(snapshot, 'servers', 'db-2', {}, context),
      ),
      [
        { code: 'connections-left' },
        {
          code: 'ends-deadline',
          resource: '/servers/db-2',
          detail: 'The deadline of db-2 goes away.',
        },
      ],
    ],
    [
      'a drain of a server without a deadline',
      (snapshot, context) => drain(snapshot, 'servers', 'db-1', {}, context),
      [
        {
          code: 'connections-left',
          resource: '/servers/db-1',
          count: 2,
          detail: 'db-1 takes no new sessions. Now it has 2 connections.',
        },
        { code: 'no-usable-server', resource: '/services/Sales' },
      ],
    ],
    [
      'a start of a service without a usable server',
      (snapshot, context) => startService(snapshot, 'Reports', context),
      [{ code: 'no-usable-server', resource: '/services/Reports' }],
    ],
    ['a stop', (snapshot, context) => stopService(snapshot, 'Sales', context), []],
    [
      'the end of the maintenance',
      setState('db-2', 'running'),
      [{ code: 'leaves-maintenance', resource: '/servers/db-2', detail: 'db-2 leaves maintenance.' }],
    ],
    [
      'another address of a server',
      (snapshot, context) =>
        patchServer(snapshot, 'db-1', [{ op: 'replace', path: '/port', value: 5433 }], context),
      [
        {
          ...{ code: 'other-database', resource: '/servers/db-1' },
          detail: 'db-1 sends its clients to another database.',
        },
      ],
    ],
    [
      'a document that lacks what the gateway has',
      (snapshot, context) => adoptDocument(snapshot, createSnapshot({ servers: [], services: [] }), context),
      ['/servers/db-1', '/servers/db-2', '/servers/db-3', '/services/Sales', '/services/Reports'].map(
        (resource) => ({
          ...{ code: 'left-as-it-is', resource },
          detail: `${resource}: not in the document, left as it is`,
        }),
      ),
    ],
    [
      'a server that sessions still use',
      patchSales({ op: 'replace', path: '/servers/0', value: '/servers/db-2' }),
      [
        { code: 'sessions-on-old-server', resource: '/servers/db-1', count: 2 },
        { code: 'no-usable-server', resource: '/services/Sales' },
        { code: 'gateway-may-close' },
      ],
    ],
    [
      'the connections that sessions lose',
      (snapshot, context) => closeServerConnections(snapshot, 'db-1', context),
      [{ code: 'sessions-lose-connection', resource: '/servers/db-1', count: 2 }],
    ],
    [
      'a sequence',
      sequence(limit, setState('db-2', 'running')),
      [{ code: 'leaves-maintenance' }, { code: 'gateway-may-close' }],
    ],
  ])('name what is not counted of %s', (_what, transition, expected) => {
    const notes = notesOf(transition);
    expect(notes).toMatchObject(expected);
    expect(notes).toHaveLength(expected.length);
  });

  describe('of a monitor', () => {
    const servers = ['db-1', 'db-2', 'db-3', 'db-4', 'db-5'].map((name) => server(name, 'running'));
    const links = servers.map(({ name }) => `/servers/${name}`);
    const monitors = [
      { name: 'Watch', module: 'm', servers: links },
      { name: 'Second', module: 'm', servers: links.slice(0, 1) },
      { name: 'Idle', module: 'm', servers: links.slice(1), state: 'stopped' },
    ] as const;
    const stop: Transition = (from, at) => stopMonitor(from, 'Watch', at);
    const deletion =
      (name: string): Transition =>
      (from, at) =>
        deleteResource(from, 'monitors', name, at);
    const patch =
      (name: string, value: readonly string[]): Transition =>
      (from, at) =>
        patchMonitor(from, name, [{ op: 'replace', path: '/servers', value: [...value] }], at);

    function unwatchedBy(transition: Transition, document: GatewayDocument = { servers, monitors }) {
      const plan = runAdmin({ snapshot: createSnapshot(document) }).admin.plan(transition);
      if (plan.outcome === 'refused') throw new Error(plan.problem.detail);
      return (plan.notes ?? []).map(({ code, resource, detail }) => [code, resource, detail]);
    }
    const leaving = (monitor: string, names: string) => [
      'server-unwatched',
      `/monitors/${monitor}`,
      `No started monitor looks at ${names} then.`,
    ];

    it.each<[string, Transition, readonly string[][]]>([
      ['its stop', stop, [leaving('Watch', 'db-2, db-3, db-4 and 1 more')]],
      [
        'its stop and deletion',
        sequence(stop, deletion('Watch')),
        [leaving('Watch', 'db-2, db-3, db-4 and 1 more')],
      ],
      ['a list without some of them', patch('Watch', links.slice(0, 3)), [leaving('Watch', 'db-4, db-5')]],
      ['a list with all of them', patch('Watch', links.toReversed()), []],
      ['the stop of one beside another', (from, at) => stopMonitor(from, 'Second', at), []],
      [
        'another interval of a stopped one',
        (from, at) =>
          patchMonitor(from, 'Idle', [{ op: 'replace', path: '/monitor_interval', value: 7 }], at),
        [],
      ],
      ['the deletion of a stopped one beside another', deletion('Idle'), []],
      [
        'the start of another one in the same command',
        sequence((from, at) => startMonitor(from, 'Idle', at), stop),
        [],
      ],
    ])('name the servers that nobody looks at then: %s', (_what, transition, expected) => {
      expect(unwatchedBy(transition)).toEqual(expected);
    });

    it.each([
      ['its deletion', deletion('Idle'), 'db-2, db-3, db-4 and 1 more'],
      ['an empty list', patch('Idle', links.slice(2)), 'db-2'],
    ])('name the servers of one that is stopped: %s', (_what, transition, names) => {
      const [, , idle] = monitors;
      expect(unwatchedBy(transition, { servers, monitors: [idle] })).toEqual([leaving('Idle', names)]);
    });
  });

  it('are those of a host that foresees what it will do', () => {
    const foresee: Foresee = ({ events }, { sessions }) => [
      {
        code: 'host-idle',
        resource: events[0]?.resource ?? '',
        count: sessions.size,
        detail: 'They are idle.',
      },
    ];
    expect(notesOf(limit, foresee)).toEqual([
      { code: 'host-idle', resource: '/services/Sales', count: 2, detail: 'They are idle.' },
    ]);
    expect(notesOf(limit, () => [])).toEqual([]);
  });

  it.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('no');
      },
    ],
    ['answers a promise', () => Promise.resolve([])],
    ['answers with a code of its own', () => [{ code: 'gateway-may-close', detail: 'x' }]],
    ['answers with two lines', () => [{ code: 'host-x', detail: 'a\nb' }]],
    ['answers with half a session', () => [{ code: 'host-x', detail: 'a', count: 0.5 }]],
    ['answers nothing', () => undefined],
  ])('are those of no host, and onError gets an error, if the host %s', (_what, foresee) => {
    const errors: unknown[] = [];
    expect(notesOf(limit, foresee as Foresee, errors)).toMatchObject([{ code: 'gateway-may-close' }]);
    expect(errors).toMatchObject([{ name: 'HostError', call: 'foresee' }]);
  });

  // When each lost server was looked for in each service, this took longer than a test may.
  it('are made in one pass over many services of many servers', () => {
    const names = Array.from({ length: 1000 }, (_, at) => `s-${String(at)}`);
    const servers = names.map((name) => `/servers/${name}`);
    const { admin } = runAdmin({
      snapshot: createSnapshot({
        servers: names.map((name) => server(name, 'running')),
        services: names.slice(0, 300).map((name) => ({ name, router: 'r', servers })),
        sessions: names.map((name, id) => ({ ...session(id, name), service: '/services/s-1' })),
      }),
    });
    const none: Transition = (state, context) =>
      patchService(state, 's-1', [{ op: 'replace', path: '/servers', value: [] }], context);
    expect(admin.plan(none)).toMatchObject({ outcome: 'accepted' });
  });

  it('are at most 20 of the host', () => {
    const note = { code: 'host-x', detail: 'x' } as const;
    expect(notesOf(limit, () => Array.from({ length: 30 }, () => note))).toHaveLength(20);
  });
});
