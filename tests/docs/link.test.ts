import { dirname, join } from 'node:path/posix';

import { describe, expect, it } from '@jest/globals';

import { exists, read, textFiles } from '../support/project.ts';

const pages = textFiles().filter((path) => path.endsWith('.md'));

/** A page without its code blocks, which may contain brackets and lines that begin with `#`. */
function withoutBlocks(text: string): string {
  return text.replace(/^ *(`{3,}|~{3,}).*\n(?:.*\n)*? *\1 *$/gm, '');
}

/** The targets of the links on a page that lead into the project: a path, an anchor, or both. */
function targetsOf(text: string): readonly string[] {
  const prose = withoutBlocks(text).replace(/`[^`\n]*`/g, '');
  const links = [
    ...prose.matchAll(/\]\(\s*<?([^)\s>]+)/g),
    ...prose.matchAll(/^\[[^\]]+\]:\s+<?([^\s>]+)/gm),
  ];
  return links.map(([, target = '']) => target).filter((target) => !/^[a-z][a-z\d+.-]*:/i.test(target));
}

/** The anchors of the headings of a page, as GitHub makes them. */
function anchorsOf(text: string): readonly string[] {
  const seen = new Map<string, number>();
  return [...withoutBlocks(text).matchAll(/^#+ +(.+?)(?: +#+)? *$/gm)].map(([, heading = '']) => {
    const slug = heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
      .replaceAll(' ', '-');
    const count = seen.get(slug) ?? 0;
    seen.set(slug, count + 1);
    return count === 0 ? slug : `${slug}-${String(count)}`;
  });
}

/** Whether a link on a page leads to a file, and to a heading if the link has an anchor. */
function resolves(page: string, target: string): boolean {
  const [path = '', anchor] = target.split('#').map(decodeURIComponent);
  const file = path === '' ? page : join(dirname(page), path);
  if (!exists(file)) return false;
  return anchor === undefined || (file.endsWith('.md') && anchorsOf(read(file)).includes(anchor));
}

describe('the links of the documentation', () => {
  it('are found', () => {
    expect(pages.flatMap((page) => targetsOf(read(page))).length).toBeGreaterThan(30);
  });

  it.each(pages)('lead from %s to files and headings that exist', (page) => {
    expect(targetsOf(read(page)).filter((target) => !resolves(page, target))).toEqual([]);
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
