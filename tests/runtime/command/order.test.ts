/**
 * Commands on one resource take effect in the order of arrival, with every kind of store, also if one of them changes nothing.
 */
import { setImmediate as turn } from 'node:timers/promises';

import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import {
  createAdmin,
  createMemoryStore,
  createSnapshot,
  patchService,
  sequence,
  type Admin,
  type Effect,
  type Transition,
} from 'gateway-admin-core';
import { hold, type ScriptedGateway, type VirtualClock } from 'gateway-admin-core/testing';

import { createWorld } from '../../fleet/node.ts';
import { openRunning, runAdmin } from '../../support/running-admin.ts';
import { limit } from '../../support/transition.ts';

interface Opened {
  readonly admin: Admin;
  readonly gateway: ScriptedGateway;
  readonly clock: VirtualClock;
}

const kinds: Readonly<Record<string, () => Promise<Opened>>> = {
  'an interface without a store': () => Promise.resolve(runAdmin()),
  'an interface with a store': () => openRunning(createMemoryStore()),
  'a node of a fleet': async () => {
    const world = createWorld();
    return { ...(await world.open('a')), clock: world.clock };
  },
};

describe.each(Object.keys(kinds))('%s', (kind) => {
  // Promise: resource-order
  it.each([
    [[7, 7, 8], 8, ['accepted', 'unchanged', 'accepted']],
    [[7, 100, 100, 9], 9, ['accepted', 'accepted', 'unchanged', 'accepted']],
  ])('carries out patches to %j in this order', async (values, last, outcomes) => {
    const { admin, gateway, clock } = (await kinds[kind]?.()) as Opened;
    const first = hold();
    gateway.will(first.apply);
    const all = values.map((value) => admin.execute(limit(value)));
    await clock.settle();
    first.done();
    const executions = await clock.waitFor(Promise.all(all));
    expect(executions.map(({ outcome }) => outcome)).toEqual(outcomes);
    expect(admin.snapshot.services.find('my-service')?.settings.max_connection).toBe(last);
    expect(gateway.state.services['my-service']?.settings).toMatchObject({ max_connection: last });
    await clock.waitFor(admin.close());
  });
});

// Promise: resource-order
it('lets no command wait that nobody is before, whoever comes, goes and gives up', async () => {
  const names = ['A', 'B', 'C', 'D'];
  const command = fc.subarray(names, { minLength: 1, maxLength: 3 });
  const step = fc.tuple(fc.constantFrom('come', 'come', 'end', 'end', 'give up'), command, fc.nat());
  // The last one waits only for the second one, which waits for the first.
  const givenUp: [string, string[], number][] = [
    ['come', ['A'], 0],
    ['come', ['A', 'B'], 0],
    ['come', ['B'], 0],
    ['give up', [], 0],
  ];
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 5, maxLength: 40 }),
      fc.constantFrom(2, 100),
      async (steps, maxInFlight) => {
        const line = openLine(names, maxInFlight);
        for (const [what, resources, choice] of steps) {
          if (what === 'come') line.come(resources);
          else if (what === 'end') line.end(choice);
          else line.giveUp(choice);
          await turn();
          expect(line.state()).toEqual(line.expected());
        }
        await line.close();
      },
    ),
    { numRuns: 60, examples: [[givenUp, 100]] },
  );
});

/** An interface whose gateway takes its time, and the same line of commands as the rule alone says it. */
function openLine(names: readonly string[], maxInFlight: number) {
  const calls = new Map<number, () => void>();
  const expected: { id: number; resources: readonly string[]; runs: boolean }[] = [];
  const ended = new Set<number>();
  const running = new Set<number>();
  const aborts = new Map<number, AbortController>();
  const gateway = {
    apply: async (effect: Effect): Promise<void> => {
      const id = effect.type === 'service.update' ? (effect.after.max_connection ?? 0) : 0;
      running.add(id);
      if (!ended.has(id)) await new Promise<void>((resolve) => calls.set(id, resolve));
    },
    inspect: () => Promise.resolve('in-place' as const),
  };
  const services = names.map((name) => ({ name, router: 'readconnroute' }));
  const admin = createAdmin({ snapshot: createSnapshot({ services }), gateway, limits: { maxInFlight } });
  let count = 0;
  const isFree = (at: number): boolean => {
    const own = expected[at]?.resources ?? [];
    return !expected.some(
      (each, place) => (each.runs || place < at) && each.resources.some((name) => own.includes(name)),
    );
  };
  /** Whoever waits for nobody goes, in order of arrival. */
  const go = (): void => {
    for (const [at, each] of expected.entries()) {
      const isFull = expected.filter(({ runs }) => runs).length >= maxInFlight;
      if (!each.runs && !isFull && isFree(at)) each.runs = true;
    }
  };
  const leave = (id: number): void => {
    expected.splice(
      expected.findIndex((each) => each.id === id),
      1,
    );
    go();
  };
  return {
    come(resources: readonly string[]): void {
      count += 1;
      const id = count;
      const abort = new AbortController();
      aborts.set(id, abort);
      const patches = resources.map(
        (name): Transition =>
          (snapshot, context) =>
            patchService(snapshot, name, [{ op: 'add', path: '/max_connection', value: id }], context),
      );
      admin.execute(sequence(...patches), { signal: abort.signal }).catch(() => undefined);
      expected.push({ id, resources, runs: false });
      go();
    },
    end(choice: number): void {
      const all = expected.filter(({ runs }) => runs);
      const id = all[choice % all.length]?.id;
      if (id === undefined) return;
      ended.add(id);
      running.delete(id);
      calls.get(id)?.();
      leave(id);
    },
    giveUp(choice: number): void {
      const all = expected.filter(({ runs }) => !runs);
      const id = all[choice % all.length]?.id;
      if (id === undefined) return;
      aborts.get(id)?.abort();
      leave(id);
    },
    state: () => [...running].filter((id) => !ended.has(id)).toSorted((a, b) => a - b),
    expected: () => expected.flatMap(({ id, runs }) => (runs ? [id] : [])).toSorted((a, b) => a - b),
    async close(): Promise<void> {
      for (let id = 1; id <= count; id += 1) {
        ended.add(id);
        calls.get(id)?.();
      }
      await admin.close();
    },
  };
}
