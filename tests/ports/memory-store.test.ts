/**
 * The stores in memory, of one node and of several.
 */
import { describe, expect, it } from '@jest/globals';
import { type ConfigurationStore, createMemoryStore, StoreConflictError } from 'gateway-admin-core';
import { createSharedMemory, type SharedStore } from 'gateway-admin-core/fleet';
import { sharedStoreAudits, storeAudits, type StorePlace } from 'gateway-admin-core/testing';

import { listenedSignal } from '../support/listened-signal.ts';
import { sharedMemoryPlace } from '../support/shared-memory-place.ts';

const audits = storeAudits(() => {
  const store = createMemoryStore();
  return Promise.resolve({ open: () => Promise.resolve(store) });
});

/** A place at which the store fails when an audit says so. */
function failingPlace(store: ConfigurationStore = createMemoryStore()): StorePlace {
  let next: 'nothing' | 'part' | 'everything' | undefined;
  const failing = async (call: () => Promise<string>): Promise<string> => {
    const kept = next;
    next = undefined;
    if (kept !== 'nothing') await call();
    if (kept !== undefined) throw new Error('The wire broke');
    return call();
  };
  const open: ConfigurationStore = {
    ...store,
    append: (...given) => failing(() => store.append(...given)),
    compact: (...given) => failing(() => store.compact(...given)),
  };
  return { open: () => Promise.resolve(open), failNext: (kept) => (next = kept) };
}

describe('a store in memory', () => {
  it.each(audits.map((audit) => [audit.name, audit] as const))('%s', async (_name, audit) => {
    await expect(audit.run()).resolves.toBeUndefined();
  });

  it('begins with the history that it is given, and keeps nothing of it by reference', async () => {
    const record = { list: [1] };
    const state = { list: [2] };
    const store = createMemoryStore({ state, records: [record] });
    record.list.push(3);
    state.list.push(3);
    expect(await store.load()).toMatchObject({ state: { list: [2] }, records: [{ list: [1] }] });
  });

  it('says that nothing in it outlives the process', () => {
    expect(createMemoryStore().durable).toBe(false);
  });

  // Promise: memory-store
  it('has one of two that write to it at once see that it was too late', async () => {
    const store = createMemoryStore();
    const [one, other] = [await store.load(), await store.load()];
    await store.append(['first'], { expectedPosition: one.position });
    const late = store.append(['second'], { expectedPosition: other.position });
    await expect(late).rejects.toThrow(StoreConflictError);
    await expect(late).rejects.toThrow(/another writer has written/);
    expect((await store.load()).records).toEqual(['first']);
  });

  it('takes nothing once disposed of, until it is loaded again', async () => {
    const store = createMemoryStore();
    const { position } = await store.load();
    await store[Symbol.asyncDispose]();
    await expect(store.append([1], { expectedPosition: position })).rejects.toThrow(/disposed of/);
    const again = await store.load();
    await store.append([1], { expectedPosition: again.position });
    expect((await store.load()).records).toEqual([1]);
  });

  it('keeps none of several records when one of them is not JSON', async () => {
    const store = createMemoryStore();
    const { position } = await store.load();
    const endless: { self?: unknown } = {};
    endless.self = endless;
    await expect(store.append([1, endless as never], { expectedPosition: position })).rejects.toThrow(
      TypeError,
    );
    expect((await store.load()).records).toEqual([]);
  });
});

