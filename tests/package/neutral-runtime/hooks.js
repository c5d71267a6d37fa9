/**
 * Loader hooks that make Node look like a runtime without Node: no builtin module can be imported.
 */
import { readFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';

const main = new URL('main.js', import.meta.url).href;

export function resolve(specifier, context, next) {
  if (isBuiltin(specifier) && context.parentURL !== main) {
    throw new Error(`There is no Node here, but ${context.parentURL} imports ${specifier}`);
  }
  return next(specifier, context);
}

export async function load(url, context, next) {
  const loaded = await next(url, context);
  if (!url.includes('/node_modules/')) return loaded;
  // With its source at hand, the `require` of a CommonJS package comes through `resolve` too.
  const source = String(loaded.source ?? (await readFile(new URL(url))));
  // Bundlers and edge runtimes put the value there; this is the one trace of Node that packages for browsers have.
  return { ...loaded, source: source.replaceAll('process.env.NODE_ENV', '"production"') };
}
