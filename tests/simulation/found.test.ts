import { expect, it } from '@jest/globals';

import { simulate } from './simulation.ts';

// An interface that was closing began the next part of a teardown after a 504.
const found = [
  4574, 4746, 5135, 13786, 16988, 19081, 20376, 20882, 30910, 41041, 44547, 48034, 50510, 55832, 76077, 81890,
  91553, 94311, 98134, 98279,
];

// An undo brought a drain back for a service that was started since. A judge compared members in their order, another
// took what nobody knows for wrong, and a third took what a deadline closes for what the drain has closed. A command
// whose last part was refused stayed open in the journal for ever. A server whose deletion was undone kept a status
// that nobody had seen. A service listed a server whose deletion stood, and no life could open the store. A restore took
// away what an abandoned command had created in vain, and two of them had created the same.
const foundWithAll = [
  10_013_844, 10_015_285, 10_016_002, 10_012_217, 20_021_389, 20_021_600, 20_044_373, 20_049_241, 20_049_186,
  21_000_789, 10_831, 84_179,
];

// An answer counted a connection as closed that the host had opened anew on another server, under the same id.
const foundWithPlans = [96_074_472];

it.each([
  ...found.map((seed) => [seed, 'few'] as const),
  ...foundWithAll.map((seed) => [seed, 'all'] as const),
  ...foundWithPlans.map((seed) => [seed, 'plans'] as const),
])(
  'the simulation tells the truth in the world of seed %d with %s hazards, where it once did not',
  async (seed, hazards) => {
    expect(await simulate(seed, hazards)).toEqual([]);
  },
);
