import { describe, expect, it } from '@jest/globals';
import {
  closeServiceSessions,
  closeSession,
  createSnapshot,
  deleteResource,
  deleteUser,
  evolve,
  stopService,
  toDocument,
  type AdminEvent,
  type Entity,
  type Snapshot,
} from 'gateway-admin-core';

import { filter, monitor, server, service, user } from '../support/document-entry.ts';
import { sampleSnapshot } from '../support/document.ts';
import { collections } from '../support/expect-decision.ts';
import { readAll } from '../support/reading.ts';
import { runAdmin } from '../support/running-admin.ts';
import { transports } from '../support/transport.ts';

const singulars = {
  servers: 'server',
  services: 'service',
  monitors: 'monitor',
  filters: 'filter',
  users: 'user',
} as const;

describe('a name', () => {
  it.each(collections)('finds everything in %s, in whatever spelling', (collection) => {
    const snapshot = sampleSnapshot();
    const entities: readonly Entity[] = [...snapshot[collection]];
    expect(entities).not.toHaveLength(0);
    for (const entity of entities) {
      const { name, key } = entity;
      for (const each of [name, name.toUpperCase(), name.replaceAll(' ', '-'), key])
        expect(snapshot[collection].find(each)).toBe(entity);
    }
  });

  it.each(collections)('that is not in %s is refused, and the refusal says where to look', (collection) => {
    const decision =
      collection === 'users'
        ? deleteUser(sampleSnapshot(), 'constructor', { now: 0 })
        : deleteResource(sampleSnapshot(), collection, 'constructor', { now: 0 });
    const singular = singulars[collection];
    expect(decision).toMatchObject({
      outcome: 'refused',
      problem: {
        status: 404,
        code: `${singular}-not-found`,
        detail: `There is no ${singular} named "constructor". GET /${collection} lists the existing ones.`,
      },
    });
  });
});

describe('the id of a session', () => {
  it('finds the session, and 0 is one', () => {
    for (const id of [0, 9, 12])
      expect(closeSession(sampleSnapshot(), id, { now: 0 })).toMatchObject({
        outcome: 'accepted',
        events: [{ sessions: [{ id }] }],
      });
  });

  it('of a session that may have ended is refused', () => {
    expect(closeSession(sampleSnapshot(), 1, { now: 0 })).toMatchObject({
      problem: {
        code: 'session-not-found',
        status: 404,
        detail: 'There is no session 1; the session may have ended. GET /sessions lists the open sessions.',
      },
    });
  });
});

describe('a snapshot that was made by hand', () => {
  const sentence = 'snapshot must come from createSnapshot';

  it.each(['servers', 'services', 'monitors', 'filters', 'users', 'sessions'] as const)(
    'is refused with a sentence when its %s alone are not ours',
    (part) => {
      const byHand: Snapshot = Object.freeze({ ...createSnapshot({}), [part]: [] });
      expect(() => stopService(byHand, 'Sales', { now: 0 })).toThrow(new TypeError(sentence));
    },
  );

  it.each([null, undefined, 7, 'text'])('is refused with a sentence in place of %p', (value) => {
    expect(() => stopService(value as never, 'Sales', { now: 0 })).toThrow(new TypeError(sentence));
  });

  it('is refused with a sentence, whichever part of it is not ours', () => {
    const { services, sessions } = sampleSnapshot();
    const list = {
      size: 0,
      version: services.version,
      find: () => undefined,
      range: () => [],
      toJSON: () => [],
    };
    const byHand: Snapshot = {
      ...createSnapshot({}),
      services: { ...list, [Symbol.iterator]: () => [][Symbol.iterator]() },
    };
    expect(() => stopService(byHand, 'Sales', { now: 0 })).toThrow(sentence);
    const copied = { ...sampleSnapshot(), sessions: Object.assign({}, sessions) };
    expect(() => closeServiceSessions(copied, 'My Service', { now: 0 })).toThrow(sentence);
  });
});

describe('the id of a session in a path', () => {
  const send = transports.core(runAdmin().admin).then((transport) => transport.send);
  const codeOf = async (id: string): Promise<unknown> => {
    const { status, body } = await (await send)('GET', `/sessions/${encodeURIComponent(id)}`);
    return status === 200 ? (body as { readonly id: number }).id : (body as { readonly code: string }).code;
  };

  it('is a number in decimal digits', async () => {
    expect(await codeOf('0')).toBe(0);
    expect(await codeOf('9')).toBe(9);
    for (const id of ['7', '9007199254740991']) expect(await codeOf(id)).toBe('session-not-found');
  });

  it('is nothing else', async () => {
    const others = ['00', '01', '-0', '-1', '+1', '1 ', ' 1', '1.0', '1e3', '0x1', 'Infinity', 'NaN'];
    const more = ['9007199254740992', '9'.repeat(400), '٣', '１', 'x'];
    for (const id of [...others, ...more]) expect([id, await codeOf(id)]).toEqual([id, 'session-id-invalid']);
  });
});

