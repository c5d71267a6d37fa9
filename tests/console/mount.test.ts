/**
 * Addresses: where a host can have the console, where a link and the back button lead, and that nothing leads elsewhere.
 */
import { createServer, request as send, type Server } from 'node:http';

import { describe, expect } from '@jest/globals';
import { createBasicAuthentication } from 'gateway-admin-core';
import type { Page } from 'playwright-core';

import { button, itInBrowser } from './operate.ts';
import {
  documentWithUser,
  type Hosting,
  listen,
  password,
  serveConsole,
  shownDocument,
} from './served-console.ts';

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
  await page
    .getByRole('region', { name: 'service Sales' })
    .getByRole('rowheader', { name: 'Sales Listener' })
    .waitFor();
  await page.getByRole('region', { name: 'Sessions by server' }).waitFor();
  await page.locator('.drawer .history').getByText('None.', { exact: true }).waitFor();
  const services = page.getByRole('region', { name: 'Services' }).locator('tbody tr');
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
    ...['main-*.js', 'style-*.css', 'late-*.js', 'meanings-*.json'].map(
      (file) => `${consolePath}?file=${file}`,
    ),
    `${adminPath}/`,
    ...['alerts', 'commands', 'events', 'filters', 'fleet', 'monitors', 'servers', 'services', 'users'],
    ...['gateway', 'sessions', 'history', 'services/Sales', 'services/Sales/listeners'],
  ]
    .map((path) => `200 ${path.startsWith('/') ? path : `${adminPath}/${path}`}`)
    .sort();
}

const mounts: readonly (Hosting & Required<Pick<Hosting, 'consolePath' | 'adminPath'>>)[] = [
  { consolePath: '/console', adminPath: '/' },
  { consolePath: '/a/b', adminPath: '/a' },
  { consolePath: '/console', adminPath: '/admin', console: { adminPath: '../admin' } },
];

/** Visits the page at addresses of an origin, with and without the last slash. */
async function visitBoth(page: Page, origin: string, consolePath: string, adminPath: string): Promise<void> {
  // One after the other: tabs that are open together share one stream of events.
  for (const path of [consolePath, `${consolePath}/`]) {
    const tab = await page.context().newPage();
    expect(placesOf(await visit(tab, origin + path))).toEqual(askedOf(path, adminPath.replace(/\/$/, '')));
    await tab.close();
  }
}

describe('a console, in a real browser', () => {
  itInBrowser('works under every path, with and without the last slash', async (page) => {
    for (const hosting of mounts) {
      const { origin } = await serveConsole(hosting);
      await visitBoth(page, origin, hosting.consolePath, hosting.adminPath);
    }
  });

  itInBrowser('works at the root of a host, with the interface below', async (page) => {
    const root: Hosting = { consolePath: '/', adminPath: '/admin', console: { adminPath: 'admin' } };
    const { origin } = await serveConsole(root);
    expect(placesOf(await visit(page, `${origin}/`))).toEqual(askedOf('/', '/admin'));
  });

  itInBrowser(
    'works behind a proxy that shows the host below another path, with and without the last slash',
    async (page) => {
      for (const hosting of mounts.filter(({ consolePath }) => consolePath === '/console')) {
        const { port } = await serveConsole(hosting);
        const proxyPort = await listen(rewritingProxy(port));
        const origin = `http://127.0.0.1:${String(proxyPort)}`;
        await visitBoth(page, origin, '/x/console', `/x${hosting.adminPath}`);
      }
    },
  );
});

const drawer = (page: Page) => page.getByRole('region', { name: 'service Sales' });
const fragment = (page: Page): string => new URL(page.url()).hash;

/** Opens the page, until what is wrong is shown: after that, a button stays where it is. */
async function openWhole(page: Page, origin: string): Promise<void> {
  await page.goto(`${origin}/console`);
  await page.getByRole('banner').getByText('Broken has failed').waitFor();
}

