/** The listeners of one service. Connected clients continue when a listener closes. */
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';

import { EffectRefusedError, type Listener } from 'gateway-admin-core';

import { placeAt, placeOf } from './place.ts';

export type Listeners = ReturnType<typeof createListeners>;

/** @param gateway - the number of the gateway among those of the machine */
export function createListeners(onClient: (client: Socket) => void, gateway = 0) {
  const servers = new Map<string, { readonly server: Server; readonly listener: Listener }>();
  return {
    /** Opens the given listeners, and closes all others. New clients are refused as soon as a listener is closed. */
    async bring(
      wanted: readonly (Listener & { readonly key: string })[],
      signal: AbortSignal,
    ): Promise<void> {
      for (const [key, { server, listener }] of servers) {
        if (wanted.some((each) => each.key === key && isAtSamePlace(each, listener))) continue;
        server.close();
        servers.delete(key);
      }
      for (const listener of wanted) {
        if (servers.has(listener.key)) continue;
        const server = createServer({ noDelay: true, keepAlive: true }, onClient);
        servers.set(listener.key, { server, listener });
        await listen(server, listener, gateway, signal);
      }
    },
    /** The keys of those that are open. */
    open: () => [...servers].filter(([, { server }]) => server.listening).map(([key]) => key),
  };
}

/** A listener of the same name at another place is another one. */
function isAtSamePlace(one: Listener, other: Listener): boolean {
  return one.address === other.address && one.port === other.port;
}

async function listen(
  server: Server,
  listener: Listener,
  gateway: number,
  signal: AbortSignal,
): Promise<void> {
  try {
    await once(server.listen(placeOf(placeAt(listener, gateway))), 'listening', { signal });
  } catch (error) {
    throw new EffectRefusedError(`The listener "${listener.name}" cannot open: ${(error as Error).message}.`);
  }
  // For example too many open files: one client is lost, but the listener continues.
  server.on('error', console.error);
}
