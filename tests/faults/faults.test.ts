/**
 * A fault can be planted as long as the text that it replaces stands in the sources once.
 */
import { expect, it } from '@jest/globals';

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { read, root } from '../support/project.ts';

const run = promisify(execFile);

it('can plant every fault', async () => {
  const printing = `import { faults } from './tests/faults/faults.js'; console.log(JSON.stringify(faults));`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', printing], { cwd: root });
  const faults = JSON.parse(stdout) as readonly Readonly<Record<'name' | 'file' | 'from', string>>[];
  expect(faults.length).toBeGreaterThan(0);
  const unfit = faults.filter(({ file, from }) => read(file).split(from).length !== 2);
  expect(unfit.map(({ name }) => name)).toEqual([]);
});
