import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';

import { expect, it } from '@jest/globals';

import { read, root } from '../support/project.ts';
import { badInputPage } from './bad-input.ts';

const path = 'docs/bad-input.md';

it('the page about bad input has the rows of the contract tests', () => {
  const prettier = [`${root}node_modules/prettier/bin/prettier.cjs`, '--stdin-filepath', path];
  const page = execFileSync(process.execPath, prettier, {
    cwd: root,
    input: badInputPage(),
    encoding: 'utf8',
  });
  // `npm run bad-input` writes the page.
  if (process.env['WRITE_PAGES'] === '1') writeFileSync(root + path, page);
  expect(read(path)).toBe(page);
});
