import { it } from '@jest/globals';

import { expectPage } from '../support/generated-page.ts';
import { limitsPage } from './limits.ts';

it('the page about limits has the rows of the contract tests', () => {
  // `npm run limits` writes the page.
  expectPage('docs/limits.md', limitsPage());
});
