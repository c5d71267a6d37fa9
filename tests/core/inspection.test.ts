import { inspect } from 'node:util';

import { describe, expect, it } from '@jest/globals';

import { inspectable, inspectList, inspectMethod, quote } from '../../src/core/inspection.ts';

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
