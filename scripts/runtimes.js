/**
 * Uses the built package in each runtime: `npm run test:runtimes`. Bun and Deno come from npm and stay in npm's cache.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const npm = (name, ...command) => ['npm', 'exec', '--yes', `--package=${name}`, '--', ...command];
const runtimes = [
  [process.execPath],
  npm('bun@1', 'bun'),
  npm('deno@2', 'deno', 'run', '--allow-all', '--node-modules-dir=manual'),
];

const root = fileURLToPath(new URL('..', import.meta.url));
const directory = join(root, 'temp', 'runtimes');
rmSync(directory, { recursive: true, force: true });
mkdirSync(join(directory, 'node_modules'), { recursive: true });
symlinkSync(root, join(directory, 'node_modules', 'gateway-admin-core'), 'dir');
writeFileSync(join(directory, 'package.json'), '{ "type": "module" }\n');
copyFileSync(join(root, 'scripts', 'runtime-program.js'), join(directory, 'program.js'));

const rows = runtimes.map(run);
rmSync(directory, { recursive: true });
console.table(Object.fromEntries(rows.map(({ version, results }) => [version, results])));
const isFine = rows.every(({ results }) =>
  Object.values(results).every((each) => ['yes', '-'].includes(each)),
);
process.exitCode = isFine ? 0 : 1;

function run([command, ...words]) {
  const { stdout, stderr } = spawnSync(command, [...words, 'program.js'], {
    cwd: directory,
    encoding: 'utf8',
    timeout: 120_000,
    shell: process.platform === 'win32',
  });
  const last = stdout?.trim().split('\n').at(-1) ?? '';
  if (last.startsWith('{')) return JSON.parse(last);
  console.log(stdout, stderr);
  return { version: words.at(0) === 'exec' ? words[2] : command, results: { start: 'failed' } };
}
