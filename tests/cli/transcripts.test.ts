/**
 * Every transcript is what the program prints. `SCENARIOS=write npx jest tests/cli/transcripts.test.ts` writes what was
 * seen, for somebody to read in the diff.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, describe, expect, it } from '@jest/globals';

import { readScenarios, writeScenario, writeScenarios, type Scenario } from '../scenario/scenario.ts';
import { playTranscript } from './transcript.ts';

const folder = join(__dirname, 'transcripts');
const isWriting = process.env['SCENARIOS'] === 'write';

describe.each(readdirSync(folder))('gateway-admin, %s', (name) => {
  const path = join(folder, name);
  const file = readScenarios(readFileSync(path, 'utf8'));
  const played: Scenario[] = [];

  it.each(file.scenarios.map((each) => [each.title, each] as const))('%s', async (_title, transcript) => {
    const now = await playTranscript(transcript, file);
    played.push(now);
    if (!isWriting) expect(writeScenario(now)).toBe(writeScenario(transcript));
  });

  afterAll(() => {
    if (isWriting && played.length === file.scenarios.length)
      writeFileSync(path, writeScenarios({ ...file, scenarios: played }));
  });
});
