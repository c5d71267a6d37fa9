/**
 * Many tabs of one browser: they share one stream of events, so that each has connections for what it reads.
 */
import type { ServerResponse } from 'node:http';

import { describe, expect } from '@jest/globals';
import { createBasicAuthentication } from 'gateway-admin-core';
import type { BrowserContext, Page, Request } from 'playwright-core';

import { startMortal } from './mortal-gateway.ts';
import { itInBrowser } from './operate.ts';
import { documentWithUser, password, serveConsole, type Hosting } from './served-console.ts';

/** The streams of events of a browser that are open, with their pages. */
class Streams {
  readonly #open = new Set<Request>();
  #look = (): void => undefined;

  constructor(context: BrowserContext) {
    const note = (how: 'add' | 'delete') => (request: Request) => {
      if (new URL(request.url()).pathname !== '/events') return;
      this.#open[how](request);
      this.#look();
    };
    context.on('request', note('add'));
    context.on('requestfinished', note('delete'));
    context.on('requestfailed', note('delete'));
  }

  /** The tabs that hold a stream. */
  get holders(): readonly Page[] {
    // A tab that was closed does not tell that its requests have ended.
    return [...this.#open].map((request) => request.frame().page()).filter((tab) => !tab.isClosed());
  }

  /** Waits until so many are open, none of them in some tab. */
  until(count: number, except?: Page): Promise<void> {
    return new Promise((resolve) => {
      this.#look = () => {
        const { holders } = this;
        if (holders.length !== count || (except !== undefined && holders.includes(except))) return;
        this.#look = () => undefined;
        resolve();
      };
      this.#look();
    });
  }

  /** Waits until one is open. Gives its tab. */
  async holder(except?: Page): Promise<Page> {
    await this.until(1, except);
    const [holder] = this.holders;
    if (holder === undefined) throw new Error('No tab holds a stream');
    return holder;
  }
}

const live = (tab: Page) => tab.getByText('live', { exact: true }).waitFor();
const shows = (tab: Page, reason: string) =>
  tab.getByRole('complementary').getByText(`is down: ${reason}`).waitFor();
const down = (reason: string) => ({ type: 'server.reported', server: 'db-1', status: [], reason }) as const;

/** Opens the console in more tabs beside a first one. A headless browser shows all of them. */
async function openTabs(first: Page, address: string, count: number): Promise<readonly Page[]> {
  const tabs = [first];
  while (tabs.length < count) tabs.push(await first.context().newPage());
  for (const tab of tabs) await tab.goto(address);
  await Promise.all(tabs.map(live));
  return tabs;
}

/** Makes a tab say that nobody sees it, or that somebody does again. */
async function hide(tab: Page, hidden = true): Promise<void> {
  await tab.evaluate((isHidden) => {
    Object.defineProperty(document, 'hidden', { value: isHidden, configurable: true });
    document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
  }, hidden);
}

/** A server that can let one tab hang: the tab does nothing until the server answers a request. */
class Hanging {
  readonly #path = '/hangs-until-it-is-told-to-go-on';
  #hold = (response: ServerResponse): unknown => response.end();

