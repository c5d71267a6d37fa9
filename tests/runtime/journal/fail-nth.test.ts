import { describe, expect, it } from '@jest/globals';
import {
  changePassword,
  closeServerConnections,
  closeServiceSessions,
  closeSession,
  createListener,
  createMemoryStore,
  createResource,
  createSnapshot,
  createUser,
  deleteListener,
  deleteResource,
  deleteUser,
  evolve,
  flushLogs,
  openAdmin,
  patchFilter,
  patchMonitor,
  patchServer,
  patchService,
  sequence,
  startMonitor,
  startService,
  stopMonitor,
  stopService,
  type Admin,
  type ConfigurationStore,
  type Execution,
  type GatewayDocument,
  type Transition,
} from 'gateway-admin-core';
import {
  createScriptedGateway,
  createVirtualClock,
  everyFault,
  type ScriptedGateway,
  type VirtualClock,
} from 'gateway-admin-core/testing';

import { rehashUser } from '../../../src/resources/user.ts';
import { eventsMissing } from '../../support/command-event.ts';
import { configuration } from '../../support/configuration.ts';
import { FailingStore, storeFailures } from '../../support/failing-store.ts';

const document: GatewayDocument = {
  servers: ['db', 'spare'].map((name) => ({ name, address: '10.0.0.1', port: 5432, protocol: 'pg' })),
  services: [
    {
      name: 'Sales',
      router: 'readconnroute',
      servers: ['/servers/db'],
      listeners: [{ name: 'first', protocol: 'pg', address: '::1', port: 4010 }],
    },
    { name: 'Reports', router: 'readconnroute', state: 'stopped' },
  ],
  monitors: [
    { name: 'Watch', module: 'pgmon', monitor_interval: 1000 },
    { name: 'Probe', module: 'pgmon', state: 'stopped', monitor_interval: 1000 },
  ],
  filters: [
    { name: 'Hint', module: 'hintfilter', parameters: { match: { value: 'a', configurable: true } } },
  ],
  users: [{ name: 'root', passwordHash: 'opaque' }],
  sessions: [1, 2, 3].map((id) => ({
    id,
    state: 'ready',
    user: 'ada',
    address: '10.0.0.9',
    service: '/services/Sales',
    connected: '2020-01-01T00:00:00Z',
    connections: [{ id: 1, server: '/servers/db', role: 'Master', state: 'In use' }],
  })),
};
const snapshot = createSnapshot(document, { epoch: 'nth' });

const replace = (path: string, value: unknown) => [{ op: 'replace', path, value }] as never;
const stopSales: Transition = (state, context) => stopService(state, 'Sales', context);
const closeSales: Transition = (state, context) => closeServiceSessions(state, 'Sales', context);
const commands: Readonly<Record<string, Transition>> = {
  'service.start': (state, context) => startService(state, 'Reports', context),
  'service.stop': stopSales,
  'service.patch': (state, context) => patchService(state, 'Sales', replace('/max_connection', 7), context),
  'monitor.start': (state, context) => startMonitor(state, 'Probe', context),
  'monitor.stop': (state, context) => stopMonitor(state, 'Watch', context),
  'monitor.patch': (state, context) => patchMonitor(state, 'Watch', replace('/monitor_interval', 7), context),
  'server.patch': (state, context) => patchServer(state, 'db', replace('/port', 7), context),
  'filter.patch': (state, context) =>
    patchFilter(state, 'Hint', replace('/parameters/match/value', 'b'), context),
  'session.close': (state, context) => closeSession(state, 2, context),
  'service.closeSessions': closeSales,
  'server.closeConnections': (state, context) => closeServerConnections(state, 'db', context),
  'logs.flush': (state, context) => flushLogs(state, context),
  'server.create': (state, context) =>
    createResource(state, 'servers', { name: 'new', address: '10.0.0.2', port: 1, protocol: 'pg' }, context),
  'service.create': (state, context) =>
    createResource(state, 'services', { name: 'New', router: 'cli', servers: ['/servers/db'] }, context),
  'monitor.create': (state, context) =>
    createResource(state, 'monitors', { name: 'New', module: 'pgmon', state: 'stopped' }, context),
  'filter.create': (state, context) =>
    createResource(state, 'filters', { name: 'New', module: 'tee' }, context),
  'server.delete': (state, context) => deleteResource(state, 'servers', 'spare', context),
  'service.delete': (state, context) => deleteResource(state, 'services', 'Reports', context),
  'monitor.delete': (state, context) => deleteResource(state, 'monitors', 'Probe', context),
  'filter.delete': (state, context) => deleteResource(state, 'filters', 'Hint', context),
  'listener.create': (state, context) =>
    createListener(state, 'Sales', { name: 'new', protocol: 'pg', address: '::1', port: 4011 }, context),
  'listener.delete': (state, context) => deleteListener(state, 'Sales', 'first', context),
  'user.create': (state, context) => createUser(state, { name: 'ada', passwordHash: 'opaque' }, context),
  'user.patch': (state, context) => changePassword(state, 'root', 'another', context),
  'user.rehash': (state, context) => rehashUser(state, 'root', { from: 'opaque', to: 'another' }, context),
  'user.delete': (state, context) => deleteUser(state, 'root', context),
  'a transaction': sequence(
    stopSales,
    (state, context) => patchServer(state, 'db', replace('/port', 7), context),
    (state, context) => createUser(state, { name: 'ada', passwordHash: 'opaque' }, context),
    (state, context) => startMonitor(state, 'Probe', context),
    closeSales,
  ),
};

