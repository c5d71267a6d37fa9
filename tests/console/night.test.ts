/**
 * The page at night: it never says that all is well when it is not, never that nothing is there when it does not know,
 * and never loses what a person has typed.
 */
import { describe, expect } from '@jest/globals';
import type { GatewayDocument } from 'gateway-admin-core';

import { ask, dialog, itInBrowser, planned } from './operate.ts';
import { serveConsole, shownDocument } from './served-console.ts';

const server = { address: '10.0.0.1', port: 5432, protocol: 'pg' };

/** Servers of which one is down, and services on them. */
const halfDark: GatewayDocument = {
  format: 2,
  servers: [
    { name: 'up', ...server, status: ['running'] },
    { name: 'gone', ...server, status: [] },
  ],
  services: [
    { name: 'Dark', router: 'rr', servers: ['/servers/gone'] },
    { name: 'Half', router: 'rr', servers: ['/servers/up', '/servers/gone'] },
    { name: 'Bright', router: 'rr', servers: ['/servers/up'] },
  ],
};

describe('what is wrong', () => {
  itInBrowser('is said before the alerts are read anew', async (page) => {
    const { origin } = await serveConsole({ document: halfDark });
    await page.route(/\/alerts/, (route) =>
      route.fulfill({ json: { alerts: [] }, headers: { 'content-range': 'elements */0' } }),
    );
    await page.goto(`${origin}/console`);
    await page.getByRole('banner').getByText('2 things are wrong: see what is red.').waitFor();
    expect(await page.getByText('No alerts.').count()).toBe(0);
  });

  itInBrowser('is said of a service by its servers', async (page) => {
    const { origin } = await serveConsole({ document: halfDark });
    await page.goto(`${origin}/console`);
    for (const [name, text, tone] of [
      ['Dark', '0/1 up', 'bad'],
      ['Half', '1/2 up', 'warn'],
      ['Bright', '1/1 up', 'ok'],
    ] as const)
      await page
        .getByRole('row')
        .filter({ hasText: name })
        .locator(`.${tone}`, { hasText: text })
        .first()
        .waitFor();
  });
});

describe('a gateway that hangs', () => {
  itInBrowser('is not called live, and what is shown loses its colour', async (page) => {
    const { origin } = await serveConsole({ document: halfDark });
    await page.goto(`${origin}/console`);
    await page.getByText('live', { exact: true }).waitFor();
    // Requests are answered by nobody from now on. The stream of events is open as before.
    await page.route('**', () => undefined);
    await page.locator('.connection.bad', { hasText: /^.*no answer for \d+ s$/ }).waitFor();
    await page.getByText('What is shown may be wrong by now.').waitFor();
    await page.locator('body.stale').waitFor();
    expect(await page.getByText('No alerts.').count()).toBe(0);
  });

  itInBrowser('is not waited for without end by a plan', async (page) => {
    const { origin } = await serveConsole({ document: halfDark });
    await page.goto(`${origin}/console#?open=/services/Bright`);
    const stop = page.getByRole('button', { name: 'Stop Bright', exact: true });
    await stop.waitFor();
    await page.route('**', () => undefined);
    await stop.click();
    await dialog(page)
      .getByText(/^Planning … [2-9] s$/)
      .waitFor();
    await dialog(page).getByText('The gateway has not answered. Nothing was done.').waitFor();
    await dialog(page).getByRole('button', { name: 'Try again' }).waitFor();
  });
});

