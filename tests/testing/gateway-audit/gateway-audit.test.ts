import { beforeAll, describe, expect, it } from '@jest/globals';
import {
  createSnapshot,
  EffectRefusedError,
  InvalidDocumentError,
  isUpdateInPlace,
  nameKey,
  stopService,
  type Admin,
  type Drain,
  type Effect,
  type EffectContext,
  type EffectOf,
  type GatewayDocument,
  type GatewayPort,
  type HostReport,
  type ServerStatusWord,
  type Service,
  type Telemetry,
  type Transition,
} from 'gateway-admin-core';
import { createGatewayPort, type OpenedGatewayPort } from 'gateway-admin-core/gateway-port';
import { keyOf } from 'gateway-admin-core/gateway-port';
import {
  createScriptedGateway,
  createVirtualClock,
  gatewayAudits,
  type AuditClient,
  type AuditedGateway,
  type GatewayAudit,
  type GatewayAudits,
  type InspectWay,
  type ScriptedGateway,
} from 'gateway-admin-core/testing';

import { sampleDocument } from '../../support/document.ts';
import { effectTypes } from '../../support/effect-type.ts';
import { openedSession } from '../../support/opened-session.ts';

function listener(name: string, port: number) {
  return { name, protocol: 'pg', address: '::1', port };
}

/**
 * The sample, where every filter with a parameter that may be changed has two of them, and a stopped service that
 * nobody uses has a limit and two listeners. Two services are started. Every monitor has servers.
 */
const document: GatewayDocument = {
  ...sampleDocument,
  services: [
    ...(sampleDocument.services ?? []).map((service) =>
      ['Spare Service', 'Bare Service'].includes(service.name)
        ? {
            ...service,
            max_connection: 7,
            listeners: ['Spare', 'Extra'].map((name, at) => listener(name, 4100 + at)),
          }
        : service,
    ),
    { name: 'Other Service', router: 'cli', servers: ['/servers/db-serv-1'] },
  ],
  monitors: (sampleDocument.monitors ?? []).map((monitor) => ({
    servers: ['/servers/db-serv-3'],
    ...monitor,
  })),
  filters: (sampleDocument.filters ?? []).map((filter) => {
    const { parameters } = filter;
    return parameters === undefined
      ? filter
      : { ...filter, parameters: { ...parameters, extra: { value: '1', configurable: true } } };
  }),
};
const snapshot = createSnapshot(document);

function opened(): ScriptedGateway {
  return createScriptedGateway({ snapshot, clock: createVirtualClock(Date.now()) });
}

/** What the scripted gateway can do. */
const able = ['create', 'delete', 'drain'] as const;

/** A scripted gateway behind a port, and how the gateway reports. */
interface Opened extends GatewayPort {
  readonly gateway: ScriptedGateway;
  readonly report: (this: void, reports: readonly HostReport[]) => void;
  /** Whether a server drains, for the gateway. */
  readonly isDraining: (this: void, server: string) => boolean;
  /** The limit of the sessions of a service, for the gateway; 0 for none. */
  readonly limitOf: (this: void, service: string) => number;
}

type Breaks = (gateway: ScriptedGateway, admin: Admin) => Partial<Opened>;

function auditsOf(
  breaks: Breaks = () => ({}),
  supports: NonNullable<GatewayPort['supports']> = able,
): GatewayAudits {
  const open = (admin: Admin): Promise<Opened> => {
    const gateway = opened();
    const port = { ...gateway, gateway, ...ways(gateway, admin), ...breaks(gateway, admin) };
    port.report([...gateway.statusReports(), { type: 'sessions.complete' }]);
    return Promise.resolve({ ...port, apply: withReports(port) });
  };
  return gatewayAudits(document, open, {
    connect: async (service, port) => Promise.resolve(connect(service, port)),
    obstruct: ({ key }, port) => Promise.resolve(obstruct(key, port)),
    supports,
  });
}

/** Reports the ends of what an effect has closed, and what a monitor that starts finds. */
function withReports({ apply, gateway, report }: Opened): GatewayPort['apply'] {
  return async (effect, context) => {
    const before = gateway.state.sessions;
    await apply(effect, context);
    const now = gateway.state.sessions;
    for (const [id, { connected, connections }] of Object.entries(before)) {
      const about = { session: Number(id), connected };
      if (now[id] === undefined) report([{ type: 'session.closed', id: Number(id), connected }]);
      for (const each of Object.keys(connections))
        if (now[id] !== undefined && now[id].connections[each] === undefined)
          report([{ type: 'connection.closed', ...about, id: Number(each) }]);
    }
    if (effect.type === 'monitor.start') report(gateway.statusReports());
  };
}

function ways(gateway: ScriptedGateway, admin: Admin): Pick<Opened, 'report' | 'isDraining' | 'limitOf'> {
  return {
    report(reports) {
      admin.report(reports);
    },
    isDraining(server) {
      const { drain, status } = gateway.state.servers[server]?.settings ?? {};
      return drain !== undefined || JSON.stringify(status).includes('maintenance');
    },
    limitOf: (service) => Number(gateway.state.services[service]?.settings['max_connection'] ?? 0),
  };
}

/** The next start of a service fails, and the gateway tries again until the obstacle is removed. */
function obstruct(service: string, { gateway: { will, failService, recoverService }, report }: Opened) {
  will((_effect, _context, perform) => {
    perform();
    report(failService(service));
    return Promise.reject(new Error('The port is taken'));
  });
  return (): Promise<void> => {
    report(recoverService(service));
    return Promise.resolve();
  };
}

/**
 * Opens a session with a connection to the first server that does not drain. The client is connected as long as the
 * session is open.
 */
function connect(
  { key, listeners, settings: { servers } }: Service,
  { gateway, report, isDraining, limitOf }: Opened,
): AuditClient {
  const present = gateway.state.services[key]?.listeners ?? {};
  const open = Object.values(gateway.state.sessions).filter(({ service }) => service === key);
  if (limitOf(key) > 0 && open.length >= limitOf(key)) throw new Error(`${key} has all its sessions`);
  if (listeners.length > 0 && !listeners.some(({ name }) => nameKey(name) in present))
    throw new Error(`Nothing listens for ${key}`);
  const server = servers.map(keyOf).find((each) => !isDraining(each));
  if (servers.length > 0 && server === undefined) throw new Error(`No server takes sessions of ${key}`);
  const [opening] = gateway.openSession(key).slice(-1);
  if (opening?.type !== 'session.opened') throw new Error(`No session opened on ${key}`);
  const { id, connected } = opening;
  report([opening]);
  if (server !== undefined) report(gateway.openConnection(id, server));
  return {
    isConnected: () => gateway.state.sessions[String(id)]?.connected === connected,
    disconnect: () => {
      report(gateway.closeSession(id));
    },
  };
}

const audits = auditsOf();
const ids = audits.map(({ id }) => id);

function auditNamed(of: readonly GatewayAudit[], id: string): GatewayAudit {
  const audit = of.find((each) => each.id === id);
  if (audit === undefined) throw new Error(`There is no audit ${id}`);
  return audit;
}

