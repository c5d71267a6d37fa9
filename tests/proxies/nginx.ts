/**
 * The interface behind a real nginx, which compresses, buffers, keeps connections and times out. Not a part
 * of `npm test`: `npm run test:proxies` runs the file where there is an nginx.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createAdmin, type Admin } from 'gateway-admin-core';
import { createClient, sendWithFetch } from 'gateway-admin-core/client';
import { createNodeHandler } from 'gateway-admin-core/node';

import { sampleSnapshot } from '../support/document.ts';
import { openedSessions } from '../support/opened-session.ts';
import { sampleGateway } from '../support/running-admin.ts';
import { temporaryDirectories } from '../support/temporary-directory.ts';

let admin: Admin;
let server: Server;
let origin: string;
let connections = 0;
const closing: (() => unknown)[] = [];

// First: the folder of nginx is removed after that.
afterAll(async () => {
  for (const close of closing) await close();
  await admin.close();
  server.closeAllConnections();
  await once(server.close(), 'close');
});

const newDirectory = temporaryDirectories();

/** The time after which nginx ends an answer on which nothing arrives, in milliseconds. */
const readTimeoutMs = 1000;

/** The configuration. Every path below /gateway is a path of the interface, and nginx compresses what it can. */
function configuration(folder: string, port: number, adminPort: number): string {
  const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return `
    daemon off;
    master_process off;
    pid ${folder}/nginx.pid;
    error_log stderr error;
    events {}
    http {
      access_log off;
      ${folders.map((each) => `${each}_temp_path ${folder}/${each};`).join(' ')}
      gzip on;
      gzip_types *;
      gzip_proxied any;
      gzip_min_length 1;
      upstream admin { server 127.0.0.1:${String(adminPort)}; keepalive 1; }
      server {
        listen 127.0.0.1:${String(port)};
        proxy_http_version 1.1;
        proxy_set_header Connection "";
        proxy_set_header Host $http_host;
        proxy_read_timeout ${String(readTimeoutMs)}ms;
        location /gateway/ { proxy_pass http://admin; }
        location /unbuffered/ { proxy_pass http://admin/gateway/; proxy_request_buffering off; }
      }
    }`;
}

async function freePort(): Promise<number> {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  await once(other.close(), 'close');
  return port;
}

async function startNginx(adminPort: number): Promise<string> {
  const [folder, port] = [await newDirectory(), await freePort()];
  const file = join(folder, 'nginx.conf');
  writeFileSync(file, configuration(folder, port, adminPort));
  const nginx = spawn('nginx', ['-p', folder, '-c', file], { stdio: ['ignore', 'ignore', 'inherit'] });
  closing.push(async () => {
    nginx.kill('SIGTERM');
    if (nginx.exitCode === null && nginx.signalCode === null) await once(nginx, 'exit');
  });
  for (;;) {
    if (nginx.exitCode !== null) throw new Error('nginx has ended. Its lines above say why.');
    const socket = connect(port, '127.0.0.1');
    const isThere = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isThere) return `http://127.0.0.1:${String(port)}`;
    await sleep(20);
  }
}

beforeAll(async () => {
  const limits = { heartbeatMs: readTimeoutMs / 4 };
  admin = createAdmin({ snapshot: sampleSnapshot(), gateway: sampleGateway(), limits });
  server = createServer(createNodeHandler(admin, { basePath: '/gateway' }));
  server.on('connection', () => (connections += 1));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  origin = await startNginx((server.address() as AddressInfo).port);
});

const patch = (value: number, headers: Readonly<Record<string, string>> = {}): RequestInit => ({
  method: 'PATCH',
  headers: { 'content-type': 'application/json-patch+json', ...headers },
  body: JSON.stringify([{ op: 'add', path: '/max_connection', value }]),
});

describe('the interface behind nginx', () => {
  it('takes the entity tags that nginx has made weak, and sees a change in between', async () => {
    const target = `${origin}/gateway/services/My-Service`;
    const read = await fetch(target);
    const tag = read.headers.get('etag') ?? '';
    expect([read.headers.get('content-encoding'), tag]).toEqual(['gzip', expect.stringMatching(/^W\/"/)]);
    expect((await fetch(target, { headers: { 'if-none-match': tag } })).status).toBe(304);
    expect((await fetch(target, patch(7, { 'if-match': tag }))).status).toBe(200);
    expect((await fetch(target, patch(8, { 'if-match': tag }))).status).toBe(412);
  });

  it('serves the client under the prefix', async () => {
    const client = createClient(sendWithFetch(`${origin}/gateway`));
    const read = await client.services.get('My-Service', { fields: ['name'] });
    expect(read).toMatchObject({ ok: true, value: { name: 'My Service' } });
    expect(await client.services.stop('My-Service')).toMatchObject({ ok: true });
    expect(await client.services.start('My-Service')).toMatchObject({ ok: true });
  });

  it('serves names with a slash', async () => {
    const answer = await fetch(`${origin}/gateway/servers/a%2Fb`);
    expect(await answer.json()).toMatchObject({ code: 'server-not-found' });
  });

  it('sends a long list whole, and in parts by the link of the answer', async () => {
    admin.report(openedSessions(20_000));
    const list = (await (await fetch(`${origin}/gateway/sessions`)).json()) as readonly unknown[];
    expect(list).toHaveLength(20_003);
    const part = await fetch(`${origin}/gateway/sessions?range=0-1`);
    const [, next = ''] = /<([^>]*)>; rel="next"/.exec(part.headers.get('link') ?? '') ?? [];
    const following = await fetch(new URL(next, part.url));
    expect(await following.json()).toEqual(list.slice(2, 4));
  });

  it('sends events at once, and goes on after a long silence', async () => {
    const leave = new AbortController();
    const events = await fetch(`${origin}/gateway/events?types=service`, { signal: leave.signal });
    const reader = events.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    const until = async (part: string): Promise<void> => {
      while (!text.includes(part)) {
        const { done, value } = (await reader?.read()) ?? { done: true };
        if (done) throw new Error(`The stream has ended before ${part}`);
        text += value;
      }
    };
    await until('retry: ');
    const command = (verb: string): Promise<Response> =>
      fetch(`${origin}/gateway/service/My-Service/${verb}`, { method: 'PUT' });
    expect((await command('stop')).status).toBe(204);
    await until('event: service.stopped');
    await sleep(2.5 * readTimeoutMs);
    expect((await command('start')).status).toBe(204);
    await until('event: service.started');
    leave.abort();
  });

  it('keeps the connection of nginx', async () => {
    const read = async (): Promise<number> => (await fetch(`${origin}/gateway/services`)).status;
    expect(await read()).toBe(200);
    const before = connections;
    for (let count = 0; count < 20; count += 1) expect(await read()).toBe(200);
    expect(connections).toBe(before);
  });

  it('passes every early answer on, and goes on after it', async () => {
    const body = 'x'.repeat(900_000);
    const headers = { 'content-type': 'text/plain' };
    for (let count = 0; count < 10; count += 1)
      for (const place of ['gateway', 'unbuffered']) {
        const at = `${origin}/${place}`;
        expect((await fetch(`${at}/services/My-Service`, { method: 'PATCH', headers, body })).status).toBe(
          415,
        );
        expect((await fetch(`${at}/service/My-Service/stop`, { method: 'PUT', headers, body })).status).toBe(
          204,
        );
        expect((await fetch(`${at}/services`)).status).toBe(200);
      }
  });
});
