import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import {
  adoptDocument,
  applyReports,
  createSnapshot,
  drain,
  evolve,
  patchServer,
  patchService,
  resume,
  revert,
  sequence,
  startService,
  stopService,
  toDocument,
  type Decision,
  type Operation,
  type Snapshot,
} from 'gateway-admin-core';

import { configuration } from '../support/configuration.ts';
import { readAll } from '../support/reading.ts';
import { shown } from '../support/shown.ts';

const at = (seconds: number): { readonly now: number; readonly actor: string } => ({
  now: seconds * 1000,
  actor: 'ada',
});
const given = createSnapshot({
  servers: [{ name: 'db-1', address: '10.0.0.1', port: 5432, protocol: 'pg', status: ['running'] }],
  services: [
    { name: 'Sales', router: 'cli', servers: ['/servers/db-1'] },
    { name: 'Off', router: 'cli', servers: [], state: 'stopped' },
  ],
});
const accepted = (decision: Decision): Extract<Decision, { readonly outcome: 'accepted' }> => {
  if (decision.outcome !== 'accepted') throw new Error(JSON.stringify(decision));
  return decision;
};
const draining = (name = 'Sales'): Snapshot => drain(given, 'services', name, {}, at(1)).next;
const serviceIn = ({ services }: Snapshot, name = 'sales') => services.find(name);
/** The drains that the interface shows, by the name of the service or server. */
function drainsShown(snapshot: Snapshot): Readonly<Record<string, unknown>> {
  const lists = readAll(snapshot).filter(({ route }) => /^(?:services|servers)\.list$/.test(route.id));
  const shown = lists.flatMap((list) => list.shown) as readonly {
    readonly name: string;
    readonly drain?: unknown;
  }[];
  return Object.fromEntries(shown.flatMap(({ name, drain }) => (drain === undefined ? [] : [[name, drain]])));
}

const typesOf = (decision: Decision): readonly string[] =>
  decision.outcome === 'accepted' ? decision.events.map(({ type }) => type) : [decision.outcome];

describe('the drain of a service', () => {
  it('stops the service, and says since when, by whom and what it was', () => {
    const { events, effects, next } = accepted(
      drain(given, 'services', 'sales', { timeout: 60, then: 'close', reason: 'kernel' }, at(1)),
    );
    expect(events.map(({ type }) => type)).toEqual(['service.stopped', 'service.updated']);
    expect(effects.map(({ type }) => type)).toEqual(['service.stop', 'service.update']);
    expect(serviceIn(next)?.settings.drain).toEqual({
      since: '1970-01-01T00:00:01+00:00',
      timeout: 60,
      until: '1970-01-01T00:01:01+00:00',
      then: 'close',
      reason: 'kernel',
      by: 'ada',
      from: 'started',
    });
    expect(next.draining).toBe(1);
    expect(drainsShown(next)).toMatchObject({ Sales: { state: 'drained' } });
  });

  it('that was stopped while it drained stays stopped at the end', () => {
    const stopped = stopService(draining(), 'Sales', at(2)).next;
    expect(serviceIn(resume(stopped, 'services', 'Sales', at(3)).next)?.state).toBe('stopped');
  });

  it('does not come back for a service that was started since', () => {
    const off = draining('Off');
    const { next, events } = accepted(resume(off, 'services', 'Off', at(2)));
    const started = startService(next, 'Off', at(3)).next;
    const back = sequence(...events.map((event) => revert(event)));
    expect(back(started, at(4))).toMatchObject({
      outcome: 'refused',
      resources: ['/services/Off'],
      problem: {
        code: 'validation-failed',
        errors: [{ pointer: '/state', detail: 'must be stopped while the service drains' }],
      },
    });
    const stopped = stopService(started, 'Off', at(4)).next;
    expect(configuration(back(stopped, at(5)).next)).toEqual(configuration(off));
  });

  it('that is not there is unchanged by a resume', () => {
    expect(resume(given, 'services', 'Sales', at(1)).outcome).toBe('unchanged');
    expect(resume(given, 'servers', 'db-1', at(1)).outcome).toBe('unchanged');
  });
});

/** What happened to a service, as `<the kinds of events> → <state> from <the state before the drain>`. */
function written(decision: {
  readonly next: Snapshot;
  readonly events?: readonly { readonly type: string }[];
}): string {
  const { state = '', settings } = shown(serviceIn(decision.next)) ?? {};
  const types = (decision.events ?? []).map(({ type }) => type.replace('service.', ''));
  return `${types.join(' ')} → ${state}${settings?.drain === undefined ? '' : ` from ${settings.drain.from}`}`;
}

