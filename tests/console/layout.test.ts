/**
 * Layout: what a person needs is on the screen and can be read, whatever the names are.
 */
import { describe, expect, it } from '@jest/globals';
import { createClient, sendTo } from 'gateway-admin-core/client';
import type { Locator, Page } from 'playwright-core';

import { inBrowser } from '../support/browser.ts';
import { serveConsole, shownDocument } from './served-console.ts';

/** The edges of a part of the page, in pixels. */
async function edges(part: Locator): Promise<{ readonly right: number; readonly bottom: number }> {
  const { x, y, width, height } = (await part.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
  return { right: x + width, bottom: y + height };
}

const size = (page: Page) => page.evaluate(() => ({ width: innerWidth, height: innerHeight }));

describe('the layout of the console, in a real browser', () => {
  it(
    'shows the state of every server beside a name of 255 characters',
    inBrowser(async (page) => {
      const long = { name: 'w'.repeat(255), address: '10.0.0.9', port: 5432, protocol: 'pgbackend' };
      const servers = [...(shownDocument.servers ?? []), long];
      const { origin } = await serveConsole({ document: { ...shownDocument, servers } });
      await page.goto(`${origin}/console`);
      const table = page.getByRole('group', { name: 'Servers' });
      const address = table.getByRole('columnheader', { name: 'Address' });
      expect((await edges(address)).right).toBeLessThan((await edges(table)).right);
    }),
  );

  it(
    'says on the screen that no session is found',
    inBrowser(async (page) => {
      const { origin } = await serveConsole();
      await page.setViewportSize({ width: 375, height: 700 });
      await page.goto(`${origin}/console#sessions?user=nobody`);
      const none = page.getByText('0 sessions', { exact: true });
      await none.waitFor();
      expect((await edges(none)).bottom).toBeLessThan((await size(page)).height);
    }),
  );

  it(
    'keeps the names of several servers apart, and names no deadline of a drain that is over',
    inBrowser(async (page) => {
      const { origin, admin } = await serveConsole();
      await createClient(sendTo(admin)).servers.drain('db-1', { timeout: 600, then: 'close' });
      await page.goto(`${origin}/console#?open=/services/Sales`);
      await page.locator('.drawer dd').filter({ hasText: 'db-1, db-2' }).waitFor();
      const drained = page.getByRole('cell').filter({ hasText: 'drained' });
      expect(await drained.innerText()).toBe('drained: nothing left');
    }),
  );
});
