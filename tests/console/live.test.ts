/**
 * Live: the page follows the events, asks seldom for what no event tells, says how old is what it shows, and what is
 * wrong around the gateway.
 */
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import { describe, expect } from '@jest/globals';
import { openAdmin } from 'gateway-admin-core';
import { createSharedMemory, openFleet } from 'gateway-admin-core/fleet';
import type { Page } from 'playwright-core';

import { altered } from '../support/altered-store.ts';
import { FailingStore } from '../support/failing-store.ts';
import { startMortal } from './mortal-gateway.ts';
import { ask, itInBrowser, outcome, planned } from './operate.ts';
import { serveConsole, shownDocument } from './served-console.ts';

/** The time of a page, which a test lets pass faster than its own. Answers come between small steps. */
class PageTime {
  #ahead = 0;
  readonly #page: Page;

  private constructor(page: Page) {
    this.#page = page;
  }

  static async of(page: Page): Promise<PageTime> {
    await page.clock.install();
    return new PageTime(page);
  }

  now(): number {
    return performance.now() + this.#ahead;
  }

  async pass(ms: number): Promise<void> {
    for (const end = this.#ahead + ms; this.#ahead < end; this.#ahead += 250) {
      await this.#page.clock.runFor(250);
      await sleep(10);
    }
  }

  /** Lets time pass until something is so. */
  async until(isSo: () => boolean): Promise<void> {
    while (!isSo()) await this.pass(250);
  }

  /** Lets time pass until something has come. */
  async untilSeen(seen: Promise<unknown>): Promise<void> {
    let isThere = false;
    const coming = seen.finally(() => (isThere = true));
    await Promise.all([coming, this.until(() => isThere)]);
  }
}

/** Waits until the page says so of its connection. */
const connection = (page: Page, text: string | RegExp) =>
  page.locator('.connection').filter({ hasText: text }).first().waitFor();

describe('a page without its gateway', () => {
  itInBrowser(
    'says since when, how old its numbers are, and that the gateway was restarted',
    async (page) => {
      const gateway = await startMortal();
      const time = await PageTime.of(page);
      await page.goto(gateway.address);
      await connection(page, 'live');
      // The page is live before it has read its first numbers.
      await page.getByRole('cell', { name: '30' }).first().waitFor();
      await gateway.end();
      await time.untilSeen(connection(page, /reconnecting for \d+ s/));
      const old = page.getByRole('cell', { name: /30.* old/ }).first();
      await time.untilSeen(old.waitFor());
      await gateway.begin();
      await time.untilSeen(page.getByText('the gateway was restarted').waitFor());
      await time.untilSeen(connection(page, 'live'));
      await time.untilSeen(page.getByText(/ old/).first().waitFor({ state: 'detached' }));
    },
  );
});

describe('a page whose gateway does not answer', () => {
  itInBrowser('does not say that nothing is wrong', async (page) => {
    const gateway = await startMortal({ format: 2 });
    const time = await PageTime.of(page);
    await page.goto(gateway.address);
    await page.getByText('No alerts.').waitFor();
    await gateway.end();
    await time.untilSeen(connection(page, 'reconnecting'));
    expect(await page.getByText('No alerts.').count()).toBe(0);
  });

  itInBrowser('shows a list that was refused as soon as the list can be read', async (page) => {
    let refusals = 0;
    const { origin } = await serveConsole({
      inFront: ({ url = '' }, response) => {
        if (!url.startsWith('/servers') || refusals === 3) return 'goes on';
        refusals += 1;
        response.writeHead(500).end();
        return 'answered';
      },
    });
    const time = await PageTime.of(page);
    await page.goto(`${origin}/console`);
    await connection(page, 'live');
    await time.untilSeen(page.getByRole('row').filter({ hasText: '10.0.0.1' }).waitFor());
    expect(refusals).toBe(3);
  });
});

describe('a page whose stream of events is refused', () => {
  itInBrowser('says so, and asks again after growing waits', async (page) => {
    const { origin } = await serveConsole({ admin: { limits: { maxEventReaders: 1 } } });
    const time = await PageTime.of(page);
    const asked: number[] = [];
    page.on('request', (request) => {
      if (new URL(request.url()).pathname === '/events') asked.push(time.now());
    });
    const reader = await fetch(`${origin}/events`);
    await page.goto(`${origin}/console`);
    await connection(page, 'reconnecting');
    await time.until(() => asked.length === 3);
    // After 2 s, and after 4 s more.
    const [first = 0, second = 0, third = 0] = asked;
    expect(second - first).toBeGreaterThan(1500);
    expect(third - second).toBeGreaterThan(3000);
    expect(third - first).toBeLessThan(20_000);
    // Without events, there are lists all the same.
    await page.getByRole('row').filter({ hasText: '10.0.0.1' }).waitFor();
    await reader.body?.cancel();
    await time.untilSeen(connection(page, 'live'));
  });
});

