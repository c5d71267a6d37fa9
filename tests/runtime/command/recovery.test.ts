import { describe, expect, it } from '@jest/globals';
import {
  createMemoryStore,
  createResource,
  deleteResource,
  EffectRefusedError,
  flushLogs,
  HostError,
  sequence,
  startService,
  stopMonitor,
  stopService,
  type Admin,
  type Effect,
  type PublishedEvent,
  type Transition,
} from 'gateway-admin-core';
import type { Json } from 'gateway-admin-core/json';
import { hold } from 'gateway-admin-core/testing';

import { otherLife } from '../../support/event-reader.ts';
import { openRunning, sampleGateway } from '../../support/running-admin.ts';
import { limit } from '../../support/transition.ts';

const stop: Transition = (snapshot, context) => stopService(snapshot, 'My Service', context);
const start: Transition = (snapshot, context) => startService(snapshot, 'My Service', context);
const stopWatch: Transition = (snapshot, context) => stopMonitor(snapshot, 'Main Monitor', context);
const dropWatch: Transition = (snapshot, context) =>
  deleteResource(snapshot, 'monitors', 'Main Monitor', context);
const newWatch: Transition = (snapshot, context) =>
  createResource(snapshot, 'monitors', { name: 'Main Monitor', module: 'other' }, context);
const flush: Transition = (snapshot, context) => flushLogs(snapshot, context);

/** What is inspected and asked for after a restart, in order. */
type Call = `${'inspect' | 'apply'} ${string}`;

function callOf(method: string, effect: Effect): string {
  const limited = effect.type === 'service.update' ? ` ${String(effect.after.max_connection)}` : '';
  return `${method} ${effect.type}${limited}`;
}

interface Row {
  readonly command: Transition;
  /** Whether the service had failed before the command. */
  readonly failed?: true;
  /** What the gateway says of each inspection: in place or not. */
  readonly seen: readonly boolean[];
  readonly calls: readonly Call[];
  /** What has happened in the end. */
  readonly events: readonly string[];
}

/** Begins a command in a life that dies, and opens the next one. */
async function restart(
  { command, failed, seen }: Pick<Row, 'command' | 'failed' | 'seen'>,
  gateway = sampleGateway(),
): Promise<{ readonly admin: Admin; readonly calls: readonly string[]; readonly events: readonly string[] }> {
  const store = createMemoryStore();
  const dying = await openRunning(store, { gateway: sampleGateway().will(hold().apply) });
  const report = { type: 'service.reported', service: 'My Service', state: 'failed' } as const;
  if (failed === true) dying.admin.report(report);
  dying.admin.execute(command).catch(() => undefined);
  await dying.clock.settle();
  gateway.willSee(...seen.map((inPlace) => (inPlace ? 'in-place' : 'not-in-place')));
  const { admin } = await openRunning(store, { gateway });
  await admin.close();
  const events: string[] = [];
  for await (const each of admin.events({ after: otherLife }))
    if (each.gap === undefined) events.push((each satisfies PublishedEvent).event.type);
  return { admin, calls: gateway.calls.map(({ method, effect }) => callOf(method, effect)), events };
}

const inspectStop = 'inspect service.stop';
const inspectStart = 'inspect service.start';
const inspectWatch = 'inspect monitor.stop';
const inspectGone = 'inspect monitor.delete';

describe('an open command of an earlier life whose request may still reach the gateway', () => {
  /** The outcome of inspections: the host rejects some of them, and then answers. */
  const waiting = (times: number, answer: 'in-place' | 'not-in-place') => [
    ...Array.from({ length: times }, () => new Error('The earlier request may still arrive')),
    answer,
  ];

  // Promise: recovery-waits
  it.each([
    ['in-place', { type: 'service.stopped' }, 'stopped'],
    [
      'not-in-place',
      {
        type: 'command.failed',
        reason:
          'The process ended before the change was confirmed. After the restart, the change was not completely in ' +
          'place. Nothing was changed.',
      },
      'started',
    ],
  ] as const)(
    'stays unknown while inspect rejects, and settles when inspect answers %s',
    async (answer, event, state) => {
      const store = createMemoryStore();
      const dying = await openRunning(store, { gateway: sampleGateway().will(hold().apply) });
      dying.admin.execute(stop).catch(() => undefined);
      await dying.clock.settle();

      const gateway = sampleGateway().willSee(...waiting(12, answer));
      const { admin, clock, errors } = await openRunning(store, { gateway });
      const reader = admin.events();
      const held = { outcome: 'refused', problem: { code: 'command-in-progress' } };
      for (let asked = 1; asked <= 12; asked += 1) {
        expect(gateway.inspected).toHaveLength(asked);
        expect(admin.snapshot.services.find('my service')?.state).toBe('started');
        expect(await admin.execute(stop)).toMatchObject(held);
        expect(admin.plan(start)).toMatchObject(held);
        await clock.advance(Math.min(50 * 2 ** (asked - 1), 5000));
      }
      const command = dying.gateway.calls[0]?.context.commandId;
      expect(await reader.next()).toMatchObject({ value: { event: { ...event, command } } });
      expect(admin.snapshot.services.find('my service')?.state).toBe(state);
      expect(errors.filter((error) => error instanceof HostError)).toHaveLength(12);
      expect((await admin.execute(start)).outcome).toBe(state === 'stopped' ? 'accepted' : 'unchanged');
      expect(gateway.inspected).toHaveLength(13);
      await admin.close();
    },
  );
});

