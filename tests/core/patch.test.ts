/**
 * Patches of settings, and secrets: as whole fields, and as entries of maps. The fields are those of toys, because no
 * kind has every case.
 */
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { redactSecrets } from 'gateway-admin-core';
import * as z from 'zod/mini';

import type { Json, JsonObject } from '../../src/json/value.ts';
import { parseOperations, type Operation, type ParsedOperation } from '../../src/json/patch.ts';
import { defineFields, loadFields, representFields, saveFields, secretNames } from '../../src/core/field.ts';
import { sealOperations } from '../../src/core/seal.ts';
import { replaceSettings, patchSettings, patchViewOf, withSecretEntries } from '../../src/core/patch-view.ts';
import type { FindName } from '../../src/core/reference.ts';
import { createRedactor, isSealed, maskSecrets, passwordFault, type Sealed } from '../../src/core/secret.ts';
import * as shape from '../../src/core/shape.ts';
import { createTimeFormat } from '../../src/core/time.ts';
import type { Result } from '../../src/problem.ts';
import { character } from '../support/arbitrary-character.ts';
import { short } from '../support/patch-model.ts';

/** Operations in short, with a bar between them. */
const operationsOf = (text: string): readonly Operation[] => text.split('|').map(short);

function parsed(operations: readonly object[]): readonly ParsedOperation[] {
  const result = parseOperations(operations as Json);
  if (!result.ok) throw new Error('It is no patch');
  return result.value;
}

/** The faults of a refusal, each as "operation pointer code". */
function codes<T>(result: Result<T>): readonly string[] {
  const faults = result.ok ? [] : (result.problem.errors ?? []);
  return faults.map(({ pointer, code, operation }) => `${String(operation)} ${pointer} ${code}`);
}

const sealedText = z.strictObject({ sealed: z.string() });

/** A toy: a house with an owner, guests who are linked, and two secrets that nobody may read. */
interface House {
  readonly colour: 'red' | 'green';
  readonly guests: readonly string[];
  readonly rooms: Readonly<Record<string, number>>;
  readonly owner?: string;
  readonly key?: Sealed;
  readonly alarm?: Sealed;
}
interface StoredHouse {
  readonly address: string;
  readonly age: number;
}
type ShownHouse = StoredHouse & Pick<House, 'rooms' | 'owner'> & { readonly paint: House['colour'] };

const fields = defineFields<{
  settings: House;
  representation: ShownHouse & Partial<Pick<House, 'guests'>>;
  document: ShownHouse & Partial<Pick<House, 'guests' | 'key' | 'alarm'>>;
  state: StoredHouse;
}>()({
  address: { shape: z.string() },
  age: { shape: z.int() },
  paint: { shape: z.enum(['red', 'green']), setting: 'colour' },
  guests: {
    shape: z.array(z.string()).check(z.maxLength(2)),
    setting: true,
    links: 'people',
    default: [],
    hiddenWhenEmpty: true,
  },
  rooms: { shape: shape.mapOf(z.int()), setting: true },
  owner: { shape: z.string(), setting: true, optional: true },
  key: { shape: sealedText, setting: true, optional: true, secret: true },
  alarm: { shape: sealedText, setting: true, optional: true, secret: true },
});
const view = patchViewOf<House>(fields);

const house: House = {
  colour: 'red',
  guests: ['/people/Ada'],
  rooms: { hall: 1 },
  key: { sealed: 'sealed-key' },
  alarm: { sealed: 'sealed-alarm' },
};
const shown: JsonObject = { address: 'Main Street', age: 100, paint: 'red' };
const find: FindName = (collection, name) =>
  collection === 'people' ? ['Ada', 'Bob'].find((each) => each.toLowerCase() === name) : undefined;

function patch(text: string): ReturnType<typeof patchSettings<House>> {
  return patchSettings(view, () => shown, house, parsed(operationsOf(text)), find);
}

function after(text: string): House {
  const result = patch(text);
  if (!result.ok) throw new Error(result.problem.detail);
  return result.value;
}

