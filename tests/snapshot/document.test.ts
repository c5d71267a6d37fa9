/**
 * Documents: what createSnapshot takes, in whatever form, what it refuses with which faults, and what toDocument writes.
 * The JSON Schema of documents says the same as far as it can.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { describe, expect, it } from '@jest/globals';
import { Ajv } from 'ajv';
import * as fc from 'fast-check';
import {
  createSnapshot,
  InvalidDocumentError,
  loadSnapshot,
  toDocument,
  type GatewayDocument,
} from 'gateway-admin-core';

import { documents, givenDocuments } from '../support/arbitrary-document.ts';
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

import { sampleDocument, sampleSnapshot } from '../support/document.ts';
import { contentOf, expectNext } from '../support/expect-decision.ts';
import { thawedPlaces } from '../support/frozen.ts';
import { read } from '../support/project.ts';

const schema = JSON.parse(read('gateway-document.schema.json')) as object;
const options = { strict: true, strictRequired: false, allErrors: true, allowUnionTypes: true };
const validate = new Ajv(options).compile(schema);

/** What a document has that the schema does not allow. */
function breachesOf(document: unknown): readonly string[] {
  validate(document);
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${String(message)}`);
}

describe('a valid document, whatever it is', () => {
  // Promise: document-round-trip
  it('is equal after createSnapshot and toDocument', () => {
    fc.assert(
      fc.property(documents, (document) => {
        expect(toDocument(createSnapshot(document))).toEqual(document);
      }),
    );
  });

  // Promise: snapshot-links
  it('gives a frozen snapshot with resolved links and correct counters, also after a way through JSON text', () => {
    fc.assert(
      fc.property(documents, (document) => {
        const snapshot = createSnapshot(document);
        expectNext(snapshot, snapshot, []);
        const again = JSON.parse(JSON.stringify(document)) as typeof document;
        expect(contentOf(createSnapshot(again))).toEqual(contentOf(snapshot));
      }),
      { numRuns: 50 },
    );
  });

  it('has a written form that stays as it is, in whatever form it was given', () => {
    fc.assert(
      fc.property(givenDocuments, (document) => {
        const snapshot = createSnapshot(document);
        expectNext(snapshot, snapshot, []);
        const written = createSnapshot(toDocument(snapshot));
        expect(contentOf(written)).toEqual(contentOf(snapshot));
        expect(toDocument(written)).toEqual(toDocument(snapshot));
      }),
      { numRuns: 30 },
    );
  });

  // Promise: document-schema
  it('is accepted by the JSON Schema, in whatever form', () => {
    expect(breachesOf(sampleDocument)).toEqual([]);
    fc.assert(
      fc.property(fc.oneof(documents, givenDocuments), (document) => {
        expect(breachesOf({ $schema: './gateway-document.schema.json', ...document })).toEqual([]);
      }),
      { numRuns: 100 },
    );
  });
});

describe('a gateway document', () => {
  it('is written in one form, as plain JSON', () => {
    const written = toDocument(sampleSnapshot());
    expect(JSON.parse(JSON.stringify(written))).toStrictEqual(written);
    expect(contentOf(createSnapshot(written, { epoch: 'sample' }))).toEqual(contentOf(sampleSnapshot()));
    const { services, monitors, filters } = sampleDocument;
    expect(written.gateway).toEqual({ ...sampleDocument.gateway, started: '2016-08-31T20:29:26+00:00' });
    expect(written.services?.[0]).toEqual({ ...services?.[0], started: '2016-08-29T09:52:31+00:00' });
    expect([written.monitors?.[0], written.filters?.[0]]).toEqual([monitors?.[0], filters?.[0]]);
    for (const part of ['servers', 'modules', 'threads', 'users'] as const)
      expect(written[part]).toEqual(sampleDocument[part]);
  });

  it('is neither changed nor kept', () => {
    const document = structuredClone(sampleDocument);
    const before = structuredClone(document);
    const snapshot = createSnapshot(document);
    expect(document).toEqual(before);
    expect(thawedPlaces(document)).not.toHaveLength(0);
    const content = contentOf(snapshot);
    for (const { parameters } of document.servers ?? []) Object.assign(parameters ?? {}, { changed: 1 });
    expect(contentOf(snapshot)).toEqual(content);
  });

  it('may be empty', () => {
    const snapshot = createSnapshot({});
    expectNext(snapshot, snapshot, []);
    expect(toDocument(snapshot)).toEqual({
      format: 2,
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
    const given = { servers: [server], services: [service], monitors: [monitor], filters: [filter] };
    const written = toDocument(createSnapshot(given));
    const lists = { listeners: [], servers: [], router_options: {}, filters: [] };
    const times = { monitor_interval: 2000, connect_timeout: 3, read_timeout: 1, write_timeout: 2 };
    expect(written.servers).toEqual([{ ...server, status: [], parameters: {} }]);
    expect(written.services).toEqual([{ ...service, state: 'started', ...lists, total_connections: 0 }]);
    expect(written.monitors).toEqual([
      { ...monitor, state: 'started', servers: [], ...times, parameters: {} },
    ]);
    expect(written.filters).toEqual([{ ...filter, parameters: {} }]);
  });

  it('may name the service of a connection, in any spelling, when it is that of the session', () => {
    const connections = ['/services/Sales', '/services/sALES'].map((each) => ({
      ...connection,
      service: each,
    }));
    const document = { services: [service], servers: [server], sessions: [{ ...session, connections }] };
    const snapshot = createSnapshot(document);
    expect(snapshot.sessions.countConnections(1)).toBe(2);
    expect(toDocument(snapshot).sessions?.[0]?.connections?.[0]).not.toHaveProperty('service');
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
    expect(snapshot.sessions.find(1)?.connections.map(({ id }) => id)).toEqual([1, 0, 3, 2]);
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

  it('may have names that are the same as those of other kinds', () => {
    const named = { servers: [{ ...server, name: 'Sales' }], filters: [{ ...filter, name: 'sales' }] };
    expect(faultsOf({ services: [service], ...named })).toEqual([]);
  });

  it('may have a text as $schema, which changes nothing', () => {
    expect(faultsOf({ $schema: 'https://example.test/schema.json', servers: [server] })).toEqual([]);
    expect(faultsOf({ $schema: 7 })).toEqual(['/$schema validation-failed']);
  });

  it('may have filter parameters that leave out whether they are configurable: they are', () => {
    for (const value of ['x', { sealed: 'v1.x' }]) {
      const snapshot = createSnapshot({ filters: [{ ...filter, parameters: { a: { value } } }] });
      const parameters = { a: { value, configurable: true } };
      expect(snapshot.filters.find('Hint')?.settings).toEqual({ parameters });
    }
    const single = createSnapshot({ filters: [{ ...filter, parameters: { name: 'a', value: 'x' } }] });
    expect(single.filters.find('Hint')?.settings.parameters).toEqual({
      a: { value: 'x', configurable: true },
    });
  });
});

describe('an epoch', () => {
  it.each(['a', 'A-z_0', 'x'.repeat(64)])('may be %s', (epoch) => {
    expect(createSnapshot({}, { epoch }).epoch).toBe(epoch);
  });

  it.each(['a.b', 'a b', 'ä', 'x'.repeat(65), '"', '\n'])('may not be %j', (epoch) => {
    expect(() => createSnapshot({}, { epoch })).toThrow(
      new RangeError(`The epoch must be 1 to 64 letters, digits, "-" and "_", not ${JSON.stringify(epoch)}`),
    );
  });
});

const unsafe = 9007199254740992;
type Entry = Record<string, unknown>;

const { port: _port, ...portless } = server;
const oneServer = (more: Entry): Entry => ({ servers: [{ ...server, ...more }] });
const oneService = (more: Entry): Entry => ({ servers: [server], services: [{ ...service, ...more }] });
const oneMonitor = (more: Entry): Entry => ({ servers: [server], monitors: [{ ...monitor, ...more }] });
const oneFilter = (more: Entry): Entry => ({ filters: [{ ...filter, ...more }] });
const oneSession = (more: Entry, ...others: readonly Entry[]): Entry => ({
  servers: [server],
  services: [service, { ...service, name: 'Stock' }],
  sessions: [{ ...session, ...more }, ...others.map((each, at) => ({ ...session, id: at + 2, ...each }))],
});
const connected = (...all: readonly Entry[]): Entry => ({
  connections: all.map((each) => ({ ...connection, ...each })),
});

/** The first connection of the first session. */
const joined = '/sessions/0/connections/0';

/** Faults by their places; without another code, each is validation-failed. */
type Row = readonly [what: string, document: unknown, faults: string];

/** What a schema can see. */
const shapes: readonly Row[] = [
  ['no object', null, ''],
  ['a list', [], ''],
  ['another format', { format: 3 }, '/format'],
  ['an unknown part', { routers: [] }, '/routers field-unknown'],
  ['a part that is no list', { servers: {}, sessions: 'x' }, '/servers, /sessions'],
  [
    'an entry that is no object',
    { servers: [7, null], sessions: ['x', null] },
    '/servers/0, /servers/1, /sessions/0, /sessions/1',
  ],
  [
    'what is missing',
    { servers: [{}] },
    '/servers/0/address, /servers/0/name, /servers/0/port, /servers/0/protocol',
  ],
  ['no port', { servers: [portless] }, '/servers/0/port'],
  ['an unknown member', oneServer({ more: 1 }), '/servers/0/more field-unknown'],
  ['a plain password', oneService({ password: 'x' }), '/services/0/password'],
  ['a port', oneServer({ port: 0 }), '/servers/0/port'],
  ['a status', oneServer({ status: ['down'] }), '/servers/0/status/0'],
  ['a parameter', oneServer({ parameters: { a: true, b: null } }), '/servers/0/parameters/b'],
  [
    'a number',
    oneServer({ parameters: { a: unsafe, b: -1e300, c: 0.5 } }),
    '/servers/0/parameters/a, /servers/0/parameters/b',
  ],
  [
    'a limit',
    { logs: { log_throttling: { limit: 1e300, window: 1, suppression: 1 } } },
    '/logs/log_throttling/limit',
  ],
  ['an empty name', oneServer({ name: '' }), '/servers/0/name'],
  ['a state', oneService({ state: 'running' }), '/services/0/state'],
  ['a time', oneService({ started: '2016-08-29 12:52' }), '/services/0/started'],
  ['a time without offset', { gateway: { started: '2026-01-01T00:00:00' } }, '/gateway/started'],
  ['an option', oneService({ router_options: { a: 1 } }), '/services/0/router_options/a'],
  ['a count', oneService({ total_connections: -1 }), '/services/0/total_connections'],
  ['a listener', oneService({ listeners: [{ ...server, port: 70000 }] }), '/services/0/listeners/0/port'],
  ['a listener without port', oneService({ listeners: [portless] }), '/services/0/listeners/0/port'],
  ['an interval', oneMonitor({ monitor_interval: 0 }), '/monitors/0/monitor_interval'],
  ['parameters of a filter', oneFilter({ parameters: { a: 'b' } }), '/filters/0/parameters/a'],
  ['no value of a parameter', oneFilter({ parameters: { a: {} } }), '/filters/0/parameters/a/value'],
  ['no hash', { users: [{ name: 'ada' }] }, '/users/0/password'],
  ['a hash', { users: [{ ...user, password: { sealed: '' } }] }, '/users/0/password/sealed'],
  ['a plain password of a user', { users: [{ name: 'ada', password: 'x' }] }, '/users/0/password'],
  ['a session id', oneSession({ id: unsafe }), '/sessions/0/id'],
  ['a server that is no link', oneSession(connected({ server: 7 })), `${joined}/server`],
  [
    'a link of the wrong kind',
    oneService({ filters: ['/servers/db'] }),
    '/services/0/filters/0 link-unresolved',
  ],
  ['an instance', { gateway: { threads: 'x', started: 'yesterday' } }, '/gateway/started, /gateway/threads'],
  [
    'logs',
    { logs: { maxlog: 'yes', log_levels: { error: true } } },
    'debug, info, notice, warning'.replaceAll(/\w+/g, '/logs/log_levels/$&') + ', /logs/maxlog',
  ],
  ['a task', { tasks: [{ name: 'a', type: 'b', frequency: 1, next_due: 7 }] }, '/tasks/0/next_due'],
  [
    'a module',
    { modules: [{ name: 'a' }] },
    '/modules/0/api_version, /modules/0/maturity, /modules/0/type, /modules/0/version',
  ],
];

/** What a schema cannot see. */
const meanings: readonly Row[] = [
  ['a name', oneServer({ name: ' db' }), '/servers/0/name'],
  ['an address', oneServer({ address: 'db:5432' }), '/servers/0/address'],
  ['a user name', { users: [{ ...user, name: 'ada lovelace' }] }, '/users/0/name'],
  ['a session id twice', oneSession({}, { id: 1 }), '/sessions/1/id'],
  ['a session without service', { sessions: [session] }, '/sessions/0/service link-unresolved'],
  ['no such server', oneSession(connected({ server: '/servers/x' })), `${joined}/server link-unresolved`],
  [
    'a service for a server',
    oneSession(connected({ server: '/services/Sales' })),
    `${joined}/server link-unresolved`,
  ],
  [
    'a connection on another service',
    oneSession(connected({ service: '/services/SALES' }), connected({}, { service: '/services/stock' })),
    '/sessions/1/connections/1/service',
  ],
  [
    'no such service',
    oneSession(connected({ service: '/services/nothing' })),
    `${joined}/service link-unresolved`,
  ],
  [
    'a session on no service',
    oneSession({ service: '/services/x', ...connected({ service: '/services/Sales' }) }),
    '/sessions/0/service link-unresolved',
  ],
  ['a connection id twice', oneSession(connected({ id: 1 }, { id: 1 })), '/sessions/0/connections/1/id'],
  ['a link to nothing', oneService({ servers: ['/servers/x'] }), '/services/0/servers/0 link-unresolved'],
  [
    'a link twice',
    oneMonitor({ servers: ['/servers/db', '/servers/DB'] }),
    '/monitors/0/servers/1 link-unresolved',
  ],
  [
    'a reserved key',
    oneService({ router_options: { constructor: 'c' } }),
    '/services/0/router_options/constructor reserved-key',
  ],
  [
    'two reserved keys, beside null',
    {
      servers: [null, { ...server, parameters: { prototype: 'c' } }],
      ...oneFilter({ parameters: { constructor: { value: 'c', configurable: true } } }),
    },
    '/filters/0/parameters/constructor reserved-key, /servers/0, /servers/1/parameters/prototype reserved-key',
  ],
];

/** One fault in an entry: a member that is missing, unknown, or of another type. */
const harms: readonly (readonly [string, (entry: Entry) => void])[] = [
  ['an unknown member', (entry) => void (entry['surprise'] = 1)],
  ['another type', (entry) => void (entry['id' in entry ? 'id' : 'name'] = [])],
  ['null', (entry) => void (entry['id' in entry ? 'id' : 'name'] = null)],
  ['a missing member', (entry) => Reflect.deleteProperty(entry, 'id' in entry ? 'id' : 'name')],
];

/** Valid documents of which one entry has one fault. */
const harmed = fc
  .tuple(givenDocuments, fc.nat(), fc.constantFrom(...harms))
  .map(([document, at, [, harm]]) => {
    const copy = structuredClone(document) as unknown as Record<string, Entry[]>;
    const lists = ['servers', 'services', 'monitors', 'filters', 'users', 'sessions', 'tasks', 'modules'];
    const entries = lists.flatMap((list) => copy[list] ?? []);
    const nested = entries.flatMap((entry) => (entry['listeners'] ?? []) as Entry[]);
    const all = [...entries, ...nested];
    const entry = all[at % Math.max(all.length, 1)];
    if (entry === undefined) return undefined;
    harm(entry);
    return copy;
  })
  .filter((document) => document !== undefined);

const codedFaults = (faults: string): readonly string[] =>
  faults.split(', ').map((each) => (each.includes(' ') ? each : `${each} validation-failed`));

const noField = 'is not a known field (unknown fields here: 1)';

describe('an invalid document', () => {
  it.each(shapes)('is refused, also by the schema, for %s', (_what, document, faults) => {
    expect(faultsOf(document).toSorted()).toEqual(codedFaults(faults));
    expect(breachesOf(document)).not.toEqual([]);
  });

  it.each(meanings)('is refused for %s', (_what, document, faults) => {
    expect(faultsOf(document).toSorted()).toEqual(codedFaults(faults));
  });

  it('is refused, also by the schema, for any fault in any entry', () => {
    fc.assert(
      fc.property(harmed, (document) => {
        expect(allFaultsOf(document)).not.toEqual([]);
        expect(breachesOf(document)).not.toEqual([]);
      }),
      { numRuns: 100 },
    );
  });

  it.each([
    ['in other case', 'My Service', 'my service'],
    ['with hyphens', 'My Service', 'my-service'],
    ['with another white space', 'My Service', 'My\u00a0Service'],
    ['with a wide white space', 'My Service', 'my\u3000SERVICE'],
    ['composed otherwise', 'K\u00f6ln', 'Ko\u0308ln'],
  ])('is refused for the same name %s, and names both', (_what, one, other) => {
    const faults = allFaultsOf({
      services: [{ ...service, name: one }, service, { ...service, name: other }],
    });
    const [there, here] = [one, other].map((name) => JSON.stringify(name));
    const detail = `names the same service as an earlier entry: ${String(here)} and ${String(there)} have the same key; rename one of them`;
    expect(faults).toEqual([{ pointer: '/services/2/name', code: 'validation-failed', detail }]);
  });

  const both = 'names "/services/Stock", and the session is on "/services/Sales"';
  const secret =
    'is a secret, and must not be plain text: write { "sealed": … } with the output of gateway-admin';
  const placed = { name: 'L', protocol: 'p', address: '/run/l', password: 'planted' };
  it.each<[Entry, string, string]>([
    [oneSession({}, { id: 1 }), '/sessions/1/id', 'is also the id of an earlier session; ids must be unique'],
    [
      oneSession(connected({ id: 7 }, { id: 7 })),
      '/sessions/0/connections/1/id',
      'is also the id of an earlier connection of this session; ids must be unique',
    ],
    [
      oneSession(connected({ service: '/services/stock' })),
      '/sessions/0/connections/0/service',
      `${both}; leave this member out, or correct one of the links`,
    ],
    [
      oneServer({ parameters: { constructor: 'x' } }),
      '/servers/0/parameters/constructor',
      'is not allowed as a key',
    ],
    [
      oneService({ password: 'planted' }),
      '/services/0/password',
      `${secret} seal, or set the password of the running gateway with gateway-admin patch --set-from`,
    ],
    [{ users: [{ ...user, password: 'planted' }] }, '/users/0/password', `${secret} hash-password`],
    [
      oneService({ password: { sealed: '' } }),
      '/services/0/password/sealed',
      'must have at least 1 character',
    ],
    [
      oneService({ router_options: { sealed: 'planted' } }),
      '/services/0/router_options/sealed',
      'is not allowed as a name, because { "sealed": … } is a secret; choose another name',
    ],
    [
      oneServer({ parameters: { pin: { sealed: 7 } } }),
      '/servers/0/parameters/pin/sealed',
      'must be a string, not a number',
    ],
    [oneServer({ password: 'planted' }), '/servers/0/password', noField],
    [oneService({ listeners: [{ ...placed }] }), '/services/0/listeners/0/password', noField],
  ])('says of %j at %s: %s', (document, pointer, detail) => {
    expect(allFaultsOf(document)).toMatchObject([{ pointer, detail }]);
  });

  it.each(
    Object.entries({ servers: server, services: service, monitors: monitor, filters: filter, users: user }),
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

  // Promise: document-faults
  it('names everything that is wrong at once, in one entry as in several', () => {
    const document = {
      format: 2,
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
    const faults = [
      '/filters/0/module, /gateway/threads, /monitors/0/connect_timeout, /monitors/0/servers/0 link-unresolved',
      '/more field-unknown, /servers/0/address, /servers/0/port, /servers/1/name',
      '/services/0/filters/0 link-unresolved, /services/0/router, /services/0/servers/0 link-unresolved',
      '/services/0/servers/2 link-unresolved, /services/1/max_connection, /services/1/name',
      '/sessions/0/connections/0/role, /sessions/0/connections/0/server link-unresolved',
      '/sessions/0/service link-unresolved, /sessions/0/state, /sessions/1/id, /sessions/2/id',
      '/users/0/name, /users/2/name',
    ];
    expect(faultsOf(document).toSorted()).toEqual(codedFaults(faults.join(', ')));
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
    const counted = Object.defineProperty({}, 'format', { enumerable: true, get: () => (reads += 1) + 1 });
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
    const inherited = [{ servers: new Map() }, { servers: [() => 1] }, { services: [{ name: Symbol('a') }] }];
    for (const document of [
      cyclic,
      throwing,
      ...inherited,
      { format: 1n },
      { format: undefined },
      new Date(0),
    ])
      expect(faultsOf(document)).toHaveLength(1);
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
    allFaultsOf(document).map(({ pointer, detail }) => `${pointer.split('parameters')[1] ?? ''} ${detail}`);

  it.each<[string, Entry, readonly string[]]>([
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
    ['an unknown member', { a: { value: 'x', fixed: true } }, [`/a/fixed ${noField}`]],
  ])('name the place of %s in a filter', (_what, parameters, expected) => {
    expect(sentences(oneFilter({ parameters }))).toEqual(expected);
  });

  it('name the rule that a value of the right type breaks', () => {
    expect(sentences(oneServer({ parameters: { a: 'x'.repeat(4097), b: unsafe, c: null, d: [] } }))).toEqual([
      '/a must have at most 4096 characters',
      '/b must be at most 9007199254740991',
      '/c must be a number, a string or a boolean',
      '/d must be a number, a string or a boolean',
    ]);
  });
});

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function heapUsed(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

const openSession = { ...session, connected: '2016-09-09T11:12:37+00:00', idle: 0 };

function documentOf(sessions: number, connections: number): GatewayDocument {
  const statistics = { buffered_writes: 3, high_water_events: 2, low_water_events: 1 };
  const connectionOf = (id: number, at: number) => ({
    ...{ id: at, ...connection, statistics: { reads: id, writes: at, ...statistics } },
  });
  return {
    servers: [server],
    services: [service],
    sessions: Array.from({ length: sessions }, (_, id) => ({
      ...openSession,
      id,
      connections: Array.from({ length: connections }, (_, at) => connectionOf(id, at)),
    })),
  };
}

describe('a document with many sessions', () => {
  const large = documentOf(3000, 8);

  // Promise: large-document
  it('is read and written again, and takes some hundred bytes for each connection', () => {
    const [sessions, connections] = [1000, 8];
    const document = documentOf(sessions, connections);
    createSnapshot(documentOf(10, 1)); // what is made once does not count
    const before = heapUsed();
    const snapshot = createSnapshot(document);
    const each = (heapUsed() - before) / sessions / connections;
    expect(each).toBeLessThan(300);
    expect(toDocument(snapshot).sessions).toEqual(document.sessions);
  });

  it('is read one session after the other, up to the first one that is no JSON', () => {
    const { sessions = [], ...others } = documentOf(3, 1);
    const list = [...sessions, { ...openSession, id: 0 }, new Date(0), { id: 'never read' }];
    const places = allFaultsOf({ ...others, sessions: list }).map(({ pointer }) => pointer);
    expect(places).toEqual(['/sessions/3/id', '/sessions/4']);
  });

  const many = 130_000;
  it.each<[string, Entry, string]>([
    [
      'a session with many connections',
      oneSession({ connections: Array.from({ length: many }, () => null) }),
      '/sessions/0/connections/',
    ],
    ['many tasks', { tasks: Array.from({ length: many }, () => 5) }, '/tasks/'],
  ])('is refused with every fault: %s', (_what, document, place) => {
    const faults = allFaultsOf(document);
    expect(faults).toHaveLength(many);
    expect(faults.at(-1)?.pointer).toBe(`${place}${String(many - 1)}`);
  });

  it('is loaded in pieces, with the same result', async () => {
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 0);
    const snapshot = await loadSnapshot(large, { epoch: 'a' });
    clearInterval(timer);
    // The reading takes some fifty milliseconds.
    expect(turns).toBeGreaterThan(2);
    expect(toDocument(snapshot)).toEqual(toDocument(createSnapshot(large, { epoch: 'a' })));
    expect(snapshot.epoch).toBe('a');
  });

  it('is loaded in pieces until the first fault, or until a signal aborts', async () => {
    const faulty = loadSnapshot({ sessions: [{}] as never });
    await expect(faulty).rejects.toThrow(InvalidDocumentError);
    const stop = new AbortController();
    const loading = loadSnapshot(large, { signal: stop.signal });
    stop.abort(new Error('Enough'));
    await expect(loading).rejects.toThrow('Enough');
  });
});
