/**
 * What takes longer than anybody waits for before a commit: worlds, fleets, hostile input, crashes and mutants, one after
 * the other.
 *
 * - `--minutes N` takes what fits in N minutes: worlds, fleets, scenarios, hostile input and crashes alone.
 * - `--seed N` begins with another world. Without it, the first seed is drawn, and printed.
 *
 * The last line counts the worlds and the other runs.
 */
import { randomInt } from 'node:crypto';

import { runScript } from './run.js';

const given = process.argv.slice(2);
const minutes = numberAfter('--minutes');
const seed = numberAfter('--seed') ?? randomInt(2 ** 32);

/** What a run of so many minutes takes, and what the whole run takes. */
const parts =
  minutes === undefined
    ? [
        ['test:simulation', '--found'],
        ['test:simulation', '100000', seed],
        ['test:simulation', '--plans', '100000', seed],
        ['test:simulation', '--fleet', '100000', seed],
        ['test:simulation', '--scenarios', '1000000', seed],
        ['test:simulation', '--fleet', '--scenarios', '100000', seed],
        ['test:simulation', '--store', '100000', seed],
        ['test:simulation', '--page', '1000', seed],
        ['proof', '--all'],
        ['test:fuzz'],
        ['test:properties'],
        ['test:console'],
        ['test:crash'],
        ['test:fleet'],
        ['test:drain'],
        ['test:soak'],
        ['test:proxies'],
        ...['command', 'journal'].map((room) => ['test:mutation', `runtime/${room}`]),
        ...['resources', 'fleet'].map((room) => ['test:mutation', room]),
      ]
    : [
        ['test:crash', '2', seed],
        ['test:fleet', '3', seed],
        ['test:fuzz', '5000'],
        ['test:simulation', '--found'],
        ['test:simulation', '--minutes', 0.4 * minutes, '100000', seed],
        ['test:simulation', '--fleet', '--minutes', 0.2 * minutes, '100000', seed],
        ['test:simulation', '--scenarios', '--minutes', 0.2 * minutes, '1000000', seed],
        ['test:simulation', '--fleet', '--scenarios', '--minutes', 0.1 * minutes, '1000000', seed],
        ['test:simulation', '--store', '--minutes', 0.05 * minutes, '1000000', seed],
      ];

console.log(`From seed ${seed}`);
const counts = { passed: 0, failed: 0 };
for (const [name, ...args] of parts) {
  console.log(`\n${[name, ...args].join(' ')}`);
  const { code, output } = await runScript(name, 'pipe', {
    args: args.map(String),
    onText: (text) => process.stdout.write(text),
  });
  const [, passed = code === 0 ? 1 : 0, failed = code === 0 ? 0 : 1] =
    /(\d+) passed, (\d+) failed\s*$/.exec(output) ?? [];
  counts.passed += Number(passed);
  // A run that ends without a failure that it counts has failed all the same.
  counts.failed += code === 0 ? Number(failed) : Math.max(1, Number(failed));
}
console.log(`${counts.passed} passed, ${counts.failed} failed`);
process.exitCode = counts.failed === 0 ? 0 : 1;

function numberAfter(name) {
  const at = given.indexOf(name);
  if (at < 0) return undefined;
  const number = Number(given[at + 1]);
  if (Number.isSafeInteger(number) && number >= 0) return number;
  console.error('Usage: npm run test:long [-- [--minutes N] [--seed N]]');
  return process.exit(2);
}
