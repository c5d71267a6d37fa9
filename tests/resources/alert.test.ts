import { afterEach, describe, expect, it } from '@jest/globals';
import {
  createMemoryStore,
  createResource,
  createRoles,
  createSnapshot,
  deleteResource,
  drain,
  EffectRefusedError,
  metricsOf,
  patchMonitor,
  patchServer,
  patchService,
  routes,
  sequence,
  startMonitor,
  startService,
  stopMonitor,
  stopService,
  StoreLostError,
  type Admin,
  type GatewayDocument,
  type HostReport,
  type ServerStatusWord,
  type Transition,
} from 'gateway-admin-core';
import { createScriptedGateway, hold, type VirtualClock } from 'gateway-admin-core/testing';

import { createWorld, type NodeOptions, type WorldOptions } from '../fleet/node.ts';
import { altered } from '../support/altered-store.ts';
import { readExposition } from '../support/exposition.ts';
import { FailingSink, sinkFailures } from '../support/failing-sink.ts';
import { FailingStore } from '../support/failing-store.ts';
import { openRunning, runAdmin, sampleClock, type Running } from '../support/running-admin.ts';
import { limit } from '../support/transition.ts';
import { transports } from '../support/transport.ts';

type AlertRepresentation = ReturnType<Admin['alerts']>[number];
type AlertCode = AlertRepresentation['code'];

/** How many alerts a response has room for: docs/limits.md. */
const mostAlerts = 1000;

/** A running gateway, the cause of alerts, and the end of the cause. */
interface World {
  readonly admin: Admin;
  readonly clock: VirtualClock;
  readonly cause: () => unknown;
  readonly cure: () => unknown;
  readonly end?: () => Promise<void>;
}

/** The alerts that a cause makes, in short: each with its code, its resource and its level, and with what it says. */
interface Row {
  readonly begin: () => World | Promise<World>;
  readonly alerts: Readonly<Record<string, RegExp>>;
  /** That nothing says since when. */
  readonly timeless?: true;
}

/** A gateway with a server that runs, a service on it, and a monitor that looks at it. */
const healthy = createSnapshot({
  servers: [{ name: 'db-1', address: '10.0.0.1', port: 5432, protocol: 'pg', status: ['running'] }],
  services: [{ name: 'Sales', router: 'readconnroute', servers: ['/servers/db-1'] }],
  monitors: [{ name: 'Watch', module: 'pgmon', servers: ['/servers/db-1'] }],
});

async function ask({ admin }: Pick<World, 'admin'>, method: string, target: string, json?: unknown) {
  const { send } = await transports.core(admin);
  const headers = { 'content-type': 'application/json-patch+json' };
  const { status, body } = await send(
    method,
    target,
    json === undefined ? {} : { headers, body: JSON.stringify(json) },
  );
  return { status, body };
}

async function alertsAt(world: Pick<World, 'admin'>): Promise<readonly AlertRepresentation[]> {
  return (await ask(world, 'GET', '/alerts')).body as readonly AlertRepresentation[];
}

/** A world from what runs. */
function worldOf(
  { admin, clock }: Pick<World, 'admin' | 'clock'>,
  cause: () => unknown,
  cure: () => unknown,
): World {
  return { admin, clock, cause, cure };
}

/** A host that reports what is wrong, and the end of it. */
function reported(cause: HostReport, cure: HostReport): World {
  const running = runAdmin({ snapshot: healthy });
  const report = (what: HostReport) => () => void running.admin.report(what);
  return worldOf(running, report(cause), report(cure));
}

type Asked = readonly [method: string, target: string, json?: unknown];

/** Two commands of an administrator. */
function commanded(cause: Asked, cure: Asked): World {
  const running = runAdmin({ snapshot: healthy });
  const command = (request: Asked) => async () =>
    expect((await ask(running, ...request)).status).toBeLessThan(300);
  return worldOf(running, command(cause), command(cure));
}

/** A fleet of two. The first node is asked. */
async function fleet(second: NodeOptions = {}, how: WorldOptions = {}) {
  const world = createWorld(how);
  const [one, two] = [await world.open('one', 3000), await world.open('two', 3000, second)];
  // The sample document has a drain, which may not be shown as over before that.
  for (const { admin } of [one, two]) admin.report({ type: 'sessions.complete' });
  await world.clock.advance(2000);
  const end = async (): Promise<void> => {
    for (const { admin } of [two, one]) await admin.close();
  };
  return { one, two, end, admin: one.admin, clock: world.clock };
}