describe('the audits of repeated calls', () => {
  const repeats = ['append-repeat', 'compact-repeat'];
  const auditsOf = (createPlace: () => StorePlace) =>
    storeAudits(() => Promise.resolve(createPlace())).filter(({ id }) => repeats.includes(id));

  /** A store that knows no call again. */
  const forgetful = (): ConfigurationStore => {
    const store = createMemoryStore();
    let last = '';
    const once = async (call: () => Promise<string>, { expectedPosition }: { expectedPosition: string }) => {
      if (expectedPosition === last) throw new StoreConflictError(last, 'elsewhere');
      last = expectedPosition;
      return call();
    };
    return {
      ...store,
      append: (records, options) => once(() => store.append(records, options), options),
      compact: (state, options) => once(() => store.compact(state, options), options),
    };
  };

  // Promise: repeated-call
  it.each(auditsOf(() => failingPlace()).map((audit) => [audit.id, audit] as const))(
    'pass a store in memory behind a wire that breaks: %s',
    async (_id, audit) => {
      await expect(audit.run()).resolves.toBeUndefined();
    },
  );

  it.each(auditsOf(() => failingPlace(forgetful())).map((audit) => [audit.id, audit] as const))(
    'find a store that takes its own call for one of another writer: %s',
    async (_id, audit) => {
      await expect(audit.run()).rejects.toThrow(/another writer/);
    },
  );

  it.each(
    auditsOf(() => ({ ...failingPlace(), failNext: () => undefined })).map(
      (audit) => [audit.id, audit] as const,
    ),
  )('find a place that does not fail: %s', async (_id, audit) => {
    await expect(audit.run()).rejects.toThrow('failNext must make the next call reject');
  });

  it('find a store that keeps records twice', async () => {
    const twice = (): StorePlace => {
      const store = createMemoryStore();
      const append: ConfigurationStore['append'] = async (records) =>
        store.append(records, { expectedPosition: (await store.load()).position });
      return { open: () => Promise.resolve({ ...store, append }) };
    };
    for (const audit of auditsOf(twice).slice(0, 1)) await expect(audit.run()).rejects.toThrow(/must be/);
  });
});

describe('the audits of conflicts', () => {
  const auditsOfRejecting = (error: unknown) =>
    storeAudits(() => {
      const store = createMemoryStore();
      const rejecting = <T>(call: Promise<T>): Promise<T> =>
        call.catch(() => {
          throw error;
        });
      const open = {
        ...store,
        append: (...call: Parameters<typeof store.append>) => rejecting(store.append(...call)),
        compact: (...call: Parameters<typeof store.compact>) => rejecting(store.compact(...call)),
      };
      return Promise.resolve({ open: () => Promise.resolve(open) });
    }).filter(({ id }) => ['append-conflict', 'compact-conflict', 'compact-position'].includes(id));

  it.each(auditsOfRejecting(new Error('No.')).map((audit) => [audit.id, audit] as const))(
    'want an error that is known for one: %s',
    async (_id, audit) => {
      await expect(audit.run()).rejects.toThrow(/must reject with a StoreConflictError .* Error: No\./);
    },
  );

  const foreign = Object.assign(new Error('No.'), { code: 'store-conflict' });
  it.each(auditsOfRejecting(foreign).map((audit) => [audit.id, audit] as const))(
    'know it by its code when it comes from another copy of the library: %s',
    async (_id, audit) => {
      await expect(audit.run()).resolves.toBeUndefined();
    },
  );
});

describe('StoreConflictError', () => {
  it('says where the end was expected and where it is', () => {
    expect(new StoreConflictError('1.7', '2.0').message).toBe(
      'The store ends at "2.0", not at "1.7": another writer has written to the store. ' +
        'Open the store again to load the present content.',
    );
  });
});

const sharedAudits = sharedStoreAudits(() => Promise.resolve(sharedMemoryPlace()));

async function start(store: SharedStore): Promise<string> {
  return (await store.load()).position;
}

