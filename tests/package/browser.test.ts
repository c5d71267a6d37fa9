/**
 * The browser of the tests: its pages are under the rules that they have in the browser of a user, and nothing of it
 * stays in the worker of the test file.
 */
import { executionAsyncId } from 'node:async_hooks';

import { describe, expect, it } from '@jest/globals';

import { closeBrowser, inBrowser } from '../support/browser.ts';

describe('the browser of the tests', () => {
  it(
    'enforces the content security policy of a page',
    inBrowser(async (page) => {
      const script = `<script>document.title += 'ran'</script>`;
      await page.setContent(script);
      expect(await page.title()).toBe('ran');
      await page.setContent(
        `<meta http-equiv="Content-Security-Policy" content="script-src 'none'"><title>not </title>${script}`,
      );
      expect(await page.title()).toBe('not');
    }),
  );

  it('has no storage that follows promises once it is closed', async () => {
    await inBrowser(() => Promise.resolve())();
    await closeBrowser();
    await Promise.resolve();
    // As in the test of the runner: see `test-runner.test.ts`.
    expect(executionAsyncId()).toBe(0);
  });
});
