/** The listeners of one service. They open and close together; connected clients continue after a close. */
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';

import { EffectRefusedError, type Listener } from 'gateway-admin-core';

import { placeOf } from './place.ts';

export type Listeners = ReturnType<typeof createListeners>;

export function createListeners(declared: readonly Listener[], onClient: (client: Socket) => void) {
  const servers: Server[] = [];
  let isOpen = false;
  /** Closes the listeners. New clients are refused as soon as `close` returns. */
  const close = (): void => {
    for (const server of servers.splice(0)) server.close();
    isOpen = false;
  };
  /** Opens all listeners or none; rejects with {@link EffectRefusedError} if a listener cannot open. */
  const open = async (): Promise<void> => {
    if (isOpen) return;
    try {
      for (const listener of declared) servers.push(await listen(listener, onClient));
      isOpen = true;
    } catch (error) {
      close();
      throw error;
    }
  };
  return { open, close, isOpen: () => isOpen };
}

async function listen(listener: Listener, onClient: (client: Socket) => void): Promise<Server> {
  const server = createServer({ noDelay: true, keepAlive: true }, onClient);
  try {
    await once(server.listen(placeOf(listener)), 'listening');
  } catch (error) {
    throw new EffectRefusedError(`The listener "${listener.name}" cannot open: ${(error as Error).message}.`);
  }
  // For example too many open files: one client is lost, but the listener continues.
  return server.on('error', console.error);
}