/** Which audits a port fails, and why. Each audit has a gateway of its own, so all of them wait together. */
async function failed(of: readonly GatewayAudit[]): Promise<readonly string[]> {
  const outcomes = await Promise.allSettled(of.map(({ run }) => run()));
  return of.flatMap(({ id }, index) => {
    const outcome = outcomes[index];
    return outcome?.status === 'rejected' ? [`${id}: ${String(outcome.reason)}`] : [];
  });
}

const waiting: (() => void)[] = [];
beforeAll(() => {
  for (const begin of waiting) begin();
});

/**
 * Begins a run before the first test. Runs that wait for what does not come wait together, and not one after the other.
 */
function begun<T>(run: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  waiting.push(() => {
    running = run();
    running.catch(() => undefined);
  });
  return () => running ?? Promise.reject(new Error('The run has not begun'));
}

describe('the audits', () => {
  it('have ids that stay', () => {
    const usual = 'before after again undo others abort final';
    const running = 'before after again undo others abort final missing';
    const update = 'before after again undo others later abort final missing unsupported sessions';
    const laws: Readonly<Record<string, string>> = {
      'service.stop': `${running} sessions accepted entry`,
      'service.start': `${running} retry whole sessions entry`,
      'monitor.stop': `${running} sessions silent`,
      'monitor.start': `${running} sessions probes`,
      'service.update': `${update} limit`,
      'server.update': `${update} drain deadline maintenance`,
      'monitor.update': update,
      'filter.update': update,
      'sessions.close': 'before after again others gone only abort final partly clients',
      'connections.close': 'before after again others gone moved only abort final partly clients',
      'logs.flush': 'after again others abort final sessions',
      'service.delete': `${usual} used`,
      'service.create': `${usual} settings defined start`,
      'server.delete': usual,
      'server.create': `${usual} settings defined`,
      'monitor.delete': usual,
      'monitor.create': `${usual} settings defined`,
      'filter.delete': usual,
      'filter.create': `${usual} settings`,
      'listener.delete': `${usual} sessions entry`,
      'listener.create': `${usual} defined sessions entry`,
      unknown: 'refused',
      reports: 'service taken time end status complete idle figures statistics',
    };
    const expected = Object.entries(laws).flatMap(([type, of]) =>
      of.split(' ').map((law) => `${type}/${law}`),
    );
    expect(ids).toEqual(expected);
  });

  it('are about every type of effect', () => {
    const audited = typesOf(audits);
    expect(effectTypes.filter((type) => !audited.includes(type))).toEqual([]);
  });

  it('are left out where the document has nothing for them', () => {
    const open = (): Promise<GatewayPort> => Promise.resolve(opened());
    const flushed = ['after', 'again', 'abort', 'final'].map((law) => `logs.flush/${law}`);
    const empty = gatewayAudits({}, open);
    const always = ['unknown/refused', 'reports/figures'];
    expect(empty.map(({ id }) => id)).toEqual([...flushed, ...always]);
    const why = 'the document has nothing for it';
    const without = effectTypes.filter((type) => type !== 'logs.flush').map((id) => ({ id, why }));
    expect(empty.leftOut).toHaveLength(without.length + 1);
    expect(empty.leftOut).toEqual(
      expect.arrayContaining([{ id: 'logs.flush/sessions', why: 'it needs the option connect' }, ...without]),
    );
    const filters = [
      { name: 'Fixed', module: 'tee', parameters: { a: { value: 'b', configurable: false } } },
    ];
    const fixed = gatewayAudits({ filters }, open, {
      connect: () => Promise.reject(new Error('no service')),
      supports: able,
    });
    expect(typesOf(fixed)).toEqual(['logs.flush', 'filter.delete', 'filter.create', 'unknown', 'reports']);
  });

  it('are left out, with what the document lacks', () => {
    const open = (): Promise<GatewayPort> => Promise.resolve(opened());
    const small = {
      services: [{ name: 'One', router: 'r', state: 'stopped', listeners: [listener('l', 1)] }],
    } as const;
    const { leftOut } = gatewayAudits(small, open);
    const why = 'the document has no stopped service with two listeners';
    expect(leftOut).toContainEqual({ id: 'service.start/whole', why });
  });

  it('are left out where the veto of the gateway refuses the effect, in its words', async () => {
    const small = { services: [{ name: 'One', router: 'r', listeners: [listener('l', 1)] }] };
    const create = (): OpenedGatewayPort =>
      createGatewayPort({
        services: {
          fields: ['connection_timeout'],
          apply: () => undefined,
          read: (_key, applied) => applied,
        },
        closeSessions: () => undefined,
      });
    const open = async (admin: Admin): Promise<OpenedGatewayPort> => {
      const port = create();
      await port.open(admin);
      return port;
    };
    const { supports, veto } = create();
    const own = gatewayAudits(small, open, { supports, veto });
    const why = '/gateway/logs: This gateway has no log files to flush.';
    for (const law of ['after', 'again', 'abort', 'final'])
      expect(own.leftOut).toContainEqual({ id: `logs.flush/${law}`, why });
    expect(own.map(({ id }) => id)).toEqual(
      expect.arrayContaining(['service.stop/after', 'service.update/after', 'listener.create/after']),
    );
    await Promise.all(own.map(({ run }) => run()));
    // A list that was made without the veto says what is missing.
    await expect(
      auditNamed(gatewayAudits(small, open, { supports }), 'logs.flush/after').run(),
    ).rejects.toThrow(`veto of the gateway refuses the effect: ${why} Give gatewayAudits the option veto`);
  });

  it('need the report of each client that connects, and something to close', async () => {
    const open = (admin: Admin): Promise<Opened> => {
      const gateway = opened();
      return Promise.resolve({ ...gateway, gateway, ...ways(gateway, admin) });
    };
    const client = { isConnected: () => true, disconnect: () => undefined };
    const silent = gatewayAudits(document, open, { connect: () => Promise.resolve(client), supports: able });
    await expect(auditNamed(silent, 'sessions.close/after').run()).rejects.toThrow(
      'the gateway must report the session of a client that connects to ',
    );
    const services = [{ name: 'S', router: 'r', servers: ['/servers/one'] }];
    const servers = [{ name: 'one', address: '::1', port: 1, protocol: 'p' }];
    let id = 0;
    const withoutConnection = gatewayAudits({ servers, services }, open, {
      connect: ({ name }, { report }) => {
        report([{ ...openedSession((id += 1)), service: name }]);
        return Promise.resolve(client);
      },
      supports: able,
    });
    await expect(auditNamed(withoutConnection, 'connections.close/after').run()).rejects.toThrow(
      'the gateway must report something to audit with connections.close, but reports nothing',
    );
  });

  it('need a document that is valid', () => {
    const invalid = { services: [{ name: '', router: 'x' }] };
    expect(() => gatewayAudits(invalid, () => Promise.reject(new Error('never opened')))).toThrow(
      InvalidDocumentError,
    );
  });

  const runs = audits.map(({ id, name, run }) => [id, name, begun(run)] as const);

  it.each(runs)('%s: %s', async (_id, _name, run) => {
    await expect(run()).resolves.toBeUndefined();
  });

  it('use a gateway of their own each time, and dispose of it whatever comes', async () => {
    const log: string[] = [];
    const open = (): Promise<GatewayPort & AsyncDisposable> => {
      log.push('open');
      const port = { ...opened(), inspect: () => Promise.reject(new Error('blind')) };
      return Promise.resolve(
        Object.assign(port, {
          [Symbol.asyncDispose]: () => {
            log.push('dispose');
            return Promise.resolve();
          },
        }),
      );
    };
    for (const id of ['service.stop/before', 'logs.flush/abort'])
      await expect(auditNamed(gatewayAudits(document, open, { supports: able }), id).run()).rejects.toThrow(
        'blind',
      );
    expect(log).toEqual(['open', 'dispose', 'open', 'dispose']);
  });

  it('say what is wrong, and of what', async () => {
    const blind = auditsOf(() => ({ inspect: () => Promise.resolve('in-place') }));
    await expect(auditNamed(blind, 'service.stop/before').run()).rejects.toThrow(
      'inspect must answer "not-in-place" for service.stop of /services/My-Service before any effect was applied, not "in-place"',
    );
    const lazy = auditsOf(() => ({
      apply: () => {
        throw new EffectRefusedError('No.');
      },
    }));
    await expect(auditNamed(lazy, 'monitor.start/after').run()).rejects.toThrow(
      'apply must resolve for monitor.start of /monitors/Idle-Monitor, but failed: EffectRefusedError: No.',
    );
  });
});

