/**
 * Names, and the texts that they are made of: their key, their normal form, and their length in UTF-8. These are pure
 * functions, and their laws hold for texts of which no document may have most.
 */
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';

import { nameFault, nameKey } from '../../src/core/name.ts';
import { longestRun, normalForm } from '../../src/core/normal-form.ts';
import { cutToBytes, utf8Length } from '../../src/core/utf8.ts';
import { character } from '../support/arbitrary-character.ts';

const text = fc.string({ unit: character });

describe('nameKey', () => {
  it('gives the key of a key unchanged', () => {
    fc.assert(fc.property(text, (name) => nameKey(nameKey(name)) === nameKey(name)));
  });

  it('gives composed and decomposed spellings the same key', () => {
    fc.assert(
      fc.property(text, (name) => {
        expect(nameKey(name.normalize('NFD'))).toBe(nameKey(name));
        expect(nameKey(name.normalize('NFC'))).toBe(nameKey(name));
      }),
    );
  });

  it('gives every Unicode character a key that is its own key', () => {
    for (let code = 0; code <= 0x10ffff; code += 1) {
      const key = nameKey(String.fromCodePoint(code));
      if (nameKey(key) !== key) throw new Error(`U+${code.toString(16)} has an unstable key`);
    }
  });

  it('leaves no white space, and as many hyphens as there was white space', () => {
    const space = fc.constantFrom(' ', '\t', '\n', '\u00a0', '\u2003', '\u2028', '\u3000', '\ufeff');
    fc.assert(
      fc.property(fc.array(fc.oneof(space, fc.constantFrom('a', 'Ö', '-'))), (parts) => {
        const name = parts.join('');
        expect(nameKey(name)).toBe(nameKey(name.replace(/\s/g, '-')));
        expect(nameKey(name)).not.toMatch(/\s/);
        expect(nameKey(name)).toHaveLength(name.length);
      }),
    );
  });

  it.each([
    ['My Service', 'my-service'],
    ['my-service', 'my-service'],
    ['a  b', 'a--b'],
    ['snake_case.v2', 'snake_case.v2'],
    ['KÖLN', 'köln'],
    ['Ko\u0308ln', 'köln'],
    ['\u212a', 'k'],
    // There is a composed form of the small letter only.
    ['J\u030c', '\u01f0'],
    ['\u01f0', '\u01f0'],
    // The capital letter has two small ones, and one letter has two capitals.
    ['\u03a3\u03c3\u03c2', '\u03c3\u03c3\u03c2'],
    ['\u03c3\u03c2\u03c3', '\u03c3\u03c3\u03c2'],
    ['Stra\u00dfe', 'strasse'],
    ['STRA\u1e9eE', 'strasse'],
    ['constructor', 'constructor'],
    ['__proto__', '__proto__'],
    ['', ''],
  ])('folds %j to %j', (name, key) => {
    expect(nameKey(name)).toBe(key);
  });
});

describe('a text that is too long for a name', () => {
  // Composing these marks would take seconds.
  const marks = 'a' + '\u0301\u0316'.repeat(100_000);

  it('is its own key, and is not normalised', () => {
    expect([nameKey(marks), nameKey('A'.repeat(1025))]).toEqual([marks, 'A'.repeat(1025)]);
    expect(nameKey('A'.repeat(1024))).toBe('a'.repeat(1024));
  });

  it('is refused by its length', () => {
    expect(nameFault(marks)).toBe('must have at most 255 characters, and has 200001');
  });
});

describe('a text with many combining marks', () => {
  const marks = fc.constantFrom(
    '\u0301',
    '\u0316',
    '\u0345',
    '\u0344',
    '\u0f73',
    'e',
    '\u1f82',
    ' ',
    '\u0130',
  );
  const runs = fc.array(marks, { minLength: 50, maxLength: 300 }).map((parts) => parts.join(''));

  it.each(['', 'a'])('gives the key of a key unchanged if folding ends the run: after %j', (before) => {
    const key = nameKey(`${before}\u0345${'\u0344'.repeat(30)}`);
    expect(nameKey(key)).toBe(key);
  });

  it('gives the key of a key unchanged', () => {
    fc.assert(fc.property(runs, (name) => nameKey(nameKey(name)) === nameKey(name)));
  });

  it('is normalised up to 30 of them in a row', () => {
    const [composed, decomposed] = ['\u00e9', 'e\u0301'];
    expect(nameKey(decomposed + '\u0316'.repeat(29))).toBe(nameKey(composed + '\u0316'.repeat(29)));
    const longer = '\u0316'.repeat(30);
    expect(nameKey(`${decomposed}${longer}`)).toBe(`${decomposed}${longer}`);
    expect(nameKey(`${decomposed.toUpperCase()} ${longer}`)).toBe(`${composed}-${longer}`);
  });
});

