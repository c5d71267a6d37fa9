/**
 * The properties of pure functions, each ten times as often as before a commit.
 */
import { spawnSync } from 'node:child_process';

const folders = ['core', 'http', 'json', 'properties', 'resources', 'snapshot'];
const { status } = spawnSync(
  process.execPath,
  ['node_modules/jest/bin/jest.js', ...folders.map((each) => `tests/${each}/`)],
  { stdio: 'inherit', env: { ...process.env, PROPERTY_RUNS: 'many' } },
);
process.exitCode = status ?? 1;
