/**
 * Tables of fields, their shapes, and the arbitrary values of shapes on which the laws of the other tests rest. The
 * fields are those of toys, because no kind of resource has every case.
 */
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import * as z from 'zod/mini';

import { patchSettings, patchViewOf } from '../../src/core/patch-view.ts';
import {
  defineFields,
  loadFields,
  representFields,
  saveFields,
  secretNames,
  type Fields,
} from '../../src/core/field.ts';
import { createRedactor, type Sealed } from '../../src/core/secret.ts';
import * as shape from '../../src/core/shape.ts';
import { createTimeFormat } from '../../src/core/time.ts';
import { parseOperations } from '../../src/json/patch.ts';
import { diff } from '../../src/json/diff.ts';
import type { Json } from '../../src/json/value.ts';
import { fieldTables } from '../../src/resources/index.ts';
import { valuesOf } from '../support/arbitrary-shape.ts';
import { compile, compilerOptions } from '../support/compiler.ts';
import { short } from '../support/patch-model.ts';

/**
 * A toy: a safe with two secrets, a colour in small letters, a list that hides while it is empty, a time, and a figure
 * that is counted.
 */
interface SafeSettings {
  readonly colour: string;
  readonly guards: readonly string[];
  readonly code?: Sealed;
  readonly alarm?: Sealed;
}
interface Safe {
  readonly name: string;
  readonly paint: string;
  readonly built: string;
  readonly openings: number;
  readonly guards?: readonly string[];
  readonly note?: string;
  readonly tag?: string;
}
interface SafeDocument {
  readonly name: string;
  readonly paint?: string;
  readonly built: string;
  readonly openings?: unknown;
  readonly guards?: readonly string[];
  readonly note?: string;
  readonly code?: Sealed;
  readonly alarm?: Sealed;
  readonly maker: Sealed;
}
interface StoredSafe {
  readonly name: string;
  readonly built: number;
  readonly note?: string;
  readonly maker: Sealed;
}

const sealed = shape.sealed(99, 'with a sealer');
const fields = defineFields<{
  settings: SafeSettings;
  representation: Safe;
  document: SafeDocument;
  state: StoredSafe;
}>()({
  name: { shape: shape.name },
  paint: {
    shape: shape.text(20),
    setting: 'colour',
    default: 'grey',
    normalize: (colour: string) => colour.toLowerCase(),
  },
  built: { shape: shape.instant, time: 'rfc5322' },
  openings: { shape: z.int(), derived: true },
  guards: { shape: shape.links, setting: true, links: 'guards', default: [], hiddenWhenEmpty: true },
  note: { shape: shape.text(20), optional: true },
  code: { shape: sealed, setting: true, optional: true, secret: true },
  alarm: { shape: sealed, setting: true, optional: true, secret: true },
  maker: { shape: sealed, secret: true },
  tag: { shape: shape.text(9), derived: true, optional: true, onRequest: true },
});

const full: SafeDocument = {
  name: 'Vault',
  paint: 'red',
  built: '2016-08-31T23:29:26+03:00',
  openings: 'ignored',
  guards: ['/guards/ada'],
  note: 'heavy',
  code: { sealed: 'planted-code' },
  alarm: { sealed: 'planted-alarm' },
  maker: { sealed: 'planted-maker' },
};
const times = createTimeFormat('Europe/Helsinki');

function represent(of: Fields, document: object, derived: object = { openings: 3 }): object {
  return representFields(of, { ...loadFields(of, document), derived, times });
}