describe('a page behind a proxy', () => {
  itInBrowser(
    'says what the proxy answers in place of the stream of events, and is live again after that',
    async (page) => {
      let isAway = false;
      const streams: ServerResponse[] = [];
      const { origin } = await serveConsole({
        inFront: ({ url = '' }, response) => {
          if (!url.startsWith('/events')) return 'goes on';
          streams.push(response);
          if (!isAway) return 'goes on';
          response.writeHead(404, { 'content-type': 'text/plain' }).end('no such page');
          return 'answered';
        },
      });
      const time = await PageTime.of(page);
      await page.goto(`${origin}/console`);
      await connection(page, 'live');
      isAway = true;
      for (const stream of streams) stream.destroy();
      await time.untilSeen(connection(page, /reconnecting.*status 404, no such page/));
      isAway = false;
      await time.untilSeen(connection(page, 'live'));
    },
  );
});

describe('an open page', () => {
  itInBrowser('reads counters alone while nothing happens, and seldom', async (page) => {
    const { origin } = await serveConsole();
    const time = await PageTime.of(page);
    // The page reads its lists one after the other.
    const lists = ['alerts', 'commands', 'fleet'].map((name) =>
      page.waitForResponse((response) => new URL(response.url()).pathname.endsWith(`/${name}`)),
    );
    await page.goto(`${origin}/console`);
    await Promise.all([
      time.untilSeen(Promise.all(lists)),
      page.getByRole('cell', { name: '30' }).first().waitFor(),
    ]);
    await time.pass(1500);
    const reads: { readonly path: string; readonly at: number }[] = [];
    page.on('request', (request) => {
      reads.push({ path: new URL(request.url()).pathname, at: time.now() });
    });
    await time.until(() => reads.length === 3);
    expect(new Set(reads.map(({ path }) => path))).toEqual(new Set(['/services']));
    for (const [at, { at: moment }] of reads.entries()) {
      const before = reads[at - 1];
      if (before === undefined) continue;
      expect(moment - before.at).toBeGreaterThan(2000);
      // Time passes while an answer is on its way, too.
      expect(moment - before.at).toBeLessThan(20_000);
    }
  });

  itInBrowser(
    'sends no second request before the first is answered, and none while nobody looks at the page',
    async (page) => {
      const [underWay, overlapping] = [new Set<string>(), [] as string[]];
      const { origin, requests } = await serveConsole();
      // Slower than the page reads.
      await page.route(/\/(?:services|sessions|alerts|commands|servers)/, async (route) => {
        const url = route.request().url();
        if (underWay.size > 0) overlapping.push(url);
        underWay.add(url);
        await sleep(100);
        underWay.delete(url);
        await route.continue();
      });
      const time = await PageTime.of(page);
      await page.goto(`${origin}/console#sessions`);
      await page.getByText('40 sessions', { exact: true }).waitFor();
      await time.pass(3000);
      expect(overlapping).toEqual([]);
      await page.evaluate(() => {
        Object.defineProperty(document, 'hidden', { value: true, configurable: true });
        document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
      });
      await time.until(() => underWay.size === 0);
      await time.pass(1500);
      const seen = requests.length;
      await time.pass(5200);
      expect(requests.length).toBe(seen);
      await page.evaluate(() => {
        Object.defineProperty(document, 'hidden', { value: false, configurable: true });
        document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
      });
      await time.until(() => requests.length > seen);
    },
  );

  itInBrowser('shows an event without a request for anything else than what it tells of', async (page) => {
    const { origin, admin } = await serveConsole();
    await page.goto(`${origin}/console`);
    await connection(page, 'live');
    admin.report({ type: 'server.reported', server: 'db-1', status: [], reason: 'connection refused' });
    const row = page.getByRole('row').filter({ hasText: '10.0.0.1' });
    await row.getByText('connection refused').waitFor();
    await page.getByRole('banner').getByText('db-1 is down').waitFor();
  });

  itInBrowser('draws at most once a frame, whatever the number of events', async (page) => {
    await page.addInitScript(() => {
      const counts = { draws: 0, frames: 0 };
      Object.assign(globalThis, { counts });
      const frame = (): void => {
        counts.frames += 1;
        requestAnimationFrame(frame);
      };
      requestAnimationFrame(frame);
      // Called once for all changes of one drawing.
      const observer = new MutationObserver(() => (counts.draws += 1));
      observer.observe(document, { childList: true, subtree: true, characterData: true });
    });
    const { origin, admin } = await serveConsole();
    await page.goto(`${origin}/console`);
    await connection(page, 'live');
    for (let at = 1; at <= 500; at += 1)
      admin.report({
        type: 'server.reported',
        server: 'db-1',
        status: at % 2 === 0 ? ['running'] : [],
        reason: `event ${String(at)}`,
      });
    await page.getByRole('complementary').getByText('event 500').waitFor();
    const { draws, frames } = await page.evaluate(
      () =>
        (globalThis as unknown as { readonly counts: { readonly draws: number; readonly frames: number } })
          .counts,
    );
    expect(draws).toBeGreaterThan(0);
    expect(draws).toBeLessThanOrEqual(frames);
  });

  itInBrowser('asks for what is open once more after many events, and not once for each', async (page) => {
    const { origin, admin } = await serveConsole();
    const held: (() => void)[] = [];
    let isHeld = false;
    await page.route(/\/servers\/db-1(?:\?|$)/, async (route) => {
      if (isHeld) await new Promise<void>((resolve) => held.push(resolve));
      await route.continue();
    });
    await page.goto(`${origin}/console#?open=/servers/db-1`);
    await page.locator('.drawer .all').waitFor();
    isHeld = true;
    for (let at = 1; at <= 50; at += 1) {
      admin.report({
        type: 'server.reported',
        server: 'db-1',
        status: at % 2 === 0 ? ['running'] : [],
        reason: `event ${String(at)}`,
      });
      await sleep(10);
    }
    await page.getByRole('row').getByText('event 50', { exact: true }).waitFor();
    // The resource, and what a person may do with it.
    expect(held).toHaveLength(2);
    isHeld = false;
    for (const goOn of held) goOn();
    await page.locator('.drawer .state-line').getByText('event 50').waitFor();
  });
});

