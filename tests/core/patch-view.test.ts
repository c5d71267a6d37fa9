/**
 * Patches of settings, and the updates that they make. The fields are those of a toy, because no kind has every case.
 */
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import * as z from 'zod/mini';

import type { Json, JsonObject } from '../../src/json/value.ts';
import { applyPatch, parseOperations, type Operation } from '../../src/json/patch.ts';
import { defineFields } from '../../src/core/field.ts';
import { sealOperations } from '../../src/core/patch-seal.ts';
import { patchSettings, patchViewOf, revertSettings } from '../../src/core/patch-view.ts';
import type { FindName } from '../../src/core/reference.ts';
import type { Result } from '../../src/problem.ts';
import { changedBy, invertUpdate, mergeUpdate, wholeUpdate, type Update } from '../../src/core/update.ts';

/** A toy: a house with an owner, guests who are linked, and two secrets that nobody may read. */
interface House {
  readonly colour: 'red' | 'green';
  readonly guests: readonly string[];
  readonly rooms: Readonly<Record<string, number>>;
  readonly owner?: string;
  readonly keySealed?: string;
  readonly alarmSealed?: string;
}
interface StoredHouse {
  readonly address: string;
  readonly age: number;
}
type ShownHouse = StoredHouse & Pick<House, 'rooms' | 'owner'> & { readonly paint: House['colour'] };

const fields = defineFields<{
  settings: House;
  representation: ShownHouse & Partial<Pick<House, 'guests'>>;
  document: ShownHouse & Partial<Pick<House, 'guests' | 'keySealed' | 'alarmSealed'>>;
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
  rooms: { shape: z.record(z.string(), z.int()), setting: true },
  owner: { shape: z.string(), setting: true, optional: true },
  key: { shape: z.string(), setting: true, optional: true, secret: 'keySealed' },
  alarm: { shape: z.string(), setting: true, optional: true, secret: 'alarmSealed' },
});
const view = patchViewOf<House>(fields);

const house: House = {
  colour: 'red',
  guests: ['/people/Ada'],
  rooms: { hall: 1 },
  keySealed: 'sealed-key',
  alarmSealed: 'sealed-alarm',
};
const shown: JsonObject = { address: 'Main Street', age: 100, paint: 'red' };
const find: FindName = (collection, name) =>
  collection === 'people' ? ['Ada', 'Bob'].find((each) => each.toLowerCase() === name) : undefined;

function patch(...operations: readonly Operation[]): ReturnType<typeof patchSettings<House>> {
  const parsed = parseOperations(operations);
  return parsed.ok ? patchSettings(view, () => shown, house, parsed.value, find) : parsed;
}

function undo(inverse: readonly Operation[], present = house): ReturnType<typeof revertSettings<House>> {
  const parsed = parseOperations(inverse);
  return parsed.ok ? revertSettings(view, present, parsed.value, find) : parsed;
}

function codes<T>(result: Result<T>): readonly string[] {
  return result.ok
    ? []
    : (result.problem.errors ?? []).map(
        ({ pointer, code, operation }) => `${String(operation)} ${pointer} ${code}`,
      );
}

