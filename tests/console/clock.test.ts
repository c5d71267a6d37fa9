/**
 * The clock of the page: ages by the clock of the gateway, and all times in one zone, which is named.
 */
import { describe, expect } from '@jest/globals';
import type { GatewayDocument } from 'gateway-admin-core';
import type { Page } from 'playwright-core';

import { itInBrowser } from './operate.ts';
import { serveConsole, shownDocument } from './served-console.ts';

const hourMs = 3_600_000;

/** A gateway on which a service failed ten minutes ago. */
function failedDocument(): GatewayDocument {
  const { services = [] } = shownDocument;
  const since = new Date(Date.now() - 600_000).toISOString().replace(/\.\d+/, '');
  return {
    ...shownDocument,
    services: services.map((each) => (each.name === 'Broken' ? { ...each, state_since: since } : each)),
  };
}

/** Sets the clock of the browser ahead. */
async function setAhead(page: Page, milliseconds: number): Promise<void> {
  await page.addInitScript((ahead) => {
    const RealDate = Date;
    globalThis.Date = class extends RealDate {
      constructor(...given: []) {
        if (given.length === 0) super(RealDate.now() + ahead);
        else super(...given);
      }
      static override now(): number {
        return RealDate.now() + ahead;
      }
    } as DateConstructor;
  }, milliseconds);
}

async function setZone(page: Page, timezoneId: string): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Emulation.setTimezoneOverride', { timezoneId });
}

describe.each([
  ['an hour ahead', hourMs],
  ['an hour behind', -hourMs],
  ['a year ahead', 365 * 24 * hourMs],
])('a browser whose clock is %s', (_how, ahead) => {
  itInBrowser('shows how long ago things were by the clock of the gateway', async (page) => {
    await setAhead(page, ahead);
    const { origin, admin } = await serveConsole({ document: failedDocument() });
    await page.goto(`${origin}/console`);
    const row = page.getByRole('row').filter({ hasText: 'port 4009 is in use' });
    await row.getByText(/^1\d min$/).waitFor();
    await page
      .getByRole('banner')
      .getByText(/^1\d min$/)
      .waitFor();
    // What happens today has a time of day alone.
    admin.report({ type: 'server.reported', server: 'db-1', status: [], reason: 'pulled the plug' });
    const event = page.getByRole('listitem').filter({ hasText: 'is down: pulled the plug' }).locator('time');
    expect(await event.innerText()).toMatch(/^\d\d:\d\d:\d\d$/);
  });
});

describe('the times of a page', () => {
  itInBrowser(
    'are in one zone, which the first line names: that of the browser or the gateway',
    async (page) => {
      await setZone(page, 'America/New_York');
      const { origin } = await serveConsole({ admin: { timeZone: 'Europe/Helsinki' } });
      await page.goto(`${origin}/console#sessions`);
      const zone = page.getByRole('banner').getByLabel('Time zone of all times');
      const row = page.getByRole('row').filter({ hasText: '192.168.121.7' });
      await row.getByText('Sep 9, 2026 07:12:37').waitFor();
      expect(await zone.locator('option:checked').innerText()).toBe('America/New_York, of the browser');
      await zone.selectOption('Europe/Helsinki, of the gateway');
      await row.getByText('Sep 9, 2026 14:12:37').waitFor();
      // The open place is a link for a colleague, with the same times.
      await page.reload();
      await row.getByText('Sep 9, 2026 14:12:37').waitFor();
      expect(await zone.inputValue()).toBe('gateway');
      await page.goto(`${origin}/console#?zone=gateway&open=/services/Broken`);
      const drawer = page.getByRole('region', { name: 'service Broken' });
      await drawer.getByTitle('Aug 29, 2016 14:00:00').waitFor();
      await zone.selectOption('America/New_York, of the browser');
      await drawer.getByTitle('Aug 29, 2016 07:00:00').waitFor();
    },
  );

  itInBrowser('are never written for programs', async (page) => {
    const { origin, admin } = await serveConsole();
    await admin.handle({ method: 'PUT', target: '/services/Sales/stop', headers: {} });
    for (const [place, text] of [
      ['', 'Old Sales'],
      ['?open=/services/Broken', 'No listeners'],
      ['?open=/gateway', 'gateway'],
      ['?open=/sessions/3', 'connected'],
      ['sessions', '192.168.121.7'],
      ['history', 'Stopped'],
    ] as const) {
      await page.goto(`${origin}/console#${place}`);
      await page.getByRole('main').getByText(text).first().waitFor();
      const shown = await page.locator('body').innerText();
      expect(shown).not.toMatch(/\d{4}-\d\d-\d\dT|\d\d:\d\d:\d\d (?:\d{4}\b|[+-]\d{4})/);
    }
  });
});
