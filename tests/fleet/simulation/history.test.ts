/**
 * The answers of a fleet about one resource have an order in which each of them is right, and the checker of that has
 * teeth.
 */
import { expect, it } from '@jest/globals';
import { StoreConflictError, type Json } from 'gateway-admin-core';
import type { LogStep, SharedStore } from 'gateway-admin-core/fleet';

import { altered } from '../../support/altered-store.ts';
import { faultsIn, type Tooth } from './history.ts';

const seeds = 30;
/** The most histories in which a fault of the store is looked for. */
const most = 100;

it(`the answers about each resource have an order in ${String(seeds)} histories`, async () => {
  const found: (readonly [seed: number, faults: readonly string[]])[] = [];
  for (let seed = 0; seed < seeds; seed += 1) {
    const faults = await faultsIn(seed);
    if (faults.length > 0) found.push([seed, faults]);
  }
  expect(found).toEqual([]);
});

/** Whether a record is the end that another node has given to a command. */
function isForeignEnd(record: Json): boolean {
  const { type, why } = record as unknown as { readonly type: string; readonly why?: string };
  return type === 'settlement' && why !== undefined;
}

/** Changes what a store reads. */
function reading(store: SharedStore, change: (steps: readonly LogStep[]) => readonly LogStep[]): SharedStore {
  return altered(store, {
    read: async (after) => {
      const steps = await store.read(after);
      return steps === 'gone' ? steps : change(steps);
    },
  });
}

const appendingAnywhere: Tooth = (store) =>
  altered(store, {
    append: async (records) => {
      const { position } = await store.load();
      return store.append(records, { expectedPosition: position });
    },
  });

/** Gives positions of its own for what is not there yet, and perhaps never will be. */
const acknowledgingEarly: Tooth = (store, { random, clock }) => {
  const positions = new Map<string, string>();
  const trueOf = (position: string): string => positions.get(position) ?? position;
  return altered(store, {
    append: async (records, { expectedPosition }) => {
      const before = trueOf(expectedPosition);
      const news = await store.read(before);
      if (news === 'gone' || news.length > 0) throw new StoreConflictError(expectedPosition, 'a later one');
      const given = `early.${String(positions.size)}`;
      positions.set(given, before);
      clock
        .sleep(random.below(200))
        .then(() => store.append(records, { expectedPosition: trueOf(expectedPosition) }))
        .then(
          (position) => positions.set(given, position),
          () => undefined,
        );
      return given;
    },
    read: (after) => store.read(trueOf(after)),
    changed: (after, signal) => store.changed(trueOf(after), signal),
  });
};

const turningOrder: Tooth = (store) =>
  reading(store, (steps) => {
    const turned = steps.map(({ records }) => records).toReversed();
    return steps.map(({ position }, index) => ({ records: turned[index] ?? [], position }));
  });

/** The node settles its command all the same. */
const withoutFence: Tooth = (store) =>
  reading(store, (steps) =>
    steps.map(({ records, position }) => ({
      records: records.filter((record) => !isForeignEnd(record)),
      position,
    })),
  );

it.each([
  { what: 'appends behind records that its node has not read', tooth: appendingAnywhere, known: 0 },
  { what: 'acknowledges records before it has them', tooth: acknowledgingEarly, known: 0 },
  { what: 'reads records in turned order', tooth: turningOrder, known: 0 },
  { what: 'hides that others have ended a command', tooth: withoutFence, known: 64 },
])('the checker finds a store that $what', async ({ tooth, known }) => {
  const seed = await firstFound(tooth, known);
  expect(seed).toBeDefined();
  expect(await faultsIn(seed as number)).toEqual([]);
});

/**
 * A history that finds fault with the store. The known one comes first: if histories change, another one may find it.
 */
async function firstFound(tooth: Tooth, known: number): Promise<number | undefined> {
  for (let tried = 0; tried < most; tried += 1) {
    const seed = (known + tried) % most;
    if ((await faultsIn(seed, tooth)).length > 0) return seed;
  }
  return undefined;
}
