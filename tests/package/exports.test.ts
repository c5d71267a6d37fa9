import { execFileSync } from 'node:child_process';

import { beforeAll, describe, expect, it } from '@jest/globals';

import { buildPackage } from '../support/built-package.ts';
import { compilerOptions } from '../support/compiler.ts';
import { exists, read, root } from '../support/project.ts';

interface Manifest {
  readonly name: string;
  readonly exports: Readonly<
    Record<string, string | { readonly types: string; readonly node: string; readonly default: string }>
  >;
}

const { name, exports } = JSON.parse(read('package.json')) as Manifest;
const entries = Object.entries(exports).flatMap(([subpath, target]) =>
  typeof target === 'string'
    ? []
    : [{ subpath, target, built: target.default.replace(/^\.\/dist\/|\.js$/g, '') }],
);

describe.each(entries)('the entry $subpath of the package', ({ subpath, target, built }) => {
  it('is built from a source', () => {
    expect(target).toEqual({
      types: `./dist/${built}.d.ts`,
      node: `./dist/node/${built}.js`,
      default: `./dist/${built}.js`,
    });
    expect(exists(`src/${built}.ts`)).toBe(true);
  });

  it('means its source when tests and documentation import it', () => {
    expect(compilerOptions('tsconfig.json').paths?.[`${name}${subpath.slice(1)}`]).toEqual([
      `./src/${built}.ts`,
    ]);
  });

  it('is part of the API report', () => {
    expect(read('etc/api/entry.d.ts')).toContain(`from '../../dist/${built}.js';`);
  });
});

describe('the files for Node', () => {
  beforeAll(buildPackage);

  it('have the exports of the modules, and share one of each', () => {
    const program = `
      const files = ${JSON.stringify({ node: filesFor('node'), modules: filesFor('default') })};
      const load = (list) => Promise.all(list.map((file) => import(file)));
      const [node, modules] = [await load(files.node), await load(files.modules)];
      const { AdminError, DamagedStoreError } = Object.assign({}, ...node);
      const isShared = Object.getPrototypeOf(DamagedStoreError) === AdminError;
      console.log(JSON.stringify([node.map(Object.keys), modules.map(Object.keys), isShared]));`;
    const output = execFileSync(process.execPath, ['--input-type=module', '-e', program], {
      encoding: 'utf8',
    });
    const [forNode, modules, isShared] = JSON.parse(output) as readonly [string[][], string[][], boolean];
    expect(isShared).toBe(true);
    expect(forNode).toEqual(modules);
    expect(modules.flat()).toContain('createSnapshot');
  });
});

function filesFor(condition: string): readonly string[] {
  return entries.map(({ target }) => `${root}${target[condition as 'node' | 'default'].slice(2)}`);
}
