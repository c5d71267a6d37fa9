import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import {
  closeServiceSessions,
  createSnapshot,
  evolve,
  nameKey,
  stopService,
  toDocument,
  type AdminEvent,
  type Snapshot,
} from 'gateway-admin-core';

import type { Entity } from '../../src/core/collection.ts';
import { initialVersion, latest, type Version } from '../../src/core/version.ts';
import { foldRecord } from '../../src/runtime/journal/entry-fold.ts';
import { findSession, lookUp, lookUpSession, parseSessionId } from '../../src/resources/shared/look-up.ts';
import { noStatistics } from '../../src/snapshot/session/table.ts';
import { replaceVersions, find, nameFinder, shownVersion } from '../../src/snapshot/state.ts';
import { collections as all } from '../../src/resources/snapshot.ts';
import { filter, monitor, server, service, user } from '../support/document-entry.ts';
import { sampleSnapshot } from '../support/document.ts';
import { thawedPlaces } from '../support/frozen.ts';

type CollectionName = 'servers' | 'services' | 'monitors' | 'filters' | 'users';
const collections = all.map(({ collection }) => collection as CollectionName);
const named = all.map((each) => [each.collection as CollectionName, each] as const);

describe('lookUp', () => {
  it.each(named)('finds everything in %s by its name, in whatever spelling', (collection, own) => {
    const snapshot = sampleSnapshot();
    expect([...snapshot[collection]]).not.toHaveLength(0);
    for (const entity of snapshot[collection]) {
      for (const name of [
        entity.name,
        entity.name.toUpperCase(),
        entity.name.replaceAll(' ', '-'),
        entity.key,
      ]) {
        const found = lookUp(snapshot, own, name);
        expect(found.ok && found.value).toBe(entity);
      }
    }
  });

  it.each(named)('says where to look when there is no such thing in %s', (collection, own) => {
    const found = lookUp(sampleSnapshot(), own, 'constructor');
    expect(found).toMatchObject({
      ok: false,
      problem: {
        status: 404,
        code: `${own.singular}-not-found`,
        detail: `There is no ${own.singular} named "constructor". GET /${collection} lists the existing ones.`,
      },
    });
  });
});

