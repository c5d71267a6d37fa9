/**
 * A fault can be planted as long as the text that it replaces stands in the sources once.
 */
import { expect, it } from '@jest/globals';

import { plantedFaults } from '../support/planted-faults.ts';
import { read } from '../support/project.ts';

it('can plant every fault', () => {
  const faults = plantedFaults();
  expect(faults.length).toBeGreaterThan(0);
  const unfit = faults.filter(({ file, from }) => read(file).split(from).length !== 2);
  expect(unfit.map(({ name }) => name)).toEqual([]);
});
