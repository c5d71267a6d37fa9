import { describe, expect, it } from '@jest/globals';

import { filesBelow, read, textFiles } from '../support/project.ts';
import { anchorsOf, destinationOf, resolves, targetsOf } from './link.ts';

const pages = textFiles().filter((path) => path.endsWith('.md') || path === 'llms.txt');

describe('the links of the documentation', () => {
  it('are found', () => {
    expect(pages.flatMap((page) => targetsOf(read(page))).length).toBeGreaterThan(30);
  });

  it.each(pages)('lead from %s to files and headings that exist', (page) => {
    expect(targetsOf(read(page)).filter((target) => !resolves(page, target))).toEqual([]);
  });
});

describe('the index by question', () => {
  it('leads to every page', () => {
    const index = 'docs/README.md';
    const linked = new Set(targetsOf(read(index)).map((target) => destinationOf(index, target).file));
    const missing = filesBelow('docs', '.md').filter((page) => !linked.has(page));
    // The page itself, and the decisions, which architecture.md lists.
    expect(missing.filter((page) => page !== index && !page.startsWith('docs/decisions/'))).toEqual([]);
  });
});

describe('the links of a page', () => {
  it('are those outside of code that have no scheme', () => {
    const text = [
      '[a](b.md) and [c\nd](e.md#f "title"), ![g](<h.png>), `[i](j.md)`, [k](https://example.com/l).',
      '[m]: n.md',
      '```md\n[o](p.md)\n```',
      '- item\n\n  ```sh\n  [q](r.md)\n  ```\n\n[s](#t)',
    ].join('\n\n');
    expect(targetsOf(text)).toEqual(['b.md', 'e.md#f', 'h.png', '#t', 'n.md']);
  });

  it('lead to the headings of a page by their anchors', () => {
    const text =
      '# A page\n\n```sh\n# a comment\n```\n\n## `a.b` & c, d-e\n\n## [Link](x.md) ÄB_1 ##\n\n# A page\n';
    expect(anchorsOf(text)).toEqual(['a-page', 'ab--c-d-e', 'link-äb_1', 'a-page-1']);
  });
});