describe('the fields of a kind', () => {
  const bare = { name: 'Bare', built: '1970-01-01T00:00:01Z', maker: { sealed: 'x' } };

  it('fill in what a document leaves out, and read times as instants', () => {
    const loaded = loadFields(fields, bare);
    const settings = { colour: 'grey', guards: [] };
    expect(loaded).toEqual({ rest: { ...bare, built: 1000 }, seen: {}, settings });
    const names = ['name', 'paint', 'built', 'guards', 'maker'];
    expect(Object.keys(saveFields(fields, loaded.rest, loaded.settings))).toEqual(names);
  });

  it('are written as they are read, in their stored form, but for what is derived', () => {
    const { rest, settings } = loadFields(fields, { ...full, paint: 'Red' });
    expect({ rest, seen: {}, settings }).toEqual(loadFields(fields, full));
    const { openings: _counted, ...written } = full;
    expect(saveFields(fields, rest, settings)).toEqual({ ...written, built: '2016-08-31T20:29:26+00:00' });
    expect(loadFields(fields, saveFields(fields, rest, settings))).toEqual({ rest, seen: {}, settings });
  });

  it('are shown in the order of the table, without secrets, and without what is empty or absent', () => {
    expect(Object.entries(represent(fields, full))).toEqual([
      ['name', 'Vault'],
      ['paint', 'red'],
      ['built', 'Wed, 31 Aug 2016 23:29:26 +0300'],
      ['openings', 3],
      ['guards', ['/guards/ada']],
      ['note', 'heavy'],
    ]);
    expect(Object.keys(represent(fields, bare))).toEqual(['name', 'paint', 'built', 'openings']);
  });

  it('make shapes that accept what they write, and nothing else', () => {
    const shown = represent(fields, full);
    const isShown = (value: object): boolean => z.safeParse(fields.representation, value).success;
    const isDocument = (value: object): boolean => z.safeParse(fields.document, value).success;
    expect([isDocument(full), isShown(shown)]).toEqual([true, true]);
    for (const value of ['x', { sealed: 'x' }]) {
      const strangers = ['code', 'maker', 'colour', 'other'];
      expect(strangers.filter((name) => isShown({ ...shown, [name]: value }))).toEqual([]);
      expect(isDocument({ ...full, code: value })).toBe(value !== 'x');
    }
    const needed = ['name', 'built', 'maker'];
    const without = (gone: string): object =>
      Object.fromEntries(Object.entries(full).filter(([name]) => name !== gone));
    expect(needed.filter((name) => isDocument(without(name)))).toEqual([]);
  });

  it('are in no document if they are shown on request', () => {
    const shown = represent(fields, full, { openings: 3, tag: 'T' });
    const { success } = z.safeParse(fields.representation, shown);
    expect([Object.keys(shown).at(-1), success]).toEqual(['tag', true]);
    const { rest, settings } = loadFields(fields, full);
    expect(saveFields(fields, rest, settings)).not.toHaveProperty('tag');
  });

  it('say which of them hold links and which are secrets', () => {
    expect(fields.links).toEqual({ guards: 'guards' });
    expect(secretNames([fields])).toEqual(new Set(['code', 'alarm', 'maker']));
  });
});

