/**
 * Acts: each shows its plan, does exactly that, says what was done, and how to take it back.
 */
import { setTimeout as sleep } from 'node:timers/promises';

import { describe, expect } from '@jest/globals';
import { createRoles, toDocument, type AdminOptions } from 'gateway-admin-core';
import { createClient, sendTo, type Client } from 'gateway-admin-core/client';
import type { Page } from 'playwright-core';

import { ask, button, confirm, dialog, itInBrowser, outcome, planned } from './operate.ts';
import { serveConsole, type Hosting, type Served } from './served-console.ts';

/** Opens the page, with a service in the drawer. The client is that of another operator. */
async function open(page: Page, hosting: Hosting = {}): Promise<Served & { readonly client: Client }> {
  const served = await serveConsole(hosting);
  await page.goto(`${served.origin}/console#?open=/services/Sales`);
  await page.locator('.drawer .all').waitFor();
  return { ...served, client: createClient(sendTo(served.admin)) };
}

/** A field of the service, as the interface has it. */
async function fieldOf(
  client: Client,
  field: 'state' | 'max_connection' | 'current_connections',
): Promise<unknown> {
  const answer = await client.services.get('Sales');
  return answer.ok ? answer.value[field] : answer.problem;
}

/** With the keyboard: a click can miss while the page still grows. */
async function settings(page: Page, field: string, value: string): Promise<void> {
  await page.getByLabel(field, { exact: true }).fill(value);
  await ask(page, 'Show what this changes');
}