describe('patchSettings', () => {
  it('gives settings of the shape or faults with an operation each, whatever is asked for', () => {
    const pointer = fc.constantFrom(
      '',
      '/colour',
      '/paint',
      '/guests',
      '/guests/0',
      '/guests/-',
      '/rooms/hall',
      '/rooms/new',
      '/owner',
      '/key',
      '/keySealed',
      '/alarm',
      '/alarmSealed',
      '/age',
      '/address/0',
      '/toString',
      '/__proto__',
      '/rooms/constructor',
    );
    const value = fc.constantFrom<Json>(
      'red',
      'blue',
      7,
      null,
      [],
      ['/people/bob'],
      '/people/bob',
      '/people/eve',
      {},
      { hall: 2 },
      { sealed: 'x' },
      { __proto__: 1 },
    );
    const operation = fc.oneof(
      fc.record({ op: fc.constantFrom('add', 'replace', 'test'), path: pointer, value }),
      fc.record({ op: fc.constant('remove'), path: pointer }),
      fc.record({ op: fc.constantFrom('move', 'copy'), path: pointer, from: pointer }),
    ) as fc.Arbitrary<Operation>;
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 4 }), (operations) => {
        const before = JSON.stringify(house);
        const result = patch(...operations);
        expect(JSON.stringify(house)).toBe(before);
        if (result.ok) {
          const { colour, guests, rooms } = result.value.after;
          expect(['red', 'green']).toContain(colour);
          expect(Array.isArray(guests) && typeof rooms === 'object').toBe(true);
          expect(Object.keys(result.value.after)).not.toContain('key');
          expect(Object.keys(result.value.after)).not.toContain('alarm');
          expect(
            result.value.after.guests.every((link) => ['/people/Ada', '/people/Bob'].includes(link)),
          ).toBe(true);
          if (
            JSON.stringify(result.value.after) === before &&
            !operations.some(({ path }) => path === '/key' || path === '/alarm')
          ) {
            expect(result.value.after).toBe(house);
          }
        } else {
          expect(codes(result)).not.toHaveLength(0);
          // Items of a list move when others come or go before them: then nobody can tell.
          expect(codes(result).filter((code) => !/^\d |^undefined \/guests\/\d/.test(code))).toEqual([]);
          expect(JSON.stringify(result)).not.toMatch(/sealed-(?:key|alarm)/);
        }
      }),
      { numRuns: 500 },
    );
  });

  // Promise: patch-no-op
  it('gives the very settings when nothing changes, and only the operations that are needed otherwise', () => {
    const same = patch({ op: 'replace', path: '/colour', value: 'red' });
    expect(same.ok && same.value.after).toBe(house);
    const changed = patch(
      { op: 'replace', path: '/rooms', value: { hall: 1, loft: 2 } },
      { op: 'replace', path: '/colour', value: 'red' },
    );
    expect(changed).toMatchObject({
      ok: true,
      value: { operations: [{ op: 'add', path: '/rooms/loft', value: 2 }] },
    });
  });

  it('knows other spellings of a field', () => {
    expect(patch({ op: 'replace', path: '/paint', value: 'green' })).toMatchObject({
      ok: true,
      value: { after: { colour: 'green' } },
    });
    expect(patch({ op: 'move', from: '/paint', path: '/paint' })).toMatchObject({
      ok: true,
      value: { after: house },
    });
  });

  it('writes links in one form', () => {
    expect(patch({ op: 'add', path: '/guests/-', value: '/people/BOB' })).toMatchObject({
      value: { after: { guests: ['/people/Ada', '/people/Bob'] } },
    });
    expect(codes(patch({ op: 'add', path: '/guests/-', value: '/people/ADA' }))).toEqual([
      '0 /guests/1 link-unresolved',
    ]);
  });

  it('empties what can be empty and refuses to remove what is needed', () => {
    expect(patch({ op: 'remove', path: '/guests' })).toMatchObject({ value: { after: { guests: [] } } });
    expect(
      patch({ op: 'remove', path: '/guests' }, { op: 'add', path: '/guests/-', value: '/people/bob' }),
    ).toMatchObject({ value: { after: { guests: ['/people/Bob'] } } });
    expect(codes(patch({ op: 'remove', path: '/rooms' }))).toEqual(['0 /rooms validation-failed']);
    expect(codes(patch({ op: 'remove', path: '/owner' }))).toEqual(['0 /owner patch-path-missing']);
    expect(patch({ op: 'replace', path: '/owner', value: 'Bob' })).toMatchObject({
      value: { after: { owner: 'Bob' } },
    });
  });

  it('lets a test read what cannot be modified, and nothing else touch it', () => {
    expect(patch({ op: 'test', path: '/age', value: 100 }).ok).toBe(true);
    expect(codes(patch({ op: 'test', path: '/age', value: 101 }))).toEqual(['0 /age patch-test-failed']);
    expect(codes(patch({ op: 'copy', from: '/address', path: '/owner' }))).toEqual([
      '0 /address field-not-modifiable',
    ]);
  });

  it('names all that breaks the rules before it tries anything', () => {
    expect(
      codes(
        patch(
          { op: 'replace', path: '/colour', value: 'green' },
          { op: 'replace', path: '/age', value: 1 },
          { op: 'add', path: '/nothing', value: 1 },
          { op: 'test', path: '/key', value: 'x' },
          { op: 'add', path: '/rooms/prototype', value: 1 },
          { op: 'remove', path: '' },
        ),
      ),
    ).toEqual([
      '1 /age field-not-modifiable',
      '2 /nothing field-unknown',
      '3 /key field-write-only',
      '4 /rooms/prototype reserved-key',
      '5  op-not-allowed',
    ]);
  });

  const modifiable = 'modifiable fields: colour, guests, rooms, owner, key, alarm';
  const secret =
    'names a secret, which a patch cannot read or compare; add, replace or remove the whole secret';
  it.each<[Operation, string]>([
    [{ op: 'add', path: '/x', value: 1 }, `/x: names no field of this resource; ${modifiable}`],
    [{ op: 'replace', path: '/age', value: 1 }, `/age: names a field that cannot be modified; ${modifiable}`],
    [
      { op: 'remove', path: '' },
      `must name a field, because a patch cannot change the whole resource; ${modifiable}`,
    ],
    [{ op: 'test', path: '/key', value: 'x' }, `/key: ${secret}`],
    [
      { op: 'add', path: '/key', value: 7 },
      '/key: must be a string of 1 to 1024 bytes in UTF-8 without control characters',
    ],
    [
      { op: 'add', path: '/key', value: '' },
      '/key: must be a string of 1 to 1024 bytes in UTF-8 without control characters',
    ],
    [{ op: 'add', path: '/key', value: 'x' }, '/key: must be sealed first, as { "sealed": … }'],
    [
      { op: 'add', path: '/rooms/prototype', value: 1 },
      '/rooms/prototype: "prototype" is not allowed as a key',
    ],
    [
      { op: 'add', path: '/rooms', value: { constructor: 1 } },
      '/rooms/constructor: __proto__, constructor and prototype are not allowed as keys',
    ],
  ])('says of %j: %s', (operation, sentence) => {
    const result = patch(operation);
    expect(result.ok || result.problem.detail).toBe(sentence);
  });

  it('names the operation that wrote what is wrong in the end', () => {
    expect(
      codes(
        patch(
          { op: 'replace', path: '/rooms', value: { hall: 'x' } },
          { op: 'replace', path: '/colour', value: 'blue' },
          { op: 'add', path: '/guests/0', value: '/people/eve' },
          { op: 'replace', path: '/colour', value: 'pink' },
        ),
      ).toSorted(),
    ).toEqual([
      '0 /rooms/hall validation-failed',
      '2 /guests/0 link-unresolved',
      '3 /colour validation-failed',
    ]);
    expect(
      codes(
        patch(
          { op: 'replace', path: '/guests', value: ['/people/ada', '/people/bob'] },
          { op: 'add', path: '/guests/0', value: '/people/eve' },
        ),
      ),
    ).toEqual(['1 /guests validation-failed', '1 /guests/0 link-unresolved']);
  });
});

