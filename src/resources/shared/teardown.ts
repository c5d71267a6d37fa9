/**
 * Teardowns: closing many sessions or connections. Long lists are cut into batches, so that no event or effect is too
 * large.
 */

import type { Changes, Parts } from '../../core/decision.ts';
import { deepFreeze } from '../../json/value.ts';

/**
 * The largest number of sessions or connections that one event or effect closes.
 *
 * @public
 */
export const teardownBatch = 1000;

/**
 * Cuts a list into batches of at most {@link teardownBatch} items, in order. The list is read batch by batch.
 *
 * @param count - the number of items; at least 1
 * @param range - gives at most `length` items, from position `offset` on
 * @param toChange - makes the event and the effect of a batch
 * @internal
 */
export function inBatches<T, E, F>(
  count: number,
  range: (offset: number, length: number) => readonly T[],
  toChange: (batch: readonly T[]) => { readonly event: E; readonly effect: F },
): Parts<E, F> {
  return { count: Math.ceil(count / teardownBatch), items: count, make };

  function* make(): Generator<Changes<E, F>> {
    for (let offset = 0; offset < count; offset += teardownBatch) {
      const { event, effect } = deepFreeze(toChange(range(offset, teardownBatch)));
      yield { events: [event], effects: [effect] };
    }
  }
}
