import { describe, expect, it } from '@jest/globals';
import { createSnapshot, EffectRefusedError, startService, type Admin } from 'gateway-admin-core';
import {
  createRandom,
  createScriptedGateway,
  createVirtualClock,
  type ApplyWay,
} from 'gateway-admin-core/testing';

import { Disk } from './disk.ts';
import { beginLife, type Life } from './life.ts';
import type { Surroundings } from './mortal.ts';

const before = ['stopped', 'failed'] as const;

/** What the gateway does with a start, and whether the service fails then. */
const starts: Readonly<Record<string, { readonly way: ApplyWay; readonly fails?: true }>> = {
  'runs afterwards': { way: 'done' },
  'has failed when the gateway says that it is started': { way: 'done', fails: true },
  'is refused its port': { way: new EffectRefusedError('The port is in use.') },
  'runs, and the gateway says nothing': { way: 'silentAfter' },
  'fails, and the gateway says nothing': { way: 'silentAfter', fails: true },
  'runs, and the gateway breaks off': { way: 'failAfter' },
  'fails, and the gateway breaks off': { way: 'failAfter', fails: true },
  'is not started, and the gateway breaks off': { way: 'failBefore' },
};

/** Kills the process at the n-th moment: before or after a call of a port. */
function deathAt(moment: number): Pick<Surroundings, 'random' | 'mortality'> {
  let count = 0;
  const chance = (): boolean => (count += 1) === moment;
  return { random: { ...createRandom(0), chance }, mortality: 1 };
}

async function shownBy(admin: Admin): Promise<unknown> {
  const handled = await admin.handle({ method: 'GET', target: '/services/Sales?fields=state', headers: {} });
  if (!handled.matched) throw new Error('There is nothing at this path');
  return (JSON.parse(handled.response.body as string) as { readonly state: unknown }).state;
}

/** A start in a process that dies at a moment, and another process. Gives whether the first process has died. */
async function killAt(
  moment: number,
  state: (typeof before)[number],
  { way, fails }: (typeof starts)[string],
  areCallsLost: boolean,
): Promise<boolean> {
  const clock = createVirtualClock(0);
  const snapshot = createSnapshot({
    services: [{ name: 'Sales', router: 'readconnroute', state: state === 'stopped' ? state : 'started' }],
  });
  const gateway = createScriptedGateway({ snapshot, clock });
  const disk = new Disk(createRandom(moment), clock);
  let life: Life | undefined;
  const begin = async (fate: Pick<Surroundings, 'random' | 'mortality'>): Promise<Life | undefined> => {
    const cross = (): void => {
      const failed = fails === true && gateway.applied.length > 0 ? gateway.failService('Sales') : [];
      if (life?.alive === true) life.admin.report(failed);
    };
    const none = (): void => undefined;
    const rest = { snapshot, gateway, clock, store: disk.store(), starting: () => none, storing: none };
    life = await clock.waitFor(beginLife({ ...rest, cross, ...fate }));
    // All that the gateway reports of itself.
    life?.admin.report(gateway.statusReports());
    return life;
  };
  if (state === 'failed') gateway.failService('Sales');
  gateway.will(way);
  const first = await begin(deathAt(moment));
  let outcome: string | undefined;
  first?.admin
    .execute((present, context) => startService(present, 'Sales', context))
    .then((execution) => (outcome = execution.outcome))
    .catch(() => undefined);
  await clock.runUntilIdle();
  const hasDied = first?.alive !== true;
  if (!hasDied) expect(gateway.differences(first.admin.snapshot)).toEqual([]);
  first?.die();
  if (areCallsLost) gateway.dropCalls();
  await clock.runUntilIdle();
  disk.tear();

  const second = await begin({ random: createRandom(0), mortality: 0 });
  if (second === undefined) throw new Error('The second process does not start');
  await clock.runUntilIdle();
  const had = gateway.state.services['sales']?.state;
  expect([moment, await shownBy(second.admin), gateway.differences(second.admin.snapshot)]).toEqual([
    moment,
    had,
    [],
  ]);
  if (outcome === 'accepted') expect(had).not.toBe('stopped');
  if (outcome === 'refused') expect(had).toBe(state);
  return hasDied;
}

describe.each(before)('a start of a service that is %s', (state) => {
  describe.each([true, false])('in a process whose calls are lost at its end: %p', (areCallsLost) => {
    // Promise: killed-start
    it.each(Object.entries(starts))(
      'is shown as it is after a kill at any moment: it %s',
      async (_what, start) => {
        let moment = 1;
        while (await killAt(moment, state, start, areCallsLost)) moment += 1;
        // Opening, intent, effect and settlement are each a call of a port at least.
        expect(moment).toBeGreaterThan(10);
      },
    );
  });
});