describe('a value that holds one object many times over', () => {
  it('is refused for what it comes to, and not counted out', () => {
    const doubled = Array.from({ length: 25 }).reduce<Json>((inner) => ({ a: inner, b: inner }), {});
    expect(codes(patch({ op: 'add', path: '/rooms/new', value: doubled }))).toEqual([
      '0 /rooms/new patch-result-too-large',
    ]);
  });
});

describe('a value with many members', () => {
  const rooms = (count: number): Json =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`r${String(index)}`, index]));

  it('is accepted up to 1000 members, and refused above', () => {
    const most: Operation = { op: 'replace', path: '/rooms', value: rooms(1000) };
    const more: Operation = { op: 'replace', path: '/rooms', value: rooms(1001) };
    expect(patch(most).ok).toBe(true);
    expect(codes(patch(more))).toEqual(['0 /rooms validation-failed']);
  });
});

describe('a copy', () => {
  it('of what is wrong is not named as the operation at fault', () => {
    const result = patch(
      { op: 'replace', path: '/rooms/hall', value: 'large' },
      { op: 'copy', from: '/rooms/hall', path: '/owner' },
    );
    expect(codes(result)).toEqual(['0 /rooms/hall validation-failed']);
  });
});

describe('a move', () => {
  it('of a whole list leaves the list empty for the next operations, and a move of an item leaves the other items', () => {
    const whole = patch(
      { op: 'move', from: '/guests', path: '/owner' },
      { op: 'replace', path: '/owner', value: 'Eve' },
    );
    expect(whole).toMatchObject({ value: { after: { guests: [], owner: 'Eve' } } });
    const refilled = patch(
      { op: 'move', from: '/guests', path: '/owner' },
      { op: 'replace', path: '/owner', value: 'Eve' },
      { op: 'add', path: '/guests/-', value: '/people/Bob' },
    );
    expect(refilled).toMatchObject({ value: { after: { guests: ['/people/Bob'], owner: 'Eve' } } });
    const item = patch(
      { op: 'add', path: '/guests/-', value: '/people/Bob' },
      { op: 'move', from: '/guests/0', path: '/owner' },
    );
    expect(item).toMatchObject({ value: { after: { guests: ['/people/Bob'], owner: '/people/Ada' } } });
  });

  it('of what is needed is named as the operation at fault', () => {
    expect(codes(patch({ op: 'move', from: '/colour', path: '/owner' }))).toEqual([
      '0 /colour validation-failed',
    ]);
  });
});

