/**
 * Lives: a life is one run of the interface, from `createAdmin` or `openAdmin` to its end.
 *
 * Each life has a random text (in the ids of events and audit records, and in marks), and an epoch (in the second part
 * of entity tags, and in the ids of commands). On one store, no event id and no command id is used twice.
 */
import type { Snapshot } from '../../resources/snapshot.ts';

/**
 * Gives a snapshot the epoch of a life.
 *
 * An empty epoch becomes a random one. An epoch from the host is kept in the first life; later lives append their
 * number.
 *
 * @param earlierLives - how many lives there were on the store before
 * @internal
 */
export function beginLife(snapshot: Snapshot, earlierLives = 0): Snapshot {
  const { epoch } = snapshot;
  if (epoch === '') return Object.freeze({ ...snapshot, epoch: drawLife() });
  return earlierLives === 0
    ? snapshot
    : Object.freeze({ ...snapshot, epoch: `${epoch.slice(0, 48)}-${String(earlierLives)}` });
}

/** Draws a random text that no other life has. @internal */
export function drawLife(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(6));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
