/**
 * Shapes, and the arbitrary values of shapes on which the laws of the other tests rest. A shape refuses more texts than
 * a request can tell apart.
 */
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import * as z from 'zod/mini';

import * as shape from '../../src/core/shape.ts';
import { fieldTables } from '../../src/resources/index.ts';
import { valuesOf } from '../support/arbitrary-shape.ts';

const accepts = (schema: z.core.$ZodType, value: unknown): boolean => shape.parseShape(schema, value).ok;

describe.each([
  ['port', shape.port, [1, 65535, 5432], [0, -1, 65536, 1.5, '5432', null, true, NaN, Infinity]],
  ['unlimited', shape.unlimited, [0, 1, Number.MAX_SAFE_INTEGER], [-1, 0.5, '0', null, 2 ** 53, NaN]],
  [
    'address',
    shape.address,
    [
      'localhost',
      '127.0.0.1',
      '::1',
      'fe80::1%eth0',
      '0.0.0.0',
      '::',
      'db-1.example.test',
      'db_1',
      'köln.test',
      '/run/db.sock',
      '::ffff:10.0.0.1',
      'a.',
    ],
    [
      '',
      ' ',
      'a b',
      'a\tb',
      'host:5432',
      '10.0.0.1:80',
      '[::1]:80',
      'http://a',
      '-a',
      'a/b',
      '/a b',
      '/a\nb',
      'a\u0000',
      'x'.repeat(256),
      '\ud800',
      '::1%',
      7,
      null,
    ],
  ],
  [
    'name',
    shape.name,
    ['My Service', '__proto__', 'constructor', 'x'.repeat(255), 'Köln', '😀'],
    ['', ' a', 'a ', 'x'.repeat(256), 'a\u200bb', 'a\u202eb', 'a\u0000', '.', '..', '\ud800', 7],
  ],
  [
    'text(3)',
    shape.text(3),
    ['', 'abc', ' a ', '😀a'],
    ['abcd', 'a\nb', '\u0085', '\u007f', '\ud800', 7, null],
  ],
  [
    'options',
    shape.options,
    [{}, { a: '' }, Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`n${String(at)}`, '']))],
    [
      [],
      null,
      'a',
      { a: 1 },
      { a: null },
      { a: ['b'] },
      { '': 'a' },
      { 'a\n': 'b' },
      { a: 'x'.repeat(4097) },
      { ['x'.repeat(256)]: 'a' },
      Object.fromEntries(Array.from({ length: 1001 }, (_, at) => [`n${String(at)}`, ''])),
    ],
  ],
  [
    'instant',
    shape.instant,
    ['2016-08-29T12:52:31+03:00', '2016-08-29T12:52:31Z', '2016-08-29T12:52:31.123-00:30'],
    [
      '',
      '2016-08-29',
      '2016-08-29T12:52:31',
      '2016-02-30T00:00:00Z',
      'Wed, 31 Aug 2016 23:29:26 +0300',
      1472464351000,
    ],
  ],
  [
    'links',
    shape.links,
    [[], ['/servers/a'], ['/servers/a', '/servers/b%2Fc']],
    [
      null,
      '/servers/a',
      [7],
      ['a\n'],
      ['x'.repeat(4097)],
      Array.from({ length: 10_001 }, (_, at) => `/s/${String(at)}`),
    ],
  ],
  [
    'milliseconds',
    shape.milliseconds,
    [0, -1, -62_135_596_800_000, 253_402_300_799_999],
    [0.5, NaN, Infinity, '0', null, -62_135_596_800_001, 253_402_300_800_000, 8.64e15],
  ],
] as const)('%s', (_name, schema: z.core.$ZodType, right: readonly unknown[], wrong: readonly unknown[]) => {
  it.each(right.map((value) => [value]))('accepts %j', (value) => {
    expect(accepts(schema, value)).toBe(true);
  });

  it.each(wrong.map((value) => [value]))('refuses %j', (value) => {
    expect(accepts(schema, value)).toBe(false);
  });
});

