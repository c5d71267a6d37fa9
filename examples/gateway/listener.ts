/**
 * The listeners of one service: they open together and close together, and closing them leaves the clients alone.
 */
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';

import { EffectRefused, type Listener } from 'gateway-admin-core';

export type Listeners = ReturnType<typeof createListeners>;

export function createListeners(declared: readonly Listener[], onClient: (client: Socket) => void) {
  let servers: readonly Server[] | undefined;
  const close = (): void => {
    for (const server of servers ?? []) server.close();
    servers = undefined;
  };
  return {
    isOpen: () => servers !== undefined,
    /** Opens all of them or none; rejects with {@link EffectRefused} when one cannot open. */
    async open(): Promise<void> {
      const attempts = await Promise.allSettled(declared.map((listener) => listen(listener, onClient)));
      servers = attempts.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
      const failure = attempts.find((each) => each.status === 'rejected');
      if (failure === undefined) return;
      close();
      throw failure.reason;
    },
    /** New clients are refused as soon as this returns. */
    close,
  };
}

async function listen(listener: Listener, onClient: (client: Socket) => void): Promise<Server> {
  const server = createServer({ noDelay: true, keepAlive: true }, onClient);
  try {
    await once(server.listen(listener.port, listener.address), 'listening');
  } catch (error) {
    throw new EffectRefused(`The listener "${listener.name}" cannot open: ${(error as Error).message}.`);
  }
  // Such as too many open files: a client is lost, the listener is not.
  return server.on('error', console.error);
}
