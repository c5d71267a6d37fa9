/**
 * A real browser in front of an interface without a log-in: pages of other origins, and names that lead to this machine. The
 * browser is `BROWSER`, or a Chromium in the path. Where there is none, a line says so.
 */
import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { delimiter, join } from 'node:path';

import { afterAll, describe, expect, it } from '@jest/globals';
import { createSnapshot } from 'gateway-admin-core';
import { createHandler } from 'gateway-admin-core/node';

import { runAdmin } from '../support/running-admin.ts';
import { temporaryDirectories } from '../support/temporary-directory.ts';

const newDirectory = temporaryDirectories();
const browser = findBrowser();
const closing: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const close of closing.reverse()) await close();
});

function findBrowser(): string | undefined {
  const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'];
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const found = folders
    .flatMap((folder) => names.map((name) => join(folder, name)))
    .find((path) => existsSync(path));
  return process.env['BROWSER'] ?? found;
}

/** A server on a free port of this machine. */
async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => new Promise((resolve) => server.close(resolve).closeAllConnections()));
  return (server.address() as AddressInfo).port;
}

/** What the interface answered: the method, the name of the host in the request, the path and the status. */
type Seen = readonly string[];

interface Visit {
  /** What the page could do and read, by attempt. */
  readonly attempts: Readonly<Record<string, string>>;
  readonly seen: readonly Seen[];
}

/** The page of somebody else. It tries everything that a page can try, and tells its own server what came of it. */
function hostilePage(port: number): string {
  const target = `http://127.0.0.1:${String(port)}`;
  const rebound = `http://rebound.example:${String(port)}`;
  return `<!doctype html><title>hostile</title><body><script type="module">
    const attempts = {};
    const attempt = async (name, run) => {
      try { attempts[name] = await run(); } catch (error) { attempts[name] = error.name; }
    };
    const send = async (url, init) => {
      const response = await fetch(url, init);
      return response.type + ' ' + response.status + ' ' + await response.text();
    };
    const load = (element, url) => new Promise((resolve) => {
      element.onload = () => resolve('loaded');
      element.onerror = () => resolve('failed');
      element.src = url;
      document.body.append(element);
    });
    await attempt('command', () => send('${target}/service/Sales/stop', { method: 'PUT' }));
    await attempt('simple command', () => send('${target}/gateway/logs/flush', { method: 'POST', mode: 'no-cors', body: 'x' }));
    await attempt('read', () => send('${target}/services'));
    await attempt('opaque read', () => send('${target}/services', { mode: 'no-cors' }));
    await attempt('script', () => load(document.createElement('script'), '${target}/services'));
    await attempt('image', () => load(new Image(), '${target}/services'));
    await attempt('events', () => new Promise((resolve) => {
      const source = new EventSource('${target}/events');
      source.onopen = () => resolve('open');
      source.onerror = () => { source.close(); resolve('failed'); };
    }));
    await attempt('rebound name', () => send('${rebound}/services'));
    await attempt('rebound frame', () => load(document.createElement('iframe'), '${rebound}/services'));
    await attempt('form', () => new Promise((resolve) => {
      const frame = document.createElement('iframe');
      frame.name = 'answer';
      const form = document.createElement('form');
      Object.assign(form, { method: 'POST', action: '${target}/gateway/logs/flush', target: 'answer' });
      document.body.append(frame, form);
      frame.onload = () => resolve('loaded');
      form.submit();
    }));
    await fetch('/attempts', { method: 'POST', body: JSON.stringify(attempts) });
  </script>`;
}

/** Opens the hostile page in the browser, and gives what came of it. */
async function visit(command: string): Promise<Visit & { readonly changed: boolean }> {
  const { admin } = runAdmin({
    snapshot: createSnapshot({ services: [{ name: 'Sales', router: 'readconnroute' }] }),
  });
  closing.push(() => admin.close());
  const seen: Seen[] = [];
  const handler = createHandler(admin);
  const port = await listen(
    createServer((request, response) => {
      response.once('close', () => {
        const name = (request.headers.host ?? '').replace(/:\d+$/, '');
        seen.push([request.method ?? '', name, request.url ?? '', String(response.statusCode)]);
      });
      handler(request, response);
    }),
  );
  const page = new EventEmitter();
  const told = once(page, 'told') as Promise<[Visit['attempts']]>;
  const attacker = await listen(
    createServer((request, response) => {
      void (async () => {
        let body = '';
        for await (const chunk of request) body += String(chunk);
        if (request.url === '/attempts') page.emit('told', JSON.parse(body));
        response.setHeader('content-type', 'text/html').end(hostilePage(port));
      })();
    }),
  );
  const child = spawn(command, [
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--disable-dev-shm-usage',
    '--no-first-run',
    // Names of others lead to this machine, as after a rebinding.
    '--host-resolver-rules=MAP *.example 127.0.0.1',
    `--user-data-dir=${await newDirectory()}`,
    '--remote-debugging-port=0',
    `http://attacker.example:${String(attacker)}/`,
  ]);
  closing.push(async () => {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  });
  const before = admin.snapshot;
  const [attempts] = await told;
  return { attempts, seen, changed: admin.snapshot !== before };
}

describe('a page of another origin, in a real browser', () => {
  // Promise: foreign-origin
  it('can neither read nor change anything, also under a name that leads to this machine', async () => {
    if (browser === undefined) {
      process.stderr.write(
        'Skipped: no browser was found. Name one in BROWSER to try the pages of other origins.\n',
      );
      return;
    }
    const { attempts, seen, changed } = await visit(browser);
    expect(attempts).toEqual({
      command: 'TypeError',
      'simple command': 'opaque 0 ',
      read: 'TypeError',
      'opaque read': expect.stringMatching(/^(?:opaque 0 |TypeError)$/),
      script: 'failed',
      image: 'failed',
      events: 'failed',
      'rebound name': 'TypeError',
      'rebound frame': 'loaded',
      form: 'loaded',
    });
    expect(changed).toBe(false);
    // The browser asks before a PUT and learns nothing, so it sends none. What it sends without asking is refused.
    const statuses = (isMeant: (seen: Seen) => boolean): readonly unknown[] =>
      seen
        .filter(isMeant)
        .map(([method, name, , status]) => `${String(method)} ${String(name)} ${String(status)}`);
    expect(statuses(([method]) => method !== 'GET')).toEqual([
      'OPTIONS 127.0.0.1 204',
      'POST 127.0.0.1 403',
      'POST 127.0.0.1 403',
    ]);
    expect(statuses(([, name]) => name === 'rebound.example')).toEqual([
      'GET rebound.example 403',
      'GET rebound.example 403',
    ]);
  });
});
