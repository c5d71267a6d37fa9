/**
 * A day of an operator, in the page alone: the example gateway with real PostgreSQL servers and real clients.
 */
import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import pg from 'pg';

import { buildExamples } from '../support/built-package.ts';
import { ask, button, confirm, dialog, itInBrowser, planned } from './operate.ts';
import { startGateway, type RunningGateway } from '../system/running-gateway.ts';

const clients: pg.Client[] = [];
let gateway: RunningGateway;

beforeAll(async () => {
  buildExamples();
  gateway = await startGateway(['--environment', 'staging']);
});
afterAll(async () => {
  await Promise.all(clients.map((client) => client.end().catch(() => undefined)));
  await gateway.stop();
});

/** Connects clients to a service. */
async function connect(service: string, count: number): Promise<readonly pg.Client[]> {
  const port = gateway.portOf(service);
  const opened = await Promise.all(
    Array.from({ length: count }, async () => {
      const client = new pg.Client({ host: '127.0.0.1', port, user: 'postgres', database: 'postgres' });
      // The gateway closes clients here.
      client.on('error', () => undefined);
      await client.connect();
      return client;
    }),
  );
  clients.push(...opened);
  return opened;
}

/** Whether a client is still served. */
async function isServed(client: pg.Client): Promise<boolean> {
  try {
    return (await client.query('select 1')).rowCount === 1;
  } catch {
    return false;
  }
}

async function countServed(some: readonly pg.Client[]): Promise<number> {
  const served = await Promise.all(some.map(isServed));
  return served.filter(Boolean).length;
}

describe('an operator with the page alone', () => {
  itInBrowser(
    'drains a server, sees what is left, and brings it back, and no client is cut',
    async (page) => {
      const some = await connect('Reports', 40);
      await page.goto(`${gateway.admin}/console#?open=/servers/db-2`);
      await button(page, 'Drain db-2').click();
      await page.getByLabel('Reason').fill('new kernel');
      await planned(page);
      await confirm(page, 'Drain db-2');
      const row = page.locator('.view').getByRole('row').filter({ hasText: 'new kernel' });
      await row.getByText(/draining/).waitFor();
      expect(await row.innerText()).toMatch(/\d+ sessions? and \d+ backend connections? left/);
      expect(await countServed(some)).toBe(40);
      await ask(page, 'Resume db-2');
      await confirm(page, 'Resume db-2');
      await row.waitFor({ state: 'detached' });
      expect(await countServed(some)).toBe(40);
    },
  );

  itInBrowser(
    'closes exactly the sessions that the button names: those of one service, and chosen ones',
    async (page) => {
      const others = await connect('Read-Write', 12);
      await page.goto(`${gateway.admin}/console#sessions?service=Read+Write`);
      await page.getByRole('heading', { name: /^12 sessions/ }).waitFor();
      await page.getByRole('checkbox').nth(0).check();
      await page.getByRole('checkbox').nth(1).check();
      await ask(page, 'Close 2 chosen sessions');
      expect(await confirm(page, 'Close 2 sessions')).toContain('Closed 2 sessions');
      expect(await countServed(others)).toBe(10);
      await page.getByRole('heading', { name: /^10 sessions/ }).waitFor();
      await ask(page, /^Close the sessions of Read Write$/);
      await page.getByLabel('Type “Read Write” to go on').fill('Read Write');
      expect(await confirm(page, 'Close 10 sessions of Read Write')).toContain('Closed 10 sessions');
      expect(await countServed(others)).toBe(0);
    },
  );

  itInBrowser('stops a service, reads in the history who has stopped it, and undoes that', async (page) => {
    await page.goto(`${gateway.admin}/console#?open=/services/Reports`);
    await ask(page, 'Stop Reports');
    await confirm(page, 'Stop Reports');
    await page.getByRole('navigation').getByRole('button', { name: 'History' }).click();
    const entry = page.getByRole('row').filter({ hasText: 'Stopped Reports' }).first();
    await entry.getByRole('button', { name: /^Undo/ }).click();
    await planned(page);
    await confirm(page, 'Undo “Stopped Reports”');
    expect(await countServed(await connect('Reports', 1))).toBe(1);
  });

  itInBrowser('adds a server to a service as one change, and takes it away again', async (page) => {
    await page.goto(`${gateway.admin}/console`);
    const db1 = (await gateway.get('/servers/db-1')) as { readonly port: number };
    await button(page, 'Add a server').click();
    const field = (name: string) => dialog(page).getByLabel(name, { exact: true });
    await field('name').fill('db-3');
    await field('address').fill('127.0.0.1');
    await field('port').fill(String(db1.port));
    await field('protocol').fill('postgresql');
    await dialog(page).getByRole('group', { name: 'In the services' }).getByLabel('Reports').check();
    await planned(page);
    await confirm(page, 'Add server db-3');
    expect(await gateway.get('/services/Reports')).toMatchObject({
      servers: expect.arrayContaining(['/servers/db-3']),
    });
    await button(page, 'db-3').first().click();
    await ask(page, 'Take out of all lists and delete db-3');
    await confirm(page, 'Take out of all lists and delete db-3');
    await page.getByRole('row').filter({ hasText: 'db-3' }).waitFor({ state: 'detached' });
  });
});
