/**
 * Stores that break one promise each: the audit of that promise finds them.
 */
import { describe, expect, it, jest } from '@jest/globals';

import { StoreConflictError, type Json } from 'gateway-admin-core';
import type { SharedStore } from 'gateway-admin-core/fleet';
import { sharedStoreAudits, storeAudits } from 'gateway-admin-core/testing';

import { sharedMemoryPlace } from '../support/shared-memory-place.ts';

type Wrap = (store: SharedStore) => Partial<SharedStore>;

/** Runs the audit with an id on stores that are wrapped. */
async function run(id: string, createWrap: () => Wrap): Promise<void> {
  const audits = sharedStoreAudits(() => Promise.resolve(sharedMemoryPlace(createWrap())));
  await audits.find((audit) => audit.id === id)?.run();
}

/** What a store reads or loads, changed. */
function reading(change: (records: readonly Json[], after: string) => readonly Json[]): () => Wrap {
  return () => (store) => ({
    read: async (after) => {
      const steps = await store.read(after);
      if (steps === 'gone') return steps;
      const records = change(
        steps.flatMap((step) => step.records),
        after,
      );
      return [{ records, position: steps.at(-1)?.position ?? after }];
    },
  });
}

/** Appends wherever the store ends: compare-and-swap is switched off. */
const unconditional: Wrap = (store) => {
  const append = async (records: readonly Json[]): Promise<string> => {
    const { position } = await store.load();
    return store.append(records, { expectedPosition: position }).catch(() => append(records));
  };
  return { append };
};

/** Compares numbers alone, as if a position had no id of its call. */
const numbered: Wrap = (store) => {
  const whole = async (position: string): Promise<string> => {
    const { position: end } = await store.load();
    return numberOf(position) === numberOf(end) ? end : position;
  };
  return {
    append: async (records, { expectedPosition }) =>
      store.append(records, { expectedPosition: await whole(expectedPosition) }),
    compact: async (state, { expectedPosition }) =>
      store.compact(state, { expectedPosition: await whole(expectedPosition) }),
    read: async (after) => store.read(await whole(after)),
  };
};

function numberOf(position: string): number {
  return Number.parseInt(position, 10);
}

/** A cache that each store fills when it loads first. */
const loadedOnce: Wrap = (store) => {
  let loaded: ReturnType<SharedStore['load']> | undefined;
  return { load: () => (loaded ??= store.load()) };
};

/** Knows no call again. */
const forgetful: Wrap = (store) => {
  let last = '';
  return {
    append: async (records, { expectedPosition }) => {
      if (expectedPosition === last) throw new StoreConflictError(last, 'elsewhere');
      last = expectedPosition;
      return store.append(records, { expectedPosition });
    },
  };
};

/** Keeps the same call once more when other records came behind it. */
const eager: Wrap = (store) => {
  const sent = new Set<string>();
  return {
    append: async (records, options) => {
      const call = JSON.stringify([records, options]);
      const isKnown = sent.has(call);
      sent.add(call);
      const { position } = await store.load();
      return store.append(records, isKnown ? { expectedPosition: position } : options);
    },
  };
};

/** Announcements as one list, of which nothing goes away. */
const hoarding: Wrap = (store) => ({
  announce: async (node, status) =>
    status === null ? store.announce('nobody', 1) : store.announce(node, status),
});

