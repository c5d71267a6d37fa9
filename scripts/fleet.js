/**
 * The long fleet test: 50 rounds in which a node and the database are killed, or as many as the first argument says, as
 * many of each of the two worst cases, and as many in which a standby takes over. The nodes reach their store directly,
 * without hints, or through a pool, in turn. Clients read at every node all the time. The second argument is the number
 * of the first round: left out, the rounds are others each time.
 */
import { spawnSync } from 'node:child_process';

const [rounds = '50', first = String(Math.floor(Math.random() * 1e9))] = process.argv.slice(2);
console.log(`The first round is ${first}.`);
const { status } = spawnSync(
  process.execPath,
  ['node_modules/jest/bin/jest.js', '--runInBand', 'tests/system/fleet/'],
  {
    stdio: 'inherit',
    env: { ...process.env, FLEET_ROUNDS: rounds, FLEET_WORST: rounds, FLEET_FIRST: first },
  },
);
process.exitCode = status ?? 1;
