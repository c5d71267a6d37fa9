/**
 * The conflict of two writers of one store.
 */

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