describe('patchSettings', () => {
  // Promise: patch-no-op
  it('gives the very settings when nothing changes', () => {
    expect(after('replace /colour "red"')).toBe(house);
    expect(after('move /paint /paint')).toBe(house);
  });

  const both = ['/people/Ada', '/people/Bob'];
  it.each<[string, string, Partial<House>]>([
    ['another spelling of a field', 'replace /paint "green"', { colour: 'green' }],
    ['a link in another spelling, written in one form', 'add /guests/- "/people/BOB"', { guests: both }],
    ['a list that can be empty, removed', 'remove /guests', { guests: [] }],
    [
      'an item of the emptied list',
      'remove /guests|add /guests/- "/people/bob"',
      { guests: ['/people/Bob'] },
    ],
    ['a field that may be absent', 'replace /owner "Bob"', { owner: 'Bob' }],
    ['a whole list moved', 'move /guests /owner|replace /owner "Eve"', { guests: [], owner: 'Eve' }],
    [
      'a list that was moved away, filled again',
      'move /guests /owner|replace /owner "Eve"|add /guests/- "/people/Bob"',
      { guests: ['/people/Bob'], owner: 'Eve' },
    ],
    [
      'an item moved, with the other items left',
      'add /guests/- "/people/Bob"|move /guests/0 /owner',
      { guests: ['/people/Bob'], owner: '/people/Ada' },
    ],
    ['a test of what cannot be modified', 'test /age 100', {}],
    ['a secret, stored in its own place', 'add /key {"sealed":"new"}', { key: { sealed: 'new' } }],
  ])('does %s', (_what, text, changed) => {
    expect(after(text)).toEqual({ ...house, ...changed });
  });

  it.each([
    ['a link to the same', 'add /guests/- "/people/ADA"', '0 /guests/1 link-unresolved'],
    ['a removal of what is needed', 'remove /rooms', '0 /rooms validation-failed'],
    ['a removal of what is absent', 'remove /owner', '0 /owner patch-path-missing'],
    ['a test that fails', 'test /age 101', '0 /age patch-test-failed'],
    ['a copy from what cannot be modified', 'copy /address /owner', '0 /address field-not-modifiable'],
    ['a move of what is needed', 'move /colour /owner', '0 /colour validation-failed'],
    [
      'a copy of what is wrong, which is not at fault,',
      'replace /rooms/hall "large"|copy /rooms/hall /owner',
      '0 /rooms/hall validation-failed',
    ],
    ['a copy from a secret', 'copy /key /owner', '0 /key field-write-only'],
    ['a copy from another secret', 'copy /alarm /owner', '0 /alarm field-write-only'],
    ['a test of another secret', 'test /alarm {"sealed":"sealed-alarm"}', '0 /alarm field-write-only'],
    ['a test inside a secret', 'test /key/sealed "sealed-key"', '0 /key/sealed field-write-only'],
    ['a write into a secret', 'replace /key/sealed "x"', '0 /key/sealed field-write-only'],
    ['a removal inside a secret', 'remove /key/sealed', '0 /key/sealed field-write-only'],
    ['sealed text of another form', 'add /key {"sealed":"x","more":1}', '0 /key password-unacceptable'],
    ['sealed text where no secret is', 'add /owner {"sealed":"x"}', '0 /owner validation-failed'],
    [
      'all that breaks the rules, before it tries anything',
      'replace /colour "green"|replace /age 1|add /nothing 1|test /key "x"|add /rooms/prototype 1|remove ',
      '1 /age field-not-modifiable, 2 /nothing field-unknown, 3 /key field-write-only, ' +
        '4 /rooms/prototype reserved-key, 5  op-not-allowed',
    ],
    [
      'the operation that wrote what is wrong in the end',
      'replace /rooms {"hall":"x"}|replace /colour "blue"|add /guests/0 "/people/eve"|replace /colour "pink"',
      '3 /colour validation-failed, 0 /rooms/hall validation-failed, 2 /guests/0 link-unresolved',
    ],
    [
      'what a rule refuses and what is wrong in the result, in the order of the operations',
      'replace /colour "blue"|replace /age 1',
      '0 /colour validation-failed, 1 /age field-not-modifiable',
    ],
    [
      'nothing that may be gone once a refused operation is right',
      'replace /rooms {"hall":"x"}|move /rooms/hall /age',
      '1 /age field-not-modifiable',
    ],
    [
      'a list that is too long, with the link in it that is wrong',
      'replace /guests ["/people/ada","/people/bob"]|add /guests/0 "/people/eve"',
      '1 /guests validation-failed, 1 /guests/0 link-unresolved',
    ],
  ])('refuses, and names, %s', (_what, text, faults) => {
    expect(codes(patch(text)).join(', ')).toBe(faults);
  });

  const modifiable = 'modifiable fields: colour, guests, rooms, owner, key, alarm';
  const secret =
    'names a secret, which a patch cannot read or compare; add, replace or remove the whole secret';
  const unsealed = 'must be sealed first, as { "sealed": … }';
  const whole = 'must name a field, because a patch cannot change the whole resource';
  const keys = '__proto__, constructor and prototype are not allowed as keys';
  it.each([
    ['add /x 1', `/x: names no field of this resource; ${modifiable}`],
    ['replace /age 1', `/age: names a field that cannot be modified; ${modifiable}`],
    ['remove ', `${whole}; ${modifiable}`],
    ['test /key "x"', `/key: ${secret}`],
    ['add /key 7', `/key: ${unsealed}`],
    ['add /key "x"', `/key: ${unsealed}`],
    ['add /rooms/prototype 1', '/rooms/prototype: "prototype" is not allowed as a key'],
    ['add /rooms {"constructor":1}', `/rooms/constructor: ${keys}`],
  ])('says of %s: %s', (text, sentence) => {
    const result = patch(text);
    expect(result.ok || result.problem.detail).toBe(sentence);
  });

  it('refuses a value that holds one object many times over for what it comes to, and counts it not out', () => {
    const doubled = Array.from({ length: 25 }).reduce<Json>((inner) => ({ a: inner, b: inner }), {});
    const operations = parsed([{ op: 'add', path: '/rooms/new', value: doubled }]);
    const result = patchSettings(view, () => shown, house, operations, find);
    expect(codes(result)).toEqual(['0 /rooms/new patch-result-too-large']);
  });

  it('takes a map of up to 1000 members', () => {
    const rooms = (count: number): string =>
      JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, at) => [`r${String(at)}`, at])));
    expect(patch(`replace /rooms ${rooms(1000)}`).ok).toBe(true);
    expect(codes(patch(`replace /rooms ${rooms(1001)}`))).toEqual(['0 /rooms validation-failed']);
  });
});

