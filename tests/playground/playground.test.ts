import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

import { beforeAll, describe, expect, it } from '@jest/globals';
import axe from 'axe-core';
import { createConsole } from 'gateway-admin-core/console';
import { createFetchHandler } from 'gateway-admin-core/fetch';
import type { Page } from 'playwright-core';

import { ask, confirm, itInBrowser } from '../console/operate.ts';
import { playScenario } from '../scenario/play.ts';
import { readScenarios, writeScenario } from '../scenario/scenario.ts';
import { faultsOf, tooWide } from '../support/page-faults.ts';
import { read } from '../support/project.ts';
import { temporaryDirectories } from '../support/temporary-directory.ts';
import { files, folder, play, Played } from './playground.ts';

const newDirectory = temporaryDirectories();

let address = '';
beforeAll(async () => {
  address = await play();
});

/** A scenario as the interpreter of the tests plays it. */
async function playedAgain(text: string): Promise<string> {
  const file = readScenarios(text);
  const [scenario] = file.scenarios;
  if (scenario === undefined) throw new Error('The text has no scenario');
  return writeScenario(await playScenario(scenario, file));
}

it('has at most 250 kB, compressed', () => {
  const texts = files.map((name) => readFileSync(`${folder}/${name}`));
  const size = texts.reduce((sum, text) => sum + gzipSync(text, { level: 9 }).length, 0);
  expect(size).toBeLessThanOrEqual(250_000);
});

it('is served under the policy of the page of the console, and may start workers of its own', async () => {
  const policyOf = ({ headers }: Response): string => headers.get('content-security-policy') ?? '';
  const consoleAnswer = await createFetchHandler(createConsole(), { basePath: '/console' })(
    new Request('http://localhost/console'),
  );
  const own = policyOf(await fetch(address)).split('; ');
  expect(own.filter((each) => each !== 'worker-src blob:').toSorted()).toEqual(
    policyOf(consoleAnswer).split('; ').toSorted(),
  );
  expect(own).toContain('worker-src blob:');
});

itInBrowser('plays the real page, and its text is a scenario of the tests', async (page) => {
  const played = await new Played(page).open(address);
  await played.of('Servers', 'Dies').click();
  await page.getByText('db-1 is down.').first().waitFor();
  await page.locator('tbody').getByRole('link', { name: 'Sales' }).first().click();
  await ask(page, 'Stop Sales');
  expect(await confirm(page, 'Stop Sales')).toContain('Done');
  // Nobody answers the page until the process starts again.
  await played.of('Process', 'Kill').click();
  await page.getByText(/reconnecting/).waitFor();
  await played.of('Process', 'Start').click();
  await page.getByText('live', { exact: true }).waitFor();
  await played.perform('ben: GET /services/Sales?fields=state');
  expect(await played.judged()).toContain('all laws hold');
  const text = await played.exported();
  expect(text).toContain('PUT /service/Sales/stop, as planned');
  expect(text).toContain('ben: 200 {"state":"stopped"}');
  expect(await playedAgain(text)).toBe(text);
  expect(played.complaints).toEqual([]);
});

itInBrowser('leads through the outage of its page in a minute', async (page) => {
  const played = new Played(page);
  await page.goto(address);
  await played.of('Servers', 'Dies').click();
  await page.getByText('No server of Sales takes new sessions').waitFor();
  await played.panel.getByLabel('What the gateway does').selectOption('do it after 12s');
  await played.of('Gateway', 'Next').click();
  await page.locator('tbody').getByRole('link', { name: 'Sales' }).first().click();
  await played.panel.getByLabel('Speed').selectOption('10×');
  await ask(page, 'Stop Sales');
  expect(await confirm(page, 'Stop Sales')).toContain('Unknown');
  await page.getByText('The outcome of service.stopped is unknown').first().waitFor();
  await page.locator('tbody tr.off').getByText('Sales').waitFor();
  await page.getByText('The outcome of service.stopped is unknown').first().waitFor({ state: 'detached' });
});

itInBrowser('lets time pass while a dialog waits for an answer', async (page) => {
  const played = await new Played(page).open(address);
  await played.perform('options {"limits":{"effectDeadlineMs":1000}}');
  await played.perform('restart');
  await played.of('Gateway', 'Next').click();
  await page.locator('tbody').getByRole('link', { name: 'Sales' }).first().click();
  await ask(page, 'Stop Sales');
  expect(await confirm(page, 'Stop Sales')).toContain('Unknown');
  await played.button('Run').waitFor();
  expect(await played.exported()).toContain('504 outcome-unknown');
});

