/**
 * Places: a link leads another person to the same place, and the back button leads back.
 */
import { describe, expect, it } from '@jest/globals';
import { createBasicAuthentication } from 'gateway-admin-core';
import type { Page } from 'playwright-core';

import { inBrowser } from '../support/browser.ts';
import { documentWithUser, password, serveConsole } from './served-console.ts';

const drawer = (page: Page) => page.getByRole('region', { name: 'service Sales' });
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const fragment = (page: Page): string => new URL(page.url()).hash;

describe('the address of the console, in a real browser', () => {
  it(
    'names the view, the search, the chosen sessions, the drawer and its tab',
    inBrowser(async (page) => {
      const { origin } = await serveConsole();
      await page.goto(`${origin}/console`);
      await button(page, 'Sales').first().click();
      await drawer(page).getByRole('tab', { name: 'Settings' }).click();
      await drawer(page).getByLabel('max_connection', { exact: true }).waitFor();
      expect(fragment(page)).toBe('#?open=/services/Sales&tab=settings');
      await button(page, 'Sessions').click();
      await page.getByLabel('Service', { exact: true }).fill('Reports');
      await page.getByLabel('Idle longer than').fill('20');
      await page.keyboard.press('Enter');
      await page.getByText('4 sessions', { exact: true }).waitFor();
      // A person can change what is searched for.
      expect(await page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('idle_over');
      await page.getByLabel('Choose 24,').check();
      await page.getByLabel('Choose 36,').check();
      await page.getByRole('row').getByRole('button', { name: 'Reports', exact: true }).first().click();
      await page.getByRole('tab', { name: 'Settings' }).click();
      expect(fragment(page)).toMatch(
        /^#sessions\?open=\/services\/Reports&tab=settings&service=Reports&idle_over=20&chosen=24:24\.\d+,36:36\.\d+$/,
      );

      // Another person, at the same link.
      const other = await page.context().newPage();
      await other.goto(page.url());
      await other.getByText('4 sessions', { exact: true }).waitFor();
      await button(other, 'Close 2 chosen sessions').waitFor();
      expect(await other.getByRole('checkbox', { checked: true }).count()).toBe(2);
      expect(await other.getByLabel('Idle longer than').inputValue()).toBe('20');
      await other.getByLabel('max_connection', { exact: true }).waitFor();
      await other.getByLabel('Idle longer than').fill('7');
      // A selection is one of these sessions.
      await button(other, 'All sessions').click();
      await other.getByText('40 sessions', { exact: true }).waitFor();
      await button(other, 'Close 0 chosen sessions').waitFor();
      expect(await other.getByLabel('Idle longer than').inputValue()).toBe('');
    }),
  );

  it(
    'does not choose another session that has the same id by now',
    inBrowser(async (page) => {
      const { origin } = await serveConsole();
      await page.goto(`${origin}/console#sessions?chosen=3:3.1`);
      await page.getByText('40 sessions', { exact: true }).waitFor();
      expect(await page.getByRole('checkbox', { checked: true }).count()).toBe(0);
      await button(page, 'Close 1 chosen session').click();
      await page.getByRole('dialog').getByText('not possible now').waitFor();
      await page.keyboard.press('Escape');
      await button(page, 'Choose none').click();
      await button(page, 'Close 0 chosen sessions').waitFor();
      expect(fragment(page)).toBe('#sessions');
    }),
  );

  it(
    'names no chosen session any more once these were closed',
    inBrowser(async (page) => {
      const { origin } = await serveConsole();
      await page.goto(`${origin}/console#sessions`);
      await page.getByLabel('Choose 3,').check();
      await button(page, 'Close 1 chosen session').click();
      await page.getByRole('dialog').getByRole('button', { name: 'Close 1 session' }).click();
      await page.getByText('Done in').first().waitFor();
      await button(page, 'Close 0 chosen sessions').waitFor();
      expect(fragment(page)).toBe('#sessions');
    }),
  );

  it(
    'leads to its place once the person has logged in',
    inBrowser(async (page) => {
      const access = { authenticate: createBasicAuthentication() };
      const { origin } = await serveConsole({ document: await documentWithUser(), admin: { access } });
      const place = '#?find=sales&open=/services/Sales&tab=history';
      await page.goto(`${origin}/console${place}`);
      await page.getByLabel('Name').fill('ada');
      await page.getByLabel('Password').fill(password);
      await button(page, 'Log in').click();
      await drawer(page).getByText('None.').first().waitFor();
      await page.getByText('2 of 4').waitFor();
      expect(await page.getByLabel('Find').inputValue()).toBe('sales');
      expect(fragment(page)).toBe(place);
    }),
  );

  it(
    'is left and found again by the back button and the forward button',
    inBrowser(async (page) => {
      const { origin } = await serveConsole();
      await page.goto(`${origin}/console`);
      await button(page, 'Sales').first().click();
      await drawer(page).getByRole('tab', { name: 'History' }).click();
      await drawer(page).getByText('None.').first().waitFor();
      await button(page, '10 sessions, Reports').click();
      await page.getByText('10 sessions', { exact: true }).waitFor();
      await button(page, 'All sessions').click();
      await page.getByText('40 sessions', { exact: true }).waitFor();

      await page.goBack();
      await page.getByText('10 sessions', { exact: true }).waitFor();
      expect(await page.getByLabel('Service', { exact: true }).inputValue()).toBe('Reports');
      await page.goBack();
      // The tab is part of the place that was left.
      await drawer(page).getByText('None.').first().waitFor();
      await page.goBack();
      await page.getByRole('complementary', { name: /^Events since/ }).waitFor();
      expect(fragment(page)).toBe('');
      await page.goForward();
      await drawer(page).getByText('None.').first().waitFor();
      await page.goBack();
      await page.goBack();
      // The page leaves nothing of itself in the way.
      expect(page.url()).toBe('about:blank');
    }),
  );
});
