/**
 * Versions: when something last changed, and which life of the gateway the revision belongs to.
 */
import type { Change } from './decision.ts';

/**
 * When something last changed, as revisions of the snapshot.
 *
 * @public
 */
export interface Version {
  /** Revision of the last change that a command made. */
  readonly command: number;
  /** Revision of the last change of any kind, reports of the host included; never less than the other. */
  readonly live: number;
}

/** The version of what has not changed since the snapshot was built. @internal */
export const initialVersion: Version = Object.freeze({ command: 0, live: 0 });

/** The later of two versions, part by part. @internal */
export function latest(a: Version, b: Version): Version {
  return Object.freeze({ command: Math.max(a.command, b.command), live: Math.max(a.live, b.live) });
}

/** The version that a thing has after a change: reports move only the second number. @internal */
export function nextVersion(version: Version, change: Change): Version {
  return Object.freeze({
    command: change.origin === 'command' ? change.revision : version.command,
    live: change.revision,
  });
}

/**
 * Tells whether a text can be the epoch of a snapshot: 1 to 64 of `A-Z a-z 0-9 _ -`.
 *
 * @internal
 */
export function isEpoch(text: string): boolean {
  return /^[A-Za-z0-9_-]{1,64}$/.test(text);
}
