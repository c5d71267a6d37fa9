/**
 * Lists of words, such as the status of a server, of which one caller moves some and another one the rest.
 */

/**
 * A list in which words come and go as from one list to another. Every other word stays. One that comes stands last.
 *
 * @internal
 */
export function withWordsMoved<W extends string>(
  present: readonly W[],
  before: readonly W[],
  after: readonly W[],
): readonly W[] {
  const stayed = present.filter((word) => after.includes(word) || !before.includes(word));
  return [...stayed, ...after.filter((word) => !before.includes(word) && !present.includes(word))];
}

/** The words that are in one of two lists, and not in the other. @internal */
export function movedWords<W extends string>(one: readonly W[], other: readonly W[]): readonly W[] {
  return [...one.filter((word) => !other.includes(word)), ...other.filter((word) => !one.includes(word))];
}
