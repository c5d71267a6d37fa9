import { it } from '@jest/globals';

import { expectPage } from '../support/generated-page.ts';
import { badInputPage } from './bad-input.ts';

it('the page about bad input has the rows of the contract tests', () => {
  // `npm run bad-input` writes the page.
  expectPage('docs/bad-input.md', badInputPage());
});
