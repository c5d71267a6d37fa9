import { expect, it } from '@jest/globals';

import { simulated } from '../support/simulated.ts';

// Promise: simulation
// Promise: no-lost-edit
it('tells the truth in every one of 20 worlds', async () => {
  expect(await simulated('20')).toMatch(/20 seeds from 0 on of code [0-9a-f]{12} in \d+ s: all hold$/m);
}, 3_600_000);
