/**
 * JSON Patch and the difference of two documents, compared with a model on documents that no resource has. `applyPatch`
 * and `diff` are public; their parts are not.
 */
import { afterEach, describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';

import { diff, difference } from '../../src/json/diff.ts';
import { type Json, deepFreeze, sizeOf } from '../../src/json/value.ts';
import {
  applyOperations,
  applyPatch,
  parseOperations,
  copyOperations,
  type PatchRules,
} from '../../src/json/patch.ts';
import { formatPointer, parsePointer, valueAt } from '../../src/json/pointer.ts';
import type { Fault, Result } from '../../src/problem.ts';
import { thawedPlaces } from '../support/frozen.ts';
import { modelEqual, modelPatch, patches, placesIn, short, textOf, trees } from '../support/patch-model.ts';
import { read } from '../support/project.ts';

const plain = { reservedKeys: 'plain' } as const;

const reserved = ['__proto__', 'constructor', 'prototype'];
const harmless = ['', ...'a b 0 1 2 01 - ~ / length map toString'.split(' ')];
const anyPatch = patches([...harmless, ...reserved]);
const anyTree = trees([...harmless, ...reserved]);

function frozen(value: Json): Json {
  return deepFreeze(JSON.parse(JSON.stringify(value)) as Json);
}

function valueOf<T>(result: Result<T>): T {
  if (!result.ok) throw new Error(`${result.problem.code}: ${result.problem.detail}`);
  return result.value;
}

/** The faults of a refusal, each as "code operation pointer". */
function faultsOf(result: Result<unknown>): readonly string[] {
  if (result.ok) return [];
  const line = (fault: Fault): string => `${fault.code} ${String(fault.operation)} ${fault.pointer}`;
  return (result.problem.errors ?? []).map(line);
}

const builtIns = [Object.prototype, Array.prototype, Function.prototype];
const untouched = builtIns.map((prototype) => Reflect.ownKeys(prototype));

afterEach(() => {
  expect(builtIns.map((prototype) => Reflect.ownKeys(prototype))).toEqual(untouched);
});

describe('applyPatch', () => {
  it('does what RFC 6902 says, or refuses where that cannot be done', () => {
    fc.assert(
      fc.property(anyPatch, ([document, operations]) => {
        const expected = modelPatch(document, operations);
        const result = applyPatch(document, operations, plain);
        expect(result.ok).toBe(expected.done);
        if (result.ok && expected.done) expect(textOf(result.value)).toBe(textOf(expected.document));
      }),
      { numRuns: 5000 },
    );
  });

  // Promise: patch-input
  it('never touches the document, and freezes all that is new', () => {
    fc.assert(
      fc.property(anyPatch, ([document, operations]) => {
        const before = textOf(document);
        const thawed = thawedPlaces(document);
        applyPatch(document, operations, plain);
        expect([textOf(document), thawedPlaces(document)]).toEqual([before, thawed]);
        const result = applyPatch(frozen(document), operations, plain);
        expect(thawedPlaces(result.ok && result.value)).toEqual([]);
      }),
    );
  });

  it('gives the same object when nothing changes, also when changes take each other back', () => {
    fc.assert(
      fc.property(anyPatch, ([document, operations]) => {
        const result = applyPatch(document, operations, plain);
        if (result.ok) expect(result.value === document).toBe(modelEqual(result.value, document));
      }),
      { numRuns: 1000 },
    );
    const document = frozen({ a: { b: [1] } });
    for (const text of [
      'replace /a {"b":[1]}',
      'add  {"a":{"b":[1]}}',
      'move /a/b/0 /a/b/-',
      'copy /a/b /a/b',
    ]) {
      expect(valueOf(applyPatch(document, [short(text)]))).toBe(document);
    }
  });

  it('shares with the document everything beside the path', () => {
    fc.assert(
      fc.property(anyTree, fc.nat(), (document, at) => {
        const places = placesIn(document);
        const path = parsePointer(places[at % places.length] ?? '') ?? [];
        const operation = { op: 'replace', path: formatPointer(path), value: 'new' };
        const result = valueOf(applyPatch(document, [operation], plain));
        for (const [depth, token] of path.entries()) {
          const [old, now] = [document, result].map((each) => valueAt(each, path, depth) as object);
          const others = Object.keys(old ?? {}).filter((key) => key !== token);
          for (const key of others) expect(Reflect.get(now ?? {}, key)).toBe(Reflect.get(old ?? {}, key));
        }
      }),
    );
  });

  it('does the same at once as one operation after the other, and no transition changes an earlier one', () => {
    fc.assert(
      fc.property(anyPatch, ([document, operations]) => {
        const parsed = valueOf(parseOperations(frozen(operations as unknown as Json)));
        const transitions: Result<Json>[] = [{ ok: true, value: frozen(document) }];
        for (const operation of parsed) {
          const last = transitions.at(-1);
          if (last?.ok === true) transitions.push(applyOperations(last.value, [operation], plain));
        }
        const texts = transitions.map((transition) => textOf(transition.ok && transition.value));
        const whole = applyOperations(document, parsed, plain);
        expect(textOf(whole.ok && whole.value)).toBe(texts.at(-1));
        expect(transitions.map((transition) => textOf(transition.ok && transition.value))).toEqual(texts);
      }),
      { numRuns: 1000 },
    );
  });

  it('refuses any junk as a value, and throws nothing', () => {
    const anything = fc.anything({ withBigInt: true, withMap: true, withSparseArray: true });
    const junk = fc.oneof(anything, fc.array(anything));
    fc.assert(
      fc.property(junk, (operations) => {
        const result = applyPatch({ a: [1] }, operations);
        expect(result.ok ? operations : result.problem.status).toEqual(result.ok ? [] : expect.any(Number));
      }),
    );
  });
});

/** One case of the public suite. */
type Case = Readonly<Record<'doc', Json> & Partial<Record<'patch' | 'expected' | 'error' | 'comment', Json>>>;

describe('the public suite', () => {
  const suite = ['tests.json', 'spec_tests.json'].flatMap(
    (file) => JSON.parse(read(`node_modules/json-patch-test-suite/${file}`)) as readonly Case[],
  );
  const enabled = suite.filter((each) => each.patch !== undefined && !('disabled' in each));

  it('has its 91 cases', () => {
    expect(enabled).toHaveLength(91);
  });

  const named = enabled.map((each) => [each.comment ?? JSON.stringify(each.patch), each] as const);
  it.each(named)('agrees: %s', (_, { doc, patch, expected = doc, error }) => {
    const result = applyPatch(doc, patch);
    expect(result.ok).toBe(error === undefined);
    if (result.ok) expect(result.value).toEqual(expected);
  });
});

describe('a refusal', () => {
  const gone = '409 patch-path-missing';
  const document = deepFreeze({ a: 1, list: ['x', 'y'], map: { k: null }, text: 'abc' });

  it.each([
    [gone, 'remove /b|add /b/c 1|replace /b 1|test /b 1|add /a/b 1|add /map/k/x 1|add /text/0 1'],
    [gone, 'replace /list/length 0|add /list/map 1|test /map/toString 1|copy /text/length /b'],
    [gone, 'replace /list/01 1|replace /list/- 1|remove /list/-|add /list/3 1|move /b /b'],
    [gone, 'add /list/-1 1|add /list/1e0 1|test /list/2 1|remove /list/00|move /list/- /b'],
    ['409 patch-test-failed', 'test /a "planted"|test /list ["planted"]|test  {}'],
    ['422 op-not-allowed', 'remove '],
    [
      '422 reserved-key',
      'add /__proto__/x 1|remove /a/constructor|copy /map/prototype /b|move /__proto__ /b',
    ],
  ])('is %s for each of %s, with the operation and its place', (answer, texts) => {
    const [status, code = ''] = answer.split(' ');
    for (const text of texts.split('|')) {
      const result = applyPatch(document, [short('add /map/new 1'), short(text)]);
      expect(result.ok || String(result.problem.status)).toBe(status);
      expect(faultsOf(result)).toEqual([`${code} 1 ${text.split(' ')[1] ?? ''}`]);
      expect(JSON.stringify(result)).not.toContain('planted');
    }
  });

  it.each([
    [gone, 'move /list/0 /list/2', '/list/2'],
    [gone, 'move /a /a~1b/c', '/a~1b/c'],
    [gone, 'copy /a /list/3', '/list/3'],
    ['422 op-not-allowed', 'move /map /map/k/x', '/map/k/x'],
    ['422 op-not-allowed', 'move  /a', '/a'],
    ['422 reserved-key', 'copy /a /constructor', '/constructor'],
    ['422 reserved-key', 'add /b [0,{"x":{"prototype":1}}]', '/b/1/x/prototype'],
  ])('is %s for %s, at %s', (answer, text, place) => {
    const result = applyPatch(document, [short(text)]);
    expect(result.ok || `${String(result.problem.status)} ${result.problem.code}`).toBe(answer);
    expect(faultsOf(result)).toEqual([`${answer.slice(4)} 0 ${place}`]);
  });

  it('of a form names every fault, with its place in the patch', () => {
    const operations = [
      { op: 'add', path: '/a' },
      { path: 'x', value: 1 },
      { op: 'spam', path: '/a' },
      'remove',
      { op: 'move', path: '/a', from: ['/b'] },
      { op: 'remove', path: '/a', from: 7, value: 7, more: 7 },
      { op: 'remove', path: '/~2' },
      { op: 'toString', path: 'x'.repeat(1000) },
      { op: 'test', path: '/x'.repeat(33), value: null },
      [{ op: 'remove', path: '/a' }],
    ];
    const malformed = ['0 /0/value', '1 /1/op', '2 /2/op', '3 /3', '4 /4/from', '7 /7/op', '9 /9'];
    const pointers = ['1 /1/path', '6 /6/path', '7 /7/path', '8 /8/path'];
    const faults = malformed
      .map((at) => `patch-malformed ${at}`)
      .concat(pointers.map((at) => `pointer-invalid ${at}`));
    for (const result of [applyPatch(document, operations), parseOperations(frozen(operations))]) {
      expect(result.ok || [result.problem.status, result.problem.code]).toEqual([400, 'patch-malformed']);
      expect([...faultsOf(result)].sort()).toEqual(faults.sort());
    }
  });

  it.each([
    ['/b/c/d', 'does not exist: "" is an object without a member "b"'],
    ['/map/x/y/z', '"/map" is an object without a member "x"'],
    ['/list/2/x', '"/list" is a list of 2 items and has no position "2"'],
    ['/text/x/y', '"/text" is a scalar and has no members'],
    ['/map/k/x', '"/map/k" is a scalar and has no members'],
  ])('of %s says how far the pointer leads: %s', (path, expected) => {
    const result = applyPatch(document, [{ op: 'remove', path }]);
    expect(result.ok || result.problem.detail).toContain(expected);
  });

  const keys = '__proto__, constructor and prototype are not allowed as keys';
  const example = '[{"op":"replace","path":"/a","value":1}]';
  it.each<[unknown, PatchRules, string]>([
    [
      Array(2).fill(short('add /b 1')),
      { maxOperations: 1 },
      'The patch has 2 operations; at most 1 are allowed. Send several patches.',
    ],
    [[short('add /prototype 1')], {}, `/prototype: ${keys}`],
    [[short('move /map /map/k/x')], {}, '/map/k/x: lies inside the value that the operation moves'],
    [[short('remove ')], {}, 'must not be empty: a patch cannot remove the whole document'],
    [
      [short('test /a 2')],
      {},
      '/a: does not equal the value of the test; read the present value and adapt the patch',
    ],
    [[short('add /b 1')], { maxResultBytes: 9 }, '/b: would make the document larger than 9 bytes'],
    [{}, {}, `A JSON Patch must be an array of operations, such as ${example}.`],
    [['remove'], {}, '/0: must be a plain object'],
    [[null], {}, '/0: must be a plain object'],
    [[{ op: 'remove' }], {}, '/0/path: is required'],
    [[{ op: 'remove', path: 7 }], {}, '/0/path: must be a string'],
    [[{ op: 'spam', path: '/a' }], {}, '/0/op: must be one of add, remove, replace, move, copy, test'],
  ])('of %j within %j is the sentence %s', (operations, rules, sentence) => {
    const result = applyPatch(document, operations, rules);
    expect(result.ok || result.problem.detail).toBe(sentence);
  });

  it('of a pointer says the rule and the limits', () => {
    const limits = { maxPointerLength: 7, maxPointerTokens: 3 };
    const result = applyPatch(document, [{ op: 'remove', path: 'a' }], limits);
    const rule =
      'must be "" or start with "/", have 0 or 1 after each "~", and at most 7 characters and 3 tokens';
    expect(result.ok || result.problem.errors).toMatchObject([{ detail: rule }]);
  });

  it('is patch-malformed for what is no list', () => {
    const like = { 0: short('remove /a'), length: 1 };
    for (const operations of [null, 'text', 1, {}, { length: 0 }, like, undefined]) {
      const result = applyPatch(document, operations);
      expect(result.ok || result.problem.code).toBe('patch-malformed');
    }
  });

  it('is pointer-invalid when only pointers are at fault, and counts what is listed no further', () => {
    const result = applyPatch(document, Array(100).fill({ op: 'remove', path: 'a' }));
    expect(result.ok || result.problem.code).toBe('pointer-invalid');
    expect(faultsOf(result)).toHaveLength(20);
    expect(result.ok || result.problem.detail).toContain('99 more');
  });

  it.each<[PatchRules, string, unknown]>([
    [{ maxOperations: 2 }, 'patch-too-many-operations', Array(3).fill(short('test /a 1'))],
    [{}, 'patch-too-many-operations', Array(100_000).fill(short('test /a 1'))],
    [{ maxPointerLength: 3 }, 'pointer-invalid', [short('test /map 1')]],
    [{}, 'pointer-invalid', [short(`test /${'a'.repeat(1024)} 1`)]],
    [{ maxPointerTokens: 1 }, 'pointer-invalid', [short('test /map/k 1')]],
    [{ maxResultBytes: 70 }, 'patch-result-too-large', [short('add /b "twenty_characters_.."')]],
  ])('keeps the limits %j: %s', (rules, code, operations) => {
    const result = applyPatch(document, operations, rules);
    expect(result.ok || result.problem.code).toBe(code);
  });

  // Promise: patch-copies
  it('stops copies that double the document, at the operation that crosses the limit', () => {
    const start = { a: 'x'.repeat(100_000) };
    const copies = Array.from({ length: 90 }, (_, n) => short(`copy  /c${String(n)}`));
    expect(faultsOf(applyPatch(start, copies))).toEqual(['patch-result-too-large 3 /c3']);
    // Twenty copies are not too large when each is removed again, nor is what changes nothing.
    const wave = Array(20).fill(['copy  /c', 'remove /c']).flat().map(short);
    expect(valueOf(applyPatch(start, wave))).toBe(start);
    const same = [short(`add  ${JSON.stringify(start)}`)];
    expect(valueOf(applyPatch(start, same, { maxResultBytes: 9 }))).toBe(start);
  });

  it('measures a text whose JSON would be too long to be a text', () => {
    const value = '\u0001'.repeat(100_000_000);
    expect(faultsOf(applyPatch({}, [{ op: 'add', path: '/a', value }]))).toEqual([
      'patch-result-too-large 0 /a',
    ]);
  });

  const adds = new Set(['add', 'replace', 'copy', 'move']);
  const unlimited = { ...plain, maxResultBytes: Infinity };

  it('ends a patch at the first value that makes the document larger than the limit', () => {
    fc.assert(
      fc.property(anyPatch, fc.nat({ max: 40 }), ([document, operations], room) => {
        const maxResultBytes = sizeOf(document, Infinity) + room;
        const steps = operations.map((_, at) => applyPatch(document, operations.slice(0, at + 1), unlimited));
        const expected = operations.flatMap((operation, at) => {
          const step = steps[at] as Result<Json>;
          if (!step.ok) return [faultsOf(step)];
          const isTooLarge = adds.has(operation.op) && sizeOf(step.value, Infinity) > maxResultBytes;
          return isTooLarge ? [[`patch-result-too-large ${String(at)} ${operation.path}`]] : [];
        });
        const result = applyPatch(document, operations, { ...plain, maxResultBytes });
        expect(faultsOf(result)).toEqual(expected[0] ?? []);
      }),
      { numRuns: 2000 },
    );
  });

  it('keeps the limit from patch to patch of a large document that is frozen', () => {
    const inside = (path: string): string => `/tree${path}`;
    fc.assert(
      fc.property(anyPatch, fc.nat({ max: 40 }), ([tree, operations], room) => {
        let document = frozen({ tree, large: 'x'.repeat(20_000) });
        const maxResultBytes = sizeOf(document, Infinity) + room;
        for (const each of operations) {
          const operation = {
            ...each,
            path: inside(each.path),
            ...('from' in each && { from: inside(each.from) }),
          };
          const expected = modelPatch(document, [operation]);
          const next = expected.done ? frozen(expected.document as Json) : document;
          const isTooLarge = sizeOf(next, Infinity) > maxResultBytes && !modelEqual(next, document);
          const result = applyPatch(document, [operation], { ...plain, maxResultBytes });
          expect(result.ok).toBe(expected.done && !(isTooLarge && adds.has(each.op)));
          if (result.ok) document = result.value;
        }
      }),
    );
  });

  it.each([
    ['in one patch', 'move /a /long|add /b 1'],
    ['in the patch before', 'move /a /long', 'add /b 1'],
    ['in the patch before, beside a value', 'add /c 1|move /a /long', 'add /b 1'],
  ])('counts the longer name that a move gives, %s', (_, ...patches) => {
    const long = '/' + 'k'.repeat(20_000);
    const parts = patches.map((patch) => patch.replace('/long', long).split('|').map(short));
    for (const small of [{ a: 1 }, { a: 1, large: 'x'.repeat(20_000) }]) {
      const applied = (maxResultBytes: number): readonly string[] | number => {
        const rules = { maxPointerLength: 30_000, maxResultBytes };
        // The library knows the size of a large document that was patched before.
        let document = valueOf(applyPatch(frozen(small), [short('add /d 1')]));
        for (const part of parts) {
          const result = applyPatch(document, part, rules);
          if (!result.ok) return faultsOf(result);
          document = result.value;
        }
        return sizeOf(document, Infinity);
      };
      const size = applied(Infinity) as number;
      expect([applied(size), applied(size - 1)]).toEqual([
        size,
        [`patch-result-too-large ${String((parts.at(-1)?.length ?? 0) - 1)} /b`],
      ]);
    }
  });

  it.each([
    ['thawed', <T>(value: T): T => value],
    ['frozen outside', Object.freeze],
  ])('measures a large document anew that is %s, and what a patch makes of it', (_, freeze) => {
    const inner = { text: 'x'.repeat(400_000) };
    const document = freeze({ inner });
    const patched = valueOf(applyPatch(document, [short('add /b 1')]));
    inner.text = 'x'.repeat(2_000_000);
    for (const grown of [document, patched]) {
      expect(faultsOf(applyPatch(grown, [short('add /c 1')]))).toEqual(['patch-result-too-large 0 /c']);
    }
  });

  it('remembers no size of a large document that is too large to be measured to the end', () => {
    const document = frozen(Array.from({ length: 10 }, () => ['x'.repeat(10_000)]));
    for (const maxResultBytes of [20_000, 50_000, 99_999]) {
      expect(faultsOf(applyPatch(document, [short('add /- 1')], { maxResultBytes }))).toEqual([
        'patch-result-too-large 0 /-',
      ]);
    }
  });

  it('puts a text in the place of a long text, and of a large document that was patched before', () => {
    const document = frozen({ large: 'x'.repeat(20_000) });
    const patched = valueOf(applyPatch(document, [short('add /a 1')]));
    for (const large of [patched, 'x'.repeat(20_000)])
      expect(valueOf(applyPatch(large, [short('replace  "text"')]))).toBe('text');
  });

  it('of a value that is not JSON says where it is', () => {
    let reads = 0;
    const operation = {
      ...short('add /b 0'),
      get value() {
        reads += 1;
        return { c: [() => reads] };
      },
    };
    expect(faultsOf(applyPatch(document, [operation]))).toEqual(['patch-malformed 0 /0/value/c/0']);
    expect(reads).toBe(1);
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    expect(faultsOf(applyPatch(document, [short('test /a 1'), proxy]))).toEqual(['patch-malformed 1 /1']);
  });
});

describe('what a program gives', () => {
  it('is read as the same JSON would be', () => {
    fc.assert(
      fc.property(anyPatch, ([, operations]) => {
        const list = frozen(operations);
        expect(copyOperations(list, { depth: 500 })).toEqual(parseOperations(list));
      }),
    );
  });

  it('is refused when a value is nested too deeply, with its place', () => {
    const result = copyOperations([short('remove /a'), short('add /a [[[]]]')], { depth: 2 });
    expect(faultsOf(result)).toEqual(['patch-malformed 1 /1/value/0/0']);
  });
});

describe('the depth of a value', () => {
  it('is at most 500', () => {
    const nested = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth));
    const codes = [500, 501].map((depth) => {
      const result = applyPatch({}, [{ op: 'add', path: '/a', value: nested(depth) }]);
      return result.ok || result.problem.code;
    });
    expect(codes).toEqual([true, 'patch-malformed']);
  });
});

