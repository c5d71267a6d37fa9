/**
 * Restarts servers one after the other: drains each, waits until nobody uses it, runs a script with its name, and takes
 * it back. Stops before a service would have no server left.
 *
 *     node rolling-restart.js ./restart.sh db-1 db-2
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { valueOf, waitFor } from 'gateway-admin-core/client';

import { client } from './gateway.ts';

const [, , script = '', ...names] = process.argv;
const drain = { timeout: 600, then: 'close', reason: 'rolling restart' } as const;
const { servers } = client;
for (const name of names) {
  const { mark, notes = [] } = valueOf(await servers.drain.plan(name, drain));
  const grave = notes.find(({ code }) => code === 'no-usable-server');
  if (grave !== undefined) throw new Error(grave.detail);
  valueOf(await servers.drain(name, drain, { mark }));
  const timeoutMs = drain.timeout * 1000 + 10_000;
  const isIdle = (): ReturnType<typeof servers.connections> => servers.connections(name, { range: [0, 0] });
  await waitFor(client, isIdle, (answer) => answer.ok && answer.value.total === 0, { timeoutMs });
  await promisify(execFile)(script, [name]);
  const isUp = (): ReturnType<typeof servers.get> => servers.get(name);
  await waitFor(client, isUp, (answer) => answer.ok && answer.value.status.includes('running'));
  valueOf(await servers.resume(name));
  console.log(`${name} is restarted.`);
}
