/**
 * The names of the main entry and of the console: how many, and that nobody can change what they stand for.
 */
import { describe, expect, it } from '@jest/globals';
import { defaultLimits, measurementTable, problemTable, routes } from 'gateway-admin-core';
import ts from 'typescript';

import { thawedPlaces } from '../support/frozen.ts';
import { read } from '../support/project.ts';

/** The names that an entry exports. */
function publicNames(path: string): readonly string[] {
  const source = ts.createSourceFile(path, read(path), ts.ScriptTarget.ES2023, true);
  return source.statements.flatMap((statement) => {
    if (ts.isExportDeclaration(statement)) {
      const clause = statement.exportClause;
      if (clause === undefined || !ts.isNamedExports(clause))
        throw new Error('The entry exports names alone');
      return clause.elements.map(({ name }) => name.text);
    }
    const isExported =
      ts.canHaveModifiers(statement) &&
      ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true;
    return isExported ? [(statement as ts.DeclarationStatement).name?.getText() ?? ''] : [];
  });
}

describe('the main entry', () => {
  // A name that comes in displaces one: a reader has to learn all of them. `May` is the type of an answer, as `Plan`
  // is.
  it('has at most 146 names', () => {
    expect(publicNames('src/index.ts').length).toBeLessThanOrEqual(146);
  });

  it('has tables that nobody can change', () => {
    const lists = routes.flatMap((route) => [
      route,
      ...[route.aliases, route.query, route.search, route.fields, route.mediaTypes],
    ]);
    expect(lists.filter((list) => !Object.isFrozen(list))).toEqual([]);
    expect(thawedPlaces({ problemTable, defaultLimits, measurementTable })).toEqual(['(the whole)']);
  });
});

it('the entry of the console has three names', () => {
  expect(publicNames('src/console/index.ts').toSorted()).toEqual([
    'Console',
    'ConsoleOptions',
    'createConsole',
  ]);
});