describe('an act of the console', () => {
  itInBrowser(
    'shows its plan, is done with what it showed, and is undone with a plan of its own',
    async (page) => {
      const { client } = await open(page);
      await ask(page, 'Stop Sales');
      expect(await dialog(page).innerText()).toMatch(/Closes\s+nothing\s+Stays\s+30 sessions continue/);
      expect(await confirm(page, 'Stop Sales')).toMatch(/^Done in \d+\.\d s: Stop Sales\./);
      expect(await fieldOf(client, 'state')).toBe('stopped');
      await outcome(page).getByRole('button', { name: 'Undo' }).click();
      await planned(page);
      await confirm(page, 'Undo “Stop Sales”');
      expect(await fieldOf(client, 'state')).toBe('started');
      // What was taken back is offered no more.
      expect(await page.locator('.outcome').allInnerTexts()).toEqual([
        expect.stringContaining('Undo “Stop Sales”'),
      ]);
    },
  );

  itInBrowser('is undone alone, whatever another operator has done since', async (page) => {
    const { client, admin } = await open(page);
    await ask(page, 'Stop Sales');
    const stop = dialog(page).getByRole('button', { name: 'Stop Sales', exact: true });
    // The other change settles between the answer and the search for the way back.
    await page.route(/\/history/, async (route) => {
      await client.services.stop('Reports');
      await route.continue();
    });
    await stop.click();
    await dialog(page).waitFor({ state: 'detached' });
    await outcome(page).getByRole('button', { name: 'Undo' }).click();
    await planned(page);
    await confirm(page, 'Undo “Stop Sales”');
    expect(await fieldOf(client, 'state')).toBe('started');
    expect(admin.snapshot.services.find('reports')?.state).toBe('stopped');
  });

  itInBrowser('says what it does, also where its plan closes nothing at once', async (page) => {
    await open(page);
    await ask(page, 'Stop Sales');
    await dialog(page).getByText('new clients are refused').waitFor();
    await dialog(page).getByRole('button', { name: 'Cancel' }).click();
    await ask(page, 'Drain Sales');
    await page.getByLabel('Deadline in minutes').fill('0.5');
    await page.getByLabel('Reason').fill('kernel');
    await dialog(page).getByText('What is left of Sales is closed after 30 s').waitFor();
    expect(await dialog(page).innerText()).not.toMatch(/Closes\s+nothing|Stays/);
    await page.getByLabel('Type “Sales” to go on').fill('Sales');
    await confirm(page, 'Drain Sales');
  });

  itInBrowser(
    'is named on its button with its number, and beyond a bound the name is typed',
    async (page) => {
      const { client, admin } = await open(page);
      await ask(page, 'Close the sessions of Sales');
      const doIt = dialog(page).getByRole('button', { name: 'Close 30 sessions of Sales', exact: true });
      expect(await doIt.isDisabled()).toBe(true);
      await page.getByLabel('Type “Sales” to go on').fill('sales');
      expect(await doIt.isDisabled()).toBe(true);
      await page.getByLabel('Type “Sales” to go on').fill('Sales');
      // Three clients come in while the dialog is open: its plan holds, and does not name them.
      for (const id of [101, 102, 103])
        admin.report({
          ...{ type: 'session.opened', id, state: 'ready', user: 'carol', address: '10.1.1.1' },
          ...{ service: 'Sales', connected: Date.now() },
        });
      expect(await confirm(page, 'Close 30 sessions of Sales')).toContain('Closed 30 sessions');
      expect(await fieldOf(client, 'current_connections')).toBe(3);
    },
  );

  itInBrowser(
    'in production is done only after a name is typed: of a stop that of the service, of a start that of the gateway',
    async (page) => {
      const { client } = await open(page, { admin: { environment: 'production' } });
      for (const [title, name, state] of [
        ['Stop Sales', 'Sales', 'stopped'],
        ['Start Sales', 'gw-1', 'started'],
      ] as const) {
        await ask(page, title);
        const doIt = dialog(page).getByRole('button', { name: title, exact: true });
        expect(await doIt.isDisabled()).toBe(true);
        await page.getByLabel(`Type “${name}” to go on`).waitFor();
        // The name is the next thing that a person types.
        await page.waitForFunction(() => document.activeElement?.matches('dialog label input'));
        await page.keyboard.type(name);
        await page.keyboard.press('Enter');
        await dialog(page).waitFor({ state: 'detached' });
        expect(await fieldOf(client, 'state')).toBe(state);
      }
    },
  );

  itInBrowser(
    'in production asks for no name to hold changes off and to resume, and for one to allow changes again',
    async (page) => {
      const { client, admin } = await open(page, { admin: { environment: 'production' } });
      await client.services.drain('Sales', {});
      const typing = dialog(page).getByLabel(/^Type /);
      await ask(page, 'Resume Sales');
      expect(await typing.count()).toBe(0);
      await confirm(page, 'Resume Sales');
      await button(page, 'gw-1').click();
      await ask(page, 'Make gw-1 read-only');
      expect(await typing.count()).toBe(0);
      await confirm(page, 'Make gw-1 read-only');
      expect(admin.readOnly).toBe(true);
      await ask(page, 'Allow changes of gw-1 again');
      await page.getByLabel('Type “gw-1” to go on').fill('gw-1');
      await confirm(page, 'Allow changes of gw-1 again');
      expect(admin.readOnly).toBe(false);
    },
  );

  itInBrowser('in production wants the address of a gateway that has no name', async (page) => {
    const admin = { environment: 'production', name: undefined } as unknown as AdminOptions;
    const { client, port } = await open(page, { admin });
    await settings(page, 'max_connection', '50');
    const address = `127.0.0.1:${String(port)}`;
    await page.getByLabel(`Type “${address}” to go on`).fill(address);
    await confirm(page, 'Change Sales');
    expect(await fieldOf(client, 'max_connection')).toBe(50);
  });

  itInBrowser('that deletes a resource closes its drawer', async (page) => {
    await open(page);
    await page.getByRole('row').getByRole('link', { name: 'Old Sales', exact: true }).click();
    await ask(page, 'Delete Old Sales');
    await confirm(page, 'Delete Old Sales');
    await page
      .getByRole('complementary', { name: 'Latest' })
      .getByRole('paragraph')
      .filter({ hasText: 'Old Sales was deleted' })
      .waitFor();
  });

  itInBrowser(
    'that no longer fits what was shown does nothing, says what has changed, and asks again',
    async (page) => {
      const { client } = await open(page);
      await settings(page, 'max_connection', '50');
      const shown = await dialog(page).innerText();
      const other = [{ op: 'add' as const, path: '/max_connection', value: 70 }];
      await client.services.patch('Sales', other);
      await page.getByText('The settings have changed since you began.').waitFor({ state: 'attached' });
      // What happens meanwhile does not change an open dialog.
      expect(await dialog(page).innerText()).toBe(shown);
      await dialog(page).getByRole('button', { name: 'Change Sales', exact: true }).click();
      const changed = dialog(page).getByRole('alert');
      await changed.getByText('Nothing was done.').waitFor();
      expect(await fieldOf(client, 'max_connection')).toBe(70);
      expect(await changed.innerText()).toMatch(/was .*100 → 50.*now .*70 → 50/);
      await confirm(page, 'Change Sales');
      expect(await fieldOf(client, 'max_connection')).toBe(50);
    },
  );

  itInBrowser('is not done by a second press of a key on a plan that nobody has read', async (page) => {
    const { client } = await open(page, { admin: { environment: 'production' } });
    await settings(page, 'max_connection', '50');
    await client.services.patch('Sales', [{ op: 'add', path: '/max_connection', value: 70 }]);
    await page.getByLabel('Type “gw-1” to go on').fill('gw-1');
    await page.keyboard.press('Enter');
    await dialog(page).getByText('Nothing was done.').waitFor();
    await page.keyboard.press('Enter');
    await sleep(300);
    expect(await fieldOf(client, 'max_connection')).toBe(70);
    await page.keyboard.type('gw-1');
    await page.keyboard.press('Enter');
    await dialog(page).waitFor({ state: 'detached' });
    expect(await fieldOf(client, 'max_connection')).toBe(50);
  });

  itInBrowser('closes the session that it names, and no later one with the same id', async (page) => {
    const { admin, origin } = await open(page);
    const { user = '' } = admin.snapshot.sessions.find(1) ?? {};
    await page.goto(`${origin}/console#sessions?open=/sessions/1`);
    await ask(page, `Close session 1 of ${user}`);
    const { connected = 0 } = admin.snapshot.sessions.find(1) ?? {};
    admin.report([
      { type: 'session.closed', id: 1, connected },
      {
        ...{ type: 'session.opened', id: 1, state: 'ready', user: 'eve', address: '10.1.1.1' },
        ...{ service: 'Sales', connected: connected + 1000 },
      },
    ]);
    await dialog(page)
      .getByRole('button', { name: `Close session 1 of ${user}`, exact: true })
      .click();
    await page.locator('dialog[data-phase="refused"]').waitFor();
    expect(admin.snapshot.sessions.find(1)?.user).toBe('eve');
  });

  itInBrowser(
    'that another has done before says so, and does not offer to take back what the other did',
    async (page) => {
      const { client } = await open(page);
      await ask(page, 'Stop Sales');
      await client.services.stop('Sales');
      expect(await confirm(page, 'Stop Sales')).toMatch(/^Nothing to do: Stop Sales\./);
      expect(await outcome(page).getByRole('button', { name: 'Undo' }).count()).toBe(0);
      // An answer with the resource does not say who has changed it.
      await settings(page, 'max_connection', '50');
      await client.services.patch('Sales', [{ op: 'replace', path: '/max_connection', value: 50 }]);
      await confirm(page, 'Change Sales');
      expect(await outcome(page).getByRole('button', { name: 'Undo' }).count()).toBe(0);
    },
  );

  itInBrowser('that was to close something says so when nothing was left to close', async (page) => {
    const { admin } = await open(page);
    await page.goto(`${page.url().split('#')[0] ?? ''}#sessions?user=nobody`);
    const connected = Date.now();
    const session = { state: 'ready', user: 'nobody', address: '10.1.1.1', service: 'Sales', connected };
    admin.report({ type: 'session.opened', id: 500, ...session });
    await page.reload();
    await ask(page, 'Close the sessions of user nobody');
    admin.report({ type: 'session.closed', id: 500, connected });
    expect(await confirm(page, 'Close 1 session')).toContain('nothing');
  });

  itInBrowser(
    'stays open while the world changes, and goes on at the gateway when the person leaves',
    async (page) => {
      const { client, gateway } = await open(page);
      gateway.will(async (_effect, _context, perform) => {
        await sleep(1500);
        perform();
      });
      await ask(page, 'Stop Sales');
      await dialog(page).getByRole('button', { name: 'Stop Sales', exact: true }).click();
      await dialog(page).getByRole('button', { name: 'Leave; the gateway goes on' }).click();
      expect(await dialog(page).isVisible()).toBe(false);
      await outcome(page).waitFor();
      expect(await outcome(page).innerText()).toContain('Stop Sales');
      expect(await fieldOf(client, 'state')).toBe('stopped');
    },
  );
});

