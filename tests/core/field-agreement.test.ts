import { describe, expect, it } from '@jest/globals';

import { compile, compilerOptions } from '../support/compiler.ts';

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
  key: "shape: z.string(), secret: 'keySealed'",
};
const toy = `
  import * as z from 'zod/mini';
  import { defineFields } from './field.ts';
  interface Settings { readonly zone?: string }
  interface Representation extends Settings { readonly name: string; readonly seen?: string }
  interface Document extends Representation { readonly keySealed: string }
  interface State { readonly name: string; readonly seen?: number; readonly keySealed: string }
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

const cases: readonly (readonly [what: string, declaration: string, told: string])[] = [
  ['a setting that is missing', declaration({ settings: "Omit<Settings, 'zone'>" }), 'settings: "zone"'],
  [
    'a member of the representation that is missing',
    declaration({ representation: "Omit<Representation, 'zone'>" }),
    'representation: "zone"',
  ],
  [
    'a member of the document that is missing',
    declaration({ document: "Omit<Document, 'zone'>" }),
    'document: "zone"',
  ],
  ['a member of the state that is missing', declaration({ state: "Omit<State, 'seen'>" }), 'state: "seen"'],
  [
    'a stored secret that is missing',
    declaration({ state: "Omit<State, 'keySealed'>" }),
    'state: "keySealed"',
  ],
  ['a setting in the state', declaration({ state: 'State & Zone' }), 'state: "zone"'],
  [
    'a time as text in the state',
    declaration({ state: "Omit<State, 'seen'> & Pick<Representation, 'seen'>" }),
    'state: "seen"',
  ],
  [
    'a setting that is optional in the table only',
    declaration({ settings: 'Required<Settings>' }),
    'settings: "zone"',
  ],
  ['a setting that has no row', declaration({}, { zone: undefined }), 'settings: "zone"'],
  ['another field that has no row', declaration({}, { seen: undefined }), 'representation: "seen"'],
  [
    'a row that lacks `setting`',
    declaration({}, { zone: 'shape: z.string(), optional: true' }),
    'settings: "zone"',
  ],
  [
    'a row that lacks `optional`',
    declaration({}, { zone: 'shape: z.string(), setting: true' }),
    'settings: "zone"',
  ],
  [
    'a shape of another type',
    declaration({}, { zone: 'shape: z.int(), setting: true, optional: true' }),
    'settings: "zone"',
  ],
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
    [wrong, [toy.replaceAll('\n', ' '), ...cases.map(([, line]) => line)].join('\n')],
    ...required.map((name) => [without(name), toy + declaration({ [name]: undefined })] as const),
  ]),
  compilerOptions('tsconfig.json'),
);

describe('a table of fields and its interfaces', () => {
  it('compile if they agree', () => {
    expect(refusals.get(right)).toEqual([]);
  });

  it.each(cases)('do not compile with %s, and the message names the member', (what, _declaration, told) => {
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
