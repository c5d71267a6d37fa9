import { createServer, request as httpRequest, Agent } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import type { Server } from 'node:http';

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createHandler } from 'gateway-admin-core/node';
import { hold } from 'gateway-admin-core/testing';

import { appliedTo, runAdmin, sampleGateway, type Running } from '../support/running-admin.ts';

describe('an interface behind node', () => {
  const gateway = sampleGateway();
  let running: Running;
  let server: Server;
  let port: number;

  beforeEach(async () => {
    running = runAdmin({ gateway });
    server = createServer(createHandler(running.admin));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    ({ port } = server.address() as AddressInfo);
  });

  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  it('accepts a target in absolute form, as proxies send it', async () => {
    const text = await new Promise<string>((resolve, reject) => {
      const socket = connect(port, '127.0.0.1').setEncoding('utf8').once('error', reject);
      let received = '';
      socket.on('data', (part: string) => (received += part)).once('end', () => resolve(received));
      socket.end('GET http://localhost/users HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    });
    expect(text).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('closes a keep-alive connection after reading only a part of the body', async () => {
    const agent = new Agent({ keepAlive: true });
    const connection = await new Promise((resolve, reject) => {
      const headers = { 'content-type': 'application/json-patch+json', 'content-length': 10_000_000 };
      const path = '/services/My-Service';
      const request = httpRequest({ port, host: '127.0.0.1', method: 'PATCH', path, headers, agent });
      request.once('error', reject);
      request.once('response', (response) => {
        request.on('error', () => undefined);
        resolve(response.headers.connection);
      });
      request.write(Buffer.alloc(2_000_000, ' '));
    });
    expect(connection).toBe('close');
    agent.destroy();
  });

  it('cancels a waiting command when its client disconnects', async () => {
    const held = hold();
    gateway.will(held.apply);
    const send = (method: string, path: string): ReturnType<typeof httpRequest> =>
      httpRequest({ port, host: '127.0.0.1', method, path, agent: false }).once('error', () => undefined);
    const first = send('PUT', '/service/My-Service/stop').end();
    await held.begun;
    const second = send('PUT', '/service/My-Service/start');
    const arrived = new Promise<void>((resolve) => server.once('request', () => resolve()));
    second.end();
    await arrived;
    const gone = new Promise((resolve) => server.once('connection', resolve));
    second.destroy();
    // A request after it: by then the server has seen that the client is gone.
    const third = send('GET', '/services').end();
    await gone;
    await new Promise((resolve) => third.once('response', resolve));
    const answered = new Promise((resolve) => first.once('response', resolve));
    held.done();
    await answered;
    await running.admin.close();
    expect(appliedTo(gateway)).toEqual(['service.stop /services/My-Service']);
  });
});
