/**
 * What a file of the sources may import, and which globals it may use.
 */
import { describe, expect, it } from '@jest/globals';

import { compile, compilerOptions, configuredFiles } from '../support/compiler.ts';
import { filesBelow, read } from '../support/project.ts';
import { cycleOf, cyclicGroupsOf, faultsOf, importsOf, reachableFrom } from './import-table.ts';

const files = filesBelow('src', '.ts').map((path) => [path, path.slice('src/'.length)] as const);
const ofPage = ['.ts', '.tsx'].flatMap((end) => filesBelow('console', end));
const all = [...files, ...ofPage.map((path) => [path, `../${path}`] as const)];
const imports = all.flatMap(([path, from]) => importsOf(from, read(path)));

describe('the imports of src and of console', () => {
  it('are there', () => {
    expect(imports).not.toHaveLength(0);
  });

  it('keep to the import table', () => {
    expect(faultsOf(imports)).toEqual([]);
  });

  it('have no cycle of values', () => {
    expect(cycleOf(imports)).toBeUndefined();
  });

  it('have cycles of types only where one state is described together, of 8 files at most', () => {
    const state = /^(?:resources|snapshot\/session)\//;
    const groups = cyclicGroupsOf(imports);
    expect(groups.filter((files) => !files.every((file) => state.test(file)))).toEqual([]);
    expect(groups.filter(({ length }) => length > 8)).toEqual([]);
  });

  // Promise: no-node
  it('lead from the main entry to nothing that needs Node', () => {
    const reached = [...reachableFrom('index.ts', imports)];
    expect(reached).toContain('problem.ts');
    expect(reached.filter((each) => each.startsWith('node:') || each.includes('adapters/'))).toEqual([]);
  });
});

/** The faults of one line in a file. */
function check(from: string, line: string): readonly string[] {
  return faultsOf(importsOf(from, line));
}