const seen = (now: Snapshot, state: 'started' | 'failed') =>
  applyReports(now, { type: 'service.reported', service: 'Sales', state }, at(2));
const begin = (now: Snapshot): Snapshot => drain(now, 'services', 'Sales', {}, at(1)).next;
const [failed, stopped] = [seen(given, 'failed').next, stopService(given, 'Sales', at(0)).next];

/** The columns of the table: commands and reports about a service. */
const happenings: readonly (readonly [string, (now: Snapshot) => Parameters<typeof written>[0]])[] = [
  ['a drain', (now) => drain(now, 'services', 'Sales', {}, at(2))],
  ['another deadline', (now) => drain(now, 'services', 'Sales', { timeout: 5, then: 'close' }, at(2))],
  ['a resume', (now) => resume(now, 'services', 'Sales', at(2))],
  ['a start', (now) => startService(now, 'Sales', at(2))],
  ['a stop', (now) => stopService(now, 'Sales', at(2))],
  ['a report of failure', (now) => seen(now, 'failed')],
  ['a report of running', (now) => seen(now, 'started')],
];

/** The rows: what each happening makes of a service in each state. */
const table: readonly (readonly [string, Snapshot, readonly string[]])[] = [
  [
    'is started',
    given,
    [
      'stopped updated → stopped from started',
      'stopped updated → stopped from started',
      ' → started',
      ' → started',
      'stopped → stopped',
      'reported → failed',
      ' → started',
    ],
  ],
  [
    'has failed',
    failed,
    [
      'stopped updated → stopped from started',
      'stopped updated → stopped from started',
      ' → failed',
      'started → started',
      'stopped → stopped',
      ' → failed',
      'reported → started',
    ],
  ],
  [
    'is stopped',
    stopped,
    [
      'updated → stopped from stopped',
      'updated → stopped from stopped',
      ' → stopped',
      'started → started',
      ' → stopped',
      ' → stopped',
      ' → stopped',
    ],
  ],
  ...[given, failed].map((before): (typeof table)[number] => [
    `drains, and was ${shown(serviceIn(before))?.state ?? ''}`,
    begin(before),
    [
      ' → stopped from started',
      'updated → stopped from started',
      'updated started → started',
      'updated started → started',
      'updated → stopped from stopped',
      ' → stopped from started',
      ' → stopped from started',
    ],
  ]),
  [
    'drains, and was stopped',
    begin(stopped),
    [
      ' → stopped from stopped',
      'updated → stopped from stopped',
      'updated → stopped',
      'updated started → started',
      ' → stopped from stopped',
      ' → stopped from stopped',
      ' → stopped from stopped',
    ],
  ],
];

describe('the table of drains', () => {
  it.each(
    table.flatMap(([state, now, results]) =>
      happenings.map(([what, happen], column) => ({
        state,
        now,
        what,
        happen,
        result: results[column] ?? '',
      })),
    ),
  )('a service that $state takes $what: $result', ({ now, happen, result }) => {
    const decision = happen(now);
    expect(written(decision)).toBe(result);
    // What brings no event gives the same snapshot back.
    if (result.startsWith(' ')) expect(decision.next).toBe(now);
    const { since } = serviceIn(now)?.settings.drain ?? {};
    const { drain: after } = serviceIn(decision.next)?.settings ?? {};
    if (since !== undefined && after !== undefined) expect(after.since).toBe(since);
  });

  const reason = 'kernel';
  const serverIn = (now: Snapshot) => now.servers.find('db-1')?.settings;
  const words = (now: Snapshot, ...status: readonly ('running' | 'master')[]) =>
    applyReports(now, { type: 'server.reported', server: 'db-1', status }, at(2)).next;
  const patch = (now: Snapshot, operation: Operation) => patchServer(now, 'db-1', [operation], at(2)).next;
  const maintained = (now: Snapshot) => patch(now, { op: 'add', path: '/state/0', value: 'maintenance' });

  it.each<[string, (now: Snapshot) => Snapshot]>([
    ['is down', (now) => words(now)],
    ['runs', (now) => words(now, 'running', 'master')],
    ['is in maintenance', maintained],
    ['leaves maintenance', (now) => patch(maintained(now), { op: 'remove', path: '/state/0' })],
    ['has another port', (now) => patch(now, { op: 'replace', path: '/port', value: 7 })],
  ])('a server that %s drains as before, and keeps that over the end of the drain', (_what, change) => {
    const drained = drain(given, 'servers', 'db-1', { reason }, at(1));
    expect(typesOf(drained)).toEqual(['server.updated']);
    const [changed, both] = [change(given), change(drained.next)];
    expect(serverIn(both)).toEqual({ ...serverIn(changed), drain: serverIn(drained.next)?.drain });
    expect(configuration(drain(changed, 'servers', 'db-1', { reason }, at(1)).next)).toEqual(
      configuration(both),
    );
    expect(drain(both, 'servers', 'db-1', { reason }, at(3)).outcome).toBe('unchanged');
    expect(configuration(resume(both, 'servers', 'db-1', at(3)).next)).toEqual(configuration(changed));
    expect(resume(changed, 'servers', 'db-1', at(3)).outcome).toBe('unchanged');
  });
});

