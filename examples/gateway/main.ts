/** The example gateway: reads the arguments, starts everything, prints the addresses, and stops at a signal. */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';

import { createAdmin, createBasicAuthentication } from 'gateway-admin-core';
import { createSnapshot, DifferingDocumentError } from 'gateway-admin-core';
import { openAdmin, patchServer } from 'gateway-admin-core';
import type { Admin, AdminOptions, GatewayDocument } from 'gateway-admin-core';
import { openFileStore } from 'gateway-admin-core/file-store';
import { openAdminServer } from './admin-server.ts';
import { closeAll, type Closers } from './closing.ts';
import { greet, showEvents, step } from './console.ts';
import { placesFor, startDatabases } from './database.ts';
import { defaultDocument, freePorts, parseDocument, startingDocument } from './document.ts';
import { largestFleet, runFleet } from './fleet.ts';
import { Gateway } from './gateway.ts';
import { createListener } from './metrics.ts';
import { reload, type Reloading } from './reload.ts';
import { veto } from './setting.ts';

const help = `Usage: npm start -- [options]

Runs a small database gateway with its administration interface. Without a document it starts two PostgreSQL
servers on temporary data, and two services in front of them. From the moment at which an admin user exists, in the
document, in the store or created later, it asks for a log-in.

  --document FILE    run the gateway of this document (JSON) instead; its listeners may have port 0
                     Send SIGHUP to read the document again and to see what differs
  --adopt            make the changes of a document that is read again, and do not only show them
  --store DIR        keep changes in this directory; the stored configuration takes precedence over the document
  --fleet N          run 1 to 9 gateways that share one configuration, each in a process of its own
  --admin-port PORT  port of the administration interface: 8989 by default, 0 for any that is free; the gateways of
                     a fleet take this port and the next ones
  --admin-host HOST  address of the administration interface: 127.0.0.1 by default
  --allow-host NAME  answer under this name while nobody has to log in, such as the name of a container; can be given
                     several times. IP addresses and localhost are always allowed
  --name NAME        name of the gateway, which questions of the command line show: example by default; a gateway of a
                     fleet has the name of its node
  --environment ENV  environment of the gateway; in "production", a person types a name before each change
  --quiet            print the addresses and what goes wrong: no steps, no hints and no events
  --help             print this`;

function readArguments() {
  const [text, flag] = [{ type: 'string' }, { type: 'boolean' }] as const;
  const { values } = parseArgs({
    options: {
      ...{ document: text, store: text, fleet: text, 'admin-host': text, 'admin-port': text },
      ...{ name: text, environment: text },
      ...{ 'allow-host': { ...text, multiple: true }, quiet: flag, adopt: flag, help: flag },
    },
  });
  const { 'admin-host': host = '127.0.0.1', 'admin-port': port = '8989', fleet, quiet = false } = values;
  const { 'allow-host': allowedHosts = [] } = values;
  const gateways = fleet === undefined ? 1 : Number(fleet);
  if (fleet !== undefined && !/^[1-9]$/.test(fleet))
    throw new RangeError(`--fleet must be a number from 1 to ${String(largestFleet)}, and not "${fleet}".`);
  const lastPort = 65_536 - gateways;
  if (!/^\d{1,5}$/.test(port) || Number(port) > lastPort)
    throw new RangeError(`--admin-port must be a number from 0 to ${String(lastPort)}, and not "${port}".`);
  if (fleet !== undefined && (values.document ?? values.store) !== undefined)
    throw new Error('--fleet has a document and a store of its own. Leave out --document and --store.');
  if (values.adopt === true && values.document === undefined)
    throw new Error('--adopt is about a document. Give the document with --document FILE.');
  const { name = 'example', environment } = values;
  const identity = { name, ...(environment === undefined ? {} : { environment }) };
  return { ...values, quiet, host, port: Number(port), allowedHosts, gateways, identity };
}

type Arguments = ReturnType<typeof readArguments>;

