/**
 * The package as it is shipped, for the tests that run it.
 */
import { execFileSync } from 'node:child_process';

import { root } from './project.ts';

/** `npm test` builds everything first, and says so: to find that nothing has changed takes a second of the processor. */
const isBuilt = process.env['PACKAGE_IS_BUILT'] === 'yes';

/** Brings dist/ up to date with the sources. */
export function buildPackage(): void {
  build('src/tsconfig.build.json');
}

/** Brings dist/ and examples/dist/ up to date with the sources. */
export function buildExamples(): void {
  build('examples/tsconfig.build.json');
}

function build(project: string): void {
  if (isBuilt) return;
  try {
    execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-b', project], {
      cwd: root,
      encoding: 'utf8',
    });
  } catch (error) {
    throw new Error(`${project} does not build:\n${(error as { stdout: string }).stdout}`, { cause: error });
  }
}
