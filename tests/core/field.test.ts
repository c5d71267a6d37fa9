/**
 * Tables of fields, on a toy with every kind of field: no kind of resource has every case.
 */
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import * as z from 'zod/mini';

import { patchSettings, patchViewOf } from '../../src/core/patch-view.ts';
import {
  defineFields,
  keepFields,
  loadFields,
  representFields,
  saveFields,
  secretNames,
  type Fields,
} from '../../src/core/field.ts';
import { createRedactor } from '../../src/core/secret.ts';
import * as shape from '../../src/core/shape.ts';
import { createTimeFormat } from '../../src/core/time.ts';
import { parseOperations } from '../../src/json/patch.ts';
import { diff } from '../../src/json/diff.ts';
import type { Json } from '../../src/json/value.ts';

/**
 * A toy: a safe with two secrets, a colour in small letters, a list that hides while it is empty, a time, and a figure
 * that is counted.
 */
interface SafeSettings {
  readonly colour: string;
  readonly guards: readonly string[];
  readonly codeSealed?: string;
  readonly alarmSealed?: string;
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
  readonly codeSealed?: string;
  readonly alarmSealed?: string;
  readonly makerHash: string;
}
interface StoredSafe {
  readonly name: string;
  readonly built: number;
  readonly note?: string;
  readonly makerHash: string;
}

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
  built: { shape: shape.instant, time: 'rfc5322', kept: false },
  openings: { shape: z.int(), derived: true },
  guards: { shape: shape.links, setting: true, links: 'guards', default: [], hiddenWhenEmpty: true },
  note: { shape: shape.text(20), optional: true, kept: (note: string) => note.slice(0, 4) },
  code: { shape: shape.text(99), setting: true, optional: true, secret: 'codeSealed' },
  alarm: { shape: shape.text(99), setting: true, optional: true, secret: 'alarmSealed' },
  maker: { shape: shape.text(99), secret: 'makerHash' },
  tag: { shape: shape.text(9), derived: true, optional: true, onRequest: true },
});

const full: SafeDocument = {
  name: 'Vault',
  paint: 'red',
  built: '2016-08-31T23:29:26+03:00',
  openings: 'ignored',
  guards: ['/guards/ada'],
  note: 'heavy',
  codeSealed: 'planted-code',
  alarmSealed: 'planted-alarm',
  makerHash: 'planted-maker',
};
const times = createTimeFormat('Europe/Helsinki');

function represent(of: Fields, document: object, derived: object = { openings: 3 }): object {
  return representFields(of, { ...loadFields(of, document), derived, times });
}

describe('the fields of a kind', () => {
  it('fill in what a document leaves out, and read times as instants', () => {
    expect(loadFields(fields, { name: 'Bare', built: '1970-01-01T00:00:01Z', makerHash: 'x' })).toEqual({
      rest: { name: 'Bare', built: 1000, makerHash: 'x' },
      settings: { colour: 'grey', guards: [] },
    });
  });

  it('bring the values of a document into their stored form', () => {
    expect(loadFields(fields, { ...full, paint: 'Red' })).toEqual(loadFields(fields, full));
  });

  it('are written as they are read, but for what is derived', () => {
    const { rest, settings } = loadFields(fields, full);
    const { openings: _counted, ...written } = full;
    expect(saveFields(fields, rest, settings)).toEqual({ ...written, built: '2016-08-31T20:29:26+00:00' });
    expect(loadFields(fields, saveFields(fields, rest, settings))).toEqual({ rest, settings });
  });

  it('are not written while they are absent', () => {
    const { rest, settings } = loadFields(fields, {
      name: 'Bare',
      built: '1970-01-01T00:00:01Z',
      makerHash: 'x',
    });
    expect(Object.keys(saveFields(fields, rest, settings))).toEqual([
      'name',
      'paint',
      'built',
      'guards',
      'makerHash',
    ]);
  });

  it('leave out of a document entry what ends with the process, and leave the rest to its shape', () => {
    const { openings: _counted, built: _seen, ...lasting } = full;
    expect(keepFields(fields, full)).toEqual({ ...lasting, note: 'heav' });
    expect(keepFields(fields, { name: 'Bare', stranger: 1 })).toEqual({ name: 'Bare', stranger: 1 });
  });

  it('are shown in the order of the table, without secrets, and without what is empty or absent', () => {
    const shown = represent(fields, full);
    expect(Object.entries(shown)).toEqual([
      ['name', 'Vault'],
      ['paint', 'red'],
      ['built', 'Wed, 31 Aug 2016 23:29:26 +0300'],
      ['openings', 3],
      ['guards', ['/guards/ada']],
      ['note', 'heavy'],
    ]);
    const bare = represent(fields, { name: 'Bare', built: full.built, makerHash: 'x' });
    expect(Object.keys(bare)).toEqual(['name', 'paint', 'built', 'openings']);
  });

  it('make shapes that accept what they write, and nothing else', () => {
    expect(z.safeParse(fields.document, full).success).toBe(true);
    expect(z.safeParse(fields.representation, represent(fields, full)).success).toBe(true);
    for (const stranger of ['code', 'codeSealed', 'makerHash', 'colour', 'other']) {
      expect(
        z.safeParse(fields.representation, { ...represent(fields, full), [stranger]: 'x' }).success,
      ).toBe(false);
    }
    for (const needed of ['name', 'built', 'makerHash'] as const) {
      const { [needed]: _gone, ...rest } = full;
      expect(z.safeParse(fields.document, rest).success).toBe(false);
    }
  });

  it('are in no document if they are shown on request', () => {
    const shown = represent(fields, full, { openings: 3, tag: 'T' });
    expect([Object.keys(shown).at(-1), z.safeParse(fields.representation, shown).success]).toEqual([
      'tag',
      true,
    ]);
    expect(z.safeParse(fields.document, { ...full, tag: 'T' }).success).toBe(false);
    const { rest, settings } = loadFields(fields, full);
    expect(saveFields(fields, rest, settings)).not.toHaveProperty('tag');
  });

  it('say which of them hold links and which are secrets', () => {
    expect(fields.links).toEqual({ guards: 'guards' });
    expect(secretNames(fields)).toEqual([
      { stored: 'codeSealed', client: 'code', whole: true },
      { stored: 'alarmSealed', client: 'alarm', whole: true },
      { stored: 'makerHash', client: 'maker', whole: true },
    ]);
  });
});