describe('a field that is kept sealed', () => {
  const sealed = { sealed: 'new' };

  it('is a change whenever it is written, and is stored under its own name', () => {
    expect(patch({ op: 'add', path: '/key', value: sealed })).toMatchObject({
      value: { after: { ...house, keySealed: 'new' } },
    });
    const again = patch({ op: 'replace', path: '/key', value: { sealed: 'sealed-key' } });
    expect(again).toMatchObject({ ok: true, value: { after: house, operations: [] } });
    expect(again.ok && again.value.after).not.toBe(house);
  });

  it('comes back when its change is undone', () => {
    const changed = patch({ op: 'add', path: '/key', value: sealed });
    if (!changed.ok) throw new Error(changed.problem.detail);
    const { after, inverse } = changed.value;
    const reverted = undo(inverse, after);
    expect(reverted.ok && reverted.value.after).toEqual(house);
  });

  it('is removed like any other', () => {
    const { keySealed, ...rest } = house;
    expect(keySealed).toBe('sealed-key');
    const result = patch({ op: 'remove', path: '/key' });
    expect(result.ok && result.value.after).toEqual(rest);
  });

  it('has a second one beside it, each stored under its own name and never read', () => {
    const { keySealed: _gone, ...rest } = house;
    const result = patch({ op: 'remove', path: '/key' }, { op: 'add', path: '/alarm', value: sealed });
    expect(result.ok && result.value.after).toEqual({ ...rest, alarmSealed: 'new' });
    for (const path of ['/key', '/alarm']) {
      expect(codes(patch({ op: 'test', path, value: 'sealed-alarm' }))).toEqual([
        `0 ${path} field-write-only`,
      ]);
      expect(codes(patch({ op: 'copy', from: path, path: '/owner' }))).toEqual([
        `0 ${path} field-write-only`,
      ]);
    }
  });

  it('is sealed before it gets here, whatever a client sends', async () => {
    const sent: Json[] = ['secret', '', 7, null, { sealed: 'forged' }, ['secret'], 'x'.repeat(1025), 'a\nb'];
    const parsed = parseOperations([
      ...sent.map((value) => ({ op: 'add', path: '/key', value })),
      { op: 'test', path: '/key', value: 'secret' },
      { op: 'add', path: '/key/x', value: 'secret' },
      { op: 'remove', path: '/key' },
      { op: 'add', path: '/owner', value: 'secret' },
    ]);
    if (!parsed.ok) throw new Error('It is no patch');
    const seal = (secret: string): Promise<string> => Promise.resolve(`<${String(secret.length)}>`);
    const { sealed: operations, faults } = await sealOperations(view, parsed.value, { seal });
    expect(faults).toEqual([]);
    expect(operations.map(({ value }) => value)).toEqual([
      { sealed: '<6>' },
      ...Array.from({ length: 7 }, () => null),
      { sealed: '<6>' },
      { sealed: '<6>' },
      undefined,
      'secret',
    ]);
    expect(operations.map(({ index }) => index)).toEqual(operations.map((_, index) => index));
  });

  it('are refused, each with its place, when they could not be read after a restart', async () => {
    const parsed = parseOperations([
      { op: 'test', path: '/key', value: 'secret' },
      { op: 'replace', path: '/owner', value: 'ada' },
      { op: 'replace', path: '/key', value: 'secret' },
    ]);
    if (!parsed.ok) throw new Error('It is no patch');
    const seal = (): Promise<undefined> => Promise.resolve(undefined);
    const sealed = await sealOperations(view, parsed.value, { seal });
    expect(sealed.faults).toMatchObject([{ pointer: '/key', operation: 2, code: 'secret-not-storable' }]);
    expect(JSON.stringify(sealed)).not.toContain('"secret"');
  });
});

