/**
 * Snapshots: what is found in them, what events make of them, and what a console, a log and a failing test show of them.
 */
import { inspect, isDeepStrictEqual, stripVTControlCharacters } from 'node:util';

import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
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
  type GatewayDocument,
  type Snapshot,
} from 'gateway-admin-core';

import { documents } from '../support/arbitrary-document.ts';
import { changedSnapshots } from '../support/changed-snapshot.ts';
import { sampleDocument, sampleSnapshot } from '../support/document.ts';
import { collections, contentOf } from '../support/expect-decision.ts';
import type { Validator } from '../support/internal.ts';
import { planted } from '../support/planted.ts';
import { readAll } from '../support/reading.ts';
import { runAdmin } from '../support/running-admin.ts';
import { secretFields, withSecrets } from '../support/secret-field.ts';
import { withoutOpened } from '../support/shown-session.ts';
import { transports } from '../support/transport.ts';

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
    const [sample, context] = [sampleSnapshot(), { now: 0 }];
    const decision =
      collection === 'users'
        ? deleteUser(sample, 'constructor', context)
        : deleteResource(sample, collection, 'constructor', context);
    const singular = collection.slice(0, -1);
    const detail = `There is no ${singular} named "constructor". GET /${collection} lists the existing ones.`;
    const problem = { status: 404, code: `${singular}-not-found`, detail };
    expect(decision).toMatchObject({ outcome: 'refused', problem });
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

  const send = transports.core(runAdmin().admin).then((transport) => transport.send);
  const codeOf = async (id: string): Promise<unknown> => {
    const { status, body } = await (await send)('GET', `/sessions/${encodeURIComponent(id)}`);
    return status === 200 ? (body as { readonly id: number }).id : (body as { readonly code: string }).code;
  };

  it('is a number in decimal digits in a path, and nothing else', async () => {
    expect([await codeOf('0'), await codeOf('9')]).toEqual([0, 9]);
    for (const id of ['7', '9007199254740991']) expect(await codeOf(id)).toBe('session-not-found');
    const others = ['00', '01', '-0', '-1', '+1', '1 ', ' 1', '1.0', '1e3', '0x1', 'Infinity', 'NaN'];
    const more = ['9007199254740992', '9'.repeat(400), '٣', '１', 'x'];
    for (const id of [...others, ...more]) expect([id, await codeOf(id)]).toEqual([id, 'session-id-invalid']);
  });
});

