/**
 * The build and the tests. The last line is that of the test runner. Where the build fails, the tests of the package build
 * again, and say so.
 */
import { runScript } from './run.js';

const { code: built } = await runScript('build:example', 'inherit');
const isBuilt = built === 0 ? 'yes' : 'no';
const { code } = await runScript('jest', 'inherit', {
  args: process.argv.slice(2),
  env: { PACKAGE_IS_BUILT: isBuilt },
});
process.exitCode = built === 0 ? code : 1;
