import { expect, it } from '@jest/globals';

import { simulated } from '../../support/simulated.ts';

// Promise: simulation
it('keeps every gateway in step in every one of 20 fleets', async () => {
  expect(await simulated('--fleet', '20')).toMatch(
    /20 seeds from 0 on of code [0-9a-f]{12} in \d+ s: all hold$/m,
  );
}, 3_600_000);