/**
 * Something of each kind has the name of the service. A session of the service opens, then the service stops, then the
 * session closes, with a revision each.
 */
function changedSnapshots(): readonly [opened: Snapshot, stopped: Snapshot, closed: Snapshot] {
  const twice = <T extends { readonly name: string }>(entry: T): readonly T[] => [
    entry,
    { ...entry, name: service.name },
  ];
  const before = createSnapshot({
    servers: twice(server),
    services: [service, { ...service, name: 'Stock' }],
    monitors: twice(monitor),
    filters: twice(filter),
    users: twice(user),
  });
  const head = { at: 0, resource: '/services/Sales' };
  const session = { id: 7, state: '', user: '', address: '', service: 'sales', connected: 0 };
  const opened = evolve(before, [{ type: 'session.opened', ...head, ...session }]);
  const stopped = evolve(opened, [{ type: 'service.stopped', ...head, service: 'sales' }]);
  const closed = evolve(stopped, [{ type: 'session.closed', ...head, id: 7, connected: 0 }]);
  return [opened, stopped, closed];
}

/** The version of each representation of one thing, by the id of the route and the name of the thing. */
function versionsShown(snapshot: Snapshot): Readonly<Record<string, unknown>> {
  const versions = readAll(snapshot).flatMap(({ route, subject }) => {
    const found = route.find(snapshot, { name: subject, id: subject });
    if (!/^(?:servers|services|monitors|filters)\.get$/.test(route.id) || !found.ok) return [];
    return [[`${route.id} ${subject}`, route.version?.(snapshot, found.value)]];
  });
  return Object.fromEntries(versions) as Readonly<Record<string, unknown>>;
}

describe('the version of a representation', () => {
  it('is the version of the resource; the counters of a service count too, as a report', () => {
    const wanted = [
      { command: 0, live: 1 },
      { command: 2, live: 2 },
      { command: 2, live: 3 },
    ];
    for (const [at, snapshot] of changedSnapshots().entries()) {
      const { 'services.get Sales': ofService, ...others } = versionsShown(snapshot);
      expect(ofService).toEqual(wanted[at]);
      expect(Object.keys(others)).toHaveLength(7);
      for (const version of Object.values(others)) expect(version).toEqual({ command: 0, live: 0 });
    }
  });
});

const noStatistics = {
  ...{ reads: 0, writes: 0, buffered_writes: 0 },
  ...{ high_water_events: 0, low_water_events: 0 },
};