describe('a field that is kept sealed', () => {
  it('is a change whenever it is written', () => {
    const again = after('replace /key {"sealed":"sealed-key"}');
    expect(again).toEqual(house);
    expect(again).not.toBe(house);
  });

  it('is removed like any other', () => {
    const { key: _gone, ...rest } = house;
    expect(after('remove /key')).toEqual(rest);
  });
});

describe('redactSecrets', () => {
  // Promise: redact
  it('leaves no hash and no sealed text wherever they stand, and everything else', () => {
    const secret = 'planted-secret';
    const plain = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>;
    const sealed = fc.constant<Json>({ sealed: secret });
    const { tree } = fc.letrec<{ tree: Json }>((tie) => ({
      tree: fc.oneof(
        plain,
        fc.array(tie('tree'), { maxLength: 3 }),
        fc.record({ password: sealed, pin: fc.record({ value: sealed }), name: tie('tree') }),
        fc.record({
          op: fc.constant('add'),
          path: fc.constantFrom('/password', '/password/sealed', '/users/0/password'),
          value: fc.constantFrom(secret, { sealed: secret }, { deep: [secret] }),
        }),
        fc.record({
          op: fc.constantFrom('add', 'replace', 'test'),
          path: fc.constantFrom('/parameters/pin', '/parameters', '/parameters/pin/value', ''),
          value: fc.oneof(sealed, fc.record({ pin: sealed, open: tie('tree') })),
        }),
      ),
    }));
    fc.assert(
      fc.property(tree, (value) => {
        expect(JSON.stringify(redactSecrets(value))).not.toContain(secret);
      }),
    );
    fc.assert(fc.property(plain, (value) => expect(redactSecrets(value)).toEqual(value)));
  });

  it('leaves no sealed text in the form that a transition takes', () => {
    const sealed = { sealed: 'planted-secret' };
    const operation = { op: 'add', path: '/parameters/pin', value: sealed };
    expect(redactSecrets({ operations: [operation], list: [sealed, 1], pin: sealed, name: 'ada' })).toEqual({
      operations: [{ op: 'add', path: '/parameters/pin' }],
      list: [null, 1],
      name: 'ada',
    });
  });

  it('refuses a value that contains itself, and takes one that contains a part twice', () => {
    const part = { password: { sealed: 'planted-secret' }, name: 'ada' };
    expect(redactSecrets({ one: part, other: [part, part] })).toEqual({
      one: { name: 'ada' },
      other: [{ name: 'ada' }, { name: 'ada' }],
    });
    const cycle: Record<string, unknown> = { part };
    cycle['inner'] = { list: [part, cycle] };
    const list: unknown[] = [part];
    list.push([list]);
    for (const value of [cycle, [cycle], list]) {
      expect(() => redactSecrets(value as Json)).toThrow(TypeError);
      expect(() => redactSecrets(value as Json)).toThrow(
        'redactSecrets: the value is circular, so it is not JSON',
      );
    }
  });

  it('does not change what it is given', () => {
    const given = Object.freeze({
      password: { sealed: 'x' },
      inner: Object.freeze([Object.freeze({ password: { sealed: 'y' } })]),
    });
    expect(redactSecrets(given)).toEqual({ inner: [{}] });
    expect(given.password).toEqual({ sealed: 'x' });
  });
});

