import { execFileSync } from 'node:child_process';

import { expect, it } from '@jest/globals';

import { destinationOf, targetsOf } from '../docs/link.ts';
import { read, root } from '../support/project.ts';

interface Pack {
  readonly files: readonly { readonly path: string }[];
}

/** The files that npm would publish. */
function packedFiles(): readonly string[] {
  const output = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    shell: process.platform === 'win32',
  });
  const [pack] = JSON.parse(output) as readonly Pack[];
  return (pack?.files ?? []).map(({ path }) => path);
}

// Promise: package-links
it('the pages of the package link only to files of the package', () => {
  const files = packedFiles();
  const pages = files.filter((path) => path.endsWith('.md') || path === 'llms.txt');
  expect(pages).toEqual(expect.arrayContaining(['README.md', 'docs/README.md', 'llms.txt']));
  const lost = pages.flatMap((page) =>
    targetsOf(read(page))
      .map((target) => destinationOf(page, target).file)
      .filter((file) => !files.includes(file))
      .map((file) => `${page}: ${file}`),
  );
  expect(lost).toEqual([]);
});
