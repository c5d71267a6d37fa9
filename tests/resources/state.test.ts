/**
 * States: what commands and reports make of a service or monitor in each state, and of the status of a server.
 */
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import * as z from 'zod/mini';
import {
  applyReports,
  canTransition,
  createSnapshot,
  evolve,
  flushLogs,
  lifecycle,
  nextState,
  patchServer,
  serverStatusWords,
  startMonitor,
  startService,
  stopMonitor,
  stopService,
  toDocument,
  type Decision,
  type HostReport,
  type Operation,
  type ServerStatusWord,
  type Snapshot,
  type Transition,
} from 'gateway-admin-core';

import { sampleSnapshot } from '../support/document.ts';
import {
  expectAccepted,
  expectDecision,
  expectNext,
  expectRefused,
  expectUnchanged,
  someTime,
} from '../support/expect-decision.ts';
import { reportTable } from '../support/internal.ts';
import { shown } from '../support/shown.ts';

type State = 'started' | 'stopped' | 'failed';
type Named = (snapshot: Snapshot, name: string, context: { now: number; actor?: string }) => Decision;

function named(transition: Named): (name: string) => Transition {
  return (name) => (snapshot, context) => transition(snapshot, name, context);
}

const machines = [
  {
    kind: 'service',
    step: { start: named(startService), stop: named(stopService) },
    of: (snapshot: Snapshot) => shown(snapshot.services.find('the-one')),
    report: (state: Exclude<State, 'stopped'>, more: object = {}): HostReport => ({
      ...{ type: 'service.reported', service: 'the one', state, ...more },
    }),
  },
  {
    kind: 'monitor',
    step: { start: named(startMonitor), stop: named(stopMonitor) },
    of: (snapshot: Snapshot) => shown(snapshot.monitors.find('the-one')),
    report: (state: Exclude<State, 'stopped'>, more: object = {}): HostReport => ({
      ...{ type: 'monitor.reported', monitor: 'the one', state, ...more },
    }),
  },
] as const;

/** Two services and two monitors, all in a state. */
function inState(state: State): Snapshot {
  const entries = ['The One', 'Another'].map((name) => ({ name, state }));
  return createSnapshot({
    services: entries.map((entry) => ({ ...entry, router: 'readconnroute' })),
    monitors: entries.map((entry) => ({ ...entry, module: 'pgmon' })),
  });
}

/** What follows each state: by command, and by report. */
const table = [
  ['started', { start: 'started', stop: 'stopped', failed: 'failed' }],
  ['stopped', { start: 'started', stop: 'stopped', failed: 'stopped' }],
  ['failed', { start: 'started', stop: 'stopped', failed: 'failed', started: 'started' }],
] as const;

