import { describe, expect, it } from '@jest/globals';
import {
  canTransition,
  createSnapshot,
  applyReports,
  evolve,
  lifecycle,
  startMonitor,
  startService,
  nextState,
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

type Seen = 'started' | 'failed';

const commands = ['start', 'stop'] as const;
const past = { start: 'started', stop: 'stopped' } as const;

const machines = [
  {
    kind: 'service',
    step: { start: named(startService), stop: named(stopService) },
    of: (snapshot: Snapshot) => snapshot.services.find('the-one'),
    report: (state: Seen, more: object = {}): HostReport => ({
      type: 'service.reported',
      service: 'the one',
      state,
      ...more,
    }),
  },
  {
    kind: 'monitor',
    step: { start: named(startMonitor), stop: named(stopMonitor) },
    of: (snapshot: Snapshot) => snapshot.monitors.find('the-one'),
    report: (state: Seen, more: object = {}): HostReport => ({
      type: 'monitor.reported',
      monitor: 'the one',
      state,
      ...more,
    }),
  },
] as const;

type Named = (snapshot: Snapshot, name: string, context: { now: number; actor?: string }) => Decision;

function named(transition: Named): (name: string) => Transition {
  return (name) => (snapshot, context) => transition(snapshot, name, context);
}

/** One service and one monitor, both in a state. */
function inState(state: 'started' | 'stopped' | 'failed'): Snapshot {
  return createSnapshot({
    services: [
      { name: 'The One', router: 'readconnroute', state },
      { name: 'Another', router: 'readconnroute', state },
    ],
    monitors: [
      { name: 'The One', module: 'pgmon', state },
      { name: 'Another', module: 'pgmon', state },
    ],
  });
}

const rows = machines.flatMap((machine) =>
  (['started', 'stopped', 'failed'] as const).flatMap((state) =>
    commands.map((command) => ({
      ...machine,
      state,
      command,
      next: nextState(lifecycle, state, command),
      can: canTransition(lifecycle, state, command),
    })),
  ),
);

describe.each(rows)('$command of a $kind that is $state', ({ kind, command, state, step, of, next, can }) => {
  const transition = step[command]('The One');

  it(`leads to ${next}, as the table says`, () => {
    const decision = expectDecision(transition, inState(state));
    expect(of(decision.next)?.state).toBe(next);
    expect(decision.outcome).toBe(can ? 'accepted' : 'unchanged');
    expect(decision.resources).toEqual([`/${kind}s/The-One`]);
  });

  it('changes nothing the second time', () => {
    const { next: once } = expectDecision(transition, inState(state));
    expectUnchanged(transition, once);
  });

  it('finds it in every spelling of its name', () => {
    for (const name of ['the-one', 'THE ONE', 'The\u00a0One', 'tHe-oNe']) {
      expect(expectDecision(step[command](name), inState(state)).outcome).toBe(
        can ? 'accepted' : 'unchanged',
      );
    }
  });

  it('is refused for what is not there', () => {
    for (const name of ['nothing', '', 'the  one', 'constructor', '__proto__', 'length']) {
      expect(expectRefused(step[command](name), inState(state)).code).toBe(`${kind}-not-found`);
    }
  });
});

describe.each(rows.filter(({ can }) => can))(
  '$command of a $kind that is $state',
  ({ kind, command, state, step, of }) => {
    const snapshot = inState(state);
    const decision = expectAccepted(step[command]('the one'), snapshot);
    const resource = `/${kind}s/The-One`;

    it('is one event and one effect', () => {
      expect(decision.events).toEqual([
        { type: `${kind}.${past[command]}`, at: someTime.now, actor: 'ada', resource, [kind]: 'the-one' },
      ]);
      const from = command === 'start' ? { from: state } : {};
      expect(decision.effects).toEqual([
        { type: `${kind}.${command}`, resource, [kind]: 'the-one', ...from },
      ]);
    });

    it('makes a new version by command', () => {
      expect(of(decision.next)?.version).toEqual({ command: 1, live: 1 });
    });

    it('names no actor when nobody is known', () => {
      const { events } = expectAccepted(step[command]('the one'), snapshot, { now: 7 });
      expect(events[0]).not.toHaveProperty('actor');
    });
  },
);

describe('starting a service', () => {
  it('notes the time when the state changes, and only then', () => {
    const started = expectAccepted(machines[0].step.start('The One'), inState('stopped'), {
      now: 1472464351000,
    });
    expect(started.next.services.find('the-one')?.started).toBe(1472464351000);
    expect(toDocument(started.next).services?.[0]?.started).toBe('2016-08-29T09:52:31+00:00');
    const stopped = expectAccepted(machines[0].step.stop('The One'), started.next, { now: 1472464352000 });
    expect(stopped.next.services.find('the-one')?.started).toBe(1472464351000);
    expectUnchanged(machines[0].step.start('The One'), started.next, { now: 1472464353000 });
  });
});

const reports = machines.flatMap((machine) =>
  (['started', 'stopped', 'failed'] as const).flatMap((state) =>
    (['failed', 'started'] as const).map((seen) => ({
      ...machine,
      state,
      seen,
      next: nextState(lifecycle, state, `report-${seen}`),
      can: canTransition(lifecycle, state, `report-${seen}`),
    })),
  ),
);

describe.each(reports)('a report that a $kind is $seen', ({ kind, state, seen, next, can, of, report }) => {
  it(`leads from ${state} to ${next}, as the table says`, () => {
    const snapshot = inState(state);
    const applied = applyReports(snapshot, report(seen), { now: 5 });
    const resource = `/${kind}s/The-One`;
    expect(applied.events).toEqual(
      can ? [{ type: `${kind}.reported`, at: 5, resource, [kind]: 'the-one', state: seen }] : [],
    );
    expect(of(applied.next)?.state).toBe(next);
    if (can) {
      expect(of(applied.next)?.version).toEqual({ command: 0, live: 1 });
      expectNext(snapshot, applied.next, applied.events);
    } else expect(applied.next).toBe(snapshot);
  });
});

describe.each(machines)('a $kind that has failed', ({ kind, of, step, report }) => {
  const failed = (...reasons: readonly string[]): Snapshot =>
    reasons.reduce(
      (snapshot, reason, index) =>
        applyReports(snapshot, report('failed', { reason }), { now: 5 + index }).next,
      inState('started'),
    );

  it('says why, and since when; a new reason is taken', () => {
    expect(of(failed('no route to host'))).toMatchObject({
      state_reason: 'no route to host',
      state_since: 5,
    });
    expect(of(failed('no route', 'port in use'))).toMatchObject({
      state_reason: 'port in use',
      state_since: 5,
    });
    const again = failed('no route');
    for (const same of [report('failed'), report('failed', { reason: 'no route' })])
      expect(applyReports(again, same, { now: 9 }).next).toBe(again);
  });

  it('stays as a document says when a report says the same again', () => {
    const entry = { name: 'The One', state: 'failed', state_reason: 'no route' } as const;
    const given = createSnapshot({
      services: [{ ...entry, router: 'readconnroute' }],
      monitors: [{ ...entry, module: 'pgmon' }],
    });
    for (const same of [report('failed'), report('failed', { reason: 'no route' })])
      expect(applyReports(given, same, { now: 9 }).next).toBe(given);
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

  it('keeps a document of it the same', () => {
    const snapshot = failed('no route');
    expect(toDocument(createSnapshot(toDocument(snapshot)))).toEqual(toDocument(snapshot));
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

  it('is not known by another name', () => {
    const snapshot = inState('started');
    const { next, faults } = applyReports(snapshot, { ...report('failed'), [kind]: 'nothing' }, { now: 5 });
    expect(next).toBe(snapshot);
    expect(faults).toMatchObject([
      { pointer: '/0', detail: `names the ${kind} "nothing", which does not exist` },
    ]);
  });

  it('is a contradiction when it is reported as started and is stopped', () => {
    const { faults } = applyReports(inState('stopped'), report('started'), { now: 5 });
    expect(faults).toMatchObject([{ detail: `says that the ${kind} "The One" runs, which is stopped` }]);
    expect(applyReports(inState('stopped'), report('failed'), { now: 5 }).faults).toEqual([]);
  });
});

describe.each(machines)('the event of a report of a $kind', ({ report, step }) => {
  const reported = () => {
    const failed = applyReports(inState('started'), report('failed', { reason: 'no route' }), { now: 5 });
    return [failed, applyReports(failed.next, report('started', { started: 7 }), { now: 6 })];
  };

  it('changes nothing the second time', () => {
    for (const { next, events } of reported()) {
      expect(events).toHaveLength(1);
      expect(evolve(next, events)).toBe(next);
    }
  });

  it('changes nothing once a command has stopped it', () => {
    const { next: stopped } = expectAccepted(step.stop('The One'), inState('started'));
    for (const { events } of reported()) expect(evolve(stopped, events)).toBe(stopped);
  });
});

describe('a report that a service is started', () => {
  it('keeps the time of the start if the report has none', () => {
    const [{ of, report }] = machines;
    const next = [report('started', { started: 7 }), report('failed'), report('started')].reduce(
      (snapshot, each) => applyReports(snapshot, each, { now: 9 }).next,
      inState('started'),
    );
    expect(of(next)).toMatchObject({ state: 'started', started: 7 });
  });

  it('brings the time of the start', () => {
    const [{ of, report }] = machines;
    const snapshot = inState('started');
    const { next } = applyReports(snapshot, report('started', { started: 7 }), { now: 9 });
    expect(of(next)?.started).toBe(7);
    expect(applyReports(next, report('started', { started: 7 }), { now: 9 }).next).toBe(next);
    expect(applyReports(next, report('started'), { now: 9 }).next).toBe(next);
  });
});
