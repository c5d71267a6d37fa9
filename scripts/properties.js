/**
 * The properties of pure functions, each ten times as often as before a commit, and every failure in every call.
 */
import { spawnSync } from 'node:child_process';

const places = [
  'core/',
  'http/',
  'json/',
  'properties/',
  'resources/',
  'snapshot/',
  'runtime/journal/fail-nth',
];
const { status } = spawnSync(
  process.execPath,
  // The limit of a test is for those that hang before a commit.
  ['node_modules/jest/bin/jest.js', '--testTimeout=3600000', ...places.map((each) => `tests/${each}`)],
  { stdio: 'inherit', env: { ...process.env, PROPERTY_RUNS: 'many' } },
);
process.exitCode = status ?? 1;