describe('two secrets in one view', () => {
  const view = patchViewOf<SafeSettings>(fields);
  const redact = createRedactor(secretNames(fields));
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

  it('are each stored under their own name, and neither is ever shown', () => {
    const patched = patch([
      { op: 'add', path: '/code', value: { sealed: 'planted-code 2' } },
      { op: 'replace', path: '/alarm', value: { sealed: 'planted-alarm 2' } },
    ]);
    if (!patched.ok) throw new Error(patched.problem.detail);
    const { after, operations, inverse } = patched.value;
    expect(after).toEqual({ ...settings, codeSealed: 'planted-code 2', alarmSealed: 'planted-alarm 2' });
    expect(
      JSON.stringify(representFields(fields, { rest, settings: after, derived: {}, times })),
    ).not.toMatch(planted);
    const told = { event: { before: settings, after, operations, inverse }, effect: { after } };
    expect(JSON.stringify(told)).toMatch(planted);
    expect(JSON.stringify(redact(told))).not.toMatch(planted);
    expect(redact(operations)).toEqual([
      { op: 'replace', path: '/code' },
      { op: 'replace', path: '/alarm' },
    ]);
  });

  it('cannot be read by a patch, whatever it copies and tests', () => {
    for (const secret of ['code', 'alarm', 'codeSealed', 'alarmSealed']) {
      for (const operation of [
        { op: 'test', path: `/${secret}`, value: 'planted-code' },
        { op: 'copy', from: `/${secret}`, path: '/paint' },
        { op: 'move', from: `/${secret}`, path: '/paint' },
      ]) {
        const patched = patch([operation]);
        expect(patched.ok).toBe(false);
        expect(JSON.stringify(patched)).not.toMatch(planted);
      }
    }
  });

  it.each(['codeSealed', 'maker', 'makerHash'])(
    'do not make the name %j, which clients never see, a field for a patch',
    (name) => {
      for (const operation of [
        { op: 'test', path: `/${name}`, value: 'planted-maker' },
        { op: 'add', path: `/${name}`, value: 'x' },
        { op: 'copy', from: `/${name}`, path: '/paint' },
      ]) {
        expect(patch([operation])).toMatchObject({
          problem: { errors: [{ pointer: `/${name}`, code: 'field-unknown' }] },
        });
      }
    },
  );

  it('are taken out of the difference of two documents, at any depth', () => {
    const before = { safes: [full], old: { deep: [{ safe: full }] } };
    const after = {
      safes: [{ ...full, codeSealed: 'planted-code 2' }],
      old: { deep: [{ safe: { ...full, makerHash: 'planted-maker 2', note: 'light' } }] },
      more: full,
    };
    const patched = diff(before as unknown as Json, after as unknown as Json);
    expect(JSON.stringify(patched)).toMatch(planted);
    expect(JSON.stringify(redact(patched))).not.toMatch(planted);
    expect(JSON.stringify(redact(patched))).toContain('light');
    const guarded = diff(before as unknown as Json, after as unknown as Json, { guards: true });
    expect(JSON.stringify(redact(guarded))).not.toMatch(planted);
  });

  it('lose their value wherever a pointer leads to them or into them', () => {
    const value = 'planted-code';
    expect(
      redact([
        { op: 'add', path: '/safes/0/codeSealed', value },
        { op: 'test', path: '/safes/0/alarm', value },
        { op: 'add', path: '/codeSealed/deeper/still', value },
        { op: 'copy', from: '/safes/0/codeSealed', path: '/paint', value },
        { op: 'move', from: '/paint', path: '/a~1b/alarmSealed' },
        { op: 'replace', path: '/paint', value: 'blue' },
        { op: 'replace', path: 7, value: 'blue' },
      ]),
    ).toEqual([
      { op: 'add', path: '/safes/0/code' },
      { op: 'test', path: '/safes/0/alarm' },
      { op: 'add', path: '/code/deeper/still' },
      { op: 'copy', from: '/safes/0/code', path: '/paint' },
      { op: 'move', from: '/paint', path: '/a~1b/alarm' },
      { op: 'replace', path: '/paint', value: 'blue' },
      { op: 'replace', path: 7, value: 'blue' },
    ]);
  });

  it('are redacted without recursion, and all else is left as it is', () => {
    let deep: Json = { codeSealed: 'planted-code', kept: true };
    for (let level = 0; level < 200_000; level += 1) deep = level % 2 === 0 ? [deep] : { in: deep };
    let copy: Json | undefined = redact(deep);
    while (copy !== null && typeof copy === 'object' && !('kept' in copy)) copy = Object.values(copy)[0];
    expect(copy).toEqual({ kept: true });
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(redact(value)).toEqual(value);
      }),
    );
  });
});
