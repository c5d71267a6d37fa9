/**
 * Everything that has to hold before a change is done: the build and the checks in two lines side by side, then the
 * tests. A failed check does not stop the others, so that one run tells everything. The last line is that of the tests.
 */
import { spawn } from 'node:child_process';

const failed = [];
await Promise.all([
  // Reads the sources alone, and takes as long as all others together.
  inTurn(['lint']),
  // `clean` comes first: what a deleted source left behind must not make a check pass. The others read the build.
  inTurn(['clean', 'build', 'build:example', 'package', 'api:check', 'dead-code', 'format:check']),
]);
if (failed.length > 0) console.log(`\nFailed checks: ${failed.join(', ')}\n`);

// Where a build has failed, tests of the package build again, and say so.
const { code } = await run('jest', 'inherit', { PACKAGE_IS_BUILT: failed.length > 0 ? 'no' : 'yes' });
process.exitCode = failed.length > 0 ? 1 : code;

/** Runs scripts of package.json one after the other. */
async function inTurn(names) {
  for (const name of names) await check(name);
}

async function check(name) {
  const start = performance.now();
  const { code, output } = await run(name, 'pipe');
  console.log(
    `${code === 0 ? 'ok    ' : 'FAILED'} ${name} (${((performance.now() - start) / 1000).toFixed(1)} s)`,
  );
  if (code === 0) return;
  failed.push(name);
  console.log(output);
}

function run(name, stdio, env = {}) {
  const child = spawn('npm', ['run', '--silent', name], {
    stdio: ['ignore', stdio, stdio],
    shell: process.platform === 'win32',
    // Packing would otherwise build a second time, under the feet of the other checks.
    env: { ...process.env, npm_config_ignore_scripts: 'true', ...env },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  }
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code: code ?? 1, output }));
  });
}
