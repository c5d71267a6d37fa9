/**
 * The sizes of programs that use the package: minified and compressed with gzip, other packages included. A size that is
 * recorded here does not grow by itself.
 */
import { gzipSync } from 'node:zlib';

import { beforeAll, describe, expect, it } from '@jest/globals';
import { build } from 'esbuild';

import { buildPackage } from '../support/built-package.ts';
import { root } from '../support/project.ts';

/** A program, and the most bytes that it may have: its size when it last changed, rounded up. */
const sizes: readonly (readonly [program: string, most: number])[] = [
  [`export { createClient, sendWithFetch } from '../dist/client/index.js';`, 2048],
  [
    `export { createClient } from '../dist/client/index.js';
     export { connect } from '../dist/adapters/message-port/index.js';`,
    3200,
  ],
  [`export * from '../dist/json/index.js';`, 11_000],
  [`export { createSnapshot, stopService } from '../dist/index.js';`, 69_900],
  [`export * from '../dist/index.js';`, 107_500],
];

beforeAll(buildPackage);

describe('the size of a program', () => {
  it.each(sizes)('%s has at most %d bytes', async (program, most) => {
    const { outputFiles } = await build({
      stdin: { contents: program, resolveDir: `${root}tests` },
      bundle: true,
      minify: true,
      format: 'esm',
      write: false,
    });
    expect(gzipSync(outputFiles[0]?.contents ?? '', { level: 9 }).length).toBeLessThanOrEqual(most);
  });
});
