import { expect, it } from '@jest/globals';

import { simulate } from './simulation.ts';

// An interface that was closing began the next part of a teardown after a 504.
const found = [
  4574, 4746, 5135, 13786, 16988, 19081, 20376, 20882, 30910, 41041, 44547, 48034, 50510, 55832, 76077, 81890,
  91553, 94311, 98134, 98279,
];

it.each(found)(
  'the simulation tells the truth in the world of seed %d, where it once did not',
  async (seed) => {
    expect(await simulate(seed, 'few')).toEqual([]);
  },
);
