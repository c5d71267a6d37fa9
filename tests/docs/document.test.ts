import { describe, expect, it } from '@jest/globals';
import { createSnapshot, toDocument, type GatewayDocument } from 'gateway-admin-core';

import { documentDescriptions } from '../openapi/description.ts';
import { read } from '../support/project.ts';
import { blocksOfMarkdown } from './code-block.ts';
import { codesOf, tablesOf } from './table.ts';

const page = read('docs/document.md');
const [smallest, complete] = blocksOfMarkdown('docs/document.md', page)
  .filter(({ language }) => language === 'json')
  .map(({ code }) => JSON.parse(code) as GatewayDocument);

/** The path of the objects of each chapter, by heading. */
const chapters = new Map(
  [...page.matchAll(/^## (.*)\n\nPath: `(.*)`$/gm)].map(([, title = '', path = '']) => [title, path]),
);

/** The rows of the page: the paths in a document, and whether a document can set the field. */
const rows = tablesOf(page).flatMap(({ heading, rows: cells }) => {
  const chapter = chapters.get(heading);
  if (chapter === undefined) return [];
  return cells.map((row) => ({
    path: `${chapter}.${codesOf(row[0] ?? '').join('')}`,
    isDerived: /^(?:Ignored|Derived)/.test(row[4] ?? ''),
  }));
});

/** Whether a value has something at a path; `*` is any item or member. */
function has(value: unknown, [name, ...rest]: readonly string[]): boolean {
  if (name === undefined) return value !== undefined;
  if (typeof value !== 'object' || value === null) return false;
  const members = name === '*' ? Object.values(value) : [(value as Readonly<Record<string, unknown>>)[name]];
  return members.some((member) => has(member, rest));
}

describe('the page of the gateway document', () => {
  // Promise: document-fields
  it('has each field that the interfaces document', () => {
    const written = new Set(rows.map(({ path }) => path));
    const inChapter = (path: string): boolean =>
      [...chapters.values()].some((each) => path.startsWith(`${each}.`));
    const documented = Object.keys(documentDescriptions()).filter(inChapter);
    expect(documented.length).toBeGreaterThan(90);
    expect(documented.filter((path) => !written.has(path))).toEqual([]);
  });

  it('has an example with every field but the derived ones', () => {
    const missing = rows.filter(({ path, isDerived }) => !isDerived && !has(complete, path.split('.')));
    expect(missing).toEqual([]);
    expect(rows.filter(({ isDerived }) => isDerived).map(({ path }) => path)).toEqual([
      'services.*.current_connections',
      'filters.*.services',
      'sessions.*.connections.*.service',
    ]);
  });

  it.each([
    ['smallest', smallest],
    ['complete', complete],
  ])('has a %s example that loads and survives a round trip', (_name, document = {}) => {
    const saved = toDocument(createSnapshot(document));
    expect(saved).toMatchObject(document);
    expect(toDocument(createSnapshot(saved))).toEqual(saved);
  });
});
