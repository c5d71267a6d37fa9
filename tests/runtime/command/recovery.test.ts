/** tests/scenarios/command/recovery.txt says what becomes of a command that was in flight when its process died. */
import { describe, expect, it } from '@jest/globals';
import { createMemoryStore, flushLogs, stopService, type Transition } from 'gateway-admin-core';
import type { Json } from 'gateway-admin-core/json';
import { hold } from 'gateway-admin-core/testing';

import { openRunning, sampleGateway } from '../../support/running-admin.ts';

const stop: Transition = (snapshot, context) => stopService(snapshot, 'My Service', context);

describe('an open command of an earlier life', () => {
  it('of the host that flushes first has settled its flush: only the effect in flight is inspected', async () => {
    const flushFirst: Transition = (snapshot, context) => {
      const [first, then] = [flushLogs(snapshot, context), stop(snapshot, context)];
      if (first.outcome !== 'accepted' || then.outcome !== 'accepted') return then;
      const events = [...first.events, ...then.events];
      const effects = [...first.effects, ...then.effects];
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
    expect(gateway.calls.map(({ method, effect }) => `${method} ${effect.type}`)).toEqual([
      'inspect service.stop',
    ]);
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
});
