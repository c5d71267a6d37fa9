/**
 * The pages as a whole: what writes them, their links, and the page of promises.
 */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { beforeAll, describe, expect, it } from '@jest/globals';

import { formatPages } from '../support/generated-page.ts';
import { filesBelow, read, root, textFiles } from '../support/project.ts';
import { temporaryDirectories } from '../support/temporary-directory.ts';
import { documentSchema } from './document-schema.ts';
import { documentPage } from './document.ts';
import { errorsPage } from './errors.ts';
import { httpPage } from './http.ts';
import { limitsPage } from './limits.ts';
import { anchorsOf, destinationOf, resolves, targetsOf } from './link.ts';
import { llmsFile } from './llms.ts';
import { observabilityPage } from './observability.ts';
import { scenariosChapter } from './scenarios.ts';
import { pictures } from './picture.ts';
import { proofPage } from './proof.ts';
import { functionsPage } from './state-machine.ts';

/** The pages that `npm run pages` writes. */
const pages: Readonly<Record<string, () => string | Promise<string>>> = {
  'docs/document.md': documentPage,
  'docs/errors.md': errorsPage,
  'docs/functions.md': functionsPage,
  'docs/http.md': httpPage,
  'docs/limits.md': limitsPage,
  'docs/observability.md': observabilityPage,
  'docs/proof.md': proofPage,
  'gateway-document.schema.json': documentSchema,
  'tests/README.md': scenariosChapter,
};

let written: Readonly<Record<string, string>> = {};

beforeAll(async () => {
  const texts = Object.entries(pages).map(async ([path, write]) => [path, await write()] as const);
  written = formatPages(Object.fromEntries(await Promise.all(texts)));
  // Reads the other pages.
  written = { ...written, ...formatPages({ 'llms.txt': llmsFile() }) };
});

it.each([...Object.keys(pages), 'llms.txt'])('%s is what the tables and a running interface give', (path) => {
  expect(read(path)).toBe(written[path]);
});

it.each(Object.entries(pictures))('%s shows the names of the library', (path, draw) => {
  if (process.env['WRITE_PAGES'] === '1') writeFileSync(root + path, draw());
  expect(read(path)).toBe(draw());
});

it('the pictures and tables of performance.md are those of the figures', () => {
  const { status, stdout } = spawnSync(process.execPath, ['bench/pictures.mjs', '--check'], {
    cwd: root,
    encoding: 'utf8',
  });
  expect([status, stdout]).toEqual([0, '']);
});

const texts = textFiles().filter((path) => path.endsWith('.md') || path === 'llms.txt');

describe('the links of the documentation', () => {
  it('are found', () => {
    expect(texts.flatMap((page) => targetsOf(read(page))).length).toBeGreaterThan(30);
  });

  it.each(texts)('lead from %s to files and headings that exist', (page) => {
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

  it('for users have at most 75,000 words', () => {
    const words = ['README.md', 'SECURITY.md', ...all.filter(isPacked)].flatMap((page) =>
      read(page)
        .split(/\s+/)
        .filter((word) => word !== ''),
    );
    expect(words.length).toBeLessThanOrEqual(75_000);
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

  it('lead to the headings of a page by their anchors, and to the anchors that it names', () => {
    const text =
      '# A page\n\n```sh\n# a comment\n```\n\n## `a.b` & c, d-e\n\n## [Link](x.md) ÄB_1 ##\n\n# A page\n\n| <a id="f"></a>f |\n';
    expect(anchorsOf(text)).toEqual(['a-page', 'ab--c-d-e', 'link-äb_1', 'a-page-1', 'f']);
  });
});

const temporaryDirectory = temporaryDirectories();

/** Runs the script, and gives the lines that it prints, with its faults. */
function run(
  folder: string,
  ...args: readonly string[]
): { readonly printed: readonly string[]; readonly faults: readonly string[] } {
  const { stdout, stderr, status } = spawnSync(process.execPath, [`${root}scripts/promises.js`, ...args], {
    cwd: folder,
    encoding: 'utf8',
  });
  expect(status === 0).toBe(stderr === '');
  const [printed = [], faults = []] = [stdout, stderr].map((text) =>
    text === '' ? [] : text.trimEnd().split('\n'),
  );
  return { printed, faults };
}

/** A project with a page of promises and one file of tests. */
async function project(page: string, tests: readonly string[]): Promise<string> {
  const folder = await temporaryDirectory();
  await mkdir(join(folder, 'tests'));
  await writeFile(join(folder, 'tests/promises.md'), page);
  await writeFile(join(folder, 'tests/a.test.ts'), tests.join('\n'));
  return folder;
}

describe('the page of promises', () => {
  it('has many promises, each once and with a test', () => {
    const sentences = [...read('tests/promises.md').matchAll(/^- `[^`]+`: (.*)/gm)].map(([, text]) => text);
    expect(sentences.length).toBeGreaterThan(250);
    expect(new Set(sentences).size).toBe(sentences.length);
    expect(run(root, '--check')).toEqual({ printed: [], faults: [] });
  });
});

describe('the script that prints the tests of promises', () => {
  it('prints each promise with its tests, or the promises that are named', async () => {
    const folder = await project(
      '# Promises\n\n- `plain`: A promise\n  of two lines.\n- `groups`: Another promise.\n\nThe end.\n',
      [
        '// Promise: plain',
        "it('a', f);",
        "it('b', f);",
        '// Promise: plain',
        '// Why this test is there.',
        'it(`leads to ${next}`, f);',
        "describe.each(rows)('c %s', () => {",
        '  // Promise: plain',
        '  // Promise: groups',
        "  it.each(g(x))('d $name', f);",
        '});',
      ],
    );
    const groups = ['groups: Another promise.', '  tests/a.test.ts: c %s d $name'];
    expect(run(folder)).toEqual({
      printed: [
        'plain: A promise of two lines.',
        '  tests/a.test.ts: a',
        '  tests/a.test.ts: leads to ${next}',
        '  tests/a.test.ts: c %s d $name',
        ...groups,
      ],
      faults: [],
    });
    const faults = ['tests/promises.md has no promise "group".'];
    expect(run(folder, 'groups', 'group')).toEqual({ printed: groups, faults });
  });

  it('refuses promises without a test, and comments without a promise or a test', async () => {
    const folder = await project('- `p`: One.\n- `q`: Two.\n- `q`: Three.\n', [
      '// Promise: r',
      "it('a', f);",
      '// Promise: q',
      "it.skip('b', f);",
      '// Promise: p',
      'f();',
      '// Promise: q',
      "it('c', f);",
    ]);
    const faults = [
      'tests/promises.md: "p" has no test.',
      'tests/promises.md: "q" is there twice.',
      'tests/a.test.ts: tests/promises.md has no promise "r".',
      'tests/a.test.ts: "// Promise: q" does not stand above a test.',
      'tests/a.test.ts: "// Promise: p" does not stand above a test.',
    ];
    expect(run(folder).faults).toEqual(faults);
    expect(run(folder, '--check')).toEqual({ printed: [], faults });
  });
});