describe.each(machines)('a $kind', ({ kind, step, of, report }) => {
  const resource = `/${kind}s/The-One`;
  const commands = table.flatMap(([state, next]) =>
    (['start', 'stop'] as const).map((command) => [state, command, next[command]] as const),
  );

  it.each(commands)('that is %s takes %s, and is %s then', (state, command, next) => {
    const snapshot = inState(state);
    const transition = step[command]('The One');
    const decision = expectDecision(transition, snapshot);
    expect(of(decision.next)?.state).toBe(next);
    expect(decision.resources).toEqual([resource]);
    expect(decision.outcome).toBe(state === next ? 'unchanged' : 'accepted');
    expectUnchanged(transition, decision.next);
    for (const name of ['the-one', 'THE ONE', 'The\u00a0One', 'tHe-oNe'])
      expect(expectDecision(step[command](name), snapshot).outcome).toBe(decision.outcome);
    for (const name of ['nothing', '', 'the  one', 'constructor', '__proto__', 'length'])
      expect(expectRefused(step[command](name), snapshot).code).toBe(`${kind}-not-found`);
    expect(nextState(lifecycle, state, command)).toBe(next);
    expect(canTransition(lifecycle, state, command)).toBe(state !== next);
    if (decision.outcome !== 'accepted') return;
    // What has failed is wanted.
    const from = { state: state === 'failed' ? 'started' : state };
    const change = { resource, [kind]: 'the-one', from, to: { state: next } };
    expect(decision.events).toEqual([{ type: `${kind}.${next}`, at: someTime.now, actor: 'ada', ...change }]);
    expect(decision.effects).toEqual([{ type: `${kind}.${command}`, ...change }]);
    expect(of(decision.next)?.revision).toBe(1);
    expect(expectAccepted(transition, snapshot, { now: 7 }).events[0]).not.toHaveProperty('actor');
  });

  const reports = table.flatMap(([state, next]) =>
    (['failed', 'started'] as const).map((seen) => [state, seen, { started: state, ...next }[seen]] as const),
  );

  it.each(reports)('that is %s, and is reported as %s, is %s then', (state, seen, next) => {
    const snapshot = inState(state);
    const applied = applyReports(snapshot, report(seen), { now: 5 });
    expect(of(applied.next)?.state).toBe(next);
    expect(applied.faults).toMatchObject(
      state === 'stopped' && seen === 'started'
        ? [{ detail: `says that the ${kind} "The One" runs, which is stopped` }]
        : [],
    );
    if (state === next) {
      expect([applied.next, applied.events]).toEqual([snapshot, []]);
      return;
    }
    expect(applied.events).toEqual([
      { type: `${kind}.reported`, at: 5, resource, [kind]: 'the-one', state: seen },
    ]);
    expect(of(applied.next)?.revision).toBe(1);
    expectNext(snapshot, applied.next, applied.events);
    // The event changes nothing the second time, and nothing once a command has stopped what it is about.
    expect(evolve(applied.next, applied.events)).toBe(applied.next);
    const { next: stopped } = expectAccepted(step.stop('The One'), snapshot);
    expect(evolve(stopped, applied.events)).toBe(stopped);
  });

  const failed = (...reasons: readonly string[]): Snapshot =>
    reasons.reduce(
      (snapshot, reason, index) =>
        applyReports(snapshot, report('failed', { reason }), { now: 5 + index }).next,
      inState('started'),
    );

  it('that has failed says why, and since when; a new reason is taken', () => {
    expect(of(failed('no route to host'))).toMatchObject({
      state_reason: 'no route to host',
      state_since: 5,
    });
    const again = failed('no route', 'port in use');
    expect(of(again)).toMatchObject({ state_reason: 'port in use', state_since: 5 });
    for (const from of [again, createSnapshot(toDocument(again))]) {
      expect(toDocument(from)).toEqual(toDocument(again));
      for (const same of [report('failed'), report('failed', { reason: 'port in use' })])
        expect(applyReports(from, same, { now: 9 }).next).toBe(from);
    }
  });

  it('is as it was when a report with a reason or a start is folded again', () => {
    const failing = applyReports(inState('started'), report('failed', { reason: 'no route' }), { now: 5 });
    const back = applyReports(failing.next, report('started'), { now: 6 });
    for (const { next, events } of [failing, back]) expect(evolve(next, events)).toBe(next);
  });

  it('says neither once it is started or stopped', () => {
    const snapshot = failed('no route');
    const after = [
      applyReports(snapshot, report('started'), { now: 9 }).next,
      expectAccepted(step.start('The One'), snapshot).next,
      expectAccepted(step.stop('The One'), snapshot).next,
    ];
    for (const each of after) {
      expect(of(each)).not.toHaveProperty('state_reason');
      expect(of(each)).not.toHaveProperty('state_since');
    }
  });

  it.each([
    ['x'.repeat(5000), 'x'.repeat(1024)],
    ['line 1\r\nline 2\u0000', 'line 1 line 2 '],
    [`${'x'.repeat(1023)}😀`, 'x'.repeat(1023)],
    ['\u20ac'.repeat(1024), '\u20ac'.repeat(341)],
    ['\ud83d'.repeat(1024), '\ufffd'.repeat(341)],
    ['\u20ac'.repeat(340) + 'xxxx', '\u20ac'.repeat(340) + 'xxxx'],
  ])('takes a reason as one line of at most 1,024 bytes in UTF-8: reason %#', (reason, shown) => {
    expect(of(failed(reason))?.state_reason).toBe(shown);
    expect(() => createSnapshot(toDocument(failed(reason)))).not.toThrow();
  });

  it('is not reported by another name', () => {
    const snapshot = inState('started');
    const { next, faults } = applyReports(snapshot, { ...report('failed'), [kind]: 'nothing' }, { now: 5 });
    expect(next).toBe(snapshot);
    const detail = `names the ${kind} "nothing", which does not exist`;
    expect(faults).toMatchObject([{ pointer: '/0', detail }]);
    const link = `/${kind}s/Report%20Service`;
    const linked = applyReports(snapshot, { ...report('failed'), [kind]: link }, { now: 5 });
    const hint = `names the ${kind} "${link}", which does not exist. Reports name a ${kind} by name, "Report Service", not by link`;
    expect(linked.faults).toMatchObject([{ pointer: '/0', detail: hint }]);
  });
});

