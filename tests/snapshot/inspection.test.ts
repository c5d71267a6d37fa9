import { inspect, isDeepStrictEqual, stripVTControlCharacters } from 'node:util';

import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import {
  createSnapshot,
  evolve,
  type AdminEvent,
  type GatewayDocument,
  type Snapshot,
} from 'gateway-admin-core';

import { documents } from '../support/arbitrary-document.ts';
import { sampleDocument, sampleSnapshot } from '../support/document.ts';
import { planted } from '../support/planted.ts';
import { contentOf } from '../support/expect-decision.ts';
import { readAll } from '../support/reading.ts';
import { storedSecrets, withSecrets } from '../support/secret-field.ts';
import { withoutOpened } from '../support/shown-session.ts';

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
        '  gateway: { version, started, attributes },',
        '  threads: { load_average, threads },',
        '  tasks: Array(2) [ "Load Average", "Rotate" ],',
        '  modules: Array(3) [ "pgclient", "qlafilter", "readconnroute" ],',
        '  logs: { version, last_flushed, attributes },',
        '  servers: Collection(4) [ "db-serv-1", "DB Server 2", "db-serv-3", "Spare DB" ],',
        '  services: Collection(4) [ "My Service", "Bare Service", "Report Service", "Spare Service" ],',
        '  monitors: Collection(3) [ "Main Monitor", "Idle Monitor", "Failed Monitor" ],',
        '  filters: Collection(3) [ "Hint", "Query Log", "Spare" ],',
        '  sessions: SessionTable(3) { total: 11, "my-service": 2, "bare-service": 1 },',
        '  draining: 2',
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
        users: names.map((_, at) => ({ name: `user${String(at)}`, passwordHash: 'h' })),
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
    expect(revision).toBe(0);
    expect(services).toMatchObject({ size: 4, version: { command: 0, live: 0 } });
    expect(services?.entries[0]).toEqual({
      ...mine,
      listeners: mine?.listeners.map((listener) =>
        listener.parametersSealed === undefined
          ? listener
          : { ...listener, ...withSecrets('listener', '[redacted]') },
      ),
      settings: { ...mine?.settings, ...withSecrets('service', '[redacted]') },
    });
    expect(services?.entries[1]).toEqual(bare);
    expect(users?.entries).toMatchObject([
      { name: 'ada', settings: { passwordHash: '[redacted]' } },
      { name: 'Grace' },
    ]);
    expect(sessions).toMatchObject({ size: 3, total: 11, sessions: withoutOpened([...snapshot.sessions]) });
    for (const part of ['epoch', 'gateway', 'logs', 'threads', 'tasks', 'modules'] as const)
      expect(json[part]).toEqual(snapshot[part]);
  });
});

describe('two snapshots in a test', () => {
  const changed = (change: Partial<GatewayDocument>, epoch = sampleSnapshot().epoch): Snapshot =>
    createSnapshot({ ...sampleDocument, ...change }, { epoch });
  const [first, second, third] = sampleDocument.sessions ?? [];
  const [mine, bare, report] = sampleDocument.services ?? [];

  it.each([
    ['the epoch', changed({}, 'other'), ['- "epoch": "sample",', '+ "epoch": "other",']],
    [
      'the version of a part',
      changed({ gateway: { ...sampleDocument.gateway, threads: 5 } }),
      ['- "threads": 4,', '+ "threads": 5,'],
    ],
    [
      'a setting',
      changed({ services: [{ ...mine, max_connection: 101 }, bare, report] as never }),
      ['- "max_connection": 100,', '+ "max_connection": 101,'],
    ],
    [
      'a session',
      changed({ sessions: [{ ...first, state: 'another' }, second, third] as never }),
      ['+ "state": "another",'],
    ],
    [
      'a connection',
      changed({ sessions: [first, { ...second, connections: [] }, third] as never }),
      ['- "role": "Slave",', '+ "connections": Array [],'],
    ],
    [
      'a counter, of which the sum is the same',
      changed({
        services: [{ ...mine, total_connections: 9 }, { ...bare, total_connections: 2 }, report] as never,
      }),
      ['- "total": 10,', '+ "total": 9,', '- "total": 1,', '+ "total": 2,'],
    ],
    [
      'the order of names',
      changed({ services: [bare, mine, report] as never }),
      ['+ "key": "bare-service",'],
    ],
  ])('differ, and the message shows how, in %s', (_what, other, lines) => {
    const message = failureOf(other, sampleSnapshot());
    for (const line of lines) expect(changedLines(message).join('\n')).toContain(line);
    expect(failureOf(other, other)).toBe('');
  });

  it('differ, and the message shows how, in what their collections have forgotten', () => {
    const head = { at: 0, resource: '/users' };
    const come = { type: 'user.created', ...head, user: 'joan', name: 'joan', passwordHash: 'h' } as const;
    const { users } = evolve(evolve(sampleSnapshot(), [come]), [
      { type: 'user.deleted', ...head, user: 'joan' },
    ]);
    expect([...users]).toEqual([...sampleSnapshot().users]);
    const message = failureOf({ ...sampleSnapshot(), users }, sampleSnapshot());
    expect(changedLines(message)).toEqual([
      '- "command": 0,',
      '- "live": 0,',
      '+ "command": 2,',
      '+ "live": 2,',
    ]);
  });

  it('are equal exactly when all that can be told of them is', () => {
    const pairs = fc.oneof(fc.tuple(documents, documents), fc.clone(documents, 2));
    fc.assert(
      fc.property(pairs, ([one, other]) => {
        const [a, b] = [createSnapshot(one), createSnapshot(other)];
        expect(failureOf(a, b) === '').toBe(isDeepStrictEqual(contentOf(a), contentOf(b)));
      }),
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
          servers: servers.map((server) => ({ ...server, ...withSecrets('server', `3-${secret}`) })),
          filters: filters.map((filter) => ({ ...filter, ...withSecrets('filter', `4-${secret}`) })),
          services: services.map((service) => ({ ...service, ...withSecrets('service', `1-${secret}`) })),
          users: users.map((user) => ({ ...user, ...withSecrets('user', `2-${secret}`) })),
        });
        expect(shownOf(snapshot).filter((text) => text.includes(secret))).toEqual([]);
      }),
      { numRuns: 20 },
    );
  });

  it('is in none of them when it is all in which two snapshots differ', () => {
    const document = (text: string): GatewayDocument => ({
      services: [{ name: 'Sales', router: 'r', ...withSecrets('service', `${text}-${secret}`) }],
      users: [{ name: 'ada', passwordHash: `${text}-${secret}` }],
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
    const stored = (place: Path): unknown => place.find((name) => storedSecrets.has(String(name)));
    const secrets = places.filter(({ place }) => stored(place) !== undefined);
    expect(new Set(secrets.map(({ place }) => stored(place)))).toEqual(storedSecrets);
    expect(hidden.map(({ place }) => place.join('/'))).toEqual(secrets.map(({ place }) => place.join('/')));
    for (const { snapshot } of hidden)
      expect(shownOf(snapshot).filter((text) => text.includes(secret))).toEqual([]);
    expect(places.length).toBeGreaterThan(50);
  });

  it('is still in the record of its user, for those who need it', () => {
    expect(sampleSnapshot().users.find('ada')?.settings.passwordHash).toBe(planted.hash);
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