/** Runs the gateway until the signal aborts. What was opened is closed again, the last thing first. */
async function run(
  { document: path, adopt = false, store, quiet, allowedHosts, identity, ...place }: Arguments,
  signal: AbortSignal,
) {
  const closers: Closers = [];
  try {
    const given = path === undefined ? undefined : parseDocument(await readFile(resolve(path), 'utf8'));
    // Before anything else is opened: the port may be taken.
    const server = await openAdminServer(place, closers);
    const document = given ?? defaultDocument(await placesFor(['db-1', 'db-2']));
    const snapshot = createSnapshot(await startingDocument(document));
    const gateway = new Gateway();
    const observe = { onError: createTeller(given) };
    const admin = await openInterface(
      {
        snapshot,
        gateway: gateway.port,
        veto,
        foresee: gateway.foresee,
        ...identity,
        access: { allowedHosts },
        observe,
      },
      store,
    );
    closers.push(() => admin.close());
    if (given === undefined) await runDatabases(admin, quiet, signal, closers);
    closers.push(() => gateway.close());
    await gateway.open(admin);
    signal.throwIfAborted();
    server.serve(createListener(admin));
    greet(admin.snapshot, server.origin, quiet);
    if (!quiet) void showEvents(admin);
    if (path !== undefined) reloadAtHangUp(admin, resolve(path), adopt ? 'adopt' : 'show', closers);
    await once(signal, 'abort');
  } finally {
    if (signal.aborted && !quiet) console.log('Stopping');
    await closeAll(closers);
  }
}

/** Reads the document again at each SIGHUP, as daemons do. */
function reloadAtHangUp(admin: Admin, path: string, reloading: Reloading, closers: Closers) {
  const again = () =>
    void reload(admin, path, reloading).catch((error: unknown) => console.error((error as Error).message));
  process.on('SIGHUP', again);
  closers.push(() => process.off('SIGHUP', again));
}

/** Runs a database for each server, on the port of the server: a store has the ports of an earlier start. */
async function runDatabases(admin: Admin, quiet: boolean, signal: AbortSignal, closers: Closers) {
  const wanted = [...admin.snapshot.servers].map(({ name, settings: { port = 0 } }) => ({ name, port }));
  const start = () => startDatabases(wanted, signal, closers);
  for (const { name, port } of await step('Starting two PostgreSQL servers', quiet, start)) {
    const patch = [{ op: 'replace' as const, path: '/port', value: port }];
    // Changes nothing, unless another program has the port by now.
    await admin.execute((state, context) => patchServer(state, name, patch, context));
  }
}

/**
 * Creates the function that prints errors. That a document differs from the store is printed once, if it differs in more
 * than the ports that are chosen at each start. The default document always differs, and nothing is printed.
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
  const authenticate = createBasicAuthentication({ openUntilFirstUser: true });
  const options = { ...given, access: { ...given.access, authenticate } };
  if (directory === undefined) return createAdmin(options);
  return openAdmin({ ...options, store: await openFileStore(directory) });
}

const ending = new AbortController();
// More than one signal can come: npm passes on the Ctrl-C that the terminal has sent already.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => ending.abort());
let options: Arguments | undefined;
// The signal also comes when the terminal closes. Without a document, there is nothing to read again.
process.on('SIGHUP', () => options?.document === undefined && ending.abort());
try {
  options = readArguments();
  if (options.help === true) console.log(help);
  else if (options.fleet === undefined) await run(options, ending.signal);
  else await runFleet(options, ending.signal);
} catch (error) {
  // What the signal has interrupted fails, too.
  if (!ending.signal.aborted) {
    // Node adds a second sentence, about arguments that begin with a hyphen.
    const [sentence = ''] = (error instanceof Error ? error.message : String(error)).split(/(?<=')\. /);
    const hint = options === undefined ? '\nTo see all options: npm start -- --help' : '';
    console.error(sentence + hint);
    process.exitCode = options === undefined ? 2 : 1;
  }
}
