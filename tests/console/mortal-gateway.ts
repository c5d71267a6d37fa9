/**
 * A gateway with a console whose process can end and begin again on the same port.
 */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterAll } from '@jest/globals';
import { type Admin, createAdmin, createSnapshot, type GatewayDocument } from 'gateway-admin-core';
import { createConsole } from 'gateway-admin-core/console';
import { createNodeHandler } from 'gateway-admin-core/node';
import { createScriptedGateway } from 'gateway-admin-core/testing';

import { shownDocument } from './served-console.ts';

const started: Mortal[] = [];
afterAll(async () => {
  for (const gateway of started) await gateway.end();
});

/** Starts a gateway that lives until the tests of the file are over, or until it is ended. */
export async function startMortal(document?: GatewayDocument): Promise<Mortal> {
  const gateway = new Mortal(document);
  await gateway.begin();
  started.push(gateway);
  return gateway;
}

/** A gateway whose process can end and begin again on the same port. */
class Mortal {
  #server: Server | undefined;
  #admin: Admin | undefined;
  #port = 0;
  readonly #document: GatewayDocument;

  constructor(document = shownDocument) {
    this.#document = document;
  }

  /** The address of the console. */
  get address(): string {
    return `http://127.0.0.1:${String(this.#port)}/console`;
  }

  /** Says that something has happened in the gateway. */
  report(report: Parameters<Admin['report']>[0]): void {
    this.#admin?.report(report);
  }

  async begin(): Promise<void> {
    const snapshot = createSnapshot(this.#document);
    const admin = createAdmin({ snapshot, gateway: createScriptedGateway({ snapshot }), name: 'gw-1' });
    const showConsole = createNodeHandler(createConsole(), { basePath: '/console' });
    const handle = createNodeHandler(admin);
    const server = createServer((request, response) =>
      showConsole(request, response, () => handle(request, response)),
    ).listen(this.#port, '127.0.0.1');
    await once(server, 'listening');
    this.#port = (server.address() as AddressInfo).port;
    [this.#server, this.#admin] = [server, admin];
  }

  async end(): Promise<void> {
    await this.#admin?.close();
    this.#server?.closeAllConnections();
    await new Promise((resolve) => this.#server?.close(resolve));
  }
}
