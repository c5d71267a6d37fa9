/** The example gateway: reads its arguments, starts everything, says where it is, and ends when it is told to. */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';

import { createSnapshot, type Snapshot } from 'gateway-admin-core';
import { createHandler } from 'gateway-admin-core/node';
import { startDatabase } from './database.ts';
import { defaultDocument, parseDocument, startingDocument } from './document.ts';
import { Gateway } from './gateway.ts';

const help = `Usage: npm start -- [options]

Runs a small database gateway with its administration interface. Without a document it starts two embedded
PostgreSQL databases and two services in front of them.

  --document FILE    run the gateway of this document (JSON) instead; its listeners may have port 0
  --admin-port PORT  port of the administration interface: 8989 by default, 0 for any that is free
  --admin-host HOST  address of the administration interface: 127.0.0.1 by default
  --help             print this`;

function readArguments() {
  const [text, flag] = [{ type: 'string' }, { type: 'boolean' }] as const;
  const options = { document: text, 'admin-host': text, 'admin-port': text, help: flag };
  const { values } = parseArgs({ options });
  const { 'admin-host': host = '127.0.0.1', 'admin-port': port = '8989' } = values;
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) throw new RangeError(`"${port}" is not a port.`);
  return { ...values, host, port: Number(port) };
}

async function start({ document: path, host, port }: ReturnType<typeof readArguments>): Promise<void> {
  const given = path === undefined ? undefined : parseDocument(await readFile(path, 'utf8'));
  if (given === undefined) console.log('Starting two databases: a few seconds.\n');
  const databases = given === undefined ? await Promise.all([startDatabase(), startDatabase()]) : [];
  const gateway = new Gateway(createSnapshot(await startingDocument(given ?? defaultDocument(databases))));
  await gateway.open();
  const server = createServer(createHandler(gateway.admin, { onError: console.error }));
  await once(server.listen(port, host), 'listening');
  greet(gateway.admin.snapshot, host, (server.address() as AddressInfo).port);
  const stop = async (): Promise<void> => {
    server.close().closeAllConnections();
    await gateway.close();
    for (const database of databases) database.stop();
  };
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void stop());
}

/** Says where everything is, and what to try. */
function greet({ services }: Snapshot, host: string, port: number): void {
  const admin = `http://${host.includes(':') ? `[${host}]` : host}:${String(port)}`;
  const [places, tries]: [string[], string[]] = [[], []];
  for (const { name, key, state, listeners } of services) {
    for (const each of state === 'started' ? listeners : []) {
      places.push(`listener ${name.replace(/\s/g, '-')} ${each.address}:${String(each.port)}`);
      tries.push(`  psql -h ${each.address} -p ${String(each.port)} -U postgres -d postgres`);
      tries.push(`  curl -X PUT ${admin}/service/${encodeURIComponent(key)}/stop`);
    }
  }
  const more = [`  curl ${admin}/sessions`, `  curl -X DELETE ${admin}/sessions/1`];
  console.log([...places, `admin ${admin}`, '\nTo try in other terminals:', ...tries, ...more].join('\n'));
}

function quit(code: number, error: unknown): never {
  console.error(error instanceof Error ? error.message : error);
  process.exit(code);
}

try {
  const options = readArguments();
  if (options.help === true) console.log(help);
  else await start(options).catch((error: unknown) => quit(1, error));
} catch (error) {
  quit(2, error);
}
