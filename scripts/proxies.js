/**
 * Runs the tests with a real proxy in front of the interface: `npm run test:proxies`. The proxy is the nginx of the
 * system.
 */
import { spawnSync } from 'node:child_process';

const { error, stderr } = spawnSync('nginx', ['-v'], { encoding: 'utf8' });
if (error !== undefined) {
  console.log('Skipped: nginx was not found. Install nginx to try the interface behind it.');
} else {
  console.log(stderr.trim());
  const jest = ['node_modules/jest/bin/jest.js', '--testMatch', '<rootDir>/tests/proxies/*.ts'];
  const { status } = spawnSync(process.execPath, jest, { stdio: 'inherit' });
  process.exitCode = status ?? 1;
}
