/**
 * Updates: how a change of settings is told, in events and in effects.
 */
import { difference } from '../json/diff.ts';
import { type Json, sameJson } from '../json/value.ts';
import type { Operation } from '../json/patch.ts';

/**
 * A change of the settings of one resource.
 *
 * @public
 */
export interface Update<T> {
  /** All settings before the change. */
  readonly before: T;
  /** All settings after the change. */
  readonly after: T;
  /** The operations (RFC 6902) that lead from `before` to `after`: only those that are needed. */
  readonly operations: readonly Operation[];
}

/**
 * A change of the settings of one resource, with its inverse.
 *
 * @public
 */
export interface ReversibleUpdate<T> extends Update<T> {
  /**
   * The operations that lead from `after` back to `before`, each with a `test` before it of what is there after the
   * change: where somebody changed it since, they fail. An `add` of a member has none, because no `test` can say that
   * a member is absent; {@link revert}, the transition that applies them, sees to that.
   */
  readonly inverse: readonly Operation[];
}

/** The inverse of an update: the same, backwards. @internal */
export function invertUpdate<T extends object, U extends Update<T>>(update: U): U {
  const { before, after } = update;
  const { operations } = difference(after as Json, before as Json);
  return { ...update, before: after, after: before, operations };
}

/**
 * Puts what an update changed into settings that may have changed otherwise since. Fields that the update leaves
 * alone keep their present value.
 *
 * @internal
 */
export function mergeUpdate<T extends object>(present: T, { before, after }: Update<T>): T {
  if (present === before) return after;
  const names = new Set([...Object.keys(before), ...Object.keys(after)]) as Set<keyof T & string>;
  const merged: Partial<T> = { ...present };
  for (const name of names) {
    if (!(name in after)) Reflect.deleteProperty(merged, name);
    else if (!sameField(before, after, name)) merged[name] = after[name];
  }
  return merged as T;
}

function sameField<T extends object>(before: T, after: T, name: keyof T): boolean {
  return name in before && sameJson(before[name] as Json, after[name] as Json);
}