describe('reserved keys taken as plain', () => {
  // Promise: no-prototype
  it('are members like any other, and reach no prototype', () => {
    const texts =
      'add /__proto__ {"a":1}|add /__proto__/b 2|copy /__proto__ /constructor|move /__proto__/a /c';
    const operations = [...texts.split('|'), 'add /constructor/prototype 3'].map(short);
    const result = valueOf(applyPatch({}, operations, plain));
    expect(textOf(result)).toBe('{"__proto__":{"b":2},"c":1,"constructor":{"a":1,"b":2,"prototype":3}}');
    expect(Object.getPrototypeOf(result)).toBe(Object.prototype);
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
/** Two documents: of any kind, or such that differ in little. */
const pairs = fc.oneof(
  fc.tuple(anyTree, anyTree),
  fc.tuple(small, small),
  anyPatch.map(([from, operations]): [Json, Json] => {
    const changed = applyPatch(from, operations, plain);
    return [from, changed.ok ? changed.value : null];
  }),
);

describe('diff', () => {
  // Promise: diff
  it('makes a patch that leads from one document to the other, within the usual limits', () => {
    fc.assert(
      fc.property(pairs, ([from, to]) => {
        const texts = [textOf(from), textOf(to)];
        const patch = diff(from, to);
        expect(textOf(valueOf(applyPatch(from, patch, plain)))).toBe(texts[1]);
        expect(patch.length === 0).toBe(texts[0] === texts[1]);
        expect([textOf(from), textOf(to)]).toEqual(texts);
      }),
      { numRuns: 500 },
    );
  });

  const services = Array.from({ length: 1000 }, (_, n) => ({ name: `s${String(n)}`, port: n }));
  const added = { name: 'n', port: 0 };
  const addedText = JSON.stringify(added);
  const numbered = Object.fromEntries(services.entries());
  const long = { ['k'.repeat(1100)]: 1 };
  it.each<[string, Json, Json, readonly string[]]>([
    ['nothing', services, [...services], []],
    ['one item of many', services, services.with(500, { name: 's500', port: 1 }), ['replace /500/port 1']],
    ['the first of many gone', services, services.slice(1), ['remove /0']],
    ['as many gone as a patch may say', services, services.slice(100), Array<string>(100).fill('remove /0')],
    ['one put between many', services, services.toSpliced(7, 0, added), [`add /7 ${addedText}`]],
    ['a list of numbers', [1, 2, 3, 4], [2, 3, 4, 1], ['remove /0', 'add /- 1']],
    ['lists that have little in common', services, [{ a: 1 }], ['replace  [{"a":1}]']],
    ['short lists with nothing in common', [{ a: 1 }, { b: 1 }], [{ c: 1 }], ['replace  [{"c":1}]']],
    ['objects that become numbers', [{ a: 1 }, { b: 1 }, { c: 1 }], [1, 2], ['replace  [1,2]']],
    ['a member', { a: 1, b: 2 }, { b: 2, c: 3 }, ['remove /a', 'add /c 3']],
    ['more than a patch may say', { x: numbered }, { x: {} }, ['replace /x {}']],
    [
      'more than that, beside a member',
      { x: numbered, y: { a: 1 } },
      { x: {}, y: { a: 1 } },
      ['replace /x {}'],
    ],
    ['more than a patch may say of the whole', numbered, {}, ['replace  {}']],
    ['a list that is gone', ['a', 'b'], [], ['remove /0', 'remove /0']],
    ['a list that comes', [], ['a', 'b'], ['add /- "a"', 'add /- "b"']],
    ['items at the end', services.slice(2), [...services.slice(2), added], [`add /- ${addedText}`]],
    ['an item that is another', ['a', 'b', 'c'], ['a', 'x', 'c'], ['replace /1 "x"']],
    ['a pointer that would be too long', { x: long }, { x: {} }, ['replace /x {}']],
    ['that beside a short one', { x: long, y: 1 }, { x: {}, y: 2 }, ['replace /x {}', 'replace /y 2']],
  ])('is short: %s', (_, from, to, expected) => {
    expect(diff(from, to)).toEqual(expected.map(short));
  });

  it.each<[string, (inner: Json) => Json]>([
    ['maps', (inner) => ({ a: inner })],
    ['lists', (inner) => [[inner], 0]],
  ])('keeps its pointers short where %s are deep', (_, wrap) => {
    const deep = (leaf: Json): Json => Array.from({ length: 40 }).reduce<Json>(wrap, { a: [leaf] });
    expect(valueOf(applyPatch(deep(1), diff(deep(1), deep(2))))).toEqual(deep(2));
  });
});

describe('difference', () => {
  it('is the patch, frozen as far as the values are', () => {
    fc.assert(
      fc.property(pairs, ([before, after]) => {
        const made = difference(frozen(before), frozen(after));
        expect(textOf(made)).toBe(textOf(diff(before, after)));
        expect(thawedPlaces(made)).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  it('replaces as a whole what is whole, before or after, and does not mention it where it is equal', () => {
    const isWhole = (value: Json): boolean => Object.hasOwn(value as object, 'whole');
    const [before, after] = [
      { one: { whole: 1 }, two: { whole: 1 }, three: { whole: 1, more: 1 }, four: { a: 1 }, five: { a: 1 } },
      { one: { whole: 1 }, two: { whole: 2 }, three: { more: 2 }, four: { whole: 1, a: 1 }, five: { a: 2 } },
    ];
    expect(difference(before, after, isWhole)).toEqual(
      ['/two {"whole":2}', '/three {"more":2}', '/four {"whole":1,"a":1}', '/five/a 2'].map((each) =>
        short(`replace ${each}`),
      ),
    );
  });
});