const person = z.strictObject({
  name: z.string(),
  age: z.exactOptional(z.int()),
  tags: z.exactOptional(z.array(z.enum(['a', 'b']))),
});

describe('parseShape', () => {
  // More than this, and a call with the faults as its arguments overflows the stack.
  const many = 130_000;

  it('lists the faults of a long list, and those beside it', () => {
    const album = z.strictObject({
      title: z.string(),
      tracks: z.exactOptional(z.array(z.string())),
      notes: z.record(z.string(), z.string()),
    });
    const tracks = Array.from({ length: many }, (_, at) => at);
    const parsed = shape.parseShape(album, { title: 5, tracks, notes: {} }, ['albums', 0]);
    const faults = parsed.ok ? [] : parsed.faults;
    expect(faults).toHaveLength(many + 1);
    expect(faults[0]).toMatchObject({ pointer: '/albums/0/title', detail: 'must be a string, not a number' });
    expect(faults.at(-1)?.pointer).toBe(`/albums/0/tracks/${String(many - 1)}`);
  });

  it('names the place of a list with too many faults to list', () => {
    const shelf = z.strictObject({ albums: z.array(z.strictObject({ tracks: z.array(z.string()) })) });
    const tracks = Array.from({ length: many }, (_, at) => at);
    expect(shape.parseShape(shelf, { albums: [{ tracks }] })).toEqual({
      ok: false,
      faults: [{ pointer: '/albums', code: 'validation-failed', detail: 'has too many faults to list' }],
    });
  });

  it('accepts, or has a fault with a pointer and a sentence for each place, and never throws', () => {
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true }), (value) => {
        const parsed = shape.parseShape(person, value);
        if (parsed.ok) return;
        expect(parsed.faults).not.toHaveLength(0);
        expect(new Set(parsed.faults.map(({ pointer }) => pointer)).size).toBe(parsed.faults.length);
        for (const { detail } of parsed.faults) expect(detail).not.toBe('');
      }),
    );
  });

  it.each([
    [{}, '/name', 'is required'],
    [{ name: 7 }, '/name', 'must be a string, not a number'],
    [{ name: null }, '/name', 'must be a string, not null'],
    [{ name: [] }, '/name', 'must be a string, not an array'],
    [{ name: 'a', age: 'b' }, '/age', 'must be a number, not a string'],
    [{ name: 'a', age: 1.5 }, '/age', 'must be an integer, not a fraction'],
    [{ name: 'a', tags: ['a', 'c'] }, '/tags/1', 'must be one of "a", "b"'],
    [{ name: 'a', 'x/y~': 1 }, '/x~1y~0', 'is not a known field (unknown fields here: 1)'],
    [{ name: 'a', tags: [undefined] }, '/tags/0', 'is required'],
    [null, '', 'must be an object, not null'],
    [[], '', 'must be an object, not an array'],
  ])('says of %j at %j: %s', (value, pointer, detail) => {
    expect(shape.parseShape(person, value)).toMatchObject({ ok: false, faults: [{ pointer, detail }] });
  });

  it.each([
    [shape.port, 0, 'must be at least 1'],
    [shape.port, 65536, 'must be at most 65535'],
    [shape.text(3), 'abcd', 'must have at most 3 characters'],
    [shape.text(3), 'a\n', 'must not contain control characters or lone surrogates'],
    [
      z.record(z.string(), z.int()).check(shape.membersAtMost(1)),
      { a: 1, b: 2 },
      'must have at most 1 members',
    ],
    [shape.address, '', 'must have at least 1 character'],
    [z.array(z.int()).check(z.maxLength(1)), [1, 2], 'must have at most 1 item'],
    [z.literal('a'), 'b', 'must be "a"'],
    [z.record(z.string(), z.int()), 7, 'must be an object, not a number'],
    [shape.address, 'host:5432', 'must be a host name, an IP address without port, or the path of a socket'],
    [shape.address, '/tmp/a b', 'must not contain white space or control characters'],
    [shape.options, { '': 'a' }, 'has a key that must have at least 1 character'],
    [shape.options, { ['x'.repeat(256)]: 'a' }, 'has a key that must have at most 255 characters'],
    [
      shape.options,
      { 'a\u0000': 'a' },
      'has a key that must not contain control characters or lone surrogates',
    ],
    [z.union([z.string(), z.int()]), true, 'is not valid'],
    [
      z.union([z.string(), z.int()], { error: 'must be a text or a number' }),
      true,
      'must be a text or a number',
    ],
  ] as const)('says what the rule is', (schema, value, detail) => {
    expect(shape.parseShape(schema as z.core.$ZodType, value)).toMatchObject({ faults: [{ detail }] });
  });

  it('puts the place of the value before the place in it', () => {
    const parsed = shape.parseShape(person, { name: 7 }, ['people', 3]);
    expect(parsed).toMatchObject({ faults: [{ pointer: '/people/3/name' }] });
  });

  it('lists few of many unknown names, and says how many there are', () => {
    const many = Object.fromEntries(Array.from({ length: 200_000 }, (_, at) => [`n${String(at)}`, 0]));
    const parsed = shape.parseShape(person, { name: 'a', ...many });
    if (parsed.ok) throw new Error('It was accepted');
    expect(parsed.faults).toHaveLength(20);
    expect(parsed.faults[0]).toMatchObject({
      code: 'field-unknown',
      detail: expect.stringContaining('200000'),
    });
  });

  it('never repeats the value', () => {
    const secret = 'planted-secret';
    for (const schema of [
      shape.port,
      shape.address,
      shape.options,
      shape.instant,
      shape.links,
      person,
    ] as z.core.$ZodType[]) {
      const parsed = shape.parseShape(schema, { name: [secret], a: { b: secret } });
      expect(JSON.stringify(parsed)).not.toContain(secret);
    }
  });
});

