/**
 * The copy of JSON from a host, which may be anything that JavaScript has, also what no parser gives.
 */
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';

import { copyDeferring, copyJson } from '../../src/json/copy.ts';
import type { Json } from '../../src/json/value.ts';
import type { ProblemCode, Result } from '../../src/problem.ts';
import { thawedPlaces } from '../support/frozen.ts';
import { textOf } from '../support/patch-model.ts';

const deep = { depth: 1000 };
const usual = { depth: 32 };

function codeOf(result: Result<Json>): ProblemCode | 'accepted' {
  return result.ok ? 'accepted' : result.problem.code;
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

  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['bigint', 1n],
    ['symbol', Symbol('s')],
    ['function', () => 1],
    ['number that is not finite', NaN],
  ])('says that JSON has no %s', (kind, value) => {
    const result = copyJson([value], usual);
    expect(result.ok || result.problem.errors).toMatchObject([
      { pointer: '/0', detail: `must be JSON, which has no ${kind}` },
    ]);
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
      { numRuns: 1000, examples: [[[[], [0], [0], [], [1, 0], [0], [1, 0]], 5]] },
    );
  });

  it('refuses what is nested too deeply, however deep', () => {
    let value: unknown = [];
    for (let level = 1; level < 100_000; level += 1) value = level % 2 === 0 ? [value] : { a: value };
    expect(codeOf(copyJson(value, usual))).toBe('patch-malformed');
    expect(codeOf(copyJson(value, { depth: Infinity }))).toBe('patch-malformed');
  });

  it.each<[string, unknown, string]>([
    ['too many levels', [[[]]], 'must not be nested more than 2 levels deep'],
    ['an instance', [new Map()], 'must be a plain object or array, not a Map'],
    ['an instance of no class', [Object.create(new Map())], 'must be a plain object or array, not a Map'],
    [
      'undefined in an object',
      { a: undefined },
      'must be JSON, which has no undefined; leave the member out',
    ],
    ['a list without a prototype', [Object.setPrototypeOf([], null)], 'must be a plain object or array'],
    [
      'a list with the prototype of objects',
      [Object.setPrototypeOf([], Object.prototype)],
      'must be a plain object or array',
    ],
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
