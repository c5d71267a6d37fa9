/**
 * The example gateway: reads its arguments, starts everything, says where it is, and ends when it is told to.
 */
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
  const options = {
    document: { type: 'string' },
    'admin-port': { type: 'string', default: '8989' },
    'admin-host': { type: 'string', default: '127.0.0.1' },
    help: { type: 'boolean', default: false },
  } as const;
  const { values } = parseArgs({ options });
  if (/^\d{1,5}$/.test(values['admin-port']) && Number(values['admin-port']) < 65_536) return values;
  throw new RangeError(`"${values['admin-port']}" is not a port.`);
}

function quit(code: number, error: unknown): never {
  console.error(error instanceof Error ? error.message : error);
  process.exit(code);
}

async function start({
  document: path,
  'admin-port': port,
  'admin-host': host,
}: ReturnType<typeof readArguments>) {
  const given = path === undefined ? undefined : parseDocument(await readFile(path, 'utf8'));
  const databases = given === undefined ? await Promise.all([startDatabase(), startDatabase()]) : [];
  const gateway = new Gateway(createSnapshot(await startingDocument(given ?? defaultDocument(databases))));
  await gateway.open();
  const server = createServer(createHandler(gateway.admin, { onError: console.error }));
  await once(server.listen(Number(port), host), 'listening');
  const address = `${host.includes(':') ? `[${host}]` : host}:${String((server.address() as AddressInfo).port)}`;
  console.log(greeting(gateway.admin.snapshot, `http://${address}`));

  async function stop(): Promise<void> {
    server.close();
    server.closeAllConnections();
    await gateway.close();
    for (const database of databases) database.stop();
  }
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void stop());
}

/** Where everything is, and what to try. */
function greeting({ services }: Snapshot, admin: string): string {
  const listeners = [...services]
    .filter(({ state }) => state === 'started')
    .flatMap(({ name, listeners: all }) => all.map((each) => ({ ...each, name: name.replace(/\s/g, '-') })));
  return [
    `admin ${admin}`,
    ...listeners.map(({ name, address, port }) => `listener ${name} ${address}:${String(port)}`),
    '\nTo try, in another terminal:',
    ...listeners
      .slice(0, 1)
      .map(({ address, port }) => `  psql -h ${address} -p ${String(port)} -U postgres`),
    `  curl ${admin}/sessions`,
    `  curl -X DELETE ${admin}/sessions/1`,
    ...listeners
      .slice(0, 1)
      .map(({ name }) => `  curl -X PUT ${admin}/service/${encodeURIComponent(name)}/stop`),
    `  curl ${admin}/servers`,
    'Ctrl-C ends it.',
  ].join('\n');
}

try {
  const options = readArguments();
  if (options.help) console.log(help);
  else await start(options).catch((error: unknown) => quit(1, error));
} catch (error) {
  quit(2, error);
}
