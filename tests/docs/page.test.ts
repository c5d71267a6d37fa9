import { beforeAll, expect, it } from '@jest/globals';

import { formatPages } from '../support/generated-page.ts';
import { read } from '../support/project.ts';
import { documentPage } from './document.ts';
import { documentSchema } from './document-schema.ts';
import { errorsPage } from './errors.ts';
import { httpPage } from './http.ts';
import { limitsPage } from './limits.ts';
import { llmsFile } from './llms.ts';
import { observabilityPage } from './observability.ts';
import { scenariosChapter } from './scenarios.ts';
import { functionsPage } from './state-machine.ts';

/** The pages that `npm run pages` writes. */
const pages: Readonly<Record<string, () => string | Promise<string>>> = {
  'docs/document.md': documentPage,
  'docs/errors.md': errorsPage,
  'docs/functions.md': functionsPage,
  'docs/http.md': httpPage,
  'docs/limits.md': limitsPage,
  'docs/observability.md': observabilityPage,
  'gateway-document.schema.json': documentSchema,
  'tests/README.md': scenariosChapter,
};

let written: Readonly<Record<string, string>> = {};

beforeAll(async () => {
  const texts = Object.entries(pages).map(async ([path, write]) => [path, await write()] as const);
  written = formatPages(Object.fromEntries(await Promise.all(texts)));
  // Reads the other pages.
  written = { ...written, ...formatPages({ 'llms.txt': llmsFile() }) };
});

it.each([...Object.keys(pages), 'llms.txt'])('%s is what the tables and a running interface give', (path) => {
  expect(read(path)).toBe(written[path]);
});
