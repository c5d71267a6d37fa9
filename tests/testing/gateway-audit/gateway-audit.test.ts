import { describe, expect, it } from '@jest/globals';
import {
  createSnapshot,
  EffectRefused,
  InvalidDocumentError,
  type Effect,
  type EffectContext,
  type GatewayDocument,
  type GatewayPort,
} from 'gateway-admin-core';
import {
  createScriptedGateway,
  createVirtualClock,
  gatewayAudits,
  type GatewayAudit,
  type InspectWay,
  type ScriptedGateway,
} from 'gateway-admin-core/testing';

import { effectTable } from '../../../src/resources/index.ts';
import { sampleDocument } from '../../support/document.ts';

/** The sample, where every filter with a parameter that may be changed has two of them. */
const document: GatewayDocument = {
  ...sampleDocument,
  filters: (sampleDocument.filters ?? []).map((filter) => {
    const { parameters } = filter;
    return parameters === undefined
      ? filter
      : { ...filter, parameters: { ...parameters, extra: { value: '1', configurable: true } } };
  }),
};
const snapshot = createSnapshot(document);

function opened(): ScriptedGateway {
  return createScriptedGateway({ snapshot, clock: createVirtualClock() });
}

function auditsOf(
  breaks: (gateway: ScriptedGateway) => GatewayPort = (gateway) => gateway,
): readonly GatewayAudit[] {
  return gatewayAudits(document, () => Promise.resolve(breaks(opened())));
}

const audits = auditsOf();
const ids = audits.map(({ id }) => id);

function auditNamed(of: readonly GatewayAudit[], id: string): GatewayAudit {
  const audit = of.find((each) => each.id === id);
  if (audit === undefined) throw new Error(`There is no audit ${id}`);
  return audit;
}

/** Which audits a port fails. */
async function failed(of: readonly GatewayAudit[]): Promise<readonly string[]> {
  const failures: string[] = [];
  for (const { id, run } of of) await run().catch(() => failures.push(id));
  return failures;
}

describe('the audits', () => {
  it('have ids that stay', () => {
    expect(ids).toEqual([
      ...laws('service.stop', 'before', 'after', 'undo', 'others', 'abort', 'final'),
      ...laws('service.start', 'before', 'after', 'undo', 'others', 'abort', 'final'),
      ...laws('monitor.stop', 'before', 'after', 'undo', 'others', 'abort', 'final'),
      ...laws('monitor.start', 'before', 'after', 'undo', 'others', 'abort', 'final'),
      ...laws('service.update', 'before', 'after', 'undo', 'others', 'later', 'abort', 'final'),
      ...laws('server.update', 'before', 'after', 'undo', 'others', 'later', 'abort', 'final'),
      ...laws('monitor.update', 'before', 'after', 'undo', 'others', 'later', 'abort', 'final'),
      ...laws('filter.update', 'before', 'after', 'undo', 'others', 'later', 'abort', 'final'),
      ...laws('sessions.close', 'before', 'after', 'others', 'gone', 'abort', 'final'),
      ...laws('connections.close', 'before', 'after', 'others', 'gone', 'abort', 'final'),
      ...laws('logs.flush', 'after', 'others', 'abort', 'final'),
    ]);
  });

  it('are about every type of effect', () => {
    const audited = new Set(ids.map((id) => id.split('/')[0]));
    expect(Object.keys(effectTable).filter((type) => !audited.has(type))).toEqual([]);
  });

  it('are left out where the document has nothing for them', () => {
    const open = (): Promise<GatewayPort> => Promise.resolve(opened());
    expect(gatewayAudits({}, open).map(({ id }) => id)).toEqual(
      laws('logs.flush', 'after', 'abort', 'final'),
    );
    const filters = [
      { name: 'Fixed', module: 'tee', parameters: { a: { value: 'b', configurable: false } } },
    ];
    expect(gatewayAudits({ filters }, open)).toHaveLength(3);
  });

  it('need a document that is valid', () => {
    const invalid = { services: [{ name: '', router: 'x' }] };
    expect(() => gatewayAudits(invalid, () => Promise.reject(new Error('never opened')))).toThrow(
      InvalidDocumentError,
    );
  });

  it.each(audits.map(({ id, name, run }) => [id, name, run] as const))('%s: %s', async (_id, _name, run) => {
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
    await expect(auditNamed(gatewayAudits(document, open), 'service.stop/before').run()).rejects.toThrow(
      'blind',
    );
    await expect(auditNamed(gatewayAudits(document, open), 'logs.flush/abort').run()).rejects.toThrow(
      'blind',
    );
    expect(log).toEqual(['open', 'dispose', 'open', 'dispose']);
  });

  it('say what is wrong, and of what', async () => {
    const blind = auditsOf((gateway) => ({ ...gateway, inspect: () => Promise.resolve('in-place') }));
    await expect(auditNamed(blind, 'service.stop/before').run()).rejects.toThrow(
      'inspect must answer "not-in-place" for service.stop of /services/My-Service before any effect was applied, not "in-place"',
    );
    const lazy = auditsOf((gateway) => ({
      ...gateway,
      apply: () => {
        throw new EffectRefused('No.');
      },
    }));
    await expect(auditNamed(lazy, 'monitor.start/after').run()).rejects.toThrow(
      'apply must resolve for monitor.start of /monitors/Idle-Monitor, but failed: EffectRefused: No.',
    );
  });
});

function laws(type: string, ...of: readonly string[]): readonly string[] {
  return of.map((law) => `${type}/${law}`);
}

