/**
 * Plants each fault of `tests/faults/faults.js`, or those that are named, and prints how soon the simulation finds it and
 * with how many steps it tells it. The last line counts the faults that were found.
 */
import { faults } from '../tests/faults/faults.js';
import { runScript } from './run.js';

const names = process.argv.slice(2);
const chosen = faults.filter(({ name }) => names.length === 0 || names.includes(name));
const counts = { '--store': 20_000, '--scenarios': 20_000, '--fleet --scenarios': 2000 };
const found = { passed: 0, failed: 0 };
for (const { name, kind, what } of chosen) {
  const start = performance.now();
  const args = ['--fault', name, String(counts[kind] ?? 3000)];
  const { output } = await runScript('test:simulation', 'pipe', { args });
  const isFound = /^Seed \d+;/m.test(output);
  found[isFound ? 'passed' : 'failed'] += 1;
  const seconds = ((performance.now() - start) / 1000).toFixed(0);
  const [, scenario] = output.split(/^ {2}== .*$/m);
  const steps = scenario
    ?.split('\n\n')[0]
    .split('\n')
    .filter((line) => /^[a-z]/.test(line)).length;
  const told = steps === undefined ? '' : `, in ${steps} steps`;
  console.log(`${isFound ? 'found    ' : 'NOT FOUND'} ${name} (${seconds} s${told}): ${what}`);
}
console.log(`${found.passed} passed, ${found.failed} failed`);
process.exitCode = found.failed === 0 ? 0 : 1;
