/**
 * A store that keeps what it is given for as long as the process lives: for tests, simulations and first steps.
 */
import type { Json } from '../json/value.ts';
import type { ConfigurationStore, StoredHistory } from './port.ts';
import { StoreConflictError } from './port-error.ts';

/**
 * Creates a store in memory. `durable` is false.
 *
 * It holds JSON texts, so that it shares nothing with whoever gave or gets a record. It plays a disk that outlives the
 * interfaces on it: once disposed of it takes nothing, until another interface loads it. Two that have it open at once
 * meet as they would at a shared database: who writes second is refused with {@link StoreConflictError}.
 *
 * @param history - what is there to begin with: a state, records, or both; nothing when left out
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
  let state = history.state === undefined ? undefined : JSON.stringify(history.state);
  let records = (history.records ?? []).map(textOf);
  let compactions = 0;
  let open = true;
  const positionNow = (): string => `${String(compactions)}.${String(records.length)}`;
  const assertAt = (expectedPosition: string): void => {
    if (!open) throw new Error('The store in memory was disposed of. Load it to use it again.');
    if (expectedPosition !== positionNow()) throw new StoreConflictError(expectedPosition, positionNow());
  };
  const store: ConfigurationStore = {
    durable: false,
    async load() {
      open = true;
      const before = state === undefined ? {} : { state: valueOf(state) };
      return Promise.resolve({ ...before, records: records.map(valueOf), position: positionNow() });
    },
    async append(added, { expectedPosition }) {
      assertAt(expectedPosition);
      // All of them are written as text before the first is kept.
      for (const text of added.map(textOf)) records.push(text);
      return Promise.resolve(positionNow());
    },
    async compact(compacted, { expectedPosition }) {
      assertAt(expectedPosition);
      state = textOf(compacted);
      records = [];
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
