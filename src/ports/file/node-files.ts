/**
 * The functions of the file system that keep files durable. Tests replace them to make a disk fail.
 */
import { lstatSync } from 'node:fs';
import * as promises from 'node:fs/promises';

/** The functions of the file system. @internal */
export interface NodeFiles {
  /**
   * Does not follow a link at the end of the path.
   *
   * Synchronous, because files are looked at several times at each write. A look at a directory or file that is open
   * takes some microseconds and no disk access; a turn in the thread pool takes ten times as long.
   */
  readonly lstatSync: typeof lstatSync;
  readonly mkdir: typeof promises.mkdir;
  readonly open: typeof promises.open;
  readonly readdir: typeof promises.readdir;
  readonly rename: typeof promises.rename;
  readonly unlink: typeof promises.unlink;
}

/** The functions of Node. @internal */
export const nodeFiles: NodeFiles = { ...promises, lstatSync };
