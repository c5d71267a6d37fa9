/**
 * Changes of settings, applied to settings that may have changed in between.
 *
 * A change is the difference between the settings before and after. Objects are compared member by member; every other
 * value is compared as a whole.
 */
import { sameJson, type Json } from '../../json/index.ts';

type Members = Readonly<Record<string, Json>>;

/** Applies a change to the present value. Parts that the change does not replace stay. @internal */
export function takeChange<T extends Json | undefined>(present: T, before: T, after: T): T {
  if (isSame(before, after)) return present;
  if (!isMap(present) || !isMap(before) || !isMap(after)) return after;
  const members = keysOf(present, after).flatMap((key) => {
    const value = takeChange(memberOf(present, key), memberOf(before, key), memberOf(after, key));
    return value === undefined ? [] : [[key, value] as const];
  });
  return Object.fromEntries(members) as unknown as T;
}

/** Whether two values are equal JSON, or both are `undefined`. @internal */
export function isSame(one: Json | undefined, other: Json | undefined): boolean {
  return one === other || (one !== undefined && other !== undefined && sameJson(one, other));
}

/** Whether a value is a JSON object. @internal */
export function isMap(value: Json | undefined): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The keys of both objects, each key once. @internal */
export function keysOf(one: Members, other: Members): readonly string[] {
  return [...new Set([...Object.keys(one), ...Object.keys(other)])];
}

/** The value of an own member of an object. @internal */
export function memberOf(members: Members, key: string): Json | undefined {
  return Object.hasOwn(members, key) ? members[key] : undefined;
}
