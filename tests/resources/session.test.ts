import { describe, expect, it } from '@jest/globals';
import {
  closeServerConnections,
  closeServiceSessions,
  closeSession,
  closeSessions,
  createSnapshot,
  applyReports,
  sequence,
  stopService,
  type HostReport,
  type Snapshot,
  type Transition,
} from 'gateway-admin-core';

import { crowdedSnapshot, sampleSnapshot } from '../support/document.ts';
import {
  contentOf,
  expectAccepted,
  expectClosing,
  expectNext,
  expectRefused,
  expectUnchanged,
} from '../support/expect-decision.ts';

const close =
  (id: number): Transition =>
  (snapshot, context) =>
    closeSession(snapshot, id, context);
const closeOfService =
  (name: string): Transition =>
  (snapshot, context) =>
    closeServiceSessions(snapshot, name, context);
const closeOfServer =
  (name: string): Transition =>
  (snapshot, context) =>
    closeServerConnections(snapshot, name, context);

/** How many sessions one event closes at most: docs/limits.md. */
const teardownBatch = 1000;

const connectedAt = Date.parse('2016-09-09T14:12:37+03:00');

const unreadable = (): never => {
  throw new Error('no user');
};

/** The snapshot after a report, which must be sound. */
function after(snapshot: Snapshot, ...report: readonly HostReport[]): Snapshot {
  const { next, events, faults } = applyReports(snapshot, report, { now: 5 });
  expect(faults).toEqual([]);
  expectNext(snapshot, next, events);
  return next;
}

describe('closing a session', () => {
  it('ends the session and all its connections', () => {
    const { next, events, effects, resources } = expectAccepted(close(9));
    const sessions = [{ id: 9, connected: connectedAt }];
    expect(events).toMatchObject([{ type: 'sessions.closed', resource: '/sessions/9', sessions }]);
    expect(effects).toEqual([{ type: 'sessions.close', resource: '/sessions/9', sessions }]);
    expect(resources).toEqual(['/sessions/9']);
    expect(next.sessions.find(9)).toBeUndefined();
    expect(next.sessions.countOfService('my-service')).toBe(1);
    expect(next.sessions.totalOfService('my-service')).toBe(10);
    expect([next.sessions.countOfServer('db-serv-1'), next.sessions.countOfServer('db-server-2')]).toEqual([
      1, 0,
    ]);
  });

  it('accepts the id 0', () => {
    expect(expectAccepted(close(0)).next.sessions.size).toBe(2);
  });

  it.each([1, -1, 0.5, NaN, Infinity, 2 ** 53, -0.1])('is refused for the missing session %p', (id) => {
    expect(expectRefused(close(id)).code).toBe('session-not-found');
  });

  it('is refused the second time', () => {
    const { next } = expectAccepted(close(9));
    expect(expectRefused(close(9), next).code).toBe('session-not-found');
  });
});

describe('closing the sessions of a service', () => {
  it('ends the sessions of that service, and no other', () => {
    const { next, events, resources } = expectClosing(closeOfService('MY SERVICE'));
    expect(events).toMatchObject([{ resource: '/services/My-Service', sessions: [{ id: 9 }, { id: 12 }] }]);
    expect(resources).toEqual(['/services/My-Service/sessions']);
    expect([...next.sessions].map(({ id }) => id)).toEqual([0]);
    expect(next.sessions.totalOfService('my-service')).toBe(10);
    expect(next.services.find('my-service')?.state).toBe('started');
  });

  it('changes nothing when there is none', () => {
    expectUnchanged(closeOfService('Report Service'));
    const { resources } = closeOfService('Report Service')(sampleSnapshot(), { now: 0 });
    expect(resources).toEqual(['/services/Report-Service/sessions']);
  });

  it('is refused when there is no such service', () => {
    expect(expectRefused(closeOfService('nothing')).code).toBe('service-not-found');
  });

  it('closes more than a batch in batches, in the order of their ids', () => {
    const count = teardownBatch + 1;
    const { next, events, effects } = expectClosing(closeOfService('Sales'), crowdedSnapshot(count));
    expect([next.sessions.size, next.sessions.countOfServer('db')]).toEqual([0, 0]);
    const sizes = effects.map((effect) => (effect.type === 'sessions.close' ? effect.sessions.length : NaN));
    expect(sizes).toEqual([teardownBatch, 1]);
    const ids = events.flatMap((event) =>
      event.type === 'sessions.closed' ? event.sessions.map(({ id }) => id) : [],
    );
    expect(ids).toEqual(Array.from({ length: count }, (_, id) => id));
  });
});

