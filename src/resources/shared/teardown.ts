/**
 * Teardowns: closing many sessions or connections. Long lists are cut into batches, so that no event or effect is too
 * large.
 */

/**
 * The largest number of sessions or connections that one event or effect closes.
 *
 * @public
 */
export const teardownBatch = 1000;

/** Cuts a list into batches of at most {@link teardownBatch} items, in order. @internal */
export function inBatches<T>(items: readonly T[]): readonly (readonly T[])[] {
  const batches: (readonly T[])[] = [];
  for (let start = 0; start < items.length; start += teardownBatch) {
    batches.push(items.slice(start, start + teardownBatch));
  }
  return batches;
}
