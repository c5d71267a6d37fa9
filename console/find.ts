/**
 * Finding: which rows contain the words that a person types.
 */

/** Whether each word is in some value of the row. Letters of different case are the same. */
export function rowFits(find: string, row: object): boolean {
  const words = find
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  if (words.length === 0) return true;
  const values = textIn(row);
  return words.every((word) => values.includes(word));
}

/** All texts and numbers of a value, one a line: no word is found across two of them. */
function textIn(value: unknown): string {
  if (typeof value === 'object' && value !== null) return Object.values(value).map(textIn).join('\n');
  return String(value).toLowerCase();
}
