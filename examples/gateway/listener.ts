/** The listeners of one service. They open and close together; connected clients continue after a close. */
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';

import { EffectRefusedError, type Listener } from 'gateway-admin-core';

import { placeAt, placeOf } from './place.ts';

export type Listeners = ReturnType<typeof createListeners>;

/** @param gateway - the number of the gateway among those of the machine */
export function createListeners(
  declared: readonly Listener[],
  onClient: (client: Socket) => void,
  gateway = 0,
) {
  const listeners = new Map(declared.map((listener) => [listener.name, listener]));
  const servers = new Map<string, Server>();
  let isOpen = false;
  /** Closes the listeners. New clients are refused as soon as `close` returns. */
  const close = (): void => {
    for (const server of servers.values()) server.close();
    servers.clear();
    isOpen = false;
  };
  /** Opens all listeners or none; rejects with {@link EffectRefusedError} if a listener cannot open. */
  const open = async (): Promise<void> => {
    if (isOpen) return;
    try {
      for (const [name, listener] of listeners) servers.set(name, await listen(listener, onClient, gateway));
      isOpen = true;
    } catch (error) {
      close();
      throw error;
    }
  };
  /** Adds a listener, which opens if the others are open; rejects as `open`. */
  const add = async (listener: Listener): Promise<void> => {
    if (listeners.has(listener.name)) return;
    if (isOpen) servers.set(listener.name, await listen(listener, onClient, gateway));
    listeners.set(listener.name, listener);
  };
  const remove = (name: string): void => {
    servers.get(name)?.close();
    servers.delete(name);
    listeners.delete(name);
  };
  /** Whether there is such a listener: one of the name at another place is another one. */
  const has = ({ name, address, port }: Listener): boolean => {
    const known = listeners.get(name);
    return known?.address === address && known.port === port;
  };
  return {
    open,
    close,
    add,
    remove,
    isOpen: () => isOpen,
    has,
    knows: (name: string) => listeners.has(name),
  };
}

async function listen(
  listener: Listener,
  onClient: (client: Socket) => void,
  gateway: number,
): Promise<Server> {
  const server = createServer({ noDelay: true, keepAlive: true }, onClient);
  try {
    await once(server.listen(placeOf(placeAt(listener, gateway))), 'listening');
  } catch (error) {
    throw new EffectRefusedError(`The listener "${listener.name}" cannot open: ${(error as Error).message}.`);
  }
  // For example too many open files: one client is lost, but the listener continues.
  return server.on('error', console.error);
}