/** Whether a promise is settled after everything that was ready has run. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  void promise.finally(() => (settled = true));
  await new Promise((resolve) => setImmediate(resolve));
  return settled;
}

describe('a shared store in memory', () => {
  // Promise: shared-memory
  it.each(sharedAudits.map((audit) => [audit.name, audit] as const))('%s', async (_name, audit) => {
    await expect(audit.run()).resolves.toBeUndefined();
  });

  it('says that nothing in it outlives the process', () => {
    expect(createSharedMemory().open().durable).toBe(false);
  });

  it('takes and gives nothing once disposed of: another one is opened', async () => {
    const memory = createSharedMemory();
    const store = memory.open();
    await start(store);
    await store[Symbol.asyncDispose]();
    await expect(store.load()).rejects.toThrow(/disposed of. Open another store/);
    await expect(store.read('')).rejects.toThrow(/disposed of/);
    expect((await memory.open().load()).records).toEqual([]);
  });

  it('drops the records of a compaction: a node that has not read them gets gone', async () => {
    const store = createSharedMemory().open();
    const first = await start(store);
    const second = await store.append([1], { expectedPosition: first });
    await store.compact({ sum: 1 }, { expectedPosition: second });
    expect(await store.read(first)).toBe('gone');
    expect(await store.read(second)).toMatchObject([{ records: [] }]);
  });

  it('keeps none of several records when one of them is not JSON', async () => {
    const store = createSharedMemory().open();
    const position = await start(store);
    const endless: { self?: unknown } = {};
    endless.self = endless;
    await expect(store.append([1, endless as never], { expectedPosition: position })).rejects.toThrow(
      TypeError,
    );
    expect((await store.load()).records).toEqual([]);
  });

  it('takes the same call of two nodes for two calls: one of them is refused', async () => {
    const memory = createSharedMemory();
    const [one, other] = [memory.open(), memory.open()];
    const position = await start(one);
    await one.append(['same'], { expectedPosition: position });
    await expect(other.append(['same'], { expectedPosition: position })).rejects.toThrow(/another writer/);
  });

  it('restores a backup any number of times, with the announcements', async () => {
    const memory = createSharedMemory();
    const store = memory.open();
    const position = await start(store);
    await store.announce('one', 1);
    const restore = memory.backup();
    for (const record of ['first', 'second']) {
      await store.append([record], { expectedPosition: position });
      await store.announce('one', record);
      restore();
      expect(await store.load()).toEqual({ records: [], position });
      expect(await store.announce('other', null)).toEqual(new Map([['one', 1]]));
    }
  });
});

describe('changed of a shared store in memory', () => {
  it('waits for the next change, a compaction or a restored backup too', async () => {
    const memory = createSharedMemory();
    const [one, other] = [memory.open(), memory.open()];
    const { signal } = new AbortController();
    const first = await start(one);
    const restore = memory.backup();
    const appended = one.changed(first, signal);
    expect(await isSettled(appended)).toBe(false);
    const second = await other.append([1], { expectedPosition: first });
    expect(await isSettled(appended)).toBe(true);
    const compacted = one.changed(second, signal);
    const third = await other.compact(1, { expectedPosition: second });
    expect(await isSettled(compacted)).toBe(true);
    const restored = one.changed(third, signal);
    restore();
    expect(await isSettled(restored)).toBe(true);
  });

  it('resolves at once when the end has moved already', async () => {
    const store = createSharedMemory().open();
    const position = await start(store);
    await store.append([1], { expectedPosition: position });
    expect(await isSettled(store.changed(position, new AbortController().signal))).toBe(true);
  });

  it('loses the hints that a test wants lost', async () => {
    const lost = [true, true, false];
    const memory = createSharedMemory({ losesHint: () => lost.shift() ?? true });
    const store = memory.open();
    const first = await start(store);
    const second = await store.append([1], { expectedPosition: first });
    const waiting = store.changed(first, new AbortController().signal);
    const third = await store.append([2], { expectedPosition: second });
    expect(await isSettled(waiting)).toBe(false);
    await store.append([3], { expectedPosition: third });
    expect(await isSettled(waiting)).toBe(true);
  });

  it('ends with the disposal of its store, not with that of another', async () => {
    const memory = createSharedMemory();
    const [one, other] = [memory.open(), memory.open()];
    const waiting = one.changed(await start(one), new AbortController().signal);
    await other[Symbol.asyncDispose]();
    expect(await isSettled(waiting)).toBe(false);
    await one[Symbol.asyncDispose]();
    expect(await isSettled(waiting)).toBe(true);
  });

  it('leaves no listener on its signal, however it ends', async () => {
    const store = createSharedMemory().open();
    const position = await start(store);
    const { signal, abort, listeners } = listenedSignal();
    const waiting = store.changed(position, signal);
    expect(listeners()).toBe(1);
    await store.append([1], { expectedPosition: position });
    await waiting;
    expect(listeners()).toBe(0);
    abort();
    await store.changed(await start(store), signal);
    expect(listeners()).toBe(0);
  });
});