describe('the options of a drain', () => {
  it.each([
    [{ timeout: 5 }, '/then'],
    [{ then: 'close' }, '/timeout'],
    [{ timeout: 0, then: 'close' }, '/timeout'],
    [{ timeout: 1.5, then: 'close' }, '/timeout'],
    [{ timeout: 31_536_001, then: 'close' }, '/timeout'],
    [{ timeout: 5, then: 'stop' }, '/then'],
    [{ reason: 'two\nlines' }, '/reason'],
    [{ reason: '' }, '/reason'],
    [{ since: '2026-01-01T00:00:00Z' }, '/since'],
  ])('%j are refused at %s', (options, pointer) => {
    const decision = drain(given, 'servers', 'db-1', options as never, at(1));
    expect(decision).toMatchObject({
      outcome: 'refused',
      problem: { errors: [{ pointer }] },
    });
  });

  it('are for a service or server that exists', () => {
    expect(drain(given, 'services', 'gone', {}, at(1))).toMatchObject({
      problem: { code: 'service-not-found' },
      resources: ['/services'],
    });
    expect(() => drain(given, 'monitors' as never, 'db-1', {}, at(1))).toThrow(TypeError);
  });
});

describe('a patch', () => {
  it.each(['/drain', '/drain/until', '/drain/reason'])('cannot write %s', (path) => {
    const now = drain(draining(), 'servers', 'db-1', {}, at(1)).next;
    const operations = [{ op: 'add', path, value: 'x' }] as const;
    for (const decision of [
      patchService(now, 'Sales', operations, at(2)),
      patchServer(now, 'db-1', operations, at(2)),
    ])
      expect(decision).toMatchObject({ outcome: 'refused' });
  });

  it('can test what is shown of a drain, and leaves it as it is', () => {
    const now = draining();
    const operations = [
      { op: 'test', path: '/drain/state', value: 'drained' },
      { op: 'add', path: '/max_connection', value: 7 },
    ] as const;
    const { next } = accepted(patchService(now, 'Sales', operations, at(2)));
    expect(serviceIn(next)?.settings.drain).toEqual(serviceIn(now)?.settings.drain);
    expect(serviceIn(next)?.settings.max_connection).toBe(7);
  });
});

describe('a document', () => {
  it('brings a drain back, and one without the drain does not end it', () => {
    const now = drain(draining(), 'servers', 'db-1', {}, at(1)).next;
    const again = createSnapshot(toDocument(now));
    expect(configuration(again)).toEqual(configuration(now));
    expect([again.draining, drainsShown(again)]).toEqual([2, drainsShown(now)]);
    expect(adoptDocument(now, given, at(2)).outcome).toBe('unchanged');
    const stopped = createSnapshot({
      ...toDocument(given),
      services: [{ name: 'Sales', router: 'cli', servers: ['/servers/db-1'], state: 'stopped' }],
    });
    const { next } = adoptDocument(now, stopped, at(2));
    expect(serviceIn(next)?.settings.drain?.from).toBe('stopped');
    expect(configuration(adoptDocument(given, now, at(3)).next)).toEqual(configuration(now));
  });
});

