/**
 * The sizes of programs that use the package, and of the page of the console: minified and compressed with gzip, other
 * packages included. Then the size of the package. A size that is recorded here does not grow by itself.
 */
import { gzipSync } from 'node:zlib';

import { beforeAll, describe, expect, it } from '@jest/globals';
import { build } from 'esbuild';

import * as page from '../console/page.ts';
import { buildPackage, packed } from '../support/built-package.ts';
import { tablesOf } from '../docs/table.ts';
import { filesBelow, read, root } from '../support/project.ts';

/**
 * Each program of the table in README.md. The table says how large it may be: its size when it last changed, rounded
 * up.
 */
const programs = [
  `export { createClient, sendWithFetch } from '../dist/client/index.js';`,
  `export { createClient } from '../dist/client/index.js';
   export { connect } from '../dist/adapters/message-port.js';`,
  `export * from '../dist/json/index.js';`,
  `export { createSnapshot, stopService } from '../dist/index.js';`,
  `export * from '../dist/index.js';`,
];

const table = tablesOf(read('README.md')).find(({ heading }) => heading === 'What it costs');

const sizes = programs.map((program, at) => [program, table?.rows[at]?.[1] ?? ''] as const);

/** The number of bytes in a size such as `11.0 kB`. */
function bytesOf(size = ''): number {
  return Number(size.replace(/ kB$/, 'e3').replace(/ MB$/, 'e6'));
}

/** What the first list does not need: drawer, dialogs and the other views, and the fields of forms. */
const isLate = (name: string): boolean => /^(?:late|meanings)-/.test(name);

function sizeOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + gzipSync(text, { level: 9 }).length, 0);
}

beforeAll(buildPackage);

describe('the size of a program', () => {
  it('is in each row of the table in README.md', () => {
    expect(table?.rows).toHaveLength(programs.length + 3);
  });

  it.each(sizes)('%s has at most %s', async (program, most) => {
    const { outputFiles } = await build({
      stdin: { contents: program, resolveDir: `${root}tests` },
      bundle: true,
      minify: true,
      format: 'esm',
      write: false,
    });
    const { length } = gzipSync(outputFiles[0]?.contents ?? '', { level: 9 });
    expect(length).toBeLessThanOrEqual(bytesOf(most));
  });
});

describe('the page of the console', () => {
  it('loads at first no more than the table says', () => {
    const first = page.files.filter(({ name }) => !isLate(name)).map(({ text }) => text);
    expect(sizeOf([page.html, ...first])).toBeLessThanOrEqual(bytesOf(table?.rows.at(-3)?.[1]));
  });

  it('loads no more than the table says after its first list', () => {
    const late = page.files.filter(({ name }) => isLate(name)).map(({ text }) => text);
    expect(sizeOf(late)).toBeLessThanOrEqual(bytesOf(table?.rows.at(-2)?.[1]));
  });
});

describe('a size that another page names', () => {
  const limit = (row: number) => (): number => bytesOf(table?.rows.at(row)?.[1]);
  const unpacked = (): number => packed().files.reduce((sum, { size }) => sum + size, 0);
  const judged = [
    ['docs/console.md', / (\d+ kB) up to its first list/, limit(-3), 0],
    ['docs/console.md', / (\d+ kB) then/, limit(-2), 0],
    ['CHANGELOG.md', / ([\d.]+ MB) packed/, limit(-1), 1],
    ['CHANGELOG.md', / ([\d.]+ MB) installed/, unpacked, 1],
  ] as const;
  const sizeAt = (page: string, pattern: RegExp): string => pattern.exec(read(page))?.[1] ?? '';

  it.each(judged)('in %s, as %s, is that of the table or the package', (page, pattern, bytes, digits) => {
    const named = sizeAt(page, pattern);
    const [unit, word] = named.endsWith('MB') ? [1e6, 'MB'] : [1e3, 'kB'];
    expect(named).toBe(`${(bytes() / unit).toFixed(digits)} ${word}`);
  });

  it('is one of these, is measured by the bench, or is not of this package', () => {
    const pages = ['CHANGELOG.md', ...filesBelow('docs', '.md')];
    const sizes = pages.flatMap((page) =>
      [...read(page).matchAll(/[\d.,]+ [kM]B\b/g)].map(([size]) => `${page}: ${size}`),
    );
    const ours = new Set(judged.map(([page, pattern]) => `${page}: ${sizeAt(page, pattern)}`));
    expect(sizes.filter((size) => !ours.has(size))).toEqual([
      // Row V1.
      'docs/console.md: 50 MB',
      // A value of etcd.
      'docs/fleet.md: 1.5 MB',
      // Rows A1 and K1.
      'docs/performance.md: 2 MB',
      'docs/performance.md: 49 MB',
    ]);
  });
});

describe('the package', () => {
  it('has at most the size that the table says, and no files of the build beside what it ships', () => {
    const { size, files } = packed();
    expect(size).toBeLessThanOrEqual(bytesOf(table?.rows.at(-1)?.[1]));
    expect(files.filter(({ path }) => !/^(?:dist|docs)\//.test(path)).map(({ path }) => path)).toEqual([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'SECURITY.md',
      'gateway-document.schema.json',
      'llms.txt',
      'openapi.json',
      'package.json',
    ]);
    expect(files.filter(({ path }) => /\.map$|(?<!\.d)\.ts$/.test(path))).toEqual([]);
  });
});
