/**
 * The views beside the tables: the drawer, the history, the sessions and the latest, as a person uses them.
 */
import { describe, expect } from '@jest/globals';
import { createClient, sendTo, type Client } from 'gateway-admin-core/client';
import type { GatewayDocument } from 'gateway-admin-core';
import type { Locator, Page } from 'playwright-core';

import { ask, button, confirm, dialog, itInBrowser, outcome } from './operate.ts';
import { serveConsole, type Served } from './served-console.ts';

const server = { address: '10.0.0.1', port: 5432, protocol: 'pg' };

/** Names with spaces, whose links have none. */
const named: GatewayDocument = {
  format: 2,
  servers: [
    { name: 'Main DB', ...server, status: ['running'] },
    { name: 'db-2', ...server, status: [], status_reason: 'connection refused' },
  ],
  services: [
    {
      ...{ name: 'My Sales', router: 'rr', max_connection: 100 },
      servers: ['/servers/Main-DB', '/servers/db-2'],
      listeners: [{ name: 'First', address: '10.0.0.9', port: 4006, protocol: 'pg' }],
    },
    { name: 'Reports', router: 'rr', servers: ['/servers/Main-DB'] },
  ],
  filters: [
    { name: 'Query Log', module: 'log' },
    { name: 'Limit', module: 'limit' },
  ],
  sessions: Array.from({ length: 40 }, (_each, id) => ({
    ...{ id, state: 'ready', user: id < 30 ? 'ada' : 'bob', address: '10.0.0.7', idle: 5400 },
    connected: '2026-09-09T14:12:37+03:00',
    service: '/services/My-Sales',
    connections: [{ id: 0, server: '/servers/Main-DB', role: 'master', state: 'in use' }],
  })),
};

async function open(page: Page, fragment: string): Promise<Served & { readonly client: Client }> {
  const served = await serveConsole({ document: named, principalOf: () => ({ name: 'ada' }) });
  const client = createClient(
    sendTo({ handle: (request) => served.admin.handle({ ...request, principal: { name: 'grace' } }) }),
  );
  await page.goto(`${served.origin}/console${fragment}`);
  await page.locator('.connection', { hasText: 'live' }).waitFor();
  return { ...served, client };
}

const drawer = (page: Page): Locator => page.locator('.drawer');
const latest = (page: Page): Locator => page.getByRole('complementary', { name: 'Latest' });
const entry = (page: Page, text: string): Locator =>
  page.locator('.log tr[data-row]').filter({ hasText: text });

describe('the drawer', () => {
  itInBrowser(
    'says how a thing is, what belongs to it, its settings and its history, in this order',
    async (page) => {
      const { client } = await open(page, '#');
      await client.services.drain('My Sales', { timeout: 900, then: 'close', reason: 'kernel update' });
      await page.getByRole('link', { name: 'My Sales', exact: true }).first().click();
      await drawer(page).getByText('by grace: “kernel update”').waitFor();
      await drawer(page).getByText('40 sessions and 40 backend connections left').first().waitFor();
      await drawer(page)
        .getByText(/in 14 min, what is left is closed/)
        .waitFor();
      const rows = drawer(page).getByRole('region', { name: 'Sessions by server' }).getByRole('row');
      await rows.filter({ hasText: 'Main DB' }).getByText('40', { exact: true }).waitFor();
      await rows.filter({ hasText: 'db-2' }).getByText('connection refused').waitFor();
      expect(await drawer(page).getByRole('heading').allInnerTexts()).toEqual([
        expect.stringContaining('My Sales'),
        expect.stringContaining('Listeners'),
        expect.stringContaining('Sessions by server'),
        'Settings',
        expect.stringContaining('History of My Sales'),
      ]);
      await drawer(page).locator('.said', { hasText: 'Began to drain' }).waitFor();
      // The progress follows what is left, and the way to end it is beside it.
      await client.sessions.closeMany({ service: 'My Sales', user: 'ada' });
      await drawer(page).getByText('10 sessions and 10 backend connections left').first().waitFor();
      expect(
        await drawer(page)
          .getByRole('progressbar')
          .first()
          .evaluate((bar: HTMLProgressElement) => [bar.value, bar.max]),
      ).toEqual([30, 40]);
      await button(page, 'End now').click();
      await dialog(page).getByText('10 sessions and 10 backend connections').waitFor();
    },
  );

  itInBrowser(
    'takes choices from what exists, and shows each edit until it is saved or dropped',
    async (page) => {
      const { client } = await open(page, '#?open=/services/My-Sales');
      const group = drawer(page).getByRole('group', { name: 'filters' });
      await group.getByLabel('Limit').waitFor();
      expect(await group.locator('label').allInnerTexts()).toEqual(['Query Log', 'Limit']);
      await group.getByLabel('Limit').check();
      await group.getByLabel('Query Log').check();
      await drawer(page).getByLabel('max_connection', { exact: true }).fill('300');
      await drawer(page).getByText('was 100').waitFor();
      await drawer(page).locator('.edits').getByText('2 edits').waitFor();
      // The meaning is there while the field is used, and moves nothing.
      await drawer(page).getByText('Maximum number of connections').first().waitFor();
      await ask(page, 'Show what this changes');
      await confirm(page, 'Change My Sales');
      expect(await client.services.get('My Sales')).toMatchObject({
        value: { max_connection: 300, filters: ['/filters/Limit', '/filters/Query-Log'] },
      });
      await drawer(page).locator('.edits').waitFor({ state: 'detached' });
    },
  );

  itInBrowser('has links that open in another tab, and copies addresses', async (page) => {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await open(page, '#?open=/services/My-Sales');
    await drawer(page).getByRole('button', { name: 'Copy 10.0.0.9:4006' }).click();
    await drawer(page).getByText('Copied').waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('10.0.0.9:4006');
    const link = drawer(page).getByRole('link', { name: 'Main DB', exact: true }).first();
    expect(await link.getAttribute('href')).toBe('#?open=/servers/Main-DB');
    // Without a clipboard, the text is selected.
    await page.evaluate(() => Object.defineProperty(navigator, 'clipboard', { value: undefined }));
    await drawer(page).getByRole('button', { name: 'Copy link' }).click();
    expect(await page.evaluate(() => getSelection()?.toString())).toBe(page.url());
  });

  itInBrowser('of a session says on which servers it is', async (page) => {
    await open(page, '#?open=/sessions/7');
    const row = drawer(page).getByRole('region', { name: 'Connections' }).getByRole('row');
    await row.filter({ hasText: 'master' }).getByRole('link', { name: 'Main DB' }).waitFor();
  });
});

