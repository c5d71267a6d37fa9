/**
 * Lives: what tells one run of the gateway from another, so that no revision, event id or entity tag means two things.
 */
import type { Snapshot } from '../snapshot/snapshot.ts';

/**
 * Each life on the same store begins at a multiple of this revision. Those that only reports have used are not written
 * down, so there is no going on from the last one.
 */
const revisionsOfLife = 1_000_000_000;

/** How many revisions may go by without being written down. @internal */
export const longestUnmarked = revisionsOfLife / 2;

/**
 * Gives the first revision of the next life, even when the longest stretch without a mark has just gone by.
 *
 * @param revision - the highest that is written down
 * @internal
 */
export function firstOfNextLife(revision: number): number {
  return Math.ceil((revision + 1 + longestUnmarked) / revisionsOfLife) * revisionsOfLife;
}

/**
 * Gives a snapshot the epoch of the life that begins with it: drawn, or the one that the host has given, with the number
 * of the life from the second one on.
 *
 * @internal
 */
export function beginLife(snapshot: Snapshot): Snapshot {
  const { epoch, revision } = snapshot;
  const life = Math.floor(revision / revisionsOfLife);
  if (epoch === '') return Object.freeze({ ...snapshot, epoch: drawEpoch() });
  return life === 0
    ? snapshot
    : Object.freeze({ ...snapshot, epoch: `${epoch.slice(0, 48)}-${String(life)}` });
}

function drawEpoch(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(6));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