function typesOf(of: readonly GatewayAudit[]): readonly string[] {
  return [...new Set(of.map(({ id }) => id.split('/')[0] ?? ''))];
}

type Method<T> = (effect: Effect, context: EffectContext) => Promise<T>;

/** A port that does something wrong with the effects of one type. */
type Breaking = (gateway: ScriptedGateway, type: string, admin: Admin) => Partial<Opened>;

/** Does something else in place of apply. */
const insteadOfApply =
  (instead: (gateway: ScriptedGateway) => Method<void>): Breaking =>
  (gateway, type) => ({ apply: only(type, gateway.apply, instead(gateway)) });

/** Does more after apply. */
const afterApply = (
  more: (gateway: ScriptedGateway, ...call: Parameters<Method<void>>) => unknown,
): Breaking =>
  insteadOfApply((gateway) => async (effect, context) => {
    await gateway.apply(effect, context);
    await more(gateway, effect, context);
  });

/** Takes each effect for another one. */
const mistaking =
  (other: (state: ScriptedGateway['state'], effect: Effect) => Effect): Breaking =>
  ({ state, inspect, apply }, type) => ({
    inspect: only(type, inspect, (effect, context) => inspect(other(state, effect), context)),
    apply: only(type, apply, (effect, context) => apply(other(state, effect), context)),
  });

/** For each law, a port that breaks it. */
const broken: Readonly<Record<string, Breaking>> = {
  /** Takes nothing for not done. */
  before: ({ inspect }, type) => ({ inspect: only(type, inspect, () => Promise.resolve('in-place')) }),
  /** Says that it is done, and does nothing. */
  after: insteadOfApply(() => () => Promise.resolve()),
  /** Cannot do twice what it has done: it fails, and cleans up. */
  again: ({ apply, inspect }, type) => {
    const done: Effect[] = [];
    return {
      apply: only(type, apply, (effect, context) => {
        done.push(effect);
        return apply(effect, context);
      }),
      inspect: only(type, inspect, (effect, context) =>
        done.length > 1 ? Promise.resolve('not-in-place') : inspect(effect, context),
      ),
    };
  },
  /** Once done, it is done for good. */
  undo: ({ apply }, type) => {
    const done = new Set<string>();
    return {
      apply: async (effect, context) => {
        if (effect.type === type && !done.has(aspectOf(effect))) done.add(aspectOf(effect));
        else if (done.has(aspectOf(effect))) return;
        await apply(effect, context);
      },
    };
  },
  /** Does the same to everything else. */
  others: afterApply(disturb),
  /** Takes the last update of a resource alone for in place. */
  later: ({ apply, inspect }, type) => {
    const last = new Map<string, string>();
    const updateOf = (effect: Effect): string => ('to' in effect ? JSON.stringify(effect.to) : '');
    return {
      apply: async (effect, context) => {
        await apply(effect, context);
        last.set(effect.resource, updateOf(effect));
      },
      inspect: only(type, inspect, (effect) => {
        const same = last.get(effect.resource) === updateOf(effect);
        return Promise.resolve(same ? 'in-place' : 'not-in-place');
      }),
    };
  },
  /** Looks at ids alone. */
  gone: mistaking(withTimesOf),
  /** Looks at the ids of connections alone, and not at their servers. */
  moved: mistaking(withServersOf),
  /** Closes every session, whatever is asked. */
  only: afterApply((gateway) => {
    closeAll(gateway, () => true);
  }),
  /** Closes the sessions of connections instead of the connections, and no session; knows what it was asked for. */
  clients: (gateway, type) => {
    const asked: Effect[] = [];
    return {
      apply: only(type, gateway.apply, (effect) => {
        asked.push(effect);
        closeSessionsOf(gateway, effect);
        return Promise.resolve();
      }),
      inspect: (effect, context) => {
        if (asked.includes(effect)) return Promise.resolve('in-place');
        return effect.type.endsWith('.close')
          ? Promise.resolve('not-in-place')
          : gateway.inspect(effect, context);
      },
    };
  },
  /** Refuses when its time is over, after it has begun. */
  abort: afterApply((_gateway, _effect, { signal }) => {
    if (signal.aborted) throw new EffectRefusedError('Too late.');
  }),
  /** Looks at the name alone. */
  defined: (gateway, type) => ({
    inspect: only(type, gateway.inspect, (effect) =>
      Promise.resolve(isThere(gateway, effect) ? 'in-place' : 'not-in-place'),
    ),
  }),
  /** Takes what it does not have for whatever it is asked about. */
  missing: ({ inspect }, type) => ({
    inspect: only(type, inspect, (effect, context) =>
      effect.resource.includes('no-such') ? Promise.resolve('in-place') : inspect(effect, context),
    ),
  }),
  /** Ends at the first session that is closed already. */
  partly: insteadOfApply((gateway) => async (effect, context) => {
    if (effect.type === 'sessions.close') {
      const [first] = effect.sessions;
      if (gateway.state.sessions[String(first?.id)] === undefined) return;
    }
    if (effect.type === 'connections.close') {
      const [first] = effect.connections;
      if (gateway.state.sessions[String(first?.session)] === undefined) return;
    }
    await gateway.apply(effect, context);
  }),
  /** Takes for deleted what clients use. */
  used: insteadOfApply(
    ({ apply }) =>
      (effect, context) =>
        apply(effect, context).catch(() => undefined),
  ),
  /** Takes effects that it does not know. */
  refused: ({ apply }) => ({
    apply: (effect, context) =>
      effect.resource.includes('no-such') ? Promise.resolve() : apply(effect, context),
  }),
  /** Ignores a setting that it does not have. */
  unsupported: insteadOfApply(
    ({ apply }) =>
      (effect, context) =>
        apply(effect, context).catch(() => undefined),
  ),
  /** Closes all sessions. */
  sessions: afterApply((gateway) => {
    closeAll(gateway, () => true);
  }),
  /** Does not wait for late reports before a stop. */
  accepted: (_gateway, _type, admin) => ({ report: laterAfterThree(admin) }),
  /** Gives sessions to any server. */
  drain: () => ({ isDraining: () => false }),
  /** Says that the listeners are as asked, and does nothing. */
  entry: saying,
  /** Says that the limit is as asked, and has none. */
  limit: saying,
  /** Probes its servers, and does not report what it finds. */
  probes: (_gateway, _type, admin) => ({
    report: (reports) => {
      admin.report(reports.filter(({ type }) => type !== 'server.reported'));
    },
  }),
  /** Closes the connections to a server at the end of its drain. */
  deadline: afterApply((gateway, effect) => {
    const { drain } = 'operations' in effect ? (effect.to as { readonly drain?: Drain }) : {};
    if (drain?.until === undefined) return;
    setTimeout(
      () => {
        closeAll(gateway, () => true);
      },
      Date.parse(drain.until) - Date.now(),
    );
  }),
  /** Starts a service with its creation. */
  start: afterApply(start),
  /** Refuses, and leaves what it has opened. */
  whole: insteadOfApply(({ apply }) => async (effect, context) => {
    await apply(effect, context).catch(() => undefined);
    throw new EffectRefusedError('The second listener cannot open.');
  }),
  /** Goes on with the round that it is in. */
  silent: ({ apply, statusReports }, type, admin) => ({
    apply: only(type, apply, async (effect, context) => {
      await apply(effect, context);
      later(20, admin)(statusReports());
    }),
  }),
  /** Looks at drains alone. */
  maintenance: ({ state }) => ({
    isDraining: (server) => 'drain' in (state.servers[server]?.settings ?? {}),
  }),
  /** Creates with a setting of its own. */
  settings: (gateway, type) => {
    const own = { service: { max_connection: 1 }, server: { port: 1 }, monitor: { monitor_interval: 1 } };
    const { [type.replace('.create', '') as 'server']: members = { parameters: { own: { value: '1' } } } } =
      own;
    return {
      apply: only(type, gateway.apply, (effect, context) => {
        const to = { ...('to' in effect ? effect.to : {}), ...members };
        return gateway.apply({ ...effect, to } as Effect, context);
      }),
    };
  },
  /** Looks at the socket alone, which is closed until the next try. */
  retry: (gateway, type) => ({
    inspect: only(type, gateway.inspect, (effect) =>
      Promise.resolve(isStarted(gateway, effect) ? 'in-place' : 'not-in-place'),
    ),
  }),
  /** Gives up when its time is over, but what it has sent still arrives. */
  final: insteadOfApply(({ apply }) => async (effect, context) => {
    setTimeout(() => void apply(effect, context), 5);
    await aborted(context);
    throw new Error('given up');
  }),
};

