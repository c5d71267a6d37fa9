/**
 * The content security policy of the page: the page needs nothing that the policy forbids, and the browser enforces it.
 */
import { createServer } from 'node:http';

import { describe, expect, it } from '@jest/globals';
import { createBasicAuthentication } from 'gateway-admin-core';
import type { Page } from 'playwright-core';

import { inBrowser } from '../support/browser.ts';
import { documentWithUser, listen, password, serveConsole } from './served-console.ts';

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
  it(
    'forbids nothing that the page does',
    inBrowser(async (page) => {
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
      for (const tab of ['History', 'State', 'Settings']) await page.getByRole('tab', { name: tab }).click();
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
      await page.getByRole('button', { name: 'Restore' }).waitFor();
      await press('Gateway');
      // A second reading of the counters draws their lines.
      await page.locator('.spark').first().waitFor();

      expect(await violations()).toEqual([]);
      expect(errors).toEqual([]);
    }),
  );

  it(
    'is enforced: nothing inline, and nothing of another origin',
    inBrowser(async (page) => {
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
      await page.getByRole('group', { name: 'Services' }).waitFor();
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
    }),
  );

  it(
    'keeps the page out of the frames of other pages',
    inBrowser(async (page) => {
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
    }),
  );
});
