/**
 * A store in memory, for tests, simulations and first steps. Its content ends with the process.
 *
 * This store is no client of the shared memory of a fleet. The shared memory would bring reading, hints and
 * announcements into the main entry. It also tells a repeated call by an id that it draws, where this store compares
 * the records: the positions here depend on the calls alone, and a simulation repeats them.
 */
import { assertObject, type Json } from '../json/value.ts';
import type { ConfigurationStore, StoredHistory } from './port.ts';
import { StoreConflictError } from './port-error.ts';

/**
 * Creates a store in memory. `durable` is false.
 *
 * The store simulates a disk that outlives the interfaces that use the disk: after a disposal the store refuses every
 * call until `load` opens it again. If two interfaces use the store at once, the second one to write gets a
 * {@link StoreConflictError}, as with a shared database. The store keeps JSON texts and shares no object with its
 * callers.
 *
 * @param history - the initial content: a state, records, or both; empty if left out
 * @returns the store
 *
 * @example
 * ```ts
 * import { createMemoryStore } from 'gateway-admin-core';
 *
 * const store = createMemoryStore({ state: { count: 1 } });
 * const { position } = await store.load();
 * await store.append([{ add: 1 }, { add: 2 }], { expectedPosition: position });
 * await store[Symbol.asyncDispose]();
 *
 * const { state, records } = await store.load();
 * state; // => { count: 1 }
 * records; // => [{ add: 1 }, { add: 2 }]
 * ```
 *
 * @public
 */
export function createMemoryStore(
  history: Partial<Pick<StoredHistory, 'state' | 'records'>> = {},
): ConfigurationStore {
  assertObject(history, 'history');
  let state = history.state === undefined ? undefined : JSON.stringify(history.state);
  let records = (history.records ?? []).map(textOf);
  let compactions = 0;
  /** The position at which the last compaction was called. */
  let compactedAt: string | undefined;
  let open = true;
  const positionOf = (count: number): string => `${String(compactions)}.${String(count)}`;
  const positionNow = (): string => positionOf(records.length);
  const assertOpen = (): void => {
    if (!open) throw new Error('The store in memory was disposed of. Call load() to use the store again.');
  };
  const assertAt = (expectedPosition: string): void => {
    if (expectedPosition !== positionNow()) throw new StoreConflictError(expectedPosition, positionNow());
  };
  /** Whether the store ends with these records, and they begin at the expected position: the same call came before. */
  const endsWith = (texts: readonly string[], expectedPosition: string): boolean => {
    const first = records.length - texts.length;
    return expectedPosition === positionOf(first) && texts.every((text, at) => records[first + at] === text);
  };
  const store: ConfigurationStore = {
    durable: false,
    async load() {
      open = true;
      const before = state === undefined ? {} : { state: valueOf(state) };
      return Promise.resolve({ ...before, records: records.map(valueOf), position: positionNow() });
    },
    async append(added, { expectedPosition }) {
      assertOpen();
      // Every record is serialised before the first one is stored, so a failure stores none.
      const texts = added.map(textOf);
      if (endsWith(texts, expectedPosition)) return Promise.resolve(positionNow());
      assertAt(expectedPosition);
      for (const text of texts) records.push(text);
      return Promise.resolve(positionNow());
    },
    async compact(compacted, { expectedPosition }) {
      assertOpen();
      const text = textOf(compacted);
      const isRepeated = expectedPosition === compactedAt && text === state && records.length === 0;
      if (isRepeated) return Promise.resolve(positionNow());
      assertAt(expectedPosition);
      [state, records, compactedAt] = [text, [], expectedPosition];
      compactions += 1;
      return Promise.resolve(positionNow());
    },
    async [Symbol.asyncDispose]() {
      open = false;
      return Promise.resolve();
    },
  };
  return Object.freeze(store);
}

function textOf(value: Json): string {
  return JSON.stringify(value);
}

function valueOf(text: string): Json {
  return JSON.parse(text) as Json;
}
