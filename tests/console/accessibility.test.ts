/**
 * The console for every eye and every screen: no fault that axe knows, no text beyond the edge, no motion that is not
 * wanted.
 */
import { describe, expect, it } from '@jest/globals';
import axe, { type AxeResults } from 'axe-core';
import { createBasicAuthentication, type Admin } from 'gateway-admin-core';
import type { Page } from 'playwright-core';

import { inBrowser } from '../support/browser.ts';
import { documentWithUser, password, serveConsole, type Served } from './served-console.ts';

/** What a page shows, and the way there. */
type Walk = Readonly<Record<string, (page: Page, admin: Admin) => Promise<void>>>;

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true });

/** From the log-in form through everything. Each step begins where the one before has ended. */
const walk: Walk = {
  'the log-in form, after a wrong password': async (page) => {
    await page.getByLabel('Name').fill('ada');
    await page.getByLabel('Password').fill('wrong');
    await button(page, 'Log in').click();
    await page.getByRole('alert').waitFor();
  },
  'the gateway, with alerts': async (page) => {
    await page.getByLabel('Password').fill(password);
    await button(page, 'Log in').click();
    await page.getByRole('list', { name: '2 alerts' }).waitFor();
  },
  'a row that fits what is sought, and none': async (page) => {
    await page.getByLabel('Find').fill('broken');
    await page.getByText('1 of 5').waitFor();
    await page.locator('.view .none').first().waitFor();
  },
  'the state of a service': async (page) => {
    await page.getByLabel('Find').fill('');
    await page
      .locator('tbody')
      .getByRole('button', { name: /^Sales/ })
      .first()
      .click();
    await page.getByText('Sales Listener').waitFor();
    await page.getByText('Not possible:').click();
  },
  'the settings of a service, with a fault': async (page) => {
    await page.getByRole('tab', { name: 'Settings' }).click();
    await page.getByLabel('max_connection', { exact: true }).fill('many');
    await button(page, 'Show what this changes').click();
    await page.locator('[aria-invalid=true]').waitFor();
  },
  'a plan, and a name to type': async (page) => {
    await button(page, /^Stop Sales/).click();
    await page.getByLabel('Type “Sales” to go on').waitFor();
  },
  'what was done, and events': async (page, admin) => {
    for (const reason of ['in recovery', 'connection refused'])
      admin.report({ type: 'server.reported', server: 'db-1', status: [], reason });
    await page.getByLabel('Type “Sales” to go on').fill('Sales');
    await page.locator('dialog .primary').click();
    await page.locator('.outcome').waitFor();
    await button(page, 'Close the drawer').click();
    await page
      .getByRole('complementary', { name: /^Events since/ })
      .getByText('service.stopped')
      .waitFor();
    await page
      .getByRole('complementary', { name: /^Events since/ })
      .getByText('server.reported')
      .last()
      .waitFor();
  },
  'the history of a service': async (page) => {
    await page
      .locator('tbody')
      .getByRole('button', { name: /^Sales/ })
      .first()
      .click();
    await page.getByRole('tab', { name: 'History' }).click();
    await page.locator('.drawer .history li').waitFor();
  },
  'the sessions, with chosen ones': async (page) => {
    await button(page, 'Close the drawer').click();
    await button(page, 'Sessions').click();
    await page.getByLabel('Choose 1,').check();
  },
  'a form': async (page) => {
    await button(page, 'Gateway').click();
    await button(page, 'Add a server').click();
    await page.getByRole('dialog').getByLabel('name').waitFor();
  },
  'the history': async (page) => {
    await page.keyboard.press('Escape');
    await button(page, 'History').click();
    await page.locator('.view .history li').waitFor();
  },
};

