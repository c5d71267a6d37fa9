/**
 * The table of the steps of scenarios in the README of the tests: written from the vocabulary.
 */
import { vocabulary } from '../scenario/vocabulary.ts';
import { read } from '../support/project.ts';

/** Writes the README anew, with the table as it is now. */
export function scenariosChapter(): string {
  const rows = vocabulary.map(({ form, means }) => `| \`${form}\` | ${means} |`);
  const table = ['| Step | Meaning |', '| --- | --- |', ...rows].join('\n');
  return read('tests/README.md').replace(/(?<=\n### Steps\n\n[^|]*)\|[\s\S]*?\|\n(?!\|)/, `${table}\n`);
}