/** A gateway that can create and delete, with a monitor that looks at a new server. */
function creating(): Running {
  return runAdmin({ snapshot: healthy, gateway: createScriptedGateway({ snapshot: healthy }) });
}

const create: Transition = (from, context) => createResource(from, 'servers', newServer, context);
const watch = (name: string): Transition => {
  const value = `/servers/${name}`;
  return (from, context) => patchMonitor(from, 'Watch', [{ op: 'add', path: '/servers/-', value }], context);
};
const ignore: Transition = (from, context) =>
  patchMonitor(from, 'Watch', [{ op: 'remove', path: '/servers/0' }], context);

const newServer = { name: 'db-9', address: '10.0.0.9', port: 5432, protocol: 'pg' } as const;
const status = [] as const;
const failed = { state: 'failed', reason: 'port in use.' } as const;

/** The world of each code: a new code without a row does not compile. */
const rows: Readonly<Record<AlertCode, Row>> = {
  'server-down': {
    begin: () =>
      reported(
        { type: 'server.reported', server: 'db-1', status, reason: 'connection refused' },
        { type: 'server.reported', server: 'db-1', status: ['running'] },
      ),
    alerts: {
      'server-down /servers/db-1 error': /^db-1 is down: connection refused\.$/,
      'service-without-server /services/Sales error':
        /^No server of Sales takes new sessions: db-1 is down\.$/,
    },
  },
  'service-failed': {
    begin: () =>
      reported(
        { type: 'service.reported', service: 'Sales', ...failed },
        { type: 'service.reported', service: 'Sales', state: 'started' },
      ),
    alerts: { 'service-failed /services/Sales error': /^Sales has failed: port in use\.$/ },
  },
  'service-without-server': {
    begin: () =>
      commanded(
        ['PATCH', '/servers/db-1', [{ op: 'add', path: '/state/0', value: 'maintenance' }]],
        ['PATCH', '/servers/db-1', [{ op: 'remove', path: '/state/0' }]],
      ),
    alerts: { 'service-without-server /services/Sales error': /: db-1 is in maintenance\.$/ },
    timeless: true,
  },
  'monitor-failed': {
    begin: () =>
      reported(
        // A reason that says nothing.
        { type: 'monitor.reported', monitor: 'Watch', state: 'failed', reason: '.' },
        { type: 'monitor.reported', monitor: 'Watch', state: 'started' },
      ),
    alerts: { 'monitor-failed /monitors/Watch error': /^Watch has failed\.$/ },
  },
  'monitor-stopped': {
    begin: () => commanded(['PUT', '/monitor/watch/stop'], ['PUT', '/monitor/watch/start']),
    alerts: {
      'monitor-stopped /monitors/Watch warning': /^Watch is stopped, and no other monitor looks at db-1\.$/,
    },
    timeless: true,
  },
  'server-not-seen': {
    begin() {
      const running = creating();
      return worldOf(
        running,
        () => running.admin.execute(sequence(create, watch('db-9'))),
        () => void running.admin.report({ type: 'server.reported', server: 'db-9', status: ['running'] }),
      );
    },
    alerts: { 'server-not-seen /servers/db-9 warning': /^db-9 was not seen running yet\.$/ },
  },
  'server-unwatched': {
    begin() {
      const running = creating();
      running.admin.report({ type: 'server.reported', server: 'db-1', status: ['master', 'running'] });
      const { execute } = running.admin;
      return worldOf(
        running,
        () => execute(ignore),
        () => execute(watch('db-1')),
      );
    },
    alerts: {
      'server-unwatched /servers/db-1 warning': /^No monitor looks at db-1, so its status stays as it was\.$/,
    },
    timeless: true,
  },
  'drain-overdue': {
    begin() {
      const running = creating();
      const { admin, clock, gateway } = running;
      const close: Transition = (from, context) =>
        drain(from, 'services', 'Sales', { timeout: 1, then: 'close' }, context);
      return worldOf(
        running,
        async () => {
          admin.report(gateway.openSession('Sales'));
          await admin.execute(close);
          gateway.otherwise({ apply: new EffectRefusedError('Not now.') });
          await clock.advance(11_000);
        },
        () => gateway.otherwise({ apply: 'done' }),
      );
    },
    alerts: {
      'drain-overdue /services/Sales error':
        /^Sales was to be drained\. Still open: 1\. The gateway refused: Not now\. Nothing was changed\. It is tried again\.$/,
    },
  },
  'sessions-not-reported': {
    async begin() {
      const running = await openRunning(createMemoryStore(), { snapshot: healthy });
      return worldOf(
        running,
        () => running.clock.advance(60_000),
        () => void running.admin.report({ type: 'sessions.complete' }),
      );
    },
    alerts: {
      'sessions-not-reported /sessions warning': /^The gateway has not reported sessions\.complete\./,
    },
  },
  'outcome-unknown': {
    begin() {
      const held = hold();
      const running = runAdmin();
      running.gateway.will(held.apply).otherwise({ inspect: 'not-in-place' });
      return worldOf(
        running,
        async () => {
          const asking = ask(running, 'PUT', '/service/my-service/stop');
          await running.clock.advance(running.admin.limits.effectDeadlineMs);
          expect((await asking).status).toBe(504);
        },
        () => void held.done(),
      );
    },
    alerts: {
      'outcome-unknown /services/My-Service error': /^The outcome of service\.stopped is unknown\..*command /,
    },
  },
  'node-behind': {
    async begin() {
      const { one, two, ...world } = await fleet();
      return {
        ...world,
        async cause() {
          two.gateway.otherwise({ apply: new EffectRefusedError('No room.') });
          await one.admin.execute(limit(7));
        },
        cure: () => two.gateway.otherwise({ apply: 'done' }),
      };
    },
    alerts: {
      'node-behind /services/My-Service warning': /^The gateway of the node two has not .*No room\./,
    },
  },
  'effect-not-supported': {
    async begin() {
      const { one, two: _two, ...world } = await fleet({ supports: [] });
      return {
        ...world,
        cause: () =>
          one.admin.execute((...given) => createResource(given[0], 'servers', newServer, given[1])),
        cure: () => one.admin.execute((...given) => deleteResource(given[0], 'servers', 'db-9', given[1])),
      };
    },
    alerts: {
      'effect-not-supported /servers/db-9 error': /the node two .*cannot create \/servers\/db-9/,
      'server-unwatched /servers/db-9 warning': /^No monitor looks at db-9, so its status is not known\.$/,
    },
  },
  'node-silent': {
    async begin() {
      const { one: _one, two, ...world } = await fleet();
      return {
        ...world,
        cause: () => void two.cut(true),
        cure: () => void two.cut(false),
      };
    },
    alerts: { 'node-silent /fleet/two error': /^The node two is silent\./ },
  },
  'hints-failing': {
    async begin() {
      let isFailing = false;
      const world = await fleet(undefined, {
        wrap: (store) =>
          altered(store, {
            changed: async (...how) =>
              isFailing ? Promise.reject(new Error('The queue is full.')) : store.changed(...how),
          }),
      });
      return {
        ...world,
        cause: () => (isFailing = true),
        cure: () => (isFailing = false),
      };
    },
    alerts: {
      'hints-failing / warning':
        /^The shared store gives no hints: The queue is full\. Changes go on, and nodes see those of others up to a second later\.$/,
    },
  },
  'clocks-differ': {
    async begin() {
      let jumpMs = 0;
      const clock = sampleClock();
      const wrong = { ...clock, now: () => clock.now() + jumpMs };
      const world = await fleet({ clock: wrong }, { clock });
      return { ...world, cause: () => (jumpMs = 3_600_000), cure: () => (jumpMs = 0) };
    },
    alerts: {
      'clocks-differ /fleet/two warning':
        /^The clock of the node two is about 3600 s ahead of that of the node one\./,
    },
    timeless: true,
  },
  'store-retrying': {
    async begin() {
      const store = new FailingStore();
      const running = await openRunning(store, { snapshot: healthy });
      running.admin.report({ type: 'sessions.complete' });
      return worldOf(
        running,
        async () => {
          store.fail();
          expect((await ask(running, 'PUT', '/service/sales/stop')).status).toBe(503);
        },
        () => void store.work(),
      );
    },
    alerts: {
      'store-retrying / error':
        /^The configuration store does not answer: The disk is full\. Changes are refused\. It is tried again\.$/,
    },
  },
  'audit-not-kept': {
    begin() {
      const sink = new FailingSink();
      const running = runAdmin({ snapshot: healthy, observe: { audit: { sink } } });
      return worldOf(
        running,
        () => {
          sink.fail(sinkFailures['rejects, and nothing is kept']);
          return ask(running, 'POST', '/gateway/logs/flush');
        },
        () => void sink.work(),
      );
    },
    alerts: {
      'audit-not-kept / error':
        /^The audit sink does not keep records: The disk is full\. It is tried again\.$/,
    },
  },
};

