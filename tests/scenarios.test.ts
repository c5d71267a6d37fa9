/**
 * Every scenario leads to what stands below its steps. `SCENARIOS=write npx jest tests/scenarios.test.ts` writes what
 * was seen, for somebody to read in the diff. What stands below a comment `# Fails until …` is right, and stays.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from '@jest/globals';

import {
  holdingPart,
  readScenarios,
  writeScenario,
  writeScenarios,
  type Scenario,
} from './scenario/scenario.ts';
import { playScenario } from './scenario/play.ts';

const folder = join(__dirname, 'scenarios');
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
  name.endsWith('.txt'),
);
const isWriting = process.env['SCENARIOS'] === 'write';

describe.each(files)('%s', (name) => {
  const path = join(folder, name);
  const file = readScenarios(readFileSync(path, 'utf8'));
  /** The scenarios as they are written anew, each in its place. */
  const scenarios: Scenario[] = [...file.scenarios];

  async function expectScenario(scenario: Scenario): Promise<void> {
    const now = await playScenario(scenario, file);
    expect(writeScenario(now)).toBe(writeScenario(scenario));
  }

  for (const [at, scenario] of file.scenarios.entries()) {
    const { title } = scenario;
    const holding = holdingPart(scenario);
    if (isWriting)
      it(title, async () => {
        const { lines } = await playScenario(holding, file);
        scenarios[at] = { ...scenario, lines: [...lines, ...scenario.lines.slice(lines.length)] };
        writeFileSync(path, writeScenarios({ ...file, scenarios }));
      });
    else if (holding === scenario) it(title, () => expectScenario(scenario));
    else {
      // Any error counts as the failure.
      it(`${title} Up to what fails.`, () => expectScenario(holding));
      it.failing(title, () => expectScenario(scenario));
    }
  }
});
