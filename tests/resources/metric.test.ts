import { afterEach, describe, expect, it, jest } from '@jest/globals';
import {
  createSnapshot,
  linkTo,
  measurementTable,
  metricsOf,
  type GatewayDocument,
  type Monitor,
  type Server,
  type Service,
  type Snapshot,
} from 'gateway-admin-core';
import * as fc from 'fast-check';

import { givenDocuments } from '../support/arbitrary-document.ts';
import { readExposition } from '../support/exposition.ts';
import { runAdmin } from '../support/running-admin.ts';
import { allShown, type Shown } from '../support/shown.ts';

/** Each metric with its help and its type, in their order: the heads are those of any gateway. */
const heads = readExposition(metricsOf(runAdmin({ snapshot: createSnapshot({}) }).admin)).map(
  ({ samples: _samples, ...head }) => head,
);

afterEach(() => {
  jest.restoreAllMocks();
});

/** The figures of a snapshot by name and labels, counted session by session. */
function figuresOf({ revision, services, servers, monitors, sessions }: Snapshot): Map<string, number> {
  const figures = new Map<string, number>();
  const set = (metric: string, labels: object, value: number) =>
    figures.set(`${metric} ${JSON.stringify(labels)}`, value);
  const all = [...sessions];
  const connections = all.flatMap((session) =>
    session.connections.map(({ server }) => ({ session, server })),
  );
  set('gateway_revision', {}, revision);
  for (const [code, level, count] of alertsOf({ services, servers, monitors }))
    set('gateway_alerts', { code, level }, count);
  for (const { key, name, state, settings } of allShown(services)) {
    for (const each of ['started', 'stopped', 'failed'])
      set('gateway_service_state', { name, state: each }, each === state ? 1 : 0);
    set('gateway_service_draining', { name }, settings.drain === undefined ? 0 : 1);
    set('gateway_service_sessions', { name }, all.filter(({ service }) => service === key).length);
    if (settings.max_connection) set('gateway_service_sessions_limit', { name }, settings.max_connection);
    set('gateway_service_sessions_opened_total', { name }, sessions.totalOfService(key));
    const own = connections.filter(({ session }) => session.service === key);
    set('gateway_service_connections', { name }, own.length);
  }
  for (const { key, name, settings } of allShown(servers)) {
    for (const status of ['master', 'slave', 'synced', 'running', 'maintenance'] as const)
      set('gateway_server_status', { name, status }, settings.state.includes(status) ? 1 : 0);
    set('gateway_server_draining', { name }, settings.drain === undefined ? 0 : 1);
    set('gateway_server_connections', { name }, connections.filter(({ server }) => server === key).length);
  }
  for (const { name, state } of allShown(monitors))
    for (const each of ['started', 'stopped', 'failed'])
      set('gateway_monitor_state', { name, state: each }, each === state ? 1 : 0);
  return figures;
}

/** The alerts, counted one by one. */
function alertsOf(snapshot: Pick<Snapshot, 'services' | 'servers' | 'monitors'>) {
  const [servers, served, watching] = [
    allShown(snapshot.servers),
    allShown(snapshot.services),
    allShown(snapshot.monitors),
  ];
  const usable = [...servers].filter(
    ({ settings: { state, drain } }) =>
      state.includes('running') && !state.includes('maintenance') && drain === undefined,
  );
  const links = usable.map(({ name }) => linkTo('servers', name));
  const isUnserved = ({ state, settings }: Shown<Service>) =>
    state === 'started' &&
    settings.servers.length > 0 &&
    !settings.servers.some((link) => links.includes(link));
  const isWatched = (link: string) =>
    watching.some(({ state, settings }) => state === 'started' && settings.servers.includes(link));
  const isBlind = ({ state, settings }: Shown<Monitor>) =>
    state === 'stopped' && !settings.servers.every((link) => isWatched(link));
  const hasFailed = ({ state }: Shown<Service> | Shown<Monitor>) => state === 'failed';
  const down = [...servers].filter(({ settings }) => settings.state.length === 0);
  const isListed = (server: Shown<Server>, by: readonly Shown<Monitor>[] = watching) =>
    by.some(({ settings }) => settings.servers.includes(linkTo('servers', server.name)));
  const unseen = down.filter(({ status_since: since }) => since === undefined);
  const unlisted = [...servers].filter((server) => !isListed(server));
  const isOld = (server: Shown<Server>) =>
    down.includes(server) || (server.status_since ?? server.status_reason) !== undefined;
  const looking = watching.filter(({ state }) => state === 'started');
  return [
    ['server-down', 'error', down.length - unseen.length],
    ['service-failed', 'error', served.filter(hasFailed).length],
    ['service-without-server', 'error', served.filter(isUnserved).length],
    ['monitor-failed', 'error', watching.filter(hasFailed).length],
    // What only a running interface can have. Nothing has happened to it.
    ['drain-overdue', 'error', 0],
    ['outcome-unknown', 'error', 0],
    ['effect-not-supported', 'error', 0],
    ['node-silent', 'error', 0],
    ['store-retrying', 'error', 0],
    ['audit-not-kept', 'error', 0],
    ['monitor-stopped', 'warning', watching.filter(isBlind).length],
    ['server-not-seen', 'warning', unseen.filter((server) => isListed(server, looking)).length],
    ['server-unwatched', 'warning', unlisted.filter(isOld).length],
    ['sessions-not-reported', 'warning', 0],
    ['node-behind', 'warning', 0],
    ['hints-failing', 'warning', 0],
    ['clocks-differ', 'warning', 0],
  ] as const;
}

