import { describe, expect, it } from '@jest/globals';

import { createSharedMemory, type SharedStore } from 'gateway-admin-core/fleet';
import { sharedStoreAudits } from 'gateway-admin-core/testing';

import { listenedSignal } from '../support/listened-signal.ts';
import { sharedMemoryPlace } from '../support/shared-memory-place.ts';

const audits = sharedStoreAudits(() => Promise.resolve(sharedMemoryPlace()));

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
  it.each(audits.map((audit) => [audit.name, audit] as const))('%s', async (_name, audit) => {
    await expect(audit.run()).resolves.toBeUndefined();
  });

  it('says that nothing in it outlives the process', () => {
    expect(createSharedMemory().open().durable).toBe(false);
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
