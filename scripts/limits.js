/**
 * Writes docs/limits.md from the table of limits in the contract tests.
 */
import { spawnSync } from 'node:child_process';

const { status } = spawnSync(
  process.execPath,
  ['node_modules/jest/bin/jest.js', 'tests/docs/limits.test.ts'],
  { stdio: 'inherit', env: { ...process.env, WRITE_PAGES: '1' } },
);
process.exitCode = status ?? 1;