describe('two secrets in one view', () => {
  const view = patchViewOf<SafeSettings>(fields);
  const redact = createRedactor({ names: secretNames([fields]), isEntry: () => false });
  const { rest, settings } = loadFields(fields, full) as unknown as { rest: object; settings: SafeSettings };
  const planted = /planted-(?:code|alarm|maker)/;

  function patch(operations: readonly object[]): ReturnType<typeof patchSettings<SafeSettings>> {
    const parsed = parseOperations(operations as Json);
    if (!parsed.ok) throw new Error('It is no patch');
    const shown = represent(fields, full) as Record<string, Json>;
    return patchSettings(
      view,
      () => shown,
      settings,
      parsed.value,
      (_collection, key) => key,
    );
  }

  it('are each stored in their own place, and neither is ever shown', () => {
    const code = { sealed: 'planted-code 2' };
    const alarm = { sealed: 'planted-alarm 2' };
    const patched = patch([
      { op: 'add', path: '/code', value: code },
      { op: 'replace', path: '/alarm', value: alarm },
    ]);
    if (!patched.ok) throw new Error(patched.problem.detail);
    const { value: after } = patched;
    expect(after).toEqual({ ...settings, code, alarm });
    expect(
      JSON.stringify(representFields(fields, { rest, settings: after, derived: {}, times })),
    ).not.toMatch(planted);
    const operations = [
      { op: 'replace', path: '/code', value: code },
      { op: 'replace', path: '/alarm', value: alarm },
    ];
    const told = { event: { from: settings, to: after, operations }, effect: { to: after } };
    expect(JSON.stringify(told)).toMatch(planted);
    expect(JSON.stringify(redact(told))).not.toMatch(planted);
    expect(redact(operations)).toEqual(operations.map(({ op, path }) => ({ op, path })));
  });

  it('cannot be read by a patch, neither as a whole nor from inside, and one that is no setting is unknown', () => {
    const sealed = '{"sealed":"planted-maker"}';
    const rows = [
      ['/code/sealed', 'field-write-only'],
      ['/maker', 'field-unknown'],
      ['/maker/sealed', 'field-unknown'],
    ] as const;
    for (const [pointer, code] of rows)
      for (const text of [`test ${pointer} "x"`, `test ${pointer} ${sealed}`, `copy ${pointer} /paint`])
        expect(patch([short(text)])).toMatchObject({ problem: { errors: [{ pointer, code }] } });
  });

  it('are taken out of the difference of two documents, at any depth', () => {
    const before = { safes: [full], old: { deep: [{ safe: full }] } };
    const after = {
      safes: [{ ...full, code: { sealed: 'planted-code 2' } }],
      old: { deep: [{ safe: { ...full, maker: { sealed: 'planted-maker 2' }, note: 'light' } }] },
      more: full,
    };
    const patched = diff(before as unknown as Json, after as unknown as Json);
    expect(JSON.stringify(patched)).toMatch(planted);
    expect(JSON.stringify(redact(patched))).not.toMatch(planted);
    expect(JSON.stringify(redact(patched))).toContain('light');
  });

  it('lose their value wherever a pointer leads to them or into them', () => {
    const value = 'planted-code';
    expect(
      redact([
        { op: 'add', path: '/safes/0/code', value },
        { op: 'test', path: '/safes/0/alarm', value },
        { op: 'replace', path: '/code/sealed', value },
        { op: 'add', path: '/code/deeper/still', value },
        { op: 'copy', from: '/safes/0/code', path: '/paint', value },
        { op: 'move', from: '/paint', path: '/a~1b/alarm' },
        { op: 'add', path: '/paint', value: { sealed: value } },
        { op: 'replace', path: '/paint', value: 'blue' },
        { op: 'replace', path: 7, value: 'blue' },
      ]),
    ).toEqual([
      { op: 'add', path: '/safes/0/code' },
      { op: 'test', path: '/safes/0/alarm' },
      { op: 'replace', path: '/code/sealed' },
      { op: 'add', path: '/code/deeper/still' },
      { op: 'copy', from: '/safes/0/code', path: '/paint' },
      { op: 'move', from: '/paint', path: '/a~1b/alarm' },
      { op: 'add', path: '/paint' },
      { op: 'replace', path: '/paint', value: 'blue' },
      { op: 'replace', path: 7, value: 'blue' },
    ]);
  });

  it('are redacted without recursion, and all else is left as it is', () => {
    let deep: Json = { code: { sealed: 'planted-code' }, kept: true };
    for (let level = 0; level < 200_000; level += 1) deep = level % 2 === 0 ? [deep] : { in: deep };
    let copy: Json | undefined = redact(deep);
    while (copy !== null && typeof copy === 'object' && !('kept' in copy)) copy = Object.values(copy)[0];
    expect(copy).toEqual({ kept: true });
  });
});

