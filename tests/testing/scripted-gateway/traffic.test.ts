import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import {
  createSnapshot,
  applyReports,
  type GatewayDocument,
  type HostReport,
  type ServerStatusWord,
  type Snapshot,
} from 'gateway-admin-core';
import { createScriptedGateway, createVirtualClock, type ScriptedGateway } from 'gateway-admin-core/testing';

import { documents } from '../../support/arbitrary-document.ts';
import { sampleDocument, sampleSnapshot } from '../../support/document.ts';
import { planted } from '../../support/planted.ts';
import { withSecrets } from '../../support/secret-field.ts';

function gatewayOf(snapshot: Snapshot = sampleSnapshot()): ScriptedGateway {
  return createScriptedGateway({ snapshot, clock: createVirtualClock(1000) });
}

function reported(snapshot: Snapshot, report: readonly HostReport[]): Snapshot {
  const { next, faults } = applyReports(snapshot, report, { now: 0 });
  expect(faults).toEqual([]);
  return next;
}

const status: readonly (readonly ServerStatusWord[])[] = [[], ['running'], ['master', 'running'], ['synced']];

/** Everything that can happen; each is tried on whatever there is. */
const happenings: Readonly<
  Record<
    string,
    (gateway: ScriptedGateway, pick: <T>(of: readonly T[]) => T | undefined) => readonly HostReport[]
  >
> = {
  openSession: (gateway, pick) => each(pick(keys(gateway.state.services)), gateway.openSession),
  closeSession: (gateway, pick) => each(pick(ids(gateway)), gateway.closeSession),
  openConnection: (gateway, pick) =>
    each(pick(ids(gateway)), (id) =>
      each(pick(keys(gateway.state.servers)), (key) => gateway.openConnection(id, key)),
    ),
  closeConnection: (gateway, pick) =>
    each(pick(ids(gateway)), (id) =>
      each(pick(keys(gateway.state.sessions[String(id)]?.connections ?? {})), (connection) =>
        gateway.closeConnection(id, Number(connection)),
      ),
    ),
  failService: (gateway, pick) => each(pick(keys(gateway.state.services)), gateway.failService),
  failMonitor: (gateway, pick) => each(pick(keys(gateway.state.monitors)), gateway.failMonitor),
  findStatus: (gateway, pick) =>
    each(pick(keys(gateway.state.servers)), (key) => gateway.findStatus(key, pick(status) ?? [])),
  statusReports: (gateway) => gateway.statusReports(),
};

function each<T>(of: T | undefined, happen: (of: T) => readonly HostReport[]): readonly HostReport[] {
  return of === undefined ? [] : happen(of);
}

function keys(of: object): readonly string[] {
  return Object.keys(of);
}

function ids(gateway: ScriptedGateway): readonly number[] {
  return keys(gateway.state.sessions).map(Number);
}

/** A document that knows of no session, of no status, and of nothing that has failed. */
function justBegun({
  services = [],
  monitors = [],
  servers = [],
  ...document
}: GatewayDocument): GatewayDocument {
  const unaware = <T extends { readonly state?: unknown }>(each: T): T =>
    each.state === 'failed' ? { ...each, state: 'started' } : each;
  return {
    ...document,
    sessions: [],
    services: services.map(unaware),
    monitors: monitors.map(unaware),
    servers: servers.map((server) => {
      return { ...server, status: (server.status ?? []).filter((word) => word === 'maintenance') };
    }),
  };
}

