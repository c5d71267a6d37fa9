/**
 * The console without a mouse.
 */
import { describe, expect, it } from '@jest/globals';
import { createClient, sendTo } from 'gateway-admin-core/client';
import type { Page } from 'playwright-core';

import { inBrowser } from '../support/browser.ts';
import { serveConsole } from './served-console.ts';

/** The text or name of what has the focus; empty if nothing has. */
function focused(page: Page): Promise<string> {
  return page.evaluate(() => {
    const { activeElement: element } = document;
    if (element === document.body) return '';
    const label =
      element?.getAttribute('aria-label') ?? (element as HTMLInputElement).labels?.[0]?.textContent;
    return label ?? element?.textContent ?? '';
  });
}

/** Waits until something has the focus. */
async function expectFocus(page: Page, name: string | RegExp): Promise<void> {
  const isThere = (text: string): boolean => (typeof name === 'string' ? text === name : name.test(text));
  const deadline = performance.now() + 180_000;
  while (!isThere(await focused(page)) && performance.now() < deadline);
  expect(await focused(page)).toEqual(typeof name === 'string' ? name : expect.stringMatching(name));
}

async function press(page: Page, ...keys: readonly string[]): Promise<void> {
  for (const key of keys) await page.keyboard.press(key);
}

/** Presses Tab until something has the focus. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let count = 0; count < 60; count += 1) {
    await press(page, 'Tab');
    if ((await focused(page)) === name) return;
  }
  throw new Error(`Tab does not lead to ${name}`);
}

/** Opens the page, with services on screen. */
async function open(page: Page, fragment = ''): Promise<Awaited<ReturnType<typeof serveConsole>>> {
  const served = await serveConsole();
  await page.goto(`${served.origin}/console${fragment}`);
  await page.getByText('live', { exact: true }).waitFor();
  return served;
}