/** Says that all is as asked, and does nothing. */
function saying({ apply, inspect }: ScriptedGateway, type: string): Partial<Opened> {
  const asked: Effect[] = [];
  return {
    apply: only(type, apply, (effect) => Promise.resolve(void asked.push(effect))),
    inspect: (effect, context) =>
      asked.includes(effect) ? Promise.resolve('in-place') : inspect(effect, context),
  };
}

/** Whether a gateway has something of the name of what an effect creates. */
function isThere({ state }: ScriptedGateway, effect: Effect): boolean {
  if ('listener' in effect)
    return Object.hasOwn(state.services[effect.service]?.listeners ?? {}, effect.listener);
  const [kind = ''] = effect.type.split('.');
  const { [kind as 'service']: key } = effect as EffectOf<'service.create'>;
  return Object.hasOwn(state[`${kind as 'service'}s`], key);
}

const toStarted = { from: { state: 'stopped' }, to: { state: 'started' } } as const;
const toStopped = { from: toStarted.to, to: toStarted.from };

/** Starts the service of an effect. */
async function start({ apply }: ScriptedGateway, effect: Effect, context: EffectContext): Promise<void> {
  const service = 'service' in effect ? effect.service : '';
  await apply({ type: 'service.start', resource: effect.resource, service, ...toStarted }, context);
}

function isStarted({ state }: ScriptedGateway, effect: Effect): boolean {
  return 'service' in effect && state.services[effect.service]?.state === 'started';
}

/** Reports after some milliseconds. */
function later(delayMs: number, admin: Admin): Opened['report'] {
  return (reports) => {
    setTimeout(() => {
      admin.report(reports);
    }, delayMs);
  };
}

/** Reports 20 ms late when the first three clients are there. */
function laterAfterThree(admin: Admin): Opened['report'] {
  let opened = 0;
  return (reports) => {
    opened += reports.filter(({ type }) => type === 'session.opened').length;
    if (opened > 3) later(20, admin)(reports);
    else admin.report(reports);
  };
}

async function aborted({ signal }: EffectContext): Promise<void> {
  await new Promise((resolve) => {
    signal.addEventListener('abort', resolve, { once: true });
  });
}

function only<T>(type: string, usual: Method<T>, broken: Method<T>): Method<T> {
  return (effect, context) => (effect.type === type ? broken : usual)(effect, context);
}

function closeAll({ state, closeSession }: ScriptedGateway, isMeant: (id: number) => boolean): void {
  for (const id of Object.keys(state.sessions).map(Number).filter(isMeant)) closeSession(id);
}

/** Closes the sessions of the connections that an effect closes. */
function closeSessionsOf(gateway: ScriptedGateway, effect: Effect): void {
  if (effect.type !== 'connections.close') return;
  closeAll(gateway, (id) => effect.connections.some(({ session }) => session === id));
}

function aspectOf({ type, resource }: Effect): string {
  const [kind = ''] = type.split('.');
  return `${kind} ${type.endsWith('update') ? 'update' : 'run'} ${resource}`;
}

/** Stops or starts something that the effect is not about. */
async function disturb({ apply }: ScriptedGateway, { resource }: Effect): Promise<void> {
  const context = { commandId: 'stray', signal: new AbortController().signal };
  const running = { resource: '/services/My-Service', service: 'my-service' };
  const stopped = { resource: '/services/Bare-Service', service: 'bare-service' };
  if (resource !== running.resource) await apply({ type: 'service.stop', ...running, ...toStopped }, context);
  if (resource !== stopped.resource)
    await apply({ type: 'service.start', ...stopped, ...toStarted }, context);
}

