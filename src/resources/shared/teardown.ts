/**
 * Teardowns: closing many sessions or connections. Long lists are cut into batches, so that no event or effect is too
 * large.
 */

import type { Changes, Context, Parts } from '../../core/decision.ts';
import { deepFreeze } from '../../json/value.ts';

/**
 * The largest number of sessions or connections that one event or effect closes.
 *
 * @public
 */
export const teardownBatch = 1000;

/** What a teardown closes. @internal */
export interface Teardown<S, T, E, F> {
  /** The number of sessions or connections that are open now. */
  readonly count: number;
  /** Gives at most `length` of them, from position `offset` on. */
  readonly range: (offset: number, length: number) => readonly T[];
  /** The revision at which one has opened. */
  readonly openedAt: (item: T) => number;
  /** Whether one is to be closed, by the snapshot of the decision; left out if all are. */
  readonly isWanted?: (item: T) => boolean;
  /** Whether one is still to be closed, by the snapshot at the time of its batch. */
  readonly isLeft: (item: T, present: S) => boolean;
  /** Makes the event and the effect of a batch. */
  readonly toChange: (batch: readonly T[]) => { readonly event: E; readonly effect: F };
}

/**
 * Cuts a teardown into batches of at most {@link teardownBatch} items, in order. The list is read batch by batch.
 *
 * With `openedUpTo` or `isWanted`, how many items a batch closes is known only when the batch is made: to count them
 * before would take as long as to read them.
 *
 * @returns the parts; `undefined` if there is nothing to close, and no plan has shown anything
 * @internal
 */
export function inBatches<S, T, E, F>(
  { count, range, openedAt, isWanted, isLeft, toChange }: Teardown<S, T, E, F>,
  { openedUpTo }: Pick<Context, 'openedUpTo'>,
): Parts<E, F, S> | undefined {
  const all = { count: Math.max(1, Math.ceil(count / teardownBatch)), items: count, make };
  if (count === 0 && openedUpTo === undefined) return undefined;
  const isCounted = openedUpTo === undefined && isWanted === undefined;
  return isCounted ? all : { ...all, heads: [changeOf(toChange([]))] };

  function* make(present?: () => S): Generator<Changes<E, F>> {
    for (let offset = 0; offset === 0 || offset < count; offset += teardownBatch) {
      const snapshot = present?.();
      const batch = range(offset, teardownBatch).filter(
        (item) => isCovered(item) && (snapshot === undefined || isLeft(item, snapshot)),
      );
      yield batch.length === 0 ? nothing : changeOf(toChange(batch));
    }
  }

  function isCovered(item: T): boolean {
    return (openedUpTo === undefined || openedAt(item) <= openedUpTo) && isWanted?.(item) !== false;
  }
}

const nothing = Object.freeze({ events: [], effects: [] });

function changeOf<E, F>({ event, effect }: { readonly event: E; readonly effect: F }): Changes<E, F> {
  return deepFreeze({ events: [event], effects: [effect] });
}
