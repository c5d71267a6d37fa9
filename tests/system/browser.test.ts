/**
 * A real browser in front of an interface without a log-in: pages of other origins, and names that lead to this
 * machine.
 */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterAll, describe, expect, it } from '@jest/globals';
import { createSnapshot } from 'gateway-admin-core';
import { createNodeHandler } from 'gateway-admin-core/node';
import type { Page } from 'playwright-core';

import { inBrowser } from '../support/browser.ts';
import { runAdmin } from '../support/running-admin.ts';

const closing: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const close of closing.reverse()) await close();
});

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

/** A page that makes attempts, and keeps what comes of them in `attempted`. */
function pageWith(attempts: string): string {
  return `<!doctype html><title>page</title><body><script>
    const attempted = (async (attempts) => {
      const attempt = async (name, run) => {
        try { attempts[name] = await run(); } catch (error) { attempts[name] = error.name; }
      };
      ${attempts}
      return attempts;
    })({});
  </script>`;
}

/** The page of somebody else. It tries everything that a page can try. */
function hostilePage(port: number): string {
  const target = `http://127.0.0.1:${String(port)}`;
  const rebound = `http://rebound.example:${String(port)}`;
  return pageWith(`
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
    }));`);
}

/** A console on an origin of its own. Its log-in is a header that the page sends. */
function consolePage(port: number): string {
  const target = `http://127.0.0.1:${String(port)}`;
  return pageWith(`
    const authorization = 'Token t1';
    const send = (path, init = {}) =>
      fetch('${target}' + path, { ...init, headers: { authorization, ...init.headers } });
    await attempt('without a log-in', async () => {
      const response = await fetch('${target}/services');
      return response.status + ' ' + (await response.json()).code;
    });
    await attempt('list', async () => {
      const response = await send('/services?range=0-0');
      return response.status + ' ' + response.headers.get('x-total-count') + ' ' + (await response.json()).length;
    });
    await attempt('patch', async () => {
      const tag = (await send('/services/Sales')).headers.get('etag');
      const patch = () => send('/services/Sales', {
        method: 'PATCH',
        headers: { 'content-type': 'application/json-patch+json', 'if-match': tag },
        body: '[{"op":"add","path":"/max_connection","value":7}]',
      });
      const statuses = [(await patch()).status, (await patch()).status];
      return statuses.join(' ');
    });
    await attempt('stop', async () => (await send('/service/Sales/stop', { method: 'PUT' })).status);
    await attempt('events', async () => {
      const response = await send('/events');
      return response.headers.get('content-type') + ' ' + ((await response.body.getReader().read()).value.length > 0);
    });`);
}

/** Opens a page in the browser, and gives what came of it. `optionsFor` gets the origin of the page. */
async function visit(
  page: Page,
  pageFor: (port: number) => string,
  optionsFor: (origin: string) => Parameters<typeof runAdmin>[0] = () => ({}),
): Promise<Visit & { readonly changed: boolean }> {
  let port = 0;
  const pagePort = await listen(
    createServer((_request, response) => {
      response.setHeader('content-type', 'text/html').end(pageFor(port));
    }),
  );
  const origin = `http://page.example:${String(pagePort)}`;
  const { admin } = runAdmin({
    snapshot: createSnapshot({ services: [{ name: 'Sales', router: 'readconnroute' }] }),
    ...optionsFor(origin),
  });
  closing.push(() => admin.close());
  const seen: Seen[] = [];
  const handler = createNodeHandler(admin);
  port = await listen(
    createServer((request, response) => {
      response.once('close', () => {
        const name = (request.headers.host ?? '').replace(/:\d+$/, '');
        seen.push([request.method ?? '', name, request.url ?? '', String(response.statusCode)]);
      });
      handler(request, response);
    }),
  );
  const before = admin.snapshot;
  await page.goto(origin);
  const attempts = await page.evaluate<Visit['attempts']>('attempted');
  return { attempts, seen, changed: admin.snapshot !== before };
}

describe('a page of another origin, in a real browser', () => {
  // Promise: foreign-origin
  it(
    'can neither read nor change anything, also under a name that leads to this machine',
    inBrowser(async (page) => {
      const { attempts, seen, changed } = await visit(page, hostilePage);
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
    }),
  );

  // Promise: allowed-origin
  it(
    'reads and changes the gateway if its origin is allowed, and logs in by itself',
    inBrowser(async (page) => {
      const { attempts, seen, changed } = await visit(page, consolePage, (origin) => ({
        access: {
          allowedOrigins: [origin],
          authenticate: ({ headers: { authorization } }) =>
            Promise.resolve(authorization === 'Token t1' ? { name: 'ada' } : undefined),
        },
      }));
      expect(attempts).toEqual({
        'without a log-in': '401 unauthenticated',
        list: '200 1 1',
        patch: '200 412',
        stop: 204,
        events: 'text/event-stream true',
      });
      expect(changed).toBe(true);
      expect(seen.filter(([method]) => method === 'OPTIONS').map(([, , , status]) => status)).toContain(
        '204',
      );
    }),
  );
});
