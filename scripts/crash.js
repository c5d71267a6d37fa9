/**
 * The long crash test: kills the example gateway in 50 rounds, or in as many as the first argument says. The second
 * argument is the number of the first round: left out, the rounds are others each time.
 */
import { spawnSync } from 'node:child_process';

const [rounds = '50', first = String(Math.floor(Math.random() * 1e9))] = process.argv.slice(2);
console.log(`The first round is ${first}.`);
const { status } = spawnSync(
  process.execPath,
  ['node_modules/jest/bin/jest.js', 'tests/system/crash.test.ts'],
  {
    stdio: 'inherit',
    env: { ...process.env, CRASH_ROUNDS: rounds, CRASH_FIRST: first },
  },
);
process.exitCode = status ?? 1;
