import { describe, expect, it } from '@jest/globals';

import { compile, compilerOptions, type Diagnostic } from '../support/compiler.ts';

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

/** What the compiler says against a file. */
function refusalsOf(text: string): readonly Diagnostic[] {
  const file = 'src/core/toy.ts';
  return compile(new Map([[file, text]]), compilerOptions('tsconfig.json')).get(file) ?? [];
}

describe('a table of fields and its interfaces', () => {
  const refusals = refusalsOf([toy.replaceAll('\n', ' '), ...cases.map(([, line]) => line)].join('\n'));

  it('compile if they agree', () => {
    expect(refusalsOf(toy + declaration({ state: 'State & Pick<Zone, never>' }))).toEqual([]);
  });

  it.each(cases)('do not compile with %s, and the message names the member', (what, _declaration, told) => {
    const line = cases.findIndex(([each]) => each === what) + 2;
    const refusal = refusals.find((each) => each.line === line);
    const [, name = '', members = ''] =
      /these members differ from the (\w+)": ("[^}]+"); }/.exec(refusal?.message ?? '') ?? [];
    expect(`${name}: ${members}`).toBe(told);
  });

  it.each(['representation', 'document', 'state'] as const)('do not compile without the %s', (name) => {
    const told = refusalsOf(toy + declaration({ [name]: undefined })).map(({ message }) => message);
    expect(told.join()).toContain(`Property '${name}' is missing`);
  });
});