describe('the history', () => {
  itInBrowser('leaves an open menu open when another change comes', async (page) => {
    const { client } = await open(page, '#history');
    await client.services.stop('Reports');
    const menu = entry(page, 'Stopped Reports').locator('details');
    await menu.locator('summary').click();
    await client.services.stop('My Sales');
    await entry(page, 'Stopped My Sales').waitFor();
    expect(await menu.getAttribute('open')).not.toBeNull();
    await menu.getByRole('button', { name: 'Restore the state after this' }).click();
    await dialog(page).waitFor();
  });

  itInBrowser('joins what was undone with its undo, and finds by who, what and of what', async (page) => {
    const { client } = await open(page, '#history');
    await client.services.patch('My Sales', [{ op: 'replace', path: '/max_connection', value: 7 }]);
    await client.services.stop('Reports');
    await entry(page, 'Stopped Reports').getByRole('button', { name: 'Undo “Stopped Reports”' }).click();
    await dialog(page).locator('[type=submit]').click();
    await entry(page, 'Undid “Stopped Reports” of').getByText('Reports was started').waitFor();
    const undone = page.locator('.log tr.undone');
    await undone.getByText('undone at').waitFor();
    expect(await undone.locator('.said').evaluate((cell) => getComputedStyle(cell).textDecorationLine)).toBe(
      'line-through',
    );
    await undone.getByRole('button', { name: /^\d+:/ }).click();
    expect(await page.evaluate(() => document.activeElement?.textContent)).toContain('Undid');
    await page.getByLabel('Who', { exact: true }).fill('grace');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'History 2' }).waitFor();
    await page.getByLabel('Of', { exact: true }).fill('my sales');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'History 1' }).waitFor();
    expect(new URL(page.url()).hash).toBe('#history?actor=grace&resource=/services/my-sales');
    await page.reload();
    await page.getByRole('heading', { name: 'History 1' }).waitFor();
    await entry(page, 'max_connection 100 → 7').waitFor();
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByRole('combobox', { name: 'What', exact: true }).selectOption('closed sessions');
    await page.getByText('None.').waitFor();
    await page.getByRole('button', { name: 'Closed sessions', pressed: true }).click();
    // To restore takes back more than one change, and says so.
    await entry(page, 'Stopped Reports').last().locator('summary').click();
    await entry(page, 'Stopped Reports')
      .last()
      .getByText('Everything that was changed since then is taken back too.')
      .waitFor();
    await button(page, 'Restore the state after this').click();
    await dialog(page).waitFor();
  });
});

