/**
 * Tests of files of scenarios: each leads to what stands below its steps. With `SCENARIOS=write`, what was seen is written,
 * for somebody to read in the diff. What stands below a comment `# Fails until …` is right, and stays.
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
  type ScenarioFile,
} from './scenario.ts';

type Play = (scenario: Scenario, file: ScenarioFile) => Promise<Scenario>;

const isWriting = process.env['SCENARIOS'] === 'write';

/** Tests every file of a folder, and of the folders in it. */
export function expectScenarios(folder: string, play: Play): void {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.txt'),
  );
  describe.each(files)('%s', (name) => {
    expectFile(join(folder, name), play);
  });
}

function expectFile(path: string, play: Play): void {
  const file = readScenarios(readFileSync(path, 'utf8'));
  /** The scenarios as they are written anew, each in its place. */
  const scenarios: Scenario[] = [...file.scenarios];

  async function expectScenario(scenario: Scenario): Promise<void> {
    const now = await play(scenario, file);
    expect(writeScenario(now)).toBe(writeScenario(scenario));
  }

  for (const [at, scenario] of file.scenarios.entries()) {
    const { title } = scenario;
    const holding = holdingPart(scenario);
    if (isWriting)
      it(title, async () => {
        const { lines } = await play(holding, file);
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
}
