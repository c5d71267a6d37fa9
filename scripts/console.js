/**
 * Builds the page of the console from `console/` into `dist/console/page.js`, a module with the files as text. The description
 * of the fields for the forms comes from `openapi.json`.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The kinds with forms, by their collections, and the beginning of the names of their schemas. */
const kinds = {
  services: 'Service',
  servers: 'Server',
  monitors: 'Monitor',
  filters: 'Filter',
  listeners: 'Listener',
};

/** What acts change, and no form. */
const changedByActs = ['drain', 'state', 'status'];

const fieldTable = {
  name: 'field-table',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /\/field-table\.js$/ }, ({ path }) => ({ path, namespace: 'field-table' }));
    onLoad({ filter: /.*/, namespace: 'field-table' }, () => ({
      contents: `export const fieldTable = ${JSON.stringify(tableOfFields())};`,
    }));
  },
};

const [script, style] = await Promise.all([bundled('console/main.tsx'), bundled('console/style.css')]);
const files = [fileOf('main', 'js', 'text/javascript', script), fileOf('style', 'css', 'text/css', style)];
const html = readFileSync(`${root}console/index.html`, 'utf8')
  .replace('{{script}}', files[0].name)
  .replace('{{style}}', files[1].name);
const module = Object.entries({ html, version: hashOf(html), files })
  .map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};\n`)
  .join('');
mkdirSync(`${root}dist/console`, { recursive: true });
writeFileSync(`${root}dist/console/page.js`, module);

async function bundled(entry) {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: [entry],
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    alias: {
      'gateway-admin-core/client': `${root}src/client/index.ts`,
      'gateway-admin-core': `${root}src/index.ts`,
    },
    plugins: [fieldTable],
  });
  return outputFiles[0].text;
}

function fileOf(name, extension, type, text) {
  return { name: `${name}-${hashOf(text)}.${extension}`, type, text };
}

function hashOf(text) {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}

function tableOfFields() {
  const { schemas } = JSON.parse(readFileSync(`${root}openapi.json`, 'utf8')).components;
  return Object.fromEntries(
    Object.entries(kinds).map(([collection, kind]) => {
      const definition = schemas[`${kind}Definition`];
      const shown = schemas[kind].properties;
      const all = { ...definition.properties, ...shown };
      const patch = schemas[`${kind}Patch`];
      const settable = patch === undefined ? [] : settableIn(patch).filter((name) => !changedByActs.includes(name));
      return [
        collection,
        Object.entries(all).map(([name, schema]) => ({
          name,
          does: schema.description,
          ...typeOf(schema),
          isSettable: settable.includes(name),
          ...(isDefined(name, definition) && {
            inDefinition: definition.required.includes(name) ? 'required' : 'optional',
          }),
          ...(!(name in shown) && schema.type === 'string' && { isSecret: true }),
        })),
      ];
    }),
  );
}

/** The fields that operations of a patch may set. */
function settableIn({ items }) {
  const { op, path } = items.anyOf[0].properties;
  if (!op.enum.includes('add')) throw new Error('The first operation of the schema of a patch sets nothing');
  return path.pattern.match(/^\^\/\(\?:(.*?)\)/)[1].split('|');
}

function typeOf({ type, enum: choices, items, format }) {
  if (choices !== undefined) return { type: 'choice', choices };
  if (type === 'integer' || type === 'number') return { type: 'number' };
  if (type === 'boolean') return { type: 'flag' };
  if (type === 'array') return { type: items.enum === undefined && format === undefined ? 'names' : 'words' };
  return { type: type === 'object' ? 'map' : 'text' };
}

/** Whether a form for a new resource asks for the field. Listeners have a form of their own. */
function isDefined(name, { properties }) {
  return properties[name]?.type !== undefined && !['listeners', 'status'].includes(name);
}
