/**
 * Names, the texts that they are made of, the links that have them, and what programmers see of names. These are pure
 * functions, and their laws hold for texts of which no document, patch or option may have most.
 */
import { inspect } from 'node:util';

import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';

import { inspectable, inspectList, inspectMethod, quote } from '../../src/core/inspection.ts';
import { decodeSegment, keyOf, linkKey, linkTo, parseLink, percentEncode } from '../../src/core/link.ts';
import { assertMembers } from '../../src/core/member.ts';
import { nameFault, nameKey } from '../../src/core/name.ts';
import { cutToBytes, longestRun, normalForm, utf8, utf8Length } from '../../src/core/text.ts';
import { canonicalLink, resolveLinks, type FindName } from '../../src/core/reference.ts';
import { character } from '../support/arbitrary-character.ts';

const text = fc.string({ unit: character });

describe('keyOf', () => {
  it('gives the key of the name of which the link is', () => {
    fc.assert(
      fc.property(text, (name) => {
        const link = linkTo('servers', name);
        if (parseLink(link, 'servers') !== undefined) expect(keyOf(link)).toBe(nameKey(name.toWellFormed()));
      }),
    );
  });

  it.each(['', 'db-1', '/servers', '/servers/', '/servers/a/b', '/servers/%zz', '/servers/..'])(
    'throws for %j, which is no link of a resource',
    (link) => {
      expect(() => keyOf(link)).toThrow(
        `The link of a resource is a path such as /servers/db-1, not ${JSON.stringify(link)}`,
      );
    },
  );
});