interface World {
  readonly admin: Admin;
  readonly gateway: ScriptedGateway;
  readonly clock: VirtualClock;
}

/** Opens the interface on a gateway and a store; sessions are reported, since they are not kept. */
async function begin(store: ConfigurationStore, gateway?: ScriptedGateway): Promise<World> {
  const clock = createVirtualClock();
  const has = gateway ?? createScriptedGateway({ snapshot, clock, lateMs: 20_000 });
  const opening = openAdmin({
    snapshot,
    gateway: has,
    clock,
    store,
    limits: { effectDeadlineMs: 1000 },
    observe: { onError: () => undefined },
  });
  await clock.advance(60_000);
  const admin = await opening;
  admin.report(has.sessionReports());
  return { admin, gateway: has, clock };
}

/** Executes a command, however long that takes. */
async function execute({ admin, clock }: World, transition: Transition): Promise<Execution> {
  const execution = admin.execute(transition);
  await clock.advance(60_000);
  return execution;
}

/** Closes the interface, however long that takes. */
async function end({ admin, clock }: World): Promise<void> {
  const closing = admin.close();
  await clock.advance(120_000);
  await closing;
}

/** Times differ from run to run; what a command changes otherwise does not. */
function timeless(configured: string): string {
  return configured.replace(/"(started|last_flushed)":"\d[^"]*"/g, '"$1":"then"');
}

/**
 * What must hold whatever became of a command: of the answer, of what is shown, of the gateway, and after a restart.
 */
async function expectTruth(
  world: World,
  execution: Execution,
  store: ConfigurationStore,
  { done, between }: Awaited<ReturnType<typeof goesWell>>,
): Promise<void> {
  const { admin, gateway } = world;
  const shown = JSON.stringify(configuration(admin.snapshot));
  const before = JSON.stringify(configuration(snapshot));
  if (execution.outcome === 'accepted') expect(timeless(shown)).toBe(done);
  // What was created for a later part stays only if the store does not keep that it goes again.
  if (execution.outcome === 'refused') expect([before, ...between]).toContain(timeless(shown));
  if (execution.outcome === 'refused')
    expect(JSON.stringify(configuration(evolve(snapshot, execution.events)))).toBe(shown);
  if (execution.outcome !== 'unknown') expect(gateway.differences(admin.snapshot)).toEqual([]);
  await end(world);

  gateway.otherwise({ apply: 'done', inspect: 'answer' });
  const next = await begin(store, gateway);
  const kept = JSON.stringify(configuration(next.admin.snapshot));
  if (execution.outcome !== 'unknown') expect(kept).toBe(shown);
  else expect([before, ...between, done]).toContain(timeless(kept));
  expect(gateway.differences(next.admin.snapshot)).toEqual([]);
  await next.admin.close();
}

/** How many calls a command takes when all goes well, and what has changed then. */
async function goesWell(transition: Transition) {
  const store = new FailingStore();
  const world = await begin(store);
  const opened = store.calls.length;
  const execution = await execute(world, transition);
  if (execution.outcome !== 'accepted') throw new Error('It does not go well');
  const { events } = execution;
  const told = (some: typeof events): string =>
    timeless(JSON.stringify(configuration(evolve(snapshot, some))));
  // What is created stays if the process ends before the next part.
  const between = events.flatMap(({ type }, at) =>
    type.endsWith('.created') ? [told(events.slice(0, at + 1))] : [],
  );
  const done = timeless(JSON.stringify(configuration(world.admin.snapshot)));
  const applies = world.gateway.calls.length;
  await world.admin.close();
  return { applies, appends: store.calls.length - opened, opened, done, between };
}

