import { describe, expect, it } from '@jest/globals';
import {
  createSnapshot,
  InvalidDocumentError,
  toDocument,
  type Fault,
  type GatewayDocument,
} from 'gateway-admin-core';

import { sampleDocument, sampleSnapshot } from '../support/document.ts';
import { contentOf, expectNext } from '../support/expect-decision.ts';
import { thawedPlaces } from '../support/frozen.ts';

const server = { name: 'db', address: '10.0.0.1', port: 5432, protocol: 'pgbackend' };
const service = { name: 'Sales', router: 'readconnroute' };
const monitor = { name: 'Watch', module: 'pgmon' };
const filter = { name: 'Hint', module: 'hintfilter' };
const user = { name: 'ada', passwordHash: 'opaque' };
const session = {
  id: 1,
  state: 'ready',
  user: 'bob',
  address: '10.0.0.9',
  service: '/services/Sales',
  connected: '2016-09-09T14:12:37+03:00',
};
const connection = { state: 'in use', role: 'Master', server: '/servers/db' };

/** The faults of a document, as `<pointer> <code>`. */
function faultsOf(document: unknown): readonly string[] {
  return allFaultsOf(document).map(({ pointer, code }) => `${pointer} ${code}`);
}

function allFaultsOf(document: unknown): readonly Fault[] {
  try {
    createSnapshot(document as GatewayDocument);
    return [];
  } catch (error) {
    if (error instanceof InvalidDocumentError) return error.faults;
    throw error;
  }
}

