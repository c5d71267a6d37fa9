/**
 * Pages that are written from the tables of the tests.
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';

import { expect } from '@jest/globals';

import { read, root } from './project.ts';

/** Fails if a page differs from a text. With the variable `WRITE_PAGES`, writes the page first. */
export function expectPage(path: string, text: string): void {
  // A text file is Markdown too.
  const name = path.replace(/\.txt$/, '.md');
  // The sentences come from tables, so their lines have any length. In a text file, a line is an entry.
  const wrap = path.endsWith('.md') ? 'always' : 'preserve';
  const prettier = [
    `${root}node_modules/prettier/bin/prettier.cjs`,
    ...['--stdin-filepath', name],
    ...['--prose-wrap', wrap],
  ];
  const page = execFileSync(process.execPath, prettier, { cwd: root, input: text, encoding: 'utf8' });
  if (process.env['WRITE_PAGES'] === '1') writeFileSync(root + path, page);
  expect(read(path)).toBe(page);
}
