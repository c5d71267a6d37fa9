import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { createSecretSealer, linkTo, type Fault } from 'gateway-admin-core';
import { createClient, sendTo } from 'gateway-admin-core/client';
import { applyPatch, type Json } from 'gateway-admin-core/json';

import { commandOf } from '../../console/connection.ts';
import type { Field } from '../../console/meaning.ts';
import { definitionOf, faultsByField, patchOf, textsOf, type Typed } from '../../console/form.ts';
import { formats } from '../../console/text.ts';
import { runAdmin } from '../support/running-admin.ts';
import { fieldTable } from './built-fields.ts';

type Values = Readonly<Record<string, unknown>>;

/** A text of one line, with the signs that lines and lists use. */
const line = fc
  .array(fc.constantFrom('a', 'b', '=', ' = ', ' ', ',', '/', '%', '"', '2', 'true', '{', 'é'), {
    minLength: 1,
  })
  .map((parts) => parts.join(''));
const name = line.filter((each) => each.trim() === each && each !== '.' && each !== '..');
const plain = fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean(), line);

/** What a field of each type may have. */
function valuesOf({ name: field, type, choices, values }: Field): fc.Arbitrary<unknown> {
  const parameters = fc.record({ value: line, configurable: fc.boolean() });
  const inMap: fc.Arbitrary<unknown> = { texts: line, parameters, plain }[values ?? 'plain'];
  switch (type) {
    case 'number':
      return fc.nat();
    case 'flag':
      return fc.boolean();
    case 'choice':
      return fc.constantFrom(...(choices ?? []));
    case 'names':
      return fc.uniqueArray(name.map((each) => linkTo(field, each)));
    case 'words':
      return fc.uniqueArray(fc.constantFrom('master', 'running'));
    case 'map':
      return fc.dictionary(line, inMap);
    case 'text':
      return line.filter((each) => each.trim() !== '');
  }
}

const kinds = Object.entries(fieldTable).map(([collection, fields]) => ({
  collection,
  fields: fields.filter(({ name, isSecret }) => isSecret !== true && name !== 'drain'),
}));

const states = (fields: readonly Field[]): fc.Arbitrary<Values> =>
  fc.record(Object.fromEntries(fields.map((each) => [each.name, valuesOf(each)])), { requiredKeys: [] });

/** A form, and two states of its resource. */
const changes = fc
  .constantFrom(...kinds)
  .chain(({ fields }) =>
    fc.record({ fields: fc.constant(fields), from: states(fields), to: states(fields) }),
  );

/** The fields of a resource of which a form shows something. */
function shownIn(fields: readonly Field[], resource: Values): Values {
  const isEmpty = (value: unknown): boolean =>
    value === undefined || ['""', '[]'].includes(JSON.stringify(value));
  const shown = fields.map(({ name: each }) => [each, resource[each]] as const);
  return Object.fromEntries(shown.filter(([, value]) => !isEmpty(value)));
}

function patched(fields: readonly Field[], from: Values, typed: Typed): Values {
  const result = applyPatch(from as Json, patchOf(fields, from, typed));
  if (!result.ok) throw new Error(result.problem.detail);
  return result.value as Values;
}

