/**
 * A store of the scenario: it keeps records in memory, and fails when the scenario says so.
 */
import { createMemoryStore, type ConfigurationStore } from 'gateway-admin-core';
import { createSharedMemory, type SharedStore } from 'gateway-admin-core/fleet';

/** What becomes of a call that writes. */
export const storeWays = [
  'works',
  'rejects',
  'rejects what it keeps',
  'is silent',
  'is silent about what it keeps',
] as const;
export type StoreWay = (typeof storeWays)[number];

export class FailingStore {
  /** What becomes of the next calls that write, and of those after them. */
  next: StoreWay[] = [];
  always: StoreWay = 'works';
  readonly #cut = new Set<string>();
  readonly #single = createMemoryStore();
  readonly #shared = createSharedMemory();

  /** The store as the process of a node sees it, or the only process. */
  open(node: string | undefined): ConfigurationStore | SharedStore {
    const shared = node === undefined ? undefined : this.#shared.open();
    const store = shared ?? this.#single;
    const reached = <T>(call: () => Promise<T>): Promise<T> =>
      node !== undefined && this.#cut.has(node) ? Promise.reject(new Error('The line is cut.')) : call();
    const calls = {
      durable: true,
      load: () => reached(() => store.load()),
      append: (...given: Parameters<typeof store.append>) =>
        reached(() => this.#write(() => store.append(...given))),
      compact: (...given: Parameters<typeof store.compact>) =>
        reached(() => this.#write(() => store.compact(...given))),
      [Symbol.asyncDispose]: () => (node === undefined ? Promise.resolve() : store[Symbol.asyncDispose]()),
    };
    if (shared === undefined) return calls;
    return {
      ...calls,
      read: (after) => reached(() => shared.read(after)),
      changed: (after, signal) => reached(() => shared.changed(after, signal)),
      announce: (name, status) => reached(() => shared.announce(name, status)),
    };
  }

  cut(node: string, isCut: boolean): void {
    if (isCut) this.#cut.add(node);
    else this.#cut.delete(node);
  }

  async #write(write: () => Promise<string>): Promise<string> {
    const way = this.next.shift() ?? this.always;
    if (way === 'works') return write();
    if (way.endsWith('keeps')) await write();
    if (way.startsWith('is silent')) return new Promise(() => undefined);
    throw new Error('The store failed.');
  }
}