describe('lookUpSession', () => {
  it('finds a session by its id, and 0 is one', () => {
    const snapshot = sampleSnapshot();
    for (const id of [0, 9, 12])
      expect(lookUpSession(snapshot, id)).toMatchObject({ ok: true, value: { id } });
    expect(findSession(snapshot, { id: '9' })).toMatchObject({ ok: true, value: { id: 9 } });
  });

  it('says that it may have ended', () => {
    expect(lookUpSession(sampleSnapshot(), 1)).toMatchObject({
      problem: {
        code: 'session-not-found',
        status: 404,
        detail: 'There is no session 1; the session may have ended. GET /sessions lists the open sessions.',
      },
    });
    expect(findSession(sampleSnapshot(), { id: '1' })).toMatchObject({
      problem: { code: 'session-not-found' },
    });
    expect(findSession(sampleSnapshot(), { id: 'x' })).toMatchObject({
      problem: { code: 'session-id-invalid' },
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

describe('parseSessionId', () => {
  it.each([
    ['0', 0],
    ['7', 7],
    ['9007199254740991', 9007199254740991],
  ])('reads %s', (text, id) => {
    expect(parseSessionId(text)).toEqual({ ok: true, value: id });
  });

  it.each([
    '',
    '00',
    '01',
    '-0',
    '-1',
    '+1',
    '1 ',
    ' 1',
    '1.0',
    '1e3',
    '0x1',
    'Infinity',
    'NaN',
    '9007199254740992',
    '9'.repeat(400),
    '٣',
    '１',
  ])('refuses %j', (text) => {
    expect(parseSessionId(text)).toMatchObject({
      ok: false,
      problem: { status: 400, code: 'session-id-invalid' },
    });
  });
});

describe('nameFinder', () => {
  it('gives the name as it was declared, of the collections that have names', () => {
    const find = nameFinder(sampleSnapshot());
    expect(find('services', nameKey('MY SERVICE'))).toBe('My Service');
    expect(find('services', 'nothing')).toBeUndefined();
    for (const collection of ['sessions', 'gateway', 'constructor', '__proto__', 'toString', '']) {
      expect(find(collection, 'my-service')).toBeUndefined();
    }
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

describe('the version of a representation', () => {
  it('is the version of the resource; the counters of a service count too, as a report', () => {
    const wanted: readonly Version[] = [
      { command: 0, live: 1 },
      { command: 2, live: 2 },
      { command: 2, live: 3 },
    ];
    for (const [at, snapshot] of changedSnapshots().entries()) {
      for (const collection of collections) {
        for (const entity of snapshot[collection]) {
          const isCounted = collection === 'services' && entity.key === 'sales';
          expect(shownVersion(snapshot, collection, entity)).toEqual(isCounted ? wanted[at] : initialVersion);
        }
      }
    }
  });
});

describe('replaceVersions', () => {
  const [, , snapshot] = changedSnapshots();
  /** A collection, or a resource with its key. */
  type Place = readonly [collection: CollectionName, key?: string | undefined];
  const resources = (of: Snapshot, collection: CollectionName): readonly Entity[] => [...of[collection]];
  const places: readonly Place[] = collections.flatMap((collection): readonly Place[] => [
    [collection],
    ...resources(snapshot, collection).map(({ key }) => [collection, key] as const),
  ]);
  const textOf = ([collection, key]: Place): string =>
    key === undefined ? collection : `${collection}/${key}`;
  const versionIn = (of: Snapshot, [collection, key]: Place): Version | undefined =>
    key === undefined ? of[collection].version : find(of, { collection }, key)?.version;
  const commands = fc.dictionary(fc.constantFrom(...places.map(textOf)), fc.nat(2), { maxKeys: 4 });
  const align = (wanted: Readonly<Record<string, number>>): Snapshot =>
    replaceVersions(snapshot, (collection, present, key) => {
      const command = wanted[textOf([collection as CollectionName, key])] ?? present.command;
      return command === present.command ? present : Object.freeze({ command, live: command + 10 });
    });

  it('changes the versions of exactly what is to have another command version', () => {
    fc.assert(
      fc.property(commands, (wanted) => {
        const aligned = align(wanted);
        for (const place of places) {
          const [collection, key] = place;
          const before = versionIn(snapshot, place);
          const command = wanted[textOf(place)] ?? before?.command;
          const isKept = command === undefined || command === before?.command;
          const own = isKept ? before : { command, live: command + 10 };
          // A list has the latest version of its resources, and its own if that is later.
          const members = key === undefined ? resources(aligned, collection) : [];
          const version = members.reduce<Version | undefined>(
            (newest, member) => newest && latest(newest, member.version),
            own,
          );
          expect(versionIn(aligned, place)).toEqual(version);
        }
      }),
    );
  });

  it('keeps everything else, shares what stays as it is, and gives a frozen snapshot', () => {
    fc.assert(
      fc.property(commands, (wanted) => {
        const aligned = align(wanted);
        const isKept = (place: Place): boolean => versionIn(aligned, place) === versionIn(snapshot, place);
        for (const collection of collections) {
          for (const before of resources(snapshot, collection)) {
            const after = find(aligned, { collection }, before.key);
            expect({ ...after, version: before.version }).toEqual(before);
            expect(after === before).toBe(isKept([collection, before.key]));
          }
          const areKept = places.filter((place) => place[0] === collection).every(isKept);
          expect(aligned[collection] === snapshot[collection]).toBe(areKept);
        }
        expect(aligned === snapshot).toBe(places.every(isKept));
        const { servers, services, monitors, filters, users } = snapshot;
        expect({ ...aligned, servers, services, monitors, filters, users }).toEqual(snapshot);
        expect(thawedPlaces(aligned)).toEqual([]);
      }),
    );
  });
});

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

  it('throws at an event that it does not know in a record of a store', () => {
    const unknown = { type: 'service.painted', ...head } as unknown as AdminEvent;
    expect(() => foldRecord(sampleSnapshot(), [unknown])).toThrow(TypeError);
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