describe('the import table', () => {
  it.each([
    ['core/name.ts', "import { a } from '../resources/service.ts';"],
    ['core/name.ts', "import type { A } from '../snapshot/state.ts';"],
    ['core/name.ts', "import { readFileSync } from 'node:fs';"],
    ['core/name.ts', "import { createPatch } from 'rfc6902';"],
    ['core/name.ts', "import { format } from 'date-fns';"],
    ['core/name.ts', "import * as z from 'zod';"],
    ['snapshot/state.ts', "import type { A } from '../resources/service.ts';"],
    ['snapshot/session/table.ts', "import type { A } from '../../resources/snapshot.ts';"],
    ['resources/snapshot.ts', "import { a } from './service.ts';"],
    ['resources/snapshot.ts', "import { type A } from './service.ts';"],
    ['resources/shared/settings.ts', "import type { A } from '../snapshot.ts';"],
    ['resources/service.ts', "import { a } from './server.ts';"],
    ['resources/service.ts', "import type { A } from '../ports/port.ts';"],
    ['resources/service.ts', "export * from '../runtime/admin.ts';"],
    ['resources/service.ts', "const a = await import('node:fs');"],
    ['resources/service.ts', "type A = import('node:fs').Stats;"],
    ['resources/service.ts', 'const a = await import(path);'],
    ['runtime/admin.ts', "import { a } from '../ports/scrypt-hasher.ts';"],
    ['runtime/admin.ts', "import { a } from '../adapters/fetch.ts';"],
    ['runtime/admin.ts', "import 'node:fs';"],
    ['ports/port.ts', "import { a } from '../resources/index.ts';"],
    ['ports/memory-store.ts', "import type { A } from '../resources/index.ts';"],
    ['ports/memory-store.ts', "import { a } from 'node:fs';"],
    ['ports/file-store/file-store.ts', "import { a } from '../../runtime/writer.ts';"],
    ['ports/audit-file/audit-file.ts', "import { a } from '../file-store/frame.ts';"],
    ['ports/file/lock.ts', "import { a } from '../file-store/frame.ts';"],
    ['adapters/fetch.ts', "import type { A } from '../runtime/admin.ts';"],
    ['adapters/fetch.ts', "import { a } from './node.ts';"],
    ['adapters/mount.ts', "import { a } from './fetch.ts';"],
    ['adapters/fetch.ts', "import { a } from 'node:stream';"],
    ['adapters/express.ts', "import express from 'express';"],
    ['openapi/document.ts', "import { a } from '../http/route.ts';"],
    ['console/index.ts', "import { a } from '../index.ts';"],
    ['../console/act.ts', "import { a } from '../src/http/endpoint.ts';"],
    ['testing/conformance.ts', "import { a } from '../http/route.ts';"],
    ['index.ts', "export { a } from './adapters/fetch.ts';"],
    ['index.ts', "export { a } from './ports/file-store/file-store.ts';"],
    ['index.ts', "export { a } from '../tests/support/project.ts';"],
    ['elsewhere/new.ts', "import { a } from '../index.ts';"],
  ])('refuses in %s: %s', (from, line) => {
    expect(check(from, line)).toHaveLength(1);
  });

  it.each([
    ['json/diff.ts', "import { createPatch } from 'rfc6902';"],
    ['core/time.ts', "import { UTCDateMini } from '@date-fns/utc/date/mini';"],
    ['core/shape.ts', "import * as z from 'zod/mini';"],
    ['resources/snapshot.ts', "import type { A } from './service.ts';"],
    ['resources/service.ts', "import { services } from './snapshot.ts';"],
    ['resources/document.ts', "import { kinds } from './index.ts';"],
    ['resources/index.ts', "export { a } from './service.ts';"],
    ['runtime/admin.ts', "import { a } from '../ports/system-clock.ts';"],
    ['ports/port.ts', "import type { A } from '../resources/index.ts';"],
    ['ports/scrypt-hasher.ts', "import { scrypt } from 'node:crypto';"],
    ['adapters/node.ts', "import { createServer } from 'node:http';"],
    ['adapters/fetch.ts', "import { a } from './mount.ts';"],
    ['index.ts', "export { a } from './ports/system-clock.ts';"],
  ])('allows in %s: %s', (from, line) => {
    expect(check(from, line)).toEqual([]);
  });

  it('says who may not import what', () => {
    expect(check('core/name.ts', "import { a } from '../resources/service.ts';")).toEqual([
      'core/name.ts: must not import resources/service.ts',
    ]);
    expect(check('resources/snapshot.ts', "import { a } from './service.ts';")).toEqual([
      'resources/snapshot.ts: may import resources/service.ts with "import type" only',
    ]);
  });
});

describe('the search for cycles', () => {
  const a = importsOf('core/a.ts', "import { b } from './b.ts';");
  const b = importsOf('core/b.ts', "import { c } from './c.ts';");

  it('finds a cycle of values and names its way', () => {
    const back = importsOf('core/c.ts', "export { b } from './b.ts';");
    expect(cycleOf([...a, ...b, ...back])).toEqual(['core/b.ts', 'core/c.ts', 'core/b.ts']);
  });

  it('passes a cycle that types close', () => {
    const back = importsOf('core/c.ts', "import type { A } from './a.ts';");
    expect(cycleOf([...a, ...b, ...back])).toBeUndefined();
  });

  it('finds each group of files that types make cyclic, with all of its files and nothing beside', () => {
    const back = importsOf('core/c.ts', "import type { A } from './a.ts';");
    const beside = importsOf('core/d.ts', "import { a } from './a.ts'; import type { E } from './e.ts';");
    const other = importsOf('core/e.ts', "type D = import('./d.ts').D;");
    expect(cyclicGroupsOf([...a, ...b])).toEqual([]);
    expect(cyclicGroupsOf([...a, ...b, ...back, ...beside, ...other])).toEqual([
      ['core/a.ts', 'core/b.ts', 'core/c.ts'],
      ['core/d.ts', 'core/e.ts'],
    ]);
  });

  it('follows values, not types, to what is reachable', () => {
    const types = importsOf('core/b.ts', "import type { D } from './d.ts';");
    expect([...reachableFrom('core/a.ts', [...a, ...b, ...types])]).toEqual([
      'core/a.ts',
      'core/b.ts',
      'core/c.ts',
    ]);
  });
});

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
