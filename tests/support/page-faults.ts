/**
 * What is wrong with how a page is made: for a reader, for a narrow screen.
 */
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';

/** The rules of the standard, and what axe recommends beyond. */
const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** Axe goes through a page in several turns. What it says of one that has changed meanwhile, it says again. */
const runAxe = `async (options) => {
  for (;;) {
    let changed = false;
    const observer = new MutationObserver(() => { changed = true; });
    observer.observe(document, { childList: true, subtree: true });
    const results = await axe.run(options);
    observer.disconnect();
    if (!changed) return results;
  }
}`;

/** The faults that axe finds, each with its elements. What axe cannot decide counts as a fault. */
export async function faultsOf(page: Page, rules?: readonly string[]): Promise<readonly string[]> {
  const run = rules === undefined ? { type: 'tag', values: tags } : { type: 'rule', values: rules };
  const options = { runOnly: run, resultTypes: ['violations', 'incomplete'] };
  const { violations, incomplete } = await page.evaluate<AxeResults>(
    `(${runAxe})(${JSON.stringify(options)})`,
  );
  return [...violations, ...incomplete].flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary = '' }) => `${id}: ${html} ${failureSummary}`),
  );
}

/** Everything that is wider than its place, except chips, which scroll by themselves, and cells that end in dots. */
export function tooWide(page: Page): Promise<readonly string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>('*')]
      .filter((element) => {
        const isPage = element === document.documentElement || element === document.body;
        const isPlace = isPage || getComputedStyle(element).overflowX !== 'visible';
        const isMeant = element.matches(
          'th *, td, td .link, .chips, .hidden, .session *, .session-head *, input, textarea',
        );
        return isPlace && !isMeant && element.scrollWidth > element.clientWidth;
      })
      .map(({ outerHTML, scrollWidth, clientWidth }) =>
        [scrollWidth, clientWidth, outerHTML.slice(0, 200)].join(' '),
      ),
  );
}