describe('the address of the console, in a real browser', () => {
  itInBrowser('names the view, the search, the chosen sessions and the drawer', async (page) => {
    const { origin } = await serveConsole();
    await openWhole(page, origin);
    await button(page, 'Sales').first().click();
    await drawer(page).getByLabel('max_connection', { exact: true }).waitFor();
    expect(fragment(page)).toBe('#?open=/services/Sales');
    await button(page, 'Sessions').click();
    await page.getByRole('combobox', { name: 'Service' }).selectOption('Reports');
    await page.getByText('10 sessions', { exact: false }).first().waitFor();
    await page.getByLabel('Idle longer than').fill('20');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: /^4 sessions/ }).waitFor();
    // A person can change what is searched for.
    expect(await page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('idle_over');
    await page.getByLabel('Choose 24,').check();
    await page.getByLabel('Choose 36,').check();
    await page.getByRole('row').getByRole('link', { name: 'Reports', exact: true }).first().click();
    expect(fragment(page)).toMatch(
      /^#sessions\?open=\/services\/Reports&service=Reports&idle_over=20&chosen=24:24\.\d+,36:36\.\d+$/,
    );

    // Another person, at the same link.
    const other = await page.context().newPage();
    await other.goto(page.url());
    await other.getByRole('heading', { name: /^4 sessions/ }).waitFor();
    await button(other, 'Close 2 chosen sessions').waitFor();
    expect(await other.locator('.session input:checked').count()).toBe(2);
    expect(await other.getByLabel('Idle longer than').inputValue()).toBe('20 s');
    await other.getByLabel('max_connection', { exact: true }).waitFor();
    await other.getByLabel('Idle longer than').fill('7');
    // A selection is one of these sessions.
    await button(other, 'All sessions').click();
    await other.getByRole('heading', { name: /^40 sessions/ }).waitFor();
    await other.locator('.chosen').waitFor({ state: 'detached' });
    expect(await other.getByLabel('Idle longer than').inputValue()).toBe('');
  });

  itInBrowser('does not choose another session that has the same id by now', async (page) => {
    const { origin } = await serveConsole();
    await page.goto(`${origin}/console#sessions?chosen=3:3.1`);
    await page.getByRole('heading', { name: /^40 sessions/ }).waitFor();
    expect(await page.getByRole('checkbox', { checked: true }).count()).toBe(0);
    await button(page, 'Close 1 chosen session').click();
    await page.getByRole('dialog').getByText('not possible now').waitFor();
    await page.keyboard.press('Escape');
    await button(page, 'Choose none').click();
    await page.locator('.chosen').waitFor({ state: 'detached' });
    expect(fragment(page)).toBe('#sessions');
  });

  itInBrowser('names no chosen session any more once these were closed', async (page) => {
    const { origin } = await serveConsole();
    await page.goto(`${origin}/console#sessions`);
    await page.getByLabel('Choose 3,').check();
    await button(page, 'Close 1 chosen session').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Close 1 session' }).click();
    await page.getByText('Done in').first().waitFor();
    await page.locator('.chosen').waitFor({ state: 'detached' });
    expect(fragment(page)).toBe('#sessions');
  });

  itInBrowser('leads to its place once the person has logged in', async (page) => {
    const access = { authenticate: createBasicAuthentication() };
    const { origin } = await serveConsole({ document: await documentWithUser(), admin: { access } });
    const place = '#?find=sales&open=/services/Sales';
    await page.goto(`${origin}/console${place}`);
    await page.getByLabel('Name').fill('ada');
    await page.getByLabel('Password').fill(password);
    await button(page, 'Log in').click();
    await drawer(page).getByText('None.', { exact: true }).first().waitFor();
    await page.getByText('2 of 4').waitFor();
    expect(await page.getByLabel('Find').inputValue()).toBe('sales');
    expect(fragment(page)).toBe(place);
  });

  itInBrowser('is left and found again by the back button and the forward button', async (page) => {
    const { origin } = await serveConsole();
    await openWhole(page, origin);
    await button(page, 'Sales').first().click();
    await drawer(page).getByText('None.', { exact: true }).first().waitFor();
    await button(page, '10 sessions, Reports').click();
    await page.getByRole('heading', { name: /^10 sessions/ }).waitFor();
    await button(page, 'All sessions').click();
    await page.getByRole('heading', { name: /^40 sessions/ }).waitFor();

    await page.goBack();
    await page.getByRole('heading', { name: /^10 sessions/ }).waitFor();
    expect(await page.getByRole('combobox', { name: 'Service' }).inputValue()).toBe('Reports');
    await page.goBack();
    await drawer(page).getByText('None.', { exact: true }).first().waitFor();
    await page.goBack();
    await page.getByRole('complementary', { name: 'Latest' }).waitFor();
    expect(fragment(page)).toBe('');
    await page.goForward();
    await drawer(page).getByText('None.', { exact: true }).first().waitFor();
    await page.goBack();
    await page.goBack();
    // The page leaves nothing of itself in the way.
    expect(page.url()).toBe('about:blank');
  });
});

/** Notes what the policy forbids in a page: the directives, in their order. */
async function noteViolations(page: Page): Promise<() => Promise<readonly string[]>> {
  await page.addInitScript(() => {
    const violations: string[] = [];
    Object.assign(globalThis, { violations });
    document.addEventListener('securitypolicyviolation', ({ effectiveDirective }) => {
      violations.push(effectiveDirective);
    });
  });
  return () => page.evaluate<readonly string[]>('violations');
}

