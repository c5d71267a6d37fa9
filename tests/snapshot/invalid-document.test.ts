import { describe, expect, it } from '@jest/globals';
import { createSnapshot, InvalidDocumentError } from 'gateway-admin-core';

import {
  allFaultsOf,
  connection,
  faultsOf,
  filter,
  monitor,
  server,
  service,
  session,
  user,
} from '../support/document-entry.ts';

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
      { servers: [7, null], sessions: ['x', null] },
      ['/servers/0', '/servers/1', '/sessions/0', '/sessions/1'].map((at) => `${at} validation-failed`),
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
      { servers: [{ ...server, parameters: { a: true, b: null } }] },
      ['/servers/0/parameters/b validation-failed'],
    ],
    [
      'a number that JSON texts cannot have',
      {
        servers: [{ ...server, parameters: { a: unsafe, b: -1e300, c: 0.5 } }],
        logs: { log_throttling: { limit: 1e300, window: 1, suppression: 1 } },
      },
      [
        '/logs/log_throttling/limit validation-failed',
        '/servers/0/parameters/a validation-failed',
        '/servers/0/parameters/b validation-failed',
      ],
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
      ['/filters/0/parameters/a validation-failed'],
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
      'a connection to a service instead of a server',
      {
        services: [service],
        sessions: [{ ...session, connections: [{ ...connection, server: '/services/Sales' }] }],
      },
      ['/sessions/0/connections/0/server link-unresolved'],
    ],
    [
      'a connection on another service than its session',
      {
        services: [service, { ...service, name: 'Stock' }],
        servers: [server],
        sessions: [
          { ...session, connections: [{ ...connection, service: '/services/SALES' }] },
          { ...session, id: 2, connections: [connection, { ...connection, service: '/services/stock' }] },
        ],
      },
      ['/sessions/1/connections/1/service validation-failed'],
    ],
    [
      'a connection on no service',
      {
        services: [service],
        servers: [server],
        sessions: [{ ...session, connections: [{ ...connection, service: '/services/nothing' }] }],
      },
      ['/sessions/0/connections/0/service link-unresolved'],
    ],
    [
      'a connection on a service, of a session on no service',
      {
        services: [service],
        servers: [server],
        sessions: [
          {
            ...session,
            service: '/services/x',
            connections: [{ ...connection, service: '/services/Sales' }],
          },
        ],
      },
      ['/sessions/0/service link-unresolved'],
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
    [
      'a reserved key beside null',
      JSON.parse(
        '{"servers":[null,{"name":"a","address":"b","port":1,"protocol":"c","parameters":{"prototype":"c"}}]}',
      ),
      ['/servers/0 validation-failed', '/servers/1/parameters/prototype reserved-key'],
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

  it('is refused for a connection on another service than its session, and names both', () => {
    const [fault] = allFaultsOf({
      services: [service, { ...service, name: 'Stock' }],
      servers: [server],
      sessions: [{ ...session, connections: [{ ...connection, service: '/services/stock' }] }],
    });
    expect(fault?.detail).toBe(
      'names "/services/Stock", and the session is on "/services/Sales"; leave this member out, or correct one of the links',
    );
  });

  it.each<[object, string, string]>([
    [
      { services: [service, { ...service, name: 'SALES' }] },
      '/services/1/name',
      'names the same service as an earlier entry: "SALES" and "Sales" have the same key; rename one of them',
    ],
    [
      { services: [service], sessions: [session, session] },
      '/sessions/1/id',
      'is also the id of an earlier session; ids must be unique',
    ],
    [
      {
        services: [service],
        servers: [server],
        sessions: [{ ...session, connections: [connection, connection].map((each) => ({ ...each, id: 7 })) }],
      },
      '/sessions/0/connections/1/id',
      'is also the id of an earlier connection of this session; ids must be unique',
    ],
    [
      { servers: [{ ...server, parameters: { constructor: 'x' } }] },
      '/servers/0/parameters/constructor',
      'is not allowed as a key',
    ],
  ])('says of %j at %s: %s', (document, pointer, detail) => {
    expect(allFaultsOf(document)).toMatchObject([{ pointer, detail }]);
  });

  it.each(
    Object.entries({
      servers: server,
      services: service,
      monitors: monitor,
      filters: filter,
      users: user,
    }),
  )('is refused for the same name twice in %s', (part, entry) => {
    expect(faultsOf({ [part]: [entry, entry] })).toEqual([`/${part}/1/name validation-failed`]);
  });

  it('is refused for names that are far too long by their length alone, also if they are the same', () => {
    const name = 'x'.repeat(5000);
    const detail = 'must have at most 255 characters, and has 5000';
    expect(allFaultsOf({ servers: [server, server].map((each) => ({ ...each, name })) })).toMatchObject([
      { pointer: '/servers/0/name', detail },
      { pointer: '/servers/1/name', detail },
    ]);
  });

  it('lets names of different kinds be the same', () => {
    expect(
      faultsOf({
        services: [service],
        servers: [{ ...server, name: 'Sales' }],
        filters: [{ ...filter, name: 'sales' }],
      }),
    ).toEqual([]);
  });

  // Promise: document-faults
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
    for (const part of ['servers', 'sessions']) {
      expect(allFaultsOf({ [part]: deep })).toMatchObject([
        { detail: 'must not be nested more than 32 levels deep' },
      ]);
    }
  });
});

