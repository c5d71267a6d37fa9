/**
 * A store that fails when a test tells it to, and keeps a record of what it was asked.
 */
import { createMemoryStore, type ConfigurationStore } from 'gateway-admin-core';

type Call = () => Promise<unknown>;

/** How a call of a store may fail. */
export const storeFailures = {
  'rejects, and nothing is kept': (): Promise<never> => Promise.reject(new Error('The disk is full')),
  'rejects, and all is kept': async (call: Call): Promise<never> => {
    await call();
    throw new Error('The disk did not sync');
  },
  'never answers, and nothing is kept': (): Promise<never> => new Promise(() => undefined),
  'never answers, and all is kept': async (call: Call): Promise<never> => {
    await call();
    return new Promise(() => undefined);
  },
};

/** A store that fails when it is told to. */
export class FailingStore implements ConfigurationStore {
  readonly durable = true;
  #good = Infinity;
  #failure: (call: Call) => Promise<never> = storeFailures['rejects, and nothing is kept'];
  readonly #store: ConfigurationStore;
  readonly calls: string[] = [];

  constructor(store = createMemoryStore()) {
    this.#store = store;
  }

  /** Fails from now on. */
  fail(how: keyof typeof storeFailures = 'rejects, and nothing is kept'): void {
    this.failAfter(0, how);
  }

  /** Fails after so many more calls that go well. */
  failAfter(good: number, how: keyof typeof storeFailures): void {
    this.#good = good;
    this.#failure = storeFailures[how];
  }

  load: ConfigurationStore['load'] = () => this.#call('load', () => this.#store.load());
  append: ConfigurationStore['append'] = (records, options) =>
    this.#call(`append ${String(records.length)}`, () => this.#store.append(records, options));
  compact: ConfigurationStore['compact'] = (state, options) =>
    this.#call('compact', () => this.#store.compact(state, options));
  [Symbol.asyncDispose] = (): Promise<void> => this.#store[Symbol.asyncDispose]();

  #call<T>(name: string, call: () => Promise<T>): Promise<T> {
    this.calls.push(name);
    this.#good -= 1;
    return this.#good < 0 ? this.#failure(call) : call();
  }
}
