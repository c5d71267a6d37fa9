/**
 * Arbitrary bodies: patches of the sample gateway and admin users, right, nearly right, damaged, and not at all.
 */
import * as fc from 'fast-check';

import { character } from './arbitrary-character.ts';
import { subjectPatches } from './arbitrary-patch.ts';

const encoder = new TextEncoder();
const bytesOf = (text: string): Uint8Array => encoder.encode(text);

const names = fc.oneof(
  fc.stringMatching(/^[A-Za-z0-9]{1,8}$/),
  fc.string({ unit: character, maxLength: 70 }),
);
const keys = fc.constantFrom(
  'op',
  'path',
  'from',
  'value',
  'name',
  'password',
  'role',
  '__proto__',
  'constructor',
  'a',
);

/** Users and patches as they should be. */
const right = fc.oneof(
  { weight: 4, arbitrary: subjectPatches.map(([, operations]): unknown => operations) },
  {
    weight: 1,
    arbitrary: fc.record({ name: names, password: fc.string({ unit: 'grapheme', maxLength: 20 }) }),
  },
);

/** JSON whose members have names that mean something, at the wrong places. */
const { misplaced } = fc.letrec<{ misplaced: unknown }>((tie) => ({
  misplaced: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<unknown>(
      'add',
      'remove',
      'test',
      '/user',
      '/servers/-',
      '/password',
      '',
      '~',
      0,
      -1,
      1e21,
      null,
    ),
    fc.array(tie('misplaced'), { maxLength: 6 }),
    fc.dictionary(keys, tie('misplaced'), { maxKeys: 5 }),
  ),
}));

const nearly = fc.tuple(right, keys, misplaced, fc.nat()).map(([whole, key, value, at]): unknown => {
  if (!Array.isArray(whole)) return { ...(whole as object), [key]: value };
  const list: readonly unknown[] = whole;
  return list.length === 0
    ? [value]
    : list.with(at % list.length, { ...(list[at % list.length] as object), [key]: value });
});

/** Texts with a few bytes changed, put in or cut off. */
const change = fc.record({ at: fc.nat(), gone: fc.nat({ max: 3 }), come: fc.uint8Array({ maxLength: 2 }) });
const damaged = fc.tuple(right, fc.array(change, { minLength: 1, maxLength: 3 })).map(([whole, changes]) => {
  const damage = [...bytesOf(JSON.stringify(whole))];
  for (const { at, gone, come } of changes) damage.splice(at % (damage.length + 1), gone, ...come);
  return new Uint8Array(damage);
});

/** Brackets inside one another, closed or not, alone or as a value of a patch. */
const deep = fc
  .record({
    depth: fc.oneof(fc.integer({ min: 25, max: 40 }), fc.integer({ min: 1, max: 50_000 })),
    level: fc.constantFrom(['[', ']'], ['{"a":', '}'], ['[{"value":', '}]']),
    inside: fc.constantFrom('1', '', '{}'),
    closed: fc.boolean(),
    wrapped: fc.boolean(),
  })
  .map(({ depth, level: [open = '', close = ''], inside, closed, wrapped }) => {
    const text = open.repeat(depth) + inside + (closed ? close.repeat(depth) : '');
    return wrapped ? `[{"op":"add","path":"/router_options","value":${text}}]` : text;
  });

const long = fc.oneof(fc.integer({ min: 200, max: 300 }), fc.integer({ min: 1000, max: 5000 }));
const unit = fc.constantFrom('x', '/', '~0', '~1', '/a', '\u0000', '"', 'é', '😀', '\ud800', '%', '\\');

/** Long texts as values, names and pointers, and many of what is short. */
const lengthy = fc.tuple(long, unit, fc.nat()).map(([length, text, at]): unknown => {
  const filler = text.repeat(length);
  const operations = [
    { op: 'add', path: '/user', value: filler },
    { op: 'add', path: `/router_options/${filler}`, value: 'x' },
    { op: filler, path: '/user' },
    { op: 'move', from: `/${filler}`, path: '/user' },
    { op: 'add', path: '/router_options', value: { [filler]: filler } },
    { op: 'replace', path: '/parameters/match/value', value: filler },
    { op: 'replace', path: '/servers', value: Array<string>(length).fill(`/servers/${text}`) },
    { op: 'add', path: `/${text.slice(0, 1)}`, value: Array<object>(length).fill({ op: 'add' }) },
  ];
  const wholes = [
    { name: filler, password: 'x' },
    { name: 'joan', password: filler },
    { name: 'joan', password: 'x', [filler]: filler },
    Object.fromEntries(Array.from({ length }, (_, n) => [text + String(n), 0])),
    ...operations.map((operation) => [operation]),
    operations,
    ...operations.map((operation) => Array<object>(length % 101).fill(operation)),
  ];
  return wholes[at % wholes.length];
});

/** A body that is shown by its first characters when a property fails. */
function readable(bytes: Uint8Array): Uint8Array {
  const text = (): string =>
    `${String(bytes.length)} bytes ${Buffer.from(bytes.subarray(0, 300)).toString('latin1')}`;
  return Object.assign(bytes, { [fc.toStringMethod]: text });
}

const kinds = fc.oneof(
  { weight: 3, arbitrary: right.map((whole) => bytesOf(JSON.stringify(whole))) },
  { weight: 3, arbitrary: nearly.map((whole) => bytesOf(JSON.stringify(whole))) },
  { weight: 2, arbitrary: damaged },
  { weight: 2, arbitrary: misplaced.map((whole) => bytesOf(JSON.stringify(whole))) },
  { weight: 2, arbitrary: fc.json({ maxDepth: 6 }).map(bytesOf) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 64 }) },
  { weight: 1, arbitrary: deep.map(bytesOf) },
  { weight: 1, arbitrary: lengthy.map((whole) => bytesOf(JSON.stringify(whole))) },
);

/** Bodies of every kind. */
export const bodies: fc.Arbitrary<Uint8Array> = kinds.map(readable);
