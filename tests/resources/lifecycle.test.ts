/**
 * Starting, stopping and failing: what commands and reports make of a service or monitor in each state.
 */
import { describe, expect, it } from '@jest/globals';
import {
  applyReports,
  canTransition,
  createSnapshot,
  evolve,
  flushLogs,
  lifecycle,
  nextState,
  startMonitor,
  startService,
  stopMonitor,
  stopService,
  toDocument,
  type Decision,
  type HostReport,
  type Snapshot,
  type Transition,
} from 'gateway-admin-core';

import {
  expectAccepted,
  expectDecision,
  expectNext,
  expectRefused,
  expectUnchanged,
  someTime,
} from '../support/expect-decision.ts';

type State = 'started' | 'stopped' | 'failed';
type Named = (snapshot: Snapshot, name: string, context: { now: number; actor?: string }) => Decision;

function named(transition: Named): (name: string) => Transition {
  return (name) => (snapshot, context) => transition(snapshot, name, context);
}

const machines = [
  {
    kind: 'service',
    step: { start: named(startService), stop: named(stopService) },
    of: (snapshot: Snapshot) => snapshot.services.find('the-one'),
    report: (state: Exclude<State, 'stopped'>, more: object = {}): HostReport => ({
      ...{ type: 'service.reported', service: 'the one', state, ...more },
    }),
  },
  {
    kind: 'monitor',
    step: { start: named(startMonitor), stop: named(stopMonitor) },
    of: (snapshot: Snapshot) => snapshot.monitors.find('the-one'),
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
    expect(decision.events).toEqual([
      { type: `${kind}.${next}`, at: someTime.now, actor: 'ada', resource, [kind]: 'the-one' },
    ]);
    const from = command === 'start' ? { from: state } : {};
    expect(decision.effects).toEqual([{ type: `${kind}.${command}`, resource, [kind]: 'the-one', ...from }]);
    expect(of(decision.next)?.version).toEqual({ command: 1, live: 1 });
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
    expect(of(applied.next)?.version).toEqual({ command: 0, live: 1 });
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
  });
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
    expect(first.next.logs).toMatchObject({ last_flushed: now, version: { command: 1, live: 1 } });
    expect(toDocument(first.next).logs?.last_flushed).toBe('2016-08-31T20:29:26.001+00:00');
    expect(expectAccepted(flush, first.next, { now }).next.revision).toBe(2);
  });
});
