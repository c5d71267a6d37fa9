/**
 * Errors with which a port rejects.
 */
import { AdminError, hasCode } from '../error.ts';

/**
 * The error with which a host refuses an effect: the host has done nothing.
 *
 * The client gets the message as the reason of a 409 `effect-refused`. Write a sentence for an operator, without
 * secrets.
 *
 * @example
 * ```ts
 * import { EffectRefusedError } from 'gateway-admin-core';
 *
 * new EffectRefusedError('The port 5432 is in use.').name; // => 'EffectRefusedError'
 * ```
 *
 * @public
 */
export class EffectRefusedError extends AdminError {
  /** @param reason - why the host refuses, in a sentence for an operator */
  constructor(reason: string) {
    super('effect-refused', reason);
    this.name = 'EffectRefusedError';
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
export class StoreConflictError extends AdminError {
  /**
   * @param expected - the end of the store, as the caller expected it
   * @param actual - the actual end of the store
   */
  constructor(expected: string, actual: string) {
    super(
      'store-conflict',
      `The store ends at ${JSON.stringify(actual)}, not at ${JSON.stringify(expected)}: another writer has written ` +
        'to the store. Open the store again to load the present content.',
    );
    this.name = 'StoreConflictError';
  }
}

/**
 * The error of a store that no later call can use: another program has taken, replaced or damaged the content, or the
 * content went back to an earlier state. The library does not repeat the call, and refuses commands until a restart.
 *
 * Any other error of a store is temporary: the library repeats the call until the store answers.
 *
 * @example
 * ```ts
 * import { StoreLostError } from 'gateway-admin-core';
 *
 * new StoreLostError('The table was restored from a backup. Restart the gateway.').name; // => 'StoreLostError'
 * ```
 *
 * @public
 */
export class StoreLostError extends AdminError {
  /** @param reason - what happened, where, and what to do, in sentences for an operator */
  constructor(reason: string) {
    super('store-lost', reason);
    this.name = 'StoreLostError';
  }
}

/**
 * Whether an error of a store means that the store is lost for good. The code is compared, because the store may have
 * loaded another copy of this library.
 *
 * @internal
 */
export function isStoreLost(error: unknown): boolean {
  return hasCode(error, 'store-lost') || isConflict(error);
}

/** Whether an error of a store means that another writer has written to the store. @internal */
export function isConflict(error: unknown): boolean {
  return hasCode(error, 'store-conflict');
}

/** Whether a rejection is the refusal of an effect. @internal */
export function isEffectRefusal(error: unknown): error is Error {
  return hasCode(error, 'effect-refused');
}
