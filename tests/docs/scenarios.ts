/**
 * The list of the steps of scenarios in the README of the tests: written from the vocabulary.
 */
import { vocabulary } from '../scenario/vocabulary.ts';
import { read } from '../support/project.ts';

/** Writes the README anew, with the list as it is now. */
export function scenariosChapter(): string {
  const items = vocabulary.map(({ form, means }) => `- \`${form}\`: ${means}\n`);
  return read('tests/README.md').replace(/(?<=\n### Steps\n\n(?!- )[^\n]*\n\n)(?:(?:- | {2}).*\n)+/, () =>
    items.join(''),
  );
}
