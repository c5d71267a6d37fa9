/**
 * The code blocks of the pages, and how they are found and checked.
 */
import { beforeAll, describe, expect, it, jest } from '@jest/globals';

import { exists, filesBelow, read, textFiles } from '../support/project.ts';
import {
  blocksOfMarkdown,
  blocksOfSource,
  type Chain,
  chainsOf,
  examplesWithoutCode,
  placeOf,
} from './code-block.ts';
import { faultOf } from './plain-block.ts';
import { compileOnly, runChain } from './running-block.ts';
import { typeFaults } from './typed-block.ts';

const sources = filesBelow('src', '.ts');
const pages = textFiles().filter((path) => path.endsWith('.md') && !path.startsWith('etc/'));
const blocks = [
  ...pages.map((page) => blocksOfMarkdown(page, read(page))),
  ...sources.map((source) => blocksOfSource(source, read(source))),
];
const chains = blocks.flatMap(chainsOf);

/** One chain of TypeScript blocks on a page that begins on line 3. */
function chain(...codes: readonly string[]): Chain {
  const [first, ...rest] = codes.map((code, index) => ({
    file: 'page.md',
    line: 3 + 10 * index,
    language: 'ts',
    words: [],
    code,
  }));
  if (first === undefined) throw new RangeError('A chain has at least one block');
  return [first, ...rest];
}

/** Blocks for the checks of this file, compiled with those of the pages. */
const [right, wrong, loose] = [
  chain('const four: number = 2 + 2;\nawait Promise.resolve(four);'),
  chain('const text = "a";', '// continued\nconst number: number = text;'),
  chain("import { nothing } from 'gateway-admin-core/nowhere';"),
].map(([first, ...rest], index): Chain => [{ ...first, file: `page-${String(index)}.md` }, ...rest]) as [
  Chain,
  Chain,
  Chain,
];
const importing = chainsOf(
  blocksOfMarkdown(
    'page.md',
    [
      '```ts file=two.ts\nexport const two = 2;\n```',
      "```ts\nimport { two } from './two.js';\nconst text: string = two;\n```\n",
    ].join('\n'),
  ),
);

let faults: ReturnType<typeof typeFaults>;
beforeAll(() => {
  faults = typeFaults([...chains, right, wrong, loose, ...importing]);
});

describe('the code blocks of the documentation', () => {
  it('are there', () => {
    expect(chains).not.toHaveLength(0);
  });

  it.each(blocks.flat().map((block) => [placeOf(block), block] as const))(
    '%s is of a kind that is checked',
    (_place, block) => {
      expect(faultOf(block, exists)).toBeUndefined();
    },
  );

  it.each(sources)('%s has code for each @example', (source) => {
    expect(examplesWithoutCode(read(source))).toEqual([]);
  });
});

describe('the TypeScript blocks of the documentation', () => {
  it.each(chains.map((chain) => [placeOf(chain[0]), chain] as const))('%s compiles', (_place, chain) => {
    expect(faults.get(chain)).toEqual([]);
  });

  // Promise: code-blocks
  it.each(
    chains
      .filter(([first]) => !first.words.includes(compileOnly))
      .map((chain) => [placeOf(chain[0]), chain] as const),
  )('%s does what it says', async (_place, chain) => {
    await expect(runChain(chain, (id) => jest.requireActual(id))).resolves.toBeUndefined();
  });
});

async function run(...codes: readonly string[]): Promise<void> {
  await runChain(chain(...codes), (id) => jest.requireActual(id));
}

describe('finding blocks', () => {
  it('gives language, words, code and line, in lists too', () => {
    const page = [
      '# Page',
      '',
      '- item',
      '',
      '  ```ts compile-only',
      '  a();',
      '    b();',
      '  ```',
      '',
      '~~~',
      '```',
      '~~~',
    ];
    expect(blocksOfMarkdown('page.md', page.join('\n'))).toEqual([
      { file: 'page.md', line: 6, language: 'ts', words: ['compile-only'], code: 'a();\n  b();' },
      { file: 'page.md', line: 11, language: '', words: [], code: '```' },
    ]);
  });

  it('refuses a fence that is not closed', () => {
    expect(() => blocksOfMarkdown('page.md', 'text\n```ts\na();')).toThrow(
      'page.md:2: the fence is not closed',
    );
  });

  it('reads the documentation comments of a source and nothing else of it', () => {
    const source = [
      '/**',
      ' * Doubles.',
      ' *',
      ' * @example',
      ' * ```ts',
      ' * double(2); // => 4',
      ' * ```',
      ' */',
      'const a = `',
      '```ts',
      '`;',
    ];
    expect(blocksOfSource('a.ts', source.join('\n'))).toEqual([
      { file: 'a.ts', line: 6, language: 'ts', words: [], code: 'double(2); // => 4' },
    ]);
  });

  it('finds an @example without code', () => {
    const without = '/**\n * Doubles.\n *\n * @example\n * See above.\n *\n * @public\n */\n';
    const withCode = '/**\n * @example\n * ```ts\n * double(2);\n * ```\n */\n';
    expect(examplesWithoutCode(without + withCode)).toEqual([4]);
  });

  it('puts a block that continues behind the one before it', () => {
    const page = '```ts\na();\n```\n```json\n1\n```\n```ts\n// continued\nb();\n```\n```ts\nc();\n```\n';
    const codes = chainsOf(blocksOfMarkdown('page.md', page)).map((each) => each.map((block) => block.code));
    expect(codes).toEqual([['a();', '// continued\nb();'], ['c();']]);
  });

  it('refuses to continue nothing', () => {
    const blocks = blocksOfMarkdown('page.md', '```ts\n// continued\n```\n');
    expect(() => chainsOf(blocks)).toThrow('page.md:2: there is no block to continue');
  });
});