/** The document without what a life begins without. */
const stored = {
  ...shownDocument,
  sessions: [],
  services: (shownDocument.services ?? []).filter(({ state }) => state !== 'failed'),
};

describe('a store that fails', () => {
  itInBrowser('is told in the first line, and an act says that nothing was changed', async (page) => {
    const store = new FailingStore();
    const { origin } = await serveConsole({
      document: stored,
      open: (options) => openAdmin({ ...options, store, observe: { onError: () => undefined } }),
    });
    await page.goto(`${origin}/console#?open=/services/Sales`);
    await ask(page, 'Stop Sales');
    store.fail();
    await page.getByRole('dialog').getByRole('button', { name: 'Stop Sales', exact: true }).click();
    await page.locator('dialog[data-phase="refused"]').waitFor();
    expect(await page.getByRole('dialog').innerText()).toMatch(/store/);
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('banner').getByText(/store/).first().waitFor();
    store.work();
  });
});

describe('a gateway that does not answer', () => {
  itInBrowser('leaves an outcome that is unknown, which the page shows until it is settled', async (page) => {
    const { origin, gateway } = await serveConsole({
      admin: { limits: { effectDeadlineMs: 500 }, observe: { onError: () => undefined } },
    });
    await page.goto(`${origin}/console#?open=/services/Sales`);
    await ask(page, 'Stop Sales');
    gateway.otherwise({
      apply: () => new Promise(() => undefined),
      inspect: () => new Promise(() => undefined),
    });
    await page.getByRole('dialog').getByRole('button', { name: 'Stop Sales', exact: true }).click();
    await outcome(page)
      .getByText(/^Unknown: Stop Sales/)
      .waitFor();
    // In the drawer of what it concerns, and with the latest.
    await page.locator('.drawer').getByText('Sales is being stopped').waitFor();
    await page.getByRole('button', { name: 'Close the drawer' }).click();
    const latest = page.getByRole('complementary', { name: 'Latest' });
    await latest.getByText('Sales is being stopped').waitFor();
    await latest.getByText('outcome unknown').waitFor();
    await latest.getByRole('button', { name: 'Abandon' }).click();
    await planned(page);
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Abandon/ })
      .click();
    await latest.getByText('outcome unknown').waitFor({ state: 'detached' });
    gateway.dropCalls();
  });
});

describe('a fleet', () => {
  itInBrowser('shows a node that has died, and forgets it when it is told to', async (page) => {
    const memory = createSharedMemory();
    const { origin } = await serveConsole({
      document: stored,
      open: (options) => openFleet({ ...options, node: 'one', store: memory.open(), leaseMs: 3000 }),
    });
    let isCut = false;
    const line = memory.open();
    const store = altered(line, {
      announce: (...given) =>
        isCut ? Promise.reject(new Error('The line is cut')) : line.announce(...given),
    });
    await serveConsole({
      document: stored,
      open: (options) =>
        openFleet({ ...options, node: 'two', store, leaseMs: 3000, observe: { onError: () => undefined } }),
    });
    await page.goto(`${origin}/console`);
    const row = page.getByRole('row').filter({ hasText: 'two' });
    await row.getByText('alive').waitFor();
    await page.getByText('Sessions of this node.').waitFor();
    // Which nodes an act concerns is said before it, and after it.
    await page.getByRole('link', { name: 'Sales', exact: true }).first().click();
    await ask(page, 'Close the sessions of Sales');
    await page.getByRole('heading', { name: 'Close the sessions of Sales at node one' }).waitFor();
    await page.getByRole('dialog').getByText('What is open at two stays').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await ask(page, 'Stop Sales');
    await page.getByRole('heading', { name: 'Stop Sales on all 2 nodes' }).waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Stop Sales on all 2 nodes' }).click();
    await outcome(page)
      .getByText(/^Done in .* s: Stop Sales on all 2 nodes\./)
      .waitFor();
    isCut = true;
    await row.getByText('silent').waitFor();
    await row.getByRole('button', { name: 'Forget two' }).click();
    await planned(page);
    await page.getByRole('dialog').getByRole('button', { name: 'Forget two' }).click();
    await row.waitFor({ state: 'detached' });
  });
});