/** The figures that a text has. */
function figuresIn(text: string): Map<string, number> {
  return new Map(
    readExposition(text).flatMap(({ name, samples }) =>
      samples.map(({ labels, value }) => [`${name} ${JSON.stringify(labels)}`, value] as const),
    ),
  );
}

describe('the metrics of a snapshot', () => {
  // Promise: figures
  it('are its figures and no others, each metric once with its help and type, whatever the names are', () => {
    fc.assert(
      fc.property(givenDocuments, (document) => {
        const { admin } = runAdmin({ snapshot: createSnapshot(document) });
        const text = metricsOf(admin);
        expect(figuresIn(text)).toEqual(figuresOf(admin.snapshot));
        expect(readExposition(text).map(({ samples: _samples, ...head }) => head)).toEqual(heads);
      }),
      { numRuns: 200, examples: [[oddlyNamed]] },
    );
  });

  it('read like this', () => {
    const snapshot = createSnapshot({
      services: [{ name: 'Sales', router: 'readconnroute', max_connection: 100, total_connections: 7 }],
      servers: [
        { name: 'db-1', address: '10.0.0.1', port: 5432, protocol: 'pg', status: ['maintenance', 'running'] },
      ],
    });
    const lines = metricsOf(runAdmin({ snapshot }).admin).split('\n');
    expect(lines.slice(0, 2)).toEqual([
      '# HELP gateway_revision Number of the snapshot; each change raises it by one',
      '# TYPE gateway_revision gauge',
    ]);
    expect(lines.filter((line) => line !== '' && !line.startsWith('#'))).toEqual([
      'gateway_revision 0',
      'gateway_alerts{code="server-down",level="error"} 0',
      'gateway_alerts{code="service-failed",level="error"} 0',
      'gateway_alerts{code="service-without-server",level="error"} 0',
      'gateway_alerts{code="monitor-failed",level="error"} 0',
      'gateway_alerts{code="drain-overdue",level="error"} 0',
      'gateway_alerts{code="outcome-unknown",level="error"} 0',
      'gateway_alerts{code="effect-not-supported",level="error"} 0',
      'gateway_alerts{code="node-silent",level="error"} 0',
      'gateway_alerts{code="store-retrying",level="error"} 0',
      'gateway_alerts{code="audit-not-kept",level="error"} 0',
      'gateway_alerts{code="monitor-stopped",level="warning"} 0',
      'gateway_alerts{code="server-not-seen",level="warning"} 0',
      'gateway_alerts{code="server-unwatched",level="warning"} 0',
      'gateway_alerts{code="sessions-not-reported",level="warning"} 0',
      'gateway_alerts{code="node-behind",level="warning"} 0',
      'gateway_alerts{code="hints-failing",level="warning"} 0',
      'gateway_alerts{code="clocks-differ",level="warning"} 0',
      'gateway_service_state{name="Sales",state="started"} 1',
      'gateway_service_state{name="Sales",state="stopped"} 0',
      'gateway_service_state{name="Sales",state="failed"} 0',
      'gateway_service_draining{name="Sales"} 0',
      'gateway_service_sessions{name="Sales"} 0',
      'gateway_service_sessions_limit{name="Sales"} 100',
      'gateway_service_sessions_opened_total{name="Sales"} 7',
      'gateway_service_connections{name="Sales"} 0',
      'gateway_server_status{name="db-1",status="master"} 0',
      'gateway_server_status{name="db-1",status="slave"} 0',
      'gateway_server_status{name="db-1",status="synced"} 0',
      'gateway_server_status{name="db-1",status="running"} 1',
      'gateway_server_status{name="db-1",status="maintenance"} 1',
      'gateway_server_draining{name="db-1"} 0',
      'gateway_server_connections{name="db-1"} 0',
    ]);
  });

  it('have line feeds, quotes and backslashes in a label escaped', () => {
    const { snapshot } = runAdmin({ snapshot: createSnapshot(oddlyNamed) }).admin;
    const label = 'C:\\new\n"line"\\';
    // No document can have such a name.
    const monitors = Object.create(snapshot.monitors, {
      [Symbol.iterator]: { value: () => [{ name: label, state: 'started', seen: {} }].values() },
    }) as object;
    const text = metricsOf({ snapshot: Object.freeze({ ...snapshot, monitors }), alerts: () => [] } as never);
    expect(text).toContain('gateway_monitor_state{name="C:\\\\new\\n\\"line\\"\\\\",state="started"} 1\n');
    const states = readExposition(text).find(({ name }) => name === 'gateway_monitor_state')?.samples;
    expect(states?.[0]).toEqual({ labels: { name: label, state: 'started' }, value: 1 });
  });

  it('are written without a look at a session', () => {
    const { admin } = runAdmin({ snapshot: createSnapshot(oddlyNamed) });
    const { sessions } = admin.snapshot;
    const table = Object.getPrototypeOf(sessions) as Record<PropertyKey, () => unknown>;
    const looks = Reflect.ownKeys(table).filter(
      (name) =>
        !/^(?:constructor$|count|total)/.test(String(name)) &&
        typeof Object.getOwnPropertyDescriptor(table, name)?.value === 'function',
    );
    const spies = looks.map((name) => jest.spyOn(table, name as 'range'));
    const called = () => looks.filter((_name, at) => (spies[at]?.mock.calls.length ?? 0) > 0);
    metricsOf(admin);
    expect(called()).toEqual([]);
    figuresOf(admin.snapshot);
    sessions.range(0, 1);
    expect(called()).toEqual(expect.arrayContaining(['range', Symbol.iterator]));
  });

  it('are those of a running interface alone', () => {
    for (const other of [{}, undefined, createSnapshot({})])
      expect(() => metricsOf(other as never)).toThrow(
        new TypeError('admin.snapshot must come from createSnapshot'),
      );
  });
});

