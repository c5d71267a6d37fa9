/**
 * Tables of Markdown pages, as the tests that hold them against the code need them.
 */

/** A table of a page. */
export interface Table {
  /** The heading that it stands under. */
  readonly heading: string;
  readonly header: readonly string[];
  /** The cells of each row, trimmed. */
  readonly rows: readonly (readonly string[])[];
}

/** Finds the tables of a page, in order. */
export function tablesOf(text: string): readonly Table[] {
  const tables: { heading: string; header: readonly string[]; rows: (readonly string[])[] }[] = [];
  let heading = '';
  let open = false;
  for (const line of text.split('\n')) {
    const [, title] = /^#+ (.*)$/.exec(line) ?? [];
    heading = title ?? heading;
    const isRow = line.startsWith('|');
    if (isRow && !open) tables.push({ heading, header: cellsOf(line), rows: [] });
    else if (isRow && !/^\|[ :|-]+\|$/.test(line)) tables.at(-1)?.rows.push(cellsOf(line));
    open = isRow;
  }
  return tables;
}

/** What stands in backquotes in a text, in order. */
export function codesOf(text: string): readonly string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
}

function cellsOf(line: string): readonly string[] {
  return line
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim().replaceAll('\\|', '|'));
}
