/**
 * Writes docs/bad-input.md from the tables of the contract tests.
 */
import { spawnSync } from 'node:child_process';

const { status } = spawnSync(
  process.execPath,
  ['node_modules/jest/bin/jest.js', 'tests/docs/bad-input.test.ts'],
  { stdio: 'inherit', env: { ...process.env, WRITE_PAGES: '1' } },
);
process.exitCode = status ?? 1;