const accepts = (schema: z.core.$ZodType, value: unknown): boolean => shape.parseShape(schema, value).ok;
const optionsOf = (count: number): object =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`n${String(at)}`, '']));
const addresses = [
  ...[
    'localhost',
    '127.0.0.1',
    '::1',
    'fe80::1%eth0',
    '0.0.0.0',
    '::',
    'db-1.example.test',
    'db_1',
    'köln.test',
  ],
  ...['/run/db.sock', '::ffff:10.0.0.1', 'a.'],
];
const noAddresses = [
  ...[
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
  ],
  ...['a\u0000', 'x'.repeat(256), '\ud800', '::1%', 7, null],
];
const noOptions = [
  ...[
    [],
    null,
    'a',
    { a: 1 },
    { a: null },
    { a: ['b'] },
    { '': 'a' },
    { 'a\n': 'b' },
    { a: 'x'.repeat(4097) },
  ],
  ...[{ ['x'.repeat(256)]: 'a' }, optionsOf(1001)],
];
const instants = ['2016-08-29T12:52:31+03:00', '2016-08-29T12:52:31Z', '2016-08-29T12:52:31.123-00:30'];
const noInstants = [
  '',
  '2016-08-29',
  '2016-08-29T12:52:31',
  '2016-02-30T00:00:00Z',
  'Wed, 31 Aug 2016 23:29:26 +0300',
];
const manyLinks = Array.from({ length: 10_001 }, (_, at) => `/s/${String(at)}`);
const [earliest, latest] = [-62_135_596_800_000, 253_402_300_799_999];

it.each<[string, z.core.$ZodType, readonly unknown[], readonly unknown[]]>([
  ['port', shape.port, [1, 65535, 5432], [0, -1, 65536, 1.5, '5432', null, true, NaN, Infinity]],
  ['unlimited', shape.unlimited, [0, 1, Number.MAX_SAFE_INTEGER], [-1, 0.5, '0', null, 2 ** 53, NaN]],
  ['address', shape.address, addresses, noAddresses],
  [
    'name',
    shape.name,
    ['My Service', '__proto__', 'constructor', 'x'.repeat(255), 'Köln', '😀'],
    ['', ' a', 'a ', 'x'.repeat(256), 'a\u200bb', 'a\u202eb', 'a\u0000', '.', '..', '\ud800', 7],
  ],
  ['text', shape.text(3), ['', 'abc', ' a ', '😀a'], ['abcd', 'a\nb', '\u0085', '\u007f', '\ud800', 7, null]],
  ['options', shape.options, [{}, { a: '' }, optionsOf(1000)], noOptions],
  ['instant', shape.instant, instants, [...noInstants, 1472464351000]],
  [
    'links',
    shape.links,
    [[], ['/servers/a'], ['/servers/a', '/servers/b%2Fc']],
    [null, '/servers/a', [7], ['a\n'], ['x'.repeat(4097)], manyLinks],
  ],
  [
    'milliseconds',
    shape.milliseconds,
    [0, -1, earliest, latest],
    [0.5, NaN, Infinity, '0', null, earliest - 1, latest + 1, 8.64e15],
  ],
])('the shape %s accepts what is right, and nothing else', (_name, schema, right, wrong) => {
  expect(right.filter((value) => !accepts(schema, value))).toEqual([]);
  expect(wrong.filter((value) => accepts(schema, value))).toEqual([]);
});

const person = z.strictObject({
  name: z.string(),
  age: z.exactOptional(z.int()),
  tags: z.exactOptional(z.array(z.enum(['a', 'b']))),
});

