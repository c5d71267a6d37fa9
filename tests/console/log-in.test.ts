/**
 * The log-in: the form of the page, or the log-in page of the host.
 */
import type { IncomingMessage, RequestListener } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import { describe, expect } from '@jest/globals';
import { createBasicAuthentication } from 'gateway-admin-core';
import type { Page } from 'playwright-core';

import { itInBrowser } from './operate.ts';
import { documentWithUser, password, serveConsole, type Served } from './served-console.ts';

/**
 * Notes how often the browser would open its own dialog for a name and a password. As in the browser of a user, the
 * request waits then, because nobody answers the dialog.
 */
async function noteDialogs(page: Page): Promise<readonly string[]> {
  const dialogs: string[] = [];
  const session = await page.context().newCDPSession(page);
  session.on('Fetch.requestPaused', ({ requestId }) => {
    // A page that is left takes its requests along.
    session.send('Fetch.continueRequest', { requestId }).catch(() => undefined);
  });
  session.on('Fetch.authRequired', ({ request: { url } }) => dialogs.push(url));
  await session.send('Fetch.enable', { handleAuthRequests: true });
  return dialogs;
}

/** A gateway with a log-in of the library, under a name of this machine. */
async function serveWithUser(): Promise<Served & { readonly address: string }> {
  const access = { authenticate: createBasicAuthentication() };
  const served = await serveConsole({ document: await documentWithUser(), admin: { access } });
  return { ...served, address: `http://gw.example:${String(served.port)}/console` };
}

const form = (page: Page) => page.getByRole('heading', { name: 'Log in' });
const services = (page: Page) => page.getByRole('heading', { name: 'Services' });

async function logIn(page: Page, given: string): Promise<void> {
  await page.getByLabel('Name').fill('ada');
  await page.getByLabel('Password').fill(given);
  await page.getByRole('button', { name: 'Log in' }).click();
}

/** Everything that a page keeps or shows, as one text. */
async function keptIn(page: Page): Promise<string> {
  const kept = await page.evaluate(() => [
    document.documentElement.outerHTML,
    ...[...document.querySelectorAll('input')].map(({ value }) => value),
    location.href,
    document.cookie,
    document.title,
    window.name,
    JSON.stringify([history.state, Object.entries(localStorage), Object.entries(sessionStorage)]),
    JSON.stringify(performance.getEntries()),
  ]);
  return JSON.stringify([kept, await page.context().storageState({ indexedDB: true })]);
}

describe('the log-in form of the console, in a real browser', () => {
  itInBrowser('opens the page for the right password, and says that another one is wrong', async (page) => {
    const { address, requests } = await serveWithUser();
    const dialogs = await noteDialogs(page);
    await page.goto(address);
    await form(page).waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    const asked = requests.map(({ url = '' }) => url).filter((url) => !url.startsWith('/console'));
    expect(asked).toEqual(['/gateway', '/?may=true']);
    // The form is not stretched over the screen.
    const box = await page.getByRole('button', { name: 'Log in' }).boundingBox();
    expect(box?.height).toBeLessThan(40);
    await logIn(page, 'not the password');
    await page.getByRole('alert').getByText('Wrong name or password.').waitFor();
    // The next letters are those of another password.
    await page.waitForFunction(() => document.activeElement?.getAttribute('name') === 'password');
    await page.keyboard.type(password);
    await page.keyboard.press('Enter');
    await services(page).waitFor();
    await page.getByText('live', { exact: true }).waitFor();
    await page.getByRole('banner').getByText('ada', { exact: true }).waitFor();
    expect(dialogs).toEqual([]);
    // Over plain HTTP to such a name, a browser does not say that a script asks, so the interface has its own
    // challenge.
    expect(new Set(requests.map(({ headers }) => headers['sec-fetch-mode']))).toEqual(new Set([undefined]));
  });

  itInBrowser(
    'keeps the password in memory alone: a reload asks again, and so does the button for that',
    async (page) => {
      const { address, requests } = await serveWithUser();
      const dialogs = await noteDialogs(page);
      await page.goto(address);
      await logIn(page, password);
      await services(page).waitFor();
      const token = Buffer.from(`ada:${password}`).toString('base64');
      const kept = await keptIn(page);
      expect(kept).toContain('Services');
      expect(kept).not.toContain(password);
      expect(kept).not.toContain(token);
      expect(requests.some(({ url = '' }) => url.includes(password) || url.includes(token))).toBe(false);

      await page.reload();
      await form(page).waitFor();
      await logIn(page, password);
      await services(page).waitFor();
      await page.getByRole('button', { name: 'Log out' }).click();
      await form(page).waitFor();
      const last = requests.slice(requests.findLastIndex(({ url }) => url === '/console'));
      expect(last.map(({ url }) => url)).toContain('/gateway');
      expect(last.filter(({ headers }) => headers.authorization !== undefined)).toHaveLength(0);
      expect(dialogs).toEqual([]);
    },
  );

  itInBrowser(
    'comes when another person creates the first user, and does not speak of an earlier log-in',
    async (page) => {
      const access = { authenticate: createBasicAuthentication({ openUntilFirstUser: true }) };
      const { origin } = await serveConsole({ admin: { access } });
      await page.goto(`${origin}/console`);
      await page.getByText('no log-in', { exact: true }).waitFor();
      const created = await fetch(`${origin}/users`, {
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ name: 'ada', password }),
      });
      expect(created.ok).toBe(true);
      await page.getByRole('alert').getByText('Log in to see the gateway.').waitFor();
      await logIn(page, password);
      await services(page).waitFor();
    },
  );

  itInBrowser(
    'comes back when the password is changed, says so, and leads to the same place',
    async (page) => {
      const { address, origin, port } = await serveWithUser();
      const dialogs = await noteDialogs(page);
      await page.goto(`${address}#?open=/services/Sales`);
      await logIn(page, password);
      await page.locator('.drawer .all').waitFor();
      const changed = await fetch(`${origin}/users/ada`, {
        method: 'PATCH',
        headers: {
          authorization: `Basic ${btoa(`ada:${password}`)}`,
          'content-type': 'application/json-patch+json',
        },
        body: JSON.stringify([{ op: 'replace', path: '/password', value: 'a new one' }]),
      });
      expect(changed.status).toBe(200);
      await page.getByRole('alert').getByText('Your log-in has ended.').waitFor();
      // What the page asks from now on, not what still arrives from before.
      const asked: string[] = [];
      page.on('request', (request) =>
        asked.push(request.url().slice(`http://gw.example:${String(port)}`.length)),
      );
      await logIn(page, password);
      await page.getByRole('alert').getByText('Wrong name or password.').waitFor();
      // While the form is open, the page asks for nothing: these are of the attempt.
      expect(asked).toEqual(['/gateway', '/?may=true']);
      await logIn(page, 'a new one');
      await page.locator('.drawer .all').waitFor();
      expect(dialogs).toEqual([]);
    },
  );

  itInBrowser('appears when an interface without users gets its first user', async (page) => {
    const access = {
      authenticate: createBasicAuthentication({ openUntilFirstUser: true }),
      allowedHosts: ['gw.example'],
    };
    const { port, admin } = await serveConsole({ admin: { access } });
    const dialogs = await noteDialogs(page);
    await page.goto(`http://gw.example:${String(port)}/console`);
    await services(page).waitFor();
    await page.getByText('live', { exact: true }).waitFor();
    await admin.createFirstUser({ name: 'ada', password });
    await form(page).waitFor();
    await logIn(page, password);
    await services(page).waitFor();
    expect(dialogs).toEqual([]);
  });
});

