/**
 * Writes the OpenAPI document, the pictures of sequences, and every page that follows from tables or from a running
 * interface.
 */
import { spawnSync } from 'node:child_process';

const tests = ['tests/openapi/document.test.ts', 'tests/docs/page.test.ts'];
const { status } = spawnSync(process.execPath, ['node_modules/jest/bin/jest.js', ...tests], {
  stdio: 'inherit',
  env: { ...process.env, WRITE_PAGES: '1' },
});
process.exitCode = status ?? 1;