describe('closing the sessions that criteria choose', () => {
  it.each<[string, object]>([
    ['inherited', Object.create({ all: true }) as object],
    ['no plain data', new Map([['all', true]])],
    ['not readable', Object.defineProperty({}, 'user', { get: unreadable, enumerable: true })],
  ])('is refused for criteria that are %s', (_what, criteria) => {
    expect(closeSessions(sampleSnapshot(), criteria, { now: 0 }).outcome).toBe('refused');
  });
});

describe('closing the connections to a server', () => {
  it('ends the connections, and the sessions continue', () => {
    const { next, events, effects, resources } = expectClosing(closeOfServer('db-serv-1'));
    const connections = [
      { session: 9, connected: connectedAt, id: 0 },
      { session: 12, connected: Date.parse('2016-12-24T06:07:08+02:00'), id: 0 },
    ];
    const closed = { resource: '/servers/db-serv-1', server: 'db-serv-1', connections };
    expect(events).toMatchObject([{ type: 'connections.closed', ...closed }]);
    expect(effects).toEqual([{ type: 'connections.close', ...closed }]);
    expect(resources).toEqual(['/servers/db-serv-1/connections']);
    expect(next.sessions.size).toBe(3);
    expect(next.sessions.find(9)?.connections.map(({ id }) => id)).toEqual([4]);
    expect(next.sessions.countOfServer('db-serv-1')).toBe(0);
    expect(next.sessions.countOfServer('db-server-2')).toBe(1);
  });

  it('changes nothing when there is none', () => {
    expectUnchanged(closeOfServer('db-serv-3'));
  });

  it('is refused when there is no such server', () => {
    expect(expectRefused(closeOfServer('My Service')).code).toBe('server-not-found');
  });

  it('closes more than a batch in batches', () => {
    const { next, effects } = expectClosing(closeOfServer('DB'), crowdedSnapshot(teardownBatch + 1));
    const sizes = effects.map((effect) =>
      effect.type === 'connections.close' ? effect.connections.length : NaN,
    );
    expect(sizes).toEqual([teardownBatch, 1]);
    expect([next.sessions.size, next.sessions.countOfServer('db')]).toEqual([teardownBatch + 1, 0]);
  });
});

describe('a sequence', () => {
  it('can drain a service: stop the service, then close its sessions', () => {
    const drain = sequence(
      (snapshot, context) => stopService(snapshot, 'My Service', context),
      closeOfService('My Service'),
    );
    const { next, events, effects, resources } = expectClosing(drain);
    expect(events.map(({ type }) => type)).toEqual(['service.stopped', 'sessions.closed']);
    expect(effects.map(({ type }) => type)).toEqual(['service.stop', 'sessions.close']);
    expect(resources).toEqual(['/services/My-Service', '/services/My-Service/sessions']);
    expect(next.revision).toBe(1);
    expect(next.services.find('my-service')?.state).toBe('stopped');
    expect(next.sessions.countOfService('my-service')).toBe(0);
  });

  it('is refused as a whole if one transition is refused', () => {
    const problem = expectRefused(
      sequence(
        (snapshot, context) => stopService(snapshot, 'My Service', context),
        closeOfService('nothing'),
      ),
    );
    expect(problem).toMatchObject({
      code: 'service-not-found',
      detail: expect.stringMatching(/^Transition 2 of the sequence: /),
    });
  });

  it('throws a RangeError if an irreversible transition is not the last one', () => {
    const snapshot = sampleSnapshot();
    const stop: Transition = (from, context) => stopService(from, 'My Service', context);
    expect(() => sequence(closeOfService('My Service'), stop)(snapshot, { now: 0 })).toThrow(RangeError);
    expect(() => sequence(close(9), close(12))(snapshot, { now: 0 })).toThrow(RangeError);
    expect(() => sequence(closeOfServer('db-serv-1'), close(12))(snapshot, { now: 0 })).toThrow(RangeError);
  });

  it('accepts a teardown in batches as one transition', () => {
    const stop: Transition = (from, context) => stopService(from, 'Sales', context);
    const drain = sequence(stop, closeOfService('Sales'));
    const { effects } = expectClosing(drain, crowdedSnapshot(teardownBatch + 1));
    expect(effects.map(({ type }) => type)).toEqual(['service.stop', 'sessions.close', 'sessions.close']);
  });
});

