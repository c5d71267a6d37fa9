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
 * The error of a store that no later call can use: another program has taken, replaced or damaged the content, or the
 * content went back to an earlier state. The library does not repeat the call, and refuses commands until a restart.
 *
 * Any other error of a store is temporary: the library repeats the call until the store answers.
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

/**
 * Whether an error of a store means that the store is lost for good. The name is compared, because the store may have loaded
 * another copy of this library. An error that throws while it is read is temporary.
 *
 * @internal
 */
export function isStoreLost(error: unknown): boolean {
  return isNamed(error, 'StoreLost') || isConflict(error);
}

/** Whether an error of a store means that somebody else has written to it. @internal */
export function isConflict(error: unknown): boolean {
  return isNamed(error, 'StoreConflictError');
}

function isNamed(error: unknown, name: string): boolean {
  try {
    return error instanceof Error && error.name === name;
  } catch {
    return false;
  }
}
