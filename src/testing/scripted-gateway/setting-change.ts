/**
 * Changes of settings, as a gateway sees them that may have been changed otherwise since.
 *
 * A change is what differs between the settings before and after. Maps are looked into, member by member; everything
 * else is taken as a whole.
 */
import { sameJson, type Json } from '../../json/index.ts';

type Members = Readonly<Record<string, Json>>;

/** Whether a change is there: where it changes something, what it makes of it is there now. @internal */
export function hasChange(
  present: Json | undefined,
  before: Json | undefined,
  after: Json | undefined,
): boolean {
  if (isSame(before, after)) return true;
  if (!isMap(present) || !isMap(before) || !isMap(after)) return isSame(present, after);
  return keysOf(before, after).every((key) =>
    hasChange(memberOf(present, key), memberOf(before, key), memberOf(after, key)),
  );
}

/** Puts a change into what is there now: where it changes nothing, that stays. @internal */
export function takeChange<T extends Json | undefined>(present: T, before: T, after: T): T {
  if (isSame(before, after)) return present;
  if (!isMap(present) || !isMap(before) || !isMap(after)) return after;
  const members = keysOf(present, after).flatMap((key) => {
    const value = takeChange(memberOf(present, key), memberOf(before, key), memberOf(after, key));
    return value === undefined ? [] : [[key, value] as const];
  });
  return Object.fromEntries(members) as unknown as T;
}

/** Whether two values are equal JSON, or both are not there. @internal */
export function isSame(one: Json | undefined, other: Json | undefined): boolean {
  return one === other || (one !== undefined && other !== undefined && sameJson(one, other));
}

/** Whether a value is an object of JSON. @internal */
export function isMap(value: Json | undefined): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The keys that one or the other has. @internal */
export function keysOf(one: Members, other: Members): readonly string[] {
  return [...new Set([...Object.keys(one), ...Object.keys(other)])];
}

/** A member that an object has itself. @internal */
export function memberOf(members: Members, key: string): Json | undefined {
  return Object.hasOwn(members, key) ? members[key] : undefined;
}
