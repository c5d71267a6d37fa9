/**
 * Typed blocks: the TypeScript blocks of all pages, checked by the compiler as one program.
 */
import { dirname, join } from 'node:path';

import { buildPackage } from '../support/built-package.ts';
import { compile, userOptions } from '../support/compiler.ts';
import { type Chain, fileNameOf, textOf } from './code-block.ts';

/**
 * Checks the blocks with the options of the project; the package's name means what the build declares.
 *
 * @returns for each chain what the compiler says against it, a sentence each with page and line
 */
export function typeFaults(chains: readonly Chain[]): ReadonlyMap<Chain, readonly string[]> {
  buildPackage();
  const texts = new Map(chains.map((chain) => [pathOf(chain), `${textOf(chain)}\nexport {};\n`]));
  const found = compile(texts, userOptions());
  return new Map(
    chains.map((chain) => [
      chain,
      (found.get(pathOf(chain)) ?? []).map(
        ({ line, message }) => `${chain[0].file}:${String(line)}: ${message}`,
      ),
    ]),
  );
}

/** Beside its page, so that the compiler resolves packages as it does there. Other blocks can import a named file. */
function pathOf([first]: Chain): string {
  const name = fileNameOf(first);
  return name === undefined ? `${first.file}.${String(first.line)}.ts` : join(dirname(first.file), name);
}
