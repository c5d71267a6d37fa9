import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';

import { checkJson, parseJson, type Json } from '../../src/core/json.ts';
import type { ProblemCode, Result } from '../../src/core/problem.ts';
import { thawedPlaces } from '../support/frozen.ts';
import { textOf } from '../support/patch-model.ts';

const deep = { depth: 1000 };
const usual = { depth: 32 };
const strict = new TextDecoder('utf-8', { fatal: true });

/** What the language makes of a body; `undefined` when it refuses it. */
function reference(bytes: Uint8Array): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(strict.decode(bytes)) };
  } catch {
    return undefined;
  }
}

function codeOf(result: Result<Json>): ProblemCode | 'accepted' {
  return result.ok ? 'accepted' : result.problem.code;
}

/** JSON as people and machines write it: with white space, escapes and numbers of every form. */
const spaces = fc.stringMatching(/^[ \t\r\n]{0,2}$/);
const strings = fc.oneof(
  fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text)),
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
const bodies = text.map((body) => new TextEncoder().encode(body));
/** Bodies with a few bytes changed, put in or cut off. */
const change = fc.record({ at: fc.nat(), gone: fc.nat({ max: 1 }), come: fc.uint8Array({ maxLength: 1 }) });
const damaged = fc.tuple(bodies, fc.array(change, { maxLength: 3 })).map(([bytes, changes]) => {
  const damage = [...bytes];
  for (const { at, gone, come } of changes) damage.splice(at % (damage.length + 1), gone, ...come);
  return new Uint8Array(damage);
});
/** Near the edges of UTF-8: what may lead, follow, or neither. */
const edgeBytes = [...Buffer.from('0022417f808f909fa0bfc0c1c2dfe0e1edeff0f3f4f5ff', 'hex')];
const edges = fc
  .array(fc.constantFrom(...edgeBytes), { maxLength: 6 })
  .map((bytes) => new Uint8Array([0x22, ...bytes, 0x22]));

/** What this parser refuses although the language does not. */
const ours = ['body-duplicate-key', 'number-out-of-range', 'body-too-deep'];

