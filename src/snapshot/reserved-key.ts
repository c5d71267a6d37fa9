/**
 * Reserved keys in a gateway document: keys such as `__proto__` that no document may contain.
 */
import { formatPointer, hasReservedKey, reservedToken } from '../json/pointer.ts';
import type { Json, JsonObject } from '../json/value.ts';
import type { Fault } from '../problem.ts';

/**
 * Gives a fault for each reserved key in a value.
 *
 * @param value - plain JSON of limited depth
 * @param path - the place of the value in the document
 * @internal
 */
export function reservedFaults(value: Json, path: readonly (string | number)[] = []): readonly Fault[] {
  return hasReservedKey(value) === undefined ? [] : faultsIn(value, path);
}

/** Recursion is safe, because the depth is limited. */
function faultsIn(value: Json, path: readonly (string | number)[]): readonly Fault[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value as JsonObject).flatMap(([name, member]) => {
    const place = [...path, name];
    if (reservedToken([name]) === undefined) return faultsIn(member, place);
    return [{ pointer: formatPointer(place), code: 'reserved-key', detail: 'is not allowed as a key' }];
  });
}