itInBrowser('is the same world for everybody who opens its address', async (page) => {
  const played = await new Played(page).open(address);
  await played.panel.getByLabel('Nodes').selectOption('3');
  await played.button('Node c').waitFor();
  await played.pause();
  await played.button('Node b').click();
  await page.getByText('live', { exact: true }).waitFor();
  await played.of('Process', 'Pause').click();
  await played.perform('wait 5s');
  await played.perform('ada@a: PUT /services/Sales/stop');
  await played.of('Process', 'Go on').click();
  await page.locator('tbody tr').getByText('stopped').nth(1).waitFor();
  await played.of('Process', 'Clock +1 h').click();
  await played.of('Network', 'Cut off').click();
  expect(await played.judged()).toContain('all laws hold');
  const text = await played.exported();
  expect(text).toContain('b event: service.stopped Sales');
  const other = new Played(await page.context().newPage());
  await other.open(await played.address());
  expect(await other.judged()).toContain('all laws hold');
  expect(await other.exported()).toBe(text);
  expect([...played.complaints, ...other.complaints]).toEqual([]);
});

itInBrowser('steps through a scenario of a file, as the tests do', async (page) => {
  const file = read('tests/scenarios/fleet/pause.txt');
  const title = 'A command of a node that stood still too long is ended by the others, and taken back.';
  const played = await new Played(page).open(address);
  await played.openFile(file);
  await played.panel.getByLabel('Step through').selectOption(title);
  await played.button('Close').click();
  await played.stepThrough();
  const own = readScenarios(file).scenarios.find((each) => each.title === title);
  const seen = own?.lines.flatMap((line) => (typeof line === 'string' ? [] : line.seen)) ?? [];
  expect(seen.length).toBeGreaterThan(10);
  expect(await played.panel.locator('.steps .soft').allInnerTexts()).toEqual(seen);
});

itInBrowser('stops a world that breaks a law, with its scenario', async (page) => {
  const broken = await newDirectory();
  const place = await play('--fault', 'leaves-what-was-abandoned', '--to', broken);
  const played = await new Played(page).open(place);
  await played.panel.getByLabel('Play', { exact: true }).selectOption({ index: 2 });
  await played.panel.locator('.steps .ahead').first().waitFor();
  await played.panel.getByLabel('Speed').selectOption('60×');
  await played.button('Run').click();
  const bar = played.panel.getByRole('alert');
  await bar.getByText('A law is broken after step 10.').waitFor();
  expect(await bar.innerText()).toContain('the gateway has "stopped", the snapshot "started"');
  expect(await played.button('Run').isDisabled()).toBe(true);
  const text = await played.exported();
  expect(text).toContain('ben: DELETE /commands/{ada}');
});

itInBrowser('opens from disk', async (page) => {
  const played = await new Played(page).open(`file://${folder}/index.html`);
  await played.of('Servers', 'Dies').click();
  await page.getByText('db-1 is down.').first().waitFor();
  const other = new Played(await page.context().newPage());
  await other.open(await played.address());
  await other.page.getByText('db-1 is down.').first().waitFor();
  expect([...played.complaints, ...other.complaints]).toEqual([]);
});

describe.each([
  { colorScheme: 'light', width: 1440 },
  { colorScheme: 'dark', width: 1440 },
  { colorScheme: 'dark', width: 375 },
] as const)('in $colorScheme, with $width px', ({ colorScheme, width }) => {
  itInBrowser('has no fault that axe knows, and no text beyond the edge', async (page) => {
    // What has scrolled out of a place is what axe cannot decide.
    await page.setViewportSize({ width, height: 2000 });
    await page.emulateMedia({ colorScheme });
    // The policy of the page lets no other script in.
    await page.addInitScript({ content: axe.source });
    const played = await new Played(page).open(address);
    await page.locator('tbody').getByRole('link', { name: 'Sales' }).first().waitFor();
    if (width < 1000) await played.button('Controls').click();
    await played.panel.getByLabel('Any step').fill('wait and see');
    await played.button('Do').click();
    await played.panel.getByRole('alert').waitFor();
    await played.button('Export as scenario').click();
    // At its own place, the panel covers nothing.
    await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
    expect([...(await faultsOf(page)), ...(await tooWide(page))]).toEqual([]);
  });
});

itInBrowser('is played without a mouse', async (page) => {
  const played = new Played(page);
  await page.goto(address);
  await played.button('Pause').first().waitFor();
  await tabTo(page, 'Pause');
  await page.keyboard.press('Enter');
  await played.button('Run').waitFor();
  await tabTo(page, 'Dies');
  await page.keyboard.press('Space');
  await page.getByText('db-1 is down.').first().waitFor();
  await tabTo(page, 'Any step');
  await page.keyboard.type('ada: PUT /services/Sales/stop');
  await page.keyboard.press('Enter');
  await played.panel.locator('.steps').getByText('event: service.stopped Sales by ada (s-1)').waitFor();
});

/** Presses Tab until a control has the focus. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let count = 0; count < 100; count += 1) {
    await page.keyboard.press('Tab');
    const focused = await page.evaluate(() => {
      const { activeElement: element } = document;
      return element?.getAttribute('aria-label') ?? element?.textContent;
    });
    if (focused === name) return;
  }
  throw new Error(`Tab does not lead to ${name}`);
}