describe('traffic on a scripted gateway', () => {
  it('makes the snapshot agree with the gateway when it is reported', () => {
    const list = fc.array(
      fc.tuple(fc.constantFrom(...keys(happenings)), fc.array(fc.nat(), { minLength: 3, maxLength: 3 })),
      {
        maxLength: 20,
      },
    );
    fc.assert(
      fc.property(documents, list, (document, happened) => {
        let current = createSnapshot(document);
        const gateway = gatewayOf(current);
        for (const [name, picks] of happened) {
          const left = [...picks];
          const pick = <T>(of: readonly T[]): T | undefined =>
            of[(left.shift() ?? 0) % Math.max(1, of.length)];
          current = reported(current, happenings[name]?.(gateway, pick) ?? []);
          expect(gateway.differences(current)).toEqual([]);
        }
      }),
      { numRuns: 100 },
    );
  });

  it('can be reported to an interface that has just started', () => {
    fc.assert(
      fc.property(documents, (document) => {
        const gateway = gatewayOf(createSnapshot(document));
        const fresh = createSnapshot(justBegun(document));
        const told = reported(fresh, [...gateway.sessionReports(), ...gateway.statusReports()]);
        expect(gateway.differences(told)).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });

  it('gives a session the lowest free id, and closes the earlier session with that id first', () => {
    const gateway = gatewayOf();
    const facts = {
      service: 'my-service',
      user: 'somebody',
      address: '192.0.2.1',
      state: 'Session ready for routing',
    };
    expect(gateway.openSession('My Service')).toEqual([
      { type: 'session.opened', id: 1, connected: 1000, ...facts },
    ]);
    expect(gateway.closeSession(1)).toEqual([{ type: 'session.closed', id: 1, connected: 1000 }]);
    expect(gateway.openSession('my-service')).toEqual([
      { type: 'session.closed', id: 1, connected: 1000 },
      { type: 'session.opened', id: 1, connected: 1001, ...facts },
    ]);
  });

  it('gives a connection the lowest id that its session has not used for the server before', () => {
    const gateway = gatewayOf();
    const of = { session: 9, connected: Date.parse('2016-09-09T14:12:37+03:00') };
    const facts = {
      type: 'connection.opened',
      ...of,
      server: 'db-serv-1',
      role: 'Slave',
      state: 'In use',
    };
    const closed = { type: 'connection.closed', ...of, id: 1 };
    expect(gateway.openConnection(9, 'db-serv-1')).toEqual([{ ...facts, id: 1 }]);
    expect(gateway.closeConnection(9, 1)).toEqual([closed]);
    expect(gateway.openConnection(9, 'db-serv-1')).toEqual([{ ...facts, id: 2 }]);
    expect(gateway.openConnection(9, 'db-server-2')).toEqual([
      closed,
      { ...facts, id: 1, server: 'db-server-2' },
    ]);
  });

  it('does nothing if it is impossible', () => {
    const gateway = gatewayOf();
    expect([
      gateway.openSession('Bare Service'),
      gateway.openSession('Report Service'),
      gateway.closeSession(77),
      gateway.openConnection(77, 'db-serv-1'),
      gateway.closeConnection(77, 0),
      gateway.closeConnection(9, 77),
      gateway.failService('Bare Service'),
      gateway.failService('Report Service'),
      gateway.failMonitor('Idle Monitor'),
    ]).toEqual(Array.from({ length: 9 }, () => []));
    expect(gateway.differences(sampleSnapshot())).toEqual([]);
  });

  it('does not change maintenance', () => {
    const gateway = gatewayOf();
    expect(gateway.findStatus('DB Server 2', ['running'])).toEqual([
      { type: 'server.reported', server: 'db-server-2', status: ['running'] },
    ]);
    gateway.findStatus('db-serv-1', ['maintenance', 'slave']);
    expect(keys(gateway.state.servers).map((key) => gateway.state.servers[key]?.settings['state'])).toEqual([
      ['slave'],
      ['running', 'maintenance'],
      [],
      [],
    ]);
  });

  it('refuses unknown resources', () => {
    const gateway = gatewayOf();
    for (const happen of [
      () => gateway.openSession('none'),
      () => gateway.openConnection(9, 'none'),
      () => gateway.failService('none'),
      () => gateway.failMonitor('none'),
      () => gateway.findStatus('none', ['running']),
    ]) {
      expect(happen).toThrow(RangeError);
    }
  });
});

describe('the differences between a gateway and a snapshot', () => {
  const changed = structuredClone(sampleDocument) as unknown as Record<string, Record<string, unknown>[]>;
  const [service, server, monitor, filter] = ['services', 'servers', 'monitors', 'filters'].map(
    (name) => changed[name]?.[0] ?? {},
  );
  Object.assign(service ?? {}, { state: 'stopped', max_connection: 7 });
  Object.assign(server ?? {}, { status: ['running'], port: 1 });
  Object.assign(monitor ?? {}, { state: 'failed', servers: [] });
  Object.assign(filter ?? {}, { parameters: {} });
  const sessions = changed['sessions'] ?? [];
  const [, second] = sessions.splice(0, 2);
  sessions.push({ ...second, user: 'mallory', state: 'stopped', connections: [] });
  const failing = structuredClone(sampleDocument) as unknown as typeof changed;
  Object.assign(failing['sessions']?.[1] ?? {}, { state: 'failed' });
  const sentences = gatewayOf(createSnapshot(failing)).differences(createSnapshot(changed));

  it('are a sentence for each place, with both values', () => {
    expect(sentences).toEqual([
      '/services/my-service/state: the gateway has "started", the snapshot "stopped"',
      '/services/my-service/settings/max_connection: the gateway has 100, the snapshot 7',
      '/monitors/main-monitor/state: the gateway has "started", the snapshot "failed"',
      '/monitors/main-monitor/settings/servers: the gateway has ["/servers/db-serv-1","/servers/DB-Server-2"], the snapshot []',
      '/servers/db-serv-1/settings/port: the gateway has 5432, the snapshot 1',
      '/servers/db-serv-1/settings/state: the gateway has ["master","running"], the snapshot ["running"]',
      '/filters/hint/settings/parameters/match: the gateway has {"value":"select","configurable":true}, the snapshot nothing',
      '/filters/hint/settings/parameters/source: the gateway has {"value":"127.0.0.1","configurable":false}, the snapshot nothing',
      expect.stringMatching(
        '^/sessions/0: the gateway has {"service":"bare-service",.*}, the snapshot nothing$',
      ),
      '/sessions/9/user: the gateway has "alice", the snapshot "mallory"',
      '/sessions/9/state: the gateway has "failed", the snapshot "stopped"',
      expect.stringMatching('^/sessions/9/connections/0: the gateway has {.*}, the snapshot nothing$'),
      expect.stringMatching('^/sessions/9/connections/4: the gateway has {.*}, the snapshot nothing$'),
    ]);
  });

  it('contain no secret', () => {
    const without = createSnapshot({ ...sampleDocument, services: [], sessions: [] });
    const [service, ...services] = sampleDocument.services ?? [];
    const others = withSecrets('service', 'v1.other');
    const document = { ...sampleDocument, services: [{ ...service, ...others }, ...services] };
    const told = gatewayOf().differences(createSnapshot(document as GatewayDocument));
    expect(told).toEqual(
      Object.entries(others).map(([name, secret]) => {
        const place = typeof secret === 'string' ? name : `${name}/password`;
        return `/services/my-service/settings/${place}: the gateway and the snapshot have different sealed texts`;
      }),
    );
    const all = [
      ...told,
      ...gatewayOf().differences(without),
      ...gatewayOf(without).differences(sampleSnapshot()),
    ];
    expect(all.filter((sentence) => sentence.startsWith('/services/my-service'))).not.toHaveLength(0);
    expect(all.join()).not.toContain(planted.sealed);
    expect(all.join()).not.toContain('v1.other');
  });

  it('are found in each state of a service or monitor', () => {
    const state = (state: 'failed' | 'stopped' | 'started') =>
      createSnapshot({ monitors: [{ name: 'Watch', module: 'pgmon', state }] });
    const states = ['failed', 'stopped', 'started'] as const;
    for (const actual of states)
      for (const told of states)
        expect(gatewayOf(state(actual)).differences(state(told))).toHaveLength(actual === told ? 0 : 1);
  });

  it('ignore the order of status words', () => {
    const gateway = gatewayOf();
    const reversed = { ...sampleDocument.servers?.[0], status: ['running', 'master'] };
    const servers = [reversed, ...(sampleDocument.servers ?? []).slice(1)] as typeof sampleDocument.servers;
    expect(gateway.differences(createSnapshot({ ...sampleDocument, ...(servers && { servers }) }))).toEqual(
      [],
    );
  });
});
