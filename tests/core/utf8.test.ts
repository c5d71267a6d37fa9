import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';

import { cutToBytes, utf8Length } from '../../src/core/utf8.ts';
import { character } from '../support/arbitrary-character.ts';

/** Characters of one to four bytes, at the bounds of each length, and halves of surrogate pairs. */
const characters = fc.constantFrom(
  ...['\0', 'a', '\x7f', '\x80', 'é', '\u07ff', '\u0800', '€', '\uffff', '\u{10000}', '😀', '\u{10ffff}'],
  ...['\ud800', '\udc00'],
);
const texts = fc.array(fc.oneof(characters, fc.string({ unit: character }))).map((parts) => parts.join(''));

describe('utf8Length', () => {
  it('is the number of bytes that an encoder writes', () => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(utf8Length(text)).toBe(new TextEncoder().encode(text).length);
      }),
    );
  });
});

describe('cutToBytes', () => {
  it('keeps the longest start of whole characters that fits', () => {
    fc.assert(
      fc.property(texts, fc.nat(40), (text, most) => {
        const starts = Array.from(text).map((_, at, all) => all.slice(0, at + 1).join(''));
        const fitting = ['', ...starts].findLast((start) => new TextEncoder().encode(start).length <= most);
        expect(cutToBytes(text, most)).toBe(fitting);
      }),
    );
  });

  it.each([
    ['naïve', 3, 'na'],
    ['naïve', 4, 'naï'],
    ['a😀b', 4, 'a'],
    ['a😀b', 5, 'a😀'],
    ['a😀b', 6, 'a😀b'],
  ])('cuts %j to at most %i bytes: %j', (text, most, cut) => {
    expect(cutToBytes(text, most)).toBe(cut);
  });
});