describe('parseShape', () => {
  it('names the place of a list with too many faults to list', () => {
    const shelf = z.strictObject({ albums: z.array(z.strictObject({ tracks: z.array(z.string()) })) });
    // More than this, and a call with the faults as its arguments overflows the stack.
    const tracks = Array.from({ length: 130_000 }, (_, at) => at);
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

  it('has its own sentences, whatever language a host has chosen for zod', () => {
    const { localeError } = z.config();
    z.config({ localeError: () => 'Das ist falsch' });
    try {
      const detailsOf = (parsed: shape.Parsed<unknown>): readonly string[] =>
        parsed.ok ? [] : parsed.faults.map(({ detail }) => detail);
      const numberOrSecret = z.union([z.int(), shape.sealed(9, 'by hand')]);
      expect(
        [z.int(), numberOrSecret, shape.sealed(9, 'by hand')].map((each) =>
          detailsOf(shape.parseShape(each, 'x')),
        ),
      ).toEqual([
        ['must be a number, not a string'],
        ['must be a number, not a string'],
        ['is a secret, and must not be plain text: write { "sealed": … } by hand'],
      ]);
    } finally {
      z.config({ localeError });
    }
  });

  const control = 'must not contain control characters or lone surrogates';
  const notName = 'is not allowed as a name, because { "sealed": … } is a secret; choose another name';
  const numberOrText = z.union([z.string(), z.int()], shape.saying('must be a text or a number'));
  it.each<[z.core.$ZodType, unknown, string]>([
    [shape.port, 0, 'must be at least 1'],
    [shape.port, 65536, 'must be at most 65535'],
    [shape.text(3), 'abcd', 'must have at most 3 characters'],
    [shape.text(3), 'a\n', control],
    [shape.options, optionsOf(1001), 'must have at most 1000 members'],
    [shape.options, { sealed: 'a' }, notName],
    [shape.sealableOptions, { sealed: 'a', b: 'c' }, notName],
    [shape.sealableParameters, { sealed: 1 }, notName],
    [shape.address, '', 'must have at least 1 character'],
    [z.array(z.int()).check(z.maxLength(1)), [1, 2], 'must have at most 1 item'],
    [z.literal('a'), 'b', 'must be "a"'],
    [z.record(z.string(), z.int()), 7, 'must be an object, not a number'],
    [shape.address, 'host:5432', 'must be a host name, an IP address without port, or the path of a socket'],
    [shape.address, '/tmp/a b', 'must not contain white space or control characters'],
    [shape.options, { '': 'a' }, 'has a key that must have at least 1 character'],
    [shape.options, { ['x'.repeat(256)]: 'a' }, 'has a key that must have at most 255 characters'],
    [shape.options, { 'a\u0000': 'a' }, `has a key that ${control}`],
    [z.union([z.string(), z.int()]), true, 'must be a string, not a boolean'],
    [sealed, 'plain', 'is a secret, and must not be plain text: write { "sealed": … } with a sealer'],
    [sealed, null, 'is a secret, and must not be plain text: write { "sealed": … } with a sealer'],
    [sealed, {}, 'is required'],
    [sealed, { sealed: '' }, 'must have at least 1 character'],
    [sealed, { sealed: 'x', more: 1 }, 'is not a known field (unknown fields here: 1)'],
    [shape.sealable(3), 7, 'must be a string, not a number'],
    [shape.sealable(3), 'abcd', 'must have at most 3 characters'],
    [shape.sealable(3), { sealed: 'a\n' }, control],
    [numberOrText, true, 'must be a text or a number'],
  ])('says what the rule is: %#', (schema, value, detail) => {
    expect(shape.parseShape(schema, value)).toMatchObject({ faults: [{ detail }] });
  });

  it('puts the place of the value before the place in it', () => {
    const parsed = shape.parseShape(person, { name: 7 }, ['people', 3]);
    expect(parsed).toMatchObject({ faults: [{ pointer: '/people/3/name' }] });
  });

  it('lists few of many unknown names, and says how many there are', () => {
    const parsed = shape.parseShape(person, { name: 'a', ...optionsOf(20_000) });
    if (parsed.ok) throw new Error('It was accepted');
    expect(parsed.faults).toHaveLength(20);
    const detail: unknown = expect.stringContaining('20000');
    expect(parsed.faults[0]).toMatchObject({ code: 'field-unknown', detail });
  });

  it('never repeats the value', () => {
    const secret = 'planted-secret';
    const shapes = [shape.port, shape.address, shape.options, shape.instant, shape.links, person];
    for (const schema of shapes as z.core.$ZodType[]) {
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

const interfaces = {
  settings: 'Settings',
  representation: 'Representation',
  document: 'Document',
  state: 'State',
};
const rows = {
  name: 'shape: z.string()',
  zone: 'shape: z.string(), setting: true, optional: true',
  seen: "shape: z.string(), time: 'iso8601', optional: true",
  key: 'shape: z.string(), secret: true',
};
const toy = `
  import * as z from 'zod/mini';
  import { defineFields } from './field.ts';
  interface Settings { readonly zone?: string }
  interface Representation extends Settings { readonly name: string; readonly seen?: string }
  interface Document extends Representation { readonly key: string }
  interface State { readonly name: string; readonly seen?: number; readonly key: string }
  interface Zone { readonly zone?: string }
`;

type Other<T> = { readonly [name in keyof T]?: string | undefined };

/** A toy table, on one line, with other interfaces or rows than the right ones; `undefined` leaves one out. */
function declaration(other: Other<typeof interfaces>, otherRows: Other<typeof rows> = {}): string {
  const written = given({ ...interfaces, ...other }).map(([name, type]) => `${name}: ${type}`);
  const table = given({ ...rows, ...otherRows }).map(([name, rules]) => `${name}: { ${rules} }`);
  return `defineFields<{ ${written.join('; ')} }>()({ ${table.join(', ')} });`;
}

function given(members: Readonly<Record<string, string | undefined>>): readonly [string, string][] {
  return Object.entries(members).flatMap(([name, text]) => (text === undefined ? [] : [[name, text]]));
}

const seenText = "Pick<Representation, 'seen'>";
const cases: readonly (readonly [string, Other<typeof interfaces>, Other<typeof rows>, string])[] = [
  ['a setting that is missing', { settings: "Omit<Settings, 'zone'>" }, {}, 'settings: "zone"'],
  [
    'a field that is not shown',
    { representation: "Omit<Representation, 'zone'>" },
    {},
    'representation: "zone"',
  ],
  ['a field that is not written', { document: "Omit<Document, 'zone'>" }, {}, 'document: "zone"'],
  ['a member of the state that is missing', { state: "Omit<State, 'seen'>" }, {}, 'state: "seen"'],
  ['a stored secret that is missing', { state: "Omit<State, 'key'>" }, {}, 'state: "key"'],
  ['a setting in the state', { state: 'State & Zone' }, {}, 'state: "zone"'],
  ['a time as text in the state', { state: `Omit<State, 'seen'> & ${seenText}` }, {}, 'state: "seen"'],
  ['a setting that only the table lets out', { settings: 'Required<Settings>' }, {}, 'settings: "zone"'],
  ['a setting that has no row', {}, { zone: undefined }, 'settings: "zone"'],
  ['another field that has no row', {}, { seen: undefined }, 'representation: "seen"'],
  ['a row that lacks `setting`', {}, { zone: 'shape: z.string(), optional: true' }, 'settings: "zone"'],
  ['a row that lacks `optional`', {}, { zone: 'shape: z.string(), setting: true' }, 'settings: "zone"'],
  ['a shape of another type', {}, { zone: rows.zone.replace('string', 'int') }, 'settings: "zone"'],
];

const required = ['representation', 'document', 'state'] as const;
/** Name of the file without an interface. */
const without = (name: string): string => `src/core/toy-without-${name}.ts`;
const [right, wrong] = ['src/core/toy-right.ts', 'src/core/toy-wrong.ts'];

/** All files are compiled as one program: most of the time goes into what they share. */
const refusals = compile(
  new Map([
    [right, toy + declaration({ state: 'State & Pick<Zone, never>' })],
    // Each case has a line of its own.
    [
      wrong,
      [toy.replaceAll('\n', ' '), ...cases.map(([, other, otherRows]) => declaration(other, otherRows))].join(
        '\n',
      ),
    ],
    ...required.map((name) => [without(name), toy + declaration({ [name]: undefined })] as const),
  ]),
  compilerOptions('tsconfig.json'),
);

describe('a table of fields and its interfaces', () => {
  it('compile if they agree', () => {
    expect(refusals.get(right)).toEqual([]);
  });

  it.each(cases)('do not compile with %s, and the message names the member', (what, _other, _rows, told) => {
    const line = cases.findIndex(([each]) => each === what) + 2;
    const refusal = refusals.get(wrong)?.find((each) => each.line === line);
    const [, name = '', members = ''] =
      /these members differ from the (\w+)": ("[^}]+"); }/.exec(refusal?.message ?? '') ?? [];
    expect(`${name}: ${members}`).toBe(told);
  });

  it.each(required)('do not compile without the %s', (name) => {
    const told = refusals.get(without(name))?.map(({ message }) => message);
    expect(told?.join()).toContain(`Property '${name}' is missing`);
  });
});
