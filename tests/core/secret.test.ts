/**
 * Secrets: as whole fields, and as entries of maps. The fields are those of a toy, because no kind has every case.
 */
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { redactSecrets } from 'gateway-admin-core';
import * as z from 'zod/mini';

import type { Json } from '../../src/json/value.ts';
import { createRedactor, isSealed, maskSecrets, passwordFault } from '../../src/core/secret.ts';
import { defineFields, loadFields, representFields, saveFields, secretNames } from '../../src/core/field.ts';
import { sealOperations } from '../../src/core/patch-seal.ts';
import {
  adoptSettings,
  patchSettings,
  patchViewOf,
  revertSettings,
  withSecretEntries,
} from '../../src/core/patch-view.ts';
import { createTimeFormat } from '../../src/core/time.ts';
import { parseOperations, type Operation, type ParsedOperation } from '../../src/json/patch.ts';
import type { Result } from '../../src/problem.ts';
import { character } from '../support/arbitrary-character.ts';

describe('redactSecrets', () => {
  // Promise: redact
  it('leaves no hash and no sealed text wherever they stand, and everything else', () => {
    const secret = 'planted-secret';
    const plain = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>;
    const { tree } = fc.letrec<{ tree: Json }>((tie) => ({
      tree: fc.oneof(
        plain,
        fc.array(tie('tree'), { maxLength: 3 }),
        fc.record({
          passwordHash: fc.constant(secret),
          passwordSealed: fc.constant(secret),
          name: tie('tree'),
        }),
        fc.record({
          op: fc.constant('add'),
          path: fc.constant('/passwordSealed'),
          value: fc.constant(secret),
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
    const part = { passwordHash: 'planted-secret', name: 'ada' };
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

  it('names a secret as clients do, takes its value out of operations, and leaves those on others', () => {
    const operations = [
      { op: 'replace', path: '/passwordSealed', value: 'x' },
      { op: 'remove', path: '/passwordSealed' },
      { op: 'replace', path: '/user', value: 'x' },
      { op: 7, path: '/passwordSealed' },
    ];
    expect(redactSecrets(operations)).toEqual([
      { op: 'replace', path: '/password' },
      { op: 'remove', path: '/password' },
      { op: 'replace', path: '/user', value: 'x' },
      { op: 7, path: '/passwordSealed' },
    ]);
  });

  it('does not change what it is given', () => {
    const given = Object.freeze({
      passwordHash: 'x',
      inner: Object.freeze([Object.freeze({ passwordSealed: 'y' })]),
    });
    expect(redactSecrets(given)).toEqual({ inner: [{}] });
    expect(given.passwordHash).toBe('x');
  });
});

describe('maskSecrets', () => {
  it('puts a mark in the place of each hash and sealed text, and leaves everything else', () => {
    const given = { passwordHash: 'x', inner: [{ passwordSealed: 'y', user: 'ada' }, null, 1, 'text'] };
    expect(maskSecrets(given, new Set(['passwordHash', 'passwordSealed']))).toEqual({
      passwordHash: '[redacted]',
      inner: [{ passwordSealed: '[redacted]', user: 'ada' }, null, 1, 'text'],
    });
    expect(given.passwordHash).toBe('x');
  });
});

describe('passwordFault', () => {
  it.each([
    'x',
    ' ',
    'correct horse battery staple',
    'ü'.repeat(512),
    '😀'.repeat(256),
    'x'.repeat(1024),
    'a:b',
  ])('accepts %j', (password) => {
    expect(passwordFault(password)).toBeUndefined();
  });

  it.each([
    ['nothing', ''],
    ['a byte too much', 'x'.repeat(1025)],
    ['two-byte characters that are too many bytes', 'ü'.repeat(513)],
    ['four-byte characters that are too many bytes', '😀'.repeat(257)],
    ['a control character', 'a\u0000b'],
    ['a line break', 'a\nb'],
    ['a character between ASCII and Latin-1', 'a\u0085b'],
    ['half of a pair', 'a\ud800'],
    ['a number', 7],
    ['null', null],
    ['a list', ['x']],
    ['an object', { sealed: 'x' }],
  ] as readonly (readonly [string, Json])[])('refuses %s', (_what, password) => {
    expect(passwordFault(password)).toMatch(/^must /);
  });

  it('counts the bytes of the composed form, which is what is hashed', () => {
    expect(passwordFault('u\u0308'.repeat(512))).toBeUndefined();
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
    expect(isSealed({ sealed: 'x' })).toBe(true);
  });

  it.each([undefined, null, 'x', 7, [], {}, { sealed: 7 }, { sealed: null }] as const)(
    'does not take %j for it',
    (value) => {
      expect(isSealed(value)).toBe(false);
    },
  );
});

/** A toy: a desk with notes, of which some are secret, and boxes, of which the content can be secret. */
interface Box {
  readonly content: string;
  readonly colour: string;
}
interface Desk {
  readonly notes: Readonly<Record<string, string>>;
  readonly notesSealed: Readonly<Record<string, string>>;
  readonly boxes: Readonly<Record<string, Box>>;
  readonly boxesSealed: Readonly<Record<string, Box>>;
  readonly owner?: string;
}
type Written = Partial<Desk>;

const box = z.strictObject({ content: z.string(), colour: z.string() });
const fields = defineFields<{
  settings: Desk;
  representation: Omit<Desk, 'notesSealed' | 'boxesSealed'>;
  document: Written;
  state: object;
}>()({
  notes: { shape: z.record(z.string(), z.string()), setting: true, default: {} },
  notesSealed: {
    shape: z.record(z.string(), z.string()),
    setting: true,
    default: {},
    secret: 'notesSealed',
    sealedEntriesOf: 'notes',
  },
  boxes: { shape: z.record(z.string(), box), setting: true, default: {} },
  boxesSealed: {
    shape: z.record(z.string(), box),
    setting: true,
    default: {},
    secret: 'boxesSealed',
    sealedEntriesOf: 'boxes',
    secretMember: 'content',
  },
  owner: { shape: z.string(), setting: true, optional: true },
});

const isPin = (name: string): boolean => name.toLowerCase().startsWith('pin');
const view = withSecretEntries(patchViewOf<Desk>(fields), isPin);

const desk: Desk = {
  notes: { milk: 'two', Pint: 'no', list: 'long' },
  notesSealed: { pin: 'sealed-pin' },
  boxes: { red: { content: 'toys', colour: 'red' } },
  boxesSealed: { pin: { content: 'sealed-box', colour: 'grey' } },
};
const { Pint: _pint, ...notes } = desk.notes;
const present: Desk = { ...desk, notes };
const noName = (): undefined => undefined;

function parsed(operations: readonly object[]): readonly ParsedOperation[] {
  const result = parseOperations(operations as Json);
  if (!result.ok) throw new Error('It is no patch');
  return result.value;
}

function patch(...operations: readonly Operation[]): ReturnType<typeof patchSettings<Desk>> {
  return patchSettings(view, () => ({}), present, parsed(operations), noName);
}

function codes<T>(result: Result<T>): readonly string[] {
  return result.ok
    ? []
    : (result.problem.errors ?? []).map(
        ({ pointer, code, operation }) => `${String(operation)} ${pointer} ${code}`,
      );
}

/** The texts of the faults, for people. */
function details<T>(result: Result<T>): readonly (string | undefined)[] {
  return result.ok ? [] : (result.problem.errors ?? []).map(({ detail }) => detail);
}

function after(...operations: readonly Operation[]): Desk {
  const result = patch(...operations);
  if (!result.ok) throw new Error(result.problem.detail);
  return result.value.after;
}

const sealed = { sealed: 'sealed-new' };

describe('a secret entry of a map', () => {
  it('is stored apart from the other entries, wherever a patch writes it', () => {
    const all = { pin: 'sealed-new' };
    expect(after({ op: 'add', path: '/notes/pin', value: sealed }).notesSealed).toEqual(all);
    expect(after({ op: 'replace', path: '/notes/pin', value: sealed }).notesSealed).toEqual(all);
    for (const op of ['add', 'replace'] as const) {
      const whole = after({ op, path: '/notes', value: { milk: 'one', pin: sealed, PIN2: sealed } });
      expect(whole.notes).toEqual({ milk: 'one' });
      expect(whole.notesSealed).toEqual({ pin: 'sealed-new', PIN2: 'sealed-new' });
    }
  });

  it('is stored with the rest of the entry, of which one member is the secret', () => {
    const { boxesSealed } = after(
      { op: 'replace', path: '/boxes/pin/content', value: sealed },
      { op: 'add', path: '/boxes/pin2', value: { content: sealed, colour: 'blue' } },
    );
    expect(boxesSealed).toEqual({
      pin: { content: 'sealed-new', colour: 'grey' },
      pin2: { content: 'sealed-new', colour: 'blue' },
    });
  });

  it('stays when the whole map is replaced without it, and goes when it is removed', () => {
    const whole = after({ op: 'replace', path: '/notes', value: {} });
    expect([whole.notes, whole.notesSealed]).toEqual([{}, present.notesSealed]);
    expect(after({ op: 'remove', path: '/notes/pin' }).notesSealed).toEqual({});
    expect(after({ op: 'remove', path: '/boxes/pin' }).boxesSealed).toEqual({});
  });

  it('is a change whenever it is written', () => {
    for (const operation of [
      { op: 'replace', path: '/notes/pin', value: { sealed: 'sealed-pin' } },
      { op: 'replace', path: '/notes', value: { ...notes, pin: { sealed: 'sealed-pin' } } },
    ] as const) {
      const again = patch(operation);
      expect(again).toMatchObject({ ok: true, value: { after: present, operations: [] } });
      expect(again.ok && again.value.after).not.toBe(present);
    }
  });

  it('is no change if it is written and removed again where there was none', () => {
    const [added, removed] = [
      { op: 'add', path: '/notes/pincode', value: { sealed: 'x' } },
      { op: 'remove', path: '/notes/pincode' },
    ] as const;
    expect(patch(added, removed)).toMatchObject({ ok: true, value: { operations: [] } });
    expect(after(added, removed)).toBe(present);
  });

  it('gives its place as clients know it when it is missing or not valid', () => {
    const missing = patch({ op: 'remove', path: '/notes/pin9' });
    expect(codes(missing)).toEqual(['0 /notes/pin9 patch-path-missing']);
    expect(details(missing)).toEqual(['does not exist']);
    expect(codes(patch({ op: 'remove', path: '/boxes/pin/content' }))).toEqual([
      '0 /boxes/pin/content validation-failed',
    ]);
    const stranger = { content: sealed, colour: 7 };
    expect(codes(patch({ op: 'add', path: '/boxes/pin', value: stranger }))).toEqual([
      '0 /boxes/pin/colour validation-failed',
    ]);
    expect(codes(patch({ op: 'replace', path: '/boxes', value: { pin: stranger } }))).toEqual([
      '0 /boxes/pin/colour validation-failed',
    ]);
  });

  it.each([
    ['test /notes/pin', { op: 'test', path: '/notes/pin', value: 'sealed-pin' }, '/notes/pin'],
    ['test /notes/PINK', { op: 'test', path: '/notes/PINK', value: 'x' }, '/notes/PINK'],
    ['test inside', { op: 'test', path: '/boxes/pin/colour', value: 'grey' }, '/boxes/pin/colour'],
    ['test of a whole map', { op: 'test', path: '/notes', value: { pin: 'sealed-pin' } }, '/notes/pin'],
    ['copy from it', { op: 'copy', from: '/notes/pin', path: '/owner' }, '/notes/pin'],
    ['copy from inside', { op: 'copy', from: '/boxes/pin/content', path: '/owner' }, '/boxes/pin/content'],
    ['move from it', { op: 'move', from: '/notes/pin', path: '/owner' }, '/notes/pin'],
    ['copy to it', { op: 'copy', from: '/notes/milk', path: '/notes/pin' }, '/notes/pin'],
    ['move to it', { op: 'move', from: '/notes/milk', path: '/notes/Pin' }, '/notes/Pin'],
    ['a write inside', { op: 'add', path: '/notes/pin/0', value: sealed }, '/notes/pin/0'],
    ['another member', { op: 'add', path: '/boxes/pin/colour', value: 'red' }, '/boxes/pin/colour'],
  ] as const)('is write-only: %s', (_what, operation, place) => {
    expect(codes(patch(operation))).toEqual([`0 ${place} field-write-only`]);
  });

  it.each([
    ['a text', { op: 'add', path: '/notes/pin', value: 'plain' }, '/notes/pin'],
    ['a text in a map', { op: 'add', path: '/notes', value: { pin: 'plain' } }, '/notes/pin'],
    ['a member', { op: 'add', path: '/boxes/pin', value: { content: 'x', colour: '' } }, '/boxes/pin'],
    ['no member', { op: 'add', path: '/boxes/pin', value: 'plain' }, '/boxes/pin'],
    ['null', { op: 'replace', path: '/boxes/pin/content', value: null }, '/boxes/pin/content'],
  ] as const)('must be sealed: %s is refused', (_what, operation, place) => {
    expect(codes(patch(operation))).toEqual([`0 ${place} password-unacceptable`]);
    expect(JSON.stringify(patch(operation))).not.toContain('plain');
  });

  it('cannot be reached by its stored name', () => {
    for (const path of ['/notesSealed', '/notesSealed/pin', '/boxesSealed/pin/content'])
      expect(codes(patch({ op: 'add', path, value: 'x' }))).toEqual([`0 ${path} field-unknown`]);
  });

  it('is seen by no operation on the whole map', () => {
    expect(after({ op: 'test', path: '/notes', value: notes })).toBe(present);
    expect(codes(patch({ op: 'copy', from: '/notes', path: '/boxes' }))).toEqual([
      '0 /boxes/milk validation-failed',
      '0 /boxes/list validation-failed',
    ]);
    expect(codes(patch({ op: 'move', from: '/notes', path: '/owner' })).toSorted()).toEqual([
      '0 /notes validation-failed',
      '0 /owner validation-failed',
    ]);
  });

  it('is never lost, shown or stored in the open, whatever a patch does', () => {
    const pointer = fc.constantFrom(
      '/notes',
      '/notes/milk',
      '/notes/pin',
      '/notes/PIN',
      '/notes/list',
      '/boxes',
      '/boxes/red',
      '/boxes/red/content',
      '/boxes/pin',
      '/boxes/pin/content',
      '/owner',
    );
    const value = fc.constantFrom<Json>(
      'text',
      sealed,
      notes,
      { pin: sealed, milk: 'x' },
      { pin: 'text' },
      { content: sealed, colour: 'red' },
      { content: 'text', colour: 'red' },
      { pin: { content: sealed, colour: 'red' } },
    );
    const usual = fc.constantFrom<Operation>(
      { op: 'add', path: '/notes/pin', value: sealed },
      { op: 'replace', path: '/notes', value: { PIN: sealed, milk: 'x' } },
      { op: 'replace', path: '/boxes', value: {} },
      { op: 'replace', path: '/boxes/pin/content', value: sealed },
      { op: 'copy', from: '/notes/milk', path: '/owner' },
      { op: 'move', from: '/boxes/red', path: '/boxes/blue' },
    );
    const operation = fc.oneof(
      usual,
      fc.record({ op: fc.constantFrom('add', 'replace', 'test'), path: pointer, value }),
      fc.record({ op: fc.constantFrom('move', 'copy'), path: pointer, from: pointer }),
    ) as fc.Arbitrary<Operation>;
    const met = { accepted: 0, refused: 0 };
    fc.assert(
      fc.property(fc.array(operation, { minLength: 1, maxLength: 4 }), (operations) => {
        const result = patch(...operations);
        met[result.ok ? 'accepted' : 'refused'] += 1;
        if (!result.ok) {
          expect(JSON.stringify(result)).not.toMatch(/sealed-(?:pin|box|new)|notesSealed|boxesSealed/);
          return;
        }
        const { after: desk } = result.value;
        expect(Object.keys(desk.notesSealed)).toContain('pin');
        expect(Object.keys(desk.boxesSealed)).toContain('pin');
        expect([...Object.keys(desk.notes), ...Object.keys(desk.boxes)].filter(isPin)).toEqual([]);
        // A note of the name "sealed" is a note like any other.
        const { sealed: _note, ...others } = desk.notes;
        expect(JSON.stringify([others, desk.boxes, desk.owner])).not.toContain('sealed-');
      }),
      { numRuns: 1000 },
    );
    for (const count of Object.values(met)) expect(count).toBeGreaterThan(50);
  });
});

describe('a view without names of secret entries', () => {
  it('has no secret entry, and takes no sealed text', () => {
    const open = patchViewOf<Desk>(fields);
    const run = (operation: Operation): ReturnType<typeof patchSettings<Desk>> =>
      patchSettings(open, () => ({}), { ...present, notesSealed: {} }, parsed([operation]), noName);
    expect(run({ op: 'add', path: '/notes/pin', value: 'x' })).toMatchObject({
      value: { after: { notes: { pin: 'x' } } },
    });
    expect(codes(run({ op: 'add', path: '/notes/pin', value: sealed }))).toEqual([
      '0 /notes/pin validation-failed',
    ]);
  });

  it('takes no text for an entry that is stored sealed already', () => {
    const result = patchSettings(
      patchViewOf<Desk>(fields),
      () => ({}),
      present,
      parsed([{ op: 'add', path: '/notes/pin', value: 'plain' }]),
      noName,
    );
    expect(codes(result)).toEqual(['0 /notes/pin validation-failed']);
  });
});

describe('an undo', () => {
  it('brings the sealed text back', () => {
    const changed = patch({ op: 'replace', path: '/notes/pin', value: sealed });
    if (!changed.ok) throw new Error(changed.problem.detail);
    const { after: now, inverse } = changed.value;
    const reverted = revertSettings(view, now, parsed(inverse), noName);
    expect(reverted.ok && reverted.value.after).toEqual(present);
  });

  it('brings no text back that is secret by now', () => {
    const inverse = [{ op: 'add', path: '/notes/pin2', value: 'plain' }];
    const reverted = revertSettings(view, present, parsed(inverse), noName);
    expect(codes(reverted)).toEqual(['0 /notes/pin2 validation-failed']);
    expect(details(reverted)).toEqual(['is secret, and must be sealed']);
    expect(JSON.stringify(reverted)).not.toContain('plain');
  });

  it('names the place as clients do when it fails', () => {
    const inverse = [{ op: 'remove', path: '/notesSealed/pin9' }];
    expect(codes(revertSettings(view, present, parsed(inverse), noName))).toEqual([
      '0 /notes/pin9 patch-path-missing',
    ]);
  });
});

describe('settings of another snapshot', () => {
  it('are taken over with their sealed texts', () => {
    const given = { ...present, notesSealed: { pin: 'sealed-other' } };
    const adopted = adoptSettings(view, present, given, noName);
    expect(adopted.ok && adopted.value.after).toEqual(given);
  });

  it('are refused when an entry is sealed that is not secret here, or is not sealed that is secret', () => {
    const given = { ...present, notes: { pin2: 'plain' }, notesSealed: { ...present.notesSealed, key: 'x' } };
    const adopted = adoptSettings(view, present, given, noName);
    expect(codes(adopted)).toEqual([
      'undefined /notes/pin2 validation-failed',
      'undefined /notes/key validation-failed',
    ]);
    expect(JSON.stringify(adopted)).not.toContain('plain');
  });
});

describe('sealing', () => {
  const seal = (secret: string): Promise<string> => Promise.resolve(`<${String(secret.length)}>`);

  async function sealedValues(operations: readonly object[]): Promise<readonly (Json | undefined)[]> {
    const { sealed, faults } = await sealOperations(view, parsed(operations), { seal });
    expect(faults).toEqual([]);
    return sealed.map(({ value }) => value);
  }

  it('finds every secret of a patch from a client, and leaves everything else', async () => {
    const six = { sealed: '<6>' };
    expect(
      await sealedValues([
        { op: 'add', path: '/notes/pin', value: 'secret' },
        { op: 'test', path: '/notes/Pin', value: 'secret' },
        { op: 'add', path: '/notes', value: { PIN: 'secret', milk: 'secret', pin2: 7 } },
        { op: 'replace', path: '/boxes/pin', value: { content: 'secret', colour: 'red' } },
        { op: 'replace', path: '/boxes/pin/content', value: 'secret' },
        { op: 'replace', path: '/boxes', value: { pin: { content: 'secret' }, red: { content: 'open' } } },
        { op: 'add', path: '/notes/milk', value: 'open' },
        { op: 'remove', path: '/notes/pin' },
      ]),
    ).toEqual([
      six,
      six,
      { PIN: six, milk: 'secret', pin2: null },
      { content: six, colour: 'red' },
      six,
      { pin: { content: six }, red: { content: 'open' } },
      'open',
      undefined,
    ]);
  });

  it.each([[''], [7], [null], [sealed], [['secret']], ['x'.repeat(1025)], ['a\nb']] as const)(
    'lets no other value pass for a secret: %j',
    async (value) => {
      expect(
        await sealedValues([
          { op: 'add', path: '/notes/pin', value },
          { op: 'add', path: '/notes', value: { pin: value } },
          { op: 'add', path: '/boxes/pin', value: { content: value, colour: '' } },
        ]),
      ).toEqual([null, { pin: null }, { content: null, colour: '' }]);
      const [entry] = await sealedValues([{ op: 'add', path: '/boxes/pin', value }]);
      expect(entry === null || (entry as Partial<Record<string, Json>>)['content'] === null).toBe(true);
    },
  );

  it('does no work for a map that is refused for its size', async () => {
    const many = Object.fromEntries(Array.from({ length: 1001 }, (_, at) => [`pin${String(at)}`, 'secret']));
    const [value] = await sealedValues([{ op: 'add', path: '/notes', value: many }]);
    expect(new Set(Object.values(value as object))).toEqual(new Set([null]));
  });

  it('names each secret that could not be read after a restart', async () => {
    const operations = parsed([
      { op: 'add', path: '/notes', value: { pin: 'secret', milk: 'x' } },
      { op: 'add', path: '/boxes/pin/content', value: 'secret' },
    ]);
    const result = await sealOperations(view, operations, { seal: () => Promise.resolve(undefined) });
    const { faults } = result;
    expect(faults.map(({ operation, pointer, code }) => `${String(operation)} ${pointer} ${code}`)).toEqual([
      '0 /notes/pin secret-not-storable',
      '1 /boxes/pin/content secret-not-storable',
    ]);
    expect(faults[0]?.detail).toBe(
      'cannot be stored: the configuration outlives the process, and the key that seals secrets does not. ' +
        'Configure a lasting key for the gateway first',
    );
    expect(JSON.stringify(result)).not.toContain('"secret"');
  });
});

describe('what is shown of secret entries', () => {
  const redact = createRedactor(secretNames(fields));

  it('is nothing in a representation, and everything in a document', () => {
    const { rest, settings } = loadFields(fields, present);
    expect(saveFields(fields, rest, settings)).toEqual(present);
    const { notesSealed: _1, boxesSealed: _2, ...open } = present;
    const times = createTimeFormat('UTC');
    expect(representFields(fields, { rest, settings, derived: {}, times })).toEqual(open);
  });

  it('is the name of an entry, where a patch or a console shows that there is one', () => {
    expect(maskSecrets(present, new Set(['notesSealed', 'boxesSealed']))).toEqual({
      ...present,
      notesSealed: { pin: '[redacted]' },
      boxesSealed: { pin: { content: '[redacted]', colour: '[redacted]' } },
    });
    expect(redact({ before: present })).toEqual({
      before: { notes: present.notes, boxes: present.boxes },
    });
    expect(
      redact([
        { op: 'add', path: '/notesSealed/pin', value: 'sealed-pin' },
        { op: 'remove', path: '/boxesSealed/pin' },
        { op: 'add', path: '/notes/milk', value: 'open' },
        { op: 'replace', path: '/notes', value: { milk: 'open' } },
      ]),
    ).toEqual([
      { op: 'add', path: '/notes/pin' },
      { op: 'remove', path: '/boxes/pin' },
      { op: 'add', path: '/notes/milk', value: 'open' },
      { op: 'replace', path: '/notes', value: { milk: 'open' } },
    ]);
  });
});
