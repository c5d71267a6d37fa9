/**
 * The console for every eye, every screen and every hand: no fault that axe knows, no text beyond the edge, no motion
 * that is not wanted, and all without a mouse.
 */
import { describe, expect } from '@jest/globals';
import axe from 'axe-core';
import { type Admin, createBasicAuthentication } from 'gateway-admin-core';
import { createClient, sendTo } from 'gateway-admin-core/client';
import type { Locator, Page } from 'playwright-core';

import { faultsOf, tooWide } from '../support/page-faults.ts';
import { button, itInBrowser } from './operate.ts';
import { documentWithUser, password, serveConsole, type Served, shownDocument } from './served-console.ts';

/** What a page shows, and the way there. */
type Walk = Readonly<Record<string, (page: Page, admin: Admin) => Promise<void>>>;

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
  'several chosen services, with what can be done to them': async (page) => {
    await page.getByLabel('Choose Sales', { exact: true }).check();
    await page.getByLabel('Choose Reports', { exact: true }).check();
  },
  'settings of several services': async (page) => {
    await button(page, 'Change the settings of 2 services').click();
    await page.getByRole('dialog').getByText('Not the same everywhere').first().waitFor();
  },
  'a row that fits what is sought, and none': async (page) => {
    await page.keyboard.press('Escape');
    await button(page, 'Choose none').click();
    await page.getByLabel('Find').fill('broken');
    await page.getByText('1 of 5').waitFor();
    await page.locator('.view .none').first().waitFor();
  },
  'the state of a service': async (page) => {
    await page.getByLabel('Find').fill('');
    await page
      .locator('tbody')
      .getByRole('link', { name: /^Sales/ })
      .first()
      .click();
    await page.getByRole('rowheader', { name: 'Sales Listener' }).waitFor();
    await page.locator('.acts summary').click();
    await page.locator('.drawer .all > summary').click();
  },
  'the settings of a service, with a fault': async (page) => {
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
      .getByRole('complementary', { name: 'Latest' })
      .getByText('You stopped Sales')
      .first()
      .waitFor();
    await page
      .getByRole('complementary', { name: 'Latest' })
      .getByText('is down: connection refused')
      .last()
      .waitFor();
  },
  'the history of a service': async (page) => {
    await page
      .locator('tbody')
      .getByRole('link', { name: /^Sales/ })
      .first()
      .click();
    await page.locator('.drawer .log tbody tr').waitFor();
  },
  'the sessions, with chosen ones': async (page) => {
    await button(page, 'Close the drawer').click();
    await button(page, 'Sessions').click();
    await page.getByLabel('Choose 1,').check();
    await button(page, 'By user').click();
    await page.getByRole('group', { name: 'Sessions by user' }).waitFor();
  },
  'a form': async (page) => {
    await button(page, 'Gateway').click();
    await button(page, 'Add a server').click();
    await page.getByRole('dialog').getByLabel('name').waitFor();
  },
  'the history': async (page) => {
    await page.keyboard.press('Escape');
    await button(page, 'History').first().click();
    await page.locator('.view .log tbody tr').last().waitFor();
    await page.locator('.log summary').first().click();
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

describe('the console, in a real browser', () => {
  itInBrowser('has no fault that axe finds, in light and dark, and on a narrow screen', async (page) => {
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
  });

  itInBrowser('has nothing beyond the edge of a screen of 320 pixels, and of 3840', async (page) => {
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
  });

  itInBrowser('moves nothing', async (page) => {
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
  });
});

/** The edges of a part of the page, in pixels. */
async function edges(part: Locator): Promise<{ readonly right: number; readonly bottom: number }> {
  const { x, y, width, height } = (await part.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
  return { right: x + width, bottom: y + height };
}

const size = (page: Page) => page.evaluate(() => ({ width: innerWidth, height: innerHeight }));

describe('the layout of the console, in a real browser', () => {
  itInBrowser('shows the state of every server beside a name of 255 characters', async (page) => {
    const long = { name: 'w'.repeat(255), address: '10.0.0.9', port: 5432, protocol: 'pgbackend' };
    const servers = [...(shownDocument.servers ?? []), long];
    const { origin } = await serveConsole({ document: { ...shownDocument, servers } });
    await page.goto(`${origin}/console`);
    const table = page.getByRole('table', { name: 'Servers' });
    const address = table.getByRole('columnheader', { name: 'Address' });
    expect((await edges(address)).right).toBeLessThanOrEqual((await edges(table)).right);
  });

  itInBrowser('says on the screen that no session is found', async (page) => {
    const { origin } = await serveConsole();
    await page.setViewportSize({ width: 375, height: 700 });
    await page.goto(`${origin}/console#sessions?user=nobody`);
    const none = page.getByRole('heading', { name: /^0 sessions/ });
    await none.waitFor();
    expect((await edges(none)).bottom).toBeLessThan((await size(page)).height);
  });

  itInBrowser(
    'keeps the names of several servers apart, and names no deadline of a drain that is over',
    async (page) => {
      const { origin, admin } = await serveConsole();
      await createClient(sendTo(admin)).servers.drain('db-1', { timeout: 600, then: 'close' });
      await page.goto(`${origin}/console#?open=/services/Sales`);
      await page.locator('.drawer .all > summary').click();
      await page.locator('.drawer dd').filter({ hasText: 'db-1, db-2' }).waitFor();
      const drained = page
        .getByRole('region', { name: 'Servers' })
        .getByRole('cell')
        .filter({ hasText: 'drained' });
      expect(await drained.innerText()).toBe('master, running, drained: nothing left');
    },
  );
});

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
async function openAt(page: Page, fragment = ''): Promise<Awaited<ReturnType<typeof serveConsole>>> {
  const served = await serveConsole();
  await page.goto(`${served.origin}/console${fragment}`);
  await page.getByText('live', { exact: true }).waitFor();
  return served;
}

describe('the keys of the console, in a real browser', () => {
  itInBrowser('find a resource, open its drawer, and lead back to its row', async (page) => {
    await openAt(page);
    await page.getByRole('link', { name: 'Broken', exact: true }).first().waitFor();
    await press(page, '/');
    await page.keyboard.type('sales');
    await page.getByText('2 of 4').waitFor();
    await press(page, 'Enter');
    await expectFocus(page, 'Choose Sales');
    await press(page, 'ArrowDown');
    await expectFocus(page, 'Choose Old Sales');
    await press(page, 'Enter');
    await expectFocus(page, 'service Old Sales');
    await page.locator('.drawer .all').waitFor();
    await press(page, 'Escape');
    await page.getByRole('complementary', { name: 'Latest' }).waitFor();
    await expectFocus(page, 'Choose Old Sales');
    await press(page, 'ArrowUp');
    await expectFocus(page, 'Choose Sales');
    // Sales lists the server.
    await press(page, '/', 'Control+a');
    await page.keyboard.type('DB-2');
    await page.getByText('1 of 3').waitFor();
    await press(page, 'Enter');
    await expectFocus(page, 'Choose db-2');
  });

  itInBrowser(
    'move in tables by arrows, from the field that finds as well, and a letter in a field is a letter',
    async (page) => {
      await openAt(page);
      await page.getByRole('link', { name: 'Broken', exact: true }).first().waitFor();
      await press(page, '/', 'ArrowDown');
      // What is wrong stands first.
      await expectFocus(page, 'Choose Broken');
      await press(page, 'ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowDown');
      // From the last service to the first server.
      await expectFocus(page, 'Choose db-3');
      await press(page, 'ArrowUp', 'ArrowUp');
      await expectFocus(page, 'Choose Sales');
      await press(page, '/', 'g', 's', '/');
      expect(await page.getByLabel('Find').inputValue()).toBe('gs/');
    },
  );

  itInBrowser('change the view, and move in the list of sessions', async (page) => {
    await openAt(page);
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
  });

  itInBrowser('reach every row of a list that is longer than the screen', async (page) => {
    await openAt(page, '#sessions');
    await page.getByText('40 sessions').waitFor();
    await press(page, 'ArrowDown');
    for (let id = 1; id < 40; id += 1) {
      await press(page, 'ArrowDown');
      await expectFocus(page, new RegExp(`^Choose ${String(id)},`));
    }
    expect(await page.getByText('192.168.121.39').isVisible()).toBe(true);
  });

  itInBrowser('fill a dialog, leave it, and confirm it', async (page) => {
    const { admin } = await openAt(page, '#?open=/services/Sales');
    await page.locator('.drawer .all').waitFor();
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
    await page.locator('.drawer .all').waitFor();

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
    await expectFocus(page, 'Change the drain of Sales');
  });

  itInBrowser(
    'stay in the drawer when the button of an act goes with the act, and lead to the row after a link',
    async (page) => {
      await openAt(page, '#?open=/services/Reports');
      await page.locator('.drawer .all').waitFor();
      await tabTo(page, 'Stop Reports');
      await press(page, 'Enter');
      await page.getByRole('dialog').getByRole('button', { name: 'Stop Reports' }).waitFor();
      await tabTo(page, 'Stop Reports');
      await press(page, 'Enter');
      await page.getByRole('button', { name: 'Start Reports' }).waitFor();
      await expectFocus(page, 'service Reports');
      await press(page, 'Escape');
      await page.getByRole('complementary', { name: 'Latest' }).waitFor();
      await expectFocus(page, 'Reports');
    },
  );
});
