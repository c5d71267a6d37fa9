/**
 * Epochs: texts that distinguish the lives of an interface.
 */

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