describe('passwordFault', () => {
  const right = [
    'x',
    ' ',
    'correct horse battery staple',
    'ü'.repeat(512),
    '😀'.repeat(256),
    'x'.repeat(1024),
    'a:b',
  ];
  // The bytes of the composed form count, which is what is hashed.
  it.each([...right, 'u\u0308'.repeat(512)])('accepts %j', (password) => {
    expect(passwordFault(password)).toBeUndefined();
  });

  const tooLong = ['x'.repeat(1025), 'ü'.repeat(513), '😀'.repeat(257)];
  it.each<[Json]>(
    ['', ...tooLong, 'a\u0000b', 'a\nb', 'a\u0085b', 'a\ud800', 7, null, ['x'], { sealed: 'x' }].map(
      (each) => [each],
    ),
  )('refuses %j', (password) => {
    expect(passwordFault(password)).toMatch(/^must /);
  });

  it('never repeats the password', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 12, unit: character }), (password) => {
        expect(passwordFault(`${password}\u0000`)).not.toContain(password);
      }),
    );
  });
});

describe('isSealed', () => {
  it('knows sealed text by its member', () => {
    const others = [
      undefined,
      null,
      'x',
      7,
      [],
      {},
      { sealed: 7 },
      { sealed: null },
      { sealed: 'x', more: 1 },
    ];
    expect([{ sealed: 'x' }, ...others].filter(isSealed)).toEqual([{ sealed: 'x' }]);
  });
});

/** A toy: a desk with notes, of which some are secret, and boxes, of which the content can be secret. */
interface Box<Content> {
  readonly content: Content;
  readonly colour: string;
}
interface Desk {
  readonly notes: Readonly<Record<string, string | Sealed>>;
  readonly boxes: Readonly<Record<string, Box<string | Sealed>>>;
  readonly owner?: string;
}
interface ShownDesk extends Pick<Desk, 'owner'> {
  readonly notes: Readonly<Record<string, string>>;
  readonly boxes: Readonly<Record<string, Box<string>>>;
}

const sealable = z.union([z.string(), sealedText]);
const boxOf = <S extends z.core.SomeType>(content: S) => z.strictObject({ content, colour: z.string() });
const mapOf = <S extends z.core.SomeType>(value: S) => z.record(z.string(), value);
const deskFields = defineFields<{
  settings: Desk;
  representation: ShownDesk;
  document: Partial<Desk>;
  state: object;
}>()({
  notes: {
    ...{ shape: mapOf(sealable), open: mapOf(z.string()), secretEntries: true },
    ...{ setting: true, default: {} },
  },
  boxes: {
    ...{ shape: mapOf(boxOf(sealable)), open: mapOf(boxOf(z.string())), secretEntries: 'content' },
    ...{ setting: true, default: {} },
  },
  owner: { shape: z.string(), setting: true, optional: true },
});
const isPin = (name: string): boolean => name.toLowerCase().startsWith('pin');
const deskView = withSecretEntries(patchViewOf<Desk>(deskFields), isPin);
const desk: Desk = {
  notes: { milk: 'two', list: 'long', pin: { sealed: 'sealed-pin' } },
  boxes: {
    red: { content: 'toys', colour: 'red' },
    pin: { content: { sealed: 'sealed-box' }, colour: 'grey' },
  },
};
/** What clients see of the desk. */
const shownDesk: ShownDesk = {
  notes: { milk: 'two', list: 'long' },
  boxes: { red: { content: 'toys', colour: 'red' } },
};
const noName = (): undefined => undefined;

function patchDesk(text: string, of = deskView, present = desk): ReturnType<typeof patchSettings<Desk>> {
  return patchSettings(of, () => ({}), present, parsed(operationsOf(text)), noName);
}