it('reads a member of a report that is undefined as one that is left out, in every report', () => {
  const faultsOf = (report: object) =>
    applyReports(sampleSnapshot(), report as HostReport, { now: 5 }).faults;
  const members = Object.entries(reportTable).flatMap(([type, { shape }]) => {
    const { properties = {} } = z.toJSONSchema(shape as z.ZodMiniType, { unrepresentable: 'any' });
    return Object.keys(properties).map((member) => [type, member] as const);
  });
  for (const [type, member] of members.filter(([, name]) => name !== 'type'))
    expect(faultsOf({ type, [member]: undefined })).toEqual(faultsOf({ type }));
  expect(members.map((each) => each.join('.'))).toContain('server.reported.reason');
  const report = { type: 'server.reported', server: 'db-serv-1', status: ['running'], reason: undefined };
  expect(faultsOf(report)).toEqual([]);
});

describe('the time of the start of a service', () => {
  const [{ of, report, step }] = machines;
  const started = (snapshot: Snapshot, more: object = {}): Snapshot =>
    applyReports(snapshot, report('started', more), { now: 9 }).next;

  it('is that of the command which changes the state', () => {
    const { next } = expectAccepted(step.start('The One'), inState('stopped'), { now: 1472464351000 });
    expect(toDocument(next).services?.[0]?.started).toBe('2016-08-29T09:52:31+00:00');
    const stopped = expectAccepted(step.stop('The One'), next, { now: 1472464352000 });
    expect(of(stopped.next)?.started).toBe(1472464351000);
    expectUnchanged(step.start('The One'), next, { now: 1472464353000 });
  });

  it('comes with a report, and stays if the report has none', () => {
    const next = started(inState('started'), { started: 7 });
    expect(of(next)?.started).toBe(7);
    expect(started(next, { started: 7 })).toBe(next);
    expect(started(next)).toBe(next);
    const failed = applyReports(next, report('failed'), { now: 9 }).next;
    expect(of(started(failed))).toMatchObject({ state: 'started', started: 7 });
  });
});

describe('flushing the logs', () => {
  it('records the time of each flush, also twice at the same time', () => {
    const flush: Transition = (snapshot, context) => flushLogs(snapshot, context);
    const now = 1472675366001;
    const first = expectAccepted(flush, undefined, { now });
    expect(first.events).toEqual([{ type: 'logs.flushed', at: now, resource: '/gateway/logs' }]);
    expect(first.effects).toEqual([{ type: 'logs.flush', resource: '/gateway/logs' }]);
    expect(first.next.logs).toMatchObject({ last_flushed: now, revision: 1 });
    expect(toDocument(first.next).logs?.last_flushed).toBe('2016-08-31T20:29:26.001+00:00');
    expect(expectAccepted(flush, first.next, { now }).next.revision).toBe(2);
  });
});

const patchServerBy =
  (...operations: readonly Operation[]): Transition =>
  (snapshot, context) =>
    patchServer(snapshot, 'db-serv-1', operations, context);
const wordsOf = (snapshot: Snapshot): readonly string[] =>
  shown(snapshot.servers.find('db-serv-1'))?.settings.state ?? [];
const reportWords = (
  snapshot: Snapshot,
  status: readonly ServerStatusWord[],
): ReturnType<typeof applyReports> =>
  applyReports(snapshot, { type: 'server.reported', server: 'DB-SERV-1', status }, { now: 5 });

