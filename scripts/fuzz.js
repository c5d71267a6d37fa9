/**
 * The long fuzz run: 200,000 bodies and 200,000 requests, or as many as the first argument says. With `--expose-gc` the
 * test also looks at the heap.
 */
import { spawnSync } from 'node:child_process';

const [runs = '200000'] = process.argv.slice(2);
const { status } = spawnSync(
  process.execPath,
  ['--expose-gc', 'node_modules/jest/bin/jest.js', '--runInBand', 'tests/properties/fuzz.test.ts'],
  {
    stdio: 'inherit',
    env: { ...process.env, FUZZ_RUNS: runs },
  },
);
process.exitCode = status ?? 1;
