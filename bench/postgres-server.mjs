/** A PostgreSQL server for a bench. */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import {
  createData,
  findInstallation,
  freePort,
  isReady,
  spawnServer,
} from '../examples/dist/gateway/postgres-server.js';

/**
 * Starts a server on new data.
 *
 * @param {string[]} settings - such as `fsync=off`
 * @returns its place, and a function that ends the server and removes its data
 */
export async function openServer(settings = []) {
  const directory = await mkdtemp(join(tmpdir(), 'gateway-bench-'));
  let server;
  const close = async () => {
    if (server?.exitCode === null) {
      const ended = once(server, 'exit');
      server.kill('SIGQUIT');
      await ended;
    }
    await rm(directory, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    const installation = await findInstallation(directory);
    const data = join(directory, 'data');
    await createData(installation, data);
    const port = await freePort();
    server = spawnServer(installation, data, port, settings);
    process.once('exit', () => server.kill('SIGQUIT'));
    await isReady(server);
    return { host: '127.0.0.1', port, close };
  } catch (error) {
    await close();
    throw error;
  }
}
