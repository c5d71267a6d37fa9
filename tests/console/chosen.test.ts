/**
 * Several chosen resources: one plan for all, one command, one undo.
 */
import { describe, expect } from '@jest/globals';
import type { AdminOptions, GatewayDocument } from 'gateway-admin-core';
import { createClient, sendTo, type Client } from 'gateway-admin-core/client';
import type { Locator, Page } from 'playwright-core';

import { ask, button, confirm, dialog, itInBrowser, planned } from './operate.ts';
import { serveConsole } from './served-console.ts';

const server = { address: '10.0.0.1', port: 5432, protocol: 'pg' };

const five: GatewayDocument = {
  format: 2,
  servers: ['db-1', 'db-2', 'db-3'].map((name) => ({ name, ...server, status: ['running'] })),
  services: ['Alpha', 'Beta', 'Gamma', 'Delta One', 'Epsilon'].map((name, at) => ({
    ...{ name, router: 'rr', servers: ['/servers/db-1', '/servers/db-2'] },
    ...(at < 2 ? { max_connection: 10 } : { max_connection: 20 + at, state: 'stopped' as const }),
  })),
  monitors: ['Near', 'Far'].map((name) => ({
    name,
    module: 'ping',
    servers: ['/servers/db-1'],
    state: 'stopped',
  })),
};

async function open(page: Page, fragment = '', admin: Partial<AdminOptions> = {}): Promise<Client> {
  const served = await serveConsole({ document: five, admin, principalOf: () => ({ name: 'ada' }) });
  await page.goto(`${served.origin}/console${fragment}`);
  await page.getByRole('table', { name: 'Monitors' }).waitFor();
  return createClient(sendTo(served.admin));
}

const box = (page: Page, name: string): Locator => page.getByRole('checkbox', { name: `Choose ${name}` });
const bar = (page: Page): Locator => page.locator('.chosen');
const states = async (client: Client): Promise<readonly unknown[]> => {
  const answer = await client.services.list({ fields: ['name', 'state'] });
  return answer.ok ? answer.value.elements.map(({ name, state }) => `${name} ${state}`) : [];
};
const historyOf = async (client: Client): Promise<number> => {
  const answer = await client.history.list();
  return answer.ok ? answer.value.total : NaN;
};

