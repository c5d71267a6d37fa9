/**
 * What a scripted gateway does with effects, and the traffic that its clients make.
 */
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import {
  applyReports,
  canRevert,
  closeSession,
  createListener,
  createResource,
  createSnapshot,
  type Decision,
  type Effect,
  type EffectOf,
  type GatewayDocument,
  type HostReport,
  type Json,
  type Operation,
  patchFilter,
  patchMonitor,
  patchServer,
  patchService,
  revert,
  type ServerStatusWord,
  type Snapshot,
  startService,
  stopService,
  type Transition,
} from 'gateway-admin-core';
import { createScriptedGateway, createVirtualClock, type ScriptedGateway } from 'gateway-admin-core/testing';

import { documents } from '../../support/arbitrary-document.ts';
import { acts, transitionOf } from '../../support/arbitrary-happening.ts';
import { wholeOf } from '../../support/closing.ts';
import { sampleDocument, sampleSnapshot } from '../../support/document.ts';
import { planted } from '../../support/planted.ts';
import { withSecrets } from '../../support/secret-field.ts';
import { limit } from '../../support/transition.ts';

const context = { now: 0 };
const signal = new AbortController().signal;

function gatewayOf(snapshot: Snapshot = sampleSnapshot()): ScriptedGateway {
  return createScriptedGateway({ snapshot, clock: createVirtualClock(1000) });
}

async function applyAll(
  gateway: ScriptedGateway,
  effects: readonly Effect[],
  commandId = '1',
): Promise<void> {
  for (const effect of effects) await gateway.apply(effect, { commandId, signal });
}

function inspect(gateway: ScriptedGateway, effect: Effect, commandId = '1'): Promise<string> {
  return gateway.inspect(effect, { commandId, signal });
}

function accepted(decision: Decision): Extract<Decision, { readonly outcome: 'accepted' }> {
  if (decision.outcome !== 'accepted') throw new Error(`It was ${decision.outcome}`);
  return decision;
}

/** The one effect of a transition on the sample. */
function effectOf(transition: Transition, snapshot: Snapshot = sampleSnapshot()): Effect {
  const [effect] = accepted(transition(snapshot, context)).effects;
  if (effect === undefined) throw new Error('It asks for nothing');
  return effect;
}

const add = (path: string, value: Json): Operation => ({ op: 'add', path, value });
const timeout =
  (value: number): Transition =>
  (snapshot, within) =>
    patchService(snapshot, 'My Service', [add('/connection_timeout', value)], within);
const words =
  (...value: readonly string[]): Transition =>
  (snapshot, within) =>
    patchServer(snapshot, 'db-serv-1', [add('/state', value)], within);
const stop: Transition = (snapshot, within) => stopService(snapshot, 'My Service', within);

