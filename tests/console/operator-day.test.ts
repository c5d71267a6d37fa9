/**
 * The tasks of an operator's day, on the page alone: the example gateway with real PostgreSQL servers and sessions. Each
 * task takes at most three acts: clicks or keys that choose something, and texts that are typed. To open the page, also
 * at a view or a resource, is none. A task with a wait in it takes at most three acts before and after the wait. The tasks
 * follow one another.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';

import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { GatewayDocument } from 'gateway-admin-core';
import { createClient, sendWithFetch, valueOf, type Client } from 'gateway-admin-core/client';
import type { Locator, Page } from 'playwright-core';

import { defaultDocument } from '../../examples/gateway/document.ts';
import { command } from '../cli/command-line.ts';
import { inSharedBrowser } from '../support/browser.ts';
import { buildExamples } from '../support/built-package.ts';
import { PostgresDatabase, PostgresServer } from '../support/postgres.ts';
import { root } from '../support/project.ts';
import { connectDatabase, type DatabaseClient } from '../system/database-client.ts';
import { endGateways, startOn, until, type RunningGateway } from '../system/running-gateway.ts';
import { button, confirm, dialog, itInBrowser, outcome, planned } from './operate.ts';

const password = 'correct horse 7';
const sessions: DatabaseClient[] = [];
/** What has gone wrong in pages. */
const faults: string[] = [];
let gateway: RunningGateway;
/** The server that can die. */
let db1: PostgresServer;
/** The port of the other one. */
let db2 = 0;
/** Another operator. */
let grace: Client;
/** The gateway as a document. */
let exported = '';

const clientOf = (name: string, secret = password): Client => {
  const authorization = `Basic ${btoa(`${name}:${secret}`)}`;
  return createClient(sendWithFetch(gateway.admin, { headers: { authorization } }));
};

beforeAll(async () => {
  buildExamples();
  db1 = await PostgresServer.start();
  db2 = (await PostgresDatabase.shared()).port;
  const document = defaultDocument([
    { name: 'db-1', port: db1.port },
    { name: 'db-2', port: db2 },
  ]);
  const monitors = document.monitors?.map((each) => ({ ...each, monitor_interval: 250 })) ?? [];
  gateway = await startOn({ ...document, monitors }, ['--environment', 'staging', '--name', 'eu-1']);
  exported = (await command(['export', '--url', gateway.admin])).out;
  const open = createClient(sendWithFetch(gateway.admin));
  valueOf(await open.users.create({ name: 'ada', password }));
  const ada = clientOf('ada');
  for (const name of ['grace', 'bob']) valueOf(await ada.users.create({ name, password }));
  grace = clientOf('grace');
  for (const each of [db1, await PostgresDatabase.shared()])
    await each.query(
      `do $$ begin create role reporter login; exception when duplicate_object then null; end $$`,
    );
});

afterEach(async () => {
  await Promise.all(sessions.splice(0).map((each) => each.close().catch(() => undefined)));
  await until('no session is open', async () => (await countOf({})) === 0);
});

afterAll(async () => {
  await endGateways();
  await db1[Symbol.asyncDispose]();
});

async function countOf(search: object): Promise<number> {
  return valueOf(await grace.sessions.list({ ...search, range: [0, 0] })).total;
}

async function connect(service: string, count = 1, user?: string): Promise<readonly DatabaseClient[]> {
  const port = gateway.portOf(service);
  const opened = await Promise.all(Array.from({ length: count }, () => connectDatabase(port, user)));
  sessions.push(...opened);
  return opened;
}

/** An operator at the page. Counts what the operator decides. */
class Operator {
  readonly page: Page;
  acts = 0;
  constructor(page: Page) {
    this.page = page;
  }

  async press(what: Locator | string | RegExp): Promise<void> {
    this.acts += 1;
    const wanted = typeof what === 'string' || what instanceof RegExp ? button(this.page, what) : what;
    await wanted.first().click();
  }

  async type(into: string, text: string): Promise<void> {
    this.acts += 1;
    const field = this.page.getByLabel(into, { exact: true });
    await field.fill(text.trim());
    // A search begins with the end of the line.
    if (text.endsWith('\n')) await field.press('Enter');
  }