/** The codes of the alerts. */
const codes = Object.keys(rows).toSorted();

let end: (() => Promise<void>) | undefined;

afterEach(async () => {
  await end?.();
  end = undefined;
});

const short = ({ code, resource, level }: AlertRepresentation): string => `${code} ${resource} ${level}`;

/** How many alerts there are of each code, without the codes that have none. */
function countOf(
  alerts: readonly Pick<AlertRepresentation, 'code' | 'level'>[],
): Readonly<Record<string, number>> {
  const words = alerts.map(({ code, level }) => `${code} ${level}`);
  return Object.fromEntries(words.map((word) => [word, words.filter((each) => each === word).length]));
}

/** The same, as Prometheus reads it. */
function countedIn({ admin }: Pick<World, 'admin'>): Readonly<Record<string, number>> {
  const metrics = readExposition(metricsOf(admin));
  const samples = metrics.find(({ name }) => name === 'gateway_alerts')?.samples ?? [];
  expect(samples.map(({ labels }) => labels['code']).toSorted()).toEqual(codes);
  const counted = samples.filter(({ value }) => value > 0);
  return Object.fromEntries(
    counted.map(({ labels: { code = '', level = '' }, value }) => [`${code} ${level}`, value]),
  );
}

describe('an alert', () => {
  // Promise: alerts
  it.each(Object.entries(rows))('is there while its cause is, and no longer: %s', async (code, row) => {
    const world = await row.begin();
    end = world.end ?? (() => world.admin.close());
    const before = await alertsAt(world);
    await world.cause();
    await world.clock.advance(5000);
    const known = new Set(before.map(short));
    const found = (await alertsAt(world)).filter((alert) => !known.has(short(alert)));
    expect(found.map(short)).toEqual(Object.keys(row.alerts));
    expect(found.map(short).join()).toContain(code);
    expect(countedIn(world)).toEqual(countOf([...before, ...found]));
    expect(world.admin.alerts()).toEqual(await alertsAt(world));
    for (const alert of found) {
      expect(alert.detail).toMatch(row.alerts[short(alert)] ?? '');
      if (alert.code !== code) continue;
      // The clock began at three.
      const since =
        row.timeless === true ? undefined : expect.stringMatching(/^2016-09-10T03:00:[012]\d\+03:00$/);
      expect(alert.since).toEqual(since);
    }
    await world.cure();
    const isOver = async () => (await alertsAt(world)).length === before.length;
    for (let passed = 0; passed < 120_000 && !(await isOver()); passed += 5000)
      await world.clock.advance(5000);
    expect(await alertsAt(world)).toEqual(before);
  });
});