describe('the status of a server', () => {
  const words = fc.array(fc.constantFrom(...serverStatusWords), { maxLength: 16 });

  it('does not change when the event of a report is folded again, as after a crossing', () => {
    const { next, events } = reportWords(sampleSnapshot(), ['running', 'slave']);
    expect(events).toHaveLength(1);
    expect(evolve(next, events)).toBe(next);
  });

  it('has maintenance first, then the words in the order of a patch, each once, under both names of the field', () => {
    fc.assert(
      fc.property(words, fc.constantFrom('/state', '/status'), (value, path) => {
        const next = patchServer(sampleSnapshot(), 'db-serv-1', [{ op: 'replace', path, value }], {
          now: 0,
        }).next;
        const own = value.includes('maintenance') ? ['maintenance'] : [];
        expect(wordsOf(next)).toEqual([...new Set([...own, ...value])]);
      }),
    );
  });

  // Promise: maintenance
  it('takes maintenance only from the administrator, and every other word from the report', () => {
    fc.assert(
      fc.property(words, words, (set, reported) => {
        const start = patchServer(
          sampleSnapshot(),
          'db-serv-1',
          [{ op: 'replace', path: '/state', value: set }],
          { now: 0 },
        ).next;
        const { next, events, faults } = reportWords(start, reported);
        const others = [...new Set(reported)].filter((word) => word !== 'maintenance');
        expect(faults).toEqual([]);
        expect(wordsOf(next)).toEqual(set.includes('maintenance') ? ['maintenance', ...others] : others);
        expect(events.length === 0).toBe(next === start);
        expect(reportWords(next, reported).next).toBe(next);
      }),
    );
  });

  describe('after an update that a report crosses, whatever the words', () => {
    const some = ['maintenance', 'running', 'master', 'slave', 'synced'] as const;
    const isPossible = (status: readonly string[]): boolean =>
      status.includes('running') || status.every((word) => word === 'maintenance');
    const all = Array.from({ length: 2 ** some.length }, (_, set) =>
      some.filter((_word, at) => Math.floor(set / 2 ** at) % 2 === 1),
    ).filter(isPossible);
    const start = (status: readonly ServerStatusWord[]): Snapshot =>
      createSnapshot({
        servers: [{ name: 'db-serv-1', address: '10.0.0.1', port: 5432, protocol: 'pg', status }],
      });
    const crossingsOfAll = () =>
      all.flatMap((before) => {
        const snapshot = start(before);
        const reported = all.map((status) => ({ status, present: reportWords(snapshot, status).next }));
        return all.flatMap((value) => {
          const decision = patchServerBy({ op: 'replace', path: '/state', value })(snapshot, { now: 0 });
          const events = decision.outcome === 'accepted' ? decision.events : [];
          return reported.map(({ status, present }) => ({
            ...{ before, update: value, status },
            after: wordsOf(evolve(present, events)),
          }));
        });
      });
    type Crossing = ReturnType<typeof crossingsOfAll>[number];

    // Law: of the statuses before and after an update, and of a report that crosses the update, none has a role without
    // `running`; then the status after both has none either.
    it('has no role without running', () => {
      const crossings = crossingsOfAll();
      expect(crossings).toHaveLength(18 ** 3);
      expect(crossings.filter(({ after }) => !isPossible(after))).toEqual([]);
      const isMaintained = (status: readonly string[]): boolean => status.includes('maintenance');
      expect(crossings.filter(({ update, after }) => isMaintained(update) !== isMaintained(after))).toEqual(
        [],
      );
    });

    it('has each word once: as in the update if the update changes the word, and as reported otherwise', () => {
      const expected = ({ before, update, status }: Crossing): readonly string[] => {
        const merged = some.filter((word) => {
          const isSet = update.includes(word);
          const isOwn = word === 'maintenance' || isSet !== before.includes(word);
          return isOwn ? isSet : status.includes(word);
        });
        return merged.includes('running') ? merged : merged.filter((word) => word === 'maintenance');
      };
      const wrong = crossingsOfAll().filter(
        (each) => each.after.toSorted().join() !== expected(each).toSorted().join(),
      );
      expect(wrong).toEqual([]);
    });
  });

  it('is reported as one event that raises only the live part of the version', () => {
    const snapshot = sampleSnapshot();
    const { next, events } = reportWords(snapshot, ['slave', 'running']);
    expect(events).toEqual([
      {
        type: 'server.reported',
        at: 5,
        resource: '/servers/db-serv-1',
        server: 'db-serv-1',
        status: ['slave', 'running'],
      },
    ]);
    expect(next.servers.find('db-serv-1')?.revision).toBe(1);
    expectNext(snapshot, next, events);
  });

  describe('says why it is as it is, and since when', () => {
    const seen = (
      snapshot: Snapshot,
      now: number,
      status: readonly ServerStatusWord[],
      reason?: string,
    ): Snapshot => {
      const given = { type: 'server.reported', server: 'db-serv-1', status } as const;
      return applyReports(snapshot, reason === undefined ? given : { ...given, reason }, { now }).next;
    };
    const patched = (snapshot: Snapshot, now: number, ...operations: readonly Operation[]): Snapshot =>
      patchServer(snapshot, 'db-serv-1', operations, { now }).next;
    const told = (snapshot: Snapshot): unknown => {
      const server = shown(snapshot.servers.find('db-serv-1'));
      return [server?.status_since, server?.status_reason];
    };
    const maintenance = { path: '/state/0', value: 'maintenance' } as const;
    const down = seen(sampleSnapshot(), 5, [], 'connection refused');

    it('from the first report with other words', () => {
      expect(told(sampleSnapshot())).toEqual([undefined, undefined]);
      expect(told(seen(sampleSnapshot(), 5, ['running', 'master'], 'in recovery'))).toEqual([
        undefined,
        'in recovery',
      ]);
      expect(told(down)).toEqual([5, 'connection refused']);
    });

    it('and takes a new reason at the same time, which a report without a reason leaves', () => {
      expect(told(seen(down, 7, [], 'no route to host'))).toEqual([5, 'no route to host']);
      for (const same of [seen(down, 7, []), seen(down, 7, [], 'connection refused')])
        expect(same).toBe(down);
    });

    it('and loses the reason with the words', () => {
      expect(told(seen(down, 9, ['running']))).toEqual([9, undefined]);
      expect(told(patched(down, 9, { op: 'add', path: '/state/-', value: 'running' }))).toEqual([
        9,
        undefined,
      ]);
    });

    it('whatever else a patch changes, maintenance too', () => {
      const kept = patched(
        down,
        9,
        { op: 'add', ...maintenance },
        { op: 'replace', path: '/port', value: 1 },
      );
      expect(told(kept)).toEqual([5, 'connection refused']);
      expect(told(patched(kept, 11, { op: 'remove', path: '/state/0' }))).toEqual([5, 'connection refused']);
    });

    it('in a document', () => {
      expect(told(createSnapshot(toDocument(down)))).toEqual([5, 'connection refused']);
    });

    it('with one line of at most 1,024 bytes', () => {
      expect(told(seen(sampleSnapshot(), 5, [], `a\nb${'x'.repeat(2000)}`))).toEqual([
        5,
        `a b${'x'.repeat(1021)}`,
      ]);
    });
  });

  it('is not reported of a server that does not exist', () => {
    const report = { type: 'server.reported', server: 'nothing', status: [] } as const;
    const { faults } = applyReports(sampleSnapshot(), report, { now: 5 });
    expect(faults).toMatchObject([{ detail: 'names the server "nothing", which does not exist' }]);
  });

  it.each([
    ['an unknown word', { status: ['down'] }, '/0/status/0'],
    ['a reason that is no text', { reason: 7 }, '/0/reason'],
    ['too many words', { status: Array.from({ length: 17 }, () => 'master') }, '/0/status'],
    ['no list', { status: 'master' }, '/0/status'],
    ['no such server', { server: 'nothing' }, '/0'],
  ])('is not reported with %s', (_what, wrong, pointer) => {
    const snapshot = sampleSnapshot();
    const report = {
      type: 'server.reported',
      server: 'db-serv-1',
      status: [],
      ...wrong,
    } as unknown as HostReport;
    const { next, faults } = applyReports(snapshot, report, { now: 5 });
    expect(next).toBe(snapshot);
    expect(faults.map((fault) => fault.pointer)).toEqual([pointer]);
  });
});