  /** Lets a file fall onto the page. */
  async drop(text: string): Promise<void> {
    this.acts += 1;
    const dataTransfer = await this.page.evaluateHandle((content) => {
      const files = new DataTransfer();
      files.items.add(new File([content], 'gateway.json', { type: 'application/json' }));
      return files;
    }, text);
    await this.page.dispatchEvent('body', 'drop', { dataTransfer });
  }

  /** Waits for the plan, presses the button that does it, and gives what the page says then. */
  async confirm(name: string | RegExp): Promise<string> {
    await this.press(dialog(this.page).getByRole('button', { name, exact: true }));
    await dialog(this.page).waitFor({ state: 'detached' });
    return outcome(this.page).innerText();
  }

  /** Chooses one of several values. */
  async choose(label: string, value: string): Promise<void> {
    this.acts += 1;
    await dialog(this.page).getByLabel(label, { exact: true }).selectOption({ label: value });
  }

  /** What the page shows about something. */
  async sees(text: string | RegExp, where: Locator = this.page.locator('body')): Promise<void> {
    await where.getByText(text).first().waitFor();
  }

  /** The rest of the task comes at another time. */
  later(): void {
    expect(this.acts).toBeLessThanOrEqual(3);
    this.acts = 0;
  }
}

async function logIn(page: Page, name: string): Promise<void> {
  page.on('pageerror', ({ message }) => faults.push(message));
  page.on('console', (line) => {
    // The browser tells of each request that is refused or does not arrive.
    if (line.type() === 'error' && !line.text().startsWith('Failed to load resource'))
      faults.push(line.text());
  });
  await page.goto(`${gateway.admin}/console`);
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByText('live', { exact: true }).waitFor();
}

const inPage = inSharedBrowser((page) => logIn(page, 'ada'));