describe('what may not be done', () => {
  itInBrowser('is shown with its reason to a reader', async (page) => {
    const authorize = createRoles({ readers: ['rita'], others: 'none' });
    const { requests } = await open(page, {
      admin: { access: { authorize } },
      principalOf: () => ({ name: 'rita' }),
    });
    await page.locator('.acts summary').click();
    expect(await button(page, 'Stop Sales').getAttribute('aria-disabled')).toBe('true');
    expect(await page.locator('.acts .menu').innerText()).toContain('operator');
    await button(page, 'Stop Sales').click({ force: true });
    expect(await dialog(page).count()).toBe(0);
    expect(requests.filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  itInBrowser(
    'is shown with its reason while all changes are held, and the page says that they are',
    async (page) => {
      const { admin } = await open(page);
      await ask(page, 'Stop Sales');
      await dialog(page).getByRole('button', { name: 'Cancel' }).click();
      await button(page, 'gw-1').click();
      await ask(page, 'Make gw-1 read-only');
      await dialog(page).getByLabel('Reason').fill('new disks');
      await planned(page);
      await confirm(page, 'Make gw-1 read-only');
      await page.getByText('Read-only: every change is refused.').waitFor();
      await page
        .locator('button[aria-disabled=true]', { hasText: 'Flush the logs' })
        .waitFor({ state: 'attached' });
      // Without a fleet, nothing is behind.
      expect(await page.getByText('Retry what this node is behind').count()).toBe(0);
      await page.goBack();
      await page
        .locator('button[aria-disabled="true"]', { hasText: 'Stop Sales' })
        .waitFor({ state: 'attached' });
      expect(admin.readOnly).toBe(true);
      await page.getByRole('banner').getByText(': new disks').waitFor();
    },
  );
});

describe('what is wanted for a resource', () => {
  itInBrowser('is to take a server out of all lists and to delete it, as one change', async (page) => {
    const { admin, client } = await open(page);
    await page.goto(`${page.url().split('#')[0] ?? ''}#?open=/servers/db-1`);
    // To delete it alone is not possible, and the reason stands there.
    await page
      .locator('button[aria-disabled=true]', { hasText: 'Delete db-1' })
      .waitFor({ state: 'attached' });
    await ask(page, 'Take out of all lists and delete db-1');
    await dialog(page).getByText('db-1').first().waitFor();
    await confirm(page, 'Take out of all lists and delete db-1');
    expect(admin.snapshot.servers.find('db-1')).toBeUndefined();
    expect(await client.services.get('Sales')).toMatchObject({ value: { servers: ['/servers/db-2'] } });
    await outcome(page).getByRole('button', { name: 'Undo' }).click();
    await planned(page);
    await confirm(page, 'Undo “Take out of all lists and delete db-1”');
    expect(await client.services.get('Sales')).toMatchObject({
      value: { servers: ['/servers/db-1', '/servers/db-2'] },
    });
  });

  itInBrowser('is another one with its settings', async (page) => {
    const { client } = await open(page);
    await client.services.patch('Sales', [{ op: 'add', path: '/max_connection', value: 77 }]);
    await page.locator('.acts summary').click();
    await button(page, 'Add a service like Sales').click();
    expect(await dialog(page).getByLabel('max_connection').inputValue()).toBe('77');
    expect(await dialog(page).getByLabel('name').inputValue()).toBe('');
    await dialog(page).getByLabel('name').fill('More Sales');
    await planned(page);
    await confirm(page, 'Add service More Sales');
    expect(await client.services.get('More Sales')).toMatchObject({
      value: { max_connection: 77, router: 'readconnroute', servers: ['/servers/db-1', '/servers/db-2'] },
    });
  });
});

describe('a document', () => {
  itInBrowser('is compared with the gateway, and applied', async (page) => {
    const { client, admin } = await open(page);
    await button(page, 'gw-1').click();
    await button(page, 'Compare with a document').click();
    const field = dialog(page).getByLabel('Document');
    await field.fill('{"services":[{"name":');
    await dialog(page).locator('.bad').waitFor();
    const { users: _users, ...document } = toDocument(admin.snapshot);
    await field.fill(JSON.stringify(document));
    await dialog(page).getByText('This changes nothing.').waitFor();
    const services = document.services?.map((each) =>
      each.name === 'Sales' ? { ...each, max_connection: 12 } : each,
    );
    await field.fill(JSON.stringify({ services }));
    await dialog(page)
      .getByText(/max_connection.*12/)
      .waitFor();
    await confirm(page, 'Apply the document');
    expect(await client.services.get('Sales')).toMatchObject({ value: { max_connection: 12 } });
  });
});

describe('what the history offers while all changes are held', () => {
  itInBrowser('is planned, and not done, but for the way back from the mode', async (page) => {
    const { admin, client } = await open(page);
    await client.services.stop('Sales');
    await client.interface.patch([{ op: 'replace', path: '/read_only', value: true }]);
    await page.goto(`${page.url().split('#')[0] ?? ''}#history`);
    await page.reload();
    await page.getByRole('button', { name: 'Undo “Stopped Sales”' }).click();
    await planned(page);
    await dialog(page).getByText('Read-only: every change is refused.').waitFor();
    expect(await dialog(page).locator('[type=submit]').count()).toBe(0);
    await dialog(page).getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Undo “Made the gateway read-only”' }).click();
    await planned(page);
    await dialog(page).locator('[type=submit]').click();
    await page.getByText('Read-only: every change is refused.').waitFor({ state: 'detached' });
    expect(admin.readOnly).toBe(false);
  });
});

describe('a form of the console', () => {
  itInBrowser(
    'shows the values of now after its own change and after the way back, and does not call them those of another',
    async (page) => {
      const { client } = await open(page);
      await settings(page, 'max_connection', '50');
      await confirm(page, 'Change Sales');
      const field = page.getByLabel('max_connection', { exact: true });
      await page.locator('tbody').getByText('30 of 50').waitFor();
      await page.locator('.edits').waitFor({ state: 'detached' });
      expect(await field.inputValue()).toBe('50');
      await outcome(page).getByRole('button', { name: 'Undo' }).click();
      await planned(page);
      await confirm(page, 'Undo “Change Sales”');
      expect(await fieldOf(client, 'max_connection')).toBe(100);
      await page.waitForFunction(
        () => document.querySelector<HTMLInputElement>('[name=max_connection]')?.value === '100',
      );
      expect(await page.getByText('The settings have changed since you began.').count()).toBe(0);
    },
  );

  itInBrowser('says a single fault at its field and once more in words', async (page) => {
    await open(page);
    await button(page, 'Add a user').click();
    await dialog(page).getByLabel('Name', { exact: true }).fill('a b');
    await page.getByLabel('Password', { exact: true }).fill('secret');
    await page.locator('dialog[data-phase="refused"]').waitFor();
    expect(await dialog(page).getByText('must be 1 to 64').count()).toBe(2);
  });

  itInBrowser('shows a fault at its field, and opens no dialog', async (page) => {
    await open(page);
    const field = page.getByLabel('max_connection', { exact: true });
    await field.fill('many');
    await button(page, 'Show what this changes').click();
    await page.getByText('must be a number').waitFor();
    expect(await field.getAttribute('aria-invalid')).toBe('true');
    expect(await dialog(page).count()).toBe(0);
  });

  itInBrowser('keeps what is typed when another operator changes the settings, and says so', async (page) => {
    const { client } = await open(page);
    const field = page.getByLabel('max_connection', { exact: true });
    await field.fill('50');
    const other = [{ op: 'add' as const, path: '/connection_timeout', value: 9 }];
    await client.services.patch('Sales', other);
    await page.getByText('The settings have changed since you began.').waitFor();
    expect(await field.inputValue()).toBe('50');
    await button(page, 'Discard my edits').click();
    expect(await field.inputValue()).toBe('100');
    expect(await page.getByLabel('connection_timeout', { exact: true }).inputValue()).toBe('9');
  });
});

describe('what is typed in a form', () => {
  itInBrowser('has the focus if it is at fault', async (page) => {
    await open(page);
    const field = page.getByLabel('max_connection', { exact: true });
    await field.fill('many');
    await button(page, 'Show what this changes').click();
    await page.waitForFunction(() => document.activeElement?.matches('[name=max_connection]'));
    await button(page, 'Drop').click();
    expect(await field.inputValue()).toBe('100');
  });
});

describe('the history', () => {
  itInBrowser('has the values before and after each change, and how much was closed', async (page) => {
    const { client } = await open(page);
    await client.services.patch('Sales', [{ op: 'replace', path: '/max_connection', value: 7 }]);
    await client.services.patch('Sales', [{ op: 'add', path: '/servers', value: [] }]);
    await client.sessions.closeMany({ service: 'Sales' });
    await client.services.closeSessions('Reports');
    await page.getByRole('navigation').getByRole('button', { name: 'History' }).click();
    const row = (text: string | RegExp) => page.locator('.log tbody tr').filter({ hasText: text });
    await row('max_connection 100 → 7').locator('.said', { hasText: 'Changed Sales' }).waitFor();
    await row('removed db-1').locator('.said', { hasText: 'Changed Sales' }).waitFor();
    await row('Closed 30 sessions of Sales').waitFor();
    await row('Closed 10 sessions of Reports').getByText('cannot be undone').waitFor();
    expect(await page.locator('.history').innerText()).not.toMatch(/nothing → nothing|[a-z][.][a-z]|\/s/);
  });
});

describe('two operators', () => {
  itInBrowser('see what the other does, at once', async (page) => {
    const { client } = await open(page);
    await client.services.stop('Reports');
    const row = page.getByRole('row').filter({ hasText: 'Reports' }).first();
    await row.getByText('stopped').waitFor();
    await button(page, 'Close the drawer').click();
    const events = page.getByRole('complementary').getByRole('listitem');
    await events.filter({ hasText: 'Reports was stopped' }).waitFor();
    await client.services.start('Reports');
    await row.getByText('started').waitFor();
    await client.sessions.closeMany({ service: 'Sales' });
    await events.filter({ hasText: '30 sessions of Sales were closed' }).waitFor();
  });
});
