/**
 * Brings the build of the library and of the example gateway up to date, and becomes the gateway: a single process, so that a
 * signal to it ends the gateway.
 */
import { execFileSync } from 'node:child_process';

const options = { stdio: ['ignore', process.stderr, process.stderr], shell: process.platform === 'win32' };
execFileSync('npm', ['run', '--silent', 'build:example'], options);
await import('../examples/dist/gateway/main.js');
