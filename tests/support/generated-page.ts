/**
 * Pages that are written from the tables of the tests.
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';

import { expect } from '@jest/globals';

import { read, root } from './project.ts';

/** Formats all texts of its standard input. Prettier starts slowly, and Jest cannot load it. */
const program = `
import { text } from 'node:stream/consumers';
import { format, resolveConfig } from 'prettier';
const config = await resolveConfig('package.json');
const formatted = Object.entries(JSON.parse(await text(process.stdin))).map(async ([path, page]) => {
  // A text file is Markdown too. Sentences come from tables and have any length. In a text file, a line is an entry.
  const proseWrap = path.endsWith('.md') ? 'always' : 'preserve';
  const filepath = path.replace(/[.]txt$/, '.md');
  return [path, await format(page, { ...config, filepath, proseWrap })];
});
console.log(JSON.stringify(Object.fromEntries(await Promise.all(formatted))));
`;

/** Formats pages, by their paths. With the variable `WRITE_PAGES`, writes them. */
export function formatPages(texts: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const options = { cwd: root, input: JSON.stringify(texts), encoding: 'utf8', maxBuffer: Infinity } as const;
  const output = execFileSync(process.execPath, ['--input-type=module', '--eval', program], options);
  const pages = JSON.parse(output) as Readonly<Record<string, string>>;
  if (process.env['WRITE_PAGES'] === '1')
    for (const [path, page] of Object.entries(pages)) writeFileSync(root + path, page);
  return pages;
}

/** Fails if a page differs from a text. */
export function expectPage(path: string, text: string): void {
  expect(read(path)).toBe(formatPages({ [path]: text })[path]);
}
