/** The relay: carries and counts bytes between a client and its server. */
import type { Socket } from 'node:net';

import { endsReady } from './protocol.ts';

interface Filters {
  /** Gets the bytes of the client before the server does. */
  readonly fromClient: (chunk: Buffer) => void;
  /** Takes bytes of the server, and gives the bytes for the client. */
  readonly fromServer: (chunk: Buffer) => Buffer;
}

/** Starts the relay. Bytes of the client that arrive before the server accepts are kept and sent later. */
export function startRelay(client: Socket, backend: Socket, { fromClient, fromServer }: Filters) {
  // The packet that starts the session is written already.
  const statistics = { reads: 0, writes: 1, buffered_writes: 0, high_water_events: 0, low_water_events: 0 };
  let lastAt = performance.now();
  let [isAtRest, isBetweenMessages] = [false, false];

  client.on('data', (chunk: Buffer) => {
    [lastAt, isAtRest] = [performance.now(), false];
    if (!backend.writable) return; // The server has gone, so no answer can come.
    fromClient(chunk);
    statistics.writes += 1;
    if (backend.writableLength > 0) statistics.buffered_writes += 1;
    if (backend.write(chunk)) return;
    statistics.high_water_events += 1;
    client.pause();
  });
  backend.on('drain', () => {
    statistics.low_water_events += 1;
    client.resume();
  });
  backend.on('data', (received: Buffer) => {
    const chunk = fromServer(received);
    lastAt = performance.now();
    isAtRest = isBetweenMessages = endsReady(chunk);
    statistics.reads += 1;
    if (!client.write(chunk)) backend.pause();
  });
  client.on('drain', () => backend.resume());

  return {
    /** Counted from the side of the server. */
    statistics,
    /** Whole seconds since bytes last came from either side. */
    idleSeconds: () => Math.floor((performance.now() - lastAt) / 1000),
    /** Whether the client waits for no answer: the last message of the server was "ready". */
    isAtRest: () => isAtRest,
    /** Whether the client has had whole messages alone, so that another one may follow. */
    isBetweenMessages: () => isBetweenMessages,
  };
}
