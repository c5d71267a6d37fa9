import { describe, expect, it } from '@jest/globals';
import {
  canTransition,
  createSnapshot,
  applyReports,
  lifecycle,
  startMonitor,
  startService,
  nextState,
  stopMonitor,
  stopService,
  toDocument,
  type Decision,
  type Snapshot,
  type Transition,
} from 'gateway-admin-core';

import { eventTable } from '../../src/resources/index.ts';
import {
  expectAccepted,
  expectDecision,
  expectNext,
  expectRefused,
  expectUnchanged,
  someTime,
} from '../support/expect-decision.ts';

const commands = ['start', 'stop'] as const;
const past = { start: 'started', stop: 'stopped' } as const;

const machines = [
  {
    kind: 'service',
    step: { start: named(startService), stop: named(stopService) },
    of: (snapshot: Snapshot) => snapshot.services.find('the-one'),
    fail: { type: 'service.failed', service: 'the one' },
  },
  {
    kind: 'monitor',
    step: { start: named(startMonitor), stop: named(stopMonitor) },
    of: (snapshot: Snapshot) => snapshot.monitors.find('the-one'),
    fail: { type: 'monitor.failed', monitor: 'the one' },
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

  it('changes nothing when repeated', () => {
    const { next: once } = expectDecision(transition, inState(state));
    expectUnchanged(transition, once);
  });

  it('finds the resource by every spelling of its name', () => {
    for (const name of ['the-one', 'THE ONE', 'The\u00a0One', 'tHe-oNe']) {
      expect(expectDecision(step[command](name), inState(state)).outcome).toBe(
        can ? 'accepted' : 'unchanged',
      );
    }
  });

  it('is refused for a missing resource', () => {
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

    it('gives one event and one effect', () => {
      expect(decision.events).toEqual([
        { type: `${kind}.${past[command]}`, at: someTime.now, actor: 'ada', resource, [kind]: 'the-one' },
      ]);
      expect(decision.effects).toEqual([{ type: `${kind}.${command}`, resource, [kind]: 'the-one' }]);
    });

    it('raises the command part of the version', () => {
      expect(of(decision.next)?.version).toEqual({ command: 1, live: 1 });
      expect(eventTable[decision.events[0]?.type ?? 'logs.flushed'].origin).toBe('command');
    });

    it('has no actor if the actor is unknown', () => {
      const { events } = expectAccepted(step[command]('the one'), snapshot, { now: 7 });
      expect(events[0]).not.toHaveProperty('actor');
    });
  },
);

describe('starting a service', () => {
  it('records the time only if the state changes', () => {
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

describe.each(machines)('a report that a $kind failed', ({ kind, fail, of, step }) => {
  it.each(['started', 'stopped'] as const)('leads from %s to failed', (state) => {
    const snapshot = inState(state);
    const { next, events, faults } = applyReports(snapshot, fail, { now: 5 });
    expect(faults).toEqual([]);
    expect(events).toEqual([
      { type: `${kind}.failed`, at: 5, resource: `/${kind}s/The-One`, [kind]: 'the-one' },
    ]);
    expect(of(next)).toMatchObject({ state: 'failed', version: { command: 0, live: 1 } });
    expectNext(snapshot, next, events);
  });

  it('changes nothing if the state is already failed', () => {
    const snapshot = inState('failed');
    expect(applyReports(snapshot, fail, { now: 5 })).toEqual({ next: snapshot, events: [], faults: [] });
    expect(applyReports(snapshot, fail, { now: 5 }).next).toBe(snapshot);
  });

  it('is cleared by a start', () => {
    const { next } = applyReports(inState('started'), fail, { now: 5 });
    expect(of(expectAccepted(step.start('The One'), next).next)?.state).toBe('started');
    expectUnchanged(step.stop('The One'), next);
  });

  it('is a contradiction for a missing resource', () => {
    const snapshot = inState('started');
    const { next, faults } = applyReports(snapshot, { ...fail, [kind]: 'nothing' }, { now: 5 });
    expect(next).toBe(snapshot);
    expect(faults).toMatchObject([
      { pointer: '/0', detail: `names the ${kind} "nothing", which does not exist` },
    ]);
  });
});