describe('a form', () => {
  it('that nobody has changed is no patch', () => {
    fc.assert(
      fc.property(changes, ({ fields, from }) => {
        expect(patchOf(fields, from, textsOf(fields, from))).toEqual([]);
      }),
    );
  });

  it('makes of a resource what its texts say', () => {
    fc.assert(
      fc.property(changes, ({ fields, from, to }) => {
        // A map is what its lines say: see below.
        const others = fields.filter(({ type }) => type !== 'map');
        const typed = textsOf(others, to);
        expect(shownIn(others, patched(others, from, typed))).toEqual(shownIn(others, to));
      }),
      { numRuns: 500 },
    );
  });

  const maps = kinds.flatMap(({ fields }) => fields.filter(({ type }) => type === 'map'));
  const added = fc.dictionary(
    fc.stringMatching(/^new [a-z]$/),
    fc.oneof(fc.integer(), fc.boolean(), fc.stringMatching(/^[a-z=]+$/)),
  );

  it('keeps each line of a map that nobody has changed, whatever signs it has', () => {
    const cases = fc
      .constantFrom(...maps)
      .chain((field) =>
        fc.record({ field: fc.constant(field), map: valuesOf(field), added, seed: fc.nat() }),
      );
    fc.assert(
      fc.property(cases, ({ field, map, added: more, seed }) => {
        const entries = Object.entries(map as Values);
        const text = textsOf([field], { [field.name]: map })[field.name] ?? '';
        const lines = text === '' ? [] : text.split('\n');
        fc.pre(new Set(lines).size === lines.length);
        const isKept = (_each: unknown, at: number): boolean => (seed >> (at % 16)) % 2 === 0;
        const typed = [...lines.filter(isKept), ...Object.entries(more).map((entry) => entry.join(' = '))];
        const next = patched([field], { [field.name]: map }, { [field.name]: typed.join('\n') });
        const asAdded = (value: unknown): unknown => {
          if (field.values === 'parameters') return { value: String(value), configurable: true };
          return field.values === 'texts' ? String(value) : value;
        };
        const wanted = Object.entries(more).map(([each, value]) => [each, asAdded(value)]);
        expect(next[field.name]).toEqual(Object.fromEntries([...entries.filter(isKept), ...wanted]));
      }),
      { numRuns: 1000 },
    );
  });

  it('leaves a text a text, and a parameter of a filter what it was besides its value', () => {
    const [field] = maps.filter(({ values }) => values === undefined);
    const [parameters] = maps.filter(({ values }) => values === 'parameters');
    if (field === undefined || parameters === undefined) throw new Error('There is no such field');
    const from = { parameters: { weight: '2', level: 2, on: true, 'a=b': 1 } };
    const typed = { parameters: 'weight = 3\nlevel = 3\non=false\nmore = 1.5 \na=b = 2' };
    expect(patched([field], from, typed)).toEqual({
      parameters: { weight: '3', level: 3, on: false, more: 1.5, 'a=b': 2 },
    });
    const filter = { parameters: { match: { value: 'drop', configurable: false } } };
    expect(patched([parameters], filter, { parameters: 'match = 5' })).toEqual({
      parameters: { match: { value: '5', configurable: false } },
    });
  });

  it('sends a text that is no number as it is, and asks for nothing where nothing was and nothing is', () => {
    const number = fieldTable['services']?.filter((each) => each.name === 'max_connection') ?? [];
    expect(patchOf(number, { max_connection: 5 }, { max_connection: '7 ' })).toEqual([
      { op: 'add', path: '/max_connection', value: 7 },
    ]);
    for (const text of ['many', '1e3', '0x10', '--1', '1.', '٣'])
      expect(patchOf(number, {}, { max_connection: text })).toMatchObject([{ value: text }]);
    expect(patchOf(number, {}, { max_connection: '  ' })).toEqual([]);
    expect(patchOf(number, { max_connection: 5 }, { max_connection: ' ' })).toEqual([
      { op: 'remove', path: '/max_connection' },
    ]);
  });
});

