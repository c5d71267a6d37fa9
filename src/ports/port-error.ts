/**
 * What a port rejects with.
 */

/**
 * What a host rejects with when it did nothing of what an effect asks for.
 *
 * The message goes to the client as the reason of a 409 `effect-refused`: a sentence for an operator, without secrets.
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
  /** @param reason - why nothing was done, in a sentence for an operator */
  constructor(reason: string) {
    super(reason);
    this.name = 'EffectRefused';
  }
}

/**
 * What a store rejects with when its end is not where the caller takes it to be: another writer was faster, and nothing
 * was kept.
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
   * @param expected - where the caller takes the end to be
   * @param actual - where it is
   */
  constructor(expected: string, actual: string) {
    super(
      `The store ends at ${JSON.stringify(actual)}, not at ${JSON.stringify(expected)}: someone else has written to it. ` +
        'Open it again to see what is there.',
    );
    this.name = 'StoreConflictError';
  }
}