/** A fleet of three example gateways. */
async function startFleet(): Promise<AsyncDisposable & { placeOf(node: string, what: string): string }> {
  const args = [`${root}examples/dist/gateway/main.js`, '--fleet', '3', '--admin-port', '0'];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
  await until('the fleet is ready', () => /^Ready after/m.test(printed));
  return {
    placeOf: (node, what) => new RegExp(`^${node} .*\\b${what} (\\S+)$`, 'm').exec(printed)?.[1] ?? '',
    async [Symbol.asyncDispose]() {
      const ended = once(child, 'exit');
      // A node that a test has stopped ends as well.
      for (const [, node] of printed.matchAll(/\bprocess (\d+)$/gm)) process.kill(Number(node), 'SIGCONT');
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** A task, done on the page opened at a place. */
function task(title: string, place: string, work: (operator: Operator) => Promise<void>): void {
  it(
    title,
    inPage(async (page) => {
      await page.goto(`${gateway.admin}/console#${place}`);
      const operator = new Operator(page);
      try {
        await work(operator);
        expect(operator.acts).toBeLessThanOrEqual(3);
        expect(faults).toEqual([]);
      } finally {
        // What one task leaves open is not in the way of the next.
        if (await dialog(page).isVisible()) await page.keyboard.press('Escape');
      }
    }),
  );
}

const row = (page: Page, name: string): Locator =>
  page.locator('.view tbody tr').filter({ has: page.getByRole('rowheader', { name, exact: true }) });
const box = (page: Page, name: string): Locator => page.getByRole('checkbox', { name: `Choose ${name}` });
const limit = (value: number) => [{ op: 'add' as const, path: '/max_connection', value }];

/** The exported document with something changed. */
function changed(change: (document: GatewayDocument) => unknown): string {
  const document = JSON.parse(exported) as GatewayDocument;
  change(document);
  return JSON.stringify(document);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const drawerOf = (resource: string): string => `?open=${resource}`;

describe('an operator, while a server is dead,', () => {
  beforeAll(() => db1.kill());
  afterAll(async () => {
    await db1.begin();
    await until('nothing is wrong', async () => valueOf(await grace.alerts.list()).total === 0);
  });

  task('1: sees what is wrong', '', async ({ page }) => {
    await page.getByRole('banner').getByText('2 faults').waitFor();
    await page.getByRole('banner').getByText('db-1 is down').first().waitFor();
    await row(page, 'Read Write').getByText('serves nobody').waitFor();
    await row(page, 'Reports').getByText('1/2').waitFor();
  });

  task('19: sees why it has failed, and since when', '', async ({ page }) => {
    const text = await row(page, 'db-1').innerText();
    expect(text).toMatch(/down: [^]*REFUSED[^]*\d+ s/);
    expect(await row(page, 'Read Write').innerText()).toMatch(/db-1 is down[^]*\d+ s/);
  });

  task('7: fails over', '', async (operator) => {
    await operator.press('Give Read Write another server');
    await dialog(operator.page).getByText('Read Write: added db-2').waitFor();
    expect(await operator.confirm('Give Read Write another server')).toContain('Done in');
    await row(operator.page, 'Read Write').getByText('1/2').waitFor();
    const [session] = await connect('Read-Write');
    expect(await session?.valueOf('select 1')).toBe(1);
    valueOf(
      await grace.services.patch('Read Write', [
        { op: 'replace', path: '/servers', value: ['/servers/db-1'] },
      ]),
    );
  });
});

describe('an operator who looks after sessions', () => {
  task('2: sees who uses most connections', 'sessions', async (operator) => {
    await connect('Reports', 3, 'reporter');
    await connect('Reports', 1);
    await operator.press('By user');
    const users = operator.page.getByRole('group', { name: 'Sessions by user' }).getByRole('button');
    await users.nth(1).waitFor();
    expect(await users.allTextContents()).toEqual(['reporter 3', 'postgres 1']);
  });

  task('3: kills the sessions of a user', 'sessions', async (operator) => {
    const doomed = await connect('Reports', 2, 'reporter');
    const [other] = await connect('Reports');
    await operator.type('User', 'reporter\n');
    await operator.press('Close the sessions of user reporter');
    expect(await operator.confirm('Close 2 sessions')).toContain('Closed 2 sessions');
    await Promise.all(doomed.map(({ closed }) => closed));
    expect(await other?.valueOf('select 1')).toBe(1);
  });

  task('4: kills idle sessions', 'sessions', async (operator) => {
    const [idle, busy] = await connect('Reports', 2);
    const working = setInterval(() => void busy?.valueOf('select 1').catch(() => undefined), 100);
    await until('one of them is idle', async () => (await countOf({ idle_over: 4 })) === 1);
    await operator.type('Idle longer than', '4 s\n');
    await operator.press(/^Close the sessions idle/);
    expect(await operator.confirm('Close 1 session')).toContain('Closed 1 session');
    await idle?.closed;
    clearInterval(working);
    expect(await busy?.valueOf('select 1')).toBe(1);
  });

  task('5: kills sessions that are older than a time', 'sessions', async (operator) => {
    const [old] = await connect('Reports');
    await until('it is old', async () => (await countOf({ older_than: 2 })) === 1);
    await operator.type('Connected longer than', '2 s\n');
    await operator.press(/^Close the sessions /);
    await planned(operator.page);
    // What has come since the plan stays, however long it takes.
    const [young] = await connect('Reports');
    expect(await operator.confirm('Close 1 session')).toContain('Closed 1 session');
    await old?.closed;
    expect(await young?.valueOf('select 1')).toBe(1);
  });

  task('6: drains a server, waits, and brings it back', '', async (operator) => {
    const { page } = operator;
    const some = await connect('Reports', 6);
    await operator.press(box(page, 'db-2'));
    await operator.press('Drain db-2');
    await planned(page);
    expect(await operator.confirm('Drain db-2')).toContain('Done in');
    await row(page, 'db-2').getByText('draining').waitFor();
    expect(await row(page, 'db-2').innerText()).toMatch(/\d sessions? and \d backend connections? left/);
    // Nobody is cut.
    for (const each of some) expect(await each.valueOf('select 1')).toBe(1);
    await Promise.all(some.map((each) => each.close()));
    await row(page, 'db-2').getByText('drained').waitFor();
    await row(page, 'db-2').getByText('nothing left').waitFor();
    operator.later();
    await operator.press(box(page, 'db-2'));
    await operator.press('Resume db-2');
    await operator.confirm('Resume db-2');
    await row(page, 'db-2').getByText('running').waitFor();
  });

  task('20: sees the progress of what takes long', drawerOf('/services/Reports'), async ({ page }) => {
    const [first, second] = await connect('Reports', 2);
    valueOf(await grace.services.drain('Reports', { timeout: 600, then: 'resume', reason: 'kernel' }));
    const drawer = page.locator('.drawer');
    await drawer.getByText('2 sessions and 2 backend connections left').first().waitFor();
    await drawer.getByText(/in \d+ min, the drain ends/).waitFor();
    await first?.close();
    await drawer.getByText('1 session and 1 backend connection left').first().waitFor();
    expect(await drawer.getByRole('progressbar').first().getAttribute('value')).toBe('1');
    await second?.close();
    await drawer.getByText('nothing left').first().waitFor();
    valueOf(await grace.services.resume('Reports'));
  });
});

describe('an operator who changes the configuration', () => {
  task('8: adds a third server', '', async (operator) => {
    await operator.press('Add a server');
    await operator.type('port', String(db2));
    await dialog(operator.page).getByText('Reports: added db-3').waitFor();
    await dialog(operator.page).getByText('Main Monitor: added db-3').waitFor();
    await operator.confirm('Add server db-3');
    await row(operator.page, 'db-3').getByText('running').waitFor();
    expect(valueOf(await grace.services.get('Read Write')).servers).toEqual(['/servers/db-1']);
  });

  task('11: removes a server', '', async (operator) => {
    await operator.press(box(operator.page, 'db-3'));
    await operator.press('Take out of all lists and delete db-3');
    await dialog(operator.page).getByText('Reports: removed db-3').waitFor();
    await operator.confirm('Take out of all lists and delete db-3');
    await row(operator.page, 'db-3').waitFor({ state: 'detached' });
  });

  task('9: adds a listener', drawerOf('/services/Reports'), async (operator) => {
    const port = await freePort();
    await operator.press('Add a listener to Reports');
    await operator.type('port', String(port));
    await operator.confirm('Add listener Clients 2 to Reports');
    await operator.sees(`127.0.0.1:${String(port)}`, operator.page.locator('.drawer'));
    const client = await connectDatabase(port);
    expect(await client.valueOf('select 1')).toBe(1);
    await client.close();
    valueOf(await grace.services.deleteListener('Reports', 'Clients 2'));
  });

  task('10: adds a service', '', async (operator) => {
    await operator.press('Add a service');
    await operator.type('name', 'Archive');
    await operator.confirm('Add service Archive');
    await row(operator.page, 'Archive').getByText('1/1').waitFor();
    valueOf(await grace.services.stop('Archive'));
    valueOf(await grace.services.delete('Archive'));
    await row(operator.page, 'Archive').waitFor({ state: 'detached' });
  });

  task('12: sets a timeout of all services', '', async (operator) => {
    await operator.press(
      operator.page.getByRole('region', { name: 'Services' }).getByRole('button', { name: 'Change all' }),
    );
    await operator.type('connection_timeout', '300');
    for (const name of ['Read Write', 'Reports'])
      await dialog(operator.page).getByText(`${name}: connection_timeout: nothing → 300`).waitFor();
    await operator.confirm('Change the settings of Read Write, Reports');
    expect(valueOf(await grace.services.get('Read Write'))).toMatchObject({ connection_timeout: 300 });
  });

  task('13: undoes the last change', '', async (operator) => {
    await operator.press(operator.page.getByRole('navigation').getByRole('button', { name: 'History' }));
    await operator.press(/^Undo /);
    await dialog(operator.page).getByText('Reports: connection_timeout: 300 → nothing').waitFor();
    await operator.confirm(/^Undo /);
    expect(valueOf(await grace.services.get('Read Write'))).not.toHaveProperty('connection_timeout');
  });

  task('14: sees who has changed what, and when', 'history', async (operator) => {
    valueOf(await grace.services.patch('Reports', limit(7)));
    await operator.type('Who', 'grace\n');
    const entry = operator.page.locator('.log tr[data-row]').first();
    await entry.locator('.said', { hasText: 'Changed Reports' }).waitFor();
    expect(await entry.innerText()).toMatch(
      /^\d\d:\d\d:\d\d\s+grace\s+Changed Reports\s+max_connection nothing → 7/,
    );
    await operator.page.locator('.log .day').first().waitFor();
  });

  task('15: goes back to how it was', 'history', async (operator) => {
    valueOf(await grace.services.patch('Reports', limit(8)));
    valueOf(await grace.services.stop('Reports'));
    const before = operator.page.locator('.log tr[data-row]').filter({ hasText: 'nothing → 7' }).first();
    await operator.press(before.locator('summary'));
    await operator.press(before.getByRole('button', { name: 'Restore the state after this' }));
    await dialog(operator.page).getByText('Reports: max_connection: 8 → 7').waitFor();
    await dialog(operator.page).getByText('start Reports').waitFor();
    await operator.confirm(/^Restore the configuration of /);
    expect(valueOf(await grace.services.get('Reports'))).toMatchObject({
      max_connection: 7,
      state: 'started',
    });
  });

  task('16: applies a document', '', async (operator) => {
    await operator.drop(exported);
    await dialog(operator.page).getByText('Reports: max_connection: 7 → nothing').waitFor();
    await operator.confirm('Apply the document');
    expect(valueOf(await grace.services.get('Reports'))).not.toHaveProperty('max_connection');
  });

  task('17: compares two gateways', '', async (operator) => {
    await operator.drop(changed((other) => Object.assign(other.services?.[0] ?? {}, { max_connection: 9 })));
    await dialog(operator.page).getByText('Read Write: max_connection: nothing → 9').waitFor();
    await operator.page.keyboard.press('Escape');
    await operator.drop(exported);
    await dialog(operator.page).getByText('This changes nothing.').waitFor();
    await operator.page.keyboard.press('Escape');
  });

  task('18: copies one gateway to another, but for where servers and listeners are', '', async (operator) => {
    const before = valueOf(await grace.servers.list()).elements.map(({ port }) => port);
    await operator.drop(
      changed(({ services = [], servers = [] }) => {
        for (const each of servers) Object.assign(each, { port: 1 });
        for (const each of services) Object.assign(each, { max_connection: 5, listeners: [] });
      }),
    );
    await operator.choose('Compare', 'services, monitors and filters');
    for (const name of ['Read Write', 'Reports'])
      await dialog(operator.page).getByText(`${name}: max_connection: nothing → 5`).waitFor();
    expect(
      await dialog(operator.page)
        .getByText(/db-.: |port:/)
        .count(),
    ).toBe(0);
    await operator.confirm('Apply the document');
    expect(valueOf(await grace.servers.list()).elements.map(({ port }) => port)).toEqual(before);
    valueOf(await grace.history.undo(valueOf(await grace.history.list()).elements[0]?.id ?? ''));
  });

  task(
    '24: is told that this gateway has no such secret',
    drawerOf('/services/Reports'),
    async (operator) => {
      await operator.type('password', 'new secret');
      await operator.press('Show what this changes');
      await operator.sees(/This gateway does not use password of a service[.]/);
      expect(await operator.page.locator('.edits').innerText()).not.toContain('new secret');
      await operator.page.keyboard.press('Escape');
      await operator.page.getByRole('button', { name: 'Drop' }).click();
    },
  );
});

describe('an operator who looks after the gateway itself', () => {
  task('21: holds changes, which another operator sees', '', async (operator) => {
    await operator.press('eu-1');
    await operator.press('Make eu-1 read-only');
    await operator.confirm('Make eu-1 read-only');
    await operator.sees(/^Read-only: every change is refused. Since .* by ada/);
    const other = await operator.page.context().browser()?.newContext();
    const page = await other?.newPage();
    if (page === undefined) return;
    await logIn(page, 'grace');
    await page
      .getByRole('banner')
      .getByText(/^Read-only: every change is refused. Since .* by ada/)
      .waitFor();
    await other?.close();
    valueOf(await grace.interface.patch([{ op: 'replace', path: '/read_only', value: false }]));
  });

  task('22: changes a password', '', async (operator) => {
    await operator.press('Change the password of bob');
    await operator.type('Password', 'another horse 8');
    expect(await operator.confirm('Change the password of bob')).toContain('Done in');
    expect(await clientOf('bob').services.list()).toMatchObject({ ok: false });
    expect(await clientOf('bob', 'another horse 8').services.list()).toMatchObject({ ok: true });
  });

  task('25: flushes the logs', '', async (operator) => {
    await operator.press('eu-1');
    await operator.press('Flush the logs');
    expect(await operator.confirm('Flush the logs')).toMatch(/^Done in/);
  });

  task('28: finds the address of a probe', '', async (operator) => {
    await operator.press('eu-1');
    const address = operator.page.locator('.drawer .probe code');
    expect((await fetch(await address.innerText())).status).toBe(204);
    await operator.sees('503', operator.page.locator('.drawer .probe'));
  });
});

describe('an operator on a bad night', () => {
  task('sees that the gateway hangs, and is not told that a change was made', '', async ({ page }) => {
    const change = page.getByRole('button', { name: 'Change the password of bob' });
    await change.waitFor();
    gateway.process.kill('SIGSTOP');
    try {
      await page.locator('.connection.bad', { hasText: /no answer for \d+ s$/ }).waitFor();
      await page.locator('body.stale').waitFor();
      expect(await page.getByText('No alerts.').count()).toBe(0);
      await change.click();
      await dialog(page).getByLabel('Password', { exact: true }).fill('third horse 9');
      await dialog(page)
        .getByText(/^Planning … [1-9]\d* s$/)
        .waitFor();
    } finally {
      gateway.process.kill('SIGCONT');
    }
    await planned(page);
    await page.keyboard.press('Escape');
    await page.getByText('live', { exact: true }).waitFor();
  });

  task('sees that the network is away, and everything anew when it is back', '', async ({ page }) => {
    await row(page, 'Reports').waitFor();
    await page.context().setOffline(true);
    await page.locator('.connection.bad', { hasText: 'the browser is offline' }).waitFor();
    valueOf(await grace.services.stop('Reports'));
    await page.context().setOffline(false);
    await row(page, 'Reports').getByText('stopped').waitFor();
    await page.getByText('live', { exact: true }).waitFor();
    valueOf(await grace.services.start('Reports'));
  });

  task('sees what another operator has done between the plan and the act', '', async (operator) => {
    const { page } = operator;
    await operator.press(box(page, 'Reports'));
    await operator.press('Stop Reports');
    await planned(page);
    const [session] = await connect('Reports');
    await row(page, 'Reports').getByText('1', { exact: true }).first().waitFor();
    valueOf(await grace.services.stop('Reports'));
    await row(page, 'Reports').getByText('stopped').waitFor();
    await operator.press(dialog(page).getByRole('button', { name: 'Stop Reports' }));
    await outcome(page).getByText('Nothing to do: Stop Reports.').waitFor();
    expect(await session?.valueOf('select 1')).toBe(1);
    valueOf(await grace.services.start('Reports'));
  });

  itInBrowser('sees in a fleet which node is silent, and what a change means there', async (page) => {
    await using fleet = await startFleet();
    await page.goto(`${fleet.placeOf('one', 'admin')}/console`);
    await row(page, 'two').getByText('alive').waitFor();
    process.kill(Number(fleet.placeOf('two', 'process')), 'SIGSTOP');
    await page.getByRole('banner').getByText('1 thing is wrong: see what is red.').waitFor();
    await row(page, 'two').getByText('silent').waitFor();
    await page.getByRole('checkbox', { name: 'Choose Reports' }).check();
    await button(page, 'Stop Reports').click();
    await dialog(page).getByText('Node two is silent, and follows when it is back.').waitFor();
    await confirm(page, 'Stop Reports on all 3 nodes');
    process.kill(Number(fleet.placeOf('two', 'process')), 'SIGCONT');
    await row(page, 'two').getByText('alive').waitFor();
    await until('the node has followed', async () => {
      const answer = await fetch(`${fleet.placeOf('two', 'admin')}/services/reports`);
      return ((await answer.json()) as { readonly state: string }).state === 'stopped';
    });
  });
});