function withTimesOf({ sessions }: ScriptedGateway['state'], effect: Effect): Effect {
  const timeOf = (id: number): number => sessions[String(id)]?.connected ?? 0;
  if (effect.type === 'sessions.close') {
    return { ...effect, sessions: effect.sessions.map(({ id }) => ({ id, connected: timeOf(id) })) };
  }
  if (effect.type !== 'connections.close') return effect;
  const connections = effect.connections.map((each) => ({ ...each, connected: timeOf(each.session) }));
  return { ...effect, connections };
}

/** An effect on connections as if it named the server that its first connection is on. */
function withServersOf({ sessions }: ScriptedGateway['state'], effect: Effect): Effect {
  if (effect.type !== 'connections.close') return effect;
  const [first] = effect.connections;
  const open = sessions[String(first?.session)]?.connections;
  const server = open?.[String(first?.id)]?.server ?? effect.server;
  return { ...effect, server };
}

const messages: Readonly<Record<string, RegExp>> = {
  clients: /^the (?:client of|gateway must report the end of) session/,
  sessions: /^the client of session/,
  deadline: /^the client of session \d+ must stay connected at the deadline of a drain/,
  probes: /^the gateway must report the status of "[^"]+" within a second after monitor.start/,
  limit: /^the gateway must take no client of My Service after .* \d+ are connected and max_connection is 1/,
  used: /^apply must refuse service.delete of \/services\/[\w-]+ with an EffectRefusedError while clients use it, but resolved/,
  refused: /^apply must refuse service.no_such_effect/,
  accepted:
    /^the gateway must report session \d+ before apply resolves for service.stop of \/services\/My-Service, not after/,
  drain:
    /^the gateway must give no new session of My Service to the server "db-serv-1" after server.update of \/servers\/db-serv-1, but did/,
  maintenance: /^the gateway must give no new session/,
  silent: /^the gateway must report nothing of/,
  whole: /^a client that connects to the listener/,
  entry: /^a client that connects to the listener/,
  start: /^a client that connects to the listener "Spare" of Spare Service must be refused/,
  unsupported: /^apply must refuse/,
};

function audit(id: string, breaking: Breaking | undefined): Promise<void> {
  const [type = ''] = id.split('/');
  return auditNamed(
    auditsOf((gateway, admin) => breaking?.(gateway, type, admin) ?? {}),
    id,
  ).run();
}

describe('a port that breaks one law for one type of effect', () => {
  it.each(ids.filter((id) => !id.startsWith('reports/')))('fails %s', async (id) => {
    const [, law = ''] = id.split('/');
    await expect(audit(id, broken[law])).rejects.toThrow(messages[law] ?? /^inspect must answer/);
  });
});

/** Ports that fail another expectation of an audit than the ports above do. */
const blunders: readonly (readonly [what: string, id: string, breaking: Breaking])[] = [
  [
    'does what it is only asked about',
    'service.update/before',
    ({ apply, inspect }) => ({
      inspect: async (effect, context) => {
        const seen = await inspect(effect, context);
        await apply(effect, context);
        return seen;
      },
    }),
  ],
  [
    'takes a monitor for started and stopped at once',
    'monitor.stop/after',
    ({ inspect }) => ({ inspect: only('monitor.start', inspect, () => Promise.resolve('in-place')) }),
  ],
  [
    'takes a change for done that was taken back',
    'monitor.update/undo',
    ({ apply, inspect }) => {
      const done = new Set<Effect>();
      return {
        apply: (effect, context) => {
          done.add(effect);
          return apply(effect, context);
        },
        inspect: (effect, context) =>
          done.has(effect) ? Promise.resolve('in-place') : inspect(effect, context),
      };
    },
  ],
  [
    'refuses to start what is started',
    'service.start/again',
    insteadOfApply((gateway) => async (effect, context) => {
      if (isStarted(gateway, effect)) throw new EffectRefusedError('The address is in use.');
      await gateway.apply(effect, context);
    }),
  ],
  [
    'takes one change of each filter',
    'filter.update/later',
    ({ apply }) => {
      const changed = new Set<string>();
      return {
        apply: async (effect, context) => {
          if (changed.has(effect.resource)) return;
          changed.add(effect.resource);
          await apply(effect, context);
        },
      };
    },
  ],
  [
    'closes sessions by their ids alone',
    'sessions.close/gone',
    ({ state, apply }) => ({ apply: (effect, context) => apply(withTimesOf(state, effect), context) }),
  ],
  ['opens a new listener also while its service is stopped', 'listener.create/entry', afterApply(start)],
  [
    'resets a setting when it changes another one',
    'service.update/others',
    ({ apply }) => ({
      apply: only('service.update', apply, (effect, context) =>
        apply({ ...effect, from: { filters: [], ...('from' in effect && effect.from) } } as Effect, context),
      ),
    }),
  ],
  [
    'does the work again, and later, for what is in place',
    'service.start/again',
    insteadOfApply((gateway) => async (effect, context) => {
      if (isStarted(gateway, effect)) setTimeout(() => void gateway.apply(effect, context), 5);
      else await gateway.apply(effect, context);
    }),
  ],
  [
    'takes a service for started and stopped while it works',
    'service.stop/after',
    ({ apply, inspect }) => {
      let isBusy = false;
      return {
        apply: async (effect, context) => {
          isBusy = true;
          await new Promise((resolve) => setTimeout(resolve, 5));
          await apply(effect, context);
          isBusy = false;
        },
        inspect: (effect, context) => (isBusy ? Promise.resolve('in-place') : inspect(effect, context)),
      };
    },
  ],
  [
    'takes the limit of one service for the limit of each',
    'service.update/limit',
    ({ apply }) => {
      let limit = 0;
      return {
        apply: async (effect, context) => {
          if (effect.type === 'service.update') limit = effect.to.max_connection ?? 0;
          await apply(effect, context);
        },
        limitOf: () => limit,
      };
    },
  ],
  [
    'cuts the connections to a server that drains, and not the sessions',
    'server.update/drain',
    afterApply((gateway, effect) => {
      if (effect.type !== 'server.update') return;
      for (const [id, { connections }] of Object.entries(gateway.state.sessions))
        for (const [each, { server }] of Object.entries(connections))
          if (server === effect.server) gateway.closeConnection(Number(id), Number(each));
    }),
  ],
  [
    'closes all connections to the server in place of one',
    'connections.close/only',
    afterApply((gateway, effect) => {
      if (effect.type !== 'connections.close') return;
      for (const [id, { connections }] of Object.entries(gateway.state.sessions))
        for (const [each, { server }] of Object.entries(connections))
          if (server === effect.server) gateway.closeConnection(Number(id), Number(each));
    }),
  ],
  [
    'opens a created service never',
    'service.create/start',
    ({ apply }) => {
      let hasCreated = false;
      return {
        apply: async (effect, context) => {
          hasCreated ||= effect.type === 'service.create';
          if (!hasCreated || effect.type !== 'service.start') await apply(effect, context);
        },
      };
    },
  ],
  [
    'closes the next session too',
    'sessions.close/only',
    afterApply((gateway) => {
      closeAll(gateway, (id) => id === Math.min(...Object.keys(gateway.state.sessions).map(Number)));
    }),
  ],
  ['closes the session of a connection', 'connections.close/only', afterApply(closeSessionsOf)],
  [
    'closes every connection of a session, also those to other servers',
    'connections.close/only',
    insteadOfApply((gateway) => (effect) => {
      const closed = effect.type === 'connections.close' ? effect.connections : [];
      for (const { session } of closed) {
        for (const id of Object.keys(gateway.state.sessions[String(session)]?.connections ?? {}))
          gateway.closeConnection(session, Number(id));
      }
      return Promise.resolve();
    }),
  ],
  [
    'closes a later session with the id, and says that it has not',
    'sessions.close/gone',
    (gateway) => {
      let closed = '';
      return {
        apply: only('sessions.close', gateway.apply, (effect, context) => {
          const today = withTimesOf(gateway.state, effect);
          closed = JSON.stringify(today);
          return gateway.apply(today, context);
        }),
        inspect: only('sessions.close', gateway.inspect, (effect) =>
          Promise.resolve(JSON.stringify(effect) === closed ? 'not-in-place' : 'in-place'),
        ),
      };
    },
  ],
];

