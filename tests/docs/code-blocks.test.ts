import { beforeAll, describe, expect, it, jest } from '@jest/globals';

import { exists, filesBelow, read, textFiles } from '../support/project.ts';
import { blocksOfMarkdown, blocksOfSource, chainsOf, examplesWithoutCode, placeOf } from './code-block.ts';
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
  let faults: ReturnType<typeof typeFaults>;
  beforeAll(() => {
    faults = typeFaults(chains);
  });

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