/** The texts of the faults, for people. */
function details<T>(result: Result<T>): readonly (string | undefined)[] {
  return result.ok ? [] : (result.problem.errors ?? []).map(({ detail }) => detail);
}

function deskAfter(text: string): Desk {
  const result = patchDesk(text);
  if (!result.ok) throw new Error(result.problem.detail);
  return result.value;
}

const sealed = '{"sealed":"sealed-new"}';
const newText = { sealed: 'sealed-new' };
const { pin: oldPin } = desk.notes;
const { red, pin: oldBox } = desk.boxes;

describe('a secret entry of a map', () => {
  it('is stored in its place, wherever a patch writes it', () => {
    for (const op of ['add', 'replace']) {
      expect(deskAfter(`${op} /notes/pin ${sealed}`).notes).toEqual({ ...desk.notes, pin: newText });
      const whole = deskAfter(`${op} /notes {"milk":"one","pin":${sealed},"PIN2":${sealed}}`);
      expect(whole.notes).toEqual({ milk: 'one', pin: newText, PIN2: newText });
    }
  });

  it('is stored with the rest of the entry, of which one member is the secret', () => {
    const other = `add /boxes/pin2 {"content":${sealed},"colour":"blue"}`;
    expect(deskAfter(`replace /boxes/pin/content ${sealed}|${other}`).boxes).toEqual({
      red,
      pin: { content: newText, colour: 'grey' },
      pin2: { content: newText, colour: 'blue' },
    });
  });

  it('stays when the whole map is replaced without it, and goes when it is removed', () => {
    expect(deskAfter('replace /notes {}')).toEqual({ ...desk, notes: { pin: oldPin } });
    expect(deskAfter('add /boxes {}')).toEqual({ ...desk, boxes: { pin: oldBox } });
    expect(deskAfter('remove /notes/pin').notes).toEqual(shownDesk.notes);
    expect(deskAfter('remove /boxes/pin').boxes).toEqual(shownDesk.boxes);
  });

  it('is written and removed in any order with the whole map', () => {
    const whole = 'replace /notes {"milk":"one"}';
    for (const text of [`${whole}|add /notes/pin ${sealed}`, `add /notes/pin ${sealed}|${whole}`])
      expect(deskAfter(text).notes).toEqual({ milk: 'one', pin: newText });
    for (const text of [`${whole}|remove /notes/pin`, `remove /notes/pin|${whole}`])
      expect(deskAfter(text).notes).toEqual({ milk: 'one' });
    expect(deskAfter(`remove /notes/pin|replace /notes {"pin":${sealed}}`).notes).toEqual({ pin: newText });
  });

  it('has the fault of what is wrong with its map at the operation that wrote it', () => {
    for (const text of [`add /notes/pin ${sealed}|replace /notes 5`, 'remove /notes/pin|replace /notes 5'])
      expect(codes(patchDesk(text))).toEqual(['1 /notes validation-failed']);
    const wrong = `replace /boxes {"pin":{"content":${sealed}}}`;
    expect(codes(patchDesk(`${wrong}|add /boxes/blue {"content":"x","colour":"blue"}`))).toEqual([
      '0 /boxes/pin/colour validation-failed',
    ]);
  });

  it('is a change whenever it is written, but if it is removed again where there was none', () => {
    const same = '{"sealed":"sealed-pin"}';
    const whole = `replace /notes {"milk":"two","list":"long","pin":${same}}`;
    for (const text of [`replace /notes/pin ${same}`, whole]) {
      const again = deskAfter(text);
      expect(again).toEqual(desk);
      expect(again).not.toBe(desk);
    }
    expect(deskAfter('add /notes/pincode {"sealed":"x"}|remove /notes/pincode')).toBe(desk);
  });

  const stranger = `{"content":${sealed},"colour":7}`;
  it.each([
    ['is missing', 'remove /notes/pin9', '/notes/pin9 patch-path-missing'],
    ['lacks its secret', 'remove /boxes/pin/content', '/boxes/pin/content validation-failed'],
    ['is not valid', `add /boxes/pin ${stranger}`, '/boxes/pin/colour validation-failed'],
    ['is not valid in a map', `replace /boxes {"pin":${stranger}}`, '/boxes/pin/colour validation-failed'],
    ['is tested', 'test /notes/pin "sealed-pin"', '/notes/pin field-write-only'],
    ['is tested where there is none', 'test /notes/PINK "x"', '/notes/PINK field-write-only'],
    ['is tested inside', 'test /boxes/pin/colour "grey"', '/boxes/pin/colour field-write-only'],
    ['is tested in the whole map', 'test /notes {"pin":"sealed-pin"}', '/notes/pin field-write-only'],
    ['is copied', 'copy /notes/pin /owner', '/notes/pin field-write-only'],
    ['is copied from inside', 'copy /boxes/pin/content /owner', '/boxes/pin/content field-write-only'],
    ['is moved', 'move /notes/pin /owner', '/notes/pin field-write-only'],
    ['is a copy', 'copy /notes/milk /notes/pin', '/notes/pin field-write-only'],
    ['was moved there', 'move /notes/milk /notes/Pin', '/notes/Pin field-write-only'],
    ['gets a write inside', `add /notes/pin/0 ${sealed}`, '/notes/pin/0 field-write-only'],
    ['gets another member', 'add /boxes/pin/colour "red"', '/boxes/pin/colour field-write-only'],
    ['is a plain text', 'add /notes/pin "plain"', '/notes/pin password-unacceptable'],
    ['is a plain text in a map', 'add /notes {"pin":"plain"}', '/notes/pin password-unacceptable'],
    ['is a plain member', 'add /boxes/pin {"content":"x","colour":""}', '/boxes/pin password-unacceptable'],
    ['is no member', 'add /boxes/pin "plain"', '/boxes/pin password-unacceptable'],
    ['is null', 'replace /boxes/pin/content null', '/boxes/pin/content password-unacceptable'],
    ['is tested sealed', 'test /notes/pin {"sealed":"sealed-pin"}', '/notes/pin field-write-only'],
    ['is tested in its text', 'test /notes/pin/sealed "sealed-pin"', '/notes/pin/sealed field-write-only'],
    ['gets another text', 'replace /notes/pin/sealed "x"', '/notes/pin/sealed field-write-only'],
    [
      'gets another text in a member',
      'replace /boxes/pin/content/sealed "x"',
      '/boxes/pin/content/sealed field-write-only',
    ],
    ['loses its text', 'remove /notes/pin/sealed', '/notes/pin/sealed field-write-only'],
    ['is copied from its text', 'copy /notes/pin/sealed /owner', '/notes/pin/sealed field-write-only'],
    ['is no secret by its name', `add /notes/milk ${sealed}`, '/notes/milk validation-failed'],
    [
      'is no secret by its name, in the whole map',
      `replace /notes {"milk":${sealed}}`,
      '/notes/milk validation-failed',
    ],
    [
      'is no secret by its name, in a member',
      `add /boxes/red/content ${sealed}`,
      '/boxes/red/content validation-failed',
    ],
  ])('is refused, with its place as clients know it, when it %s', (_what, text, fault) => {
    expect(codes(patchDesk(text))).toEqual([`0 ${fault}`]);
    expect(JSON.stringify(patchDesk(text))).not.toContain('plain');
    const missing = 'does not exist: "/notes" is an object without a member "pin9"';
    if (fault.endsWith('missing')) expect(details(patchDesk(text))).toEqual([missing]);
  });

  it('is seen by no operation on the whole map', () => {
    expect(deskAfter(`test /notes ${JSON.stringify(shownDesk.notes)}`)).toBe(desk);
    const places = (text: string): readonly string[] => codes(patchDesk(text)).toSorted();
    const failed = (...all: readonly string[]): readonly string[] =>
      all.map((each) => `0 ${each} validation-failed`);
    expect(codes(patchDesk('test /notes {"milk":"two"}'))).toEqual(['0 /notes patch-test-failed']);
    expect(places('copy /notes /boxes')).toEqual(failed('/boxes/list', '/boxes/milk'));
    expect(places('move /notes /owner')).toEqual(failed('/notes', '/owner'));
  });
});

