import { describe, expect, it } from '@jest/globals';

import { withoutBlocks } from '../docs/link.ts';
import { filesBelow, read, textFiles } from '../support/project.ts';

const sources = [
  ...filesBelow('src', '.ts'),
  ...['.ts', '.tsx'].flatMap((end) => filesBelow('console', end)),
];

/** The longest line of prose, in characters. */
const longestLine = 120;

/** Says nothing of what is inside. */
const vague = /^(utils?|helpers?|types?|common|misc)$/;

/** The host of a package registry, whichever. */
const registryHost = /\bregistry\.(?:[a-z0-9-]+\.)+[a-z]{2,}\b/i;

describe('the sources', () => {
  it('are there', () => {
    expect(sources).not.toHaveLength(0);
  });

  it.each(sources)('%s says at its top what it is about', (path) => {
    // A comment of its own: what follows is an empty line or an import, not the thing that it would document.
    expect(read(path)).toMatch(
      /^(?:#!.*\n)?\/\*\*\n(?: \*.*\n)+? \*\/\n(?:\n|import |export \{|export (?:type )?\*)/,
    );
  });

  it('ask a change what it does in one file alone, and never by the spelling of a type', () => {
    const spelt = /endsWith\(['"`]\.(?:creat|delet|updat|start|stop)|'(?:from|to|inverse|definition)' in \w/;
    // A kit for tests imports the public entry alone.
    const others = sources.filter(
      (path) => path !== 'src/core/change.ts' && !path.startsWith('src/testing/'),
    );
    expect(others.filter((path) => spelt.test(read(path)))).toEqual([]);
  });

  it.each(sources)('%s has comments in lines of at most 120 characters', (path) => {
    const comments = read(path)
      .split('\n')
      .filter((line) => /^\s*(?:\/?\*|\/\/ (?!eslint-))/.test(line));
    expect(comments.filter(({ length }) => length > longestLine)).toEqual([]);
  });
});

/** Words that stand in place of a subject, or of a verb. */
const withoutSubject = /\b(?:is|are) told\b|\bis none\b|\bsomebody\b|\bwhoever\b/i;

/** The lines of a page that are hard to read. Tables, code blocks and the targets of links may be longer. */
function hardLines(text: string): readonly string[] {
  return withoutBlocks(text)
    .split('\n')
    .filter((line) => {
      const isLong =
        !line.trimStart().startsWith('|') && line.replace(/\]\([^)]*\)/g, ']').length > longestLine;
      return isLong || withoutSubject.test(line);
    });
}

const pages = ['README.md', ...filesBelow('docs', '.md')];

describe('the pages', () => {
  it.each(pages)('%s says who does what, in lines of at most 120 characters', (path) => {
    expect(hardLines(read(path))).toEqual([]);
  });

  it('show no listener that every network reaches, because readers copy examples', () => {
    expect([...pages, 'openapi.json'].filter((path) => read(path).includes('0.0.0.0'))).toEqual([]);
  });

  it('may have longer tables, code and targets of links, and no longer prose', () => {
    const [word, link] = ['word '.repeat(25), `[a link](${'a/'.repeat(60)}b.md)`];
    const text = ['# Page', word, `| ${word} |`, link, '```text', word, '```', '| Somebody |'].join('\n');
    expect(hardLines(text)).toEqual([word, '| Somebody |']);
  });
});

describe('the files of the project', () => {
  it('have names that say what is inside', () => {
    const words = [...sources, ...filesBelow('tests', '.ts')].flatMap((path) => path.split(/[/.]/));
    expect(words.filter((word) => vague.test(word))).toEqual([]);
  });

  it('are kebab-case', () => {
    expect(
      sources.filter(
        (path) =>
          !/^[a-z]+\/(?:[a-z0-9]+(?:-[a-z0-9]+)*\/)*[a-z0-9]+(?:-[a-z0-9]+)*(?:\.d)?\.tsx?$/.test(path),
      ),
    ).toEqual([]);
  });

  it('name no package registry, so that they install from any', () => {
    expect(textFiles().filter((path) => registryHost.test(read(path)))).toEqual([]);
  });
});

interface Lock {
  /** By their paths; the project itself has none. */
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

interface LockedPackage {
  readonly integrity?: string;
  readonly resolved?: string;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

describe('the package lock', () => {
  const { packages } = JSON.parse(read('package-lock.json')) as Lock;
  const installed = Object.entries(packages).filter(([path]) => path !== '');

  // A new version of a package may be there before its hashes are: then an override keeps to the one before.
  it('has the hash of every package, and the address of none', () => {
    expect(installed.length).toBeGreaterThan(0);
    expect(installed.filter(([, { integrity }]) => !/^sha512-[\w+/]{86}==$/.test(integrity ?? ''))).toEqual(
      [],
    );
    expect(installed.filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
  });

  // npm leaves out those that the registry in use does not have, and `npm ci` then refuses the lock.
  it('lists the optional packages of every platform', () => {
    const wanted = Object.values(packages).flatMap((each) => Object.keys(each.optionalDependencies ?? {}));
    expect(
      wanted.filter((name) => !Object.keys(packages).some((path) => path.endsWith(`node_modules/${name}`))),
    ).toEqual([]);
  });
});