describe('the content security policy of the console, in a real browser', () => {
  itInBrowser('forbids nothing that the page does', async (page) => {
    const access = { authenticate: createBasicAuthentication() };
    const { origin } = await serveConsole({ document: await documentWithUser(), admin: { access } });
    const errors: string[] = [];
    page.on('console', (message) => {
      // A 401 to the first request, which asks whether a log-in is needed.
      if (message.type() === 'error' && !message.text().includes('401')) errors.push(message.text());
    });
    page.on('pageerror', ({ message }) => errors.push(message));
    const violations = await noteViolations(page);
    const press = (name: string) => page.getByRole('button', { name, exact: true }).click();

    await page.goto(`${origin}/console#?open=/services/Sales`);
    await page.getByLabel('Name').fill('ada');
    await page.getByLabel('Password').fill(password);
    await press('Log in');
    await page.getByLabel('max_connection', { exact: true }).fill('50');
    await press('Show what this changes');
    await page.getByRole('dialog').getByText('100 → 50').waitFor();
    await press('Change Sales');
    await page.getByRole('status').getByRole('button', { name: 'Undo' }).waitFor();
    await press('Sessions');
    await page.getByText('40 sessions').waitFor();
    await page.getByRole('table', { name: 'Sessions' }).evaluate((table) => table.scrollTo(0, 500));
    await page.getByText('192.168.121.39').waitFor();
    await press('History');
    await page.locator('.log summary').click();
    await page.getByRole('button', { name: 'Restore' }).waitFor();
    await press('Gateway');
    // A second reading of the counters draws their lines.
    // A narrow table has no line.
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.locator('.spark').first().waitFor();

    expect(await violations()).toEqual([]);
    expect(errors).toEqual([]);
  });

  itInBrowser('is enforced: nothing inline, and nothing of another origin', async (page) => {
    const { origin } = await serveConsole();
    const foreign: string[] = [];
    const port = await listen(
      createServer(({ url = '' }, response) => {
        foreign.push(url);
        response.end();
      }),
    );
    const violations = await noteViolations(page);
    await page.goto(`${origin}/console`);
    await page.getByRole('region', { name: 'Services' }).waitFor();
    const ran = await page.evaluate(
      async (other) => {
        const add = (name: string, properties: object) => {
          const element = Object.assign(document.createElement(name), properties);
          document.body.append(element);
          return element;
        };
        const run = `document.body.dataset.ran = 'yes'`;
        add('script', { textContent: run });
        add('script', { src: `${other}/script` });
        // A text as the function of a timer is evaluated.
        Reflect.apply(setTimeout, undefined, [run]);
        add('p', { innerHTML: '<b style="color: red">' });
        const button = add('button', {});
        button.setAttribute('onclick', run);
        button.click();
        add('style', { textContent: 'body { display: none }' });
        add('link', { rel: 'stylesheet', href: `${other}/style` });
        add('img', { src: `${other}/image` });
        add('iframe', { src: `${other}/frame` });
        add('object', { data: `${other}/object` });
        add('base', { href: `${other}/base` });
        (add('form', { action: `${other}/form`, method: 'POST' }) as HTMLFormElement).submit();
        await fetch(`${other}/fetch`).catch(() => undefined);
        new EventSource(`${other}/events`);
        await new Promise((resolve) => setTimeout(resolve, 50));
        return document.body.dataset['ran'] ?? 'no';
      },
      `http://127.0.0.1:${String(port)}`,
    );
    expect(ran).toBe('no');
    expect(foreign).toEqual([]);
    expect([...new Set(await violations())].sort()).toEqual([
      'base-uri',
      'connect-src',
      'form-action',
      'frame-src',
      'img-src',
      'object-src',
      'script-src',
      'script-src-attr',
      'script-src-elem',
      'style-src-attr',
      'style-src-elem',
    ]);
  });

  itInBrowser('keeps the page out of the frames of other pages', async (page) => {
    const { origin, requests } = await serveConsole();
    const port = await listen(
      createServer((_request, response) => {
        response.setHeader('content-type', 'text/html');
        response.end(`<!doctype html><iframe src="${origin}/console" onload="document.title = 'loaded'">`);
      }),
    );
    await page.goto(`http://127.0.0.1:${String(port)}/`);
    await page.waitForFunction(() => document.title === 'loaded');
    // The browser has asked for the document, and shows nothing of it.
    expect(requests.map(({ url }) => url)).toEqual(['/console']);
  });
});
