/**
 * The tables of the gateway: what is wrong is found at a glance, filtered and sorted, and each list says what to do
 * first.
 */
import { describe, expect } from '@jest/globals';
import type { GatewayDocument } from 'gateway-admin-core';
import { createClient, sendTo } from 'gateway-admin-core/client';
import type { Locator, Page } from 'playwright-core';

import { confirm, dialog, itInBrowser, planned } from './operate.ts';
import { serveConsole } from './served-console.ts';

const server = { address: '10.0.0.1', port: 5432, protocol: 'pg' };

/** Something in each state. */
const mixed: GatewayDocument = {
  format: 2,
  servers: [
    { name: 'up', ...server, status: ['running'], parameters: { share: 70 } },
    { name: 'gone', ...server, status: [], status_reason: 'connection refused' },
  ],
  services: [
    { name: 'Whole', router: 'rr', servers: ['/servers/up'], weightby: 'share', max_connection: 2 },
    { name: 'Free', router: 'rr', servers: ['/servers/up'], max_connection: 50 },
    { name: 'Half', router: 'rr', servers: ['/servers/up', '/servers/gone'] },
    { name: 'Dark', router: 'rr', servers: ['/servers/gone'] },
    { name: 'Resting', router: 'rr', state: 'stopped' },
    { name: 'Broken', router: 'rr', state: 'failed', state_reason: 'port 4009 is in use' },
    { name: 'Leaving', router: 'rr', servers: ['/servers/up'] },
  ],
  sessions: [1, 2, 3].map((id) => ({
    ...{
      id,
      state: 'open',
      user: 'ada',
      address: '10.0.0.9',
      connected: '2026-09-09T14:12:37+03:00',
      idle: 0,
    },
    service: id === 3 ? '/services/Free' : '/services/Whole',
    connections: [],
  })),
};

const section = (page: Page, name: string): Locator => page.getByRole('region', { name, exact: true });
const chip = (page: Page, name: string): Locator =>
  section(page, 'Services').getByRole('group').getByRole('button', { name, exact: true });
const head = (page: Page, name: string): Locator =>
  section(page, 'Services').getByRole('button', { name: `Sort by ${name}`, exact: true });

/** The names of the shown services, in their order. */
const names = (page: Page): Promise<readonly string[]> =>
  section(page, 'Services').getByRole('rowheader').allTextContents();

async function open(page: Page, fragment = ''): Promise<void> {
  const { origin, admin } = await serveConsole({ document: mixed });
  await createClient(sendTo(admin)).services.drain('Leaving', {});
  await page.goto(`${origin}/console${fragment}`);
  await section(page, 'Filters').waitFor();
}

