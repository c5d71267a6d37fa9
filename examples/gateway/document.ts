/** Gateway documents: the default document, and documents from a file. */
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';

import { createSnapshot, InvalidDocumentError, nameKey } from 'gateway-admin-core';
import { formatPointer } from 'gateway-admin-core/json';
import type { Fault, GatewayDocument, Listener, Snapshot } from 'gateway-admin-core';

import type { Database } from './database.ts';
import { protocol } from './protocol.ts';
import { matchParameter, statementLog } from './statement-log.ts';

const router = 'readconnroute';
const monitorModule = 'tcpmon';

/**
 * Two services on two databases, one with a filter. The databases are independent: a table in one is not in the other.
 */
export function defaultDocument(databases: readonly Database[]): GatewayDocument {
  const place = { protocol, address: '127.0.0.1' };
  const servers = databases.map((database, index) => ({
    ...database,
    ...place,
    parameters: { weight: index + 1 },
  }));
  const links = servers.map(({ name }) => `/servers/${name}`);
  const listeners = [{ name: 'Clients', ...place, port: 0 }];
  return {
    gateway: { version: '0.1.0', threads: 1 },
    servers,
    services: [
      {
        name: 'Read Write',
        router,
        servers: links.slice(0, 1),
        filters: ['/filters/Statement-Log'],
        listeners,
      },
      { name: 'Reports', router, servers: links, weightby: 'weight', listeners },
    ],
    filters: [
      { name: 'Statement Log', module: statementLog, parameters: { [matchParameter]: { value: 'drop' } } },
    ],
    monitors: [{ name: 'Main Monitor', module: monitorModule, servers: links, monitor_interval: 1000 }],
  };
}

/** The parts of a document that this gateway does not support, by pointer. */
const refusals = [
  {
    at: /^\/filters\/\d+\/module$/,
    except: statementLog,
    detail: `this gateway has one filter module, "${statementLog}"`,
  },
  {
    at: new RegExp(`^/filters/\\d+/parameters/(?!${matchParameter}$)[^/]+$`),
    detail: `the filters of this gateway have one parameter, "${matchParameter}": {"value": TEXT}`,
  },
  {
    at: /^\/monitors\/\d+\/module$/,
    except: monitorModule,
    detail: `this gateway has one monitor module, "${monitorModule}"`,
  },
  { at: /^\/services\/\d+\/router$/, except: router, detail: `this gateway has one router, "${router}"` },
  {
    at: /^\/services\/\d+\/(password|root_user|strip_db_esc|router_options\/[^/]+)$/,
    detail: 'this gateway does not have the setting',
  },
  {
    at: /^\/(?:servers\/\d+|services\/\d+\/listeners\/\d+)\/protocol$/,
    except: protocol,
    detail: `this gateway has one protocol, "${protocol}"`,
  },
  {
    at: /^\/(?:servers|filters)\/\d+\/parameters\/[^/]+(?:\/value)?\/sealed$/,
    detail: 'this gateway has no secret parameters',
  },
  { at: /^\/monitors\/\d+\/parameters\/[^/]+$/, detail: 'the monitor of this gateway has no parameters' },
  {
    at: /^\/services\/\d+\/listeners\/\d+\/parameters\/[^/]+$/,
    detail: 'the listeners of this gateway have no parameters',
  },
  { at: /^\/services\/\d+\/listeners\/\d+\/ssl\w*$/, detail: 'this gateway has no encryption' },
];

/** Reads a document; throws an error that lists every fault. Port 0 of a listener stands for any free port. */
export function parseDocument(text: string): GatewayDocument {
  const document = parseJson(text) as GatewayDocument;
  const free = freePorts(document);
  const faults = faultsOf(document).filter(({ pointer }) => !free.has(pointer));
  const all = [...faults, ...unsupportedIn(document)];
  if (all.length > 0) throw new InvalidDocumentError(all);
  return document;
}

/** The faults of a document that this gateway does not support. */
export function unsupportedIn(document: unknown): readonly Fault[] {
  const values = [...valuesIn(document)];
  return refusals.flatMap(({ at, except, detail }) =>
    values
      .filter(([pointer, value]) => at.test(pointer) && value !== except)
      .map(([pointer]): Fault => ({ pointer, code: 'validation-failed', detail })),
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const detail = `is not JSON: ${(error as Error).message}`;
    throw new InvalidDocumentError([{ pointer: '', code: 'body-not-json', detail }]);
  }
}

/** Every value in a document, with its pointer. */
function* valuesIn(value: unknown, pointer = ''): Generator<[string, unknown]> {
  yield [pointer, value];
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) yield* valuesIn(inner, pointer + formatPointer([key]));
}

/** The pointers of the ports that are chosen at each start. */
export function freePorts(document: GatewayDocument): ReadonlySet<string> {
  const all = [...valuesIn(document)].filter(
    ([pointer, value]) => value === 0 && /\/listeners\/\d+\/port$/.test(pointer),
  );
  return new Set(all.map(([pointer]) => pointer));
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

/**
 * The document at the start: every listener has a port, started services start now, and there are no sessions.
 *
 * @param gateways - how many gateways of this machine open the listeners, each at a port of its own
 */
export async function startingDocument(document: GatewayDocument, gateways = 1): Promise<GatewayDocument> {
  const now = { started: new Date().toISOString() };
  const held: Server[] = [];
  const services: NonNullable<GatewayDocument['services']>[number][] = [];
  for (const service of document.services ?? []) {
    const listeners: Listener[] = [];
    for (const each of service.listeners ?? []) listeners.push(await withPort(each, gateways, held));
    const begun = (service.state ?? 'started') === 'started' ? now : {};
    services.push({ ...service, ...begun, listeners });
  }
  for (const server of held) server.close(); // Only now: a port that is closed earlier could be chosen twice.
  return { ...document, gateway: { ...document.gateway, ...now }, services, sessions: [] };
}

/** The document with the ports of the running listeners where the document leaves the choice. */
export function withPortsOf(document: GatewayDocument, snapshot: Snapshot): GatewayDocument {
  const portOf = (service: string, listener: Listener): Listener => {
    const present = snapshot.services
      .find(service)
      ?.listeners.find(({ name }) => nameKey(name) === nameKey(listener.name));
    return listener.port === 0 && present?.port !== undefined
      ? { ...listener, port: present.port }
      : listener;
  };
  const services = (document.services ?? []).map((service) => ({
    ...service,
    listeners: (service.listeners ?? []).map((listener) => portOf(service.name, listener)),
  }));
  return { ...document, services };
}

/** How often ports in a row are looked for. */
const mostTries = 20;

async function withPort(listener: Listener, gateways: number, held: Server[]): Promise<Listener> {
  if (listener.port !== 0) return listener;
  for (let tries = 1; ; tries += 1) {
    const first = await hold(listener, 0, held);
    // If this address has no free port, the listener cannot open either, and its error says why.
    const port = first ?? 1;
    const others = Array.from({ length: gateways - 1 }, (_, at) => hold(listener, port + 1 + at, held));
    const isFree = !(await Promise.all(others)).includes(undefined);
    if (isFree || first === undefined || tries === mostTries) return { ...listener, port };
  }
}

/** Holds a port, or any free one for 0. Gives the port; `undefined` if it is not free. */
async function hold({ address }: Listener, port: number, held: Server[]): Promise<number | undefined> {
  const server = createServer().listen(port, address);
  held.push(server);
  await once(server, 'listening').catch(() => undefined);
  return (server.address() as AddressInfo | null)?.port;
}
