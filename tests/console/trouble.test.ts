/**
 * Trouble around the gateway: a store that fails, a node that dies, a gateway that does not answer.
 */
import { describe, expect, it } from '@jest/globals';
import { openAdmin } from 'gateway-admin-core';
import { createSharedMemory, openFleet } from 'gateway-admin-core/fleet';
import type { Page } from 'playwright-core';

import { inBrowser } from '../support/browser.ts';
import { FailingStore } from '../support/failing-store.ts';
import { altered } from '../support/altered-store.ts';
import { serveConsole, shownDocument } from './served-console.ts';

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const outcome = (page: Page) => page.locator('.outcome').first();

/** The document without what a life begins without. */
const stored = {
  ...shownDocument,
  sessions: [],
  services: (shownDocument.services ?? []).filter(({ state }) => state !== 'failed'),
};

describe('a store that fails', () => {
  it(
    'is told in the first line, and an act says that nothing was changed',
    inBrowser(async (page) => {
      const store = new FailingStore();
      const { origin } = await serveConsole({
        document: stored,
        open: (options) => openAdmin({ ...options, store, observe: { onError: () => undefined } }),
      });
      await page.goto(`${origin}/console#?open=/services/Sales`);
      await button(page, 'Stop Sales').click();
      await page.locator('dialog[data-phase="planned"]').waitFor();
      store.fail();
      await page.getByRole('dialog').getByRole('button', { name: 'Stop Sales', exact: true }).click();
      await page.locator('dialog[data-phase="refused"]').waitFor();
      expect(await page.getByRole('dialog').innerText()).toMatch(/store/);
      await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
      await page.getByRole('banner').getByText(/store/).first().waitFor();
      store.work();
    }),
  );
});

describe('a gateway that does not answer', () => {
  it(
    'leaves an outcome that is unknown, which the first line shows until it is settled',
    inBrowser(async (page) => {
      const { origin, gateway } = await serveConsole({
        admin: { limits: { effectDeadlineMs: 500 }, observe: { onError: () => undefined } },
      });
      await page.goto(`${origin}/console#?open=/services/Sales`);
      await button(page, 'Stop Sales').click();
      await page.locator('dialog[data-phase="planned"]').waitFor();
      gateway.otherwise({
        apply: () => new Promise(() => undefined),
        inspect: () => new Promise(() => undefined),
      });
      await page.getByRole('dialog').getByRole('button', { name: 'Stop Sales', exact: true }).click();
      await outcome(page)
        .getByText(/^Unknown: Stop Sales/)
        .waitFor();
      await page.getByRole('banner').getByText('outcome unknown').waitFor();
      await page.getByRole('banner').getByRole('button', { name: 'Abandon' }).click();
      await page.locator('dialog[data-phase="planned"]').waitFor();
      await page
        .getByRole('dialog')
        .getByRole('button', { name: /^Abandon/ })
        .click();
      await page.getByRole('banner').getByText('outcome unknown').waitFor({ state: 'detached' });
      gateway.dropCalls();
    }),
  );
});

describe('a fleet', () => {
  it(
    'shows a node that has died, and forgets it when it is told to',
    inBrowser(async (page) => {
      const memory = createSharedMemory();
      const { origin } = await serveConsole({
        document: stored,
        open: (options) => openFleet({ ...options, node: 'one', store: memory.open(), leaseMs: 3000 }),
      });
      let isCut = false;
      const line = memory.open();
      const store = altered(line, {
        announce: (...given) =>
          isCut ? Promise.reject(new Error('The line is cut')) : line.announce(...given),
      });
      await serveConsole({
        document: stored,
        open: (options) =>
          openFleet({ ...options, node: 'two', store, leaseMs: 3000, observe: { onError: () => undefined } }),
      });
      await page.goto(`${origin}/console`);
      const row = page.getByRole('row').filter({ hasText: 'two' });
      await row.getByText('alive').waitFor();
      await page.getByText('Sessions of this node.').waitFor();
      isCut = true;
      await row.getByText('silent').waitFor();
      await row.getByRole('button', { name: 'Forget two' }).click();
      await page.locator('dialog[data-phase="planned"]').waitFor();
      await page.getByRole('dialog').getByRole('button', { name: 'Forget two' }).click();
      await row.waitFor({ state: 'detached' });
    }),
  );
});
