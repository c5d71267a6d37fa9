/**
 * The difference of two documents, with its inverse, on documents that no resource has. `diff` is public, and the
 * inverse is not.
 */
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';

import { diff, difference } from '../../src/json/diff.ts';
import { deepFreeze, type Json } from '../../src/json/value.ts';
import { applyPatch, type Operation } from '../../src/json/patch.ts';
import type { Result } from '../../src/problem.ts';
import { thawedPlaces } from '../support/frozen.ts';
import { modelEqual, patches, short, textOf, trees } from '../support/patch-model.ts';

const plain = { reservedKeys: 'plain' } as const;
const unlimited = { ...plain, maxOperations: Infinity, maxPointerLength: Infinity };
const tokens = [
  'a',
  'b',
  '',
  '0',
  '1',
  '2',
  '01',
  '-',
  '~',
  '/',
  'length',
  'toString',
  '__proto__',
  'constructor',
];
const anyPatch = patches(tokens);
const anyTree = trees(tokens);

function valueOf<T>(result: Result<T>): T {
  if (!result.ok) throw new Error(`${result.problem.code}: ${result.problem.detail}`);
  return result.value;
}

describe('diff', () => {
  // Promise: diff
  it('makes a patch that leads from one document to the other, within the usual limits', () => {
    fc.assert(
      fc.property(anyTree, anyTree, fc.boolean(), (from, to, guards) => {
        const texts = [textOf(from), textOf(to)];
        const patch = diff(from, to, { guards });
        expect(textOf(valueOf(applyPatch(from, patch, plain)))).toBe(texts[1]);
        expect(patch.length === 0).toBe(texts[0] === texts[1]);
        expect([textOf(from), textOf(to)]).toEqual(texts);
      }),
      { numRuns: 3000 },
    );
  });

  it('does so for documents that differ a little', () => {
    fc.assert(
      fc.property(anyPatch, fc.boolean(), ([from, operations], guards) => {
        const changed = applyPatch(from, operations, plain);
        const to = changed.ok ? changed.value : null;
        expect(textOf(valueOf(applyPatch(from, diff(from, to, { guards }), plain)))).toBe(textOf(to));
      }),
      { numRuns: 1000 },
    );
  });

  const services = Array.from({ length: 1000 }, (_, n) => ({ name: `s${String(n)}`, port: n }));
  const added = { name: 'n', port: 0 };
  const numbered = Object.fromEntries(services.entries());
  it.each<[string, Json, Json, readonly string[]]>([
    ['nothing', services, [...services], []],
    ['one item of many', services, services.with(500, { name: 's500', port: 1 }), ['replace /500/port 1']],
    ['the first of many gone', services, services.slice(1), ['remove /0']],
    ['as many gone as a patch may say', services, services.slice(100), Array<string>(100).fill('remove /0')],
    ['one put between many', services, services.toSpliced(7, 0, added), [`add /7 ${JSON.stringify(added)}`]],
    ['a list of numbers', [1, 2, 3, 4], [2, 3, 4, 1], ['remove /0', 'add /- 1']],
    ['lists that have little in common', services, [{ a: 1 }], ['replace  [{"a":1}]']],
    ['short lists with nothing in common', [{ a: 1 }, { b: 1 }], [{ c: 1 }], ['replace  [{"c":1}]']],
    ['objects that become numbers', [{ a: 1 }, { b: 1 }, { c: 1 }], [1, 2], ['replace  [1,2]']],
    ['a member', { a: 1, b: 2 }, { b: 2, c: 3 }, ['remove /a', 'add /c 3']],
    ['more than a patch may say', { x: numbered }, { x: {} }, ['replace /x {}']],
    [
      'more than a patch may say, beside an equal member',
      { x: numbered, y: { a: 1 } },
      { x: {}, y: { a: 1 } },
      ['replace /x {}'],
    ],
    ['more than a patch may say of the whole', numbered, {}, ['replace  {}']],
    ['a list that is gone', ['a', 'b'], [], ['remove /0', 'remove /0']],
    ['a list that comes', [], ['a', 'b'], ['add /- "a"', 'add /- "b"']],
    [
      'items at the end',
      services.slice(2),
      [...services.slice(2), added],
      [`add /- ${JSON.stringify(added)}`],
    ],
    ['an item that is another', ['a', 'b', 'c'], ['a', 'x', 'c'], ['replace /1 "x"']],
    ['a pointer that would be too long', { x: { ['k'.repeat(1100)]: 1 } }, { x: {} }, ['replace /x {}']],
    [
      'a pointer that would be too long, beside a short one',
      { x: { ['k'.repeat(1100)]: 1 }, y: 1 },
      { x: {}, y: 2 },
      ['replace /x {}', 'replace /y 2'],
    ],
  ])('is short: %s', (_, from, to, expected) => {
    expect(diff(from, to)).toEqual(expected.map(short));
  });

  it('keeps its pointers short where maps are deep', () => {
    const deep = (leaf: Json): Json =>
      Array.from({ length: 40 }).reduce<Json>((inner) => ({ a: inner }), leaf);
    expect(valueOf(applyPatch(deep(1), diff(deep(1), deep(2))))).toEqual(deep(2));
  });

  it('keeps its pointers short where lists are deep', () => {
    const deep = (leaf: Json): Json =>
      Array.from({ length: 40 }).reduce<Json>((inner) => [[inner], 0], [leaf]);
    expect(valueOf(applyPatch(deep({ a: 1 }), diff(deep({ a: 1 }), deep({ a: 2 }))))).toEqual(deep({ a: 2 }));
  });

  it('with guards is refused once what it takes away has changed', () => {
    const patch = diff({ a: [{ b: 1 }, { c: 2 }], d: 3 }, { a: [{ b: 9 }] }, { guards: true });
    expect(patch).toEqual(expect.arrayContaining([short('test /d 3'), short('remove /d')]));
    const others = ['{"b":1},{"c":2}],"d":4', '{"b":1},{"c":3}],"d":3', '{"b":1},{"c":2}]'];
    const results = others.map((other) => applyPatch(JSON.parse(`{"a":[${other}}`) as Json, patch));
    const codes = results.map((each) => each.ok || each.problem.code);
    expect(codes).toEqual(['patch-test-failed', 'patch-test-failed', 'patch-path-missing']);
  });
});

