import { describe, expect, it } from '@jest/globals';
import type { GatewayDocument } from 'gateway-admin-core';
import type * as z from 'zod/mini';

import { fieldTables, isShown, type Field, type Fields } from '../docs/tables.ts';
import { sampleDocument } from '../support/document.ts';
import { fields } from './field.ts';
import { modifiableFields } from './modifiable-field.ts';

const tables = Object.entries(fieldTables);

/** A field and what is in it, by the names that the contract gives them. */
function namesIn(name: string, shape: z.core.$ZodType, when: string): readonly string[] {
  const { def } = (shape as z.core.$ZodTypes)._zod;
  if (def.type === 'array') return [`${name}${when}`, ...membersOf(`${name}.[]`, def.element, when)];
  if (def.type === 'record') return [`${name}${when}`, ...membersOf(`${name}.{}`, def.valueType, when)];
  return [`${name}${when}`, ...membersOf(name, shape, when)];
}

function membersOf(place: string, shape: z.core.$ZodType, when: string): readonly string[] {
  const { def } = (shape as z.core.$ZodTypes)._zod;
  if (def.type !== 'object') return [];
  return Object.entries(def.shape).flatMap(([name, member]) => namesIn(`${place}.${name}`, member, when));
}

/** The fields that a table shows; those that may be absent end with `?`. */
function shownBy({ all }: Fields): readonly string[] {
  const whenOf = ({ optional, hiddenWhenEmpty }: Field): string =>
    optional === true || hiddenWhenEmpty === true ? '?' : '';
  return all
    .filter(isShown)
    .flatMap((field) => namesIn(field.name, field.shownAs ?? field.shape, whenOf(field)));
}

/** The entries of each kind in a document; a command is in no document. */
const entries: Readonly<Record<string, (document: GatewayDocument) => readonly object[]>> = {
  service: ({ services = [] }) => services,
  listener: ({ services = [] }) => services.flatMap(({ listeners = [] }) => listeners),
  server: ({ servers = [] }) => servers,
  connection: ({ sessions = [] }) => sessions.flatMap(({ connections = [] }) => connections),
  monitor: ({ monitors = [] }) => monitors,
  instance: ({ gateway = {} }) => [gateway],
  'thread information': ({ threads = {} }) => [threads],
  logging: ({ logs = {} }) => [logs],
  task: ({ tasks = [] }) => tasks,
  module: ({ modules = [] }) => modules,
  session: ({ sessions = [] }) => sessions,
  filter: ({ filters = [] }) => filters,
  user: ({ users = [] }) => users,
};

/** The names of what a document can say of a kind: what is derived is accepted there and says nothing. */
function saidBy({ all }: Fields): readonly string[] {
  return all
    .filter(({ derived, accepts }) => derived !== true || accepts !== undefined)
    .map(({ documentName }) => documentName);
}

/** What becomes of a field that is removed. */
function removedAs(
  optional: Field['optional'],
  required: Field['required'],
  hiddenWhenEmpty: Field['hiddenWhenEmpty'],
): string {
  if (required !== undefined) return 'port';
  return optional === true ? 'absent' : hiddenWhenEmpty === true ? 'empty' : 'needed';
}

describe('the contract', () => {
  it.each(tables)('has a row for each field of a %s that is shown, in order', (kind, table) => {
    const rows = fields.filter(({ of }) => of === kind);
    expect(rows.map(({ name, presence }) => (presence === 'always' ? name : `${name}?`))).toEqual(
      shownBy(table),
    );
  });

  it.each(tables)('has a row for each field of a %s that can be modified, in order', (kind, table) => {
    const sealed = new Map(
      table.all.map(({ sealedEntriesOf, storedName }) => [sealedEntriesOf, storedName] as const),
    );
    const settings = table.all.filter(
      ({ setting, sealedEntriesOf, patched }) =>
        setting !== undefined && sealedEntriesOf === undefined && patched !== false,
    );
    expect(
      modifiableFields
        .filter((row) => row.kind === kind)
        .map(({ field, shownAs, sealedAs, entriesSealedAs, removed }) => {
          return { field, shownAs, sealedAs, entriesSealedAs, removed };
        }),
    ).toEqual(
      settings.map(({ name, patchName, secret, optional, required, hiddenWhenEmpty }) => ({
        field: patchName,
        shownAs: secret === undefined ? name : undefined,
        sealedAs: secret,
        entriesSealedAs: sealed.get(patchName),
        removed: removedAs(optional, required, hiddenWhenEmpty),
      })),
    );
  });

  it('has rows only for existing kinds', () => {
    const kinds = new Set([...fields.map(({ of }) => of), ...modifiableFields.map(({ kind }) => kind)]);
    expect([...kinds].toSorted()).toEqual(Object.keys(fieldTables).toSorted());
  });
});

describe('the sample document', () => {
  it.each(tables.filter(([kind]) => kind in entries))(
    'has every field that a document can contain for a %s',
    (kind, table) => {
      const there = new Set(entries[kind]?.(sampleDocument).flatMap((entry) => Object.keys(entry)));
      expect(saidBy(table).filter((name) => !there.has(name))).toEqual([]);
    },
  );
});