describe('compiling blocks', () => {
  it('passes what is right and names page and line of what is wrong', () => {
    expect([right, wrong, loose].map((each) => faults.get(each))).toEqual([
      [],
      ["page-1.md:14: Type 'string' is not assignable to type 'number'."],
      [expect.stringContaining('page-2.md:3: Cannot find module')],
    ]);
  });

  it('lets a block import another one by the name of its file', () => {
    expect(importing.map((each) => faults.get(each))).toEqual([
      [],
      ["page.md:6: Type 'number' is not assignable to type 'string'."],
    ]);
  });
});

describe('running blocks', () => {
  it.each([
    ['a number', '1 + 1; // => 2'],
    ['a text', "'a'.toUpperCase(); // => 'A'"],
    [
      'a structure',
      "({ a: [1, -1, null, true], 'b c': undefined }); // => { a: [1, -1, null, true], 'b c': undefined }",
    ],
    ['a promise', 'await Promise.resolve(1); // => 1'],
    ['several lines', '[\n  1,\n  2,\n]; // => [1, 2]'],
    ['types', 'const one: number = 1;\none satisfies number; // => 1'],
    ['a module', "import { join } from 'node:path';\njoin('a', 'b'); // => 'a/b'"],
    ['nothing but effects', 'const list: number[] = [];\nlist.push(1);\nconsole.log(list);'],
  ])('passes %s', async (_name, code) => {
    await expect(run(code)).resolves.toBeUndefined();
  });

  it('gives a block what the block before it declared', async () => {
    await expect(run('const two = 2;', '// continued\ntwo; // => 2')).resolves.toBeUndefined();
  });

  it('stops before a block that is compile-only', async () => {
    const [first, second] = chain('const two = 2;', '// continued\nthrow two;');
    const compiled = { ...(second ?? first), words: ['compile-only'] };
    await expect(runChain([first, compiled], (id) => id)).resolves.toBeUndefined();
  });

  it.each([
    ['a wrong claim, with its place', '\n1 + 1; // => 3', /^page\.md:4: 1 \+ 1\n/],
    ['a wrong claim inside a structure', '({ a: { b: [1] } }); // => { a: { b: [2] } }', /^page\.md:3: /],
    [
      'a wrong claim in a block that continues',
      ['const two = 2;', '// continued\ntwo; // => 3'],
      /^page\.md:14: two\n/,
    ],
    [
      'a claim that is never reached',
      'const f = () => {\n  Number(1); // => 1\n};',
      'page.md:4: the claim is never reached',
    ],
    ['a claim that is no literal', 'const a = 1;\na; // => a', 'page.md:4: "a" is not a literal'],
    ['a claim behind a declaration', 'const a = 1; // => 1', 'page.md:3: "// => value" must stand behind'],
    ['a claim on a line of its own', 'Number(1);\n// => 1', 'page.md:4: "// => value" must stand behind'],
    [
      'a bare expression without a claim',
      'const a = 1;\na; // 1',
      'page.md:4: a bare expression says nothing',
    ],
    ['code that throws', "throw new Error('no');", 'page.md:3: the block throws Error: no'],
  ])('fails for %s', async (_name, code, message) => {
    await expect(run(...[code].flat())).rejects.toThrow(message);
  });
});

describe('plain blocks', () => {
  const fault = (language: string, code: string, ...words: string[]): string | undefined =>
    faultOf({ file: 'page.md', line: 3, language, words, code }, (path) => path === 'tests/a.test.ts');

  it('pass when they are JSON, covered commands, or text', () => {
    expect(fault('json', '{ "a": 1 }')).toBeUndefined();
    expect(fault('sh', 'npm test', 'covered-by=tests/a.test.ts')).toBeUndefined();
    expect(fault('http', 'GET /services')).toBeUndefined();
    expect(fault('text', 'anything')).toBeUndefined();
    const diagram = ['[*] --> on', 'state "not on" as off', 'on --> off : stop / late', 'off --> [*]'];
    expect(fault('mermaid', ['stateDiagram-v2', ...diagram].join('\n  '))).toBeUndefined();
  });

  it.each([
    ['JSON that does not parse', fault('json', '{ a: 1 }'), 'it is not JSON'],
    ['commands that nothing runs', fault('sh', 'npm test'), 'nothing runs these commands'],
    ['statements that nothing runs', fault('sql', 'select 1'), 'as "sql covered-by=<path>"'],
    [
      'commands covered by a file that is not there',
      fault('sh', 'npm test', 'covered-by=tests/b.test.ts'),
      'there is no tests/b.test.ts',
    ],
    ['a diagram of another kind', fault('mermaid', 'graph TD'), 'must begin with stateDiagram-v2'],
    [
      'a diagram with a line that is none',
      fault('mermaid', 'stateDiagram-v2\n  on -> off : stop'),
      'cannot have the line "  on -> off : stop"',
    ],
    [
      'a state with the name of a keyword',
      fault('mermaid', 'stateDiagram-v2\n  on --> end : stop'),
      'cannot have the line "  on --> end : stop"',
    ],
    ['another language', fault('js', 'a();'), '"js" is not a language of these pages'],
    ['no language', fault('', 'a'), '"" is not a language of these pages'],
  ])('fail for %s', (_name, actual, message) => {
    expect(actual).toContain(message);
  });
});
