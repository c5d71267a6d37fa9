import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';

import { parseFields, selectFields } from '../../src/http/fields.ts';

const known = ['id', 'name', 'state', '__proto__', 'constructor'] as const;

describe('parseFields', () => {
  it('gives what was asked for in the order of the resource, each once, however it was asked', () => {
    const names = fc.array(fc.constantFrom(...known), { minLength: 1 });
    const space = fc.constantFrom('', ' ', '\t ');
    fc.assert(
      fc.property(names, fc.array(names), space, (first, others, around) => {
        const values = [first, ...others].map((list) => list.map((name) => around + name + around).join(','));
        const asked = [first, ...others].flat();
        expect(parseFields(values, known)).toEqual({
          ok: true,
          value: known.filter((name) => asked.includes(name)),
        });
      }),
    );
  });

  it('accepts nothing but known names', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (values) => {
        const result = parseFields(values, known);
        const names = values.join(',').split(',');
        expect(result.ok).toBe(names.every((name) => (known as readonly string[]).includes(name.trim())));
      }),
    );
  });

  it.each([
    ['an unknown name', ['id,colour'], 'There is no field "colour" here.'],
    ['other case', ['ID'], 'There is no field "ID" here.'],
    ['an inherited name', ['toString'], 'There is no field "toString" here.'],
    ['a nested name', ['name/first'], 'There is no field "name/first" here.'],
    [
      'an empty list',
      [''],
      'The parameter "fields" must be names separated by commas, and one name is empty.',
    ],
    ['no list', [], 'The parameter "fields" must be names separated by commas, and one name is empty.'],
    [
      'a trailing comma',
      ['id,'],
      'The parameter "fields" must be names separated by commas, and one name is empty.',
    ],
    [
      'one good list of two',
      ['id', ' '],
      'The parameter "fields" must be names separated by commas, and one name is empty.',
    ],
  ])('refuses %s and lists the names that exist', (_what, values, sentence) => {
    expect(parseFields(values, ['id', 'name'])).toEqual({
      ok: false,
      problem: expect.objectContaining({
        code: 'fields-invalid',
        status: 400,
        detail: `${sentence} The fields are: id, name.`,
      }),
    });
  });

  it('repeats only the beginning of a long name', () => {
    const result = parseFields(['x'.repeat(8000)], ['id']);
    expect(result).toMatchObject({
      problem: { detail: `There is no field "${'x'.repeat(100)}"… here. The fields are: id.` },
    });
  });
});

describe('selectFields', () => {
  it('keeps the own properties that were asked for, in the order given, and nothing else', () => {
    const representation = fc.dictionary(fc.oneof(fc.constantFrom(...known), fc.string()), fc.integer());
    fc.assert(
      fc.property(
        representation,
        fc.uniqueArray(fc.oneof(fc.constantFrom(...known), fc.string())),
        (whole, fields) => {
          // Keys that look like array indexes come first in any object.
          const plain = fields.filter((name) => !/^\d+$/.test(name));
          const selection = selectFields(plain)(whole);
          expect(Object.keys(selection)).toEqual(plain.filter((name) => Object.hasOwn(whole, name)));
          expect(Object.getPrototypeOf(selection)).toBe(Object.prototype);
          for (const [name, value] of Object.entries(selection)) {
            expect(value).toBe(Object.getOwnPropertyDescriptor(whole, name)?.value);
          }
        },
      ),
    );
  });

  it('leaves out an optional field that is absent, and everything inherited', () => {
    expect(selectFields(['name', 'filters', 'toString'])({ name: 'a', state: 'started' })).toEqual({
      name: 'a',
    });
  });

  it('treats a field named __proto__ like any other', () => {
    const whole: unknown = JSON.parse('{"__proto__":{"polluted":true},"id":1}');
    const selection = selectFields(['__proto__'])(whole as object);
    expect(JSON.stringify(selection)).toBe('{"__proto__":{"polluted":true}}');
    expect('polluted' in selection).toBe(false);
    expect(selectFields(['__proto__'])({ id: 1 })).toEqual({});
  });

  it('leaves the representation as it was', () => {
    const whole = Object.freeze({ id: 1, name: 'a' });
    expect(selectFields(['id'])(whole)).toEqual({ id: 1 });
    expect(whole).toEqual({ id: 1, name: 'a' });
  });
});