/** The alerts of a gateway with this document, in short. */
async function alertsIn(document: GatewayDocument): Promise<readonly string[]> {
  return (await alertsAt(runAdmin({ snapshot: createSnapshot(document) }))).map(short);
}

/** What can be done about each kind of alert, in the worlds above: the endpoint and the text. */
const actsOfRows: Readonly<Partial<Record<AlertCode, readonly string[]>>> = {
  'server-down': ['servers.drain Drain db-1'],
  'service-failed': ['services.start Start Sales again'],
  'monitor-failed': ['monitors.start Start Watch again'],
  'monitor-stopped': ['monitors.start Start Watch'],
  'drain-overdue': ['services.closeSessions Close the sessions of Sales', 'services.resume Resume Sales'],
  'node-silent': ['fleet.forget Forget two'],
};

describe('the acts of an alert', () => {
  const inWords = ({ acts = [] }: AlertRepresentation) => acts.map(({ id, text }) => `${id} ${text}`);

  it.each(codes as AlertCode[])('are there, where somebody can do something: %s', async (code) => {
    const world = await rows[code].begin();
    end = world.end ?? (() => world.admin.close());
    await world.cause();
    await world.clock.advance(5000);
    const alert = (await alertsAt(world)).find((each) => each.code === code);
    expect(alert && inWords(alert)).toEqual(actsOfRows[code] ?? []);
  });

  const server = { address: '10.0.0.1', port: 5432, protocol: 'pg' } as const;
  const snapshot = createSnapshot({
    servers: [
      { ...server, name: 'db-1', status: ['running'] },
      { ...server, name: 'db-2', status: ['running'] },
    ],
    services: [{ name: 'Sales', router: 'rr', servers: ['/servers/db-1'] }],
  });

  it.each([
    ['administrator', ['servers.drain Drain db-1', 'services.patch Give Sales another server']],
    ['operator', ['servers.drain Drain db-1']],
    ['reader', []],
  ] as const)('are those that the role may do: %s', async (role, expected) => {
    const authorize = createRoles({
      administrators: ['administrator'],
      operators: ['operator'],
      readers: ['reader'],
    });
    const running = runAdmin({ snapshot, access: { authenticate: () => ({ name: role }), authorize } });
    const { admin } = running;
    admin.report({ type: 'server.reported', server: 'db-1', status: [] });
    const alerts = await alertsAt(running);
    expect([...new Set(alerts.flatMap(inWords))].toSorted()).toEqual(expected);
    for (const { id } of alerts.flatMap(({ acts = [] }) => acts)) {
      const needed = routes.find((route) => route.id === id)?.role;
      expect(role === 'administrator' || needed === role).toBe(true);
    }
    // A choice is a name of the collection that the act names.
    const given = alerts.flatMap(({ acts = [] }) => acts).find(({ inputs }) => inputs !== undefined);
    if (role === 'administrator')
      expect(given).toEqual({
        ...{ id: 'services.patch', resource: '/services/Sales', text: 'Give Sales another server' },
        inputs: [{ name: 'server', choices: 'servers' }],
      });
  });
});