/** What may be at the ends of lists, and in maps, so that most differ in little. */
const small = fc.letrec<{ tree: Json }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom<Json>(0, 1, 'a', null),
    fc.array(tie('tree'), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'toString'), tie('tree'), { noNullPrototype: true }),
  ),
})).tree;

describe('difference', () => {
  it('leads there and back', () => {
    fc.assert(
      fc.property(fc.oneof(anyTree, small), fc.oneof(anyTree, small), (before, after) => {
        const { operations, inverse } = difference(before, after);
        expect(textOf(valueOf(applyPatch(before, operations, plain)))).toBe(textOf(after));
        expect(textOf(valueOf(applyPatch(after, inverse, unlimited)))).toBe(textOf(before));
        expect(operations.length === 0).toBe(modelEqual(before, after));
        expect(inverse.length === 0).toBe(operations.length === 0);
      }),
      { numRuns: 3000 },
    );
  });

  it('tells the way there as a patch without guards does', () => {
    fc.assert(
      fc.property(small, small, (before, after) => {
        expect(difference(before, after).operations).toEqual(diff(before, after));
      }),
    );
  });

  it('guards every transition of the inverse but an added member by a test of what is there', () => {
    const isGuarded = (patch: readonly Operation[], position: number): boolean => {
      const { op, path } = patch[position] ?? { op: 'test', path: '' };
      if (op === 'test') return true;
      const guards = patch.slice(0, position).filter((each) => each.op === 'test');
      if (op !== 'add') return guards.at(-1)?.path === path;
      const list = path.slice(0, path.lastIndexOf('/'));
      return guards.at(-1)?.path.startsWith(list) === true || !/\/\d+$/.test(path);
    };
    fc.assert(
      fc.property(small, small, (before, after) => {
        const { inverse } = difference(before, after);
        for (const position of inverse.keys()) expect(isGuarded(inverse, position)).toBe(true);
      }),
    );
  });

  it('is frozen, as far as the values are', () => {
    fc.assert(
      fc.property(small, small, (before, after) => {
        expect(thawedPlaces(difference(deepFreeze(before), deepFreeze(after)))).toEqual(['(the whole)']);
      }),
    );
  });

  it.each<[string, Json, Json, readonly string[]]>([
    ['a member added', { a: 1 }, { a: 1, b: 2 }, ['test /b 2', 'remove /b']],
    ['a member removed', { a: 1, b: 2 }, { a: 1 }, ['add /b 2']],
    ['a member replaced', { a: 1 }, { a: 2 }, ['test /a 2', 'replace /a 1']],
    ['items appended', ['a'], ['a', 'b', 'c'], ['test /1 "b"', 'remove /1', 'test /1 "c"', 'remove /1']],
    ['items removed', ['a', 'b', 'c', 'd'], ['a', 'd'], ['test /1 "d"', 'add /1 "b"', 'add /2 "c"']],
    ['the last item removed', ['a', 'b'], ['a'], ['test /0 "a"', 'add /1 "b"']],
    ['the only item removed', ['a'], [], ['test  []', 'add /0 "a"']],
    ['an item replaced', ['a', 'b'], ['a', 'x'], ['test /1 "x"', 'replace /1 "b"']],
    [
      'an object and a text replaced',
      [{ a: 1 }, 'b'],
      [{ a: 2 }, 'x'],
      ['test /0/a 2', 'replace /0/a 1', 'test /1 "x"', 'replace /1 "b"'],
    ],
    [
      'items in another order',
      ['a', 'b', 'c'],
      ['c', 'a', 'b'],
      ['test  ["c","a","b"]', 'replace  ["a","b","c"]'],
    ],
  ])('has an inverse that is short: %s', (_, before, after, expected) => {
    expect(difference(before, after).inverse).toEqual(expected.map(short));
  });
});
