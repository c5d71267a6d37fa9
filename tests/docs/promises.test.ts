import { spawnSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect, it } from '@jest/globals';

import { read, root } from '../support/project.ts';
import { temporaryDirectories } from '../support/temporary-directory.ts';

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
  await Promise.all(['docs', 'tests'].map((name) => mkdir(join(folder, name))));
  await writeFile(join(folder, 'docs/promises.md'), page);
  await writeFile(join(folder, 'tests/a.test.ts'), tests.join('\n'));
  return folder;
}

describe('the page of promises', () => {
  it('has many promises, each once and with a test', () => {
    const sentences = [...read('docs/promises.md').matchAll(/^- `[^`]+`: (.*)/gm)].map(([, text]) => text);
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
    expect(run(folder, 'groups')).toEqual({ printed: groups, faults: [] });
    expect(run(folder, 'group').faults).toEqual(['docs/promises.md has no promise "group".']);
    expect(run(folder, '--check')).toEqual({ printed: [], faults: [] });
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
    expect(run(folder).faults).toEqual(faults);
    expect(run(folder, '--check').faults).toEqual(faults);
  });
});