describe('parseJson', () => {
  it.each([
    ['JSON', bodies],
    ['damaged JSON', damaged],
    ['any bytes', fc.uint8Array()],
    ['the edges of UTF-8', edges],
  ])('agrees with the language on %s, but for what it refuses on purpose', (_, inputs) => {
    fc.assert(
      fc.property(inputs, (bytes) => {
        const result = parseJson(bytes, usual);
        const expected = reference(bytes);
        if (result.ok) expect({ value: result.value }).toEqual(expected);
        else if (expected !== undefined) expect(ours).toContain(result.problem.code);
      }),
      { numRuns: 2000 },
    );
  });

  it('takes text as it takes bytes', () => {
    fc.assert(
      fc.property(text, (body) => {
        expect(parseJson(body, usual)).toEqual(parseJson(new TextEncoder().encode(body), usual));
      }),
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
      fc.property(count, count, fc.constantFrom('[]', '{"a":0}'), (depth, limit, level) => {
        const body =
          level
            .slice(0, -1)
            .replace('0', '')
            .repeat(depth - 1) +
          level +
          level.slice(-1).repeat(depth - 1);
        expect(codeOf(parseJson(body, { depth: limit }))).toBe(depth > limit ? 'body-too-deep' : 'accepted');
      }),
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

  it.each([
    ['body-missing', ['', ' \r\n\t', '\ufeff']],
    [
      'body-not-json',
      String.raw`[1,] [,1] {"a":1,} {,} {a:1} {'a':1} [1} {"a":1] {"a":1 []] NaN Infinity`.split(' '),
    ],
    [
      'body-not-json',
      String.raw`- +1 01 .5 1. 1e 0x1 tru True undefined "a "\ "\x41" "\u12" "\u12g4"`.split(' '),
    ],
    [
      'body-not-json',
      ['{"a" 1}', '[1 2]', '1 2', '// no\n1', '1 /* no */', '"\n"', '"\u0000"', '\u00a0', '\ufeff\ufeff1'],
    ],
    [
      'body-duplicate-key',
      String.raw`{"a":1,"a":1} {"a":1,"\u0061":1} {"\/":1,"/":1} [0,{"b":{"":1,"":2}}]`.split(' '),
    ],
    ['body-duplicate-key', ['{"__proto__":1,"__proto__":1}', '{"toString":1,"\\u0074oString":1}']],
    [
      'number-out-of-range',
      '1e400 -1e400 9007199254740992 -9007199254740993 9007199254740993.0 1e20'.split(' '),
    ],
    ['number-out-of-range', ['9'.repeat(400), `[1,{"a":-${'1'.repeat(17)}}]`]],
  ] as const)('refuses with %s: %j', (code, bodies) => {
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

  it.each([
    ['a byte that cannot lead', [0x22, 0x80, 0x22], 1],
    ['an overlong slash', [0x22, 0xc0, 0xaf, 0x22], 1],
    ['an overlong NUL', [0x22, 0xe0, 0x80, 0x80, 0x22], 1],
    ['an encoded surrogate', [0x22, 0x41, 0xed, 0xa0, 0x80, 0x22], 2],
    ['an encoded low surrogate', [0x22, 0xed, 0xb0, 0x80, 0x22], 1],
    ['a code point beyond Unicode', [0x22, 0xf4, 0x90, 0x80, 0x80, 0x22], 1],
    ['a sequence that is cut off', [0x22, 0xf0, 0x9f, 0x98], 1],
    ['UTF-16 with a byte order mark', [0xff, 0xfe, 0x5b, 0x00, 0x5d, 0x00], 0],
    ['UTF-16 of the other order', [0x00, 0x5b, 0x00, 0x5d], 0],
    ['UTF-16 without a mark', [0x5b, 0x00, 0x5d, 0x00], 1],
    ['UTF-32', [0x00, 0x00, 0xfe, 0xff], 0],
  ])('refuses %s and says at which byte', (_, bytes, offset) => {
    const result = parseJson(new Uint8Array(bytes), usual);
    expect(codeOf(result)).toBe('body-encoding-invalid');
    expect(result.ok || result.problem.detail).toContain(`offset ${String(offset)} `);
  });

  it('says at which character', () => {
    const details = ['{"a":1,"é":x}', '{"é":1,"b":{},"b":0}', '[1,[2,1e999]]'].map((body) => {
      const result = parseJson(new TextEncoder().encode(body), usual);
      return result.ok ? '' : result.problem.detail;
    });
    expect(details.map((detail) => /character (\d+)/.exec(detail)?.[1])).toEqual(['11', '14', '6']);
  });

  it('makes a member of __proto__ like of any other name', () => {
    const result = parseJson('{"__proto__":{"polluted":true},"constructor":{"prototype":1}}', usual);
    expect(result.ok && Object.keys(result.value ?? {})).toEqual(['__proto__', 'constructor']);
    expect(result.ok && Object.getPrototypeOf(result.value)).toBe(Object.prototype);
    expect('polluted' in {}).toBe(false);
  });

  it.each([
    ['a million brackets that open', '['.repeat(1_000_000)],
    ['a million objects that open', '{"a":'.repeat(1_000_000)],
    ['a million brackets that open and close', '['.repeat(500_000) + ']'.repeat(500_000)],
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
      const bytes = new TextEncoder().encode(body(count));
      const costs = [1, 2, 3].map(() => {
        const start = process.cpuUsage();
        parseJson(bytes, { depth: Infinity });
        const { user, system } = process.cpuUsage(start);
        return user + system;
      });
      return Math.min(...costs);
    };
    // Ten times as much; a hundred times would be quadratic.
    expect(cost(100_000)).toBeLessThan(40 * cost(10_000) + 20_000);
  });
});

const planted = (): never => {
  throw new Error('planted');
};

describe('checkJson', () => {
  it('gives an equal copy of JSON, frozen all through, and shares nothing with it', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const before = JSON.stringify(value);
        const result = checkJson(value, deep);
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
        const result = checkJson(whole, deep);
        expect(codeOf(result)).toBe('patch-malformed');
        expect(result.ok || result.problem.errors?.[0]?.pointer.startsWith(pointer)).toBe(true);
      }),
    );
  });

  it('reads each property once at most, also of an object in two places', () => {
    let reads = 0;
    const item = {
      get a() {
        reads += 1;
        return reads;
      },
    };
    expect(checkJson({ x: item, y: [item, item] }, deep)).toEqual({
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
    const result = checkJson({ list: [value] }, deep);
    expect(codeOf(result)).toBe('patch-malformed');
    expect(JSON.stringify(result)).not.toContain('planted');
    expect(result.ok || result.problem.detail).toContain('/list/0');
  });

  it('refuses cycles, and accepts one object in several places', () => {
    const loop: Record<string, unknown> = { a: [] };
    (loop['a'] as unknown[]).push({ back: loop });
    const shared = { b: 1 };
    const refused = checkJson(loop, deep);
    expect(refused.ok || refused.problem.detail).toBe('/a/0/back: must not contain itself');
    expect(checkJson([shared, shared, { c: shared }], deep)).toEqual({
      ok: true,
      value: [shared, shared, { c: shared }],
    });
  });

  it('copies an object that is in very many places once', () => {
    let value: unknown = { leaf: true };
    for (let level = 0; level < 60; level += 1) value = [value, value];
    expect(codeOf(checkJson(value, deep))).toBe('accepted');
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
        expect(checkJson(value, { depth }).ok).toBe(heightOf(value) <= depth);
      }),
      { numRuns: 1000, examples: [[[[], [0], [0], [], [1, 0], [0], [1, 0]], 5]] },
    );
  });

  it('refuses what is nested too deeply, however deep', () => {
    let value: unknown = [];
    for (let level = 1; level < 100_000; level += 1) value = level % 2 === 0 ? [value] : { a: value };
    expect(codeOf(checkJson(value, usual))).toBe('patch-malformed');
    expect(codeOf(checkJson(value, { depth: Infinity }))).toBe('patch-malformed');
  });

  it('keeps members of any name, and leaves out what JSON.stringify leaves out', () => {
    const value = Object.defineProperty({ [Symbol('s')]: 1, a: 1 }, 'hidden', { value: 2 });
    Object.defineProperty(value, '__proto__', { value: { polluted: true }, enumerable: true });
    const result = checkJson(value, deep);
    expect(result.ok && textOf(result.value)).toBe('{"__proto__":{"polluted":true},"a":1}');
    expect(result.ok && Object.getPrototypeOf(result.value)).toBe(Object.prototype);
  });

  it('takes objects without a prototype and arrays of another realm as plain', () => {
    const bare = Object.assign(Object.create(null) as object, { a: 1 });
    const foreign = structuredClone([1, { b: 2 }]);
    expect(Object.getPrototypeOf(foreign)).not.toBe(Array.prototype);
    expect(checkJson({ bare, foreign }, deep)).toEqual({
      ok: true,
      value: { bare: { a: 1 }, foreign: [1, { b: 2 }] },
    });
  });

  it('takes a proxy for what it shows, and ends at the first hole of a list, however long it says it is', () => {
    expect(checkJson(new Proxy({ a: [1] }, {}), deep)).toEqual({ ok: true, value: { a: [1] } });
    expect(codeOf(checkJson(new Array(2 ** 32 - 1), deep))).toBe('patch-malformed');
  });
});

function unicodeEscaped(key: string): string {
  const units = Array.from({ length: key.length }, (_, at) =>
    key.charCodeAt(at).toString(16).padStart(4, '0'),
  );
  return `"${units.map((unit) => `\\u${unit}`).join('')}"`;
}

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}
