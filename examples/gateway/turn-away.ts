/** Turning clients away: the reason goes to the console, and to the client as an error of PostgreSQL. */
import type { Socket } from 'node:net';

import { fatalError, type SqlState } from './protocol.ts';

/** The time for a client to read the error and to leave. */
const patienceMs = 5000;

/** Answers a client that has begun with an error, and closes the connection. */
export function turnAway(client: Socket, sqlState: SqlState, reason: string): void {
  console.error(`A client was turned away: ${reason}`);
  client.setTimeout(patienceMs, () => client.destroy());
  // The end of the gateway does not wait for this client.
  client.resume().unref().end(fatalError(sqlState, reason));
}
