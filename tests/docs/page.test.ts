import { it } from '@jest/globals';

import { expectPage } from '../support/generated-page.ts';
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
  // Reads the other pages.
  'llms.txt': llmsFile,
};

it.each(Object.entries(pages))('%s is what the tables and a running interface give', async (path, write) => {
  expectPage(path, await write());
});