describe('the key of a name', () => {
  // Names that are longer are not compared with the names of secrets.
  it('has at least a quarter of its length, for every Unicode character in every form', () => {
    for (let code = 0; code <= 0x10ffff; code += 1) {
      const character = String.fromCodePoint(code);
      const { length } = nameKey(character);
      if (Math.max(character.length, character.normalize('NFD').length) > 4 * length)
        throw new Error(`U+${code.toString(16)} has a key that is too short`);
    }
  });
});

describe('nameFault', () => {
  it.each([
    'a',
    'Read Write Split',
    'naïve café',
    '数据库',
    '100% /?#',
    '...',
    'constructor',
    '__proto__',
    'x'.repeat(255),
    '😀'.repeat(255),
  ])('accepts %j', (name) => {
    expect(nameFault(name)).toBeUndefined();
  });

  it.each([
    ['', 'must have at least one character'],
    ['x'.repeat(256), 'must have at most 255 characters, and has 256'],
    [' a', 'must not begin or end with white space'],
    ['a\u3000', 'must not begin or end with white space'],
    ['\ud800', 'must not contain half of a surrogate pair'],
    ['a\udc00b', 'must not contain half of a surrogate pair'],
    ['.', 'must not be ".": no URL path can name such a resource'],
    ['..', 'must not be "..": no URL path can name such a resource'],
  ])('refuses %j', (name, fault) => {
    expect(nameFault(name)).toBe(fault);
  });

  it.each([
    ['a NUL', '\0', 'U+0000'],
    ['a line feed', '\n', 'U+000A'],
    ['a C1 control', '\u0085', 'U+0085'],
    ['a soft hyphen', '\u00ad', 'U+00AD'],
    ['an Arabic letter mark', '\u061c', 'U+061C'],
    ['a zero-width space', '\u200b', 'U+200B'],
    ['a zero-width joiner', '\u200d', 'U+200D'],
    ['a right-to-left mark', '\u200f', 'U+200F'],
    ['a right-to-left override', '\u202e', 'U+202E'],
    ['a word joiner', '\u2060', 'U+2060'],
    ['a first strong isolate', '\u2068', 'U+2068'],
    ['a byte-order mark', '\ufeff', 'U+FEFF'],
    ['a tag character', '\u{e0061}', 'U+E0061'],
  ])('refuses %s and says which character it is', (_what, character, code) => {
    expect(nameFault(`a${character}b`)).toBe(
      `must not contain control, bidirectional or zero-width characters, and contains ${code}`,
    );
  });
});

const run = '\u0316'.repeat(longestRun);

describe('the normal form', () => {
  it.each(['', 'a', '\u00e9', '\u0301', '\u{1e922}\u0301', 'x'.repeat(1000), `${run}a${run}\n${run}`])(
    'composes %j with a composed letter in front and at the end',
    (text) => {
      const composed = `\u00e9a${text}a\u00e9`;
      expect(normalForm(composed.normalize('NFD'))).toBe(composed.normalize('NFC'));
    },
  );

  it.each(['', 'a', 'a'.repeat(100_000), 'a\u0301'.repeat(1000)])(
    'leaves a text with a longer run as it is, wherever the run is: beside %j',
    (text) => {
      for (const each of [`${run}\u0301`, '\u{1d165}'.repeat(longestRun + 1)]) {
        for (const long of [`e\u0301b${text}${each}`, `${each}${text}e\u0301`, `${text}${each}b\ne\u0301`])
          expect(normalForm(long) === long).toBe(true);
      }
    },
  );
});

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
