/**
 * `npm start` as a person runs it.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

import { root } from '../support/project.ts';

/** Runs `npm start` in a folder of the person, and in a process group of its own, as in a terminal. */
export function npmStart(folder: string, ...args: readonly string[]) {
  const child = spawn('npm', ['--prefix', root, 'start', '--', '--admin-port', '0', ...args], {
    cwd: folder,
    detached: true,
    // On newer versions of Node, npm keeps compiled code in the temporary directory.
    env: { ...process.env, TMPDIR: folder, NODE_DISABLE_COMPILE_CACHE: '1', npm_config_loglevel: 'error' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const printed = { text: '' };
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (printed.text += text));
  /** Ctrl-C reaches every process of the group. */
  const interrupt = (): void => void process.kill(-(child.pid ?? 0), 'SIGINT');
  return { printed, closed: once(child, 'close'), interrupt };
}
