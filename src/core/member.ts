/**
 * Members: rejects unknown names of options. A typo such as `authentcate` would switch the log-in off.
 */
import { assertObject } from '../json/value.ts';
import { quoted } from '../problem.ts';

/**
 * Checks that an object has known members alone.
 *
 * @param object - the options of a host, which may have no types
 * @param known - the names of the members that are read
 * @param what - what a member is, such as `option of createAdmin`
 * @throws TypeError for something that is no object, and for another member, with the known name that is most like its
 *   name
 * @internal
 */
export function assertMembers(object: object, known: readonly string[], what: string): void {
  assertObject(object, 'options');
  const stranger = Object.keys(object).find((name) => !known.includes(name));
  if (stranger === undefined) return;
  const nearest = nearestName(stranger, known);
  const hint = nearest === undefined ? '' : ` Did you mean ${nearest}?`;
  throw new TypeError(
    `There is no ${what} with the name ${quoted(stranger)}.${hint} The names are ${known.join(', ')}.`,
  );
}

/** The known name that is most like a written one; `undefined` if none is near. @internal */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const written = name.slice(0, 100);
  const [nearest = ''] = known.toSorted((one, other) => distance(one, written) - distance(other, written));
  return distance(nearest, written) <= written.length / 2 ? nearest : undefined;
}

/** The number of letters to insert, remove, replace or swap that make one name of the other, whatever their case. */
function distance(one: string, other: string): number {
  const [letters, target] = [Array.from(one.toLowerCase()), Array.from(other.toLowerCase())];
  let [before, row] = [[] as number[], [...Array(target.length + 1).keys()]];
  for (const [at, letter] of letters.entries()) {
    const above = row;
    row = [at + 1];
    for (const [column, wanted] of target.entries()) {
      const replaced = (above[column] ?? 0) + (letter === wanted ? 0 : 1);
      const isSwapped = letter === target[column - 1] && letters[at - 1] === wanted;
      const swapped = isSwapped ? (before[column - 1] ?? 0) + 1 : Infinity;
      row.push(Math.min(replaced, swapped, (above[column + 1] ?? 0) + 1, (row[column] ?? 0) + 1));
    }
    before = above;
  }
  return row.at(-1) ?? 0;
}
