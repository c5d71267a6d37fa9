import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import type { ProblemCode, Result } from 'gateway-admin-core';
import { parseJson, type Json } from 'gateway-admin-core/json';

import { character } from '../support/arbitrary-character.ts';
import { thawedPlaces } from '../support/frozen.ts';
import { textOf } from '../support/patch-model.ts';

const usual = { depth: 32 };

/** What the language makes of a body; `undefined` when it refuses it. */
function reference(body: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(body) };
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

  it('takes an object of many members, each once', () => {
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`k${String(index)}`, index]));
    const result = parseJson(JSON.stringify(many), usual);
    expect(result.ok && result.value).toEqual(many);
    for (const at of [0, 15, 16, 17, 99]) {
      const twice = `${JSON.stringify(many).slice(0, -1)},"k${String(at)}":0}`;
      expect(codeOf(parseJson(twice, usual))).toBe('body-duplicate-key');
    }
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

  const character = 'found another character, at character';
  const range = 'A number must be finite, and an integer must be from -(2^53 - 1) to 2^53 - 1';
  it.each([
    [' ', 'The body is empty. Send a JSON value.'],
    ['{"a":1,"é":x}', `The body is not JSON: expected a value, ${character} 11 (counted from 0).`],
    [
      '[1,',
      'The body is not JSON: expected a value, found the end of the text, at character 3 (counted from 0).',
    ],
    ['{"a":1]', `The body is not JSON: expected "," or "}", ${character} 6 (counted from 0).`],
    ['[1}', `The body is not JSON: expected "," or "]", ${character} 2 (counted from 0).`],
    [
      '{a:1}',
      `The body is not JSON: expected a member name in double quotes, ${character} 1 (counted from 0).`,
    ],
    ['{"a" 1}', `The body is not JSON: expected ":", ${character} 5 (counted from 0).`],
    [
      '["\\x"]',
      `The body is not JSON: expected a valid character or escape of a string, ${character} 2 (counted from 0).`,
    ],
    ['[-x]', `The body is not JSON: expected a digit, ${character} 2 (counted from 0).`],
    ['[1.x]', `The body is not JSON: expected a digit, ${character} 3 (counted from 0).`],
    ['[1ex]', `The body is not JSON: expected a digit, ${character} 3 (counted from 0).`],
    ['1 2', `The body is not JSON: expected the end of the text, ${character} 2 (counted from 0).`],
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
    expect(cost(100_000)).toBeLessThan(40 * cost(10_000) + 20_000);
  });
});

function unicodeEscaped(key: string): string {
  const units = Array.from({ length: key.length }, (_, at) =>
    key.charCodeAt(at).toString(16).padStart(4, '0'),
  );
  return `"${units.map((unit) => `\\u${unit}`).join('')}"`;
}