describe('the keys of the console, in a real browser', () => {
  it(
    'find a resource, open its drawer, and lead back to its row',
    inBrowser(async (page) => {
      await open(page);
      await page.getByRole('button', { name: 'Broken', exact: true }).waitFor();
      await press(page, '/');
      await page.keyboard.type('sales');
      await page.getByText('2 of 4').waitFor();
      await press(page, 'Enter');
      await expectFocus(page, 'Sales');
      await press(page, 'ArrowDown');
      await expectFocus(page, 'Old Sales');
      await press(page, 'Enter');
      await expectFocus(page, 'service Old Sales');
      await page.getByRole('tab', { name: 'State' }).waitFor();
      await press(page, 'Escape');
      await page.getByRole('complementary', { name: /^Events since/ }).waitFor();
      await expectFocus(page, 'Old Sales');
      await press(page, 'ArrowUp');
      await expectFocus(page, 'Sales');
      // Sales lists the server.
      await press(page, '/', 'Control+a');
      await page.keyboard.type('DB-2');
      await page.getByText('1 of 3').waitFor();
      await press(page, 'Enter');
      await expectFocus(page, 'db-2');
    }),
  );

  it(
    'move in tables by arrows, from the field that finds as well, and a letter in a field is a letter',
    inBrowser(async (page) => {
      await open(page);
      await page.getByRole('button', { name: 'Broken', exact: true }).waitFor();
      await press(page, '/', 'ArrowDown');
      await expectFocus(page, 'Sales');
      await press(page, 'ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowDown');
      // From the last service to the first server.
      await expectFocus(page, 'db-1');
      await press(page, 'ArrowUp', 'ArrowUp');
      await expectFocus(page, 'Old Sales');
      await press(page, '/', 'g', 's', '/');
      expect(await page.getByLabel('Find').inputValue()).toBe('gs/');
    }),
  );

  it(
    'change the view, and move in the list of sessions',
    inBrowser(async (page) => {
      await open(page);
      const current = page.getByRole('navigation').locator('[aria-current=page]');
      await press(page, 'g', 's');
      await page.getByText('40 sessions').waitFor();
      expect(await current.textContent()).toBe('Sessions');
      await press(page, 'ArrowDown');
      await expectFocus(page, 'Choose 0, alice');
      await press(page, 'ArrowDown');
      await expectFocus(page, 'Choose 1, bob');
      await press(page, 'Space');
      await page.getByRole('button', { name: 'Close 1 chosen session' }).waitFor();
      await press(page, 'Enter');
      await expectFocus(page, 'session 1');
      await press(page, 'Escape');
      await expectFocus(page, 'Choose 1, bob');
      await press(page, 'g', 'h');
      await page.getByText('None.').first().waitFor();
      await press(page, 'g', 'g');
      await page.getByRole('heading', { name: 'Services' }).waitFor();
      expect(await current.textContent()).toBe('Gateway');
    }),
  );

  it(
    'reach every row of a list that is longer than the screen',
    inBrowser(async (page) => {
      await open(page, '#sessions');
      await page.getByText('40 sessions').waitFor();
      await press(page, 'ArrowDown');
      for (let id = 1; id < 40; id += 1) {
        await press(page, 'ArrowDown');
        await expectFocus(page, new RegExp(`^Choose ${String(id)},`));
      }
      expect(await page.getByText('192.168.121.39').isVisible()).toBe(true);
    }),
  );

  it(
    'fill a dialog, leave it, and confirm it',
    inBrowser(async (page) => {
      const { admin } = await open(page, '#?open=/services/Sales');
      await page.getByRole('tab', { name: 'State' }).waitFor();
      await expectFocus(page, 'service Sales');
      await tabTo(page, 'Drain Sales');
      await press(page, 'Enter');
      const dialog = page.getByRole('dialog', { name: 'Drain Sales' });
      await dialog.waitFor();
      await press(page, 'Escape');
      // A closed dialog has no role, and still stands for a moment, in which no other dialog opens.
      await page.locator('dialog').waitFor({ state: 'detached' });
      await expectFocus(page, 'Drain Sales');
      // The drawer is still open.
      await page.getByRole('tab', { name: 'State' }).waitFor();

      await press(page, 'Enter');
      await dialog.waitFor();
      await page.keyboard.type('5');
      await press(page, 'Tab', 'Tab');
      const planned = page.waitForResponse((answer) =>
        (answer.request().postData() ?? '').includes('new kernel'),
      );
      await page.keyboard.type('new kernel');
      await planned;
      await dialog.getByRole('button', { name: 'Drain Sales' }).waitFor();
      // The deadline closes all sessions of the service.
      await tabTo(page, 'Type “Sales” to go on');
      await page.keyboard.type('Sales');
      await press(page, 'Enter');
      await page.getByRole('status').getByText('Done in').first().waitFor();
      await dialog.waitFor({ state: 'detached' });
      const answer = await createClient(sendTo(admin)).services.get('Sales');
      const drain = { until: expect.any(String), then: 'close', reason: 'new kernel' };
      expect(answer).toMatchObject({ value: { drain } });
      await expectFocus(page, 'Drain Sales');
    }),
  );

  it(
    'stay in the drawer when the button of an act goes with the act, and lead to the row after a link',
    inBrowser(async (page) => {
      await open(page, '#?open=/services/Reports');
      await page.getByRole('tab', { name: 'State' }).waitFor();
      await tabTo(page, 'Stop Reports');
      await press(page, 'Enter');
      await page.getByRole('dialog').getByRole('button', { name: 'Stop Reports' }).waitFor();
      await tabTo(page, 'Stop Reports');
      await press(page, 'Enter');
      await page.getByRole('button', { name: 'Start Reports' }).waitFor();
      await expectFocus(page, 'service Reports');
      await press(page, 'Escape');
      await page.getByRole('complementary', { name: /^Events since/ }).waitFor();
      await expectFocus(page, 'Reports');
    }),
  );
});