const broken: readonly (readonly [id: string, does: string, wrap: () => Wrap, says: RegExp])[] = [
  ['shared-append', 'appends at any position', () => unconditional, /append must reject/],
  [
    'shared-append',
    'refuses everybody',
    () => () => ({ append: () => Promise.reject(new Error('No.')) }),
    /but both rejected/,
  ],
  [
    'shared-compact',
    'compacts at any position',
    () => (store) => ({
      compact: async (state) => store.compact(state, { expectedPosition: (await store.load()).position }),
    }),
    /compact must reject/,
  ],
  ['shared-load', 'loads from a cache', () => loadedOnce, /the loaded content must be/],
  ['shared-read', 'reads nothing', reading(() => []), /the records behind/],
  ['shared-read', 'reads backwards', reading((records) => records.toReversed()), /the records behind/],
  [
    'shared-read',
    'reads with the position that it got',
    () => (store) => ({
      read: async (after) => {
        const steps = await store.read(after);
        return steps === 'gone' ? steps : steps.map(({ records }) => ({ records, position: after }));
      },
    }),
    /the steps, with the positions/,
  ],
  [
    'shared-read-json',
    'takes characters away',
    reading((records) => JSON.parse(JSON.stringify(records).replaceAll('\\u0000', '')) as Json[]),
    /the records behind/,
  ],
  ['shared-read-many', 'reads one page', reading((records) => records.slice(0, 1000)), /the records behind/],
  [
    'shared-read-compact',
    'is gone at each compaction',
    () => (store) => {
      const gone = new Set<string>();
      return {
        compact: (state, options) => {
          gone.add(options.expectedPosition);
          return store.compact(state, options);
        },
        read: async (after) => (gone.has(after) ? 'gone' : store.read(after)),
      };
    },
    /read must go on/,
  ],
  [
    'shared-read-compact',
    'gives the state as a record',
    () => (store) => ({
      compact: async (state, { expectedPosition }) => store.append([{ state }], { expectedPosition }),
    }),
    /the records behind/,
  ],
  [
    'shared-read-behind',
    'gives what is left behind a compaction',
    () => (store) => ({
      read: async (after) => {
        const read = await store.read(after);
        return read === 'gone' ? [await store.load()] : read;
      },
    }),
    /the records from before a compaction/,
  ],
  ['shared-read-foreign', 'compares numbers alone', () => numbered, /read must answer gone/],
  [
    'shared-read-foreign',
    'rejects what is no position',
    () => (store) => ({
      read: (after) =>
        /^\d+\.\w+$/.test(after) ? store.read(after) : Promise.reject(new Error('No position')),
    }),
    /No position/,
  ],
  ['shared-backup', 'compares numbers alone', () => numbered, /read must answer gone/],
  [
    'shared-backup',
    'gives the position of an earlier call',
    () => {
      const given: string[] = [];
      return (store) => ({
        append: async (records, options) => {
          given.push(await store.append(records, options));
          return (records[0] === 'more' ? given.at(-2) : given.at(-1)) ?? '';
        },
      });
    },
    /a position was given twice: /,
  ],
  ['shared-repeat', 'takes its own call for one of another node', () => forgetful, /another writer/],
  ['shared-repeat-behind', 'keeps the call once more', () => eager, /append must reject/],
  ['shared-race', 'appends at any position', () => unconditional, /the order for a node/],
  [
    'shared-race',
    'loses every hundredth append',
    () => {
      let count = 0;
      return (store) => ({
        append: async (records, options) => {
          count += 1;
          return count % 100 === 0 ? options.expectedPosition : store.append(records, options);
        },
      });
    },
    /the number of kept records/,
  ],
  [
    'shared-race',
    'loses its place when another node was faster',
    () => () => ({ read: () => Promise.resolve('gone') }),
    /read must go on from .*, but answered gone/,
  ],
  [
    'shared-race',
    'fails instead of a conflict',
    () => (store) => ({
      append: (...given) =>
        store.append(...given).catch(() => {
          throw new Error('No connection');
        }),
    }),
    /No connection/,
  ],
  [
    'shared-changed',
    'rejects',
    () => () => ({ changed: () => Promise.reject(new Error('No.')) }),
    /changed must not reject/,
  ],
  [
    'shared-announce',
    'hides what others say',
    () => (store) => ({
      announce: async (node, status) =>
        new Map([...(await store.announce(node, status))].filter(([name]) => name === node)),
    }),
    /the announcements of two nodes/,
  ],
  ['shared-announce', 'takes nothing out', () => hoarding, /an announcement of null/],
  [
    'shared-announce-apart',
    'keeps announcements in the log',
    () => (store) => ({
      announce: async (node, status) => {
        await store.append([status], { expectedPosition: (await store.load()).position });
        return store.announce(node, status);
      },
    }),
    /./,
  ],
  [
    'shared-dispose',
    'stays open',
    () => () => ({ [Symbol.asyncDispose]: () => Promise.resolve() }),
    /append must reject/,
  ],
];

