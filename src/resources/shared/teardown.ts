/**
 * Teardowns: long lists, cut so that no single event or effect is too large.
 */

/**
 * How many things one event and one effect close at most.
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
