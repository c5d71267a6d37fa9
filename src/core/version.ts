/**
 * Versions: the revisions at which a resource last changed, and the epochs that revisions belong to.
 */
import type { FoldContext } from './decision.ts';

/**
 * The revisions of the snapshot at which a resource last changed.
 *
 * @public
 */
export interface Version {
  /** Revision of the last change by a command. */
  readonly command: number;
  /** Revision of the last change by a command or a report of the host; never less than `command`. */
  readonly live: number;
}

/** The version of a resource without a change since {@link createSnapshot}. @internal */
export const initialVersion: Version = Object.freeze({ command: 0, live: 0 });

/** The later revision of each part of two versions. @internal */
export function latest(a: Version, b: Version): Version {
  // Most often, one is the later in both: no object is made.
  if (a.command >= b.command && a.live >= b.live) return a;
  return Object.freeze({ command: Math.max(a.command, b.command), live: Math.max(a.live, b.live) });
}

/** The version of a resource after a change. A report moves `live` alone. @internal */
export function nextVersion(version: Version, fold: FoldContext): Version {
  return Object.freeze({
    command: fold.origin === 'command' ? fold.revision : version.command,
    live: fold.revision,
  });
}

/** Longest epoch. */
const longestEpoch = 64;

const epochPattern = new RegExp(`^[A-Za-z0-9_-]{1,${String(longestEpoch)}}$`);

/**
 * Tells whether a text can be the epoch of a snapshot: 1 to 64 of `A-Z a-z 0-9 _ -`.
 *
 * @internal
 */
export function isEpoch(text: string): boolean {
  return epochPattern.test(text);
}