describe('what is left', () => {
  const open = (snapshot: Snapshot, id: number): Snapshot =>
    applyReports(
      snapshot,
      [
        {
          type: 'session.opened',
          ...{ id, state: 's', user: 'u', address: 'a', service: 'Sales', connected: id },
          connections: [{ id: 1, server: 'db-1', role: 'r', state: 's' }],
        },
      ],
      at(0),
    ).next;

  it('is counted, and gives the resource a new revision', () => {
    const now = drain(draining(), 'servers', 'db-1', {}, at(1)).next;
    const later = open(now, 1);
    const left = { state: 'draining', sessions: 1, connections: 1 };
    expect(drainsShown(later)).toMatchObject({ 'db-1': left, Sales: left });
    for (const [before, after] of [
      [serviceIn(now), serviceIn(later)],
      [now.servers.find('db-1'), later.servers.find('db-1')],
    ])
      expect(after?.revision).toBeGreaterThan(before?.revision ?? Infinity);
    const closed = applyReports(later, [{ type: 'session.closed', id: 1, connected: 1 }], at(0)).next;
    expect(drainsShown(closed)).toMatchObject({ 'db-1': { state: 'drained' }, Sales: { state: 'drained' } });
  });

  it('makes another object of what drains and shows something else, and of nothing else', () => {
    const now = drain(draining(), 'services', 'Off', {}, at(1)).next;
    const later = open(now, 1);
    const drainsOf = (snapshot: Snapshot): readonly unknown[] => [
      serviceIn(snapshot),
      serviceIn(snapshot, 'off'),
    ];
    const [sales, off] = drainsOf(now);
    expect(serviceIn(later)).not.toBe(sales);
    expect(serviceIn(later, 'off')).toBe(off);
    const patched = patchServer(later, 'db-1', [{ op: 'replace', path: '/port', value: 7 }], at(2)).next;
    const same = drainsOf(later);
    drainsOf(patched).forEach((each, position) => {
      expect(each).toBe(same[position]);
    });
    const reported = { type: 'server.reported', server: 'db-1', status: [] } as const;
    drainsOf(applyReports(patched, reported, at(3)).next).forEach((each, position) => {
      expect(each).toBe(same[position]);
    });
  });
});

describe('laws', () => {
  const commands: readonly ((snapshot: Snapshot, context: ReturnType<typeof at>) => Decision)[] = [
    (now, context) => drain(now, 'services', 'Sales', {}, context),
    (now, context) => drain(now, 'services', 'Off', { timeout: 60, then: 'close' }, context),
    (now, context) => drain(now, 'servers', 'db-1', { reason: 'r' }, context),
    (now, context) => resume(now, 'services', 'Sales', context),
    (now, context) => resume(now, 'servers', 'db-1', context),
    (now, context) => startService(now, 'Off', context),
    (now, context) => stopService(now, 'Sales', context),
    (now, context) => startService(now, 'Sales', context),
  ];
  const states = fc
    .array(fc.constantFrom(...commands), { maxLength: 8 })
    .map((steps) => steps.reduce((now, step, index) => step(now, at(index)).next, given));

  // Promise: drain-resume
  it('drain and resume leave a configuration as it was', () => {
    fc.assert(
      fc.property(states, fc.constantFrom('Sales', 'Off'), (state, name) => {
        fc.pre(serviceIn(state, name.toLowerCase())?.settings.drain === undefined);
        const now = drain(state, 'services', name, { timeout: 5, then: 'resume' }, at(9)).next;
        expect(configuration(resume(now, 'services', name, at(10)).next)).toEqual(configuration(state));
      }),
    );
  });

  it('an undo in reverse leads back, and as many drain as have the setting', () => {
    fc.assert(
      fc.property(states, fc.constantFrom(...commands), (state, command) => {
        const decision = command(state, at(20));
        const { next } = decision;
        const drains = [...next.services, ...next.servers].filter(
          ({ settings }) => settings.drain !== undefined,
        );
        expect(next.draining).toBe(drains.length);
        if (decision.outcome !== 'accepted') return;
        expect(configuration(evolve(state, decision.events))).toEqual(configuration(next));
        const back = sequence(...decision.events.toReversed().map((event) => revert(event)));
        expect(configuration(back(next, at(21)).next)).toEqual(configuration(state));
      }),
    );
  });

  // What was decided on one state is settled on another if the command was abandoned before.
  it('no service drains that is not stopped, whatever has happened between a decision and its events', () => {
    fc.assert(
      fc.property(states, fc.constantFrom(...commands), states, (then, command, now) => {
        const decision = command(then, at(20));
        fc.pre(decision.outcome === 'accepted');
        for (const event of accepted(decision).events) expectReadable(evolve(now, [event]));
        expectReadable(evolve(now, accepted(decision).events));
      }),
    );
  });

  it('no service drains that is not stopped, whatever has happened between an event and its undo', () => {
    const later = fc.array(fc.constantFrom(...commands), { maxLength: 3 });
    fc.assert(
      fc.property(states, fc.constantFrom(...commands), later, (then, command, steps) => {
        const decision = command(then, at(20));
        fc.pre(decision.outcome === 'accepted');
        const now = steps.reduce((state, step) => step(state, at(21)).next, decision.next);
        for (const event of accepted(decision).events) expectReadable(revert(event)(now, at(22)).next);
      }),
    );
  });
});

/** Expects that a start can read the configuration. */
function expectReadable(snapshot: Snapshot): void {
  expect(configuration(createSnapshot(toDocument(snapshot)))).toEqual(configuration(snapshot));
}