const brokenAlone: readonly (readonly [id: string, does: string, wrap: () => Wrap, says: RegExp])[] = [
  [
    'load-new',
    'has numbers as positions',
    () => (store) => ({ load: async () => ({ ...(await store.load()), position: 0 as never }) }),
    /the position must be a string, not 0/,
  ],
  [
    'append-json',
    'takes an empty list for an empty object',
    () => (store) => ({
      load: async () => JSON.parse(JSON.stringify(await store.load()).replaceAll('[]', '{}')) as never,
    }),
    /the loaded content must be/,
  ],
  [
    'append-position',
    'gives the same position for each append',
    () => (store) => {
      let first: string | undefined;
      return {
        append: async (records) => {
          const { position } = await store.load();
          const end = await store.append(records, { expectedPosition: position });
          return (first ??= end);
        },
      };
    },
    /a position was given twice: /,
  ],
  [
    'compact-position',
    'gives the position before the compaction',
    () => (store) => ({
      compact: async (state, options) => {
        await store.compact(state, options);
        return options.expectedPosition;
      },
    }),
    /compact gave the position .* again/,
  ],
];

describe('the audits of every store', () => {
  it.each(brokenAlone)('find with %s a store that %s', async (id, _does, createWrap, says) => {
    const audits = storeAudits(() => Promise.resolve(sharedMemoryPlace(createWrap())));
    await expect(audits.find((audit) => audit.id === id)?.run()).rejects.toThrow(says);
  });

  it('find a store that rejects its first call, without failNext to blame', async () => {
    const { failNext: _failNext, ...place } = sharedMemoryPlace(() => ({
      append: () => Promise.reject(new Error('No connection')),
    }));
    const audits = storeAudits(() => Promise.resolve(place));
    const repeat = audits.find(({ id }) => id === 'append-repeat');
    await expect(repeat?.run()).rejects.toThrow('No connection');
  });
});

describe('the audit of loaded values', () => {
  it('passes a store that freezes what it loads', async () => {
    const place = sharedMemoryPlace((store) => ({
      load: async () =>
        JSON.parse(JSON.stringify(await store.load()), (_key, value: unknown) =>
          Object.freeze(value),
        ) as never,
    }));
    const audits = storeAudits(() => Promise.resolve(place));
    await expect(audits.find(({ id }) => id === 'share-loaded')?.run()).resolves.toBeUndefined();
  });
});

describe('the audits of shared stores', () => {
  it('are the audits of every store, and more, each with an id of its own', () => {
    const createPlace = () => Promise.resolve(sharedMemoryPlace());
    const ids = sharedStoreAudits(createPlace).map(({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining(storeAudits(createPlace).map(({ id }) => id)));
    expect(new Set(ids).size).toBe(ids.length);
  });

  // Promise: shared-audits
  it.each(broken)('find with %s a store that %s', async (id, _does, createWrap, says) => {
    await expect(run(id, createWrap)).rejects.toThrow(says);
  });

  it('find a store whose changed does not end', async () => {
    jest.useFakeTimers();
    const found = run('shared-changed-signal', () => () => ({ changed: () => new Promise(() => undefined) }));
    const fault = found.catch(String);
    await jest.advanceTimersByTimeAsync(10_000);
    jest.useRealTimers();
    expect(await fault).toMatch('changed must end when its signal aborts, but goes on');
  });

  it('have a broken store for each audit of sharing', () => {
    const ids = sharedStoreAudits(() => Promise.resolve(sharedMemoryPlace())).map(({ id }) => id);
    const found = new Set([...broken.map(([id]) => id), 'shared-changed-signal']);
    expect([...found].toSorted()).toEqual(ids.filter((id) => id.startsWith('shared-')).toSorted());
  });

  it('pass a place without backups', async () => {
    const { backup: _backup, ...place } = sharedMemoryPlace();
    const audits = sharedStoreAudits(() => Promise.resolve(place));
    await expect(audits.find(({ id }) => id === 'shared-backup')?.run()).resolves.toBeUndefined();
  });
});
