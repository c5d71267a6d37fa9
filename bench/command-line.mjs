/**
 * The command line: what a command costs from its start to its end.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';

import { createNodeHandler } from 'gateway-admin-core/node';

import { openAdmin } from './gateway-with-user.mjs';
import { ratios } from './harness.mjs';

export const rows = {
  K1: { title: 'The command line: CPU time and memory of a process', run: commandLine },
};

const program = fileURLToPath(new URL('../dist/node/cli/main.js', import.meta.url));
const rounds = 11;

async function commandLine(row) {
  const admin = openAdmin();
  const server = createServer(createNodeHandler(admin)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${server.address().port}`;
  const cases = {
    node: ['-e', '0'],
    help: [program, '--help'],
    get: [program, 'list', 'services', '--url', url],
  };
  const times = { node: [], help: [], get: [] };
  const memory = [];
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, args] of Object.entries(cases)) {
      const { microseconds, megabytes } = await run(args);
      // The first round fills the cache of the files.
      if (round === 0) continue;
      times[name].push(microseconds);
      if (name === 'get') memory.push(megabytes);
    }
  }
  row.atMost('--help, of node -e 0', 1.7, ratios(times, 'help', 'node'));
  row.atMost('one GET, of node -e 0', 2.2, ratios(times, 'get', 'node'));
  row.atMost('memory of one GET', 60, memory, 'MB');
  server.close();
  server.closeAllConnections();
  await admin.close();
}

const usage = fileURLToPath(new URL('usage.cjs', import.meta.url));

/** What a process uses until its end. */
async function run(args) {
  const child = spawn(process.execPath, ['--require', usage, ...args], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stdio[3].on('data', (text) => (said += text));
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}`);
  const [microseconds, kilobytes] = said.split(' ').map(Number);
  return { microseconds, megabytes: kilobytes / 1024 };
}
