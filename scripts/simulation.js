/**
 * The long simulation: 100,000 seeds, or as many as the first number says, in as many processes as there are cores. The
 * second number is the first seed. `--fleet` simulates fleets of nodes instead of one node. A process that fails says how to
 * run its seeds again.
 */
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';

const given = process.argv.slice(2);
const folder = given.includes('--fleet') ? 'tests/fleet/simulation' : 'tests/simulation';
const [seeds = 100_000, first = 0] = given.filter((each) => each !== '--fleet').map(Number);
if (![seeds, first].every(Number.isSafeInteger) || seeds < 1) {
  console.error('Usage: npm run test:simulation [-- [--fleet] SEEDS [FIRST]]');
  process.exit(2);
}
const most = 2500;
const start = performance.now();
let next = first;
let passed = 0;

await Promise.all(Array.from({ length: availableParallelism() }, work));
const seconds = ((performance.now() - start) / 1000).toFixed(0);
const failed = seeds - passed;
console.log(`${seeds} seeds from ${first} on in ${seconds} s: ${failed === 0 ? 'all hold' : 'FAILED'}`);
process.exitCode = failed === 0 ? 0 : 1;

/** One of several workers that take seeds until none is left. */
async function work() {
  while (next < first + seeds) {
    const from = next;
    // Small runs are shared out as well.
    const share = Math.ceil(seeds / availableParallelism());
    const count = Math.min(most, share, first + seeds - from);
    next += count;
    const { code, output } = await run(from, count);
    if (code === 0) passed += count;
    else console.log(`Seeds ${from} to ${from + count - 1} failed:\n${output}`);
    console.log(`${next - first} of ${seeds} begun, ${passed} passed`);
  }
}

function run(from, count) {
  // Only the shares: the other tests of the folder ignore SIMULATION_SEEDS. Each process uses one core.
  const args = ['node_modules/jest/bin/jest.js', '--runInBand', `${folder}/simulation-`];
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, SIMULATION_FIRST: String(from), SIMULATION_SEEDS: String(count) },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  }
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code: code ?? 1, output }));
  });
}
