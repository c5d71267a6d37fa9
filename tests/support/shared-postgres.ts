/**
 * The PostgreSQL server for all test files. This runs before the first test file: it opens a door, and starts the
 * server when the first file comes to the door for the port of the server. The server ends with the process of jest.
 */
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';

import { doorVariable, PostgresServer } from './postgres.ts';

export default async function openDoor(): Promise<void> {
  let starting: Promise<string> | undefined;
  const door = createServer((visitor) => {
    starting ??= PostgresServer.start().then((server) => String(server.unref().port), String);
    // A test file that has ended takes no answer.
    visitor.on('error', () => undefined);
    void starting.then((answer) => visitor.end(answer));
  });
  await once(door.listen(0, '127.0.0.1'), 'listening');
  door.unref();
  process.env[doorVariable] = String((door.address() as AddressInfo).port);
}
