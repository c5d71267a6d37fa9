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

/** How every bundle is made. */
const bundling = {
  absWorkingDir: root,
  bundle: true,
  minify: true,
  write: false,
  format: 'esm',
  target: 'es2022',
  legalComments: 'none',
};
const scripting = {
  ...bundling,
  ...{ tsconfigRaw: {}, jsx: 'transform', jsxFactory: 'h', jsxFragment: 'Fragment' },
  inject: [`${root}console/element.ts`],
  alias: {
    'gateway-admin-core/client': `${root}src/client/index.ts`,
    'gateway-admin-core': `${root}src/index.ts`,
  },
};

/** The modules that both parts of the page have, each for itself: they hold nothing that changes. */
const pure = ['act', 'form', 'plan', 'link'].map((name) => `console/${name}.ts`);

if (process.argv[1] === fileURLToPath(import.meta.url))
  writeWhole(`${root}dist/console/page.js`, await pageModule());

/** Gives the text of the module with the page. Plugins can change the sources. */
export async function pageModule(plugins = []) {
  const { acts, formats } = await imported('console/text.ts');
  const meant = { fields: fieldsOfKinds(formats), acts };
  const meanings = fileOf('meanings', 'json', 'application/json', JSON.stringify(meant));
  const { parts, values } = await lateValues();
  const lateStyle = await bundled({ ...bundling, entryPoints: ['console/late.css'] });
  const late = fileOf(
    'late',
    'js',
    'text/javascript',
    await scripted({
      entryPoints: ['console/late.tsx'],
      define: { lateStyle: JSON.stringify(lateStyle.trim()) },
      plugins: [takingParts(values), ...plugins],
      inject: [],
      banner: {
        js: `const h = ${partAt(values, 'preact__h')}, Fragment = ${partAt(values, 'preact__Fragment')};`,
      },
    }),
  );
  const main = {
    stdin: { contents: `${parts}globalThis.parts = [${values.join()}];`, resolveDir: root, loader: 'ts' },
    define: { meaningsFile: JSON.stringify(meanings.name), lateFile: JSON.stringify(late.name) },
    plugins: [leavingLate(), ...plugins],
  };
  const [script, style] = await Promise.all([
    scripted(main).then((text) =>
      text.replace('"late:"', `new URL("?file=${late.name}",import.meta.url).href`),
    ),
    bundled({ ...bundling, entryPoints: ['console/style.css'] }),
  ]);
  const files = [
    fileOf('main', 'js', 'text/javascript', script),
    fileOf('style', 'css', 'text/css', style),
    late,
    meanings,
  ];
  const html = readFileSync(`${root}console/index.html`, 'utf8')
    .replace(/\s*\n\s*/g, '\n')
    .replace('{{script}}', files[0].name)
    .replace('{{style}}', files[1].name);
  return Object.entries({ html, version: hashOf(html), files })
    .map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};\n`)
    .join('');
}

/** The exports of a module of the page without imports. */
async function imported(entry) {
  const { outputFiles } = await build({ absWorkingDir: root, entryPoints: [entry], write: false });
  return import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);
}

async function bundled(options) {
  const { outputFiles } = await build(options);
  return outputFiles[0].text;
}

async function scripted(options) {
  return smaller(await bundled({ ...scripting, ...options }));
}

/**
 * What the late part takes from the main one: lines that import each value under a name of its own, and these names. A
 * name has the module and the name there.
 */
async function lateValues() {
  const inputsOf = async (entry, plugins) => {
    const { metafile } = await build({ ...scripting, entryPoints: [entry], metafile: true, plugins });
    return Object.keys(metafile.inputs).filter((path) => path.startsWith('console/'));
  };
  const mains = await inputsOf('console/main.tsx', [leavingLate()]);
  const lates = await inputsOf('console/late.tsx', []);
  const isShared = (module) =>
    !module.startsWith('console/') || (mains.includes(module) && !pure.includes(module));
  const found = new Map([['main', "import './console/main.tsx';\n"]]);
  for (const path of lates.filter((each) => each === 'console/element.ts' || !isShared(each)))
    for (const [, names, from] of readFileSync(root + path, 'utf8').matchAll(
      /^(?:import|export) \{([^}]*)\} from '(\.[^']+|preact[^']*)';/gm,
    )) {
      const module = from.startsWith('.') ? `console/${from.slice(2)}` : from;
      for (const name of isShared(module) ? names.split(',').map((each) => each.trim()) : []) {
        if (name === '' || name.startsWith('type ')) continue;
        const own = valueName(module, name);
        found.set(own, `import { ${name} as ${own} } from '${module.replace(/^console/, './console')}';\n`);
      }
    }
  const parts = [...found.values()].join('');
  found.delete('main');
  return { parts, values: [...found.keys()] };
}

/** A value of the main part, in the late one. */
function partAt(values, value) {
  return `parts[${values.indexOf(value)}]`;
}

function valueName(module, name) {
  return `${module.replace(/\W/g, '_')}__${name}`;
}

/** Leaves the late part out: it is loaded by an address that is known once it is built. */
function leavingLate() {
  return {
    name: 'late',
    setup({ onResolve }) {
      onResolve({ filter: /late\.tsx$/ }, ({ kind }) =>
        kind === 'dynamic-import' ? { path: 'late:', external: true } : undefined,
      );
      // The package says that no module does anything by itself. This one draws the page.
      onResolve({ filter: /main\.tsx$/ }, () => ({ path: `${root}console/main.tsx`, sideEffects: true }));
    },
  };
}

/** Takes what the main part has from there. */
function takingParts(values) {
  return {
    name: 'parts',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^(?:\.\/|preact)/ }, ({ path, importer }) => {
        if (!importer.startsWith(`${root}console/`)) return undefined;
        const module = path.startsWith('.') ? `console/${path.slice(2)}` : path;
        const isTaken = values.some((each) => each.startsWith(valueName(module, '')));
        return isTaken ? { path: module, namespace: 'parts' } : undefined;
      });
      onLoad({ filter: /.*/, namespace: 'parts' }, ({ path }) => ({
        contents: values
          .flatMap((each) => {
            const [module, name] = each.split('__');
            return module === path.replace(/\W/g, '_')
              ? [`export const ${name} = ${partAt(values, each)};\n`]
              : [];
          })
          .join(''),
      }));
    },
  };
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
