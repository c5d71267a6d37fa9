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

describe('the pages', () => {
  const { files } = JSON.parse(read('package.json')) as { readonly files: readonly string[] };
  const unpacked = files.flatMap((entry) => (entry.startsWith('!docs/') ? [entry.slice(1)] : []));
  const isPacked = (page: string): boolean => !unpacked.some((entry) => page.startsWith(entry));
  const all = filesBelow('docs', '.md');

  const linkedFrom = (...pages: readonly string[]): ReadonlySet<string> =>
    new Set(pages.flatMap((page) => targetsOf(read(page)).map((target) => destinationOf(page, target).file)));

  it('of the package are all in the index by question', () => {
    const index = 'docs/README.md';
    const linked = linkedFrom(index);
    expect(all.filter((page) => page !== index && isPacked(page) && !linked.has(page))).toEqual([]);
  });

  it('that only the repository has are all linked from CONTRIBUTING.md, or from the pages that it links', () => {
    const outside = ['RELEASING.md', ...all, ...filesBelow('scripts', '.md'), ...filesBelow('bench', '.md')];
    const first = linkedFrom('CONTRIBUTING.md');
    const linked = linkedFrom('CONTRIBUTING.md', ...[...first].filter((page) => page.endsWith('.md')));
    const missing = outside.filter((page) => !(page.startsWith('docs/') && isPacked(page)));
    expect(missing.length).toBeGreaterThan(unpacked.length);
    expect(missing.filter((page) => !linked.has(page))).toEqual([]);
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