describe('nameKey', () => {
  it('gives the key of a key unchanged, and composed and decomposed spellings the same key', () => {
    fc.assert(
      fc.property(text, (name) => {
        const key = nameKey(name);
        const others = [key, name.normalize('NFD'), name.normalize('NFC')];
        expect(others.map((each) => nameKey(each))).toEqual([key, key, key]);
      }),
    );
  });

  // Names that are four times as long as the names of secrets are not compared with them.
  it('gives every Unicode character a key that is its own key, and has at least a quarter of its length', () => {
    // No other character is assigned, but for private use.
    const assigned = [...Array(0x34000).keys(), ...Array.from({ length: 0x1000 }, (_, at) => 0xe0000 + at)];
    for (const code of assigned) {
      const character = String.fromCodePoint(code);
      const key = nameKey(character);
      const length = Math.max(character.length, character.normalize('NFD').length);
      if (nameKey(key) !== key || length > 4 * key.length)
        throw new Error(`U+${code.toString(16)} has an unstable key, or one that is too short`);
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
    ...['\u0301', '\u0316', '\u0345', '\u0344', '\u0f73', 'e', '\u1f82', ' ', '\u0130'],
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

describe('nameFault', () => {
  const right = 'a|Read Write Split|naïve café|数据库|100% /?#|...|constructor|__proto__'.split('|');
  it.each([...right, 'x'.repeat(255), '😀'.repeat(255)])('accepts %j', (name) => {
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

  const invisible = [...'\0\n\u0085\u00ad\u061c\u200b\u200d\u200f\u202e\u2060\u2068\ufeff\u{e0061}'];
  it('refuses each character that cannot be seen, and says which character it is', () => {
    const found = invisible.map((character) => nameFault(`a${character}b`)?.split(', and contains '));
    const codes = '0000 000A 0085 00AD 061C 200B 200D 200F 202E 2060 2068 FEFF E0061'.split(' ');
    const sentence = 'must not contain control, bidirectional or zero-width characters';
    expect(found).toEqual(codes.map((code) => [sentence, `U+${code}`]));
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

describe('utf8', () => {
  it('gives the bytes that an encoder writes', () => {
    fc.assert(
      fc.property(texts, (text) => {
        expect([...utf8(text)]).toEqual([...new TextEncoder().encode(text)]);
      }),
    );
  });
});

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

const awkward = fc.string({ unit: fc.constantFrom(...'%/?#. 2Fä\'"\\', '😀') });
const names = fc
  .oneof(awkward, fc.string({ unit: 'grapheme' }), text)
  .filter((name) => nameFault(name) === undefined);

describe('linkTo and parseLink', () => {
  it('give back every name that can be declared, in a link that a URL parser leaves as it is', () => {
    fc.assert(
      fc.property(names, (name) => {
        const link = linkTo('servers', name);
        const back = parseLink(link, 'servers');
        expect(back).toBe(name.replace(/\s/g, '-'));
        expect(nameKey(back ?? '')).toBe(nameKey(name));
        expect(link).toMatch(/^\/servers\/(?:[A-Za-z0-9\-._~!$&'()*+,;=:@]|%[0-9A-F]{2})+$/);
        expect(new URL(link, 'http://gateway.test').pathname).toBe(link);
      }),
      { numRuns: 200 },
    );
  });

  it('give no name for a link that is not one of the collection, whatever it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: character }), (link) => {
        const name = parseLink(link, 'servers');
        expect(name === undefined || link.startsWith('/servers/')).toBe(true);
      }),
    );
  });

  it.each([
    ['DB 1', '/servers/DB-1'],
    ['a\u00a0b\tc', '/servers/a-b-c'],
    ['eu/west?', '/servers/eu%2Fwest%3F'],
    ['100%', '/servers/100%25'],
    ["a:b@c!$&'()*+,;=~", "/servers/a:b@c!$&'()*+,;=~"],
    ['Köln', '/servers/K%C3%B6ln'],
    ['😀', '/servers/%F0%9F%98%80'],
    ['a\ud800b', '/servers/a%EF%BF%BDb'],
    [7, '/servers/7'],
  ])('writes %j as %s', (name, link) => {
    expect(linkTo('servers', name)).toBe(link);
  });

  it.each([
    ['/servers/DB-1', 'DB-1'],
    ['/servers/eu%2Fwest', 'eu/west'],
    ['/servers/%2525', '%25'],
    ['/servers/__proto__', '__proto__'],
    ['/servers/Köln', 'Köln'],
    ['/servers/...', '...'],
  ])('reads %s as the name %j', (link, name) => {
    expect(parseLink(link, 'servers')).toBe(name);
  });

  const others = 'http://gateway.test/servers/a //gateway.test/servers/a /services/a /Servers/a servers/a';
  const inside = 'a?b a#b . .. %2e%2E ../servers/a a/b a/ %zz a%2 %C0%AF %ED%A0%80'.split(' ');
  it.each([
    ...others.split(' '),
    'a',
    '/servers/',
    '/servers',
    '',
    ...inside.map((name) => `/servers/${name}`),
  ])('take no name from %j', (link) => {
    expect(parseLink(link, 'servers')).toBeUndefined();
  });
});

describe('decodeSegment', () => {
  it('undoes encodeURIComponent, and decodes once', () => {
    const segment = fc.string({ unit: 'grapheme' });
    fc.assert(fc.property(segment, (each) => decodeSegment(encodeURIComponent(each)) === each));
    expect(['%252F', 'a%2Fb'].map(decodeSegment)).toEqual(['%2F', 'a/b']);
  });

  it('refuses a broken escape', () => {
    const broken = ['%', '%zz', 'a%2', '%C0%AF', '%FF', '%ED%A0%80'];
    expect(broken.filter((segment) => decodeSegment(segment) !== undefined)).toEqual([]);
  });
});

describe('percentEncode', () => {
  it('writes what the pattern picks as UTF-8 and half of a pair as U+FFFD', () => {
    expect(percentEncode('a b😀\udc00', /[^a-z]/gu)).toBe('a%20b%F0%9F%98%80%EF%BF%BD');
  });
});

describe('linkKey', () => {
  it('folds each segment as nameKey folds the name, and keeps the slashes of names apart', () => {
    const letters = fc.constantFrom(...'/aAZ%~Ä\u0345\u212a -', '%41', '%c3%84');
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: letters }), awkward), (link) => {
        const folded = link.split('/').map((segment) => nameKey(decodeSegment(segment) ?? segment));
        expect(linkKey(link).split('/').map(decodeSegment)).toEqual(folded);
        expect(linkKey(linkKey(link))).toBe(linkKey(link));
      }),
    );
    const long = `/services/${'A'.repeat(1100)}/B`;
    expect(linkKey(long)).toBe(`/services/${'A'.repeat(1100)}/b`);
  });
});

const declared = ['My Server', 'eu/west', 'Köln', '__proto__'];
const find: FindName = (collection, key) =>
  collection === 'servers' ? declared.find((name) => nameKey(name) === key) : undefined;

describe('resolveLinks', () => {
  const resolve = (links: readonly string[], known?: readonly string[]): ReturnType<typeof resolveLinks> =>
    resolveLinks(links, 'servers', find, ['servers'], known);

  it('writes every link to a thing in one form, whatever the spelling of the name', () => {
    const spellingsOf = (name: string): readonly string[] => [
      ...[name, name.toUpperCase(), name.toLowerCase(), name.replaceAll(' ', '-'), name.normalize('NFD')],
    ];
    const spelled = fc
      .constantFrom(...declared)
      .chain((name) =>
        fc
          .constantFrom(...spellingsOf(name))
          .map((spelling) => ({ name, link: `/servers/${encodeURIComponent(spelling)}` })),
      );
    fc.assert(
      fc.property(fc.uniqueArray(spelled, { selector: ({ name }) => name }), (list) => {
        const { links, faults } = resolve(list.map(({ link }) => link));
        expect(faults).toEqual([]);
        expect(links).toEqual(list.map(({ name }) => linkTo('servers', name)));
        expect(resolve(links).links).toEqual(links);
      }),
    );
  });

  it('has a fault for each link that names nothing', () => {
    const strangers = names.filter((name) => find('servers', nameKey(name)) === undefined);
    fc.assert(
      fc.property(fc.array(strangers), (list) => {
        const { links, faults } = resolve(list.map((name) => linkTo('servers', name)));
        expect(links).toEqual([]);
        expect(faults.map(({ pointer }) => pointer)).toEqual(list.map((_, at) => `/servers/${String(at)}`));
      }),
    );
  });

  it('takes links that are known for what they are, with the same answer for all the others', () => {
    const canonical = declared.map((name) => linkTo('servers', name));
    const spelled = [...canonical, '/servers/MY-SERVER', '/servers/eu%2fwest', '/servers/nothing', 'x'];
    const many = Array.from({ length: 20 }, (_, n) => `/servers/other-${String(n)}`);
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...spelled)),
        fc.subarray(canonical),
        fc.boolean(),
        (links, known, more) => {
          const all = more ? [...known, ...many] : known;
          expect(resolve(links, all)).toEqual(resolve(links));
        },
      ),
    );
    expect(resolve(many, many)).toEqual({ links: many, faults: [] });
  });

  it('says what is wrong with each, where it stands', () => {
    const written =
      'servers/my-server servers/nothing filters/My-Server servers/MY%20SERVER servers/K%C3%B6ln';
    const given = written.split(' ').map((link) => `/${link}`);
    const { links, faults } = resolveLinks(given, 'servers', find, ['services', 0, 'servers']);
    expect(links).toEqual(['/servers/My-Server', '/servers/K%C3%B6ln']);
    const details = [
      '"/servers/nothing" names no existing resource: correct the link',
      'must be a relative link of the form /servers/<name>',
      'names the same resource as item 0',
    ];
    const code = 'link-unresolved';
    expect(faults).toEqual(
      details.map((detail, at) => ({ pointer: `/services/0/servers/${String(at + 1)}`, code, detail })),
    );
  });
});

describe('canonicalLink', () => {
  it('gives the canonical form, or nothing', () => {
    expect(canonicalLink('/servers/EU%2FWest', 'servers', find)).toBe('/servers/eu%2Fwest');
    expect(canonicalLink('/servers/__proto__', 'servers', find)).toBe('/servers/__proto__');
    expect(canonicalLink('/servers/constructor', 'servers', find)).toBeUndefined();
    expect(canonicalLink('/filters/Köln', 'filters', find)).toBeUndefined();
    expect(canonicalLink('http://gateway.test/servers/Köln', 'servers', find)).toBeUndefined();
  });
});

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