describe('a snapshot that was made by hand', () => {
  const sentence = 'snapshot must come from createSnapshot';

  it.each([...collections, 'sessions'] as const)('is refused when its %s alone are not ours', (part) => {
    const byHand: Snapshot = Object.freeze({ ...createSnapshot({}), [part]: [] });
    expect(() => stopService(byHand, 'Sales', { now: 0 })).toThrow(new TypeError(sentence));
  });

  it.each([null, undefined, 7, 'text'])('is refused with a sentence in place of %p', (value) => {
    expect(() => stopService(value as never, 'Sales', { now: 0 })).toThrow(new TypeError(sentence));
  });

  it('is refused with a sentence, whichever part of it is not ours', () => {
    const { services, sessions } = sampleSnapshot();
    const list = {
      size: 0,
      revision: services.revision,
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

/** What the tag of each representation of one thing says, by the id of the route and the name of the thing. */
function tagsShown(snapshot: Snapshot): Readonly<Record<string, Validator | undefined>> {
  const tags = readAll(snapshot).flatMap(({ route, subject }) => {
    const found = route.find(snapshot, { name: subject, id: subject });
    if (!/^(?:servers|services|monitors|filters)\.get$/.test(route.id) || !found.ok) return [];
    return [[`${route.id} ${subject}`, route.validator?.(snapshot, found.value)]];
  });
  return Object.fromEntries(tags) as Readonly<Record<string, Validator | undefined>>;
}

describe('the tag of a representation', () => {
  it('has the content that a command changes, and a revision that counters of a service raise too', () => {
    const [opened, stopped, closed] = changedSnapshots().map(tagsShown);
    const [before, after, later] = [opened, stopped, closed].map((tags) => tags?.['services.get Sales']);
    expect([before, after, later].map((tag) => tag?.revision)).toEqual([1, 2, 3]);
    expect([after?.content === before?.content, later?.content === after?.content]).toEqual([false, true]);
    const { 'services.get Sales': _service, ...others } = closed ?? {};
    expect(Object.keys(others)).toHaveLength(7);
    expect(opened).toMatchObject(others);
  });
});

const update = (settings: object): object => ({ from: settings, to: settings, operations: [] });
const start = { from: { state: 'stopped' }, to: { state: 'started' } } as const;
const stop = { from: start.to, to: start.from } as const;

describe('evolve', () => {
  const head = { at: 0, resource: '/x' };
  const connected = Date.parse('2016-09-09T14:12:37+03:00');
  const server = 'db-server-2';
  const untold = { state: '', user: '', address: '', connected: 0 };
  const joined = { connected, server: 'db-serv-1', role: '', state: '' };
  const zeros = { reads: 0, writes: 0, buffered_writes: 0, high_water_events: 0, low_water_events: 0 };
  const ofService = { servers: [], router_options: {}, filters: [] };
  const ofFilter = { parameters: {} };
  const ofServer = { address: 'a', port: 1, ...ofFilter, status: [] };
  const told = (events: readonly object[]): readonly AdminEvent[] =>
    events.map((event) => ({ ...head, ...event }) as AdminEvent);

  const gone = told([
    { type: 'service.started', service: 'gone', ...start },
    { type: 'service.stopped', service: 'gone', ...stop },
    { type: 'service.reported', service: 'gone', state: 'failed' },
    { type: 'service.updated', service: 'gone', ...update(ofService) },
    { type: 'server.reported', server: 'gone', status: ['master'] },
    { type: 'server.updated', server: 'gone', ...update(ofServer) },
    { type: 'monitor.started', monitor: 'gone', ...start },
    { type: 'monitor.stopped', monitor: 'gone', ...stop },
    { type: 'monitor.reported', monitor: 'gone', state: 'failed' },
    { type: 'filter.updated', filter: 'gone', ...update(ofFilter) },
    { type: 'user.updated', user: 'gone', password: { sealed: 'opaque' } },
    { type: 'user.rehashed', user: 'gone', password: { sealed: 'opaque' } },
    { type: 'user.deleted', user: 'gone' },
    { type: 'session.opened', id: 99, ...untold, service: 'gone' },
    { type: 'session.updated', id: 99, connected: 0, state: '', user: '', idle: 0 },
    { type: 'session.closed', id: 99, connected: 0 },
    { type: 'sessions.closed', sessions: [{ id: 99, connected: 0 }] },
    { type: 'connection.opened', session: 9, id: 99, ...joined, server: 'gone' },
    { type: 'connection.opened', session: 99, id: 99, ...joined },
    { type: 'connection.updated', session: 9, connected, id: 99, role: '', state: '', statistics: zeros },
    { type: 'connection.closed', session: 9, connected, id: 99 },
    { type: 'connections.closed', server, connections: [{ session: 9, connected: 0, id: 4 }] },
  ]);
  const already = told([
    { type: 'user.created', user: 'ada', name: 'ADA', password: { sealed: 'another' } },
    { type: 'session.opened', id: 9, ...untold, service: 'my-service' },
    { type: 'connection.opened', session: 9, id: 4, ...joined },
    {
      type: 'server.reported',
      server: 'db-serv-1',
      status: sampleSnapshot().servers.find('db-serv-1')?.seen.status,
    },
    { type: 'service.reported', service: 'my-service', state: 'started' },
  ]);
  const since = { connected: connected - 1 };
  const earlier = { session: 9, ...since, role: 'x', state: 'x' };
  const stale = told([
    { type: 'sessions.closed', sessions: [{ id: 9, ...since }] },
    { type: 'session.closed', id: 9, ...since },
    { type: 'connections.closed', server, connections: [{ session: 9, ...since, id: 4 }] },
    { type: 'session.updated', id: 9, ...since, state: 'x', user: 'x', idle: 1 },
    { type: 'connection.opened', ...earlier, id: 5, server: 'db-serv-1' },
    { type: 'connection.updated', ...earlier, id: 4, statistics: zeros },
    { type: 'connection.closed', session: 9, ...since, id: 4 },
  ]);
  it.each([
    ['of a thing that is gone', gone],
    ['of a thing that is there already, as it is', already],
    ['of a session whose id is used again', stale],
  ])('changes nothing for events %s', (_what, events) => {
    const snapshot = sampleSnapshot();
    expect(snapshot.sessions.find(9)?.connected).toBe(connected);
    for (const event of events)
      expect([event, evolve(snapshot, [event]) === snapshot]).toEqual([event, true]);
  });

  it('leaves out an event that it does not know, and folds the others', () => {
    const snapshot = sampleSnapshot();
    const unknown = ['service.painted', 'toString', '__proto__'].map(
      (type) => ({ type, ...head }) as unknown as AdminEvent,
    );
    const stopped: AdminEvent = { type: 'service.stopped', ...head, service: 'my-service', ...stop };
    expect(evolve(snapshot, unknown)).toBe(snapshot);
    expect(toDocument(evolve(snapshot, [...unknown, stopped]))).toEqual(
      toDocument(evolve(snapshot, [stopped])),
    );
  });

  it('is one revision later, however many events there are', () => {
    const snapshot = sampleSnapshot();
    const events: readonly AdminEvent[] = [
      { type: 'service.stopped', ...head, service: 'my-service', ...stop },
      { type: 'monitor.stopped', ...head, monitor: 'main-monitor', ...stop },
    ];
    expect(evolve(snapshot, events).revision).toBe(1);
    expect(evolve(evolve(snapshot, events.slice(0, 1)), events.slice(1)).revision).toBe(2);
  });
});

const matchers = ['toBe', 'toEqual', 'toStrictEqual', 'toMatchObject'] as const;

/** What a failing test says; nothing when it does not fail. */
function failureOf(
  received: unknown,
  expected: unknown,
  matcher: (typeof matchers)[number] = 'toEqual',
): string {
  try {
    expect(received)[matcher](expected as object);
    return '';
  } catch (error) {
    return stripVTControlCharacters((error as Error).message);
  }
}

/** The lines of a message that show the difference: what is missing, and what is there instead. */
function changedLines(message: string): readonly string[] {
  const lines = message.split('\n').filter((line) => /^[-+] {2,}/.test(line));
  return lines
    .filter((line) => !/^[-+] (Expected|Received)/.test(line))
    .map((line) => line.replace(/ +/, ' '));
}

describe('a snapshot in a console', () => {
  it('says its epoch and revision, and of each part how much there is and what comes first', () => {
    const { users, ...withoutUsers } = createSnapshot(sampleDocument, { epoch: 'life-1' });
    expect([users.size, inspect(withoutUsers)]).toEqual([
      2,
      [
        '{',
        "  epoch: 'life-1',",
        '  revision: 0,',
        '  secretParameters: Array(1) [ "password" ],',
        '  gateway: { started, attributes },',
        '  threads: { load_average, threads },',
        '  tasks: Array(2) [ "Load Average", "Rotate" ],',
        '  modules: Array(3) [ "pgclient", "qlafilter", "readconnroute" ],',
        '  logs: { revision, last_flushed, attributes },',
        '  interface: { settings },',
        '  servers: Collection(4) [ "db-serv-1", "DB Server 2", "db-serv-3", "Spare DB" ],',
        '  services: Collection(4) [ "My Service", "Bare Service", "Report Service", "Spare Service" ],',
        '  monitors: Collection(3) [ "Main Monitor", "Idle Monitor", "Failed Monitor" ],',
        '  filters: Collection(3) [ "Hint", "Query Log", "Spare" ],',
        '  sessions: SessionTable(3) { total: 11, "my-service": 2, "bare-service": 1 },',
        '  draining: 2,',
        '  births: Births(0) []',
        '}',
      ].join('\n'),
    ]);
    expect(inspect(users)).toBe('Collection(2) [ "ada", "Grace" ]');
  });

  it('fits on one screen, however much there is', () => {
    const names = Array.from({ length: 300 }, (_, at) => `${String(at)}-${'x'.repeat(240)}`);
    const connected = '2020-01-01T00:00:00+00:00';
    const text = inspect(
      createSnapshot({
        tasks: names.map((name) => ({ name, type: 't', frequency: 1, next_due: connected })),
        servers: names.map((name) => ({ name, address: 'a', port: 1, protocol: 'p' })),
        services: names.map((name) => ({ name, router: 'r' })),
        monitors: names.map((name) => ({ name, module: 'm' })),
        filters: names.map((name) => ({ name, module: 'm' })),
        users: names.map((_, at) => ({ name: `user${String(at)}`, password: { sealed: 'h' } })),
        sessions: names.map((name, id) => ({
          ...{ id, state: 's', user: 'u', address: 'a', connected },
          service: `/services/${name}`,
        })),
      }),
      { depth: null },
    );
    expect(text.split('\n').length).toBeLessThan(20);
    expect(Math.max(...text.split('\n').map(({ length }) => length))).toBeLessThan(300);
    expect(text).toContain('… 295 more');
    expect(text).toMatch(/SessionTable\(300\) \{ total: 300, .*, … \}/);
  });

  it('prints like that after any change, and wherever it stands', () => {
    const events: readonly AdminEvent[] = [
      { type: 'logs.flushed', at: 0, resource: '/gateway/logs' },
      { type: 'user.deleted', at: 0, resource: '/users', user: 'ada' },
      { type: 'session.closed', at: 0, resource: '/services/My-Service', id: 9, connected: connectTimeOf(9) },
    ];
    const next = evolve(sampleSnapshot(), events);
    expect(inspect({ next })).toContain('users: Collection(1) [ "Grace" ]');
    expect(inspect({ next })).toContain('SessionTable(2) { total: 11,');
    expect(inspect({ next })).toContain('revision: 1');
  });
});

function connectTimeOf(id: number): number {
  return sampleSnapshot().sessions.find(id)?.connected ?? NaN;
}

describe('JSON of a snapshot', () => {
  it('has all but the secrets, and a mark where there is one', () => {
    const { services, users, sessions, revision, ...json } = JSON.parse(
      JSON.stringify(sampleSnapshot()),
    ) as Record<string, { readonly size: number; readonly entries: readonly object[] }>;
    const snapshot = sampleSnapshot();
    const [bare, mine] = [snapshot.services.find('Bare Service'), snapshot.services.find('My Service')];
    const mark = { password: '[redacted]' };
    expect(revision).toBe(0);
    expect(services).toMatchObject({ size: 4, revision: 0 });
    expect(services?.entries[0]).toEqual({
      ...mine,
      listeners: mine?.listeners.map((listener) =>
        listener.parameters?.['password'] === undefined
          ? listener
          : { ...listener, parameters: { ...listener.parameters, ...mark } },
      ),
      settings: {
        ...mine?.settings,
        ...mark,
        router_options: { ...mine?.settings.router_options, ...mark },
      },
    });
    expect(services?.entries[1]).toEqual(bare);
    expect(users?.entries).toMatchObject([{ name: 'ada', settings: mark }, { name: 'Grace' }]);
    expect(sessions).toMatchObject({ size: 3, total: 11, sessions: withoutOpened([...snapshot.sessions]) });
    for (const part of ['epoch', 'gateway', 'logs', 'threads', 'tasks', 'modules'] as const)
      expect(json[part]).toEqual(snapshot[part]);
  });
});

describe('the JSON of two snapshots', () => {
  const jsonOf = (snapshot: Snapshot): unknown => JSON.parse(JSON.stringify(snapshot));
  const changed = (change: Partial<GatewayDocument>, epoch = sampleSnapshot().epoch): Snapshot =>
    createSnapshot({ ...sampleDocument, ...change }, { epoch });
  const [first, second, third] = sampleDocument.sessions ?? [];
  const [mine, bare, report] = sampleDocument.services ?? [];

  const counted = [{ ...mine, total_connections: 9 }, { ...bare, total_connections: 2 }, report];
  it.each<[string, object, readonly string[]]>([
    [
      'the version of a part',
      { gateway: { ...sampleDocument.gateway, threads: 5 } },
      ['- "threads": 4,', '+ "threads": 5,'],
    ],
    [
      'a setting',
      { services: [{ ...mine, max_connection: 101 }, bare, report] },
      ['- "max_connection": 100,', '+ "max_connection": 101,'],
    ],
    ['a session', { sessions: [{ ...first, state: 'another' }, second, third] }, ['+ "state": "another",']],
    [
      'a connection',
      { sessions: [first, { ...second, connections: [] }, third] },
      ['- "role": "Slave",', '+ "connections": Array [],'],
    ],
    [
      'a counter, of which the sum is the same',
      { services: counted },
      ['- "total": 10,', '+ "total": 9,', '- "total": 1,', '+ "total": 2,'],
    ],
    ['the order of names', { services: [bare, mine, report] }, ['+ "key": "bare-service",']],
  ])('shows how they differ in %s', (_what, change, lines) => {
    const message = failureOf(jsonOf(changed(change)), jsonOf(sampleSnapshot()));
    for (const line of lines) expect(changedLines(message).join('\n')).toContain(line);
  });

  it('shows how they differ in the epoch, and in what their collections have forgotten', () => {
    const other = failureOf(jsonOf(changed({}, 'other')), jsonOf(sampleSnapshot()));
    expect(changedLines(other)).toEqual(['- "epoch": "sample",', '+ "epoch": "other",']);
    const head = { at: 0, resource: '/users' };
    const come = {
      type: 'user.created',
      ...head,
      user: 'joan',
      name: 'joan',
      password: { sealed: 'h' },
    } as const;
    const { users } = evolve(evolve(sampleSnapshot(), [come]), [
      { type: 'user.deleted', ...head, user: 'joan' },
    ]);
    expect([...users]).toEqual([...sampleSnapshot().users]);
    const message = failureOf(jsonOf({ ...sampleSnapshot(), users }), jsonOf(sampleSnapshot()));
    expect(changedLines(message)).toEqual(['- "revision": 0,', '+ "revision": 2,']);
  });

  it('is equal exactly when all that can be told of them is', () => {
    const pairs = fc.oneof(fc.tuple(documents, documents), fc.clone(documents, 2));
    fc.assert(
      fc.property(pairs, ([one, other]) => {
        const [a, b] = [createSnapshot(one), createSnapshot(other)];
        expect(isDeepStrictEqual(jsonOf(a), jsonOf(b))).toBe(isDeepStrictEqual(contentOf(a), contentOf(b)));
      }),
      { numRuns: 40 },
    );
  });
});

/** All that a console, a log and a failing test show of a snapshot. */
function shownOf(snapshot: Snapshot): readonly string[] {
  const next = evolve(snapshot, [{ type: 'logs.flushed', at: 1, resource: '/gateway/logs' }]);
  const parts = ['services', 'servers', 'filters', 'users', 'sessions'] as const;
  return [
    ...[snapshot, ...parts.map((name) => snapshot[name])].flatMap((part) => [
      inspect(part, { depth: null, showHidden: true }),
      inspect(part, { depth: null, customInspect: false }),
      JSON.stringify(part),
    ]),
    ...parts.map((name) => failureOf(snapshot[name], sampleSnapshot()[name])),
    ...matchers.flatMap((matcher) => [{}, next].map((other) => failureOf(snapshot, other, matcher))),
    failureOf(sampleSnapshot(), snapshot),
    failureOf(undefined, snapshot),
  ];
}

describe('a secret', () => {
  const secret = 'planted-where-nobody-reads';

  // Promise: inspection-secret
  it('is in nothing that a console, a log or a failing test shows of any snapshot', () => {
    fc.assert(
      fc.property(documents, ({ services = [], servers = [], filters = [], users = [], ...document }) => {
        const snapshot = createSnapshot({
          ...document,
          servers: servers.map((server) => ({ ...server, ...withSecrets('server', `3-${secret}`, server) })),
          filters: filters.map((filter) => ({ ...filter, ...withSecrets('filter', `4-${secret}`, filter) })),
          services: services.map((service) => ({
            ...service,
            ...withSecrets('service', `1-${secret}`, service),
          })),
          users: users.map((user) => ({ ...user, ...withSecrets('user', `2-${secret}`, user) })),
        });
        expect(shownOf(snapshot).filter((text) => text.includes(secret))).toEqual([]);
      }),
      { numRuns: 10 },
    );
  });

  it('is in none of them when it is all in which two snapshots differ', () => {
    const document = (text: string): GatewayDocument => ({
      services: [{ name: 'Sales', router: 'r', ...withSecrets('service', `${text}-${secret}`) }],
      users: [{ name: 'ada', password: { sealed: `${text}-${secret}` } }],
    });
    const [one, other] = [createSnapshot(document('1')), createSnapshot(document('2'))];
    const messages = matchers.map((matcher) => failureOf(one, other, matcher));
    expect(messages).not.toContain('');
    expect(messages.filter((text) => text.includes(secret))).toEqual([]);
  });

  /** Places of the sample that take any text. */
  const places = textsIn(sampleDocument).flatMap((place) => {
    try {
      return [
        { place, snapshot: createSnapshot(replaced(sampleDocument, place, secret) as GatewayDocument) },
      ];
    } catch {
      return [];
    }
  });

  it('is what no endpoint shows: in each place of a document, what none shows is shown nowhere else', () => {
    const hidden = places.filter(({ snapshot }) => !JSON.stringify(readAll(snapshot)).includes(secret));
    const secrets = places.filter(({ place }) => place.at(-1) === 'sealed');
    const fieldOf = (place: Path): unknown => place.find((name) => secretFields.has(String(name)));
    expect(new Set(secrets.map(({ place }) => fieldOf(place)))).toEqual(secretFields);
    expect(hidden.map(({ place }) => place.join('/'))).toEqual(secrets.map(({ place }) => place.join('/')));
    for (const { snapshot } of hidden)
      expect(shownOf(snapshot).filter((text) => text.includes(secret))).toEqual([]);
    expect(places.length).toBeGreaterThan(50);
  });

  it('is still in the record of its user, for those who need it', () => {
    expect(sampleSnapshot().users.find('ada')?.settings.password.sealed).toBe(planted.hash);
  });
});

type Path = readonly (string | number)[];

/** The places of all texts in a document. */
function textsIn(value: unknown, path: Path = []): readonly Path[] {
  if (typeof value === 'string') return [path];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    textsIn(member, [...path, Array.isArray(value) ? Number(name) : name]),
  );
}

/** A copy of a document with another text in one place. */
function replaced(value: unknown, [name, ...rest]: Path, text: string): unknown {
  if (name === undefined) return text;
  if (Array.isArray(value)) return value.with(Number(name), replaced(value[Number(name)], rest, text));
  const { [name]: member } = value as Record<string | number, unknown>;
  return { ...(value as object), [name]: replaced(member, rest, text) };
}