describe('a long list', () => {
  itInBrowser('is found in whole', async (page) => {
    const services = Array.from({ length: 1200 }, (_, nth) => ({
      name: `svc-${String(nth + 1)}`,
      router: 'rr',
      state: 'stopped' as const,
    }));
    const { origin } = await serveConsole({ document: { format: 2, services } });
    await page.goto(`${origin}/console#?find=svc-1150`);
    await page.getByRole('link', { name: 'svc-1150', exact: true }).waitFor();
    await page.getByText('1 of 1,200').waitFor();
  });

  itInBrowser('of the history goes on', async (page) => {
    const { origin, admin } = await serveConsole({ document: halfDark });
    for (let limit = 1; limit <= 230; limit += 1)
      await admin.handle({
        method: 'PATCH',
        target: '/services/Bright',
        headers: { 'content-type': 'application/json-patch+json' },
        body: JSON.stringify([{ op: 'add', path: '/max_connection', value: limit }]),
      });
    await page.goto(`${origin}/console#history`);
    await page.getByText(/^200 of 230 are shown, back to/).waitFor();
    await page.getByRole('button', { name: 'Show 30 more' }).click();
    await page.locator('.log tr[data-row]').nth(229).waitFor();
    expect(await page.getByRole('button', { name: /^Show \d+ more/ }).count()).toBe(0);
  });
});

describe('what a person has typed', () => {
  itInBrowser('stays until it is saved or reset', async (page) => {
    const { origin } = await serveConsole({ document: halfDark });
    const field = page.getByLabel('max_connection', { exact: false });
    await page.goto(`${origin}/console#?open=/services/Bright`);
    await field.fill('77');
    await page.keyboard.press('Escape');
    await page
      .getByRole('row')
      .filter({ hasText: 'Bright' })
      .first()
      .getByRole('link', { name: 'Bright' })
      .first()
      .click();
    await page.locator('.edits').getByText('1 edit').waitFor();
    expect(await field.inputValue()).toBe('77');
    await page.getByText('was nothing').waitFor();
    await page.getByRole('button', { name: 'Drop' }).click();
    await page.locator('.edits').waitFor({ state: 'detached' });
  });

  itInBrowser('as criteria of sessions is not thrown away by a key', async (page) => {
    const { origin } = await serveConsole({ document: shownDocument });
    await page.goto(`${origin}/console#sessions?user=ada&address=10.0.0.9`);
    await page.locator('.criteria').waitFor();
    await page.locator('.view').focus();
    await page.keyboard.press('/');
    expect(await page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('user');
    await page.getByRole('button', { name: 'Gateway', exact: true }).click();
    await page.getByRole('button', { name: 'Sessions', exact: true }).click();
    expect(await page.getByLabel('User', { exact: true }).inputValue()).toBe('ada');
  });
});

describe('a session whose id was used again', () => {
  itInBrowser('is refused in words of the page, and not tried again', async (page) => {
    const { origin, admin } = await serveConsole({ document: shownDocument });
    const session = [...admin.snapshot.sessions][0];
    if (session === undefined) throw new Error('The document has no session');
    const { id } = session;
    await page.goto(`${origin}/console#?open=/sessions/${String(id)}`);
    const closeSession = { name: /^Close session/ };
    await page.getByRole('button', closeSession).click();
    await planned(page);
    const again = { id, connected: session.connected + 60_000, user: 'eve', address: '10.0.0.8' };
    admin.report({ type: 'session.opened', ...again, service: session.service, state: 'open' });
    await dialog(page).getByRole('button', closeSession).click();
    await dialog(page)
      .getByText(/^This is not possible now. It is not what you saw any more/)
      .waitFor();
    expect(await dialog(page).getByRole('button', { name: 'Try again' }).count()).toBe(0);
  });
});

describe('a page that is older than its gateway', () => {
  itInBrowser('says that it must be loaded again', async (page) => {
    const faults: string[] = [];
    page.on('pageerror', ({ message }) => faults.push(message));
    const { origin } = await serveConsole({ document: halfDark });
    await page.route(/\?file=meanings/, (route) => route.fulfill({ status: 404, body: 'gone' }));
    await page.goto(`${origin}/console`);
    await page.getByRole('link', { name: 'Bright', exact: true }).first().click();
    await page.getByText('A new version of this page is there. Load the page again.').waitFor();
    await ask(page, 'Stop Bright');
    expect(faults).toEqual([]);
  });
});
