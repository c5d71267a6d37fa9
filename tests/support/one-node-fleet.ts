/**
 * Runs the tests of interfaces with a store on a fleet of one node: what holds for `openAdmin` holds there too. A test
 * file of `tests/fleet/` begins with {@link openOneNode}, and then imports other test files.
 */
import { expect } from '@jest/globals';
import type { Admin, ConfigurationStore, Json, openAdmin } from 'gateway-admin-core';
import { openFleet, type LogStep, type SharedStore } from 'gateway-admin-core/fleet';

import { openWith } from './running-admin.ts';

/**
 * Opens a node wherever a test opens an interface, except in the tests with these names. Gives the names that were met.
 */
export function openOneNode(except: ReadonlySet<string>): ReadonlySet<string> {
  const met = new Set<string>();
  openWith((options, openAdmin) => {
    const name = expect.getState().currentTestName ?? '';
    if (except.has(name)) {
      met.add(name);
      return openAdmin(options);
    }
    return openNode(options);
  });
  return met;
}

function openNode({ store, ...options }: Parameters<typeof openAdmin>[0]): Promise<Admin> {
  return openFleet({ ...options, node: 'only', store: new OwnSharedStore(store) });
}

/** A store for one host as a shared store: nobody else has appended anything, but a call that failed may have. */
class OwnSharedStore implements SharedStore {
  readonly durable: boolean;
  readonly #store: ConfigurationStore;

  constructor(store: ConfigurationStore) {
    this.durable = store.durable;
    this.#store = store;
  }

  load: SharedStore['load'] = () => this.#store.load();
  append: SharedStore['append'] = (...given) => this.#store.append(...given);
  compact: SharedStore['compact'] = (...given) => this.#store.compact(...given);
  [Symbol.asyncDispose] = (): Promise<void> => this.#store[Symbol.asyncDispose]();

  /** A position of the memory store is `<compactions>.<records>`. */
  async read(after: string): Promise<readonly LogStep[] | 'gone'> {
    const { records, position } = await this.#store.load();
    if (position === after) return [];
    const [[before, count], [now]] = [after.split('.'), position.split('.')];
    return before === now ? [{ records: records.slice(Number(count)), position }] : 'gone';
  }

  async changed(_after: string, signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      else signal.addEventListener('abort', () => resolve());
    });
  }

  announce(node: string, status: Json | null): Promise<ReadonlyMap<string, Json>> {
    return Promise.resolve(new Map(status === null ? [] : [[node, status]]));
  }
}