type Method<T> = (effect: Effect, context: EffectContext) => Promise<T>;

/** For each law, a port that breaks it for one type of effect. */
const broken: Readonly<Record<string, (gateway: ScriptedGateway, type: string) => Partial<GatewayPort>>> = {
  /** Takes nothing for not done. */
  before: ({ inspect }, type) => ({
    inspect: only(type, inspect, () => Promise.resolve('in-place')),
  }),
  /** Says that it is done, and does nothing. */
  after: ({ apply }, type) => ({ apply: only(type, apply, () => Promise.resolve()) }),
  /** Once done, it is done for good. */
  undo: ({ apply, inspect }, type) => {
    const done = new Set<string>();
    return {
      apply: async (effect, context) => {
        if (effect.type === type && !done.has(keyOf(effect))) done.add(keyOf(effect));
        else if (done.has(keyOf(effect))) return;
        await apply(effect, context);
      },
      inspect,
    };
  },
  /** Does the same to everything else. */
  others: (gateway, type) => ({
    apply: only(type, gateway.apply, async (effect, context) => {
      await gateway.apply(effect, context);
      await disturb(gateway, effect);
    }),
  }),
  /** Compares all settings, not only those that were changed. */
  later: ({ apply, inspect }, type) => {
    const settings = new Map<string, string>();
    const whole = (effect: Effect): string => ('after' in effect ? JSON.stringify(effect.after) : '');
    return {
      apply: async (effect, context) => {
        await apply(effect, context);
        settings.set(effect.resource, whole(effect));
      },
      inspect: only(type, inspect, (effect) => {
        const same = settings.get(effect.resource) === whole(effect);
        return Promise.resolve(same ? 'in-place' : 'not-in-place');
      }),
    };
  },
  /** Looks at ids alone. */
  gone: ({ state, inspect, apply }, type) => {
    const asToday = (effect: Effect): Effect => withTimesOf(state, effect);
    return {
      inspect: only(type, inspect, (effect, context) => inspect(asToday(effect), context)),
      apply: only(type, apply, (effect, context) => apply(asToday(effect), context)),
    };
  },
  /** Refuses when its time is over, after it has begun. */
  abort: ({ apply }, type) => ({
    apply: only(type, apply, async (effect, context) => {
      await apply(effect, context);
      if (context.signal.aborted) throw new EffectRefused('Too late.');
    }),
  }),
  /** Gives up when its time is over, but what it has sent still arrives. */
  final: ({ apply }, type) => ({
    apply: only(type, apply, async (effect, context) => {
      setTimeout(() => void apply(effect, context), 5);
      await aborted(context);
      throw new Error('given up');
    }),
  }),
};

async function aborted({ signal }: EffectContext): Promise<void> {
  await new Promise((resolve) => {
    signal.addEventListener('abort', resolve, { once: true });
  });
}

function only<T>(type: string, usual: Method<T>, broken: Method<T>): Method<T> {
  return (effect, context) => (effect.type === type ? broken : usual)(effect, context);
}

function keyOf({ type, resource }: Effect): string {
  const [kind = ''] = type.split('.');
  return `${kind} ${type.endsWith('update') ? 'update' : 'run'} ${resource}`;
}

/** Stops or starts something that the effect is not about. */
async function disturb({ apply }: ScriptedGateway, { resource }: Effect): Promise<void> {
  const context = { commandId: 'stray', signal: new AbortController().signal };
  const running = { resource: '/services/My-Service', service: 'my-service' };
  const stopped = { resource: '/services/Bare-Service', service: 'bare-service' };
  if (resource !== running.resource) await apply({ type: 'service.stop', ...running }, context);
  if (resource !== stopped.resource)
    await apply({ type: 'service.start', from: 'stopped', ...stopped }, context);
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

describe('a port that breaks one law for one type of effect', () => {
  it.each(ids)('fails %s', async (id) => {
    const [type = '', law = ''] = id.split('/');
    const own = auditsOf((gateway) => ({ ...gateway, ...broken[law]?.(gateway, type) }));
    expect(broken).toHaveProperty(law);
    await expect(auditNamed(own, id).run()).rejects.toThrow(/^inspect must answer/);
  });
});

const blunders: readonly (readonly [
  what: string,
  id: string,
  port: (gateway: ScriptedGateway) => Partial<GatewayPort>,
])[] = [
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
];

describe('a port that', () => {
  it.each(blunders)('%s fails %s', async (_what, id, port) => {
    const own = auditsOf((gateway) => ({ ...gateway, ...port(gateway) }));
    await expect(auditNamed(own, id).run()).rejects.toThrow(/^inspect must answer/);
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
      gatewayAudits(document, () => Promise.resolve(distant(arrives, inspect))),
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

describe('a port that cannot do anything right', () => {
  it.each([
    ['never sees anything done', { inspect: () => Promise.resolve('not-in-place') }, /after|undo|later|gone/],
    [
      'answers with something else',
      { inspect: () => Promise.resolve(true) },
      /before|after|undo|others|later|gone/,
    ],
    ['does nothing', { apply: () => Promise.resolve() }, /after|later|abort/],
    ['throws', { apply: throwing, inspect: throwing }, /before|after|undo|others|later|gone/],
  ])('and %s fails all audits about that', async (_name, port, about) => {
    const own = auditsOf((gateway) => ({ ...gateway, ...port }) as GatewayPort);
    const failures = await failed(own.filter(({ id }) => about.test(id)));
    expect(failures).toEqual(ids.filter((id) => about.test(id)));
  });
});

function throwing(): never {
  throw new TypeError('not a function');
}
