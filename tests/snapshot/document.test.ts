import { describe, expect, it } from '@jest/globals';
import { createSnapshot, toDocument } from 'gateway-admin-core';

import {
  connection,
  faultsOf,
  filter,
  monitor,
  server,
  service,
  session,
} from '../support/document-entry.ts';
import { sampleDocument, sampleSnapshot } from '../support/document.ts';
import { contentOf, expectNext } from '../support/expect-decision.ts';
import { thawedPlaces } from '../support/frozen.ts';

describe('a gateway document', () => {
  it('is equal after createSnapshot and toDocument, with defaults for absent members', () => {
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
        parameters: {},
      },
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
    expect(() => createSnapshot({}, { epoch })).toThrow(
      new RangeError(`The epoch must be 1 to 64 letters, digits, "-" and "_", not ${JSON.stringify(epoch)}`),
    );
  });
});
