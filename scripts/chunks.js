/**
 * Bundles the build for Node into few files below `dist/node`: a process that imports the package opens ten files in
 * place of a hundred. Other packages stay outside, so that they are updated as ever. Bundlers get the single modules,
 * of which they leave out what is not used.
 */
import { chmodSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { build } from 'esbuild';

import { writeWhole } from './write-whole.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const { exports, bin } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));

const built = Object.values(exports).flatMap(({ node }) => node ?? []);
const { outputFiles } = await build({
  absWorkingDir: root,
  entryPoints: [...built, ...Object.values(bin)].map((file) => file.replace('/dist/node/', '/dist/')),
  ...{ outbase: 'dist', outdir: 'dist/node', chunkNames: 'chunks/[hash]' },
  ...{ bundle: true, splitting: true, packages: 'external' },
  ...{ format: 'esm', platform: 'node', target: 'node20' },
  // The sources of the package are there.
  ...{ sourcemap: true, sourcesContent: false },
  write: false,
});
for (const { path, contents } of outputFiles) writeWhole(path, contents);
// An installation does this too. Here, `npx gateway-admin` runs the file of the build.
for (const file of Object.values(bin)) chmodSync(join(root, file), 0o755);
// The chunks of before go last: a process may have the files of before open, and load one more.
const stale = readdirSync(`${root}dist/node`, { recursive: true, withFileTypes: true })
  .filter((each) => each.isFile())
  .map(({ parentPath, name }) => join(parentPath, name))
  .filter((file) => outputFiles.every(({ path }) => path !== file));
for (const file of stale) rmSync(file);
