/**
 * Makes what the package ships, `dist/`, from what the compiler has written to `temp/build/`:
 *
 * - the modules, without comments, for bundlers, which leave out what is not used;
 * - below `node/` few files for Node: a process that imports the package opens ten files in place of a hundred. Other
 *   packages stay outside, so that they are updated as ever;
 * - below `types/` the declarations that a program can reach.
 */
import { chmodSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { build, transform } from 'esbuild';

import { reachableDeclarations } from './declarations.js';
import { writeWhole } from './write-whole.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const [compiled, dist] = [join(root, 'temp', 'build'), join(root, 'dist')];
const { exports, bin } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
const entries = Object.values(exports).filter(({ node }) => node !== undefined);
const written = new Set([join(dist, 'console', 'page.js')]);

// The compiler leaves what it made of sources that are gone.
for (const name of readdirSync(`${root}src`, { recursive: true }).filter((each) =>
  /(?<!\.d)\.ts$/.test(each),
)) {
  const module = name.replace(/ts$/, 'js');
  const { code } = await transform(readFileSync(join(compiled, module), 'utf8'), { target: 'esnext' });
  write(join(dist, module), code);
}

const { outputFiles } = await build({
  absWorkingDir: root,
  entryPoints: [...entries.map(({ node }) => node), ...Object.values(bin)].map((file) =>
    file.replace('/dist/node/', '/dist/'),
  ),
  ...{ outbase: 'dist', outdir: 'dist/node', chunkNames: 'chunks/[hash]' },
  ...{ bundle: true, splitting: true, packages: 'external' },
  ...{ format: 'esm', platform: 'node', target: 'node20' },
  plugins: [{ name: 'share', setup: sharePage }],
  write: false,
});
for (const { path, contents } of outputFiles) write(path, contents);
// An installation does this too. Here, `npx gateway-admin` runs the file of the build.
for (const file of Object.values(bin)) chmodSync(join(root, file), 0o755);

const declared = entries.map(({ types }) => types.replace('./dist/types/', ''));
for (const [path, text] of reachableDeclarations(compiled, declared)) write(join(dist, 'types', path), text);

// The files of before go last: a process may have some of them open, and load one more.
for (const file of filesBelow(dist).filter((each) => !written.has(each))) rmSync(file);

/** The page is large, and the same file for Node and for bundlers. */
function sharePage({ onResolve }) {
  onResolve({ filter: /^\.\/page\.js$/ }, () => ({ path: '../../console/page.js', external: true }));
}

function write(file, contents) {
  writeWhole(file, contents);
  written.add(file);
}

function filesBelow(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
}