describe('a port that', () => {
  it.each(blunders)('%s fails %s', async (_what, id, breaking) => {
    await expect(audit(id, breaking)).rejects.toThrow(
      /^(?:apply must resolve|inspect must|the client of|a client that|the gateway must not close connection|the gateway must take a client of)/,
    );
  });
});

const forEver = (): Promise<never> => new Promise(() => undefined);

describe('what never answers', () => {
  const audited = (breaks: Breaks, id: string) => begun(() => auditNamed(auditsOf(breaks), id).run());
  const opened = (open: () => Promise<AuditedGateway>, connect?: () => Promise<AuditClient>) =>
    begun(() => {
      const options = { supports: able, ...(connect && { connect }) };
      return auditNamed(gatewayAudits(document, open, options), 'service.stop/before').run();
    });
  const port = (): Promise<AuditedGateway> => Promise.resolve(createScriptedGateway({ snapshot }));
  const stop: Transition = (now, context) => stopService(now, 'My Service', context);
  const cases: readonly (readonly [what: string, run: () => Promise<void>, message: string])[] = [
    [
      'apply',
      audited(() => ({ apply: forEver }), 'service.stop/after'),
      'apply must resolve or reject for service.stop of /services/My-Service, but has not within 4000 ms',
    ],
    [
      'apply that waits for a command on the same resource',
      audited(
        ({ apply }, admin) => ({
          apply: async (effect, context) => {
            await admin.execute(stop);
            return apply(effect, context);
          },
        }),
        'service.stop/after',
      ),
      'apply must resolve or reject for service.stop of /services/My-Service, but has not within 4000 ms',
    ],
    [
      'apply when its signal aborts',
      audited(() => ({ apply: forEver }), 'service.stop/abort'),
      'apply must settle when its signal aborts for service.stop of /services/My-Service, but has not within 1000 ms',
    ],
    [
      'inspect',
      audited(() => ({ inspect: forEver }), 'service.stop/before'),
      'inspect must answer for service.stop of /services/My-Service, but has not within 4000 ms',
    ],
    [
      'connect',
      opened(port, forEver),
      'the option connect must resolve or reject, but has not within 4000 ms',
    ],
    [
      'the function that opens the gateway',
      opened(forEver),
      'the function that opens the gateway must resolve, but has not within 4500 ms',
    ],
    [
      'the disposal of the gateway',
      opened(async () => ({ ...(await port()), [Symbol.asyncDispose]: forEver })),
      'Symbol.asyncDispose of the gateway must resolve, but has not within 4500 ms',
    ],
  ];

  it.each(cases)('fails an audit with the rule: %s', async (_what, run, message) => {
    await expect(run()).rejects.toThrow(message);
  });
});

describe('a server that goes away', () => {
  const auditWith = (reports: boolean): Promise<void> => {
    const open = (admin: Admin): Promise<Opened> => {
      const gateway = opened();
      const port = { ...gateway, gateway, ...ways(gateway, admin) };
      port.report(gateway.statusReports());
      return Promise.resolve(port);
    };
    const audits = gatewayAudits(document, open, {
      supports: able,
      interrupt({ key }, { gateway, report }) {
        const become = (status: readonly ServerStatusWord[]): Promise<void> => {
          const found = gateway.findStatus(key, status);
          return Promise.resolve(reports ? report(found) : undefined);
        };
        return become([]).then(() => () => become(['running']));
      },
    });
    return auditNamed(audits, 'reports/lost').run();
  };

  it('is reported by a port that passes', async () => {
    await expect(auditWith(true)).resolves.toBeUndefined();
  });

  it('is missed by a port that fails', async () => {
    await expect(auditWith(false)).rejects.toThrow(/^the gateway must report .* when it is gone$/);
  });
});

describe('a port that lists neither drain nor create and delete', () => {
  const isKnown = (effect: Effect): boolean =>
    !/\.(?:create|delete)$/.test(effect.type) &&
    !('operations' in effect && effect.operations.some(({ path }) => path === '/drain'));
  const asked: string[] = [];
  const known = (effect: Effect): Effect => {
    if (isKnown(effect)) return effect;
    asked.push(effect.type);
    throw new EffectRefusedError('I do not know this.');
  };
  const supporting =
    (supports: readonly string[]): Breaks =>
    ({ apply, inspect }, admin) => ({
      // From JavaScript, one of the two can come alone.
      supports: supports as readonly [],
      apply: (effect, context) => apply(known(effect), context),
      inspect: (effect, context) => inspect(known(effect), context),
      ...undrained(admin),
    });
  const runs = begun(async () => {
    const whole = failed(auditsOf(supporting([]), []));
    // The others differ in what they are asked to create and to delete.
    const halves = (['create', 'delete'] as const).map((word) =>
      failed(
        auditsOf(supporting([word]), [word] as unknown as readonly []).filter(({ id }) =>
          /\.(?:create|delete)\//.test(id),
        ),
      ),
    );
    return (await Promise.all([whole, ...halves])).flat();
  });

  it('is not asked for any of that, and passes', async () => {
    expect(await runs()).toEqual([]);
    expect(asked).toEqual([]);
  });

  it('has no audit of that, and the list says which audits are left out, and why', () => {
    const few = auditsOf(supporting([]), []);
    const { leftOut } = few;
    const left = few.map(({ id }) => id);
    expect(left.filter((id) => /\.(?:create|delete)\/|\/(?:drain|accepted|complete)$/.test(id))).toEqual([]);
    expect([...left, ...leftOut.map(({ id }) => id)].toSorted()).toEqual([...ids, 'reports/lost'].toSorted());
    const why = Object.fromEntries(leftOut.map((each) => [each.id, each.why]));
    expect(why).toMatchObject({
      'service.create/after': 'supports does not list create',
      'server.update/drain': 'supports does not list drain',
      'reports/complete': 'supports does not list drain',
      'reports/lost': 'it needs the option interrupt',
    });
  });

  it('fails every audit of a list that was made for another port, with what to do', async () => {
    await expect(auditNamed(auditsOf(supporting([])), 'service.stop/before').run()).rejects.toThrow(
      'supports of the gateway is [], but the audits were chosen for ["create","delete","drain"]. Give gatewayAudits the option supports: []',
    );
  });
});

