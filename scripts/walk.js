/**
 * The long walk over the page of the console: 10,000 acts, or as many as the first argument says. The second argument
 * is the seed. Without a seed, each run walks elsewhere.
 */
import { spawnSync } from 'node:child_process';

const [acts = '10000', seed = String(Date.now())] = process.argv.slice(2);
if (![acts, seed].every((each) => /^\d{1,15}$/.test(each)) || acts === '0') {
  console.error('Usage: npm run test:console [-- ACTS [SEED]]');
  process.exit(2);
}
console.log(`${acts} acts with seed ${seed}`);
const { status } = spawnSync(
  process.execPath,
  ['node_modules/jest/bin/jest.js', '--runInBand', 'tests/console/walk.test.ts'],
  {
    stdio: 'inherit',
    env: { ...process.env, WALK_ACTS: acts, WALK_SEED: seed },
  },
);
process.exitCode = status ?? 1;
