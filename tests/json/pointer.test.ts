/**
 * JSON Pointer, compared with a model on documents that no resource has. Not all of its functions are public.
 */
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';

import { isObject, type Json, sameJson, sizeOf } from '../../src/json/value.ts';
import {
  childOf,
  formatPointer,
  hasReservedKey,
  parseIndex,
  parsePointer,
  recallPointer,
  reservedToken,
  valueAt,
} from '../../src/json/pointer.ts';
import { modelEqual, modelValueAt, placesIn } from '../support/patch-model.ts';

const words = fc.constantFrom(
  'a',
  'b',
  '',
  '0',
  '1',
  '-',
  '01',
  '~',
  '/',
  '~1',
  'length',
  'map',
  '__proto__',
);
const documents = fc.jsonValue() as fc.Arbitrary<Json>;
const { tree } = fc.letrec<{ tree: Json }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<Json>(null, true, 0, -0, 1, '', 'a'),
    fc.array(tie('tree'), { maxLength: 4 }),
    fc.dictionary(words, tie('tree'), { maxKeys: 4, noNullPrototype: true }),
  ),
}));

describe('a pointer', () => {
  it('is what its tokens are written as', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(words, fc.string())), (tokens) => {
        expect(parsePointer(formatPointer(tokens))).toEqual(tokens);
      }),
    );
  });

  it('is parsed exactly where the grammar of RFC 6901 holds, and then written as it was', () => {
    const text = fc.oneof(fc.string(), fc.stringMatching(/^[/~01a]{0,8}$/));
    fc.assert(
      fc.property(text, (pointer) => {
        const tokens = parsePointer(pointer);
        expect(tokens !== undefined).toBe(/^(?:\/(?:[^/~]|~[01])*)*$/u.test(pointer));
        expect(tokens === undefined || formatPointer(tokens) === pointer).toBe(true);
      }),
    );
  });

  it('is recalled as it was parsed, however many have been seen since', () => {
    const texts = fc.oneof(
      fc.stringMatching(/^[/~01a]{0,8}$/),
      fc.nat(3000).map((n) => `/${String(n)}`),
      fc.constant(`/${'a'.repeat(100)}`),
    );
    fc.assert(
      fc.property(fc.array(texts), (pointers) => {
        for (const text of [...pointers, ...pointers])
          expect(recallPointer(text)).toEqual(parsePointer(text));
      }),
      { numRuns: 1000 },
    );
  });

  it('leads to every value in a document, and to nothing else', () => {
    fc.assert(
      fc.property(tree, fc.array(words), (document, others) => {
        for (const place of [...placesIn(document), formatPointer(others)]) {
          expect(valueAt(document, parsePointer(place) ?? ['nowhere'])).toBe(modelValueAt(document, place));
        }
      }),
    );
  });

  it.each([
    ['', []],
    ['/', ['']],
    ['//', ['', '']],
    ['/a~1b', ['a/b']],
    ['/m~0n', ['m~n']],
    ['/~01', ['~1']],
    ['/~10', ['/0']],
    ['/c%d', ['c%d']],
    ['/ ', [' ']],
    ['/a/', ['a', '']],
  ])('%j has the tokens %j', (pointer, tokens) => {
    expect(parsePointer(pointer)).toEqual(tokens);
  });

  it.each(['a', 'a/b', '#', '#/a', '/~', '/~2', '/a~', '/~~0', '/a/~/b', '~0', ' /a', '\ufeff/a'])(
    'is not %j',
    (text) => {
      expect(parsePointer(text)).toBeUndefined();
    },
  );

  it('takes positions as tokens', () => {
    expect(formatPointer(['a', 0, 'b/c', '~'])).toBe('/a/0/b~1c/~0');
  });

  it('may be long', () => {
    const tokens = Array.from({ length: 100_000 }, (_, index) => `~${String(index)}`);
    expect(parsePointer(formatPointer(tokens))).toEqual(tokens);
  });
});

describe('the walk', () => {
  it.each([
    'length',
    'map',
    'constructor',
    '-',
    '01',
    '00',
    '-0',
    '1e0',
    '0x0',
    ' 0',
    '0 ',
    '+0',
    '2',
    '٠',
    '',
  ])('finds nothing at %j in a list of two', (token) => {
    expect(childOf(['a', 'b'], token)).toBeUndefined();
  });

  it.each(['toString', 'constructor', '__proto__', 'hasOwnProperty', 'A'])(
    'finds nothing inherited at %j in an object',
    (token) => {
      expect(childOf({ a: 1 }, token)).toBeUndefined();
    },
  );

  it('finds members of any name that are there', () => {
    const object = JSON.parse('{"__proto__":1,"constructor":2,"length":3,"":4}') as Json;
    expect(['__proto__', 'constructor', 'length', ''].map((token) => childOf(object, token))).toEqual([
      1, 2, 3, 4,
    ]);
  });

  it.each([null, true, 0, 'text'])('finds nothing in %j', (scalar) => {
    expect(['0', 'length', 'toString', ''].map((token) => childOf(scalar, token))).toEqual(
      Array<undefined>(4).fill(undefined),
    );
  });

  it('knows one spelling of each index', () => {
    fc.assert(fc.property(fc.nat(), (index) => parseIndex(String(index)) === index));
    expect(['99999999999', '1'.repeat(100_000)].map(parseIndex)).toEqual([undefined, undefined]);
  });
});

