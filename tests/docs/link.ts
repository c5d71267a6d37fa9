/**
 * The links of Markdown pages.
 */
import { dirname, join } from 'node:path/posix';

import { exists, read } from '../support/project.ts';

/** A page without its code blocks, which may contain brackets and lines that begin with `#`. */
export function withoutBlocks(text: string): string {
  return text.replace(/^ *(`{3,}|~{3,}).*\n(?:.*\n)*? *\1 *$/gm, '');
}

/** The targets of the links on a page that lead into the project: a path, an anchor, or both. */
export function targetsOf(text: string): readonly string[] {
  const prose = withoutBlocks(text).replace(/`[^`\n]*`/g, '');
  const links = [
    ...prose.matchAll(/\]\(\s*<?([^)\s>]+)/g),
    ...prose.matchAll(/^\[[^\]]+\]:\s+<?([^\s>]+)/gm),
  ];
  return links.map(([, target = '']) => target).filter((target) => !/^[a-z][a-z\d+.-]*:/i.test(target));
}

/** The anchors of a page: of its headings, as GitHub makes them, and those that it names itself. */
export function anchorsOf(text: string): readonly string[] {
  const seen = new Map<string, number>();
  const prose = withoutBlocks(text);
  const named = [...prose.matchAll(/<a id="([^"]+)"><\/a>/g)].map(([, id = '']) => id);
  const ofHeadings = [...prose.matchAll(/^#+ +(.+?)(?: +#+)? *$/gm)].map(([, heading = '']) => {
    const slug = heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
      .replaceAll(' ', '-');
    const count = seen.get(slug) ?? 0;
    seen.set(slug, count + 1);
    return count === 0 ? slug : `${slug}-${String(count)}`;
  });
  return [...ofHeadings, ...named];
}

/** The file that a link on a page leads to, and the anchor in it. */
export function destinationOf(
  page: string,
  target: string,
): { readonly file: string; readonly anchor?: string } {
  const [path = '', anchor] = target.split('#').map(decodeURIComponent);
  return {
    file: path === '' ? page : join(dirname(page), path),
    ...(anchor === undefined ? {} : { anchor }),
  };
}

/** Whether a link on a page leads to a file, and to a heading if the link has an anchor. */
export function resolves(page: string, target: string): boolean {
  const { file, anchor } = destinationOf(page, target);
  if (!exists(file)) return false;
  return anchor === undefined || (file.endsWith('.md') && anchorsOf(read(file)).includes(anchor));
}
