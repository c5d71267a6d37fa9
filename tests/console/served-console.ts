/**
 * A console with its interface on a free port of this machine, as a host mounts both, until the tests of a file are over.
 */
import type { Server } from 'node:http';

import { afterAll } from '@jest/globals';

import { hostConsole, listenOn, type Hosting, type Served } from './hosted-console.ts';

export { documentWithUser, password, shownDocument, type Hosting, type Served } from './hosted-console.ts';

const closing: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const close of closing.reverse()) await close();
});

/** Serves a console and its interface on one origin. */
export async function serveConsole(hosting: Hosting = {}): Promise<Served> {
  const served = await hostConsole(hosting);
  closing.push(served.close);
  return served;
}

/** Opens a free port of this machine, until the tests of the file are over. */
export function listen(server: Server): Promise<number> {
  closing.push(() => new Promise((resolve) => server.close(resolve).closeAllConnections()));
  return listenOn(server);
}
