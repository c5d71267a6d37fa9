/**
 * Lives of a store, and what one of them must find of those before it.
 */
import type { ConfigurationStore, Json, StoredHistory } from 'gateway-admin-core';
import { openFileStore } from 'gateway-admin-core/file-store';

import type { NodeFiles } from './watched-files.ts';

/** Opens a file store on a file system that a test watches. */
export function openStoreWith(directory: string, files: NodeFiles): Promise<ConfigurationStore> {
  const open: (directory: string, options: object, files: NodeFiles) => Promise<ConfigurationStore> =
    openFileStore;
  return open(directory, {}, files);
}

/** What a store was given: numbers, in records that also have a text. */
export class Ledger {
  /** What the store has kept, as far as it said so. */
  readonly kept: number[] = [];
  /** What it was asked to keep, and has not said that it did. */
  pending: readonly number[] = [];

  /** Appends so many records, each with a text of so many characters. */
  async append(store: ConfigurationStore, position: string, count: number, length = 3): Promise<string> {
    this.pending = Array.from({ length: count }, (_none, index) => this.kept.length + index);
    const records = this.pending.map((number) => ({ number, text: 'ä'.repeat(length) }));
    const next = await store.append(records, { expectedPosition: position });
    this.kept.push(...this.pending);
    this.pending = [];
    return next;
  }

  /** Puts a state with all numbers in the place of the records. */
  compact(store: ConfigurationStore, position: string): Promise<string> {
    return store.compact({ numbers: [...this.kept] }, { expectedPosition: position });
  }

  /** Takes note of what a store turned out to hold. From then on, that is kept. */
  settle(history: StoredHistory): void {
    this.kept.splice(0, Infinity, ...numbersIn(history));
    this.pending = [];
  }

  /** Whether a history is what a store with this ledger may hold: all that was kept, and what was pending or not. */
  allows(history: StoredHistory): boolean {
    const found = JSON.stringify(numbersIn(history));
    return [this.kept, [...this.kept, ...this.pending]].some((each) => JSON.stringify(each) === found);
  }
}

/** The numbers in a history, those of the state first. */
export function numbersIn({ state, records }: StoredHistory): readonly number[] {
  const { numbers = [] } = (state ?? {}) as { readonly numbers?: readonly number[] };
  return [...numbers, ...records.map((record) => (record as { readonly number: number }).number)];
}

/** A life in which a store does all that it can do, from loading to its disposal. */
export async function liveFully(store: ConfigurationStore, ledger: Ledger): Promise<void> {
  let { position } = await store.load();
  position = await ledger.append(store, position, 1);
  position = await ledger.append(store, position, 3, 500);
  position = await ledger.compact(store, position);
  position = await ledger.append(store, position, 1);
  position = await ledger.compact(store, position);
  position = await ledger.append(store, position, 2, 10);
  await ledger.append(store, position, 1, 1200);
}

/**
 * Gives a store that makes a failed call again, as the library does, up to so many times in a row. In between, the
 * store is given another call, which it must refuse.
 */
export function repeating(store: ConfigurationStore, times: number): ConfigurationStore {
  const until = async (call: () => Promise<string>, other: () => Promise<string>): Promise<string> => {
    for (let left = times; ; left -= 1) {
      try {
        return await call();
      } catch (error) {
        if (left === 0) throw error;
        const taken = await other().catch(() => undefined);
        if (taken !== undefined)
          throw new Error('Another call was taken after a failed one', { cause: error });
      }
    }
  };
  const others = [{ number: -2 }];
  return {
    durable: store.durable,
    load: () => store.load(),
    append: (records, options) =>
      until(
        () => store.append(structuredClone(records), options),
        () => store.append(others, options),
      ),
    compact: (state, options) =>
      until(
        () => store.compact(structuredClone(state), options),
        () => store.append(others, options),
      ),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}

/** Loads what is in a directory with a store of its own. */
export async function historyIn(directory: string): Promise<StoredHistory> {
  const store = await openFileStore(directory);
  return store.load().finally(() => store[Symbol.asyncDispose]());
}

/** Loads what is in a directory, and appends a record. */
export async function appendIn(directory: string, record: Json): Promise<void> {
  const store = await openFileStore(directory);
  try {
    const { position } = await store.load();
    await store.append([record], { expectedPosition: position });
  } finally {
    await store[Symbol.asyncDispose]();
  }
}
