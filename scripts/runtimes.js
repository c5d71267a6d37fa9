/**
 * Uses the built package in each runtime, and in vitest: `npm run test:runtimes`. Bun, Deno and vitest come from npm
 * and stay in npm's cache.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const npm = (name, ...command) => ['npm', 'exec', '--yes', `--package=${name}`, '--', ...command];
const runtimes = [
  [process.execPath, 'program.js'],
  npm('bun@1', 'bun', 'program.js'),
  npm('deno@2', 'deno', 'run', '--allow-all', '--node-modules-dir=manual', 'program.js'),
  npm('vitest@4', 'vitest', 'run', '--globals', '--root', '.', '--disable-console-intercept'),
];

const root = fileURLToPath(new URL('..', import.meta.url));
const directory = join(root, 'temp', 'runtimes');
rmSync(directory, { recursive: true, force: true });
mkdirSync(join(directory, 'node_modules'), { recursive: true });
symlinkSync(root, join(directory, 'node_modules', 'gateway-admin-core'), 'dir');
writeFileSync(join(directory, 'package.json'), '{ "type": "module" }\n');
copyFileSync(join(root, 'scripts', 'runtime-program.js'), join(directory, 'program.js'));
writeFileSync(
  join(directory, 'program.test.js'),
  "test('the program', () => import('./program.js'), 60_000);\n",
);

const rows = runtimes.map(run);
rmSync(directory, { recursive: true });
console.table(Object.fromEntries(rows.map(({ version, results }) => [version, results])));
const isFine = rows.every(({ results }) =>
  Object.values(results).every((each) => ['yes', '-'].includes(each)),
);
process.exitCode = isFine ? 0 : 1;

function run([command, ...words]) {
  const { status, stdout, stderr } = spawnSync(command, words, {
    cwd: directory,
    encoding: 'utf8',
    timeout: 120_000,
    shell: process.platform === 'win32',
  });
  const report = stdout?.split('\n').find((line) => line.startsWith('{"version"'));
  if (status === 0 && report !== undefined) return JSON.parse(report);
  console.log(stdout, stderr);
  return { version: words.join(' '), results: { process: 'failed' } };
}
