/**
 * Lives: a life is one run of the interface, from `createAdmin` or `openAdmin` to its end.
 *
 * Each life has a random text (in the ids of events and audit records, and in marks), an epoch (in entity tags and the
 * ids of commands), and a range of revisions. On one store, no revision, event id or entity tag is used twice.
 */
import type { Snapshot } from '../../resources/snapshot.ts';

/**
 * Each life on the same store begins at a multiple of this number. A life cannot continue at the last revision of the
 * life before, because the journal does not contain the revisions that reports made.
 *
 * @internal
 */
export const revisionsOfLife = 1_000_000_000;

/** The largest number of revisions between two journal records that name a revision. @internal */
export const longestUnmarked = revisionsOfLife / 2;

/**
 * Gives the first revision of the next life. The last life may have used `longestUnmarked` revisions more than the
 * journal contains, and none of them is used again.
 *
 * @param revision - the highest revision in the journal
 * @internal
 */
export function firstOfNextLife(revision: number): number {
  return Math.ceil((revision + 1 + longestUnmarked) / revisionsOfLife) * revisionsOfLife;
}

/**
 * Gives a snapshot the epoch of a new life.
 *
 * An empty epoch becomes a random one. An epoch from the host is kept in the first life; later lives append their
 * number.
 *
 * @internal
 */
export function beginLife(snapshot: Snapshot): Snapshot {
  const { epoch, revision } = snapshot;
  const number = Math.floor(revision / revisionsOfLife);
  if (epoch === '') return Object.freeze({ ...snapshot, epoch: drawLife() });
  return number === 0
    ? snapshot
    : Object.freeze({ ...snapshot, epoch: `${epoch.slice(0, 48)}-${String(number)}` });
}

/** Draws a random text that no other life has. @internal */
export function drawLife(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(6));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