describe('the log-in of a host, in a real browser', () => {
  const logInPage: RequestListener = ({ url }, response) => {
    const cookie = url === '/log-in' ? 'sid=1; HttpOnly; SameSite=Strict' : 'sid=; Max-Age=0';
    response.setHeader('set-cookie', cookie).setHeader('content-type', 'text/html');
    response.end('<!doctype html><title>The page of the host</title>');
  };

  const hosting = {
    adminPath: '/admin',
    otherwise: logInPage,
    admin: { access: { authenticate: createBasicAuthentication() } },
    principalOf: ({ headers }: IncomingMessage) =>
      headers.cookie?.includes('sid=1') === true ? { name: 'ada' } : undefined,
  } as const;

  itInBrowser('opens the page without a form', async (page) => {
    const served = await serveConsole({ ...hosting, console: { adminPath: '../admin' } });
    for (const name of ['gw.example', '127.0.0.1']) {
      const origin = `http://${name}:${String(served.port)}`;
      await page.goto(`${origin}/log-in`);
      await page.goto(`${origin}/console`);
      await services(page).waitFor();
      await page.getByRole('banner').getByText('ada', { exact: true }).waitFor();
      expect(await page.getByRole('button', { name: 'Log out' }).count()).toBe(0);
      expect(await form(page).count()).toBe(0);
    }
    expect(served.requests.filter(({ headers }) => headers.authorization !== undefined)).toHaveLength(0);
  });

  itInBrowser(
    'is a link for a caller without a cookie, and the page opens at its place once the person comes back',
    async (page) => {
      const { origin } = await serveConsole({
        ...hosting,
        console: { adminPath: '../admin', logInPath: '../log-in' },
      });
      await page.goto(`${origin}/console#?open=/services/Sales`);
      await page.getByRole('link', { name: 'To the log-in page' }).click();
      expect(await page.title()).toBe('The page of the host');
      expect(page.url()).toBe(`${origin}/log-in`);
      await page.goBack();
      await page.locator('.drawer .all').waitFor();

      // The same when the log-in ends while the page is open, and the person logs in beside.
      const other = await page.context().newPage();
      await other.goto(`${origin}/log-out`);
      // The page reads what events tell of.
      await fetch(`${origin}/admin/service/Sales/stop`, { method: 'PUT', headers: { cookie: 'sid=1' } });
      await page.getByRole('link', { name: 'To the log-in page' }).waitFor();
      await other.goto(`${origin}/log-in`);
      // The browser of the tests shows all pages at once.
      await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange', { bubbles: true })));
      await page.locator('.drawer .all').waitFor();
    },
  );

  itInBrowser('is asked for in words when it ends between two requests', async (page) => {
    let isOver = false;
    const { origin } = await serveConsole({
      ...hosting,
      console: { adminPath: '../admin', logInPath: '../log-in' },
      principalOf: async ({ url = '' }) => {
        // The page draws what it was told until a list is refused.
        if (isOver) await sleep(url.startsWith('/admin/?') ? 0 : 200);
        if (isOver) return undefined;
        isOver = url.startsWith('/admin/events');
        return { name: 'ada' };
      },
    });
    await page.goto(`${origin}/console`);
    await page.getByRole('link', { name: 'To the log-in page' }).waitFor();
    // What everybody may read of the interface has not taken the place of what the page knew.
    expect(await page.title()).toBe('gw-1');
  });

  itInBrowser('may lead callers without a cookie to a page of another origin', async (page) => {
    const { origin, port } = await serveConsole({
      inFront: ({ headers }, response) => {
        if (headers.cookie?.includes('sid=1') === true) return 'goes on';
        response.writeHead(302, { location: `http://log-in.example:${String(port)}/` }).end();
        return 'answered';
      },
    });
    await page.context().addCookies([{ name: 'sid', value: '1', url: origin }]);
    await page.goto(`${origin}/console`);
    await services(page).waitFor();
  });
});