/**
 * What a port does that knows no drains: reports come late, the end of the first ones is not reported, and any server
 * is used.
 */
function undrained(admin: Admin): Partial<Opened> {
  const report = laterAfterThree(admin);
  return {
    report: (reports) => {
      report(reports.filter(({ type }) => type !== 'sessions.complete'));
    },
  };
}

/** A port that changes or leaves out some of its reports. */
function reporting(change: (report: HostReport) => readonly HostReport[]): Breaks {
  return (_gateway, admin) => ({
    report: (reports) => {
      admin.report(reports.flatMap(change));
    },
  });
}

const counters = { reads: 1, writes: 1, buffered_writes: 0, high_water_events: 0, low_water_events: 0 };

const without = (type: HostReport['type']): Breaks =>
  reporting((report) => (report.type === type ? [] : [report]));

describe('a gateway whose reports are wrong', () => {
  const mute: readonly (readonly [what: string, id: string, telemetry: Telemetry, message: string])[] = [
    [
      'answers with a promise for its threads',
      'reports/figures',
      { threads: () => Promise.resolve({ threads: [] }) as never },
      'telemetry.threads().threads must be a list at once, but is undefined. A reader is synchronous.',
    ],
    [
      'takes the id of a session for a record',
      'reports/idle',
      { idle: (session) => (session as unknown as { readonly seconds?: number }).seconds },
      'telemetry.idle must know session 1, whose client is connected, but answers undefined. A reader gets the id.',
    ],
    [
      'shows an idle time of 0 for ever',
      'reports/idle',
      { idle: () => 0 },
      'telemetry.idle must grow while the client of session 1 is silent, but still answers 0.',
    ],
    [
      'mixes up the ids of a connection',
      'reports/statistics',
      { statistics: (session, id) => (session === 0 && id > 0 ? counters : undefined) },
      'telemetry.statistics must know connection 0 of session 1, whose client is connected, but answers undefined.',
    ],
  ];
  const wrong: readonly (readonly [what: string, id: string, breaks: Breaks, message: string])[] = [
    [
      'never reports the end of a session',
      'reports/end',
      without('session.closed'),
      'the gateway must report the end of session 1 within a second after its client has left',
    ],
    [
      'reports a session on another service',
      'reports/service',
      reporting((report) => [
        report.type === 'session.opened' ? { ...report, service: 'bare-service' } : report,
      ]),
      'the gateway must report the session of a client that connects to My Service on that service, not on "bare-service"',
    ],
    [
      'reports the end of all sessions when a client leaves',
      'reports/end',
      (gateway, admin) => ({
        report: (reports) => {
          admin.report(reports);
          if (!reports.some(({ type }) => type === 'session.closed')) return;
          admin.report(Object.keys(gateway.state.sessions).flatMap((id) => gateway.closeSession(Number(id))));
        },
      }),
      'the gateway must not report the end of session 2, whose client is connected',
    ],
    [
      'names a service by its link',
      'reports/taken',
      reporting((report) =>
        report.type === 'service.reported'
          ? [report, { ...report, service: `/services/${report.service}` }]
          : [report],
      ),
      'the interface must take every report (the interface has refused a report: ',
    ],
    [
      'gives seconds for the connect time of a session',
      'reports/time',
      reporting((report) => {
        const isAbout = report.type === 'session.opened' || report.type === 'session.closed';
        if (isAbout) return [{ ...report, connected: Math.floor(report.connected / 1000) }];
        if (report.type !== 'connection.opened') return [report];
        const { connected: _connected, ...opened } = report;
        return [opened];
      }),
      'the gateway must report as connect time of session 1 when its client has connected, in milliseconds since 1970',
    ],
    [
      'never reports the status of a server',
      'reports/status',
      without('server.reported'),
      'the gateway must report the status of db-serv-1 within a second, because the monitor',
    ],
    [
      'never says that everything is reported',
      'reports/complete',
      without('sessions.complete'),
      'the gateway must report sessions.complete within a second after its start',
    ],
    [
      'reports an open session after it has said that everything is reported',
      'reports/complete',
      (gateway, admin) => {
        let opened = 0;
        return {
          report: (reports) => {
            admin.report(reports);
            const isOpening = reports.some(({ type }) => type === 'session.opened');
            if (isOpening && (opened += 1) === 3) admin.report(gateway.openSession('my-service'));
          },
        };
      },
      'the gateway must report session 4 before sessions.complete, because the session was open by then',
    ],
    [
      'reports the sessions of a service that stops as closed, and leaves their clients connected',
      'service.stop/sessions',
      (of, admin) =>
        afterApply(({ state }) => {
          for (const [id, { connected }] of Object.entries(state.sessions))
            admin.report({ type: 'session.closed', id: Number(id), connected });
        })(of, 'service.stop', admin),
      'the gateway must not report the end of session 1, whose client is connected',
    ],
    ...mute.map(([what, id, telemetry, message]) => [what, id, () => ({ telemetry }), message] as const),
  ];
  const wrongly = wrong.map(
    ([what, id, breaks, message]) =>
      [what, id, begun(() => auditNamed(auditsOf(breaks), id).run()), message] as const,
  );

  it.each(wrongly)('%s, and fails %s', async (_what, _id, audited, message) => {
    await expect(audited()).rejects.toThrow(message);
  });

  it('passes if its telemetry knows the sessions and connections', async () => {
    const telemetry: Telemetry = { idle: () => 1, statistics: () => counters };
    const audits = auditsOf(() => ({ telemetry })).filter(({ id }) => id.startsWith('reports/'));
    expect(await failed(audits)).toEqual([]);
  });

  const batched: Breaks = ({ apply }, admin) => {
    const report = later(5, admin);
    let sent = Promise.resolve();
    return {
      report(reports) {
        report(reports);
        sent = new Promise((resolve) => setTimeout(resolve, 5));
      },
      apply: (effect, context) =>
        effect.type === 'service.stop' ? sent.then(() => apply(effect, context)) : apply(effect, context),
    };
  };
  // The audits that look at clients, sessions and reports.
  const ofSessions = /^(?:reports|sessions|connections)|\/(?:sessions|accepted|drain|entry|start)$/;
  const late = begun(() => failed(auditsOf(batched).filter(({ id }) => ofSessions.test(id))));

  it('passes every audit of sessions if the reports come 5 ms later, and those of accepted sessions before a stop', async () => {
    expect(await late()).toEqual([]);
  });
});

const read =
  /^\/(?:drain|max_connection|connection_timeout|state|port|monitor_interval|connect_timeout|parameters)(?:\/|$)/;

