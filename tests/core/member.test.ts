import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';

import { assertMembers } from '../../src/core/member.ts';

const known = ['colour', 'guests', 'maxRooms', 'owner', 'secretKeys'];
const check = (...names: readonly string[]): void => {
  assertMembers(Object.fromEntries(names.map((name) => [name, 1])), known, 'option of a house');
};
const all = 'The names are colour, guests, maxRooms, owner, secretKeys.';

describe('assertMembers', () => {
  it('accepts any of the known members, and none', () => {
    fc.assert(
      fc.property(fc.subarray(known), (names) => {
        expect(() => check(...names)).not.toThrow();
      }),
    );
  });

  it('suggests the known name that was meant, with a letter too many, too few or wrong, in any case', () => {
    const letter = fc.constantFrom('a', 'e', 'S', '_', 'ö', '😀');
    const misspelt = fc
      .tuple(fc.constantFrom(...known), fc.nat(), fc.nat(1), fc.option(letter, { nil: '' }), fc.boolean())
      .map(([meant, place, length, put, isUpper]) => {
        const at = place % meant.length;
        const written = meant.slice(0, at) + put + meant.slice(at + length);
        return { meant, written: isUpper ? written.toUpperCase() : written };
      })
      .filter(({ written }) => !known.includes(written));
    fc.assert(
      fc.property(misspelt, fc.subarray(known), ({ meant, written }, others) => {
        expect(() => check(...others, written)).toThrow(
          new TypeError(
            `There is no option of a house with the name "${written}". Did you mean ${meant}? ${all}`,
          ),
        );
      }),
    );
  });

  it('suggests a name of which every second letter is right', () => {
    expect(() => check('ownXYZ')).toThrow(/Did you mean owner\?/);
    expect(() => check('owWXYZ')).not.toThrow(/Did you mean/);
  });

  it.each(['x', 'pinned', 'toString', 'zzzzzzzzzz'])(
    'suggests nothing for %j, which is like no name',
    (name) => {
      expect(() => check(name)).toThrow(
        new TypeError(`There is no option of a house with the name "${name}". ${all}`),
      );
    },
  );

  it.each([null, undefined, 5, 'colour'])('refuses %p, which is no object', (value) => {
    expect(() => {
      assertMembers(value as unknown as object, known, 'option of a house');
    }).toThrow(new TypeError('options must be an object'));
  });
});
