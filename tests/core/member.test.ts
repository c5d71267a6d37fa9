/**
 * What programmers see: the refusal of a misspelt option, and the output of console.log. These are pure functions, and
 * their laws hold for names that no option and no record of the library has.
 */
import { inspect } from 'node:util';

import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';

import { assertMembers } from '../../src/core/member.ts';
import { inspectable, inspectList, inspectMethod, quote } from '../../src/core/inspection.ts';

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

describe('inspectList', () => {
  it.each([
    [0, [], 'Toys(0) []'],
    [2, ['ball', 'my "car"'], 'Toys(2) [ "ball", "my \\"car\\"" ]'],
    [9, ['a', 'b', 'c', 'd', 'e', 'f'], 'Toys(9) [ "a", "b", "c", "d", "e", … 4 more ]'],
  ])('says of %i entries how many there are and which come first', (size, names, text) => {
    expect(inspectList('Toys', size, names)).toBe(text);
  });
});

describe('quote', () => {
  it('cuts a name that is too long for a line, and leaves whole characters', () => {
    expect(quote('a'.repeat(40))).toBe(`"${'a'.repeat(40)}"`);
    expect(quote('a'.repeat(41))).toBe(`"${'a'.repeat(40)}…"`);
    expect(quote(`${'a'.repeat(39)}😀`).isWellFormed()).toBe(true);
  });
});

describe('an inspectable record', () => {
  const box = { [inspectMethod]: () => 'Box(7)' };
  const record = Object.freeze({
    ...inspectable,
    ...{
      count: 1,
      label: 'x',
      box,
      list: [{ name: 'ball' }, 'car', {}, null, 7],
      other: { secret: 'y', more: 'z' },
      nothing: null,
    },
  });
  const text =
    '{\n  count: 1,\n  label: \'x\',\n  box: Box(7),\n  list: Array(5) [ "ball", "car", "…", "…", "…" ],\n' +
    '  other: { secret, more },\n  nothing: null\n}';

  it('prints its values, the sizes of its lists and the names of all else', () => {
    expect(inspect(record)).toBe(text);
  });

  it('prints so when it was spread, and has no more members than before', () => {
    expect(inspect({ ...record, count: 2 })).toBe(text.replace('count: 1', 'count: 2'));
    expect(Object.keys(record)).toEqual(['count', 'label', 'box', 'list', 'other', 'nothing']);
  });
});
