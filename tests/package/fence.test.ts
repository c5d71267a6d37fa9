import { describe, expect, it } from '@jest/globals';

import { compile, compilerOptions, configuredFiles } from '../support/compiler.ts';
import { filesBelow } from '../support/project.ts';

/** What the compiler says when a file of src uses these expressions, one a line. */
function refusals(config: string, expressions: readonly string[]): readonly string[] {
  const text = expressions.map(
    (each) => `export const _${String(expressions.indexOf(each))}: unknown = ${each};`,
  );
  const found = compile(new Map([['src/core/toy.ts', text.join('\n')]]), compilerOptions(config));
  return (found.get('src/core/toy.ts') ?? []).map(({ line }) => expressions[line - 1] ?? '');
}

const ofNode = ['process', 'Buffer', 'setImmediate', "import('node:fs')", 'globalThis.process'];
const ofTheWeb = [
  'setTimeout',
  'fetch',
  'console',
  'URL',
  'crypto',
  'TextDecoder',
  'structuredClone',
  'AbortSignal',
  'document',
];
const ofTheLanguage = ['Object.hasOwn({}, "a")', '"a".isWellFormed()', 'new Intl.DateTimeFormat("en")'];

describe('the compiler fence', () => {
  // Promise: pure-layers
  it('leaves the pure layers the language and nothing else', () => {
    const all = [...ofNode, ...ofTheWeb, ...ofTheLanguage];
    expect(refusals('src/tsconfig.pure.json', all)).toEqual([...ofNode, ...ofTheWeb]);
  });

  it('leaves everything behind the main entry what browsers have, and nothing of Node', () => {
    const all = [...ofNode, ...ofTheWeb, ...ofTheLanguage];
    expect(refusals('src/tsconfig.web.json', all)).toEqual(ofNode);
  });

  it('has each source in one part of the build', () => {
    const parts = ['pure', 'web', 'node'].flatMap((part) => configuredFiles(`src/tsconfig.${part}.json`));
    expect(parts.toSorted()).toEqual(filesBelow('src', '.ts'));
  });

  it('does not stand where Node may be used', () => {
    expect(refusals('tsconfig.json', [...ofNode, ...ofTheWeb, ...ofTheLanguage])).toEqual([]);
  });
});
