/**
 * What a person does on the page.
 */
import { it } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';

import { inBrowser } from '../support/browser.ts';

/** A test in a real browser. */
export function itInBrowser(title: string, test: (page: Page) => Promise<void>): void {
  it(title, inBrowser(test));
}

/** A control by its name: a button, or a link that leads to another place of the page. */
export const button = (page: Page, name: string | RegExp): Locator =>
  page.getByRole('button', { name, exact: true }).or(page.getByRole('link', { name, exact: true }));
export const dialog = (page: Page): Locator => page.locator('dialog');
export const outcome = (page: Page): Locator => page.locator('.outcome').first();

/** Waits for the plan in the dialog. */
export async function planned(page: Page): Promise<void> {
  await page.locator('dialog[data-phase="planned"]').waitFor();
}

/**
 * Presses a button, and waits for the plan. As long as a page loads, what comes in moves the button: a person whose
 * finger has missed it presses again.
 */
export async function ask(page: Page, name: string | RegExp): Promise<void> {
  const press = async (): Promise<void> => {
    const wanted = page.getByRole('button', { name, exact: true, includeHidden: true }).first();
    await wanted.waitFor({ state: 'attached' });
    if (!(await wanted.isVisible())) await page.locator('.acts summary').click();
    await wanted.click();
  };
  await press();
  await dialog(page).waitFor({ timeout: 10_000 }).catch(press);
  await planned(page);
}

/** Presses the button of the open dialog that does the act, and waits until it is done. */
export async function confirm(page: Page, name: string | RegExp): Promise<string> {
  await dialog(page).getByRole('button', { name, exact: true }).click();
  await dialog(page).waitFor({ state: 'detached' });
  return outcome(page).innerText();
}