/** Names that need escaping, of the kind that operators copy from elsewhere. */
const oddlyNamed: GatewayDocument = {
  servers: [{ name: 'C:\\data "old"', address: '10.0.0.1', port: 5432, protocol: 'pg' }],
  services: [
    {
      ...{ name: '\\n', router: 'readconnroute', max_connection: 100 },
      servers: ['/servers/C%3A%5Cdata%20%22old%22'],
    },
  ],
  monitors: [{ name: 'Main', module: 'pgmon' }],
  sessions: [
    {
      ...{ id: 1, state: 'Session ready for routing', user: 'ada', address: '192.0.2.7' },
      ...{ service: '/services/%5Cn', connected: '2026-01-01T00:00:00Z' },
      connections: [0, 1].map((id) => ({
        ...{ id, role: 'Master', state: 'In use', server: '/servers/C%3A%5Cdata%20%22old%22' },
      })),
    },
  ],
};

describe('the metrics', () => {
  it('have names as Prometheus recommends, which no measurement has', () => {
    const metrics = readExposition(metricsOf(runAdmin({ snapshot: createSnapshot(oddlyNamed) }).admin));
    for (const { name, type, help, samples } of metrics) {
      expect(name).toMatch(/^gateway_[a-z_]+$/);
      expect(name.endsWith('_total')).toBe(type === 'counter');
      expect(Object.keys(measurementTable)).not.toContain(name);
      expect(help).toMatch(/^[^\\\n]+[^.\\\n]$/);
      expect(samples).not.toEqual([]);
      // Set-ups of Kubernetes and Prometheus give these labels to every target.
      for (const taken of ['job', 'instance', 'service', 'namespace', 'pod', 'container', 'endpoint'])
        for (const { labels } of samples) expect(Object.keys(labels)).not.toContain(taken);
    }
  });
});

describe('the reader of the text format', () => {
  const head = '# HELP a A toy\n# TYPE a gauge\n';

  it('reads what the format allows', () => {
    expect(readExposition(`${head}a 1\n`)).toEqual([
      { name: 'a', help: 'A toy', type: 'gauge', samples: [{ labels: {}, value: 1 }] },
    ]);
    expect(readExposition(`${head}a{b="\\\\\\"\\n"} +Inf\n`)[0]?.samples).toEqual([
      { labels: { b: '\\"\n' }, value: Infinity },
    ]);
  });

  it.each([
    ...[
      `${head}a 1`,
      'a 1\n',
      `${head}b 1\n`,
      `${head}a 1\na 2\n`,
      `${head}a one\n`,
      `${head}a\n`,
      `${head}\n`,
    ],
    ...['b="1",b="2"', 'b="\\t"', 'b="""', 'b="\\"', '1="b"'].map((labels) => `${head}a{${labels}} 1\n`),
    ...[`${head}a{b="1"} 1\na{b="1"} 2\n`, `${head}a 1\n${head}a{b="1"} 1\n`, '# HELP a A toy\n'],
    ...['# HELP a A toy\n# TYPE b gauge\n', '# HELP a A toy\n# TYPE a figure\n'],
    ...['# TYPE a gauge\n# HELP a A toy\n', '# HELP a A \\toy\n# TYPE a gauge\n'],
  ])('refuses %j', (text) => {
    expect(() => readExposition(text)).toThrow(SyntaxError);
  });
});