it('has a command for each type of event that a command makes', () => {
  expect(eventsMissing(Object.values(commands), snapshot)).toEqual([]);
});

describe.each(Object.entries(commands))('%s', (_kind, transition) => {
  // Promise: failed-apply
  it.each(Object.keys(everyFault.apply) as (keyof typeof everyFault.apply)[])(
    'agrees with the gateway after this fault in any call of the host: %s',
    async (way) => {
      const well = await goesWell(transition);
      const { applies } = well;
      for (let good = 0; good < applies; good += 1) {
        const store = createMemoryStore();
        const world = await begin(store);
        world.gateway.will(...Array.from({ length: good }, () => 'done' as const), way);
        await expectTruth(world, await execute(world, transition), store, well);
      }
    },
  );

  // Promise: failed-inspect
  it.each(Object.keys(everyFault.inspect) as (keyof typeof everyFault.inspect)[])(
    'agrees with the gateway after this fault in apply and in inspect: %s',
    async (way) => {
      const well = await goesWell(transition);
      const { applies } = well;
      for (const first of ['failBefore', 'failAfter', 'silentAfter'] as const) {
        for (let good = 0; good < applies; good += 1) {
          const store = createMemoryStore();
          const world = await begin(store);
          world.gateway.will(...Array.from({ length: good }, () => 'done' as const), first);
          world.gateway.willSee(way, way);
          await expectTruth(world, await execute(world, transition), store, well);
        }
      }
    },
  );

  // Promise: store-call
  it.each(Object.keys(storeFailures) as (keyof typeof storeFailures)[])(
    'agrees with the gateway after this fault in any call of the store: %s',
    async (how) => {
      const well = await goesWell(transition);
      const { appends, opened } = well;
      expect(appends).toBeGreaterThan(0);
      for (let good = 0; good < appends; good += 1) {
        const kept = createMemoryStore();
        const store = new FailingStore(kept);
        const world = await begin(store);
        expect(store.calls.length).toBe(opened);
        store.failAfter(good, how);
        const execution = await execute(world, transition);
        expect(execution).toMatchObject(
          execution.outcome === 'unknown'
            ? { problem: { code: 'outcome-unknown', status: 504 } }
            : { outcome: 'refused', problem: { code: 'store-unavailable', status: 503 } },
        );
        expect(await execute(world, transition)).toMatchObject({ problem: { code: 'store-unavailable' } });
        await expectTruth(world, execution, kept, well);
      }
    },
  );

  // Promise: store-recovers
  it.each(Object.keys(storeFailures) as (keyof typeof storeFailures)[])(
    'tells the truth when any call of the store fails for a while, and needs no restart: %s',
    async (how) => {
      const { appends, done, between } = await goesWell(transition);
      for (const times of [1, 3, 12]) {
        for (let good = 0; good < appends; good += 1) {
          const kept = createMemoryStore();
          const store = new FailingStore(kept);
          const world = await begin(store);
          const reader = world.admin.events();
          store.failAfter(good, how, times);
          const execution = await execute(world, transition);
          await world.clock.advance(600_000);
          expect(world.gateway.differences(world.admin.snapshot)).toEqual([]);
          if (execution.outcome === 'refused') {
            expect(execution.retryAfterMs).toBeGreaterThan(0);
            const again = await execute(world, transition);
            // What was created for a later part stays, and differs.
            if (again.outcome !== 'accepted')
              expect(again).toMatchObject({ problem: { code: 'resource-exists' } });
          }
          const shown = timeless(JSON.stringify(configuration(world.admin.snapshot)));
          expect([done, ...between]).toContain(shown);
          await end(world);
          if (execution.outcome === 'unknown') {
            const settled: (string | undefined)[] = [];
            for await (const item of reader) if (item.gap !== true) settled.push(item.event.command);
            expect(settled).toContain(execution.commandId);
          }
          world.gateway.otherwise({ apply: 'done', inspect: 'answer' });
          const asked = world.gateway.calls.length;
          const next = await begin(kept, world.gateway);
          expect(world.gateway.calls.length).toBe(asked);
          expect(timeless(JSON.stringify(configuration(next.admin.snapshot)))).toBe(shown);
          await next.admin.close();
        }
      }
    },
  );
});