describe('a scripted gateway without faults', () => {
  it('agrees with the snapshot when the effects of a decision are applied, and inspect says in-place for each', async () => {
    await fc.assert(
      fc.asyncProperty(documents, fc.array(acts, { maxLength: 12 }), async (document, list) => {
        let current = createSnapshot(document);
        const gateway = gatewayOf(current);
        expect(gateway.differences(current)).toEqual([]);
        for (const [at, act] of list.entries()) {
          const decision = transitionOf(act)(current, context);
          const { effects } = wholeOf(decision, current);
          current = decision.next;
          if (decision.outcome !== 'accepted') continue;
          await applyAll(gateway, effects, String(at));
          expect(gateway.differences(current)).toEqual([]);
          for (const effect of effects)
            expect([effect.type, await inspect(gateway, effect, String(at))]).toEqual([
              effect.type,
              'in-place',
            ]);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('answers not-in-place before apply, and has its first state again when all effects are undone', async () => {
    await fc.assert(
      fc.asyncProperty(documents, acts, async (document, act) => {
        const before = createSnapshot(document);
        const decision = transitionOf(act)(before, context);
        if (decision.outcome !== 'accepted') return;
        const probed = gatewayOf(before);
        for (const effect of wholeOf(decision, before).effects) {
          expect(await inspect(probed, effect)).toBe('not-in-place');
          await applyAll(probed, [effect]);
        }
        const gateway = gatewayOf(before);
        const [event] = decision.events;
        if (event === undefined || !canRevert(event)) return;
        const back = revert(event)(decision.next, context);
        if (decision.events.length > 1 || back.outcome !== 'accepted') return;
        // Commands leave a failure behind, and a deletion the words of the monitor; to undo them does not bring these
        // back.
        const [{ service = '', monitor = '', server = '' }] = decision.events as unknown as [
          { service?: string; monitor?: string; server?: string },
        ];
        const { status = [] } = before.servers.find(server)?.seen ?? {};
        if (event.type === 'server.deleted' && status.length > 0) return;
        const thing = before.services.find(service) ?? before.monitors.find(monitor);
        if (thing?.seen.state === 'failed' && !event.type.endsWith('.updated')) return;
        await applyAll(gateway, [...decision.effects, ...back.effects]);
        expect(gateway.differences(before)).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });

  it('can apply an effect twice', async () => {
    await fc.assert(
      fc.asyncProperty(documents, acts, async (document, act) => {
        const snapshot = createSnapshot(document);
        const decision = transitionOf(act)(snapshot, context);
        const { effects } = wholeOf(decision, snapshot);
        const gateway = gatewayOf(snapshot);
        await applyAll(gateway, [...effects, ...effects]);
        expect(gateway.differences(decision.next)).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });
});

describe('inspect of a creation', () => {
  const given = createSnapshot({ services: [{ name: 'Sales', router: 'cli' }] });
  const listener = { protocol: 'pg', address: '::' };
  const creations: readonly (readonly [kind: string, create: (port: number) => Transition])[] = [
    [
      'service',
      (port) => (from, within) =>
        createResource(
          from,
          'services',
          { name: 'New', router: 'cli', state: 'stopped', max_connection: port },
          within,
        ),
    ],
    [
      'server',
      (port) => (from, within) =>
        createResource(from, 'servers', { name: 'New', address: '::', port, protocol: 'pg' }, within),
    ],
    [
      'monitor',
      (port) => (from, within) =>
        createResource(
          from,
          'monitors',
          { name: 'New', module: 'm', state: 'stopped', monitor_interval: port },
          within,
        ),
    ],
    [
      'filter',
      (port) => (from, within) =>
        createResource(
          from,
          'filters',
          { name: 'New', module: 'm', parameters: { a: { value: String(port), configurable: true } } },
          within,
        ),
    ],
    [
      'listener',
      (port) => (from, within) => createListener(from, 'Sales', { name: 'New', port, ...listener }, within),
    ],
  ];

  /** What the gateway answers about a creation, if it has carried out another one of the same name. */
  async function afterAnother(create: (port: number) => Transition, port: number): Promise<string> {
    const gateway = gatewayOf(given);
    await applyAll(gateway, [effectOf(create(2), given)], '2');
    return inspect(gateway, effectOf(create(port), given));
  }

  it.each(creations)('of a %s answers in-place if the gateway has it as defined', async (_kind, create) => {
    expect(await afterAnother(create, 2)).toBe('in-place');
  });

  it.each(creations)(
    'of a %s answers not-in-place if the gateway has another one of its name',
    async (_kind, create) => {
      expect(await afterAnother(create, 1)).toBe('not-in-place');
    },
  );
});

describe('inspect of an update', () => {
  it('looks at the changed settings only: other settings may change later', async () => {
    const gateway = gatewayOf();
    const first = accepted(limit(7)(sampleSnapshot(), context));
    const second = effectOf(timeout(9), first.next);
    await applyAll(gateway, [...first.effects, second]);
    for (const effect of [...first.effects, second]) expect(await inspect(gateway, effect)).toBe('in-place');
    await applyAll(gateway, [effectOf(limit(8))]);
    expect(await inspect(gateway, effectOf(limit(7)))).toBe('not-in-place');
    expect(await inspect(gateway, second)).toBe('in-place');
  });

  it('looks at single parameters', async () => {
    const parameter =
      (name: string, value: string): Transition =>
      (snapshot, within) =>
        patchFilter(snapshot, 'Hint', [add(`/parameters/${name}`, value)], within);
    const gateway = gatewayOf();
    const first = accepted(parameter('a', '1')(sampleSnapshot(), context));
    const second = effectOf(parameter('b', '2'), first.next);
    expect(await inspect(gateway, second)).toBe('not-in-place');
    await applyAll(gateway, [...first.effects, second]);
    for (const effect of [...first.effects, second]) expect(await inspect(gateway, effect)).toBe('in-place');
    expect(Object.keys(gateway.state.filters['hint']?.settings['parameters'] ?? {})).toEqual([
      'match',
      'source',
      'password',
      'a',
      'b',
    ]);
  });

  it('looks at whole lists, and at removed settings', async () => {
    const gateway = gatewayOf();
    const empty = effectOf((snapshot, within) =>
      patchMonitor(snapshot, 'Main Monitor', [{ op: 'remove', path: '/servers/0' }], within),
    );
    const nobody = effectOf((snapshot, within) =>
      patchService(snapshot, 'My Service', [{ op: 'remove', path: '/user' }], within),
    );
    for (const effect of [empty, nobody]) {
      expect(await inspect(gateway, effect)).toBe('not-in-place');
      await applyAll(gateway, [effect]);
      expect(await inspect(gateway, effect)).toBe('in-place');
    }
    expect(gateway.state.monitors['main-monitor']?.settings['servers']).toEqual(['/servers/DB-Server-2']);
    expect(gateway.state.services['my-service']?.settings).not.toHaveProperty('user');
  });

  it('answers in-place for a password that was set again', async () => {
    const again = effectOf((snapshot, within) =>
      patchService(snapshot, 'My Service', [add('/password', { sealed: 'another' })], within),
    );
    const gateway = gatewayOf();
    expect(await inspect(gateway, again)).toBe('not-in-place');
    await applyAll(gateway, [again]);
    expect(await inspect(gateway, again)).toBe('in-place');
  });
});

describe('inspect of an update of a status that monitors change too', () => {
  it('looks at the words that the update adds and removes', async () => {
    const gateway = gatewayOf();
    const effect = effectOf(words('master', 'running', 'synced'));
    gateway.findStatus('db-serv-1', ['slave']);
    await applyAll(gateway, [effect]);
    expect(gateway.state.servers['db-serv-1']?.settings['status']).toEqual(['slave', 'synced']);
    expect(await inspect(gateway, effect)).toBe('in-place');
    gateway.findStatus('db-serv-1', ['running']);
    expect(await inspect(gateway, effect)).toBe('not-in-place');
  });

  it('looks at maintenance alone if the update changes maintenance, because only that word stays', async () => {
    const gateway = gatewayOf();
    const effect = effectOf(words('maintenance', 'slave'));
    expect(await inspect(gateway, effect)).toBe('not-in-place');
    await applyAll(gateway, [effect]);
    gateway.findStatus('db-serv-1', ['master', 'running']);
    expect(gateway.state.servers['db-serv-1']?.settings['status']).toEqual([
      'master',
      'running',
      'maintenance',
    ]);
    expect(await inspect(gateway, effect)).toBe('in-place');
  });

  it('looks at the other settings if the update changes them', async () => {
    const gateway = gatewayOf();
    const effect = effectOf((snapshot, within) =>
      patchServer(snapshot, 'db-serv-1', [add('/state', ['slave']), add('/port', 1)], within),
    );
    gateway.findStatus('db-serv-1', ['slave']);
    expect(await inspect(gateway, effect)).toBe('not-in-place');
    await applyAll(gateway, [effect]);
    gateway.findStatus('db-serv-1', ['running']);
    expect(await inspect(gateway, effect)).toBe('in-place');
  });
});

describe('inspect of any other effect', () => {
  it('of a failed service: a stop is not in place, a start of an earlier command is, a new start only after apply', async () => {
    const gateway = gatewayOf();
    gateway.failService('My Service');
    expect(await inspect(gateway, effectOf(stop))).toBe('not-in-place');
    await applyAll(gateway, [effectOf(stop)]);
    expect(gateway.state.services['my-service']?.state).toBe('stopped');
    const startOf = (name: string): Effect =>
      effectOf((snapshot, within) => startService(snapshot, name, within));
    await applyAll(gateway, [startOf('Bare Service')]);
    gateway.failService('Bare Service');
    expect(await inspect(gateway, startOf('Bare Service'))).toBe('in-place');
    expect(await inspect(gateway, startOf('Report Service'))).toBe('not-in-place');
    gateway.recoverService('Report Service');
    expect(await inspect(gateway, startOf('Report Service'))).toBe('not-in-place');
    await applyAll(gateway, [startOf('Report Service')]);
    gateway.failService('Report Service');
    expect(await inspect(gateway, startOf('Report Service'))).toBe('in-place');
  });

  it('answers in-place for sessions and connections that are gone, or whose id a later session has', async () => {
    const gateway = gatewayOf();
    const close = effectOf((snapshot, within) => closeSession(snapshot, 9, within));
    const { connected = 0, connections = {} } = gateway.state.sessions['9'] ?? {};
    const links = {
      type: 'connections.close',
      resource: '/servers/db-serv-1',
      server: 'db-serv-1',
      connections: [{ session: 9, connected, id: 0 }],
    } as const;
    expect(Object.keys(connections)).toEqual(['0', '4']);
    for (const effect of [close, links]) expect(await inspect(gateway, effect)).toBe('not-in-place');
    gateway.closeConnection(9, 0);
    expect(await inspect(gateway, links)).toBe('in-place');
    gateway.closeSession(9);
    expect(await inspect(gateway, close)).toBe('in-place');
    const ids = Array.from({ length: 9 }, () => gateway.openSession('My Service')).length;
    gateway.openConnection(9, 'db-serv-1');
    expect([ids, Object.keys(gateway.state.sessions['9']?.connections ?? {})]).toEqual([9, ['0']]);
    for (const effect of [close, links]) expect(await inspect(gateway, effect)).toBe('in-place');
    await applyAll(gateway, [close, links]);
    expect(Object.keys(gateway.state.sessions['9']?.connections ?? {})).toEqual(['0']);
  });

  it('answers in-place for a flush after a flush in the same command', async () => {
    const gateway = gatewayOf();
    const flush = { type: 'logs.flush', resource: '/gateway/logs' } as const;
    expect(await inspect(gateway, flush, 'a')).toBe('not-in-place');
    await applyAll(gateway, [flush], 'a');
    expect([await inspect(gateway, flush, 'a'), await inspect(gateway, flush, 'b')]).toEqual([
      'in-place',
      'not-in-place',
    ]);
    expect(gateway.state.flushes).toBe(1);
  });

  it('refuses effects on resources that the gateway does not have', async () => {
    const gateway = gatewayOf(createSnapshot({}));
    await expect(applyAll(gateway, [effectOf(stop)])).rejects.toMatchObject({
      name: 'EffectRefusedError',
      message: 'The gateway has no resource named "my-service".',
    });
  });

  it('answers not-in-place for what the gateway does not have', async () => {
    const gateway = gatewayOf(createSnapshot({}));
    const { from: to, to: from, ...head } = effectOf(stop) as EffectOf<'service.stop'>;
    const start: Effect = { ...head, type: 'service.start', from, to };
    const answers = [effectOf(stop), start, effectOf(timeout(301))].map((effect) => inspect(gateway, effect));
    expect(await Promise.all(answers)).toEqual(['not-in-place', 'not-in-place', 'not-in-place']);
  });
});

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
    expect(keys(gateway.state.servers).map((key) => gateway.state.servers[key]?.settings['status'])).toEqual([
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
      '/servers/db-serv-1/settings/status: the gateway has ["master","running"], the snapshot ["running"]',
      '/filters/hint/settings/parameters/match: the gateway has {"value":"select","configurable":true}, the snapshot nothing',
      '/filters/hint/settings/parameters/source: the gateway has {"value":"127.0.0.1","configurable":false}, the snapshot nothing',
      '/filters/hint/settings/parameters/password: the gateway and the snapshot have different sealed texts',
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
    const others = withSecrets('service', 'v1.other', service);
    const document = { ...sampleDocument, services: [{ ...service, ...others }, ...services] };
    const told = gatewayOf().differences(createSnapshot(document as GatewayDocument));
    expect(told).toEqual(
      Object.keys(others).map((name) => {
        const place = name === 'password' ? name : `${name}/password`;
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
