/**
 * Builds the playground from `examples/playground/` into `examples/dist/playground/`: a page, a style and one script. The
 * script is a function that starts workers with its own text. `--fault NAME` plants a fault of `tests/faults/faults.js`,
 * and `--to FOLDER` names another folder.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { minify } from '@swc/core';
import { build } from 'esbuild';

import { planting, sourcesByName } from './bundle.js';
import { fieldsOfKinds } from './meaning.js';
import { writeWhole } from './write-whole.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const { values } = parseArgs({
  options: { fault: { type: 'string' }, to: { type: 'string', default: `${root}examples/dist/playground` } },
});

/** Where the playground is. */
export const folder = values.to;

/** The policy of the page of the console, and workers. A document cannot say who may have it in a frame. */
export const policy = [
  "default-src 'none'",
  ...['script-src', 'style-src', 'connect-src'].map((name) => `${name} 'self'`),
  'worker-src blob:',
  "img-src 'self' data:",
  ...['base-uri', 'form-action'].map((name) => `${name} 'none'`),
].join('; ');

const bundling = {
  ...{ absWorkingDir: root, bundle: true, minify: true, write: false },
  ...{ format: 'iife', platform: 'browser', target: 'es2022', legalComments: 'none' },
  // A part that no browser has reads files of the project.
  logOverride: { 'empty-import-meta': 'silent' },
};
const text = (path) => readFileSync(root + path, 'utf8');
const { acts, formats } = await imported('console/text.ts');
const script = await bundled({
  stdin: { contents: `import './turn.ts'; import './main.tsx';`, resolveDir: `${root}examples/playground` },
  ...{ tsconfigRaw: {}, jsx: 'transform', jsxFactory: 'h', jsxFragment: 'Fragment' },
  alias: { ...sourcesByName(), 'node:util': `${root}examples/playground/node-util.ts` },
  external: ['node:*'],
  define: {
    ...{ lateFile: '""', meaningsFile: '""' },
    meanings: JSON.stringify(JSON.stringify({ fields: fieldsOfKinds(formats), acts })),
    scenarios: JSON.stringify(text('examples/playground/scenarios.txt').replace(/^(?:#| {2}).*\n/gm, '')),
  },
  plugins: [{ name: 'playground', setup }, ...(values.fault === undefined ? [] : [planting(values.fault)])],
});
const { code } = await minify(script, {
  compress: { passes: 3, ecma: 2022, unsafe_arrows: true },
  mangle: true,
});
const style = await bundled({
  stdin: {
    contents: ['console/style.css', 'console/late.css', 'examples/playground/style.css']
      .map((path) => `@import './${path}';`)
      .join(' '),
    ...{ resolveDir: root, loader: 'css' },
  },
});
writeWhole(`${folder}/index.html`, text('examples/playground/index.html').replace('{{policy}}', policy));
writeWhole(`${folder}/playground.css`, style);
writeWhole(`${folder}/playground.js`, `(function playground(){${code}})();\n`);

/** The exports of a module without imports. */
async function imported(entry) {
  return import(
    `data:text/javascript,${encodeURIComponent(await bundled({ entryPoints: [entry], format: 'esm' }))}`
  );
}

async function bundled(options) {
  const { outputFiles } = await build({ ...bundling, ...options });
  return outputFiles[0].text;
}

/**
 * The package says that no module does anything by itself. These two do. A policy forbids the programs that the compiler
 * of shapes writes, so that a browser has another one.
 */
function setup({ onLoad, onResolve }) {
  onLoad({ filter: /\.tsx$/ }, ({ path }) => ({
    contents: `import { Fragment, h } from 'preact';${readFileSync(path, 'utf8')}`,
    loader: 'tsx',
  }));
  onResolve({ filter: /^\.\/(?:turn\.ts|main\.tsx)$/ }, ({ path, importer }) =>
    importer === '<stdin>' ? { path: `${root}examples/playground/${path}`, sideEffects: true } : undefined,
  );
  // The stage has a hasher of its own.
  onLoad({ filter: /\/pbkdf2-hasher\.ts$/ }, () => ({ contents: 'export let createPbkdf2Hasher;' }));
  // Nobody needs all of it, and the sentences of the steps stand in the README of the tests.
  onResolve({ filter: /^rfc6902$/ }, ({ importer }) =>
    importer.endsWith('/diff.ts') ? { path: `${root}examples/playground/rfc6902.ts` } : undefined,
  );
  onLoad({ filter: /\/vocabulary\.ts$/ }, ({ path }) => ({
    contents: readFileSync(path, 'utf8').replace(/\bmeans:\s*(['`]).*\1,/g, "means: '',"),
    loader: 'ts',
  }));
  onResolve({ filter: /\/shape-compiler\.ts$/ }, () => ({
    path: `${root}src/core/browser-shape-compiler.ts`,
  }));
}
