/** The example gateway: reads the arguments, starts everything, prints the addresses, and stops at a signal. */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';

import { createAdmin, createBasicAuthentication } from 'gateway-admin-core';
import { createSnapshot, DifferingDocumentError } from 'gateway-admin-core';
import { openAdmin, patchServer } from 'gateway-admin-core';
import type { Admin, AdminOptions, GatewayDocument, Snapshot } from 'gateway-admin-core';
import { openFileStore } from 'gateway-admin-core/file-store';
import { createHandler } from 'gateway-admin-core/node';
import { startDatabases, type Databases } from './database.ts';
import { defaultDocument, freePorts, parseDocument, startingDocument } from './document.ts';
import { Gateway } from './gateway.ts';
import { veto } from './setting.ts';

const help = `Usage: npm start -- [options]

Runs a small database gateway with its administration interface. Without a document it starts two PostgreSQL
servers on temporary data, and two services in front of them. From the moment at which an admin user exists, in the
document, in the store or created later, it asks for a log-in.

  --document FILE    run the gateway of this document (JSON) instead; its listeners may have port 0
  --store DIR        keep changes in this directory; the stored configuration takes precedence over the document
  --admin-port PORT  port of the administration interface: 8989 by default, 0 for any that is free
  --admin-host HOST  address of the administration interface: 127.0.0.1 by default
  --help             print this`;

function readArguments() {
  const [text, flag] = [{ type: 'string' }, { type: 'boolean' }] as const;
  const options = { document: text, store: text, 'admin-host': text, 'admin-port': text, help: flag };
  const { values } = parseArgs({ options });
  const { 'admin-host': host = '127.0.0.1', 'admin-port': port = '8989' } = values;
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) throw new RangeError(`"${port}" is not a port.`);
  return { ...values, host, port: Number(port) };
}

/** The databases of a gateway that runs a document of its own. */
const none: Databases = { databases: [], stop: () => Promise.resolve() };

async function start({ document: path, store, ...place }: ReturnType<typeof readArguments>) {
  const given = path === undefined ? undefined : parseDocument(await readFile(path, 'utf8'));
  // Before anything else is opened: the port may be taken.
  let handle: RequestListener = (_request, response) => response.writeHead(503, { 'retry-after': '1' }).end();
  const server = createServer((request, response) => handle(request, response));
  await once(server.listen(place.port, place.host), 'listening');
  const { databases, stop: stopDatabases } = given === undefined ? await startDatabases() : none;
  const snapshot = createSnapshot(await startingDocument(given ?? defaultDocument(databases)));
  const gateway = new Gateway();
  const options = { snapshot, gateway, veto, onError: createTeller(given) };
  const admin = await openInterface(options, store);
  // The databases are new at each start, but a store has the ports of the earlier databases.
  for (const [index, { pid, port }] of databases.entries()) {
    const places = Object.entries({ '/port': port, '/parameters/pid': pid });
    const patch = places.map(([path, value]) => ({ op: 'add' as const, path, value }));
    await admin.execute((state, context) => patchServer(state, `db-${String(index + 1)}`, patch, context));
  }
  await gateway.open(admin);
  handle = createHandler(admin, { onError: console.error });
  const stop = async (): Promise<void> => {
    server.close().closeAllConnections();
    await gateway.close();
    await stopDatabases();
  };
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void stop());
  greet(admin.snapshot, place.host, (server.address() as AddressInfo).port);
}

/**
 * Creates the function that prints errors. The document of the user is told once if the document differs from the store in
 * more than the ports that are chosen at each start. The default document is always different, and is not told.
 */
function createTeller(given: GatewayDocument | undefined): (error: unknown) => void {
  const chosen = freePorts(given ?? {});
  let told = given === undefined;
  return (error) => {
    if (!(error instanceof DifferingDocumentError)) return console.error(error);
    if (told || error.differences.every(({ pointer }) => chosen.has(pointer))) return;
    told = true;
    console.error(error.message);
  };
}

/** Opens the interface, with the store of a directory if given. Once there is an admin user, a log-in is required. */
async function openInterface(given: AdminOptions, directory?: string): Promise<Admin> {
  const options = { ...given, authenticate: createBasicAuthentication({ openUntilFirstUser: true }) };
  if (directory === undefined) return createAdmin(options);
  return openAdmin({ ...options, store: await openFileStore(directory) });
}

/** Prints the addresses, who may administer the gateway, and commands to try. */
function greet({ services, users }: Snapshot, host: string, port: number): void {
  const admin = `http://${host.includes(':') ? `[${host}]` : host}:${String(port)}`;
  const [user] = users;
  // curl asks for the password.
  const curl = user === undefined ? 'curl' : `curl -u ${user.name}`;
  const [places, tries]: [string[], string[]] = [[], []];
  for (const { name, key, state, listeners } of services) {
    for (const each of state === 'started' ? listeners : []) {
      places.push(`listener ${name.replace(/\s/g, '-')} ${each.address}:${String(each.port)}`);
      tries.push(`  psql -h ${each.address} -p ${String(each.port)} -U postgres -d postgres`);
      tries.push(`  ${curl} -X PUT ${admin}/service/${encodeURIComponent(key)}/stop`);
    }
  }
  tries.push(`  ${curl} ${admin}/sessions`, `  ${curl} -X DELETE ${admin}/sessions/1`);
  const warning = user === undefined ? [openWarning(admin)] : [];
  const lines = [...places, `admin ${admin}`, ...warning, '\nTo try in other terminals:', ...tries];
  console.log(lines.join('\n'));
}

/** What to do while there is no admin user. */
function openWarning(admin: string): string {
  const body = `'{"name":"ada","password":"choose one"}'`;
  return `
There is no admin user: anybody who reaches ${admin} may administer this gateway.
Create the first user, and from then on a log-in is required:
  curl -X PUT ${admin}/users -H 'content-type: application/json' -d ${body}`;
}

/** The exit code after an error: 2 for a wrong argument, 1 for any other error. */
let code = 2;
try {
  const options = readArguments();
  code = 1;
  if (options.help === true) console.log(help);
  else await start(options);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(code);
}
