import { spawnSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect, it } from '@jest/globals';

import { read, root } from '../support/project.ts';
import { temporaryDirectories } from '../support/temporary-directory.ts';

const temporaryDirectory = temporaryDirectories();

function run(folder: string, ...args: readonly string[]): string {
  const { stderr, status } = spawnSync(process.execPath, [`${root}scripts/promises.js`, ...args], {
    cwd: folder,
    encoding: 'utf8',
  });
  expect(status === 0).toBe(stderr === '');
  return stderr;
}

/** A project with a page of promises and one file of tests. */
async function project(page: string, tests: readonly string[]): Promise<string> {
  const folder = await temporaryDirectory();
  await Promise.all(['docs', 'tests'].map((name) => mkdir(join(folder, name))));
  await writeFile(join(folder, 'docs/promises.md'), page);
  await writeFile(join(folder, 'tests/a.test.ts'), tests.join('\n'));
  return folder;
}

describe('the page of promises', () => {
  it('has many promises, each once, and is up to date', () => {
    const sentences = [...read('docs/promises.md').matchAll(/^- `[^`]+`: (.*)/gm)].map(([, text]) => text);
    expect(sentences.length).toBeGreaterThan(80);
    expect(new Set(sentences).size).toBe(sentences.length);
    expect(run(root, '--check')).toBe('');
  });
});

describe('the script that writes the page of promises', () => {
  it('lists the tests of each promise below the promise, in place of the earlier list', async () => {
    const page = (plain: readonly string[], groups: readonly string[]): string =>
      [
        '# Promises\n\n- `plain`: A promise',
        '  of two lines.',
        ...plain,
        '- `groups`: Another promise.',
        ...groups,
        '\nThe end.\n',
      ].join('\n');
    const folder = await project(page(['  - `old.test.ts`: `old`'], []), [
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
    ]);
    expect(run(folder, '--check')).toBe('docs/promises.md is out of date. Run: npm run promises\n');
    expect(run(folder)).toBe('');
    const listed = (name: string): string => `  - \`tests/a.test.ts\`: \`${name}\``;
    expect(await readFile(join(folder, 'docs/promises.md'), 'utf8')).toBe(
      page([listed('a'), listed('leads to ${next}'), listed('c %s d $name')], [listed('c %s d $name')]),
    );
    expect(run(folder, '--check')).toBe('');
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
      'docs/promises.md: "p" has no test.',
      'docs/promises.md: "q" is there twice.',
      'tests/a.test.ts: docs/promises.md has no promise "r".',
      'tests/a.test.ts: "// Promise: q" does not stand above a test.',
      'tests/a.test.ts: "// Promise: p" does not stand above a test.',
    ];
    expect(run(folder).trimEnd().split('\n')).toEqual(faults);
  });
});
