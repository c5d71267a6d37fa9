/**
 * The tables of docs/fleet.md: each row is the title of a scenario, and each scenario is a row.
 */
import { expect, it } from '@jest/globals';

import { tablesOf } from '../docs/table.ts';
import { readScenarios } from '../scenario/scenario.ts';
import { read } from '../support/project.ts';

const tables = tablesOf(read('docs/fleet.md'));

// Promise: fleet-failures
it.each([
  ['What an answer means', 'answer'],
  ['What happens when something fails', 'failure'],
])('the table "%s" has a row for each scenario of %s.txt, and a scenario for each row', (name, file) => {
  const rows = tables.find(({ heading }) => heading === name)?.rows.map(([first]) => first);
  const { scenarios } = readScenarios(read(`tests/scenarios/fleet/${file}.txt`));
  expect(scenarios.filter(({ kind }) => kind === 'scenario').map(({ title }) => title)).toEqual(rows);
});