describe('a gateway document', () => {
  it('comes back as it was, but for what it left out', () => {
    const written = toDocument(sampleSnapshot());
    expect(toDocument(createSnapshot(written))).toEqual(written);
    expect(contentOf(createSnapshot(written, { epoch: 'sample' }))).toEqual(contentOf(sampleSnapshot()));
    expect(written.gateway).toEqual({ ...sampleDocument.gateway, started: '2016-08-31T20:29:26+00:00' });
    expect(written.servers).toEqual(sampleDocument.servers);
    expect(written.modules).toEqual(sampleDocument.modules);
    expect(written.threads).toEqual(sampleDocument.threads);
    expect(written.users).toEqual(sampleDocument.users);
    expect(written.services?.[0]).toEqual({
      ...sampleDocument.services?.[0],
      started: '2016-08-29T09:52:31+00:00',
    });
    expect(written.monitors?.[0]).toEqual(sampleDocument.monitors?.[0]);
    expect(written.filters?.[0]).toEqual(sampleDocument.filters?.[0]);
  });

  it('is plain JSON when it is written', () => {
    const written = toDocument(sampleSnapshot());
    expect(JSON.parse(JSON.stringify(written))).toStrictEqual(written);
  });

  it('makes a snapshot that is frozen, whole, and of revision 0', () => {
    const snapshot = sampleSnapshot();
    expect([snapshot.revision, snapshot.epoch]).toEqual([0, 'sample']);
    expectNext(snapshot, snapshot, []);
  });

  it('is neither changed nor kept', () => {
    const document = structuredClone(sampleDocument) as { servers: { port: number; parameters: object }[] };
    const before = structuredClone(document);
    const snapshot = createSnapshot(document as GatewayDocument);
    expect(document).toEqual(before);
    expect(thawedPlaces(document)).not.toHaveLength(0);
    const content = contentOf(snapshot);
    document.servers.forEach((each) => Object.assign(each.parameters, { changed: 1 }));
    expect(contentOf(snapshot)).toEqual(content);
  });

  it('may be empty', () => {
    const snapshot = createSnapshot({});
    expectNext(snapshot, snapshot, []);
    expect(toDocument(snapshot)).toEqual({
      format: 1,
      gateway: {},
      logs: {},
      threads: { load_average: { historic: 0, current: 0, '1min': 0, '5min': 0, '15min': 0 }, threads: [] },
      tasks: [],
      modules: [],
      servers: [],
      services: [],
      monitors: [],
      filters: [],
      users: [],
      sessions: [],
    });
  });

  it('may leave out what has a default', () => {
    const written = toDocument(
      createSnapshot({ servers: [server], services: [service], monitors: [monitor], filters: [filter] }),
    );
    expect(written.servers).toEqual([{ ...server, status: [], parameters: {} }]);
    expect(written.services).toEqual([
      {
        ...service,
        state: 'started',
        listeners: [],
        servers: [],
        router_options: {},
        filters: [],
        total_connections: 0,
      },
    ]);
    expect(written.monitors).toEqual([
      {
        ...monitor,
        state: 'started',
        servers: [],
        monitor_interval: 2000,
        connect_timeout: 3,
        read_timeout: 1,
        write_timeout: 2,
      },
    ]);
    expect(written.filters).toEqual([{ ...filter, parameters: {} }]);
  });

  it('may have derived members, which are ignored', () => {
    const snapshot = createSnapshot({
      services: [{ ...service, current_connections: 99, filters: ['/filters/Hint'] }],
      filters: [{ ...filter, services: ['/services/nothing'] }],
      servers: [server],
      sessions: [{ ...session, connections: [{ ...connection, service: 7 }] }],
    });
    expect(snapshot.sessions.countOfService('sales')).toBe(1);
    expect(toDocument(snapshot).services?.[0]).not.toHaveProperty('current_connections');
    expect(toDocument(snapshot).filters?.[0]).not.toHaveProperty('services');
  });

  it.each([
    [undefined, 2],
    [0, 2],
    [1, 2],
    [2, 2],
    [7, 7],
  ])('counts the connections of a service that says %p and has 2 as %p', (total_connections, expected) => {
    const counted = total_connections === undefined ? service : { ...service, total_connections };
    const snapshot = createSnapshot({ services: [counted], sessions: [session, { ...session, id: 2 }] });
    expect(snapshot.sessions.totalOfService('sales')).toBe(expected);
    expect(snapshot.sessions.countOfService('sales')).toBe(2);
  });

  it('may give the parameters of a filter as a single entry', () => {
    const parameters = { name: 'match', value: 'select', configurable: false };
    const snapshot = createSnapshot({ filters: [{ ...filter, parameters }] });
    expect(toDocument(snapshot).filters?.[0]?.parameters).toEqual({
      match: { value: 'select', configurable: false },
    });
  });

  it('may have links in any spelling, which are written in one', () => {
    const snapshot = createSnapshot({
      servers: [{ ...server, name: 'DB One' }],
      services: [{ ...service, servers: ['/servers/db%20one'] }],
      monitors: [{ ...monitor, servers: ['/servers/db-ONE'] }],
      sessions: [
        {
          ...session,
          service: '/services/SALES',
          connections: [{ ...connection, server: '/servers/DB%20ONE' }],
        },
      ],
    });
    const written = toDocument(snapshot);
    expect(written.services?.[0]?.servers).toEqual(['/servers/DB-One']);
    expect(written.monitors?.[0]?.servers).toEqual(['/servers/DB-One']);
    expect(written.sessions?.[0]).toMatchObject({
      service: '/services/Sales',
      connections: [{ server: '/servers/DB-One' }],
    });
    expectNext(snapshot, snapshot, []);
  });

  it('gives ids to connections that have none, beside those that have', () => {
    const connections = [connection, { ...connection, id: 0 }, connection, { ...connection, id: 2 }];
    const snapshot = createSnapshot({
      servers: [server],
      services: [service],
      sessions: [{ ...session, connections }],
    });
    expect(snapshot.sessions.get(1)?.connections.map(({ id }) => id)).toEqual([1, 0, 3, 2]);
  });

  it('has its sessions in the order of their ids, whatever order they came in', () => {
    const ids = [5, 0, 9007199254740991, 3];
    const snapshot = createSnapshot({ services: [service], sessions: ids.map((id) => ({ ...session, id })) });
    expect(toDocument(snapshot).sessions?.map(({ id }) => id)).toEqual(ids.toSorted((a, b) => a - b));
  });

  it('may share ports and servers between its parts', () => {
    const listener = { name: 'L', protocol: 'pgclient', address: '::', port: 5432 };
    expect(
      faultsOf({
        servers: [server, { ...server, name: 'db2' }],
        services: [
          { ...service, listeners: [listener, { ...listener, name: 'M' }], servers: ['/servers/db'] },
        ],
        monitors: [
          { ...monitor, servers: ['/servers/db'] },
          { ...monitor, name: 'Other', servers: ['/servers/db'] },
        ],
      }),
    ).toEqual([]);
  });

  it.each(['constructor', '__proto__', 'length', 'prototype', 'eu/west?', '100%', 'x'.repeat(255), '😀'])(
    'may have things named %j',
    (name) => {
      const snapshot = createSnapshot({
        servers: [{ ...server, name }],
        services: [{ ...service, name, servers: [`/servers/${encodeURIComponent(name)}`] }],
      });
      expect(snapshot.services.find(name)?.name).toBe(name);
      expectNext(snapshot, snapshot, []);
      expect(contentOf(createSnapshot(toDocument(snapshot)))).toEqual(contentOf(snapshot));
    },
  );
});

