import { expect, it } from '@jest/globals';

import { readLink } from '../../examples/playground/link.ts';
import { simulated } from '../support/simulated.ts';

// Promise: simulation
it('holds every law in every one of 60 scenarios at random', async () => {
  expect(await simulated('--scenarios', '60')).toMatch(/60 seeds .* all hold$/m);
});

it('holds every law in every one of 15 scenarios of a fleet at random', async () => {
  expect(await simulated('--fleet', '--scenarios', '15')).toMatch(/15 seeds .* all hold$/m);
});

it.each([
  { of: 'one node', fault: 'leaves-what-was-abandoned' },
  { of: 'a fleet', fault: 'follows-nothing-of-a-log-that-is-loaded-again' },
])('tells a planted fault of $of as a scenario of at most ten steps', async ({ fault }) => {
  const told = await simulated('--fault', fault, '3000', '0');
  expect(told).toMatch(/1 failed$/);
  const [, scenario = ''] = told.split(/^ {2}== .*$/m);
  const steps = scenario.split('\n').filter((line) => /^[a-z]/.test(line));
  expect(steps.filter((line) => /^(?:c\d+|gateway|store)/.test(line)).length).toBeGreaterThan(0);
  expect(steps.length).toBeLessThanOrEqual(10);
  // The link of the playground has the same steps.
  const [, link = ''] = /examples\/dist\/playground\/index\.html(#\S+)$/m.exec(told) ?? [];
  expect(await readLink(link)).toMatchObject({ steps, done: steps.length });
});
