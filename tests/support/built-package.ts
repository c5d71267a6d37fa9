/**
 * The package as it is shipped, for the tests that run it.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';

import { root } from './project.ts';

const compiler = 'node_modules/typescript/bin/tsc';

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
  build([compiler, '-b', 'src/tsconfig.build.json'], ['scripts/dist.js']);
}

/** Brings dist/ and examples/dist/ up to date with the sources. */
export function buildExamples(): void {
  buildPackage();
  build([compiler, '-p', 'examples/tsconfig.build.json']);
}

/** What npm says about a package that it packs. */
interface Packed {
  /** Bytes of the packed file. */
  readonly size: number;
  readonly files: readonly { readonly path: string; readonly size: number }[];
}

/** What npm would pack of what is built. */
export function packed(): Packed {
  const output = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    shell: process.platform === 'win32',
  });
  const [one] = JSON.parse(output) as [Packed];
  return one;
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

function build(...commands: readonly (readonly string[])[]): void {
  if (isBuilt()) return;
  try {
    for (const command of commands) runNode(...command);
  } catch (error) {
    throw new Error(`The build fails:\n${(error as { stdout: string }).stdout}`, { cause: error });
  }
}

function runNode(...command: readonly string[]): void {
  execFileSync(process.execPath, command, { cwd: root, encoding: 'utf8', stdio: 'pipe' });
}
