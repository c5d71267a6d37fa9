/**
 * Refusals of the file system, as sentences for an operator.
 */

/** What the usual errors mean, and what to do, by code. */
const meanings: Readonly<Record<string, string>> = {
  EROFS: 'the disk is read-only. Mount the disk for writing, or use a directory on another disk.',
  EACCES:
    'the user of this process has no right to write there. Give the user this right, or use another directory.',
  EPERM: 'the system permits no write there. Check the attributes of the disk, or use another directory.',
  ENOSPC: 'the disk is full. Make room, and start again.',
  EDQUOT: 'the quota of the disk is used up. Raise the quota or make room, and start again.',
  ENOTDIR: 'a part of the path is a file. Correct the path.',
};

/** What an error of the file system means, as a clause and sentences that follow a colon. @internal */
export function meaningOf(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  return meanings[code] ?? `${message}. Check the path and its disk.`;
}
