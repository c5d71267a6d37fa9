/**
 * The package as one module. To load it takes a quarter of the time that its 200 modules take one by one, and each test
 * file loads it anew.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { build, type PluginBuild } from 'esbuild';

import { read, root } from './project.ts';

const folder = join(root, 'temp/package');

/** The doors to the inside. Through them, tests reach what belongs to the same module as the entries. */
const doors = ['support/internal', 'docs/tables'].map((name) => ({
  name: name.split('/')[1] ?? '',
  source: `./tests/${name}.ts`,
}));

/** Writes the module, and for each entry of the package and each door a module that gives what is exported there. */
export async function bundlePackage(): Promise<void> {
  const { exports } = JSON.parse(read('package.json')) as {
    readonly exports: Readonly<Record<string, { readonly default?: string }>>;
  };
  const entries = Object.entries(exports).flatMap(([subpath, target]) =>
    target.default === undefined
      ? []
      : [{ name: subpath.slice(2) || 'index', source: sourceOf(target.default) }],
  );
  const all = [...entries, ...doors];
  const lines = all.map(({ source }, at) => `export * as entry${String(at)} from ${JSON.stringify(source)};`);
  await build({
    stdin: { contents: lines.join('\n'), resolveDir: root, loader: 'ts' },
    outfile: join(folder, 'all.cjs'),
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    external: ['pg'],
    plugins: [{ name: 'other modules', setup: resolveOtherwise }],
  });
  for (const [at, { name }] of all.entries())
    writeFileSync(join(folder, `${name}.cjs`), `module.exports = require('./all.cjs').entry${String(at)};\n`);
}

function resolveOtherwise({ onResolve }: PluginBuild): void {
  onResolve({ filter: /^\.\/runtime\/create-admin\.ts$/ }, () => ({
    path: join(root, 'tests/support/watched-admins.ts'),
  }));
  // The build makes this module, see `scripts/console.js`.
  onResolve({ filter: /^\.\/page\.js$/ }, () => ({ path: join(root, 'dist/console/page.js') }));
}

function sourceOf(built: string): string {
  return built.replace(/^\.\/dist\/(.+)\.js$/, './src/$1.ts');
}