describe('several chosen resources', () => {
  itInBrowser('are stopped by one plan that names each, and started again by one undo', async (page) => {
    const client = await open(page);
    const before = await states(client);
    await box(page, 'Alpha').check();
    await box(page, 'Beta').check();
    await bar(page).getByText('2 of 5 are chosen').waitFor();
    await ask(page, 'Stop 2 services');
    await dialog(page).getByText('stop Alpha', { exact: true }).waitFor();
    await dialog(page).getByText('stop Beta', { exact: true }).waitFor();
    expect(await confirm(page, 'Stop Alpha, Beta')).toMatch(/^Done in .* s: Stop Alpha, Beta\./);
    expect((await states(client)).every((each) => String(each).endsWith('stopped'))).toBe(true);
    expect(await historyOf(client)).toBe(1);
    // What is done is chosen no longer.
    await bar(page).waitFor({ state: 'detached' });
    await page.locator('.outcome').getByRole('button', { name: 'Undo' }).click();
    await confirm(page, 'Undo “Stop Alpha, Beta”');
    expect(await states(client)).toEqual(before);
  });

  itInBrowser(
    'are chosen by keys, in a range, and all that are found, and the address says so',
    async (page) => {
      await open(page, '#?sort=services:name');
      await box(page, 'Alpha').focus();
      await page.keyboard.press('Space');
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Shift+Space');
      await bar(page).getByText('3 of 5 are chosen').waitFor();
      expect(new URL(page.url()).hash).toContain('chosen=/services/Alpha,/services/Beta,/services/Delta-One');
      // Enter opens the row of a box, as in the sessions.
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'service Delta One' }).waitFor();
      await page.goBack();
      await bar(page).getByText('3 of 5 are chosen').waitFor();
      await page.reload();
      await bar(page).getByText('3 of 5 are chosen').waitFor();
      await button(page, 'Choose none').click();
      await bar(page).waitFor({ state: 'detached' });
      await page.getByLabel('Find').fill('stopped');
      await box(page, 'Epsilon').check();
      await button(page, 'Choose all 3').click();
      await bar(page).getByText('3 of 5 are chosen').waitFor();
      // Another list: its rows are chosen instead.
      await page.getByLabel('Find').fill('');
      await box(page, 'db-1').check();
      await bar(page).getByText('1 of 3 is chosen').waitFor();
      expect(await page.locator('tr.is-chosen').count()).toBe(1);
    },
  );

  itInBrowser('are offered what all of them allow, and the rest with its reason', async (page) => {
    const client = await open(page);
    await box(page, 'Alpha').check();
    await box(page, 'Epsilon').check();
    for (const name of ['Start', 'Stop', 'Drain', 'Change the settings of'])
      await button(page, `${name} 2 services`).waitFor();
    await bar(page).locator('summary').click();
    await bar(page)
      .getByText(/Alpha.*stop/)
      .waitFor();
    expect(await button(page, 'Delete 2 services').getAttribute('aria-disabled')).toBe('true');
    // What would change none of them is not offered.
    await box(page, 'Alpha').uncheck();
    await box(page, 'Gamma').check();
    await button(page, 'Start 2 services').waitFor();
    expect(await button(page, 'Stop 2 services').count()).toBe(0);
    // What closes cannot be one command of several.
    expect(
      await bar(page)
        .getByText(/^Close the/)
        .count(),
    ).toBe(0);

    await box(page, 'db-2').check();
    await box(page, 'db-3').check();
    await ask(page, 'Set maintenance on 2 servers');
    await confirm(page, 'Set maintenance on db-2, db-3');
    expect(await client.servers.get('db-3')).toMatchObject({ value: { status: ['maintenance', 'running'] } });
    await box(page, 'db-2').check();
    await box(page, 'db-3').check();
    await button(page, 'Clear maintenance on 2 servers').waitFor();
    // Lists name one of them.
    await bar(page).locator('summary').click();
    await bar(page)
      .getByText(/db-2.*it is listed by/)
      .waitFor();
    expect(await button(page, 'Delete 2 servers').getAttribute('aria-disabled')).toBe('true');
  });

  itInBrowser('get one setting: what differs stays, unless a person fills it in', async (page) => {
    const client = await open(page);
    await box(page, 'Alpha').check();
    await box(page, 'Gamma').check();
    await button(page, 'Change the settings of 2 services').click();
    const field = (name: string): Locator => dialog(page).getByLabel(name, { exact: true });
    expect(await field('max_connection').inputValue()).toBe('');
    await dialog(page)
      .getByText(/^Not the same everywhere/)
      .waitFor();
    await planned(page);
    await dialog(page).getByText('This changes nothing.').waitFor();
    await field('connection_timeout').fill('300');
    await dialog(page).getByText('Gamma: connection_timeout: nothing → 300').waitFor();
    await confirm(page, 'Change the settings of Alpha, Gamma');
    for (const [name, most] of [
      ['Alpha', 10],
      ['Gamma', 22],
    ] as const)
      expect(await client.services.get(name)).toMatchObject({
        value: { connection_timeout: 300, max_connection: most },
      });
    expect(await historyOf(client)).toBe(1);
  });

  itInBrowser('are refused as a whole, with the name of the one that is the reason', async (page) => {
    const client = await open(page);
    await box(page, 'Near').check();
    await box(page, 'Far').check();
    await ask(page, 'Delete 2 monitors');
    await client.monitors.delete('Far');
    await dialog(page).getByRole('button', { name: 'Delete Near, Far' }).click();
    await dialog(page)
      .getByText(/This is not possible now.*Far/)
      .waitFor();
    expect(await client.monitors.get('Near')).toMatchObject({ ok: true });
    // What is gone is chosen no longer.
    await button(page, 'Cancel').click();
    await bar(page).getByText('1 of 1 is chosen').waitFor();
  });

  itInBrowser('in production want their names typed', async (page) => {
    await open(page, '', { environment: 'production' });
    await box(page, 'Alpha').check();
    await box(page, 'Beta').check();
    await ask(page, 'Stop 2 services');
    await page.getByLabel('Type “Alpha, Beta” to go on').fill('Alpha, Beta');
    await confirm(page, 'Stop Alpha, Beta');
  });

  itInBrowser('are at most as many as one command takes', async (page) => {
    const services = Array.from({ length: 120 }, (_each, at) => ({
      name: `svc-${String(at)}`,
      router: 'rr',
    }));
    const { origin } = await serveConsole({ document: { format: 2, services } });
    await page.goto(`${origin}/console`);
    await page.getByRole('checkbox').first().check();
    await button(page, 'Choose the first 100').click();
    await bar(page).getByText('100 of 120 are chosen').waitFor();
    await ask(page, 'Stop 100 services');
    await confirm(page, 'Stop 100 services');
    const all = page.getByRole('region', { name: 'Services' }).getByRole('button', { name: /^Change all/ });
    expect(await all.getAttribute('title')).toBe('At most 100 at once. Find fewer of them first.');
    await page.getByLabel('Find').fill('svc-11');
    await all.click();
    // Those whose names begin so.
    await dialog(page).getByRole('heading', { name: 'Change the settings of 11 services' }).waitFor();
  });
});
