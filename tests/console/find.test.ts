import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';

import { rowFits } from '../../console/find.ts';

const value = fc.oneof(fc.string({ unit: 'grapheme' }), fc.string(), fc.nat(), fc.boolean());
const row = fc.dictionary(
  fc.string({ minLength: 1 }),
  fc.oneof(value, fc.array(value), fc.record({ inner: value })),
);

/** The values that a row has at any depth. */
function valuesOf(each: unknown): readonly unknown[] {
  return typeof each === 'object' && each !== null ? Object.values(each).flatMap(valuesOf) : [each];
}

describe('a row fits', () => {
  it('what is in one of its values, in letters of any case, and any number of such words', () => {
    fc.assert(
      fc.property(row, fc.nat(), fc.nat(), (given, one, other) => {
        const values = valuesOf(given).map(String);
        const words = [values[one % values.length] ?? '', values[other % values.length] ?? ''];
        expect(rowFits(words.join(' '), given)).toBe(true);
        expect(rowFits(words.join('\t').toLowerCase(), given)).toBe(true);
      }),
    );
  });

  it('no word that is in none of its values: not a name of a field, not a sign between two values', () => {
    const given = {
      name: 'Sales',
      drain: { state: 'draining', by: 'ada' },
      servers: ['/servers/a', '/servers/b'],
    };
    for (const find of ['name', 'state', '"', ',', '{', 'Sales/', 'adaada', 'a/servers', 'sales x'])
      expect([find, rowFits(find, given)]).toEqual([find, false]);
    for (const find of ['', '  ', 'SALES', 'draining ada', '/servers/b sal'])
      expect([find, rowFits(find, given)]).toEqual([find, true]);
  });
});
