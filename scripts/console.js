/**
 * Builds the page of the console from `console/` into `dist/console/page.js`, a module with the files as text.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { minify } from '@swc/core';
import { build } from 'esbuild';

import { fieldsOfKinds } from './meaning.js';
import { writeWhole } from './write-whole.js';

const root = fileURLToPath(new URL('..', import.meta.url));

const { acts, formats } = await imported('console/text.ts');
const meant = { fields: fieldsOfKinds(formats), acts };
const meanings = fileOf('meanings', 'json', 'application/json', JSON.stringify(meant));
const [script, style] = await Promise.all([
  bundled('console/main.tsx').then(smaller),
  bundled('console/style.css'),
]);
const files = [
  fileOf('main', 'js', 'text/javascript', script),
  fileOf('style', 'css', 'text/css', style),
  meanings,
];
const html = readFileSync(`${root}console/index.html`, 'utf8')
  .replace(/\s*\n\s*/g, '\n')
  .replace('{{script}}', files[0].name)
  .replace('{{style}}', files[1].name);
const module = Object.entries({ html, version: hashOf(html), files })
  .map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};\n`)
  .join('');
writeWhole(`${root}dist/console/page.js`, module);

/** The exports of a module of the page without imports. */
async function imported(entry) {
  const { outputFiles } = await build({ absWorkingDir: root, entryPoints: [entry], write: false });
  return import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);
}

async function bundled(entry) {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: [entry],
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    ...{ tsconfigRaw: {}, jsx: 'transform', jsxFactory: 'h', jsxFragment: 'Fragment' },
    inject: entry.endsWith('.tsx') ? [`${root}console/element.ts`] : [],
    legalComments: 'none',
    alias: {
      'gateway-admin-core/client': `${root}src/client/index.ts`,
      'gateway-admin-core': `${root}src/index.ts`,
    },
    define: { meaningsFile: JSON.stringify(meanings.name) },
  });
  return outputFiles[0].text;
}

/** The same script in fewer bytes: esbuild does not look into its own output. */
async function smaller(script) {
  // A function that does not use `this` is never called with `new`.
  const compress = { passes: 3, ecma: 2022, module: true, toplevel: true, unsafe_arrows: true };
  const { code } = await minify(script, { module: true, ecma: 2022, compress, mangle: { toplevel: true } });
  return code;
}

function fileOf(name, extension, type, text) {
  return { name: `${name}-${hashOf(text)}.${extension}`, type, text };
}

function hashOf(text) {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}
