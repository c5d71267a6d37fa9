/**
 * A store that fails when a test tells it to, and keeps a record of what it was asked.
 */
import { createMemoryStore, type ConfigurationStore } from 'gateway-admin-core';

type Call = () => Promise<unknown>;

/** How a call of a store may fail for a while: the same call may succeed later. */
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
  #bad = Infinity;
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

  /** Fails after so many more calls that go well, so many times. */
  failAfter(good: number, how: keyof typeof storeFailures, times = Infinity): void {
    this.#good = good;
    this.#bad = times;
    this.#failure = storeFailures[how];
  }

  /** Fails with this error from now on. */
  failWith(error: unknown): void {
    [this.#good, this.#bad] = [0, Infinity];
    this.#failure = () => {
      throw error;
    };
  }

  /** Works from now on. */
  work(): void {
    this.#good = Infinity;
  }

  load: ConfigurationStore['load'] = () => this.#call('load', () => this.#store.load());
  append: ConfigurationStore['append'] = (records, options) =>
    this.#call(`append ${String(records.length)}`, () => this.#store.append(records, options));
  compact: ConfigurationStore['compact'] = (state, options) =>
    this.#call('compact', () => this.#store.compact(state, options));
  [Symbol.asyncDispose] = (): Promise<void> => this.#store[Symbol.asyncDispose]();

  #call<T>(name: string, call: () => Promise<T>): Promise<T> {
    this.calls.push(name);
    if (this.#good > 0 || this.#bad <= 0) {
      this.#good -= 1;
      return call();
    }
    this.#bad -= 1;
    return this.#failure(call);
  }
}