describe('a view without names of secret entries', () => {
  it('has no secret entry, and takes no sealed text', () => {
    const open = patchViewOf<Desk>(deskFields);
    const run = (value: string, present: Desk): ReturnType<typeof patchSettings<Desk>> =>
      patchDesk(`add /notes/pin ${value}`, open, present);
    const bare = { ...desk, notes: {} };
    expect(run('"x"', bare)).toMatchObject({ value: { notes: { pin: 'x' } } });
    expect(codes(run(sealed, bare))).toEqual(['0 /notes/pin validation-failed']);
  });
});

describe('settings that come from no patch', () => {
  it('are taken over with their sealed texts, and are the very settings if they are equal', () => {
    const given = { ...desk, notes: { ...desk.notes, pin: { sealed: 'sealed-other' } } };
    expect(replaceSettings(deskView, desk, given, noName)).toEqual({ ok: true, value: given });
    const equal = replaceSettings(deskView, desk, structuredClone(desk), noName);
    expect(equal.ok && equal.value).toBe(desk);
  });

  it('are refused when an entry is sealed that is not secret here, or is not sealed that is secret', () => {
    const given = { ...desk, notes: { ...desk.notes, pin2: 'planted', key: { sealed: 'x' } } };
    const adopted = replaceSettings(deskView, desk, given, noName);
    const faults = ['/notes/pin2', '/notes/key'].map((place) => `undefined ${place} validation-failed`);
    expect(codes(adopted)).toEqual(faults);
    expect(details(adopted)[0]).toBe(
      'is secret, and must not be plain text: write { "sealed": … } with the output of gateway-admin seal',
    );
    expect(JSON.stringify(adopted)).not.toContain('planted');
  });
});