async function open(page: Page): Promise<Served> {
  const { services = [], ...rest } = await documentWithUser();
  // A name of 60 characters that breaks nowhere, and a reason of 240.
  const long = 'SalesOfTheNorthernBranchesAndOfTheSouthernBranchesInTheWinter';
  const document = {
    ...rest,
    services: services.map((service) =>
      service.name === 'Broken' ? { ...service, state_reason: long.repeat(4) } : service,
    ),
  };
  document.services.push({ name: long, router: 'cli', state: 'stopped', servers: ['/servers/db-1'] });
  const access = { authenticate: createBasicAuthentication() };
  const served = await serveConsole({ document, admin: { access, environment: 'production' } });
  // The policy of the page lets no other script in.
  await page.addInitScript({ content: axe.source });
  await page.goto(`${served.origin}/console`);
  return served;
}

/** Goes through everything, and looks at each place. */
async function goThrough(page: Page, look: () => Promise<unknown>): Promise<void> {
  const { admin } = await open(page);
  for (const [name, go] of Object.entries(walk)) {
    await go(page, admin);
    expect({ name, found: await look() }).toEqual({ name, found: [] });
  }
}

/** The rules of the standard, and what axe recommends beyond. */
const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** The faults that axe finds, each with its elements. What axe cannot decide counts as a fault. */
async function faultsOf(page: Page, rules?: readonly string[]): Promise<readonly string[]> {
  const run = rules === undefined ? { type: 'tag', values: tags } : { type: 'rule', values: rules };
  const options = { runOnly: run, resultTypes: ['violations', 'incomplete'] };
  const { violations, incomplete } = await page.evaluate<AxeResults>(`axe.run(${JSON.stringify(options)})`);
  return [...violations, ...incomplete].flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary = '' }) => `${id}: ${html} ${failureSummary}`),
  );
}

/** Everything that is wider than its place, except tables, which scroll by themselves, and cells that end in dots. */
function tooWide(page: Page): Promise<readonly string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>('*')]
      .filter((element) => {
        const isPage = element === document.documentElement || element === document.body;
        const isPlace = isPage || getComputedStyle(element).overflowX !== 'visible';
        const isMeant = element.matches('.scroll, .hidden, .session *, .session-head *, input, textarea');
        return isPlace && !isMeant && element.scrollWidth > element.clientWidth;
      })
      .map(({ outerHTML, scrollWidth, clientWidth }) =>
        [scrollWidth, clientWidth, outerHTML.slice(0, 200)].join(' '),
      ),
  );
}

describe('the console, in a real browser', () => {
  it(
    'has no fault that axe finds, in light and dark, and on a narrow screen',
    inBrowser(async (page) => {
      await goThrough(page, async () => {
        // High enough for everything: axe sees no contrast of what is scrolled away.
        await page.setViewportSize({ width: 1280, height: 4000 });
        const faults = [...(await faultsOf(page))];
        await page.emulateMedia({ colorScheme: 'dark' });
        faults.push(...(await faultsOf(page, ['color-contrast'])));
        await page.emulateMedia({ colorScheme: 'light' });
        await page.setViewportSize({ width: 320, height: 800 });
        faults.push(...(await faultsOf(page, ['landmark-one-main', 'region', 'target-size'])));
        await page.setViewportSize({ width: 1280, height: 4000 });
        return faults;
      });
    }),
  );

  it(
    'has nothing beyond the edge of a screen of 320 pixels, and of 3840',
    inBrowser(async (page) => {
      await goThrough(page, async () => {
        const found: string[] = [];
        for (const [width, height] of [
          [3840, 2160],
          [320, 640],
        ] as const) {
          await page.setViewportSize({ width, height });
          found.push(...(await tooWide(page)));
        }
        await page.setViewportSize({ width: 1280, height: 800 });
        return found;
      });
    }),
  );

  it(
    'moves nothing',
    inBrowser(async (page) => {
      const { origin } = await serveConsole();
      await page.goto(`${origin}/console#?open=/services/Sales`);
      await page.emulateMedia({ reducedMotion: 'no-preference' });
      const begun = page.evaluate(
        () =>
          new Promise<number>((resolve) => {
            new MutationObserver(() => {
              if (document.querySelector('.outcome') !== null) resolve(document.getAnimations().length);
            }).observe(document.body, { childList: true, subtree: true });
          }),
      );
      await page.getByRole('button', { name: 'Stop Sales' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Stop Sales' }).click();
      expect(await begun).toBe(0);
    }),
  );
});
