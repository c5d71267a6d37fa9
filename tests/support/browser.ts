/**
 * Tests in a real browser: one for each test file, and a new profile for each test.
 */
import hooks from 'node:async_hooks';
import { relative } from 'node:path';

import { afterAll, expect } from '@jest/globals';
import type { Browser, BrowserType, Page } from 'playwright-core';

import { findChromium, launch } from './chromium.ts';
import { root } from './project.ts';

let opening: Promise<Browser | undefined> | undefined;
const storages: hooks.AsyncLocalStorage<unknown>[] = [];

afterAll(closeBrowser);

/**
 * Gives the function of a test in a browser. The test gets an empty page. All names below `.example` lead to this
 * machine. Where there is no browser, a line says so, and the test does not run.
 */
export function inBrowser(test: (page: Page) => Promise<void>): () => Promise<void> {
  return async () => {
    const page = await newPage();
    if (page === undefined) return;
    try {
      await runOn(page, test);
    } finally {
      await page.context().close();
    }
  };
}

/** Gives the function of a test in a browser on a page that all such tests of the file share, once it is prepared. */
export function inSharedBrowser(
  prepare: (page: Page) => Promise<void>,
): (test: (page: Page) => Promise<void>) => () => Promise<void> {
  let sharing: Promise<Page | undefined> | undefined;
  return (test) => async () => {
    sharing ??= newPage().then(async (page) => {
      if (page !== undefined) await runOn(page, prepare);
      return page;
    });
    const page = await sharing;
    if (page !== undefined) await runOn(page, test);
  };
}

/** A page of a new profile; `undefined` without a browser. */
async function newPage(): Promise<Page | undefined> {
  opening ??= openBrowser();
  const context = await (await opening)?.newContext();
  // A limit is for pages that hang, not for a slow machine.
  context?.setDefaultTimeout(180_000);
  return context?.newPage();
}

/** Runs a test on a page. An error tells what the page shows. */
async function runOn(page: Page, test: (page: Page) => Promise<void>): Promise<void> {
  try {
    await test(page);
  } catch (error) {
    const shown = await page.locator('body').ariaSnapshot({ timeout: 5000 }).catch(String);
    throw Object.assign(error as Error, {
      stack: `${(error as Error).stack ?? ''}\n\nThe page:\n${shown}`,
    });
  }
}

/** Ends the browser of this file, if there is one. */
export async function closeBrowser(): Promise<void> {
  try {
    await (await opening)?.close();
  } finally {
    opening = undefined;
    for (const storage of storages) storage.disable();
  }
}

async function openBrowser(): Promise<Browser | undefined> {
  const found = await findChromium();
  if (found !== undefined) return launch(await loadPlaywright(), found);
  const file = relative(root, expect.getState().testPath ?? '');
  process.stderr.write(`${file}: skipped, because no Chromium was found. Name one in CHROMIUM_PATH.\n`);
  return undefined;
}

/** Loads Playwright. On Node 20, its storages slow down every promise of this worker until they are disabled. */
async function loadPlaywright(): Promise<BrowserType> {
  const whole = { value: hooks.AsyncLocalStorage, configurable: true };
  class KnownStorage extends whole.value<unknown> {
    constructor() {
      super();
      storages.push(this);
    }
  }
  // From Node 22 on, the member has no setter.
  Object.defineProperty(hooks, 'AsyncLocalStorage', { ...whole, value: KnownStorage });
  try {
    return (await import('playwright-core')).chromium;
  } finally {
    Object.defineProperty(hooks, 'AsyncLocalStorage', whole);
  }
}
