/**
 * A shared store of which some calls do something else.
 */
import type { SharedStore } from 'gateway-admin-core/fleet';

export function altered(store: SharedStore, calls: Partial<SharedStore>): SharedStore {
  return {
    durable: store.durable,
    load: () => store.load(),
    append: (records, options) => store.append(records, options),
    compact: (state, options) => store.compact(state, options),
    read: (after) => store.read(after),
    changed: (after, signal) => store.changed(after, signal),
    announce: (node, status) => store.announce(node, status),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
    ...calls,
  };
}
