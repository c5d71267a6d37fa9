/**
 * Everything beside the tests that has to hold before a change is done, in two lines side by side. A failed check does not
 * stop the others, so that one run tells everything. The last line counts the checks.
 */
import { runScript } from './run.js';

let passed = 0;
let failed = 0;
await Promise.all([
  // Reads the sources alone, and takes as long as all others together.
  inTurn(['lint']),
  // `clean` comes first: what a deleted source left behind must not make a check pass. The others read the build.
  inTurn(['clean', 'build', 'build:example', 'package', 'api:check', 'counts', 'dead-code', 'format:check']),
]);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;

/** Runs scripts of package.json one after the other. */
async function inTurn(names) {
  for (const name of names) await check(name);
}

async function check(name) {
  const start = performance.now();
  const { code, output } = await runScript(name, 'pipe');
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  console.log(`${code === 0 ? 'ok    ' : 'FAILED'} ${name} (${seconds} s)`);
  if (code === 0) {
    passed += 1;
    return;
  }
  failed += 1;
  console.log(output);
}