describe('the alerts', () => {
  const server = (name: string, ...words: readonly ServerStatusWord[]) => ({
    ...{ name, address: '10.0.0.1', port: 5432, protocol: 'pg', status: words },
  });
  const service = { name: 'Sales', router: 'readconnroute' } as const;

  it('have the errors first', async () => {
    const monitor = { module: 'pgmon', servers: ['/servers/db-1'] };
    const document = {
      servers: [server('db-1')],
      services: [{ ...service, servers: ['/servers/db-1'] }],
      monitors: [
        { ...monitor, name: 'Watch', state: 'stopped' },
        { ...monitor, name: 'Probe', servers: [], state: 'failed' },
      ],
    } as const;
    expect(await alertsIn(document)).toEqual([
      'service-without-server /services/Sales error',
      'monitor-failed /monitors/Probe error',
      'monitor-stopped /monitors/Watch warning',
    ]);
    // The alerts come in the order of the table.
    const metrics = readExposition(metricsOf(runAdmin({ snapshot: createSnapshot({}) }).admin));
    const samples = metrics.find(({ name }) => name === 'gateway_alerts')?.samples ?? [];
    const levels = samples.map(({ labels }) => labels['level']);
    expect([levels.length, levels]).toEqual([codes.length, levels.toSorted()]);
  });

  it('name three servers of a service, and count the others', async () => {
    const words = [[], ['maintenance'], ['slave'], [], []] as const;
    const servers = words.map((status, at) => server(`db-${String(at)}`, ...status));
    const document = {
      servers,
      services: [{ ...service, servers: servers.map(({ name }) => `/servers/${name}`) }],
    };
    const alerts = await alertsAt(runAdmin({ snapshot: createSnapshot(document) }));
    expect(alerts[0]?.detail).toBe(
      'No server of Sales takes new sessions: the status of db-0 is not known, db-1 is in maintenance, db-2 is not running and 2 more.',
    );
  });

  it.each([
    // The clock begins at three.
    ['both drain', { 'db-1': 'drain', 'db-2': 'drain' }, '03:00:04'],
    ['one drains after the other is down', { 'db-1': 'down', 'db-2': 'drain' }, '03:00:04'],
    ['one is down after the other drains', { 'db-1': 'drain', 'db-2': 'down' }, '03:00:04'],
    ['one that drains is down later', { 'db-1': 'drain', 'db-2': 'drain, down' }, '03:00:04'],
    ['one that is down drains later', { 'db-1': 'drain', 'db-2': 'down, drain' }, '03:00:04'],
    ['one is in maintenance', { 'db-1': 'drain', 'db-2': 'maintenance' }, undefined],
    ['one that drains is in maintenance', { 'db-1': 'drain', 'db-2': 'drain, maintenance' }, undefined],
    ['one does not run', { 'db-1': 'drain', 'db-2': 'slave' }, undefined],
  ])('say since when a service has no server, if the snapshot knows: %s', async (_what, happened, since) => {
    const servers = [server('db-1', 'running'), server('db-2', 'running')];
    const services = [{ ...service, servers: ['/servers/db-1', '/servers/db-2'] }];
    const world = runAdmin({ snapshot: createSnapshot({ servers, services }) });
    const { admin, clock } = world;
    const add = [{ op: 'add', path: '/state/0', value: 'maintenance' }] as const;
    for (const [name, all] of Object.entries(happened))
      for (const what of all.split(', ')) {
        await clock.advance(2000);
        if (what === 'drain') await admin.execute((...from) => drain(from[0], 'servers', name, {}, from[1]));
        else if (what === 'maintenance') await admin.execute((from, at) => patchServer(from, name, add, at));
        else
          admin.report({ type: 'server.reported', server: name, status: what === 'down' ? [] : ['slave'] });
      }
    await clock.advance(2000);
    const found = (await alertsAt(world)).filter(({ code }) => code === 'service-without-server');
    expect(found.map((alert) => alert.since)).toEqual([since && `2016-09-10T${since}+03:00`]);
  });

  describe('of a server that was not seen yet', () => {
    const codesOf = async (world: Pick<World, 'admin'>): Promise<readonly string[]> =>
      (await alertsAt(world)).map(short);

    it.each([
      ['after a minute', 2000, 60_000],
      ['after three intervals of its monitor', 40_000, 120_000],
    ])('become an error %s', async (_when, interval, graceMs) => {
      const monitors = [1_000_000, interval].map((monitor_interval) => ({
        ...{ name: `Monitor ${String(monitor_interval)}`, module: 'pgmon' },
        ...{ monitor_interval, servers: ['/servers/db-1'] },
      }));
      const world = runAdmin({ snapshot: createSnapshot({ servers: [server('db-1')], monitors }) });
      expect(await codesOf(world)).toEqual(['server-not-seen /servers/db-1 warning']);
      world.admin.report({
        type: 'server.reported',
        server: 'db-1',
        status: [],
        reason: 'connection refused',
      });
      await world.clock.advance(graceMs - 1);
      expect(await alertsAt(world)).toMatchObject([
        { code: 'server-not-seen', detail: 'db-1 was not seen running yet: connection refused.' },
      ]);
      await world.clock.advance(1);
      expect(await alertsAt(world)).toMatchObject([
        {
          code: 'server-down',
          detail: 'db-1 is down: connection refused.',
          since: '2016-09-10T03:00:00+03:00',
        },
      ]);
    });

    it('are an error at once if it was seen, and is down', async () => {
      const world = runAdmin({ snapshot: healthy });
      world.admin.report({ type: 'server.reported', server: 'db-1', status: [] });
      expect(await codesOf(world)).toContain('server-down /servers/db-1 error');
    });

    it('begin when a monitor begins to look at it', async () => {
      const world = creating();
      await world.admin.execute(create);
      await world.clock.advance(600_000);
      expect(await codesOf(world)).toEqual(['server-unwatched /servers/db-9 warning']);
      await world.admin.execute(sequence(watch('db-9'), (from, at) => stopMonitor(from, 'Watch', at)));
      await world.clock.advance(600_000);
      expect(await codesOf(world)).toEqual(['monitor-stopped /monitors/Watch warning']);
      await world.admin.execute((from, at) => startMonitor(from, 'Watch', at));
      expect(await alertsAt(world)).toMatchObject([
        { code: 'server-not-seen', since: '2016-09-10T03:20:00+03:00' },
      ]);
      world.admin.report({ type: 'monitor.reported', monitor: 'Watch', state: 'failed' });
      await world.clock.advance(60_000);
      // A failed monitor looks at nothing.
      expect(await codesOf(world)).toEqual(['monitor-failed /monitors/Watch error']);
      world.admin.report({ type: 'monitor.reported', monitor: 'Watch', state: 'started' });
      expect(await alertsAt(world)).toMatchObject([
        { code: 'server-not-seen', since: '2016-09-10T03:21:00+03:00' },
      ]);
      await world.clock.advance(60_000);
      expect(await codesOf(world)).toEqual(['server-down /servers/db-9 error']);
    });

    it('count the interval of a failed monitor for nothing', async () => {
      const monitors = [300_000, 1000].map((monitor_interval) => ({
        ...{ name: `Monitor ${String(monitor_interval)}`, module: 'pgmon' },
        ...{ monitor_interval, servers: ['/servers/db-1'] },
      }));
      const world = runAdmin({ snapshot: createSnapshot({ servers: [server('db-1')], monitors }) });
      world.admin.report({ type: 'monitor.reported', monitor: 'Monitor 1000', state: 'failed' });
      await world.clock.advance(899_999);
      expect(await codesOf(world)).toContain('server-not-seen /servers/db-1 warning');
      await world.clock.advance(1);
      expect(await codesOf(world)).toContain('server-down /servers/db-1 error');
    });
  });

  it('go on when a stopped monitor is deleted', async () => {
    const { admin } = creating();
    admin.report({ type: 'server.reported', server: 'db-1', status: ['master', 'running'] });
    await admin.execute((from, at) => stopMonitor(from, 'Watch', at));
    expect((await alertsAt({ admin })).map(short)).toEqual(['monitor-stopped /monitors/Watch warning']);
    await admin.execute((from, at) => deleteResource(from, 'monitors', 'Watch', at));
    expect((await alertsAt({ admin })).map(short)).toEqual(['server-unwatched /servers/db-1 warning']);
  });

  describe('of a service without servers', () => {
    const detach: Transition = (from, context) =>
      deleteResource(from, 'servers', 'db-1', context, { detach: true });
    const lost = ['service-without-server /services/Sales error'];

    it('say that it has lost the last one, until it is stopped or has one again', async () => {
      const [store, gateway] = [createMemoryStore(), createScriptedGateway({ snapshot: healthy })];
      const first = await openRunning(store, { snapshot: healthy, gateway });
      const execution = await first.admin.execute(detach);
      expect(await alertsAt(first)).toMatchObject([
        {
          code: 'service-without-server',
          detail: 'Sales has lost the last server of its list, so no server takes its new sessions.',
          since: '2016-09-10T03:00:00+03:00',
        },
      ]);
      await first.admin.close();
      const world = await openRunning(store, { snapshot: healthy, gateway });
      expect((await alertsAt(world)).map(short)).toEqual(lost);
      await world.admin.execute((from, context) => stopService(from, 'Sales', context));
      expect(await alertsAt(world)).toEqual([]);
      await world.admin.execute((from, context) => startService(from, 'Sales', context));
      expect((await alertsAt(world)).map(short)).toEqual(lost);
      const { command = '' } = 'events' in execution ? (execution.events[0] ?? {}) : {};
      expect(await ask(world, 'PUT', `/history/${command}/undo`)).toMatchObject({ status: 204 });
      world.admin.report({ type: 'server.reported', server: 'db-1', status: ['running'] });
      expect(await alertsAt(world)).toEqual([]);
      await world.admin.close();
    });

    it('say nothing of one that never had any, such as a new one of that name', async () => {
      const { admin } = creating();
      const again: Transition = (from, at) =>
        createResource(from, 'services', { name: 'SALES', router: 'cli' }, at);
      await admin.execute(
        sequence(
          detach,
          (from, at) => stopService(from, 'Sales', at),
          (from, at) => deleteResource(from, 'services', 'Sales', at),
        ),
      );
      await admin.execute(again);
      expect(await alertsAt({ admin })).toEqual([]);
      await admin.execute((from, at) =>
        patchService(from, 'Sales', [{ op: 'add', path: '/max_connection', value: 7 }], at),
      );
      expect(await alertsAt({ admin })).toEqual([]);
    });
  });

  it('are all given to the program and counted, also those that no response has room for', async () => {
    const servers = Array.from({ length: mostAlerts + 1 }, (_, at) => server(`db-${String(at)}`));
    const world = runAdmin({ snapshot: createSnapshot({ servers }) });
    const shown = await alertsAt(world);
    expect(shown).toHaveLength(mostAlerts);
    expect(world.admin.alerts().slice(0, mostAlerts)).toEqual(shown);
    expect(countedIn(world)).toEqual({ 'server-unwatched warning': mostAlerts + 1 });
  });

  it('do not blame other nodes of a fleet while the store does not answer', async () => {
    const { one, ...world } = await fleet();
    end = world.end;
    one.cut(true);
    await world.clock.advance(10_000);
    const codes = (await alertsAt(world)).map(({ code }) => code);
    expect(codes).toContain('store-retrying');
    expect(codes).not.toContain('node-silent');
    one.cut(false);
    await world.clock.advance(10_000);
  });

  it('blame the node that cannot announce itself, and not the nodes that it cannot hear', async () => {
    const line = { isCut: false };
    const world = createWorld();
    const deaf = await world.open('one', 3000, {
      wrap: (store) =>
        altered(store, {
          announce: async (...how) =>
            line.isCut ? Promise.reject(new Error('too many connections (53300).')) : store.announce(...how),
        }),
    });
    const other = await world.open('two', 3000);
    await world.clock.advance(2000);
    const shown = async () => (await alertsAt(deaf)).filter(({ resource }) => resource.startsWith('/fleet'));
    line.isCut = true;
    for (let second = 0; second < 20; second += 1) {
      await world.clock.advance(1000);
      expect((await shown()).filter(({ resource }) => resource !== '/fleet/one')).toEqual([]);
    }
    expect(await shown()).toEqual([
      {
        code: 'node-silent',
        resource: '/fleet/one',
        since: expect.any(String),
        detail:
          'The node "one" can read the shared store, but cannot announce itself there: too many connections (53300). The other ' +
          'nodes end its commands after 3000 ms of silence. Let the store take announcements.',
        level: 'error',
      },
    ]);
    expect((await alertsAt(other)).map(short)).toContain('node-silent /fleet/one error');
    line.isCut = false;
    await world.clock.advance(5000);
    expect(await shown()).toEqual([]);
    for (const { admin } of [deaf, other]) await admin.close();
  });

  it('say the reason of the last failure of a store, and of one that is late', async () => {
    const store = new FailingStore();
    const running = await openRunning(store, { snapshot: healthy });
    running.admin.report({ type: 'sessions.complete' });
    const detail = async () => (await alertsAt(running)).map((alert) => alert.detail);
    store.failWith(new Error('password authentication failed (28P01)'));
    await ask(running, 'PUT', '/service/sales/stop');
    expect(await detail()).toEqual([expect.stringContaining('failed (28P01). Changes are refused.')]);
    store.failWith(new Error('No space left on device (53100)'));
    await running.clock.advance(10_000);
    expect(await detail()).toEqual([expect.stringContaining('No space left on device (53100)')]);
    store.fail('never answers, and nothing is kept');
    await running.clock.advance(running.admin.limits.storeDeadlineMs + 10_000);
    expect(await detail()).toEqual([expect.stringContaining('did not answer within 30000 ms')]);
    store.work();
    await running.clock.advance(running.admin.limits.storeDeadlineMs + 10_000);
    expect(await detail()).toEqual([]);
  });

  it('say that only a restart helps if the store is lost', async () => {
    const store = new FailingStore();
    const running = await openRunning(store, { snapshot: healthy });
    store.failWith(new StoreLostError('The directory was removed.'));
    await ask(running, 'PUT', '/service/sales/stop');
    expect(await alertsAt(running)).toMatchObject([
      {
        code: 'store-retrying',
        detail: expect.stringMatching(
          /: The directory was removed\. .* Only a restart of the gateway helps\.$/,
        ),
      },
    ]);
  });
});
