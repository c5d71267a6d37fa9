/**
 * Every scenario leads to what stands below its steps. `SCENARIOS=write npx jest tests/scenarios.test.ts` writes what
 * was seen, for somebody to read in the diff.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from '@jest/globals';

import { readScenarios, writeScenario, writeScenarios, type Scenario } from './scenario/scenario.ts';
import { playScenario } from './scenario/play.ts';

const folder = join(__dirname, 'scenarios');
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
  name.endsWith('.txt'),
);
const isWriting = process.env['SCENARIOS'] === 'write';

describe.each(files)('%s', (name) => {
  const path = join(folder, name);
  const file = readScenarios(readFileSync(path, 'utf8'));
  const played: Scenario[] = [];

  it.each(file.scenarios.map((each) => [each.title, each] as const))('%s', async (_title, scenario) => {
    const now = await playScenario(scenario, file);
    played.push(now);
    if (isWriting)
      writeFileSync(
        path,
        writeScenarios({ ...file, scenarios: [...played, ...file.scenarios.slice(played.length)] }),
      );
    else expect(writeScenario(now)).toBe(writeScenario(scenario));
  });
});
