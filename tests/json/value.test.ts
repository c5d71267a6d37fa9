/**
 * JSON values: pointers into them, equality and size, the copy of what a program gives, and the parsing of a text. The
 * documents are of a kind that no resource has, and not all of these functions are public.
 */
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import type { ProblemCode, Result } from 'gateway-admin-core';
import { parseJson } from 'gateway-admin-core/json';

import { copyDeferring, copyJson } from '../../src/json/copy.ts';
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
import { character } from '../support/arbitrary-character.ts';
import { thawedPlaces } from '../support/frozen.ts';
import { modelEqual, modelValueAt, placesIn, textOf, trees } from '../support/patch-model.ts';

const words = ['', ...'a b 0 1 - 01 ~ / ~1 length map __proto__'.split(' ')];
const word = fc.constantFrom(...words);
const tree = trees(words);
const deep = { depth: 1000 };
const usual = { depth: 32 };

function codeOf(result: Result<Json>): ProblemCode | 'accepted' {
  return result.ok ? 'accepted' : result.problem.code;
}

describe('a pointer', () => {
  it('is what its tokens are written as', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(word, fc.string())), (tokens) => {
        expect(parsePointer(formatPointer(tokens))).toEqual(tokens);
      }),
    );
    expect(formatPointer(['a', 0, 'b/c', '~'])).toBe('/a/0/b~1c/~0');
    const many = Array.from({ length: 100_000 }, (_, index) => `~${String(index)}`);
    expect(parsePointer(formatPointer(many))).toEqual(many);
  });

  it('is parsed exactly where the grammar of RFC 6901 holds, and then written as it was', () => {
    const text = fc.oneof(fc.string(), fc.stringMatching(/^[#\ufeff]?[/~012a ]{0,8}$/));
    fc.assert(
      fc.property(text, (pointer) => {
        const tokens = parsePointer(pointer);
        expect(tokens !== undefined).toBe(/^(?:\/(?:[^/~]|~[01])*)*$/u.test(pointer));
        expect(tokens === undefined || formatPointer(tokens) === pointer).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it('is recalled as it was parsed, however many have been seen since', () => {
    const texts = fc.oneof(
      fc.stringMatching(/^[/~01a]{0,8}$/),
      fc.nat(3000).map((n) => `/${String(n)}`),
      fc.constant(`/${'a'.repeat(100)}`),
    );
    fc.assert(
      fc.property(fc.array(texts, { minLength: 1000, maxLength: 2000, size: 'max' }), (pointers) => {
        const recalled = [...pointers, ...pointers].map(recallPointer);
        expect(recalled).toEqual([...pointers, ...pointers].map(parsePointer));
      }),
      { numRuns: 10 },
    );
  });

  it('leads to every value in a document, and to nothing else', () => {
    fc.assert(
      fc.property(tree, fc.array(word), (document, others) => {
        for (const place of [...placesIn(document), formatPointer(others)]) {
          expect(valueAt(document, parsePointer(place) ?? ['nowhere'])).toBe(modelValueAt(document, place));
        }
      }),
    );
  });
});

describe('the walk', () => {
  it.each<[Json, string]>([
    [['a', 'b'], 'length|map|constructor|-|01|00|-0|1e0|0x0| 0|0 |+0|2|٠|'],
    [{ a: 1 }, 'toString|constructor|__proto__|hasOwnProperty|A'],
    ...[null, true, 0, 'text'].map((scalar): [Json, string] => [scalar, '0|length|toString|']),
  ])('finds in %j nothing at any of %s', (value, tokens) => {
    const found = tokens.split('|').filter((token) => childOf(value, token) !== undefined);
    expect(found).toEqual([]);
  });

  it('finds members of any name that are there', () => {
    const object = JSON.parse('{"__proto__":1,"constructor":2,"length":3,"":4}') as Json;
    const found = ['__proto__', 'constructor', 'length', ''].map((token) => childOf(object, token));
    expect(found).toEqual([1, 2, 3, 4]);
  });

  it('knows one spelling of each index', () => {
    fc.assert(fc.property(fc.nat(), (index) => parseIndex(String(index)) === index));
    expect(['99999999999', '1'.repeat(100_000)].map(parseIndex)).toEqual([undefined, undefined]);
  });
});

describe('reserved keys', () => {
  it.each(['__proto__', 'constructor', 'prototype'])('include %s, wherever it is', (key) => {
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

describe('equality', () => {
  it('is that of RFC 6902', () => {
    fc.assert(
      fc.property(tree, tree, (a, b) => sameJson(a, b) === modelEqual(a, b)),
      { numRuns: 1000 },
    );
  });

  it('does not mind the order of members, nor the sign of zero', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => sameJson(value as Json, reversed(value as Json))));
    expect(sameJson(0, -0)).toBe(true);
  });

  const pairs =
    '{} []|[] {}|{"a":null} {}|{} {"a":null}|{"a":1} {"b":1}|{"toString":1} {"a":1}|1 "1"|0 false';
  it.each([...pairs.split('|'), ...'null {}|[1,2] [2,1]|[1] [1,1]|{"0":1} [1]'.split('|')])(
    'tells the values %s from each other',
    (pair) => {
      const [a = null, b = null] = pair.split(' ').map((text) => JSON.parse(text) as Json);
      expect(sameJson(a, b)).toBe(false);
    },
  );

  it('is found at any depth', () => {
    expect(sameJson(nested(100_000), nested(100_000))).toBe(true);
    expect(sameJson(nested(100_000), nested(100_001))).toBe(false);
  });

  it('takes lists, scalars and null for no objects', () => {
    expect([{}, [], null, 'text', 1, undefined].map(isObject)).toEqual([
      true,
      ...Array<boolean>(5).fill(false),
    ]);
  });
});

describe('the size of a value', () => {
  it('is that of its JSON, or up to one more for each list and object in it, as long as that is ASCII', () => {
    const texts = fc.oneof(
      fc.constantFrom(
        '',
        'a',
        'a text with twenty-nine signs',
        '\\'.repeat(100),
        '\u0001"'.repeat(200),
        '\ud800'.repeat(300),
      ),
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

const planted = (): never => {
  throw new Error('planted');
};

describe('copyJson', () => {
  it('gives an equal copy of JSON, frozen all through, and shares nothing with it', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const before = JSON.stringify(value);
        const result = copyJson(value, deep);
        expect(result.ok && textOf(result.value)).toBe(textOf(value));
        expect(result.ok && thawedPlaces(result.value)).toEqual([]);
        expect(JSON.stringify(value)).toBe(before);
        if (typeof value === 'object' && value !== null) expect(result.ok && result.value).not.toBe(value);
      }),
    );
  });

  it('refuses whatever is not JSON, at whatever place, and says where', () => {
    const hole = Array<number>(1);
    const scalars = [undefined, NaN, Infinity, -Infinity, 1n, Symbol('s'), () => 1, new String('boxed')];
    const objects = [new Date(0), new Map(), new Uint8Array(1), new Error('e'), /x/, Promise.resolve(), hole];
    const made: object = Object.create({ inherited: 1 }) as object;
    const classes = [made, new (class extends Array<number> {})(), new URL('https://example.org/')];
    const strange = fc.constantFrom<unknown>(...scalars, ...objects, ...classes);
    fc.assert(
      fc.property(strange, fc.array(fc.constantFrom('a', 'b/c', 'list'), { maxLength: 5 }), (value, path) => {
        const whole = path.reduceRight<unknown>(
          (inner, key) => (key === 'list' ? [0, inner] : { x: 1, [key]: inner }),
          value,
        );
        const pointer = path.map((key) => (key === 'list' ? '/1' : `/${key.replace('/', '~1')}`)).join('');
        const result = copyJson(whole, deep);
        expect(codeOf(result)).toBe('patch-malformed');
        expect(result.ok || result.problem.errors?.[0]?.pointer.startsWith(pointer)).toBe(true);
      }),
    );
  });

  // Promise: input-read-once
  it('reads each property once at most, also of an object in two places', () => {
    let reads = 0;
    const item = {
      get a() {
        reads += 1;
        return reads;
      },
    };
    expect(copyJson({ x: item, y: [item, item] }, deep)).toEqual({
      ok: true,
      value: { x: { a: 1 }, y: [{ a: 1 }, { a: 1 }] },
    });
    expect(reads).toBe(1);
  });

  it.each([
    ['a getter that throws', Object.defineProperty({}, 'a', { get: planted, enumerable: true })],
    ['an item getter that throws', Object.defineProperty([0], 0, { get: planted })],
    ['a proxy whose traps throw', new Proxy({}, { ownKeys: planted })],
    ['a proxy that hides its prototype', new Proxy({}, { getPrototypeOf: planted })],
    ['a revoked proxy', revoked()],
  ])('refuses %s, without its message', (_, value) => {
    const result = copyJson({ list: [value] }, deep);
    expect(codeOf(result)).toBe('patch-malformed');
    expect(JSON.stringify(result)).not.toContain('planted');
    expect(result.ok || result.problem.detail).toContain('/list/0');
  });

  it('refuses cycles, and accepts one object in several places', () => {
    const loop: Record<string, unknown> = { a: [] };
    (loop['a'] as unknown[]).push({ back: loop });
    const shared = { b: 1 };
    const refused = copyJson(loop, deep);
    expect(refused.ok || refused.problem.detail).toBe('/a/0/back: must not contain itself');
    expect(copyJson([shared, shared, { c: shared }], deep)).toEqual({
      ok: true,
      value: [shared, shared, { c: shared }],
    });
  });

  it('copies an object that is in very many places once', () => {
    let value: unknown = { leaf: true };
    for (let level = 0; level < 60; level += 1) value = [value, value];
    expect(codeOf(copyJson(value, deep))).toBe('accepted');
  });

  it('counts depth where an object is, not only where it was seen first', () => {
    // Each list holds some of those before it, so that many are in several places and depths.
    const lists = fc.array(fc.array(fc.nat({ max: 4 }), { maxLength: 3 }), { minLength: 1, maxLength: 8 });
    const heightOf = (list: unknown): number =>
      Array.isArray(list) ? 1 + Math.max(0, ...list.map((item) => heightOf(item))) : 0;
    fc.assert(
      fc.property(lists, fc.integer({ min: 1, max: 6 }), (choices, depth) => {
        const made: unknown[] = [];
        for (const choice of choices) made.push(choice.map((back) => made.at(-1 - back) ?? 0));
        const value = made.at(-1);
        expect(copyJson(value, { depth }).ok).toBe(heightOf(value) <= depth);
      }),
      { numRuns: 500, examples: [[[[], [0], [0], [], [1, 0], [0], [1, 0]], 5]] },
    );
  });

  it('refuses what is nested too deeply, however deep', () => {
    let value: unknown = [];
    for (let level = 1; level < 100_000; level += 1) value = level % 2 === 0 ? [value] : { a: value };
    expect(codeOf(copyJson(value, usual))).toBe('patch-malformed');
    expect(codeOf(copyJson(value, { depth: Infinity }))).toBe('patch-malformed');
  });

  const plain = 'must be a plain object or array';
  it.each<[string, unknown, string]>([
    ['undefined', [undefined], 'must be JSON, which has no undefined'],
    ['a bigint', [1n], 'must be JSON, which has no bigint'],
    ['a symbol', [Symbol('s')], 'must be JSON, which has no symbol'],
    ['a function', [() => 1], 'must be JSON, which has no function'],
    ['not a number', [NaN], 'must be JSON, which has no number that is not finite'],
    ['too many levels', [[[]]], 'must not be nested more than 2 levels deep'],
    ['an instance', [new Map()], `${plain}, not a Map`],
    ['an instance of no class', [Object.create(new Map())], `${plain}, not a Map`],
    [
      'undefined in an object',
      { a: undefined },
      'must be JSON, which has no undefined; leave the member out',
    ],
    ['a list without a prototype', [Object.setPrototypeOf([], null)], plain],
    ['a list with the prototype of objects', [Object.setPrototypeOf([], Object.prototype)], plain],
  ])('says of %s what must be', (_, value, sentence) => {
    const result = copyJson(value, { depth: 2 });
    expect(result.ok || result.problem.errors?.map(({ detail }) => detail)).toEqual([sentence]);
  });

  it('keeps members of any name, and leaves out what JSON.stringify leaves out', () => {
    const value = Object.defineProperty({ [Symbol('s')]: 1, a: 1 }, 'hidden', { value: 2 });
    Object.defineProperty(value, '__proto__', { value: { polluted: true }, enumerable: true });
    const result = copyJson(value, deep);
    expect(result.ok && textOf(result.value)).toBe('{"__proto__":{"polluted":true},"a":1}');
    expect(result.ok && Object.getPrototypeOf(result.value)).toBe(Object.prototype);
  });

  it('takes objects without a prototype and arrays of another realm as plain', () => {
    const bare = Object.assign(Object.create(null) as object, { a: 1 });
    const foreign = structuredClone([1, { b: 2 }]);
    expect(Object.getPrototypeOf(foreign)).not.toBe(Array.prototype);
    expect(copyJson({ bare, foreign }, deep)).toEqual({
      ok: true,
      value: { bare: { a: 1 }, foreign: [1, { b: 2 }] },
    });
  });

  it('takes a proxy for what it shows, and ends at the first hole of a list, however long it says it is', () => {
    expect(copyJson(new Proxy({ a: [1] }, {}), deep)).toEqual({ ok: true, value: { a: [1] } });
    expect(codeOf(copyJson(new Array(2 ** 32 - 1), deep))).toBe('patch-malformed');
  });
});

describe('copyDeferring', () => {
  /** The copy with the items in their place, or the fault of the first part that is refused. */
  function whole(value: unknown, limits = deep): Result<Json> {
    const copied = copyDeferring(value, 'list', limits);
    if (!copied.ok) return copied;
    const list: Json[] = [];
    for (const item of copied.value.items()) {
      if (!item.ok) return item;
      list.push(item.value);
    }
    const { copy } = copied.value;
    const isDeferred =
      typeof copy === 'object' && copy !== null && 'list' in copy && Array.isArray(copy['list']);
    return { ok: true, value: isDeferred ? { ...copy, list } : copy };
  }

  it('comes to the same as a copy, in all and in the place of a fault', () => {
    const objects = fc.record(
      { a: fc.jsonValue(), list: fc.oneof(fc.array(fc.jsonValue()), fc.jsonValue()) },
      { requiredKeys: [] },
    );
    const strange = fc.constantFrom<unknown>(undefined, NaN, new Date(0), { x: [1n] });
    const refused = fc.record({ list: fc.array(fc.oneof(strange, fc.jsonValue()), { minLength: 1 }) });
    fc.assert(
      fc.property(
        fc.oneof(fc.jsonValue(), objects, refused),
        fc.integer({ min: 1, max: 6 }),
        (value, depth) => {
          const expected = copyJson(value, { depth });
          const found = whole(value, { depth });
          expect(found.ok).toBe(expected.ok);
          if (found.ok && expected.ok) expect(textOf(found.value)).toBe(textOf(expected.value));
          if (!found.ok && !expected.ok && expected.problem.errors?.[0]?.pointer.startsWith('/list') === true)
            expect(found.problem).toEqual(expected.problem);
        },
      ),
    );
  });

  it('copies each item when it is asked for, frozen, and ends at the first one that is refused', () => {
    const read: number[] = [];
    const list = [0, 1, 2, 3].map((at) =>
      Object.defineProperty({}, 'at', {
        enumerable: true,
        get: () => {
          read.push(at);
          return at === 2 ? undefined : at;
        },
      }),
    );
    const copied = copyDeferring({ list }, 'list', deep);
    if (!copied.ok) throw new Error('must be copied');
    expect([copied.value.copy, read]).toEqual([{ list: [] }, []]);
    const items = copied.value.items()[Symbol.iterator]();
    const first = items.next().value as Extract<Result<Json>, { readonly ok: true }>;
    expect([first.value, Object.isFrozen(first.value), read]).toEqual([{ at: 0 }, true, [0]]);
    expect([items.next().value, read]).toEqual([{ ok: true, value: { at: 1 } }, [0, 1]]);
    expect(items.next().value).toMatchObject({ ok: false, problem: { errors: [{ pointer: '/list/2/at' }] } });
    expect([items.next().done, read]).toEqual([true, [0, 1, 2]]);
  });

  it('finds the items also if the same list has another place', () => {
    const list = [{ a: 1 }];
    expect(whole({ other: list, list })).toEqual({ ok: true, value: { other: list, list } });
    expect(whole({ list, other: list })).toEqual({ ok: true, value: { list, other: list } });
  });

  it('defers no list inside the member', () => {
    const value = { list: { list: [1], other: [2] } };
    expect(copyDeferring(value, 'list', deep)).toMatchObject({ value: { copy: value } });
    expect(whole(value)).toEqual({ ok: true, value });
  });

  it('refuses a list of a class, a list that cannot be read, and an item that cannot', () => {
    const ofClass = new (class extends Array<number> {})();
    expect(whole({ list: ofClass })).toMatchObject({ problem: { errors: [{ pointer: '/list' }] } });
    const throwing = new Proxy([1], {
      get: (list, key) => (key === '0' ? planted() : list[key as 'length']),
    });
    expect(whole({ list: throwing })).toMatchObject({ problem: { errors: [{ pointer: '/list/0' }] } });
    const lengthless = new Proxy([1], { get: planted });
    expect(whole({ list: lengthless })).toMatchObject({ problem: { errors: [{ pointer: '/list' }] } });
    const loop: unknown[] = [];
    loop.push(loop);
    expect(codeOf(whole({ list: loop }))).toBe('patch-malformed');
  });
});

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

/** What the language makes of a body; `undefined` when it refuses it. */
function reference(body: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(body) };
  } catch {
    return undefined;
  }
}
/** JSON as people and machines write it: with white space, escapes and numbers of every form. */
const spaces = fc.stringMatching(/^[ \t\r\n]{0,2}$/);
const strings = fc.oneof(
  fc.string({ unit: character }).map((text) => JSON.stringify(text)),
  fc.stringMatching(/^"(?:[a-z]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4}){0,6}"$/),
);
const numbers = fc.stringMatching(/^-?(?:0|[1-9][0-9]{0,17})(?:\.[0-9]{1,3})?(?:[eE][+-]?[0-9]{1,3})?$/);
const { text } = fc.letrec<{ text: string }>((tie) => {
  const member = fc
    .tuple(spaces, strings, spaces, tie('text'))
    .map(([a, key, b, value]) => a + key + b + ':' + value);
  const words = fc.constantFrom('true', 'false', 'null', '[]', '{}', '[ ]', '{\n}');
  const list = fc.array(tie('text'), { minLength: 1, maxLength: 4 }).map((items) => `[${items.join(',')}]`);
  const object = fc.array(member, { minLength: 1, maxLength: 4 }).map((members) => `{${members.join(',')}}`);
  const value = fc.oneof({ maxDepth: 5 }, strings, numbers, words, list, object);
  return { text: fc.tuple(spaces, value, spaces).map((parts) => parts.join('')) };
});
/** Bodies with a few characters changed, put in or cut off. */
const change = fc.record({ at: fc.nat(), gone: fc.nat({ max: 1 }), come: fc.string({ maxLength: 1 }) });
const damaged = fc.tuple(text, fc.array(change, { maxLength: 3 })).map(([body, changes]) => {
  const damage = body.split('');
  for (const { at, gone, come } of changes) damage.splice(at % (damage.length + 1), gone, come);
  return damage.join('');
});
/** What this parser refuses although the language does not. */
const ours = ['body-duplicate-key', 'number-out-of-range', 'body-too-deep'];

describe('parseJson', () => {
  it.each([
    ['JSON', text],
    ['damaged JSON', damaged],
    ['any text', fc.string()],
  ])('agrees with the language on %s, but for what it refuses on purpose', (_, inputs) => {
    fc.assert(
      fc.property(inputs, (body) => {
        const result = parseJson(body, usual);
        const expected = reference(body);
        if (result.ok) expect({ value: result.value }).toEqual(expected);
        else if (expected !== undefined) expect(ours).toContain(result.problem.code);
      }),
      { numRuns: 2000 },
    );
  });

  it('gives back every value that JSON can hold, frozen all through', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        const result = parseJson(JSON.stringify(value), usual);
        fc.pre(codeOf(result) !== 'number-out-of-range');
        expect(result.ok && textOf(result.value)).toBe(textOf(value));
        expect(thawedPlaces(result.ok && result.value)).toEqual([]);
      }),
    );
  });

  it('refuses an object that names a member twice, however it is escaped', () => {
    const key = fc.string({ minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(key, fc.uniqueArray(fc.string(), { maxLength: 40 }), fc.nat(), (twice, others, at) => {
        const keys = others.filter((other) => other !== twice).map((other) => JSON.stringify(other));
        keys.splice(at % (keys.length + 1), 0, unicodeEscaped(twice));
        const body = `[{"in":{${[...keys, JSON.stringify(twice)].map((each) => `${each}:0`).join()}}}]`;
        expect(codeOf(parseJson(body, usual))).toBe('body-duplicate-key');
      }),
    );
  });

  it('refuses exactly what is deeper than the limit', () => {
    const count = fc.integer({ min: 1, max: 100 });
    fc.assert(
      fc.property(
        count,
        count,
        fc.constantFrom(['[', ']'], ['{"a":', '0}']),
        (depth, limit, [open, close]) => {
          const inner = open === '[' ? '' : '0';
          const body = open.repeat(depth) + inner + close.replace('0', '').repeat(depth);
          expect(codeOf(parseJson(body, { depth: limit }))).toBe(
            depth > limit ? 'body-too-deep' : 'accepted',
          );
        },
      ),
    );
  });

  it('never repeats the body', () => {
    const secret = fc.stringMatching(/^[g-z]{12}$/);
    const frame = fc.constantFrom(
      (word: string) => `{"a":${word}}`,
      (word: string) => `{"${word}":1,"${word}":2}`,
      (word: string) => `"${word}`,
      (word: string) => `"${word}" "${word}"`,
      (word: string) => `{${word}:1}`,
    );
    fc.assert(
      fc.property(secret, frame, (word, framed) => {
        expect(JSON.stringify(parseJson(framed(word), usual))).not.toContain(word);
      }),
    );
  });

  const notJson = [
    ...String.raw`[1,] [,1] {"a":1,} {,} {a:1} {'a':1} [1} {"a":1] {"a":1 []] NaN Infinity - +1 01 .5 1.`.split(
      ' ',
    ),
    ...String.raw`1e 0x1 tru True undefined "a "\ "\x41" "\u12" "\u12g4"`.split(' '),
    ...['{"a" 1}', '[1 2]', '1 2', '// no\n1', '1 /* no */', '"\n"', '"\u0000"', '\u00a0', '\ufeff\ufeff1'],
  ];
  const twice = [
    ...String.raw`{"a":1,"a":1} {"a":1,"\u0061":1} {"\/":1,"/":1} [0,{"b":{"":1,"":2}}]`.split(' '),
    ...['{"__proto__":1,"__proto__":1}', '{"toString":1,"\\u0074oString":1}'],
  ];
  const outOfRange = [
    ...'1e400 -1e400 9007199254740992 -9007199254740993 9007199254740993.0 1e20'.split(' '),
    ...['9'.repeat(400), `[1,{"a":-${'1'.repeat(17)}}]`],
  ];
  it.each([
    ['body-missing', ['', ' \r\n\t', '\ufeff']],
    ['body-not-json', notJson],
    ['body-duplicate-key', twice],
    ['number-out-of-range', outOfRange],
  ])('refuses with %s: %j', (code, bodies) => {
    expect(bodies.map((body) => [body, codeOf(parseJson(body, usual))])).toEqual(
      bodies.map((body) => [body, code]),
    );
  });

  it.each([
    ['9007199254740991', 9_007_199_254_740_991],
    ['-9007199254740991', -9_007_199_254_740_991],
    ['1.5e3', 1500],
    ['0.1', 0.1],
    ['1e-400', 0],
    ['1E+2', 100],
    ['\ufeff [ ] ', []],
    ['"\\ud800"', '\ud800'],
    ['"\\ud83d\\ude00"', '😀'],
    ['{"a":{"a":1},"b":{"a":1}}', { a: { a: 1 }, b: { a: 1 } }],
    ['"__proto__"', '__proto__'],
  ])('accepts %j', (body, value) => {
    expect(parseJson(body, usual)).toEqual({ ok: true, value });
  });

  const notJsonAt = (expected: string, at: number, found = 'another character'): string =>
    `The body is not JSON: expected ${expected}, found ${found}, at character ${String(at)} (counted from 0).`;
  const range = 'A number must be finite, and an integer must be from -(2^53 - 1) to 2^53 - 1';
  it.each([
    [' ', 'The body is empty. Send a JSON value.'],
    ['{"a":1,"é":x}', notJsonAt('a value', 11)],
    ['[1,', notJsonAt('a value', 3, 'the end of the text')],
    ['{"a":1]', notJsonAt('"," or "}"', 6)],
    ['[1}', notJsonAt('"," or "]"', 2)],
    ['{a:1}', notJsonAt('a member name in double quotes', 1)],
    ['{"a" 1}', notJsonAt('":"', 5)],
    ['["\\x"]', notJsonAt('a valid character or escape of a string', 2)],
    ['[-x]', notJsonAt('a digit', 2)],
    ['[1.x]', notJsonAt('a digit', 3)],
    ['[1ex]', notJsonAt('a digit', 3)],
    ['1 2', notJsonAt('the end of the text', 2)],
    ['{"é":1,"b":{},"b":0}', 'An object has two members of the same name, at character 14 (counted from 0).'],
    ['[1,[2,1e999]]', `${range}, at character 6 (counted from 0).`],
    ['[[[]]]', 'The body is nested more than 2 levels deep, at character 2 (counted from 0).'],
    ['[0,1,2,3,4]', 'The body has too many values, at character 9 (counted from 0).'],
  ])('says what is wrong with %s, and at which character', (body, detail) => {
    const result = parseJson(body, { depth: 2, values: 5 });
    expect(result.ok || result.problem.detail).toBe(detail);
  });

  it('makes a member of __proto__ like of any other name', () => {
    const result = parseJson('{"__proto__":{"polluted":true},"constructor":{"prototype":1}}', usual);
    expect(result.ok && Object.keys(result.value ?? {})).toEqual(['__proto__', 'constructor']);
    expect(result.ok && Object.getPrototypeOf(result.value)).toBe(Object.prototype);
    expect('polluted' in {}).toBe(false);
  });

  // Promise: input-depth
  it.each([
    ['many brackets that open', '['.repeat(200_000)],
    ['many objects that open', '{"a":'.repeat(200_000)],
    ['many brackets that open and close', '['.repeat(100_000) + ']'.repeat(100_000)],
  ])('refuses %s at once, and survives them without a limit', (_, body) => {
    expect(codeOf(parseJson(body, usual))).toBe('body-too-deep');
    expect(['accepted', 'body-not-json']).toContain(codeOf(parseJson(body, { depth: Infinity })));
  });

  it.each([
    ['members', (n: number) => `{${Array.from({ length: n }, (_, i) => `"k${String(i)}":0`).join()}}`],
    [
      'escaped members',
      (n: number) => `{${Array.from({ length: n }, (_, i) => `"\\u0061${String(i)}":0`).join()}}`,
    ],
    ['items', (n: number) => `[${'{},'.repeat(n)}0]`],
    ['brackets', (n: number) => '['.repeat(n)],
    ['digits', (n: number) => `0.${'1'.repeat(n * 10)}`],
    ['escapes', (n: number) => `"${'\\n'.repeat(n * 5)}"`],
    ['characters beyond ASCII', (n: number) => `"${'é😀'.repeat(n)}"`],
    ['blanks', (n: number) => ' '.repeat(n * 10)],
  ])('takes time in proportion to the %s', (_, body) => {
    const cost = (count: number): number => {
      const text = body(count);
      const costs = [1, 2, 3].map(() => {
        const start = process.cpuUsage();
        parseJson(text, { depth: Infinity });
        const { user, system } = process.cpuUsage(start);
        return user + system;
      });
      return Math.min(...costs);
    };
    // Ten times as much; a hundred times would be quadratic.
    expect(cost(30_000)).toBeLessThan(40 * cost(3000) + 20_000);
  });
});

function unicodeEscaped(key: string): string {
  const units = Array.from({ length: key.length }, (_, at) =>
    key.charCodeAt(at).toString(16).padStart(4, '0'),
  );
  return `"${units.map((unit) => `\\u${unit}`).join('')}"`;
}