describe('reserved keys', () => {
  const reserved = ['__proto__', 'constructor', 'prototype'];

  it.each(reserved)('include %s, wherever it is', (key) => {
    const inner = JSON.parse(`{"a":[0,{"b/c":{"${key}":1}}]}`) as Json;
    expect(reservedToken(['a', key, 'b'])).toBe(key);
    expect(hasReservedKey(inner)).toBe(`/a/1/b~1c/${key}`);
  });

  it('are found in a value exactly where its pointers have them', () => {
    fc.assert(
      fc.property(tree, (value) => {
        const places = placesIn(value).filter(
          (place) => reservedToken(parsePointer(place) ?? []) !== undefined,
        );
        const found = hasReservedKey(value);
        expect(found === undefined ? places.length === 0 : places.includes(found)).toBe(true);
      }),
    );
  });

  it('are neither values nor like-named members', () => {
    expect(hasReservedKey({ a: '__proto__', constructors: ['prototype'], Constructor: 1 })).toBeUndefined();
    expect(reservedToken(['proto', '__proto', 'Prototype', ''])).toBeUndefined();
  });

  it('are looked for in a value of any depth, and in one that is in many places', () => {
    expect(hasReservedKey(nested(100_000))).toBeUndefined();
    expect(hasReservedKey(doubled(60))).toBeUndefined();
  });
});

describe('whether a value is an object', () => {
  it.each<[Json | undefined, boolean]>([
    [{}, true],
    [[], false],
    [null, false],
    ['text', false],
    [1, false],
    [undefined, false],
  ])('is told for %j: %s', (value, expected) => {
    expect(isObject(value)).toBe(expected);
  });
});

describe('equality', () => {
  it('is that of RFC 6902', () => {
    fc.assert(
      fc.property(tree, tree, (a, b) => sameJson(a, b) === modelEqual(a, b)),
      { numRuns: 1000 },
    );
  });

  it('does not mind the order of members, nor the sign of zero', () => {
    fc.assert(fc.property(documents, (value) => sameJson(value, reversed(value))));
    expect(sameJson(0, -0)).toBe(true);
  });

  it.each<[Json, Json]>([
    [{}, []],
    [[], {}],
    [{ a: null }, {}],
    [{}, { a: null }],
    [{ a: 1 }, { b: 1 }],
    [{ toString: 1 }, { a: 1 }],
    [1, '1'],
    [0, false],
    [null, {}],
    [
      [1, 2],
      [2, 1],
    ],
    [[1], [1, 1]],
    [{ 0: 1 }, [1]],
  ])('tells %j from %j', (a, b) => {
    expect(sameJson(a, b)).toBe(false);
  });

  it('is found at any depth', () => {
    expect(sameJson(nested(100_000), nested(100_000))).toBe(true);
    expect(sameJson(nested(100_000), nested(100_001))).toBe(false);
  });
});

describe('the size of a value', () => {
  it('is that of its JSON, or up to one more for each list and object in it, as long as that is ASCII', () => {
    const texts = fc.oneof(
      fc.constantFrom('', 'a', 'a text with twenty-nine signs', '\\'.repeat(100), '\u0001"'.repeat(200)),
      fc.string({ unit: fc.constantFrom('a', 'b', '0'), maxLength: 200 }),
    );
    const { value } = fc.letrec<{ value: Json }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        fc.constantFrom<Json>(null, true, false, 0, -0),
        fc.integer(),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        texts,
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(texts, tie('value'), { noNullPrototype: true }),
      ),
    }));
    fc.assert(
      fc.property(value, (each) => {
        const more = sizeOf(each, Infinity) - JSON.stringify(each).length;
        expect(more).toBeGreaterThanOrEqual(0);
        const inside = placesIn(each).map((place) => valueAt(each, parsePointer(place) ?? []));
        const containers = inside.filter((part) => typeof part === 'object' && part !== null);
        expect(more).toBeLessThanOrEqual(containers.length);
      }),
      // A list or an object has one comma less than it has parts.
      { examples: [[[[], []]], [[[1], { a: 1 }]]] },
    );
  });

  it('never goes down when something is put in', () => {
    fc.assert(fc.property(tree, tree, (a, b) => sizeOf([a, b], Infinity) > sizeOf([a], Infinity)));
  });

  it('is counted no further than it matters', () => {
    expect(sizeOf(doubled(60), 1_000_000)).toBeGreaterThan(1_000_000);
  });
});

/** Lists inside one another. */
function nested(depth: number): Json {
  let value: Json = [];
  for (let level = 1; level < depth; level += 1) value = [value];
  return value;
}

/** An object whose JSON doubles with each level, and which takes next to no memory. */
function doubled(levels: number): Json {
  let value: Json = { leaf: true };
  for (let level = 0; level < levels; level += 1) value = { left: value, right: value };
  return value;
}

/** An equal value with the members of its objects the other way round. */
function reversed(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item: Json) => reversed(item));
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, child]) => [key, reversed(child)]),
  );
}
