/**
 * A shared memory as a place for audits, behind wires that break when an audit says so.
 */
import { createSharedMemory, type SharedStore } from 'gateway-admin-core/fleet';
import type { SharedStorePlace } from 'gateway-admin-core/testing';

/** Makes a new place. `wrap` changes each store that is opened there, so that a test can break one of its promises. */
export function sharedMemoryPlace(
  wrap: (store: SharedStore) => Partial<SharedStore> = () => ({}),
): Required<SharedStorePlace> {
  const memory = createSharedMemory();
  let next: 'nothing' | 'part' | 'everything' | undefined;
  const failing = (call: () => Promise<string>): Promise<string> => {
    const kept = next;
    next = undefined;
    if (kept === undefined) return call();
    const broken = (): never => {
      throw new Error('The wire broke');
    };
    return kept === 'nothing' ? Promise.resolve().then(broken) : call().then(broken);
  };
  const open = async (): Promise<SharedStore> => {
    const store = memory.open();
    const plain = withoutPrototype(store);
    const wrapped = { ...plain, ...wrap(plain) };
    return Promise.resolve({
      ...wrapped,
      append: (...given) => failing(() => wrapped.append(...given)),
      compact: (...given) => failing(() => wrapped.compact(...given)),
    });
  };
  return {
    open,
    failNext: (kept) => (next = kept),
    backup: async () => {
      const restore = memory.backup();
      return Promise.resolve(async () => {
        restore();
        return Promise.resolve();
      });
    },
  };
}

/** The methods of a store as members that can be replaced. */
function withoutPrototype(store: SharedStore): SharedStore {
  return {
    durable: store.durable,
    load: () => store.load(),
    append: (...given) => store.append(...given),
    compact: (...given) => store.compact(...given),
    read: (...given) => store.read(...given),
    changed: (...given) => store.changed(...given),
    announce: (...given) => store.announce(...given),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}
