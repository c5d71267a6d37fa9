/**
 * Brings the build of the library and of the example gateway up to date, and becomes the gateway: a single process, so
 * that a signal to it ends the gateway.
 */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const isQuiet = process.argv.includes('--quiet');
if (!isQuiet) process.stdout.write('Building the library and the example gateway ... ');
const begin = performance.now();
try {
  execFileSync('npm', ['run', '--silent', 'build:example'], {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    stdio: ['ignore', process.stderr, process.stderr],
    shell: process.platform === 'win32',
  });
} catch {
  console.error('The build failed. The messages above say why. If packages are missing: npm ci');
  process.exit(1);
}
if (!isQuiet) console.log(`${((performance.now() - begin) / 1000).toFixed(1)} s`);
// npm moves to the folder of the package, and a path of an option counts from where the person stands.
if (process.env.npm_lifecycle_event === 'start' && process.env.INIT_CWD !== undefined)
  process.chdir(process.env.INIT_CWD);
await import('../examples/dist/gateway/main.js');
