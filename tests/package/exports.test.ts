import { describe, expect, it } from '@jest/globals';

import { compilerOptions } from '../support/compiler.ts';
import { exists, read } from '../support/project.ts';

interface Manifest {
  readonly name: string;
  readonly exports: Readonly<Record<string, string | { readonly types: string; readonly default: string }>>;
}

const { name, exports } = JSON.parse(read('package.json')) as Manifest;
const entries = Object.entries(exports).flatMap(([subpath, target]) =>
  typeof target === 'string'
    ? []
    : [{ subpath, target, built: target.default.replace(/^\.\/dist\/|\.js$/g, '') }],
);

describe.each(entries)('the entry $subpath of the package', ({ subpath, target, built }) => {
  it('is built from a source', () => {
    expect(target).toEqual({ types: `./dist/${built}.d.ts`, default: `./dist/${built}.js` });
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
