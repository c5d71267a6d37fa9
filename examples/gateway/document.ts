/** Gateway documents: the one that the gateway has of its own, and those it is given. */
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';

import { createSnapshot, formatPointer, InvalidDocumentError } from 'gateway-admin-core';
import type { Fault, GatewayDocument, Listener } from 'gateway-admin-core';

import type { Database } from './database.ts';

const router = 'readconnroute';

/** Two services on two databases. These are no copies: a table that is in one of them is not in the other. */
export function defaultDocument(databases: readonly Database[]): GatewayDocument {
  const place = { protocol: 'postgresql', address: '127.0.0.1' };
  const servers = databases.map(({ pid, port }, index) => ({
    name: `db-${String(index + 1)}`,
    ...place,
    port,
    parameters: { pid, weight: index + 1 },
  }));
  const links = servers.map(({ name }) => `/servers/${name}`);
  const listeners = [{ name: 'Clients', ...place, port: 0 }];
  return {
    gateway: { version: '0.1.0', threads: 1 },
    servers,
    services: [
      { name: 'Read Write', router, servers: links.slice(0, 1), listeners },
      { name: 'Reports', router, servers: links, weightby: 'weight', listeners },
    ],
    monitors: [{ name: 'Main Monitor', module: 'tcpmon', servers: links, monitor_interval: 1000 }],
  };
}

/** Reads a document; throws with every fault that it has. Its sessions are not ours, and are dropped. */
export function parseDocument(text: string): GatewayDocument {
  const document = parseJson(text) as GatewayDocument;
  const { refused, allowed } = differences(document);
  const faults = [...faultsOf(document).filter(({ pointer }) => !allowed.has(pointer)), ...refused];
  if (faults.length > 0) throw new InvalidDocumentError(faults);
  const { sessions, ...rest } = document;
  return rest;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const detail = `is not JSON: ${(error as Error).message}`;
    throw new InvalidDocumentError([{ pointer: '', code: 'body-not-json', detail }]);
  }
}

function faultsOf(document: GatewayDocument): readonly Fault[] {
  try {
    createSnapshot(document);
    return [];
  } catch (error) {
    if (error instanceof InvalidDocumentError) return error.faults;
    throw error;
  }
}

/** Where this gateway differs from the library: what it cannot do, and that port 0 stands for any that is free. */
function differences(document: unknown) {
  const { filters, services } = (document ?? {}) as Record<string, unknown>;
  const refused: Fault[] = [];
  const allowed = new Set<string>();
  const refuse = (detail: string, ...path: (string | number)[]): void => {
    refused.push({ pointer: formatPointer(path), code: 'validation-failed', detail });
  };
  for (const index of listOf(filters).keys()) refuse('this gateway has no filters', 'filters', index);
  for (const [index, service] of listOf(services).entries()) {
    if (typeof service?.['router'] === 'string' && service['router'] !== router)
      refuse(`this gateway has one router, "${router}"`, 'services', index, 'router');
    for (const [position, listener] of listOf(service?.['listeners']).entries()) {
      const path = ['services', index, 'listeners', position];
      if (listener?.['port'] === 0) allowed.add(formatPointer([...path, 'port']));
      for (const field of Object.keys(listener ?? {}).filter((name) => name.startsWith('ssl')))
        refuse('this gateway has no encryption', ...path, field);
    }
  }
  return { refused, allowed };
}

/** Nothing has been checked yet: anything may be in the place of a list. */
function listOf(value: unknown): readonly (Record<string, unknown> | null | undefined)[] {
  return Array.isArray(value) ? (value as Record<string, unknown>[]) : [];
}

/** The document at the start of the gateway: every listener has its port, and what is started was started now. */
export async function startingDocument(document: GatewayDocument): Promise<GatewayDocument> {
  const now = { started: new Date().toISOString() };
  const held: Server[] = [];
  const services = (document.services ?? []).map(async (service) => ({
    ...service,
    ...((service.state ?? 'started') === 'started' ? now : {}),
    listeners: await Promise.all((service.listeners ?? []).map((each) => withPort(each, held))),
  }));
  const all = await Promise.all(services);
  for (const server of held) server.close(); // Not earlier: a port could be found twice.
  return { ...document, gateway: { ...document.gateway, ...now }, services: all };
}

async function withPort(listener: Listener, held: Server[]): Promise<Listener> {
  if (listener.port !== 0) return listener;
  const server = createServer().listen(0, listener.address);
  held.push(server);
  await once(server, 'listening').catch(() => undefined);
  // At an address where there is none the listener will not open either, and will say why.
  return { ...listener, port: (server.address() as AddressInfo | null)?.port ?? 1 };
}