const opened = {
  ...({ type: 'session.opened', id: 77, state: 'ready', user: 'dan', address: '10.0.0.7' } as const),
  ...{ service: 'my service', connected: 1000 },
};
const joined = {
  ...({ type: 'connection.opened', session: 77, id: 3 } as const),
  ...{ server: 'DB Server 2', role: 'Slave', state: 'in use' },
};

const later = connectedAt + 1;
const counts = { reads: 0, writes: 0, buffered_writes: 0, low_water_events: 0 };

const counters = (statistics: object) => ({ type: 'connection.updated', session: 9, id: 4, statistics });

/** The report of a session with two connections, the second of them with other members. */
function withConnections(second: object) {
  const { type: _type, session: _session, ...connection } = joined;
  return { ...opened, connections: [connection, { ...connection, id: 4, ...second }] };
}

describe('a report of a session that has the id of another', () => {
  it('closes the earlier one and opens the later one, in one revision', () => {
    const start = after(sampleSnapshot(), opened, joined);
    const again = { ...opened, connected: 2000, user: 'eve', service: 'Bare Service' };
    const { next, events, faults } = applyReports(start, again, { now: 5 });
    expect(faults).toEqual([]);
    expectNext(start, next, events);
    expect(events).toEqual([
      { type: 'session.closed', at: 5, resource: '/sessions/77', id: 77, connected: 1000 },
      expect.objectContaining({ type: 'session.opened', connected: 2000, service: 'bare-service' }),
    ]);
    expect(next.revision).toBe(start.revision + 1);
    expect(next.sessions.find(77)).toMatchObject({ user: 'eve', connected: 2000, connections: [] });
    const { sessions } = next;
    expect([sessions.countOfService('my-service'), sessions.totalOfService('my-service')]).toEqual([2, 11]);
    expect([sessions.countOfService('bare-service'), sessions.totalOfService('bare-service')]).toEqual([
      2, 2,
    ]);
    expect(sessions.countOfServer('db-server-2')).toBe(1);
  });

  it('leaves the earlier one when the later one cannot be true', () => {
    const start = after(sampleSnapshot(), opened);
    const again = { ...withConnections({ server: 'nothing' }), connected: 2000 };
    expect(applyReports(start, again, { now: 5 })).toMatchObject({ next: start, faults: [{}] });
  });
});

describe('a report of a session with its connections', () => {
  it('opens them all in one revision, with an event for each', () => {
    const start = sampleSnapshot();
    const { next, events, faults } = applyReports(start, withConnections({ server: 'db-serv-1' }), {
      now: 5,
    });
    expect(faults).toEqual([]);
    expectNext(start, next, events);
    const head = { at: 5, resource: '/sessions/77' };
    const connecting = { type: 'connection.opened', ...head, session: 77, connected: 1000 };
    expect(events).toEqual([
      { ...opened, ...head, service: 'my-service' },
      { ...connecting, id: 3, server: 'db-server-2', role: 'Slave', state: 'in use' },
      { ...connecting, id: 4, server: 'db-serv-1', role: 'Slave', state: 'in use' },
    ]);
    expect(next.revision).toBe(1);
    expect(next.sessions.find(77)?.connections.map(({ id, server }) => [id, server])).toEqual([
      [3, 'db-server-2'],
      [4, 'db-serv-1'],
    ]);
    expect([next.sessions.countOfServer('db-serv-1'), next.sessions.countOfServer('db-server-2')]).toEqual([
      3, 2,
    ]);
  });
});

