import { describe, expect, it } from '@jest/globals';
import {
  createMemoryStore,
  EffectRefused,
  flushLogs,
  patchService,
  sequence,
  startService,
  stopMonitor,
  stopService,
  type Admin,
  type Effect,
  type PublishedEvent,
  type Transition,
} from 'gateway-admin-core';
import { hold } from 'gateway-admin-core/testing';

import { openRunning, sampleGateway } from '../support/running-admin.ts';

const stop: Transition = (snapshot, context) => stopService(snapshot, 'My Service', context);
const start: Transition = (snapshot, context) => startService(snapshot, 'My Service', context);
const stopWatch: Transition = (snapshot, context) => stopMonitor(snapshot, 'Main Monitor', context);
const flush: Transition = (snapshot, context) => flushLogs(snapshot, context);
const limit =
  (value: number): Transition =>
  (snapshot, context) =>
    patchService(snapshot, 'My Service', [{ op: 'replace', path: '/max_connection', value }], context);

/** What is inspected and asked for after a restart, in order. */
type Call = `${'inspect' | 'apply'} ${string}`;

function callOf(method: string, effect: Effect): string {
  const limited = effect.type === 'service.update' ? ` ${String(effect.after.max_connection)}` : '';
  return `${method} ${effect.type}${limited}`;
}

interface Row {
  readonly command: Transition;
  /** What the gateway says of each inspection: in place or not. */
  readonly seen: readonly boolean[];
  readonly calls: readonly Call[];
  /** What has happened in the end. */
  readonly events: readonly string[];
}

/** Begins a command in a life that dies, and opens the next one. */
async function restart(
  { command, seen }: Pick<Row, 'command' | 'seen'>,
  gateway = sampleGateway(),
): Promise<{ readonly admin: Admin; readonly calls: readonly string[]; readonly events: readonly string[] }> {
  const store = createMemoryStore();
  const dying = await openRunning(store, { gateway: sampleGateway().will(hold().apply) });
  dying.admin.execute(command).catch(() => undefined);
  await dying.clock.settle();
  gateway.willSee(...seen.map((inPlace) => (inPlace ? 'in-place' : 'not-in-place')));
  const { admin } = await openRunning(store, { gateway });
  await admin.close();
  const events: string[] = [];
  for await (const each of admin.events({ after: '0.0' }))
    if (each.gap === undefined) events.push((each satisfies PublishedEvent).event.type);
  return { admin, calls: gateway.calls.map(({ method, effect }) => callOf(method, effect)), events };
}

const inspectStop = 'inspect service.stop';
const inspectStart = 'inspect service.start';
const inspectWatch = 'inspect monitor.stop';

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
  ])('%s', async (_what, { command, seen, calls, events }) => {
    expect(await restart({ command, seen })).toMatchObject({ calls, events });
  });

  it('keeps the events whose effects the host refuses to undo', async () => {
    const gateway = sampleGateway().will(new EffectRefused('Not back.'));
    const { admin, events } = await restart(
      { command: sequence(stop, stopWatch), seen: [true, false] },
      gateway,
    );
    expect(events).toEqual(['service.stopped', 'command.failed']);
    expect(admin.snapshot.services.find('my-service')?.state).toBe('stopped');
    expect(admin.snapshot.monitors.find('main-monitor')?.state).toBe('started');
  });
});