describe('the rows of a list', () => {
  itInBrowser('are counted by state, and shown by state, what is wrong first', async (page) => {
    await open(page);
    const group = section(page, 'Services').getByRole('group', { name: 'States of services' });
    expect(await group.getByRole('button').allInnerTexts()).toEqual([
      'What is wrong 5',
      '1 failed',
      '1 serves nobody',
      '1 half up',
      '1 nearly full',
      '1 draining',
      '1 started',
      '1 stopped',
    ]);
    expect(await names(page)).toEqual(['Broken', 'Dark', 'Half', 'Leaving', 'Whole', 'Free', 'Resting']);
    await chip(page, '1 failed').press('Enter');
    await page.getByText('1 of 7 services are shown.').waitFor();
    expect(await names(page)).toEqual(['Broken']);
    expect(await chip(page, '1 failed').getAttribute('aria-pressed')).toBe('true');
    expect(new URL(page.url()).hash).toBe('#?only=services:failed');
    await chip(page, 'What is wrong 5').click();
    await page.getByText('5 of 7 services are shown.').waitFor();
    await page.goBack();
    await page.getByText('1 of 7 services are shown.').waitFor();
    await page.getByRole('button', { name: 'Show all' }).click();
    await page.waitForFunction(
      () => document.querySelectorAll('[aria-label=Services] tbody tr').length === 7,
    );
  });

  itInBrowser('are sorted by a column, by the keyboard too, and the address says so', async (page) => {
    await open(page, '#?sort=services:name');
    const name = section(page, 'Services').getByRole('columnheader', { name: 'Name' });
    const inOrder = ['Broken', 'Dark', 'Free', 'Half', 'Leaving', 'Resting', 'Whole'];
    expect([await names(page), await name.getAttribute('aria-sort')]).toEqual([inOrder, 'ascending']);
    await head(page, 'Name').press('Enter');
    await page.waitForURL(/sort=services:-name/);
    expect(await names(page)).toEqual(inOrder.toReversed());
    expect(await name.getAttribute('aria-sort')).toBe('descending');
    await head(page, 'Sessions').click();
    await page.waitForURL(/sort=services:number/);
    expect((await names(page)).slice(0, 2)).toEqual(['Whole', 'Free']);
    await page.goBack();
    await page.waitForURL(/sort=services:-name/);
    expect(await names(page)).toEqual(inOrder.toReversed());
  });

  itInBrowser('can be seen when they come to the top from below', async (page) => {
    const services = Array.from({ length: 400 }, (_, at) => ({
      ...{ name: `S ${String(at).padStart(3, '0')}`, router: 'rr' },
      servers: ['/servers/up', ...(at % 40 === 39 ? ['/servers/other'] : [])],
    }));
    const servers = ['up', 'other'].map((name) => ({ name, ...server, status: ['running' as const] }));
    const { origin, admin } = await serveConsole({ document: { format: 2, servers, services } });
    await page.goto(`${origin}/console`);
    await chip(page, '400 started').waitFor();
    admin.report({ type: 'server.reported', server: 'other', status: [] });
    await chip(page, '10 half up').waitFor();
    await page.waitForFunction(() => {
      const rows = [...document.querySelectorAll<HTMLElement>('[aria-label=Services] tbody tr')].slice(0, 10);
      return rows.every((row) => row.innerText.includes('other is down') && row.offsetHeight === 26);
    });
    // A row keeps the focus where it goes.
    const last = section(page, 'Services').getByRole('link', { name: 'S 398', exact: true });
    await last.focus();
    admin.report({ type: 'service.reported', service: 'S 398', state: 'failed', reason: 'no port' });
    await chip(page, '1 failed').waitFor();
    expect((await names(page))[0]).toBe('S 398');
    expect(await last.evaluate((link) => link === document.activeElement)).toBe(true);
  });

  itInBrowser('are 26 pixels high, and their columns line up from list to list', async (page) => {
    await page.setViewportSize({ width: 1440, height: 900 });
    await open(page);
    const rows = page.locator('.view tbody tr');
    const heights = await rows.evaluateAll((all) => all.map((row) => row.getBoundingClientRect().height));
    expect(new Set(heights)).toEqual(new Set([26]));
    const leftOf = (list: string, column: string): Promise<number> =>
      section(page, list)
        .getByRole('columnheader', { name: column })
        .evaluate((cell) => cell.getBoundingClientRect().left);
    expect(await leftOf('Servers', 'Services')).toBe(await leftOf('Services', 'Servers'));
    expect(await leftOf('Servers', 'Address')).toBe(await leftOf('Services', 'Router'));
    // Who uses a server, and with which weight.
    const up = section(page, 'Servers').getByRole('row').filter({ hasText: 'running' });
    expect(await up.getByRole('cell').allInnerTexts()).toEqual([
      ...['', 'running', '', '70', '', '4 services', '10.0.0.1:5432'],
    ]);
    const fold = page.getByRole('button', { name: 'Servers 2', exact: true });
    await fold.click();
    await section(page, 'Servers').getByRole('table').waitFor({ state: 'detached' });
    expect(new URL(page.url()).hash).toBe('#?closed=servers');
    expect(await fold.getAttribute('aria-expanded')).toBe('false');
    // The heads stay in sight.
    await page.setViewportSize({ width: 1440, height: 260 });
    await page.locator('.view').evaluate((view) => view.scrollTo(0, 90));
    await head(page, 'Name').click({ trial: true });
  });

  itInBrowser('say their state by a shape, a colour and a word', async (page) => {
    await open(page);
    const looks = await page.locator('.view tbody tr').evaluateAll((rows) =>
      rows.map((row) => {
        const shape = row.querySelector('.shape');
        const { borderRadius = '', clipPath = '' } = shape === null ? {} : getComputedStyle(shape);
        const form = clipPath.startsWith('polygon') ? 'triangle' : borderRadius === '50%' ? 'dot' : 'square';
        const isTinted = getComputedStyle(row).backgroundColor !== 'rgba(0, 0, 0, 0)';
        return [
          row.querySelector('th')?.textContent,
          form,
          isTinted,
          row.querySelector<HTMLElement>('td.state')?.innerText,
        ].join();
      }),
    );
    expect(looks).toEqual([
      'Broken,square,true,failed: port 4009 is in use',
      'Dark,square,true,started, serves nobody: gone is down',
      'Half,triangle,true,started, gone is down',
      'Leaving,triangle,true,drained: nothing left',
      'Whole,triangle,true,started, nearly full',
      'Free,dot,false,started',
      'Resting,dot,false,stopped',
      'gone,square,true,down: connection refused',
      'up,dot,false,running',
    ]);
    const coloursOf = (selector: string): Promise<string> =>
      page
        .locator(selector)
        .first()
        .evaluate((each) => getComputedStyle(each).color);
    const accent = await coloursOf('.links .none .link, .head .plain');
    expect(accent).not.toBe(await coloursOf('.shape.ok'));
    await page.emulateMedia({ contrast: 'more' });
    expect(await coloursOf('td.address')).toBe(await coloursOf('body'));
  });
});

describe('a card of an alert', () => {
  itInBrowser('says since when, why and what to do, and its button opens the plan', async (page) => {
    const { origin, admin } = await serveConsole({ document: mixed });
    admin.report({ type: 'server.reported', server: 'gone', status: ['running'] });
    admin.report({ type: 'server.reported', server: 'gone', status: [], reason: 'no answer' });
    await page.goto(`${origin}/console`);
    const card = page.getByRole('banner').getByRole('listitem').filter({ hasText: 'gone is down' }).first();
    await card.getByText('no answer.').waitFor();
    await card.getByText(/^\d+ s$/).waitFor();
    await card.getByRole('button', { name: 'Give Dark another server' }).click();
    await planned(page);
    expect(await dialog(page).getByLabel('Server').locator('option').allInnerTexts()).toEqual(['up']);
    await confirm(page, 'Give Dark another server');
    const answer = await createClient(sendTo(admin)).services.get('Dark');
    expect(answer).toMatchObject({ value: { servers: ['/servers/gone', '/servers/up'] } });
    await page
      .getByRole('button', { name: 'Give Dark another server' })
      .first()
      .waitFor({ state: 'detached' });
    // The block beside the cards leads to what is wrong in each list.
    await page.getByRole('button', { name: /^2 faults/ }).click();
    await page.getByText('1 of 2 servers are shown.').waitFor();
  });
});

describe('a list that is empty', () => {
  itInBrowser('says the first step', async (page) => {
    const { origin } = await serveConsole({ document: { format: 2 } });
    await page.goto(`${origin}/console`);
    for (const first of [
      'No services. Add one',
      'No servers. Add one',
      'No monitors. Add one',
      'No users, so',
    ])
      await page.getByText(first).waitFor();
  });
});
