/**
 * Commands on one resource take effect in the order of arrival. tests/scenarios/command/concurrency.txt has what clients see
 * of that.
 */
import { setImmediate as turn } from 'node:timers/promises';

import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import {
  createAdmin,
  createSnapshot,
  patchService,
  sequence,
  type Effect,
  type Transition,
} from 'gateway-admin-core';

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

describe('a command that comes free', () => {
  it.each([
    ['one signal', (signal: AbortSignal) => signal],
    ['signals that follow one signal', (signal: AbortSignal) => AbortSignal.any([signal])],
  ])('does not start if %s takes it back with the command before it', async (_what, follow) => {
    const { admin, started, close } = openSlow(['A', 'B']);
    const all = new AbortController();
    void admin.execute(patch(1, ['A']));
    const taken = [patch(2, ['A', 'B']), patch(3, ['B'])].map((transition) =>
      expect(admin.execute(transition, { signal: follow(all.signal) })).rejects.toThrow('stop'),
    );
    await turn();
    all.abort(new Error('stop'));
    await Promise.all(taken);
    await turn();
    expect(started).toEqual([1]);
    await close();
  });

  it('goes before a later one that came free at the same time, also if it needs more by now', async () => {
    const { admin, started, end, close } = openSlow(['A', 'B']);
    let hasEnded = false;
    void admin.execute(patch(1, ['A', 'B']));
    const first = admin.execute((snapshot, context) => patch(hasEnded ? 1 : 2, ['A'])(snapshot, context));
    void admin.execute((snapshot, context) => patch(3, hasEnded ? ['A', 'B'] : ['A'])(snapshot, context));
    void admin.execute(patch(4, ['B']));
    await turn();
    hasEnded = true;
    end(1);
    await turn();
    expect(await first).toMatchObject({ outcome: 'unchanged' });
    expect(started).toEqual([1, 3]);
    await close();
  });

  it.each([1, 100])('is not kept by a link without a text, with room for %d', async (maxInFlight) => {
    const { admin, started, end, close } = openSlow(['A', 'B'], maxInFlight);
    await expect(admin.execute(decidedOn(Object.create(null)))).rejects.toThrow(TypeError);
    void admin.execute(patch(1, ['A']));
    void admin.execute(patch(2, ['B']));
    await turn();
    end(1);
    await turn();
    expect(started).toEqual([1, 2]);
    await close();
  });

  it('is not kept by one that has left while it was decided', async () => {
    const { admin, started, end, close } = openSlow(['A']);
    const abort = new AbortController();
    const link = {
      toString() {
        abort.abort(new Error('gone'));
        return '/services/A';
      },
    };
    void admin.execute(patch(1, ['A']));
    await expect(admin.execute(decidedOn(link), { signal: abort.signal })).rejects.toThrow('gone');
    void admin.execute(patch(2, ['A']));
    end(1);
    await turn();
    expect(started).toEqual([1, 2]);
    await close();
  });
});

/** Sets the most connections of services to the number of the command. */
function patch(id: number, names: readonly string[]): Transition {
  const patches = names.map(
    (name): Transition =>
      (snapshot, context) =>
        patchService(snapshot, name, [{ op: 'add', path: '/max_connection', value: id }], context),
  );
  return sequence(...patches);
}

/** A transition of a host that changes nothing, on a resource whose link is no text. */
function decidedOn(link: unknown): Transition {
  return (next) => ({ outcome: 'unchanged', next, events: [], effects: [], resources: [link] }) as never;
}

/** An interface whose gateway takes its time for each command. */
function openSlow(names: readonly string[], maxInFlight = 100) {
  const started: number[] = [];
  const [calls, ended] = [new Map<number, () => void>(), new Set<number>()];
  const gateway = {
    apply: async (effect: Effect): Promise<void> => {
      const id = effect.type === 'service.update' ? (effect.to.max_connection ?? 0) : 0;
      if (!started.includes(id)) started.push(id);
      if (!ended.has(id)) await new Promise<void>((resolve) => calls.set(id, resolve));
    },
    inspect: () => Promise.resolve('in-place' as const),
  };
  const services = names.map((name) => ({ name, router: 'readconnroute' }));
  const admin = createAdmin({ snapshot: createSnapshot({ services }), gateway, limits: { maxInFlight } });
  const end = (id: number): void => {
    ended.add(id);
    calls.get(id)?.();
  };
  return {
    ...{ admin, started, end },
    /** Ends what is under way, and refuses the rest. */
    async close(this: void): Promise<void> {
      const closing = admin.close();
      for (const id of started) end(id);
      await closing;
    },
  };
}

/** The same line of commands twice: as it runs, and as the rule alone says it. */
function openLine(names: readonly string[], maxInFlight: number) {
  const { admin, started, end, close } = openSlow(names, maxInFlight);
  let line: { readonly id: number; readonly resources: readonly string[]; runs: boolean }[] = [];
  const over = new Set<number>();
  const aborts = new Map<number, AbortController>();
  /** A command that waits for nobody goes, in order of arrival. */
  const go = (): void => {
    for (const [at, each] of line.entries()) {
      const isKept = line.some(
        (other, place) =>
          (other.runs || place < at) && other.resources.some((name) => each.resources.includes(name)),
      );
      const isFull = line.filter(({ runs }) => runs).length >= maxInFlight;
      each.runs ||= !isFull && !isKept;
    }
  };
  /** Takes one out that runs or waits, if there is one. */
  const take = (isRunning: boolean, choice: number): number => {
    const all = line.filter(({ runs }) => runs === isRunning);
    const { id = 0 } = all[choice % all.length] ?? {};
    line = line.filter((each) => each.id !== id);
    go();
    return id;
  };
  const byNumber = (ids: readonly number[]): readonly number[] => ids.toSorted((a, b) => a - b);
  return {
    come(resources: readonly string[]): void {
      const [id, abort] = [aborts.size + 1, new AbortController()];
      aborts.set(id, abort);
      admin.execute(patch(id, resources), { signal: abort.signal }).catch(() => undefined);
      line.push({ id, resources, runs: false });
      go();
    },
    end(choice: number): void {
      const id = take(true, choice);
      over.add(id);
      end(id);
    },
    giveUp(choice: number): void {
      aborts.get(take(false, choice))?.abort();
    },
    state: () => byNumber(started.filter((id) => !over.has(id))),
    expected: () => byNumber(line.flatMap(({ id, runs }) => (runs ? [id] : []))),
    close,
  };
}
