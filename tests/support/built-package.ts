/**
 * The package as it is shipped, for the tests that run it.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';

import { root } from './project.ts';

/**
 * `npm test` builds beside the tests, and names a file that says `yes` or `no` once the build has ended. `yes` in place of
 * a name says that the package is built: to find that nothing has changed takes a second of the processor.
 */
const whetherBuilt = process.env['PACKAGE_IS_BUILT'] ?? 'no';

function isBuilt(): boolean {
  if (whetherBuilt === 'yes' || whetherBuilt === 'no') return whetherBuilt === 'yes';
  const never = new Int32Array(new SharedArrayBuffer(4));
  while (!existsSync(whetherBuilt)) Atomics.wait(never, 0, 0, 100);
  return readFileSync(whetherBuilt, 'utf8') === 'yes';
}

/**
 * Brings dist/ up to date with the sources. The page of the console is made before all tests: see {@link buildPage}.
 */
export function buildPackage(): void {
  build('src/tsconfig.build.json');
}

/** Brings dist/ and examples/dist/ up to date with the sources. */
export function buildExamples(): void {
  build('examples/tsconfig.build.json');
}

/**
 * Brings the page of the console up to date with its sources. A page that does not build is removed, so that the tests
 * of the console fail, and the others run.
 */
export function buildPage(): void {
  if (whetherBuilt === 'yes') return;
  try {
    runNode('scripts/console.js');
  } catch (error) {
    rmSync(`${root}dist/console/page.js`, { force: true });
    process.stderr.write(
      `The page of the console does not build:\n${(error as { stderr: string }).stderr}\n`,
    );
  }
}

function build(project: string): void {
  if (isBuilt()) return;
  try {
    runNode('node_modules/typescript/bin/tsc', '-b', project);
    runNode('scripts/chunks.js');
  } catch (error) {
    throw new Error(`${project} does not build:\n${(error as { stdout: string }).stdout}`, { cause: error });
  }
}

function runNode(...command: readonly string[]): void {
  execFileSync(process.execPath, command, { cwd: root, encoding: 'utf8', stdio: 'pipe' });
}
