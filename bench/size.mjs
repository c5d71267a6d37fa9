/** The sizes of programs that use the package, minified and compressed, other packages included. */
import { gzipSync } from 'node:zlib';
import { fileURLToPath } from 'node:url';

import { build } from 'esbuild';

export const rows = { B1: { title: 'Sizes, minified and compressed, packages included', run: sizes } };

const programs = [
  ['the main entry', 125, `export * from 'gateway-admin-core'`],
  ['createSnapshot and a transition', 45, `export { createSnapshot, stopService } from 'gateway-admin-core'`],
  ['/json', 9.6, `export * from 'gateway-admin-core/json'`],
  ['/client', 2.7, `export { createClient, sendWithFetch } from 'gateway-admin-core/client'`],
];

async function sizes(row) {
  for (const [name, most, contents] of programs) {
    const { outputFiles } = await build({
      stdin: { contents, resolveDir: fileURLToPath(new URL('.', import.meta.url)) },
      bundle: true,
      // The paths of the project's own configuration lead to the sources instead of the package.
      tsconfigRaw: {},
      minify: true,
      format: 'esm',
      write: false,
    });
    row.atMost(name, most, gzipSync(outputFiles[0].contents, { level: 9 }).length / 1000, 'kB');
  }
}
