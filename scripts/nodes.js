/**
 * Runs the tests on each supported major version of Node, one after the other. The versions come from npm's `node`
 * packages and stay in npm's cache. Arguments are passed to jest: `npm run test:nodes -- tests/core`.
 */
import { spawnSync } from 'node:child_process';

const versions = ['20', '22', '24'];
const platform = process.platform === 'win32' ? 'win' : process.platform;
const failed = [];

for (const version of versions) {
  // The package of the platform itself: the general one needs an install script to fetch it.
  const node = ['exec', '--yes', `--package=node-${platform}-${process.arch}@${version}`, '--', 'node'];
  console.log(`\nNode ${version}`);
  const { status } = spawnSync('npm', [...node, 'node_modules/jest/bin/jest.js', ...process.argv.slice(2)], {
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  if (status !== 0) failed.push(version);
}
console.log(
  failed.length === 0 ? `\nPasses on Node ${versions.join(', ')}` : `\nFails on Node ${failed.join(', ')}`,
);
process.exitCode = failed.length === 0 ? 0 : 1;