describe('an epoch', () => {
  it.each(['a', 'A-z_0', 'x'.repeat(64)])('may be %s', (epoch) => {
    expect(createSnapshot({}, { epoch }).epoch).toBe(epoch);
  });

  it.each(['a.b', 'a b', 'ä', 'x'.repeat(65), '"', '\n'])('may not be %j', (epoch) => {
    expect(() => createSnapshot({}, { epoch })).toThrow(RangeError);
  });
});

const unsafe = 9007199254740992;

describe('an invalid document', () => {
  it.each<[string, unknown, readonly string[]]>([
    ['no object', null, [' validation-failed']],
    ['a list', [], [' validation-failed']],
    ['another format', { format: 2 }, ['/format validation-failed']],
    ['an unknown part', { routers: [] }, ['/routers field-unknown']],
    [
      'a part that is no list',
      { servers: {}, sessions: 'x' },
      ['/servers validation-failed', '/sessions validation-failed'],
    ],
    [
      'an entry that is no object',
      { servers: [7, null] },
      ['/servers/0 validation-failed', '/servers/1 validation-failed'],
    ],
    [
      'what is missing',
      { servers: [{}] },
      ['/servers/0/address', '/servers/0/name', '/servers/0/port', '/servers/0/protocol'].map(
        (at) => `${at} validation-failed`,
      ),
    ],
    [
      'an unknown member',
      { services: [{ ...service, password: 'x' }] },
      ['/services/0/password field-unknown'],
    ],
    ['a port', { servers: [{ ...server, port: 0 }] }, ['/servers/0/port validation-failed']],
    [
      'an address',
      { servers: [{ ...server, address: 'db:5432' }] },
      ['/servers/0/address validation-failed'],
    ],
    ['a status', { servers: [{ ...server, status: ['down'] }] }, ['/servers/0/status/0 validation-failed']],
    [
      'a parameter',
      { servers: [{ ...server, parameters: { a: true } }] },
      ['/servers/0/parameters/a validation-failed'],
    ],
    ['a name', { servers: [{ ...server, name: ' db' }] }, ['/servers/0/name validation-failed']],
    ['a state', { services: [{ ...service, state: 'running' }] }, ['/services/0/state validation-failed']],
    [
      'a time',
      { services: [{ ...service, started: '2016-08-29 12:52' }] },
      ['/services/0/started validation-failed'],
    ],
    [
      'an option',
      { services: [{ ...service, router_options: { a: 1 } }] },
      ['/services/0/router_options/a validation-failed'],
    ],
    [
      'a count',
      { services: [{ ...service, total_connections: -1 }] },
      ['/services/0/total_connections validation-failed'],
    ],
    [
      'a listener',
      { services: [{ ...service, listeners: [{ name: 'L', protocol: 'p', address: '::', port: 70000 }] }] },
      ['/services/0/listeners/0/port validation-failed'],
    ],
    [
      'an interval',
      { monitors: [{ ...monitor, monitor_interval: 0 }] },
      ['/monitors/0/monitor_interval validation-failed'],
    ],
    [
      'parameters of a filter',
      { filters: [{ ...filter, parameters: { a: 'b' } }] },
      ['/filters/0/parameters validation-failed'],
    ],
    ['a user name', { users: [{ ...user, name: 'ada lovelace' }] }, ['/users/0/name validation-failed']],
    ['a hash', { users: [{ ...user, passwordHash: '' }] }, ['/users/0/passwordHash validation-failed']],
    [
      'a plain password',
      { users: [{ name: 'ada', password: 'x' }] },
      ['/users/0/password field-unknown', '/users/0/passwordHash validation-failed'],
    ],
    [
      'a session id',
      { services: [service], sessions: [{ ...session, id: unsafe }] },
      ['/sessions/0/id validation-failed'],
    ],
    [
      'a session id twice',
      { services: [service], sessions: [session, session] },
      ['/sessions/1/id validation-failed'],
    ],
    ['a session without service', { sessions: [session] }, ['/sessions/0/service link-unresolved']],
    [
      'a connection without server',
      { services: [service], sessions: [{ ...session, connections: [connection] }] },
      ['/sessions/0/connections/0/server link-unresolved'],
    ],
    [
      'a connection id twice',
      {
        services: [service],
        servers: [server],
        sessions: [
          {
            ...session,
            connections: [
              { ...connection, id: 1 },
              { ...connection, id: 1 },
            ],
          },
        ],
      },
      ['/sessions/0/connections/1/id validation-failed'],
    ],
    [
      'a link to nothing',
      { services: [{ ...service, servers: ['/servers/nothing'] }] },
      ['/services/0/servers/0 link-unresolved'],
    ],
    [
      'a link of the wrong kind',
      { servers: [server], services: [{ ...service, filters: ['/servers/db'] }] },
      ['/services/0/filters/0 link-unresolved'],
    ],
    [
      'a link twice',
      { servers: [server], monitors: [{ ...monitor, servers: ['/servers/db', '/servers/DB'] }] },
      ['/monitors/0/servers/1 link-unresolved'],
    ],
    [
      'an instance',
      { gateway: { threads: 'x', started: 'yesterday' } },
      ['/gateway/started validation-failed', '/gateway/threads validation-failed'],
    ],
    [
      'logs',
      { logs: { maxlog: 'yes', log_levels: { error: true } } },
      [
        '/logs/log_levels/debug',
        '/logs/log_levels/info',
        '/logs/log_levels/notice',
        '/logs/log_levels/warning',
        '/logs/maxlog',
      ].map((at) => `${at} validation-failed`),
    ],
    [
      'a task',
      { tasks: [{ name: 'a', type: 'b', frequency: 1, next_due: 7 }] },
      ['/tasks/0/next_due validation-failed'],
    ],
    [
      'a module',
      { modules: [{ name: 'a' }] },
      ['api_version', 'maturity', 'type', 'version'].map((at) => `/modules/0/${at} validation-failed`),
    ],
    [
      'a reserved key',
      JSON.parse('{"services":[{"name":"a","router":"b","router_options":{"constructor":"c"}}]}'),
      ['/services/0/router_options/constructor reserved-key'],
    ],
    [
      'two reserved keys',
      JSON.parse(
        '{"servers":[{"name":"a","address":"b","port":1,"protocol":"c","parameters":{"prototype":"c"}}],"filters":[{"name":"a","module":"b","parameters":{"constructor":{"value":"c","configurable":true}}}]}',
      ),
      ['/filters/0/parameters/constructor reserved-key', '/servers/0/parameters/prototype reserved-key'],
    ],
  ])('is refused for %s', (_what, document, expected) => {
    expect(faultsOf(document).toSorted()).toEqual(expected);
  });

  it.each([
    ['in other case', 'My Service', 'my service'],
    ['with hyphens', 'My Service', 'my-service'],
    ['with another white space', 'My Service', 'My\u00a0Service'],
    ['with a wide white space', 'My Service', 'my\u3000SERVICE'],
    ['composed otherwise', 'K\u00f6ln', 'Ko\u0308ln'],
  ])('is refused for the same name %s, and names both', (_what, one, other) => {
    const [fault, ...more] = allFaultsOf({
      services: [{ ...service, name: one }, service, { ...service, name: other }],
    });
    expect(more).toEqual([]);
    expect(fault).toMatchObject({ pointer: '/services/2/name', code: 'validation-failed' });
    expect(fault?.detail).toContain(JSON.stringify(one));
    expect(fault?.detail).toContain(JSON.stringify(other));
  });

  it.each(['servers', 'services', 'monitors', 'filters', 'users'])(
    'is refused for the same name twice in %s',
    (part) => {
      const entry = { servers: server, services: service, monitors: monitor, filters: filter, users: user }[
        part
      ];
      expect(faultsOf({ [part]: [entry, entry] })).toEqual([`/${part}/1/name validation-failed`]);
    },
  );

  it('lets names of different kinds be the same', () => {
    expect(
      faultsOf({
        services: [service],
        servers: [{ ...server, name: 'Sales' }],
        filters: [{ ...filter, name: 'sales' }],
      }),
    ).toEqual([]);
  });

  it('names everything that is wrong at once, in one entry as in several', () => {
    const document = {
      format: 1,
      more: true,
      gateway: { threads: -1 },
      servers: [
        { ...server, port: 0, address: '' },
        { ...server, name: 'DB' },
      ],
      services: [
        {
          ...service,
          router: 7,
          servers: ['/servers/nothing', '/servers/db', '/servers/DB'],
          filters: ['/filters/nothing'],
        },
        { ...service, name: 'sales', max_connection: -1 },
      ],
      monitors: [{ ...monitor, connect_timeout: -1, servers: ['nothing'] }],
      filters: [{ ...filter, module: 7 }],
      users: [{ ...user, name: 'ä' }, user, { ...user, name: 'ADA' }],
      sessions: [
        {
          ...session,
          state: 7,
          service: '/services/nothing',
          connections: [{ ...connection, role: 7, server: '/servers/nothing' }],
        },
        session,
        session,
      ],
    };
    expect(faultsOf(document).toSorted()).toEqual(
      [
        '/more field-unknown',
        '/gateway/threads validation-failed',
        '/servers/0/port validation-failed',
        '/servers/0/address validation-failed',
        '/servers/1/name validation-failed',
        '/services/0/router validation-failed',
        '/services/0/servers/0 link-unresolved',
        '/services/0/servers/2 link-unresolved',
        '/services/0/filters/0 link-unresolved',
        '/services/1/name validation-failed',
        '/services/1/max_connection validation-failed',
        '/monitors/0/connect_timeout validation-failed',
        '/monitors/0/servers/0 link-unresolved',
        '/filters/0/module validation-failed',
        '/users/0/name validation-failed',
        '/users/2/name validation-failed',
        '/sessions/0/state validation-failed',
        '/sessions/0/service link-unresolved',
        '/sessions/0/connections/0/role validation-failed',
        '/sessions/0/connections/0/server link-unresolved',
        '/sessions/1/id validation-failed',
        '/sessions/2/id validation-failed',
      ].toSorted(),
    );
  });

  it('lists up to 20 faults in its message, and says how many there are', () => {
    const servers = Array.from({ length: 25 }, (_, at) => ({ ...server, name: `db${String(at)}`, port: 0 }));
    const error = new InvalidDocumentError(allFaultsOf({ servers }));
    expect(error.faults).toHaveLength(25);
    expect(error.name).toBe('InvalidDocumentError');
    const lines = error.message.split('\n');
    expect(lines[0]).toBe('The gateway document has 25 faults:');
    expect(lines[1]).toBe('  /servers/0/port: must be at least 1 (validation-failed)');
    expect(lines).toHaveLength(22);
    expect(lines.at(-1)).toBe('  and 5 more');
    expect(new InvalidDocumentError(allFaultsOf({ more: 1 })).message).toMatch(
      /^The gateway document has 1 fault:\n {2}\/more: /,
    );
    expect(new InvalidDocumentError(allFaultsOf(null)).message).toContain('  (document): ');
  });

  it('is refused whatever a program puts into it, and getters run once at most', () => {
    let reads = 0;
    const counted = Object.defineProperty({}, 'format', { enumerable: true, get: () => (reads += 1) });
    const cyclic: Record<string, unknown> = {};
    cyclic['servers'] = cyclic;
    const throwing = new Proxy(
      {},
      {
        ownKeys: () => {
          throw new Error('no');
        },
      },
    );
    for (const document of [
      cyclic,
      throwing,
      { servers: new Map() },
      { servers: [() => 1] },
      { format: 1n },
      { format: undefined },
      new Date(0),
      { services: [{ name: Symbol('a') }] },
    ]) {
      expect(faultsOf(document)).toHaveLength(1);
    }
    expect(faultsOf(counted)).toEqual([]);
    expect(reads).toBe(1);
  });

  it('is refused for what is nested too deeply', () => {
    const deep = JSON.parse(`${'['.repeat(1000)}${']'.repeat(1000)}`) as unknown;
    expect(faultsOf({ servers: deep })).toHaveLength(1);
  });
});
