/**
 * Bundles of the sources in place of the build, also with a planted fault.
 */
import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';

import { faults } from '../tests/faults/faults.js';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The source of each entry of the package, by the name that imports it. */
export function sourcesByName() {
  const { name, exports } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
  const built = Object.entries(exports).filter(([, target]) => target.default !== undefined);
  return Object.fromEntries(
    built.map(([subpath, target]) => [
      name + subpath.slice(1),
      root + target.default.replace(/^\.\/dist\/(.+)\.js$/, 'src/$1.ts'),
    ]),
  );
}

/** The planted fault of a name. */
export function faultOf(name) {
  const fault = faults.find((each) => each.name === name);
  if (fault !== undefined) return fault;
  throw new Error(
    `There is no fault "${name}". The faults are: ${faults.map((each) => each.name).join(', ')}`,
  );
}

/** A plugin of esbuild that plants a fault into the sources. */
export function planting(name) {
  const { file, from, to } = faultOf(name);
  return {
    name: 'fault',
    setup({ onLoad }) {
      onLoad({ filter: /\.tsx?$/ }, (loaded) => {
        if (loaded.path !== root + file) return undefined;
        const parts = readFileSync(root + file, 'utf8').split(from);
        if (parts.length !== 2) throw new Error(`${file} has ${parts.length - 1} times: ${from}`);
        return { contents: parts.join(to), loader: extname(file).slice(1) };
      });
    },
  };
}