describe('sealing', () => {
  const ports = {
    seal: (secret: string): Promise<string | undefined> => Promise.resolve(`<${String(secret.length)}>`),
    isSecretParameter: isPin,
  };
  const ofDesk = (each: readonly ParsedOperation[]) => sealOperations(deskView, each, ports);
  const ofHouse = (each: readonly ParsedOperation[]) => sealOperations(view, each, ports);

  /** The values of operations on the desk, or by another view, and the places of their faults. */
  async function sealedValues(
    operations: readonly object[],
    sealAll = ofDesk,
  ): Promise<readonly [values: readonly (Json | undefined)[], faults: readonly string[]]> {
    const made = await sealAll(parsed(operations));
    expect(made.map(({ index }) => index)).toEqual(made.map((_, index) => index));
    expect(JSON.stringify(made)).not.toMatch(/forged|secret"/);
    return [made.map(({ value }) => value), placesOf(made)];
  }

  const placesOf = (made: Awaited<ReturnType<typeof ofDesk>>): readonly string[] =>
    made.flatMap(({ faults = [] }) =>
      faults.map(({ operation, pointer, code }) => `${String(operation)} ${pointer} ${code}`),
    );
  const six = { sealed: '<6>' };
  const faulty = { sealed: 'unsealable' };

  it('finds every secret of a patch from a client, and leaves everything else', async () => {
    const [values, faults] = await sealedValues([
      { op: 'add', path: '/notes/pin', value: 'secret' },
      { op: 'test', path: '/notes/Pin', value: 'secret' },
      { op: 'add', path: '/notes', value: { PIN: 'secret', milk: 'open', pin2: 7 } },
      { op: 'replace', path: '/boxes/pin', value: { content: 'secret', colour: 'red' } },
      { op: 'replace', path: '/boxes/pin/content', value: 'secret' },
      { op: 'replace', path: '/boxes', value: { pin: { content: 'secret' }, red: { content: 'open' } } },
      { op: 'add', path: '/notes/milk', value: 'open' },
      { op: 'remove', path: '/notes/pin' },
    ]);
    const maps = [
      { PIN: six, milk: 'open', pin2: faulty },
      { content: six, colour: 'red' },
    ];
    const boxes = { pin: { content: six }, red: { content: 'open' } };
    expect(values).toEqual([six, six, ...maps, six, boxes, 'open', undefined]);
    expect(faults).toEqual(['2 /notes/pin2 password-unacceptable']);
    const whole = 'test /key "secret"|add /key/x "secret"|remove /key|add /owner "open"';
    expect(await sealedValues(operationsOf(whole), ofHouse)).toEqual([[six, six, undefined, 'open'], []]);
  });

  it.each([[''], [7], [null], [{ sealed: 'forged' }], [['secret']], ['x'.repeat(1025)], ['a\nb']] as const)(
    'lets no other value pass for a secret: %j',
    async (value) => {
      const [values, faults] = await sealedValues([
        { op: 'add', path: '/notes/pin', value },
        { op: 'add', path: '/notes', value: { pin: value } },
        { op: 'add', path: '/boxes/pin', value: { content: value, colour: '' } },
        { op: 'add', path: '/boxes/pin/content', value },
      ]);
      expect(values).toEqual([faulty, { pin: faulty }, { content: faulty, colour: '' }, faulty]);
      const places = ['0 /notes/pin', '1 /notes/pin', '2 /boxes/pin', '3 /boxes/pin/content'];
      expect(faults).toEqual(places.map((place) => `${place} password-unacceptable`));
      expect(await sealedValues([{ op: 'add', path: '/key', value }], ofHouse)).toEqual([
        [faulty],
        ['0 /key password-unacceptable'],
      ]);
    },
  );

  it('lets no sealed text pass elsewhere, and no entry without a place for a secret', async () => {
    const forged = { sealed: 'forged' };
    const [values, faults] = await sealedValues([
      { op: 'add', path: '/notes/milk', value: forged },
      { op: 'add', path: '/boxes/red/content', value: forged },
      { op: 'add', path: '/boxes', value: { red: { content: forged }, pin: 'a secret', blue: 'open' } },
      { op: 'add', path: '/boxes/pin', value: 7 },
    ]);
    const text = 'unsealable';
    const entry = { content: faulty };
    expect(values).toEqual([text, text, { red: { content: text }, pin: entry, blue: 'open' }, entry]);
    const places = ['0 /notes/milk', '1 /boxes/red/content', '2 /boxes/red', '2 /boxes/pin', '3 /boxes/pin'];
    expect(faults).toEqual(places.map((place) => `${place} validation-failed`));
  });

  it('does no work for a map that is refused for its size', async () => {
    const named = (prefix: string, count: number): [string, string][] =>
      Array.from({ length: count }, (_, at) => [`${prefix}${String(at)}`, 'open']);
    const adding = (pins: number, others: number): Promise<readonly [readonly unknown[], unknown]> => {
      const value = Object.fromEntries([...named('pin', pins), ...named('note', others)]);
      return sealedValues([{ op: 'add', path: '/notes', value }]);
    };
    for (const [pins, others] of [
      [1001, 0],
      [1, 1001],
      [1001, 1000],
    ] as const)
      expect(await adding(pins, others)).toEqual([[{}], ['0 /notes validation-failed']]);
    // Secrets are counted apart.
    const [[whole], faults] = await adding(1000, 1000);
    expect([Object.keys(whole as object).length, faults]).toEqual([2000, []]);
  });

  it('names each secret that could not be read after a restart', async () => {
    const nothing = { ...ports, seal: () => Promise.resolve(undefined) };
    const text = 'add /notes {"pin":"secret","milk":"x"}|add /boxes/pin/content "secret"';
    const result = await sealOperations(deskView, parsed(operationsOf(text)), nothing);
    const ofField = parsed(operationsOf('replace /owner "ada"|replace /key "secret"'));
    const places = ['0 /notes/pin', '1 /boxes/pin/content', '1 /key'];
    expect(placesOf([...result, ...(await sealOperations(view, ofField, nothing))])).toEqual(
      places.map((place) => `${place} secret-not-storable`),
    );
    expect(result[0]?.faults?.[0]).toMatchObject({
      code: 'secret-not-storable',
      detail:
        'cannot be stored: the configuration outlives the process, and the key that seals secrets does not. ' +
        'Configure a lasting key for the gateway first',
    });
    expect(JSON.stringify(result)).not.toContain('"secret"');
  });
});

describe('what is shown of secret entries', () => {
  it('is nothing in a representation, and everything in a document', () => {
    const { rest, settings } = loadFields(deskFields, desk);
    expect(saveFields(deskFields, rest, settings)).toEqual(desk);
    const times = createTimeFormat('UTC');
    expect(representFields(deskFields, { rest, settings, derived: {}, times })).toEqual(shownDesk);
  });

  it('is the name of an entry, where a patch or a console shows that there is one', () => {
    const marked = {
      notes: { ...shownDesk.notes, pin: '[redacted]' },
      boxes: { red, pin: { content: '[redacted]', colour: 'grey' } },
    };
    expect(maskSecrets(desk)).toEqual(marked);
    const isEntry = ({ content, colour }: JsonObject): boolean => isSealed(content) && colour !== undefined;
    const redact = createRedactor({ names: secretNames([deskFields]), isEntry });
    expect(redact({ before: desk })).toEqual({ before: shownDesk });
    const others = '|remove /boxes/pin|add /notes/milk "open"|replace /notes {"milk":"open"';
    const given = operationsOf(`add /notes/pin ${sealed}${others},"pin":${sealed}}`);
    expect(redact(given)).toEqual([
      { op: 'add', path: '/notes/pin' },
      ...operationsOf(`${others.slice(1)}}`),
    ]);
  });
});
