/**
 * The long fuzz run: 100,000 documents, or as many as the first argument says.
 */
import { spawnSync } from 'node:child_process';

const [runs = '100000'] = process.argv.slice(2);
const { status } = spawnSync(
  process.execPath,
  ['node_modules/jest/bin/jest.js', 'tests/properties/fuzz.test.ts'],
  {
    stdio: 'inherit',
    env: { ...process.env, FUZZ_RUNS: runs },
  },
);
process.exitCode = status ?? 1;