describe('evolve', () => {
  const head = { at: 0, resource: '/x' };
  const connected = Date.parse('2016-09-09T14:12:37+03:00');
  const gone: readonly AdminEvent[] = [
    { type: 'service.started', ...head, service: 'gone' },
    { type: 'service.stopped', ...head, service: 'gone' },
    { type: 'service.reported', ...head, service: 'gone', state: 'failed' },
    {
      type: 'service.updated',
      ...head,
      service: 'gone',
      ...update({ servers: [], router_options: {}, router_optionsSealed: {}, filters: [] }),
    },
    { type: 'server.reported', ...head, server: 'gone', status: ['master'] },
    {
      type: 'server.updated',
      ...head,
      server: 'gone',
      ...update({ address: 'a', port: 1, parameters: {}, parametersSealed: {}, state: [] }),
    },
    { type: 'monitor.started', ...head, monitor: 'gone' },
    { type: 'monitor.stopped', ...head, monitor: 'gone' },
    { type: 'monitor.reported', ...head, monitor: 'gone', state: 'failed' },
    { type: 'filter.updated', ...head, filter: 'gone', ...update({ parameters: {}, parametersSealed: {} }) },
    { type: 'user.updated', ...head, user: 'gone', passwordHash: 'opaque' },
    { type: 'user.rehashed', ...head, user: 'gone', passwordHash: 'opaque' },
    { type: 'user.deleted', ...head, user: 'gone' },
    {
      type: 'session.opened',
      ...head,
      id: 99,
      state: '',
      user: '',
      address: '',
      service: 'gone',
      connected: 0,
    },
    { type: 'session.updated', ...head, id: 99, connected: 0, state: '', user: '', idle: 0 },
    { type: 'session.closed', ...head, id: 99, connected: 0 },
    { type: 'sessions.closed', ...head, sessions: [{ id: 99, connected: 0 }] },
    {
      type: 'connection.opened',
      ...head,
      session: 9,
      connected,
      id: 99,
      server: 'gone',
      role: '',
      state: '',
    },
    {
      type: 'connection.opened',
      ...head,
      session: 99,
      connected,
      id: 99,
      server: 'db-serv-1',
      role: '',
      state: '',
    },
    {
      type: 'connection.updated',
      ...head,
      session: 9,
      connected,
      id: 99,
      role: '',
      state: '',
      statistics: noStatistics,
    },
    { type: 'connection.closed', ...head, session: 9, connected, id: 99 },
    {
      type: 'connections.closed',
      ...head,
      server: 'db-server-2',
      connections: [{ session: 9, connected: 0, id: 4 }],
    },
  ];

  it.each(gone)('changes nothing when $type is about a thing that is gone', (event) => {
    const snapshot = sampleSnapshot();
    expect(evolve(snapshot, [event])).toBe(snapshot);
  });

  it('changes nothing when a thing comes that is there already', () => {
    const snapshot = sampleSnapshot();
    const again: readonly AdminEvent[] = [
      { type: 'user.created', ...head, user: 'ada', name: 'ADA', passwordHash: 'another' },
      {
        type: 'session.opened',
        ...head,
        id: 9,
        state: '',
        user: '',
        address: '',
        service: 'my-service',
        connected: 0,
      },
      {
        type: 'connection.opened',
        ...head,
        session: 9,
        connected,
        id: 4,
        server: 'db-serv-1',
        role: '',
        state: '',
      },
    ];
    expect(evolve(snapshot, again)).toBe(snapshot);
  });

  it('does not close a session whose id is used again', () => {
    const snapshot = sampleSnapshot();
    expect(snapshot.sessions.find(9)?.connected).toBe(connected);
    const stale = { id: 9, connected: connected - 1 };
    expect(evolve(snapshot, [{ type: 'sessions.closed', ...head, sessions: [stale] }])).toBe(snapshot);
    expect(evolve(snapshot, [{ type: 'session.closed', ...head, ...stale }])).toBe(snapshot);
    const connections = [{ session: 9, connected: stale.connected, id: 4 }];
    const server = 'db-server-2';
    expect(evolve(snapshot, [{ type: 'connections.closed', ...head, server, connections }])).toBe(snapshot);
  });

  it('does not change a session whose id is used again, nor its connections', () => {
    const snapshot = sampleSnapshot();
    const earlier = { ...head, session: 9, connected: connected - 1, role: 'x', state: 'x' };
    const events: readonly AdminEvent[] = [
      { type: 'session.updated', ...head, id: 9, connected: connected - 1, state: 'x', user: 'x', idle: 1 },
      { type: 'connection.opened', ...earlier, id: 5, server: 'db-serv-1' },
      { type: 'connection.updated', ...earlier, id: 4, statistics: noStatistics },
      { type: 'connection.closed', ...head, session: 9, connected: connected - 1, id: 4 },
    ];
    expect(evolve(snapshot, events)).toBe(snapshot);
  });

  it('changes nothing when a report says again what is there', () => {
    const snapshot = sampleSnapshot();
    const again: readonly AdminEvent[] = [
      {
        type: 'server.reported',
        ...head,
        server: 'db-serv-1',
        status: snapshot.servers.find('db-serv-1')?.settings.state ?? [],
      },
      { type: 'service.reported', ...head, service: 'my-service', state: 'started' },
    ];
    for (const event of again) expect(evolve(snapshot, [event])).toBe(snapshot);
  });

  it('leaves out an event that it does not know, and folds the others', () => {
    const snapshot = sampleSnapshot();
    const unknown = ['service.painted', 'toString', '__proto__'].map(
      (type) => ({ type, ...head }) as unknown as AdminEvent,
    );
    const stopped: AdminEvent = { type: 'service.stopped', ...head, service: 'my-service' };
    expect(evolve(snapshot, unknown)).toBe(snapshot);
    expect(toDocument(evolve(snapshot, [...unknown, stopped]))).toEqual(
      toDocument(evolve(snapshot, [stopped])),
    );
  });

  it('is one revision later, however many events there are', () => {
    const snapshot = sampleSnapshot();
    const events: readonly AdminEvent[] = [
      { type: 'service.stopped', ...head, service: 'my-service' },
      { type: 'monitor.stopped', ...head, monitor: 'main-monitor' },
    ];
    expect(evolve(snapshot, events).revision).toBe(1);
    expect(evolve(evolve(snapshot, events.slice(0, 1)), events.slice(1)).revision).toBe(2);
  });
});

function update<T extends object>(before: T): { before: T; after: T; operations: []; inverse: [] } {
  return { before, after: before, operations: [], inverse: [] };
}
