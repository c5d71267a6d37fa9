/**
 * The page about logs and figures. Its table of figures is written from the table of the library; all else is written
 * by hand.
 */
import { read } from '../support/project.ts';
import { metricTable } from './tables.ts';

const rows = Object.entries(metricTable);
const columns = ['Name', 'Kind', 'Labels', 'Meaning'];

/** Writes the page, with the table of the figures as it must be. */
export function observabilityPage(): string {
  const lines = [columns, columns.map(() => '---'), ...rows.map(cells)];
  const table = lines.map((line) => `| ${line.join(' | ')} |\n`).join('');
  return read('docs/observability.md').replace(
    /(?<=\n### What the figures are\n[^|]*)(?:\|.*\n)+/,
    () => table,
  );
}

function cells([name, { type, help, labels }]: (typeof rows)[number]): readonly string[] {
  return [`\`${name}\``, type, labels.map((label) => `\`${label}\``).join(', '), help];
}
