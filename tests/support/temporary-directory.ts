/**
 * Directories that are gone when the tests of a file are over.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll } from '@jest/globals';

/** Gives what makes directories, each new and empty. Call it while a test file is read. */
export function temporaryDirectories(): () => Promise<string> {
  const made: string[] = [];
  afterAll(async () => {
    for (const path of made) await rm(path, { recursive: true, force: true });
  });
  return async () => {
    const path = await mkdtemp(join(tmpdir(), 'gateway-store-'));
    made.push(path);
    return path;
  };
}