describe('the faults of parameters in a document', () => {
  const sentences = (document: unknown): readonly string[] =>
    allFaultsOf(document).map(({ pointer, detail }) => `${pointer} ${detail}`);

  it.each<[string, object, readonly string[]]>([
    [
      'each wrong value',
      {
        a: { value: 'x', configurable: true },
        b: { value: 7 },
        c: { value: 'x', configurable: 'no' },
        d: 'x',
      },
      [
        '/b/value must be a string, not a number',
        '/c/configurable must be a boolean, not a string',
        '/d must be an object, not a string',
      ],
    ],
    ['a value that is missing', { a: {} }, ['/a/value is required']],
    ['a parameter called "name"', { name: { value: 7 } }, ['/name/value must be a string, not a number']],
    [
      'the single parameter',
      { name: 'a', value: 7, configurable: 1 },
      ['/value must be a string, not a number', '/configurable must be a boolean, not a number'],
    ],
    [
      'an unknown member',
      { a: { value: 'x', fixed: true } },
      ['/a/fixed is not a known field (unknown fields here: 1)'],
    ],
  ])('name the place of %s in a filter', (_what, parameters, expected) => {
    expect(sentences({ filters: [{ ...filter, parameters }] })).toEqual(
      expected.map((fault) => `/filters/0/parameters${fault}`),
    );
  });

  it('name the rule that a value of the right type breaks', () => {
    const parameters = { a: 'x'.repeat(4097), b: unsafe, c: null, d: [] };
    expect(sentences({ servers: [{ ...server, parameters }] })).toEqual([
      '/servers/0/parameters/a must have at most 4096 characters',
      '/servers/0/parameters/b must be at most 9007199254740991',
      '/servers/0/parameters/c must be a number, a string or a boolean',
      '/servers/0/parameters/d must be a number, a string or a boolean',
    ]);
  });
});

describe('a secret in plain text in a document', () => {
  const detailOf = (document: unknown): string => allFaultsOf(document)[0]?.detail ?? '';

  it('is refused with the way to give the secret', () => {
    expect(detailOf({ services: [{ ...service, password: 'planted' }] })).toBe(
      'is a secret, and must not be plain text: put the output of gateway-admin seal into passwordSealed, or set the ' +
        'password of the running gateway with gateway-admin patch --set-from',
    );
    expect(detailOf({ users: [{ ...user, password: 'planted' }] })).toBe(
      'is a secret, and must not be plain text: put the output of gateway-admin hash-password into passwordHash',
    );
  });

  it('is no other member of that name', () => {
    const unknown = 'is not a known field (unknown fields here: 1)';
    expect(detailOf({ servers: [{ ...server, password: 'planted' }] })).toBe(unknown);
    const listener = { name: 'L', protocol: 'p', address: '/run/l', password: 'planted' };
    expect(detailOf({ services: [{ ...service, listeners: [listener] }] })).toBe(unknown);
  });
});

describe('the parameters of a filter in a document', () => {
  it.each<[string, object]>([
    ['by name', { parameters: { a: { value: 'x' } }, parametersSealed: { pin: { value: 'v1.x' } } }],
    [
      'as a single one',
      { parameters: { name: 'a', value: 'x' }, parametersSealed: { pin: { value: 'v1.x' } } },
    ],
  ])('are configurable unless they say otherwise: %s', (_form, parts) => {
    const { settings } = createSnapshot({ filters: [{ ...filter, ...parts }] }).filters.find('Hint') ?? {};
    expect(settings).toEqual({
      parameters: { a: { value: 'x', configurable: true } },
      parametersSealed: { pin: { value: 'v1.x', configurable: true } },
    });
  });
});
