/**
 * The build and the tests, side by side: a test that runs the built package waits for the build. The last line is that of
 * the test runner. Where the build fails, the tests of the package build again, and say so.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { runScript } from './run.js';
import { writeWhole } from './write-whole.js';

const folder = mkdtempSync(join(tmpdir(), 'build-'));
const ended = join(folder, 'ended');
try {
  const [built, { code }] = await Promise.all([
    build(),
    runScript('jest', 'inherit', { args: process.argv.slice(2), env: { PACKAGE_IS_BUILT: ended } }),
  ]);
  process.exitCode = built === 0 ? code : 1;
} finally {
  rmSync(folder, { recursive: true });
}

/** Builds, and writes whether the build went well. Gives its exit code. */
async function build() {
  const { code } = await runScript('build:example', 'inherit');
  writeWhole(ended, code === 0 ? 'yes' : 'no');
  return code;
}
