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
 * @param isLeft - whether an item is still to be closed, by the snapshot at the time of its batch
 * @param toChange - makes the event and the effect of a batch
 * @internal
 */
export function inBatches<S, T, E, F>(
  count: number,
  range: (offset: number, length: number) => readonly T[],
  isLeft: (item: T, present: S) => boolean,
  toChange: (batch: readonly T[]) => { readonly event: E; readonly effect: F },
): Parts<E, F, S> {
  return { count: Math.ceil(count / teardownBatch), items: count, make };

  function* make(present?: () => S): Generator<Changes<E, F>> {
    for (let offset = 0; offset < count; offset += teardownBatch) {
      const snapshot = present?.();
      const items = range(offset, teardownBatch);
      const batch = snapshot === undefined ? items : items.filter((item) => isLeft(item, snapshot));
      yield batch.length === 0 ? nothing : changeOf(toChange(batch));
    }
  }
}

const nothing = Object.freeze({ events: [], effects: [] });

function changeOf<E, F>({ event, effect }: { readonly event: E; readonly effect: F }): Changes<E, F> {
  return deepFreeze({ events: [event], effects: [effect] });
}
