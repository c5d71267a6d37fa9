/**
 * A console with its interface on a free port of this machine, as a host mounts both.
 */
import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';

import {
  createAdmin,
  createSnapshot,
  type Admin,
  type AdminOptions,
  type GatewayDocument,
} from 'gateway-admin-core';
import { createConsole, type ConsoleOptions } from 'gateway-admin-core/console';
import { createNodeHandler, type NodeOptions } from 'gateway-admin-core/node';
import { createScriptedGateway, type ScriptedGateway } from 'gateway-admin-core/testing';

import { quickHasher } from '../support/log-in.ts';

/** A gateway with everything that the page shows, and with something wrong. */
export const shownDocument: GatewayDocument = {
  format: 2,
  servers: [
    { name: 'db-1', address: '10.0.0.1', port: 5432, protocol: 'pgbackend', status: ['master', 'running'] },
    { name: 'db-2', address: '10.0.0.2', port: 5432, protocol: 'pgbackend', status: ['slave', 'running'] },
    { name: 'db-3', address: '/run/db/.s.5434', protocol: 'pgbackend', status: [] },
  ],
  services: [
    {
      name: 'Sales',
      router: 'readconnroute',
      state: 'started',
      servers: ['/servers/db-1', '/servers/db-2'],
      filters: ['/filters/Query-Log'],
      max_connection: 100,
      listeners: [{ name: 'Sales Listener', protocol: 'pgclient', address: '0.0.0.0', port: 4006 }],
    },
    { name: 'Reports', router: 'readwritesplit', state: 'started', servers: ['/servers/db-2'] },
    { name: 'Old Sales', router: 'cli', state: 'stopped' },
    {
      name: 'Broken',
      router: 'readwritesplit',
      state: 'failed',
      state_reason: 'port 4009 is in use',
      state_since: '2016-08-29T11:00:00Z',
      servers: ['/servers/db-3'],
    },
  ],
  monitors: [{ name: 'Main Monitor', module: 'pgmon', state: 'started', servers: ['/servers/db-1'] }],
  filters: [{ name: 'Query Log', module: 'qlafilter' }],
  sessions: Array.from({ length: 40 }, (_each, id) => ({
    id,
    state: 'Session ready for routing',
    user: id % 2 === 0 ? 'alice' : 'bob',
    address: `192.168.121.${String(id)}`,
    service: id % 4 === 0 ? '/services/Reports' : '/services/Sales',
    connected: '2026-09-09T14:12:37+03:00',
    idle: id,
    connections: [{ id: 0, state: 'In use', role: 'Slave', server: '/servers/db-2' }],
  })),
};

/** The password of the user. */
export const password = 'correct horse 7';

/** The document with a user. */
export async function documentWithUser(): Promise<GatewayDocument> {
  return {
    ...shownDocument,
    users: [{ name: 'ada', password: { sealed: await quickHasher.hash(password) } }],
  };
}

/** Where a host has the two, and how it serves them. */
export interface Hosting {
  readonly document?: GatewayDocument;
  /** Opens the interface, in place of one in memory. */
  readonly open?: (options: AdminOptions) => Promise<Admin>;
  /** Options of the interface. */
  readonly admin?: Partial<AdminOptions>;
  readonly console?: ConsoleOptions;
  /** Path of the console. Default: `/console`. */
  readonly consolePath?: `/${string}`;
  /** Path of the interface. Default: `/`. */
  readonly adminPath?: `/${string}`;
  readonly principalOf?: NodeOptions['principalOf'];
  /** Software of the host in front of both: answers a request itself, or lets it go on. */
  readonly inFront?: (request: IncomingMessage, response: ServerResponse) => 'answered' | 'goes on';
  /** Answers what belongs to neither. */
  readonly otherwise?: RequestListener;
}

/** A console that is served. */
export interface Served {
  readonly port: number;
  /** The address of the host, without a path. */
  readonly origin: string;
  readonly admin: Admin;
  readonly gateway: ScriptedGateway;
  /** The requests that have arrived, in their order. */
  readonly requests: readonly IncomingMessage[];
  close(this: void): Promise<void>;
}

/** Serves a console and its interface on one origin. */
export async function hostConsole(hosting: Hosting = {}): Promise<Served> {
  const { document = shownDocument, consolePath = '/console', adminPath = '/', principalOf } = hosting;
  const snapshot = createSnapshot(document);
  const gateway = createScriptedGateway({ snapshot });
  const options = { snapshot, gateway, hasher: quickHasher, name: 'gw-1', ...hosting.admin };
  const admin = (await hosting.open?.(options)) ?? createAdmin(options);
  const onError = (error: unknown): never => {
    throw error;
  };
  const showConsole = createNodeHandler(createConsole(hosting.console), { basePath: consolePath, onError });
  const handle = createNodeHandler(admin, {
    basePath: adminPath,
    onError,
    ...(principalOf === undefined ? {} : { principalOf }),
  });
  const requests: IncomingMessage[] = [];
  const otherwise = hosting.otherwise ?? notFound;
  const server = createServer((request, response) => {
    requests.push(request);
    if (hosting.inFront?.(request, response) === 'answered') return;
    showConsole(request, response, () => handle(request, response, () => otherwise(request, response)));
  });
  const port = await listenOn(server);
  const close = async (): Promise<void> => {
    await new Promise((resolve) => server.close(resolve).closeAllConnections());
    await admin.close();
  };
  return { port, origin: `http://127.0.0.1:${String(port)}`, admin, gateway, requests, close };
}

const notFound: RequestListener = (_request, response) => {
  response.writeHead(404).end();
};

/** Opens a free port of this machine. */
export async function listenOn(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}
