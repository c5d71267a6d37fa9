/**
 * Errors with which a port rejects.
 */

/**
 * The error with which a host refuses an effect: the host has done nothing.
 *
 * The client gets the message as the reason of a 409 `effect-refused`. Write a sentence for an operator, without
 * secrets.
 *
 * @example
 * ```ts
 * import { EffectRefused } from 'gateway-admin-core';
 *
 * new EffectRefused('The port 5432 is in use.').name; // => 'EffectRefused'
 * ```
 *
 * @public
 */
export class EffectRefused extends Error {
  /** @param reason - why the host refuses, in a sentence for an operator */
  constructor(reason: string) {
    super(reason);
    this.name = 'EffectRefused';
  }
}

/**
 * The error of a store whose end is not at the expected position, because another writer has written to the store. None
 * of the given content was stored.
 *
 * @example
 * ```ts
 * import { createMemoryStore } from 'gateway-admin-core';
 *
 * const store = createMemoryStore({ records: ['first'] });
 * const { position } = await store.load();
 * await store.append(['second'], { expectedPosition: position });
 * const refused = store.append(['third'], { expectedPosition: position });
 * await refused.catch((error) => error.name); // => 'StoreConflictError'
 * ```
 *
 * @public
 */
export class StoreConflictError extends Error {
  /**
   * @param expected - the end of the store, as the caller expected it
   * @param actual - the actual end of the store
   */
  constructor(expected: string, actual: string) {
    super(
      `The store ends at ${JSON.stringify(actual)}, not at ${JSON.stringify(expected)}: another writer has written ` +
        'to the store. Open the store again to load the present content.',
    );
    this.name = 'StoreConflictError';
  }
}

/**
 * The error of a store that is no longer the store of this process: another program has taken, replaced or damaged the
 * content. Nothing of the call was confirmed, and the store refuses every later call with the same error.
 *
 * @example
 * ```ts
 * import { StoreLost } from 'gateway-admin-core';
 *
 * new StoreLost('The table was restored from a backup. Restart the gateway.').name; // => 'StoreLost'
 * ```
 *
 * @public
 */
export class StoreLost extends Error {
  /** @param reason - what happened, where, and what to do, in sentences for an operator */
  constructor(reason: string) {
    super(reason);
    this.name = 'StoreLost';
  }
}
