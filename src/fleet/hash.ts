/**
 * Hashes: short numbers that follow from texts, the same in every process.
 */

/**
 * Gives a whole number below 2^32 that follows from a text (FNV-1a over UTF-16 code units, with its bits mixed at the
 * end). Different seeds give different numbers. Not for secrets: a text with a given number is easy to find.
 *
 * @internal
 */
export function hashOf(text: string, seed = 0): number {
  let hash = 0x811c9dc5 ^ seed;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}
