/** Turning clients away: the reason goes to the console, and to the client as an error of PostgreSQL. */
import type { Socket } from 'node:net';

import { fatalError, isEncryptionRequest } from './protocol.ts';

/** The time for a client to send its first packet. A client reads an error only as the answer to this packet. */
const patienceMs = 5000;

/** The reasons by SQLSTATE: too many clients, and no server to connect to. */
type SqlState = '53300' | '57P03';

/** Answers the first packet of a client with an error, and closes the connection. */
export function turnAway(client: Socket, sqlState: SqlState, reason: string): void {
  console.error(`A client was turned away: ${reason}`);
  client.on('error', () => undefined).setTimeout(patienceMs, () => client.destroy());
  client.on('data', function answer(packet) {
    if (isEncryptionRequest(packet)) return void client.write('N');
    client.off('data', answer).resume().end(fatalError(sqlState, reason));
  });
  // The end of the gateway does not wait for this client.
  client.resume().unref();
}