describe('reports of sessions and connections', () => {
  it('open, change and close sessions and connections', () => {
    const start = sampleSnapshot();
    const open = after(start, opened, { ...joined, id: 9 }, { ...joined, id: 2 }, joined);
    expect(open.sessions.find(77)).toMatchObject({
      ...{ user: 'dan', service: 'my-service', idle: 0 },
      connections: [{ id: 9 }, { id: 2 }, { id: 3, server: 'db-server-2', role: 'Slave' }],
    });
    // Nobody has said its counters yet.
    expect(open.sessions.find(77)?.connections[2]).not.toHaveProperty('statistics');
    expect([open.sessions.countOfService('my-service'), open.sessions.totalOfService('my-service')]).toEqual([
      3, 11,
    ]);
    expect(open.sessions.countOfServer('db-server-2')).toBe(4);
    const changed = after(
      open,
      { type: 'session.updated', id: 77, state: 'busy' },
      { type: 'session.updated', id: 77, user: 'eve' },
      { type: 'connection.updated', session: 77, id: 3, role: 'Master' },
      { type: 'connection.closed', session: 77, id: 2 },
    );
    expect(changed.sessions.find(77)).toMatchObject({
      ...{ state: 'busy', user: 'eve' },
      connections: [{ id: 9 }, { id: 3, role: 'Master', state: 'in use' }],
    });
    const { sessions, services } = after(changed, { type: 'session.closed', id: 77, connected: 1000 });
    expect(sessions.find(77)).toBeUndefined();
    expect([sessions.countOfService('my-service'), sessions.totalOfService('my-service')]).toEqual([2, 11]);
    expect(sessions.countOfServer('db-server-2')).toBe(1);
    expect(services).toBe(start.services);
  });

  it('change the idle time of a session and the counters of a connection', () => {
    const statistics = { reads: 9, writes: 8, buffered_writes: 7, high_water_events: 6, low_water_events: 5 };
    const start = sampleSnapshot();
    const next = after(
      start,
      { type: 'session.updated', id: 9, connected: connectedAt, idle: 1.5 },
      { type: 'connection.updated', session: 9, id: 0, statistics },
    );
    const [untouched, counted] = next.sessions.find(9)?.connections ?? [];
    expect(next.sessions.find(9)).toMatchObject({ idle: 1.5, user: 'alice' });
    expect(counted).toMatchObject({ id: 0, statistics, state: 'In use' });
    expect(untouched).toBe(start.sessions.find(9)?.connections[0]);
    expect(
      after(next, { type: 'connection.updated', session: 9, id: 0, statistics: { ...statistics } }),
    ).toBe(next);
    expect(after(next, { type: 'session.updated', id: 9, state: 'busy' }).sessions.find(9)?.idle).toBe(1.5);
  });

  it.each<[string, HostReport]>([
    [
      'a session without a change',
      { type: 'session.updated', id: 9, state: 'Session ready for routing', user: 'alice' },
    ],
    ['a session without members to change', { type: 'session.updated', id: 9 }],
    ['a session that is gone', { type: 'session.updated', id: 1, state: 'x' }],
    ['the end of a session that is gone', { type: 'session.closed', id: 1, connected: 0 }],
    ['the end of an earlier session of the same id', { type: 'session.closed', id: 9, connected: 0 }],
    ['an earlier session of the same id', { type: 'session.updated', id: 9, connected: 0, state: 'x' }],
    ['a session that is open already', { ...opened, id: 9, connected: connectedAt }],
    ['the opening of an earlier session of the same id', { ...opened, id: 9 }],
    ['a connection of an earlier session', { ...joined, session: 9, connected: 0 }],
    [
      'the state of a connection of an earlier session',
      { type: 'connection.updated', session: 9, connected: 0, id: 4, state: 'x' },
    ],
    [
      'the end of a connection of an earlier session',
      { type: 'connection.closed', session: 9, connected: 0, id: 4 },
    ],
    [
      'a connection of a session that is gone, with its connect time',
      { ...joined, session: 1, connected: 5 },
    ],
    ['a connection of a session that is gone', { ...joined, session: 1 }],
    ['a connection without a change', { type: 'connection.updated', session: 9, id: 4, role: 'Slave' }],
    ['a connection that is gone', { type: 'connection.updated', session: 9, id: 99, role: 'x' }],
    ['the end of a connection that is gone', { type: 'connection.closed', session: 9, id: 99 }],
    ['the end of a connection of a session that is gone', { type: 'connection.closed', session: 1, id: 4 }],
  ])('change nothing for %s', (_what, report) => {
    const snapshot = sampleSnapshot();
    const reported = applyReports(snapshot, report, { now: 5 });
    expect([reported.events, reported.faults]).toEqual([[], []]);
    expect(reported.next).toBe(snapshot);
  });

  const missing = (kind: string) => `names the ${kind} "nothing", which does not exist`;
  const tooLate =
    'has a later connect time than the open session with this id; report "session.opened" of the later session first';

  it.each<[string, object, pointer: string, detail?: string]>([
    ['a session on no service', { ...opened, service: 'nothing' }, '/0', missing('service')],
    [
      'a session with a connection to no server',
      withConnections({ server: 'nothing' }),
      '/0/connections/1/server',
      missing('server'),
    ],
    [
      'a session with a connection id twice',
      withConnections({ id: 3 }),
      '/0/connections/1/id',
      'is also the id of an earlier connection',
    ],
    ['a session with a malformed connection', withConnections({ id: -1 }), '/0/connections/1/id'],
    ['a connection of another session', withConnections({ session: 9 }), '/0/connections/1/session'],
    ['the state of a later session', { type: 'session.updated', id: 9, connected: later, state: 'x' }, '/0'],
    ['the end of a later session', { type: 'session.closed', id: 9, connected: later }, '/0', tooLate],
    ['a connection of a later session', { ...joined, session: 9, connected: later }, '/0'],
    [
      'the state of a connection of a later session',
      { type: 'connection.updated', session: 9, connected: later, id: 4, state: 'x' },
      '/0',
    ],
    [
      'the end of a connection of a later session',
      { type: 'connection.closed', session: 9, connected: later, id: 4 },
      '/0',
    ],
    ['a time that is a text', { type: 'session.updated', id: 9, connected: 'x' }, '/0/connected'],
    ['a connection to no server', { ...joined, session: 9, server: 'nothing' }, '/0'],
    [
      'a connection whose id is taken',
      { ...joined, session: 9, id: 4 },
      '/0',
      'has the id of a connection that this session has open already',
    ],
    ['an idle time that is a text', { type: 'session.updated', id: 9, idle: '1' }, '/0/idle'],
    ['counters that lack one', counters(counts), '/0/statistics/high_water_events'],
    [
      'a counter that is not finite',
      counters({ ...counts, high_water_events: NaN }),
      '/0/statistics/high_water_events',
    ],
    ['an id that is no id', { ...opened, id: -1 }, '/0/id'],
    ['an id that is not safe', { ...opened, id: 2 ** 53 }, '/0/id'],
    ['an id that is a text', { ...opened, id: '77' }, '/0/id'],
    ['a time in a text', { ...opened, connected: '2016-09-09T14:12:37+03:00' }, '/0/connected'],
    ['a time that no document can write', { ...opened, connected: 253402300800000 }, '/0/connected'],
    ['a time that is no instant', { ...opened, connected: 9e15 }, '/0/connected'],
    ['a text with a line break', { ...opened, user: 'a\nb' }, '/0/user'],
    ['a text that is too long', { ...opened, state: 'x'.repeat(4097) }, '/0/state'],
    ['an unknown member', { ...opened, password: 'x' }, '/0/password'],
    ['a missing member', { type: 'session.closed', id: 9 }, '/0/connected'],
    ['an unknown type', { ...opened, type: 'session.painted' }, '/0'],
  ])('are refused for %s', (_what, report, pointer, ...[detail]) => {
    const snapshot = sampleSnapshot();
    const reported = applyReports(snapshot, report as HostReport, { now: 5 });
    expect(reported.next).toBe(snapshot);
    expect(reported.events).toEqual([]);
    const fault = detail === undefined ? { pointer } : { pointer, detail };
    expect(reported.faults).toEqual([expect.objectContaining(fault)]);
  });

  it('are applied if they are valid, even if others in the batch are not', () => {
    const unsound = { ...opened, service: 'nothing' };
    const { next, faults } = applyReports(sampleSnapshot(), [unsound, opened], { now: 5 });
    expect(faults).toHaveLength(1);
    expect(next.sessions.find(77)).toBeDefined();
  });

  it('raise the revision of what a service shows, and change no service', () => {
    const snapshot = createSnapshot({ services: [{ name: 'Sales', router: 'r' }] });
    const next = after(snapshot, { ...opened, service: 'Sales' });
    const ofTable = 1;
    expect(contentOf(next)).toMatchObject({ live: [ofTable, 1] });
    expect(next.services.find('sales')?.revision).toBe(0);
  });
});