describe('an undo', () => {
  it('is refused for the whole resource', () => {
    expect(undo([{ op: 'replace', path: '', value: null }])).toMatchObject({
      ok: false,
      problem: { code: 'op-not-allowed' },
    });
  });
});

type Settings = Readonly<Record<string, Json>>;

const values = fc.oneof(
  fc.constantFrom<Json>(0, 'a', true, null),
  fc.array(fc.nat(3)),
  fc.dictionary(fc.constantFrom('x', 'y'), fc.nat(3)).map((record): Json => ({ ...record })),
);
const settings: fc.Arbitrary<Settings> = fc
  .dictionary(fc.constantFrom('one', 'two', 'three', 'four'), values)
  .map((record) => ({ ...record }));

/** Whether two values are the same whatever the order of their members. */
function sameValue(one: Json | undefined, other: Json | undefined): boolean {
  const [a, b] = [one, other].map((value) =>
    isRecord(value) ? `record ${JSON.stringify(Object.entries(value).toSorted())}` : JSON.stringify(value),
  );
  return a === b;
}

function isRecord(value: Json | undefined): value is Settings {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const update = (before: Settings, after: Settings): Update<Settings> => ({ before, after, operations: [] });

describe('an update without the settings that it does not change', () => {
  it('does the same to any settings', () => {
    fc.assert(
      fc.property(settings, settings, settings, (before, after, present) => {
        const whole = update(before, after);
        expect(mergeUpdate(present, changedBy(whole))).toEqual(mergeUpdate(present, whole));
      }),
    );
  });

  it('has them again from what it was decided on, and so has one that never lost them', () => {
    fc.assert(
      fc.property(settings, settings, (before, after) => {
        const whole = update(before, after);
        for (const each of [changedBy(whole), whole])
          expect(wholeUpdate(before, each)).toEqual({ before, after });
      }),
    );
  });

  it('has nothing that both sides have', () => {
    fc.assert(
      fc.property(settings, settings, (before, after) => {
        const changed = changedBy(update(before, after));
        for (const name of Object.keys({ ...changed.before, ...changed.after }))
          expect(sameValue(changed.before[name], changed.after[name])).toBe(false);
      }),
    );
  });
});

describe('mergeUpdate', () => {
  it('gives what was decided when nothing else has changed', () => {
    fc.assert(
      fc.property(settings, settings, (before, after) => {
        expect(mergeUpdate(before, update(before, after))).toEqual(after);
      }),
    );
  });

  it('keeps what has changed meanwhile wherever the update leaves a field alone', () => {
    fc.assert(
      fc.property(settings, settings, settings, (before, after, present) => {
        const merged = mergeUpdate(present, update(before, after));
        for (const name of ['one', 'two', 'three', 'four']) {
          const alone = sameValue(before[name], after[name]);
          expect(merged[name]).toEqual(alone ? present[name] : after[name]);
        }
      }),
    );
  });

  it('changes neither what is there nor the update', () => {
    const present = Object.freeze({ one: 1, two: 2 });
    expect(mergeUpdate(present, update(present, { one: 3 }))).toEqual({ one: 3 });
    expect(present).toEqual({ one: 1, two: 2 });
  });

  it('sets a field again that had been unset meanwhile', () => {
    expect(mergeUpdate({ two: 2 }, update({ one: 1, two: 2 }, { one: 3, two: 2 }))).toEqual({
      one: 3,
      two: 2,
    });
  });
});

describe('invertUpdate', () => {
  it('gives the inverse: its operations make of what came what there was', () => {
    fc.assert(
      fc.property(settings, settings, (before, after) => {
        const inverse = invertUpdate(update(before, after));
        expect([inverse.before, inverse.after]).toEqual([after, before]);
        expect(applyPatch(after, inverse.operations)).toEqual({ ok: true, value: before });
      }),
    );
  });

  it('keeps what else the effect says', () => {
    const effect = {
      type: 'server.update',
      resource: '/servers/a',
      server: 'a',
      ...update({ one: 1 }, { one: 2 }),
    };
    expect(invertUpdate(effect)).toEqual({
      type: 'server.update',
      resource: '/servers/a',
      server: 'a',
      before: { one: 2 },
      after: { one: 1 },
      operations: [{ op: 'replace', path: '/one', value: 1 }],
    });
  });
});
