/**
 * Freezing, and a search for places that could still be changed.
 */

/** Pointers to everything in a value that is not frozen. Goes into plain objects, lists and what can be iterated. */
export function thawedPlaces(value: unknown, seen = new Set<object>(), place = ''): readonly string[] {
  if (typeof value !== 'object' || value === null || seen.has(value)) return [];
  seen.add(value);
  const thawed = Object.isFrozen(value) ? [] : [place === '' ? '(the whole)' : place];
  const inside = isIterable(value) ? Object.entries([...value]) : [];
  const members = [...inside, ...Object.entries(value)];
  return thawed.concat(members.flatMap(([name, member]) => thawedPlaces(member, seen, `${place}/${name}`)));
}

function isIterable(value: object): value is Iterable<unknown> {
  return Symbol.iterator in value;
}

/** Freezes JSON with everything in it. Gives the same value. */
export function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(value).forEach(frozen);
  return Object.freeze(value);
}
