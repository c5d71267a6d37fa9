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
  const values = JSON.stringify(Object.values(row)).toLowerCase();
  return words.every((word) => values.includes(word));
}
