/**
 * A database client, as applications use it: `pg`, with one connection held open.
 */
import type { EventEmitter } from 'node:events';

import { Client } from 'pg';

import { connectSocket } from './socket-client.ts';

export interface DatabaseClient {
  /** The first value of the first row. */
  valueOf(this: void, query: string, values?: readonly unknown[]): Promise<unknown>;
  /** The version that the server has announced. */
  readonly serverVersion: string | undefined;
  /** Asks the place that it is connected to, to cancel the query that it waits for: as psql does at Ctrl-C. */
  cancel(this: void): Promise<void>;
  /** Resolves when the connection is closed, by whichever side. */
  readonly closed: Promise<void>;
  close(this: void): Promise<void>;
}

/** Connects to 127.0.0.1; rejects when it cannot. */
export async function connectDatabase(port: number, user = 'postgres'): Promise<DatabaseClient> {
  const client = new Client({ host: '127.0.0.1', port, user, database: 'postgres' });
  // A connection that is cut is an error for pg; here it is often what is wanted.
  client.on('error', () => undefined);
  const closed = new Promise<void>((resolve) => {
    client.once('end', () => resolve());
  });
  let serverVersion: string | undefined;
  const { connection } = client as unknown as { readonly connection: EventEmitter };
  connection.on('parameterStatus', ({ parameterName, parameterValue }: Readonly<Record<string, string>>) => {
    if (parameterName === 'server_version') serverVersion = parameterValue;
  });
  await client.connect();
  return {
    serverVersion,
    async valueOf(text, values = []) {
      const { rows } = await client.query<unknown[]>({ text, values: [...values], rowMode: 'array' });
      return rows[0]?.[0];
    },
    async cancel() {
      const { processID, secretKey } = client as unknown as Record<'processID' | 'secretKey', number>;
      const request = Buffer.alloc(16);
      [16, 80_877_102, processID, secretKey].forEach((value, index) =>
        request.writeInt32BE(value, 4 * index),
      );
      const asking = await connectSocket(port);
      await asking.send(request);
      await asking.closed;
    },
    closed,
    close: () => client.end(),
  };
}
