/**
 * The planted faults. Jest cannot load the module that has them, because a script has it as well.
 */
import { execFileSync } from 'node:child_process';

import { root } from './project.ts';

type Fault = Readonly<Record<'name' | 'what' | 'file' | 'from' | 'to', string>> & { readonly proof?: string };

export function plantedFaults(): readonly Fault[] {
  const printing = `import { faults } from './tests/faults/faults.js'; console.log(JSON.stringify(faults));`;
  const options = { cwd: root, encoding: 'utf8', maxBuffer: Infinity } as const;
  return JSON.parse(
    execFileSync(process.execPath, ['--input-type=module', '--eval', printing], options),
  ) as Fault[];
}
