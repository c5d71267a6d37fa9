/**
 * The secrets in the sample document. Every test file loads them, also one that does not load the library.
 */

/** Texts that nobody but the host may ever read. */
export const planted = Object.freeze({
  hash: `$pbkdf2-sha256$i=1$${'salt'.padEnd(22, 'A')}$${'hashThatNobodyReads'.padEnd(43, 'A')}`,
  sealed: 'v1.sealed.nobody-reads',
});