describe('the sessions', () => {
  itInBrowser('are chosen one by one, in a range, and all that are found', async (page) => {
    await open(page, '#sessions?user=ada');
    await page.getByRole('heading', { name: '30 sessions of 40' }).waitFor();
    await page.getByLabel('Choose 2,').click();
    await page.getByLabel('Choose 6,').click({ modifiers: ['Shift'] });
    await page.getByText('5 of 30 are chosen').waitFor();
    await page.getByLabel('Choose 9,').focus();
    await page.keyboard.press('Shift+Space');
    await page.getByText('8 of 30 are chosen').waitFor();
    await button(page, 'Choose all 30').click();
    await page.getByText('30 of 30 are chosen').waitFor();
    await ask(page, 'Close 30 chosen sessions');
    await confirm(page, 'Close 30 sessions');
    await page.getByRole('heading', { name: '0 sessions of 10' }).waitFor();
  });

  itInBrowser('have rows of 26 pixels whose columns line up, and spans in words', async (page) => {
    await page.setViewportSize({ width: 1440, height: 900 });
    await open(page, '#sessions');
    const row = page.locator('.session[data-row]').first();
    await row.getByText('1 h 30 min').waitFor();
    expect((await row.boundingBox())?.height).toBe(26);
    const lefts = (of: Locator): Promise<readonly number[]> =>
      of
        .locator(':scope > span')
        .evaluateAll((cells) => cells.map((cell) => cell.getBoundingClientRect().left));
    expect(await lefts(row)).toEqual(await lefts(page.locator('.session-head')));
    await page.getByLabel('Idle longer than').fill('2 h');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: '0 sessions of 40' }).waitFor();
    expect(new URL(page.url()).hash).toBe('#sessions?idle_over=7200');
    expect(await page.getByLabel('Idle longer than').inputValue()).toBe('2 h');
    await page.getByLabel('Server').selectOption('Main DB');
    await page.waitForURL(/server=Main\+DB/);
  });
});

describe('what has happened', () => {
  itInBrowser('is told in sentences with names as they were given', async (page) => {
    const { client, admin } = await open(page, '#');
    await client.services.stop('My Sales');
    await latest(page).getByText('grace stopped My Sales').first().waitFor();
    await client.services.drain('Reports', { reason: 'kernel update' });
    await latest(page).getByText('grace began to drain Reports: “kernel update”').first().waitFor();
    admin.report({ type: 'server.reported', server: 'Main DB', status: [], reason: 'no answer' });
    await latest(page).getByText('Main DB is down: no answer').waitFor();
    expect(await latest(page).innerText()).not.toMatch(/\w\.\w+ed|\/s|My-Sales|Main-DB|T\d\d:/);
  });

  itInBrowser('by this person fades from the bar into the latest, and keeps its undo', async (page) => {
    await page.clock.install();
    await open(page, '#?open=/services/Reports');
    await ask(page, 'Stop Reports');
    await confirm(page, 'Stop Reports');
    expect(await page.locator('.outcome').count()).toBe(1);
    await page.getByRole('button', { name: 'Close the drawer' }).click();
    await page.mouse.move(300, 5);
    await page.clock.runFor(12_000);
    await outcome(page).waitFor({ state: 'detached' });
    await latest(page).getByText('You stopped Reports').first().waitFor();
    await latest(page).getByRole('button', { name: /^Undo/ }).click();
    await page.clock.runFor(1000);
    await dialog(page).getByRole('heading', { name: 'Undo “Stop Reports”' }).waitFor();
  });

  itInBrowser('can be done by keys, which ? shows', async (page) => {
    await open(page, '#');
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).getByText('the history').waitFor();
    await page.keyboard.press('Escape');
    // A closed dialog stands for a moment.
    await page.locator('dialog').waitFor({ state: 'detached' });
    await page.keyboard.press('/');
    await page.keyboard.type('?');
    expect(await page.getByLabel('Find').inputValue()).toBe('?');
  });
});

describe('a phone', () => {
  itInBrowser(
    'breaks no word that has room, scrolls nowhere to the side, and reaches every act',
    async (page) => {
      await page.setViewportSize({ width: 375, height: 800 });
      await open(page, '#?open=/services/My-Sales');
      await drawer(page).locator('.all').waitFor();
      const wide = (): Promise<number> =>
        page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      expect(await wide()).toBe(0);
      // A word on two lines has two rectangles.
      const broken = await page.evaluate(() => {
        const found: string[] = [];
        const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        for (let node = walker.nextNode(); node !== null; node = walker.nextNode())
          for (const { index, 0: word } of (node.textContent ?? '').matchAll(/\S+/g)) {
            const range = document.createRange();
            range.setStart(node, index);
            range.setEnd(node, index + word.length);
            const tops = new Set(
              [...range.getClientRects()].filter(({ width }) => width > 1).map(({ top }) => Math.round(top)),
            );
            const isHidden = node.parentElement?.closest('.hidden') !== null;
            if (tops.size > 1 && !isHidden) found.push(word);
          }
        return found;
      });
      expect(broken).toEqual([]);
      await page.locator('.acts summary').click();
      await button(page, 'Delete My Sales').waitFor();
      for (const view of ['sessions', 'history', 'gateway']) {
        await page.goto(`${page.url().split('#')[0] ?? ''}#${view}`);
        await page.locator(`.view-${view}`).waitFor();
        expect([view, await wide()]).toEqual([view, 0]);
      }
    },
  );
});
