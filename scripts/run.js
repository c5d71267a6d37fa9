/**
 * Runs scripts of package.json.
 */
import { spawn } from 'node:child_process';

/**
 * Runs a script. Gives its exit code, and its output if that is piped.
 *
 * @param {string} name
 * @param {'inherit' | 'pipe'} stdio
 */
export function runScript(name, stdio, { args = [], env = {}, onText = () => {} } = {}) {
  const rest = args.length === 0 ? [] : ['--', ...args];
  const child = spawn('npm', ['run', '--silent', name, ...rest], {
    stdio: ['ignore', stdio, stdio],
    shell: process.platform === 'win32',
    // Packing would otherwise build a second time, under the feet of the other checks.
    env: { ...process.env, npm_config_ignore_scripts: 'true', ...env },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text) => {
      output += text;
      onText(text);
    });
  }
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code: code ?? 1, output }));
  });
}