describe('fieldNames', () => {
  it('gives the names in the order of the shape', () => {
    expect(shape.fieldNames(person)).toEqual(['name', 'age', 'tags']);
  });
});

const tables = Object.entries(fieldTables);

describe('the arbitrary values of a shape', () => {
  it.each(tables)(
    'are what an entry of a %s in a document may be, and what clients may see',
    (_kind, fields) => {
      for (const each of [fields.document, fields.representation]) {
        fc.assert(
          fc.property(valuesOf(each), (value) => {
            expect(z.safeParse(each, value).error?.issues).toBeUndefined();
          }),
          { numRuns: 20 },
        );
      }
    },
  );

  it.each([
    ['a name', shape.name, '__proto__'],
    ['a text', shape.text(255), ''],
    ['an address', shape.address, '::1'],
    ['a port', shape.port, 65_535],
    ['an id', shape.id, 0],
    ['links', shape.links, []],
    ['options', shape.options, {}],
  ])('of %s have what trips programs up', (_what, of, value) => {
    expect(fc.sample(valuesOf(of as z.core.$ZodType), { numRuns: 1000, seed: 7 })).toContainEqual(value);
  });

  it('leave out an optional member now and then', () => {
    const values = fc.sample(valuesOf(z.strictObject({ a: z.exactOptional(z.boolean()) })), {
      numRuns: 100,
      seed: 7,
    });
    expect(new Set(values.map((value) => JSON.stringify(value)))).toEqual(
      new Set(['{}', '{"a":true}', '{"a":false}']),
    );
  });

  it('say of a shape that they do not know what has to be added, and where', () => {
    expect(() => valuesOf(z.bigint(), 'server.zone')).toThrow(/"bigint" \(server\.zone\).*arbitrary-shape/);
    expect(() => valuesOf(z.string().check(z.regex(/^zone-\d+$/)), 'server.zone')).toThrow(
      /server\.zone.*arbitrary-shape/,
    );
  });
});
