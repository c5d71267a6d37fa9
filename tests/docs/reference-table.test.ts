import { describe, expect, it } from '@jest/globals';
import { routes } from 'gateway-admin-core';

import { read } from '../support/project.ts';
import { codesOf, tablesOf } from './table.ts';
import { alertTable, effectTable, fieldTables, reportTable, type Field } from './tables.ts';

/** The rows of the table with this first column. */
function rowsOf(page: string, first: string): readonly (readonly string[])[] {
  return tablesOf(read(page)).find(({ header }) => header[0] === first)?.rows ?? [];
}

/** What stands in backquotes in a column of a table. */
function column(page: string, first: string, at: number): readonly (readonly string[])[] {
  return rowsOf(page, first).map((row) => codesOf(row[at] ?? ''));
}

/** Whether clients patch a field by its own name; they do not know the map of the secret entries of another. */
function isPatchable({ setting, sealedEntriesOf, patched }: Field): boolean {
  return setting !== undefined && sealedEntriesOf === undefined && patched !== false;
}

describe('the table of effects', () => {
  it('has a row for each type, and says which effects cannot be undone', () => {
    const rows = rowsOf('docs/ports.md', 'Effect').map((row) => [
      codesOf(row[0] ?? '')[0],
      row[3] === 'nothing',
    ]);
    const table = Object.entries(effectTable).map(([type, inverse]) => [type, inverse === 'irreversible']);
    expect(rows.toSorted()).toEqual(table.toSorted());
  });
});

describe('the table of reports', () => {
  it('has a row for each type, with its members', () => {
    const table = Object.entries(reportTable).map(([type, { shape }]) => [
      type,
      ...Object.keys((shape as unknown as { shape: object }).shape),
    ]);
    const types = column('docs/ports.md', 'Report', 0);
    const members = column('docs/ports.md', 'Report', 1);
    const rows = types.map(([type = ''], at) => [type, 'type', ...(members[at] ?? [])]);
    const sorted = (each: readonly string[]): readonly string[] => [
      each[0] ?? '',
      ...each.slice(1).toSorted(),
    ];
    expect(rows.map(sorted).toSorted()).toEqual(table.map(sorted).toSorted());
  });
});

describe('the table of alerts', () => {
  it('has a row for each code, with its level', () => {
    const rows = rowsOf('docs/runtime.md', 'Code').map(([code = '', level]) => [codesOf(code)[0], level]);
    expect(rows).toEqual(Object.entries(alertTable).map(([code, { level }]) => [code, level]));
  });
});

describe('the table of the fields that can be patched', () => {
  it('has each modifiable field of each kind, and says where it is patched', () => {
    const rows = rowsOf('docs/patching.md', 'Resource').map(([kind = '', path = '', fields = '']) => [
      kind,
      codesOf(path)[0],
      codesOf(fields.replace(/ \(also.*?\)/, '')).toSorted(),
    ]);
    const tables = Object.entries(fieldTables).flatMap(([kind, { all }]) => {
      const settings = all.filter(isPatchable);
      const route = routes.find(({ id }) => [`${kind}s.patch`, `${kind}.patch`].includes(id));
      return settings.length === 0
        ? []
        : [[kind, route?.path, settings.map(({ patchName }) => patchName).toSorted()]];
    });
    expect(rows).toEqual(tables);
  });
});

describe('the table of rules for the result of a patch', () => {
  it('names every modifiable field, and no other', () => {
    const settings = new Set(
      Object.values(fieldTables).flatMap(({ all }) =>
        all.filter(isPatchable).map(({ patchName }) => patchName),
      ),
    );
    const rule = tablesOf(read('docs/spec-choices.md')).find(({ heading }) => heading.startsWith('26.'));
    const named = new Set(rule?.rows.flatMap(([fields = '']) => codesOf(fields)));
    expect([...named].toSorted()).toEqual([...settings].toSorted());
  });
});