/** A port that does nothing for an update, and reads settings from the snapshot of the interface at each use. */
function settingsReader({ inspect, apply }: ScriptedGateway, admin: Admin): GatewayPort & Partial<Opened> {
  const isUpdate = (effect: Effect): boolean => effect.type.endsWith('.update');
  return {
    async apply(effect, context) {
      if (!('operations' in effect)) return apply(effect, context);
      if (!effect.operations.every(({ path }) => read.test(path)))
        throw new EffectRefusedError('Nobody reads such a setting.');
    },
    inspect: (effect, context) =>
      isUpdate(effect) ? Promise.resolve(isSaid(effect, admin)) : inspect(effect, context),
    supports: ['create', 'delete', 'drain'],
    isDraining(server) {
      const { drain, state = [] } = admin.snapshot.servers.find(server)?.settings ?? {};
      return drain !== undefined || state.includes('maintenance');
    },
    limitOf: (service) => admin.snapshot.services.find(service)?.settings.max_connection ?? 0,
  };
}

/** Whether the snapshot has what an update has changed. */
function isSaid(effect: Effect, { snapshot }: Admin): 'in-place' | 'not-in-place' {
  if (!('operations' in effect)) throw new Error(`${effect.type} is no update`);
  const [, collection = '', name = ''] = effect.resource.split('/');
  const settings = snapshot[collection as 'servers'].find(name)?.settings;
  // A change calls the status of a server `status`.
  return isUpdateInPlace(effect, settings && { ...settings, status: settings.state })
    ? 'in-place'
    : 'not-in-place';
}

describe('a port that reads settings from the snapshot of its interface', () => {
  const isAbout = ({ id }: GatewayAudit): boolean => /\.update\/|\/others$/.test(id);
  const reading = begun(() => failed(auditsOf(settingsReader).filter(isAbout)));

  it('passes the audits when inspect says what the snapshot says', async () => {
    expect(await reading()).toEqual([]);
  });
});

/** A gateway to which requests are on their way for 5 ms. An aborted call ends at once, and its request does not. */
function distant(arrives: boolean, inspect: (isOnItsWay: boolean) => InspectWay): GatewayPort {
  let onTheirWay = 0;
  return opened().otherwise({
    async apply(_effect, context, perform) {
      onTheirWay += 1;
      setTimeout(() => {
        onTheirWay -= 1;
        if (arrives) perform();
      }, 5);
      await aborted(context);
      throw new Error('given up');
    },
    inspect: (_effect, _context, look) => {
      const way = inspect(onTheirWay > 0);
      return way instanceof Error ? Promise.reject(way) : Promise.resolve(look());
    },
  });
}

describe('a port whose aborted call may still take effect', () => {
  const id = 'service.stop/final';
  const audited = (arrives: boolean, inspect: (isOnItsWay: boolean) => InspectWay): Promise<void> =>
    auditNamed(
      gatewayAudits(document, () => Promise.resolve(distant(arrives, inspect)), { supports: able }),
      id,
    ).run();
  const waits = (isOnItsWay: boolean): InspectWay => (isOnItsWay ? new Error('cannot tell yet') : 'answer');

  it.each([true, false])(
    'passes if inspect rejects until that is over: the request arrives, %p',
    async (arrives) => {
      await expect(audited(arrives, waits)).resolves.toBeUndefined();
    },
  );

  it('fails if inspect answers at once, and the request arrives', async () => {
    await expect(audited(true, () => 'answer')).rejects.toThrow(
      'inspect must answer "not-in-place" for service.stop of /services/My-Service after inspect had answered so, and apply had ended, not "in-place"',
    );
  });

  it('passes if inspect never can tell', async () => {
    await expect(audited(true, () => new Error('cannot tell'))).resolves.toBeUndefined();
  });
});

describe('a port whose start is obstructed', () => {
  /** Applies as the gateway does, and ends in another way if the gateway fails. */
  const endsWith =
    (end: (gateway: ScriptedGateway, effect: Effect) => Promise<void>): Breaks =>
    (gateway) => ({
      apply: (effect, context) => gateway.apply(effect, context).catch(() => end(gateway, effect)),
    });
  const givesUp = async ({ will, apply }: ScriptedGateway, effect: Effect): Promise<void> => {
    const service = 'service' in effect ? effect.service : '';
    will('done');
    await apply(
      { type: 'service.stop', resource: effect.resource, service, ...toStopped },
      { ...never, commandId: 'undo' },
    );
  };
  const never = { signal: new AbortController().signal };
  const refuses = (): Promise<never> => Promise.reject(new EffectRefusedError('The port is taken.'));

  const passing: readonly (readonly [what: string, port: Breaks])[] = [
    ['goes on trying, says so, and cannot tell the outcome', () => ({})],
    ['goes on trying, and takes the start for done', endsWith(() => Promise.resolve())],
    ['gives up, and refuses', endsWith((gateway, effect) => givesUp(gateway, effect).then(refuses))],
    [
      'gives up, and cannot tell the outcome',
      endsWith((gateway, effect) => givesUp(gateway, effect).then(() => Promise.reject(new Error('broken')))),
    ],
    [
      'cannot tell',
      ({ inspect }) => ({ inspect: only('service.start', inspect, () => Promise.reject(new Error('?'))) }),
    ],
  ];
  const runs = passing.map(
    ([what, port]) => [what, begun(() => auditNamed(auditsOf(port), 'service.start/retry').run())] as const,
  );

  it.each(runs)('passes if it %s', async (_what, audited) => {
    await expect(audited()).resolves.toBeUndefined();
  });

  it.each<[string, Breaks]>([
    ['goes on trying, and refuses', endsWith(refuses)],
    ['gives up, and takes the start for done', endsWith(givesUp)],
  ])('fails if it %s', async (_what, port) => {
    await expect(auditNamed(auditsOf(port), 'service.start/retry').run()).rejects.toThrow(
      /^inspect must answer/,
    );
  });

  const withoutState = (state: string): Breaks =>
    reporting((report) => (report.type === 'service.reported' && report.state === state ? [] : [report]));

  it.each([
    ['that the service has failed', withoutState('failed'), 'as failed within a second'],
    ['that the service runs again', withoutState('started'), 'as started within a second after it can start'],
  ])('fails if it does not report %s', async (_what, port, message) => {
    await expect(auditNamed(auditsOf(port), 'service.start/retry').run()).rejects.toThrow(message);
  });
});

describe('a port that cannot do anything right', () => {
  const ports: readonly (readonly [what: string, port: object, about: RegExp])[] = [
    [
      'answers with something else',
      { inspect: () => Promise.resolve(true) },
      /before|after|undo|others|later|gone/,
    ],
    ['throws', { apply: throwing, inspect: throwing }, /before|after|undo|others|later|gone/],
  ];
  const runs = ports.map(([what, port, about]) => {
    const run = begun(() => failed(auditsOf(() => port).filter(({ id }) => about.test(id))));
    return [what, about, run] as const;
  });

  it.each(runs)('and %s fails all audits about that', async (_what, about, failures) => {
    expect((await failures()).map((each) => each.split(':')[0])).toEqual(ids.filter((id) => about.test(id)));
  });
});

function throwing(): never {
  throw new TypeError('not a function');
}