  readonly inFront: NonNullable<Hosting['inFront']> = ({ url }, response) => {
    if (url !== this.#path) return 'goes on';
    this.#hold(response);
    return 'answered';
  };

  /** Gives a function that lets the tab go on. */
  async begin(tab: Page): Promise<() => Promise<void>> {
    const held = new Promise<ServerResponse>((resolve) => (this.#hold = resolve));
    const hanging = tab.evaluate((path) => {
      const request = new XMLHttpRequest();
      request.open('GET', path, false);
      request.send();
    }, this.#path);
    const response = await held;
    return async () => {
      response.end();
      await hanging;
    };
  }
}

describe.each([
  ['on this machine', '127.0.0.1'],
  // No locks, no clipboard: a name over plain HTTP is no secure context.
  ['over plain HTTP', 'gw.example'],
])('eight tabs side by side, %s,', (_where, host) => {
  itInBrowser('share one stream, and each shows its lists and what happens', async (page) => {
    const { port, admin } = await serveConsole({ admin: { access: { allowedHosts: [host] } } });
    const streams = new Streams(page.context());
    const tabs = await openTabs(page, `http://${host}:${String(port)}/console`, 8);
    await Promise.all(
      tabs.map((tab) => tab.getByRole('row').filter({ hasText: '10.0.0.1' }).first().waitFor()),
    );
    await streams.until(1);
    admin.report(down('pulled the plug'));
    await Promise.all(tabs.map((tab) => shows(tab, 'pulled the plug')));
    // What a person opens is read as in a single tab.
    for (const tab of tabs) await tab.getByRole('link', { name: 'Sales', exact: true }).first().click();
    await Promise.all(tabs.map((tab) => tab.getByRole('region', { name: 'service Sales' }).waitFor()));
  });

  itInBrowser('go on without the tab that has the stream: closed, hidden or hung', async (page) => {
    const hanging = new Hanging();
    const { port, admin } = await serveConsole({
      admin: { access: { allowedHosts: [host] } },
      inFront: hanging.inFront,
    });
    const streams = new Streams(page.context());
    const tabs = await openTabs(page, `http://${host}:${String(port)}/console`, 4);
    const left = new Set(tabs);
    const toldAll = async (reason: string): Promise<void> => {
      admin.report(down(reason));
      await Promise.all([...left].map((tab) => shows(tab, reason)));
    };
    admin.report(down('before all'));
    await Promise.all(tabs.map((tab) => shows(tab, 'before all')));

    const closed = await streams.holder();
    left.delete(closed);
    await closed.close();
    // Nobody has the stream: what happens now is told by the next tab that has it.
    await toldAll('after one was closed');

    const hidden = await streams.holder();
    await hide(hidden);
    await streams.until(1, hidden);
    // It hears of it all the same.
    await toldAll('after one was hidden');

    const hung = await streams.holder();
    const goOn = await hanging.begin(hung);
    left.delete(hung);
    await toldAll('after one hung');
    await goOn();
    left.add(hung);
    await streams.until(1, hung);
    await toldAll('at the end');
    // No event twice. A tab that has missed one, because the stream went to another tab, has read everything again.
    for (const tab of left) {
      const told = await tab.getByRole('complementary').getByRole('listitem').allInnerTexts();
      expect(told[0]).toContain('at the end');
      expect(new Set(told).size).toBe(told.length);
    }
  });
});

describe('tabs of one browser', () => {
  itInBrowser(
    'that nobody sees have no stream, and one that is seen again has what was missed',
    async (page) => {
      const { origin, admin } = await serveConsole();
      const streams = new Streams(page.context());
      const tabs = await openTabs(page, `${origin}/console`, 2);
      admin.report(down('seen'));
      await Promise.all(tabs.map((tab) => shows(tab, 'seen')));
      for (const tab of tabs) await hide(tab);
      await streams.until(0);
      admin.report(down('while nobody looked'));
      await hide(page, false);
      await Promise.all(tabs.map((tab) => shows(tab, 'while nobody looked')));
      expect(streams.holders).toEqual([page]);
    },
  );

  itInBrowser('say all that the gateway was restarted', async (page) => {
    const gateway = await startMortal();
    const streams = new Streams(page.context());
    const tabs = await openTabs(page, gateway.address, 3);
    gateway.report(down('in the first life'));
    await Promise.all(tabs.map((tab) => shows(tab, 'in the first life')));
    await gateway.end();
    await Promise.all(tabs.map((tab) => tab.getByText(/reconnecting for/).waitFor()));
    await gateway.begin();
    await Promise.all(tabs.map((tab) => tab.getByText('the gateway was restarted').waitFor()));
    await Promise.all(tabs.map(live));
    await streams.until(1);
    gateway.report(down('in the second life'));
    await Promise.all(tabs.map((tab) => shows(tab, 'in the second life')));
  });
});

describe('a tab to which nothing comes', () => {
  itInBrowser('says for how long', async (page) => {
    const { origin } = await serveConsole();
    let isHeld: (path: string) => boolean = (path) => path === '/console?file';
    await page.route('**', async (route) => {
      const { pathname, search } = new URL(route.request().url());
      if (!isHeld(pathname + search.replace(/=.*/, ''))) await route.continue();
    });
    const open = (): Promise<unknown> => page.goto(`${origin}/console`, { waitUntil: 'commit' });
    await open();
    await page.getByText('Loading …').waitFor();
    isHeld = (path) => path === '/gateway';
    await open();
    await page.getByText(/^Connecting … [2-9] s$/).waitFor();
    isHeld = (path) => path.startsWith('/services');
    await open();
    await page.getByRole('banner').waitFor();
    await page.getByText(/^Connecting … [2-9] s$/).waitFor();
    expect(await page.getByRole('heading', { name: 'Services' }).count()).toBe(0);
  });
});

describe('two tabs', () => {
  itInBrowser('do not wait for each other: a reading may hang in one', async (page) => {
    let hangs = 0;
    const { origin } = await serveConsole({
      inFront: ({ url = '' }) => {
        if (!url.startsWith('/services') || hangs > 0) return 'goes on';
        hangs += 1;
        return 'answered';
      },
    });
    const reading = page.waitForRequest(/\/services/);
    await page.goto(`${origin}/console`);
    await reading;
    const other = await page.context().newPage();
    await other.goto(`${origin}/console`);
    // Chromium waits for 20 s if two requests share an entry of its cache.
    await other.getByRole('heading', { name: 'Services' }).waitFor({ timeout: 18_000 });
    expect(hangs).toBe(1);
  });
});

describe('tabs with log-ins', () => {
  const users = ['ada', 'bob'] as const;

  async function serveUsers() {
    const document = await documentWithUser();
    const [ada] = document.users ?? [];
    if (ada === undefined) throw new Error('The document has no user');
    return serveConsole({
      document: { ...document, users: users.map((name) => ({ ...ada, name })) },
      admin: { access: { authenticate: createBasicAuthentication(), authorize: () => true } },
    });
  }

  async function logIn(tab: Page, address: string, name: (typeof users)[number]): Promise<void> {
    await tab.goto(address);
    await tab.getByLabel('Name').fill(name);
    await tab.getByLabel('Password').fill(password);
    await tab.getByRole('button', { name: 'Log in' }).click();
    await live(tab);
  }

  itInBrowser('share with tabs of the same user alone, and leave when the log-in ends', async (page) => {
    const { origin, admin } = await serveUsers();
    const context = page.context();
    await context.addInitScript(() => {
      const kept = window as unknown as { crossed: string[] };
      kept.crossed = [];
      const { postMessage } = BroadcastChannel.prototype;
      BroadcastChannel.prototype.postMessage = function (letter: unknown) {
        kept.crossed.push(JSON.stringify([this.name, letter]));
        postMessage.call(this, letter);
      };
    });
    const streams = new Streams(context);
    const [ada, bob] = [
      [page, await context.newPage()],
      [await context.newPage(), await context.newPage()],
    ];
    for (const tab of ada) await logIn(tab, `${origin}/console`, 'ada');
    for (const tab of bob) await logIn(tab, `${origin}/console`, 'bob');
    await streams.until(2);
    admin.report(down('told to both'));
    await Promise.all([...ada, ...bob].map((tab) => shows(tab, 'told to both')));
    const crossed = await Promise.all(
      [...ada, ...bob].map((tab) =>
        tab.evaluate(() => (window as unknown as { readonly crossed: readonly string[] }).crossed),
      ),
    );
    expect(String(crossed)).toContain('told to both');
    for (const secret of [password, btoa(`ada:${password}`), 'sealed'])
      expect(String(crossed)).not.toContain(secret);

    const leaving = streams.holders.find((each) => ada.includes(each));
    const staying = ada.find((each) => each !== leaving);
    if (leaving === undefined || staying === undefined) throw new Error('No tab of ada holds a stream');
    await leaving.getByRole('button', { name: 'Log out' }).click();
    await leaving.getByRole('heading', { name: 'Log in' }).waitFor();
    await streams.until(2, leaving);
    admin.report(down('after one has left'));
    await Promise.all([staying, ...bob].map((tab) => shows(tab, 'after one has left')));
    expect(await leaving.getByText('after one has left').count()).toBe(0);

    // The log-in of one user ends everywhere, and that of the other goes on.
    const changed = await fetch(`${origin}/users/ada`, {
      method: 'PATCH',
      headers: {
        authorization: `Basic ${btoa(`ada:${password}`)}`,
        'content-type': 'application/json-patch+json',
      },
      body: JSON.stringify([{ op: 'replace', path: '/password', value: 'another horse 8' }]),
    });
    expect(changed.ok).toBe(true);
    await staying.getByRole('heading', { name: 'Log in' }).waitFor();
    expect(bob).toContain(await streams.holder());
    admin.report(down('told to bob'));
    await Promise.all(bob.map((tab) => shows(tab, 'told to bob')));
    expect(await staying.getByText('told to bob').count()).toBe(0);
  });
});
