/**
 * One gateway of the fleet: a process of its own, which `fleet.ts` starts. The process ends when the process that has
 * started it is gone.
 */
import { once } from 'node:events';

import {
  createBasicAuthentication,
  createSnapshot,
  DifferingDocumentError,
  type GatewayDocument,
} from 'gateway-admin-core';
import { openFleet } from 'gateway-admin-core/fleet';
import { openPostgresStore } from 'gateway-admin-core/postgres-store';

import { openAdminServer, type Place } from './admin-server.ts';
import { closeAll, type Closers } from './closing.ts';
import { placesOf, showEvents } from './console.ts';
import { Gateway } from './gateway.ts';
import { createListener } from './metrics.ts';
import { veto } from './setting.ts';

/** The settings that the parent process gives to a node. */
export interface Assignment {
  /** The name of the node. */
  readonly node: string;
  /** The number of the node: its gateway opens listeners at places of its own. */
  readonly number: number;
  readonly document: GatewayDocument;
  /** Where the administration interface of the node is. */
  readonly admin: Place;
  /** The port of the PostgreSQL server that has the configuration. */
  readonly storePort: number;
  readonly allowedHosts: readonly string[];
  readonly environment?: string | undefined;
  readonly quiet: boolean;
}

/** What the node answers. */
export type NodeAnswer = Ready | { readonly reason: string };

/** The node is ready. */
export interface Ready {
  readonly reason?: undefined;
  /** The URL of the administration interface, and its port. */
  readonly origin: string;
  readonly port: number;
  /** A line for each listener. */
  readonly places: readonly string[];
}

const ending = new AbortController();
for (const end of ['disconnect', 'SIGTERM', 'SIGINT', 'SIGHUP']) process.on(end, () => ending.abort());
if (!process.connected) ending.abort();
try {
  const [assignment] = (await once(process, 'message', { signal: ending.signal })) as [Assignment];
  await run(assignment, ending.signal);
} catch (error) {
  if (!ending.signal.aborted) {
    tell({ reason: error instanceof Error ? error.message : String(error) });
    process.exitCode = 1;
  }
} finally {
  if (process.connected) process.disconnect();
}

/** Runs the node until the signal aborts. */
async function run(assignment: Assignment, signal: AbortSignal): Promise<void> {
  const { node, number, document, storePort, allowedHosts, environment, quiet } = assignment;
  const closers: Closers = [];
  try {
    const server = await openAdminServer(assignment.admin, closers);
    const gateway = new Gateway(number);
    const hosts = [{ host: '127.0.0.1', port: storePort }];
    const admin = await openFleet({
      node,
      ...(environment === undefined ? {} : { environment }),
      store: await openPostgresStore({ hosts, database: 'postgres', user: 'postgres' }),
      snapshot: createSnapshot(document),
      gateway: gateway.port,
      veto,
      foresee: gateway.foresee,
      access: { allowedHosts, authenticate: createBasicAuthentication({ openUntilFirstUser: true }) },
      observe: {
        onError: (error) =>
          console.error(`${node}:`, error instanceof DifferingDocumentError ? error.message : error),
      },
    });
    closers.push(() => admin.close());
    closers.push(() => gateway.close());
    await gateway.open(admin);
    signal.throwIfAborted();
    server.serve(createListener(admin));
    const { origin, port } = server;
    tell({ origin, port, places: [...admin.snapshot.services].flatMap((each) => placesOf(each, number)) });
    if (!quiet) void showEvents(admin, { node, number });
    await once(signal, 'abort');
  } finally {
    await closeAll(closers);
  }
}

function tell(answer: NodeAnswer): void {
  if (process.connected) process.send?.(answer);
}