describe('an open command of an earlier life', () => {
  // Promise: recovery-cases
  it.each<[string, Row]>([
    [
      'is done when its effect is in place',
      { command: stop, seen: [true], calls: [inspectStop], events: ['service.stopped'] },
    ],
    [
      'fails when its effect is not in place',
      { command: stop, seen: [false], calls: [inspectStop], events: ['command.failed'] },
    ],
    [
      'is done when all its effects are in place',
      {
        command: sequence(stop, stopWatch),
        seen: [true, true],
        calls: [inspectStop, inspectWatch],
        events: ['service.stopped', 'monitor.stopped'],
      },
    ],
    [
      'fails when no effect is in place',
      {
        command: sequence(stop, stopWatch),
        seen: [false, false],
        calls: [inspectStop, inspectWatch],
        events: ['command.failed'],
      },
    ],
    [
      'is undone when only the first effect is in place',
      {
        command: sequence(stop, stopWatch),
        seen: [true, false],
        calls: [inspectStop, inspectWatch, 'apply service.start'],
        events: ['command.failed'],
      },
    ],
    [
      'is undone when only the last effect is in place',
      {
        command: sequence(stop, stopWatch),
        seen: [false, true],
        calls: [inspectStop, inspectWatch, 'apply monitor.start'],
        events: ['command.failed'],
      },
    ],
    [
      'fails when its effects cancel out, and the state is as before',
      {
        command: sequence(stop, start),
        seen: [false, true, true],
        calls: [inspectStop, inspectStart, inspectStart],
        events: ['command.failed'],
      },
    ],
    [
      'is undone when its effects cancel out, and only the first is in place',
      {
        command: sequence(stop, start),
        seen: [true, false],
        calls: [inspectStop, inspectStart, 'apply service.start'],
        events: ['command.failed'],
      },
    ],
    [
      'is done when it switches back and forth, and only the last effect is in place',
      {
        command: sequence(stop, start, stop),
        seen: [true, false, true, false],
        calls: [inspectStop, inspectStart, inspectStop, inspectStart],
        events: ['service.stopped', 'service.started', 'service.stopped'],
      },
    ],
    [
      'is done when the last of several updates is in place',
      {
        command: sequence(limit(2), limit(3)),
        seen: [false, true, false],
        calls: ['inspect service.update 2', 'inspect service.update 3', 'inspect service.update 100'],
        events: ['service.updated', 'service.updated'],
      },
    ],
    [
      'is undone from the last update that is in place, back to the first',
      {
        command: sequence(limit(2), limit(3), limit(4)),
        seen: [false, true, false],
        calls: [
          'inspect service.update 2',
          'inspect service.update 3',
          'inspect service.update 4',
          'apply service.update 2',
          'apply service.update 100',
        ],
        events: ['command.failed'],
      },
    ],
    [
      'is done when its irreversible effect and all others are in place',
      {
        command: sequence(stop, flush),
        seen: [true, true],
        calls: [inspectStop, 'inspect logs.flush'],
        events: ['service.stopped', 'logs.flushed'],
      },
    ],
    [
      'is undone, except for its irreversible effect, when another effect is not in place',
      {
        command: sequence(stop, limit(2), flush),
        seen: [true, false, true],
        calls: [inspectStop, 'inspect service.update 2', 'inspect logs.flush', 'apply service.start'],
        events: ['command.failed'],
      },
    ],
    [
      'undoes the stop of a failed service that was started first: the service was wanted',
      {
        command: sequence(start, stop, limit(2)),
        failed: true,
        seen: [false, true, false],
        calls: [inspectStart, inspectStop, 'inspect service.update 2', 'apply service.start'],
        events: ['command.failed'],
      },
    ],
    [
      'leaves a failed service that was only started as it is',
      {
        command: sequence(start, stop, limit(2)),
        failed: true,
        seen: [true, false, false],
        calls: [inspectStart, inspectStop, 'inspect service.update 2'],
        events: ['command.failed'],
      },
    ],
    [
      'takes a failed service that is started, stopped and started for unchanged',
      {
        command: sequence(start, stop, start),
        failed: true,
        seen: [true, false, true, true],
        calls: [inspectStart, inspectStop, inspectStart, inspectStart],
        events: ['command.failed'],
      },
    ],
    [
      'is done when what it has changed is deleted: nothing else of it can be looked at',
      {
        command: sequence(stopWatch, dropWatch),
        seen: [true],
        calls: [inspectGone],
        events: ['monitor.stopped', 'monitor.deleted'],
      },
    ],
    [
      'creates and starts what it has stopped and deleted, when another effect is not in place',
      {
        command: sequence(stopWatch, dropWatch, stop),
        seen: [true, false],
        calls: [inspectGone, inspectStop, 'apply monitor.create', 'apply monitor.start'],
        events: ['command.failed'],
      },
    ],
    [
      'has not used a name again before the name was free',
      {
        command: sequence(stopWatch, dropWatch, newWatch),
        seen: [true],
        calls: [inspectGone],
        events: ['monitor.stopped', 'monitor.deleted', 'command.failed'],
      },
    ],
  ])('%s', async (_what, { calls, events, ...row }) => {
    expect(await restart(row)).toMatchObject({ calls, events });
  });

  it('of the host that flushes first has settled its flush: only the effect in flight is inspected', async () => {
    const flushFirst: Transition = (snapshot, context) => {
      const [first, then] = [flush(snapshot, context), stop(snapshot, context)];
      if (first.outcome !== 'accepted' || then.outcome !== 'accepted')
        throw new Error('Both change something');
      const [events, effects] = [
        [...first.events, ...then.events],
        [...first.effects, ...then.effects],
      ];
      return { ...then, resources: [...first.resources, ...then.resources], events, effects };
    };
    const store = createMemoryStore();
    const dying = await openRunning(store, { gateway: sampleGateway().will('done', hold().apply) });
    const reader = dying.admin.events();
    dying.admin.execute(flushFirst).catch(() => undefined);
    await dying.clock.settle();
    await dying.clock.advance(0);
    expect(await reader.next()).toMatchObject({ value: { event: { type: 'logs.flushed' } } });
    const gateway = sampleGateway().willSee('in-place');
    const { admin } = await openRunning(store, { gateway });
    expect(gateway.calls.map(({ method, effect }) => callOf(method, effect))).toEqual([inspectStop]);
    expect(admin.snapshot.services.find('my-service')?.state).toBe('stopped');
    await admin.close();
  });

  it('ends if its last part was refused, and the process ended before what stood of it was taken back', async () => {
    const dead = createMemoryStore();
    const dying = await openRunning(dead, { gateway: sampleGateway().will(hold().apply) });
    dying.admin.execute(stop).catch(() => undefined);
    await dying.clock.settle();
    const { state, records } = await dead.load();
    const [intent] = records as readonly {
      readonly command: string;
      readonly events: Json;
    }[];
    const part = { type: 'settlement', command: intent?.command, revision: 1, last: false };
    const left = [
      { ...intent, of: 2 },
      { ...part, events: [] },
      { ...intent, part: 1, of: 2 },
      { ...part, events: intent?.events },
    ] as unknown as readonly Json[];
    const store = createMemoryStore({ ...(state === undefined ? {} : { state }), records: left });
    const next = await openRunning(store);
    expect(next.admin.commands()).toEqual([]);
    await next.admin.close();
    // Otherwise each later life would find the command again.
    const last = (await store.load()).records.at(-1);
    expect(last).toMatchObject({
      command: intent?.command,
      last: true,
      events: [{ type: 'command.failed' }],
    });
  });

  it('keeps the events whose effects the host refuses to undo', async () => {
    const gateway = sampleGateway().will(new EffectRefusedError('Not back.'));
    const { admin, events } = await restart(
      { command: sequence(stop, stopWatch), seen: [true, false] },
      gateway,
    );
    expect(events).toEqual(['service.stopped', 'command.failed']);
    expect(admin.snapshot.services.find('my-service')?.state).toBe('stopped');
    expect(admin.snapshot.monitors.find('main-monitor')?.state).toBe('started');
  });
});
