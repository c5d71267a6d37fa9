/**
 * Where a host can have the console: the page finds its files and the interface by addresses relative to its own.
 */
import { createServer, request as send, type Server } from 'node:http';

import { describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';

import { inBrowser } from '../support/browser.ts';
import { listen, serveConsole, shownDocument, type Hosting } from './served-console.ts';

/** A proxy that shows the paths of another server below `/x`, and nothing else. */
function rewritingProxy(port: number): Server {
  return createServer((request, response) => {
    const { method, url = '', headers } = request;
    if (!url.startsWith('/x/')) {
      response.writeHead(404).end();
      return;
    }
    const onward = send({ host: '127.0.0.1', port, method, path: url.slice('/x'.length), headers });
    onward.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    request.pipe(onward);
  });
}

/** Opens the page at an address, and gives the paths of all its requests with their statuses. */
async function visit(page: Page, address: string): Promise<readonly string[]> {
  const seen: Promise<string>[] = [];
  page.on('request', (request) => {
    const { pathname, search, origin } = new URL(request.url());
    const place = origin === new URL(address).origin ? '' : origin;
    seen.push(
      request
        .response()
        .then((response) => `${String(response?.status() ?? 'no answer')} ${place}${pathname}${search}`),
    );
  });
  // The page reads its lists one after the other.
  const lists = ['alerts', 'commands', 'fleet'].map((name) =>
    page.waitForResponse((response) => new URL(response.url()).pathname.endsWith(`/${name}`)),
  );
  await page.goto(`${address}#?open=/services/Sales`);
  await Promise.all(lists);
  await page.getByText('live', { exact: true }).waitFor();
  await page.getByRole('region', { name: 'service Sales' }).getByText('Sales Listener').waitFor();
  const services = page.getByRole('group', { name: 'Services' }).locator('tbody tr');
  await services.nth(3).waitFor();
  expect(await services.count()).toBe(shownDocument.services?.length);
  // The page has its styles.
  expect(await page.locator('header').evaluate((header) => getComputedStyle(header).display)).toBe('flex');
  return Promise.all(seen);
}

/** The paths of requests without what differs between requests to the same place. */
function placesOf(seen: readonly string[]): readonly string[] {
  const places = seen.map((each) => each.replace(/-[\da-f]{12}\./, '-*.').replace(/\?(?!file=).*/, ''));
  return [...new Set(places)].sort();
}

/** What the page asks for, from an interface at a path. */
function askedOf(consolePath: string, adminPath: string): readonly string[] {
  return [
    consolePath,
    ...['main-*.js', 'style-*.css', 'meanings-*.json'].map((file) => `${consolePath}?file=${file}`),
    `${adminPath}/`,
    ...['alerts', 'commands', 'events', 'filters', 'fleet', 'monitors', 'servers', 'services', 'users'],
    ...['gateway', 'services/Sales', 'services/Sales/listeners'],
  ]
    .map((path) => `200 ${path.startsWith('/') ? path : `${adminPath}/${path}`}`)
    .sort();
}

const mounts: readonly (Hosting & { readonly consolePath: string; readonly adminPath: string })[] = [
  { consolePath: '/console', adminPath: '/' },
  { consolePath: '/a/b', adminPath: '/a' },
  { consolePath: '/console', adminPath: '/admin', console: { adminPath: '../admin' } },
];

/** Visits the page at addresses of an origin, with and without the last slash. */
async function visitBoth(page: Page, origin: string, consolePath: string, adminPath: string): Promise<void> {
  const paths = [consolePath, `${consolePath}/`];
  await Promise.all(
    paths.map(async (path) => {
      const tab = await page.context().newPage();
      expect(placesOf(await visit(tab, origin + path))).toEqual(askedOf(path, adminPath.replace(/\/$/, '')));
      await tab.close();
    }),
  );
}

describe('a console, in a real browser', () => {
  it(
    'works under every path, with and without the last slash',
    inBrowser(async (page) => {
      for (const hosting of mounts) {
        const { origin } = await serveConsole(hosting);
        await visitBoth(page, origin, hosting.consolePath, hosting.adminPath);
      }
    }),
  );

  it(
    'works at the root of a host, with the interface below',
    inBrowser(async (page) => {
      const root = { consolePath: '/', adminPath: '/admin', console: { adminPath: 'admin' } };
      const { origin } = await serveConsole(root);
      expect(placesOf(await visit(page, `${origin}/`))).toEqual(askedOf('/', '/admin'));
    }),
  );

  it(
    'works behind a proxy that shows the host below another path, with and without the last slash',
    inBrowser(async (page) => {
      for (const hosting of mounts.filter(({ consolePath }) => consolePath === '/console')) {
        const { port } = await serveConsole(hosting);
        const proxyPort = await listen(rewritingProxy(port));
        const origin = `http://127.0.0.1:${String(proxyPort)}`;
        await visitBoth(page, origin, '/x/console', `/x${hosting.adminPath}`);
      }
    }),
  );
});