describe('a form in front of an interface', () => {
  const { admin } = runAdmin({ sealer: createSecretSealer({ key: new Uint8Array(32) }) });
  const client = createClient(sendTo(admin));

  /** The resource as the interface shows it. */
  async function read(collection: string, subject: string): Promise<Values> {
    const answer = await commandOf(client, `${collection}.get` as never)(subject);
    if (!answer.ok) throw new Error(answer.problem.detail);
    return answer.value as Values;
  }

  /** Another text of a field. */
  function otherText({ name: field, type, values }: Field, text: string): string {
    if (field === 'address') return '10.9.8.7';
    if (type === 'number') return '1234';
    if (type === 'flag') return text === 'true' ? 'false' : 'true';
    if (type === 'names') return field === 'filters' ? 'Spare, Hint' : 'db-serv-3, DB-Server-2';
    if (type === 'map') return `${text}\nadded = ${values === undefined ? '-1.5' : '2'}`.trim();
    return 'other';
  }

  const subjects = [
    ['services', 'My Service'],
    ['services', 'Bare Service'],
    ['servers', 'db-serv-1'],
    ['monitors', 'Main Monitor'],
    ['filters', 'Query Log'],
  ] as const;

  it.each(subjects)('changes each field of %s %s to what is typed, and back', async (collection, subject) => {
    const fields = (fieldTable[collection] ?? []).filter(({ isSettable }) => isSettable);
    expect(fields).not.toHaveLength(0);
    for (const field of fields) {
      const before = await read(collection, subject);
      const texts = textsOf(fields, before);
      const send = async (from: Values, text: string): Promise<Values> => {
        const patch = patchOf(fields, from, { ...texts, [field.name]: text });
        expect(patch).toHaveLength(1);
        const answer = await commandOf(client, `${collection}.patch` as never)(subject, patch);
        expect([field.name, answer]).toMatchObject([field.name, { ok: true }]);
        return read(collection, subject);
      };
      const other = otherText(field, texts[field.name] ?? '');
      const after = await send(before, other);
      if (field.isSecret === true) continue;
      expect(textsOf(fields, after)).toEqual({ ...texts, [field.name]: other });
      expect(textsOf(fields, await send(after, texts[field.name] ?? ''))).toEqual(texts);
    }
  });

  it('shows each fault at its field', async () => {
    const fields = fieldTable['services'] ?? [];
    const before = await read('services', 'My Service');
    const typed = { ...textsOf(fields, before), max_connection: 'many', servers: 'no-such', weightby: '\0' };
    const patch = patchOf(fields, before, typed);
    const answer = await client.services.patch('My Service', patch);
    const faults = answer.ok ? [] : (answer.problem.errors ?? []);
    const shown = faultsByField(faults, patch);
    expect(Object.keys(shown).toSorted()).toEqual(['max_connection', 'servers', 'weightby']);
    expect(Object.values(shown).join()).toBe(faults.map(({ detail }) => detail).join());
  });
});

it('faults without an operation are those of the place that they name, and several of a field are one text', () => {
  const fault = (pointer: string, detail: string): Fault => ({ pointer, detail, code: 'validation-failed' });
  const faults = [
    fault('', 'a'),
    fault('/port', 'b'),
    { ...fault('/value', 'c'), operation: 0 },
    fault('/x/y', 'd'),
  ];
  expect(faultsByField(faults, [{ op: 'add', path: '/port', value: 1 }])).toEqual({
    '': 'a',
    port: 'b; c',
    x: 'd',
  });
});

describe('the form of a new resource', () => {
  it('is a definition of what is typed: fields that are empty are left out, and a password keeps its spaces', () => {
    const fields = fieldTable['services'] ?? [];
    const typed = {
      name: ' Sales ',
      router: 'cli',
      max_connection: '',
      servers: 'a, /servers/b',
      password: ' p ',
    };
    expect(definitionOf(fields, { ...typed, filters: '  ' })).toEqual({
      name: 'Sales',
      router: 'cli',
      servers: ['/servers/a', '/servers/b'],
      password: ' p ',
    });
  });

  it('sends lines as they are if one of them has no value: the interface says what is wrong', () => {
    const fields = fieldTable['servers']?.filter((each) => each.name === 'parameters') ?? [];
    const patch = patchOf(fields, {}, { parameters: 'weight = 2\nfoo' });
    expect(patch).toEqual([{ op: 'add', path: '/parameters', value: 'weight = 2\nfoo' }]);
  });

  it('says what each field means, hides secrets, and has a choice where the values are few', () => {
    for (const field of Object.values(fieldTable).flat()) {
      const { hint = '', type, choices } = field.input;
      const format = Object.entries(formats).find(
        ([each]) => each === (field.isSecret ? 'secret' : field.type),
      );
      expect(hint).toBe([field.does, ...(format ?? []).slice(1)].join(' '));
      expect(type === 'password').toBe(field.isSecret === true);
      expect(type === 'choice').toBe(['choice', 'flag'].includes(field.type));
      // What is not chosen is left out.
      if (choices !== undefined) expect(choices[0]).toEqual(['', '']);
    }
  });
});
